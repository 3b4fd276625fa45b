"""Imports that are added and taken out."""

from __future__ import annotations

import textwrap

import pytest

from trainer_upgrade.findings import ImportRequest
from trainer_upgrade.sources.imports import add_imports, remove_imports


def clean(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n")


BAR = ImportRequest("pytorch_lightning.callbacks", "TQDMProgressBar")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            """
            import os
            import pytorch_lightning as pl
            import torch

            x = TQDMProgressBar()
            """,
            """
            import os
            import pytorch_lightning as pl
            from pytorch_lightning.callbacks import TQDMProgressBar
            import torch

            x = TQDMProgressBar()
            """,
            id="behind an import of the same package",
        ),
        pytest.param(
            "import os\nimport torch  # why\n\nx = 1\n",
            "import os\nimport torch  # why\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n\nx = 1\n",
            id="else behind the last",
        ),
        pytest.param(
            "from pytorch_lightning.callbacks import Callback  # why\n",
            "from pytorch_lightning.callbacks import Callback, TQDMProgressBar  # why\n",
            id="into a line",
        ),
        pytest.param(
            "from pytorch_lightning.callbacks import (Callback)\n",
            "from pytorch_lightning.callbacks import (Callback, TQDMProgressBar)\n",
            id="into parentheses on a line",
        ),
        pytest.param(
            """
            from pytorch_lightning.callbacks import (
                Callback,  # the base
                EarlyStopping,  # stops
            )
            """,
            """
            from pytorch_lightning.callbacks import (
                Callback,  # the base
                EarlyStopping,  # stops
                TQDMProgressBar,
            )
            """,
            id="into parentheses, with a comma at the end",
        ),
        pytest.param(
            """
            from pytorch_lightning.callbacks import (
                Callback,
                EarlyStopping
            )
            """,
            """
            from pytorch_lightning.callbacks import (
                Callback,
                EarlyStopping,
                TQDMProgressBar
            )
            """,
            id="into parentheses, without",
        ),
        pytest.param(
            "from pytorch_lightning.callbacks import (Callback,\n    EarlyStopping)\n",
            "from pytorch_lightning.callbacks import (Callback,\n    EarlyStopping,\n    TQDMProgressBar)\n",
            id="into hanging parentheses",
        ),
        pytest.param(
            "from pytorch_lightning.callbacks import Callback, \\\n    EarlyStopping\n",
            "from pytorch_lightning.callbacks import Callback, \\\n    EarlyStopping\n"
            "from pytorch_lightning.callbacks import TQDMProgressBar\n",
            id="a line joined by a backslash is left alone",
        ),
        pytest.param(
            "from pytorch_lightning.callbacks import *\n",
            "from pytorch_lightning.callbacks import *\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n",
            id="a star import is left alone",
        ),
        pytest.param(
            '"""Doc."""\n\nfrom __future__ import annotations\n\nx = 1\n',
            '"""Doc."""\n\nfrom __future__ import annotations\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n\nx = 1\n',
            id="behind __future__",
        ),
        pytest.param(
            '"""Doc."""\n\nx = 1\n',
            '"""Doc."""\n\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n\n\nx = 1\n',
            id="behind a docstring",
        ),
        pytest.param(
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nx = 1\n",
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n\nx = 1\n",
            id="behind a shebang",
        ),
        pytest.param(
            "# Licence\n# of this file\n\nx = 1\n",
            "# Licence\n# of this file\n\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n\nx = 1\n",
            id="behind a header",
        ),
        pytest.param(
            "# about x\nx = 1\n",
            "from pytorch_lightning.callbacks import TQDMProgressBar\n\n# about x\nx = 1\n",
            id="not between a comment and what it is about",
        ),
        pytest.param(
            """
            import os
            try:
                import pytorch_lightning as pl
            except ImportError:
                pl = None
            if os.name:
                import sys
            x = TQDMProgressBar()
            import late
            """,
            """
            import os
            from pytorch_lightning.callbacks import TQDMProgressBar
            try:
                import pytorch_lightning as pl
            except ImportError:
                pl = None
            if os.name:
                import sys
            x = TQDMProgressBar()
            import late
            """,
            id="never in try or if, never behind the first use",
        ),
        pytest.param(
            "import os\ndef f():\n    return TQDMProgressBar()\nimport late\n",
            "import os\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n"
            "def f():\n    return TQDMProgressBar()\nimport late\n",
            id="not behind a function that uses it",
        ),
        pytest.param(
            "import os",
            "import os\nfrom pytorch_lightning.callbacks import TQDMProgressBar",
            id="no last newline",
        ),
        pytest.param("", "from pytorch_lightning.callbacks import TQDMProgressBar\n", id="an empty file"),
        pytest.param(
            "import os; x = 1\n",
            "import os; x = 1\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n",
            id="semicolon",
        ),
        pytest.param(
            "from lightning.pytorch.callbacks import TQDMProgressBar\n",
            "from lightning.pytorch.callbacks import TQDMProgressBar\n",
            id="there by another root",
        ),
        pytest.param(
            "from pytorch_lightning.callbacks import ProgressBar as TQDMProgressBar\n",
            "from pytorch_lightning.callbacks import ProgressBar as TQDMProgressBar, TQDMProgressBar\n",
            id="the name of something else",
        ),
    ],
)
def test_add(before: str, after: str) -> None:
    before, after = clean(before), clean(after)
    result = add_imports(before, [BAR, BAR])
    assert result == after
    assert add_imports(result, [BAR]) == result


def test_line_ends_are_kept() -> None:
    assert add_imports("import os\r\nx = 1\r\n", [BAR], "\r\n").count("\r\n") == 3
    text = "from pytorch_lightning.callbacks import (\r\n    Callback,\r\n)\r\n"
    assert add_imports(text, [BAR], "\r\n") == text.replace(
        "Callback,\r\n", "Callback,\r\n    TQDMProgressBar,\r\n"
    )


def test_a_plain_import_and_an_alias() -> None:
    assert add_imports("import os\n", [ImportRequest("torch")]) == "import os\nimport torch\n"
    assert add_imports("import torch.nn\n", [ImportRequest("torch")]) == "import torch.nn\n"
    assert add_imports("", [ImportRequest("a.b", "C", "D")]) == "from a.b import C as D\n"
    assert add_imports("", [ImportRequest("a.b", None, "D")]) == "import a.b as D\n"


def test_compat_is_not_the_core() -> None:
    text = "from relight.callbacks import TQDMProgressBar\n"
    added = add_imports(text, [ImportRequest("relight.compat.callbacks", "TQDMProgressBar", "Old")])
    assert "from relight.compat.callbacks import TQDMProgressBar as Old" in added


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("import a\nimport b\n", "a", "import b\n"),
        ("import a  # why\nimport b\n", "a", "import b\n"),
        ("from m import a, b\nb\n", "a", "from m import b\nb\n"),
        ("from m import a, b\na\n", "b", "from m import a\na\n"),
        ("from m import (\n    a,\n    b,\n)\na\n", "b", "from m import (\n    a,\n)\na\n"),
        ("from m import (\n    a,\n    b,\n)\nb\n", "a", "from m import (\n    b,\n)\nb\n"),
        ("from m import (\n    a,  # about a\n    b,\n)\nb\n", "a", None),
        ("from m import a as x\n", "x", ""),
        ("import a; import b\n", "a", "import b\n"),
        ("import b; import a\n", "a", "import b\n"),
        ("def f():\n    import a\n", "a", "def f():\n    pass\n"),
        ("def f():\n    import a\n    return 1\n", "a", "def f():\n    return 1\n"),
        # kept
        ("import a\na\n", "a", ...),
        ("import a\ndef f(): return a.b\n", "a", ...),
        ("import a\n__all__ = ['a']\n", "a", ...),
        ("import a\nx: 'a.B' = 1\n", "a", ...),
        ("try:\n    import a\nexcept ImportError:\n    pass\n", "a", ...),
        ("import a  # noqa: F401\n", "a", ...),
        ("import a\nimport a\n", "a", ...),
        ("class A:\n    import a\n", "a", ...),
        # a local variable of the same name is no use, a docstring neither
        ("import a\ndef f(a): return a\n", "a", "def f(a): return a\n"),
        ('"""About a."""\nimport a\n', "a", '"""About a."""\n'),
    ],
)
def test_remove(before: str, name: str, after: str | None) -> None:
    result = remove_imports(before, [name])
    if after is None:
        assert "# about a" in result
        assert "a," not in result.replace("# about a", "")
        compile(result, "x", "exec")
    else:
        assert result == (before if after is ... else after)


def test_imports_of_a_package_are_its_public_names() -> None:
    assert remove_imports("import a\n", ["a"], is_package=True) == "import a\n"
    assert remove_imports("import a\n", ["a"], wanted=lambda name: name == "a") == "import a\n"
