"""What changed in the hooks, methods and attributes of a LightningModule."""

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
    make,
    rename,
)
from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["ENTRIES"]

_NEVER_CALLED = "never called, without a word"
_ATTRIBUTE = "AttributeError where it is used"


def _hook(code: str, name: str, advice: str, **rest: Any) -> Entry:
    rest.setdefault("how", UNSAFE)
    return make(Area.MODULE_HOOK, "LightningModule", code, name, advice, **rest)


def _uncalled(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe an override that 2.x never calls."""
    return _hook(code, name, advice, behaviour=_NEVER_CALLED, silent=True, **rest)


def _missing(code: str, name: str, advice: str, **rest: Any) -> Entry:
    """Describe a method or attribute that 2.x does not have."""
    return _hook(code, name, advice, behaviour=_ATTRIBUTE, **rest)


def _signature(code: str, name: str, modern: str, advice: str, **rest: Any) -> Entry:
    """Describe a method that stays, with other parameters."""
    rest.setdefault("relight", custom(modern, name))
    rest.setdefault("how", SAFE)
    return _hook(code, name, advice, **rest)


_EPOCH_ENDS = (
    _hook(
        "TRU200",
        "training_epoch_end",
        "`training_epoch_end(outputs)` left in 2.0: keep what you need of each step in a list on self, read and clear it in on_train_epoch_end",
        removed="2.0",
        relight=custom("def on_train_epoch_end(self)", "on_train_epoch_end"),
        behaviour="NotImplementedError when fit starts",
    ),
    _hook(
        "TRU201",
        "validation_epoch_end",
        "`validation_epoch_end(outputs)` left in 2.0: append to a list on self in validation_step, read and clear it in on_validation_epoch_end",
        removed="2.0",
        relight=custom("def on_validation_epoch_end(self)", "on_validation_epoch_end"),
        behaviour="NotImplementedError when fit or validate starts",
    ),
    _hook(
        "TRU202",
        "test_epoch_end",
        "`test_epoch_end(outputs)` left in 2.0: append to a list on self in test_step, read and clear it in on_test_epoch_end",
        removed="2.0",
        relight=custom("def on_test_epoch_end(self)", "on_test_epoch_end"),
        behaviour="NotImplementedError when test starts",
    ),
    _uncalled(
        "TRU203",
        "training_step_end",
        "`training_step_end` left in 2.0: put its body at the end of training_step, or in on_train_batch_end if it only reads the output",
        removed="2.0",
        relight=custom("the end of training_step"),
    ),
    _uncalled(
        "TRU204",
        "validation_step_end",
        "`validation_step_end` left in 2.0: put its body at the end of validation_step, or in on_validation_batch_end if it only reads the output",
        removed="2.0",
        relight=custom("the end of validation_step"),
    ),
    _uncalled(
        "TRU205",
        "test_step_end",
        "`test_step_end` left in 2.0: put its body at the end of test_step, or in on_test_batch_end if it only reads the output",
        removed="2.0",
        relight=custom("the end of test_step"),
    ),
    *(
        _uncalled(
            "TRU206",
            old,
            f"`{old}(outputs)` left in {gone}: keep the steps' outputs in a list on self, read and clear it in {new}",
            deprecated="0.7",
            removed=gone,
            relight=custom(f"def {new}(self)", new),
        )
        for old, new, gone in (
            ("training_end", "on_train_epoch_end", "0.10"),
            ("validation_end", "on_validation_epoch_end", "1.0"),
            ("test_end", "on_test_epoch_end", "1.0"),
        )
    ),
)

_RENAMED = (
    _uncalled(
        "TRU207",
        "on_epoch_start",
        "`on_epoch_start` left in 1.8: it ran in every stage, so say on_train_epoch_start, on_validation_epoch_start or on_test_epoch_start for those you mean",
        deprecated="1.6",
        removed="1.8",
        relight=rename("on_train_epoch_start"),
    ),
    _uncalled(
        "TRU208",
        "on_epoch_end",
        "`on_epoch_end` left in 1.8: it ran in every stage, so say on_train_epoch_end, on_validation_epoch_end or on_test_epoch_end for those you mean",
        deprecated="1.6",
        removed="1.8",
        relight=rename("on_train_epoch_end"),
    ),
    _uncalled(
        "TRU209",
        "on_batch_start",
        "`on_batch_start(batch)` left in 1.0: it is on_train_batch_start(batch, batch_idx)",
        removed="1.0",
        relight=custom("def on_train_batch_start(self, batch, batch_idx)", "on_train_batch_start"),
        how=SAFE,
    ),
    _uncalled(
        "TRU209",
        "on_batch_end",
        "`on_batch_end()` left in 1.0: it is on_train_batch_end(outputs, batch, batch_idx)",
        removed="1.0",
        relight=custom("def on_train_batch_end(self, outputs, batch, batch_idx)", "on_train_batch_end"),
        how=SAFE,
    ),
    *(
        _uncalled(
            "TRU210",
            name,
            f"`{name}` left in 1.8: it is on_fit_start, which runs after the module is on its device",
            deprecated="1.6",
            removed="1.8",
            relight=rename("on_fit_start"),
        )
        for name in ("on_pretrain_routine_start", "on_pretrain_routine_end")
    ),
    *(
        _uncalled(
            "TRU236",
            old,
            f"`{old}` left in 1.8: it is {new}, which runs for every checkpoint",
            deprecated="1.6",
            removed="1.8",
            relight=rename(new),
        )
        for old, new in (("on_hpc_save", "on_save_checkpoint"), ("on_hpc_load", "on_load_checkpoint"))
    ),
    *(
        _uncalled(
            "TRU231",
            f"on_{stage}_dataloader",
            f"`on_{stage}_dataloader` left in 1.7: put its body at the top of {stage}_dataloader",
            deprecated="1.5",
            removed="1.7",
            relight=custom(f"the top of {stage}_dataloader", f"{stage}_dataloader"),
        )
        for stage in ("train", "val", "test", "predict")
    ),
    _uncalled(
        "TRU238",
        "tng_dataloader",
        "`tng_dataloader` left in 0.10: it is train_dataloader",
        deprecated="0.5",
        removed="0.10",
        relight=rename("train_dataloader"),
        how=SAFE,
    ),
    _missing(
        "TRU238",
        "load_from_metrics",
        "`load_from_metrics` left in 0.9: it is load_from_checkpoint",
        deprecated="0.7",
        removed="0.9",
        relight=rename("load_from_checkpoint"),
    ),
    _missing(
        "TRU238",
        "predict",
        "`predict` of the module left in 1.3: it is predict_step",
        removed="1.3",
        relight=rename("predict_step"),
    ),
    _uncalled(
        "TRU238",
        "on_pre_performance_check",
        "`on_pre_performance_check` left in 0.10: it is on_validation_start",
        removed="0.10",
        relight=rename("on_validation_start"),
    ),
    _uncalled(
        "TRU238",
        "on_post_performance_check",
        "`on_post_performance_check` left in 0.10: it is on_validation_end",
        removed="0.10",
        relight=rename("on_validation_end"),
    ),
    _hook(
        "TRU237",
        "configure_sharded_model",
        "`configure_sharded_model` is deprecated since 2.1: call it configure_model, and let it return early when the layers are there",
        deprecated="2.1",
        relight=rename("configure_model"),
        behaviour="called, with a deprecation warning; RuntimeError if configure_model is there too",
        how=SAFE,
    ),
)

_SIGNATURES = (
    _signature(
        "TRU214",
        "training_step",
        "training_step(self, batch, batch_idx)",
        "`training_step` takes no optimizer_idx or hiddens since 2.0: with several optimizers set automatic_optimization = False and step them yourself",
        removed="2.0",
        behaviour="RuntimeError for optimizer_idx",
        how=MANUAL,
    ),
    _signature(
        "TRU215",
        "configure_optimizers",
        "configure_optimizers(self)",
        "`configure_optimizers` may return several optimizers only with automatic_optimization = False since 2.0; the key frequency is gone",
        removed="2.0",
        behaviour="RuntimeError for several optimizers with automatic optimization",
        how=MANUAL,
    ),
    _signature(
        "TRU213",
        "optimizer_step",
        "optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None)",
        "`optimizer_step` takes (epoch, batch_idx, optimizer, optimizer_closure) since 2.0, and must run the closure",
        deprecated="1.9",
        removed="2.0",
        behaviour="called with four positions, so the old signature gets the closure as optimizer_idx",
        silent=True,
    ),
    _signature(
        "TRU216",
        "backward",
        "backward(self, loss, *args, **kwargs)",
        "`backward` takes (loss, *args, **kwargs) since 2.0: drop optimizer and optimizer_idx",
        removed="2.0",
        behaviour="called with the loss alone: TypeError for the old signature",
    ),
    _signature(
        "TRU217",
        "optimizer_zero_grad",
        "optimizer_zero_grad(self, epoch, batch_idx, optimizer)",
        "`optimizer_zero_grad` takes (epoch, batch_idx, optimizer) since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    _signature(
        "TRU218",
        "on_before_optimizer_step",
        "on_before_optimizer_step(self, optimizer)",
        "`on_before_optimizer_step` takes the optimizer alone since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    _signature(
        "TRU219",
        "configure_gradient_clipping",
        "configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None)",
        "`configure_gradient_clipping` takes (optimizer, gradient_clip_val, gradient_clip_algorithm) since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    _signature(
        "TRU220",
        "lr_scheduler_step",
        "lr_scheduler_step(self, scheduler, metric)",
        "`lr_scheduler_step` takes (scheduler, metric) since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    *(
        _signature(
            "TRU221",
            name,
            f"{name}(self, batch, batch_idx, dataloader_idx=0)",
            f"`{name}` gets dataloader_idx only with several loaders since 2.0: give it the default 0",
            removed="2.0",
            behaviour="RuntimeError for a required dataloader_idx with one loader",
        )
        for name in ("validation_step", "test_step", "predict_step")
    ),
    *(
        _signature(
            "TRU222",
            f"on_{stage}_batch_{edge}",
            f"on_{stage}_batch_{edge}(self, {'outputs, ' if edge == 'end' else ''}batch, batch_idx, dataloader_idx=0)",
            f"`on_{stage}_batch_{edge}` gets dataloader_idx only with several loaders since 2.0: give it the default 0",
            removed="2.0",
            behaviour="RuntimeError for a required dataloader_idx with one loader",
        )
        for stage in ("validation", "test", "predict")
        for edge in ("start", "end")
    ),
    *(
        _signature(
            "TRU223",
            f"on_train_batch_{edge}",
            f"on_train_batch_{edge}(self, {'outputs, ' if edge == 'end' else ''}batch, batch_idx)",
            f"`on_train_batch_{edge}` takes no dataloader_idx since 1.7: drop it",
            deprecated="1.5",
            removed="1.7",
            behaviour="TypeError for a required dataloader_idx",
        )
        for edge in ("start", "end")
    ),
    _signature(
        "TRU224",
        "on_train_epoch_end",
        "on_train_epoch_end(self)",
        "`on_train_epoch_end` takes no outputs since 1.5: drop the parameter, and keep what you need of each step on self",
        deprecated="1.3",
        removed="1.5",
        behaviour="TypeError for a required parameter; one with a default never gets anything",
        how=UNSAFE,
    ),
    _signature(
        "TRU224",
        "on_predict_epoch_end",
        "on_predict_epoch_end(self)",
        "`on_predict_epoch_end` takes no results since 2.0: read self.trainer.predict_loop.predictions",
        removed="2.0",
        behaviour="TypeError for a required parameter; one with a default never gets anything",
        how=UNSAFE,
    ),
    _signature(
        "TRU226",
        "transfer_batch_to_device",
        "transfer_batch_to_device(self, batch, device, dataloader_idx)",
        "`transfer_batch_to_device` takes dataloader_idx as its third argument since 1.6: add it, also where super() is called",
        deprecated="1.4",
        removed="1.6",
        behaviour="TypeError for the old signature",
    ),
    *(
        _signature(
            "TRU227",
            name,
            f"{name}(self, stage)",
            f"`{name}` is called as {name}(stage=…) since 1.8: the parameter must be there and bear that name",
            removed="1.8",
            behaviour="TypeError if no parameter is called stage",
        )
        for name in ("setup", "teardown")
    ),
    *(
        _signature(
            "TRU228",
            name,
            f"self.{name}(…, reduce_fx=…)",
            f"`{name}` takes no tbptt_reduce_fx, tbptt_pad_token or sync_dist_op since 1.6: drop the first two, and say reduce_fx for the last",
            deprecated="1.4",
            removed="1.6",
            behaviour="TypeError for the removed keywords",
        )
        for name in ("log", "log_dict")
    ),
    _signature(
        "TRU233",
        "load_from_checkpoint",
        "Model.load_from_checkpoint(path, hparams_file=…)",
        "`load_from_checkpoint` is called on the class and returns the model (an instance refuses it since 2.1); tags_csv is hparams_file",
        removed="2.1",
        behaviour="TypeError on an instance; before 2.1 the instance stayed as it was",
        how=UNSAFE,
        silent=True,
    ),
    *(
        _signature(
            "TRU234",
            name,
            f"self.{name}(optimizer)",
            f"`{name}` takes the optimizer since 2.0, not its index",
            removed="2.0",
            behaviour="TypeError for a second argument",
        )
        for name in ("toggle_optimizer", "untoggle_optimizer")
    ),
    _signature(
        "TRU235",
        "manual_backward",
        "self.manual_backward(loss)",
        "`manual_backward` takes no optimizer since 1.4: pass the loss alone",
        deprecated="1.2",
        removed="1.4",
        behaviour="the optimizer reaches loss.backward() as its gradient: TypeError",
    ),
    _missing(
        "TRU235",
        "manual_optimizer_step",
        "`manual_optimizer_step` left in 1.1: call step() on what self.optimizers() returns",
        removed="1.1",
        relight=expression("self.optimizers().step()"),
    ),
)

_ATTRIBUTES = (
    _hook(
        "TRU225",
        "hparams",
        "`self.hparams = …` is refused since 1.3: call self.save_hyperparameters(…)",
        deprecated="1.1",
        removed="1.3",
        relight=expression("self.save_hyperparameters(…)", "save_hyperparameters"),
        behaviour="AttributeError: no setter",
        how=SAFE,
    ),
    _uncalled(
        "TRU211",
        "tbptt_split_batch",
        "`tbptt_split_batch` left in 2.0: split the batch in training_step, with manual optimization",
        removed="2.0",
        relight=NONE,
        how=MANUAL,
    ),
    _missing(
        "TRU212",
        "truncated_bptt_steps",
        "`truncated_bptt_steps` left in 2.0: split the batch in training_step, with manual optimization",
        removed="2.0",
        relight=NONE,
        how=MANUAL,
        silent=True,
    ),
    *(
        _uncalled(
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
    _uncalled(
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
    _missing(
        "TRU230",
        "grad_norm",
        "`self.grad_norm(p)` left in 1.5: call grad_norm(self, norm_type=p) of the utilities",
        deprecated="1.3",
        removed="1.5",
        relight=expression("grad_norm(self, norm_type=…)", "relight.utilities.grad_norm", "norm_type"),
        lightning=expression(
            "grad_norm(self, norm_type=…)", "lightning.pytorch.utilities.grad_norm", "norm_type"
        ),
        how=SAFE,
    ),
    _missing(
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
    _missing(
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
    _missing(
        "TRU237",
        "datamodule",
        "`self.datamodule` left in 1.5: say self.trainer.datamodule",
        deprecated="1.3",
        removed="1.5",
        relight=attribute("trainer.datamodule", "self.trainer.datamodule"),
        how=SAFE,
    ),
    _missing(
        "TRU237",
        "use_amp",
        "`self.use_amp` left in 1.8: compare self.trainer.precision with '16-mixed' and 'bf16-mixed'",
        deprecated="1.6",
        removed="1.8",
        relight=expression('self.trainer.precision in ("16-mixed", "bf16-mixed")'),
    ),
    _missing(
        "TRU237",
        "use_ddp",
        "`self.use_ddp` left in 1.2: ask self.trainer.world_size > 1, or the class of self.trainer.strategy",
        removed="1.2",
        relight=expression("self.trainer.world_size > 1"),
        lightning=expression(
            "isinstance(self.trainer.strategy, DDPStrategy)", "lightning.pytorch.strategies.DDPStrategy"
        ),
    ),
    _missing(
        "TRU237",
        "use_dp",
        "`self.use_dp` left in 1.2 and DP is gone: take the branch for False",
        removed="1.2",
        relight=expression("False"),
    ),
    _missing(
        "TRU237",
        "use_ddp2",
        "`self.use_ddp2` left in 1.2 and DDP2 is gone: take the branch for False",
        removed="1.2",
        relight=expression("False"),
    ),
    _missing(
        "TRU237",
        "use_tpu",
        "`self.use_tpu` left in 1.2: ask self.device.type == 'xla'",
        removed="1.2",
        relight=expression('self.device.type == "xla"'),
    ),
    _missing(
        "TRU237",
        "precision",
        "`self.precision` left in 2.0: say self.trainer.precision, whose values read '16-mixed', '32-true' …",
        removed="2.0",
        relight=attribute("trainer.precision", "self.trainer.precision"),
    ),
    _missing(
        "TRU237",
        "exp_save_path",
        "`self.exp_save_path` left in 1.3: say self.trainer.log_dir",
        removed="1.3",
        relight=attribute("trainer.log_dir", "self.trainer.log_dir"),
    ),
    _missing(
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
        _missing(
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
    _missing(
        "TRU238",
        "loaded_optimizer_states_dict",
        "`loaded_optimizer_states_dict` left in 1.6: read checkpoint['optimizer_states'] in on_load_checkpoint",
        deprecated="1.4",
        removed="1.6",
        relight=expression('checkpoint["optimizer_states"]'),
        how=MANUAL,
    ),
    _uncalled(
        "TRU238",
        "configure_ddp",
        "`configure_ddp` left in 0.10: subclass the DDP strategy instead",
        removed="0.10",
        relight=NONE,
        lightning=custom("DDPStrategy.configure_ddp", "lightning.pytorch.strategies.DDPStrategy"),
        how=MANUAL,
    ),
    _uncalled(
        "TRU238",
        "init_ddp_connection",
        "`init_ddp_connection` left in 0.10: pass a ClusterEnvironment in plugins=[…]",
        removed="0.10",
        relight=custom("plugins=[…]"),
        how=MANUAL,
    ),
    _uncalled(
        "TRU238",
        "configure_apex",
        "`configure_apex` left in 0.10 and apex in 2.0: delete it",
        removed="0.10",
        relight=DROP,
        how=MANUAL,
    ),
    _uncalled(
        "TRU238",
        "configure_sync_batchnorm",
        "`configure_sync_batchnorm` left in 0.10: pass a layer-sync plugin to the Trainer",
        removed="0.10",
        relight=custom("plugins=[TorchSyncBatchNorm()]"),
        lightning=custom("sync_batchnorm=True", "lightning.pytorch.plugins.TorchSyncBatchNorm"),
        how=MANUAL,
    ),
    _uncalled(
        "TRU238",
        "amp_scale_loss",
        "`amp_scale_loss` left in 1.0: the precision plugin scales; delete it",
        removed="1.0",
        relight=DROP,
        how=MANUAL,
    ),
    _uncalled(
        "TRU238",
        "on_sanity_check_start",
        "`on_sanity_check_start` of the module left in 0.9: use the callback's hook, or ask self.trainer.sanity_checking",
        deprecated="0.6",
        removed="0.9",
        relight=custom("Callback.on_sanity_check_start", "on_sanity_check_start"),
        how=MANUAL,
    ),
    _uncalled(
        "TRU238",
        "on_post_move_to_device",
        "`on_post_move_to_device` left in 1.7: shared weights stay tied by themselves, so delete it",
        deprecated="1.5",
        removed="1.7",
        relight=DROP,
    ),
    *(
        _uncalled(
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
        _missing(
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
    return _hook("TRU239", name, advice, source=source, **rest)


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
        "`to_onnx` may leave file_path out since 2.6 (relight has none: call torch.onnx.export)",
        "Lightning 2.6",
        relight=expression("torch.onnx.export(model, …)", "torch.onnx.export"),
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

ENTRIES: tuple[Entry, ...] = _EPOCH_ENDS + _RENAMED + _SIGNATURES + _ATTRIBUTES + _GONE + _MEANINGS
