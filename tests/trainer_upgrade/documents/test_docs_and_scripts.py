"""Code blocks of documents, and command lines of scripts, Dockerfiles and CI."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest

from trainer_upgrade import testing

PL = "import pytorch_lightning as pl\n"


def clean(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n")


def upgrade(text: str, path: str, code: str = PL, target: str = "lightning", **files: str) -> str:
    every = {path: clean(text), **({"train.py": clean(code)} if code else {}), **files}
    return testing.upgrade_files(every, target=target, unsafe=True)[path]


def findings(text: str, path: str, code: str = PL, **files: str) -> list[Any]:
    more = {**({"train.py": clean(code)} if code else {}), **files}
    return testing.findings(text, path=path, files=more, target="lightning")


MARKDOWN = """
    # Title with gpus=1

    ```python
    from pytorch_lightning import Trainer
    trainer = Trainer(gpus=1)  # one
    ```

    - in a list:

      ```py
      Trainer(progress_bar_refresh_rate=2)
      ```

    ```text
    Trainer(gpus=1)
    ```

    ~~~python title="x"
    import pytorch_lightning as pl
    pl.Trainer(gpus=1, ...
    ~~~

    ```python
    >>> import pytorch_lightning as pl
    >>> trainer = pl.Trainer(
    ...     checkpoint_callback=False,
    ... )
    Trainer(checkpoint_callback=False)
    ```
"""


def test_markdown() -> None:
    assert upgrade(MARKDOWN, "README.md") == clean("""
        # Title with gpus=1

        ```python
        from pytorch_lightning import Trainer
        from pytorch_lightning.callbacks import TQDMProgressBar
        trainer = Trainer(accelerator="gpu", devices=1)  # one
        ```

        - in a list:

          ```py
          Trainer(callbacks=[TQDMProgressBar(refresh_rate=2)])
          ```

        ```text
        Trainer(gpus=1)
        ```

        ~~~python title="x"
        import pytorch_lightning as pl
        pl.Trainer(gpus=1, ...
        ~~~

        ```python
        >>> import pytorch_lightning as pl
        >>> trainer = pl.Trainer(
        ...     enable_checkpointing=False,
        ... )
        Trainer(checkpoint_callback=False)
        ```
    """)
    places = [
        (each.code, each.start.row, each.start.column) for each in findings(clean(MARKDOWN), "README.md")
    ]
    assert places == [("TRU101", 5, 19), ("TRU119", 11, 11), ("TRU117", 26, 9)]


def test_rst() -> None:
    text = """
        Title
        =====

        .. code-block:: python
            :linenos:

            import pytorch_lightning as pl

            trainer = pl.Trainer(gpus=1)

        Text::

            pl.Trainer(gpus=1)

        >>> from pytorch_lightning import Trainer
        >>> Trainer(checkpoint_callback=True)
        <Trainer gpus=1>

        .. code-block:: yaml

            gpus: 1
    """
    assert upgrade(text, "docs/index.rst") == clean(text).replace(
        "trainer = pl.Trainer(gpus=1)", 'trainer = pl.Trainer(accelerator="gpu", devices=1)'
    ).replace("Trainer(checkpoint_callback=True)", "Trainer(enable_checkpointing=True)")


def test_line_ends_stay() -> None:
    text = "```python\r\nimport pytorch_lightning as pl\r\npl.Trainer(progress_bar_refresh_rate=3)\r\n```\r\n"
    assert upgrade(text, "a.md") == text.replace(
        "progress_bar_refresh_rate=3", "callbacks=[pl.callbacks.TQDMProgressBar(refresh_rate=3)]"
    )


@pytest.mark.parametrize(
    "text", ["", "```", "```python", "```python\n", "::", ".. code-block:: python", ">>> ", "~~~\n```\n"]
)
def test_odd_documents(text: str) -> None:
    for path in ("a.md", "a.rst"):
        for more in ("", "\nlightning", "\r\n\n    lightning trainer\n"):
            assert upgrade(text + more, path) == clean(text + more)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("run.sh", "pip install pytorch-lightning==1.5.9\n", 'pip install "pytorch-lightning>=2,<3"\n'),
        ("run.sh", 'pip install -U "pytorch-lightning[extra]<1.6" x\n', 'pip install -U "pytorch-lightning[extra]>=2,<3" x\n'),
        ("run.sh", "sh -c 'pip install pytorch_lightning==1.5'\n", "sh -c 'pip install \"pytorch_lightning>=2,<3\"'\n"),
        ("Dockerfile", "FROM x\nRUN pip install a \\\n    pytorch-lightning==1.5.9 && ls\n", 'FROM x\nRUN pip install a \\\n    "pytorch-lightning>=2,<3" && ls\n'),
        (".github/workflows/ci.yml", "- run: pip install pytorch-lightning==1.5\n", '- run: pip install "pytorch-lightning>=2,<3"\n'),
        ("a.sh", "conda install -c conda-forge pytorch-lightning=1.5\n", 'conda install -c conda-forge "pytorch-lightning>=2,<3"\n'),
        ("README.md", "```bash\n$ pip install pytorch-lightning\n```\n", '```bash\n$ pip install "pytorch-lightning>=2,<3"\n```\n'),
        ("README.md", "pip install pytorch-lightning==1.5\n", "pip install pytorch-lightning==1.5\n"),
        ("a.sh", "# pip install pytorch-lightning==1.5\necho pytorch-lightning==1.5\n", "# pip install pytorch-lightning==1.5\necho pytorch-lightning==1.5\n"),
        ("a.sh", "pip install 'pytorch-lightning>=2'\n", "pip install 'pytorch-lightning>=2'\n"),
    ],
)  # fmt: skip
def test_what_command_lines_install(path: str, before: str, after: str) -> None:
    assert upgrade(before, path) == after


def test_what_a_notebook_installs() -> None:
    cell = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "source": ["!pip install pytorch-lightning==1.5\n", "1"],
    }
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    new = json.loads(upgrade(text, "a.ipynb"))
    assert new["cells"][0]["source"] == ['!pip install "pytorch-lightning>=2,<3"\n', "1"]
    (found,) = findings(text, "a.ipynb")
    assert (found.code, found.cell, found.start.row) == ("TRU901", 1, 1)


CLI = "from pytorch_lightning.cli import LightningCLI\nLightningCLI(Net)\n"
HELPERS = PL + "parser = pl.Trainer.add_argparse_args(parser)\n"


@pytest.mark.parametrize(
    ("code", "command", "told"),
    [
        (HELPERS, "python train.py --gpus 4 --lr 1", 1),
        (HELPERS, "CUDA_VISIBLE_DEVICES=0 torchrun train.py --distributed_backend=ddp --gpus=2", 2),
        (HELPERS, "python train.py \\\n  --gpus 4", 1),
        (HELPERS, "docker run --gpus all image", 0),
        (HELPERS, "srun --gpus=4 bash x.sh", 0),
        (HELPERS, "python train.py --max_epochs 4", 0),
        (HELPERS, "# python train.py --gpus 4", 0),
        (PL + "parser.add_argument('--gpus')\n", "python train.py --gpus 4", 0),
        ("import torch\n", "python train.py --gpus 4", 0),
        (CLI, "python train.py fit --trainer.gpus 4", 1),
        (PL, "python train.py fit --trainer.gpus 4", 0),
        (PL, "python train.py trainer.gpus=4", 0),
    ],
)
def test_flags_are_told_where_the_program_takes_them(code: str, command: str, told: int) -> None:
    found = findings(command + "\n", "run.sh", code)
    assert [each.code for each in found] == ["TRU930"] * told


def test_flags_of_another_program_are_not_ours() -> None:
    other = {"tools/other.py": "import sys\n"}
    assert findings("python tools/other.py --gpus 4\n", "run.sh", HELPERS, **other) == []


def test_flags_of_lightning_cli_are_rewritten() -> None:
    assert upgrade(
        "python train.py fit --trainer.gpus 4 --trainer.checkpoint_callback=false -x\n", "run.sh", CLI
    ) == (
        "python train.py fit --trainer.accelerator gpu --trainer.devices 4 --trainer.enable_checkpointing=false -x\n"
    )
    kept = "python train.py fit --trainer.gpus $N --trainer.checkpoint_callback=false\n"
    assert upgrade(kept, "run.sh", CLI) == kept


def test_overrides_of_hydra_are_rewritten_together() -> None:
    files = {"conf/trainer/default.yaml": "_target_: pytorch_lightning.Trainer\ngpus: 0\n"}
    text = "python train.py trainer.gpus=4 +trainer.accelerator='ddp' trainer=default\n"
    assert upgrade(text, "run.sh", PL, **files) == (
        "python train.py trainer.devices=4 ++trainer.strategy=ddp trainer.accelerator=gpu trainer=default\n"
    )
    text = "python train.py trainer.gpus=1 \\\n  +trainer.terminate_on_nan=false\n"
    assert (
        upgrade(text, "run.sh", PL, **files) == "python train.py trainer.accelerator=gpu trainer.devices=1\n"
    )


def test_variables_that_nobody_reads() -> None:
    (found,) = findings("export PL_FAULT_TOLERANT_TRAINING=1 PL_OTHER=2\n", "run.sh")
    assert found.code == "TRU910"
