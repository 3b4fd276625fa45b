"""Which expressions are instances of Lightning classes, what is known of classes, where Trainers go."""

from __future__ import annotations

import ast
import textwrap

import pytest

from trainer_upgrade.project.classes import ClassInfo
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.project.uses import TrainerUses
from trainer_upgrade.testing import context

HEAD = "import pytorch_lightning as pl\nimport copy, functools\nfrom typing import Annotated, Generic, Optional, Union\nfrom functools import partial\n"


def marked(file: FileContext) -> ast.expr:
    (call,) = [n for n in file.nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "here"]
    return call.args[0]


def instance(source: str, files: dict[str, str] | None = None, path: str = "example.py") -> str | None:
    with context(HEAD + textwrap.dedent(source), files=files, path=path) as file:
        return file.instance_of(marked(file))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("here(pl.Trainer())", "Trainer"),
        ("t = pl.Trainer()\nhere(t)", "Trainer"),
        ("t = None\nif x:\n    t = pl.Trainer()\nhere(t)", "Trainer"),
        ("t = pl.Trainer() if x else None\nhere(t)", "Trainer"),
        ("t = given or pl.Trainer()\nhere(t)", None),
        ("t: pl.Trainer = make()\nhere(t)", "Trainer"),
        ("t: pl.Trainer\nhere(t)", "Trainer"),
        ("t = pl.Trainer()\nt = other()\nhere(t)", None),
        ("t = other()\nt = pl.Trainer()\nhere(t)", "Trainer"),
        ("here(t := pl.Trainer())", "Trainer"),
        ("here(pl.Trainer.from_argparse_args(a))", "Trainer"),
        ("here(pl.Trainer)", None),
        ("make = partial(pl.Trainer, gpus=1)\nhere(make())", "Trainer"),
        ("make = functools.partial(partial(pl.Trainer), gpus=1)\nhere(make())", None),
        ("a = partial(pl.Trainer)\nb = partial(a, x=1)\nhere(b())", "Trainer"),
        ("here(copy.deepcopy(pl.Trainer()))", "Trainer"),
        ("here(pl.callbacks.ModelCheckpoint())", "ModelCheckpoint"),
        ("class N(pl.LightningModule): ...\nhere(N())", "LightningModule"),
        ("class N(pl.LightningModule): ...\nhere(N.load_from_checkpoint(p))", "LightningModule"),
        ("class N(pl.LightningModule): ...\nhere(N().to(d).eval())", "LightningModule"),
        ("class N(pl.LightningModule): ...\nhere(N().trainer)", "Trainer"),
        ("class S(pl.callbacks.EarlyStopping): ...\nhere(S())", "EarlyStopping"),
        ("class N: ...\nhere(N())", None),
        ("def f(t: pl.Trainer): here(t)", "Trainer"),
        ("def f(t: 'pl.Trainer'): here(t)", "Trainer"),
        ("def f(t: Optional[pl.Trainer]): here(t)", "Trainer"),
        ("def f(t: 'Optional[pl.Trainer]' = None): here(t)", "Trainer"),
        ("def f(t: pl.Trainer | None): here(t)", "Trainer"),
        ("def f(t: Union[pl.Trainer, None]): here(t)", "Trainer"),
        ("def f(t: Union[pl.Trainer, int]): here(t)", None),
        ("def f(t: Annotated[pl.Trainer, 1]): here(t)", "Trainer"),
        ("def f(t: list[pl.Trainer]): here(t)", None),
        ("def f(trainer): here(trainer)", None),
        ("here(pl.Trainer().lightning_module)", "LightningModule"),
        ("def f():\n    return pl.Trainer()\nhere(f())", "Trainer"),
        ("def f():\n    t = pl.Trainer()\n    return t\nhere(f())", "Trainer"),
        ("def f() -> pl.Trainer: ...\nhere(f())", "Trainer"),
        ("def f():\n    if x:\n        return None\n    return pl.Trainer()\nhere(f())", "Trainer"),
        ("def f():\n    if x:\n        return 1\n    return pl.Trainer()\nhere(f())", None),
        ("def f():\n    yield 1\n    return pl.Trainer()\nhere(f())", None),
        ("def f():\n    def g(): return 1\n    return pl.Trainer()\nhere(f())", "Trainer"),
        ("def f(): return f()\nhere(f())", None),
        ("async def f(): return pl.Trainer()\nhere(f())", None),
    ],
)
def test_instances(source: str, expected: str | None) -> None:
    assert instance(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class N(pl.LightningModule):\n    def f(self): here(self)", "LightningModule"),
        ("class N(pl.LightningModule):\n    def f(self): here(self.trainer)", "Trainer"),
        ("class D(pl.LightningDataModule):\n    def f(self): here(self.trainer)", "Trainer"),
        ("class D(pl.LightningDataModule):\n    def f(self): here(self.trainer.model)", "LightningModule"),
        ("class C(pl.Callback):\n    def f(self): here(self.trainer)", None),
        ("class C(pl.Callback):\n    def on_x(self, trainer, pl_module): here(trainer)", "Trainer"),
        ("class C(pl.Callback):\n    def on_x(self, trainer, pl_module): here(pl_module)", "LightningModule"),
        ("class C(pl.Callback):\n    def on_x(self, trainer, pl_module): here(pl_module.trainer)", "Trainer"),
        ("class C:\n    def on_x(self, trainer, pl_module): here(trainer)", "Trainer"),
        ("class C:\n    def on_x(self, trainer): here(trainer)", None),
        ("class C(pl.Callback):\n    def on_x(self, trainer: str): here(trainer)", None),
        ("class N(pl.LightningModule):\n    @staticmethod\n    def f(self): here(self)", None),
        ("class N(pl.LightningModule):\n    @classmethod\n    def f(cls): here(cls())", "LightningModule"),
        ("class R:\n    def __init__(self): self.t = pl.Trainer()\n    def f(self): here(self.t)", "Trainer"),
        ("class R:\n    def __init__(self): self.t = pl.Trainer()\nhere(R().t)", "Trainer"),
        (
            "class R:\n    def __init__(self, t): self.t = pl.Trainer()\n    def g(self): self.t = 1\n    def f(self): here(self.t)",
            None,
        ),
        ("class R:\n    t: pl.Trainer\n    def f(self): here(self.t)", "Trainer"),
        ("class R:\n    t = pl.Trainer()\nhere(R.t)", "Trainer"),
        ("class R:\n    def mk(self): return pl.Trainer()\n    def f(self): here(self.mk())", "Trainer"),
        (
            "class R:\n    @property\n    def t(self): return pl.Trainer()\n    def f(self): here(self.t)",
            "Trainer",
        ),
        ("class R:\n    def t(self): return pl.Trainer()\n    def f(self): here(self.t)", None),
        (
            "class N(pl.LightningModule):\n    def __init__(self, t): self.trainer = t\n    def f(self): here(self.trainer)",
            None,
        ),
        ("class N(pl.LightningModule):\n    def f(self):\n        def g(): here(self.trainer)", "Trainer"),
        ("class M:\n    def f(self): here(self.trainer)\nclass N(M, pl.LightningModule): ...", "Trainer"),
        ("class M:\n    def f(self): here(self.trainer)\nclass N(M): ...", None),
    ],
)
def test_self_and_attributes(source: str, expected: str | None) -> None:
    assert instance(source) == expected


@pytest.mark.parametrize(
    ("files", "source"),
    [
        (
            {"lib.py": "import pytorch_lightning as pl\ndef mk():\n    return pl.Trainer()\n"},
            "from lib import mk\nhere(mk())",
        ),
        (
            {"lib.py": "import pytorch_lightning as pl\ntrainer = pl.Trainer()\n"},
            "from lib import trainer\nhere(trainer)",
        ),
        (
            {"lib.py": "import pytorch_lightning as pl\ntrainer = pl.Trainer()\n"},
            "import lib\nhere(lib.trainer)",
        ),
        (
            {
                "lib.py": "import pytorch_lightning as pl\nclass Base:\n    def setup(self):\n        self.t = pl.Trainer()\n"
            },
            "import lib\nclass R(lib.Base):\n    def f(self): here(self.t)",
        ),
    ],
)
def test_trainers_of_other_files(files: dict[str, str], source: str) -> None:
    assert instance(source, files) == "Trainer"


def info(source: str, name: str = "X", files: dict[str, str] | None = None) -> ClassInfo:
    with context(HEAD + textwrap.dedent(source), files=files) as file:
        nodes = [n for n in file.nodes if isinstance(n, ast.ClassDef) and n.name == name]
        found = file.class_info(nodes[0])
        found.subclasses()
        return found


@pytest.mark.parametrize(
    ("source", "kind", "known"),
    [
        ("class X(pl.LightningModule): ...", "LightningModule", True),
        ("class X(pl.Callback): ...", "Callback", True),
        ("class X(pl.callbacks.EarlyStopping): ...", "Callback", True),
        ("class X(pl.Trainer): ...", "Trainer", True),
        ("class X(pl.loggers.TensorBoardLogger): ...", "Logger", True),
        ("class X: ...", None, True),
        ("class X(object): ...", None, True),
        ("class X(unknown.Base): ...", None, False),
        ("class X(unknown.Base, pl.LightningModule): ...", "LightningModule", False),
        ("class X(make()): ...", None, False),
        ("class X(pl.LightningModule, Generic[T]): ...", "LightningModule", True),
        ("class B(pl.LightningModule): ...\nclass X(B): ...", "LightningModule", True),
        ("class X(X): ...", None, False),
    ],
)
def test_kinds(source: str, kind: str | None, known: bool) -> None:
    found = info(source)
    assert (found.kind, found.known) == (kind, known)


def test_methods_through_files_and_mixins() -> None:
    files = {
        "pkg/__init__.py": "from .base import Base\n",
        "pkg/base.py": "import pytorch_lightning as pl\nclass Base(pl.LightningModule):\n    def a(self): ...\n    def b(self): ...\n",
        "pkg/mixin.py": "class Mixin:\n    def b(self): ...\n",
    }
    found = info(
        "from pkg import Base\nfrom pkg.mixin import Mixin\nclass X(Mixin, Base): ...\nclass Y(X): ...",
        "X",
        files,
    )
    assert found.kind == "LightningModule"
    assert found.known
    assert found.bases == ("pkg.mixin.Mixin", "pkg.base.Base")
    owners = {name: found.find_method(name) for name in "abc"}
    assert owners["a"] is not None
    assert owners["a"][0].name == "Base"
    assert owners["b"] is not None
    assert owners["b"][0].name == "Mixin"
    assert owners["c"] is None


def test_subclasses_in_other_files() -> None:
    files = {
        "other.py": "from example import X\nclass Z(X): ...\n",
        "third.py": "import other\nclass W(other.Z): ...\n",
    }
    with context("import pytorch_lightning as pl\nclass X(pl.LightningModule): ...\n", files=files) as file:
        (node,) = [n for n in file.nodes if isinstance(n, ast.ClassDef)]
        assert [each.name for each in file.class_info(node).subclasses()] == ["Z", "W"]


def test_conditional_methods() -> None:
    found = info(
        "class X(pl.Callback):\n    if y:\n        def a(self): ...\n    else:\n        def b(self): ..."
    )
    assert set(found.methods) == {"a", "b"}


def uses(source: str) -> TrainerUses:
    with context(HEAD + textwrap.dedent(source)) as file:
        calls = [
            n
            for n in file.nodes
            if isinstance(n, ast.Call) and file.lightning_name(n.func) == "pytorch_lightning.Trainer"
        ]
        return file.trainer_uses(calls[0])


@pytest.mark.parametrize(
    ("source", "binding", "methods", "escapes"),
    [
        ("pl.Trainer().fit(m)", None, ["fit"], False),
        ("pl.Trainer()", None, [], False),
        ("t = pl.Trainer()\nt.fit(m)\nt.test()", "t", ["fit", "test"], False),
        ("def f():\n    t = pl.Trainer()\n    t.fit(m)\n    return t", "t", ["fit"], True),
        ("def f():\n    return pl.Trainer()", None, [], True),
        ("run(pl.Trainer())", None, [], True),
        ("t = pl.Trainer()\nrun(t)", "t", [], True),
        ("t = pl.Trainer()\nrun(t.fit)", "t", [], True),
        ("t = pl.Trainer()\nx = t.callback_metrics", "t", [], False),
        ("t = pl.Trainer()\ndef f(): t.fit(m)", "t", [], True),
        ("t = pl.Trainer()\nt.fit(a)\nt = pl.Trainer()\nt.fit(b)", "t", ["fit"], False),
        ("t = None\nif x:\n    t = pl.Trainer()\nt.fit(a)", "t", ["fit"], False),
        ("t = other()\nif x:\n    t = pl.Trainer()\nt.fit(a)", "t", [], False),
        ("t = u = pl.Trainer()\nt.fit(a)", None, [], True),
        (
            "class R:\n    def f(self):\n        self.t = pl.Trainer()\n        self.t.fit(m)",
            "self.t",
            ["fit"],
            True,
        ),
        ("if t is None:\n    t = pl.Trainer()\nt.fit(a)", "t", ["fit"], False),
        ("def f():\n    global t\n    t = pl.Trainer()\n    t.fit(a)", "t", ["fit"], True),
        ("with pl.Trainer() as t: t.fit(a)", None, [], True),
    ],
)
def test_trainer_uses(source: str, binding: str | None, methods: list[str], escapes: bool) -> None:
    found = uses(source)
    assert (found.binding, [name for name, _ in found.calls], found.escapes) == (binding, methods, escapes)


def test_calls_in_loops_are_told() -> None:
    found = uses("t = pl.Trainer()\nt.fit(a)\nfor x in y:\n    t.fit(b)")
    assert [call in found.looped for _, call in found.calls] == [False, True]
    found = uses("for x in y:\n    t = pl.Trainer()\n    t.fit(b)")
    assert not found.looped


def test_a_call_of_either_trainer_is_mixed() -> None:
    assert uses("t = other()\nif x:\n    t = pl.Trainer()\nt.fit(a)").mixed
