"""The devices that 1.x took when none were named: with ``--pin-defaults``, or under a pin of 1.x.

Before::

    trainer = pl.Trainer(max_epochs=3)

After::

    trainer = pl.Trainer(max_epochs=3, accelerator="cpu", devices=1)

1.x ran on one CPU process unless it was told otherwise; 2.x takes every accelerator it finds. Code that is
written for 2.x may mean that, so without the option it is only reported, and fixed as unsafe, where the
project pins a Lightning before 2.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.version import Version

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
        asked = "pin_defaults" in file.options
        if not asked and not _pins_1_x(file):
            return
        found = trainer_call(node, file)
        if found is None or found.kind == "partial" or found.open or not (asked or found.kind == "call"):
            return
        if any(each.name in _DEVICES for each in found.given):
            return
        entry = catalogue.trainer_argument("accelerator")
        assert entry is not None
        editor = found.editors[0]
        editor.add('accelerator="cpu"', "devices=1")
        message = "no devices are named: 1.x took one CPU process, 2.x takes every accelerator it finds"
        how = Applicability.SAFE if asked else Applicability.UNSAFE
        fix = Fix(how, "name the devices that 1.x took", tuple(found.edits()))
        consequence = "2.x takes all accelerators it finds, without an error"
        yield file.finding(
            entry, node.func, message, fix, silent=True, consequence=consequence, removed_in="2.0"
        )


def _pins_1_x(file: FileContext) -> bool:
    told = file.pin is not None or file.project.target_version is not None
    # A file that imports relight is written for it, unless this very run has made it so.
    ours = (file.root or "").startswith("relight") and "checking" in file.options
    return told and not ours and file.installed < Version("2.0")
