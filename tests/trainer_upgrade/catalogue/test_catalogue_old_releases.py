"""The old side of the import table, held against real old releases."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from trainer_upgrade.catalogue import imports

pytestmark = pytest.mark.oracle

ORACLES = {"1.9": "RELIGHT_ORACLE_1_9_5", "1.5": "RELIGHT_ORACLE_1_5_10"}
MODERN = "RELIGHT_ORACLE_2_6_6"
# Names that are there only with a package that the oracle does not have.
OPTIONAL = {
    "pytorch_lightning.serve": "requests",
    "pytorch_lightning.overrides.fairscale.unwrap_lightning_module_sharded": "fairscale",
}
# Moved, and changed on the way; the catalogue says so.
CHANGED = {"pytorch_lightning.trainer.supporters.CombinedLoader": "loaders became iterables"}

PROBE = r"""
import importlib, inspect, json, sys, warnings
warnings.simplefilter("ignore")

def get(path):
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            if error.name and not path.startswith(error.name):
                return "absent:" + error.name, None
            continue
        except ImportError as error:
            return "error:" + str(error), None
        try:
            for part in parts[end:]:
                thing = getattr(thing, part)
        except AttributeError as error:
            return "error:" + str(error), None
        members = None
        if inspect.isclass(thing):
            members = sorted(name for name in dir(thing) if not name.startswith("_"))
        elif inspect.isfunction(thing):
            members = sorted(inspect.signature(thing).parameters)
        return "", members
    return "error:no module", None

json.dump({path: get(path) for path in json.load(sys.stdin)}, sys.stdout)
"""


def ask(variable: str, paths: set[str]) -> dict[str, tuple[str, list[str] | None]]:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no python with that release")
    done = subprocess.run(
        [python, "-c", PROBE], input=json.dumps(sorted(paths)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def paths_in(facts, release: str) -> set[str]:
    """Paths of a release's interface, as the fact tables list them."""
    found = set()
    for row in facts("import_paths"):
        there = number(row["first"]) <= number(release) <= number(row["last"])
        if there and release not in row["gaps"].split(","):
            found.add(f"{row['old_module']}.{row['name']}")
    assert found <= {row.old for row in imports.rows()}
    return {path for path in found if not path.startswith(tuple(OPTIONAL))}


@pytest.mark.parametrize("release", ORACLES)
def test_old_paths_were_there(facts, release: str) -> None:
    paths = paths_in(facts, release)
    assert len(paths) > 450
    answers = ask(ORACLES[release], paths)
    assert {path: why for path, (why, _) in answers.items() if why} == {}


@pytest.mark.parametrize("release", ORACLES)
def test_what_moved_is_the_same_thing(facts, release: str) -> None:
    """A class or function that only moved still has most of what it had."""
    old = paths_in(facts, release)
    rows = [row for row in imports.rows() if row.status == "moved" and row.kind == "name" and row.old in old]
    assert len(rows) > 20
    before = ask(ORACLES[release], {row.old for row in rows})
    after = ask(MODERN, {row.new for row in rows})
    compared = 0
    strange = {}
    for row in rows:
        had, has = before[row.old][1], after[row.new][1]
        if had and has and had != ["args", "kwargs"]:  # a deprecation wrapper shows nothing
            compared += 1
            kept = len(set(had) & set(has)) / len(had)
            if kept < 0.5:
                strange[row.old] = (row.new, kept)
    assert compared > 15
    assert {path: found for path, found in strange.items() if path not in CHANGED} == {}
