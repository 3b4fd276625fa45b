"""Code blocks of Markdown and reStructuredText, line by line, and edits that keep what is around them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainer_upgrade.findings import Edit

__all__ = ["CodeBlock", "code_blocks"]

_FENCE = re.compile(r"^(?P<lead>[ \t>]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\r\n`]*)\r?$", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"^(?P<lead>[ \t]*)(?:\.\.[ \t]+(?:code-block|code|sourcecode|testcode|ipython|prompt)::[ \t]*"
    r"(?P<info>[\w+-]*)[^\r\n]*|(?!\.\.)[^\r\n]*::)[ \t]*\r?$",
    re.MULTILINE,
)
_PROMPT = re.compile(r"^(?P<lead>[ \t]*)>>> ?", re.MULTILINE)
_PYTHON = frozenset(
    {"python", "py", "python3", "pycon", "ipython", "ipython3", "py3", "testcode", "{code-cell}"}
)
_SHELL = frozenset(
    {"bash", "sh", "shell", "console", "zsh", "shell-session", "terminal", "cmd", "powershell", "ps1"}
)


@dataclass(slots=True)
class CodeBlock:
    """One block.

    Attributes:
        language: ``python``, ``doctest``, ``shell`` or ``""`` (unsaid, or another).
        lines: Where each line of code is written: begin and end, without what stands before it.
        prefix: What stands before a new line.
        text: The code.
    """

    language: str
    prefix: str
    lines: list[tuple[int, int]] = field(default_factory=list)
    text: str = ""

    def edits(self, source: str, new: str) -> list[Edit]:
        """Return the edits of the document that give the block another text.

        Raises:
            ValueError: It cannot be written there.
        """
        old, after = self.text.split("\n"), new.split("\n")
        newline = "\r\n" if "\r\n" in source else "\n"
        found: list[Edit] = []
        matcher = difflib.SequenceMatcher(None, old, after, autojunk=False)
        for tag, first, last, low, high in matcher.get_opcodes():
            if tag == "equal":
                continue
            if tag == "replace" and last - first == high - low:
                for (start, end), line in zip(self.lines[first:last], after[low:high], strict=True):
                    found.append(Edit(start, end, line))
                continue
            if self.language == "doctest" and not self._whole_statements(after[low:high]):
                raise ValueError("a prompt's continuation cannot be told")
            texts = [
                (self.prefix + line).rstrip(" \t") if not line else self.prefix + line
                for line in after[low:high]
            ]
            if tag == "insert":
                if first == 0:
                    start = self.lines[0][0] - len(self.prefix)
                    found.append(Edit(start, start, "".join(text + newline for text in texts)))
                else:
                    end = self.lines[first - 1][1]
                    found.append(Edit(end, end, "".join(newline + text for text in texts)))
            elif tag == "delete":
                start = source.rfind("\n", 0, self.lines[first][0]) + 1
                end = source.find("\n", self.lines[last - 1][1])
                found.append(Edit(start, len(source) if end < 0 else end + 1, ""))
            else:
                start, end = self.lines[first][0], self.lines[last - 1][1]
                found.append(Edit(start, end, newline.join(texts)[len(self.prefix) :]))
        return found

    @staticmethod
    def _whole_statements(lines: list[str]) -> bool:
        return all(re.match(r"(?:import|from)\b", line) for line in lines)


def code_blocks(text: str, suffix: str) -> list[CodeBlock]:
    """Return the code blocks of a document in order (``suffix``: ``.md`` or ``.rst``)."""
    found = list(_rst(text)) if suffix.lower() == ".rst" else list(_markdown(text))
    return [each for each in found if each.lines]


def _markdown(text: str) -> Iterator[CodeBlock]:
    position = 0
    while True:
        opening = _FENCE.search(text, position)
        if opening is None:
            return
        closing = re.compile(
            rf"^[ \t>]*{re.escape(opening['fence'][0])}{{{len(opening['fence'])},}}[ \t]*\r?$", re.MULTILINE
        ).search(text, opening.end() + 1)
        stop = closing.start() if closing is not None else len(text)
        position = closing.end() if closing is not None else len(text)
        info = opening["info"].strip()
        words = re.split(r"[\s,{}.]+", info.strip("{}").strip())
        language = next((each.lower() for each in words if each), "")
        yield from _block(text, opening.end() + 1, stop, opening["lead"], language)


def _rst(text: str) -> Iterator[CodeBlock]:
    position = 0
    while True:
        directive, prompt = _DIRECTIVE.search(text, position), _PROMPT.search(text, position)
        if directive is None and prompt is None:
            return
        if directive is None or (prompt is not None and prompt.start() < directive.start()):
            assert prompt is not None
            blank = re.compile(r"^[ \t]*\r?$", re.MULTILINE).search(text, prompt.end())
            stop = blank.start() if blank is not None else len(text)
            yield from _block(text, prompt.start(), stop, prompt["lead"], "python")
            position = max(stop, prompt.end())
            continue
        start, stop, lead = _indented(text, directive.end() + 1, directive["lead"])
        position = max(stop, directive.end() + 1) if stop > start else directive.end() + 1
        if stop > start:
            yield from _block(text, start, stop, lead, (directive["info"] or "").lower())
        if position >= len(text):
            return


def _indented(text: str, position: int, outer: str) -> tuple[int, int, str]:
    """Return where the lines that are indented deeper begin and end, and their indent."""
    start, lead = -1, ""
    stop = position
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end + 1
        line = text[position:end]
        if line.strip():
            indent = line[: len(line) - len(line.lstrip(" \t"))]
            if len(indent) <= len(outer):
                break
            if start < 0:
                if re.match(r"[ \t]*:[\w-]+:", line):  # an option of the directive
                    position = end
                    continue
                start, lead = position, indent
            elif not line.startswith(lead):
                break
            stop = end
        position = end
    return (start, stop, lead) if start >= 0 else (position, position, "")


def _block(text: str, start: int, stop: int, lead: str, language: str) -> Iterator[CodeBlock]:
    rows: list[tuple[int, int]] = []
    position = start
    while position < stop:
        end = text.find("\n", position, stop)
        end = stop if end < 0 else end
        rows.append((position, end - 1 if text[end - 1 : end] == "\r" and end > position else end))
        position = end + 1
    if language in _SHELL:
        kind = "shell"
    elif language in _PYTHON:
        kind = "python"
    else:
        kind = ""  # command lines stand in blocks of all sorts
    stripped = [(begin + _lead_length(text[begin:end], lead), end) for begin, end in rows]
    prompts = [re.match(r">>>(?: |$)|\.\.\.(?: |$)", text[begin:end]) for begin, end in stripped]
    if kind in ("python", "") and any(text.startswith(">>>", begin) for begin, _ in stripped):
        lines = [
            (begin + match.end(), end) for (begin, end), match in zip(stripped, prompts, strict=True) if match
        ]
        yield CodeBlock("doctest", lead + ">>> ", lines, "\n".join(text[begin:end] for begin, end in lines))
        return
    yield CodeBlock(kind, lead, stripped, "\n".join(text[begin:end] for begin, end in stripped))


def _lead_length(line: str, lead: str) -> int:
    count = 0
    while count < min(len(line), len(lead)) and line[count] == lead[count]:
        count += 1
    return count
