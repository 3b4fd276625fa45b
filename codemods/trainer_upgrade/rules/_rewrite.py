"""Write a translation into the call it comes from."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.findings import Edit, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import CallEditor, ListEditor
from trainer_upgrade.rules._expressions import is_pure, known_types, parenthesised
from trainer_upgrade.rules._imports import imports_of
from trainer_upgrade.rules._merge import Merged
from trainer_upgrade.rules._trainer_calls import DictEditor, Given, TrainerCall
from trainer_upgrade.rules.support.bodies import insert_before, starts_line

__all__ = ["Rewritten", "Unwritable", "quote_of", "rewrite", "spelled", "speller"]

# Which legacy arguments a modern one comes from, the likeliest first.
_SOURCES: dict[str, tuple[str, ...]] = {
    "accelerator": (
        "accelerator",
        "gpus",
        "num_processes",
        "tpu_cores",
        "num_tpu_cores",
        "ipus",
        "distributed_backend",
        "devices",
    ),
    "devices": ("devices", "gpus", "num_processes", "tpu_cores", "num_tpu_cores", "ipus", "accelerator"),
    "strategy": ("strategy", "distributed_backend", "accelerator", "plugins"),
    "precision": ("precision", "use_amp", "amp_backend", "amp_level"),
    "enable_progress_bar": (
        "progress_bar_refresh_rate",
        "show_progress_bar",
        "progress_bar_callback",
        "process_position",
    ),
    "enable_checkpointing": ("checkpoint_callback",),
    "enable_model_summary": ("weights_summary",),
    "detect_anomaly": ("terminate_on_nan",),
    "use_distributed_sampler": ("replace_sampler_ddp",),
    "reload_dataloaders_every_n_epochs": ("reload_dataloaders_every_epoch",),
    "plugins": ("plugins", "cluster_environment", "sync_batchnorm"),
    "default_root_dir": ("default_save_path",),
    "gradient_clip_val": ("gradient_clip",),
    "num_nodes": ("nb_gpu_nodes",),
    "max_epochs": ("max_nb_epochs",),
    "min_epochs": ("min_nb_epochs",),
    "num_sanity_val_steps": ("nb_sanity_val_steps",),
    "log_every_n_steps": ("row_log_interval", "add_row_log_interval"),
    "limit_train_batches": ("train_percent_check",),
    "limit_val_batches": ("val_percent_check",),
    "limit_test_batches": ("test_percent_check",),
    "overfit_batches": ("overfit_pct",),
}
_ORDER = ("accelerator", "devices", "strategy")


class Unwritable(Exception):
    """The translation cannot be written into this call."""


@dataclass(frozen=True)
class Rewritten:
    """The result.

    Attributes:
        edits: The changes.
        imports: What the new text needs.
        message: What was done, in one line.
        added: Arguments that were not there.
        unsafe: Something about the call, not about a value, wants a look.
    """

    edits: tuple[Edit, ...]
    imports: tuple[ImportRequest, ...]
    message: str
    added: frozenset[str]
    unsafe: bool


class Speller:
    """Writes names of callbacks and plugins, and remembers the imports they need."""

    def __init__(self, found: TrainerCall, file: FileContext) -> None:
        self.found = found
        self.file = file
        self.imports: dict[ImportRequest, None] = {}

    def __call__(self, name: str) -> str:
        package = "plugins" if name == "TorchSyncBatchNorm" else "callbacks"
        text, needed = spelled(
            f"pytorch_lightning.{package}.{name}", self.found.call, self.file, self.found.target
        )
        self.imports.update(dict.fromkeys(needed))
        return text


def speller(found: TrainerCall, file: FileContext) -> Speller:
    """Return what writes names at a call."""
    return Speller(found, file)


def spelled(
    dotted: str, at: ast.AST, file: FileContext, target: Target
) -> tuple[str, tuple[ImportRequest, ...]]:
    """Say how to write a modern name, as it will be right when the imports of the file are upgraded too."""
    text, needed = file.spell(dotted, at)
    if file.target is Target.LIGHTNING:
        return text, needed
    imports = imports_of(file)
    head, dot, rest = text.partition(".")
    bound = next((each for each in imports.bound if each.local == head), None)
    if (
        bound is not None
        and not bound.is_from
        and bound.aliases[0][1].asname is None
        and imports.moves(bound)
    ):
        text = f"relight{dot}{rest}"
    if target is Target.LIGHTNING and needed:
        module, _, name = dotted.rpartition(".")
        root = next(
            (each.root for each in imports.bound if not each.root.startswith("relight")), "pytorch_lightning"
        )
        if root != "pytorch_lightning":
            module = "lightning.pytorch" + module[len("pytorch_lightning") :]
        needed = tuple(ImportRequest(module, name, each.asname) for each in needed)
    return text, needed


def quote_of(node: ast.AST, file: FileContext) -> str:
    """Return the quote that strings of a piece of source are written with."""
    text = file.segment(node)
    if '"' in text or "'" not in text:
        return '"' if text.count('"') >= text.count("'") or '"' in text else "'"
    return "'"


def rewrite(found: TrainerCall, merged: Merged, names: set[str], file: FileContext) -> Rewritten:
    """Return the edits that make a call say what its translation says.

    Raises:
        Unwritable: There is no way to write it here.
    """
    return _Rewriter(found, merged, names, file).run()


class _Rewriter:
    def __init__(self, found: TrainerCall, merged: Merged, names: set[str], file: FileContext) -> None:
        self.found = found
        self.merged = merged
        self.names = names
        self.file = file
        self.spell = speller(found, file)
        self.extra: list[Edit] = []
        self.added: set[str] = set()
        self.unsafe = False
        self.quote = quote_of(found.call, file)

    def run(self) -> Rewritten:
        constructor = dict(self.merged.constructor)
        if self.merged.auto_select and constructor.get("devices") is not None:
            self._auto_select(constructor)
        given = {each.name: each for each in self.found.given}
        placed: dict[str, list[str]] = {}
        new = [name for name, text in constructor.items() if text is not None and name not in given]
        if {
            each
            for each in constructor
            if each in given and each not in self.names and constructor[each] is not None
        }:
            raise Unwritable
        for name in sorted(new, key=lambda each: _ORDER.index(each) if each in _ORDER else len(_ORDER)):
            self.added.add(name)
            placed.setdefault(self._source(name), []).append(f"{name}={constructor[name]}")
        callbacks = [text for _, text in self.merged.callbacks]
        self._list("callbacks", callbacks, placed, self._callback_source(), constructor)
        self._list("plugins", self.merged.plugins, placed, self._source("plugins"), constructor)
        if self.found.target is Target.RELIGHT:
            self._options(placed)
            self._torch()
        for each in self.found.given:
            if each.name in self.names:
                self._one(each, constructor, placed.pop(each.name, []))
        for texts in placed.values():
            self.found.editors[0].add(*texts)
        edits = [*self.found.edits(), *self.extra]
        # The names in the translation's texts were written by the speller of the caller, for the same place.
        for _, text in [*self.merged.callbacks, *(("", each) for each in self.merged.plugins)]:
            self._needs(text)
        return Rewritten(
            tuple(sorted(set(edits))),
            tuple(self.spell.imports),
            "write the Trainer's arguments as today",
            frozenset(self.added),
            self.unsafe,
        )

    def _needs(self, text: str) -> None:
        """Ask for the imports of the classes that a text calls."""
        try:
            tree = ast.parse(f"[{text}]", mode="eval")
        except SyntaxError:
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                last = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                for name in (last, last.removeprefix("Lightning")):
                    if name[:1].isupper() and self.spell(name) == ast.unparse(node.func):
                        break

    def _auto_select(self, constructor: dict[str, str | None]) -> None:
        text, needed = spelled(
            "pytorch_lightning.accelerators.find_usable_cuda_devices",
            self.found.call,
            self.file,
            self.found.target,
        )
        self.spell.imports.update(dict.fromkeys(needed))
        constructor["devices"] = f"{text}({constructor['devices']})"

    def _one(self, given: Given, constructor: dict[str, str | None], here: list[str]) -> None:
        editor, item = given.editor, given.item
        if given.name in constructor:
            text = constructor[given.name]
            positional = item.name is None
            if text is None and not here and not positional:
                return
            if positional:
                editor.replace(item, f"{given.name}={text if text is not None else given.text}", *here)
            elif text is not None and not here:
                editor.set_value(item, text)
            else:
                editor.replace(item, f"{given.name}={text if text is not None else given.text}", *here)
            return
        if given.name == "callbacks" and any(text.startswith("callbacks=") for text in here):
            pass
        editor.replace(item, *here)

    def _source(self, name: str) -> str:
        """Return the written argument that a new one takes the place of."""
        given = [each.name for each in self.found.given if each.name in self.names]
        for each in _SOURCES.get(name, ()):
            if each in given:
                return each
        gone = [each for each in given if each not in self.merged.constructor]
        return gone[0] if gone else ""

    def _callback_source(self) -> str:
        given = {each.name for each in self.found.given}
        for origin, _ in self.merged.callbacks:
            if origin in given:
                return origin
        for name in ("checkpoint_callback", "early_stop_callback", "progress_bar_callback"):
            if name in given:
                return name
        return self._source("")

    # callbacks and plugins

    def _list(
        self,
        name: str,
        texts: list[str],
        placed: dict[str, list[str]],
        source: str,
        constructor: dict[str, str | None],
    ) -> None:
        if not texts:
            return
        given = self.found.get(name)
        joined = ", ".join(texts)
        if given is None:
            self.added.add(name)
            placed.setdefault(source, []).append(f"{name}=[{joined}]")
            return
        if name in self.names and (name not in constructor or constructor[name] is not None):
            # The argument is written anew, or goes: into its place.
            text = constructor.get(name)
            constructor[name] = f"[{joined}]" if text is None else f"[*{parenthesised(text)}, {joined}]"
            if text is not None and text.startswith("[") and text.endswith("]"):
                constructor[name] = f"{text[:-1]}{', ' if text != '[]' else ''}{joined}]"
            return
        value = given.value
        if isinstance(value, (ast.List, ast.Tuple)) and self.file.source[self.file.span(value)[0]] in "[(":
            bracket = "[" if isinstance(value, ast.List) else "("
            start, end = self.file.span(value)
            if value.elts:
                editor = ListEditor(self.file, list(value.elts), start, end - 1, bracket)
                editor.add(*texts)
                self.extra += editor.edits()
            else:
                self.extra.append(Edit(start, end, f"[{joined}]"))
            return
        given.editor.set_value(given.item, self._extended(name, given, joined))

    def _extended(self, name: str, given: Given, joined: str) -> str:
        value, text = given.value, given.text
        if isinstance(value, ast.Constant) and value.value is None:
            return f"[{joined}]"
        known = known_types(value, self.file)
        if known is not None and known.only(list, tuple):
            return f"[*{parenthesised(text)}, {joined}]"
        if known is not None and known.only(list, tuple, None):
            return f"[*({text} or []), {joined}]"
        if self.file.instance_of(value) is not None or (
            isinstance(value, ast.Call) and self.file.constructed(value)
        ):
            return f"[{text}, {joined}]"
        # A list or None, as nearly everywhere; one callback alone was accepted too.
        self.unsafe = True
        return f"[*({text} or []), {joined}]"

    # relight

    def _options(self, placed: dict[str, list[str]]) -> None:
        stages = self.merged.entry_points
        if not stages:
            return
        existing = self.found.get("options")
        calls = None if existing is not None or self.found.kind != "call" else self._calls(stages)
        if calls is not None:
            for call, options in calls:
                editor = CallEditor(self.file, call)
                editor.add(*(f"{name}={text}" for name, text in options.items() if editor.get(name) is None))
                self.extra += editor.edits()
            return
        flat: dict[str, str] = {}
        for stage, options in stages.items():
            for name, text in options.items():
                if name == "limit_batches":
                    flat["limit_val_batches" if stage == "validate" else f"limit_{stage}_batches"] = text
                elif name != "ckpt_path":
                    flat[name] = text
        if not flat:
            return
        quote = self.quote
        entries = ", ".join(f"{quote}{name}{quote}: {text}" for name, text in flat.items())
        if existing is None:
            source = next(
                (each.name for each in self.found.given if each.name in flat and each.name in self.names),
                None,
            )
            placed.setdefault(source or self._source(""), []).append(f"options={{{entries}}}")
            self.added.add("options")
            return
        if not isinstance(existing.value, ast.Dict):
            raise Unwritable
        entries_of = DictEditor(self.file, existing.value)
        entries_of.add(*(f"{name}={text}" for name, text in flat.items()))
        self.extra += entries_of.edits()

    def _calls(self, stages: dict[str, dict[str, str]]) -> list[tuple[ast.Call, dict[str, str]]] | None:
        """Return the calls of entry points with what each gets; ``None`` where not all can be seen."""
        uses = self.file.trainer_uses(self.found.call)
        if uses.escapes or uses.mixed or not uses.calls or any(stage == "tune" for stage, _ in uses.calls):
            return None
        if not all(self._stable(text) for options in stages.values() for text in options.values()):
            return None
        found: list[tuple[ast.Call, dict[str, str]]] = []
        for stage, call in uses.calls:
            if any(isinstance(each, ast.Starred) for each in call.args) or any(
                each.arg is None for each in call.keywords
            ):
                return None
            options = {name: text for name, text in stages.get(stage, {}).items() if name != "ckpt_path"}
            if options:
                found.append((call, options))
        return found

    def _stable(self, text: str) -> bool:
        """Whether an expression gives the same at the entry point's call as where the Trainer is built."""
        try:
            node = ast.parse(text, mode="eval").body
        except SyntaxError:
            return False
        if not is_pure(node, self.file):
            return False
        scopes = self.file.module.scopes
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                return False
            if isinstance(each, ast.Name):
                found = scopes.lookup(each.id, self.found.call)
                if found is not None and len(found[0].bindings[each.id]) != 1:
                    return False
        return True

    def _torch(self) -> None:
        """Write settings of torch in front of the statement that builds the Trainer."""
        settings = self.merged.torch
        if not settings:
            return
        file, call = self.file, self.found.call
        if self.found.kind == "partial" or self._deferred(call):
            raise Unwritable
        statement = file.enclosing_statement(call)
        if not starts_line(file, statement) and not isinstance(statement, (ast.If, ast.With, ast.For)):
            raise Unwritable
        if getattr(statement, "decorator_list", None) or isinstance(
            statement, (ast.FunctionDef, ast.ClassDef)
        ):
            raise Unwritable
        parent = file.parent(statement)
        if (
            isinstance(parent, ast.If)
            and statement in parent.orelse
            and file.source.startswith("elif", file.span(statement)[0])
        ):
            raise Unwritable
        lines = []
        for path, text in settings.items():
            if path.startswith("environ."):
                lines.append(f"os.environ[{self.quote}{path[8:]}{self.quote}] = {text}")
                self.spell.imports[ImportRequest("os")] = None
            elif path == "use_deterministic_algorithms":
                more = "True, warn_only=True" if text.strip("\"'") == "warn" else text
                lines.append(f"torch.{path}({more})")
                self.spell.imports[ImportRequest("torch")] = None
            else:
                lines.append(f"torch.{path} = {text}")
                self.spell.imports[ImportRequest("torch")] = None
        self.extra.append(insert_before(file, statement, lines))

    def _deferred(self, call: ast.Call) -> bool:
        """Whether the call does not run when its statement does."""
        node = self.file.parent(call)
        while node is not None and not isinstance(node, ast.stmt):
            if isinstance(
                node, (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.DictComp, ast.SetComp, ast.IfExp)
            ):
                return True
            node = self.file.parent(node)
        return False
