"""``--compat-only``: nothing but the import root changes, to ``relight.compat``: the smallest first step.

Before::

    import pytorch_lightning as pl
    from pytorch_lightning.callbacks import EarlyStopping

After::

    import relight.compat as pl
    from relight.compat.callbacks import EarlyStopping

Compat has every path that a release from 0.7 to 1.9 had, so all else stays as it is and runs as before.
This rule is no part of an ordinary run. As everywhere, all imports go or none does: where one cannot, it
is reported, and the others wait for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.findings import Edit, Finding, Fix
from trainer_upgrade.project.canonical import root_of
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules.registry import Handler, Rule

__all__ = ["COMPAT_ONLY", "renamed"]

_LEGACY = ("pytorch_lightning", "lightning.pytorch", "lightning")
_COMPAT = "relight.compat"
_CODE = "TRU334"
# Packages of `lightning` that compat does not stand for.
_ELSEWHERE = ("fabric", "app", "data")


def renamed(dotted: str) -> str | None:
    """Return a path of Lightning under ``relight.compat``; ``None`` for what is not Lightning's Trainer
    part."""
    root = root_of(dotted)
    if root not in _LEGACY:
        return None
    rest = dotted[len(root) :]
    return None if root == "lightning" and rest[1:].split(".")[0] in _ELSEWHERE else _COMPAT + rest


def _from(node: ast.ImportFrom, file: FileContext) -> Iterator[Finding]:
    if node.level or node.module is None or root_of(node.module) not in _LEGACY:
        return
    if file.project.find(node.module, file.module) is not None:
        return
    reason = _why_not_from(node)
    waits = _waits(file)
    if reason or waits:
        yield _stays(node, file, reason or waits)
        return
    new = renamed(node.module)
    assert new is not None
    start = file.span(node)[0] + len("from")
    at = file.source.index(node.module, start)
    fix = Fix(Applicability.SAFE, f"import from {new}", (Edit(at, at + len(node.module), new),))
    yield file.finding(_CODE, node, f"`{node.module}` is served by `{new}`", fix, silent=False)


def _import(node: ast.Import, file: FileContext) -> Iterator[Finding]:
    mine = [alias for alias in node.names if root_of(alias.name) in _LEGACY]
    if not mine or file.project.find(mine[0].name, file.module) is not None:
        return
    reason = _why_not_import(node, file)
    waits = _waits(file)
    if reason or waits:
        yield _stays(node, file, reason or waits)
        return
    names = []
    for alias in node.names:
        new = renamed(alias.name)
        if new is None:
            names.append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
        elif alias.asname:
            names.append(f"{new} as {alias.asname}")
        else:  # `import pytorch_lightning.callbacks` binds the package, which reaches everything in it
            names.append(f"{_COMPAT} as {alias.name.split('.')[0]}")
    text = "import " + ", ".join(dict.fromkeys(names))
    fix = Fix(Applicability.SAFE, text, (file.edit(node, text),))
    yield file.finding(_CODE, node, f"`{mine[0].name}` is served by `{_COMPAT}`", fix, silent=False)


def _string(node: ast.Constant, file: FileContext) -> Iterator[Finding]:
    """``mock.patch("pytorch_lightning.Trainer.fit")`` and
    ``import_module("pytorch_lightning.callbacks")``."""
    value = node.value
    if not isinstance(value, str) or not value.startswith(("pytorch_lightning", "lightning.pytorch")):
        return
    new = renamed(value) if value.replace(".", "_").isidentifier() else None
    if new is None or not isinstance(file.parent(node), (ast.Call, ast.Dict, ast.keyword)) or _waits(file):
        return
    start, end = file.span(node)
    text = file.source[start:end]
    if value not in text:
        return
    at = start + text.index(value)
    fix = Fix(Applicability.UNSAFE, f'say "{new}"', (Edit(at, at + len(value), new),))
    yield file.finding(_CODE, node, f'the path "{value}" is "{new}" on compat', fix, silent=False)


def _stays(node: ast.stmt, file: FileContext, reason: str) -> Finding:
    return file.finding(_CODE, node, f"`{ast.unparse(node)[:60]}` stays: {reason}", silent=False)


def _why_not_from(node: ast.ImportFrom) -> str:
    if any(alias.name == "*" for alias in node.names):
        return "what * brings cannot be seen"
    if node.module == "lightning":
        gone = [alias.name for alias in node.names if alias.name in ("pytorch", *_ELSEWHERE)]
        if gone:
            return f"`lightning.{gone[0]}` is a package of its own: import from it directly"
    return "" if renamed(node.module or "") else "compat stands for `lightning.pytorch` only"


def _why_not_import(node: ast.Import, file: FileContext) -> str:
    for alias in node.names:
        if root_of(alias.name) not in _LEGACY:
            continue
        if renamed(alias.name) is None:
            return "compat stands for `lightning.pytorch` only"
        name = alias.asname or alias.name.split(".")[0]
        if name == "lightning" and not alias.asname and alias.name.startswith("lightning.pytorch"):
            return "give it a name: import lightning.pytorch as pl"
        if root_of(alias.name) == "lightning" and _reaches_in(name, file):
            return f"`{name}.pytorch` and its like are packages of their own: import them directly"
    return ""


def _reaches_in(name: str, file: FileContext) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("pytorch", *_ELSEWHERE)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        for node in file.nodes
    )


def _waits(file: FileContext) -> str:
    """Return which place keeps the whole project where it is; empty if none does."""
    known = file.project.memo.get("compat-only")
    if not isinstance(known, str):
        known = file.project.memo["compat-only"] = _anchor(file)
    return f"{known} cannot go, and all go or none does" if known else ""


def _anchor(file: FileContext) -> str:
    for module in file.project.relevant_modules():
        other = file if module.path == file.module.path else FileContext(module, file.project)
        for node in other.nodes:
            reason = ""
            if isinstance(node, ast.ImportFrom) and not node.level and root_of(node.module or "") in _LEGACY:
                reason = _why_not_from(node)
            elif isinstance(node, ast.Import):
                reason = _why_not_import(node, other)
            if reason:
                return f"{module.path.name}:{getattr(node, 'lineno', 1)}"
    return ""


_HANDLERS: list[tuple[tuple[type[ast.AST], ...], Handler]] = [
    ((ast.ImportFrom,), _from),
    ((ast.Import,), _import),
    ((ast.Constant,), _string),
]
#: The one rule of ``--compat-only``.
COMPAT_ONLY = Rule("compat-only", __name__, lambda: _HANDLERS)
