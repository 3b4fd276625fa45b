"""Write down which legacy names relight.compat serves where the core has no twin.

    python scripts/build_compat_names.py [--check]

The tool never imports torch, so it reads what this script has asked of the live package:
``trainer_upgrade/catalogue/data/compat.tsv``, a line for each path: ``served`` (it works) or ``stand-in``
(it can be imported, and says what to do when it is used). Run it after a change of what compat serves.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from trainer_upgrade.catalogue import compat_names, imports

TABLE = Path(imports.__file__).parent / "data" / "compat.tsv"
ROOT = "pytorch_lightning"


def served() -> Iterator[tuple[str, str]]:
    """Yield each path that only compat has, and how."""
    from relight.compat import _absent, _served

    for row in imports.rows():
        path = row.old
        if not path.startswith(ROOT + ".") or path in compat_names.NAMES:
            continue
        if imports._on_relight(row).new is not None:
            continue
        here = "relight.compat" + path[len(ROOT) :]
        module, _, name = here.rpartition(".")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if row.kind == "module":
                    importlib.import_module(here)
                else:
                    getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
        absent = row.kind != "module" and _served.find(path) is None and _absent.why(path) is not None
        yield path, "stand-in" if absent else "served"


def text() -> str:
    """Return the table."""
    lines = [f"{path}\t{how}" for path, how in sorted(served())]
    return "path\thow\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    check = parser.parse_args().check
    made = text()
    if check:
        return int(made != TABLE.read_text(encoding="utf-8"))
    TABLE.write_text(made, encoding="utf-8", newline="\n")
    print(f"{TABLE.name}: {len(made.splitlines()) - 1} paths")
    return 0


if __name__ == "__main__":
    sys.exit(main())
