"""What names mean: imports, aliases, scopes, re-exports across files."""

from __future__ import annotations

import ast
import textwrap

import pytest

from trainer_upgrade.project.context import FileContext
from trainer_upgrade.testing import context


def marked(file: FileContext) -> ast.expr:
    """The argument of the one call of ``here(...)``."""
    calls = [n for n in file.nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "here"]
    (call,) = calls
    return call.args[0]


def lightning(source: str, files: dict[str, str] | None = None, path: str = "example.py") -> str | None:
    with context(source, files=files, path=path) as file:
        return file.lightning_name(marked(file))


TRAINER = "pytorch_lightning.Trainer"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import pytorch_lightning as pl\nhere(pl.Trainer)", TRAINER),
        ("import pytorch_lightning\nhere(pytorch_lightning.Trainer)", TRAINER),
        ("import lightning as L\nhere(L.Trainer)", TRAINER),
        ("import lightning.pytorch as pl\nhere(pl.Trainer)", TRAINER),
        ("import lightning.pytorch\nhere(lightning.pytorch.Trainer)", TRAINER),
        ("from lightning import pytorch as pl\nhere(pl.Trainer)", TRAINER),
        ("from pytorch_lightning.trainer.trainer import Trainer as T\nhere(T)", TRAINER),
        ("import relight.compat as pl\nhere(pl.Trainer)", TRAINER),
        ("import relight\nhere(relight.Trainer)", TRAINER),
        ("from pytorch_lightning import *\nhere(Trainer)", TRAINER),
        ("import pytorch_lightning as pl\nT = pl.Trainer\nhere(T)", TRAINER),
        ("import pytorch_lightning as pl\nT = pl.Trainer if x else None\nhere(T)", TRAINER),
        (
            "import pytorch_lightning.core.lightning as cl\nhere(cl.LightningModule)",
            "pytorch_lightning.LightningModule",
        ),
        (
            "from pytorch_lightning.callbacks.model_checkpoint import ModelCheckpoint\nhere(ModelCheckpoint)",
            "pytorch_lightning.callbacks.ModelCheckpoint",
        ),
        ("from lightning.fabric import Fabric\nhere(Fabric)", "lightning_fabric.Fabric"),
        # not Lightning's
        ("from transformers import Trainer\nhere(Trainer)", None),
        ("import polars as pl\nhere(pl.Trainer)", None),
        ("import lightning.app as app\nhere(app.Trainer)", None),
        ("here(Trainer)", None),
    ],
)
def test_roots_and_aliases(source: str, expected: str | None) -> None:
    assert lightning(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            """
            try:
                import lightning.pytorch as pl
            except ImportError:
                import pytorch_lightning as pl
            here(pl.Trainer)
            """,
            TRAINER,
            id="alternatives that are the same thing",
        ),
        pytest.param(
            """
            try:
                from pytorch_lightning.metrics import Accuracy
            except ImportError:
                from torchmetrics import Accuracy
            here(Accuracy)
            """,
            None,
            id="alternatives that differ",
        ),
        pytest.param(
            """
            try:
                import pytorch_lightning as pl
            except ImportError:
                pl = None
            here(pl.Trainer)
            """,
            TRAINER,
            id="None stands in for a missing package",
        ),
        pytest.param(
            """
            try:
                from pytorch_lightning import Trainer
            except ImportError:
                class Trainer: ...
            here(Trainer)
            """,
            TRAINER,
            id="a stub stands in for a missing package",
        ),
        pytest.param(
            """
            if flag:
                from pytorch_lightning import Trainer
            else:
                from transformers import Trainer
            here(Trainer)
            """,
            None,
            id="either of two",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            from transformers import Trainer
            here(Trainer)
            """,
            None,
            id="rebound before",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            here(Trainer)
            from transformers import Trainer
            """,
            TRAINER,
            id="rebound after",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            def f():
                here(Trainer)
            from transformers import Trainer
            """,
            None,
            id="a function sees what the module has when it has run",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            for x in y:
                here(Trainer)
                Trainer = other()
            """,
            None,
            id="a loop comes back with the new value",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            def f(Trainer):
                here(Trainer)
            """,
            None,
            id="parameter",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            def f():
                Trainer = make()
                here(Trainer)
            """,
            None,
            id="local variable",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            class A:
                Trainer = 1
                def f(self):
                    here(Trainer)
            """,
            TRAINER,
            id="a class's names are not seen from its methods",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            class A:
                Trainer = 1
                here(Trainer)
            """,
            None,
            id="but in its body",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            [here(Trainer) for Trainer in things]
            """,
            None,
            id="comprehension variable",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            [Trainer for Trainer in things]
            here(Trainer)
            """,
            TRAINER,
            id="a comprehension variable ends with it",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            here([Trainer for Trainer in Trainer][0]) if 0 else here2(Trainer)
            """,
            None,
            id="a subscript has no name",
        ),
        pytest.param(
            """
            Trainer = None
            def load():
                global Trainer
                from pytorch_lightning import Trainer
            def g():
                here(Trainer)
            """,
            TRAINER,
            id="global",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            def load():
                global Trainer
                from transformers import Trainer
            here(Trainer)
            """,
            None,
            id="global rebinds the module's name at some time",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            lambda Trainer: here(Trainer)
            """,
            None,
            id="lambda parameter",
        ),
        pytest.param(
            """
            import polars as pl
            def f():
                import pytorch_lightning as pl
                here(pl.Trainer)
            """,
            TRAINER,
            id="import in a function",
        ),
        pytest.param(
            """
            def f():
                import pytorch_lightning as pl
            here(pl.Trainer)
            """,
            None,
            id="an import in a function is not seen outside",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            with open(x) as Trainer:
                here(Trainer)
            """,
            None,
            id="with",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            del Trainer
            here(Trainer)
            """,
            None,
            id="del",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            match x:
                case {"a": Trainer}:
                    here(Trainer)
            """,
            None,
            id="match capture",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            if (Trainer := f()):
                here(Trainer)
            """,
            None,
            id="walrus",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer as Base
            Base = wrap(Base)
            here(Base)
            """,
            None,
            id="wrapped",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer
            Trainer, x = Trainer, 1
            here(Trainer)
            """,
            TRAINER,
            id="tuple assignment by element",
        ),
    ],
)
def test_scopes_and_rebinding(source: str, expected: str | None) -> None:
    assert lightning(textwrap.dedent(source)) == expected


@pytest.mark.parametrize(
    ("files", "path", "source"),
    [
        pytest.param(
            {"pkg/__init__.py": "", "pkg/imports.py": "import pytorch_lightning as pl\n"},
            "pkg/use.py",
            "from .imports import pl\nhere(pl.Trainer)",
            id="relative",
        ),
        pytest.param(
            {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "from pytorch_lightning import Trainer\n"},
            "main.py",
            "from pkg import Trainer\nhere(Trainer)",
            id="star re-export through a package",
        ),
        pytest.param(
            {"src/pkg/__init__.py": "", "src/pkg/a.py": "from pytorch_lightning import Trainer as T\n"},
            "scripts/train.py",
            "import pkg.a\nhere(pkg.a.T)",
            id="src layout, dotted import",
        ),
        pytest.param(
            {"pkg/sub/a.py": "from pytorch_lightning import Trainer\n"},
            "main.py",
            "from pkg.sub.a import Trainer\nhere(Trainer)",
            id="namespace package",
        ),
        pytest.param(
            {"tools/common.py": "from pytorch_lightning import Trainer\n"},
            "tools/train.py",
            "from common import Trainer\nhere(Trainer)",
            id="script beside a script",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "",
                "pkg/a.py": "from .b import Trainer\n",
                "pkg/b.py": "from .a import other\nfrom pytorch_lightning import Trainer\n",
            },
            "pkg/c.py",
            "from . import a as x\nhere(x.Trainer)",
            id="cycle",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "",
                "pkg/a.py": "from .b import T\n",
                "pkg/b.py": "import lightning as L\nT = L.Trainer\n",
            },
            "pkg/sub/c.py",
            "from ..a import T\nhere(T)",
            id="two levels up, alias in a third file",
        ),
        pytest.param(
            {"conf/__init__.py": "class Names:\n    from pytorch_lightning import Trainer\n"},
            "c.py",
            "from conf import Names\nhere(Names.Trainer)",
            id="class attribute of another file",
        ),
    ],
)
def test_across_files(files: dict[str, str], path: str, source: str) -> None:
    assert lightning(source, files, path) == TRAINER


def test_a_module_of_the_project_called_lightning_is_not_lightning() -> None:
    files = {"lightning.py": "class Trainer: ...\n"}
    assert lightning("from lightning import Trainer\nhere(Trainer)", files) is None
    files = {"lightning/__init__.py": "class Trainer: ...\n"}
    assert lightning("import lightning\nhere(lightning.Trainer)", files) is None


def test_a_private_star_name_is_not_exported() -> None:
    files = {"a.py": "from pytorch_lightning import Trainer as _T, Trainer\n__all__ = ['_T']\n"}
    assert lightning("from a import *\nhere(_T)", files) == TRAINER
    assert lightning("from a import *\nhere(Trainer)", files) is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch\nhere(torch.nn.Linear)", "torch.nn.Linear"),
        ("from torch import nn\nhere(nn.Linear)", "torch.nn.Linear"),
        (
            "import pytorch_lightning.core.lightning as c\nhere(c.LightningModule)",
            "pytorch_lightning.core.lightning.LightningModule",
        ),
        ("class A:\n    def f(self): ...\nhere(A.f)", "example.A.f"),
        ("def f(): ...\nhere(f)", "example.f"),
        ("here(f().x)", None),
    ],
)
def test_qualified_names(source: str, expected: str | None) -> None:
    with context(source) as file:
        assert file.qualified_name(marked(file)) == expected


@pytest.mark.parametrize(
    ("source", "root"),
    [
        ("import pytorch_lightning as pl", "pytorch_lightning"),
        ("import lightning as L", "lightning"),
        ("from lightning.pytorch import Trainer", "lightning.pytorch"),
        ("from lightning import pytorch as pl", "lightning.pytorch"),
        ("import relight.compat as pl", "relight.compat"),
        ("from relight import Trainer", "relight"),
        ("import torch", None),
        ("from lightning.fabric import Fabric", None),
        ("import pytorch_lightning_bolts", None),
    ],
)
def test_root(source: str, root: str | None) -> None:
    with context(source) as file:
        assert file.root == root
