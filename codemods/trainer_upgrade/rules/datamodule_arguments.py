"""What the constructor of a data module took, its transforms and ``dims``, and its argparse helper.

Before::

    class Data(pl.LightningDataModule):
        def __init__(self, transforms):
            super().__init__(train_transforms=transforms, dims=(1, 28, 28))

    data = Data.from_argparse_args(args, num_workers=4)

After::

    class Data(pl.LightningDataModule):
        def __init__(self, transforms):
            super().__init__()
            self.train_transforms = transforms
            self.dims = (1, 28, 28)

    data = Data(
        **{
            **{k: v for k, v in vars(args).items() if k in inspect.signature(Data.__init__).parameters},
            "num_workers": 4,
        }
    )

2.6 takes such arguments and throws them away without an error.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import insert_after, starts_line
from trainer_upgrade.rules.support.reading import is_super, self_name

__all__ = ["DataModuleArguments"]

# In the order of the old constructor's parameters.
_ATTRIBUTES = ("train_transforms", "val_transforms", "test_transforms", "dims")


@rule("datamodule-arguments")
class DataModuleArguments:
    """Calls of a data module's old constructor and of ``from_argparse_args``."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        called = node.func
        if not isinstance(called, ast.Attribute):
            return
        if called.attr == "__init__" and (node.args or node.keywords) and is_super(called.value):
            yield from self._constructor(node, file)
        elif called.attr == "from_argparse_args":
            yield from self._arguments(node, called, file)

    def _constructor(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        function = file.enclosing_function(node)
        owner = file.method_owner(function) if function is not None else None
        if function is None or owner is None or owner.lightning != "pytorch_lightning.LightningDataModule":
            return
        if any("__init__" in each.methods for each in owner.ancestors()[1:]):
            return  # a base of the project takes them
        named = list(itertools.takewhile(lambda each: not isinstance(each, ast.Starred), node.args))
        given = dict(zip(_ATTRIBUTES, named, strict=False))
        given.update({each.arg: each.value for each in node.keywords if each.arg in _ATTRIBUTES})
        if not given:
            return
        fix = None
        statement = file.parent(node)
        others = [each for each in node.keywords if each.arg not in _ATTRIBUTES]
        instance = self_name(function)
        if (
            instance is not None
            and not others
            and not any(isinstance(each, ast.Starred) for each in node.args)
            and isinstance(statement, ast.Expr)
            and starts_line(file, statement)
        ):
            lines = [f"{instance}.{name} = {file.segment(value)}" for name, value in given.items()]
            call = Edit(file.span(node.func)[1], file.span(node)[1], "()")
            edits = (call, insert_after(file, statement, lines))
            if not any("\n" in line for line in lines):
                fix = Fix(Applicability.SAFE, "keep them as attributes", edits)
        entry = catalogue.hook("LightningDataModule", "__init__") or "TRU240"
        yield file.finding(entry, node, fix=fix)

    def _arguments(self, node: ast.Call, called: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        info = file.class_named(called.value)
        if info is None or info.kind != "LightningDataModule" or not info.known:
            return
        if info.find_method("from_argparse_args") is not None:
            return
        entry = catalogue.hook("LightningDataModule", "from_argparse_args") or "TRU250"
        yield file.finding(entry, node, fix=_construction(node, called, file))


def _construction(node: ast.Call, called: ast.Attribute, file: FileContext) -> Fix | None:
    if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
        return None
    if any(each.arg is None for each in node.keywords):
        return None
    owner, given = file.segment(called.value), file.segment(node.args[0])
    taken = (
        f"{{k: v for k, v in vars({given}).items() if k in inspect.signature({owner}.__init__).parameters}}"
    )
    if node.keywords:
        more = ", ".join(f'"{each.arg}": {file.segment(each.value)}' for each in node.keywords)
        taken = f"{{**{taken}, {more}}}"
    text = f"{owner}(**{taken})"
    return Fix(
        Applicability.UNSAFE,
        "pass what the constructor takes",
        (file.edit(node, text),),
        (ImportRequest("inspect"),),
    )
