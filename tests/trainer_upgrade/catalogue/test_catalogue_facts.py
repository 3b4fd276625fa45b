"""Nothing that 21 releases show as gone or changed is missing from the catalogue."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Applicability, Area, Entry
from trainer_upgrade.catalogue.defaults import ROWS
from trainer_upgrade.catalogue.guide import guide_rows
from trainer_upgrade.catalogue.shared_codes import SHARED

HOOKS = (
    ("module_hooks", Area.MODULE_HOOK, "LightningModule"),
    ("datamodule_hooks", Area.DATAMODULE_HOOK, "LightningDataModule"),
    ("callback_hooks", Area.CALLBACK_HOOK, "Callback"),
)
FAMILIES = {
    Area.TRAINER_ARGUMENT: range(100, 200),
    Area.MODULE_HOOK: range(200, 240),
    Area.DATAMODULE_HOOK: range(240, 260),
    Area.CALLBACK_HOOK: range(260, 300),
    Area.IMPORT: range(300, 400),
    Area.TRAINER_ATTRIBUTE: range(400, 500),
    Area.ENTRY_POINT_ARGUMENT: range(500, 600),
    Area.CONSTRUCTOR_ARGUMENT: range(600, 700),
    Area.TRAINER_VALUE: range(700, 800),
    Area.DEFAULT: range(800, 900),
    Area.PROJECT_FILE: range(900, 1000),
}
ACTIONS = {"attribute", "callback", "custom", "drop", "entry-point", "expression", "keep", "move", "none"}
ACTIONS |= {"rename", "value"}
# Codes that were published with the first contract between the parts; they may not move.
FIXED = {
    "gpus": "TRU101",
    "num_processes": "TRU102",
    "accelerator": "TRU108",
    "precision": "TRU114",
    "resume_from_checkpoint": "TRU116",
    "checkpoint_callback": "TRU117",
    "progress_bar_refresh_rate": "TRU119",
    "weights_summary": "TRU120",
    "max_steps": "TRU133",
    "terminate_on_nan": "TRU152",
    "kwargs": "TRU161",
    "limit_predict_batches": "TRU173",
    "enable_model_summary": "TRU179",
    "min_steps": "TRU180",
}


def agrees(entry: Entry, row: dict[str, str]) -> bool:
    """Whether an entry names the releases that the facts name, where these are releases."""
    warned = row["deprecated_in"].split(" ")[0]
    told = (entry.deprecated_in or "", entry.removed_in or "")
    # 0.5.3 and 0.5 are the same minor release.
    return (told[0] == warned or warned.startswith(told[0] + ".")) and told[1] == row["removed_in"]


def changed(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [row for row in rows if row["kept_in_2.6"] != "yes"]


def test_trainer_arguments(facts) -> None:
    rows = changed(facts("trainer_args"))
    assert len(rows) == 79
    for row in rows:
        entry = catalogue.trainer_argument(row["arg"])
        assert entry is not None, row["arg"]
        if row["kept_in_2.6"] == "no":
            assert agrees(entry, row), (row["arg"], entry)
            assert entry.lightning.action != "keep"
        assert entry.advice.startswith(("`", "unknown")), entry
    known = {row["arg"] for row in facts("trainer_args")}
    assert {entry.name for entry in catalogue.entries(Area.TRAINER_ARGUMENT)} <= known


@pytest.mark.parametrize(("name", "code"), FIXED.items())
def test_published_codes_stay(name: str, code: str) -> None:
    assert catalogue.code(Area.TRAINER_ARGUMENT, "Trainer", name) == code


@pytest.mark.parametrize(("table", "area", "owner"), HOOKS)
def test_hooks(facts, table: str, area: Area, owner: str) -> None:
    rows = changed(facts(table))
    for row in rows:
        entry = catalogue.find(area, owner, row["name"])
        assert entry is not None, row["name"]
        assert catalogue.hook(owner, row["name"]) == entry
        if row["kept_in_2.6"] == "no":
            assert agrees(entry, row), (row["name"], entry)
        if "silent" in row["behaviour_in_2.6"].lower():
            assert entry.silent, row["name"]
    known = {row["name"] for row in facts(table)}
    assert {entry.name for entry in catalogue.entries(area)} <= known


def test_trainer_attributes(facts) -> None:
    rows = changed(facts("trainer_attrs"))
    assert sum(row["kept_in_2.6"] == "no" for row in rows) == 302
    for row in rows:
        entry = catalogue.find(Area.TRAINER_ATTRIBUTE, "Trainer", row["attr"])
        assert entry is not None, row["attr"]
        assert agrees(entry, row), (row["attr"], entry)
    assert {entry.name for entry in catalogue.entries(Area.TRAINER_ATTRIBUTE)} == {
        row["attr"] for row in rows
    }


def test_entry_point_arguments(facts) -> None:
    for row in changed(facts("entrypoint_args")):
        owner = {"Tuner": row["entrypoint"], "function": "seed_everything"}.get(
            row["owner"], f"{row['owner']}.{row['entrypoint']}"
        )
        entry = catalogue.find(Area.ENTRY_POINT_ARGUMENT, owner, row["arg"])
        assert entry is not None, (owner, row["arg"])
        if row["kept_in_2.6"] == "no":
            assert agrees(entry, row), (owner, row["arg"], entry)


def test_constructor_arguments(facts) -> None:
    rows = changed(facts("ctor_args"))
    assert len(rows) == 675
    swallowed = 0
    for row in rows:
        entry = catalogue.find(Area.CONSTRUCTOR_ARGUMENT, row["class"], row["arg"])
        assert entry is not None, (row["class"], row["arg"])
        if row["behaviour_in_2.6"].startswith("swallowed") and row["class"] != "CometLogger":
            passed_on = entry.lightning.action == "keep"
            assert entry.silent or passed_on, (row["class"], row["arg"])
            swallowed += 1
    assert swallowed > 10


def test_values(facts) -> None:
    rows = facts("trainer_values")
    for row in rows:
        entry = catalogue.find(Area.TRAINER_VALUE, f"Trainer.{row['arg']}", row["value"])
        assert entry is not None, (row["arg"], row["value"])
        assert (entry.removed_in or "") == row["removed_in"]
    assert sum(1 for _ in catalogue.entries(Area.TRAINER_VALUE)) == len(rows)


def test_values_name_the_fact_tables_replacement(facts) -> None:
    # Values whose replacement the facts word in a sentence, or in several ways.
    differs = {
        ("accelerator", "'ddp_cpu'"),
        ("strategy", "'colossalai'"),
        ("strategy", "'ddp'"),
        ("strategy", "'fsdp'"),
        ("strategy", "'ddp_spawn'"),
        ("devices", "list[int] with accelerator='cpu'"),
        ("gpus", "'n' (string)"),
        ("checkpoint_callback", "ModelCheckpoint instance"),
        ("accumulate_grad_batches", "dict"),
    }
    for row in facts("trainer_values"):
        if (row["arg"], row["value"]) in differs or not row["new_value"]:
            continue
        entry = catalogue.find(Area.TRAINER_VALUE, f"Trainer.{row['arg']}", row["value"])
        assert entry is not None
        wanted = row["new_value"].split(" (")[0].replace("strategy=", "")
        assert wanted in entry.lightning.text, (row, entry.lightning)


def test_import_paths(facts) -> None:
    for table in ("import_paths", "import_paths_incidental"):
        for row in facts(table):
            entry = catalogue.find(Area.IMPORT, row["old_module"], row["name"])
            if row["status"] == "kept":
                # Names that a module shows only while it runs as a script were never importable.
                assert entry is None, (row["old_module"], row["name"])
                continue
            assert entry is not None, (row["old_module"], row["name"])
            assert agrees(entry, row), entry
    for row in facts("modules"):
        entry = catalogue.find(Area.IMPORT, "module", row["module"])
        assert (entry is None) == (row["status"] == "kept"), row["module"]


def test_defaults(facts) -> None:
    rows = {row["id"] for row in facts("defaults_changed")}
    assert rows == set(ROWS)
    assert len(set(ROWS.values())) == len(ROWS)
    for code in ROWS.values():
        (entry,) = catalogue.by_code(code)
        assert entry.area is Area.DEFAULT


def test_guide(facts) -> None:
    rows = facts("guide_rows")
    assert len(rows) == 413
    assert set(guide_rows()) == {row["id"] for row in rows}
    # Rows that name nothing by its name: alternatives in braces, or "the same as above".
    elsewhere = {
        ("1.9-R04", "TRU880"),
        ("1.9-A16", "TRU493"),
        ("1.9-A17", "TRU493"),
        ("2.0-R09", "TRU802"),
        *(("1.9-D55", code) for code in ("TRU409", "TRU410", "TRU411", "TRU499")),
        *(("X-TT03", code) for code in ("TRU431", "TRU445", "TRU446", "TRU494")),
    }
    common = {
        "Trainer",
        "LightningModule",
        "self",
        "trainer",
        "the",
        "and",
        "in",
        "is",
        "to",
        "of",
        "a",
        "it",
        "or",
    }
    for row in rows:
        mapped = guide_rows()[row["id"]]
        assert bool(mapped.codes) != bool(mapped.reason), mapped
        words = set(re.findall(r"\w+", row["legacy_usage"])) - common
        for code in mapped.codes:
            entries = catalogue.by_code(code)
            assert entries, mapped
            if (row["id"], code) not in elsewhere:
                told = {
                    word
                    for each in entries
                    for word in re.findall(r"\w+", f"{each.owner} {each.name} {each.advice}")
                }
                assert words & told, (row["id"], row["legacy_usage"], code)


def test_codes_and_families() -> None:
    carriers: dict[str, list[Entry]] = defaultdict(list)
    for area in Area:
        seen = set()
        for entry in catalogue.entries(area):
            assert entry.area is area
            assert re.fullmatch(r"TRU\d{3}", entry.code), entry
            assert int(entry.code[3:]) in FAMILIES[area], entry
            assert (entry.owner, entry.name) not in seen, entry
            seen.add((entry.owner, entry.name))
            carriers[entry.code].append(entry)
            assert catalogue.find(area, entry.owner, entry.name) is entry
    shared = {code for code, group in carriers.items() if len(group) > 1}
    assert shared == set(SHARED)
    assert all(SHARED.values())
    for code, group in carriers.items():
        assert catalogue.by_code(code) == tuple(group)


def test_entries_say_what_to_do() -> None:
    for entry in catalogue.entries():
        assert entry.advice, entry
        assert "\n" not in entry.advice
        assert not entry.advice.endswith("."), entry
        assert entry.source, entry
        assert entry.sunset == "2.0"
        if entry.applicability is Applicability.SAFE and entry.area is not Area.IMPORT:
            # A safe rewrite has somewhere to go on at least one target, or drops what does nothing.
            assert {entry.relight.action, entry.lightning.action} != {"none"}, entry
        for instead in (entry.relight, entry.lightning):
            assert instead.action in ACTIONS, entry


def test_items_that_real_projects_use_have_a_code_of_their_own(facts) -> None:
    used = set()
    for row in facts("frequencies"):
        if row["category"] == "trainer_attr_missing_in_2.6.6":
            used.add(row["feature"].split(" ")[0])
    checked = 0
    for name in used:
        entry = catalogue.find(Area.TRAINER_ATTRIBUTE, "Trainer", name)
        if entry is not None:
            assert entry.code not in SHARED, name
            checked += 1
    assert checked > 30


def test_unknown_things() -> None:
    assert catalogue.trainer_argument("learning_rate") is None
    assert catalogue.hook("LightningModule", "forward") is None
    assert catalogue.by_code("TRU999") == ()
    assert catalogue.by_code("E501") == ()
    with pytest.raises(KeyError, match="learning_rate"):
        catalogue.code(Area.TRAINER_ARGUMENT, "Trainer", "learning_rate")
