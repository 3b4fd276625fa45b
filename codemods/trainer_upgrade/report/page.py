"""A report as one HTML page that needs nothing else: no network, no other file; all is there without scripts.

Silent findings come first. Everything from the user's files is escaped; a strict content security policy lets
nothing run but the page's own script.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files
from pathlib import Path

from trainer_upgrade import __version__
from trainer_upgrade.findings import Finding, Severity
from trainer_upgrade.report.estimate import HOW, estimate
from trainer_upgrade.report.fingerprints import relative
from trainer_upgrade.report.preview import Preview, excerpt, preview
from trainer_upgrade.report.summary import TROUBLE, Report, ReportedFile
from trainer_upgrade.report.text import place_of

__all__ = ["render"]

_KINDS = {"safe": "automatic", "unsafe": "to look at", "manual": "by hand"}


def render(report: Report) -> str:
    """Return the page."""
    root = Path.cwd()
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>trainer-upgrade report</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#list">Skip to the findings</a>',
            *_overview(report),
            *_tables(report, root),
            *_list(report, root),
            *_rules(report),
            f"<script>{script}</script>",
            "</body>",
            "</html>",
        ]
    )


def _asset(name: str) -> str:
    return (files("trainer_upgrade.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _overview(report: Report) -> Iterator[str]:
    work = estimate(report)
    left = [finding for _, finding in report.left()]
    errors = sum(each.severity is Severity.ERROR and each.code not in TROUBLE for each in left)
    fixed = sum(len(file.fixed) for file in report.files)
    cards = [
        ("silent", sum(each.silent for each in left), "no error will tell"),
        ("findings", work.total, f"in {sum(bool(file.findings) for file in report.files)} files"),
        ("gone already", errors, "with the Lightning installed"),
        ("automatic", work.automatic, "safe fixes"),
        ("to look at", work.review, "unsafe fixes"),
        ("by hand", work.manual, "no fix"),
    ]
    if fixed:
        cards.append(("fixed", fixed, "in this run" if report.fixing else "would be"))
    trouble = sum(each.code in TROUBLE for each in left)
    if trouble:
        cards.append(("problems", trouble, "with files or fixes"))
    about = [f"trainer-upgrade {__version__}"]
    if report.target:
        about.append(f"target {report.target}")
    pinned = report.pinned()
    if pinned:
        about.append(" and ".join(pinned))
    about.append(f"{report.seen} files looked at")
    told = escape("; ".join(about))
    yield f'<header><h1>trainer-upgrade report</h1><p class="soft">{told}</p></header>'
    yield '<main><h2 id="overview">Overview</h2><ul class="cards">'
    for title, number, note in cards:
        yield f'<li><b>{number}</b>{escape(title)}<br><small class="soft">{escape(note)}</small></li>'
    yield "</ul>"
    if work.total:
        parts = [("safe", work.automatic), ("unsafe", work.review), ("manual", work.manual)]
        told = ", ".join(f"{number} {_KINDS[kind]}" for kind, number in parts)
        yield f'<svg class="bar" role="img" aria-label="{told}" width="100%" height="12"'
        yield f' preserveAspectRatio="none" viewBox="0 0 {work.total} 1">'
        at = 0
        for kind, number in parts:
            colour = {"safe": "--safe", "unsafe": "--warning", "manual": "--error"}[kind]
            yield f'<rect x="{at}" y="0" width="{number}" height="1" fill="var({colour})"/>'
            at += number
        yield "</svg>"
        yield f'<p>{escape(str(work))}. <span class="soft">{escape(HOW.capitalize())}.</span></p>'
    else:
        yield "<p>Nothing is left to upgrade.</p>"


def _tables(report: Report, root: Path) -> Iterator[str]:
    left = list(report.left())
    if not left:
        return
    silent = {finding.code for _, finding in left if finding.silent}
    codes = Counter(finding.code for _, finding in left)
    messages: dict[str, str] = {}
    for _, finding in left:
        messages.setdefault(finding.code, finding.message)
    yield '<h2 id="codes">By code</h2><div class="wide"><table><thead><tr>'
    yield _heads("Code", "Findings*", "Silent", "Example")
    yield "</tr></thead><tbody>"
    for code in sorted(codes, key=lambda each: (each not in silent, -codes[each], each)):
        mark = "silent" if code in silent else ""
        link = f'<a href="#list" data-filter="code" data-value="{code}">{code}</a>'
        yield f'<tr><td>{link}</td><td class="number">{codes[code]}</td><td>{mark}</td>'
        yield f"<td>{_inline(messages[code])}</td></tr>"
    yield '</tbody></table></div><h2 id="files">By file</h2><div class="wide"><table><thead><tr>'
    yield _heads("File", "Findings*", "Silent*", "Automatic*", "To look at*", "By hand*")
    yield "</tr></thead><tbody>"
    for file in report.files:
        if not file.findings:
            continue
        name = escape(relative(file.path, root))
        kinds = Counter(str(each.applicability) for each in file.findings)
        numbers = [len(file.findings), sum(each.silent for each in file.findings)]
        numbers += [kinds["safe"], kinds["unsafe"], kinds["manual"]]
        yield f'<tr><td><a href="#list" data-filter="file" data-value="{name}">{name}</a></td>'
        yield "".join(f'<td class="number">{number}</td>' for number in numbers) + "</tr>"
    yield "</tbody></table></div>"


def _heads(*titles: str) -> str:
    """Return heads of columns; a star marks numbers."""
    made = []
    for title in titles:
        kind = ' class="number"' if title.endswith("*") else ""
        made.append(f'<th scope="col"{kind}><button type="button">{title.rstrip("*")}</button></th>')
    return "".join(made)


def _list(report: Report, root: Path) -> Iterator[str]:
    left = list(report.left())
    yield '<h2 id="list" tabindex="-1">Findings</h2>'
    if not left:
        yield '<p class="empty">None.</p></main>'
        return
    codes = sorted({finding.code for _, finding in left})
    names = list(dict.fromkeys(relative(finding.path, root) for _, finding in left))
    yield '<form class="filters" id="filters" hidden role="search" aria-label="Filter the findings">'
    yield '<div><label for="search">Search</label><input type="search" id="search"></div>'
    yield _select("code", "Code", [(each, each) for each in codes])
    yield _select("kind", "What is to be done", list(_KINDS.items()))
    yield _select("severity", "Severity", [("error", "gone already"), ("warning", "goes later")])
    yield _select("file", "File", [(each, each) for each in names])
    yield '<label class="check"><input type="checkbox" id="silent"> silent only</label>'
    yield '<div><label for="sort">Sort by</label><select id="sort">'
    for value, title in (
        ("silent", "silent first"),
        ("file", "file"),
        ("code", "code"),
        ("kind", "what is to do"),
    ):
        yield f'<option value="{value}">{title}</option>'
    yield '</select></div><div><button type="button" id="reset">Show all</button></div></form>'
    yield '<p id="count" role="status" aria-live="polite" class="soft"></p>'
    yield '<p id="none" class="empty" hidden>No finding fits.</p><div id="findings">'
    ordered = sorted(enumerate(left), key=lambda each: not each[1][1].silent)
    for position, (file, finding) in ordered:
        yield from _finding(position, finding, file, root)
    yield "</div></main>"


def _select(name: str, title: str, options: Iterable[tuple[str, str]]) -> str:
    listed = "".join(
        f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in (("", "all"), *options)
    )
    return f'<div><label for="{name}">{title}</label><select id="{name}">{listed}</select></div>'


def _finding(position: int, finding: Finding, file: ReportedFile, root: Path) -> Iterator[str]:
    name, code = escape(relative(finding.path, root)), escape(finding.code)
    kind = str(finding.applicability)
    classes = f"finding {finding.severity}" + (" silent" if finding.silent else "")
    yield (
        f'<article class="{classes}" data-order="{position}" data-code="{code}" data-kind="{kind}" '
        f'data-severity="{finding.severity}" data-file="{name}" data-silent="{str(finding.silent).lower()}">'
    )
    badges = ['<span class="badge silent">silent</span>'] if finding.silent else []
    badges.append(f'<span class="badge {finding.severity}">{_severity(finding)}</span>')
    badges.append(f'<span class="badge {kind}">{_KINDS[kind]}</span>')
    yield (
        f'<h3><span class="code">{name}:{place_of(finding)}</span> '
        f'<a href="#rule-{code}">{code}</a>{"".join(badges)}</h3>'
    )
    yield f"<p>{_inline(finding.message)}</p>"
    if finding.silent:
        yield f'<p class="consequence">{escape(finding.consequence)}</p>'
    changes = preview(finding, file.lines)
    if changes:
        for change in changes:
            yield _sides(change)
        assert finding.fix is not None
        more = ", and imports what it needs" if finding.fix.imports else ""
        yield f'<p class="soft">Fix: {_inline(finding.fix.message)}{more}.</p>'
    else:
        first, rows = excerpt(finding, file)
        if rows:
            yield _pre(first, rows, {finding.start.row - first}, "mark")
        if finding.fix is not None:
            yield f'<p class="soft">Fix: {_inline(finding.fix.message)}.</p>'
    yield "</article>"


def _severity(finding: Finding) -> str:
    if finding.code in TROUBLE:
        return "problem"
    return "gone already" if finding.severity is Severity.ERROR else "warning"


def _inline(text: str) -> str:
    """Escape a message; what stands between backquotes is code."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def _sides(change: Preview) -> str:
    gone: set[int] = set()
    new: set[int] = set()
    matcher = difflib.SequenceMatcher(a=change.before, b=change.after, autojunk=False)
    for tag, start, end, other, other_end in matcher.get_opcodes():
        if tag != "equal":
            gone.update(range(start, end))
            new.update(range(other, other_end))
    return (
        f'<div class="sides"><div><h4>before</h4>{_pre(change.row, change.before, gone, "gone")}</div>'
        f"<div><h4>after</h4>{_pre(change.row, change.after, new, 'new')}</div></div>"
    )


def _pre(first: int, rows: list[str], marked: set[int], kind: str) -> str:
    lines = "".join(
        f'<span data-row="{first + index}"{f" class={chr(34)}{kind}{chr(34)}" if index in marked else ""}>'
        f"{escape(row)}</span>"
        for index, row in enumerate(rows)
    )
    return f'<pre tabindex="0">{lines}</pre>'


def _rules(report: Report) -> Iterator[str]:
    from trainer_upgrade import catalogue
    from trainer_upgrade.codes import OWN_CODES, explain

    codes = sorted({finding.code for _, finding in report.left()})
    if not codes:
        return
    yield '<section aria-labelledby="rules"><h2 id="rules">The codes</h2>'
    for code in codes:
        if code not in OWN_CODES and not catalogue.by_code(code):
            continue
        text = "\n".join(explain(code))
        if len(text) > 6000:  # a code that many names share
            text = text[:6000].rpartition("\n")[0] + "\n…"
        yield f'<details id="rule-{code}"><summary>{code}</summary><pre>{escape(text)}</pre></details>'
    yield "</section>"
