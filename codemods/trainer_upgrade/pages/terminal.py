"""``--explain``: the page about a code in the terminal."""

from __future__ import annotations

import sys

from trainer_upgrade.pages.lookup import find_codes, name_in
from trainer_upgrade.pages.markdown import render
from trainer_upgrade.pages.page import name_of, rule_page

__all__ = ["explain", "explained"]

# What else a question may mean is named, not shown.
_ALSO = 6


def explained(asked: str) -> str:
    """Return the page about a code, a legacy name or an error message, as Markdown.

    Raises:
        UsageError: Nothing is known of it.
    """
    codes = find_codes(asked)
    page = rule_page(codes[0], about=name_in(asked))
    text = render(page)
    if codes[1:]:
        others = ", ".join(f"{code} ({_title(code)})" for code in codes[1 : _ALSO + 1])
        text += f"\nThe question may also mean: {others}. Ask with the code.\n"
    return text


def explain(asked: str, *, colour: bool) -> None:
    """Print the page about a code, a legacy name or an error message.

    Args:
        asked: The question.
        colour: Whether the terminal shows colours and boxes; else the Markdown is printed as it is.

    Raises:
        UsageError: Nothing is known of it.
    """
    text = explained(asked)
    if not colour:
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(soft_wrap=False)
    console.print(Markdown(text, code_theme="ansi_dark"), width=min(console.width, 100))


def _title(code: str) -> str:
    from trainer_upgrade import catalogue

    entries = catalogue.by_code(code)
    return name_of(entries[0]) if entries else code
