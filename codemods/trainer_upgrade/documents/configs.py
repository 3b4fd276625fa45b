"""Configuration files: YAML, JSON and TOML that name Lightning's classes or hold a Trainer's arguments.

Before (hydra)::

    trainer:
      _target_: pytorch_lightning.Trainer
      gpus: 4
      distributed_backend: ddp   # one process a card
      callbacks:
        - _target_: pytorch_lightning.callbacks.GPUStatsMonitor

After, for Lightning::

    trainer:
      _target_: pytorch_lightning.Trainer
      devices: 4
      accelerator: gpu
      strategy: ddp   # one process a card
      callbacks:
        - _target_: pytorch_lightning.callbacks.DeviceStatsMonitor
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry, Target
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY
from trainer_upgrade.documents.config_index import class_of, index_of, keys_of_file, parse_config
from trainer_upgrade.documents.document import BrokenDocumentError, Document
from trainer_upgrade.documents.trainer_config import TrainerConfig
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.canonical import canonical, root_of
from trainer_upgrade.project.configs import ConfigIndex
from trainer_upgrade.sources.config_edit import KEEP, MapEditor, Raw, Unwritable, Writer, flavour_of
from trainer_upgrade.sources.tree import Entry as Pair
from trainer_upgrade.sources.tree import Node, TreeError, walk

__all__ = ["check_config", "config_error"]

SAFE, UNSAFE, MANUAL = Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL
_TRAINER = "pytorch_lightning.Trainer"
_CLASS_PATH = re.compile(r"(?:pytorch_lightning|lightning\.pytorch|lightning|lightning_lite)(?:\.\w+)+$")
# How many keys of a mapping must be the Trainer's before it looks like one.
_LOOKS_LIKE = 3


def check_config(document: Document) -> Iterator[Finding]:
    """Yield what is found in a configuration file.

    Raises:
        BrokenDocumentError: It cannot be parsed.
    """
    suffix = document.path.suffix
    try:
        roots = parse_config(document.text, suffix)
    except TreeError as error:
        raise BrokenDocumentError(f"syntax error: {error.reason}", error.offset) from error
    work = _Work(document, roots)
    for root in roots:
        yield from work.of(root)


def config_error(text: str, suffix: str) -> str | None:
    """Return why a text is no configuration of its kind, or ``None``."""
    try:
        parse_config(text, suffix)
    except TreeError as error:
        return error.reason
    return None


class _Work:
    def __init__(self, document: Document, roots: list[Node]) -> None:
        self.document = document
        self.index: ConfigIndex = index_of(document.project)
        self.writer = Writer(document.text, flavour_of(document.path.suffix), document.newline)
        self.outer = keys_of_file(document.path, document.text)
        self.package = _package(roots)

    def of(self, root: Node) -> Iterator[Finding]:
        for keys, node in walk(root):
            if node.kind == "map":
                named = class_of(node)
                where = (*self.outer, *(str(each) for each in keys))
                if named is not None and canonical(named[1]) is not None:
                    yield from self.named(node, named, where, root)
                elif named is None:
                    yield from self.unnamed(node, where, keys, root)
            elif node.kind == "scalar" and isinstance(node.value, str) and _CLASS_PATH.match(node.value):
                yield from self.mentioned(node)

    # Mappings that name a class

    def named(
        self, node: Node, named: tuple[str, str, Node], where: tuple[str, ...], root: Node
    ) -> Iterator[Finding]:
        key, dotted, place = named
        name = canonical(dotted)
        arguments = node
        if key != "_target_":
            inner = node.get("init_args" if key == "class_path" else "params")
            if inner is not None and inner.value.real.kind == "map":
                arguments = inner.value.real
            elif inner is not None:
                return
        full = name == _TRAINER
        complete = True
        if full and root_of(dotted) != "relight.compat":
            trainer = TrainerConfig(
                self.document,
                self.index,
                root,
                arguments,
                key,
                node,
                where,
                self.index.instantiation(where),
                True,
                root_of(dotted) or self.package,
                self.writer,
            )
            yield from trainer.findings()
            complete = trainer.complete()
        yield from self.path(place, dotted, complete=complete, trainer=full)
        if not full and name is not None:
            yield from self.constructor(name, arguments)

    def path(
        self, place: Node, dotted: str, *, complete: bool = True, trainer: bool = False
    ) -> Iterator[Finding]:
        """A dotted path that has moved."""
        target = self.document.target
        root = root_of(dotted)
        if root is None or root.startswith("relight"):
            return
        fact = catalogue.resolve_import(dotted, target)
        if fact is None:
            return
        entry = next(iter(catalogue.by_code("TRU921")))
        new = fact.new
        how = fact.applicability
        if target is Target.RELIGHT and trainer and not complete:
            new, how = "relight.compat.Trainer", UNSAFE
            message = f"`{dotted}` with arguments that only compat takes: name `{new}`"
            yield self.finding(entry, place, message, new, how)
            return
        if new is None or how is MANUAL:
            yield self.document.finding(entry, (place.start, place.end), f"`{dotted}`: {fact.advice}")
            return
        if target is Target.LIGHTNING:
            if fact.status in ("kept", "deprecated_alias"):
                return
            if new.startswith("pytorch_lightning") and root in ("lightning.pytorch", "lightning"):
                new = "lightning.pytorch" + new[len("pytorch_lightning") :]
        if new == dotted or (canonical(new) == canonical(dotted) and target is Target.LIGHTNING):
            return
        yield self.finding(entry, place, f"`{dotted}`: name `{new}`", new, how)

    def finding(self, entry: Entry, place: Node, message: str, new: str, how: Applicability) -> Finding:
        text = self.document.text[place.start : place.end]
        edit = Edit(place.start, place.end, text.replace(str(place.value).strip(), new))
        fix = Fix(how, f"name {new}", (edit,))
        return self.document.finding(entry, (place.start, place.end), message, fix)

    def mentioned(self, node: Node) -> Iterator[Finding]:
        """A path that stands as a plain value: its meaning is the project's business."""
        parent = node.parent
        if parent is not None and parent.kind == "map":
            named = class_of(parent)
            if named is not None and named[2] is node:
                return
        fact = catalogue.resolve_import(str(node.value), self.document.target)
        if fact is None or fact.kind == "module" or fact.status in ("kept", "deprecated_alias"):
            return
        if fact.code == "TRU334":
            return  # it goes on working as long as the package is there
        entry = next(iter(catalogue.by_code("TRU921")))
        yield self.document.finding(entry, (node.start, node.end), f"`{node.value}`: {fact.advice}")

    # Arguments of other classes

    def constructor(self, name: str, arguments: Node) -> Iterator[Finding]:
        owner = name.rpartition(".")[2]
        if not owner[:1].isupper():
            return
        fact = catalogue.resolve_import(name, self.document.target)
        if fact is not None and (fact.new is None or fact.applicability is MANUAL):
            return  # the class itself is gone: its path says so
        for pair in arguments.entries:
            if not isinstance(pair.name, str):
                continue
            entry = catalogue.find(Area.CONSTRUCTOR_ARGUMENT, owner, pair.name)
            if entry is None:
                continue
            if entry.removed_in is None and entry.lightning.action not in ("rename", "drop"):
                continue
            if entry.code in ("TRU690", "TRU691", "TRU693"):
                continue  # the class itself is gone: its path says so
            fix = self.argument(owner, arguments, pair, entry) if self.document.fixing else None
            if fix is None and entry.lightning.action == "keep":
                continue
            if fix is None and pair.name == "mode" and pair.value.value != "auto":
                continue
            span = (pair.key.start, max(pair.value.end, pair.key.end))
            yield self.document.finding(entry, span, None, fix)

    def argument(self, owner: str, arguments: Node, pair: Pair, entry: Entry) -> Fix | None:
        editor = MapEditor(arguments, self.writer)
        how = entry.applicability
        new: list[tuple[str, Any]]
        if entry.lightning.action == "rename" and entry.lightning.name.isidentifier():
            if arguments.get(entry.lightning.name) is not None:
                return None
            value = pair.value.value
            if isinstance(value, int) and value < 0:
                how = UNSAFE
            new = [(entry.lightning.name, KEEP)]
        elif pair.name in ("filepath",) and owner == "ModelCheckpoint":
            split = self.split(arguments, pair)
            if split is None:
                return None
            new, how = split
            prefix = arguments.get("prefix")
            if prefix is not None:
                editor.replace(prefix, [])
        elif pair.name == "mode" and pair.value.value == "auto":
            monitor = arguments.get("monitor")
            watched = monitor.value.value if monitor is not None else None
            if not isinstance(watched, str) or "${" in watched:
                return None
            new = [("mode", "max" if "acc" in watched or watched.startswith("fmeasure") else "min")]
            how = SAFE
        elif entry.lightning.action == "drop":
            new = []
            how = how if how is SAFE else UNSAFE
        else:
            return None
        if how is MANUAL:
            return None
        editor.replace(pair, new)
        try:
            edits = editor.edits()
        except Unwritable:
            return None
        names = ", ".join(name for name, _ in new)
        return Fix(how, f"say {names}" if names else f"drop {pair.name}", tuple(edits))

    def split(self, arguments: Node, pair: Pair) -> tuple[list[tuple[str, Any]], Applicability] | None:
        """``filepath`` and ``prefix`` are ``dirpath`` and ``filename``."""
        if arguments.get("dirpath") is not None or arguments.get("filename") is not None:
            return None
        prefix = arguments.get("prefix")
        lead = prefix.value.value if prefix is not None else ""
        value = pair.value.value
        if value is None and not lead:
            return [], SAFE
        if not isinstance(value, str) or not (lead is None or isinstance(lead, str)) or "${" in (lead or ""):
            return None
        held = re.sub(r"\$\{[^}]*\}", lambda match: match[0].replace("/", "\0"), value)
        folder, name = posixpath.split(held)
        folder, name = folder.replace("\0", "/"), name.replace("\0", "/")
        if "${" in name:
            return None
        new: list[tuple[str, Any]] = [("dirpath", folder or ".")]
        if "${" in folder and self.writer.flavour == "yaml" and pair.value.style == "plain":
            new = [("dirpath", Raw(folder))]
        if name:
            new.append(("filename", f"{lead}-{name}" if lead else name))
        return new, SAFE if not name or "{" in name else UNSAFE

    # Mappings of Trainer arguments that name no class

    def unnamed(
        self, node: Node, where: tuple[str, ...], keys: tuple[Any, ...], root: Node
    ) -> Iterator[Finding]:
        names = [each.name for each in node.entries if isinstance(each.name, str)]
        known = [name for name in names if name in EVER]
        if not known or not where:
            return
        file = self.document.path.name
        style, use, sure, package = "", None, False, self.package
        cli = self.index.cli
        use = self.index.trainer_use(where, file)
        if use is not None:
            sure = len(known) * 2 >= len(names) or any(each in LEGACY_ONLY for each in known)
        elif where[-1] == "trainer" and cli is not None and len(keys) in (1, 2):
            style, use, sure = "class_path", cli, True
        elif self.index.declared_at(where) is not None:
            style, sure = "_target_", True
        elif not self.looks_like(where, names, known):
            return
        if not sure and self.looks_like_cli(node, where, root):
            style = "class_path"
        yield from TrainerConfig(
            self.document, self.index, root, node, style, None, where, use, sure, package, self.writer
        ).findings()

    def looks_like(self, where: tuple[str, ...], names: list[str], known: list[str]) -> bool:
        """Whether a mapping looks like Trainer arguments though no code in sight makes it them."""
        if not any(name in LEGACY_ONLY for name in known):
            return False
        called = "trainer" in where[-1].lower() or where[-1].lower() in ("pl", "lightning", "pl_args")
        enough = 2 if called else _LOOKS_LIKE
        return len(known) >= enough and len(known) * 2 >= len(names)

    def looks_like_cli(self, node: Node, where: tuple[str, ...], root: Node) -> bool:
        return where[-1] == "trainer" and root.get("seed_everything") is not None


def _package(roots: list[Node]) -> str | None:
    """The import root that the file's class paths use, the commonest."""
    counts: dict[str, int] = {}
    for root in roots:
        for _, node in walk(root):
            if node.kind == "map":
                named = class_of(node)
                found = root_of(named[1]) if named is not None else None
                if found is not None and not found.startswith("relight"):
                    counts[found] = counts.get(found, 0) + 1
    return max(counts, key=lambda each: counts[each]) if counts else None
