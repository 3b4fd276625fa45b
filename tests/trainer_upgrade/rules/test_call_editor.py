"""Arguments are changed in place; everything between them stays as it was written."""

from __future__ import annotations

import ast

import pytest

from trainer_upgrade import testing
from trainer_upgrade.rules._calls import CallEditor
from trainer_upgrade.sources.text import apply_edits

LINES = "f(\n    a=1,  # one\n    # above b\n    b=(2),\n    c=3,\n    **kw,\n)"

CASES = [
    pytest.param("f(a=1, b=2)", {"a": []}, [], "f(b=2)", id="the first"),
    pytest.param("f(a=1, b=2)", {"b": []}, [], "f(a=1)", id="the last"),
    pytest.param("f(a=1, b=2, c=3)", {"b": [], "c": []}, [], "f(a=1)", id="the last two"),
    pytest.param("f(a=1, b=2,)", {"a": [], "b": []}, [], "f()", id="all"),
    pytest.param(
        "f(a=1, b=2)", {"a": ["x=1", "y=2"], "b": []}, ["z=3"], "f(x=1, y=2, z=3)", id="one for another"
    ),
    pytest.param("f()", {}, ["x=1"], "f(x=1)", id="into an empty call"),
    pytest.param("f(x for x in y)", {}, ["x=1"], "f((x for x in y), x=1)", id="a generator gets parentheses"),
    pytest.param("f(a=(1), b=2)", {"a": []}, [], "f(b=2)", id="parentheses go with their value"),
    pytest.param("f(g(a=1), a=2)", {"a": []}, [], "f(g(a=1))", id="an inner call's argument is not ours"),
    pytest.param("f(a='(,)#', b=2)", {"b": []}, [], "f(a='(,)#')", id="signs in a string"),
    pytest.param(
        LINES,
        {"b": []},
        [],
        "f(\n    a=1,  # one\n    # above b\n    c=3,\n    **kw,\n)",
        id="a line of its own",
    ),
    pytest.param(
        LINES,
        {"a": []},
        [],
        "f(\n    # one\n    # above b\n    b=(2),\n    c=3,\n    **kw,\n)",
        id="a comment outlives its argument",
    ),
    pytest.param(
        LINES,
        {"c": ["p=1", "q=2"]},
        ["r=3"],
        "f(\n    a=1,  # one\n    # above b\n    b=(2),\n    p=1,\n    q=2,\n    r=3,\n    **kw,\n)",
        id="new arguments take the form of the old, and stand before **",
    ),
    pytest.param(
        "f(a=1,\n  b=2)",
        {"b": ["x=1", "y=2"]},
        [],
        "f(a=1,\n  x=1,\n  y=2)",
        id="aligned arguments stay aligned",
    ),
    pytest.param(
        "f(\n    a=1, b=2,\n    c=3\n)", {"a": [], "c": []}, [], "f(\n    b=2\n)", id="several in a line"
    ),
    pytest.param(
        "f(a=1,\r\n  b=2)",
        {"a": ["x=1", "y=2"]},
        [],
        "f(x=1,\r\n  y=2,\r\n  b=2)",
        id="line ends of the file",
    ),
    pytest.param("f(ä='ö', b=2)", {"b": ["c=3"]}, [], "f(ä='ö', c=3)", id="characters of several bytes"),
]


@pytest.mark.parametrize(("before", "changes", "added", "after"), CASES)
def test_edit(before: str, changes: dict[str, list[str]], added: list[str], after: str) -> None:
    with testing.context(before) as file:
        call = next(node for node in file.nodes if isinstance(node, ast.Call))
        editor = CallEditor(file, call)
        for name, texts in changes.items():
            editor.replace(editor[name], *texts)
        editor.add(*added)
        text = apply_edits(file.source, list(editor.edits()))
    assert text.rstrip("\r\n") == after
    compile(text, "<test>", "exec")
