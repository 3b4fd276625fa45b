"""Arguments as Hydra hands them over."""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue import Target, translate_trainer_arguments


class ListConfig(list[Any]):
    """Recognised by its name, as the real one of OmegaConf is no list."""

    __class__ = object  # type: ignore[assignment]


def test_lists_of_omegaconf_are_lists() -> None:
    for name in ("devices", "gpus"):
        translation = translate_trainer_arguments(
            {name: ListConfig([0, 2]), "accelerator": "gpu"}, target=Target.RELIGHT
        )
        assert translation.errors == ()
        assert translation.constructor["devices"] == [0, 2]
        assert type(translation.constructor["devices"]) is list
