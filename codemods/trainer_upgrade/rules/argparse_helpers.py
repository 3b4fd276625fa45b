"""The Trainer's argparse helpers, which left in 2.0.

Before::

    parser = pl.Trainer.add_argparse_args(parser)
    args = parser.parse_args()
    trainer = pl.Trainer.from_argparse_args(args, callbacks=[bar])

After, for relight, whose compat keeps the options and what they mean::

    parser = compat.Trainer.add_argparse_args(parser)
    args = parser.parse_args()
    trainer = compat.Trainer.from_argparse_args(args, callbacks=[bar])

For Lightning the unsafe fix writes out what the helpers did: an option for each argument of today's
Trainer, and a
Trainer from the arguments it knows. It is not offered where options that are gone (``args.gpus``) are read or
declared. Where the options are the project's own and all in sight, ``from_argparse_args`` becomes
``Trainer(max_epochs=args.max_epochs, …)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Target
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.rules._expressions import _dest
from trainer_upgrade.rules._imports import free, target_of
from trainer_upgrade.rules._rewrite import quote_of
from trainer_upgrade.rules.registry import on, rule
from trainer_upgrade.rules.support.bodies import starts_line

__all__ = ["ArgparseHelpers", "all_options"]

_METHODS = frozenset(
    [
        "add_argparse_args",
        "from_argparse_args",
        "parse_argparser",
        "default_attributes",
        "get_init_arguments_and_types",
        "get_deprecated_arg_names",
        "match_env_arguments",
    ]
)
_SERVED = ("add_argparse_args", "from_argparse_args")
_COMPAT = "relight.compat.Trainer"


@rule("argparse-helpers")
class ArgparseHelpers:
    """Reports and, where that is right, rewrites the helpers."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in _METHODS:
            return
        direct = file.lightning_name(function.value) == "pytorch_lightning.Trainer"
        if direct and (file.qualified_name(function.value) or "").startswith("relight.compat."):
            return
        if not direct:
            info = file.class_named(function.value)
            if (
                info is None
                or info.lightning != "pytorch_lightning.Trainer"
                or info.find_method(function.attr) is not None
            ):
                return
        entry = catalogue.find(Area.TRAINER_ATTRIBUTE, "Trainer", function.attr)
        if entry is None:
            return
        yield file.finding(entry, node, fix=lambda: self._fix(node, function, entry, direct, file))

    @on(ast.Call)
    def defaults(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at ``parser.set_defaults(gpus=2)`` where the parser's options go to a Trainer."""
        if not _sets_defaults(node) or not _helped(file):
            return
        if file.target is Target.RELIGHT and not any(
            target_of(each.value, file) is Target.LIGHTNING for each in _helped(file)
        ):
            return  # compat takes them
        for keyword in node.keywords:
            entry = catalogue.trainer_argument(keyword.arg) if keyword.arg in LEGACY_ONLY else None
            if entry is not None:
                yield file.finding(entry, keyword, f"{entry.advice} (a default of a parser)")

    def _fix(
        self, node: ast.Call, function: ast.Attribute, entry: Entry, direct: bool, file: FileContext
    ) -> Fix | None:
        if function.attr == "from_argparse_args" and not direct:
            return self._from_known(node, function, file)  # its own arguments, which did not change
        if not direct:
            return None
        own = self._own_options(node, function, file)
        if own is not None:
            return own
        if function.attr in _SERVED and target_of(function.value, file) is Target.RELIGHT:
            name, request = self._compat(file)
            edit = file.edit(function.value, name)
            return Fix(Applicability.SAFE, "let relight.compat serve the options", (edit,), (request,))
        if _reads_legacy(file):
            return None
        if function.attr == "from_argparse_args":
            return self._from_known(node, function, file)
        return all_options(node, function, file) if function.attr == "add_argparse_args" else None

    def _from_known(self, node: ast.Call, function: ast.Attribute, file: FileContext) -> Fix | None:
        """Build the object from those options that its constructor knows, as the helper did."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name) or not file.editable(node):
            return None
        cls, args = file.segment(function.value), node.args[0].id
        known = (
            f"{{k: v for k, v in vars({args}).items() if k in inspect.signature({cls}.__init__).parameters}}"
        )
        quote = quote_of(node, file)
        given = [
            f"{quote}{each.arg}{quote}: {file.segment(each.value)}"
            if each.arg
            else f"**{file.segment(each.value)}"
            for each in node.keywords
        ]
        text = f"{cls}(**{{**{known}, {', '.join(given)}}})" if given else f"{cls}(**{known})"
        if "#" in text:
            return None
        edit = file.edit(node, text)
        return Fix(
            Applicability.UNSAFE, "take the options that it knows", (edit,), (ImportRequest("inspect"),)
        )

    def _compat(self, file: FileContext) -> tuple[str, ImportRequest]:
        if file.qualified_name(ast.Name("compat", ast.Load())) == "relight.compat" or free(file, "compat"):
            return "compat.Trainer", ImportRequest("relight", "compat")
        return "relight_compat.Trainer", ImportRequest("relight", "compat", "relight_compat")

    def _own_options(self, node: ast.Call, function: ast.Attribute, file: FileContext) -> Fix | None:
        """``from_argparse_args(args)`` where every option of the parser is declared in this file."""
        if function.attr != "from_argparse_args" or not node.args or not isinstance(node.args[0], ast.Name):
            return None
        if len(node.args) > 1 or any(each.arg is None for each in node.keywords):
            return None
        args = node.args[0]
        found = file.module.scopes.lookup(args.id, args)
        if found is None or len(found[1]) != 1:
            return None
        value = found[1][0].value
        if (
            not isinstance(value, ast.Call)
            or not isinstance(value.func, ast.Attribute)
            or value.func.attr != "parse_args"
        ):
            return None
        parser = value.func.value
        if not isinstance(parser, ast.Name):
            return None
        bound = file.module.scopes.lookup(parser.id, parser)
        if bound is None or len(bound[1]) != 1 or not isinstance(bound[1][0].value, ast.Call):
            return None
        made = bound[1][0].value
        if file.qualified_name(made.func) != "argparse.ArgumentParser" or any(
            each.arg == "parents" for each in made.keywords
        ):
            return None
        names: list[str] = []
        for use in file.nodes:
            if not isinstance(use, ast.Name) or use.id != parser.id or not isinstance(use.ctx, ast.Load):
                continue
            parent = file.parent(use)
            call = file.parent(parent) if isinstance(parent, ast.Attribute) else None
            if (
                not isinstance(parent, ast.Attribute)
                or not isinstance(call, ast.Call)
                or call.func is not parent
            ):
                return None
            if parent.attr == "add_argument":
                name = _dest(call)
                if not name:
                    return None
                names.append(name)
            elif parent.attr not in ("parse_args", "set_defaults", "print_help"):
                return None
        return self._spelled_out(node, function, args.id, names, file)

    def _spelled_out(
        self, node: ast.Call, function: ast.Attribute, args: str, names: list[str], file: FileContext
    ) -> Fix:
        given = {each.arg for each in node.keywords}
        wanted = [name for name in names if name in EVER and name not in given]
        editor = CallEditor(file, node)
        editor.replace(editor.arguments[0], *(f"{name}={args}.{name}" for name in wanted))
        value_end, end = file.span(function.value)[1], file.span(function)[1]
        edits = (Edit(value_end, end, ""), *editor.edits())
        return Fix(Applicability.SAFE, "pass the options by name", tuple(sorted(edits)))


def all_options(
    node: ast.Call, function: ast.Attribute, file: FileContext, *, trainer: bool = True
) -> Fix | None:
    """Add an option for each argument that a class takes today; values are read as YAML.

    Args:
        node: The call of ``add_argparse_args``.
        function: What it calls.
        file: The file.
        trainer: Whether the class is a Trainer, whose arguments all have defaults.
    """
    statement = file.parent(node)
    if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Name):
        return None
    parser = node.args[0].id
    lines = []
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        if statement.targets[0].id != parser:
            lines.append(f"{statement.targets[0].id} = {parser}")
            parser = statement.targets[0].id
    elif not isinstance(statement, ast.Expr):
        return None
    if not isinstance(statement, ast.stmt) or not starts_line(file, statement):
        return None
    cls, quote = file.segment(function.value), quote_of(node, file)
    flag = f"f{quote}--{{name}}{quote}"
    unit = "    "
    own, default = f"name != {quote}self{quote}", "parameter.default"
    if not trainer:
        own = f"name not in ({', '.join(f'{quote}{each}{quote}' for each in ('self', 'args', 'kwargs'))})"
        default += f",{file.newline}{file.line_indent(statement)}{unit * 3}"
        default += "required=parameter.default is parameter.empty,"
    lines += [
        f"for name, parameter in inspect.signature({cls}.__init__).parameters.items():",
        f"{unit}if {own} and {flag} not in {parser}._option_string_actions:",
        f"{unit * 2}{parser}.add_argument(",
        f"{unit * 3}{flag}, type=yaml.safe_load, nargs={quote}?{quote}, const=True, default={default}",
        f"{unit * 2})",
    ]
    text = (file.newline + file.line_indent(statement)).join(lines)
    requests = (ImportRequest("inspect"), ImportRequest("yaml"))
    return Fix(
        Applicability.UNSAFE,
        "add the options of today's arguments",
        (file.edit(statement, text),),
        requests,
    )


def _sets_defaults(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "set_defaults"


def _helped(file: FileContext) -> list[ast.Attribute]:
    """Return the mentions of the helpers on a Trainer."""
    return [
        node
        for node in file.nodes
        if isinstance(node, ast.Attribute)
        and node.attr in _METHODS
        and file.lightning_name(node.value) == "pytorch_lightning.Trainer"
    ]


def _reads_legacy(file: FileContext) -> bool:
    """Whether an option of the command line that is gone is declared or read in the file."""
    for node in file.nodes:
        if isinstance(node, ast.Attribute) and node.attr in LEGACY_ONLY and isinstance(node.value, ast.Name):
            if node.value.id in (
                "args",
                "opt",
                "opts",
                "options",
                "hparams",
                "params",
                "namespace",
                "config",
                "cfg",
            ):
                return True
        elif not isinstance(node, ast.Call):
            continue
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            if _dest(node) in LEGACY_ONLY:
                return True
        elif _sets_defaults(node) and any(each.arg in LEGACY_ONLY for each in node.keywords):
            return True
    return False
