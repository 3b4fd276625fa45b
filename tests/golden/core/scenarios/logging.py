"""What ``self.log`` does."""

import torch
import torchmetrics


def log_everywhere(h):
    def value(self, add=0.0):
        self.count = getattr(self, "count", 0) + 1
        return torch.tensor(float(self.count) + add)

    class Net(h.net()):
        def on_train_start(self):
            self.log("train_start", value(self))

        def on_train_epoch_start(self):
            self.log("train_epoch_start", value(self))

        def on_train_batch_start(self, batch, batch_idx):
            self.log("train_batch_start", value(self))

        def on_train_batch_end(self, outputs, batch, batch_idx):
            self.log("train_batch_end", outputs["loss"] * 2, on_epoch=True)

        def on_before_optimizer_step(self, optimizer):
            self.log("before_step", value(self), on_step=False, on_epoch=True, reduce_fx="max")

        def on_train_epoch_end(self):
            self.log("train_epoch_end", value(self))

        def on_validation_start(self):
            self.log("val_start", value(self))

        def on_validation_epoch_start(self):
            self.log("val_epoch_start", value(self))

        def on_validation_batch_end(self, outputs, batch, batch_idx):
            self.log("val_batch_end", value(self), on_step=True, on_epoch=True)

        def on_validation_epoch_end(self):
            self.log("val_epoch_end", value(self), prog_bar=True)

    class Callback(h.pl.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            self.log("callback", float(batch_idx), on_epoch=True)

        def on_train_epoch_end(self, trainer, pl_module):
            self.log_dict({"callback_end": 1.0, "callback_end2": 2.0})

    h.trainer(max_epochs=2, callbacks=[Callback()]).fit(Net(), h.loader(14), h.loader(10, seed=4))


def log_reductions(h):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        for reduce_fx in ("mean", "sum", "min", "max"):
            self.log(f"r_{reduce_fx}", loss, on_step=False, on_epoch=True, reduce_fx=reduce_fx)
        self.log("weighted", loss, on_step=True, on_epoch=True, batch_size=batch_idx + 1)
        self.log("number", 0.1 * batch_idx, on_epoch=True)
        self.log("integer", batch_idx, on_epoch=True)
        self.log("hidden", loss, logger=False)
        self.log("half", loss.half(), on_epoch=True)
        self.log("one_element", loss.reshape(1, 1))
        if batch_idx % 3 == 1:
            self.log("sometimes", loss, on_step=True, on_epoch=True)
        self.log("bar", loss, prog_bar=True, logger=False, on_epoch=True)
        return loss

    h.trainer(max_epochs=2, log_every_n_steps=3).fit(h.net(training_step=training_step)(), h.loader(26, shuffle=True))


def log_val_steps(h):
    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        loss = self.loss(batch)
        self.log("v", loss, on_step=True, on_epoch=True)
        self.log("same", loss, add_dataloader_idx=False, on_epoch=dataloader_idx == 0, on_step=dataloader_idx == 1) \
            if dataloader_idx == 0 else None
        return loss

    module = h.net(validation_step=validation_step)
    h.trainer(max_epochs=2, val_check_interval=0.5).fit(module(), h.loader(14), [h.loader(6, seed=4), h.loader(9, seed=5)])


def log_step_metric(h):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("loss", loss, on_step=True, on_epoch=True)
        self.log("step", float(100 + self.global_step))
        return loss

    h.trainer(max_epochs=2, log_every_n_steps=1).fit(h.net(training_step=training_step)(), h.loader(8))


def metrics_objects(h):
    class Net(h.net()):
        def __init__(self):
            super().__init__()
            self.acc = torchmetrics.Accuracy(task="binary")
            self.mean = torchmetrics.MeanMetric()
            self.both = torchmetrics.MetricCollection(
                [torchmetrics.F1Score(task="binary"), torchmetrics.Precision(task="binary")], prefix="val_"
            )

        def training_step(self, batch, batch_idx):
            loss = self.loss(batch)
            self.acc(self(batch[0]).argmax(1), batch[1])
            self.log("acc", self.acc, on_step=True, on_epoch=True)
            self.mean.update(loss)
            self.log("mean", self.mean, on_step=False, on_epoch=True)
            return loss

        def validation_step(self, batch, batch_idx):
            self.both.update(self(batch[0]).argmax(1), batch[1])
            self.log_dict(self.both)

    h.trainer(max_epochs=3).fit(Net(), h.loader(14), h.loader(10, seed=4))


def evaluate_and_predict(h):
    module = h.traced(h.net())()
    trainer = h.trainer(max_epochs=1, callbacks=[h.callback("C1")])
    h.tracing = False
    trainer.fit(module, h.loader(12), h.loader(6, seed=4))
    h.tracing = True
    h.results["validate"] = trainer.validate(module, h.loader(10, seed=4), verbose=False)
    h.results["test"] = trainer.test(module, [h.loader(6, seed=4), h.loader(9, seed=5)], verbose=False)
    h.results["predict"] = trainer.predict(module, h.loader(10, seed=5))
    h.results["predict2"] = trainer.predict(module, [h.loader(4), h.loader(6, drop_last=True)])


def evaluate_alone(h):
    module = h.net(dropout=0.5)()
    trainer = h.trainer(limit_val_batches=2, limit_test_batches=0.5)
    h.results["validate"] = trainer.validate(module, h.loader(12, shuffle=True), verbose=False)
    h.results["test"] = trainer.test(module, h.endless(10) if False else h.loader(16, shuffle=True), verbose=False)


SCENARIOS = {
    function.__name__: function
    for function in (
        log_everywhere, log_reductions, log_val_steps, log_step_metric, metrics_objects, evaluate_and_predict,
        evaluate_alone,
    )
}  # fmt: skip
