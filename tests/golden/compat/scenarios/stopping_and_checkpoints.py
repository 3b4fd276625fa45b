"""EarlyStopping and ModelCheckpoint on a metric that an epoch-end hook logs; names, scores, resume."""
import os

from scenario_kit import Base, data, files, finish, pl, record, state_of, torch, trainer
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint


class Model(Base):
    def validation_step(self, batch, batch_idx):
        return {"val_loss": self.loss(batch)}

    def validation_epoch_end(self, outputs):
        loss = torch.stack([x["val_loss"] for x in outputs]).mean()
        bump = 0.5 * max(0, self.current_epoch - 2)
        self.log("val_loss", loss + bump)
        self.log("val/other", loss, prog_bar=True)


pl.seed_everything(9)
here = os.path.join(os.getcwd(), "top")
last = os.path.join(os.getcwd(), "every")
best = ModelCheckpoint(dirpath=here, monitor="val_loss", save_top_k=2, save_last=True, filename="{epoch:02d}-{val_loss:.3f}")
every = ModelCheckpoint(dirpath=last, save_top_k=-1, every_n_epochs=2)
stop = EarlyStopping(monitor="val_loss", patience=2)
model = Model()
run = trainer(max_epochs=12, callbacks=[best, every, stop], enable_checkpointing=True)
run.fit(model, data(), data(8, seed=2))
state_of(run, "fit")
files(here, last)
record("best", os.path.basename(best.best_model_path), best.best_model_score, os.path.basename(best.last_model_path), best.kth_value)
record("stopped", stop.stopped_epoch, stop.wait_count, stop.best_score, run.should_stop)
record("test best", run.validate(dataloaders=data(8, seed=4), ckpt_path="best", verbose=False))
again = Model.load_from_checkpoint(best.best_model_path)
record("loaded", again.net[0].weight)
checkpoint = torch.load(best.best_model_path, weights_only=False)
record("checkpoint", checkpoint["epoch"], checkpoint["global_step"], sorted(checkpoint["state_dict"]))
finish()
