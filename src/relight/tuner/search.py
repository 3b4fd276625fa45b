"""Trial runs inside of a run: everything is put aside before, and given back after."""

from __future__ import annotations

import copy
import os
import uuid
from typing import TYPE_CHECKING, Any

from relight import checkpoint
from relight.trainer import restore, sharding
from relight.trainer.eval_loop import EvaluationLoop
from relight.trainer.fit_loop import FitLoop
from relight.trainer.logging import LoggerConnector
from relight.trainer.predict_loop import PredictionLoop
from relight.trainer.resume import KEY

if TYPE_CHECKING:
    from relight.callbacks import Callback
    from relight.trainer.trainer import Trainer

__all__ = ["Search", "ask_for_data"]

#: Attributes of a Trainer that a trial run has of its own.
_OWN = (
    "callbacks", "loggers", "max_steps", "limit_train_batches", "limit_val_batches", "limit_test_batches",
    "lr_scheduler_configs", "_logger_connector", "_hooks", "_step", "_transfer", "_stopping_conditions",
    "_validates", "_loaded_checkpoint",
)  # fmt: skip
_LOOPS = ("fit_loop", "validate_loop", "test_loop", "predict_loop")


def ask_for_data(loop: Any) -> None:
    """Let a loop ask for its loaders, unless it has them."""
    loop._setup_data() if isinstance(loop, PredictionLoop) else loop.setup_data()


class Search:
    """Puts a Trainer's state aside while the context is entered, and runs trials.

    Weights, optimizers, schedulers and callbacks come back from a file that is removed afterwards; the hooks
    that save and load checkpoints are called, so a module can save what it keeps beside its weights. The loop
    that the Trainer is in is not touched: trials have one of their own.

    Args:
        trainer: Which is in an entry point.
        name: What the file is called.
        callbacks: Those of the trials; the Trainer's own and its loggers are not told of them.
    """

    def __init__(self, trainer: Trainer, name: str, *callbacks: Callback) -> None:
        self.trainer = trainer
        self._callbacks = list(callbacks)
        place = os.path.join(trainer.default_root_dir, f".{name}_{uuid.uuid4()}.ckpt")
        self._path: str = trainer.strategy.broadcast(place)
        self._outer: Any = trainer._active_loop
        self._attribute = next(each for each in _LOOPS if getattr(trainer, each) is self._outer)
        self.loop: Any = None

    def __enter__(self) -> Search:
        """Put everything aside."""
        from relight.callbacks import TrainAtLeast

        trainer = self.trainer
        trainer.save_checkpoint(self._path)
        self._kept = {attribute: getattr(trainer, attribute) for attribute in _OWN}
        self._kept_state = copy.copy(trainer.state)
        self._progress = copy.deepcopy(self._outer.state_dict())
        if (bar := trainer.progress_bar_callback) is not None:
            bar.disable()
        trainer.callbacks = self._callbacks
        if trainer.loggers:
            from relight.loggers import DummyLogger

            trainer.loggers = [DummyLogger()]
        trainer._logger_connector = LoggerConnector(trainer)
        trainer._step = trainer._transfer = trainer._validates = None
        trainer._hooks = trainer._make_hooks()
        kept = self._kept["_stopping_conditions"]  # limits stay limits; they count by the Trainer's progress
        trainer._stopping_conditions = [each for each in kept if isinstance(each, TrainAtLeast)]
        self._new_loop()
        self._rewind()  # the Trainer counts by it from here on
        self._share_data()
        return self

    def run(self) -> None:
        """Run a trial from where the Trainer is."""
        self._rewind()
        self.loop.run()

    def renew(self) -> None:
        """Begin anew after a trial, and ask for loaders again."""
        trainer = self.trainer
        self.loop.teardown()
        vars(trainer.state).update(vars(self._kept_state))  # an error may have come from a validation
        trainer._logger_connector = LoggerConnector(trainer)
        trainer._step = None
        trainer._validates = None
        self._new_loop()
        self._rewind()
        _ask_for_all(self.loop)

    def _new_loop(self) -> None:
        outer: Any = self._outer
        new: Any
        if isinstance(outer, FitLoop):
            new = type(outer)(self.trainer)
            new.max_epochs = outer.max_epochs
            validation = new.epoch_loop.val_loop
            validation.source.instance = outer.epoch_loop.val_loop.source.instance
            validation.inference_mode = outer.epoch_loop.val_loop.inference_mode
        elif isinstance(outer, EvaluationLoop):
            new = type(outer)(self.trainer, outer.fn, outer.stage)
            new.verbose, new.inference_mode = False, outer.inference_mode
        else:
            new = type(outer)(self.trainer)
            new.return_predictions, new.inference_mode = False, outer.inference_mode
        new.source.instance = outer.source.instance
        self.loop = new
        setattr(self.trainer, self._attribute, new)

    def _share_data(self) -> None:
        """Let the first trial go on with the loaders that the outer loop has, as 2.6 does."""
        new, outer = self.loop, self._outer
        if not isinstance(outer, FitLoop) or self.trainer.current_epoch > 0:
            return  # those of an earlier epoch are used up
        new.max_batches = outer.max_batches
        new.epoch_loop.val_loop.batches = outer.epoch_loop.val_loop.batches
        for loop, of in ((new, outer), (new.epoch_loop.val_loop, outer.epoch_loop.val_loop)):
            loop.combined_loader, loop.fetcher = of.combined_loader, of.fetcher
            loop._last_reload_epoch = of._last_reload_epoch

    def _rewind(self) -> None:
        loop = self.loop
        loop.load_state_dict(copy.deepcopy(self._progress))
        loop.restarting = False
        if isinstance(loop, FitLoop):
            loop.epoch_loop.restarting = loop.epoch_loop.val_loop.restarting = False

    def __exit__(self, *_: object) -> None:
        """Give everything back."""
        trainer = self.trainer
        self.loop.teardown()
        setattr(trainer, self._attribute, self._outer)
        for attribute, value in self._kept.items():
            setattr(trainer, attribute, value)
        vars(trainer.state).update(vars(self._kept_state))
        trainer.should_stop = False
        if (bar := trainer.progress_bar_callback) is not None:
            bar.enable()
        self._restore()
        self._reload()

    def _restore(self) -> None:
        """Take weights and the states of optimizers, schedulers and callbacks from the file."""
        trainer = self.trainer
        saved = checkpoint.load(self._path, "cpu", weights_only=False)  # our own, of a moment ago
        saved.pop(KEY, None)
        saved.pop("loops", None)
        restore.give_back(trainer, saved)
        trainer.strategy.barrier("search")
        if trainer.is_global_zero:
            sharding.checkpoint_io(trainer._backend).remove_checkpoint(self._path)

    def _reload(self) -> None:
        """Let the outer loop have loaders made after the search, as it is not to share iterators with it."""
        outer = self._outer
        outer.combined_loader = None
        if isinstance(outer, FitLoop):
            outer.epoch_loop.val_loop.combined_loader = None
        ask_for_data(outer)

    def reload_evaluation(self) -> None:
        """The outer loop began with loaders of before the search: begin with new ones. Call it outside."""
        outer = self._outer
        if isinstance(outer, FitLoop):
            _ask_for_validation(outer)
        elif sum(outer.max_batches) > 0:
            outer._begin(*([outer.combined_loader] if isinstance(outer, PredictionLoop) else []))


def _ask_for_all(loop: Any) -> None:
    ask_for_data(loop)
    if isinstance(loop, FitLoop):
        _ask_for_validation(loop)


def _ask_for_validation(loop: FitLoop) -> None:
    if loop.epoch_loop.val_loop.source.is_defined():
        loop.epoch_loop.val_loop.setup_data()
