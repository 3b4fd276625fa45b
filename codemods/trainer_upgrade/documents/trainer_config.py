"""A mapping of Trainer arguments in a configuration file.

What each argument becomes is decided by ``translate_trainer_arguments``, as in Python code and at run time.
A value that is an interpolation is moved along where its argument only changes its name; where the new value
depends on the old one, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.catalogue.translate import (
    ArgumentFinding,
    CallbackRef,
    Instance,
    Translation,
    translate_trainer_arguments,
)
from trainer_upgrade.catalogue.translation.names import EVER, FIT_OPTIONS, LEGACY_ONLY, LIGHTNING, LIMITS
from trainer_upgrade.documents.config_index import class_of
from trainer_upgrade.documents.document import Document
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.configs import ConfigIndex, ConfigUse, Keys
from trainer_upgrade.project.spelling import modern_path
from trainer_upgrade.rules._cases import passed_on
from trainer_upgrade.rules._expressions import MarkedInt, MarkedStr, Opaque
from trainer_upgrade.rules.trainer_arguments import RELEASE, group_of
from trainer_upgrade.sources.config_edit import KEEP, MapEditor, Raw, Unwritable, Writer
from trainer_upgrade.sources.tree import Entry, Node

__all__ = ["TrainerConfig", "leads_to"]

SAFE, UNSAFE, MANUAL = Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL
# Callbacks that only show something: losing one changes no number.
_SHOWING = frozenset({"TQDMProgressBar", "RichProgressBar", "ModelSummary", "RichModelSummary"})
_HYDRA = frozenset({"_target_", "_partial_", "_convert_", "_recursive_", "_args_", "defaults"})
_BEFORE_THE_CHECK = "1.4"
_INTERPOLATION = re.compile(r"\$\{")
_WHOLE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}$")
_UNKNOWN = object()


@dataclass(eq=False)
class TrainerConfig:
    """One mapping of Trainer arguments.

    Attributes:
        document: The file.
        index: What the project does with its configurations.
        root: The YAML document (or file) it stands in.
        arguments: The map that holds the arguments.
        style: How classes are named beside it: ``_target_``, ``class_path``, ``target``, or empty where the
            code builds objects itself.
        named: The map that names the Trainer's class; ``None`` where none does.
        keys: The keys on the way to it, its file's place included.
        use: Where the code hands it to a Trainer, if that is in sight.
        sure: Whether it is known to reach a Trainer.
        package: The import root that the project uses (``pytorch_lightning``, ``lightning.pytorch``).
    """

    document: Document
    index: ConfigIndex
    root: Node
    arguments: Node
    style: str
    named: Node | None
    keys: Keys
    use: ConfigUse | None
    sure: bool
    package: str | None
    writer: Writer

    def __post_init__(self) -> None:
        """Read the arguments."""
        self.target: Target = self.document.target
        self.entries: dict[str, Entry] = {}
        self.values: dict[str, Any] = {}
        self.blind: set[str] = set()
        self.notes: dict[str, list[str]] = {}
        for entry in self.arguments.entries:
            name = entry.name
            if not isinstance(name, str) or name in _HYDRA or entry.merge:
                continue
            if name not in EVER and name != "options":
                continue
            self.entries[name] = entry
            value = self._value(name, entry.value)
            if value is _UNKNOWN:
                if name in LEGACY_ONLY or name in ("accelerator", "precision", "strategy", "plugins"):
                    self.blind.add(name)
            else:
                self.values[name] = value
        for name in self.entries:
            self.notes[name] = self._read_elsewhere(name)

    # Findings

    def findings(self) -> Iterator[Finding]:
        """Yield what is to be done about the arguments."""
        if not self.sure:
            yield from self._suspicions()
            return
        merged = self._translate(set(self.values))
        manual = self._manual(merged)
        unsafe = {name for name in self.values if self._is_unsafe(name, merged)} - manual
        for names in (manual, unsafe):
            for name in list(names):
                names |= group_of(name) & set(self.entries)
        unsafe -= manual
        fixes: dict[Applicability, Fix | None] = {SAFE: None, UNSAFE: None}
        if self.document.fixing:
            fixes[SAFE] = self._fix(set(self.values) - manual - unsafe, SAFE)
            fixes[UNSAFE] = self._fix(set(self.values) - manual, UNSAFE)
        by_name: dict[str, list[ArgumentFinding]] = {}
        for each in (*merged.findings, *merged.errors):
            by_name.setdefault(each.argument, []).append(each)
        for name in self.entries:
            those = by_name.pop(name, [])
            if name in self.blind:
                if name in LEGACY_ONLY:
                    message = f"{_advice(name)} (the value is known when the configuration is composed)"
                    yield self._told(name, _code(name), message, None)
                continue
            if not those:
                continue
            main = [each for each in those if each.applicability is not MANUAL] or those
            fix = None
            if name not in manual:
                fix = fixes[UNSAFE] if name in unsafe else fixes[SAFE] or fixes[UNSAFE]
                if all(each.applicability is MANUAL for each in those) and name in merged.constructor:
                    fix = None
            message = main[0].message + self._lost_note(name)
            if name == "resume_from_checkpoint":
                message = f"{message}{self._resume_note()}"
            yield self._told(
                name, main[0].code, message, fix, silent=any(each.silent for each in main), notes=True
            )
            for note in those:
                if note not in main:
                    yield self._told(name, note.code, note.message, None, silent=note.silent)
        for name, those in by_name.items():
            place = next((each for each in self.entries if each in group_of(name)), None)
            if place is not None:
                for each in those:
                    yield self._told(place, each.code, each.message, None, silent=each.silent)

    def complete(self) -> bool:
        """Whether all arguments have a place on the target."""
        if not self.sure:
            return False
        merged = self._translate(set(self.values))
        if self._manual(merged) | (self.blind & LEGACY_ONLY):
            return False
        if self.style != "_target_":
            return True
        return not any(
            self._left_over(name, value)
            for values in self.index.parts_of(self.keys)
            for name, value in values.items()
        )

    def _left_over(self, name: str, value: object) -> bool:
        """Whether an argument of a part that hydra merges with this one has no place on the target."""
        if isinstance(value, str) and "${" in value:
            return False
        alone = translate_trainer_arguments({name: value}, target=self.target, legacy_version=RELEASE)
        if alone.module or alone.datamodule or alone.torch or alone.tuner:
            return True
        use = self.use or self.index.instantiation(self.keys)
        passed = use is not None and "callbacks" in use.passes
        return passed and any(each.name not in _SHOWING for each in (*alone.callbacks, *alone.plugins))

    def _suspicions(self) -> Iterator[Finding]:
        entry = next(iter(catalogue.by_code("TRU920")))
        for name in self.entries:
            if name in LEGACY_ONLY:
                message = f"{_advice(name)} (left as it is: no code in sight hands this mapping to a Trainer)"
                yield self._told(name, entry.code, message, None)

    def _told(
        self,
        name: str,
        code: str,
        message: str,
        fix: Fix | None,
        *,
        silent: bool = False,
        notes: bool = False,
    ) -> Finding:
        entry = self.entries[name]
        if "Opaque(...)" in message:
            message = message.replace("Opaque(...)", self._text(entry.value).strip("'\""))
        if notes and self.notes.get(name):
            message = f"{message}; {'; '.join(self.notes[name])}"
        span = (entry.key.start, max(entry.value.end, entry.key.end))
        if entry.value.kind in ("map", "list"):
            span = (entry.key.start, entry.key.end)
        return self.document.finding(code, span, message, fix, silent=silent)

    # Values

    def _text(self, node: Node) -> str:
        return self.document.text[node.start : node.end]

    def _value(self, name: str, node: Node) -> Any:
        if name == "callbacks" and node.real.kind == "scalar" and node.real.value is not None:
            return _Moved(self._text(node), node)
        if node.kind == "alias":
            inner = node.real
            if inner.kind == "scalar" and not self._interpolated(inner):
                return inner.value
            return _Moved(self._text(node), node) if name not in LEGACY_ONLY else _UNKNOWN
        if node.kind == "scalar":
            if not self._interpolated(node):
                return node.value
            return self._interpolation(name, node)
        if node.kind == "map":
            named = class_of(node)
            if named is not None:
                return Instance(named[1].rpartition(".")[2], node)
            if (
                all(each.value.kind == "scalar" for each in node.entries)
                and name == "accumulate_grad_batches"
            ):
                return {each.name: each.value.value for each in node.entries}
            return _Moved(name, node)
        values = [self._value(name, each) for each in node.items]
        return _UNKNOWN if any(each is _UNKNOWN for each in values) else values

    @staticmethod
    def _interpolated(node: Node) -> bool:
        return isinstance(node.value, str) and _INTERPOLATION.search(node.value) is not None

    def _interpolation(self, name: str, node: Node) -> Any:
        text = self._text(node)
        known = self._looked_up(str(node.value))
        if (
            known is not _UNKNOWN
            and type(known) is int
            and known > 0
            and name in ("gpus", "num_processes", "max_steps")
        ):
            return MarkedInt(text)
        if known is not _UNKNOWN and (
            type(known) is bool or (isinstance(known, str) and name == "accelerator")
        ):
            return _UNKNOWN
        if name == "resume_from_checkpoint":
            return Opaque(text)
        cases = passed_on(name, text, None, self.target)
        if cases is not None:
            value = cases.values[0][1]
            return Opaque(text) if isinstance(value, (MarkedInt, MarkedStr)) and known is None else value
        return _UNKNOWN if name in LEGACY_ONLY else Opaque(text)

    def _looked_up(self, value: str) -> Any:
        """Follow ``${a.b}`` to a plain value in the same file."""
        for _ in range(8):
            match = _WHOLE.match(value)
            if match is None:
                return _UNKNOWN
            node: Node | None = self.root
            for part in match[1].split("."):
                entry = node.real.get(part) if node is not None and node.real.kind == "map" else None
                node = entry.value if entry is not None else None
            if node is None or node.real.kind != "scalar":
                return _UNKNOWN
            value = node.real.value
            if not isinstance(value, str) or "${" not in value:
                return value
        return _UNKNOWN

    # Translation

    def _translate(self, names: set[str]) -> Translation:
        chosen = {name: value for name, value in self.values.items() if name in names}
        pinned = "pin_defaults" in self.document.options and self.named is not None
        # Configurations that spell out all defaults of 1.4 and before name a level that apex alone used.
        apex = str(self.values.get("amp_backend")).lower() == "apex"
        release = _BEFORE_THE_CHECK if self.values.get("amp_level") is not None and not apex else RELEASE
        return translate_trainer_arguments(
            chosen, target=self.target, legacy_version=release, defaults=pinned
        )

    def _manual(self, merged: Translation) -> set[str]:
        manual = {each.argument for each in merged.errors} | set(self.blind)
        kinds: dict[str, set[Applicability]] = {}
        for each in merged.findings:
            kinds.setdefault(each.argument, set()).add(each.applicability)
        for name in self.values:
            only_told = kinds.get(name) == {MANUAL} and name in LEGACY_ONLY and name not in merged.constructor
            if only_told or (name not in manual and self._elsewhere(name)):
                manual.add(name)
        for name in list(manual):
            manual |= group_of(name) & set(self.entries)
        return manual

    def _elsewhere(self, name: str) -> bool:
        """Whether an argument's new place is in code, which no configuration reaches."""
        alone = self._translate({name})
        if alone.module or alone.datamodule or alone.torch or alone.tuner or alone.logger:
            return True
        if any("ckpt_path" in options for options in alone.entry_points.values()):
            return not self._resume_place()
        for ref in (*alone.callbacks, *alone.plugins):
            if not self._callback_place() and ref.name not in _SHOWING:
                return True
        added = alone.constructor.get("callbacks")
        if name == "callbacks" or not isinstance(added, list):
            return False
        return any(isinstance(each, Instance) for each in added) and not self._callback_place()

    def _is_unsafe(self, name: str, merged: Translation) -> bool:
        those = [each for each in merged.findings if each.argument == name]
        if any(each.applicability is UNSAFE for each in those):
            return True
        if not those:
            return False
        if isinstance(self.values[name], (MarkedInt, Opaque)) and name in ("gpus", "num_processes"):
            return True
        gone = name not in merged.constructor
        if gone and self.notes[name]:
            return True
        if gone and name == "resume_from_checkpoint" and self.values[name] is not None:
            return True
        alone = self._translate({name})
        if alone.callbacks and not self._callback_place():
            return True
        # A part that hydra merges with others: what is dropped here may stand there.
        return (
            self.named is None
            and gone
            and not alone.constructor
            and bool(group_of(name) & {"gpus", "precision", "strategy"})
        )

    def _read_elsewhere(self, name: str) -> list[str]:
        if name not in LEGACY_ONLY or not self.keys:
            return []
        found = [
            f"{path.name}:{row} reads `{self.keys[-1]}.{name}`"
            for path, row in self.index.reads.get((self.keys[-1], name), [])
        ]
        wanted = f"{self.keys[-1]}.{name}"
        for dotted, places in self.index.references.items():
            if dotted == wanted or dotted.endswith("." + wanted):
                found += [f"{path.name}:{row} refers to `${{{dotted}}}`" for path, row in places]
        return found[:3]

    # Places for what leaves the map

    def _callback_place(self) -> tuple[str, Node | None] | None:
        """Return where callbacks go: ``list`` (with the list), ``group`` (a map of them), or ``new``."""
        entry = self.arguments.get("callbacks")
        if entry is not None:
            node = entry.value
            if node.kind == "list" and self.style:
                return "list", node
            if node.kind == "scalar" and node.value is None and self.style:
                return "new", None
            return None
        if not self.style:
            return None
        if self.style == "_target_":
            group = self.root.get("callbacks") if self.root is not self.arguments else None
            if (
                group is not None
                and group.value.kind == "map"
                and any(
                    each.value.kind == "map" and class_of(each.value) is not None
                    for each in group.value.entries
                )
            ):
                return "group", group.value
        use = self.use or self.index.instantiation(self.keys)
        if use is not None and "callbacks" in use.passes:
            return None
        if self.named is None and self.style == "_target_":
            return None  # a list would take the place of another one when hydra merges
        return "new", None

    def _resume_place(self) -> bool:
        if self.root is self.arguments or self.root is self.named or self.root.kind != "map":
            return False
        if self.root.get("ckpt_path") is not None or self.root.style != "block":
            return False
        if self.style == "class_path":
            return True
        return "ckpt_path" in self.index.resumes or not self.index.fits

    def _lost_note(self, name: str) -> str:
        """What to do about a callback that has no place in this file."""
        if name not in self.values or name not in LEGACY_ONLY or self._callback_place():
            return ""
        refs = self._translate({name}).callbacks
        if not refs:
            return ""
        where = "the callbacks that the code passes" if self.style else "the code"
        return f"; there is no place for it in this file: add it to {where}"

    def _resume_note(self) -> str:
        if self.values.get("resume_from_checkpoint") is None:
            return ""
        if "ckpt_path" in self.index.resumes:
            path, row = self.index.resumes["ckpt_path"]
            return f"; {path.name}:{row} passes `ckpt_path` of the configuration"
        where = ", ".join(f"{Path(path).name}:{row}" for path, row in self.index.fits[:3])
        return f"; the call of `fit` that must pass it: {where}" if where else ""

    # Writing

    def _spelled(self, name: str, package: str) -> str:
        return modern_path(f"pytorch_lightning.{package}.{name}", self.target, self.package)

    def _object(self, ref: CallbackRef, package: str) -> dict[str, Any]:
        path = self._spelled(ref.name, package)
        if self.style == "class_path":
            return {"class_path": path, **({"init_args": dict(ref.arguments)} if ref.arguments else {})}
        if self.style == "target":
            return {"target": path, "params": dict(ref.arguments)}
        return {"_target_": path, **ref.arguments}

    def _written(self, value: Any) -> Any:
        """Turn a value of a translation into what the writer takes."""
        if isinstance(value, (MarkedInt, MarkedStr)):
            return Raw(value.source)
        if isinstance(value, _Moved):
            return value.node
        if isinstance(value, Opaque):
            return Raw(value.source)
        if isinstance(value, Instance):
            return value.source
        if isinstance(value, CallbackRef):
            return self._object(value, "callbacks")
        if isinstance(value, (list, tuple)):
            return [self._written(each) for each in value]
        if isinstance(value, dict):
            return {name: self._written(each) for name, each in value.items()}
        return value

    def _own(self, name: str, value: Any) -> Any:
        """What to write for an argument: its own text, where the value is what stands there."""
        entry = self.entries.get(name)
        if entry is not None and name in self.values and _same(self.values[name], value):
            node = entry.value
            if node.kind in ("scalar", "alias") and node.end > node.start:
                return Raw(self._text(node))
            return node
        return self._written(value)

    def _with_comment(self, name: str, value: Any) -> Any:
        """A comment behind an argument goes along with it into the options."""
        entry = self.entries.get(name)
        if not isinstance(value, Raw) or entry is None or self.writer.flavour != "yaml":
            return value
        comment = re.compile(r"[ \t]+#[^\r\n]*").match(self.document.text, entry.value.end)
        return Raw(value.text + comment[0]) if comment and self.arguments.style == "block" else value

    def _fix(self, names: set[str], how: Applicability) -> Fix | None:
        merged = self._translate(names)
        if {each.argument for each in merged.errors} & names:
            return None
        try:
            return self._edited(names, merged, how)
        except Unwritable:
            return None

    def _edited(self, names: set[str], merged: Translation, how: Applicability) -> Fix | None:
        node = self.arguments
        if (node.aliased or node.anchor) and how is SAFE:
            return None
        editor = MapEditor(node, self.writer)
        extra: list[Edit] = []
        constructor = dict(merged.constructor)
        options = merged.options if self.target is Target.RELIGHT else {}
        gone = [name for name in self.entries if name in names and name not in constructor]
        new = [name for name in constructor if name not in self.entries]
        changed = [
            name
            for name in constructor
            if name in self.entries and name in names and not _same(constructor[name], self.values[name])
        ]
        if not gone and not new and not changed and not merged.callbacks:
            return None
        hosts: dict[str, list[tuple[str, Any]]] = {name: [] for name in gone}
        added: list[tuple[str, Any]] = []
        for name in new:
            host = self._host(name, gone, constructor[name])
            value = constructor[name]
            if name == "callbacks":
                continue
            if host is None:
                added.append((name, self._written(value)))
                continue
            same = _same(value, self.values[host])
            pair = (name, KEEP if same else self._written(value))
            # What keeps the value keeps its line, with the comment on it.
            hosts[host].insert(0, pair) if same else hosts[host].append(pair)
        backend = self.entries.get("accelerator")
        if backend is not None and "accelerator" in changed and any(name == "strategy" for name in new):
            # `accelerator: ddp # comment`: the comment is about the strategy.
            pairs = [("strategy", self._written(constructor["strategy"]))]
            for those in (*hosts.values(), added):
                those[:] = [pair for pair in those if pair[0] != "strategy"]
            other = ("accelerator", self._written(constructor["accelerator"]))
            host = self._host("accelerator", gone, constructor["accelerator"])
            (hosts[host] if host is not None and hosts[host] else pairs).append(other)
            editor.replace(backend, pairs)
            changed.remove("accelerator")
        for name in changed:
            if name != "callbacks":
                editor.replace(self.entries[name], [(name, self._written(constructor[name]))])
        if options:
            extra += self._options(options, gone, hosts, added)
        self._callbacks(editor, merged, constructor, names, gone, hosts, added, extra)
        self._plugins(editor, merged, hosts, gone, added)
        path = next(
            (each["ckpt_path"] for each in merged.entry_points.values() if "ckpt_path" in each), _UNKNOWN
        )
        if path is not _UNKNOWN and "resume_from_checkpoint" in names:
            outer = MapEditor(self.root, self.writer)
            outer.add("ckpt_path", self._own("resume_from_checkpoint", path))
            extra += outer.edits()
        for name in gone:
            editor.replace(self.entries[name], hosts[name])
        for name, value in added:
            editor.add(name, value)
        edits = tuple(sorted({*editor.edits(), *extra}))
        if not edits:
            return None
        return Fix(how, "write the Trainer's arguments as they are today", edits)

    def _host(self, name: str, gone: list[str], value: Any) -> str | None:
        """The entry that goes whose place a new one takes: one with the same value first."""
        close = [each for each in gone if name in leads_to(each)]
        for each in close:
            own = self.values[each]
            if own is not None and (_same(own, value) or (isinstance(own, list) and value in own)):
                return each
        return close[0] if close else None

    def _options(
        self,
        options: dict[str, Any],
        gone: list[str],
        hosts: dict[str, list[tuple[str, Any]]],
        added: list[tuple[str, Any]],
    ) -> list[Edit]:
        order = list(self.entries)
        names = sorted(options, key=lambda name: order.index(name) if name in order else len(order))
        written = {name: self._with_comment(name, self._own(name, options[name])) for name in names}
        known = self.entries.get("options")
        if known is not None:
            if known.value.kind != "map":
                raise Unwritable("the options are no map")
            inner = MapEditor(known.value, self.writer)
            for name, value in written.items():
                if known.value.get(name) is None:
                    inner.add(name, value)
            return inner.edits()
        host = next((each for each in gone if each in FIT_OPTIONS or each in LIMITS), None)
        if host is not None:
            hosts[host].append(("options", written))
        else:
            added.append(("options", written))
        return []

    def _callbacks(
        self,
        editor: MapEditor,
        merged: Translation,
        constructor: dict[str, Any],
        names: set[str],
        gone: list[str],
        hosts: dict[str, list[tuple[str, Any]]],
        added: list[tuple[str, Any]],
        extra: list[Edit],
    ) -> None:
        refs: list[Any] = list(merged.callbacks)
        before = self.values.get("callbacks")
        old = before if isinstance(before, list) else [] if before is None else [before]
        if "callbacks" in constructor and (names & LEGACY_ONLY):
            now = constructor["callbacks"]
            now = now if isinstance(now, list) else [] if now is None else [now]
            refs = [each for each in now if not any(each is one for one in old)] + refs
        if not refs:
            return
        place = self._callback_place()
        if place is None:
            if any(not (isinstance(each, CallbackRef) and each.name in _SHOWING) for each in refs):
                raise Unwritable("there is no place for a callback")
            return
        kind, node = place
        written = [self._written(each) for each in refs]
        if kind == "list":
            assert node is not None
            extra += _list_edits(node, written, self.writer)
        elif kind == "group":
            assert node is not None
            outer = MapEditor(node, self.writer)
            for ref, value in zip(refs, written, strict=True):
                outer.add(_snake(ref.name), value)
            extra += outer.edits()
        else:
            entry = self.entries.get("callbacks")
            if entry is not None:
                editor.replace(entry, [("callbacks", written)])
                return
            host = next((each for each in gone if any(_of(ref, each) for ref in refs)), None)
            (hosts[host] if host is not None else added).append(("callbacks", written))

    def _plugins(
        self,
        editor: MapEditor,
        merged: Translation,
        hosts: dict[str, list[tuple[str, Any]]],
        gone: list[str],
        added: list[tuple[str, Any]],
    ) -> None:
        if not merged.plugins:
            return
        if not self.style or "plugins" in self.entries:
            raise Unwritable("there is no place for a plugin")
        written = [self._object(each, "plugins") for each in merged.plugins]
        host = next((each for each in gone if any(each == ref.argument for ref in merged.plugins)), None)
        (hosts[host] if host is not None else added).append(("plugins", written))


class _Moved(Opaque):
    """A value that is written somewhere, and can be moved as it is written."""

    def __init__(self, source: str, node: Node) -> None:
        super().__init__(source)
        self.node = node


def _of(ref: Any, name: str) -> bool:
    return isinstance(ref, CallbackRef) and ref.argument == name


def _same(one: Any, two: Any) -> bool:
    if one is two:
        return True
    if isinstance(one, MarkedInt) and isinstance(two, MarkedInt):
        return one.source == two.source
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return all(_same(*pair) for pair in zip(one, two, strict=True))
    return type(one) is type(two) and not isinstance(one, (list, Opaque, Instance)) and bool(one == two)


def leads_to(name: str) -> frozenset[str]:
    """Return the arguments of today that a legacy one may become."""
    entry = catalogue.trainer_argument(name)
    names = {name, *(group_of(name) & LIGHTNING)}
    if entry is not None:
        names |= {entry.lightning.name, entry.relight.argument, entry.relight.name}
    return frozenset(names)


def _list_edits(node: Node, values: list[Any], writer: Writer) -> list[Edit]:
    if node.style == "block" and node.items:
        last = node.items[-1]
        start = writer.text.rfind("\n", 0, node.start) + 1
        indent = " " * (node.start - start)
        if writer.text[start : node.start].strip(" "):
            raise Unwritable("the list does not begin its line")
        end = writer.text.find("\n", last.end)
        lines = [indent + writer.item(each, indent) for each in values]
        if end < 0:
            return [
                Edit(len(writer.text), len(writer.text), "".join(writer.newline + each for each in lines))
            ]
        return [Edit(end + 1, end + 1, "".join(each + writer.newline for each in lines))]
    inside = ", ".join(writer.flow(each) for each in values)
    if node.items:
        place = node.items[-1].end
        return [Edit(place, place, f", {inside}")]
    return [Edit(node.start, node.end, f"[{inside}]")]


def _snake(name: str) -> str:
    known = {
        "TQDMProgressBar": "progress_bar",
        "RichProgressBar": "progress_bar",
        "ModelSummary": "model_summary",
    }
    return known.get(name) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _code(name: str) -> str:
    entry = catalogue.trainer_argument(name) or catalogue.trainer_argument("kwargs")
    assert entry is not None
    return entry.code


def _advice(name: str) -> str:
    entry = catalogue.trainer_argument(name)
    return entry.advice if entry is not None else f"`{name}` is not an argument of the Trainer"
