"""Record what real Lightning 2.6 does in the callback scenarios, as golden data for the tests.

usage: <python with lightning 2.6.6> scripts/record_callbacks.py

Writes tests/golden/callbacks/*.json. Run it again after a change to the scenarios; a change of the recorded
data without one means that the oracle has changed.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "relight" / "callbacks"))

import averaging_scenarios as averaging  # noqa: E402
import callback_scenarios as scenarios  # noqa: E402
import pruning_scenarios as pruning  # noqa: E402


def main() -> None:
    logging.disable(logging.WARNING)
    dialect = scenarios.Dialect("lightning.pytorch")
    with tempfile.TemporaryDirectory() as directory:
        # The real path: on some systems the temporary directory is a link.
        base = Path(directory).resolve()
        recorded = scenarios.run_all(dialect, base)

        def fresh(name: str) -> str:
            (base / name).mkdir()
            return str(base / name)

        recorded["averaging"] = averaging.run_averaging(dialect, fresh)
        recorded["pruning"] = pruning.run_pruning(dialect, fresh)
        recorded["throughput"] = pruning.run_throughput(dialect, fresh)
    text = json.dumps(recorded, indent=1, sort_keys=True)
    if tempfile.gettempdir() in text:
        raise SystemExit("a path of this machine got into the data")
    out = ROOT / "tests" / "golden" / "callbacks"
    out.mkdir(parents=True, exist_ok=True)
    for name, data in recorded.items():
        (out / f"{name}.json").write_text(
            json.dumps({"lightning": dialect.pl.__version__, "data": data}, indent=1, sort_keys=True) + "\n"
        )
    print(f"recorded {', '.join(recorded)} from Lightning {dialect.pl.__version__}")


if __name__ == "__main__":
    main()
