from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator

import pytest

import relight
import relight.compat as pl
from relight.compat import _notices


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    _notices.forget()
    yield
    pl.uninstall()


def test_importing_compat_takes_over_no_other_root() -> None:
    assert not pl.installed()
    code = "import relight.compat, sys; sys.exit('pytorch_lightning' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.filterwarnings("error")
def test_names_that_were_never_moved_are_served_without_a_word() -> None:
    assert pl.Trainer is importlib.import_module("relight.compat.trainer.trainer").Trainer
    assert (
        pl.callbacks.ModelCheckpoint
        is importlib.import_module("relight.compat.callbacks.model_checkpoint").ModelCheckpoint
    )
    assert issubclass(pl.Trainer, relight.Trainer)
    assert issubclass(pl.LightningModule, relight.LightningModule)
    assert issubclass(pl.callbacks.EarlyStopping, relight.callbacks.EarlyStopping)
    assert pl.utilities.rank_zero_only is relight.utilities.rank_zero_only


def test_install_serves_the_same_objects_under_the_old_roots() -> None:
    with pl.install():
        import lightning
        import lightning.pytorch as modern
        import pytorch_lightning as legacy
        from pytorch_lightning.callbacks import ModelCheckpoint
        from pytorch_lightning.callbacks.model_checkpoint import ModelCheckpoint as Same

        assert legacy is pl
        assert modern is pl
        assert lightning.Trainer is pl.Trainer
        assert ModelCheckpoint is Same is pl.callbacks.ModelCheckpoint
    assert "pytorch_lightning" not in sys.modules


def test_install_wins_over_a_package_of_that_name_and_gives_it_back(tmp_path, monkeypatch) -> None:
    (tmp_path / "pytorch_lightning").mkdir()
    (tmp_path / "pytorch_lightning" / "__init__.py").write_text("real = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    real = importlib.import_module("pytorch_lightning")
    assert real.real
    with pl.install():
        assert importlib.import_module("pytorch_lightning") is pl
        assert importlib.import_module("pytorch_lightning.callbacks") is pl.callbacks
    assert importlib.import_module("pytorch_lightning") is real


def test_a_moved_name_warns_at_the_line_that_imports_it() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from relight.compat.utilities.distributed import rank_zero_only  # noqa: F401
    (warning,) = [each for each in caught if each.category is pl.LegacyWarning]
    assert warning.filename == __file__
    assert str(warning.message).startswith("TRU3")
    assert "rank_zero_only" in str(warning.message)


def test_metrics_lead_to_torchmetrics() -> None:
    import torchmetrics

    with pytest.warns(pl.LegacyWarning, match="torchmetrics"):
        from relight.compat.metrics import MeanSquaredError, Metric
    assert Metric is torchmetrics.Metric
    assert MeanSquaredError is torchmetrics.MeanSquaredError


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("from pytorch_lightning.plugins import Plugin", "TRU3"),
        ("from pytorch_lightning import Nope", "no release from 0.7 to 2.6"),
    ],
)
def test_a_name_without_a_twin_says_what_became_of_it(statement: str, text: str) -> None:
    with pl.install(), pytest.raises(ImportError, match=text):
        exec(statement)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("loggers.LitLogger", "TRU333"),
        ("callbacks.QuantizationAwareTraining", "torch.ao.quantization"),
        ("strategies.DataParallelStrategy", "ddp"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_1_9_has_and_relight_lacks_can_be_imported_but_not_used(name: str, text: str) -> None:
    """One import at the top of a file would keep a project from running that never uses it."""
    module, _, attribute = name.rpartition(".")
    with pl.install():
        absent = getattr(importlib.import_module(f"pytorch_lightning.{module}"), attribute)
        assert getattr(importlib.import_module(f"pytorch_lightning.{module}"), attribute) is absent

        class Mine(absent, pl.Callback):  # type: ignore[misc, valid-type]
            pass

    assert not isinstance(pl.callbacks.Timer(duration="00:00:00:01"), absent)
    for cls in (absent, Mine):
        with pytest.raises(NotImplementedError, match=text):
            cls("anything")


def test_hasattr_says_no() -> None:
    assert not hasattr(pl.core, "step_outcome")
    assert not hasattr(pl.callbacks, "Nope")
    assert getattr(pl.plugins, "Plugin", None) is None


def test_a_module_that_no_release_had_does_not_exist() -> None:
    with pl.install(), pytest.raises(ModuleNotFoundError):
        importlib.import_module("pytorch_lightning.nope")


def test_star_import_gives_the_public_names() -> None:
    space: dict[str, object] = {}
    with pl.install():
        exec("from pytorch_lightning.callbacks import *", space)
    assert {"Callback", "EarlyStopping", "ModelCheckpoint", "LearningRateMonitor"} <= set(space)


def test_flags_about_installed_packages() -> None:
    with pytest.warns(pl.LegacyWarning):
        from relight.compat.utilities.imports import _HOROVOD_AVAILABLE, _TORCH_GREATER_EQUAL_1_10
    assert _TORCH_GREATER_EQUAL_1_10 is True
    assert _HOROVOD_AVAILABLE is False


def test_core_callbacks_count_as_legacy_callbacks() -> None:
    assert isinstance(relight.callbacks.ModelSummary(), pl.Callback)
    assert issubclass(relight.callbacks.Timer, pl.Callback)

    class Mine(pl.Callback):
        pass

    assert isinstance(Mine(), relight.Callback)
    assert not isinstance(relight.callbacks.ModelSummary(), Mine)


def test_every_module_of_every_release_can_be_imported() -> None:
    from trainer_upgrade.catalogue import imports

    with pl.install(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in imports.modules():
            if path == "pytorch_lightning.__version__":
                continue  # it would hide the package's attribute
            module = importlib.import_module(path)
            assert module.__name__ == "relight.compat" + path.removeprefix("pytorch_lightning"), path


def _import_error(statement: str, space: dict[str, object]) -> str | None:
    try:
        exec(statement, space)
    except ImportError as error:
        return str(error)
    return None


def test_every_name_leads_somewhere_or_says_why_not() -> None:
    """Each public name of each release: an object, or an error with a code."""
    from trainer_upgrade.catalogue import imports

    served = told = 0
    with pl.install(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in imports.modules():
            if module == "pytorch_lightning.__version__":
                continue
            for name in sorted(imports.names(module)):
                space: dict[str, object] = {}
                error = _import_error(f"from {module} import {name}", space)
                if error is None:
                    assert name in space
                    served += 1
                else:
                    assert "TRU3" in error, (module, name, error)
                    told += 1
    assert served > 700
    assert told > 250


def test_mode_error_raises_and_mode_ignore_is_silent() -> None:
    script = textwrap.dedent("""
        import relight.compat
        from relight.compat.utilities.distributed import rank_zero_only
        print("went on")
    """)

    def run(mode: str) -> subprocess.CompletedProcess[str]:
        import os

        environment = {**os.environ, "RELIGHT_COMPAT": mode}
        return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)

    assert "LegacyWarning: TRU3" in run("error").stderr
    assert run("error").returncode == 1
    assert run("ignore").stdout == "went on\n"
    assert "LegacyWarning" not in run("ignore").stderr
    assert "LegacyWarning: TRU3" in run("warn").stderr
    assert "RELIGHT_COMPAT" in run("loud").stderr
