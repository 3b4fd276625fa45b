"""The data module: everything about the data in one place."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

from torch.utils.data import DataLoader, Dataset, IterableDataset

from relight.core.hooks import DataHooks
from relight.core.hparams import HyperparametersMixin
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.overrides import class_only

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

    from relight.trainer.trainer import Trainer

__all__ = ["LightningDataModule"]


class LightningDataModule(DataHooks, HyperparametersMixin):
    """Loads, splits and serves data.

    Override ``prepare_data``, ``setup``, ``train_dataloader``, ``val_dataloader``, ``test_dataloader``,
    ``predict_dataloader`` and ``teardown``; hand it to ``Trainer.fit(..., datamodule=...)``.
    """

    name: str | None = None
    CHECKPOINT_HYPER_PARAMS_KEY = "datamodule_hyper_parameters"
    CHECKPOINT_HYPER_PARAMS_NAME = "datamodule_hparams_name"
    CHECKPOINT_HYPER_PARAMS_TYPE = "datamodule_hparams_type"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.trainer: Trainer | None = None

    @classmethod
    def from_datasets(
        cls,
        train_dataset: Dataset[Any] | Iterable[Dataset[Any]] | None = None,
        val_dataset: Dataset[Any] | Iterable[Dataset[Any]] | None = None,
        test_dataset: Dataset[Any] | Iterable[Dataset[Any]] | None = None,
        predict_dataset: Dataset[Any] | Iterable[Dataset[Any]] | None = None,
        batch_size: int = 1,
        num_workers: int = 0,
        **datamodule_kwargs: Any,
    ) -> LightningDataModule:
        """Return a data module that serves the given datasets (or collections of them).

        Args:
            train_dataset: Shuffled unless iterable.
            val_dataset: For ``val_dataloader``.
            test_dataset: For ``test_dataloader``.
            predict_dataset: For ``predict_dataloader``.
            batch_size: Of all loaders; also given to ``__init__`` if it takes it.
            num_workers: Of all loaders; also given to ``__init__`` if it takes it.
            datamodule_kwargs: For ``__init__``.
        """

        def serve(data: Any, shuffle: bool) -> Any:
            if isinstance(data, Mapping):
                return {name: serve(item, shuffle) for name, item in data.items()}
            if not isinstance(data, Dataset):
                return [serve(item, shuffle) for item in data]
            shuffled = shuffle and not isinstance(data, IterableDataset)
            return DataLoader(
                data, batch_size=batch_size, shuffle=shuffled, num_workers=num_workers, pin_memory=True
            )

        taken = inspect.signature(cls.__init__).parameters
        everything = any(p.kind is p.VAR_KEYWORD for p in taken.values())
        own = {"batch_size": batch_size, "num_workers": num_workers}
        module = cls(**datamodule_kwargs, **{k: v for k, v in own.items() if everything or k in taken})
        datasets = {
            "train": train_dataset,
            "val": val_dataset,
            "test": test_dataset,
            "predict": predict_dataset,
        }
        for kind, dataset in datasets.items():
            if dataset is not None:
                setattr(module, f"{kind}_dataloader", lambda d=dataset, k=kind: serve(d, k == "train"))
        return module

    def __str__(self) -> str:
        """Return the sizes of the datasets, as far as the loaders are there; asks for the loaders."""
        kinds = {"Train": "train", "Validation": "val", "Test": "test", "Predict": "predict"}
        lines = [f"{{{title} dataloader: {self._sizes(kind)}}}" for title, kind in kinds.items()]
        return os.linesep.join(lines)

    def _sizes(self, kind: str) -> str:
        from relight.utilities.combined_loader import CombinedLoader, sized_len

        try:
            loaders = CombinedLoader(getattr(self, f"{kind}_dataloader")()).flattened
        except (MisconfigurationException, AttributeError, TypeError):  # not there, or only after `setup`
            return "None"
        lengths = [sized_len(getattr(loader, "dataset", None)) for loader in loaders]
        sizes = [f"size={'NA' if length is None else length}" for length in lengths]
        if len(sizes) == 1:
            return sizes[0]
        return " ; ".join(f"{number}. {size}" for number, size in enumerate(sizes, 1)) or "None"

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint is to keep of this data module."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what ``state_dict`` returned."""

    def on_exception(self, exception: BaseException) -> None:
        """Called when an entry point ends with an exception."""

    @class_only
    def load_from_checkpoint(
        cls,
        checkpoint_path: str | Path | IO[bytes],
        map_location: Any = None,
        hparams_file: str | Path | None = None,
        weights_only: bool | None = None,
        **kwargs: Any,
    ) -> Self:
        """Build the data module from the hyperparameters and state in a checkpoint.

        Args:
            checkpoint_path: A path or an open file.
            map_location: As for ``torch.load``.
            hparams_file: A YAML or CSV file of hyperparameters to use instead of the stored ones.
            weights_only: ``None`` and True load data only; False runs whatever code the file carries.
            kwargs: Override stored hyperparameters.
        """
        from relight.core.from_checkpoint import load_from_checkpoint

        return load_from_checkpoint(  # type: ignore[no-any-return]
            cls, checkpoint_path, map_location, hparams_file, None, weights_only, kwargs
        )
