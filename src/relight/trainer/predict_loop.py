"""Prediction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data.dataloader import _InfiniteConstantSampler

from relight.trainer.data import DataSource, changed_loader, combine, make_transfer, num_batches, sized
from relight.trainer.eval_loop import ModuleModes, check_dataloader_idx, no_grad_context
from relight.trainer.fetch import Fetcher
from relight.trainer.loop import Loop
from relight.trainer.progress import Progress
from relight.trainer.states import RunningStage
from relight.utilities.combined_loader import CombinedLoader
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.memory import move_data_to_device
from relight.utilities.overrides import takes_parameter
from relight.utilities.rank_zero import WarningCache

if TYPE_CHECKING:
    from relight.callbacks import BasePredictionWriter
    from relight.trainer.trainer import Trainer

__all__ = ["PredictionLoop"]

_warn_once = WarningCache()


class _Recorder:
    """A batch sampler that remembers its choices."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        self.chosen: list[list[int]] = []

    def __iter__(self) -> Iterator[list[int]]:
        self.chosen.clear()
        for indices in self._sampler:
            self.chosen.append(indices)
            yield indices

    def __len__(self) -> int:
        return len(self._sampler)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_sampler"], name)


class PredictionLoop(Loop):
    """Runs the batches of all predict loaders and returns what the steps returned."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__(trainer)
        self.inference_mode = True
        self.batch_progress = Progress()
        self.source = DataSource("predict_dataloader")
        self.combined_loader: CombinedLoader | None = None
        self.fetcher: Fetcher | None = None
        self.max_batches: list[int | float] = []
        self.return_predictions: bool | None = None
        self.current_batch_indices: list[int] | None = None
        self.epoch_batch_indices: list[list[list[int]]] = []
        self._predictions: list[list[Any]] = []
        self._recorders: list[_Recorder | None] = []
        self._modes = ModuleModes()

    @property
    def predictions(self) -> Any:
        """The predictions: a list of batches, or one such list for each of several loaders."""
        return self._predictions[0] if len(self._predictions) == 1 else self._predictions

    def run(self) -> Any:
        """Predict; return the predictions unless told not to."""
        with no_grad_context(self.trainer, self.inference_mode):
            return self._run()

    def _run(self) -> Any:
        trainer = self.trainer
        self._setup_data()
        if sum(self.max_batches) == 0:
            return None
        combined = self.combined_loader
        assert combined is not None
        several = len(combined.flattened) > 1
        keep = self.return_predictions
        if keep is None:
            keep = not trainer._backend.spawns
        elif keep and trainer._backend.spawns:
            raise MisconfigurationException(
                "Predictions cannot be returned from processes that a strategy spawns: pass"
                " `return_predictions=False` and write them in a callback"
            )
        self._begin(combined)
        self._start(several)
        hooks, fetcher = trainer._hooks, self.fetcher
        assert hooks is not None
        assert fetcher is not None
        step, transfer = hooks.step("predict_step"), make_transfer(trainer)
        on_batch_start, on_batch_end = (
            hooks.bind("on_predict_batch_start"),
            hooks.bind("on_predict_batch_end"),
        )
        takes_batch_idx = takes_parameter(trainer.lightning_module.predict_step, "batch_idx", min_args=2)
        writers = self._writers()
        for_epoch = any(writer.interval.on_epoch for writer in writers)
        keep_all = keep or for_epoch
        progress = self.batch_progress
        while not fetcher.done:
            try:
                batch, batch_idx, dataloader_idx = next(fetcher)
            except StopIteration:
                break
            if writers:
                self._note_indices(batch_idx, dataloader_idx, for_epoch)
            if transfer is not None:
                batch = transfer(batch, dataloader_idx)
            index = (dataloader_idx,) if several else ()
            progress.increment_ready()
            if on_batch_start is not None:
                on_batch_start(batch, batch_idx, *index)
            progress.increment_started()
            prediction = step(batch, batch_idx, *index) if takes_batch_idx else step(batch, *index)
            if prediction is None:
                _warn_once.warn("`predict_step` returned `None`; fine if that is what you want.")
            progress.increment_processed()
            if on_batch_end is not None:
                on_batch_end(prediction, batch, batch_idx, *index)
            progress.increment_completed()
            if keep_all:
                self._predictions[dataloader_idx].append(move_data_to_device(prediction, torch.device("cpu")))
        trainer._call("on_predict_epoch_end")
        trainer._call("on_predict_end")
        self._modes.restore(trainer.lightning_module)
        return self.predictions if keep else None

    def _setup_data(self) -> None:
        trainer = self.trainer
        self.max_batches = []
        if trainer.limit_predict_batches == 0:
            return
        stage = RunningStage.PREDICTING
        self.combined_loader = combine(trainer, self.source, stage, "sequential")
        if self.combined_loader._mode != "sequential":
            raise ValueError('`trainer.predict()` takes only `CombinedLoader(mode="sequential")`')
        self.max_batches = [
            num_batches(stage, sized(trainer, dl), trainer.limit_predict_batches)
            for dl in self.combined_loader.flattened
        ]

    def _writers(self) -> list[BasePredictionWriter]:
        from relight.callbacks import BasePredictionWriter

        return [callback for callback in self.trainer.callbacks if isinstance(callback, BasePredictionWriter)]

    def _record_indices(self, combined: CombinedLoader) -> None:
        """Let the loaders' samplers remember which samples they chose."""
        self._recorders, loaders = [], []
        for loader in combined.flattened:
            sampler = getattr(loader, "batch_sampler", None)
            recorder = None
            if (
                sampler is not None
                and type(getattr(sampler, "sampler", None)) is not _InfiniteConstantSampler
            ):
                recorder = _Recorder(sampler)
                loader = changed_loader(loader, batch_sampler=recorder)
            self._recorders.append(recorder)
            loaders.append(loader)
        combined.flattened = loaders

    def _note_indices(self, batch_idx: int, dataloader_idx: int, for_epoch: bool) -> None:
        recorder = self._recorders[dataloader_idx]
        if recorder is None:
            self.current_batch_indices = []
            _warn_once.warn("The predict loader has no batch sampler: writers are not told the indices.")
            return
        self.current_batch_indices = recorder.chosen[batch_idx]
        if for_epoch:
            self.epoch_batch_indices[dataloader_idx].append(recorder.chosen[batch_idx])

    def _begin(self, combined: CombinedLoader) -> None:
        self.batch_progress.reset_on_run()
        combined.limits = self.max_batches
        self.current_batch_indices, self.epoch_batch_indices = None, [[] for _ in combined.flattened]
        if self._writers():
            self._record_indices(combined)
        self.fetcher = Fetcher(combined, self.trainer, "[PredictionLoop].predict_next")
        self.fetcher.start()
        self._predictions = [[] for _ in combined.flattened]

    def _start(self, several: bool) -> None:
        trainer = self.trainer
        names = ("predict_step", "on_predict_batch_start", "on_predict_batch_end")
        check_dataloader_idx(trainer, names, several, RunningStage.PREDICTING)
        self._modes.capture(trainer.lightning_module)
        assert trainer._hooks is not None
        trainer._hooks.module("on_predict_model_eval", always=True)()  # type: ignore[misc]
        trainer._call("on_predict_start")
        trainer._call("on_predict_epoch_start")

    def teardown(self) -> None:
        """Let go of iterators and workers."""
        if self.fetcher is not None:
            self.fetcher.teardown()
            self.fetcher = None

    def state_dict(self) -> dict[str, Any]:
        """Return the progress as a checkpoint of Lightning 2.x stores it."""
        return {"state_dict": {}, "batch_progress": self.batch_progress.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take the progress from a checkpoint."""
        if "batch_progress" in state:
            self.batch_progress.load_state_dict(state["batch_progress"])
