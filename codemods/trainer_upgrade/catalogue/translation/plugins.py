"""``plugins`` without strategies, ``cluster_environment`` → ``plugins`` and ``strategy``.

Strategies stood among the plugins from 1.1 to 1.6, by name or as an object; 2.x refuses them there.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, is_a, show

__all__ = ["translate_plugins"]

_STRATEGY_CLASSES = ("Strategy", "TrainingTypePlugin", "DDPPlugin", "DDPSpawnPlugin", "ParallelPlugin")


def is_strategy(value: object) -> bool:
    """Whether a plugin is a strategy: a name, or an object of a strategy's class."""
    if isinstance(value, str) or is_a(value, *_STRATEGY_CLASSES):
        return True
    name = getattr(value, "name", "")
    return isinstance(name, str) and type(value).__name__ == "Instance" and _looks_like_one(name)


def _looks_like_one(name: str) -> bool:
    """A stand-in carries one class name; those of strategies follow a pattern."""
    if name.endswith("Strategy"):
        return True
    stems = (
        "DDP",
        "DataParallel",
        "DeepSpeed",
        "Horovod",
        "SingleDevice",
        "SingleTPU",
        "TPUSpawn",
        "IPUPlugin",
        "Parallel",
    )
    return name.endswith("Plugin") and name.startswith(stems) and "Precision" not in name


def translate_plugins(draft: Draft) -> None:
    """Move strategies out of ``plugins``; runs before the devices are looked at."""
    value, environment = draft.take("plugins"), draft.take("cluster_environment")
    plugins: list[Any] = []
    if value is not MISSING and value is not None:
        plugins = list(value) if isinstance(value, (list, tuple)) else [value]
    strategies = [each for each in plugins if is_strategy(each)]
    kept = [each for each in plugins if not is_strategy(each)]
    if environment is not MISSING:
        if environment is None:
            draft.default("cluster_environment", None)
        elif isinstance(environment, (str, bool, int, float, list, tuple, dict)) or is_strategy(environment):
            draft.refuse(
                "cluster_environment", f"`cluster_environment={show(environment)}` is no environment"
            )
            environment = MISSING
        else:
            kept.append(environment)
            draft.say("cluster_environment", f"`cluster_environment={show(environment)}` → `plugins=[...]`")
    if not strategies:
        if value is not MISSING:
            draft.put("plugins", kept if environment not in (MISSING, None) else value)
        elif kept:
            draft.put("plugins", kept)
        return
    if len(strategies) > 1 or draft.rest.get("strategy", None) is not None:
        draft.refuse("plugins", "`plugins` holds a strategy while there is another one; only one was allowed")
    else:
        if draft.rest.get("strategy", MISSING) is None:
            draft.say("strategy", "`strategy=None` asks for nothing; drop it")
        draft.rest["strategy"] = strategies[0]
        draft.origin["strategy"] = "plugins"
    if kept:
        draft.put("plugins", kept)
