"""With ``--pin-defaults``: the devices that 1.x took when none were named.

Before::

    trainer = pl.Trainer(max_epochs=3)

After::

    trainer = pl.Trainer(max_epochs=3, accelerator="cpu", devices=1)

1.x ran on one CPU process unless it was told otherwise; 2.x takes every accelerator it finds. Code that is
written for 2.x may mean that, so nothing is said without the option.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._trainer_calls import trainer_call
from trainer_upgrade.rules.registry import on, rule

__all__ = ["PinDefaults"]

_DEVICES = frozenset(
    [
        "accelerator",
        "devices",
        "gpus",
        "num_processes",
        "tpu_cores",
        "num_tpu_cores",
        "ipus",
        "distributed_backend",
        "strategy",
        "plugins",
    ]
)


@rule("pin-defaults")
class PinDefaults:
    """Writes the old default devices out."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        if "pin_defaults" not in file.options:
            return
        found = trainer_call(node, file)
        if found is None or found.kind == "partial" or found.open:
            return
        if any(each.name in _DEVICES for each in found.given):
            return
        entry = catalogue.trainer_argument("accelerator")
        assert entry is not None
        editor = found.editors[0]
        editor.add('accelerator="cpu"', "devices=1")
        message = "no devices are named: 1.x took one CPU process, 2.x takes every accelerator it finds"
        fix = Fix(Applicability.SAFE, "name the devices that 1.x took", tuple(found.edits()))
        yield file.finding(entry, node.func, message, fix, silent=True)
