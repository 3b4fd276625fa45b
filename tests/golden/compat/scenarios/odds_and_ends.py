"""Optimizers made at run time and a step that takes *args, Lite, progress of the loops, bf16."""
from scenario_kit import Base, F, data, finish, nn, pl, record, state_of, torch, trainer, weights
from pytorch_lightning.lite import LightningLite


class Dynamic(pl.LightningModule):
    def __init__(self, stages=("a", "b", "c")):
        super().__init__()
        self.nets = nn.ModuleDict({s: nn.Linear(6, 1) for s in stages})
        self.stages = list(stages)

    def training_step(self, *args, **kwargs):
        record("args", len(args), sorted(kwargs))
        stage = self.stages[kwargs.get("optimizer_idx", args[-1])]
        x, y = args[0]
        return F.binary_cross_entropy_with_logits(self.nets[stage](x), y)

    def configure_optimizers(self):
        return [torch.optim.SGD(self.nets[s].parameters(), lr=0.1) for s in self.stages]

    def on_train_batch_end(self, outputs, batch, batch_idx):
        record("outputs", outputs)


pl.seed_everything(30)
run = trainer(max_epochs=1)
run.fit(Dynamic(), data(12))
state_of(run, "dynamic")


class Reader(Base):
    def training_step(self, batch, batch_idx):
        loop = self.trainer.fit_loop
        record("progress", self.trainer.current_epoch, loop.epoch_loop.batch_idx, loop.total_batch_idx, self.trainer.global_step,
               self.trainer.is_last_batch, self.trainer.num_training_batches, self.trainer.max_epochs)
        return self.loss(batch)

    def validation_step(self, batch, batch_idx):
        record("stage", self.trainer.training, self.trainer.validating, self.trainer.sanity_checking, self.trainer.evaluating,
               str(self.trainer.state.stage.value), str(self.trainer.state.fn.value))


run = trainer(max_epochs=2, precision="bf16", amp_backend="native")
run.fit(Reader(), data(12), data(8, seed=2))
state_of(run, "bf16")


class Lite(LightningLite):
    def run(self, epochs):
        self.seed_everything(1)
        model = nn.Linear(6, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model, optimizer = self.setup(model, optimizer)
        loader = self.setup_dataloaders(data(12))
        for _ in range(epochs):
            for x, y in loader:
                optimizer.zero_grad()
                self.backward(F.binary_cross_entropy_with_logits(model(x), y))
                optimizer.step()
        return model


model = Lite(accelerator="cpu", devices=1).run(2)
record("lite", [parameter for parameter in model.parameters()])


class Odd(Base):
    def training_step(self, batch):
        return {"loss": self.loss(batch), "x": batch[0].sum()}

    def on_train_batch_start(self, batch, batch_idx):
        return -1 if batch_idx == 2 else None

    def training_epoch_end(self, outs):
        record("training_epoch_end", outs)


run = trainer(gradient_clip_val=0.2, gradient_clip_algorithm="value", min_epochs=2, max_epochs=2)
run.fit(Odd(), data())
state_of(run, "odd")
finish()
