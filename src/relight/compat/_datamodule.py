"""The LightningDataModule of the legacy API."""

from __future__ import annotations

import argparse
from typing import Any

from relight.compat import _argparse
from relight.compat._facts import advice_for, code_for
from relight.compat._inherit import stands_for
from relight.compat._notices import notice
from relight.datamodule import LightningDataModule as CoreDataModule
from trainer_upgrade.catalogue import Area

__all__ = ["LightningDataModule"]


def _legacy(name: str, default: str) -> None:
    notice(
        code_for(Area.DATAMODULE_HOOK, "LightningDataModule", name, "TRU240"),
        f"LightningDataModule.{name}",
        advice_for(Area.DATAMODULE_HOOK, "LightningDataModule", name, default),
    )


class LightningDataModule(CoreDataModule):
    """A data module written for Lightning 0.9 to 1.9 (or later); see :class:`relight.LightningDataModule`.

    Args:
        train_transforms: Left in 1.7; kept as an attribute, as are the next ones.
        val_transforms: Left in 1.7.
        test_transforms: Left in 1.7.
        dims: Left in 1.7.
    """

    dims: Any

    def __init__(
        self,
        train_transforms: Any = None,
        val_transforms: Any = None,
        test_transforms: Any = None,
        dims: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        given = {
            "train_transforms": train_transforms,
            "val_transforms": val_transforms,
            "test_transforms": test_transforms,
            "dims": dims,
        }
        for name, value in given.items():
            if value is not None:
                _legacy(name, f"`{name}` left in 1.7: keep it as an attribute of your own")
            # A subclass may have a property of that name.
            if value is not None or not hasattr(type(self), name):
                setattr(self, name, value)

    def size(self, dim: int | None = None) -> Any:
        """Left in 1.7: ``dims``, or one of them."""
        _legacy("size", "`size()` left in 1.7")
        return self.dims[dim] if dim is not None else self.dims

    @stands_for(CoreDataModule.setup)
    def setup(self, stage: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreDataModule.teardown)
    def teardown(self, stage: Any = None) -> None:
        """Nothing by default."""

    @stands_for(CoreDataModule.prepare_data)
    def prepare_data(self, *args: Any, **kwargs: Any) -> None:
        """Nothing by default."""

    @stands_for(CoreDataModule.transfer_batch_to_device)
    def transfer_batch_to_device(self, batch: Any, device: Any = None, dataloader_idx: int = 0) -> Any:
        """Return the batch on ``device``."""
        return super().transfer_batch_to_device(batch, device, dataloader_idx)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Left in 1.8, see ``state_dict``: called when a checkpoint is saved."""

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Left in 1.8, see ``load_state_dict``: called when a checkpoint is loaded."""

    def on_train_dataloader(self) -> None:
        """Left in 1.7."""

    def on_val_dataloader(self) -> None:
        """Left in 1.7."""

    def on_test_dataloader(self) -> None:
        """Left in 1.7."""

    def on_predict_dataloader(self) -> None:
        """Left in 1.7."""

    @classmethod
    def add_argparse_args(
        cls, parent_parser: argparse.ArgumentParser, **kwargs: Any
    ) -> argparse.ArgumentParser:
        """Left in 2.0: add an option for each argument of ``__init__``."""
        _legacy("add_argparse_args", "`add_argparse_args` left in 2.0: add the options yourself")
        return _argparse.add_argparse_args(cls, parent_parser, **kwargs)

    @classmethod
    def from_argparse_args(cls, args: Any, **kwargs: Any) -> Any:
        """Left in 2.0: build the data module from parsed arguments."""
        _legacy("from_argparse_args", "`from_argparse_args` left in 2.0: `cls(**vars(args))`")
        return _argparse.from_argparse_args(cls, args, **kwargs)

    @classmethod
    def parse_argparser(cls, arg_parser: Any) -> argparse.Namespace:
        """Left in 2.0: parse arguments, with switches that may stand alone."""
        return _argparse.parse_argparser(cls, arg_parser)

    @classmethod
    def get_init_arguments_and_types(cls) -> list[tuple[str, tuple[Any, ...], Any]]:
        """Left in 2.0: name, types and default of each argument of ``__init__``."""
        return _argparse.get_init_arguments_and_types(cls)
