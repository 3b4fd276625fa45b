"""Whole traces: every hook of module, data module and two callbacks, with arguments, where runs get involved."""

import datetime
import signal
import time

import torch


def _data(h):
    class Data(h.pl.LightningDataModule):
        def train_dataloader(self):
            return h.loader(18)

        def val_dataloader(self):
            return [h.loader(6, seed=4), h.loader(10, seed=5)]

        def test_dataloader(self):
            return h.loader(6, seed=6)

        predict_dataloader = test_dataloader

        def state_dict(self):
            return {"of": "data"}

    return h.traced(Data, h.data_hooks, "D")()


def _net(h, **attributes):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
        return [optimizer], [{"scheduler": scheduler, "interval": "step", "frequency": 2}]

    return h.traced(h.net(configure_optimizers=configure_optimizers, **attributes))()


def _callbacks(h):
    return [h.callback("C1"), h.callback("C2")]


def order_of_everything(h):
    trainer = h.trainer(
        max_epochs=2, accumulate_grad_batches=2, gradient_clip_val=0.1, val_check_interval=2,
        num_sanity_val_steps=1, callbacks=_callbacks(h),
    )  # fmt: skip
    module = _net(h)
    trainer.fit(module, datamodule=_data(h))
    h.results["test"] = trainer.test(module, datamodule=_data(h), verbose=False)
    h.results["predict"] = trainer.predict(module, datamodule=_data(h))


def order_of_resuming(h):
    class Save(h.pl.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            if trainer.global_step == 2:
                trainer.save_checkpoint(h.dir / "middle.ckpt")

    h.trainer(max_epochs=1, accumulate_grad_batches=2, callbacks=[*_callbacks(h), Save()]).fit(
        _net(h), datamodule=_data(h)
    )
    h.note("again", [])
    h.trainer(max_epochs=2, accumulate_grad_batches=2, callbacks=_callbacks(h)).fit(
        _net(h), datamodule=_data(h), ckpt_path=h.dir / "middle.ckpt"
    )


def order_of_manual_optimization(h):
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        self.toggle_optimizer(optimizer)
        loss = self.loss(batch)
        optimizer.zero_grad()
        self.manual_backward(loss)
        self.clip_gradients(optimizer, 0.1, "value")
        optimizer.step()
        self.untoggle_optimizer(optimizer)
        self.lr_schedulers().step()
        return loss

    module = _net(h, training_step=training_step, automatic_optimization=False)
    h.trainer(max_epochs=1, callbacks=_callbacks(h)).fit(module, datamodule=_data(h))


def _failing(h, error, where, hook, entry="fit"):
    """Run until ``hook`` of module, data module or callback (``where``) fails in its second call."""
    calls = []

    def fails(original):
        def method(self, *args, **kwargs):
            calls.append(1)
            if len(calls) == 2:
                raise error("broken on purpose")
            return original(self, *args, **kwargs) if original is not None else None

        method.__name__ = hook
        if original is not None:
            method.__signature__ = __import__("inspect").signature(original)
        return method

    module, data, callbacks = _net(h), _data(h), _callbacks(h)
    victim = {"module": module, "data": data, "callback": callbacks[0]}[where]
    setattr(type(victim), hook, fails(getattr(type(victim), hook)))
    trainer = h.trainer(max_epochs=3, callbacks=callbacks, val_check_interval=2)
    before = signal.getsignal(signal.SIGINT)
    try:
        getattr(trainer, entry)(module, datamodule=data)
    except BaseException as caught:
        h.results["error"] = f"{type(caught).__name__}: {caught}"
    finally:
        signal.signal(signal.SIGINT, before)
    state = trainer.state
    h.results["state"] = [str(getattr(state.status, "value", None)), str(getattr(state.stage, "value", None))]
    h.results["interrupted"] = trainer.interrupted


def interrupt_in_training(h):
    _failing(h, KeyboardInterrupt, "module", "training_step")


def interrupt_in_validation(h):
    _failing(h, KeyboardInterrupt, "module", "on_validation_end")


def interrupt_in_test(h):
    _failing(h, KeyboardInterrupt, "module", "test_step", "test")


def exception_in_validation(h):
    _failing(h, ValueError, "module", "validation_step")


def exception_in_callback(h):
    _failing(h, ValueError, "callback", "on_train_batch_start")


def exception_in_data(h):
    _failing(h, ValueError, "data", "on_after_batch_transfer")


def exception_in_prediction(h):
    _failing(h, ValueError, "module", "predict_step", "predict")


def exception_between_epochs(h):
    _failing(h, ValueError, "callback", "on_train_epoch_start")


def _by_time(h, interval, **trainer):
    """Validate by time; the clock moves 40 seconds a training step."""
    now = [100.0]

    def training_step(self, batch, batch_idx):
        now[0] += 40.0
        loss = self.loss(batch)
        self.log("loss", loss)
        return loss

    hooks = ("training_step", "on_validation_start", "on_train_epoch_end")
    module = h.traced(h.net(training_step=training_step), hooks)()
    original = time.monotonic
    time.monotonic = lambda: now[0]
    try:
        h.trainer(max_epochs=2, val_check_interval=interval, **trainer).fit(module, h.loader(), h.loader(6, seed=4))
    finally:
        time.monotonic = original


def val_by_time_text(h):
    _by_time(h, "00:00:02:00")


def val_by_time_delta(h):
    _by_time(h, datetime.timedelta(seconds=100), check_val_every_n_epoch=None)


def val_by_time_dict(h):
    _by_time(h, {"minutes": 1, "seconds": 30})


def val_by_time_every_second_epoch(h):
    _by_time(h, "00:00:01:20", check_val_every_n_epoch=2)


def endless_with_interval(h):
    hooks = ("training_step", "on_validation_start")
    module = h.traced(h.net(), hooks)()
    h.trainer(max_steps=9, max_epochs=-1, val_check_interval=4).fit(module, h.endless(30), h.loader(6, seed=4))


def endless_over_epochs(h):
    module = h.traced(h.net(), ("training_step", "on_validation_start", "on_train_epoch_end"))()
    h.trainer(max_steps=13, max_epochs=-1, val_check_interval=4, check_val_every_n_epoch=None).fit(
        module, h.endless(22), h.loader(6, seed=4)
    )


def endless_limited(h):
    def forever():
        while True:
            yield from h.endless(30)

    class Forever:
        def __iter__(self):
            return forever()

    module = h.traced(h.net(), ("on_validation_start", "on_train_epoch_end"))()
    h.trainer(max_epochs=2, limit_train_batches=5, val_check_interval=2).fit(module, Forever(), h.loader(6, seed=4))


def never_ending(h):
    """``max_epochs=-1`` and ``max_steps=-1``: only a wish to stop ends it."""

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.trainer.should_stop = self.global_step >= 11

    h.trainer(max_epochs=-1, max_steps=-1).fit(
        h.net(on_train_batch_end=on_train_batch_end)(), h.loader(14), h.loader(6, seed=4)
    )


def none_batches(h):
    """A loader may give ``None`` for a batch."""

    class Gaps:
        def __iter__(self):
            for i, batch in enumerate(h.loader(22)):
                yield None if i % 3 == 1 else batch

    hooks = ("training_step", "on_train_batch_start", "on_train_batch_end")
    h.trainer(max_epochs=2, accumulate_grad_batches=2, callbacks=[h.callback(hooks=hooks)]).fit(
        h.traced(h.net(), hooks)(), Gaps()
    )


SCENARIOS = {
    function.__name__: function
    for function in (
        order_of_everything, order_of_resuming, order_of_manual_optimization, interrupt_in_training,
        interrupt_in_validation, interrupt_in_test, exception_in_validation, exception_in_callback,
        exception_in_data, exception_in_prediction, exception_between_epochs, val_by_time_text,
        val_by_time_delta, val_by_time_dict, val_by_time_every_second_epoch, endless_with_interval,
        endless_over_epochs, endless_limited, never_ending, none_batches,
    )
}  # fmt: skip
