"""Old signatures on the core: bound methods that stand on an instance while an entry point runs.

The core calls ``getattr(owner, "on_train_batch_end")(outputs, batch, batch_idx)``. Where a user's hook was
written for another release, an adapter of that name stands in the instance's ``__dict__``; it hands the
hook what it was written for. Which values those are is worked out once, from the signature
(:mod:`relight.compat._binding`).
"""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from relight.callbacks import Callback as CoreCallback
from relight.compat._binding import Binding, plan
from relight.compat._dicts import is_structured, log_returned
from relight.compat._facts import advice_for, code_for
from relight.compat._notices import notice, place_of
from relight.compat._results import Result, log_result
from relight.compat._signatures import CALLBACK, DATAMODULE, MODULE, Hook
from relight.datamodule import LightningDataModule as CoreDataModule
from relight.module import LightningModule as CoreModule
from relight.utilities.overrides import is_overridden
from trainer_upgrade.catalogue import Area

__all__ = ["Adapter", "Adapters", "combined"]

_WITH_OUTPUTS = ("on_train_epoch_end", "on_predict_epoch_end")
_STATE_NAMES = {"callback_state", "checkpointed_state", "state", "state_dict"}


class Adapter:
    """Stands for one method of one instance; bound to it with ``types.MethodType``.

    ``given`` is what the instance itself had under the name, ``None`` if the class has the method.
    """

    def __init__(self, name: str, given: Callable[..., Any] | None, modern: Iterable[str]) -> None:
        self.__name__ = name
        self.__qualname__ = f"{type(self).__qualname__}[{name}]"
        self.given = given
        parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        for value in modern:
            default = 0 if value == "dataloader_idx" else inspect.Parameter.empty
            parameters.append(
                inspect.Parameter(value, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
            )
        self.__signature__ = inspect.Signature(parameters)

    def look_like(self, function: Callable[..., Any]) -> None:
        """Let whoever asks what the method takes see the user's own."""
        signature = inspect.signature(function)
        if self.given is None:
            self.__wrapped__ = function
            self.__signature__ = signature
        else:  # bound already
            own = list(self.__signature__.parameters.values())[:1]
            self.__signature__ = signature.replace(parameters=[*own, *signature.parameters.values()])

    def original(self, owner: object) -> Callable[..., Any]:
        """Return the user's method, bound to ``owner``."""
        if self.given is not None:
            return self.given
        method: Callable[..., Any] = getattr(type(owner), self.__name__).__get__(owner, type(owner))
        return method

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


class _Rebound(Adapter):
    """Calls a hook with the values it was written for."""

    def __init__(self, name: str, given: Callable[..., Any] | None, hook: Hook, binding: Binding) -> None:
        super().__init__(name, given, hook.modern)
        self.modern = hook.modern
        self.constants = dict(hook.constants)
        self.binding = binding
        self.wants = binding.names

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        values = {**self.constants, **dict(zip(self.modern, args, strict=False)), **kwargs}
        if "using_lbfgs" in self.wants:
            optimizer = values["optimizer"]
            values["using_lbfgs"] = isinstance(getattr(optimizer, "optimizer", optimizer), torch.optim.LBFGS)
        if self.__name__ == "backward":
            values["trainer"] = owner.trainer
            if "optimizer" in self.wants:
                optimizers = owner.trainer.optimizers
                values["optimizer"] = optimizers[owner.trainer._compat_optimizer_idx] if optimizers else None
        trainer: Any
        if "optimizer_idx" in self.wants:
            trainer = owner.trainer if isinstance(owner, CoreModule) else values["trainer"]
            values["optimizer_idx"] = trainer._compat_optimizer_idx
        if self.__name__ in _WITH_OUTPUTS:
            trainer = owner.trainer if isinstance(owner, CoreModule) else values["trainer"]
            kept = trainer._compat_outputs
            predicting = self.__name__ == "on_predict_epoch_end"
            values["results"] = values["outputs"] = kept.predictions() if predicting else kept.shaped()
        return self.binding.call(self.original(owner), values)


class _StepEnd(Adapter):
    """A step followed by its ``*_step_end``, which may replace what the step returned."""

    def __init__(self, name: str, given: Callable[..., Any] | None, end: str, function: Any) -> None:
        super().__init__(name, given, ())
        self.end = end
        self.look_like(function)

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        output = self.original(owner)(*args, **kwargs)
        ended = getattr(owner, self.end)(output)
        return output if ended is None else ended


class _Structured(Adapter):
    """A training step that returns ``{"loss", "log", "progress_bar"}``, as up to 0.9."""

    def __init__(self, name: str, given: Callable[..., Any] | None, function: Any) -> None:
        super().__init__(name, given, ())
        self.look_like(function)

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        owner.__dict__["_compat_has_logged"] = False
        output = self.original(owner)(*args, **kwargs)
        if is_structured(output) and not owner.__dict__.get("_compat_has_logged"):
            log_returned(owner, output, epoch=False)
        return output


class _Resulting(Adapter):
    """A step that returns a ``TrainResult`` or ``EvalResult``, as up to 1.1."""

    def __init__(self, name: str, given: Callable[..., Any] | None, function: Any) -> None:
        super().__init__(name, given, ())
        self.look_like(function)

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        output = self.original(owner)(*args, **kwargs)
        return log_result(owner, output) if isinstance(output, Result) else output


class _Combined(Adapter):
    """``train_dataloader`` whose loaders are combined in another mode than the longest one's."""

    def __init__(self, name: str, given: Callable[..., Any] | None, mode: str) -> None:
        super().__init__(name, given, ())
        self.mode = mode

    def __call__(self, owner: Any) -> Any:
        return combined(self.original(owner)(), self.mode)


def combined(loaders: Any, mode: str) -> Any:
    """Return several loaders combined in ``mode``; a single one as it is."""
    if not isinstance(loaders, (list, tuple, dict)):
        return loaders
    from relight.utilities.combined_loader import CombinedLoader

    return CombinedLoader(loaders, mode)  # type: ignore[arg-type]


class _SavedState(Adapter):
    """``on_save_checkpoint`` that returns the callback's state, as up to 1.7."""

    def __init__(self, name: str, given: Callable[..., Any] | None, binding: Binding) -> None:
        super().__init__(name, given, ("trainer", "pl_module", "checkpoint"))
        self.binding = binding

    def __call__(self, owner: Any, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        values = {"trainer": trainer, "pl_module": pl_module, "checkpoint": checkpoint}
        function = self.original(owner)
        state = self.binding.call(function, values)
        if state is not None:
            _notice_hook("Callback", "on_save_checkpoint", function, Area.CALLBACK_HOOK)
            checkpoint.setdefault("callbacks", {})[owner.state_key] = state


class _LoadedState(Adapter):
    """``on_load_checkpoint`` that takes the callback's own state, as up to 1.7; called if the file has
    one."""

    def __init__(self, name: str, given: Callable[..., Any] | None, binding: Binding) -> None:
        super().__init__(name, given, ("trainer", "pl_module", "checkpoint"))
        self.binding = binding

    def __call__(self, owner: Any, trainer: Any, pl_module: Any, checkpoint: Mapping[str, Any]) -> None:
        states = checkpoint.get("callbacks") or {}
        state = states.get(owner.state_key, states.get(owner._legacy_state_key))
        if not state:
            return
        values = {"trainer": trainer, "pl_module": pl_module, "state": copy.deepcopy(state)}
        self.binding.call(self.original(owner), values)


class _Sharded(Adapter):
    """``configure_model`` where the module has the name of 1.4 to 2.0, ``configure_sharded_model``."""

    def __call__(self, owner: Any) -> None:
        owner.configure_sharded_model()
        self.original(owner)()


class _WithDataModule(Adapter):
    """A checkpoint hook of the module, and then the data module's own, which it had up to 1.7."""

    def __init__(self, name: str, given: Callable[..., Any] | None, datamodule: Any) -> None:
        super().__init__(name, given, ("checkpoint",))
        self.datamodule = datamodule

    def __call__(self, owner: Any, checkpoint: dict[str, Any]) -> None:
        self.original(owner)(checkpoint)
        getattr(self.datamodule, self.__name__)(checkpoint)


def _notice_hook(owner: str, name: str, function: Callable[..., Any], area: Area) -> None:
    default = {Area.MODULE_HOOK: "TRU200", Area.DATAMODULE_HOOK: "TRU240"}.get(area, "TRU260")
    notice(
        code_for(area, owner, name, default),
        f"{owner}.{name}",
        advice_for(area, owner, name, f"`{name}` has another signature since 2.0"),
        place_of(function),
    )


class Adapters:
    """The adapters of one run: put in place when an entry point starts, taken away when it ends."""

    def __init__(self) -> None:
        self._placed: list[tuple[dict[str, Any], str, bool, Any]] = []
        self._adapted: set[int] = set()

    @property
    def busy(self) -> bool:
        """Whether a run is going on."""
        return bool(self._adapted)

    @property
    def wants_training_outputs(self) -> bool:
        """Whether some hook of the run takes the outputs of a training epoch."""
        adapters = [getattr(space.get(name), "__func__", None) for space, name, _, _ in self._placed]
        return any(
            isinstance(adapter, _Rebound)
            and adapter.__name__ == "on_train_epoch_end"
            and "outputs" in adapter.wants
            for adapter in adapters
        )

    def place(self, owner: object, adapter: Adapter) -> None:
        """Let ``adapter`` stand for a method of ``owner``."""
        space = owner.__dict__
        name = adapter.__name__
        self._placed.append((space, name, name in space, space.get(name)))
        space[name] = types.MethodType(adapter, owner)  # past nn.Module.__setattr__

    def remove(self) -> None:
        """Take all adapters away again."""
        for space, name, had, value in reversed(self._placed):
            if had:
                space[name] = value
            else:
                space.pop(name, None)
        self._placed.clear()
        self._adapted.clear()

    def module(self, module: CoreModule) -> None:
        """Adapt the hooks of a module."""
        self._adapted.add(id(module))
        self._hooks(module, MODULE, "LightningModule", CoreModule, Area.MODULE_HOOK)
        sharded = getattr(module, "configure_sharded_model", None)
        if callable(sharded) and _by_user(module, "configure_sharded_model"):
            _notice_hook("LightningModule", "configure_sharded_model", sharded, Area.MODULE_HOOK)
            self.place(module, _Sharded("configure_model", module.__dict__.get("configure_model"), ()))
        for stage in ("training", "validation", "test"):
            step, end = f"{stage}_step", f"{stage}_step_end"
            if stage == "training" and _returns_dicts(module):
                self.place(module, _Structured(step, module.__dict__.get(step), _function(module, step)))
            if _names_results(module, step):
                self.place(module, _Resulting(step, module.__dict__.get(step), _function(module, step)))
            ended = getattr(module, end, None)
            if callable(ended) and is_overridden(end, module, _base(module)):
                given = module.__dict__.get(step)
                self.place(module, _StepEnd(step, given, end, _function(module, step)))
                _notice_hook("LightningModule", end, ended, Area.MODULE_HOOK)

    def combining(self, owner: Any, mode: str) -> None:
        """Combine the training loaders of a module or data module in ``mode``."""
        self.place(owner, _Combined("train_dataloader", owner.__dict__.get("train_dataloader"), mode))

    def checkpoints(self, module: CoreModule, datamodule: CoreDataModule) -> None:
        """Let the checkpoint hooks that a data module had be called with the module's."""
        for name in ("on_save_checkpoint", "on_load_checkpoint"):
            own = getattr(datamodule, name, None)
            if callable(own) and _by_user(datamodule, name):
                _notice_hook("LightningDataModule", name, own, Area.DATAMODULE_HOOK)
                self.place(module, _WithDataModule(name, module.__dict__.get(name), datamodule))

    def datamodule(self, datamodule: CoreDataModule) -> None:
        """Adapt the hooks of a data module."""
        self._hooks(datamodule, DATAMODULE, "LightningDataModule", CoreDataModule, Area.DATAMODULE_HOOK)

    def callback(self, callback: CoreCallback) -> None:
        """Adapt the hooks of a callback, once a run."""
        if id(callback) in self._adapted:
            return
        self._adapted.add(id(callback))
        self._hooks(callback, CALLBACK, "Callback", CoreCallback, Area.CALLBACK_HOOK)
        if is_overridden("on_save_checkpoint", callback, CoreCallback) and _by_user(
            callback, "on_save_checkpoint"
        ):
            given = callback.__dict__.get("on_save_checkpoint")
            function = callback.on_save_checkpoint
            layouts = (("trainer", "pl_module", "checkpoint"), ("trainer", "pl_module"))
            self.place(
                callback, _SavedState("on_save_checkpoint", given, plan(function, layouts, aliases=_TRAINER))
            )
        if is_overridden("on_load_checkpoint", callback, CoreCallback) and _by_user(
            callback, "on_load_checkpoint"
        ):
            given = callback.__dict__.get("on_load_checkpoint")
            function = callback.on_load_checkpoint
            parameters = [
                p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD
            ]
            if len(parameters) == 1 or (parameters and parameters[-1] in _STATE_NAMES):
                states = (("trainer", "pl_module", "state"), ("state",))
                names = {**_TRAINER, **dict.fromkeys(_STATE_NAMES, "state")}
                self.place(
                    callback,
                    _LoadedState("on_load_checkpoint", given, plan(function, states, aliases=names)),
                )
                _notice_hook("Callback", "on_load_checkpoint", function, Area.CALLBACK_HOOK)

    def _hooks(self, owner: Any, table: Mapping[str, Hook], kind: str, parent: type, area: Area) -> None:
        for name, hook in table.items():
            if not is_overridden(name, owner, parent) or not _by_user(owner, name):
                continue
            method = getattr(owner, name)
            binding = plan(
                method,
                hook.layouts,
                aliases=hook.aliases,
                extras=hook.extras,
                optional=hook.optional,
                keywords=hook.keywords,
                required=hook.required,
            )
            if _is_modern(method, binding, hook):
                continue
            self.place(owner, _Rebound(name, owner.__dict__.get(name), hook, binding))
            if _is_telling(binding, hook):
                _notice_hook(kind, name, method, area)


_TRAINER = {"module": "pl_module", "model": "pl_module"}


def _base(module: CoreModule) -> type:
    from relight.compat._module import LightningModule

    return LightningModule if isinstance(module, LightningModule) else CoreModule


def _function(module: CoreModule, name: str) -> Any:
    given = module.__dict__.get(name)
    return given if given is not None else getattr(type(module), name)


def _returns_dicts(module: CoreModule) -> bool:
    """Return whether the source of the training step says something about ``log`` or ``progress_bar``.

    Only then is each output looked at: a look at every step of every module would cost more than it finds.
    """
    code = getattr(inspect.unwrap(_function(module, "training_step")), "__code__", None)
    if code is None:
        return False
    words = {word for const in _constants(code) for word in (const if isinstance(const, tuple) else (const,))}
    return bool({"log", "progress_bar"} & {word for word in words if isinstance(word, str)})


def _names_results(module: CoreModule, step: str) -> bool:
    """Return whether the source of a step says something about result objects."""
    code = getattr(inspect.unwrap(_function(module, step)), "__code__", None)
    return code is not None and bool({"TrainResult", "EvalResult"} & set(code.co_names))


def _constants(code: types.CodeType) -> list[Any]:
    found: list[Any] = []
    for const in code.co_consts:
        found.extend(_constants(const) if isinstance(const, types.CodeType) else [const])
    return found


def _by_user(owner: object, name: str) -> bool:
    """Return whether relight itself brings the method: then it is modern."""
    if name in owner.__dict__:
        return True
    for cls in type(owner).__mro__:
        if name in cls.__dict__:
            module = cls.__module__
            return not (module == "relight" or module.startswith("relight.")) or module.startswith(
                "relight.compat_"
            )
    return False


def _is_modern(method: Callable[..., Any], binding: Binding, hook: Hook) -> bool:
    """Return whether the core's own call does what the old release's did."""
    if binding.keyword or binding.positional != hook.modern:
        return False
    if hook.modern and hook.modern[-1] == "dataloader_idx":
        # The core passes it only when there are several loaders; old releases always did.
        last = list(inspect.signature(method).parameters.values())[len(hook.modern) - 1 :]
        return bool(last) and last[0].default is not inspect.Parameter.empty
    return True


def _is_telling(binding: Binding, hook: Hook) -> bool:
    """Return whether the signature itself is legacy, and not just shorter or wider than need be."""
    return bool(binding.names - set(hook.modern))
