"""Errors about legacy names: the one place of the core that asks the catalogue, and only when something is
wrong.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relight.module import LightningModule

__all__ = ["check_legacy_hooks", "legacy_hint", "unknown_arguments"]

_EPOCH_END = ("training_epoch_end", "validation_epoch_end", "test_epoch_end")
_GONE = {
    "fit": (*_EPOCH_END[:2], "training_step_end", "validation_step_end", "on_epoch_start", "on_epoch_end"),
    "validate": ("validation_epoch_end", "validation_step_end"),
    "test": ("test_epoch_end", "test_step_end"),
    "predict": (),
}


def _catalogue() -> Any:
    try:
        from trainer_upgrade import catalogue
    except ImportError:  # the tool is in the same distribution, but may have been left out of an image
        return None
    return catalogue


def legacy_hint(hook: str) -> str:
    """Return what to do about a legacy hook of a module, with its code if the catalogue is there."""
    catalogue = _catalogue()
    entry = catalogue.hook("LightningModule", hook) if catalogue is not None else None
    code = f" ({entry.code})" if entry is not None else ""
    return f" Run `trainer-upgrade` on the code, or run it under `relight.compat`{code}."


def unknown_arguments(names: Iterable[str], known: Iterable[str], entry_point_options: Iterable[str]) -> str:
    """Return the message for arguments that ``Trainer(...)`` does not take."""
    catalogue, options, lines = _catalogue(), set(entry_point_options), []
    for name in names:
        entry = None
        if catalogue is not None:
            entry = catalogue.trainer_argument(name)
        if name in options:
            code = f" ({entry.code})" if entry is not None else ""
            lines.append(
                f"`{name}` belongs to the entry points: `trainer.fit(..., {name}=...)`, or"
                f" `Trainer(options={{...}})`{code}"
            )
        elif entry is not None:
            modern = entry.relight.text
            say = f": say `{modern}`" if modern else f": {entry.advice}" if entry.advice else ""
            left = (
                f"`{name}` left in {entry.removed_in}"
                if entry.removed_in
                else f"`{name}` is not an argument here"
            )
            lines.append(f"{left}{say} ({entry.code}), or run `trainer-upgrade`")
        else:
            near = difflib.get_close_matches(name, list(known), n=1)
            lines.append(f"`{name}` is not known" + (f"; did you mean `{near[0]}`?" if near else ""))
    return "Trainer() got unexpected arguments: " + "; ".join(lines)


def check_legacy_hooks(module: LightningModule, fn: str) -> None:
    """Refuse a module with hooks that nothing would call any more.

    Raises:
        NotImplementedError: Naming the hook, its code and what takes its place.
    """
    for name in _GONE[fn]:
        if callable(getattr(module, name, None)):
            modern = f"on_{name.replace('training', 'train')}" if name in _EPOCH_END else ""
            raise NotImplementedError(
                f"`{type(module).__name__}.{name}` is a hook of Lightning 1.x that nothing calls any more."
                + (f" Its place is taken by `{modern}`; keep step outputs on the module." if modern else "")
                + legacy_hint(name)
            )


def argument_names(function: Any) -> list[str]:
    """Return the names of a function's parameters but ``self`` and catch-alls."""
    parameters = inspect.signature(function).parameters.values()
    return [
        p.name for p in parameters if p.name != "self" and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
