"""Bytes to text and back, places, edits."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainer_upgrade.findings import Edit
from trainer_upgrade.sources.text import LineIndex, apply_edits, decode

# On a busy machine inputs come slowly; that says nothing of the code.
quiet = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1",
        b"x = 1\r\ny = 2\n",
        b"\xef\xbb\xbfx = '\xc3\xa9'\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
        b"\x0cx = 1\n\tif x:\r\n",
        b"x = 1\ry = 2\r",
        b"\xef\xbb\xbf# coding: utf-8\nx = 1",
    ],
)
def test_what_was_read_is_written(data: bytes) -> None:
    source = decode(data)
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    "data",
    [b"# coding: nonsense\n", b"\xff\xfe", b"x = '\xe9'\n", b"\xef\xbb\xbf# coding: latin-1\n"],
)
def test_what_cannot_be_decoded_is_told(data: bytes) -> None:
    with pytest.raises((SyntaxError, UnicodeDecodeError)):
        decode(data)


def test_a_character_the_encoding_lacks_is_told() -> None:
    source = decode(b"# coding: latin-1\nx = 1\n")
    with pytest.raises(UnicodeEncodeError):
        source.encode(source.text + "# \u20ac")


LINES = [
    "x = f(1)  # plain\n",
    "é = 'ü'; f(ä)\r\n",
    "y = '\N{SNOWMAN}\N{GRINNING FACE}', f(b)\r",
    "\tif z: f(c)\n",
    "\x0cw = f(d)\n",
    "v = '''a\r\nb\rc''', f(e)\n",
    "u = '\x1c\u2028', f(g)\n",
]


@quiet
@given(st.lists(st.sampled_from(LINES), max_size=8), st.booleans())
def test_spans_are_those_of_the_text(lines: list[str], cut: bool) -> None:
    text = "if 1:\n\tpass\n" + "".join(line if not line.startswith("\t") else line[1:] for line in lines)
    text = text.rstrip("\n") if cut else text
    index = LineIndex(text)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert len(calls) == len(lines)
    for call in calls:
        start, end = index.span(call)
        assert text[start] == "f"
        assert text[end - 1] == ")"
        assert text[start:end].count("\n") == 0
        row, column = index.place(start)
        assert index.starts[row - 1] + column - 1 == start
        assert row == call.lineno


@quiet
@given(st.text(alphabet="ab\r\n\x0c\u2028é", max_size=30), st.data())
def test_places_and_offsets_agree(text: str, data: st.DataObject) -> None:
    index = LineIndex(text)
    offset = data.draw(st.integers(0, len(text)))
    row, column = index.place(offset)
    assert index.starts[row - 1] + column - 1 == offset
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    if not (offset and text[offset - 1] == "\r" and text[offset : offset + 1] == "\n"):
        assert row == before.count("\n") + 1


@quiet
@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.text(max_size=4)), max_size=5),
)
def test_edits_are_made_as_one_by_one_from_the_end(text: str, raw: list[tuple[int, int, str]]) -> None:
    edits: list[Edit] = []
    position = 0
    for start, length, content in sorted(raw):
        start = max(start, position)
        end = min(start + length, len(text))
        if start <= end:
            edits.append(Edit(start, end, content))
            position = end + 1
    expected = text
    for edit in reversed(edits):
        expected = expected[: edit.start] + edit.content + expected[edit.end :]
    assert apply_edits(text, list(reversed(edits))) == expected


@pytest.mark.parametrize("edits", [[Edit(0, 3, ""), Edit(2, 4, "")], [Edit(0, 99, "")], [Edit(3, 1, "")]])
def test_edits_that_make_no_sense_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps"):
        apply_edits("abcdef", edits)
