"""What ends a fit: one base for stopping by metric, by time, and for not stopping before a minimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relight.callbacks.callback import Callback

if TYPE_CHECKING:
    from relight.trainer import Trainer

__all__ = ["StoppingCondition", "TrainAtLeast"]


class StoppingCondition(Callback):
    """A callback with a say in when ``fit`` ends.

    After every training batch and at the end of every epoch the loop asks each condition two things: do you
    want to stop (:meth:`should_stop`), and is stopping allowed yet (:meth:`may_stop`). Training ends when
    one wants to, or ``trainer.should_stop`` was set, and none forbids it. A wish is remembered: it takes
    effect as soon as the last objection is gone.

    A new rule overrides one of the two methods and adds no argument to the Trainer.
    """

    def should_stop(self, trainer: Trainer) -> bool:
        """Tell whether this condition wants training to end. Must be cheap and free of side effects.

        Several processes must all answer the same, or some would wait for the others forever: ask
        ``trainer.strategy.reduce_boolean_decision(wish, all=False)`` if what is looked at may differ.
        """
        return False

    def may_stop(self, trainer: Trainer) -> bool:
        """Tell whether training may end now for a reason other than ``max_epochs`` or ``max_steps``."""
        return True


class TrainAtLeast(StoppingCondition):
    """Forbid that training stops early before so many epochs and optimizer steps.

    This is what the Trainer arguments ``min_epochs`` and ``min_steps`` were. ``max_epochs`` and ``max_steps``
    still end training.

    Args:
        epochs: number of epochs that must have been completed.
        steps: number of optimizer steps that must have been taken. With both, both must be met; steps alone
            imply one epoch.

    Raises:
        ValueError: if a number is negative.
    """

    def __init__(self, epochs: int | None = None, steps: int | None = None) -> None:
        for name, value in (("epochs", epochs), ("steps", steps)):
            if value is not None and value < 0:
                raise ValueError(f"`TrainAtLeast({name}={value})`: the number must not be negative.")
        self.epochs = epochs
        self.steps = steps

    def may_stop(self, trainer: Trainer) -> bool:
        """Tell whether both minimums are met."""
        # As in Lightning: whoever asks for steps alone gets at least one whole epoch.
        epochs = 1 if self.epochs is None and self.steps else self.epochs
        return (not epochs or trainer.current_epoch >= epochs) and (
            not self.steps or trainer.global_step >= self.steps
        )
