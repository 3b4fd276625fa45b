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

__all__ = [
    "check_legacy_hooks",
    "legacy_hint",
    "legacy_value_hint",
    "unknown_arguments",
    "unknown_entry_point_arguments",
    "unknown_options",
]

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


def legacy_value_hint(argument: str, value: Any) -> str:
    """Return what took the place of a value of a Trainer argument, empty if it is none of the past."""
    catalogue = _catalogue()
    if catalogue is None or not isinstance(value, str):
        return ""
    entry = catalogue.find(catalogue.Area.TRAINER_VALUE, f"Trainer.{argument}", repr(value))
    return f". {entry.advice} ({entry.code})" if entry is not None and entry.advice else ""


def unknown_entry_point_arguments(entry_point: str, names: Iterable[str], known: Iterable[str]) -> str:
    """Return the message for arguments that ``trainer.fit(...)`` or another entry point does not take."""
    from relight.trainer.options import Options
    from relight.trainer.trainer import Trainer

    catalogue, lines = _catalogue(), []
    constructor = argument_names(Trainer.__init__)
    for name in names:
        entry = None
        if catalogue is not None:
            entry = catalogue.find(
                catalogue.Area.ENTRY_POINT_ARGUMENT, f"Trainer.{entry_point}", name
            ) or catalogue.trainer_argument(name)
        if name in constructor:
            lines.append(f"`{name}` is an argument of `Trainer(...)`")
        elif name.startswith("limit_") and "limit_batches" in known:
            lines.append(f"`{name}`: say `limit_batches` here")
        elif name in Options.names():
            lines.append(f"`{name}` is an argument of `trainer.fit(...)`, or of `Trainer(options={{...}})`")
        elif entry is not None:
            modern, code = entry.relight.text, entry.code
            lines.append(f"`{name}`: {f'say `{modern}`' if modern else entry.advice} ({code})")
        else:
            near = difflib.get_close_matches(name, list(known), n=1)
            lines.append(f"`{name}` is not known" + (f"; did you mean `{near[0]}`?" if near else ""))
    return f"trainer.{entry_point}() got unexpected arguments: " + "; ".join(lines)


def unknown_options(names: Iterable[str], known: Iterable[str]) -> str:
    """Return the message for what ``Trainer(options={...})`` does not know."""
    from relight.trainer.trainer import Trainer

    catalogue, lines = _catalogue(), []
    constructor = argument_names(Trainer.__init__)
    for name in names:
        entry = catalogue.trainer_argument(name) if catalogue is not None else None
        if name in constructor:
            lines.append(f"`{name}` is an argument of `Trainer(...)` itself")
        elif name == "limit_batches":
            lines.append("`limit_batches`: say for which entry point, such as `limit_test_batches`")
        elif entry is not None and (entry.relight.text or entry.advice):
            say = f"say `{entry.relight.text}`" if entry.relight.text else entry.advice
            lines.append(f"`{name}`: {say} ({entry.code})")
        else:
            near = difflib.get_close_matches(name, list(known), n=1)
            lines.append(f"`{name}` is not known" + (f"; did you mean `{near[0]}`?" if near else ""))
    return "Unknown options: " + "; ".join(lines) + f". There are {', '.join(known)}"


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
