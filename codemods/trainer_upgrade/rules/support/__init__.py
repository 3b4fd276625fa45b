"""What rules about classes share: reading and editing signatures, calls and bodies of methods."""
