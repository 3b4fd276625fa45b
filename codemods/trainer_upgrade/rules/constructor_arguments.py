"""Arguments of callbacks, loggers, profilers and strategies that were renamed, split or dropped.

Before::

    ModelCheckpoint(monitor="acc", filepath="out/{epoch}", prefix="net", mode="auto", period=2)
    AdvancedProfiler(output_filename="logs/steps.txt")
    DDPPlugin(find_unused_parameters=False, num_nodes=2)

After::

    ModelCheckpoint(monitor="acc", dirpath="out", filename="net-{epoch}", mode="max", every_n_epochs=2)
    AdvancedProfiler(dirpath="logs", filename="steps")
    DDPStrategy(find_unused_parameters=False)
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability, Area, Entry
from trainer_upgrade.findings import Finding, Fix, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._calls import Argument, CallEditor
from trainer_upgrade.rules._expressions import UNKNOWN, literal
from trainer_upgrade.rules._merge import render
from trainer_upgrade.rules._rewrite import quote_of
from trainer_upgrade.rules._trainer_calls import trainer_call
from trainer_upgrade.rules.registry import on, rule

__all__ = ["ConstructorArguments"]

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE
_STRATEGIES = (
    "DDPPlugin",
    "DDPSpawnPlugin",
    "DDPStrategy",
    "DDPSpawnStrategy",
    "DDPShardedPlugin",
    "DDPSpawnShardedPlugin",
    "DDP2Plugin",
)
# The class itself is gone or another: the import says so, once.
_CLASS_GONE = ("TRU690", "TRU691", "TRU693")
_ON_TRAINER = ("num_nodes", "sync_batchnorm")
# What a class was called when it took arguments that it takes no more: a call whose class is renamed already.
_FORMERLY = {"DeviceStatsMonitor": ("GPUStatsMonitor", "XLAStatsMonitor", "GpuUsageLogger")}
# Arguments that became two, by class.
_SPLIT = {
    "ModelCheckpoint": ("filepath", "prefix"),
    "SimpleProfiler": ("output_filename",),
    "AdvancedProfiler": ("output_filename",),
    "PyTorchProfiler": ("output_filename",),
    "BaseProfiler": ("output_filename",),
}


@rule("constructor-arguments")
class ConstructorArguments:
    """Rewrites the arguments where an object is built."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        if not node.keywords and node.args:
            return
        name = self._class(node, file)
        if name is None:
            return
        if name == "EarlyStopping" and not node.args and not self._is_super(node, file):
            yield from self._monitor(node, file)
        for keyword in node.keywords:
            if keyword.arg is None:
                continue
            entry = _entry(name, keyword.arg)
            if entry is None:
                if (
                    keyword.arg == "mode"
                    and name in ("ModelCheckpoint", "EarlyStopping")
                    and literal(keyword.value) == "auto"
                ):
                    yield from self._mode(node, keyword, name, file)
                continue
            if entry.lightning.action == "rename":
                yield from self._rename(node, keyword, entry, file)
            elif keyword.arg in _SPLIT.get(name, ()):
                yield file.finding(entry, keyword, fix=self._split(node, name, file))
            elif keyword.arg in _ON_TRAINER and name in _STRATEGIES:
                yield file.finding(entry, keyword, fix=self._on_trainer(node, keyword, file))
            elif keyword.arg == "mode" and literal(keyword.value) == "auto":
                yield from self._mode(node, keyword, name, file)
            elif entry.lightning.action == "drop":
                yield from self._drop(node, keyword, entry, name, file)
            elif (
                entry.removed_in is not None
                and entry.lightning.action in ("none", "custom")
                and entry.code not in _CLASS_GONE
            ):
                yield file.finding(entry, keyword)

    def _class(self, node: ast.Call, file: FileContext) -> str | None:
        dotted = file.lightning_name(node.func)
        if dotted is not None:
            last = dotted.rpartition(".")[2]
            return last if last[:1].isupper() and last != "Trainer" else None
        if self._is_super(node, file):
            method = file.enclosing_function(node)
            owner = file.method_owner(method) if method is not None else None
            if owner is None or owner.lightning is None or owner.parents:
                return None
            last = owner.lightning.rpartition(".")[2]
            return (
                last
                if last not in ("Trainer", "LightningModule", "LightningDataModule", "Callback")
                else None
            )
        made = file.constructed(node)
        if (
            made is None
            or made.info is None
            or made.label in (None, "Trainer")
            or made.info.find_method("__init__") is not None
        ):
            return None
        return made.label

    def _is_super(self, node: ast.Call, file: FileContext) -> bool:
        function = node.func
        return (
            isinstance(function, ast.Attribute)
            and function.attr == "__init__"
            and isinstance(function.value, ast.Call)
            and isinstance(function.value.func, ast.Name)
            and function.value.func.id == "super"
        )

    def _monitor(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """``EarlyStopping()``: what it watched has to be said since 1.6."""
        entry = _entry("EarlyStopping", "monitor")
        if entry is None or any(each.arg in ("monitor", None) for each in node.keywords):
            return
        made = file.constructed(node)
        if made is not None and made.info is not None:
            return  # a subclass may say it itself

        def fix() -> Fix:
            editor = CallEditor(file, node)
            quote = quote_of(node, file)
            editor.add(f"monitor={quote}early_stop_on{quote}")
            # 0.9 and older watched val_loss, and nothing here tells the release.
            return Fix(UNSAFE, "name the old default", editor.edits())

        yield file.finding(entry, node, fix=fix)

    def _rename(
        self, node: ast.Call, keyword: ast.keyword, entry: Entry, file: FileContext
    ) -> Iterator[Finding]:
        assert keyword.arg is not None
        replacement = entry.lightning
        new = replacement.name
        editor = CallEditor(file, node)
        item = editor[keyword.arg]
        if not new.isidentifier() or editor.get(new) is not None:
            yield file.finding(entry, keyword)
            return
        text = file.source[item.start : item.end]
        editor.replace(item, new + text[len(keyword.arg) :])
        how = entry.applicability
        value = literal(keyword.value)
        if isinstance(value, int) and value < 0:
            how = UNSAFE  # refused today
        yield file.finding(entry, keyword, fix=Fix(how, f"say {new}=", editor.edits()))

    def _drop(
        self, node: ast.Call, keyword: ast.keyword, entry: Entry, name: str, file: FileContext
    ) -> Iterator[Finding]:
        """Drop an argument, and with it all others of the call that go: edits side by side would collide."""
        how = SAFE if entry.applicability is SAFE else UNSAFE
        editor = CallEditor(file, node)
        for each in node.keywords:
            other = _entry(name, each.arg) if each.arg is not None else None
            if other is None or other.lightning.action != "drop" or each.arg in _SPLIT.get(name, ()):
                continue
            if how is UNSAFE or other.applicability is SAFE:
                editor.remove(editor[str(each.arg)])
        yield file.finding(entry, keyword, fix=Fix(how, f"drop {keyword.arg}", editor.edits()))

    def _mode(self, node: ast.Call, keyword: ast.keyword, name: str, file: FileContext) -> Iterator[Finding]:
        entry = _entry(name, "mode")
        if entry is None:
            return
        editor = CallEditor(file, node)
        monitor = editor.get("monitor")
        first = next(
            (each for each in editor.arguments if each.name is None and isinstance(each.node, ast.expr)), None
        )
        if monitor is None and name == "EarlyStopping":
            monitor = first
        value = literal(monitor.value) if monitor is not None else None
        fix = None
        if isinstance(value, str):
            mode = "max" if "acc" in value or value.startswith("fmeasure") else "min"
            editor.set_value(editor["mode"], render(mode, str, quote_of(node, file)))
            fix = Fix(SAFE, f'say mode="{mode}"', editor.edits())
        yield file.finding(
            entry,
            keyword,
            f'`{name}(mode="auto")` left in 1.3: say "max" if the monitored value grows, else "min"',
            fix,
        )

    def _on_trainer(self, node: ast.Call, keyword: ast.keyword, file: FileContext) -> Fix | None:
        """``num_nodes`` and ``sync_batchnorm`` of a strategy are said by the Trainer around it."""
        assert keyword.arg is not None
        outer = file.parent(node)
        while outer is not None and not isinstance(outer, ast.stmt):
            if isinstance(outer, ast.Call):
                found = trainer_call(outer, file)
                if found is not None:
                    given = found.get(keyword.arg)
                    editor = CallEditor(file, node)
                    item = editor[keyword.arg]
                    editor.remove(item)
                    edits = list(editor.edits())
                    text = editor.value_text(item)
                    if given is not None:
                        how = SAFE if "".join(given.text.split()) == "".join(text.split()) else UNSAFE
                        return Fix(how, f"leave {keyword.arg} to the Trainer", tuple(edits))
                    if not isinstance(keyword.value, ast.Constant) and found.open:
                        return None
                    around = CallEditor(file, outer)
                    around.add(f"{keyword.arg}={text}")
                    return Fix(
                        UNSAFE, f"give {keyword.arg} to the Trainer", tuple(sorted({*edits, *around.edits()}))
                    )
            outer = file.parent(outer)
        return None

    # filepath, prefix, output_filename

    def _split(self, node: ast.Call, name: str, file: FileContext) -> Fix | None:
        editor = CallEditor(file, node)
        quote = quote_of(node, file)
        if name != "ModelCheckpoint":
            return self._profiler(editor, file, quote)
        if editor.get("dirpath") is not None and editor.get("filepath") is not None:
            return None
        path, prefix, filename = editor.get("filepath"), editor.get("prefix"), editor.get("filename")
        dirpath: str | None = None
        base: str | None = None
        literal_base: str | None = None
        how = SAFE
        requests: list[ImportRequest] = []
        if path is not None:
            parts = _parts(path, editor, file, quote)
            if parts is None:
                return None
            dirpath, base, literal_base, how, requests = parts
        elif filename is not None:
            base = editor.value_text(filename)
            value = literal(filename.value)
            literal_base = value if isinstance(value, str) else None
        if prefix is not None:
            value = literal(prefix.value)
            if value is UNKNOWN:
                return None
            if value:
                if base is not None and literal_base is None:
                    return None
                literal_base = f"{value}-{literal_base}" if literal_base else f"{value}-{{epoch}}-{{step}}"
                base = render(literal_base, str, quote)
        texts = []
        if dirpath is not None:
            texts.append(f"dirpath={dirpath}")
        if base is not None and (filename is None or path is not None):
            texts.append(f"filename={base}")
        elif base is not None and filename is not None and prefix is not None:
            editor.set_value(filename, base)
        place = path if path is not None else prefix
        assert place is not None
        editor.replace(place, *texts)
        if path is not None and prefix is not None:
            editor.remove(prefix)
        return Fix(how, "say dirpath= and filename=", editor.edits(), tuple(requests))

    def _profiler(self, editor: CallEditor, file: FileContext, quote: str) -> Fix | None:
        item = editor["output_filename"]
        value = literal(item.value)
        if editor.get("dirpath") is not None or editor.get("filename") is not None:
            return None
        if value is None:
            editor.remove(item)
            return Fix(SAFE, "drop what is the default", editor.edits())
        if not isinstance(value, str):
            return None
        folder, _, last = value.replace("\\", "/").rpartition("/")
        stem = posixpath.splitext(last)[0]
        texts = [f"dirpath={render(folder or '.', str, quote)}", f"filename={render(stem, str, quote)}"]
        editor.replace(item, *texts)
        return Fix(UNSAFE, "say dirpath= and filename=", editor.edits())


def _entry(name: str, argument: str) -> Entry | None:
    if name in _STRATEGIES and argument in _ON_TRAINER:
        return catalogue.find(Area.CONSTRUCTOR_ARGUMENT, "DDPPlugin", argument)
    for known in (name, *_FORMERLY.get(name, ())):
        found = catalogue.find(Area.CONSTRUCTOR_ARGUMENT, known, argument)
        if found is not None:
            return found
    return None


_Parts = tuple[str | None, str | None, str | None, Applicability, list[ImportRequest]]


def _parts(path: Argument, editor: CallEditor, file: FileContext, quote: str) -> _Parts | None:
    """Split a path into folder and name.

    Returns:
        The folder and the name as source, the name if it is known, how sure the split is, and imports.
    """
    node = path.value
    value = literal(node)
    if value is None:
        return None, None, None, SAFE, []
    if isinstance(value, str):
        folder, slash, last = value.rpartition("/")
        if not last:
            return render(folder or "/", str, quote), None, None, SAFE, []
        how = SAFE if "{" in last else UNSAFE  # a name without a field may be an existing folder
        return render(folder if slash else ".", str, quote), render(last, str, quote), last, how, []
    if isinstance(node, ast.Call) and (file.qualified_name(node.func) or ast.unparse(node.func)) in (
        "os.path.join",
        "osp.join",
    ):
        if len(node.args) < 2 or node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            return None
        last_node = node.args[-1]
        name = literal(last_node)
        rest = [file.segment(each) for each in node.args[:-1]]
        folder_text = rest[0] if len(rest) == 1 else f"{file.segment(node.func)}({', '.join(rest)})"
        if isinstance(name, str) and "/" not in name and "{" in name:
            return folder_text, file.segment(last_node), name, SAFE, []
        if isinstance(name, str) and "/" not in name:
            return folder_text, file.segment(last_node), name, UNSAFE, []
        return None
    if not isinstance(node, (ast.Name, ast.Attribute, ast.JoinedStr, ast.Subscript, ast.BinOp)):
        return None
    text = editor.value_text(path)
    return f"os.path.dirname({text})", f"os.path.basename({text})", None, UNSAFE, [ImportRequest("os")]
