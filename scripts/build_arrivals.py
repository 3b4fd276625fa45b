"""Write the table of what came late: names of Lightning 2.6 that releases since 1.3 brought.

Reads the fact tables in ``tests/data/facts``; what the catalogue says may then be compared with a pin.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FACTS = ROOT / "tests" / "data" / "facts"
TABLE = ROOT / "codemods" / "trainer_upgrade" / "catalogue" / "data" / "arrivals.tsv"
# Packages whose names people import.
PUBLIC = {
    "pytorch_lightning",
    *(
        f"pytorch_lightning.{each}"
        for each in (
            "accelerators", "callbacks", "cli", "loggers", "plugins", "plugins.environments", "plugins.io",
            "plugins.precision", "profilers", "strategies", "tuner", "utilities", "utilities.combined_loader",
        )
    ),
}  # fmt: skip


def read(name: str) -> list[dict[str, str]]:
    with (FACTS / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def late(row: dict[str, str]) -> bool:
    return tuple(map(int, row["first"].split("."))) >= (1, 3) and row["last"] == "2.6"


def rows() -> Iterator[tuple[str, str, str, str]]:
    for row in read("trainer_args"):
        if late(row):
            yield "argument", "Trainer", row["arg"], row["first"]
    for row in read("entrypoint_args"):
        known = row["owner"] == "Trainer" and row["entrypoint"] in ("fit", "validate", "test", "predict")
        if known and late(row):
            yield "argument", f"Trainer.{row['entrypoint']}", row["arg"], row["first"]
    for table, owner in (("module_hooks", "LightningModule"), ("callback_hooks", "Callback")):
        for row in read(table):
            if late(row) and row["kind_last"] == "method":
                yield "hook", owner, row["name"], row["first"]
    for row in read("import_paths"):
        if row["old_module"] in PUBLIC and row["kind"] in ("class", "function") and late(row):
            yield "import", row["old_module"], row["name"], row["first"]


def main() -> None:
    lines = ["\t".join(("kind", "owner", "name", "first")), *("\t".join(row) for row in rows())]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} rows in {TABLE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
