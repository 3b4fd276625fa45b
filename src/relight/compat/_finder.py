"""Legacy import paths, served from the catalogue's table by a module finder.

``relight.compat`` has a virtual module for every module that a release from 0.7 to 2.6 had
(``relight.compat.callbacks.early_stopping``). It is made when it is first imported, and its names are looked
up when they are first asked for: compat's own object if there is one (:mod:`relight.compat._served`), else
the object that the catalogue names, in the core, in Lightning Fabric or in torchmetrics.

:func:`install` serves the same module objects under ``pytorch_lightning`` and ``lightning.pytorch`` too, also
when the real packages are installed.
"""

from __future__ import annotations

import dis
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from relight.compat import _absent, _facts, _served
from relight.compat._notices import notice

__all__ = ["install", "installed", "lookup", "names", "uninstall"]

OWN = "relight.compat"
_PACKAGE = str(Path(__file__).with_name("__init__.py"))
LEGACY = "pytorch_lightning"
# Roots that `install` takes over, with the legacy path that stands behind each.
ROOTS = {"pytorch_lightning": LEGACY, "lightning.pytorch": LEGACY}
FABRIC_ROOTS = {"lightning.fabric": "lightning_fabric", "lightning_lite": "lightning_fabric"}
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]
_KEPT = {"kept", "changed_meaning"}


class _Module(types.ModuleType):
    """A virtual module: its names are looked up in the catalogue when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return names(self.__name__)
        if (
            name.startswith("__")
            and name.endswith("__")
            and f"{_legacy(self.__name__)}.{name}" not in _served.SMALL
        ):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return lookup(self.__name__, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *names(self.__name__)})


def _legacy(own: str) -> str:
    return LEGACY + own[len(OWN) :]


def names(own: str) -> list[str]:
    """Return the names of a virtual module that lead somewhere and are no news: what ``import *`` gives."""
    found = []
    for name in _facts.names_in(_legacy(own)):
        path = f"{_legacy(own)}.{name}"
        before, here = _facts.on_lightning(path), _facts.on_relight(path)
        kept = before is None or before.status in _KEPT
        if not name.startswith("_") and kept and (_served.find(path) or (here is not None and here.new)):
            found.append(name)
    return found


def lookup(own: str, name: str) -> Any:
    """Return the object that the virtual module ``own`` has under ``name``.

    Raises:
        ImportError: In ``from … import name``, with the catalogue's advice, if nothing takes its place.
        AttributeError: Elsewhere, so that ``hasattr`` says no.
    """
    path = f"{_legacy(own)}.{name}"
    fact, served = _facts.on_relight(path), _served.find(path)
    value: Any
    if served is not None:
        value = _served.load(served)
    elif _facts.is_module(path) and not (fact is not None and fact.kind != "module" and fact.new):
        return importlib.import_module(f"{own}.{name}")
    elif fact is None:
        raise _missing(own, name, f"no release from 0.7 to 2.6 had `{path}`")
    elif fact.new is None and _absent.why(path) is not None:
        value = _absent.stands_in(path)
    elif fact.new is None:
        raise _missing(own, name, f"{fact.code} {fact.advice}")
    else:
        try:
            value = _served.load_path(fact.new)
        except ImportError as error:
            raise _missing(own, name, f"{fact.code} `{path}` is now `{fact.new}`: {error}") from error
    before = _facts.on_lightning(path)
    if before is not None and before.status not in _KEPT and before.code:
        new = fact.new if fact is not None and fact.new else ""
        advice = fact.advice if fact is not None and fact.new else before.advice
        notice(before.code, path, advice or f"`{path}` is now `{new}`")
    else:
        # Nothing to say about it: from now on it is an ordinary attribute.
        setattr(sys.modules[own], name, value)
    return value


def _missing(own: str, name: str, why: str) -> Exception:
    # `from m import x` would replace an AttributeError by a bare "cannot import name"; there the advice has
    # to travel in an ImportError. Everywhere else `hasattr` and `getattr` with a default want AttributeError.
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in (__file__, _PACKAGE):
        frame = frame.f_back
    code = frame.f_code.co_code
    if frame.f_lasti < len(code) and code[frame.f_lasti] == _IMPORT_FROM:
        return ImportError(f"cannot import name {name!r} from {own!r}: {why}", name=own)
    return AttributeError(f"module {own!r} has no attribute {name!r}: {why}")


class _Loader(importlib.abc.Loader):
    """Makes virtual modules; an alias gets the very module object of its own path."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        target = spec.loader_state
        if target is not None:
            # The import system returns what stands in sys.modules when this returns.
            sys.modules[spec.name] = importlib.import_module(target)


class _OwnFinder(importlib.abc.MetaPathFinder):
    """Serves virtual modules below ``relight.compat``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        # A submodule `__version__` would take the place of the package's attribute of that name.
        if not fullname.startswith(OWN + ".") or fullname == f"{OWN}.__version__":
            return None
        legacy = _legacy(fullname)
        if not _facts.is_module(legacy):
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(), origin="relight.compat", is_package=True)


class _AliasFinder(importlib.abc.MetaPathFinder):
    """Serves the roots that :func:`install` took over."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        own = self._target(fullname)
        if own is None:
            return None
        if own and importlib.util.find_spec(own) is None:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, _Loader(), origin="relight.compat", is_package=True)
        spec.loader_state = own or None
        return spec

    @staticmethod
    def _target(fullname: str) -> str | None:
        if fullname == "lightning":
            # `import lightning as L; L.Trainer`: the names of lightning.pytorch, as in the real package.
            return OWN
        for root, real in FABRIC_ROOTS.items():
            if fullname == root or fullname.startswith(root + "."):
                return real + fullname[len(root) :]
        for root in ROOTS:
            if fullname == root or fullname.startswith(root + "."):
                return OWN + fullname[len(root) :]
        return None


_own = _OwnFinder()
_alias = _AliasFinder()
_replaced: dict[str, types.ModuleType] = {}


def _taken() -> Iterator[str]:
    for name in list(sys.modules):
        if name in {"pytorch_lightning", "lightning", "lightning_lite"} or name.startswith(
            ("pytorch_lightning.", "lightning.", "lightning_lite.")
        ):
            yield name


def _is_real(name: str) -> bool:
    """Return whether a Lightning package of that name has been imported, and not just mentioned."""
    module = sys.modules.get(name)
    return (
        module is not None
        and getattr(module, "__file__", None) is not None
        and hasattr(module, "__version__")
    )


def serve_own() -> None:
    """Serve the modules below ``relight.compat`` (done when it is imported)."""
    if _own not in sys.meta_path:
        sys.meta_path.insert(0, _own)


class _Installed(AbstractContextManager["_Installed"]):
    """What :func:`install` returns: leaving its block takes the hook out again."""

    def __exit__(self, *details: object) -> None:
        uninstall()


def install() -> _Installed:
    """Serve ``pytorch_lightning``, ``lightning.pytorch`` and ``lightning`` from compat.

    Works also when the real packages are installed, but not once they are imported. May be used as a context
    manager. A second call changes nothing.

    Raises:
        RuntimeError: A real Lightning is imported already. Whoever imported it holds its classes, which are
            not those that compat would serve from then on: a model of the one in a Trainer of the other.
    """
    if _alias not in sys.meta_path:
        real = [name for name in ("pytorch_lightning", "lightning", "lightning_lite") if _is_real(name)]
        if real:
            where = getattr(sys.modules[real[0]], "__file__", None)
            raise RuntimeError(
                f"`{real[0]}` is imported already (from {where}), so relight.compat cannot take its place:"
                " call `relight.compat.install()` before the first import, or run the program with"
                " `python -m relight.compat`"
            )
        for name in _taken():
            _replaced[name] = sys.modules.pop(name)
        sys.meta_path.insert(0, _alias)
    return _Installed()


def uninstall() -> None:
    """Take back what :func:`install` did."""
    if _alias not in sys.meta_path:
        return
    sys.meta_path.remove(_alias)
    for name in list(_taken()):
        del sys.modules[name]
    sys.modules.update(_replaced)
    _replaced.clear()


def installed() -> bool:
    """Return whether :func:`install` is in force."""
    return _alias in sys.meta_path
