"""The three stages whose step outputs 1.x collected, and the names that go with each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BY_LEGACY", "OLDER", "STAGES", "Stage"]


@dataclass(frozen=True, slots=True)
class Stage:
    """Names of one stage.

    Attributes:
        name: ``train``, ``validation`` or ``test``.
        legacy: The hook that received the outputs.
        older: What the hook was called up to 0.10, if it had another name.
        step: The step whose outputs they were.
        batches: Attribute of the trainer with the number of batches of each loader.
    """

    name: str
    legacy: str
    older: str | None
    step: str
    batches: str

    @property
    def end(self) -> str:
        """The hook that takes its place."""
        return f"on_{self.name}_epoch_end"

    @property
    def start(self) -> str:
        """The hook in which the store is made empty."""
        return f"on_{self.name}_epoch_start"

    @property
    def batch_end(self) -> str:
        """The hook that receives each step's outputs."""
        return f"on_{self.name}_batch_end"

    @property
    def step_end(self) -> str:
        """The hook that could replace a step's outputs."""
        return f"{self.step}_end"

    @property
    def stores(self) -> tuple[str, ...]:
        """Names for the list, the preferred one first."""
        return (f"_{self.name}_outputs", f"_{self.step}_outputs", f"_{self.name}_epoch_outputs")

    @property
    def helpers(self) -> tuple[str, ...]:
        """Names for a method that takes the outputs, the preferred one first."""
        return (f"_{self.legacy}", f"_on_{self.legacy}", f"_{self.legacy}_outputs")


STAGES = (
    Stage("train", "training_epoch_end", None, "training_step", ""),
    Stage("validation", "validation_epoch_end", "validation_end", "validation_step", "num_val_batches"),
    Stage("test", "test_epoch_end", "test_end", "test_step", "num_test_batches"),
)
# The hooks under the names they had up to 0.10.
OLDER = tuple(
    Stage(stage.name, stage.older, None, stage.step, stage.batches)
    for stage in STAGES
    if stage.older is not None
)
BY_LEGACY = {stage.legacy: stage for stage in STAGES}
