"""What to look for and how to rewrite it: one module a migration.

A rule module stands in ``MODULES``; its docstring shows the before and the after.
"""

from __future__ import annotations

from importlib import import_module

__all__ = ["MODULES", "load"]

# Modules of this package that register rules, sorted.
MODULES: tuple[str, ...] = (
    "argparse_helpers",
    "callback_order",
    "callback_state",
    "changed_numbers",
    "constructor_arguments",
    "datamodule_arguments",
    "datamodule_init",
    "datamodule_state",
    "dead_hooks",
    "defaults",
    "entry_points",
    "epoch_end",
    "epoch_end_outputs",
    "gone_members",
    "hook_arity",
    "hook_parameters",
    "hook_signatures",
    "hparams",
    "import_uses",
    "imports",
    "inference_grad",
    "iterator_steps",
    "load_on_instance",
    "loader_index",
    "loaders_given",
    "log_arguments",
    "log_dicts",
    "logged_dicts",
    "manual_optimization",
    "manual_trainer",
    "multiple_optimizers",
    "other_members",
    "plugin_signatures",
    "resume",
    "setup_pins",
    "stand_ins",
    "step_end",
    "structured_configs",
    "too_new",
    "trainer_arguments",
    "trainer_attributes",
    "trainer_dicts",
    "truncated_bptt",
    "tuner",
    "unattached_trainer",
    "values",
    "weights_only",
    "wrapped_parameters",
)


def load() -> None:
    """Import every rule module, so that its rules are registered."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
