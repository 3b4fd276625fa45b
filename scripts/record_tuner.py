"""Record what real Lightning 2.6 does in the Tuner's scenarios, as golden data for the tests.

usage: <python with lightning 2.6.6> scripts/record_tuner.py

Writes tests/golden/tuner.json.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "relight" / "tuner"))

import tuner_scenarios as scenarios  # noqa: E402


def main() -> None:
    logging.disable(logging.ERROR)
    dialect = scenarios.Dialect("lightning.pytorch")
    with tempfile.TemporaryDirectory() as directory:
        recorded = scenarios.run_all(dialect, lambda: tempfile.mkdtemp(dir=directory))
    data = {"lightning": dialect.pl.__version__, "data": recorded}
    out = ROOT / "tests" / "golden" / "tuner.json"
    out.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    print(f"recorded {len(recorded)} searches from Lightning {dialect.pl.__version__}")


if __name__ == "__main__":
    main()
