"""Manual optimization."""

import torch
from torch import nn


def _gan(h):
    class Gan(h.pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False
            self.gen, self.dis = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

        def training_step(self, batch, batch_idx):
            real, _ = batch
            opt_g, opt_d = self.optimizers()
            noise = torch.randn(len(real), 2)

            self.toggle_optimizer(opt_g)
            loss_g = nn.functional.softplus(-self.dis(self.gen(noise))).mean()
            opt_g.zero_grad()
            self.manual_backward(loss_g)
            self.clip_gradients(opt_g, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
            opt_g.step()
            self.untoggle_optimizer(opt_g)

            with opt_d.toggle_model():
                fake = self.dis(self.gen(noise).detach())
                loss_d = (nn.functional.softplus(-self.dis(real)) + nn.functional.softplus(fake)).mean()
                opt_d.zero_grad()
                self.manual_backward(loss_d)
                opt_d.step()
            self.log_dict({"g": loss_g, "d": loss_d}, prog_bar=True, on_epoch=True, on_step=True)
            if self.trainer.is_last_batch:
                for scheduler in self.lr_schedulers():
                    scheduler.step()
            return {"loss": loss_d, "other": 1}

        def configure_optimizers(self):
            opt_g = torch.optim.Adam(self.gen.parameters(), lr=0.01)
            opt_d = torch.optim.SGD(self.dis.parameters(), lr=0.05)
            schedulers = [torch.optim.lr_scheduler.StepLR(opt_g, 1), torch.optim.lr_scheduler.StepLR(opt_d, 2)]
            return [opt_g, opt_d], schedulers

    return Gan


def manual_two_optimizers(h):
    hooks = ("on_before_backward", "on_after_backward", "on_before_optimizer_step", "on_train_batch_end")
    module = h.traced(_gan(h), hooks)()
    h.trainer(max_epochs=2, callbacks=[h.callback(hooks=hooks)]).fit(module, h.loader(14, shuffle=True))


def manual_max_steps(h):
    h.trainer(max_steps=9, max_epochs=-1).fit(_gan(h)(), h.loader(14))


def manual_closure(h):
    class Net(h.net()):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False

        def training_step(self, batch, batch_idx):
            opt = self.optimizers()

            def closure():
                loss = self.loss(batch)
                opt.zero_grad()
                self.manual_backward(loss)
                h.losses.append(loss.item().hex())
                return loss

            opt.step(closure=closure)
            if batch_idx == 1:
                self.optimizers(use_pl_optimizer=False).step()

    h.trainer(max_epochs=2).fit(Net(), h.loader(12), h.loader(6, seed=4))


SCENARIOS = {
    function.__name__: function for function in (manual_two_optimizers, manual_max_steps, manual_closure)
}
