"""What changed in the hooks of a Callback."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import MANUAL, SAFE, UNSAFE, custom, make, rename
from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["ENTRIES"]


def _hook(code: str, name: str, advice: str, **rest: Any) -> Entry:
    rest.setdefault("how", UNSAFE)
    return make(Area.CALLBACK_HOOK, "Callback", code, name, advice, **rest)


def _uncalled(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe an override that 2.x never calls."""
    return _hook(code, name, advice, behaviour="never called, without a word", silent=True, **rest)


_RENAMED = (
    *(
        _uncalled(
            "TRU260",
            name,
            f"`{name}` left in 1.8 and nothing runs while the Trainer is built: use setup(trainer, pl_module, stage) or __init__",
            deprecated="1.6",
            removed="1.8",
            relight=custom("def setup(self, trainer, pl_module, stage)", "setup"),
            how=MANUAL,
        )
        for name in ("on_init_start", "on_init_end")
    ),
    *(
        _uncalled(
            code,
            f"on_epoch_{edge}",
            f"`on_epoch_{edge}` left in 1.8: it ran in every stage, so say on_train_epoch_{edge}, on_validation_epoch_{edge} or on_test_epoch_{edge} for those you mean",
            deprecated="1.6",
            removed="1.8",
            relight=rename(f"on_train_epoch_{edge}"),
        )
        for code, edge in (("TRU261", "start"), ("TRU262", "end"))
    ),
    _uncalled(
        "TRU263",
        "on_batch_start",
        "`on_batch_start` left in 1.8: it is on_train_batch_start(trainer, pl_module, batch, batch_idx)",
        deprecated="1.6",
        removed="1.8",
        relight=custom(
            "def on_train_batch_start(self, trainer, pl_module, batch, batch_idx)", "on_train_batch_start"
        ),
        how=SAFE,
    ),
    _uncalled(
        "TRU264",
        "on_batch_end",
        "`on_batch_end` left in 1.8: it is on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx)",
        deprecated="1.6",
        removed="1.8",
        relight=custom(
            "def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx)",
            "on_train_batch_end",
        ),
        how=SAFE,
    ),
    _uncalled(
        "TRU265",
        "on_keyboard_interrupt",
        "`on_keyboard_interrupt` left in 1.7: it is on_exception(trainer, pl_module, exception), where isinstance(exception, KeyboardInterrupt)",
        deprecated="1.5",
        removed="1.7",
        relight=custom("def on_exception(self, trainer, pl_module, exception)", "on_exception"),
        how=SAFE,
    ),
    *(
        _uncalled(
            code,
            name,
            f"`{name}` left in 1.8: it is on_fit_start, which runs after the module is on its device",
            deprecated="1.6",
            removed="1.8",
            relight=rename("on_fit_start"),
        )
        for code, name in (("TRU266", "on_pretrain_routine_start"), ("TRU267", "on_pretrain_routine_end"))
    ),
    *(
        _uncalled(
            code,
            name,
            f"`{name}` left in 1.8: it is setup(trainer, pl_module, stage)",
            deprecated="1.6",
            removed="1.8",
            relight=custom("def setup(self, trainer, pl_module, stage)", "setup"),
        )
        for code, name in (
            ("TRU268", "on_before_accelerator_backend_setup"),
            ("TRU269", "on_configure_sharded_model"),
        )
    ),
)

_SIGNATURES = (
    *(
        _hook(
            "TRU270",
            f"on_{stage}_batch_{edge}",
            f"`on_{stage}_batch_{edge}` gets dataloader_idx only with several loaders since 2.0: give it the default 0",
            removed="2.0",
            relight=custom(
                f"on_{stage}_batch_{edge}(self, trainer, pl_module, {'outputs, ' if edge == 'end' else ''}batch, batch_idx, dataloader_idx=0)",
                f"on_{stage}_batch_{edge}",
            ),
            behaviour="TypeError for a required dataloader_idx with one loader",
            how=SAFE,
        )
        for stage in ("validation", "test", "predict")
        for edge in ("start", "end")
    ),
    *(
        _hook(
            "TRU271",
            f"on_train_batch_{edge}",
            f"`on_train_batch_{edge}` takes no dataloader_idx since 1.7: drop it",
            deprecated="1.5",
            removed="1.7",
            relight=custom(
                f"on_train_batch_{edge}(self, trainer, pl_module, {'outputs, ' if edge == 'end' else ''}batch, batch_idx)",
                f"on_train_batch_{edge}",
            ),
            behaviour="TypeError for a required dataloader_idx",
            how=SAFE,
        )
        for edge in ("start", "end")
    ),
    _hook(
        "TRU272",
        "on_train_epoch_end",
        "`on_train_epoch_end` takes no outputs since 1.5: drop the parameter, and gather what you need in on_train_batch_end",
        deprecated="1.3",
        removed="1.5",
        relight=custom("on_train_epoch_end(self, trainer, pl_module)", "on_train_epoch_end"),
        behaviour="TypeError for a required parameter; one with a default never gets anything",
    ),
    _hook(
        "TRU273",
        "on_predict_epoch_end",
        "`on_predict_epoch_end` takes no outputs since 2.0: read trainer.predict_loop.predictions",
        removed="2.0",
        relight=custom("on_predict_epoch_end(self, trainer, pl_module)", "on_predict_epoch_end"),
        behaviour="TypeError for a required parameter; one with a default never gets anything",
    ),
    _hook(
        "TRU274",
        "on_save_checkpoint",
        "`on_save_checkpoint` keeps nothing that it returns since 1.8: return the callback's state from state_dict()",
        deprecated="1.6",
        removed="1.8",
        relight=custom("def state_dict(self)", "state_dict"),
        behaviour="called with (trainer, pl_module, checkpoint); what it returns is dropped",
        silent=True,
    ),
    _hook(
        "TRU275",
        "on_load_checkpoint",
        "`on_load_checkpoint` gets the whole checkpoint since 1.8: restore the callback's state in load_state_dict(state_dict)",
        deprecated="1.6",
        removed="1.8",
        relight=custom("def load_state_dict(self, state_dict)", "load_state_dict"),
        behaviour="called with (trainer, pl_module, checkpoint): a third parameter meant for the callback's state gets everything",
        silent=True,
    ),
    _hook(
        "TRU276",
        "on_before_optimizer_step",
        "`on_before_optimizer_step` takes (trainer, pl_module, optimizer) since 2.0: drop opt_idx",
        removed="2.0",
        relight=custom(
            "on_before_optimizer_step(self, trainer, pl_module, optimizer)", "on_before_optimizer_step"
        ),
        behaviour="TypeError for the old signature",
        how=SAFE,
    ),
    *(
        _hook(
            "TRU277",
            name,
            f"`{name}` is called as {name}(trainer, pl_module, stage=…) since 1.8: take all three",
            removed="1.8",
            relight=custom(f"{name}(self, trainer, pl_module, stage)", name),
            behaviour="TypeError if no parameter is called stage",
            how=SAFE,
        )
        for name in ("setup", "teardown")
    ),
    *(
        _hook(
            "TRU278",
            name,
            f"`{name}` takes (trainer, pl_module) since 0.9: add pl_module",
            removed="0.9",
            relight=custom(f"{name}(self, trainer, pl_module)", name),
            behaviour="TypeError for the old signature",
            how=SAFE,
        )
        for name in ("on_fit_start", "on_fit_end")
    ),
)

ENTRIES: tuple[Entry, ...] = _RENAMED + _SIGNATURES
