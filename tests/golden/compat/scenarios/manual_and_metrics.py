"""Manual optimization, hyperparameters, a metric of torchmetrics, prediction."""
from scenario_kit import Base, F, data, finish, nn, pl, record, state_of, torch, trainer


class Gan(pl.LightningModule):
    def __init__(self, lr=0.05, betas=(0.5, 0.9)):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.gen, self.disc = nn.Linear(6, 6), nn.Linear(6, 1)

    def training_step(self, batch, batch_idx):
        real, _ = batch
        opt_g, opt_d = self.optimizers()
        self.toggle_optimizer(opt_g, 0) if "optimizer_idx" in self.toggle_optimizer.__code__.co_varnames else self.toggle_optimizer(opt_g)
        g_loss = F.softplus(-self.disc(self.gen(real))).mean()
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()
        self.untoggle_optimizer(0)
        d_loss = F.softplus(-self.disc(real)).mean() + F.softplus(self.disc(self.gen(real).detach())).mean()
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        self.log_dict({"g_loss": g_loss, "d_loss": d_loss}, prog_bar=True)
        if self.trainer.is_last_batch:
            for scheduler in self.lr_schedulers():
                scheduler.step()

    def training_epoch_end(self, outputs):
        record("training_epoch_end", outputs)

    def predict_step(self, batch, batch_idx, dataloader_idx=0):
        return self.disc(batch[0])

    def configure_optimizers(self):
        one = torch.optim.Adam(self.gen.parameters(), lr=self.hparams.lr, betas=self.hparams.betas)
        two = torch.optim.SGD(self.disc.parameters(), lr=self.hparams.lr)
        return [one, two], [torch.optim.lr_scheduler.StepLR(one, 1, 0.5), torch.optim.lr_scheduler.StepLR(two, 1, 0.9)]


pl.seed_everything(23)
model = Gan(lr=0.04)
run = trainer()
run.fit(model, data())
state_of(run, "fit")
record("hparams", dict(model.hparams), model.hparams.lr)
record("predict", run.predict(model, data(8, seed=2)))
run.save_checkpoint("a.ckpt")
again = Gan.load_from_checkpoint("a.ckpt", lr=0.5)
record("again", again.hparams.lr, again.disc.weight)
finish()
