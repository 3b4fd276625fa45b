"""Freezing parts of a module and training them later on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim import Optimizer

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["BackboneFinetuning", "BaseFinetuning", "multiplicative"]

Modules = nn.Module | Iterable[Any]  # an iterable may hold iterables again


def multiplicative(epoch: int) -> float:
    """Return 2: the rate doubles with each epoch."""
    return 2.0


class BaseFinetuning(Callback):
    """Base of callbacks that freeze some modules before training and give them to the optimizer later.

    Override :meth:`freeze_before_training` and :meth:`finetune_function`. ``configure_optimizers`` should
    hand only parameters that require gradients to the optimizer. The groups that were added are saved, and
    made again when training is resumed.
    """

    def __init__(self) -> None:
        self._internal_optimizer_metadata: dict[int, list[dict[str, Any]]] = {}
        self._restarting = False

    def finetune_function(self, pl_module: LightningModule, epoch: int, optimizer: Optimizer) -> None:
        """Called for each optimizer as an epoch begins: unfreeze what shall be trained from now on."""
        raise NotImplementedError(f"`{type(self).__name__}` must override `finetune_function`")

    def freeze_before_training(self, pl_module: LightningModule) -> None:
        """Called in ``setup``: freeze what shall not be trained yet."""
        raise NotImplementedError(f"`{type(self).__name__}` must override `freeze_before_training`")

    # Tools

    @staticmethod
    def flatten_modules(modules: Modules) -> list[nn.Module]:
        """Return the modules that hold parameters themselves, or have no children."""
        if isinstance(modules, nn.ModuleDict):
            modules = modules.values()
        found: Iterable[nn.Module]
        if isinstance(modules, Iterable):
            found = [each for module in modules for each in BaseFinetuning.flatten_modules(module)]
        else:
            found = modules.modules()
        return [module for module in found if module._parameters or not any(module.children())]

    @staticmethod
    def filter_params(
        modules: Modules, train_bn: bool = True, requires_grad: bool = True
    ) -> Iterator[nn.Parameter]:
        """Yield the parameters that do (or do not) require gradients, without those of batch norms unless
        ``train_bn``."""
        for module in BaseFinetuning.flatten_modules(modules):
            if train_bn or not isinstance(module, _BatchNorm):
                own = module.parameters(recurse=False)
                yield from (p for p in own if p.requires_grad == requires_grad)

    @staticmethod
    def make_trainable(modules: Modules) -> None:
        """Let all parameters require gradients, and batch norms track their statistics."""
        for module in BaseFinetuning.flatten_modules(modules):
            BaseFinetuning._set(module, True)

    @staticmethod
    def freeze_module(module: nn.Module) -> None:
        """Freeze a module's own parameters, not those of its children."""
        BaseFinetuning._set(module, False)

    @staticmethod
    def freeze(modules: Modules, train_bn: bool = True) -> None:
        """Freeze modules, but not their batch norms if ``train_bn``."""
        for module in BaseFinetuning.flatten_modules(modules):
            BaseFinetuning._set(module, train_bn and isinstance(module, _BatchNorm))

    @staticmethod
    def _set(module: nn.Module, trains: bool) -> None:
        if isinstance(module, _BatchNorm):
            module.track_running_stats = trains
        for parameter in module.parameters(recurse=False):
            parameter.requires_grad = trains

    @staticmethod
    def filter_on_optimizer(optimizer: Optimizer, params: Iterable[nn.Parameter]) -> list[nn.Parameter]:
        """Return the parameters that are not in the optimizer yet; warn if some are."""
        known = [own for group in optimizer.param_groups for own in group["params"]]
        given = list(params)
        # By value, as Lightning compares them.
        new = [p for p in given if not any(torch.equal(own, p) for own in known)]
        if len(new) < len(given):
            rank_zero_warn(
                f"{len(given) - len(new)} parameters to be trained from now on are in a group of the"
                " optimizer already; they are left there. Give the optimizer only parameters that require"
                " gradients: `filter(lambda p: p.requires_grad, self.parameters())`."
            )
        return new

    @staticmethod
    def unfreeze_and_add_param_group(
        modules: Modules,
        optimizer: Optimizer,
        lr: float | None = None,
        initial_denom_lr: float = 10.0,
        train_bn: bool = True,
    ) -> None:
        """Let modules train and give their parameters to the optimizer as a group of their own.

        Args:
            modules: What to train.
            optimizer: Gets the group.
            lr: The group's rate; that of the first group divided by ``initial_denom_lr`` unless given.
            initial_denom_lr: See ``lr``.
            train_bn: Whether the parameters of batch norms are among them.
        """
        BaseFinetuning.make_trainable(modules)
        rate = optimizer.param_groups[0]["lr"] / initial_denom_lr if lr is None else float(lr)
        wanted = BaseFinetuning.filter_params(modules, train_bn=train_bn, requires_grad=True)
        if new := BaseFinetuning.filter_on_optimizer(optimizer, wanted):
            optimizer.add_param_group({"params": new, "lr": rate})

    # Moments of a fit

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Freeze."""
        self.freeze_before_training(pl_module)

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Make the groups again that the checkpoint's optimizers had."""
        if not self._restarting:
            return
        parameters = dict(pl_module.named_parameters())
        for index, optimizer in enumerate(trainer.optimizers):
            if index in self._internal_optimizer_metadata:
                groups = self._internal_optimizer_metadata[index]
                optimizer.param_groups = _renamed(groups, parameters)
        self._restarting = False

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Unfreeze what is due, and note the groups."""
        for index, optimizer in enumerate(trainer.optimizers):
            before = len(optimizer.param_groups)
            self._finetune(pl_module, trainer.current_epoch, optimizer, index)
            names = {parameter: name for name, parameter in pl_module.named_parameters()}
            groups = optimizer.param_groups
            noted = self._internal_optimizer_metadata
            if index not in noted:
                noted[index] = _renamed(groups, names)
            elif len(groups) != before:
                noted[index].extend(_renamed(groups[before:], names))

    def _finetune(self, module: LightningModule, epoch: int, optimizer: Optimizer, index: int) -> None:
        self.finetune_function(module, epoch, optimizer)

    def state_dict(self) -> dict[str, Any]:
        """Return the groups, with the names of their parameters."""
        return {"internal_optimizer_metadata": self._internal_optimizer_metadata}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the groups; before 1.6 they were all there was."""
        self._restarting = True
        self._internal_optimizer_metadata = state_dict.get("internal_optimizer_metadata", state_dict)


def _renamed(groups: Iterable[Mapping[str, Any]], names: Mapping[Any, Any]) -> list[dict[str, Any]]:
    return [{**group, "params": [names[parameter] for parameter in group["params"]]} for group in groups]


class BackboneFinetuning(BaseFinetuning):
    """Trains ``pl_module.backbone`` from an epoch on, with a rate that grows up to that of the rest.

    Args:
        unfreeze_backbone_at_epoch: The epoch.
        lambda_func: By what to multiply the backbone's rate, given the next epoch's number.
        backbone_initial_ratio_lr: Its first rate as a share of the current one.
        backbone_initial_lr: Its first rate, instead of a share.
        should_align: Whether it stops at the rate of the rest.
        initial_denom_lr: Handed to :meth:`unfreeze_and_add_param_group`.
        train_bn: Whether batch norms in the backbone train.
        verbose: Whether to say the rates.
        rounding: To how many digits.
    """

    def __init__(
        self,
        unfreeze_backbone_at_epoch: int = 10,
        lambda_func: Callable[[int], float] = multiplicative,
        backbone_initial_ratio_lr: float = 10e-2,
        backbone_initial_lr: float | None = None,
        should_align: bool = True,
        initial_denom_lr: float = 10.0,
        train_bn: bool = True,
        verbose: bool = False,
        rounding: int = 12,
    ) -> None:
        super().__init__()
        self.unfreeze_backbone_at_epoch = unfreeze_backbone_at_epoch
        self.lambda_func = lambda_func
        self.backbone_initial_ratio_lr = backbone_initial_ratio_lr
        self.backbone_initial_lr = backbone_initial_lr
        self.should_align = should_align
        self.initial_denom_lr = initial_denom_lr
        self.train_bn = train_bn
        self.verbose = verbose
        self.rounding = rounding
        self.previous_backbone_lr: float | None = None

    def state_dict(self) -> dict[str, Any]:
        """Return the groups and the backbone's rate."""
        return {**super().state_dict(), "previous_backbone_lr": self.previous_backbone_lr}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the groups and the backbone's rate."""
        self.previous_backbone_lr = state_dict["previous_backbone_lr"]
        super().load_state_dict(state_dict)

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Check that there is a backbone.

        Raises:
            MisconfigurationException: If not.
        """
        if not isinstance(getattr(pl_module, "backbone", None), nn.Module):
            raise MisconfigurationException(f"`{type(pl_module).__name__}` has no torch module `backbone`")
        super().on_fit_start(trainer, pl_module)

    def freeze_before_training(self, pl_module: LightningModule) -> None:
        """Freeze the backbone."""
        self.freeze(pl_module.backbone)

    def finetune_function(self, pl_module: LightningModule, epoch: int, optimizer: Optimizer) -> None:
        """Unfreeze the backbone, or raise its rate."""
        if epoch < self.unfreeze_backbone_at_epoch:
            return
        current = optimizer.param_groups[0]["lr"]
        if epoch == self.unfreeze_backbone_at_epoch:
            rate = self.backbone_initial_lr
            if rate is None:
                rate = current * self.backbone_initial_ratio_lr
            self.unfreeze_and_add_param_group(
                pl_module.backbone,
                optimizer,
                rate,
                train_bn=self.train_bn,
                initial_denom_lr=self.initial_denom_lr,
            )
        else:
            assert self.previous_backbone_lr is not None
            rate = self.lambda_func(epoch + 1) * self.previous_backbone_lr
            if self.should_align and rate > current:
                rate = current
            optimizer.param_groups[-1]["lr"] = rate
        self.previous_backbone_lr = rate
        if self.verbose:
            digits = self.rounding
            rank_zero_info(f"Current lr: {round(current, digits)}, Backbone lr: {round(rate, digits)}")
