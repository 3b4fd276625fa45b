"""Manual optimization of two optimizers with toggling, schedulers stepped by hand and accumulation."""
from scenario_kit import F, data, finish, nn, pl, record, state_of, torch, trainer


class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.gen, self.disc = nn.Linear(6, 6), nn.Linear(6, 1)

    def training_step(self, batch, batch_idx):
        gen, disc = self.optimizers()
        real, _ = batch
        self.toggle_optimizer(gen, 0)
        loss = F.softplus(-self.disc(self.gen(real))).mean()
        gen.zero_grad()
        self.manual_backward(loss)
        gen.step()
        self.untoggle_optimizer(0)
        loss_d = F.softplus(-self.disc(real)).mean() + F.softplus(self.disc(self.gen(real).detach())).mean()
        self.manual_backward(loss_d / 2)
        if (batch_idx + 1) % 2 == 0:
            disc.step()
            disc.zero_grad()
        self.log_dict({"g": loss, "d": loss_d}, prog_bar=True)
        record("requires", [p.requires_grad for p in self.parameters()])

    def training_epoch_end(self, outputs):
        record("outputs", outputs)
        self.lr_schedulers().step()

    def configure_optimizers(self):
        one = torch.optim.Adam(self.gen.parameters(), lr=0.05)
        return [one, torch.optim.SGD(self.disc.parameters(), lr=0.5)], [torch.optim.lr_scheduler.StepLR(one, 1, 0.5)]


pl.seed_everything(4)
run = trainer(max_epochs=2)
run.fit(Gan(), data(16))
state_of(run, "fit")
finish()
