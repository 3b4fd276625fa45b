"""How hooks are called.

:func:`call_hook` calls one bound method. :class:`Hooks` works out once, when an entry point starts, who
overrides a hook, and gives the loops one callable for it, or ``None`` when there is nothing to call.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import ParamSpec

from relight.utilities.overrides import has_own

if TYPE_CHECKING:
    from relight.callbacks import Callback
    from relight.module import LightningModule
    from relight.trainer.trainer import Trainer

__all__ = ["HOOK_ORDER", "Hooks", "Order", "call_hook", "profiler_entry"]

P = ParamSpec("P")
R = TypeVar("R")


class Order(str, Enum):
    """Who gets a hook first."""

    CALLBACKS_FIRST = "callbacks-first"
    MODULE_FIRST = "module-first"


#: Hooks whose order is not callbacks first. At the end of an epoch the module goes first, so that every
#: callback can monitor what it logs there; loading a checkpoint mirrors saving it.
HOOK_ORDER: Mapping[str, Order] = MappingProxyType(
    {
        "on_train_epoch_end": Order.MODULE_FIRST,
        "on_validation_epoch_end": Order.MODULE_FIRST,
        "on_test_epoch_end": Order.MODULE_FIRST,
        "on_predict_epoch_end": Order.MODULE_FIRST,
        "on_load_checkpoint": Order.MODULE_FIRST,
    }
)


#: Hooks in which checkpoints are saved: callbacks that do come after the module, too, so that what it did is
#: in the file and nothing is left out when a run goes on from there.
CHECKPOINTS_LAST = frozenset({"on_train_batch_end", "on_validation_end"})


def _owner_kind(owner: object) -> str | None:
    """Return what a profiler calls ``owner``, ``None`` for something that has no hooks."""
    from relight.callbacks import Callback
    from relight.datamodule import LightningDataModule
    from relight.module import LightningModule

    if isinstance(owner, LightningModule):
        return "LightningModule"
    if isinstance(owner, LightningDataModule):
        return "LightningDataModule"
    if isinstance(owner, Callback):
        return "Callback"
    for module, cls, kind in (
        ("lightning_fabric.loggers.logger", "Logger", "Logger"),
        ("lightning_fabric.strategies", "Strategy", "Strategy"),
        ("lightning_fabric.accelerators", "Accelerator", "Accelerator"),
    ):
        loaded = sys.modules.get(module)  # what is not imported has no instances
        base = getattr(loaded, cls, None) if loaded is not None else None
        if isinstance(base, type) and isinstance(owner, base):
            return kind
    return None


def profiler_entry(owner: object, hook: str, kind: str | None = None) -> str:
    """Return the name under which a profiler records ``owner``'s ``hook``.

    ``[Callback]EarlyStopping{'monitor': 'loss', 'mode': 'min'}.on_train_start``,
    ``[LightningModule]Net.on_train_start``. Calls that share a name add up.
    """
    kind = kind or _owner_kind(owner)
    name = owner.state_key if kind == "Callback" else type(owner).__name__  # type: ignore[attr-defined]
    return f"[{kind}]{name}.{hook}"


def call_hook(trainer: Trainer, hook: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call one hook: the bound method of a module, data module, callback, logger, strategy or accelerator.

    While it runs, what ``self.log`` does is decided by its name, also when hooks nest; the profiler records
    it under its owner's name.

    >>> call_hook(trainer, module.on_train_start)  # doctest: +SKIP
    >>> call_hook(trainer, callback.on_train_start, trainer, module)  # doctest: +SKIP

    Args:
        trainer: Whose logging scope and profiler are used; needs no module.
        hook: The bound method.
        args: Its positional arguments.
        kwargs: Its keyword arguments.

    Returns:
        What the hook returns.

    Raises:
        TypeError: If ``hook`` is anything else.
    """
    owner = getattr(hook, "__self__", None)
    kind = _owner_kind(owner) if inspect.ismethod(hook) else None
    if kind is None:
        raise TypeError(
            "`call_hook` takes the bound method of a LightningModule, LightningDataModule, Callback, Logger,"
            f" Strategy or Accelerator, such as `module.on_train_start`; not {hook!r}"
        )
    name = _name_of(owner, hook)
    return _call(trainer, name, profiler_entry(owner, name, kind), hook, *args, **kwargs)


def call_own_hook(trainer: Trainer, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call ``owner``'s hook ``name``, also where something that is no method was set on the instance.

    Tests and wrappers do that (``model.on_fit_start = Mock()``); what is set there says nothing of its owner,
    so :func:`call_hook` cannot take it.
    """
    return _call(trainer, name, profiler_entry(owner, name), getattr(owner, name), *args, **kwargs)


def _name_of(owner: Any, hook: Any) -> str:
    """Return the name under which ``owner`` has ``hook``; a lambda's own would be misleading."""
    name: str = hook.__name__
    if getattr(type(owner), name, None) is hook.__func__:
        return name
    attributes = (vars(cls).items() for cls in type(owner).__mro__)
    return next((own for items in attributes for own, value in items if value is hook.__func__), name)


def _call(
    trainer: Trainer, name: str, entry: str, method: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
) -> R:
    scope, profiler = trainer._scope, trainer._active_profiler
    outer = scope.hook
    scope.hook = name
    try:
        if profiler is None:
            return method(*args, **kwargs)
        with profiler.profile(entry):
            return method(*args, **kwargs)
    finally:
        scope.hook = outer


class Hooks:
    """The hooks of one run: bound once, kept by name."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self._bound: dict[tuple[str, str], Callable[..., Any] | None] = {}

    def bind(self, name: str) -> Callable[..., Any] | None:
        """Return a callable that gives ``name`` to the module and the callbacks that override it.

        It takes the module's arguments, puts the trainer and the module before them for callbacks, and
        returns what the module's hook returned. ``None`` when nobody overrides the hook.
        """
        return self._get("all", name)

    def module(self, name: str, always: bool = False) -> Callable[..., Any] | None:
        """Return a callable for the module's hook, ``None`` unless overridden (or ``always``)."""
        return self._get("always" if always else "module", name)

    def callbacks(self, name: str) -> Callable[..., Any] | None:
        """Return a callable for the callbacks' hook, ``None`` if no callback overrides it."""
        return self._get("callbacks", name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call ``name`` of the module and the callbacks that override it, now."""
        hook = self.bind(name)
        return hook(*args, **kwargs) if hook is not None else None

    def step(self, name: str, scoped: bool = True) -> Callable[..., Any]:
        """Return a callable for one of the module's steps, under the strategy and the precision.

        With ``scoped`` False the caller sets the logging scope.
        """
        trainer, module = self.trainer, self.trainer.lightning_module
        method = trainer._backend.step_method(module, name)
        if trainer._active_profiler is not None:
            return _profiled(trainer, module, name, method, [], False)
        if not scoped:
            return method
        scope = trainer._scope

        def step(*args: Any) -> Any:
            outer = scope.hook
            scope.hook = name
            try:
                return method(*args)
            finally:
                scope.hook = outer

        return step

    def _get(self, whose: str, name: str) -> Callable[..., Any] | None:
        key = whose, name
        if key not in self._bound:
            self._bound[key] = self._make(whose, name)
        return self._bound[key]

    def _make(self, whose: str, name: str) -> Callable[..., Any] | None:
        from relight.callbacks import Callback
        from relight.module import LightningModule

        trainer, module = self.trainer, self.trainer.lightning_module
        callbacks: list[Callback] = []
        if whose in ("all", "callbacks"):
            callbacks = [c for c in trainer.callbacks if has_own(name, c, Callback)]
        own: Callable[..., Any] | None = None
        if whose != "callbacks" and (whose == "always" or has_own(name, module, LightningModule)):
            own = getattr(module, name)
        if own is None and not callbacks:
            return None
        module_first = trainer.hook_order.get(name) is Order.MODULE_FIRST
        if trainer._active_profiler is not None:
            return _profiled(trainer, module, name, own, callbacks, module_first)
        late = _split_late(name, own, callbacks)
        methods, late_methods = ([getattr(c, name) for c in some] for some in (callbacks, late))
        return _straight(trainer, module, name, own, methods, module_first, late_methods)


def _split_late(name: str, own: Callable[..., Any] | None, callbacks: list[Callback]) -> list[Callback]:
    """Take from ``callbacks`` those that have the hook after the module, and return them."""
    from relight.callbacks import Checkpoint

    if own is None or name not in CHECKPOINTS_LAST:
        return []
    late: list[Callback] = [callback for callback in callbacks if isinstance(callback, Checkpoint)]
    callbacks[:] = [callback for callback in callbacks if not isinstance(callback, Checkpoint)]
    return late


def _straight(
    trainer: Trainer,
    module: LightningModule,
    name: str,
    own: Callable[..., Any] | None,
    methods: list[Callable[..., Any]],
    module_first: bool,
    late: list[Callable[..., Any]],
) -> Callable[..., Any]:
    scope = trainer._scope

    if not methods and not late:
        assert own is not None
        only = own

        def call_module(*args: Any, **kwargs: Any) -> Any:
            outer = scope.hook
            scope.hook = name
            try:
                return only(*args, **kwargs)
            finally:
                scope.hook = outer

        return call_module

    def call(*args: Any, **kwargs: Any) -> Any:
        outer = scope.hook
        scope.hook = name
        try:
            result = None
            if own is not None and module_first:
                result = own(*args, **kwargs)
            for method in methods:
                method(trainer, module, *args, **kwargs)
            if own is not None and not module_first:
                result = own(*args, **kwargs)
            for method in late:
                method(trainer, module, *args, **kwargs)
            return result
        finally:
            scope.hook = outer

    return call


def _profiled(
    trainer: Trainer,
    module: LightningModule,
    name: str,
    own: Callable[..., Any] | None,
    callbacks: list[Callback],
    module_first: bool,
) -> Callable[..., Any]:
    late = _split_late(name, own, callbacks)
    steps: list[tuple[str, Callable[..., Any], bool]] = [
        (profiler_entry(callback, name, "Callback"), getattr(callback, name), True) for callback in callbacks
    ]
    if own is not None:
        entry = profiler_entry(module, name, "LightningModule"), own, False
        steps.insert(0, entry) if module_first else steps.append(entry)
    steps += [(profiler_entry(c, name, "Callback"), getattr(c, name), True) for c in late]

    def call(*args: Any, **kwargs: Any) -> Any:
        result = None
        for entry, method, is_callback in steps:
            if is_callback:
                _call(trainer, name, entry, method, trainer, module, *args, **kwargs)
            else:
                result = _call(trainer, name, entry, method, *args, **kwargs)
        return result

    return call
