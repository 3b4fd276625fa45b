"""Begin a rule: its module, its tests, its place in the list, and an example for its page.

usage: python scripts/new_rule.py NAME CODE

NAME is the rule's name (``early-stopping-check``), CODE that of an entry of the catalogue (``TRU612``), which
must be there first. What is written works: the rule reports the entry wherever it stands, with the
catalogue's advice and without a fix, and its tests pass. Go on from there: CONTRIBUTING, "Add a rule".
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template
from textwrap import fill, indent

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "codemods"))

from trainer_upgrade import catalogue  # noqa: E402
from trainer_upgrade.catalogue.entry import Area, Entry  # noqa: E402
from trainer_upgrade.pages.examples import Example, example  # noqa: E402
from trainer_upgrade.pages.made import made  # noqa: E402
from trainer_upgrade.pages.run import rules_behind  # noqa: E402

_CALLS = (Area.TRAINER_ARGUMENT, Area.TRAINER_VALUE, Area.CONSTRUCTOR_ARGUMENT, Area.ENTRY_POINT_ARGUMENT)
_METHODS = {
    Area.MODULE_HOOK: ("LightningModule", "Net"),
    Area.DATAMODULE_HOOK: ("LightningDataModule", "Data"),
    Area.CALLBACK_HOOK: ("Callback", "Bell"),
}
_ELSEWHERE = {
    Area.IMPORT: "the import rules read the catalogue: an entry there is all it takes",
    Area.PROJECT_FILE: "what stands in other files than Python is looked for in trainer_upgrade/documents",
}


class RefusedError(Exception):
    """The rule cannot be begun."""


@dataclass(frozen=True)
class Draft:
    """What differs from rule to rule: the node to look at, the handler's body, an example of legacy code."""

    node: str
    body: str
    example: str
    foreign: str


def draft(entry: Entry) -> Draft:
    """Say how an entry is detected, and what code shows it."""
    name, owner = entry.name, entry.owner
    if entry.area in _METHODS:
        kind, cls = _METHODS[entry.area]
        method = f"class {cls}({{}}):\n    def {name}(self):\n        pass\n"
        return Draft(
            "FunctionDef",
            f'if node.name != ENTRY.name:\n    return\nowner = file.method_owner(node)\n'
            f'if owner is not None and owner.mixed_kind() == "{kind}":\n    yield file.finding(ENTRY, node)',
            "import pytorch_lightning as pl\n\n\n" + method.format(f"pl.{kind}"),
            method.format("object"),
        )  # fmt: skip
    if entry.area is Area.TRAINER_ATTRIBUTE:
        use = f"trainer = {{}}Trainer()\nprint(trainer.{name})\n"
        return Draft(
            "Attribute",
            'if node.attr == ENTRY.name and file.instance_of(node.value) == "Trainer":\n'
            "    yield file.finding(ENTRY, node)",
            "import pytorch_lightning as pl\n\n" + use.format("pl."),
            "from transformers import Trainer\n\n" + use.format(""),
        )
    if entry.area in _CALLS:
        argument = owner.partition(".")[2] if entry.area is Area.TRAINER_VALUE else name
        cls, _, method = ("Trainer", "", "") if entry.area is Area.TRAINER_VALUE else owner.partition(".")
        return _call(cls, method, argument, None if entry.area is Area.TRAINER_VALUE else "ENTRY.name")
    cls = owner if owner not in ("LightningModule", "LightningDataModule", "Logger") else "Trainer"
    return Draft(
        "Call",
        f"made = file.constructed(node)\n"
        f'if made is not None and made.label == "{cls}":  # when else? ask the arguments, the pin, the uses\n'
        "    yield file.finding(ENTRY, node)",
        f"{_import(cls)}\n\nthing = {cls}()\n",
        f"from somewhere import {cls}\n\nthing = {cls}()\n",
    )


def _call(cls: str, method: str, argument: str, wanted: str | None) -> Draft:
    wanted = wanted or repr(argument)
    each = (
        f"for each in node.keywords:\n    if each.arg == {wanted}:\n        yield file.finding(ENTRY, each)"
    )
    if method:
        receiver = "trainer" if cls == "Trainer" else "thing"
        use = f"{receiver} = {cls}()\n{receiver}.{method}({argument}=value)\n"
        body = (
            f'if not isinstance(node.func, ast.Attribute) or node.func.attr != "{method}":\n    return\n'
            f'if file.instance_of(node.func.value) != "{cls}":\n    return\n{each}'
        )
    else:
        use = f"thing = {cls}({argument}=value)\n"
        body = (
            f"made = file.constructed(node)\n"
            f'if made is None or made.label != "{cls}":\n    return\n{each}'
        )  # fmt: skip
    return Draft("Call", body, f"{_import(cls)}\n\n{use}", f"from somewhere import {cls}\n\n{use}")


def _import(cls: str) -> str:
    for module, members in _HOMES.items():
        if cls.endswith(members):
            return f"from pytorch_lightning{module} import {cls}"
    return f"from pytorch_lightning import {cls}"


#: Where a class of this ending is imported from, in an example.
_HOMES: dict[str, tuple[str, ...]] = {
    "": ("Trainer", "LightningModule", "LightningDataModule"),
    ".loggers": ("Logger",),
    ".profilers": ("Profiler",),
    ".strategies": ("Strategy",),
    ".plugins": ("Plugin",),
    ".tuner": ("Tuner",),
    ".cli": ("CLI",),
    ".callbacks": (
        "Callback", "Checkpoint", "Stopping", "Monitor", "Bar", "BarTheme", "Summary", "Averaging", "Finder",
        "Pruning", "Scheduler", "Finetuning", "Writer", "Timer",
    ),
}  # fmt: skip

_RULE = Template('''\
"""$advice

Before::

$before
After::

    # the code that takes its place

What is left to a person, and why.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.findings import Finding
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import on, rule

__all__ = ["$function"]

ENTRY = catalogue.by_code("$code")[0]


@rule("$name")
@on(ast.$node)
def $function(node: ast.$node, file: FileContext) -> Iterator[Finding]:
    """Report `$title`."""
$body
''')

_TEST = Template('''\
"""$code: $title."""

from __future__ import annotations

import pytest

from trainer_upgrade.testing import check_noop, findings

LEGACY = """\\
$example"""


# With a fix: `check(LEGACY, MODERN, target=…, codes=[…])` for each target, `unsafe=True` if it is unsafe.
def test_it_is_reported() -> None:
    assert "$code" in [each.code for each in findings(LEGACY, target="lightning")]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            """\\
$foreign""",
            id="of-another-library",
        ),
    ],
)
def test_it_is_left_alone(source: str) -> None:
    check_noop(source, target="lightning")
''')


def begin(name: str, code: str, root: Path = ROOT) -> list[Path]:
    """Write a rule's first files.

    Args:
        name: The rule's name: words with dashes.
        code: The code of an entry of the catalogue.
        root: The repository.

    Returns:
        The files that were written or changed.

    Raises:
        RefusedError: A name is wrong or taken, there is no such code, or a rule reports it already.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise RefusedError(
            f"{name!r} is no name for a rule: say words with dashes, such as early-stopping-check"
        )
    code = code.upper()
    entries = catalogue.by_code(code)
    if not entries:
        raise RefusedError(
            f"the catalogue has no {code}: write its entry first, in codemods/trainer_upgrade/catalogue"
        )
    entry = entries[0]
    if entry.area in _ELSEWHERE:
        raise RefusedError(f"{code} is about {entry.owner}: {_ELSEWHERE[entry.area]}")
    module = name.replace("-", "_")
    tool = root / "codemods" / "trainer_upgrade"
    rule, test = (
        tool / "rules" / f"{module}.py",
        root / "tests/trainer_upgrade/rules" / f"test_{module}_rule.py",
    )
    for path in (rule, test):
        if path.exists():
            raise RefusedError(f"{path.relative_to(root)} is there already")
    plan = draft(entry)
    shown = example(code) or _made(entry)
    others = rules_behind(shown or Example(code, plan.example), code)
    if others:
        known = ", ".join(f"{each.name} ({each.module.rpartition('.')[2]}.py)" for each in others)
        raise RefusedError(f"{code} is reported already, by {known}: extend that")
    words = {
        "name": name,
        "function": module,
        "code": code,
        "node": plan.node,
        "advice": fill(entry.advice[0].upper() + entry.advice[1:].rstrip(".") + ".", 106),
        "title": f"{entry.owner}.{entry.name}",
        "before": indent(plan.example, "    "),
        "body": indent(plan.body, "    "),
        "example": plan.example,
        "foreign": plan.foreign,
    }
    rule.write_text(_RULE.substitute(words), encoding="utf-8")
    test.write_text(_TEST.substitute(words), encoding="utf-8")
    written = [rule, test, _register(tool / "rules" / "__init__.py", module)]
    # A call of what a person defines can be made from the entry, but the rule looks at the definition.
    if shown is None or (entry.area in _METHODS and example(code) is None):
        pages = tool / "pages" / "examples.txt"
        pages.write_text(f"{pages.read_text(encoding='utf-8')}== {code}\n{plan.example}", encoding="utf-8")
        written.append(pages)
    return written


def _made(entry: Entry) -> Example | None:
    text = made(entry)
    return Example(entry.code, text) if text is not None else None


def _register(path: Path, module: str) -> Path:
    text = path.read_text(encoding="utf-8")
    found = re.search(r"(MODULES: tuple\[str, \.\.\.\] = \(\n)(.*?)(\n\))", text, re.DOTALL)
    if found is None:
        raise RefusedError(f"{path.name} has no list of modules")
    lines = sorted([*found[2].splitlines(), f'    "{module}",'])
    path.write_text(
        text[: found.start(2)] + "\n".join(lines) + text[found.end(2) :], encoding="utf-8"
    )  # fmt: skip
    return path


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="the rule's name: words with dashes")
    parser.add_argument("code", help="the code of an entry of the catalogue (TRU612)")
    given = parser.parse_args(arguments)
    try:
        written = begin(given.name, given.code)
    except RefusedError as error:
        print(f"new_rule.py: {error}", file=sys.stderr)
        return 2
    for path in written:
        print(path.relative_to(ROOT))
    print(
        "now: ruff format, then pytest tests/trainer_upgrade/rules/test_"
        + given.name.replace("-", "_")
        + "_rule.py"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
