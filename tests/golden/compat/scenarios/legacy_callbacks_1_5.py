"""Callbacks of 1.4/1.5: dataloader_idx, on_epoch_*, on_batch_*, pretrain routine, state by return value."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Old(pl.Callback):
    def __init__(self):
        self.count = 0

    def on_init_start(self, trainer):
        record("on_init_start")

    def on_init_end(self, trainer):
        record("on_init_end")

    def on_epoch_start(self, trainer, pl_module):
        record("callback.on_epoch_start", trainer.current_epoch)

    def on_epoch_end(self, trainer, pl_module):
        record("callback.on_epoch_end", trainer.current_epoch)

    def on_batch_start(self, trainer, pl_module):
        record("callback.on_batch_start")

    def on_batch_end(self, trainer, pl_module):
        record("callback.on_batch_end")

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx):
        record("callback.on_train_batch_start", batch_idx, dataloader_idx)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        record("callback.on_train_batch_end", outputs, batch_idx, dataloader_idx)
        self.count += 1

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        record("callback.on_validation_batch_end", batch_idx, dataloader_idx)

    def on_pretrain_routine_start(self, trainer, pl_module):
        record("callback.on_pretrain_routine_start")

    def on_pretrain_routine_end(self, trainer, pl_module):
        record("callback.on_pretrain_routine_end")

    def on_before_accelerator_backend_setup(self, trainer, pl_module):
        record("callback.on_before_accelerator_backend_setup")

    def on_configure_sharded_model(self, trainer, pl_module):
        record("callback.on_configure_sharded_model")

    def setup(self, trainer, pl_module, stage=None):
        record("callback.setup", stage)

    def on_fit_start(self, trainer, pl_module):
        record("callback.on_fit_start")

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        record("callback.on_save_checkpoint")
        return {"count": self.count}

    def on_load_checkpoint(self, trainer, pl_module, callback_state):
        record("callback.on_load_checkpoint", callback_state)
        self.count = callback_state["count"]


class Model(Base):
    def on_epoch_start(self):
        record("module.on_epoch_start", self.current_epoch)

    def on_epoch_end(self):
        record("module.on_epoch_end", self.current_epoch)

    def on_pretrain_routine_start(self):
        record("module.on_pretrain_routine_start")

    def on_pretrain_routine_end(self):
        record("module.on_pretrain_routine_end")

    def on_train_batch_start(self, batch, batch_idx, dataloader_idx):
        record("module.on_train_batch_start", batch_idx, dataloader_idx)

    def on_train_batch_end(self, outputs, batch, batch_idx, dataloader_idx):
        record("module.on_train_batch_end", batch_idx, dataloader_idx)

    def on_train_dataloader(self):
        record("module.on_train_dataloader")

    def validation_step(self, batch, batch_idx):
        return self.loss(batch)

    def get_progress_bar_dict(self):
        items = super().get_progress_bar_dict()
        items["mine"] = 1
        return items


pl.seed_everything(21)
old = Old()
model = Model()
run = trainer(callbacks=[old], limit_train_batches=2)
run.fit(model, data(), data(8, seed=2))
state_of(run, "fit")
record("=== save")
run.save_checkpoint("a.ckpt")
record("=== resume")
run = trainer(callbacks=[Old()], limit_train_batches=1, max_epochs=3, resume_from_checkpoint="a.ckpt", num_sanity_val_steps=0)
run.fit(model, data(), data(8, seed=2))
record("count", run.callbacks[-1].count if isinstance(run.callbacks[-1], Old) else [c for c in run.callbacks if isinstance(c, Old)][0].count)
finish()
