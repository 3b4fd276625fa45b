"""Files that are not Python modules: what is found in each kind, and how it is put right.

A :class:`~trainer_upgrade.documents.document.Document` is one such file; a checker yields findings whose
edits are places in its text. :class:`~trainer_upgrade.documents.engine.DocumentEngine` makes the fixes.
"""
