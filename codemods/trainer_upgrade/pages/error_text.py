"""The error that old code gets on Lightning 2.x, as it is printed: what people paste into a search."""

from __future__ import annotations

from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["error_text"]


def error_text(entry: Entry) -> str | None:
    """Return the error's text, or ``None`` where there is none or where it is not always the same."""
    name, owner, said = entry.name, entry.owner, entry.behaviour
    if not name.isidentifier() and entry.area is not Area.IMPORT:
        return None
    if said == "TypeError: unexpected keyword argument":
        callee = owner if entry.area is Area.ENTRY_POINT_ARGUMENT else f"{owner.partition('.')[0]}.__init__"
        argument = owner.rpartition(".")[2] if entry.area is Area.TRAINER_VALUE else name
        return f"TypeError: {callee}() got an unexpected keyword argument '{argument}'"
    if said.startswith("AttributeError") and entry.area is Area.TRAINER_ATTRIBUTE:
        return f"AttributeError: 'Trainer' object has no attribute '{name}'"
    if said == "AttributeError: the method is gone":
        holder, _, method = owner.partition(".")
        return f"AttributeError: '{holder}' object has no attribute '{method}'" if method else None
    if said == "AttributeError where it is used":
        return f"AttributeError: 'Net' object has no attribute '{name}'"
    if said.startswith("NotImplementedError when"):
        removed = f"Support for `{name}` has been removed in v2.0.0."
        return f"NotImplementedError: {removed} `Net` implements this method."
    if said == "ImportError" and owner == "module":
        return f"ModuleNotFoundError: No module named '{name}'"
    if said == "ImportError":
        return f"ImportError: cannot import name '{name}' from '{owner}'"
    return None
