"""resolve_import: what becomes of a path, and that resolving twice is resolving once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Applicability, Target, imports, resolve_import

RELIGHT, LIGHTNING = Target.RELIGHT, Target.LIGHTNING
PATHS = sorted({row.old for row in imports.rows()})
paths = st.sampled_from(PATHS)
targets = st.sampled_from(Target)


@pytest.mark.parametrize(
    ("old", "lightning", "relight"),
    [
        ("pytorch_lightning", "pytorch_lightning", "relight"),
        ("pytorch_lightning.Trainer", "pytorch_lightning.Trainer", "relight.Trainer"),
        ("pytorch_lightning.trainer.trainer.Trainer", "pytorch_lightning.trainer.trainer.Trainer", "relight.Trainer"),
        ("pytorch_lightning.core.lightning.LightningModule", "pytorch_lightning.LightningModule", "relight.LightningModule"),
        ("pytorch_lightning.callbacks.base.Callback", "pytorch_lightning.Callback", "relight.Callback"),
        ("pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint", "pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint", "relight.callbacks.ModelCheckpoint"),
        ("pytorch_lightning.utilities.distributed.rank_zero_only", "pytorch_lightning.utilities.rank_zero.rank_zero_only", "relight.utilities.rank_zero_only"),
        ("pytorch_lightning.utilities.seed.seed_everything", "pytorch_lightning.seed_everything", "relight.seed_everything"),
        ("pytorch_lightning.loggers.LightningLoggerBase", "pytorch_lightning.loggers.Logger", "relight.loggers.Logger"),
        ("pytorch_lightning.logging.TensorBoardLogger", "pytorch_lightning.loggers.TensorBoardLogger", "relight.loggers.TensorBoardLogger"),
        ("pytorch_lightning.profiler.SimpleProfiler", "pytorch_lightning.profilers.SimpleProfiler", "relight.profilers.SimpleProfiler"),
        ("pytorch_lightning.plugins.DDPPlugin", "pytorch_lightning.strategies.DDPStrategy", "lightning_fabric.strategies.DDPStrategy"),
        ("pytorch_lightning.plugins.environments.SLURMEnvironment", "pytorch_lightning.plugins.environments.SLURMEnvironment", "lightning_fabric.plugins.environments.SLURMEnvironment"),
        ("pytorch_lightning.metrics.Accuracy", "torchmetrics.Accuracy", "torchmetrics.Accuracy"),
        ("pytorch_lightning.metrics", "torchmetrics", "torchmetrics"),
        ("pytorch_lightning.utilities.apply_func.apply_to_collection", "lightning_utilities.core.apply_func.apply_to_collection", "lightning_utilities.core.apply_func.apply_to_collection"),
        ("pytorch_lightning.callbacks.ProgressBar", "pytorch_lightning.callbacks.TQDMProgressBar", "relight.callbacks.TQDMProgressBar"),
        ("pytorch_lightning.utilities.types._PATH", "lightning_fabric.utilities.types._PATH", "lightning_fabric.utilities.types._PATH"),
        ("pytorch_lightning.loggers.TestTubeLogger", None, None),
        ("pytorch_lightning.utilities.types.EPOCH_OUTPUT", None, None),
        ("pytorch_lightning.loggers.WandbLogger", "pytorch_lightning.loggers.WandbLogger", "relight.loggers.WandbLogger"),
        ("pytorch_lightning.loggers.NeptuneLogger", None, "relight.loggers.NeptuneLogger"),
        ("lightning.pytorch.callbacks.Timer", "pytorch_lightning.callbacks.Timer", "relight.callbacks.Timer"),
        ("lightning.Trainer", "pytorch_lightning.Trainer", "relight.Trainer"),
        ("lightning.fabric.Fabric", "lightning_fabric.Fabric", "lightning_fabric.Fabric"),
        ("lightning.Fabric", "lightning_fabric.Fabric", "lightning_fabric.Fabric"),
        ("lightning_lite.LightningLite", "lightning_fabric.Fabric", "lightning_fabric.Fabric"),
        ("lightning.lite.LightningLite", "lightning_fabric.Fabric", "lightning_fabric.Fabric"),
        ("pytorch_lightning.Trainer.add_argparse_args", "pytorch_lightning.Trainer.add_argparse_args", "relight.Trainer.add_argparse_args"),
    ],
)  # fmt: skip
def test_where_it_leads(old: str, lightning: str | None, relight: str | None) -> None:
    for target, new in ((LIGHTNING, lightning), (RELIGHT, relight)):
        fact = resolve_import(old, target)
        assert fact is not None
        assert fact.new == new
        assert (fact.applicability is Applicability.MANUAL) == (new is None)


@pytest.mark.parametrize(
    "path",
    [
        "torch.nn.Module",
        "transformers.Trainer",
        "pytorch_lightning_extra.Trainer",
        "pytorch_lightning.callbacks.NoSuchCallback",
        "pytorch_lightning.no_such_module.Thing",
        "lightning.app.LightningApp",
        "lightning.LightningFlow",
        "",
    ],
)
@pytest.mark.parametrize("target", Target)
def test_not_ours(path: str, target: Target) -> None:
    assert resolve_import(path, target) is None


@pytest.mark.parametrize("target", Target)
def test_resolving_twice_is_resolving_once(target: Target) -> None:
    for path in PATHS:
        fact = resolve_import(path, target)
        assert fact is not None, path
        if fact.new is None:
            assert fact.applicability is Applicability.MANUAL, path
            assert fact.code, path
            assert fact.advice, path
            continue
        again = resolve_import(fact.new, LIGHTNING)
        if fact.new.startswith(("pytorch_lightning", "lightning_fabric")):
            assert again is not None, path
            assert (again.status, again.new, again.code) == ("kept", fact.new, ""), path
        else:
            assert again is None, path  # another distribution


@given(path=paths)
@settings(max_examples=400, deadline=None)
def test_kept_paths_stay_on_lightning_and_changed_ones_have_a_code(path: str) -> None:
    fact = resolve_import(path, LIGHTNING)
    assert fact is not None
    if fact.status == "kept":
        assert (fact.new, fact.code, fact.advice) == (path, "", "")
    else:
        assert fact.code.startswith("TRU3")
        assert fact.advice
        assert fact.new != path


@given(path=paths)
@settings(max_examples=400, deadline=None)
def test_relight_never_sends_back_to_lightning(path: str) -> None:
    fact = resolve_import(path, RELIGHT)
    assert fact is not None
    assert fact.code or fact.status == "kept"
    if fact.new is not None:
        assert fact.new.split(".")[0] not in ("pytorch_lightning", "lightning")


@given(path=paths, target=targets, member=st.sampled_from(["__name__", "from_argparse_args", "SUM.value"]))
@settings(max_examples=200, deadline=None)
def test_members_follow_their_object(path: str, target: Target, member: str) -> None:
    owner = resolve_import(path, target)
    assert owner is not None
    if path in imports.modules():
        return
    fact = resolve_import(f"{path}.{member}", target)
    assert fact is not None
    assert fact.new == (f"{owner.new}.{member}" if owner.new else None)
    assert fact.code == owner.code


@given(path=paths, target=targets)
@settings(max_examples=200, deadline=None)
def test_roots_are_the_same(path: str, target: Target) -> None:
    rest = path.partition(".")[2]
    other = f"lightning.pytorch.{rest}" if rest else "lightning.pytorch"
    assert resolve_import(other, target) == resolve_import(path, target)


def test_what_public_projects_import_is_known(facts) -> None:
    """Every missing name that 174 projects import is either known or one of the app's."""
    unknown = []
    checked = 0
    for row in facts("frequencies"):
        if row["category"] not in ("import_missing_in_2.6.6", "attr_chain_missing_in_2.6.6"):
            continue
        path = row["feature"]
        checked += 1
        if resolve_import(path, LIGHTNING) is None:
            unknown.append(path)
    assert checked > 150
    # The app framework, which is another library.
    allowed = ("LightningApp", "LightningFlow", "LightningWork", "CloudCompute")
    assert [path for path in unknown if not path.endswith(allowed)] == []


def test_names_of_a_module() -> None:
    assert "rank_zero_only" in imports.names("pytorch_lightning.utilities.distributed")
    assert imports.names("pytorch_lightning.no_such") == frozenset()
    assert "pytorch_lightning.utilities.distributed" in imports.modules()


def test_entries_of_imports_agree_with_resolving() -> None:
    entry = catalogue.find(catalogue.Area.IMPORT, "pytorch_lightning.plugins", "DDPPlugin")
    assert entry is not None
    assert entry.lightning.name == "lightning.pytorch.strategies.DDPStrategy"
    assert entry.relight.name == "lightning_fabric.strategies.DDPStrategy"
