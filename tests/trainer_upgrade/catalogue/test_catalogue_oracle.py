"""Every replacement for target lightning exists in a real Lightning 2.6.6, with that keyword."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue import Area, imports
from trainer_upgrade.catalogue.relight_names import FABRIC, NAMES

ORACLE = os.environ.get("RELIGHT_ORACLE_2_6_6")

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(not ORACLE, reason="RELIGHT_ORACLE_2_6_6 names no python with Lightning 2.6.6"),
]

# Packages that Lightning's replacements name and that need not be installed, and why.
ABSENT = {
    "lightning_graphcore": "left Lightning in 2.1 and never followed it further",
    "lightning_bagua": "left Lightning in 2.0 and never followed it further",
    "lightning_colossalai": "left Lightning in 2.0 and never followed it further",
    "lightning_hivemind": "left Lightning in 2.0 and never followed it further",
    "pytorch_lightning.serve": "imports requests, which Lightning does not require",
    "lightning.pytorch.serve": "imports requests, which Lightning does not require",
}
# Keywords that the callable takes through **kwargs.
THROUGH_KWARGS = {
    ("lightning.pytorch.loggers.CometLogger", "name"),
    ("lightning.pytorch.loggers.CometLogger", "offline_directory"),
}

PROBE = r"""
import importlib, inspect, json, sys, warnings
warnings.simplefilter("ignore")
import lightning.pytorch as pl

class Module(pl.LightningModule):
    pass

trainer = pl.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, barebones=False)
instances = {
    "Trainer": trainer,
    "LightningModule": Module(),
    "LightningDataModule": pl.LightningDataModule(),
    "Callback": pl.Callback(),
}

def get(path):
    if path.startswith("@"):
        owner, _, rest = path[1:].partition(".")
        thing, parts = instances[owner], rest.split(".") if rest else []
    else:
        parts = path.split(".")
        for end in range(len(parts), 0, -1):
            try:
                thing = importlib.import_module(".".join(parts[:end]))
                parts = parts[end:]
                break
            except ModuleNotFoundError as error:
                if error.name and not path.startswith(error.name):
                    raise
        else:
            raise ImportError(path)
    for part in parts:
        try:
            thing = getattr(thing, part)
        except (AttributeError, NotImplementedError):
            raise
        except Exception as error:
            return None  # a property that wants a running trainer
    return thing

found = []
for path, keyword in json.load(sys.stdin):
    try:
        thing = get(path)
        if keyword and thing is not None:
            parameters = inspect.signature(thing).parameters
            if keyword not in parameters:
                kinds = {each.kind for each in parameters.values()}
                found.append("kwargs" if inspect.Parameter.VAR_KEYWORD in kinds else "no such keyword")
                continue
        found.append("")
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
json.dump(found, sys.stdout)
"""


Question = tuple[str, str]  # what has to be there, and an argument that it has to take


def ask(questions: set[Question]) -> dict[Question, str]:
    """Return for each question what is wrong: nothing, ``kwargs``, ``no such keyword`` or an error."""
    ordered = sorted(questions)
    done = subprocess.run(
        [str(ORACLE), "-c", PROBE], input=json.dumps(ordered), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(ordered, json.loads(done.stdout.splitlines()[-1]), strict=True))


def lightning_class(name: str) -> str | None:
    """Return the path of a class of 2.6 by its name."""
    known = {
        row.old.rpartition(".")[2]: row
        for row in imports.rows()
        if row.kind == "name" and row.status == "kept"
    }
    row = known.get(name)
    return None if row is None else (row.home or row.new)


def questions_of(entry: catalogue.Entry) -> list[Question]:
    """What has to be there for an entry's replacement to be right."""
    instead = entry.lightning
    name, argument, action = instead.name, instead.argument, instead.action
    if "." in name and name.split(".")[0] in (
        "lightning",
        "lightning_fabric",
        "torch",
        "torchmetrics",
        "inspect",
    ):
        return [(name, argument)]
    if "." in name and entry.area is Area.IMPORT:
        return [(name, "")]
    if action == "entry-point":
        return [(f"lightning.pytorch.Trainer.{name}", argument)]
    if not name or action in ("none", "drop", "keep"):
        return []
    if entry.area in (Area.TRAINER_ARGUMENT, Area.TRAINER_VALUE):
        if action == "attribute":
            return [
                (
                    f"@LightningDataModule.{name}"
                    if name == "prepare_data_per_node"
                    else f"@LightningModule.{name}",
                    "",
                )
            ]
        return [("lightning.pytorch.Trainer", name)]
    if entry.area in (Area.MODULE_HOOK, Area.DATAMODULE_HOOK, Area.CALLBACK_HOOK):
        if name.startswith("trainer."):
            return [(f"@Trainer.{name.partition('.')[2]}", "")]
        if name == "get_metrics":
            return [("lightning.pytorch.callbacks.ProgressBar.get_metrics", "pl_module")]
        owner = "Callback" if name == "on_sanity_check_start" else entry.owner
        return [(f"@{owner}.{name}", "")]
    if entry.area is Area.TRAINER_ATTRIBUTE:
        return [(f"@Trainer.{name}", "")]
    if entry.area is Area.ENTRY_POINT_ARGUMENT:
        if name == "accumulate_grad_batches":
            return [("lightning.pytorch.Trainer", name)]
        owner = {"seed_everything": "", "Tuner": "tuner.Tuner."}.get(
            entry.owner.split(".")[0], f"{entry.owner.split('.')[0]}."
        )
        method = entry.owner.rpartition(".")[2]
        return [(f"lightning.pytorch.{owner}{method}", name)]
    if entry.area is Area.CONSTRUCTOR_ARGUMENT:
        if instead.text.startswith("Trainer("):
            return [("lightning.pytorch.Trainer", name)]
        owner = "Profiler" if entry.owner == "BaseProfiler" else entry.owner
        path = lightning_class(owner)
        assert path is not None, entry
        return [(path.replace("pytorch_lightning", "lightning.pytorch", 1), name)]
    return []


def kept() -> set[Question]:
    return {(row.new, "") for row in imports.rows() if row.status == "kept"}


def gone() -> set[Question]:
    statuses = ("moved", "renamed", "removed")
    return {(row.old, "") for row in imports.rows() if row.kind == "name" and row.status in statuses}


KNOWN_WRONG: set[Question] = {
    ("lightning.pytorch.Trainer", "gpus"),
    ("lightning.pytorch.callbacks.GPUStatsMonitor", ""),
    ("@Trainer.training_type_plugin", ""),
    ("@LightningModule.training_epoch_end", ""),
}


@pytest.fixture(scope="module")
def answers() -> dict[Question, str]:
    questions = KNOWN_WRONG | kept() | gone() | {(path, "") for path in (*NAMES, *FABRIC)}
    for entry in catalogue.entries():
        questions.update(questions_of(entry))
    return ask(questions)


def wrong(answers: dict[Question, str], questions: set[Question]) -> dict[Question, str]:
    return {
        question: answers[question]
        for question in questions
        if answers[question]
        and not question[0].startswith(tuple(ABSENT))
        and not (answers[question] == "kwargs" and question in THROUGH_KWARGS)
    }


def test_the_probe_can_say_no(answers) -> None:
    assert set(wrong(answers, KNOWN_WRONG)) == KNOWN_WRONG


@pytest.mark.parametrize("area", [area for area in Area if area not in (Area.DEFAULT, Area.PROJECT_FILE)])
def test_replacements_exist(answers, area: Area) -> None:
    questions: set[Question] = set()
    for entry in catalogue.entries(area):
        questions.update(questions_of(entry))
    assert len(questions) > 3
    assert wrong(answers, questions) == {}


def test_kept_paths_are_kept(answers) -> None:
    assert len(kept()) > 1300
    assert wrong(answers, kept()) == {}


def test_relights_names_have_a_lightning_twin(answers) -> None:
    # 2.6.6 keeps a stub of it in its module and no longer shows it beside the other loggers.
    stub = "lightning.pytorch.loggers.NeptuneLogger"
    assert answers[stub, ""]
    assert wrong(answers, {(path, "") for path in (*NAMES, *FABRIC) if path != stub}) == {}


def test_gone_paths_are_gone(answers) -> None:
    """What the table calls moved, removed or renamed cannot be imported from the old place."""
    assert len(gone()) > 600
    assert sorted(path for path, keyword in gone() if not answers[path, keyword]) == []
