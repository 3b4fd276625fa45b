"""Forms: what ``configure_optimizers`` may return, schedules with a warm-up, loaders in all combinations."""

import torch
from torch.optim import lr_scheduler


def _describe(trainer):
    return {
        "optimizers": [type(optimizer).__name__ for optimizer in trainer.optimizers],
        "schedulers": [
            [type(c.scheduler).__name__, c.interval, c.frequency, c.monitor, c.strict, c.reduce_on_plateau, c.name]
            for c in trainer.lr_scheduler_configs
        ],
    }


def _automatic_forms():
    def step_lr(opt):
        return lr_scheduler.StepLR(opt, 1)

    def plateau(opt):
        return lr_scheduler.ReduceLROnPlateau(opt, patience=0)

    return {
        "optimizer": lambda opt: opt,
        "list": lambda opt: [opt],
        "tuple": lambda opt: (opt,),
        "lists": lambda opt: ([opt], [step_lr(opt)]),
        "list_of_lists": lambda opt: [[opt], [step_lr(opt)]],
        "lists_with_scheduler_alone": lambda opt: ([opt], step_lr(opt)),
        "lists_without_schedulers": lambda opt: ([opt], []),
        "lists_with_dict": lambda opt: (
            [opt], [{"scheduler": step_lr(opt), "interval": "step", "frequency": 3, "name": "mine"}],
        ),
        "dict": lambda opt: {"optimizer": opt},
        "dict_with_scheduler": lambda opt: {"optimizer": opt, "lr_scheduler": step_lr(opt)},
        "dict_with_plateau": lambda opt: {"optimizer": opt, "lr_scheduler": plateau(opt), "monitor": "loss_epoch"},
        "dict_of_dict": lambda opt: {
            "optimizer": opt,
            "lr_scheduler": {"scheduler": plateau(opt), "monitor": "loss_epoch", "strict": False, "frequency": 2},
        },
        "list_of_dict": lambda opt: [{"optimizer": opt, "lr_scheduler": {"scheduler": step_lr(opt)}}],
        "tuple_of_dict": lambda opt: ({"optimizer": opt, "lr_scheduler": step_lr(opt)},),
        "reduce_on_plateau_by_hand": lambda opt: {
            "optimizer": opt,
            "lr_scheduler": {"scheduler": step_lr(opt), "reduce_on_plateau": False, "monitor": "loss_epoch"},
        },
        "nothing": lambda opt: None,
    }  # fmt: skip


def optimizer_forms(h):
    for name, form in _automatic_forms().items():
        def configure_optimizers(self, form=form):
            return form(torch.optim.SGD(self.parameters(), lr=0.1))

        trainer = h.trainer(max_epochs=2, log=False)
        trainer.fit(h.net(configure_optimizers=configure_optimizers)(), h.loader(8))
        h.results[name] = _describe(trainer)
    h.results["nothing"]["optimizers"] = len(trainer.optimizers)  # what stands in for one has a name of its own


def optimizer_forms_manual(h):
    def forms(one, two):
        first, second = lr_scheduler.StepLR(one, 1), lr_scheduler.ReduceLROnPlateau(two)
        yield "list", [one, two]
        yield "tuple", (one, two)
        yield "lists", ([one, two], [first])
        yield "lists_of_both", ([one, two], [first, {"scheduler": second, "name": "second"}])
        yield "dicts", ({"optimizer": one, "lr_scheduler": first}, {"optimizer": two})
        yield "list_of_dicts", [
            {"optimizer": one, "lr_scheduler": {"scheduler": first, "interval": "step"}},
            {"optimizer": two, "lr_scheduler": second},
        ]

    def training_step(self, batch, batch_idx):
        for optimizer in self.optimizers():
            loss = self.loss(batch)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        schedulers = self.lr_schedulers()
        h.note("schedulers", [type(schedulers).__name__])

    for index in range(6):
        def configure_optimizers(self, index=index):
            one = torch.optim.SGD(self.net[0].parameters(), lr=0.1)
            two = torch.optim.Adam(self.net[3].parameters(), lr=0.1)
            self.form, returned = list(forms(one, two))[index]
            return returned

        net = h.net(
            configure_optimizers=configure_optimizers, training_step=training_step, automatic_optimization=False
        )()
        trainer = h.trainer(max_epochs=1, log=False)
        trainer.fit(net, h.loader(8))
        h.results[net.form] = _describe(trainer)


def warm_up_by_scheduler(h):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.05)
        warm_up = lr_scheduler.LinearLR(optimizer, 0.01, total_iters=4)
        after = lr_scheduler.CosineAnnealingLR(optimizer, 6)
        scheduler = lr_scheduler.SequentialLR(optimizer, [warm_up, after], milestones=[4])
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def on_before_optimizer_step(self, optimizer):
        h.note("rate", [optimizer.param_groups[0]["lr"]])

    net = h.net(configure_optimizers=configure_optimizers, on_before_optimizer_step=on_before_optimizer_step)
    h.trainer(max_epochs=2).fit(net(), h.loader())


def warm_up_by_optimizer_step(h):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step(closure=optimizer_closure)
        if self.trainer.global_step < 5:
            for group in optimizer.param_groups:
                group["lr"] = min(1.0, (self.trainer.global_step + 1) / 5) * 0.1
        h.note("rate", [optimizer.param_groups[0]["lr"]])

    h.trainer(max_epochs=2).fit(h.net(optimizer_step=optimizer_step)(), h.loader())


def zero_grad_override(h):
    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        h.note("zero_grad", [epoch, batch_idx, optimizer])
        optimizer.zero_grad(set_to_none=False)

    h.trainer(max_epochs=2, accumulate_grad_batches=2).fit(h.net(optimizer_zero_grad=optimizer_zero_grad)(), h.loader())


def plateau_every_second_epoch(h):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=1.0)
        config = {"scheduler": scheduler, "monitor": "val_loss", "frequency": 2}
        return {"optimizer": optimizer, "lr_scheduler": config}

    module = h.traced(h.net(configure_optimizers=configure_optimizers), ("lr_scheduler_step",))()
    h.trainer(max_epochs=5, val_check_interval=0.5).fit(module, h.loader(14), h.loader(6, seed=4))


# Loaders


def _two(h, combined, validation=None, **trainer):
    def training_step(self, batch, batch_idx):
        parts = [part for part in (batch["a"], batch["b"]["c"]) if part is not None]
        h.note("parts", [len(parts), *[part[0] for part in parts]])
        loss = sum(self.loss(part) for part in parts)
        h.losses.append(loss.item().hex())
        return loss

    hooks = ("validation_step", "on_validation_batch_end", "on_validation_epoch_end")
    module = h.traced(h.net(training_step=training_step), hooks)()
    h.trainer(max_epochs=2, **trainer).fit(module, combined, validation)


def _loaders(h):
    return {"a": h.loader(10, shuffle=True), "b": {"c": h.loader(18, shuffle=True, seed=5)}}


def _combined(h, mode):
    if h.is_relight:
        from relight.utilities import CombinedLoader
    else:
        from lightning.pytorch.utilities import CombinedLoader
    return CombinedLoader(_loaders(h), mode)


def combined_min_size(h):
    _two(h, _combined(h, "min_size"))


def combined_max_size(h):
    _two(h, _combined(h, "max_size"))


def combined_max_size_cycle(h):
    _two(h, _combined(h, "max_size_cycle"), limit_train_batches=0.5)


def combined_sequential_is_refused(h):
    try:
        _two(h, _combined(h, "sequential"))
    except ValueError as error:
        h.results["refused"] = "sequential" in str(error)
    h.seed()


def combined_validation(h):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch["a"]) + self.loss(batch["b"]["c"]))

    module = h.traced(h.net(validation_step=validation_step), ("validation_step",))()
    trainer = h.trainer(max_epochs=1, limit_val_batches=2)
    trainer.fit(module, h.loader(8), _combined(h, "max_size_cycle"))
    h.results["batches"] = [trainer.num_val_batches, trainer.num_sanity_val_batches]
    h.results["validate"] = trainer.validate(module, _combined(h, "min_size"), verbose=False)


def overfit_share(h):
    module = h.traced(h.net(), ("training_step", "validation_step"))()
    h.trainer(max_epochs=2, overfit_batches=0.34).fit(module, h.loader(shuffle=True), h.loader(10, shuffle=True, seed=4))


def limits_of_everything(h):
    module = h.net()()
    trainer = h.trainer(
        max_epochs=1, limit_train_batches=0.3, limit_val_batches=0.5, limit_test_batches=3, limit_predict_batches=0.67,
        num_sanity_val_steps=1,
    )  # fmt: skip
    trainer.fit(module, h.loader(), [h.loader(10, seed=4), h.loader(18, seed=5)])
    trainer.test(module, [h.loader(10, seed=4), h.loader(26, seed=5)], verbose=False)
    predicted = trainer.predict(module, h.loader(12, seed=6))
    h.results["batches"] = [
        trainer.num_training_batches, trainer.num_val_batches, trainer.num_sanity_val_batches,
        trainer.num_test_batches, trainer.num_predict_batches, len(predicted),
    ]  # fmt: skip


SCENARIOS = {
    function.__name__: function
    for function in (
        optimizer_forms, optimizer_forms_manual, warm_up_by_scheduler, warm_up_by_optimizer_step, zero_grad_override,
        plateau_every_second_epoch, combined_min_size, combined_max_size, combined_max_size_cycle,
        combined_sequential_is_refused, combined_validation, overfit_share, limits_of_everything,
    )
}  # fmt: skip
