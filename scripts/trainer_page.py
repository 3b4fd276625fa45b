"""Write the generated parts of ``docs/training.md``: arguments, options, and what became of those of 1.x.

::

    python scripts/trainer_page.py          # write
    python scripts/trainer_page.py --check  # exit 1 if the page is out of date
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import relight
from relight.trainer.options import DEFAULTS, UNSET, Options
from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Area

PAGE = Path(__file__).resolve().parent.parent / "docs" / "training.md"


def described(doc: str, section: str) -> dict[str, str]:
    """Return the descriptions of a docstring's section by name."""
    lines = inspect.cleandoc(doc).split(f"\n{section}:\n")[1].split("\n\n")[0].splitlines()
    found: dict[str, str] = {}
    for line in lines:
        if match := re.match(r"    (\w+): (.*)", line):
            name, found[match[1]] = match[1], match[2]
        elif found:
            found[name] += " " + line.strip()
    return {name: _markdown(text) for name, text in found.items()}


def _markdown(text: str) -> str:
    return re.sub(r":\w+:(?=`)", "", text.replace("``", "`")).replace("|", "\\|")


def shown(value: object) -> str:
    return "" if value is None or value is UNSET else f"`{value!r}`"


def arguments() -> Iterator[str]:
    """Yield the constructor's parameters."""
    yield "| argument | default | what |"
    yield "|---|---|---|"
    texts = described(relight.Trainer.__init__.__doc__ or "", "Args")
    for name, parameter in list(inspect.signature(relight.Trainer.__init__).parameters.items())[1:]:
        yield f"| `{name}` | `{parameter.default!r}` | {texts[name]} |"


def options() -> Iterator[str]:
    """Yield the options of the entry points."""
    yield "| option | where | default | what |"
    yield "|---|---|---|---|"
    elsewhere = {
        "limit_val_batches": "`fit`; `limit_batches` of `validate`",
        "limit_test_batches": "`limit_batches` of `test`",
        "limit_predict_batches": "`limit_batches` of `predict`",
        "inference_mode": "all",
    }
    for name, text in described(Options.__doc__ or "", "Attributes").items():
        yield f"| `{name}` | {elsewhere.get(name, '`fit`')} | {shown(getattr(DEFAULTS, name))} | {text} |"


def became() -> Iterator[str]:
    """Yield what became of every argument that a Trainer of Lightning ever took."""
    yield "| argument | code | on relight |"
    yield "|---|---|---|"
    known = set(inspect.signature(relight.Trainer.__init__).parameters)
    fit = set(inspect.signature(relight.Trainer.fit).parameters)
    for entry in sorted(catalogue.entries(Area.TRAINER_ARGUMENT), key=lambda entry: entry.name):
        if entry.name in known:
            text = "an argument of `Trainer`, too"
        elif entry.name in fit:
            text = f"`trainer.fit(…, {entry.name}=…)`"
        elif entry.relight.text:
            text = f"`{entry.relight.text}`"
        else:
            text = (entry.advice or "nothing").replace("|", "\\|")
        yield f"| `{entry.name}` | {entry.code} | {text} |"


def page(text: str) -> str:
    """Return the page's text with the generated parts replaced."""
    for name, part in (("arguments", arguments()), ("options", options()), ("became", became())):
        begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{PAGE}: the marks of the part {name!r} are missing")
        new = f"{begin}\n" + "\n".join(part) + f"\n{end}"
        text = pattern.sub(lambda _, new=new: new, text)
    return text


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    new = page(text)
    if "--check" in sys.argv:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
