"""Legacy scripts with several optimizers: what 1.9.5 does with them, manual optimization must do, too."""

from __future__ import annotations

_GAN = """
class Gan(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.gen = nn.Linear(4, 4)
        self.dis = nn.Linear(4, 1)
        with torch.no_grad():
            self.dis.weight.mul_(0.5)

    def g_loss(self, batch):
        return F.softplus(-self.dis(self.gen(batch[0]))).mean()

    def d_loss(self, batch):
        return F.softplus(-self.dis(batch[0])).mean() + F.softplus(self.dis(self.gen(batch[0]).detach())).mean()

    def configure_optimizers(self):
        return [torch.optim.Adam(self.gen.parameters(), 0.05), torch.optim.SGD(self.dis.parameters(), 0.1)]

"""

OPTIMIZER_SCRIPTS: dict[str, str] = {
    "gan-branches": _GAN
    + """
class Model(Gan):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            loss = self.g_loss(batch)
            self.log("g", loss)
            return loss
        if optimizer_idx == 1:
            loss = self.d_loss(batch)
            self.log("d", loss, on_epoch=True)
            return loss

    def on_train_batch_end(self, *args):
        record(self.gen.weight[0], self.dis.weight[0])

pl.Trainer().fit(Model(), data())
""",
    "gan-noise-before-the-branches": _GAN
    + """
class Model(Gan):
    def training_step(self, batch, batch_idx, optimizer_idx):
        noise = torch.randn_like(batch[0])
        record(optimizer_idx, noise.sum(), [p.requires_grad for p in self.parameters()])
        loss = self.g_loss([noise]) if optimizer_idx == 0 else self.d_loss([batch[0] + noise])
        self.log(f"loss_{optimizer_idx}", loss)
        return {"loss": loss, "seen": noise}

pl.Trainer().fit(Model(), data())
""",
    "gan-skips-one": _GAN
    + """
class Model(Gan):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            if batch_idx % 2:
                return None
            return self.g_loss(batch)
        return {"loss": self.d_loss(batch)}

    def on_train_batch_end(self, *args):
        record(self.global_step, self.gen.weight[0], self.dis.weight[0])

pl.Trainer().fit(Model(), data())
""",
    "gan-clips-accumulates-schedules": _GAN
    + """
class Model(Gan):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            return self.g_loss(batch)
        else:
            return self.d_loss(batch)

    def configure_optimizers(self):
        g = torch.optim.SGD(self.gen.parameters(), 0.5)
        d = torch.optim.SGD(self.dis.parameters(), 0.5)
        each = {"scheduler": torch.optim.lr_scheduler.StepLR(d, 1, 0.9), "interval": "step"}
        return [g, d], [torch.optim.lr_scheduler.ExponentialLR(g, 0.5), each]

    def on_train_batch_end(self, *args):
        rates = [group["lr"] for each in self.optimizers() for group in each.param_groups]
        record(self.global_step, rates, self.gen.weight[0], self.dis.weight[0])

pl.Trainer(max_epochs=3, gradient_clip_val=0.05, accumulate_grad_batches=2).fit(Model(), data())
""",
    "gan-clips-by-value": _GAN
    + """
class Model(Gan):
    def training_step(self, batch, batch_idx, optimizer_idx):
        loss = self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
        return loss

trainer = pl.Trainer(gradient_clip_val=0.01, gradient_clip_algorithm="value")
trainer.fit(Model(), data())
record(trainer.global_step)
""",
    "gan-plateau-and-frequency": _GAN
    + """
class Model(Gan):
    def training_step(self, batch, batch_idx, optimizer_idx):
        loss = self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val", 1.0)

    def on_train_epoch_end(self):
        record([group["lr"] for each in self.optimizers() for group in each.param_groups])

    def configure_optimizers(self):
        g = torch.optim.SGD(self.gen.parameters(), 0.5)
        d = torch.optim.SGD(self.dis.parameters(), 0.5)
        slow = torch.optim.lr_scheduler.ReduceLROnPlateau(g, patience=1)
        return (
            {"optimizer": g, "lr_scheduler": {"scheduler": slow, "monitor": "val"}},
            {"optimizer": d, "lr_scheduler": {"scheduler": torch.optim.lr_scheduler.StepLR(d, 1), "frequency": 2}},
        )

pl.Trainer(max_epochs=6).fit(Model(), data(), data(4))
""",
    "step-in-a-base-class": _GAN
    + """
class Steps(Gan):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            return self.g_loss(batch)
        return self.d_loss(batch)

class Model(Steps):
    def d_loss(self, batch):
        return 2 * super().d_loss(batch)

trainer = pl.Trainer()
trainer.fit(Model(), data())
record(trainer.global_step)
""",
    "truncated-steps": """
class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 2
        self.cell = nn.Linear(4, 3)
        self.head = nn.Linear(3, 1)

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        losses = []
        if hiddens is None:
            hiddens = x.new_zeros(x.size(0), 3)
        for t in range(x.size(1)):
            hiddens = torch.tanh(self.cell(torch.cat([x[:, t : t + 1], hiddens], 1)))
            losses.append((self.head(hiddens) - y[:, t : t + 1]).pow(2).mean())
        loss = torch.stack(losses).mean()
        self.log("loss", loss)
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), 0.1)
        step = {"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5), "interval": "step"}
        return {"optimizer": optimizer, "lr_scheduler": step}

    def on_train_batch_end(self, *args):
        record(self.global_step, self.optimizers().param_groups[0]["lr"], self.cell.weight[0])

pairs = [(each, each.cumsum(1)) for each in data(4).dataset.tensors[0].split(2)]
pl.Trainer(gradient_clip_val=0.1).fit(Model(), torch.utils.data.DataLoader(pairs, batch_size=None))
""",
    "truncated-own-split": """
class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 3
        self.cell = nn.Linear(2, 1)

    def tbptt_split_batch(self, batch, split_size):
        return [batch[:, t : t + split_size] for t in range(0, batch.size(1), split_size)]

    def training_step(self, batch, batch_idx, hiddens):
        first, second = (batch.new_zeros(batch.size(0), 1),) * 2 if hiddens is None else hiddens
        for t in range(batch.size(1)):
            first, second = second, torch.tanh(self.cell(torch.cat([batch[:, t : t + 1], first], 1)))
        record([each.requires_grad for each in hiddens or ()])
        return dict(loss=second.pow(2).mean(), hiddens=(first, second))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

trainer = pl.Trainer()
trainer.fit(Model(), torch.utils.data.DataLoader(data().dataset.tensors[0].split(2), batch_size=None))
record(trainer.global_step)
""",
}
