"""What changed in the hooks, methods and attributes of a LightningDataModule."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import MANUAL, NONE, SAFE, UNSAFE, custom, expression, make, none
from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["ENTRIES"]

_NEVER_CALLED = "never called, without a word"
_ATTRIBUTE = "AttributeError where it is used"


def _hook(code: str, name: str, advice: str, **rest: Any) -> Entry:
    rest.setdefault("how", UNSAFE)
    return make(Area.DATAMODULE_HOOK, "LightningDataModule", code, name, advice, **rest)


ENTRIES: tuple[Entry, ...] = (
    _hook(
        "TRU240",
        "__init__",
        "`LightningDataModule.__init__` takes no transforms or dims since 1.7: keep them as attributes of your own",
        deprecated="1.5",
        removed="1.7",
        relight=custom("super().__init__()"),
        behaviour="TypeError from 1.7 to 2.5; 2.6 swallows them",
        silent=True,
    ),
    *(
        _hook(
            "TRU241",
            name,
            f"`{name}` of the data module left in 1.7: set an attribute of your own before it is read",
            deprecated="1.5",
            removed="1.7",
            relight=none("an attribute of your own"),
            behaviour=_ATTRIBUTE,
            how=MANUAL,
        )
        for name in ("train_transforms", "val_transforms", "test_transforms", "dims", "size")
    ),
    *(
        _hook(
            "TRU242",
            name,
            f"`{name}` left in 1.6: hooks run each time they are due now, so make them safe to repeat, or keep a flag of your own",
            deprecated="1.4",
            removed="1.6",
            relight=none("a flag of your own"),
            behaviour=_ATTRIBUTE,
            how=MANUAL,
        )
        for name in (
            "has_prepared_data",
            "has_setup_fit",
            "has_setup_validate",
            "has_setup_test",
            "has_setup_predict",
            "has_teardown_fit",
            "has_teardown_validate",
            "has_teardown_test",
            "has_teardown_predict",
        )
    ),
    *(
        _hook(
            "TRU243",
            f"on_{stage}_dataloader",
            f"`on_{stage}_dataloader` left in 1.7: put its body at the top of {stage}_dataloader",
            deprecated="1.5",
            removed="1.7",
            relight=custom(f"the top of {stage}_dataloader", f"{stage}_dataloader"),
            behaviour=_NEVER_CALLED,
            silent=True,
        )
        for stage in ("train", "val", "test", "predict")
    ),
    _hook(
        "TRU244",
        "on_save_checkpoint",
        "`on_save_checkpoint` of the data module left in 1.8: return what to save from state_dict()",
        deprecated="1.6",
        removed="1.8",
        relight=custom("def state_dict(self)", "state_dict"),
        behaviour=_NEVER_CALLED,
        silent=True,
    ),
    _hook(
        "TRU245",
        "on_load_checkpoint",
        "`on_load_checkpoint` of the data module left in 1.8: restore in load_state_dict(state_dict)",
        deprecated="1.6",
        removed="1.8",
        relight=custom("def load_state_dict(self, state_dict)", "load_state_dict"),
        behaviour=_NEVER_CALLED,
        silent=True,
    ),
    *(
        _hook(
            "TRU246",
            name,
            f"`{name}` is called as {name}(stage=…) since 1.8: the parameter must be there and bear that name",
            removed="1.8",
            relight=custom(f"{name}(self, stage)", name),
            behaviour="TypeError if no parameter is called stage",
            how=SAFE,
        )
        for name in ("setup", "teardown")
    ),
    _hook(
        "TRU247",
        "transfer_batch_to_device",
        "`transfer_batch_to_device` takes dataloader_idx as its third argument since 1.6: add it, also where super() is called",
        deprecated="1.4",
        removed="1.6",
        relight=custom(
            "transfer_batch_to_device(self, batch, device, dataloader_idx)", "transfer_batch_to_device"
        ),
        behaviour="TypeError for the old signature",
        how=SAFE,
    ),
    *(
        _hook(
            "TRU248",
            name,
            f"`{name}` is called without arguments since {gone}: give every parameter a default or drop it",
            removed=gone,
            relight=custom(f"{name}(self)", name),
            behaviour="TypeError for a required parameter",
        )
        for name, gone in (
            ("prepare_data", "1.3"),
            ("train_dataloader", "1.2"),
            ("val_dataloader", "1.2"),
            ("test_dataloader", "1.2"),
        )
    ),
    _hook(
        "TRU249",
        "add_argparse_args",
        "`add_argparse_args` of the data module left in 2.0: declare the arguments you use with parser.add_argument, or use LightningCLI",
        removed="2.0",
        relight=custom("parser.add_argument(…)"),
        behaviour=_ATTRIBUTE,
    ),
    _hook(
        "TRU250",
        "from_argparse_args",
        "`from_argparse_args` of the data module left in 2.0: pass the arguments by keyword, as cls(batch_size=args.batch_size, …)",
        removed="2.0",
        relight=expression("cls(…=args.…)"),
        behaviour=_ATTRIBUTE,
    ),
    _hook(
        "TRU251",
        "parse_argparser",
        "`parse_argparser` left in 2.0: call parser.parse_args()",
        removed="2.0",
        relight=expression("parser.parse_args()"),
        behaviour=_ATTRIBUTE,
    ),
    _hook(
        "TRU251",
        "get_init_arguments_and_types",
        "`get_init_arguments_and_types` left in 2.0: read inspect.signature(cls.__init__)",
        removed="2.0",
        relight=expression("inspect.signature(cls)", "inspect.signature"),
        behaviour=_ATTRIBUTE,
        how=MANUAL,
    ),
    _hook(
        "TRU252",
        "load_from_checkpoint",
        "`load_from_checkpoint` is called on the class and returns the data module; an instance refuses it since 2.1",
        removed="2.1",
        relight=custom("DataModule.load_from_checkpoint(path)", "load_from_checkpoint"),
        behaviour="TypeError on an instance",
    ),
    _hook(
        "TRU253",
        "from_datasets",
        "`from_datasets` also takes predict_dataset (1.7) and keyword arguments of the class (1.8): nothing to do",
        source="Lightning 1.7, 1.8",
        relight=NONE,
        lightning=custom("", "from_datasets"),
        how=MANUAL,
    ),
)
