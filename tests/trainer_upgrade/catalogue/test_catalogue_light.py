"""The catalogue costs little: no heavy import, no table read before somebody asks for it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

HEAVY = ("torch", "libcst", "lightning_fabric", "pytorch_lightning", "lightning", "rich", "numpy", "csv")


def run(body: str) -> dict[str, object]:
    script = (
        textwrap.dedent(
            """
            import json, sys
            class Blocked:
                def find_spec(self, name, path=None, target=None):
                    if name.split(".")[0] in BLOCKED:
                        raise AssertionError("imported " + name)
            BLOCKED = set(json.loads(sys.argv[1]))
            sys.meta_path.insert(0, Blocked())
            """
        )
        + textwrap.dedent(body)
        + "\njson.dump(found, sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(HEAVY)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_import_reads_nothing() -> None:
    found = run(
        """
        import builtins, io
        from trainer_upgrade import catalogue
        from trainer_upgrade.catalogue import Area, Target
        found = {"modules": sorted(m for m in sys.modules if m.startswith("trainer_upgrade"))}
        """
    )
    assert found["modules"] == [
        "trainer_upgrade",
        "trainer_upgrade.catalogue",
        "trainer_upgrade.catalogue.entry",
    ]


def test_an_area_loads_only_itself() -> None:
    found = run(
        """
        from trainer_upgrade import catalogue
        assert catalogue.trainer_argument("gpus").code == "TRU101"
        found = {"modules": sorted(m for m in sys.modules if m.startswith("trainer_upgrade"))}
        """
    )
    assert "trainer_upgrade.catalogue.trainer_arguments" in found["modules"]
    for other in ("imports", "module_hooks", "data_tables", "translate"):
        assert f"trainer_upgrade.catalogue.{other}" not in found["modules"]


def test_everything_works_without_torch() -> None:
    found = run(
        """
        from trainer_upgrade import catalogue
        entries = list(catalogue.entries())
        fact = catalogue.resolve_import("pytorch_lightning.Trainer", catalogue.Target.RELIGHT)
        found = {"entries": len(entries), "new": fact.new}
        """
    )
    assert found == {"entries": found["entries"], "new": "relight.Trainer"}
    assert found["entries"] > 5000
