"""What changed in the hooks and methods of a LightningModule."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from trainer_upgrade.catalogue.build import (
    MANUAL,
    SAFE,
    UNSAFE,
    custom,
    expression,
    rename,
)
from trainer_upgrade.catalogue.entry import Entry
from trainer_upgrade.catalogue.hook_helpers import hook, missing, signature, uncalled

__all__ = ["ENTRIES"]

_EPOCH_ENDS = (
    hook(
        "TRU200",
        "training_epoch_end",
        "`training_epoch_end(outputs)` left in 2.0: keep what you need of each step in a list on self, read and clear it in on_train_epoch_end",
        removed="2.0",
        relight=custom("def on_train_epoch_end(self)", "on_train_epoch_end"),
        behaviour="NotImplementedError when fit starts",
    ),
    hook(
        "TRU201",
        "validation_epoch_end",
        "`validation_epoch_end(outputs)` left in 2.0: append to a list on self in validation_step, read and clear it in on_validation_epoch_end",
        removed="2.0",
        relight=custom("def on_validation_epoch_end(self)", "on_validation_epoch_end"),
        behaviour="NotImplementedError when fit or validate starts",
    ),
    hook(
        "TRU202",
        "test_epoch_end",
        "`test_epoch_end(outputs)` left in 2.0: append to a list on self in test_step, read and clear it in on_test_epoch_end",
        removed="2.0",
        relight=custom("def on_test_epoch_end(self)", "on_test_epoch_end"),
        behaviour="NotImplementedError when test starts",
    ),
    uncalled(
        "TRU203",
        "training_step_end",
        "`training_step_end` left in 2.0: put its body at the end of training_step, or in on_train_batch_end if it only reads the output",
        removed="2.0",
        relight=custom("the end of training_step"),
    ),
    uncalled(
        "TRU204",
        "validation_step_end",
        "`validation_step_end` left in 2.0: put its body at the end of validation_step, or in on_validation_batch_end if it only reads the output",
        removed="2.0",
        relight=custom("the end of validation_step"),
    ),
    uncalled(
        "TRU205",
        "test_step_end",
        "`test_step_end` left in 2.0: put its body at the end of test_step, or in on_test_batch_end if it only reads the output",
        removed="2.0",
        relight=custom("the end of test_step"),
    ),
    *(
        uncalled(
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
    uncalled(
        "TRU207",
        "on_epoch_start",
        "`on_epoch_start` left in 1.8: it ran in every stage, so say on_train_epoch_start, on_validation_epoch_start or on_test_epoch_start for those you mean",
        deprecated="1.6",
        removed="1.8",
        relight=rename("on_train_epoch_start"),
    ),
    uncalled(
        "TRU208",
        "on_epoch_end",
        "`on_epoch_end` left in 1.8: it ran in every stage, so say on_train_epoch_end, on_validation_epoch_end or on_test_epoch_end for those you mean",
        deprecated="1.6",
        removed="1.8",
        relight=rename("on_train_epoch_end"),
    ),
    uncalled(
        "TRU209",
        "on_batch_start",
        "`on_batch_start(batch)` left in 1.0: it is on_train_batch_start(batch, batch_idx)",
        removed="1.0",
        relight=custom("def on_train_batch_start(self, batch, batch_idx)", "on_train_batch_start"),
        how=SAFE,
    ),
    uncalled(
        "TRU209",
        "on_batch_end",
        "`on_batch_end()` left in 1.0: it is on_train_batch_end(outputs, batch, batch_idx)",
        removed="1.0",
        relight=custom("def on_train_batch_end(self, outputs, batch, batch_idx)", "on_train_batch_end"),
        how=SAFE,
    ),
    *(
        uncalled(
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
        uncalled(
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
        uncalled(
            "TRU231",
            f"on_{stage}_dataloader",
            f"`on_{stage}_dataloader` left in 1.7: put its body at the top of {stage}_dataloader",
            deprecated="1.5",
            removed="1.7",
            relight=custom(f"the top of {stage}_dataloader", f"{stage}_dataloader"),
        )
        for stage in ("train", "val", "test", "predict")
    ),
    uncalled(
        "TRU238",
        "tng_dataloader",
        "`tng_dataloader` left in 0.10: it is train_dataloader",
        deprecated="0.5",
        removed="0.10",
        relight=rename("train_dataloader"),
        how=SAFE,
    ),
    missing(
        "TRU238",
        "load_from_metrics",
        "`load_from_metrics` left in 0.9: it is load_from_checkpoint",
        deprecated="0.7",
        removed="0.9",
        relight=rename("load_from_checkpoint"),
    ),
    missing(
        "TRU238",
        "predict",
        "`predict` of the module left in 1.3: it is predict_step",
        removed="1.3",
        relight=rename("predict_step"),
    ),
    uncalled(
        "TRU238",
        "on_pre_performance_check",
        "`on_pre_performance_check` left in 0.10: it is on_validation_start",
        removed="0.10",
        relight=rename("on_validation_start"),
    ),
    uncalled(
        "TRU238",
        "on_post_performance_check",
        "`on_post_performance_check` left in 0.10: it is on_validation_end",
        removed="0.10",
        relight=rename("on_validation_end"),
    ),
    hook(
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
    signature(
        "TRU214",
        "training_step",
        "training_step(self, batch, batch_idx)",
        "`training_step` takes no optimizer_idx or hiddens since 2.0: with several optimizers set automatic_optimization = False and step them yourself",
        removed="2.0",
        behaviour="RuntimeError for optimizer_idx",
        how=MANUAL,
    ),
    signature(
        "TRU215",
        "configure_optimizers",
        "configure_optimizers(self)",
        "`configure_optimizers` may return several optimizers only with automatic_optimization = False since 2.0; the key frequency is gone",
        removed="2.0",
        behaviour="RuntimeError for several optimizers with automatic optimization",
        how=MANUAL,
    ),
    signature(
        "TRU213",
        "optimizer_step",
        "optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None)",
        "`optimizer_step` takes (epoch, batch_idx, optimizer, optimizer_closure) since 2.0, and must run the closure",
        deprecated="1.9",
        removed="2.0",
        behaviour="called with four positions, so the old signature gets the closure as optimizer_idx",
        silent=True,
    ),
    signature(
        "TRU216",
        "backward",
        "backward(self, loss, *args, **kwargs)",
        "`backward` takes (loss, *args, **kwargs) since 2.0: drop optimizer and optimizer_idx",
        removed="2.0",
        behaviour="called with the loss alone: TypeError for the old signature",
    ),
    signature(
        "TRU217",
        "optimizer_zero_grad",
        "optimizer_zero_grad(self, epoch, batch_idx, optimizer)",
        "`optimizer_zero_grad` takes (epoch, batch_idx, optimizer) since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    signature(
        "TRU218",
        "on_before_optimizer_step",
        "on_before_optimizer_step(self, optimizer)",
        "`on_before_optimizer_step` takes the optimizer alone since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    signature(
        "TRU219",
        "configure_gradient_clipping",
        "configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None)",
        "`configure_gradient_clipping` takes (optimizer, gradient_clip_val, gradient_clip_algorithm) since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    signature(
        "TRU220",
        "lr_scheduler_step",
        "lr_scheduler_step(self, scheduler, metric)",
        "`lr_scheduler_step` takes (scheduler, metric) since 2.0: drop optimizer_idx",
        removed="2.0",
        behaviour="TypeError for the old signature",
    ),
    *(
        signature(
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
        signature(
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
        signature(
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
    signature(
        "TRU224",
        "on_train_epoch_end",
        "on_train_epoch_end(self)",
        "`on_train_epoch_end` takes no outputs since 1.5: drop the parameter, and keep what you need of each step on self",
        deprecated="1.3",
        removed="1.5",
        behaviour="TypeError for a required parameter; one with a default never gets anything",
        how=UNSAFE,
    ),
    signature(
        "TRU224",
        "on_predict_epoch_end",
        "on_predict_epoch_end(self)",
        "`on_predict_epoch_end` takes no results since 2.0: read self.trainer.predict_loop.predictions",
        removed="2.0",
        behaviour="TypeError for a required parameter; one with a default never gets anything",
        how=UNSAFE,
    ),
    signature(
        "TRU226",
        "transfer_batch_to_device",
        "transfer_batch_to_device(self, batch, device, dataloader_idx)",
        "`transfer_batch_to_device` takes dataloader_idx as its third argument since 1.6: add it, also where super() is called",
        deprecated="1.4",
        removed="1.6",
        behaviour="TypeError for the old signature",
    ),
    *(
        signature(
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
        signature(
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
    signature(
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
        signature(
            "TRU234",
            name,
            f"self.{name}(optimizer)",
            f"`{name}` takes the optimizer since 2.0, not its index",
            removed="2.0",
            behaviour="TypeError for a second argument",
        )
        for name in ("toggle_optimizer", "untoggle_optimizer")
    ),
    signature(
        "TRU235",
        "manual_backward",
        "self.manual_backward(loss)",
        "`manual_backward` takes no optimizer since 1.4: pass the loss alone",
        deprecated="1.2",
        removed="1.4",
        behaviour="the optimizer reaches loss.backward() as its gradient: TypeError",
    ),
    missing(
        "TRU235",
        "manual_optimizer_step",
        "`manual_optimizer_step` left in 1.1: call step() on what self.optimizers() returns",
        removed="1.1",
        relight=expression("self.optimizers().step()"),
    ),
)

ENTRIES: tuple[Entry, ...] = _EPOCH_ENDS + _RENAMED + _SIGNATURES
