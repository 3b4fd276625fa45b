"""How configuration files reach Lightning: which of their keys the project's code hands to a Trainer.

``Trainer(**cfg.trainer)``, ``hydra.utils.instantiate(cfg.trainer, callbacks=cbs)``,
``Trainer.from_argparse_args(Namespace(**conf["trainer"]))``, a ``LightningCLI``: each says that a mapping
under ``trainer`` in a configuration file is one of Trainer arguments. A mapping that names a Lightning class
(``_target_``, ``class_path``) says so itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainer_upgrade.catalogue.translation.names import EVER
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.index import Project

__all__ = ["ConfigIndex", "ConfigUse", "Keys"]

Keys = tuple[str, ...]

_DEPTH = 12
_WORDS = (b"rainer", b"instantiate", b"LightningCLI", b".fit(", b"add_argument")
# What hands on what it gets.
_WRAPPERS = frozenset(
    [
        "dict", "vars", "OrderedDict", "collections.OrderedDict", "copy.copy", "copy.deepcopy",
        "argparse.Namespace", "dataclasses.asdict", "types.SimpleNamespace",
        "omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.to_object", "omegaconf.OmegaConf.create",
        "omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.structured", "omegaconf.DictConfig",
        "easydict.EasyDict",
    ]
)  # fmt: skip
_METHODS = frozenset({"copy", "to_dict", "as_dict", "dict", "toDict", "items", "model_dump"})
_LOADERS = frozenset({"safe_load", "load", "full_load", "unsafe_load", "loads", "load_config", "read"})
_INSTANTIATE = frozenset({"hydra.utils.instantiate", "hydra.utils.call", "instantiate", "hydra.instantiate"})


@dataclass(frozen=True, slots=True)
class ConfigUse:
    """One place where a mapping of a configuration reaches Lightning.

    Attributes:
        keys: The last keys on the way to it, ``("trainer",)``; empty for a whole file.
        kind: ``trainer`` (its entries are the Trainer's arguments), ``instantiate`` (it names its class) or
            ``cli``.
        path: The file that uses it.
        row: Its line.
        passes: Arguments that the code gives beside it, which win over those in the mapping.
        files: Names of files that the code says it reads.
    """

    keys: Keys
    kind: str
    path: Path
    row: int
    passes: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Way:
    keys: Keys
    files: frozenset[str] = frozenset()


@dataclass(slots=True)
class ConfigIndex:
    """What a project's code does with configurations.

    Attributes:
        uses: The places where one reaches Lightning.
        reads: Where the code reads a key of a mapping by hand: the mapping's key and the key's name.
        fits: Calls of ``fit`` that pass a checkpoint's path.
        resumes: Whether some ``fit`` gets a ``ckpt_path``, by the last key of what it gets.
        declared: Paths of keys under which some configuration file names a Trainer's class.
        parts: Mappings with Trainer arguments among their keys: the way to each and its plain values.
        declared_flags: Options that the project's own parsers declare (``gpus`` for ``--gpus``).
        references: Where interpolations of configuration files mention a key (its dotted path).
    """

    uses: list[ConfigUse] = field(default_factory=list)
    reads: dict[tuple[str, str], list[tuple[Path, int]]] = field(default_factory=dict)
    fits: list[tuple[Path, int]] = field(default_factory=list)
    resumes: dict[str, tuple[Path, int]] = field(default_factory=dict)
    declared: dict[Keys, Path] = field(default_factory=dict)
    declared_flags: set[str] = field(default_factory=set)
    parts: list[tuple[Keys, dict[str, object]]] = field(default_factory=list)
    references: dict[str, list[tuple[Path, int]]] = field(default_factory=dict)

    @property
    def cli(self) -> ConfigUse | None:
        """The place that builds a LightningCLI."""
        return next((each for each in self.uses if each.kind == "cli"), None)

    def trainer_use(self, keys: Keys, name: str) -> ConfigUse | None:
        """Return where a mapping's entries become arguments of a Trainer.

        Args:
            keys: The keys on the way to it, those its file's directories stand for included.
            name: The file's name.
        """
        for each in self.uses:
            if each.kind == "trainer" and _fits(each, keys, name):
                return each
        return None

    def instantiation(self, keys: Keys) -> ConfigUse | None:
        """Return where a mapping that names its class is made an object, with what any such place passes."""
        found = [
            each
            for each in self.uses
            if each.kind == "instantiate" and each.keys and keys[-len(each.keys) :] == each.keys
        ]
        if not found:
            return None
        return replace(found[0], passes=frozenset().union(*(each.passes for each in found)))

    def parts_of(self, keys: Keys) -> list[dict[str, object]]:
        """Return the plain values of all mappings that are merged with the one under the same last key."""
        return [values for those, values in self.parts if those and keys and those[-1] == keys[-1]]

    def declared_at(self, keys: Keys) -> Path | None:
        """Return a file that names a Trainer's class under the same keys."""
        return next(
            (path for those, path in self.declared.items() if those and keys[-len(those) :] == those), None
        )


def _fits(use: ConfigUse, keys: Keys, name: str) -> bool:
    if use.keys:
        return keys[-len(use.keys) :] == use.keys
    return name in use.files


def read_code(project: Project) -> ConfigIndex:
    """Look through the project's Python files."""
    index = ConfigIndex()
    reader = _Reader(project, index)
    for module in project.relevant_modules():
        data = module.data
        if any(word in data for word in _WORDS):
            reader.read(FileContext(module, project, fixing=False))
    return index


class _Reader:
    def __init__(self, project: Project, index: ConfigIndex) -> None:
        self.project = project
        self.index = index

    def read(self, file: FileContext) -> None:
        for node in file.nodes:
            if isinstance(node, ast.Call):
                self.call(node, file)
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                self.mention(node, file)

    def call(self, node: ast.Call, file: FileContext) -> None:
        function = node.func
        opened = [each.value for each in node.keywords if each.arg is None]
        passes = frozenset(each.arg for each in node.keywords if each.arg is not None)
        name = file.qualified_name(function)
        lightning = file.lightning_name(function)
        last = lightning.rpartition(".")[2] if lightning is not None else ""
        if last == "LightningCLI" or (lightning is None and self._is_cli(node, file)):
            self.index.uses.append(ConfigUse((), "cli", file.path, node.lineno, passes))
        if opened and self._builds(node, lightning, name, file):
            for value in opened:
                self.add("trainer", value, node, passes, file)
        elif isinstance(function, ast.Attribute) and function.attr == "from_argparse_args" and node.args:
            self.add("trainer", node.args[0], node, passes, file)
        elif name in _INSTANTIATE or (
            name is not None and name.rpartition(".")[2] in ("instantiate", "instantiate_from_config")
        ):
            first = node.args[0] if node.args else None
            for each in node.keywords:
                if each.arg == "config":
                    first = each.value
            if first is not None:
                self.add("instantiate", first, node, passes, file)
        if isinstance(function, ast.Attribute) and function.attr == "fit":
            self.fit(node, file)
        if isinstance(function, ast.Attribute) and function.attr == "add_argument":
            for option in node.args:
                if isinstance(option, ast.Constant) and isinstance(option.value, str):
                    self.index.declared_flags.add(option.value.lstrip("-").replace("-", "_"))
        if (
            isinstance(function, ast.Attribute)
            and function.attr in ("get", "pop", "setdefault")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            self.read_key(function.value, node.args[0].value, node, file)

    def _is_cli(self, node: ast.Call, file: FileContext) -> bool:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if "CLI" not in name:
            return False
        found = file.class_named(node.func)
        return found is not None and (found.lightning or "").endswith("LightningCLI")

    def _builds(self, node: ast.Call, lightning: str | None, name: str | None, file: FileContext) -> bool:
        if lightning is not None:
            return lightning == "pytorch_lightning.Trainer"
        if name == "functools.partial" and node.args:
            return file.lightning_name(node.args[0]) == "pytorch_lightning.Trainer"
        made = file.constructed(node)
        return made is not None and made.label == "Trainer"

    def add(
        self, kind: str, value: ast.expr, node: ast.Call, passes: frozenset[str], file: FileContext
    ) -> None:
        for way in self.ways(value, file, 0):
            if way.keys or way.files:
                use = ConfigUse(way.keys, kind, file.path, node.lineno, passes, way.files)
                if use not in self.index.uses:
                    self.index.uses.append(use)

    def fit(self, node: ast.Call, file: FileContext) -> None:
        self.index.fits.append((file.path, node.lineno))
        for each in node.keywords:
            if each.arg == "ckpt_path":
                for way in self.ways(each.value, file, 0):
                    if way.keys:
                        self.index.resumes.setdefault(way.keys[-1], (file.path, node.lineno))

    def mention(self, node: ast.Attribute | ast.Subscript, file: FileContext) -> None:
        if isinstance(node, ast.Attribute):
            if node.attr in EVER:
                self.read_key(node.value, node.attr, node, file)
        elif isinstance(node.slice, ast.Constant) and node.slice.value in EVER:
            self.read_key(node.value, node.slice.value, node, file)

    def read_key(self, base: ast.expr, name: object, node: ast.expr, file: FileContext) -> None:
        if not isinstance(name, str) or name not in EVER:
            return
        owner = _last(base)
        if owner is not None and owner not in ("self", "args", "hparams"):
            self.index.reads.setdefault((owner, name), []).append((file.path, node.lineno))

    # What an expression is, as keys of a configuration

    def ways(self, node: ast.expr, file: FileContext, depth: int) -> Iterable[_Way]:
        if depth > _DEPTH:
            return
        if isinstance(node, ast.Attribute):
            yield from self.longer(node.value, node.attr, file, depth)
        elif isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                yield from self.longer(node.value, node.slice.value, file, depth)
        elif isinstance(node, ast.Call):
            yield from self.of_call(node, file, depth)
        elif isinstance(node, ast.Name):
            yield from self.of_name(node, file, depth)
        elif isinstance(node, ast.BoolOp):
            for each in node.values:
                yield from self.ways(each, file, depth + 1)
        elif isinstance(node, ast.IfExp):
            yield from self.ways(node.body, file, depth + 1)
            yield from self.ways(node.orelse, file, depth + 1)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    yield from self.ways(value, file, depth + 1)
        elif isinstance(node, ast.DictComp):
            yield from self.ways(node.generators[0].iter, file, depth + 1)

    def longer(self, base: ast.expr, name: str, file: FileContext, depth: int) -> Iterator[_Way]:
        known = list(self.ways(base, file, depth + 1))
        for way in known or [_Way(())]:
            yield _Way((*way.keys, name), way.files)

    def of_call(self, node: ast.Call, file: FileContext, depth: int) -> Iterator[_Way]:
        function = node.func
        opened = [each.value for each in node.keywords if each.arg is None]
        if isinstance(function, ast.Attribute):
            first = node.args[0] if node.args else None
            if function.attr in ("get", "pop", "setdefault") and isinstance(first, ast.Constant):
                if isinstance(first.value, str):
                    yield from self.longer(function.value, first.value, file, depth)
                return
            if function.attr in _METHODS:
                yield from self.ways(function.value, file, depth + 1)
                return
        name = file.qualified_name(function) or ast.unparse(function)
        if name == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            yield from self.longer(node.args[0], str(node.args[1].value), file, depth)
        elif name in _WRAPPERS or name.rpartition(".")[2] in ("to_container", "asdict", "Namespace"):
            for each in [*node.args, *opened]:
                yield from self.ways(each, file, depth + 1)
        elif name.rpartition(".")[2] in _LOADERS or "yaml" in name.lower() or "config" in name.lower():
            yield _Way((), frozenset(_file_names(node, file)))

    def of_name(self, node: ast.Name, file: FileContext, depth: int) -> Iterator[_Way]:
        found = file.module.scopes.lookup(node.id, node)
        for binding in found[1] if found is not None else ():
            if binding.value is not None and binding.kind == "assign":
                yield from self.ways(binding.value, file, depth + 1)
            elif binding.kind == "param" and binding.scope.kind != "comprehension":
                yield from self.of_parameter(binding.node, binding.statement, file, depth)
            elif isinstance(binding.statement, (ast.With, ast.For)):
                continue

    def of_parameter(
        self, parameter: ast.AST, statement: ast.AST, file: FileContext, depth: int
    ) -> Iterator[_Way]:
        """What callers in the same file give a parameter."""
        function = file.enclosing_function(parameter) or statement
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or not isinstance(
            parameter, ast.arg
        ):
            return
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        position = names.index(parameter.arg) if parameter.arg in names else None
        owner = names[:1] in (["self"], ["cls"])
        for call in file.nodes:
            if not isinstance(call, ast.Call):
                continue
            called = (
                call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
            )
            if called != function.name:
                continue
            for each in call.keywords:
                if each.arg == parameter.arg:
                    yield from self.ways(each.value, file, depth + 1)
            if position is not None:
                place = position - (1 if owner and isinstance(call.func, ast.Attribute) else 0)
                if 0 <= place < len(call.args):
                    yield from self.ways(call.args[place], file, depth + 1)


def _last(node: ast.expr) -> str | None:
    """Return the last key on the way: ``trainer`` of ``cfg.trainer`` and ``c["trainer"]``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        first = node.args[0]
        if node.func.attr in ("get", "pop") and isinstance(first, ast.Constant):
            return first.value if isinstance(first.value, str) else None
    return None


def _file_names(node: ast.AST, file: FileContext, depth: int = 0) -> Iterator[str]:
    """Names of files that an expression mentions, also through a `with open(...) as f`."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            last = each.value.replace("\\", "/").rpartition("/")[2]
            if last.lower().endswith((".yaml", ".yml", ".json", ".toml")):
                yield last
        elif isinstance(each, ast.Name) and depth < 4:
            found = file.module.scopes.lookup(each.id, each)
            for binding in found[1] if found is not None else ():
                if isinstance(binding.statement, (ast.With, ast.AsyncWith)):
                    for item in binding.statement.items:
                        yield from _file_names(item.context_expr, file, depth + 1)
                elif binding.value is not None and binding.value is not node:
                    yield from _file_names(binding.value, file, depth + 1)
