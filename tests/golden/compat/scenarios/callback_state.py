"""State of callbacks in a checkpoint: state_dict and the hooks that see the whole checkpoint."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Counter(pl.Callback):
    def __init__(self, key):
        self.key, self.count = key, 0

    @property
    def state_key(self):
        return "Counter[%s]" % self.key

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.count += 1
        record("outputs", outputs)

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state_dict):
        record("load_state_dict", self.key, state_dict)
        self.count = state_dict["count"]

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        checkpoint["extra_" + self.key] = self.count

    def on_load_checkpoint(self, trainer, pl_module, checkpoint):
        record("on_load_checkpoint", self.key, checkpoint["extra_" + self.key])


pl.seed_everything(20)
run = trainer(callbacks=[Counter("a"), Counter("b")])
run.fit(Base(), data())
run.save_checkpoint("a.ckpt")
saved = torch.load("a.ckpt", weights_only=False)
record("saved", saved["callbacks"], saved["extra_a"], saved["epoch"], saved["global_step"])
record("keys", sorted(key for key in saved if key not in ("loops", "MixedPrecisionPlugin", "pytorch-lightning_version")))
counters = [Counter("a"), Counter("b")]
run = trainer(callbacks=list(counters), max_epochs=3)
run.fit(Base(), data(), ckpt_path="a.ckpt")
record("counts", [c.count for c in counters])
state_of(run, "resumed")
finish()
