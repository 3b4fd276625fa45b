"""What one change of the legacy API is: the types of the catalogue.

Everything that talks about a change (a rule, a message of compat, a page of the docs) reads an
:class:`Entry`; nothing repeats what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Applicability", "Area", "Entry", "Replacement", "Target"]


class Target(str, Enum):
    """Where the upgraded code is to run."""

    RELIGHT = "relight"
    LIGHTNING = "lightning"

    def __str__(self) -> str:  # noqa: D105
        return self.value


class Applicability(str, Enum):
    """How sure a rewrite is.

    ``SAFE`` keeps behaviour, ``UNSAFE`` is likely right but wants a person's eye
    (``--unsafe-fixes``), ``MANUAL`` has no rewrite: the advice says what to decide.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    MANUAL = "manual"

    def __str__(self) -> str:  # noqa: D105
        return self.value


class Area(str, Enum):
    """What kind of thing changed; each area has a family of codes."""

    TRAINER_ARGUMENT = "trainer-argument"  # TRU1xx
    MODULE_HOOK = "module-hook"  # TRU200-239: hooks, methods and attributes of LightningModule
    DATAMODULE_HOOK = "datamodule-hook"  # TRU240-259
    CALLBACK_HOOK = "callback-hook"  # TRU260-299
    IMPORT = "import"  # TRU3xx
    TRAINER_ATTRIBUTE = "trainer-attribute"  # TRU4xx
    ENTRY_POINT_ARGUMENT = "entry-point-argument"  # TRU5xx
    CONSTRUCTOR_ARGUMENT = "constructor-argument"  # TRU6xx
    TRAINER_VALUE = "trainer-value"  # TRU7xx
    DEFAULT = "default"  # TRU8xx: defaults and meanings that changed without a new name; guide rows
    PROJECT_FILE = "project-file"  # TRU9xx: pins, configuration files, command lines

    def __str__(self) -> str:  # noqa: D105
        return self.value


@dataclass(frozen=True, slots=True)
class Replacement:
    """What takes the place of a legacy item on one target.

    Attributes:
        action: The kind of replacement: ``rename``, ``move``, ``callback``, ``entry-point``, ``value``,
            ``attribute``, ``expression``, ``drop``, ``keep`` (valid as it is), ``custom`` (a rule of its
            own), ``none`` (no twin).
        name: The new name: a dotted path for an import or a callback
            (``lightning.pytorch.callbacks.TQDMProgressBar``, ``relight.callbacks.TQDMProgressBar``), an
            argument or attribute name otherwise. Empty when there is none.
        argument: The argument of ``name`` that carries the value, where ``name`` is a callable.
        text: The modern form as a person would write it, for messages and docs.
    """

    action: str
    name: str = ""
    argument: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of the legacy API.

    Attributes:
        code: Stable code (``TRU101``); never reused. Entries without a code of their own share one of
            their family (see ``catalogue.shared_codes``).
        area: What kind of thing changed.
        owner: The class, function or module that had it (``Trainer``, ``Trainer.fit``, ``ModelCheckpoint``).
        name: The legacy name.
        deprecated_in: First release (minor) that warned; ``None`` when none did.
        removed_in: First release (minor) without it; ``None`` while it still works.
        relight: What replaces it on relight.
        lightning: What replaces it on Lightning 2.x. Dotted paths are rooted at ``lightning.pytorch``.
        applicability: How sure the rewrite is.
        advice: One line that tells a person what to do.
        source: The release or pull request that made the change.
        behaviour: What old code does on Lightning 2.6.
        silent: Whether old code goes on without an error, meaning something else.
        sunset: The relight release that drops compat's support.
    """

    code: str
    area: Area
    owner: str
    name: str
    deprecated_in: str | None
    removed_in: str | None
    relight: Replacement
    lightning: Replacement
    applicability: Applicability
    advice: str
    source: str
    behaviour: str = ""
    silent: bool = False
    sunset: str = "2.0"
    notes: str = field(default="", repr=False)

    def replacement(self, target: Target) -> Replacement:
        """Return what replaces the item on ``target``."""
        return self.relight if target is Target.RELIGHT else self.lightning
