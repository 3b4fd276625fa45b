"""What changed in the attributes and little methods of a LightningModule, and what is gone."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import (
    DROP,
    MANUAL,
    NONE,
    SAFE,
    UNSAFE,
    attribute,
    custom,
    expression,
)
from trainer_upgrade.catalogue.entry import Entry
from trainer_upgrade.catalogue.hook_helpers import hook, missing, uncalled

__all__ = ["ENTRIES"]

_ATTRIBUTES = (
    hook(
        "TRU225",
        "hparams",
        "`self.hparams = …` is refused since 1.3: call self.save_hyperparameters(…)",
        deprecated="1.1",
        removed="1.3",
        relight=expression("self.save_hyperparameters(…)", "save_hyperparameters"),
        behaviour="AttributeError: no setter",
        how=SAFE,
    ),
    uncalled(
        "TRU211",
        "tbptt_split_batch",
        "`tbptt_split_batch` left in 2.0: split the batch in training_step, with manual optimization",
        removed="2.0",
        relight=NONE,
        how=MANUAL,
    ),
    missing(
        "TRU212",
        "truncated_bptt_steps",
        "`truncated_bptt_steps` left in 2.0: split the batch in training_step, with manual optimization",
        removed="2.0",
        relight=NONE,
        how=MANUAL,
        silent=True,
    ),
    *(
        uncalled(
            "TRU229",
            name,
            f"`{name}` left in {gone}: override get_metrics of the progress bar, or log with prog_bar=True",
            deprecated=warned,
            removed=gone,
            relight=custom("ProgressBar.get_metrics(self, trainer, pl_module)", "get_metrics"),
        )
        for name, warned, gone in (
            ("get_progress_bar_dict", "1.5", "1.7"),
            ("get_tqdm_dict", "0.7.3", "1.0"),
        )
    ),
    uncalled(
        "TRU230",
        "log_grad_norm",
        "`log_grad_norm` left in 2.0: log grad_norm(self, norm_type=…) in on_before_optimizer_step",
        removed="2.0",
        relight=expression(
            "self.log_dict(grad_norm(self, norm_type=…))", "relight.utilities.grad_norm", "norm_type"
        ),
        lightning=expression(
            "self.log_dict(grad_norm(self, norm_type=…))",
            "lightning.pytorch.utilities.grad_norm",
            "norm_type",
        ),
    ),
    missing(
        "TRU230",
        "grad_norm",
        "`self.grad_norm(p)` left in 1.5: call grad_norm(self, norm_type=p) of the utilities; its keys have a / before the parameter's name",
        deprecated="1.3",
        removed="1.5",
        relight=expression("grad_norm(self, norm_type=…)", "relight.utilities.grad_norm", "norm_type"),
        lightning=expression(
            "grad_norm(self, norm_type=…)", "lightning.pytorch.utilities.grad_norm", "norm_type"
        ),
    ),
    missing(
        "TRU232",
        "summarize",
        "`model.summarize(…)` left in 1.7: call summarize(model, max_depth=…); mode 'top' is 1, 'full' is -1",
        deprecated="1.5",
        removed="1.7",
        relight=expression(
            "callbacks=[ModelSummary(max_depth=…)]", "relight.callbacks.ModelSummary", "max_depth"
        ),
        lightning=expression(
            "summarize(model, max_depth=…)",
            "lightning.pytorch.utilities.model_summary.summarize",
            "max_depth",
        ),
        how=SAFE,
    ),
    missing(
        "TRU232",
        "model_size",
        "`model.model_size` left in 1.7: say ModelSummary(model).model_size, in MB as before",
        deprecated="1.5",
        removed="1.7",
        relight=expression("sum(p.numel() * p.element_size() for p in model.parameters()) / 1e6"),
        lightning=expression(
            "ModelSummary(model).model_size", "lightning.pytorch.utilities.model_summary.ModelSummary"
        ),
    ),
    missing(
        "TRU237",
        "datamodule",
        "`self.datamodule` left in 1.5: say self.trainer.datamodule",
        deprecated="1.3",
        removed="1.5",
        relight=attribute("trainer.datamodule", "self.trainer.datamodule"),
        how=SAFE,
    ),
    missing(
        "TRU237",
        "use_amp",
        "`self.use_amp` left in 1.8: compare self.trainer.precision with '16-mixed' and 'bf16-mixed'",
        deprecated="1.6",
        removed="1.8",
        relight=expression('self.trainer.precision in ("16-mixed", "bf16-mixed")'),
    ),
    missing(
        "TRU237",
        "use_ddp",
        "`self.use_ddp` left in 1.2: ask self.trainer.world_size > 1, or the class of self.trainer.strategy",
        removed="1.2",
        relight=expression("self.trainer.world_size > 1"),
        lightning=expression(
            "isinstance(self.trainer.strategy, DDPStrategy)", "lightning.pytorch.strategies.DDPStrategy"
        ),
    ),
    missing(
        "TRU237",
        "use_dp",
        "`self.use_dp` left in 1.2 and DP is gone: take the branch for False",
        removed="1.2",
        relight=expression("False"),
    ),
    missing(
        "TRU237",
        "use_ddp2",
        "`self.use_ddp2` left in 1.2 and DDP2 is gone: take the branch for False",
        removed="1.2",
        relight=expression("False"),
    ),
    missing(
        "TRU237",
        "use_tpu",
        "`self.use_tpu` left in 1.2: ask self.device.type == 'xla'",
        removed="1.2",
        relight=expression('self.device.type == "xla"'),
    ),
    missing(
        "TRU237",
        "precision",
        "`self.precision` left in 2.0: say self.trainer.precision, whose values read '16-mixed', '32-true' …",
        removed="2.0",
        relight=attribute("trainer.precision", "self.trainer.precision"),
    ),
    missing(
        "TRU237",
        "exp_save_path",
        "`self.exp_save_path` left in 1.3: say self.trainer.log_dir",
        removed="1.3",
        relight=attribute("trainer.log_dir", "self.trainer.log_dir"),
    ),
    missing(
        "TRU237",
        "running_stage",
        "`self.running_stage` left in 1.3: say self.trainer.state.stage",
        removed="1.3",
        relight=attribute("trainer.state.stage", "self.trainer.state.stage"),
        how=SAFE,
    ),
)

_GONE = (
    *(
        missing(
            "TRU238",
            name,
            f"`{name}` left in 1.5: return predictions from predict_step and write them with a BasePredictionWriter",
            deprecated="1.3",
            removed="1.5",
            relight=NONE,
            lightning=custom("BasePredictionWriter", "lightning.pytorch.callbacks.BasePredictionWriter"),
            how=MANUAL,
        )
        for name in ("write_prediction", "write_prediction_dict")
    ),
    missing(
        "TRU238",
        "loaded_optimizer_states_dict",
        "`loaded_optimizer_states_dict` left in 1.6: read checkpoint['optimizer_states'] in on_load_checkpoint",
        deprecated="1.4",
        removed="1.6",
        relight=expression('checkpoint["optimizer_states"]'),
        how=MANUAL,
    ),
    uncalled(
        "TRU238",
        "configure_ddp",
        "`configure_ddp` left in 0.10: subclass the DDP strategy instead",
        removed="0.10",
        relight=NONE,
        lightning=custom("DDPStrategy.configure_ddp", "lightning.pytorch.strategies.DDPStrategy"),
        how=MANUAL,
    ),
    uncalled(
        "TRU238",
        "init_ddp_connection",
        "`init_ddp_connection` left in 0.10: pass a ClusterEnvironment in plugins=[…]",
        removed="0.10",
        relight=custom("plugins=[…]"),
        how=MANUAL,
    ),
    uncalled(
        "TRU238",
        "configure_apex",
        "`configure_apex` left in 0.10 and apex in 2.0: delete it",
        removed="0.10",
        relight=DROP,
        how=MANUAL,
    ),
    uncalled(
        "TRU238",
        "configure_sync_batchnorm",
        "`configure_sync_batchnorm` left in 0.10: pass a layer-sync plugin to the Trainer",
        removed="0.10",
        relight=custom("plugins=[TorchSyncBatchNorm()]"),
        lightning=custom("sync_batchnorm=True", "lightning.pytorch.plugins.TorchSyncBatchNorm"),
        how=MANUAL,
    ),
    uncalled(
        "TRU238",
        "amp_scale_loss",
        "`amp_scale_loss` left in 1.0: the precision plugin scales; delete it",
        removed="1.0",
        relight=DROP,
        how=MANUAL,
    ),
    uncalled(
        "TRU238",
        "on_sanity_check_start",
        "`on_sanity_check_start` of the module left in 0.9: use the callback's hook, or ask self.trainer.sanity_checking",
        deprecated="0.6",
        removed="0.9",
        relight=custom("Callback.on_sanity_check_start", "on_sanity_check_start"),
        how=MANUAL,
    ),
    uncalled(
        "TRU238",
        "on_post_move_to_device",
        "`on_post_move_to_device` left in 1.7: shared weights stay tied by themselves, so delete it",
        deprecated="1.5",
        removed="1.7",
        relight=DROP,
    ),
    *(
        uncalled(
            "TRU238",
            name,
            f"`{name}` left in 1.7 and has no twin: bring results home through files or callback_metrics",
            deprecated="1.5",
            removed="1.7",
            relight=NONE,
            how=MANUAL,
        )
        for name in ("add_to_queue", "get_from_queue")
    ),
    *(
        missing(
            "TRU238",
            name,
            f"`{name}` of the module left in 2.0: pass torch.compile(model) to fit",
            removed="2.0",
            relight=custom("trainer.fit(torch.compile(model))"),
            lightning=expression(f"{name}(model)", f"lightning.pytorch.utilities.compile.{name}"),
        )
        for name in ("from_compiled", "to_uncompiled")
    ),
)


def _meaning(name: str, advice: str, source: str, **rest: Any) -> Entry:
    """Describe what stayed under its name with another kind, return value or meaning."""
    rest.setdefault("how", MANUAL)
    rest.setdefault("relight", custom("", name))
    return hook("TRU239", name, advice, source=source, **rest)


_MEANINGS = (
    _meaning(
        "freeze",
        "`freeze()` returns the module since 2.6.1: nothing to do unless you used its None",
        "Lightning 2.6.1",
    ),
    _meaning(
        "unfreeze",
        "`unfreeze()` returns the module since 2.6.1: nothing to do unless you used its None",
        "Lightning 2.6.1",
    ),
    _meaning(
        "dtype",
        "`self.dtype` is kept by the module: move the module with .to(dtype) rather than set it",
        "Lightning 0.7 to 2.6",
    ),
    _meaning(
        "device",
        "`self.device` cannot be assigned since 1.3: move the module with .to(device)",
        "Lightning 1.3",
        removed="1.3",
    ),
    _meaning(
        "on_gpu",
        "`self.on_gpu` is read-only since 0.8: move the module instead of assigning it",
        "Lightning 0.8",
    ),
    _meaning(
        "logger",
        "`self.logger` is read-only since 1.2 and the first of several loggers since 1.8: give loggers to the Trainer, loop over self.loggers",
        "Lightning 1.2, 1.8",
        silent=True,
    ),
    _meaning(
        "trainer",
        "`self.trainer` raises while no Trainer is attached, since 1.7 (hasattr and getattr do not help): ask self._trainer is None",
        "Lightning 1.7",
        relight=attribute("_trainer", "self._trainer"),
        behaviour="RuntimeError without a Trainer",
        how=UNSAFE,
    ),
    _meaning(
        "global_step",
        "`self.global_step` counts optimizer steps since 1.6 (it counted batches): check file names, schedules and logging intervals",
        "Lightning 1.6",
        silent=True,
    ),
    _meaning(
        "current_epoch",
        "`self.current_epoch` is read-only since 0.10, and one higher after fit since 1.6",
        "Lightning 0.10, 1.6",
        silent=True,
    ),
    _meaning(
        "save_hyperparameters",
        "`save_hyperparameters` takes frame by keyword only: say frame=…",
        "Lightning 1.3, 1.4",
        how=SAFE,
    ),
    _meaning(
        "to_onnx",
        "`to_onnx` may leave file_path out since 2.6",
        "Lightning 2.6",
        relight=custom("", "to_onnx"),
        lightning=custom("", "to_onnx"),
    ),
    _meaning(
        "to_torchscript",
        "`to_torchscript` is deprecated since 2.6.1 (to go in 2.8): export with torch.export",
        "Lightning 2.6.1",
        deprecated="2.6.1",
        relight=expression("torch.export.export(model, args)", "torch.export.export"),
    ),
    _meaning(
        "optimizers",
        "`self.optimizers()` returns the optimizer itself, not a list, when there is one",
        "Lightning 1.0, 1.1",
    ),
    _meaning(
        "all_gather",
        "`all_gather` calls its first parameter data since 1.2: pass it by position",
        "Lightning 1.2",
        how=SAFE,
    ),
)

ENTRIES: tuple[Entry, ...] = _ATTRIBUTES + _GONE + _MEANINGS
