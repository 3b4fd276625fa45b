"""The base of callbacks that write checkpoints."""

from __future__ import annotations

from relight.callbacks.callback import Callback


class Checkpoint(Callback):
    """A callback that writes checkpoints.

    The Trainer runs these after all other callbacks, so that what the others did is in the file, and adds
    no :class:`~relight.callbacks.ModelCheckpoint` of its own when one is given.
    """
