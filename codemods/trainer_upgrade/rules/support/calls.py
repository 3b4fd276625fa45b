"""Arguments taken from a call."""

from __future__ import annotations

import ast

from trainer_upgrade.findings import Edit
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.support.lists import call_items

__all__ = ["drop_call_arguments"]


def drop_call_arguments(
    file: FileContext, call: ast.Call, positions: set[int], keywords: set[str]
) -> list[Edit] | None:
    """Return the edits that take arguments from a call.

    Args:
        file: The file.
        call: The call.
        positions: Positional arguments to drop.
        keywords: Keyword arguments to drop.

    Returns:
        The edits (none if nothing is to be dropped), or ``None`` when ``*args`` hides where an argument is.
    """
    starred = [position for position, each in enumerate(call.args) if isinstance(each, ast.Starred)]
    if starred and any(each >= starred[0] for each in positions):
        return None
    items = call_items(call, file.module)
    if len(items.items) != len(call.args) + len(call.keywords):
        return None
    drop = []
    # In the order of the source: a keyword may stand before a starred argument.
    nodes = sorted([*call.args, *call.keywords], key=lambda each: file.span(each))
    for position, node in enumerate(nodes):
        if isinstance(node, ast.keyword):
            if node.arg in keywords:
                drop.append(position)
        elif any(each is node and place in positions for place, each in enumerate(call.args)):
            drop.append(position)
    return items.without(drop)
