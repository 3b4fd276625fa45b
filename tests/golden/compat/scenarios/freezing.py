"""BaseFinetuning, freeze and unfreeze, and parameters added later."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Tune(pl.callbacks.BaseFinetuning):
    def freeze_before_training(self, pl_module):
        self.freeze(pl_module.net[0])

    def finetune_function(self, pl_module, current_epoch, optimizer, optimizer_idx):
        record("epoch", current_epoch, optimizer_idx)
        if current_epoch == 1:
            self.unfreeze_and_add_param_group(pl_module.net[0], optimizer, initial_denom_lr=2)


class Model(Base):
    def configure_optimizers(self):
        return torch.optim.SGD(filter(lambda p: p.requires_grad, self.parameters()), lr=0.1)

    def on_train_epoch_end(self):
        record("groups", [group["lr"] for group in self.optimizers().param_groups])


pl.seed_everything(12)
run = trainer(max_epochs=3, callbacks=[Tune()])
run.fit(Model(), data(12))
state_of(run, "fit")
model = Base()
model.freeze()
record("frozen", [p.requires_grad for p in model.parameters()], model.training)
model.unfreeze()
record("free", [p.requires_grad for p in model.parameters()], model.training)
finish()
