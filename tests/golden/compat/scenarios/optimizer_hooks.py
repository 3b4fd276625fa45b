"""Optimizer hooks with optimizer_idx and the old flags, one optimizer."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def training_step(self, batch, batch_idx, optimizer_idx=None):
        record("training_step", optimizer_idx)
        loss = self.loss(batch)
        self.log("train_loss", loss)
        return loss

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False, using_lbfgs=False):
        record("optimizer_step", epoch, batch_idx, type(optimizer).__name__, optimizer_idx, on_tpu, using_lbfgs)
        for group in optimizer.param_groups:
            group["lr"] = 0.1 * min(1.0, (self.trainer.global_step + 1) / 4)
        optimizer.step(closure=optimizer_closure)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):
        record("optimizer_zero_grad", epoch, batch_idx, optimizer_idx)
        optimizer.zero_grad(set_to_none=True)

    def lr_scheduler_step(self, scheduler, optimizer_idx, metric):
        record("lr_scheduler_step", optimizer_idx, metric)
        scheduler.step()

    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        record("on_before_optimizer_step", optimizer_idx, self.net[0].weight.grad.norm())

    def configure_gradient_clipping(self, optimizer, optimizer_idx, gradient_clip_val=None, gradient_clip_algorithm=None):
        record("configure_gradient_clipping", optimizer_idx, gradient_clip_val, str(gradient_clip_algorithm))
        self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")

    def backward(self, loss, optimizer, optimizer_idx, *args, **kwargs):
        record("backward", optimizer_idx, args, kwargs)
        loss.backward(*args, **kwargs)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)]


class Watch(pl.Callback):
    def on_before_optimizer_step(self, trainer, pl_module, optimizer, opt_idx):
        record("callback.on_before_optimizer_step", opt_idx)


pl.seed_everything(18)
run = trainer(accumulate_grad_batches=3, callbacks=[Watch()])
run.fit(Model(), data(20))
state_of(run, "fit")


class Super(Base):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, **kwargs):
        record("optimizer_step", optimizer_idx, kwargs)
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, **kwargs)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):
        super().optimizer_zero_grad(epoch, batch_idx, optimizer, optimizer_idx)

    def backward(self, loss, optimizer, optimizer_idx, *args, **kwargs):
        super().backward(loss, optimizer, optimizer_idx, *args, **kwargs)

    def lr_scheduler_step(self, scheduler, optimizer_idx, metric):
        super().lr_scheduler_step(scheduler, optimizer_idx, metric)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)]


run = trainer()
run.fit(Super(), data(20))
state_of(run, "super")


class Positional(Base):
    def optimizer_step(self, *args, **kwargs):
        record("optimizer_step", len(args), sorted(kwargs))
        args[2].step(closure=kwargs["optimizer_closure"] if len(args) < 5 else args[4])


run = trainer()
run.fit(Positional(), data(20))
state_of(run, "positional")
finish()
