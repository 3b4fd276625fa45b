"""Run Lightning's own tests on relight, from a checkout of Lightning that you bring.

    python scripts/lightning_suite.py CHECKOUT [TEST ...]                  # lightning.pytorch is relight
    python scripts/lightning_suite.py CHECKOUT --real --python PYTHON ...  # the same on a real Lightning

``CHECKOUT`` is the root of Lightning's repository at a 2.6 tag; nothing is fetched, nothing is written to it.
A test is a path below ``tests/tests_pytorch``; without one, the folders of :data:`FOLDERS` are run. A finder
serves ``lightning.pytorch`` from relight, by the catalogue's table of names, and ``lightning.fabric`` from
Lightning Fabric. What relight does not have (private parts of Lightning, mostly) is replaced by a stand-in
that raises when it is used, and is named in the report. ``Trainer`` takes Lightning's 41 arguments and hands
them to relight's by the function that the codemods use.

Failures that match a line of ``lightning_suite.tsv`` (a pattern of test names, a kind, a reason) are counted
by their kind. docs/lightning_suite.md has the last result.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
KNOWN = HERE.with_suffix(".tsv")
FOLDERS = (
    "models/test_hooks.py", "models/test_hparams.py", "models/test_restore.py", "models/test_cpu.py",
    "trainer/logging_", "trainer/optimization", "trainer/flags", "trainer/properties", "trainer/dynamic_args",
    "trainer/test_trainer.py", "trainer/test_dataloaders.py", "trainer/test_states.py",
    "trainer/test_config_validator.py", "callbacks", "checkpointing", "core", "loggers", "loops", "profilers",
    "tuner", "test_cli.py",
    "utilities/test_combined_loader.py", "utilities/test_seed.py", "utilities/test_grads.py",
    "utilities/test_compile.py", "utilities/test_dtype_device_mixin.py", "utilities/test_all_gather_grad.py",
)  # fmt: skip
#: Tests of files that are not in the repository, and of a logger that relight does not have.
LEFT_OUT = ("checkpointing/test_legacy_checkpoints.py", "loggers/test_litlogger.py")
ROOT = "lightning.pytorch"
#: Modules whose source is taken from the checkout: test helpers and switches that say what is installed.
FROM_CHECKOUT = {
    f"{ROOT}.demos", f"{ROOT}.demos.boring_classes", f"{ROOT}.utilities.testing",
    f"{ROOT}.utilities.testing._runif", f"{ROOT}.utilities.imports",
}  # fmt: skip
_touched: list[str] = []  # stand-ins that the running test used


class NotServed(Exception):
    """A test used a part of Lightning that relight does not have."""


class _StandInMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__dict__.get("_stand_in"):
            _touched.append(cls.__name__)
            raise NotServed(f"relight has no {cls.__name__}")
        return super().__call__(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(f"{cls.__name__}.{name}")

    def __bool__(cls) -> bool:
        return False


def stand_in(path: str) -> type:
    """Return a class that takes the place of ``path`` and raises when it is called."""
    _touched.append(path)
    return _StandInMeta(path, (), {"_stand_in": True, "__module__": "lightning_suite"})


def _table() -> dict[str, str]:
    from trainer_upgrade.catalogue.relight_names import FABRIC, NAMES

    return {**FABRIC, **NAMES}


_asked: set[str] = set()  # names that are being looked up: an alias must not ask itself


def _load(path: str) -> Any:
    if path in _asked:
        raise AttributeError(path)
    _asked.add(path)
    try:
        return _load_once(path)
    finally:
        _asked.discard(path)


def _load_once(path: str) -> Any:
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            value = getattr(value, name)
        return value
    raise AttributeError(path)


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class _Served(types.ModuleType):
    """A module of ``lightning.pytorch`` that relight has no module for: names are looked up one by one."""

    def __getattr__(self, name: str) -> Any:
        return _find(self.__name__, name)


def _find(module: str, name: str) -> Any:
    if name == "__version__":
        from relight.checkpoint import FORMAT_VERSION

        return FORMAT_VERSION
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    path = f"{module}.{name}"
    if path in (f"{ROOT}.Trainer", f"{ROOT}.trainer.Trainer", f"{ROOT}.trainer.trainer.Trainer"):
        return _trainer_class()
    if name in _OWN:
        return _OWN[name]
    if name in _ALIASES:
        return _load(_ALIASES[name])
    if available := re.fullmatch(r"_([A-Z0-9_]+)_AVAILABLE", name):
        from lightning_utilities.core.imports import RequirementCache

        return RequirementCache(available.group(1).lower().replace("_", "-"))
    table, rest = _table(), module[len(ROOT) :]
    candidates = [table.get(path), f"relight{rest}.{name}"]
    if not name.startswith("_"):
        # A public object in the module that defines it: the table has it where users import it from.
        candidates += [new for old, new in table.items() if old.rpartition(".")[2] == name]
    candidates += [f"lightning_fabric{rest}.{name}", f"relight.compat{rest}.{name}"]
    for candidate in candidates:
        if candidate is None:
            continue
        try:
            return _load(candidate)
        except (AttributeError, ImportError):
            continue
    if _in_checkout(path) is not None:
        return importlib.import_module(path)
    return stand_in(path)


class _Signals:
    """What Lightning's conftest asks for: the signals whose handlers it restores after a test."""

    @staticmethod
    def _valid_signals() -> set[int]:
        import signal

        return set(signal.valid_signals())


def _is_overridden(name: str, instance: object, parent: type | None = None) -> bool:
    """Ask relight; Lightning's function also guesses the parent."""
    import relight
    from relight.utilities.overrides import is_overridden

    parents = relight.LightningModule, relight.LightningDataModule, relight.Callback
    found = parent or next((each for each in parents if isinstance(instance, each)), None)
    if found is None:
        raise ValueError("Expected a parent")
    return is_overridden(name, instance, found)


_OWN: dict[str, Any] = {
    "_SignalConnector": _Signals,
    "is_overridden": _is_overridden,
    "_JSONARGPARSE_SIGNATURES_AVAILABLE": True,
}
#: Private names of classes whose results are public in Lightning.
_ALIASES = {"_LRFinder": "relight.tuner.LRFinder"}


def _in_checkout(name: str) -> Path | None:
    base = Path(os.environ["LIGHTNING_CHECKOUT"]) / "src" / Path(*name.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.exists():
            return path
    return None


class _Loader(importlib.abc.Loader):
    def __init__(self, target: str | None) -> None:
        self.target = target

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Served(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        if self.target is not None:
            real = importlib.import_module(self.target)
            name = module.__name__
            if name.startswith(ROOT):
                _extend(real, name)
            sys.modules[name] = real


def _extend(real: types.ModuleType, name: str) -> None:
    """Let a module of relight find what Lightning's ``name`` has besides."""
    own = real.__dict__.get("__getattr__")
    if getattr(own, "extends", False):
        return

    def find(attribute: str) -> Any:
        if own is not None:
            try:
                return own(attribute)
            except AttributeError:
                pass
        return _find(name, attribute)

    find.extends = True  # type: ignore[attr-defined]
    real.__getattr__ = find  # type: ignore[method-assign]


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name == "lightning":
            return importlib.machinery.ModuleSpec(name, _Loader(None), is_package=True)
        if name.startswith("lightning.fabric"):
            return self._alias(name, "lightning_fabric" + name[len("lightning.fabric") :])
        if not name.startswith(ROOT):
            return None
        source = _in_checkout(name)
        if name in FROM_CHECKOUT and source is not None:
            is_package = source.name == "__init__.py"
            return importlib.util.spec_from_file_location(
                name, source, submodule_search_locations=[str(source.parent)] if is_package else None
            )
        if name not in (ROOT, f"{ROOT}.trainer", f"{ROOT}.trainer.trainer", f"{ROOT}.utilities"):
            for own in (_table().get(name), f"relight{name[len(ROOT) :]}"):
                if own is not None and _is_module(own):
                    return self._alias(name, own)
            if name.startswith((f"{ROOT}.accelerators", f"{ROOT}.strategies", f"{ROOT}.plugins")):
                fabric = "lightning_fabric" + name[len(ROOT) :]
                if _is_module(fabric):
                    return self._alias(name, fabric)
        if source is None:
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(None), is_package=True)

    @staticmethod
    def _alias(name: str, own: str) -> Any:
        if not _is_module(own):
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(own), is_package=True)


_cached_trainer: list[type] = []


def _trainer_class() -> type:
    """Return a Trainer that takes the arguments of Lightning 2.6."""
    if _cached_trainer:
        return _cached_trainer[0]
    import relight
    from relight import callbacks as relight_callbacks
    from relight import plugins as relight_plugins
    from relight.utilities.exceptions import MisconfigurationException
    from trainer_upgrade.catalogue import Target, translate_trainer_arguments
    from trainer_upgrade.catalogue.translation.names import EVER, LIGHTNING, RELIGHT

    class Trainer(relight.Trainer):
        def __init__(self, **given: Any) -> None:
            translation = translate_trainer_arguments(given, target=Target.RELIGHT, legacy_version="2.6")
            known = EVER | LIGHTNING | RELIGHT
            if unknown := [name for name in given if name not in known]:
                raise TypeError(f"Trainer takes no arguments {unknown}")
            if translation.errors:
                raise MisconfigurationException("; ".join(error.message for error in translation.errors))
            constructor, options = dict(translation.constructor), translation.options
            for references, where, argument in (
                (translation.callbacks, relight_callbacks, "callbacks"),
                (translation.plugins, relight_plugins, "plugins"),
            ):
                if references:
                    before = constructor.get(argument)
                    before = before if isinstance(before, (list, tuple)) else [before] if before else []
                    made = [getattr(where, each.name)(**each.arguments) for each in references]
                    constructor[argument] = [*before, *made]
            for name, value in translation.torch.items():
                _set_torch(name, value)
            super().__init__(**constructor, options=options)
            # What tests use to get a Trainer into a state without running it, or to look at it.
            self._data_connector = self._checkpoint_connector = self
            self._accelerator_connector = types.SimpleNamespace(is_distributed=self.world_size > 1)
            loop = self.fit_loop.epoch_loop
            optimizer = types.SimpleNamespace(optimizer=loop.optim_progress)
            loop.automatic_optimization = types.SimpleNamespace(optim_progress=optimizer)
            loop.manual_optimization = types.SimpleNamespace(optim_step_progress=loop.manual_progress)
            self.strategy.connect = self._connect

        def dump_checkpoint(self, weights_only: bool = False) -> Any:
            from relight import checkpoint

            self._hooks = self._hooks or self._make_hooks()
            return checkpoint.dump(self, weights_only)

        def save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
            if self._module is not None and self._hooks is None:
                self._hooks = self._make_hooks()
            super().save_checkpoint(*args, **kwargs)

        def _parse_ckpt_path(
            self, fn: Any, ckpt_path: Any, model_provided: bool, model_connected: bool
        ) -> Any:
            from relight.trainer import restore

            return restore.select_path(self, fn, ckpt_path, model_provided)

        def hpc_save_path(self, folder: Any) -> str:
            from relight.trainer import signals

            last = signals.last_hpc_file(os.fspath(folder))
            return os.path.join(folder, f"hpc_ckpt_{(last[0] if last else 0) + 1}.ckpt")

        def _connect(self, model: Any) -> None:
            self._module = model
            model.trainer = self

        def attach_datamodule(self, model: Any, datamodule: Any = None) -> None:
            self.attach_data(model, datamodule=datamodule)

        def attach_data(self, model: Any, datamodule: Any = None, **loaders: Any) -> None:
            from relight.trainer.run import _attach_data

            given = {name.partition("_")[0]: value for name, value in loaders.items()}
            given = {name: given.get(name) for name in ("train", "val", "test", "predict")}
            self._connect(model)
            _attach_data(self, model, given, datamodule)

        attach_dataloaders = attach_data

    Trainer.__module__, Trainer.__qualname__ = f"{ROOT}.trainer.trainer", "Trainer"
    _cached_trainer.append(Trainer)
    return Trainer


def _set_torch(name: str, value: Any) -> None:
    import torch

    if name.startswith("environ."):
        os.environ[name.partition(".")[2]] = str(value)
    elif name == "use_deterministic_algorithms":
        torch.use_deterministic_algorithms(bool(value), warn_only=value == "warn")
    else:
        owner: Any = torch
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        setattr(owner, last, value)


# The pytest plugin


def _install() -> None:
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


if os.environ.get("LIGHTNING_CHECKOUT") and not os.environ.get("LIGHTNING_SUITE_REAL"):
    _install()


def _one_class() -> None:
    """Let tests that take a warning or an exception from Fabric see relight's own."""
    import lightning_fabric.utilities.exceptions
    import lightning_fabric.utilities.warnings

    from relight.utilities.exceptions import MisconfigurationException
    from relight.utilities.rank_zero import PossibleUserWarning

    lightning_fabric.utilities.warnings.PossibleUserWarning = PossibleUserWarning
    lightning_fabric.utilities.exceptions.MisconfigurationException = MisconfigurationException


def _imitate() -> None:
    """Give relight the private names that tests of public things patch or read."""
    import contextlib

    import lightning_fabric.utilities.throughput as fabric

    from relight.callbacks import ModelPruning, throughput_monitor
    from relight.loggers import mlflow as relight_mlflow

    # Fixtures replace these by name, after which the modules are not imported any more.
    for name in ("wandb", "mlflow", "comet"):
        importlib.import_module(f"{ROOT}.loggers.{name}")
    with contextlib.suppress(ImportError):  # fixtures put mocks above these
        import mlflow.tracking.context.registry
        import mlflow.utils.mlflow_tags  # noqa: F401

    def client(logger: Any) -> Any:
        from mlflow.tracking import MlflowClient

        return logger._client or MlflowClient()

    relight_mlflow.MLFlowLogger._mlflow_client = property(  # type: ignore[attr-defined]
        client, lambda logger, value: setattr(logger, "_client", value)
    )
    relight_mlflow.MLFlowLogger._initialized = property(  # type: ignore[attr-defined]
        lambda logger: logger._client is not None
    )
    ModelPruning._is_pruning_method = staticmethod(  # type: ignore[attr-defined]
        lambda method: isinstance(method, type)
    )
    # relight imports it when it needs it; tests replace it in the module that uses it.
    flops = throughput_monitor.get_available_flops = fabric.get_available_flops  # type: ignore[attr-defined]
    fabric.get_available_flops = lambda *args: (
        flops(*args)
        if throughput_monitor.get_available_flops is flops  # type: ignore[attr-defined]
        else throughput_monitor.get_available_flops(*args)  # type: ignore[attr-defined]
    )


def pytest_configure(config: Any) -> None:
    """Let what is raised or warned be compared by type alone: relight words its own messages."""
    if not os.environ.get("LIGHTNING_SUITE_REAL"):
        _one_class()
        _imitate()
    if not os.environ.get("LIGHTNING_SUITE_WORDING"):
        import pytest

        for name in ("raises", "warns"):
            original = getattr(pytest, name)
            setattr(pytest, name, lambda *a, _o=original, match=None, **k: _o(*a, **k))


def pytest_runtest_setup(item: Any) -> None:
    """Forget which stand-ins the last test used."""
    _touched.clear()


def pytest_collectreport(report: Any) -> None:
    """Write a line for each file that cannot be imported."""
    if report.failed:
        report.when, report.duration = "collect", 0.0
        pytest_runtest_logreport(report)


def pytest_runtest_logreport(report: Any) -> None:
    """Write a line for each test."""
    path = os.environ.get("LIGHTNING_SUITE_REPORT")
    if path is None or (report.when != "call" and report.passed):
        return
    crash = getattr(report.longrepr, "reprcrash", None)
    row = {
        "test": report.nodeid.partition("tests_pytorch/")[2],
        "outcome": report.outcome if not hasattr(report, "wasxfail") else "skipped",
        "when": report.when,
        "message": crash.message[:2000]
        if crash is not None
        else str(report.longrepr)[:2000]
        if report.longrepr
        else "",
        "where": f"{crash.path}:{crash.lineno}" if crash is not None else "",
        "stand_ins": sorted(set(_touched)),
        "seconds": round(report.duration, 2),
    }
    with open(path, "a") as file:
        file.write(json.dumps(row) + "\n")


# The runner


def known() -> list[tuple[str, str, str]]:
    """Return the known failures: pattern, kind, reason."""
    if not KNOWN.exists():
        return []
    lines = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    return [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    worst: dict[str, dict[str, Any]] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        if row["test"] not in worst or row["outcome"] == "failed":
            worst[row["test"]] = row
    yield from worst.values()


def _kind_of(message: str) -> str | None:
    """Tell from the message of a failure whether it is about what relight does not have."""
    if found := re.search(r"(?:NotServed: relight has no|has no attribute) ['\"]?([\w.]+)", message):
        private = any(part.startswith("_") for part in found[1].split("."))
        return "private" if private else "absent" if "NotServed" in message else None
    return "absent" if "is not part of relight" in message else None


def summary(report: Path) -> tuple[str, list[dict[str, Any]]]:
    """Return a table by folder, and the failures that nothing explains."""
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    open_failures, patterns = [], known()
    for row in _rows(report):
        test, outcome = row["test"], row["outcome"]
        folder = test.partition("::")[0]
        folder = (
            str(Path(folder).parent) if Path(folder).parent.name not in ("models", "utilities") else folder
        )
        if outcome == "failed":
            kind = next((kind for pattern, kind, _ in patterns if fnmatch.fnmatchcase(test, pattern)), None)
            kind = kind or _kind_of(row["message"])
            outcome = kind or "failed"
            if kind is None:
                open_failures.append(row)
        table[folder][outcome] += 1
    kinds = sorted({kind for counter in table.values() for kind in counter} - {"passed", "failed", "skipped"})
    columns = ["passed", "failed", "skipped", *kinds]
    lines = ["| folder | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    total: collections.Counter[str] = collections.Counter()
    for folder, counter in sorted(table.items()):
        lines.append(f"| {folder} | " + " | ".join(str(counter[c]) for c in columns) + " |")
        total.update(counter)
    lines.append("| all | " + " | ".join(str(total[c]) for c in columns) + " |")
    return "\n".join(lines), open_failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests, print a table, and return 1 if a failure is not known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="root of Lightning's repository at a 2.6 tag")
    parser.add_argument("tests", nargs="*", help="paths below tests/tests_pytorch")
    parser.add_argument("--real", action="store_true", help="do not serve lightning from relight")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the tests")
    parser.add_argument("--wording", action="store_true", help="compare what messages say, too")
    parser.add_argument("--report", type=Path, help="keep the result of each test here, a line of JSON each")
    parser.add_argument("--pytest", default="", help="further arguments for pytest, in one text")
    options = parser.parse_intermixed_args(arguments)
    folder = tempfile.TemporaryDirectory()
    report = (options.report or Path(folder.name, "report.jsonl")).absolute()
    report.unlink(missing_ok=True)
    checkout = options.checkout.absolute()
    environment = {
        **os.environ,
        "LIGHTNING_CHECKOUT": str(checkout),
        "LIGHTNING_SUITE_REPORT": str(report),
        "RELIGHT_COMPAT": "ignore",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")])),
    }
    for name, on in (("REAL", options.real), ("WORDING", options.wording)):
        environment.pop(f"LIGHTNING_SUITE_{name}", None)
        if on:
            environment[f"LIGHTNING_SUITE_{name}"] = "1"
    tests = [
        f"tests_pytorch/{test}" for test in options.tests or FOLDERS
        if (checkout / "tests/tests_pytorch" / test.partition("::")[0]).exists()
    ]  # fmt: skip
    command = [
        options.python, "-m", "pytest", "-p", "lightning_suite", "-p", "no:cacheprovider", "-q", "--tb=short",
        "--continue-on-collection-errors", *(f"--ignore=tests_pytorch/{path}" for path in LEFT_OUT),
        *options.pytest.split(), *tests,
    ]  # fmt: skip
    if not options.real:  # processes that a test starts need the finder, too
        Path(folder.name, "sitecustomize.py").write_text("import lightning_suite\n")
        environment["PYTHONPATH"] += os.pathsep + folder.name
    subprocess.run(command, cwd=checkout / "tests", env=environment, check=False)
    table, failures = summary(report)
    print(table)
    for row in failures:
        print(f"{row['test']}\n    {row['message'].splitlines()[0] if row['message'] else ''}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
