"""Keep a running average of the weights; validate, save and end with it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn

from relight.callbacks.callback import Callback
from relight.utilities.overrides import is_overridden
from relight.utilities.rank_zero import rank_zero_info, rank_zero_warn

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["EMAWeightAveraging", "WeightAveraging"]

# AveragedModel keeps the model's own state under this prefix.
_INNER = "module."


class WeightAveraging(Callback):
    """Average the weights of a model over steps or epochs (as Lightning 2.6 does).

    Validation runs with the average, and the model ends with it. A checkpoint holds the average under
    ``state_dict``, so that it loads anywhere, the weights being trained under ``current_model_state``, and
    the number of averaged models under ``averaging_state``. Models that are sharded are not supported.

    Args:
        device: where the average is kept; the model's device by default.
        use_buffers: average buffers, too. Without, statistics of batch normalization need
            ``torch.optim.swa_utils.update_bn`` afterwards.
        kwargs: more arguments of :class:`torch.optim.swa_utils.AveragedModel`, such as ``avg_fn`` and
            ``multi_avg_fn``; the plain mean by default.
    """

    def __init__(
        self, device: torch.device | str | int | None = None, use_buffers: bool = True, **kwargs: Any
    ) -> None:
        super().__init__()
        self._device = torch.device(device) if isinstance(device, str) else device
        self._use_buffers = use_buffers
        self._kwargs = kwargs
        self._average_model: AveragedModel | None = None
        self._latest_update_step = 0
        self._latest_update_epoch = -1

    def should_update(self, step_idx: int | None = None, epoch_idx: int | None = None) -> bool:
        """Decide whether the average takes in the weights of now; override it for another rhythm.

        Args:
            step_idx: index of the optimizer step that was made, from 0; ``None`` at the end of an epoch.
            epoch_idx: index of the epoch that ends, from 0; ``None`` after a step.
        """
        return step_idx is not None

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Make the average when a fit begins."""
        if stage != "fit":
            return
        from relight.module import LightningModule as Base

        if is_overridden("configure_model", pl_module, Base):
            rank_zero_warn(
                f"{type(self).__name__} copies the model before it is trained: `configure_model` is called"
                " for that here, and its layers are not sharded."
            )
            pl_module.configure_model()
        device = pl_module.device if self._device is None else self._device
        self._average_model = AveragedModel(
            pl_module,
            device=device,
            use_buffers=self._use_buffers,
            **self._kwargs,
        )

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Take the weights in after an optimizer step."""
        steps = trainer.global_step
        if steps > self._latest_update_step and self.should_update(step_idx=steps - 1):
            self._average.update_parameters(pl_module)
            self._latest_update_step = steps

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take the weights in at the end of an epoch."""
        epoch = trainer.current_epoch
        if epoch > self._latest_update_epoch and self.should_update(epoch_idx=epoch):
            self._average.update_parameters(pl_module)
            self._latest_update_epoch = epoch

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Validate the average."""
        if self._average_model is not None:
            self._swap_models(pl_module)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Go on with the weights that are trained."""
        if self._average_model is not None:
            self._swap_models(pl_module)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the average in the model."""
        self._copy_average_to_current(pl_module)

    def state_dict(self) -> dict[str, Any]:
        """Return at which step the average was last renewed."""
        return {"latest_update_step": self._latest_update_step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore it."""
        self._latest_update_step = state_dict["latest_update_step"]

    def on_save_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Put the average where the weights are looked for."""
        if self._average_model is None:
            rank_zero_info(
                f"{type(self).__name__} has no average outside of `fit`: the checkpoint holds the model"
                " as it is"
            )
            return
        state = self._average_model.state_dict()
        checkpoint["current_model_state"] = checkpoint["state_dict"]
        checkpoint["state_dict"] = {
            name[len(_INNER) :]: value for name, value in state.items() if name.startswith(_INNER)
        }
        checkpoint["averaging_state"] = {
            name: value for name, value in state.items() if not name.startswith(_INNER)
        }

    def on_load_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Restore the average and the weights that were being trained."""
        if self._average_model is None:
            rank_zero_warn(
                f"{type(self).__name__} loads nothing outside of `fit`, where the model has the average as"
                " its weights; fine for testing and prediction."
            )
            return
        if "current_model_state" not in checkpoint or "averaging_state" not in checkpoint:
            rank_zero_warn(
                f"The checkpoint was saved without {type(self).__name__}: model and average both start from"
                " its `state_dict`."
            )
            self._average_model.module.load_state_dict(deepcopy(checkpoint["state_dict"]), strict=False)
            return
        state = {_INNER + name: value for name, value in checkpoint["state_dict"].items()}
        self._average_model.load_state_dict(state | checkpoint["averaging_state"])
        # The Trainer has loaded `state_dict`, the average, into the model already.
        pl_module.load_state_dict(checkpoint["current_model_state"])

    @property
    def _average(self) -> AveragedModel:
        assert self._average_model is not None, "made in `setup`"
        return self._average_model

    def _pairs(self, pl_module: LightningModule) -> Iterator[tuple[Tensor, Tensor]]:
        inner = self._average.module
        yield from zip(inner.parameters(), pl_module.parameters(), strict=True)
        yield from zip(inner.buffers(), pl_module.buffers(), strict=True)

    # Subclasses written for Lightning call these two, or count their calls.

    def _copy_average_to_current(self, pl_module: LightningModule) -> None:
        for average, current in self._pairs(pl_module):
            current.data.copy_(average.data)

    def _swap_models(self, pl_module: LightningModule) -> None:
        for average, current in self._pairs(pl_module):
            kept = average.data.clone()
            average.data.copy_(current.data)
            current.data.copy_(kept)


class EMAWeightAveraging(WeightAveraging):
    """Average the weights exponentially (as Lightning 2.6 does).

    Args:
        device: where the average is kept; the model's device by default.
        use_buffers: average buffers, too.
        decay: how much of the average stays at each update.
        update_every_n_steps: after which optimizer steps it is renewed: those whose index it divides.
        update_starting_at_step: the first step, by its index, that counts.
        update_starting_at_epoch: also renew it at the end of each epoch from this one on.
        kwargs: more arguments of :class:`torch.optim.swa_utils.AveragedModel`.
    """

    def __init__(
        self,
        device: torch.device | str | int | None = None,
        use_buffers: bool = True,
        decay: float = 0.999,
        update_every_n_steps: int = 1,
        update_starting_at_step: int | None = None,
        update_starting_at_epoch: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(device=device, use_buffers=use_buffers, **kwargs, avg_fn=get_ema_avg_fn(decay=decay))  # type: ignore[no-untyped-call]
        self.update_every_n_steps = update_every_n_steps
        self.update_starting_at_step = update_starting_at_step
        self.update_starting_at_epoch = update_starting_at_epoch

    def should_update(self, step_idx: int | None = None, epoch_idx: int | None = None) -> bool:
        """Renew it in the rhythm that was asked for."""
        if step_idx is not None:
            begun = self.update_starting_at_step is None or step_idx >= self.update_starting_at_step
            every = self.update_every_n_steps
            return begun and every > 0 and step_idx % every == 0
        first = self.update_starting_at_epoch
        return epoch_idx is not None and first is not None and epoch_idx >= first
