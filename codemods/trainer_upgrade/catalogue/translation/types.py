"""What a translation of Trainer arguments consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trainer_upgrade.catalogue.entry import Applicability

__all__ = ["ArgumentFinding", "CallbackRef", "Instance", "Translation"]


@dataclass(frozen=True)
class CallbackRef:
    """A callback or plugin to construct, named by its class: the translation itself imports nothing.

    Attributes:
        name: The class name, such as ``TQDMProgressBar``.
        arguments: Its keyword arguments.
        argument: The legacy Trainer argument that asked for it.
    """

    name: str
    arguments: dict[str, Any]
    argument: str


@dataclass(frozen=True)
class Instance:
    """Stands for an object of class ``name`` where only its source is known.

    The codemod passes it in place of an expression such as ``ModelCheckpoint(...)``; it is recognised like an
    object of that class and comes back untouched.
    """

    name: str
    source: Any = None


@dataclass(frozen=True)
class ArgumentFinding:
    """What happened to one legacy argument.

    Attributes:
        code: The catalogue's code of the argument.
        argument: Its name. For what a strategy of an older argument means today it is ``strategy``.
        message: What became of it and why, in one line.
        applicability: How sure the translation is; ``MANUAL`` where a person has to decide.
        silent: Left as it was, the argument would go on without an error and mean something else.
    """

    code: str
    argument: str
    message: str
    applicability: Applicability
    silent: bool = False


@dataclass(frozen=True)
class Translation:
    """Where each part of a legacy Trainer's arguments goes.

    An argument named in :attr:`errors` appears nowhere else: a codemod leaves it as it is written.

    Attributes:
        constructor: Arguments of the target's Trainer. Objects (callbacks, loggers, plugins, strategies) pass
            through; a callback that came in an argument of its own is appended to ``callbacks`` here.
        entry_points: Arguments of ``fit``, ``validate``, ``test`` and ``predict``. For Lightning only
            ``ckpt_path``; for relight also what its constructor leaves to them (``limit_batches`` …).
        callbacks: Callbacks to add, by name.
        plugins: Plugins to add, by name (relight: ``TorchSyncBatchNorm``).
        module: Attributes to set on the LightningModule.
        datamodule: Attributes to set on whichever object prepares the data.
        torch: Settings of torch, by dotted path below ``torch``: an attribute to set
            (``backends.cudnn.benchmark``) or a function to call with the value
            (``use_deterministic_algorithms``: True, False or ``"warn"`` for ``warn_only``);
            ``environ.NAME`` is an environment variable.
        tuner: Arguments of the Tuner's methods ``lr_find`` and ``scale_batch_size``.
        logger: Arguments that move to the logger.
        adapters: Legacy behaviour that no modern argument has, by legacy name, for those who emulate it.
        findings: One for each legacy argument or value that was changed, moved or dropped.
        errors: Combinations that the old release refused too, or that have no translation.
    """

    constructor: dict[str, Any] = field(default_factory=dict)
    entry_points: dict[str, dict[str, Any]] = field(default_factory=dict)
    callbacks: tuple[CallbackRef, ...] = ()
    module: dict[str, Any] = field(default_factory=dict)
    datamodule: dict[str, Any] = field(default_factory=dict)
    torch: dict[str, Any] = field(default_factory=dict)
    tuner: dict[str, dict[str, Any]] = field(default_factory=dict)
    logger: dict[str, Any] = field(default_factory=dict)
    findings: tuple[ArgumentFinding, ...] = ()
    errors: tuple[ArgumentFinding, ...] = ()
    plugins: tuple[CallbackRef, ...] = ()
    adapters: dict[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """The entry points' options as one flat mapping, for relight's ``Trainer(options=...)``.

        ``limit_batches`` of an entry point is ``limit_<stage>_batches`` here. ``ckpt_path`` is not an option.
        """
        flat: dict[str, Any] = {}
        for stage, arguments in self.entry_points.items():
            for name, value in arguments.items():
                if name == "limit_batches":
                    flat["limit_val_batches" if stage == "validate" else f"limit_{stage}_batches"] = value
                elif name != "ckpt_path":
                    flat[name] = value
        return flat
