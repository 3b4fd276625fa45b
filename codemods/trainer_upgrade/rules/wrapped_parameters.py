"""The parameters of the wrapped module in ``configure_optimizers``: since 2.0 the module has them itself.

Before::

    def configure_optimizers(self):
        return torch.optim.SGD(self.trainer.model.parameters(), lr=0.1)

After::

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

FairScale's and PyTorch's FSDP wanted the wrapped one up to 1.9. Without such a strategy both are the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.reading import self_name

__all__ = ["WrappedParameters"]


@rule("wrapped-parameters")
class WrappedParameters:
    """Asks the module."""

    @on(ast.Attribute)
    def check(self, node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        """Look at ``self.trainer.model`` in ``configure_optimizers``."""
        outer = file.parent(node)
        if node.attr != "model" or not isinstance(outer, ast.Attribute):
            return
        if outer.attr not in ("parameters", "named_parameters"):
            return
        function = file.enclosing_function(node)
        if function is None or function.name != "configure_optimizers":
            return
        trainer = node.value
        if not isinstance(trainer, ast.Attribute) or trainer.attr != "trainer":
            return
        if not isinstance(trainer.value, ast.Name) or trainer.value.id != self_name(function):
            return
        if file.instance_of(trainer.value) != "LightningModule":
            return
        entry = catalogue.find(Area.DEFAULT, "LightningModule", "fsdp-parameters")
        assert entry is not None
        fix = Fix(Applicability.UNSAFE, "ask the module", (file.edit(node, trainer.value.id),))
        yield file.finding(entry, node, fix=fix)
