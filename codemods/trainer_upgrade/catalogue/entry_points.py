"""What changed in the arguments of fit, validate, test, predict, tune and their relatives."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import (
    KEEP,
    MANUAL,
    NONE,
    SAFE,
    UNSAFE,
    custom,
    drop,
    entry_point,
    expression,
    make,
    rename,
    value,
)
from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["ENTRIES"]

_GONE = "AttributeError: the method is gone"
_UNEXPECTED = "TypeError: unexpected keyword argument"


def _argument(code: str, owner: str, name: str, advice: str, **rest: Any) -> Entry:
    return make(Area.ENTRY_POINT_ARGUMENT, owner, code, name, advice, **rest)


_RENAMED = (
    _argument(
        "TRU501",
        "Trainer.fit",
        "train_dataloader",
        "`fit(train_dataloader=…)` left in 1.6: it is train_dataloaders",
        deprecated="1.4",
        removed="1.6",
        relight=rename("train_dataloaders"),
        behaviour=_UNEXPECTED,
    ),
    _argument(
        "TRU502",
        "Trainer.validate",
        "val_dataloaders",
        "`validate(val_dataloaders=…)` left in 1.6: it is dataloaders (fit keeps val_dataloaders)",
        deprecated="1.4",
        removed="1.6",
        relight=rename("dataloaders"),
        behaviour=_UNEXPECTED,
    ),
    _argument(
        "TRU503",
        "Trainer.test",
        "test_dataloaders",
        "`test(test_dataloaders=…)` left in 1.6: it is dataloaders",
        deprecated="1.4",
        removed="1.6",
        relight=rename("dataloaders"),
        behaviour=_UNEXPECTED,
    ),
    *(
        _argument(
            "TRU504",
            owner,
            "train_dataloader",
            f"`{owner.rpartition('.')[2]}(train_dataloader=…)` left in 1.6: it is train_dataloaders",
            deprecated="1.4",
            removed="1.6",
            relight=NONE,
            lightning=rename("train_dataloaders"),
            behaviour=_UNEXPECTED,
        )
        for owner in ("Tuner.lr_find", "Tuner.scale_batch_size")
    ),
)

_CHECKPOINTS = (
    _argument(
        "TRU510",
        "Trainer.fit",
        "ckpt_path",
        "`fit(ckpt_path=…)` resumes from a checkpoint since 1.5, where the Trainer's resume_from_checkpoint did",
        relight=KEEP,
        source="new in Lightning 1.5",
    ),
    *(
        _argument(
            "TRU511",
            f"Trainer.{method}",
            "ckpt_path",
            f'`{method}(ckpt_path=…)` defaults to None since 1.5: say ckpt_path="best" for the best weights where a model is passed',
            relight=value("ckpt_path", 'ckpt_path="best"'),
            source="default changed in Lightning 1.5",
            behaviour="tests the weights that the passed model has; up to 1.4 the best checkpoint only when no model was passed",
            silent=True,
            how=MANUAL,
        )
        for method in ("validate", "test", "predict")
    ),
    _argument(
        "TRU512",
        "Trainer.fit",
        "weights_only",
        "`fit(weights_only=…)` is new in 2.6: False reads a trusted checkpoint that holds more than tensors (relight's loading is safe by itself)",
        relight=NONE,
        lightning=KEEP,
        source="new in Lightning 2.6",
        how=MANUAL,
    ),
    _argument(
        "TRU513",
        "Trainer.save_checkpoint",
        "weights_only",
        "`save_checkpoint(weights_only=…)` defaults to None since 2.6, which still saves everything",
        relight=KEEP,
        source="default changed in Lightning 2.6",
    ),
    _argument(
        "TRU514",
        "Trainer.test",
        "dataloaders",
        "`test(model, dataloaders)` takes the loaders second since 1.4: name ckpt_path where it was second",
        relight=KEEP,
        source="position changed in Lightning 1.4",
        how=MANUAL,
    ),
    *(
        _argument(
            "TRU515",
            "LightningModule.load_from_checkpoint",
            name,
            advice,
            deprecated=warned,
            removed=gone,
            relight=instead,
            behaviour=_UNEXPECTED,
            how=how,
        )
        for name, warned, gone, instead, how, advice in (
            (
                "tags_csv",
                "0.7.6",
                "0.9",
                rename("hparams_file"),
                SAFE,
                "`load_from_checkpoint(tags_csv=…)` left in 0.9: it is hparams_file",
            ),
            (
                "hparam_overrides",
                None,
                "0.8",
                custom("**overrides"),
                UNSAFE,
                "`load_from_checkpoint(hparam_overrides=…)` left in 0.8: pass the overrides as keyword arguments",
            ),
            (
                "args",
                None,
                "0.10",
                custom("keyword arguments"),
                MANUAL,
                "`load_from_checkpoint` takes the module's arguments by keyword only since 0.10",
            ),
        )
    ),
    *(
        _argument(
            "TRU516",
            "LightningModule.load_from_checkpoint",
            name,
            advice,
            relight=KEEP,
            source=source,
            how=MANUAL,
            silent=silent,
        )
        for name, source, silent, advice in (
            (
                "map_location",
                "Lightning 2.0.2",
                True,
                '`load_from_checkpoint` puts the model on the device it was saved from since 2.0.2: say map_location="cpu" to stay on the CPU',
            ),
            (
                "hparams_file",
                "Lightning 0.8",
                False,
                "`load_from_checkpoint(hparams_file=…)` took the place of tags_csv: nothing to do",
            ),
            (
                "strict",
                "Lightning 2.2",
                False,
                "`load_from_checkpoint(strict=…)` defaults to the module's strict_loading since 2.2: nothing to do",
            ),
        )
    ),
)


def _tune(name: str, **rest: Any) -> Entry:
    rest.setdefault("removed", "2.0")
    rest.setdefault(
        "lightning",
        custom(f"Tuner(trainer).lr_find(model, {name}=…)", "lightning.pytorch.tuner.Tuner.lr_find", name),
    )
    return _argument(
        "TRU520",
        "Trainer.tune",
        name,
        f"`trainer.tune({name}=…)` left in 2.0: Tuner(trainer).lr_find and .scale_batch_size take it",
        relight=NONE,
        behaviour=_GONE,
        how=UNSAFE,
        **rest,
    )


_TUNE = (
    *(
        _tune(name)
        for name in ("model", "train_dataloaders", "val_dataloaders", "dataloaders", "datamodule", "method")
    ),
    _tune(
        "train_dataloader",
        deprecated="1.4",
        removed="1.6",
        lightning=custom(
            "Tuner(trainer).lr_find(model, train_dataloaders=…)",
            "lightning.pytorch.tuner.Tuner.lr_find",
            "train_dataloaders",
        ),
    ),
    _tune(
        "lr_find_kwargs",
        lightning=custom("Tuner(trainer).lr_find(model, **kwargs)", "lightning.pytorch.tuner.Tuner.lr_find"),
    ),
    _tune(
        "scale_batch_size_kwargs",
        lightning=custom(
            "Tuner(trainer).scale_batch_size(model, **kwargs)",
            "lightning.pytorch.tuner.Tuner.scale_batch_size",
        ),
    ),
    *(
        _argument(
            "TRU521",
            f"Trainer.{method}",
            name,
            f"`trainer.{method}({name}=…)` left in 0.10: call Tuner(trainer).{method}(model, …), which takes it",
            removed="0.10",
            relight=NONE,
            lightning=custom(
                f"Tuner(trainer).{method}(model, {name}=…)", f"lightning.pytorch.tuner.Tuner.{method}", name
            ),
            behaviour=_GONE,
            how=UNSAFE,
        )
        for method, names in (
            (
                "lr_find",
                (
                    "model",
                    "val_dataloaders",
                    "min_lr",
                    "max_lr",
                    "num_training",
                    "mode",
                    "early_stop_threshold",
                ),
            ),
            (
                "scale_batch_size",
                ("model", "mode", "steps_per_trial", "init_val", "max_trials", "batch_arg_name"),
            ),
        )
        for name in names
    ),
    _argument(
        "TRU521",
        "Trainer.lr_find",
        "train_dataloader",
        "`trainer.lr_find(train_dataloader=…)` left in 0.10: call Tuner(trainer).lr_find(model, train_dataloaders=…)",
        removed="0.10",
        relight=NONE,
        lightning=custom(
            "Tuner(trainer).lr_find(model, train_dataloaders=…)",
            "lightning.pytorch.tuner.Tuner.lr_find",
            "train_dataloaders",
        ),
        behaviour=_GONE,
        how=UNSAFE,
    ),
    _argument(
        "TRU521",
        "Trainer.lr_find",
        "num_accumulation_steps",
        "`trainer.lr_find(num_accumulation_steps=…)` left in 0.9: say accumulate_grad_batches",
        deprecated="0.7.6",
        removed="0.9",
        relight=entry_point("fit", "accumulate_grad_batches"),
        lightning=custom("Trainer(accumulate_grad_batches=…)", "accumulate_grad_batches"),
        behaviour=_GONE,
        how=UNSAFE,
    ),
    _argument(
        "TRU522",
        "Tuner.lr_find",
        "update_attr",
        "`lr_find(update_attr=…)` defaults to True since 2.0 and overwrites the learning rate: say False to keep it",
        relight=NONE,
        lightning=value("update_attr", "update_attr=False"),
        source="default changed in Lightning 2.0",
        silent=True,
        how=MANUAL,
    ),
    _argument(
        "TRU523",
        "Tuner.scale_batch_size",
        "fit_kwargs",
        "`scale_batch_size(**fit_kwargs)` left in 1.3: name train_dataloaders, val_dataloaders or datamodule",
        removed="1.3",
        relight=NONE,
        lightning=custom("train_dataloaders=…"),
        behaviour=_UNEXPECTED,
        how=UNSAFE,
    ),
    *(
        _argument(
            "TRU523",
            f"Tuner.{method}",
            name,
            f"`Tuner.{method}` left in {gone}: {instead}",
            removed=gone,
            relight=NONE,
            behaviour=_GONE,
            how=MANUAL,
        )
        for method, gone, instead, names in (
            ("on_trainer_init", "2.0", "delete the call", ("auto_lr_find", "auto_scale_batch_size")),
            (
                "tune",
                "1.3",
                "call lr_find or scale_batch_size of the Tuner",
                ("model", "train_dataloader", "val_dataloaders", "datamodule"),
            ),
            ("internal_find_lr", "1.2", "call lr_find of the Tuner", ("trainer", "model")),
            (
                "setup_trainer",
                "1.3",
                "delete the call",
                ("model", "train_dataloader", "val_dataloaders", "datamodule"),
            ),
        )
        for name in names
    ),
    _argument(
        "TRU523",
        "Tuner.pick_multiple_gpus",
        "num_gpus",
        "`Tuner.pick_multiple_gpus` left in 1.3: call find_usable_cuda_devices(n)",
        removed="1.3",
        relight=expression(
            "find_usable_cuda_devices(n)", "lightning_fabric.accelerators.find_usable_cuda_devices"
        ),
        lightning=expression(
            "find_usable_cuda_devices(n)", "lightning.pytorch.accelerators.find_usable_cuda_devices"
        ),
        behaviour=_GONE,
        how=UNSAFE,
    ),
)

_METHODS = (
    *(
        _argument(
            "TRU530",
            f"Trainer.{method}",
            name,
            f"`Trainer.{method}` left in {gone}: {instead}",
            deprecated=warned,
            removed=gone,
            relight=custom(instead),
            behaviour=_GONE,
            how=UNSAFE,
        )
        for method, warned, gone, instead, names in (
            (
                "from_argparse_args",
                None,
                "2.0",
                "pass what you use by keyword, or use LightningCLI",
                ("args", "kwargs"),
            ),
            (
                "add_argparse_args",
                None,
                "2.0",
                "declare what you use with parser.add_argument, or use LightningCLI",
                ("parent_parser", "kwargs"),
            ),
            ("parse_argparser", None, "2.0", "call parser.parse_args()", ("arg_parser",)),
            ("match_env_arguments", None, "2.0", "read os.environ yourself", ("-",)),
            ("default_attributes", None, "2.0", "read inspect.signature(Trainer)", ("-",)),
            ("get_deprecated_arg_names", None, "1.8", "delete the call", ("-",)),
            ("get_init_arguments_and_types", None, "0.10", "read inspect.signature(Trainer)", ("-",)),
        )
        for name in names
    ),
    *(
        _argument(
            "TRU531",
            f"Trainer.{method}",
            "model",
            f"`trainer.{method}` left in {gone}: loaders are made when an entry point starts",
            deprecated=warned,
            removed=gone,
            relight=NONE,
            lightning=custom(f"trainer.{loop}.setup_data()"),
            behaviour=_GONE,
            how=UNSAFE,
        )
        for method, warned, gone, loop in (
            ("reset_train_dataloader", None, "2.0", "fit_loop"),
            ("reset_val_dataloader", None, "2.0", "validate_loop"),
            ("reset_test_dataloader", None, "2.0", "test_loop"),
            ("reset_predict_dataloader", None, "2.0", "predict_loop"),
            ("reset_train_val_dataloaders", "1.7", "1.9", "fit_loop"),
        )
    ),
    *(
        _argument(
            "TRU532",
            "Trainer.call_hook",
            name,
            "`trainer.call_hook` left in 1.8: on relight call_hook(trainer, obj.hook, …) is public; on Lightning call the hook yourself",
            deprecated="1.6",
            removed="1.8",
            relight=expression("call_hook(trainer, obj.hook, …)", "relight.call_hook"),
            lightning=NONE,
            behaviour=_GONE,
            how=MANUAL,
        )
        for name in ("hook_name", "args", "kwargs", "pl_module")
    ),
    _argument(
        "TRU533",
        "Trainer.run_stage",
        "-",
        "`trainer.run_stage` left in 1.8: call fit, validate, test or predict",
        deprecated="1.6",
        removed="1.8",
        relight=custom("trainer.fit(model)"),
        behaviour=_GONE,
        how=MANUAL,
    ),
    _argument(
        "TRU533",
        "Trainer.available_plugins",
        "-",
        "`Trainer.available_plugins` left in 1.2 without a twin: delete the call",
        removed="1.2",
        relight=drop(),
        behaviour=_GONE,
        how=MANUAL,
    ),
    _argument(
        "TRU534",
        "seed_everything",
        "seed",
        "`seed_everything()` without a number seeds with 0 since 2.2 (it was a random number): pass the seed",
        relight=value("seed", "seed_everything(seed)"),
        source="Lightning 2.2",
        silent=True,
        how=MANUAL,
    ),
)

ENTRIES: tuple[Entry, ...] = _RENAMED + _CHECKPOINTS + _TUNE + _METHODS
