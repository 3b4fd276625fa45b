"""Passes: fixes that touch, fixes that break a file, fixes that never end, files in trouble."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trainer_upgrade.catalogue.entry import Applicability, Target
from trainer_upgrade.engine import Engine, FileResult, Options, check_file
from trainer_upgrade.findings import Edit, Finding, Fix, ImportRequest
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.index import Project
from trainer_upgrade.rules.registry import Rule, RuleError, on, rule, run_rules

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE
HEAD = "import lightning\n"


def make_rule(function: Callable[..., Any], *types: type[ast.AST], name: str = "test") -> Rule:
    return Rule(name, __name__, lambda: [(types, function)])


def names(
    mapping: dict[str, str], applicability: Applicability = SAFE, imports: tuple[ImportRequest, ...] = ()
) -> Rule:
    """A rule that replaces names."""

    def check(node: ast.Name, file: FileContext) -> Iterator[Finding]:
        if node.id in mapping:
            fix = Fix(
                applicability, f"write {mapping[node.id]}", (file.edit(node, mapping[node.id]),), imports
            )
            yield file.finding("TRU101", node, f"{node.id} is old", fix=fix)

    return make_rule(check, ast.Name)


def run(tmp_path: Path, source: str | bytes, *rules: Rule, **options: Any) -> FileResult:
    path = tmp_path / "a.py"
    path.write_bytes(source if isinstance(source, bytes) else (HEAD + source).encode())
    engine = Engine(Project([path], roots=[tmp_path]), Options(**options), rules=rules)
    (result,) = engine.upgrade()
    engine.write(result)
    return result


def text(tmp_path: Path) -> str:
    return (tmp_path / "a.py").read_bytes().decode().removeprefix(HEAD)


def test_only_what_an_edit_covers_changes(tmp_path: Path) -> None:
    data = (
        b"\xef\xbb\xbf# caf\xc3\xa9\r\nimport lightning\n\x0c\nx = '\xf0\x9f\x98\x80 \xc3\xa9', old ;  y = [old,\r\n\told]   \n"
        b"if x :\n\tpass # tab\r\nz = '''a\rb'''"
    )
    result = run(tmp_path, data, names({"old": "new_name"}))
    assert len(result.fixed) == 3
    assert not result.findings
    assert (tmp_path / "a.py").read_bytes() == data.replace(b"old", b"new_name")


def test_other_encodings_stay(tmp_path: Path) -> None:
    data = b"# -*- coding: latin-1 -*-\nimport lightning\nx = '\xe9', old, '\xe8', old\n"
    run(tmp_path, data, names({"old": "n"}))
    assert (tmp_path / "a.py").read_bytes() == data.replace(b"old", b"n")


def test_a_character_the_encoding_lacks_is_a_fix_not_applied(tmp_path: Path) -> None:
    data = b"# -*- coding: ascii -*-\nimport lightning\nx = old\n"
    result = run(tmp_path, data, names({"old": "'\N{SNOWMAN}'"}))
    assert (tmp_path / "a.py").read_bytes() == data
    assert "TRU004" in [each.code for each in result.findings]


def test_nothing_to_do_touches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(HEAD)
    os.utime(path, (1, 1))
    engine = Engine(Project([path]), rules=[names({"old": "new"})])
    (result,) = engine.upgrade()
    assert not engine.write(result)
    assert path.stat().st_mtime == 1


def outer_call(node: ast.Call, file: FileContext) -> Iterator[Finding]:
    """f(x) -> g(x), over the whole call."""
    if isinstance(node.func, ast.Name) and node.func.id == "f":
        new = f"g({file.segment(node.args[0])})"
        yield file.finding("TRU102", node, "f is old", fix=Fix(SAFE, "write g", (file.edit(node, new),)))


def test_fixes_inside_each_other_take_turns(tmp_path: Path) -> None:
    result = run(
        tmp_path, "f(f(f(old)))\n", names({"old": "new"}), make_rule(outer_call, ast.Call, name="calls")
    )
    assert text(tmp_path) == "g(g(g(new)))\n"
    assert not result.findings


def test_fixes_that_are_fine_alone_but_not_together_take_turns(tmp_path: Path) -> None:
    def add(node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Adds a keyword at the end unless it is there."""
        have = {keyword.arg for keyword in node.keywords}
        for name, where in (("a", file.span(node)[0] + 2), ("b", file.span(node)[1] - 1)):
            if "callbacks" not in have and name not in have:
                edit = Edit(where, where, f"callbacks=1, {name}=1,")
                yield file.finding("TRU101", node, name, fix=Fix(SAFE, name, (edit,)))

    result = run(tmp_path, "f()\n", make_rule(add, ast.Call))
    assert text(tmp_path) == "f(callbacks=1, a=1,)\n"
    assert not result.findings


def test_a_fix_that_breaks_the_file_is_taken_back_alone(tmp_path: Path) -> None:
    result = run(tmp_path, "x = old\ny = bad\nz = old\n", names({"old": "new", "bad": "(("}))
    assert text(tmp_path) == "x = new\ny = bad\nz = new\n"
    codes = [each.code for each in result.findings]
    assert codes.count("TRU004") == 1
    assert codes.count("TRU101") == 1
    assert [each.message for each in result.fixed] == ["old is old"] * 2


def test_a_fix_that_parses_but_does_not_compile_is_taken_back(tmp_path: Path) -> None:
    run(tmp_path, "x = old\n", names({"old": "(yield)"}))
    assert text(tmp_path) == "x = old\n"


def test_fixes_that_fight_end(tmp_path: Path) -> None:
    result = run(tmp_path, "old\n", names({"old": "new", "new": "old"}))
    assert "TRU004" in [each.code for each in result.findings]
    assert text(tmp_path) in ("old\n", "new\n")


def test_a_fix_that_grows_for_ever_ends(tmp_path: Path) -> None:
    result = run(tmp_path, "old\n", names({"old": "old + old"}))
    assert "TRU004" in [each.code for each in result.findings]
    assert text(tmp_path).count("old") <= 2**11


def test_a_fix_that_does_nothing_is_told(tmp_path: Path) -> None:
    result = run(tmp_path, "old\n", names({"old": "old"}))
    assert [each.code for each in result.findings] == ["TRU101", "TRU004"]


def test_a_file_whose_last_word_of_lightning_goes_is_done(tmp_path: Path) -> None:
    def check(node: ast.Import, file: FileContext) -> Iterator[Finding]:
        yield file.finding("TRU301", node, "moved", fix=Fix(SAFE, "move", (file.edit(node, "import other"),)))

    result = run(tmp_path, b"import lightning\n", make_rule(check, ast.Import))
    assert (result.after, result.findings) == (b"import other\n", [])


def test_unsafe_fixes_are_asked_for(tmp_path: Path) -> None:
    result = run(tmp_path, "old\n", names({"old": "new"}, UNSAFE))
    assert text(tmp_path) == "old\n"
    assert [each.code for each in result.findings] == ["TRU101"]
    run(tmp_path, "old\n", names({"old": "new"}, UNSAFE), unsafe=True)
    assert text(tmp_path) == "new\n"


@pytest.mark.parametrize(
    ("options", "fixed"),
    [
        ({}, True),
        ({"select": ("TRU1",)}, True),
        ({"select": ("TRU2",)}, False),
        ({"ignore": ("TRU101",)}, False),
        ({"ignore": ("TRU1",), "select": ("TRU101",)}, True),
        ({"ignore": ("TRU101",), "select": ("TRU1",)}, False),
    ],
)
def test_codes_are_chosen(tmp_path: Path, options: dict[str, Any], fixed: bool) -> None:
    run(tmp_path, "old\n", names({"old": "new"}), **options)
    assert text(tmp_path) == ("new\n" if fixed else "old\n")


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: TRU101", "# trainer-upgrade: ignore[TRU101]"])
def test_a_comment_stops_the_fix_too(tmp_path: Path, comment: str) -> None:
    result = run(tmp_path, f"old  {comment}\nold\n", names({"old": "new"}))
    assert text(tmp_path) == f"old  {comment}\nnew\n"
    assert not result.findings


def test_imports_come_once_and_go_when_unused(tmp_path: Path) -> None:
    def check(node: ast.Name, file: FileContext) -> Iterator[Finding]:
        if node.id == "old":
            request = (ImportRequest("m", "new"),)
            fix = Fix(SAFE, "new", (file.edit(node, "new"),), request, unimports=("old", "never"))
            yield file.finding("TRU101", node, "old", fix=fix)

    run(tmp_path, "from m import old, other\nold\nold\nother\n", make_rule(check, ast.Name))
    assert text(tmp_path) == "from m import other, new\nnew\nnew\nother\n"


def test_one_fix_for_several_findings_is_made_once(tmp_path: Path) -> None:
    def check(node: ast.Call, file: FileContext) -> Iterator[Finding]:
        if node.keywords:
            fix = Fix(SAFE, "no keywords", (file.edit(node, "f()"),))
            for keyword in node.keywords:
                yield file.finding("TRU101", keyword, keyword.arg, fix=fix)

    result = run(tmp_path, "f(a=1, b=2)\n", make_rule(check, ast.Call))
    assert text(tmp_path) == "f()\n"
    assert [each.message for each in result.fixed] == ["a", "b"]


def test_code_kept_for_one_release_is_left(tmp_path: Path) -> None:
    source = """
from packaging.version import Version
NEW = Version(lightning.__version__) >= Version("2.0")
if NEW:
    x = new
else:
    x = old
y = old if not NEW else None
try:
    from lightning import thing
except ImportError:
    thing = old
def f():
    if hasattr(lightning, "x"):
        return old
    return old
if unrelated:
    old
"""
    run(tmp_path, source, names({"old": "NEWER"}))
    assert text(tmp_path) == source.replace("    return old\nif", "    return NEWER\nif").replace(
        "unrelated:\n    old", "unrelated:\n    NEWER"
    )


def test_a_change_in_one_file_is_seen_in_another(tmp_path: Path) -> None:
    """The second pass over the child sees the parent as rewritten; a second run changes nothing."""

    def rename(node: ast.FunctionDef, file: FileContext) -> Iterator[Finding]:
        if node.name == "old_hook":
            start = file.span(node)[0] + len("def ")
            fix = Fix(SAFE, "rename", (Edit(start, start + len("old_hook"), "new_hook"),))
            yield file.finding("TRU201", node, "rename", fix=fix)

    def follow(node: ast.Attribute, file: FileContext) -> Iterator[Finding]:
        owner = file.enclosing_class(node)
        if node.attr == "old_hook" and owner is not None:
            info = file.class_info(owner)
            if info.find_method("new_hook") is not None and info.find_method("old_hook") is None:
                end = file.span(node)[1]
                fix = Fix(SAFE, "follow", (Edit(end - len("old_hook"), end, "new_hook"),))
                yield file.finding("TRU202", node, "follow", fix=fix)

    (tmp_path / "a_child.py").write_text(
        "from base import Base\nclass C(Base):\n    def f(self): return self.old_hook()\n"
    )
    (tmp_path / "base.py").write_text(
        "import lightning\nclass Base(lightning.LightningModule):\n    def old_hook(self): ...\n"
    )
    rules = [make_rule(rename, ast.FunctionDef, name="r"), make_rule(follow, ast.Attribute, name="f")]

    def once() -> list[FileResult]:
        engine = Engine(Project(sorted(tmp_path.glob("*.py")), roots=[tmp_path]), rules=rules)
        results = engine.upgrade()
        for each in results:
            engine.write(each)
        return results

    assert [each.changed for each in once()] == [True, True]
    assert "self.new_hook()" in (tmp_path / "a_child.py").read_text()
    assert [each.changed for each in once()] == [False, False]


@pytest.mark.parametrize(
    ("data", "code", "row"),
    [
        (b"import lightning\nx = = 1\n", "TRU001", 2),
        (b"import lightning\nprint 'python 2'\n", "TRU001", 2),
        (b"import lightning\n\x00\n", "TRU001", None),
        (b"# coding: nonsense\nimport lightning\n", "TRU001", None),
        (b"import lightning\nx = '\xff'\n", "TRU001", None),
        (b"import lightning\n" + b"(" * 5000 + b")" * 5000, "TRU001", None),
    ],
)
def test_a_file_in_trouble_does_not_end_the_run(
    tmp_path: Path, data: bytes, code: str, row: int | None
) -> None:
    bad, good = tmp_path / "a_bad.py", tmp_path / "good.py"
    bad.write_bytes(data)
    good.write_text(HEAD + "old\n")
    engine = Engine(Project([bad, good], roots=[tmp_path]), rules=[names({"old": "new"})])
    results = engine.upgrade()
    for each in results:
        engine.write(each)
    assert [each.code for each in results[0].findings] == [code]
    assert results[0].failed
    assert row is None or results[0].findings[0].start.row == row
    assert bad.read_bytes() == data
    assert good.read_text() == HEAD + "new\n"


def test_a_read_only_file_is_told_and_left(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(HEAD + "old\n")
    path.chmod(0o444)
    engine = Engine(Project([path]), rules=[names({"old": "new"})])
    (result,) = engine.upgrade()
    assert not engine.write(result)
    assert result.failed
    assert result.findings[0].code == "TRU003"
    assert path.read_text() == HEAD + "old\n"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    (result,) = Engine(Project([tmp_path / "gone.py"]), rules=[]).upgrade()
    assert result.failed
    assert [each.code for each in result.findings] == ["TRU003"]


def test_a_rule_that_raises_leaves_the_file(tmp_path: Path) -> None:
    def bad(node: ast.Pass, file: FileContext) -> None:
        raise KeyError("oops")

    result = run(tmp_path, "old\npass\n", names({"old": "new"}), make_rule(bad, ast.Pass, name="bad"))
    assert text(tmp_path) == "old\npass\n"
    assert result.failed
    assert [each.code for each in result.findings] == ["TRU004"]
    assert "'bad'" in result.findings[0].message
    with pytest.raises(RuleError, match=r"'bad'.*KeyError"):
        run(tmp_path, "old\npass\n", make_rule(bad, ast.Pass, name="bad"), strict=True)


def test_fixes_are_not_built_unless_wanted(tmp_path: Path) -> None:
    built: list[int] = []

    def check(node: ast.Name, file: FileContext) -> Iterator[Finding]:
        def fix() -> Fix:
            built.append(1)
            return Fix(SAFE, "x", (file.edit(node, "new"),))

        if node.id == "old":
            yield file.finding("TRU101", node, "old", fix=fix)

    path = tmp_path / "a.py"
    path.write_text(HEAD + "old\n")
    project = Project([path])
    for fixing in (False, True):
        file = FileContext(project.module(path), project, fixing=fixing)
        (found,) = check_file(file, rules=[make_rule(check, ast.Name)])
        assert (found.fix is not None) is fixing
        assert len(built) == fixing


def test_rules_register_and_see_nodes_in_order(tmp_path: Path) -> None:
    seen: list[str] = []

    class Both:
        def __init__(self) -> None:
            self.count = 0

        @on(ast.Module)
        def start(self, node: ast.Module, file: FileContext) -> None:
            seen.append("module")

        @on(ast.Name, ast.Constant)
        def leaf(self, node: ast.Name | ast.Constant, file: FileContext) -> None:
            assert file.current is node
            self.count += 1
            seen.append(f"{node.lineno}:{self.count}")

    from trainer_upgrade.rules import registry

    before = dict(registry._RULES)
    try:
        rule("a test of order")(Both)
        path = tmp_path / "a.py"
        path.write_text("x\n[1 for y in z]\n")
        project = Project([path])
        (made,) = [each for each in registry.registered() if each.name == "a test of order"]
        for _ in range(2):
            seen.clear()
            list(run_rules(FileContext(project.module(path), project), [made]))
            assert seen[:2] == ["module", "1:1"]
            assert sorted(seen[2:]) == ["2:2", "2:3", "2:4"]
        with pytest.raises(ValueError, match="no handler"):
            rule("empty")(type("Empty", (), {}))
    finally:
        registry._RULES.clear()
        registry._RULES.update(before)


def test_every_rule_module_is_loaded() -> None:
    from trainer_upgrade import rules

    directory = Path(rules.__file__).parent
    with_rules = {
        path.stem for path in directory.glob("*.py") if "\n@rule(" in path.read_text(encoding="utf-8")
    }
    assert with_rules == set(rules.MODULES)
    assert list(rules.MODULES) == sorted(rules.MODULES)


def test_a_file_that_parses_but_does_not_compile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import pytorch_lightning as pl\n\nt = pl.Trainer(gpus=1)\nnonlocal t\n")
    (result,) = Engine(Project([path], Target.RELIGHT, roots=[tmp_path])).upgrade()
    assert [each.code for each in result.findings] == ["TRU001"]
    assert result.findings[0].start.row == 4
    assert result.failed
    assert not result.changed
