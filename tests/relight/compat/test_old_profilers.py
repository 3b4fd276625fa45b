"""Profilers with the arguments that they took in 1.x."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import relight.compat as pl
from relight import profilers
from relight.compat import _notices


@pytest.fixture(autouse=True)
def forget() -> None:
    _notices.forget()


def old(path: str) -> Any:
    module, _, name = path.rpartition(".")
    with pl.install():
        return getattr(importlib.import_module(f"pytorch_lightning.{module}"), name)


@pytest.mark.filterwarnings("ignore::relight.compat.LegacyWarning")
@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("profiler", ["SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler"]),
        ("profilers", ["SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler"]),
        ("profiler.profilers", ["SimpleProfiler", "AdvancedProfiler"]),
        ("profiler.pytorch", ["PyTorchProfiler"]),
    ],
)
def test_they_are_served_at_their_old_paths(module: str, names: list[str]) -> None:
    for name in names:
        assert issubclass(old(f"{module}.{name}"), getattr(profilers, name))


@pytest.mark.parametrize("name", ["SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler"])
@pytest.mark.parametrize("by_position", [True, False])
def test_output_filename(name: str, by_position: bool, tmp_path: Path) -> None:
    path = str(tmp_path / "perf.txt")
    cls = getattr(pl.profilers, name)
    with pytest.warns(pl.LegacyWarning, match="^TRU629"):
        profiler = cls(path) if by_position else cls(output_filename=path)
    assert (profiler.dirpath, profiler.filename) == (str(tmp_path), "perf")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    directory = tmp_path / "v1.0"
    directory.mkdir()
    assert pl.profilers.SimpleProfiler(directory).dirpath == directory


def test_torch_arguments_of_1_2(tmp_path: Path) -> None:
    with pytest.warns(pl.LegacyWarning, match="^TRU63") as told:
        profiler = pl.profilers.PyTorchProfiler(
            record_functions={"a"}, local_rank=0, use_cuda=False, path_to_export_trace=str(tmp_path)
        )
    assert len(told) == 4
    assert profiler.dirpath == str(tmp_path)
    assert [activity.name for activity in profiler._settings["activities"]] == ["CPU"]
