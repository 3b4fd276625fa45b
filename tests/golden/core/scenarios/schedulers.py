"""Learning rate schedulers in all forms."""

import torch
from torch.optim import lr_scheduler


def _with(h, make, **trainer):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
        return make(optimizer)

    hooks = ("lr_scheduler_step",)
    module = h.traced(h.net(configure_optimizers=configure_optimizers), hooks)()
    h.trainer(max_epochs=4, **trainer).fit(module, h.loader(14), h.loader(6, seed=4))


def scheduler_epoch(h):
    _with(h, lambda opt: ([opt], [lr_scheduler.StepLR(opt, 2)]))


def scheduler_step(h):
    _with(
        h,
        lambda opt: {
            "optimizer": opt,
            "lr_scheduler": {"scheduler": lr_scheduler.ExponentialLR(opt, 0.9), "interval": "step", "frequency": 2},
        },
        accumulate_grad_batches=2,
    )


def scheduler_two(h):
    _with(
        h,
        lambda opt: (
            [opt],
            [
                {"scheduler": lr_scheduler.LinearLR(opt, total_iters=5), "interval": "step"},
                {"scheduler": lr_scheduler.MultiplicativeLR(opt, lambda e: 0.5), "interval": "epoch", "frequency": 2},
            ],
        ),
    )


def scheduler_plateau(h):
    _with(
        h,
        lambda opt: {
            "optimizer": opt,
            "lr_scheduler": lr_scheduler.ReduceLROnPlateau(opt, patience=0, threshold=1.0),
            "monitor": "val_loss",
        },
    )


def scheduler_plateau_train_epoch(h):
    _with(
        h,
        lambda opt: {
            "optimizer": opt,
            "lr_scheduler": {
                "scheduler": lr_scheduler.ReduceLROnPlateau(opt, patience=0, threshold=1.0),
                "monitor": "loss_epoch",
            },
        },
        limit_val_batches=0,
    )


def scheduler_plateau_step(h):
    _with(
        h,
        lambda opt: {
            "optimizer": opt,
            "lr_scheduler": {
                "scheduler": lr_scheduler.ReduceLROnPlateau(opt, patience=1, threshold=1.0),
                "monitor": "loss_step",
                "interval": "step",
                "strict": False,
            },
        },
    )


def scheduler_override(h):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.1)
        return [{"optimizer": optimizer, "lr_scheduler": lr_scheduler.CosineAnnealingLR(optimizer, 4)}]

    def lr_scheduler_step(self, scheduler, metric):
        scheduler.step()
        self.trainer.lr_seen = getattr(self.trainer, "lr_seen", []) + scheduler.get_last_lr()
        h.results["lr"] = self.trainer.lr_seen

    net = h.net(configure_optimizers=configure_optimizers, lr_scheduler_step=lr_scheduler_step)
    h.trainer(max_epochs=3).fit(net(), h.loader(8))


SCENARIOS = {
    function.__name__: function
    for function in (
        scheduler_epoch, scheduler_step, scheduler_two, scheduler_plateau, scheduler_plateau_train_epoch,
        scheduler_plateau_step, scheduler_override,
    )
}  # fmt: skip
