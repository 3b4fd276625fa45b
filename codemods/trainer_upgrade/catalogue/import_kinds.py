"""The codes of import changes, what each says, and what old code does on Lightning 2.6."""

from __future__ import annotations

__all__ = ["BEHAVIOUR", "KINDS", "advice"]

# code → what happened, as the end of a sentence that begins with the name.
KINDS: dict[str, str] = {
    "TRU300": "moved",
    "TRU301": "has another name",
    "TRU302": "is private today",
    "TRU303": "is a deprecated alias",
    "TRU304": "is only a stub",
    "TRU305": "left for another package",
    "TRU306": "is gone",
    "TRU307": "means something else today",
    "TRU308": "is a module that moved",
    "TRU309": "is a module that is gone",
    "TRU310": "left for torchmetrics",
    "TRU311": "moved with the rank-zero helpers",
    "TRU312": "is a strategy, no plugin",
    "TRU313": "went with the *_epoch_end hooks",
    "TRU314": "moved with the loggers' base classes",
    "TRU315": "moved to the top of the package",
    "TRU316": "is a logger that is gone",
    "TRU317": "moved to profilers",
    "TRU318": "moved to Fabric",
    "TRU319": "was replaced by DeviceStatsMonitor",
    "TRU320": "is called ProgressBar",
    "TRU321": "went with the result objects",
    "TRU322": "was part of the overrides",
    "TRU323": "moved with seed_everything",
    "TRU324": "moved to cli",
    "TRU325": "moved with the helpers for tensors, files and processes",
    "TRU326": "was a flag about an installed package",
    "TRU327": "was part of the argparse helpers",
    "TRU328": "was never meant to be imported from there",
    "TRU330": "was part of the loops, which cannot be replaced",
    "TRU331": "is called LearningRateMonitor",
    "TRU332": "was part of trainer.supporters",
    "TRU333": "is not part of relight",
    "TRU334": "is imported from relight",
    "TRU335": "is DDPStrategy with start_method='spawn'",
    "TRU336": "moved to loggers",
    "TRU337": "is a decorator that is gone",
}

BEHAVIOUR: dict[str, str] = {
    "moved": "ImportError",
    "renamed": "ImportError",
    "removed": "ImportError",
    "private": "ImportError",
    "external": "ImportError",
    "deprecated_alias": "imports, with a deprecation warning",
    "stub_raises": "imports; building it raises",
    "changed_meaning": "imports, as another class",
}


def advice(code: str, old: str, new: str, removed: str | None, hint: str) -> str:
    """Word one change: what happened to ``old`` and what to do.

    Returns an empty string where nothing changed.
    """
    if not code:
        return ""
    name = old.rpartition(".")[2] or old
    if code == "TRU334":
        module = new.rpartition(".")[0]
        return f"`{old}`: import `{new}`" if not module else f"`{name}`: import it from {module}"
    when = f" (in {removed})" if removed and code != "TRU333" else ""
    text = f"`{name}` {KINDS[code]}{when}"
    if new:
        module, _, new_name = new.rpartition(".")
        if not module or code in ("TRU308", "TRU309"):
            text += f": import {new}"
        else:
            text += f": import {new_name} from {module}"
        if hint:
            text += f"; {hint}"
    elif hint:
        text += f": {hint}"
    elif code == "TRU333":
        text += ": keep it on Lightning or write it for relight"
    return text
