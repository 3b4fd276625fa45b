"""Plugins for ``Trainer(plugins=...)`` beside those of Lightning Fabric."""

from __future__ import annotations

from relight.plugins.layer_sync import LayerSync, TorchSyncBatchNorm

__all__ = ["LayerSync", "TorchSyncBatchNorm"]
