"""Several optimizers with optimizer_idx, schedulers, clipping, frequencies, outputs of the epoch."""
from scenario_kit import Base, F, data, finish, nn, pl, record, state_of, torch, trainer


class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.gen, self.disc = nn.Linear(6, 6), nn.Linear(6, 1)

    def training_step(self, batch, batch_idx, optimizer_idx):
        real, _ = batch
        record("step", batch_idx, optimizer_idx, [p.requires_grad for p in self.parameters()])
        if optimizer_idx == 0:
            loss = F.softplus(-self.disc(self.gen(real + 0.1 * torch.randn_like(real)))).mean()
        else:
            loss = F.softplus(-self.disc(real)).mean() + F.softplus(self.disc(self.gen(real).detach())).mean()
        self.log("loss_%d" % optimizer_idx, loss)
        return {"loss": loss, "who": optimizer_idx}

    def training_epoch_end(self, outputs):
        record("training_epoch_end", outputs)

    def configure_optimizers(self):
        one = torch.optim.Adam(self.gen.parameters(), lr=0.05)
        two = torch.optim.SGD(self.disc.parameters(), lr=0.5)
        return [one, two], [
            {"scheduler": torch.optim.lr_scheduler.StepLR(one, 1, 0.5), "interval": "epoch"},
            {"scheduler": torch.optim.lr_scheduler.StepLR(two, 1, 0.9), "interval": "step"},
        ]


class Frequencies(Gan):
    def configure_optimizers(self):
        one = torch.optim.Adam(self.gen.parameters(), lr=0.05)
        two = torch.optim.SGD(self.disc.parameters(), lr=0.5)
        return ({"optimizer": one, "frequency": 1}, {"optimizer": two, "frequency": 2})


class Gated(Gan):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu, using_lbfgs):
        if optimizer_idx == 0 or batch_idx % 2 == 0:
            optimizer.step(closure=optimizer_closure)
        else:
            optimizer_closure()


for model, arguments in ((Gan(), {"gradient_clip_val": 0.1}), (Frequencies(), {}), (Gated(), {}), (Gan(), {"accumulate_grad_batches": 2})):
    pl.seed_everything(24)
    model.gen.reset_parameters()
    model.disc.reset_parameters()
    run = trainer(**arguments)
    run.fit(model, data(20))
    state_of(run, type(model).__name__ + str(sorted(arguments)))
finish()
