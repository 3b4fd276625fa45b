"""Where a legacy use is reported, how loud, and what the log and the summary say of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

import relight.compat as pl
from relight.compat import _notices


@pytest.fixture(autouse=True)
def _unseen() -> None:
    _notices.forget()


def run(script: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "relight.compat", str(script)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, cwd=script.parent, env=env, capture_output=True, text=True)


def test_summary_says_nothing_until_the_end_and_then_lists_all_uses_by_file(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "import pytorch_lightning as pl\n\n\ndef build(**more):\n"
        "    return pl.Trainer(gpus=0, weights_summary=None, logger=False, **more)\n"
    )
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent("""
        import os, sys
        from pytorch_lightning.utilities.distributed import rank_zero_only
        import helper
        trainer = helper.build(checkpoint_callback=False)
        print(trainer.running_sanity_check)
        os.chdir("/")
        print("done", file=sys.stderr)
    """)
    )
    log = tmp_path / "uses.jsonl"
    done = run(script, RELIGHT_COMPAT="summary", RELIGHT_COMPAT_LOG="uses.jsonl")
    assert done.returncode == 0, done.stderr
    before, found, after = done.stderr.partition("done\n")
    assert found
    assert "TRU" not in before
    lines = after.splitlines()
    assert lines[0] == "relight.compat: 5 legacy uses in 2 files"
    assert lines[1] == f"{tmp_path / 'helper.py'}: 3"
    assert lines[2].startswith("  5: TRU101 ")
    assert lines[5] == f"{script}: 2"
    assert [line.split(":")[0].strip() for line in lines[6:8]] == ["3", "6"]

    uses = [json.loads(line) for line in log.read_text().splitlines()]
    by_item = {use["item"]: use for use in uses}
    assert len(uses) == 5
    assert by_item["Trainer.gpus"]["file"] == str(tmp_path / "helper.py")
    assert by_item["Trainer.gpus"]["types"] == {"gpus": "int"}
    assert by_item["Trainer.weights_summary"]["types"] == {"weights_summary": "NoneType"}
    assert by_item["Trainer.running_sanity_check"]["line"] == 6


def test_children_of_the_process_print_no_summary(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent("""
        import multiprocessing as mp
        import pytorch_lightning as pl

        def child():
            pl.Trainer(gpus=0, logger=False, enable_checkpointing=False)

        if __name__ == "__main__":
            pl.Trainer(gpus=0, logger=False, enable_checkpointing=False)
            process = mp.get_context("fork").Process(target=child)
            process.start()
            process.join()
    """)
    )
    done = run(script, RELIGHT_COMPAT="summary")
    assert done.stderr.count("relight.compat:") == 1


def test_the_place_is_the_users_line_behind_wrappers_of_the_standard_library_and_of_command_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site-packages"
    for name in ("hydra", "zoo"):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").write_text("def instantiate(cls, **kw):\n    return cls(**kw)\n")
    monkeypatch.syspath_prepend(str(packages))
    import functools

    import hydra  # type: ignore[import-not-found]
    import zoo  # type: ignore[import-not-found]

    quiet = {"logger": False, "enable_checkpointing": False}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hydra.instantiate(pl.Trainer, gpus=0, **quiet)
        functools.partial(pl.Trainer, gpus=0)(**quiet)
        zoo.instantiate(pl.Trainer, gpus=0, **quiet)
    places = [(Path(each.filename).parent.name, each.lineno) for each in caught]
    here = Path(__file__).parent.name
    line = places[0][1]
    assert places == [(here, line), (here, line + 1), ("zoo", 2)]


def test_a_wrapped_hook_is_reported_where_it_is_defined() -> None:
    import functools

    def decorated(function):  # type: ignore[no-untyped-def]
        @functools.wraps(function)
        def wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]
            return function(*args, **kwargs)

        return wrapper

    class Net:
        @decorated
        def validation_epoch_end(self, outputs: list[float]) -> None: ...

    file, line = _notices.place_of(Net().validation_epoch_end)
    assert file == __file__
    assert "@decorated" in Path(file).read_text().splitlines()[line - 1]


def test_both_names_of_the_warning_select_it() -> None:
    assert pl.LegacyAPIWarning is pl.LegacyWarning
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.LegacyAPIWarning)
        with pytest.raises(pl.LegacyWarning, match="TRU101"):
            pl.Trainer(gpus=0, logger=False)


def test_an_unknown_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELIGHT_COMPAT", "loud")
    with pytest.raises(ValueError, match="warn, error, ignore, summary"):
        pl.Trainer(gpus=0)
