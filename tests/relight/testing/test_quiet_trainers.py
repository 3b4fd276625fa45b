"""Quiet Trainers, and the pytest plugin that makes them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import relight
from relight.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint, Timer
from relight.loggers import CSVLogger, DummyLogger
from relight.testing import QuietTrainers
from relight.utilities.exceptions import MisconfigurationException

pytest_plugins = ["pytester"]


class Net(relight.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        import torch

        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        self.logger.experiment.add_anything(1)
        loss = self.layer(batch).square().mean()
        self.log("loss", loss)
        return loss

    def train_dataloader(self) -> Any:
        import torch

        return torch.ones(2, 3, 2)

    def configure_optimizers(self) -> Any:
        import torch

        return torch.optim.SGD(self.parameters(), 0.1)

    def configure_callbacks(self) -> Any:
        return [ModelCheckpoint(filename="mine"), Timer(duration="00:00:05:00")]


def kinds(trainer: relight.Trainer) -> list[str]:
    return [type(callback).__name__ for callback in trainer.callbacks]


def test_nothing_is_written_or_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {name: getattr(relight.Trainer, name) for name in ("__init__", "fit")}
    with QuietTrainers(root=tmp_path / "root") as quiet:
        trainer = relight.Trainer(
            accelerator="cpu",
            max_epochs=1,
            logger=CSVLogger(tmp_path / "csv"),
            callbacks=[EarlyStopping("loss")],
        )
        assert type(trainer.logger) is DummyLogger
        assert trainer.default_root_dir == str(tmp_path / "root")
        trainer.fit(Net())
    assert kinds(trainer) == ["EarlyStopping", "Timer"]
    assert quiet.trainers == [trainer]
    assert dict(quiet.left_out) == {"TQDMProgressBar": 1, "ModelCheckpoint": 2}
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""
    assert {name: getattr(relight.Trainer, name) for name in before} == before
    assert "ModelCheckpoint" in kinds(relight.Trainer(logger=False))


def test_callbacks_are_left_out_by_class_name_and_registered_name(tmp_path: Path) -> None:
    class MyStopping(EarlyStopping):
        pass

    given = [MyStopping("loss"), LearningRateMonitor(), Timer(duration="00:00:05:00")]
    for unwanted, left in (
        ((EarlyStopping,), ["LearningRateMonitor", "Timer"]),
        (("EarlyStopping",), ["LearningRateMonitor", "Timer"]),
        (("MyStopping", "Timer"), ["LearningRateMonitor"]),
        (("early_stopping",), ["LearningRateMonitor", "Timer"]),
        (("Callback",), []),
    ):  # fmt: skip
        with QuietTrainers(root=tmp_path, leave_out=unwanted):
            assert kinds(relight.Trainer(callbacks=given)) == left


def test_a_trainer_that_is_there_does_without_from_its_next_run_on(tmp_path: Path) -> None:
    with QuietTrainers(root=tmp_path) as quiet:
        trainer = relight.Trainer(accelerator="cpu", max_epochs=1, callbacks=[EarlyStopping("loss")])
        quiet.leave_out("EarlyStopping", "Timer")
        trainer.fit(Net())
    assert kinds(trainer) == []


def test_parts_can_be_kept(tmp_path: Path) -> None:
    with QuietTrainers(root=tmp_path, keep=["checkpoints", "loggers"]):
        trainer = relight.Trainer(logger=CSVLogger(tmp_path))
    assert kinds(trainer) == ["ModelCheckpoint"]
    assert type(trainer.logger) is CSVLogger
    with pytest.raises(ValueError, match=r"nothing called \['logger'\] to keep"):
        QuietTrainers(keep=["logger"])


def test_what_is_off_stays_off_and_mistakes_are_told(tmp_path: Path) -> None:
    with QuietTrainers(root=tmp_path):
        assert relight.Trainer(logger=False).loggers == []
        assert relight.Trainer(default_root_dir="mine").default_root_dir == "mine"
        with pytest.raises(MisconfigurationException, match="which one"):
            relight.Trainer(enable_checkpointing=False, callbacks=[ModelCheckpoint()])
        with pytest.raises(TypeError, match="max_epochs"):
            relight.Trainer(max_epoch=1)  # type: ignore[call-arg]


@pytest.mark.filterwarnings("ignore::relight.compat.LegacyWarning")
def test_trainers_of_compat_are_quiet_too(tmp_path: Path) -> None:
    import relight.compat as pl

    with QuietTrainers(root=tmp_path) as quiet:
        trainer = pl.Trainer(gpus=0, checkpoint_callback=True, progress_bar_refresh_rate=5)
    assert not any("Checkpoint" in kind or "Bar" in kind for kind in kinds(trainer))
    assert trainer.default_root_dir == str(tmp_path)
    assert quiet.trainers == [trainer]


def test_the_command_line_is_quiet_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jsonargparse")
    from relight.cli import LightningCLI

    monkeypatch.setattr(sys, "argv", ["main.py"])
    with QuietTrainers(root=tmp_path):
        cli = LightningCLI(Net, args=["fit", "--trainer.accelerator=cpu", "--trainer.max_epochs=1"])
    assert cli.trainer.global_step == 2
    assert list(tmp_path.iterdir()) == []


# The plugin

SUITE = """
    import relight
    from relight.callbacks import EarlyStopping

    def kinds():
        trainer = relight.Trainer(callbacks=[EarlyStopping("loss")])
        return [type(callback).__name__ for callback in trainer.callbacks], trainer
"""
PLAIN = """
    from helper import kinds

    def test_plain():
        names, trainer = kinds()
        assert names == {names}
"""


def suite(pytester: pytest.Pytester, *tests: str) -> None:
    pytester.makepyfile(helper=SUITE)
    pytester.makepyfile(*tests)


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "pytest_relight", "-p", "no:randomly", *args)


def test_it_is_declared() -> None:
    project = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    # Named as the module, so that `-p pytest_relight` is the same plugin.
    assert '[project.entry-points.pytest11]\npytest_relight = "pytest_relight"\n' in project
    (packages,) = re.findall(r"^packages = (.*)$", project, re.MULTILINE)
    assert '"src/pytest_relight"' in packages


def test_the_fixture(pytester: pytest.Pytester) -> None:
    suite(
        pytester,
        """
        from helper import kinds

        def test_quiet(quiet_trainers, tmp_path):
            names, trainer = kinds()
            assert names == ["EarlyStopping"]
            assert trainer.default_root_dir == str(tmp_path)
            quiet_trainers.leave_out("EarlyStopping")
            assert kinds()[0] == []

        def test_plain():
            assert "ModelCheckpoint" in kinds()[0]
        """,
    )
    run(pytester).assert_outcomes(passed=2)


@pytest.mark.parametrize("how", ["option", "ini"])
def test_everywhere(how: str, pytester: pytest.Pytester) -> None:
    suite(pytester, PLAIN.format(names=["EarlyStopping"]))
    if how == "ini":
        pytester.makeini("[pytest]\nquiet_trainers = true\n")
    run(pytester, *(["--quiet-trainers"] if how == "option" else [])).assert_outcomes(passed=1)


@pytest.mark.parametrize("how", ["option", "ini"])
def test_callbacks_left_out_everywhere(how: str, pytester: pytest.Pytester) -> None:
    suite(pytester, PLAIN.format(names=[]))
    if how == "ini":
        pytester.makeini(
            "[pytest]\nquiet_trainers = true\nleave_out_callbacks =\n    Timer\n    EarlyStopping\n"
        )
        run(pytester).assert_outcomes(passed=1)
    else:
        run(pytester, "--quiet-trainers", "--leave-out-callback=EarlyStopping").assert_outcomes(passed=1)


def test_marks(pytester: pytest.Pytester) -> None:
    suite(
        pytester,
        """
        import pytest
        from helper import kinds

        @pytest.mark.quiet_trainers(leave_out=["EarlyStopping"], keep=["checkpoints"])
        def test_marked():
            assert kinds()[0] == ["ModelCheckpoint"]

        @pytest.mark.quiet_trainers
        class TestAll:
            def test_marked(self):
                assert kinds()[0] == ["EarlyStopping"]

            @pytest.mark.quiet_trainers(keep=["nothing"])
            def test_wrong(self):
                pass
        """,
    )
    result = run(pytester, "--strict-markers")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*ValueError: There is nothing called*'nothing'*"])


LEGACY = """
    import warnings
    import relight.compat as pl

    def test_one():
        pl.Trainer(gpus=0, logger=False, progress_bar_refresh_rate=0)

    def test_two():
        pl.Trainer(gpus=0, logger=False, progress_bar_refresh_rate=0)
        warnings.warn("another", UserWarning)
"""


def legacy(pytester: pytest.Pytester, *args: str) -> str:
    from relight.compat import _notices

    _notices.forget()
    pytester.makepyfile(test_legacy=LEGACY)
    result = run(pytester, *args)
    result.assert_outcomes(passed=2, warnings=None)
    return result.stdout.str()


def test_legacy_uses_are_listed_by_code_and_place(pytester: pytest.Pytester) -> None:
    shown = legacy(pytester)
    start = shown.index("= legacy API: ")
    lines = [line for line in shown[start:].splitlines()[1:] if line]
    codes = [line.partition(" ")[0] for line in lines if re.match(r"TRU\d{3} ", line)]
    assert codes == sorted(codes)
    assert {"TRU101", "TRU119"} <= set(codes)
    places = lines[lines.index(next(line for line in lines if line.startswith("TRU101"))) + 1 :][:2]
    assert places == ["    test_legacy.py:5", "    test_legacy.py:8"]
    assert "another" not in shown[start:]
    assert re.search(rf"legacy API: {len(codes)} codes at 2 places", shown)
    assert lines[-2].startswith("`trainer-upgrade .` rewrites them")


def test_different_uses_of_a_code_at_one_place_are_all_listed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_two="""
        import warnings
        from relight.compat import LegacyWarning

        def test_two():
            for text in ("TRU600 b", "TRU600 a", "TRU601 c", "TRU601 c"):
                warnings.warn(text, LegacyWarning)
        """
    )
    shown = run(pytester).stdout.str()
    start = shown.index("legacy API: 2 codes at 1 place ")
    lines = shown[start:].splitlines()[1:6]
    assert lines == [
        "TRU600",
        "    test_two.py:6  a",
        "    test_two.py:6  b",
        "TRU601 c",
        "    test_two.py:6",
    ]


@pytest.mark.parametrize("how", ["option", "ini"])
def test_the_list_can_be_turned_off(how: str, pytester: pytest.Pytester) -> None:
    if how == "ini":
        pytester.makeini("[pytest]\nlegacy_summary = false\n")
    assert "legacy API:" not in legacy(pytester, *(["--no-legacy-summary"] if how == "option" else []))


def test_nothing_is_listed_where_nothing_is_legacy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing():\n    pass\n")
    assert "legacy API" not in run(pytester).stdout.str()


def test_it_imports_nothing_until_it_is_asked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            assert "pytest_relight" in sys.modules
            assert not {"torch", "relight", "trainer_upgrade", "lightning_fabric"} & set(sys.modules)
        """
    )
    source = str(Path(relight.__file__).parents[1])
    pytester.makeini(f"[pytest]\npythonpath = {source}\n")
    result = pytester.runpytest_subprocess("-p", "pytest_relight")
    result.assert_outcomes(passed=1)
