"""Plain training, hooks, accumulation, clipping, limits, ends."""

import torch
from torch import nn


def plain(h):
    h.trainer(max_epochs=2).fit(h.net()(), h.loader(), h.loader(10, seed=4))


def plain_without_validation(h):
    h.trainer(max_epochs=2, log=False).fit(h.net()(), h.loader())


def hooks(h):
    module = h.traced(h.net())()
    h.trainer(max_epochs=2, callbacks=[h.callback("C1"), h.callback("C2")], num_sanity_val_steps=1).fit(
        module, h.loader(10), h.loader(6, seed=4)
    )


def shuffle_dropout(h):
    h.trainer(max_epochs=3).fit(h.net(dropout=0.5)(), h.loader(shuffle=True), h.loader(10, shuffle=True, seed=4))


def shuffle_generator(h):
    generator = torch.Generator().manual_seed(11)
    h.trainer(max_epochs=2).fit(h.net(dropout=0.3)(), h.loader(shuffle=True, generator=generator))


def accumulate_and_clip_norm(h):
    module = h.traced(h.net(), ("optimizer_step", "on_before_optimizer_step", "configure_gradient_clipping"))()
    h.trainer(max_epochs=2, accumulate_grad_batches=3, gradient_clip_val=0.05).fit(module, h.loader(), h.loader(8))


def accumulate_direct(h):
    h.trainer(max_epochs=2, accumulate_grad_batches=2, gradient_clip_val=0.02, gradient_clip_algorithm="value").fit(
        h.net()(), h.loader()
    )


def clip_override(h):
    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        if self.current_epoch > 0:
            self.clip_gradients(optimizer, gradient_clip_val=0.01, gradient_clip_algorithm="norm")

    h.trainer(max_epochs=2).fit(h.net(configure_gradient_clipping=configure_gradient_clipping)(), h.loader())


def val_inside_epoch(h):
    h.trainer(max_epochs=2, val_check_interval=0.4, callbacks=[h.callback()]).fit(
        h.net()(), h.loader(), h.loader(10, seed=4)
    )


def val_check_interval_over_epochs(h):
    h.trainer(max_epochs=3, val_check_interval=5, check_val_every_n_epoch=None).fit(
        h.net()(), h.loader(), h.loader(6, seed=4)
    )


def val_every_second_epoch(h):
    h.trainer(max_epochs=4, check_val_every_n_epoch=2, num_sanity_val_steps=-1).fit(
        h.net()(), h.loader(12), h.loader(6, seed=4)
    )


def several_val_loaders(h):
    module = h.traced(h.net(), ("validation_step", "on_validation_batch_end", "on_validation_epoch_end"))()
    h.trainer(max_epochs=2).fit(module, h.loader(12), [h.loader(6, seed=4), h.loader(10, seed=5)])


def limits(h):
    h.trainer(max_epochs=2, limit_train_batches=0.5, limit_val_batches=1).fit(
        h.net()(), h.loader(shuffle=True), h.loader(10, seed=4)
    )


def limit_int(h):
    h.trainer(max_epochs=3, limit_train_batches=2, limit_val_batches=0).fit(
        h.net(dropout=0.2)(), h.loader(shuffle=True), h.loader(10, seed=4)
    )


def overfit(h):
    h.trainer(max_epochs=3, overfit_batches=2).fit(h.net()(), h.loader(shuffle=True), h.loader(10, shuffle=True, seed=4))


def fast_dev_run(h):
    trainer = h.trainer(max_epochs=9, fast_dev_run=2, enable_checkpointing=True)
    trainer.fit(h.net()(), h.loader(), h.loader(10, seed=4))
    h.results["test"] = trainer.test(h.net()(), h.loader(10), verbose=False)


def max_steps(h):
    h.trainer(max_steps=10, max_epochs=-1).fit(h.net()(), h.loader(), h.loader(6, seed=4))


def max_steps_alone(h):
    h.trainer(max_steps=3).fit(h.net()(), h.loader())


def iterable_dataset(h):
    h.trainer(max_epochs=2, callbacks=[h.callback(hooks=("on_train_batch_end", "on_validation_end"))]).fit(
        h.net()(), h.endless(), h.endless(10)
    )


def iterable_limited(h):
    h.trainer(max_epochs=2, limit_train_batches=3, limit_val_batches=2).fit(h.net()(), h.endless(), h.endless(10))


def lbfgs(h):
    def configure_optimizers(self):
        return torch.optim.LBFGS(self.parameters(), lr=0.1, max_iter=4)

    module = h.traced(h.net(configure_optimizers=configure_optimizers), ("training_step", "on_before_optimizer_step"))()
    h.trainer(max_epochs=2).fit(module, h.loader(12))


def skipped_steps(h):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        if batch_idx % 2:
            return None
        h.losses.append(loss.item().hex())
        return {"loss": loss, "extra": batch_idx}

    h.trainer(max_epochs=2, callbacks=[h.callback(hooks=("on_train_batch_end",))]).fit(
        h.net(training_step=training_step)(), h.loader()
    )


def skip_rest_of_epoch(h):
    def on_train_batch_start(self, batch, batch_idx):
        return -1 if batch_idx == 3 else None

    h.trainer(max_epochs=2).fit(h.net(on_train_batch_start=on_train_batch_start)(), h.loader(), h.loader(6, seed=4))


def optimizer_step_override(h):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if batch_idx % 2 == 0:
            optimizer.step(closure=optimizer_closure)
        else:
            optimizer_closure()
        h.note("optimizer_step", [epoch, batch_idx, optimizer])

    h.trainer(max_epochs=2).fit(h.net(optimizer_step=optimizer_step)(), h.loader(12))


def backward_override(h):
    def backward(self, loss):
        self.log("in_backward", loss * 2)
        (loss * 0.5).backward()

    h.trainer(max_epochs=2).fit(h.net(backward=backward)(), h.loader(12))


def stop_inside(h):
    def on_train_batch_end(self, outputs, batch, batch_idx):
        if self.global_step == 9:
            self.trainer.should_stop = True

    h.trainer(max_epochs=5).fit(h.net(on_train_batch_end=on_train_batch_end)(), h.loader(), h.loader(6, seed=4))


def stop_before_minimum(h):
    def on_train_epoch_end(self):
        self.trainer.should_stop = True

    h.trainer(max_epochs=6, min_epochs=3).fit(h.net(on_train_epoch_end=on_train_epoch_end)(), h.loader(12))


def stop_before_minimum_of_steps(h):
    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.trainer.should_stop = True

    h.trainer(max_epochs=6, min_steps=2).fit(h.net(on_train_batch_end=on_train_batch_end)(), h.loader(12))


def stop_after_minimum_of_steps(h):
    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.trainer.should_stop = True

    h.trainer(max_epochs=6, min_steps=5).fit(h.net(on_train_batch_end=on_train_batch_end)(), h.loader(12))


def validate_when_stopping(h):
    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.trainer.should_stop = batch_idx == 1

    h.trainer(max_epochs=6, min_epochs=2, check_val_every_n_epoch=1).fit(
        h.net(on_train_batch_end=on_train_batch_end)(), h.loader(12), h.loader(6, seed=4)
    )


def no_optimizer(h):
    h.trainer(max_epochs=1).fit(h.net(configure_optimizers=lambda self: None)(), h.loader(12))


def several_train_loaders(h):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch["a"]) + self.loss(batch["b"])
        h.losses.append(loss.item().hex())
        return loss

    h.trainer(max_epochs=2).fit(
        h.net(training_step=training_step)(),
        {"a": h.loader(8, shuffle=True), "b": h.loader(14, shuffle=True, seed=5)},
    )


def reload_dataloaders(h):
    class Net(h.net(dropout=0.2)):
        def train_dataloader(self):
            return h.loader(12, shuffle=True, seed=self.current_epoch)

        def val_dataloader(self):
            return h.loader(6, seed=10 + self.current_epoch)

    module = h.traced(Net, ("train_dataloader", "val_dataloader", "on_train_epoch_start"))()
    h.trainer(max_epochs=4, reload_dataloaders_every_n_epochs=2).fit(module)


def batch_transfer_hooks(h):
    class Net(h.net()):
        def on_before_batch_transfer(self, batch, dataloader_idx):
            return [batch[0] * 2, batch[1]]

        def on_after_batch_transfer(self, batch, dataloader_idx):
            return [batch[0] + 1, batch[1]]

    module = h.traced(Net, ("on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer"))()
    h.trainer(max_epochs=1).fit(module, h.loader(8), h.loader(6, seed=4))


def estimated_steps(h):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        total = self.trainer.estimated_stepping_batches
        h.results["total"] = total
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=total)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    h.trainer(max_epochs=2, accumulate_grad_batches=2).fit(
        h.net(dropout=0.1, configure_optimizers=configure_optimizers)(), h.loader(shuffle=True)
    )


def batch_norm_modes(h):
    class Net(h.net()):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)
            self.frozen = nn.BatchNorm1d(4)
            self.frozen.eval()

        def forward(self, x):
            return self.net(self.frozen(self.norm(x)))

    h.trainer(max_epochs=2).fit(Net(), h.loader(24), h.loader(8, seed=4))


def float64(h):
    def training_step(self, batch, batch_idx):
        loss = self.loss((batch[0].double(), batch[1]))
        self.log("loss", loss, on_epoch=True)
        return loss

    net = h.net(training_step=training_step)()
    h.trainer(max_epochs=1).fit(net.double(), h.loader(12))


def exception(h):
    def on_train_batch_end(self, outputs, batch, batch_idx):
        if batch_idx == 1:
            raise RuntimeError("broken on purpose")

    callback = h.callback(hooks=("on_exception", "teardown", "on_train_end"))
    try:
        h.trainer(max_epochs=1, callbacks=[callback]).fit(h.net(on_train_batch_end=on_train_batch_end)(), h.loader(12))
    except RuntimeError as error:
        h.results["error"] = str(error)
    h.results["status"] = h.trainers[-1].state.status


def second_fit(h):
    module = h.net(dropout=0.2)()
    trainer = h.trainer(max_epochs=1)
    trainer.fit(module, h.loader(shuffle=True), h.loader(6, seed=4))
    trainer.fit_loop.max_epochs = 3
    trainer.fit(module, h.loader(shuffle=True), h.loader(6, seed=4))


SCENARIOS = {
    function.__name__: function
    for function in (
        plain, plain_without_validation, hooks, shuffle_dropout, shuffle_generator, accumulate_and_clip_norm,
        accumulate_direct, clip_override, val_inside_epoch, val_check_interval_over_epochs, val_every_second_epoch,
        several_val_loaders, limits, limit_int, overfit, fast_dev_run, max_steps, max_steps_alone, iterable_dataset,
        iterable_limited, lbfgs, skipped_steps, skip_rest_of_epoch, optimizer_step_override, backward_override,
        stop_inside, stop_before_minimum,
        stop_before_minimum_of_steps, stop_after_minimum_of_steps, validate_when_stopping, no_optimizer, several_train_loaders, reload_dataloaders,
        batch_transfer_hooks, estimated_steps, batch_norm_modes, float64, exception, second_fit,
    )
}  # fmt: skip
