"""The order of every hook with its arguments: module, callbacks, data module."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer

MODULE = """on_fit_start on_fit_end on_train_start on_train_end on_validation_start on_validation_end on_test_start on_test_end
on_predict_start on_predict_end on_train_epoch_start on_train_epoch_end on_validation_epoch_start on_validation_epoch_end
on_test_epoch_start on_test_epoch_end on_predict_epoch_start on_train_batch_start on_train_batch_end
on_validation_batch_start on_validation_batch_end on_test_batch_start on_test_batch_end on_predict_batch_start
on_predict_batch_end on_before_zero_grad on_before_backward on_after_backward on_before_optimizer_step
on_validation_model_eval on_validation_model_train on_test_model_eval on_test_model_train on_predict_model_eval
prepare_data on_save_checkpoint on_load_checkpoint
configure_callbacks""".split()
CALLBACK = """on_fit_start on_fit_end on_sanity_check_start on_sanity_check_end on_train_start on_train_end
on_train_epoch_start on_train_epoch_end on_validation_epoch_start on_validation_epoch_end on_test_epoch_start
on_test_epoch_end on_predict_epoch_start on_predict_epoch_end on_train_batch_start on_train_batch_end
on_validation_start on_validation_end on_validation_batch_start on_validation_batch_end on_test_start on_test_end
on_test_batch_start on_test_batch_end on_predict_start on_predict_end on_predict_batch_start on_predict_batch_end
on_before_backward on_after_backward on_before_optimizer_step on_before_zero_grad setup teardown
on_save_checkpoint on_load_checkpoint state_dict""".split()


def spy(base, names, kind):
    def make(name):
        inner = getattr(base, name)

        def hook(self, *args, **kwargs):
            shown = [a if isinstance(a, (int, float, str, type(None))) else type(a).__name__ for a in args]
            shown = ["Trainer" if s == "Trainer" else s for s in shown]
            record("%s.%s" % (kind, name), shown, sorted(kwargs))
            if name.startswith(("on_validation_model", "on_test_model", "on_predict_model")) or name == "configure_callbacks":
                return inner(self, *args, **kwargs)
            return None if name != "state_dict" else {"a": 1}

        return hook

    return {name: make(name) for name in names}


class Model(Base):
    def validation_step(self, batch, batch_idx):
        record("validation_step", batch_idx)
        return self.loss(batch)

    def test_step(self, batch, batch_idx):
        record("test_step", batch_idx)

    def predict_step(self, batch, batch_idx, dataloader_idx=0):
        return self(batch[0])

    def training_step(self, batch, batch_idx):
        record("training_step", batch_idx)
        return self.loss(batch)

    def training_epoch_end(self, outputs):
        record("module.training_epoch_end", len(outputs))

    def validation_epoch_end(self, outputs):
        record("module.validation_epoch_end", len(outputs))

    def test_epoch_end(self, outputs):
        record("module.test_epoch_end", len(outputs))

    def configure_optimizers(self):
        record("configure_optimizers")
        return super().configure_optimizers()

    def on_predict_epoch_end(self, results):
        record("module.on_predict_epoch_end", [len(results), len(results[0])])

    def setup(self, stage):
        record("module.setup", stage)

    def teardown(self, stage):
        record("module.teardown", stage)


Spied = type("Spied", (Model,), spy(pl.LightningModule, MODULE, "module"))
Watch = type("Watch", (pl.Callback,), spy(pl.Callback, CALLBACK, "callback"))

pl.seed_everything(19)
model = Spied()
run = trainer(max_epochs=2, callbacks=[Watch()], accumulate_grad_batches=2, limit_train_batches=3)
run.fit(model, data(), data(8, seed=2))
record("=== save")
run.save_checkpoint("a.ckpt")
record("=== validate")
run.validate(model, data(8, seed=2), verbose=False)
record("=== test")
run.test(model, data(8, seed=2), verbose=False)
record("=== predict")
run.predict(model, data(8, seed=2))
record("=== resume")
run = trainer(max_epochs=3, callbacks=[Watch()], resume_from_checkpoint="a.ckpt", limit_train_batches=1, num_sanity_val_steps=0)
run.fit(model, data(), data(8, seed=2))
state_of(run, "resume")
finish()
