"""What the catalogue promises of relight is there, and what relight has is in the catalogue."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning_fabric")

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Area, Entry, Target, compat_names, imports, resolve_import
from trainer_upgrade.catalogue.relight_names import FABRIC, NAMES, STRATEGY_MEMBERS

# Names that relight shows and Lightning has under the same name, without being a twin.
NO_TWIN = {
    "relight.utilities.overrides.is_overridden": "wants the base class to compare with",
}


def get(path: str) -> Any:
    if path.startswith("@"):  # of an instance
        owner, _, name = path[1:].partition(".")
        return getattr(get(f"relight.{owner}")(), name)
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            if error.name and not path.startswith(error.name):
                raise
            continue
        for part in parts[end:]:
            thing = getattr(thing, part)
        return thing
    raise ImportError(path)


@pytest.mark.filterwarnings("ignore::relight.compat.LegacyWarning")
@pytest.mark.parametrize("path", sorted({*NAMES.values(), *FABRIC.values(), *compat_names.NAMES.values()}))
def test_names_exist(path: str) -> None:
    assert get(path) is not None


@pytest.mark.parametrize("name", sorted(STRATEGY_MEMBERS.values()))
def test_strategies_have_the_members(name: str) -> None:
    from lightning_fabric.strategies import DDPStrategy

    assert hasattr(DDPStrategy, name)


@pytest.mark.parametrize("path", sorted(compat_names.NAMES))
def test_what_goes_through_compat_has_no_twin_in_the_core(path: str) -> None:
    assert imports.on_relight(path) is None
    fact = resolve_import(path, Target.RELIGHT)
    assert fact is not None
    assert fact.new == compat_names.NAMES[path]


def public_names() -> dict[str, str]:
    """relight's public names by what Lightning would call them."""
    found = {}
    for module in ("", ".callbacks", ".loggers", ".profilers", ".plugins", ".utilities", ".tuner"):
        if module and importlib.util.find_spec(f"relight{module}") is None:
            continue
        package = importlib.import_module(f"relight{module}")
        for name in package.__all__:
            found[f"lightning.pytorch{module}.{name}"] = f"relight{module}.{name}"
    return found


def test_what_relight_has_is_listed() -> None:
    missing = {}
    for modern, here in public_names().items():
        fact = resolve_import(modern, Target.LIGHTNING)
        if fact is None or fact.status not in ("kept", "changed_meaning"):
            continue  # relight's own
        if (
            imports.on_relight("pytorch_lightning" + modern[len("lightning.pytorch") :]) is None
            and here not in NO_TWIN
        ):
            missing[modern] = here
    assert missing == {}


def questions_of(entry: Entry) -> list[tuple[str, str]]:
    instead = entry.relight
    name, argument, action = instead.name, instead.argument, instead.action
    if name.startswith(("relight.", "lightning_fabric.", "torch.")):
        return [(name, argument)]
    if action == "entry-point":
        return [(f"relight.Trainer.{name}", argument)]
    if not name or action in ("none", "drop", "keep"):
        return []
    if entry.area in (Area.TRAINER_ARGUMENT, Area.TRAINER_VALUE) and action != "attribute":
        return [("relight.Trainer", name)]
    if entry.area is Area.CONSTRUCTOR_ARGUMENT and not instead.text.startswith("Trainer("):
        here = resolve_import(f"pytorch_lightning.callbacks.{entry.owner}", Target.RELIGHT)
        return [(here.new, name)] if here is not None and here.new else []
    if entry.area in (Area.MODULE_HOOK, Area.DATAMODULE_HOOK, Area.CALLBACK_HOOK):
        if "." in name or name == "get_metrics":
            return []
        owner = "Callback" if name == "on_sanity_check_start" else entry.owner
        return [(f"@{owner}.{name}", "")]
    return []


@pytest.mark.parametrize("area", [area for area in Area if area not in (Area.DEFAULT, Area.PROJECT_FILE)])
def test_replacements_exist(area: Area) -> None:
    wrong = []
    asked = 0
    for entry in catalogue.entries(area):
        for path, keyword in questions_of(entry):
            asked += 1
            try:
                thing = get(path)
                if path == "relight.callbacks.LambdaCallback":  # takes any hook by its name
                    get(f"relight.Callback.{keyword}")
                elif keyword and keyword not in inspect.signature(thing).parameters:
                    wrong.append((entry.code, entry.name, path, f"no argument {keyword}"))
            except (ImportError, AttributeError) as error:
                wrong.append((entry.code, entry.name, path, repr(error)))
    assert wrong == []
    assert asked or area is Area.ENTRY_POINT_ARGUMENT


def test_trainer_attributes() -> None:
    """Attributes that take another's place are there on a Trainer that has not run."""
    from relight import Trainer

    trainer = Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    wrong = [
        (entry.code, entry.name, entry.relight.name)
        for entry in catalogue.entries(Area.TRAINER_ATTRIBUTE)
        if entry.relight.action in ("rename", "expression", "attribute")
        and entry.relight.name
        and "." not in entry.relight.name
        and not hasattr(trainer, entry.relight.name)
    ]
    assert wrong == []


def test_moved_imports_keep_the_class() -> None:
    """What resolves to a class of relight resolves to one class, by whatever path."""
    groups: dict[str, set[str]] = {}
    for row in imports.rows():
        fact = resolve_import(row.old, Target.RELIGHT)
        if fact is not None and fact.new and row.home and fact.new.startswith("relight."):
            groups.setdefault(row.home, set()).add(fact.new)
    assert groups
    assert {home for home, found in groups.items() if len({id(get(path)) for path in found}) > 1} == set()


def test_the_table_of_what_only_compat_has_is_what_compat_has() -> None:
    from pathlib import Path

    script = Path(__file__).parents[3] / "scripts" / "build_compat_names.py"
    spec = importlib.util.spec_from_file_location("build_compat_names", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = module.TABLE.read_text(encoding="utf-8").splitlines()
    made = module.text().splitlines()
    assert made == written, "run scripts/build_compat_names.py"
