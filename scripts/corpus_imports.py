"""Import every module of the upgraded lightning-bolts under a real Lightning 2.6.6.

    RELIGHT_ORACLE_2_6_6=... python scripts/corpus_imports.py [--root .corpus] [--extra DIR] [--no-write]

The variable is the path of a python with Lightning 2.6.6. A copy of lightning-bolts is upgraded with
``--target lightning`` (once more with ``--unsafe-fixes``), and each of its modules is imported there in a
process of its own. A module that needs a package which is not installed is counted apart; ``--extra`` names a
folder with more packages (``pip install --target``), torchvision first of all: nothing imports without it.
What does not import is listed with the reason in ``docs/corpus.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = "lightning-bolts"
TOP = "pl_bolts"


# -- in the oracle's interpreter -----------------------------------------------------------------------------


def worker() -> None:
    """Import each module named on standard input in a fork, and write how it went."""
    import warnings

    warnings.simplefilter("ignore")
    import_torchvision()  # before torchmetrics does
    import pytorch_lightning  # noqa: F401 - once, so that the forks are quick

    results = {}
    for name in json.load(sys.stdin):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            result: dict[str, Any] = {}
            try:
                __import__(name)
            except ModuleNotFoundError as error:
                result = {"missing": error.name or "", "text": str(error)}
            except BaseException as error:
                result = {
                    "raises": type(error).__name__,
                    "text": str(error).splitlines()[0][:200] if str(error) else "",
                }
            os.write(writer, json.dumps(result).encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
        results[name] = json.loads(data) if data else {"raises": "died", "text": "the process died"}
    json.dump(results, sys.__stdout__)


def import_torchvision() -> None:
    """Import torchvision if it is there, also where its compiled operators do not load.

    Wheels of torchvision for GPUs do not load their operators with a torch for CPUs, and importing fails only
    because their names are unknown. No module of the package calls one when it is imported.
    """
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")
    for _ in range(20):
        try:
            __import__("torchvision")
        except ModuleNotFoundError:
            return
        except RuntimeError as error:
            unknown = re.search(r"operator torchvision::(\w+) does not exist", str(error))
            if unknown is None:
                return
            library.define(f"{unknown[1]}(Tensor any) -> Tensor")
            for name in [each for each in sys.modules if each.split(".")[0] == "torchvision"]:
                del sys.modules[name]
        else:
            _KEPT.append(library)
            return


_KEPT: list[Any] = []  # a library forgets its definitions when it goes


# -- in ours -------------------------------------------------------------------------------------------------


def modules(folder: Path) -> list[str]:
    names = []
    for path in sorted((folder / TOP).rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def ask(python: str, folder: Path, extra: list[Path]) -> dict[str, dict[str, Any]]:
    """Import all modules below a folder with another interpreter.

    Raises:
        SystemExit: It failed altogether.
    """
    done = subprocess.run(
        [python, __file__, "--worker"],
        input=json.dumps(modules(folder)),
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(each.resolve()) for each in (folder, *extra)),
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "agg",
        },
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout[done.stdout.index("{") :]))


def kinds(results: dict[str, dict[str, Any]]) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Split into imported, lacking a package, and failing, the last two with the reason."""
    imported, lacking, failing = [], {}, {}
    for name, result in results.items():
        if not result:
            imported.append(name)
        elif result.get("missing") and result["missing"].split(".")[0] not in (
            TOP,
            "pytorch_lightning",
            "lightning",
        ):
            lacking[name] = result["missing"].split(".")[0]
        else:
            reason = f"{result.get('raises', 'ModuleNotFoundError')}: {result['text']}"
            failing[name] = re.sub(r"\(/\S*?([\w.]+/[\w.]+\.py)\)", r"(\1)", reason)
    return imported, lacking, failing


def section(rows: list[tuple[str, dict[str, dict[str, Any]]]], version: str, extra: list[Path]) -> str:
    from corpus import IMPORTS

    beside = sorted(each.name.split("-")[0] for folder in extra for each in folder.glob("*.dist-info"))

    parts = [
        IMPORTS,
        "",
        f"Written by `scripts/corpus_imports.py`. Every module of {PACKAGE}, imported with Lightning",
        f"{version} in a process of its own. Those that need a package that is not there are counted apart.",
        *([f"Installed beside it: {', '.join(beside)}."] if beside else []),
        "",
        "| upgraded | modules | import | need a package that is not installed | do not import |",
        "|---|--:|--:|--:|--:|",
    ]
    for title, results in rows:
        imported, lacking, failing = kinds(results)
        parts.append(f"| {title} | {len(results)} | {len(imported)} | {len(lacking)} | {len(failing)} |")
    for title, results in rows:
        _, lacking, failing = kinds(results)
        parts += ["", f"### Upgraded {title}", ""]
        if lacking:
            packages = sorted(set(lacking.values()))
            parts.append(f"Not installed: {', '.join(packages)}.")
            parts.append("")
        if not failing:
            parts.append("All others import.")
        grouped: dict[str, list[str]] = {}
        for name, reason in failing.items():
            grouped.setdefault(reason, []).append(name)
        if grouped:
            parts += ["| modules | reason |", "|---|---|"]
        for reason, names in sorted(grouped.items()):
            listed = ", ".join(f"`{name}`" for name in names) if len(names) < 40 else f"{len(names)} modules"
            parts.append(f"| {listed} | {reason.replace('|', chr(92) + '|')} |")
    return "\n".join(parts) + "\n"


def main() -> int:
    sys.path.insert(0, str(HERE))
    from corpus import IMPORTS, PAGE, ROOT, Target, copy, fetch, upgrade

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT / ".corpus", help="where packages are kept")
    parser.add_argument("--extra", type=Path, action="append", default=[], help="folder with more packages")
    parser.add_argument("--no-write", action="store_true", help="print the section instead of writing it")
    given = parser.parse_args()
    python = os.environ.get("RELIGHT_ORACLE_2_6_6")
    if not python:
        raise SystemExit("set RELIGHT_ORACLE_2_6_6 to a python that has Lightning 2.6.6")
    version = subprocess.run(
        [python, "-c", "import pytorch_lightning as pl; print(pl.__version__)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()[-1]
    folder = fetch(PACKAGE, given.root)
    rows = []
    for title, unsafe in (("not at all", None), ("with safe fixes", False), ("with `--unsafe-fixes`", True)):
        work = copy(folder, given.root, "imports" + {None: "", False: "-safe", True: "-unsafe"}[unsafe])
        problems: list[str] = []
        if unsafe is not None:
            upgrade(work, Target.LIGHTNING, unsafe, problems)
        for problem in problems:
            print(problem)
        rows.append((title, ask(python, work, given.extra)))
    text = section(rows, version, given.extra)
    if given.no_write:
        print(text)
        return 0
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    head = old[: old.index(IMPORTS)] if IMPORTS in old else old.rstrip("\n") + "\n\n"
    PAGE.write_text(head + text, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker()
    else:
        raise SystemExit(main())
