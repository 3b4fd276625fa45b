"""Links between the README, CONTRIBUTING, the changelog and the docs lead somewhere, anchors too.

The site's strict build says the same of the docs; this needs no MkDocs, and looks at the other files as well.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from doc_blocks import ROOT, page_name, pages

from trainer_upgrade.codes import known_codes

#: Made when the site is built (scripts/docs_hooks.py).
MADE = {
    "rules/index.md", "rules/names.md", "rules/imports.md", "rules/errors.md", "tables/trainer-arguments.md",
    "tables/hooks.md",
}  # fmt: skip
PAGES = [*pages(), ROOT / "CHANGELOG.md"]


def _links(text: str) -> list[str]:
    without_code = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", without_code)


@cache
def _anchors(page: Path) -> frozenset[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found: Counter[str] = Counter()
    names = set()
    for title in re.findall(r"^#{1,6} +(.+?)$", text, re.MULTILINE):
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower())
        names.add(f"{slug}_{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return frozenset(names)


def _is_made(target: str) -> bool:
    code = re.fullmatch(r"rules/(TRU\d+)\.md", target)
    return code[1] in known_codes() if code else target in MADE


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target.is_relative_to(ROOT / "docs") and _is_made(target.relative_to(ROOT / "docs").as_posix()):
            continue
        assert target.exists(), f"{page_name(page)}: {link}"
        if anchor:
            assert anchor in _anchors(target), f"{page_name(page)}: {link}"


def test_links_are_found() -> None:
    assert sum(len(_links(page.read_text(encoding="utf-8"))) for page in PAGES) > 100
    assert _links("see [a](b.md#c) and `[d](e.md)`") == ["b.md#c"]
    assert _is_made("rules/TRU101.md")
    assert not _is_made("rules/TRU999.md")
    assert "baseline" in _anchors(ROOT / "docs" / "linting.md")


def test_pages_stand_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert re.search(rf"\b{re.escape(page.name)}$", navigation, re.MULTILINE), page.name
