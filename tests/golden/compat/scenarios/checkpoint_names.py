"""Names and choice of ModelCheckpoint's files, best model and test with it."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


import os


class Model(Base):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))
        self.log("val/acc", float(self.current_epoch % 3))

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))


for name, arguments in {
    "default": {},
    "top": {"monitor": "val_loss", "save_top_k": 2},
    "named": {"monitor": "val_loss", "filename": "{epoch:02d}-{val_loss:.2f}", "save_last": True},
    "slash": {"monitor": "val/acc", "mode": "max", "filename": "x-{val/acc:.1f}", "auto_insert_metric_name": False},
    "all": {"save_top_k": -1, "every_n_epochs": 2},
    "none": {"save_top_k": 0, "save_last": True},
}.items():
    pl.seed_everything(8)
    callback = pl.callbacks.ModelCheckpoint(dirpath=os.path.abspath(name), **arguments)
    run = trainer(max_epochs=4, callbacks=[callback], enable_checkpointing=True)
    model = Model()
    run.fit(model, data(12), data(8, seed=2))
    record(name, sorted(os.listdir(name)), os.path.basename(callback.best_model_path), callback.best_model_score)
    if name == "top":
        record("tested", run.test(dataloaders=data(8, seed=3), ckpt_path="best", verbose=False))
        model = Model.load_from_checkpoint(callback.best_model_path)
        record("loaded", float(model.loss(next(iter(data(8, seed=3))))))
finish()
