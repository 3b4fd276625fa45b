"""What all configuration files of a project say together with its code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from trainer_upgrade.catalogue.translation.names import EVER
from trainer_upgrade.project.canonical import canonical
from trainer_upgrade.project.configs import ConfigIndex, Keys, read_code
from trainer_upgrade.project.discovery import discover
from trainer_upgrade.project.index import Project
from trainer_upgrade.sources.json_tree import parse_json
from trainer_upgrade.sources.kinds import SUFFIXES, Kind, kind_of, mentions
from trainer_upgrade.sources.toml_tree import parse_toml
from trainer_upgrade.sources.tree import Node, TreeError, walk
from trainer_upgrade.sources.yaml_tree import parse_yaml

__all__ = ["LARGEST", "class_of", "index_of", "keys_of_file", "parse_config"]

# Characters; nobody writes a larger configuration.
LARGEST = 2_000_000
NAMING = ("_target_", "class_path", "target")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.\[\]]*)\}")
_PACKAGE = re.compile(r"^#[ \t]*@package[ \t]+(\S+)", re.MULTILINE)


def parse_config(text: str, suffix: str) -> list[Node]:
    """Parse a configuration to its documents (one, unless it is YAML).

    Raises:
        TreeError: It cannot be parsed.
    """
    suffix = suffix.lower()
    if suffix == ".json":
        return [parse_json(text)]
    if suffix == ".toml":
        return [parse_toml(text)]
    return parse_yaml(text)


def class_of(node: Node) -> tuple[str, str, Node] | None:
    """Return how a map names a class: the key, the dotted name and its node; ``None`` if it does not.

    ``target`` counts where ``params`` stands beside it, and alone if it names something of Lightning's.
    """
    for name in NAMING:
        entry = node.get(name)
        if entry is None or not isinstance(entry.value.value, str) or entry.value.kind != "scalar":
            continue
        dotted = entry.value.value.strip()
        if name == "target" and node.get("params") is None and canonical(dotted) is None:
            continue
        if re.fullmatch(r"[A-Za-z_][\w.]*", dotted):
            return name, dotted, entry.value
    return None


def keys_of_file(path: Path, text: str) -> Keys:
    """Return the keys under which hydra composes a file, as far as its place tells.

    ``configs/trainer/ddp.yaml`` is ``("configs", "trainer")``: only the end of it is compared. A directive
    ``# @package _global_`` makes it the root.
    """
    directive = _PACKAGE.search(text[:2000])
    if directive is not None:
        package = directive[1]
        if package == "_global_":
            return ()
        if "_group_" not in package and "_name_" not in package:
            return tuple(package.replace("_global_.", "").split("."))
    return tuple(path.parent.parts[-3:])


def index_of(project: Project) -> ConfigIndex:
    """Return the index of a project, made once."""
    found = project.extras.get("configs")
    if isinstance(found, ConfigIndex):
        return found
    index = read_code(project)
    for path in _files(project):
        _read(path, project, index)
    project.extras["configs"] = index
    return index


def _files(project: Project) -> Iterator[Path]:
    found = {path for path in project.documents if kind_of(path) is Kind.CONFIG}
    roots = {root for path in project.documents for root in (project.top(path),) if root is not None}
    for root in sorted(roots):
        if root != Path.home() and root.parent != root:
            found.update(
                Path(os.path.abspath(each))
                for each in discover([root], SUFFIXES, lambda path: kind_of(path) is Kind.CONFIG).files
            )
    yield from sorted(found)


def _read(path: Path, project: Project, index: ConfigIndex) -> None:
    try:
        data = project.document(path, LARGEST)
        if data is None or not mentions(Kind.CONFIG, data):
            return
        text = data.decode("utf-8-sig")
        documents = parse_config(text, path.suffix)
    except (OSError, UnicodeDecodeError, TreeError):
        return
    outer = keys_of_file(path, text)
    for document in documents:
        for keys, node in walk(document):
            if node.kind != "map":
                continue
            named = class_of(node)
            values = {
                each.name: each.value.value
                for each in node.entries
                if each.name in EVER and each.value.kind == "scalar"
            }
            if values:
                index.parts.append(((*outer, *(str(each) for each in keys)), values))
            if named is not None and canonical(named[1]) == "pytorch_lightning.Trainer":
                inside = tuple(str(each) for each in keys)
                index.declared.setdefault(inside or outer[-1:], path)
    for match in _REFERENCE.finditer(text):
        row = text.count("\n", 0, match.start()) + 1
        index.references.setdefault(match[1], []).append((path, row))
