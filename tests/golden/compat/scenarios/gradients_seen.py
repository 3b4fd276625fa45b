"""What gradients are where: after backward, before the step, before zeroing."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


class Model(Base):
    def norm(self):
        return [None if p.grad is None else p.grad.norm() for p in self.net[2].parameters()]

    def on_before_zero_grad(self, optimizer):
        record("zero", self.norm())

    def on_before_backward(self, loss):
        record("before_backward", loss.detach())

    def on_after_backward(self):
        record("after_backward", self.norm())

    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        record("before_step", optimizer_idx, self.norm())

    def on_train_batch_end(self, outputs, batch, batch_idx):
        record("batch_end", self.norm())


for arguments in ({}, {"accumulate_grad_batches": 2}, {"gradient_clip_val": 0.01}):
    pl.seed_everything(19)
    run = trainer(max_epochs=1, **arguments)
    run.fit(Model(), data(12))
    state_of(run, str(arguments))
finish()
