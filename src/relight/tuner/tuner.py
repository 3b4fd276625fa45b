"""The Tuner: runs the searches with a Trainer of their user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from relight.utilities.exceptions import MisconfigurationException

if TYPE_CHECKING:
    from relight.callbacks import Callback
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule
    from relight.trainer.trainer import Trainer
    from relight.tuner.lr import LRFinder

__all__ = ["Tuner"]

Method = Literal["fit", "validate", "test", "predict"]
_METHODS = ("fit", "validate", "test", "predict")


class Tuner:
    """Finds hyperparameters by trial runs, as Lightning 2.6's.

    Args:
        trainer: Runs the trials; has the state it had before afterwards.
    """

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    def scale_batch_size(
        self,
        model: LightningModule,
        train_dataloaders: Any = None,
        val_dataloaders: Any = None,
        dataloaders: Any = None,
        datamodule: LightningDataModule | None = None,
        method: Method = "fit",
        mode: str = "power",
        steps_per_trial: int = 3,
        init_val: int = 2,
        max_trials: int = 25,
        batch_arg_name: str = "batch_size",
        margin: float = 0.05,
        max_val: int = 8192,
    ) -> int | None:
        """Find the largest batch size that fits into memory, and set the attribute to it.

        Args:
            model: The module.
            train_dataloaders: A data module; loaders themselves have a size already.
            val_dataloaders: As ``train_dataloaders``.
            dataloaders: In their place unless ``method`` is ``"fit"``.
            datamodule: Brings the loaders.
            method: The entry point to try.
            mode: ``"power"`` doubles the size until memory runs out; ``"binsearch"`` then looks between the
                last two.
            steps_per_trial: Batches to a trial.
            init_val: The first size.
            max_trials: How many sizes are tried at most.
            batch_arg_name: The attribute of module, data module or the ``hparams`` of either.
            margin: Share by which ``"binsearch"`` reduces what it found.
            max_val: The largest size.

        Returns:
            The size; ``None`` with ``fast_dev_run``.

        Raises:
            ValueError: For several processes, an unknown ``mode`` or ``method``, or if the Trainer has a
                ``BatchSizeFinder``.
            MisconfigurationException: If loaders are passed, or nothing has the attribute.
        """
        from relight.callbacks.batch_size_finder import BatchSizeFinder

        trainer = self._trainer
        _check_data(train_dataloaders, val_dataloaders, dataloaders, method)
        if trainer.world_size > 1:
            raise ValueError("A batch size can be searched with one process only")
        finder = BatchSizeFinder(mode, steps_per_trial, init_val, max_trials, batch_arg_name, margin, max_val)
        self._run(finder, model, train_dataloaders, val_dataloaders, dataloaders, datamodule, method)
        return finder.optimal_batch_size

    def lr_find(
        self,
        model: LightningModule,
        train_dataloaders: Any = None,
        val_dataloaders: Any = None,
        dataloaders: Any = None,
        datamodule: LightningDataModule | None = None,
        method: Method = "fit",
        min_lr: float = 1e-8,
        max_lr: float = 1,
        num_training: int = 100,
        mode: str = "exponential",
        early_stop_threshold: float | None = 4.0,
        update_attr: bool = True,
        attr_name: str = "",
    ) -> LRFinder | None:
        """Train a few steps with a growing learning rate, and suggest one.

        Args:
            model: The module.
            train_dataloaders: As for ``fit``.
            val_dataloaders: As for ``fit``.
            dataloaders: For other methods than ``"fit"``, so never.
            datamodule: Brings the loaders.
            method: ``"fit"``.
            min_lr: The first rate.
            max_lr: The last rate.
            num_training: How many steps lie between.
            mode: ``"exponential"`` or ``"linear"`` growth.
            early_stop_threshold: Stop once the smoothed loss is this many times the best; ``None``: never.
            update_attr: Whether the module's attribute is set to the suggestion.
            attr_name: That attribute; ``lr`` or ``learning_rate`` unless given.

        Returns:
            Rates and losses; ``None`` with ``fast_dev_run``.

        Raises:
            AttributeError: If nothing has the attribute.
            MisconfigurationException: For another method than ``"fit"``, or several optimizers.
            ValueError: For an unknown ``mode``, or if the Trainer has a ``LearningRateFinder``.
        """
        from relight.callbacks.lr_finder import LearningRateFinder

        if method != "fit":
            raise MisconfigurationException(f"`lr_find(method={method!r})`: only 'fit' has a learning rate")
        _check_data(train_dataloaders, val_dataloaders, dataloaders, method)
        finder = LearningRateFinder(
            min_lr, max_lr, num_training, mode, early_stop_threshold, update_attr, attr_name
        )
        self._run(finder, model, train_dataloaders, val_dataloaders, None, datamodule, method)
        return finder.optimal_lr

    def _run(
        self,
        finder: Any,
        model: LightningModule,
        train: Any,
        val: Any,
        loaders: Any,
        datamodule: LightningDataModule | None,
        method: Method,
    ) -> None:
        trainer, kind = self._trainer, type(finder)
        if any(isinstance(callback, kind) for callback in trainer.callbacks):
            raise ValueError(
                f"The Trainer has a `{kind.__name__}` callback already: remove it, or do without the Tuner"
            )
        if trainer._backend.spawns:
            raise ValueError("The Tuner cannot work in processes that a strategy spawns: use `ddp`")
        finder._early_exit = True
        trainer.callbacks = [finder, *trainer.callbacks]
        try:
            if method == "fit":
                trainer.fit(model, train, val, datamodule)
            else:
                getattr(trainer, method)(model, loaders, datamodule=datamodule)
        finally:
            kept: list[Callback] = [callback for callback in trainer.callbacks if callback is not finder]
            trainer.callbacks = kept


def _check_data(train: Any, val: Any, loaders: Any, method: str) -> None:
    if method not in _METHODS:
        raise ValueError(f"`method` must be one of {_METHODS}, not {method!r}")
    if method == "fit":
        if loaders is not None:
            raise MisconfigurationException(
                "`method='fit'` takes `train_dataloaders` and `val_dataloaders`, not `dataloaders`"
            )
    elif train is not None or val is not None:
        raise MisconfigurationException(
            f"`method={method!r}` takes `dataloaders`, not `train_dataloaders` or `val_dataloaders`"
        )
