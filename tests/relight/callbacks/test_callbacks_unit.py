"""The smaller callbacks, without a Trainer."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import relight.callbacks as callbacks
from relight.callbacks.early_stopping import EarlyStoppingReason
from relight.utilities.exceptions import MisconfigurationException

ALONE = SimpleNamespace(broadcast=lambda x: x, reduce_boolean_decision=lambda x, all=True: x)


def make_trainer(**settings: Any) -> Any:
    values: dict[str, Any] = {
        "strategy": ALONE,
        "state": SimpleNamespace(fn="fit"),
        "sanity_checking": False,
        "fast_dev_run": False,
        "should_stop": False,
        "current_epoch": 0,
        "global_step": 0,
        "callback_metrics": {},
        "val_check_interval": 1.0,
        "check_val_every_n_epoch": 1,
        "world_size": 1,
        "is_global_zero": True,
        "global_rank": 0,
    }
    return SimpleNamespace(**{**values, **settings})


# -- names --------------------------------------------------------------------------------------------------


def test_names_give_new_instances() -> None:
    one, two = (callbacks.resolve_callback("model_checkpoint") for _ in range(2))
    assert type(one) is type(two) is callbacks.ModelCheckpoint
    assert one is not two


def test_every_registered_name_can_be_made() -> None:
    names = callbacks.registered_callbacks()
    assert {"early_stopping", "progress_bar", "model_summary", "learning_rate_monitor"} <= set(names)
    assert all(isinstance(callbacks.resolve_callback(name), callbacks.Callback) for name in names)


def test_instances_pass_through() -> None:
    callback = callbacks.Timer()
    assert callbacks.resolve_callback(callback) is callback


def test_a_wrong_name_is_told_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="Did you mean 'early_stopping'"):
        callbacks.resolve_callback("early_stoping")


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("stochastic_weight_averaging", "swa_lrs"),
        ("model_pruning", "pruning_fn"),
        ("throughput_monitor", "batch_size_fn"),
    ],
)
def test_a_callback_without_defaults_is_not_given_by_name(name: str, needs: str) -> None:
    with pytest.raises(ValueError, match=f"give an instance.*{needs}=…"):
        callbacks.resolve_callback(name)


def test_every_callback_whose_defaults_do_has_a_name() -> None:
    """A callback that is added to the package cannot be forgotten here."""
    made = {type(callbacks.resolve_callback(name)) for name in callbacks.registered_callbacks()}
    bases = {
        "BaseFinetuning",
        "BasePredictionWriter",
        "Callback",
        "Checkpoint",
        "ProgressBar",
        "StoppingCondition",
    }
    useless = {"LambdaCallback", "TrainAtLeast"}  # do nothing without arguments
    without = set()
    for name in set(callbacks.__all__) - bases - useless:
        kind = getattr(callbacks, name)
        if isinstance(kind, type) and kind not in made:
            without.add(name)
            with pytest.raises((TypeError, ValueError)):
                kind()
    assert without


@pytest.mark.parametrize("wrong", [callbacks.Timer, 3, None])
def test_what_is_no_callback_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError):
        callbacks.resolve_callback(wrong)


def test_a_name_is_not_taken_twice() -> None:
    callbacks.register_callback("timer", callbacks.Timer)  # the same again does no harm
    with pytest.raises(ValueError, match="already registered"):
        callbacks.register_callback("timer", callbacks.ModelSummary)


# -- stopping -----------------------------------------------------------------------------------------------


@given(
    values=st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=15),
    patience=st.integers(1, 4),
    delta=st.sampled_from([0.0, 0.5]),
    mode=st.sampled_from(["min", "max"]),
)
def test_early_stopping_counts_like_a_loop(
    values: list[float], patience: int, delta: float, mode: str
) -> None:
    callback = callbacks.EarlyStopping("m", patience=patience, min_delta=delta, mode=mode)
    trainer = make_trainer()
    callback.setup(trainer, None, "fit")
    sign = 1 if mode == "min" else -1
    best, waited, stopped = float("inf"), 0, None
    for epoch, value in enumerate(values):
        trainer.current_epoch = epoch
        trainer.callback_metrics = {"m": torch.tensor(value)}
        callback.on_train_epoch_end(trainer, None)
        current = torch.tensor(sign * value)
        if bool(current + delta < best):
            best, waited = float(current), 0
        else:
            waited += 1
        if waited >= patience:
            stopped = epoch
            break
        assert not trainer.should_stop
    assert trainer.should_stop is (stopped is not None)
    assert callback.should_stop(trainer) is trainer.should_stop
    assert callback.wait_count == waited
    if stopped is not None:
        assert callback.stopping_reason is EarlyStoppingReason.PATIENCE_EXHAUSTED
        assert callback.stopped_epoch == stopped


def test_a_resumed_early_stopping_does_not_stop_before_its_next_check() -> None:
    first, trainer = callbacks.EarlyStopping("m", patience=1), make_trainer()
    first.setup(trainer, None, "fit")
    for value in (1.0, 2.0):
        trainer.callback_metrics = {"m": torch.tensor(value)}
        first.on_train_epoch_end(trainer, None)
    assert trainer.should_stop
    second, trainer = callbacks.EarlyStopping("m", patience=1), make_trainer()
    second.setup(trainer, None, "fit")
    second.load_state_dict(first.state_dict())
    assert not second.should_stop(trainer)
    assert second.stopping_reason is EarlyStoppingReason.PATIENCE_EXHAUSTED


def test_early_stopping_takes_the_state_of_an_old_release() -> None:
    callback = callbacks.EarlyStopping("m")
    callback.load_state_dict(
        {"wait_count": 2, "stopped_epoch": 0, "best_score": torch.tensor(1.0), "patience": 5}
    )
    assert (callback.wait_count, callback.patience) == (2, 5)
    assert callback.stopping_reason is EarlyStoppingReason.NOT_STOPPED


def test_early_stopping_mode_is_checked() -> None:
    with pytest.raises(MisconfigurationException, match="min, max"):
        callbacks.EarlyStopping("m", mode="auto")


@pytest.mark.parametrize(
    ("epochs", "steps", "epoch", "step", "may"),
    [
        (2, None, 1, 99, False),
        (2, None, 2, 0, True),
        (None, 10, 99, 9, False),
        (None, 10, 0, 10, False),  # steps alone imply one epoch, as in Lightning
        (None, 10, 1, 10, True),
        (2, 10, 2, 9, False),
        (2, 10, 1, 10, False),
        (2, 10, 2, 10, True),
        (None, None, 0, 0, True),
        (0, 0, 0, 0, True),
    ],
)
def test_train_at_least(epochs: int | None, steps: int | None, epoch: int, step: int, may: bool) -> None:
    condition = callbacks.TrainAtLeast(epochs=epochs, steps=steps)
    trainer = make_trainer(current_epoch=epoch, global_step=step)
    assert condition.may_stop(trainer) is may
    assert condition.should_stop(trainer) is False


def test_train_at_least_refuses_negative_numbers() -> None:
    with pytest.raises(ValueError, match="steps=-1"):
        callbacks.TrainAtLeast(steps=-1)


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("01:02:03:04", 93784),
        (timedelta(minutes=1), 60),
        ({"hours": 1, "minutes": 1}, 3660),
        (None, None),
        ("00:00:00:00", 0),
    ],
)
def test_timer_durations(duration: Any, seconds: float | None) -> None:
    assert callbacks.Timer(duration).time_remaining() == seconds


@pytest.mark.parametrize("duration", ["1:00", "00:00:61", "x", "1:2:3:4"])
def test_timer_refuses_other_texts(duration: str) -> None:
    with pytest.raises(MisconfigurationException, match="DD:HH:MM:SS"):
        callbacks.Timer(duration)


def test_timer_refuses_other_intervals() -> None:
    with pytest.raises(MisconfigurationException, match="step, epoch"):
        callbacks.Timer(interval="batch")


def test_timer_stops_when_the_time_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    timer, trainer = callbacks.Timer(timedelta(seconds=10), interval="step"), make_trainer()
    timer.on_fit_start(trainer, None)
    timer.on_train_start(trainer, None)
    now = 109.0
    timer.on_train_batch_end(trainer, None, None, None, 0)
    assert not trainer.should_stop
    assert timer.time_remaining() == 1.0
    now = 110.0
    timer.on_train_epoch_end(trainer, None)  # not its interval
    assert not trainer.should_stop
    timer.on_train_batch_end(trainer, None, None, None, 1)
    assert trainer.should_stop
    assert timer.should_stop(trainer)
    timer.on_train_end(trainer, None)
    assert timer.state_dict()["time_elapsed"] == {
        "train": 10.0,
        "sanity_check": 0,
        "validate": 0,
        "test": 0,
        "predict": 0,
    }
    resumed, trainer = callbacks.Timer(timedelta(seconds=10)), make_trainer()
    resumed.load_state_dict(timer.state_dict())
    resumed.on_fit_start(trainer, None)
    assert trainer.should_stop


# -- others -------------------------------------------------------------------------------------------------


def test_lambda_callback_sets_hooks_and_refuses_what_is_none() -> None:
    seen = []
    callback = callbacks.LambdaCallback(on_train_end=lambda *a: seen.append(a), on_fit_end=None)
    callback.on_train_end(1, 2)
    callback.on_fit_end(1, 2)
    assert seen == [(1, 2)]
    for wrong in ("on_epoch_end", "state_dict", "_generate_state_key", "state_key"):
        with pytest.raises(TypeError, match=wrong):
            callbacks.LambdaCallback(**{wrong: print})


@given(
    st.dictionaries(st.integers(0, 20), st.integers(1, 8), min_size=1),
    st.integers(0, 25),
)
def test_accumulation_schedule(scheduling: dict[int, int], epoch: int) -> None:
    before = dict(scheduling)
    callback = callbacks.GradientAccumulationScheduler(scheduling)
    expected = 1
    for e in range(epoch + 1):
        expected = scheduling.get(e, expected)
    assert callback.get_accumulate_grad_batches(epoch) == expected
    assert scheduling == before, "the user's dict was changed"


@pytest.mark.parametrize(
    ("scheduling", "error"),
    [
        ({}, TypeError),
        ({-1: 2}, MisconfigurationException),
        ({0: 0}, MisconfigurationException),
        ({"1": 2}, MisconfigurationException),
        ({1: 2.0}, MisconfigurationException),
    ],
)
def test_accumulation_schedule_is_checked(scheduling: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        callbacks.GradientAccumulationScheduler(scheduling)


def test_state_keys_of_equal_callbacks_are_equal_and_tell_different_ones_apart() -> None:
    assert callbacks.Callback().state_key == "Callback"
    keys = {
        callbacks.EarlyStopping("a").state_key,
        callbacks.EarlyStopping("b").state_key,
        callbacks.EarlyStopping("a", mode="max").state_key,
        callbacks.EarlyStopping("a", patience=9).state_key,
    }
    assert len(keys) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: callbacks.ModelCheckpoint(monitor="x"),
        lambda: callbacks.EarlyStopping("x"),
        lambda: callbacks.Timer("00:00:01:00"),
        callbacks.TQDMProgressBar,
        callbacks.LearningRateMonitor,
        callbacks.ModelSummary,
    ],
)
def test_callbacks_can_be_copied_and_pickled(make: Any) -> None:
    callback = make()
    for other in (copy.deepcopy(callback), pickle.loads(pickle.dumps(callback))):
        assert other.state_key == callback.state_key


def test_learning_rate_monitor_needs_a_logger_and_a_known_interval() -> None:
    with pytest.raises(MisconfigurationException, match="no logger"):
        callbacks.LearningRateMonitor().on_train_start(make_trainer(loggers=[]), None)
    with pytest.raises(MisconfigurationException, match="logging_interval"):
        callbacks.LearningRateMonitor(logging_interval="batch")  # type: ignore[arg-type]


def test_learning_rate_monitor_refuses_groups_of_one_name() -> None:
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(
        [{"params": [layer.weight], "name": "x"}, {"params": [layer.bias], "name": "x"}], lr=1.0
    )
    trainer = make_trainer(loggers=[object()], lr_scheduler_configs=[], optimizers=[optimizer])
    with pytest.raises(MisconfigurationException, match="identical `name`"):
        callbacks.LearningRateMonitor().on_train_start(trainer, None)


def test_model_summary_table() -> None:
    from relight.callbacks._layer_table import LayerTable, human_count

    class Net(torch.nn.Module):
        device = torch.device("cpu")
        example_input_array = torch.ones(3, 4)

        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout())
            self.head = torch.nn.Linear(8, 2)
            self.scale = torch.nn.Parameter(torch.ones(7), requires_grad=False)
            self.head.eval()

        def transfer_batch_to_device(self, batch: Any, device: Any, dataloader_idx: int) -> Any:
            return batch

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x))

    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    net = Net()
    state = torch.random.get_rng_state()
    table = LayerTable(net, max_depth=2)  # type: ignore[arg-type]
    assert torch.equal(torch.random.get_rng_state(), state), "the summary used random numbers"
    assert not torch.equal(before, state)
    assert net.training
    assert not net.head.training
    rows = [tuple(cell.strip() for cell in row) for row in table.rows()]
    assert rows[1] == ("0", "body", "Sequential", "40", "train", "[3, 4]", "[3, 8]")
    assert [row[1] for row in rows[1:]] == ["body", "body.0", "body.1", "head", "other params"]
    assert rows[4] == ("3", "head", "Linear", "18", "eval", "[3, 8]", "[3, 2]")
    assert rows[5][3] == "7"
    assert table.total_parameters == 65
    assert table.trainable_parameters == 58
    assert table.model_size == pytest.approx(65 * 4 / 1e6)
    assert "Total params" in str(table)
    assert [human_count(n) for n in (0, 999, 1000, 123456, 7_000_000_000)] == [
        "0",
        "999",
        "1.0 K",
        "123 K",
        "7.0 B",
    ]
    assert [row[1] for row in LayerTable(net, 1).rows()][1:] == ["body", "head", "other params"]  # type: ignore[arg-type]


def test_a_summary_shown_elsewhere() -> None:
    """``summarize`` has the arguments of Lightning 2.6."""
    import relight
    from relight.callbacks import ModelSummary

    seen: list[Any] = []

    class Own(ModelSummary):
        @staticmethod
        def summarize(
            summary_data: Any,
            total_parameters: int,
            trainable_parameters: int,
            model_size: float,
            total_training_modes: Any,
            total_flops: int,
            **summarize_kwargs: Any,
        ) -> None:
            seen.extend([dict(summary_data), total_parameters, trainable_parameters, model_size])
            seen.extend([total_training_modes, total_flops, summarize_kwargs])

    class Net(relight.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1, bias=False).eval()
            self.two.requires_grad_(False)
            self.example_input_array = torch.ones(4, 2)

        def forward(self, x: Any) -> Any:
            return self.two(self.one(x))

    trainer: Any = SimpleNamespace(is_global_zero=True)
    Own(title="layers").on_fit_start(trainer, Net())
    data, total, trainable, size, modes, flops, kwargs = seen
    assert data["Name"] == ["one", "two"]
    assert data["Out sizes"] == ["[4, 3]", "[4, 1]"]
    assert (total, trainable, size) == (12, 9, 48e-6)
    assert (modes, flops, kwargs) == ({"train": 1, "eval": 1}, 2 * 4 * (2 * 3 + 3), {"title": "layers"})
