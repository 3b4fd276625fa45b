"""Look for removed API in upgraded code with what the real releases say of themselves.

A second opinion on ``trainer-upgrade``: it shares no code and no table with the tool. What old and new
Lightning have is asked of the installed packages by introspection, and the code is read with ``ast`` alone::

    python1.5.10 scripts/independent_check.py dump > old.json     # once for each old release
    python2.6.6  scripts/independent_check.py dump > new.json
    python       scripts/independent_check.py check new.json old.json … --tree TREE [--reported found.json]

``check`` lists every use that an old release had and the new one refuses: imports, constructor arguments,
hooks that nobody calls, hooks whose required parameters are not passed, attributes of a Trainer. With
``--reported`` (what ``trainer-upgrade --check --output-format json`` says) only those are listed that the
tool leaves without a word; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CLASSES = ("LightningModule", "LightningDataModule", "Callback")
ENTRY_POINTS = ("fit", "validate", "test", "predict")
ROOTS = ("pytorch_lightning", "lightning.pytorch")


# Asking a release


def dump() -> dict[str, Any]:
    """Return what the installed Lightning has: modules with their names, signatures, members."""
    warnings.simplefilter("ignore")
    root = importlib.import_module("pytorch_lightning")
    modules: dict[str, list[str]] = {"pytorch_lightning": sorted(dir(root))}
    signatures: dict[str, list[str] | None] = {}
    for found in pkgutil.walk_packages(root.__path__, "pytorch_lightning.", onerror=lambda name: None):
        if "tests" in found.name or found.name.endswith("__main__"):
            continue
        try:
            modules[found.name] = sorted(dir(importlib.import_module(found.name)))
        except Exception:
            modules[found.name] = []
    for module, names in modules.items():
        for name in names:
            thing = getattr(sys.modules.get(module), name, None)
            if inspect.isclass(thing) and getattr(thing, "__module__", "").startswith(
                ("pytorch_l", "lightning")
            ):
                signatures[name] = parameters(thing.__init__)
    trainer = root.Trainer
    return {
        "version": root.__version__,
        "modules": modules,
        "constructors": signatures,
        "entry_points": {
            name: parameters(getattr(trainer, name)) for name in ENTRY_POINTS if hasattr(trainer, name)
        },
        "trainer": sorted({*dir(trainer), *vars(trainer(logger=False, max_epochs=1))}),
        "hooks": {
            name: {
                hook: required(getattr(thing, hook))
                for hook in dir(thing)
                if callable(getattr(thing, hook, None))
            }
            for name, thing in ((each, getattr(root, each)) for each in CLASSES)
        },
    }


def parameters(function: Any) -> list[str] | None:
    """Return the names that a callable takes; ``None`` where it takes any."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_KEYWORD for each in found):
        return None
    return [each.name for each in found]


def required(function: Any) -> int:
    """Return how many positions the release passes at most: the parameters that a method declares."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return -1
    if any(each.kind is each.VAR_POSITIONAL for each in found):
        return -1
    return sum(each.name != "self" for each in found)


# Reading code


class Names(ast.NodeVisitor):
    """What the imports of a file bind, as dotted paths."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.bound: dict[str, str] = {}
        self.imports: list[tuple[int, str, str]] = []

    def visit_Import(self, node: ast.Import) -> None:
        """Take ``import …``."""
        for each in node.names:
            self.bound[each.asname or each.name.split(".")[0]] = (
                each.name if each.asname else each.name.split(".")[0]
            )
            self.imports.append((node.lineno, each.name, ""))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Take ``from … import …``."""
        if node.level or node.module is None:
            return
        for each in node.names:
            self.bound[each.asname or each.name] = f"{node.module}.{each.name}"
            self.imports.append((node.lineno, node.module, each.name))

    def dotted(self, node: ast.expr) -> str | None:
        """Return the path that an expression stands for."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.bound:
            return None
        return ".".join([self.bound[node.id], *reversed(parts)])


def rooted(dotted: str | None) -> str | None:
    """Return a path under ``pytorch_lightning``, or ``None`` for another package's."""
    for root in ROOTS:
        if dotted is not None and (dotted == root or dotted.startswith(root + ".")):
            return "pytorch_lightning" + dotted[len(root) :]
    return None


class Tree:
    """A tree of files, and which of its classes are Lightning's."""

    def __init__(self, root: Path) -> None:
        """Read all files."""
        self.files: dict[Path, tuple[ast.Module, Names]] = {}
        self.kinds: dict[str, str] = {}
        for path in sorted(each for each in root.rglob("*.py") if each.is_file()):
            try:
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError, ValueError):
                continue
            names = Names()
            names.visit(tree)
            self.files[path] = tree, names
        for _ in range(6):  # as deep as hierarchies are
            before = len(self.kinds)
            for tree, names in self.files.values():
                for node in ast.walk(tree):
                    if isinstance(node, ast.ClassDef):
                        self._take(node, names)
            if len(self.kinds) == before:
                break

    def _take(self, node: ast.ClassDef, names: Names) -> None:
        for base in node.bases:
            dotted = names.dotted(base)
            last = (dotted or getattr(base, "id", getattr(base, "attr", ""))).rpartition(".")[2]
            if rooted(dotted) and last in CLASSES:
                self.kinds[node.name] = last
            elif not rooted(dotted) and last in self.kinds:
                self.kinds.setdefault(node.name, self.kinds[last])


def check(tree: Tree, new: dict[str, Any], old: list[dict[str, Any]]) -> Iterator[tuple[Path, int, str]]:
    """Yield what the new release refuses and an old one had: file, line, text."""
    for path, (module, names) in tree.files.items():
        guarded = _guarded(module)
        for line, text in (
            *_imports(names, new, old),
            *_calls(module, names, new, old),
            *_hooks(module, tree, new, old),
            *_attributes(module, names, tree, new, old),
        ):
            if not any(first <= line <= last for first, last in guarded):
                yield path, line, text


def _guarded(module: ast.Module) -> list[tuple[int, int]]:
    """Return the lines of ``try`` around imports, and under questions about versions or attributes."""
    found = []
    for node in ast.walk(module):
        if isinstance(node, ast.Try) and any(
            isinstance(each, (ast.Import, ast.ImportFrom)) for each in node.body
        ):
            found.append((node.lineno, node.end_lineno or node.lineno))
        if isinstance(node, (ast.If, ast.IfExp)):
            text = ast.unparse(node.test)
            if "ersion" in text or "hasattr" in text or "_GREATER" in text:
                found.append((node.lineno, node.end_lineno or node.lineno))
    return found


def _has(release: dict[str, Any], module: str, name: str) -> bool:
    modules = release["modules"]
    if not name:
        return module in modules
    return f"{module}.{name}" in modules or name in modules.get(module, ())


def _imports(names: Names, new: dict[str, Any], old: list[dict[str, Any]]) -> Iterator[tuple[int, str]]:
    for line, module, name in names.imports:
        path = rooted(module)
        if path is None or name == "*":
            continue
        if not _has(new, path, name) and any(_has(each, path, name) for each in old):
            yield line, f"import of {path}{'.' + name if name else ''}"


def _calls(
    module: ast.Module, names: Names, new: dict[str, Any], old: list[dict[str, Any]]
) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        dotted = rooted(names.dotted(node.func))
        last = (dotted or "").rpartition(".")[2]
        if dotted is not None and last in new["constructors"]:
            takes = new["constructors"][last]
            for each in node.keywords:
                if each.arg is None or takes is None or each.arg in takes:
                    continue
                before = [known["constructors"].get(last, []) for known in old]
                if any(known is None or each.arg in known for known in before):
                    yield each.value.lineno, f"{last}({each.arg}=…)"
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in ENTRY_POINTS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "trainer"
        ):
            for each in node.keywords:
                known = [one["entry_points"].get(node.func.attr) or [] for one in old]
                if each.arg in {name for one in known for name in one} - set(
                    new["entry_points"][node.func.attr]
                ):
                    yield each.value.lineno, f"trainer.{node.func.attr}({each.arg}=…)"


def _hooks(
    module: ast.Module, tree: Tree, new: dict[str, Any], old: list[dict[str, Any]]
) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        kind = tree.kinds.get(node.name) if isinstance(node, ast.ClassDef) else None
        if not isinstance(node, ast.ClassDef) or kind is None:
            continue
        for function in node.body:
            if not isinstance(function, ast.FunctionDef) or function.name.startswith("_"):
                continue
            name = function.name
            now = new["hooks"][kind]
            if name not in now:
                if any(name in each["hooks"][kind] for each in old):
                    yield function.lineno, f"{kind}.{name} is called by nobody"
                continue
            passed = now[name]
            takes = [*function.args.posonlyargs, *function.args.args]
            needs = len(takes) - 1 - len(function.args.defaults)
            static = any(
                getattr(each, "id", "") in ("staticmethod", "classmethod") for each in function.decorator_list
            )
            called = name.startswith("on_") or name in (
                "optimizer_step",
                "optimizer_zero_grad",
                "lr_scheduler_step",
            )
            if called and not static and passed >= 0 and needs > passed:
                yield function.lineno, f"{kind}.{name} wants {needs} arguments and gets {passed}"


def _attributes(
    module: ast.Module, names: Names, tree: Tree, new: dict[str, Any], old: list[dict[str, Any]]
) -> Iterator[tuple[int, str]]:
    had = {name for each in old for name in each["trainer"]} - set(new["trainer"])
    inside = {
        id(node)
        for around in ast.walk(module)
        if isinstance(around, ast.ClassDef) and around.name in tree.kinds
        for node in ast.walk(around)
    }
    for node in ast.walk(module):
        if not isinstance(node, ast.Attribute) or node.attr not in had or node.attr.startswith("_"):
            continue
        owner = node.value
        trainer = (
            isinstance(owner, ast.Attribute)
            and owner.attr == "trainer"
            and getattr(owner.value, "id", "") == "self"
        )
        given = isinstance(owner, ast.Name) and owner.id == "trainer"
        if (trainer or given) and id(node) in inside:
            yield node.lineno, f"trainer.{node.attr}"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("dump")
    checks = commands.add_parser("check")
    checks.add_argument("new", type=Path)
    checks.add_argument("old", type=Path, nargs="+")
    checks.add_argument("--tree", type=Path, required=True)
    checks.add_argument("--reported", type=Path)
    given = parser.parse_args()
    if given.command == "dump":
        print(json.dumps(dump()))
        return 0
    new, *old = (json.loads(path.read_text()) for path in (given.new, *given.old))
    told = set()
    if given.reported:
        for each in json.loads(given.reported.read_text()):
            first, last = each["location"]["row"], each["end_location"]["row"]
            told |= {(Path(each["filename"]).resolve(), row) for row in range(first, max(first, last) + 1)}
    left = seen = 0
    for path, line, text in check(Tree(given.tree), new, old):
        seen += 1
        if (path.resolve(), line) not in told:
            left += 1
            print(f"{path}:{line}: {text}")
    print(f"{seen} uses of removed API, {left} of them without a word", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
