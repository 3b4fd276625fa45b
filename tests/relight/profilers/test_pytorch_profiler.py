"""torch's profiler over the steps of a run."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerAction, ProfilerActivity
from torch.utils.data import DataLoader, TensorDataset

import relight
from relight.profilers import AdvancedProfiler, PyTorchProfiler, SimpleProfiler
from relight.profilers.pytorch import RegisterRecordFunction
from relight.utilities.exceptions import MisconfigurationException

pytestmark = pytest.mark.filterwarnings("ignore:There is a `validation_step`")


class Net(relight.LightningModule):
    """Says in each step what it is; twice as many operations in training."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.steps: list[str] = []

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        with torch.profiler.record_function(f"train-{self.current_epoch}-{batch_idx}"):
            return self.layer(batch[0]).square().mean()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        with torch.profiler.record_function(f"val-{self.current_epoch}-{batch_idx}"):
            self.layer(batch[0])

    def test_step(self, batch: Any, batch_idx: int) -> None:
        with torch.profiler.record_function(f"test-{batch_idx}"):
            self.layer(batch[0])

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        with torch.profiler.record_function(f"predict-{batch_idx}"):
            return self.layer(batch[0])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 0.1)


def loader(batches: int) -> Any:
    return DataLoader(TensorDataset(torch.ones(batches, 2)))


def trainer(profiler: Any, directory: Path, **arguments: Any) -> relight.Trainer:
    return relight.Trainer(
        accelerator="cpu", profiler=profiler, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, default_root_dir=directory, **{"max_epochs": 1, **arguments},
    )  # fmt: skip


def traces(directory: Path) -> dict[str, list[dict[str, Any]]]:
    """Events of the trace files, by the beginning of their names."""
    found = {}
    for path in sorted(directory.glob("*.pt.trace.json")):
        name = path.name.split(".pt.trace")[0].rpartition(".")[0]
        assert name not in found
        found[name] = json.loads(path.read_text())["traceEvents"]
    return found


def steps_in(events: list[dict[str, Any]]) -> list[str]:
    own = ("train-", "val-", "test-", "predict-")
    found = [
        e for e in events if str(e.get("name", "")).startswith(own) and e.get("cat") == "user_annotation"
    ]
    return [e["name"] for e in sorted(found, key=lambda e: e["ts"])]


def test_three_steps_of_each_kind_are_recorded(tmp_path: Path) -> None:
    profiler = PyTorchProfiler(dirpath=tmp_path, filename="perf")
    run = trainer(profiler, tmp_path)
    module = Net()
    run.fit(module, loader(7), loader(6))
    run.test(module, loader(6))
    run.predict(module, loader(6))
    found = traces(tmp_path)
    names = ["[LightningModule]Net.predict_step", "[LightningModule]Net.test_step"]
    assert sorted(found) == sorted(
        [f"predict-perf-{names[0]}", f"test-perf-{names[1]}"]
        + [f"fit-perf-[LightningModule]Net.{kind}_step" for kind in ("training", "validation")]
    )  # fmt: skip
    by_kind = {name.rpartition(".")[2]: steps_in(events) for name, events in found.items()}
    assert by_kind == {
        "training_step": ["train-0-2", "train-0-3", "train-0-4"],
        "validation_step": ["val-0-2", "val-0-3", "val-0-4"],
        "test_step": ["test-2", "test-3", "test-4"],
        "predict_step": ["predict-2", "predict-3", "predict-4"],
    }
    report = (tmp_path / "fit-perf.txt").read_text()
    assert report.index("Profile stats for: training_step") < report.index(
        "Profile stats for: validation_step"
    )
    assert "FIT Profiler Report" in report
    assert sorted(path.name for path in tmp_path.glob("*.txt")) == [
        "fit-perf.txt", "predict-perf.txt", "test-perf.txt",
    ]  # fmt: skip


def test_a_training_step_has_its_backward_and_its_optimizer_step(tmp_path: Path) -> None:
    trainer(PyTorchProfiler(dirpath=tmp_path), tmp_path).fit(Net(), loader(7))
    (events,) = traces(tmp_path).values()
    names = [event.get("name", "") for event in events]
    assert sum(name.startswith("Optimizer.step#SGD") for name in names) == 3
    backwards = [event for event in events if event.get("name") == "AddmmBackward0"]
    assert len({event["ts"] for event in backwards}) == 3
    assert "[pl][module]torch.nn.modules.linear.Linear: layer" in names
    assert "[pl][profile][LightningModule]Net.training_step" in names


def test_few_steps_are_all_recorded(tmp_path: Path) -> None:
    profiler = PyTorchProfiler(dirpath=tmp_path)
    trainer(profiler, tmp_path, max_epochs=3).fit(Net(), loader(2), loader(3))
    by_kind = {name.rpartition(".")[2]: steps_in(events) for name, events in traces(tmp_path).items()}
    assert by_kind == {
        "training_step": ["train-0-0", "train-0-1"],
        "validation_step": ["val-0-0", "val-0-1", "val-0-2"],
    }


@pytest.mark.parametrize("fn", ["fit", "validate", "test", "predict"])
@pytest.mark.parametrize("batches", [1, 2, 4, 5])
def test_fast_dev_run(fn: str, batches: int, tmp_path: Path) -> None:
    profiler = PyTorchProfiler(dirpath=tmp_path)
    getattr(trainer(profiler, tmp_path, fast_dev_run=batches), fn)(Net(), loader(9))
    (events,) = traces(tmp_path).values()
    assert len(steps_in(events)) == min(batches, 3) if batches == 5 else batches
    assert len(profiler.function_events) > 0


def test_a_schedule_of_ones_own_is_followed_for_one_cycle(tmp_path: Path) -> None:
    asked: list[int] = []

    def schedule(step: int) -> ProfilerAction:
        asked.append(step)
        wanted = (ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD_AND_SAVE)
        return wanted[step % 3]

    run = trainer(PyTorchProfiler(dirpath=tmp_path, schedule=schedule), tmp_path, max_epochs=2)
    run.fit(Net(), loader(5), num_sanity_val_steps=0)
    (events,) = traces(tmp_path).values()
    assert steps_in(events) == ["train-0-2"]
    assert asked == [0, 0, 1, 2]  # once to see what it returns


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_a_recording_goes_on_over_validation(tmp_path: Path) -> None:
    schedule = torch.profiler.schedule(wait=0, warmup=0, active=3, repeat=1)
    profiler = PyTorchProfiler(dirpath=tmp_path, schedule=schedule)
    trainer(profiler, tmp_path, max_epochs=2).fit(Net(), loader(2), loader(1))
    recorded = [steps_in(events) for events in traces(tmp_path).values()]
    assert recorded == [["train-0-0", "train-0-1", "val-0-0", "train-1-0"], ["val-1-0"]]


def test_without_a_schedule_everything_is_recorded(tmp_path: Path) -> None:
    profiler = PyTorchProfiler(dirpath=tmp_path, schedule=None)
    trainer(profiler, tmp_path).fit(Net(), loader(2), loader(1), num_sanity_val_steps=1)
    (events,) = traces(tmp_path).values()
    assert steps_in(events) == ["val-0-0", "train-0-0", "train-0-1", "val-0-0"]
    assert "[pl][profile][LightningModule]Net.configure_optimizers" in {event.get("name") for event in events}


def test_arguments_for_torch(tmp_path: Path) -> None:
    given: list[Any] = []
    profiler = PyTorchProfiler(
        on_trace_ready=given.append, record_shapes=True, group_by_input_shapes=True, profile_memory=True,
        with_flops=True, row_limit=-1, sort_by_key="cpu_memory_usage", table_kwargs={"max_name_column_width": 9},
        activities=[ProfilerActivity.CPU], record_module_names=False,
    )  # fmt: skip
    run = trainer(profiler, tmp_path)
    shown: list[str] = []
    profiler._write_stream = shown.append
    run.fit(Net(), loader(5))
    assert len(given) == 1
    assert isinstance(given[0], torch.profiler.profile)
    (report,) = shown
    assert "Input Shapes" in report
    assert "CPU Mem" in report
    assert "[pl][p..." in report
    assert not any(tmp_path.iterdir())
    assert not any("[pl][module]" in event.name for event in profiler.function_events)


def test_stacks_for_flame_graphs(tmp_path: Path) -> None:
    profiler = PyTorchProfiler(dirpath=tmp_path, export_to_chrome=False, export_to_flame_graph=True)
    trainer(profiler, tmp_path).fit(Net(), loader(5))
    assert [path.suffix for path in tmp_path.iterdir()] == [".stack"]


def test_nowhere_to_write_traces(tmp_path: Path) -> None:
    profiler = PyTorchProfiler()
    for step in range(5):
        with profiler.profile("x.training_step"):
            torch.ones(1) + step
    with pytest.warns(UserWarning, match="neither a `dirpath` nor a logger's"):
        profiler.describe()


def test_a_report_can_be_asked_for_until_something_new_is_recorded(tmp_path: Path) -> None:
    profiler = PyTorchProfiler(dirpath=tmp_path, schedule=None)
    for name in ("first", "second"):
        with profiler.profile(name):
            torch.ones(1)
        profiler.describe()
        report = profiler.summary()
        assert report.count("Profile stats") == 1
        assert f"[pl][profile]{name}" in report
    profiler.setup("fit")
    assert profiler.summary() == ""


def test_switched_off(tmp_path: Path) -> None:
    profiler = PyTorchProfiler(dirpath=tmp_path, enabled=False)
    trainer(profiler, tmp_path).fit(Net(), loader(6))
    assert not any(tmp_path.iterdir())
    assert profiler.function_events is None


def test_after_a_run_that_failed(tmp_path: Path) -> None:
    class Failing(Net):
        def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
            if batch_idx == 3:
                raise RuntimeError("in the midst of a recording")
            return super().training_step(batch, batch_idx)

    first = PyTorchProfiler(dirpath=tmp_path / "first")
    with pytest.raises(RuntimeError, match="midst"):
        trainer(first, tmp_path).fit(Failing(), loader(7))
    second = PyTorchProfiler(dirpath=tmp_path / "second")
    trainer(second, tmp_path).fit(Net(), loader(7))
    (events,) = traces(tmp_path / "second").values()
    assert len(steps_in(events)) == 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sort_by_key": "speed"}, MisconfigurationException, "`sort_by_key` is one of"),
        ({"schedule": "often"}, MisconfigurationException, "a function of the step, not 'often'"),
        (
            {"schedule": lambda step: 1},
            MisconfigurationException,
            "returns a `torch.profiler.ProfilerAction`",
        ),
        ({"table_kwargs": {"row_limit": 1}}, KeyError, "an argument of `PyTorchProfiler` itself"),
        ({"table_kwargs": {"width": 1}}, KeyError, r"\['width'\] in `table_kwargs` are unknown"),
        ({"profile_memroy": True}, TypeError, r"\['profile_memroy'\] in `profiler_kwargs` are unknown"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        PyTorchProfiler(**arguments)


@pytest.mark.skipif(torch.cuda.is_available(), reason="has CUDA")
def test_nvtx_needs_cuda() -> None:
    with pytest.raises(MisconfigurationException, match="needs CUDA"):
        PyTorchProfiler(emit_nvtx=True)


def test_layers_are_labelled_within_with() -> None:
    model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    label = "[pl][module]torch.nn.modules.activation.ReLU: 1.0"
    for inside in (True, False):
        with torch.profiler.profile(activities=[ProfilerActivity.CPU]) as profile:
            if inside:
                with RegisterRecordFunction(model):
                    model(torch.ones(1, 1))
            else:
                model(torch.ones(1, 1))
        assert (label in {event.name for event in profile.events()}) is inside


def test_a_layer_that_fails_closes_its_label() -> None:
    class Failing(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("in forward")

    model = nn.Sequential(Failing())
    register = RegisterRecordFunction(model)
    with register, pytest.raises(ValueError, match="in forward"):
        model(1)
    assert not any(register._open.values())


@pytest.mark.parametrize(
    ("name", "kind"),
    [("simple", SimpleProfiler), ("advanced", AdvancedProfiler), ("pytorch", PyTorchProfiler)],
)
def test_profilers_have_names(name: str, kind: type, tmp_path: Path) -> None:
    run = trainer(name, tmp_path, fast_dev_run=True)
    assert type(run.profiler) is kind
    run.fit(Net(), loader(1))
    assert type(copy.deepcopy(run.profiler)) is kind
    assert type(pickle.loads(pickle.dumps(run.profiler))) is kind


def test_another_name() -> None:
    with pytest.raises(MisconfigurationException, match="'pytorch'"):
        relight.Trainer(profiler="xla")
