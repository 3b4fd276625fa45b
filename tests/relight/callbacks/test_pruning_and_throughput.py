"""Pruning and throughput: numbers of Lightning 2.6.6 (see pruning_scenarios.py), and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from golden_values import same
from relight.callbacks.pruning import ModelPruning
from relight.utilities.exceptions import MisconfigurationException

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden" / "callbacks"


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text())["data"]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Any:
    sys.path.insert(0, str(HERE))
    try:
        import callback_scenarios
        import pruning_scenarios
    finally:
        sys.path.remove(str(HERE))
    dialect = callback_scenarios.Dialect("relight")

    def fresh(name: str) -> str:
        return str(tmp_path_factory.mktemp(name))

    result = {
        "pruning": pruning_scenarios.run_pruning(dialect, fresh),
        "throughput": pruning_scenarios.run_throughput(dialect, fresh),
    }
    return json.loads(json.dumps(result))


@pytest.mark.parametrize("name", sorted(golden("pruning")))
def test_prunes_as_lightning(name: str, ours: Any) -> None:
    assert same(ours["pruning"][name], golden("pruning")[name])


@pytest.mark.parametrize("name", sorted(golden("throughput")))
def test_measures_as_lightning(name: str, ours: Any) -> None:
    assert same(ours["throughput"][name], golden("throughput")[name])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pruning_fn": "l3"}, "torch has ln_structured"),
        ({"pruning_fn": torch.nn.utils.prune.L1Unstructured(0.1)}, "the class, not an instance"),
        ({"pruning_fn": "ln_structured", "use_global_unstructured": False}, "pruning_dim"),
        ({"pruning_fn": "ln_structured", "use_global_unstructured": False, "pruning_dim": 0}, "pruning_norm"),
        ({"pruning_fn": "random_structured", "pruning_dim": 0}, "use_global_unstructured=False"),
        ({"pruning_fn": torch.nn.utils.prune.L1Unstructured, "use_global_unstructured": False}, "=True"),
        ({"pruning_fn": "l1_unstructured", "parameter_names": ["gain"]}, "gain"),
        ({"pruning_fn": "l1_unstructured", "amount": "half"}, "amount"),
        ({"pruning_fn": "l1_unstructured", "verbose": 3}, "verbose"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(MisconfigurationException, match=message):
        ModelPruning(**arguments)


def test_parameters_that_the_model_does_not_have() -> None:
    model: Any = torch.nn.Sequential(torch.nn.Linear(1, 1))
    for wrong in ([(torch.nn.Linear(1, 1), "weight")], [(model[0], "gain")]):
        with pytest.raises(MisconfigurationException, match="does not have Linear"):
            ModelPruning.sanitize_parameters_to_prune(model, wrong)
    with pytest.raises(MisconfigurationException, match="pairs"):
        ModelPruning.sanitize_parameters_to_prune(model, [model[0]])  # type: ignore[list-item]
