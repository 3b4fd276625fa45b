"""Layers that share statistics between processes."""

from __future__ import annotations

from torch import nn

__all__ = ["LayerSync", "TorchSyncBatchNorm"]


class LayerSync:
    """Changes a model's layers before it is spread over processes."""

    def apply(self, model: nn.Module) -> nn.Module:
        """Return the model with layers that communicate."""
        raise NotImplementedError

    def revert(self, model: nn.Module) -> nn.Module:
        """Return the model with its layers as they were."""
        raise NotImplementedError


class _BatchNormXd(nn.modules.batchnorm._BatchNorm):
    """A batch norm that takes input of any number of dimensions, as ``SyncBatchNorm`` does."""

    def _check_input_dim(self, input: object) -> None:
        pass


class TorchSyncBatchNorm(LayerSync):
    """Makes every batch norm layer a ``torch.nn.SyncBatchNorm`` while several processes train."""

    def apply(self, model: nn.Module) -> nn.Module:
        """Return the model with synchronised batch norm layers."""
        return nn.SyncBatchNorm.convert_sync_batchnorm(model)  # type: ignore[no-any-return, no-untyped-call]

    def revert(self, model: nn.Module) -> nn.Module:
        """Return the model with plain batch norm layers that keep weights and statistics."""
        result = model
        if isinstance(model, nn.SyncBatchNorm):
            result = _BatchNormXd(
                model.num_features, model.eps, model.momentum, model.affine, model.track_running_stats
            )
            result.load_state_dict(model.state_dict())
            result.train(model.training)
        for name, child in model.named_children():
            replaced = self.revert(child)
            if replaced is not child:
                result.add_module(name, replaced)
        return result
