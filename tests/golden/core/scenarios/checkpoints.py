"""Checkpoints: what is written, and going on from it."""

import shutil

import torch


def _net(h):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]

    return h.net(configure_optimizers=configure_optimizers)


def _resume(h, path, max_epochs=4, module=None, **kwargs):
    h.note("resume", [])
    h.losses.clear()
    h.seed(99)
    h.trainer(max_epochs=max_epochs, **kwargs).fit(module or _net(h)(), h.loader(), h.loader(6, seed=4), ckpt_path=path)


def checkpoint_contents(h):
    checkpoint = h.pl.callbacks.ModelCheckpoint(monitor="val_loss", save_top_k=2, save_last=True)
    h.trainer(max_epochs=3, callbacks=[checkpoint], enable_checkpointing=True).fit(
        _net(h)(), h.loader(), h.loader(6, seed=4)
    )


def checkpoint_default(h):
    h.trainer(max_epochs=2, enable_checkpointing=True).fit(_net(h)(), h.loader(12))


def checkpoint_hparams(h):
    class Net(_net(h)):
        def __init__(self, width, name="net", flag=True, *, options=None):
            super().__init__()
            self.save_hyperparameters(ignore=["flag"])

    class Data(h.pl.LightningDataModule):
        def __init__(self, size):
            super().__init__()
            self.save_hyperparameters(logger=False)
            self.seen = 0

        def train_dataloader(self):
            self.seen += 1
            return h.loader(self.hparams.size)

        def state_dict(self):
            return {"seen": self.seen}

    h.trainer(max_epochs=1, enable_checkpointing=True).fit(Net(3, options={"a": [1, 2]}), datamodule=Data(12))
    path = next(h.dir.rglob("*.ckpt"))
    loaded = Net.load_from_checkpoint(path, name="other")
    h.results["hparams"] = dict(loaded.hparams)
    h.results["same"] = all(
        torch.equal(a, b) for a, b in zip(loaded.state_dict().values(), h.trainers[-1].lightning_module.state_dict().values())
    )


def resume_epoch_end(h):
    checkpoint = h.pl.callbacks.ModelCheckpoint(filename="{epoch}", save_top_k=-1)
    h.trainer(max_epochs=2, callbacks=[checkpoint], enable_checkpointing=True).fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    hooks = ("on_train_epoch_start", "on_train_epoch_end", "on_validation_start", "on_sanity_check_start")
    _resume(h, str(next(h.dir.rglob("epoch=1.ckpt"))), callbacks=[h.callback(hooks=hooks)])


def resume_shuffled(h):
    checkpoint = h.pl.callbacks.ModelCheckpoint(filename="{epoch}", save_top_k=-1)
    h.trainer(max_epochs=2, callbacks=[checkpoint], enable_checkpointing=True).fit(_net(h)(), h.loader(shuffle=True))
    h.losses.clear()
    h.seed(5)
    h.trainer(max_epochs=4).fit(_net(h)(), h.loader(shuffle=True), ckpt_path=str(next(h.dir.rglob("epoch=1.ckpt"))))


def resume_after_fit(h):
    trainer = h.trainer(max_epochs=2)
    trainer.fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    trainer.save_checkpoint(h.dir / "after.ckpt")
    _resume(h, h.dir / "after.ckpt")


def resume_mid_epoch_batch_end(h):
    class Save(h.pl.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            if trainer.global_step == 10:
                trainer.save_checkpoint(h.dir / "mid.ckpt")

    h.trainer(max_epochs=2, callbacks=[Save()]).fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    hooks = ("on_train_epoch_start", "on_train_batch_start", "on_validation_start", "on_sanity_check_start")
    _resume(h, h.dir / "mid.ckpt", 3, callbacks=[h.callback(hooks=hooks)])


def resume_last_batch_end(h):
    class Save(h.pl.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            if trainer.global_step == 7:
                trainer.save_checkpoint(h.dir / "mid.ckpt")

    h.trainer(max_epochs=2, callbacks=[Save()]).fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    hooks = ("on_train_epoch_start", "on_train_batch_start", "on_validation_start", "on_sanity_check_start")
    _resume(h, h.dir / "mid.ckpt", 3, callbacks=[h.callback(hooks=hooks)])


def resume_validation_end(h):
    checkpoint = h.pl.callbacks.ModelCheckpoint(monitor="val_loss", filename="{step}", save_top_k=-1)
    h.trainer(max_epochs=2, val_check_interval=3, callbacks=[checkpoint], enable_checkpointing=True).fit(
        _net(h)(), h.loader(), h.loader(6, seed=4)
    )
    hooks = ("on_train_epoch_start", "on_train_batch_start", "on_validation_start", "on_sanity_check_start")
    _resume(h, str(next(h.dir.rglob("step=10.ckpt"))), 3, val_check_interval=3, callbacks=[h.callback(hooks=hooks)])


def resume_max_steps(h):
    trainer = h.trainer(max_steps=9)
    trainer.fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    trainer.save_checkpoint(h.dir / "steps.ckpt")
    h.losses.clear()
    h.trainer(max_steps=16).fit(_net(h)(), h.loader(), h.loader(6, seed=4), ckpt_path=h.dir / "steps.ckpt")


def resume_every_n_train_steps(h):
    checkpoint = h.pl.callbacks.ModelCheckpoint(every_n_train_steps=4, filename="{step}", save_top_k=-1)
    h.trainer(max_epochs=2, callbacks=[checkpoint], enable_checkpointing=True).fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    _resume(h, str(next(h.dir.rglob("step=12.ckpt"))), 3)


def resume_callback_state(h):
    class Counter(h.pl.Callback):
        def __init__(self):
            self.batches = 0

        def on_train_batch_end(self, *args):
            self.batches += 1

        def state_dict(self):
            return {"batches": self.batches}

        def load_state_dict(self, state):
            self.batches = state["batches"]

        def on_save_checkpoint(self, trainer, pl_module, checkpoint):
            checkpoint["extra"] = {"by": "callback"}

        def on_load_checkpoint(self, trainer, pl_module, checkpoint):
            h.results["extra"] = checkpoint["extra"]

    trainer = h.trainer(max_epochs=1, callbacks=[Counter()])
    trainer.fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    trainer.save_checkpoint(h.dir / "a.ckpt")
    trainer.save_checkpoint(h.dir / "weights.ckpt", weights_only=True)
    counter = Counter()
    _resume(h, h.dir / "a.ckpt", 2, callbacks=[counter])
    h.results["batches"] = counter.batches


def resume_lightning_file(h):
    """Goes on from a file that Lightning 2.6.6 wrote (in the second epoch), kept beside the traces."""
    path = h.dir / "given.ckpt"
    shutil.copy(__import__("pathlib").Path(__file__).parent.parent / "checkpoints" / "lightning_2_6_6.ckpt", path)
    checkpoint = h.pl.callbacks.ModelCheckpoint(monitor="val_loss", filename="resumed-{epoch}", dirpath=str(h.dir))
    _resume(h, str(path), 3, callbacks=[checkpoint], enable_checkpointing=True)
    path.unlink()


def best_and_last(h):
    checkpoint = h.pl.callbacks.ModelCheckpoint(monitor="val_loss", save_last=True, dirpath=str(h.dir / "c"))
    trainer = h.trainer(max_epochs=3, callbacks=[checkpoint], enable_checkpointing=True)
    trainer.fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    h.results["best"] = trainer.test(dataloaders=h.loader(8, seed=6), ckpt_path="best", verbose=False)
    h.results["last"] = trainer.validate(dataloaders=h.loader(8, seed=6), ckpt_path="last", verbose=False)
    h.results["none"] = trainer.test(dataloaders=h.loader(8, seed=6), verbose=False)


def early_stopping(h):
    stop = h.pl.callbacks.EarlyStopping(monitor="val_loss", min_delta=0.05, patience=1)
    h.trainer(max_epochs=20, callbacks=[stop]).fit(_net(h)(), h.loader(), h.loader(6, seed=4))
    h.results["stopped"] = stop.stopped_epoch


def datamodule(h):
    class Data(h.pl.LightningDataModule):
        def setup(self, stage):
            self.sets = [h.loader(10), h.loader(6, seed=4)]

        def train_dataloader(self):
            return self.sets[0]

        def val_dataloader(self):
            return self.sets[1]

        def test_dataloader(self):
            return self.sets[1]

        def predict_dataloader(self):
            return self.sets[1]

    data = h.traced(Data, h.data_hooks, "D")()
    module = h.traced(h.net(), ("setup", "teardown", "prepare_data"))()
    trainer = h.trainer(max_epochs=1, callbacks=[h.callback(hooks=("setup", "teardown"))])
    trainer.fit(module, datamodule=data)
    h.results["validate"] = trainer.validate(module, data, verbose=False)
    h.results["test"] = trainer.test(module, datamodule=data, verbose=False)
    h.results["predict"] = trainer.predict(module, datamodule=data)


SCENARIOS = {
    function.__name__: function
    for function in (
        checkpoint_contents, checkpoint_default, checkpoint_hparams, resume_epoch_end, resume_shuffled,
        resume_after_fit, resume_mid_epoch_batch_end, resume_last_batch_end, resume_validation_end, resume_max_steps,
        resume_every_n_train_steps, resume_callback_state, resume_lightning_file, best_and_last, early_stopping,
        datamodule,
    )
}  # fmt: skip
