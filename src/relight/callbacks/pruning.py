"""Set the least important weights to zero while a model trains."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import torch.nn.utils.prune as torch_prune
from torch import Tensor, nn

from relight.callbacks.callback import Callback
from relight.utilities.exceptions import MisconfigurationException
from relight.utilities.memory import map_tensors
from relight.utilities.rank_zero import rank_zero_only

if TYPE_CHECKING:
    from relight.module import LightningModule
    from relight.trainer import Trainer

__all__ = ["ModelPruning"]

log = logging.getLogger(__name__)

Part = tuple[nn.Module, str]
Amount = int | float

#: By name: the method for the whole model at once, and the function for one parameter.
_METHODS: dict[str, tuple[Any, Any]] = {
    "ln_structured": (torch_prune.LnStructured, torch_prune.ln_structured),
    "l1_unstructured": (torch_prune.L1Unstructured, torch_prune.l1_unstructured),
    "random_structured": (torch_prune.RandomStructured, torch_prune.random_structured),
    "random_unstructured": (torch_prune.RandomUnstructured, torch_prune.random_unstructured),
}


class ModelPruning(Callback):
    """Prune a model with ``torch.nn.utils.prune`` at the end of epochs (as Lightning 2.6 does).

    Until the end of training torch keeps a pruned ``weight`` as ``weight_orig`` and ``weight_mask``; what a
    checkpoint holds is the product, under ``weight``, so that it loads into the model as it was written.

    Args:
        pruning_fn: ``"l1_unstructured"``, ``"random_unstructured"``, ``"ln_structured"``,
            ``"random_structured"``, or a subclass of ``torch.nn.utils.prune.BasePruningMethod``.
        parameters_to_prune: pairs of a module and the name of its parameter; all of the model by default.
        parameter_names: of the modules' parameters, ``"weight"``, ``"bias"`` or both (the default).
        use_global_unstructured: compare the weights of all parameters with each other, not each parameter's
            among themselves.
        amount: the share (float from 0 to 1) or number (int) of weights to prune, or a function that returns
            it for an epoch. Repeated pruning takes it of what is left.
        apply_pruning: whether to prune, or a function that tells it for an epoch.
        make_pruning_permanent: multiply weights and masks at the end of training and in checkpoints.
        use_lottery_ticket_hypothesis: after pruning set the rest back to where training began
            (https://arxiv.org/abs/1803.03635), or a function that tells it for an epoch.
        resample_parameters: set the rest to new random values instead.
        pruning_dim: along which dimension whole slices are pruned; needed by structured methods.
        pruning_norm: which norm ranks the slices; needed by ``"ln_structured"``.
        verbose: 1 tells the share that is pruned, 2 also of each parameter.
        prune_on_train_epoch_end: False prunes at the end of a validation.

    Raises:
        MisconfigurationException: for an unknown method, a structured one without its dimension or with
            ``use_global_unstructured``, or an argument of the wrong kind.
    """

    PARAMETER_NAMES = ("weight", "bias")

    def __init__(
        self,
        pruning_fn: Callable[..., Any] | str,
        parameters_to_prune: Sequence[Part] = (),
        parameter_names: list[str] | None = None,
        use_global_unstructured: bool = True,
        amount: Amount | Callable[[int], Amount] = 0.5,
        apply_pruning: bool | Callable[[int], bool] = True,
        make_pruning_permanent: bool = True,
        use_lottery_ticket_hypothesis: bool | Callable[[int], bool] = True,
        resample_parameters: bool = False,
        pruning_dim: int | None = None,
        pruning_norm: int | None = None,
        verbose: int = 0,
        prune_on_train_epoch_end: bool = True,
    ) -> None:
        self._parameter_names = parameter_names or self.PARAMETER_NAMES
        if unknown := [name for name in self._parameter_names if name not in self.PARAMETER_NAMES]:
            raise MisconfigurationException(
                f"ModelPruning(parameter_names=...): {unknown} are none of {self.PARAMETER_NAMES}"
            )
        if not (isinstance(amount, (int, float)) or callable(amount)):
            raise MisconfigurationException(
                f"ModelPruning(amount={amount!r}): an int, a float or a function is needed"
            )
        if verbose not in (0, 1, 2):
            raise MisconfigurationException(f"ModelPruning(verbose={verbose!r}): 0, 1 or 2 is needed")
        self.amount = amount
        self._parameters_to_prune = parameters_to_prune
        self._use_global_unstructured = use_global_unstructured
        self._apply_pruning = apply_pruning
        self._make_pruning_permanent = make_pruning_permanent
        self._use_lottery_ticket_hypothesis = use_lottery_ticket_hypothesis
        self._resample_parameters = resample_parameters
        self._prune_on_train_epoch_end = prune_on_train_epoch_end
        self._verbose = verbose
        self._global_kwargs: dict[str, Any] = {}
        self._pruning_method_name: str | None = None
        self._originals: list[tuple[nn.Module, list[Part]]] | None = None
        self.pruning_fn: Any = self._choose(pruning_fn, pruning_dim, pruning_norm)

    def _choose(self, given: Any, dim: int | None, norm: int | None) -> Any:
        """Return what prunes: a method's class for the whole model, a function for one parameter."""
        whole = self._use_global_unstructured
        if isinstance(given, str):
            name = given.lower()
            if name not in _METHODS:
                raise MisconfigurationException(
                    f"ModelPruning(pruning_fn={given!r}): torch has {', '.join(_METHODS)}"
                )
            method, function = _METHODS[name]
            arguments = {}
            if name.endswith("_structured"):
                if dim is None:
                    raise MisconfigurationException(
                        f"ModelPruning(pruning_fn={given!r}) prunes whole slices: along which `pruning_dim`?"
                    )
                if name == "ln_structured":
                    if norm is None:
                        raise MisconfigurationException(
                            f"ModelPruning(pruning_fn={given!r}) ranks slices: by which `pruning_norm`?"
                        )
                    arguments["n"] = norm
                arguments["dim"] = dim
            self._pruning_method_name = method.__name__ if whole else name
            if not whole:
                return partial(function, **arguments)
            self._global_kwargs = arguments
        elif inspect.isclass(given) and issubclass(given, torch_prune.BasePruningMethod):
            if not whole:
                raise MisconfigurationException(
                    f"ModelPruning(pruning_fn={given.__name__}) needs `use_global_unstructured=True`"
                )
            method = given
        else:
            raise MisconfigurationException(
                f"ModelPruning(pruning_fn={given!r}): one of {', '.join(_METHODS)} or a subclass of"
                " `BasePruningMethod` (the class, not an instance) is needed"
            )
        if method.PRUNING_TYPE != "unstructured":
            raise MisconfigurationException(
                f"ModelPruning(pruning_fn={given!r}) is {method.PRUNING_TYPE}: give"
                " `use_global_unstructured=False`"
            )
        return method

    # For subclasses

    def filter_parameters_to_prune(self, parameters_to_prune: Sequence[Part] = ()) -> Sequence[Part]:
        """Choose among the parameters; returns them all unless overridden."""
        return parameters_to_prune

    def apply_pruning(self, amount: Amount) -> None:
        """Prune ``amount`` of the weights now."""
        before = self._zeros() if self._verbose else []
        if self._use_global_unstructured:
            self._global_kwargs["amount"] = amount
            known = inspect.signature(self.pruning_fn).parameters
            arguments = {name: value for name, value in self._global_kwargs.items() if name in known}
            torch_prune.global_unstructured(
                self._parameters_to_prune, pruning_method=self.pruning_fn, **arguments
            )
        else:
            for module, name in self._parameters_to_prune:
                self.pruning_fn(module, name=name, amount=amount)
        if self._verbose:
            self._tell(before, self._zeros(), amount)

    def apply_lottery_ticket_hypothesis(self) -> None:
        """Set what is not pruned back to where training began, or to new random values."""
        assert self._originals is not None, "kept in `setup`"
        for original, parts in self._originals:
            source = original
            if self._resample_parameters and callable(getattr(original, "reset_parameters", None)):
                source = deepcopy(original)
                source.reset_parameters()  # type: ignore[operator]
            for module, name in parts:
                target = getattr(module, f"{name}_orig", None)
                if target is None:
                    target = getattr(module, name)
                value = getattr(source, name)
                if isinstance(target, Tensor) and isinstance(value, Tensor):
                    target.data = value.data.to(target.device)

    def make_pruning_permanent(self, module: nn.Module) -> None:
        """Take torch's masks away and leave the pruned weights as parameters."""
        for part in module.modules():
            for key, hook in list(part._forward_pre_hooks.items()):
                if isinstance(hook, torch_prune.BasePruningMethod):
                    hook.remove(part)
                    del part._forward_pre_hooks[key]

    @staticmethod
    def sanitize_parameters_to_prune(
        pl_module: LightningModule,
        parameters_to_prune: Sequence[Part] = (),
        parameter_names: Sequence[str] = (),
    ) -> Sequence[Part]:
        """Return the parameters to prune: those given, which the model must have, or all of it.

        Raises:
            MisconfigurationException: if the model lacks one, or if they are no pairs of a module and a name.
        """
        from relight.module import LightningModule as Base

        containers = (Base, nn.Sequential, nn.ModuleList, nn.ModuleDict)
        modules = [module for module in pl_module.modules() if not isinstance(module, containers)]
        if not parameters_to_prune:
            return [
                (module, name)
                for name in parameter_names or ModelPruning.PARAMETER_NAMES
                for module in modules
                if isinstance(getattr(module, name, None), nn.Parameter)
            ]
        pairs = isinstance(parameters_to_prune, (list, tuple)) and all(
            isinstance(pair, (list, tuple))
            and len(pair) == 2
            and isinstance(pair[0], nn.Module)
            and isinstance(pair[1], str)
            for pair in parameters_to_prune
        )
        if not pairs:
            raise MisconfigurationException(
                "ModelPruning(parameters_to_prune=...): pairs of a module and the name of its parameter are"
                " needed"
            )
        missing = [
            f"{type(module).__name__}.{name}"
            for module, name in parameters_to_prune
            if not any(module is one for one in modules) or not hasattr(module, name)
        ]
        if missing:
            raise MisconfigurationException(
                f"ModelPruning(parameters_to_prune=...): the model does not have {', '.join(missing)}"
            )
        return parameters_to_prune

    # Hooks

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Find the parameters, and keep what training begins with."""
        parts = self.sanitize_parameters_to_prune(
            pl_module, self._parameters_to_prune, parameter_names=self._parameter_names
        )
        self._parameters_to_prune = self.filter_parameters_to_prune(parts)
        if self._use_lottery_ticket_hypothesis:
            by_module: dict[int, list[Part]] = {}
            for module, name in self._parameters_to_prune:
                by_module.setdefault(id(module), []).append((module, name))
            self._originals = [(deepcopy(same[0][0]), same) for same in by_module.values()]

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Prune."""
        if self._prune_on_train_epoch_end:
            self._run_pruning(pl_module.current_epoch)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Prune, if it is to be done here."""
        if not trainer.sanity_checking and not self._prune_on_train_epoch_end:
            self._run_pruning(pl_module.current_epoch)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave pruned weights."""
        if self._make_pruning_permanent:
            self.make_pruning_permanent(pl_module)

    def on_save_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Save pruned weights; training goes on with weights and masks."""
        if not self._make_pruning_permanent:
            return
        state = pl_module.state_dict()
        for mask_name in [name for name in state if name.endswith("_mask")]:
            name = mask_name.removesuffix("_mask")
            if f"{name}_orig" in state:
                original, mask = state.pop(f"{name}_orig"), state.pop(mask_name)
                state[name] = mask.to(dtype=original.dtype) * original
        checkpoint["state_dict"] = map_tensors(state, lambda tensor: tensor.cpu())

    # The work

    def _run_pruning(self, epoch: int) -> None:
        wanted = _at(self._apply_pruning, epoch)
        amount = _at(self.amount, epoch)
        if not wanted or not amount:
            return
        self.apply_pruning(amount)
        if _at(self._use_lottery_ticket_hypothesis, epoch):
            self.apply_lottery_ticket_hypothesis()

    def _zeros(self) -> list[tuple[int, int]]:
        """Return for each parameter how many weights are pruned, of how many."""
        masks = (getattr(module, f"{name}_mask", None) for module, name in self._parameters_to_prune)
        return [(0, 1) if mask is None else (int((mask == 0).sum()), mask.numel()) for mask in masks]

    @rank_zero_only
    def _tell(self, before: list[tuple[int, int]], after: list[tuple[int, int]], amount: Amount) -> None:
        total = sum(size for _, size in after)
        old, new = (sum(zeros for zeros, _ in counts) for counts in (before, after))
        log.info(
            f"Applied `{self._pruning_method_name}`. Pruned:"
            f" {old}/{total} ({old / total:.2%}) -> {new}/{total} ({new / total:.2%})"
        )
        if self._verbose < 2:
            return
        for (module, name), (old, old_size), (new, size) in zip(
            self._parameters_to_prune, before, after, strict=True
        ):
            log.info(
                f"Applied `{self._pruning_method_name}` to `{module!r}.{name}` with amount={amount}. Pruned:"
                f" {old} ({old / old_size:.2%}) -> {new} ({new / size:.2%})"
            )


def _at(value: Any, epoch: int) -> Any:
    return value(epoch) if callable(value) else value
