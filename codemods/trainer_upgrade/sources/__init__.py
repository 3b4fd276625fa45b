"""How an edit reaches a file."""
