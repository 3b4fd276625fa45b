"""Notebooks: cells are one module, magics stay, and no byte but those of changed lines differs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trainer_upgrade import testing
from trainer_upgrade.sources.embedded import Block, Embedded, Misplaced
from trainer_upgrade.sources.notebook import Notebook


def code(*lines: str, **more: Any) -> dict[str, Any]:
    source = [line + "\n" for line in lines[:-1]] + list(lines[-1:])
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [],
        "source": source,
        **more,
    }


def notebook(*cells: dict[str, Any], indent: int | None = 1, end: str = "\n", ascii: bool = False) -> str:
    content = {
        "cells": list(cells),
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=indent, ensure_ascii=ascii) + end


def upgrade(text: str, **options: Any) -> str:
    return testing.upgrade_files({"book.ipynb": text}, target="lightning", **options)["book.ipynb"]


def sources(text: str) -> list[str]:
    return ["".join(each["source"]) for each in json.loads(text)["cells"]]


def changed_lines(before: str, after: str) -> list[str]:
    old = before.split("\n")
    return [line.strip() for line in after.split("\n") if line not in old]


IMPORT = code("import pytorch_lightning as pl")
TRAINER = code("trainer = pl.Trainer(gpus=1)")


def test_names_from_earlier_cells_resolve_and_only_the_line_changes() -> None:
    before = notebook({"cell_type": "markdown", "metadata": {}, "source": ["Set `gpus=1`."]}, IMPORT, TRAINER)
    after = upgrade(before)
    assert changed_lines(before, after) == [r'"trainer = pl.Trainer(accelerator=\"gpu\", devices=1)"']
    assert "Set `gpus=1`." in after


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_layout_of_the_json_stays(indent: int | None, end: str) -> None:
    before = notebook(IMPORT, TRAINER, indent=indent, end=end)
    after = upgrade(before)
    assert after == notebook(
        IMPORT, code('trainer = pl.Trainer(accelerator="gpu", devices=1)'), indent=indent, end=end
    )


@pytest.mark.parametrize("ascii", [True, False])
def test_characters_are_written_as_the_notebook_writes_them(ascii: bool) -> None:
    cells = code("name = 'größe'"), code("trainer = pl.Trainer(gpus=1)  # größe")
    after = upgrade(notebook(IMPORT, *cells, ascii=ascii))
    assert after == notebook(
        IMPORT, cells[0], code('trainer = pl.Trainer(accelerator="gpu", devices=1)  # größe'), ascii=ascii
    )


def test_a_source_in_one_string_stays_one() -> None:
    cell = code("x")
    cell["source"] = "import pytorch_lightning as pl\n\ntext = 'a\\nb'\ntrainer = pl.Trainer(gpus=1)\n"
    before = notebook(cell)
    new = cell["source"].replace("gpus=1", 'accelerator="gpu", devices=1')
    assert upgrade(before) == notebook({**cell, "source": new})


def test_outputs_ids_and_execution_counts_stay() -> None:
    output = {"name": "stdout", "output_type": "stream", "text": ["Trainer(gpus=1) ok\n"]}
    cell = code("trainer = pl.Trainer(gpus=1)", id="abc", outputs=[output], execution_count=7)
    after = upgrade(notebook(IMPORT, cell))
    new = {**cell, "source": ['trainer = pl.Trainer(accelerator="gpu", devices=1)']}
    assert after == notebook(IMPORT, new)


MAGICS = [
    "!pip install -q pytorch-lightning==1.5",
    "%matplotlib inline",
    "%pip install x",
    "files = !ls",
    "n = %env HOME",
    "pl.Trainer?",
    "?pl.Trainer",
    "pl.Trainer??",
    "for each in range(2):\n    !echo {each}",
    "!wget a \\\n  b",
    "%%time\nx = 1",
    "%%bash\npip install pytorch-lightning==1.5 && echo 'gpus=1",
    "%%writefile train.py\nimport pytorch_lightning as pl\npl.Trainer(gpus=1)",
    "%timeit -n 3 len('x')",
    "text = '''\n%not a magic\n!nor this\n'''",
    "value = 7 \\\n  % 2",
    "value = (7\n  % 2)",
]


@pytest.mark.parametrize("magic", MAGICS)
def test_magics_stay_as_they_are(magic: str) -> None:
    before = notebook(code(*magic.split("\n")), IMPORT, code(*magic.split("\n")), TRAINER)
    after = sources(upgrade(before))
    assert after[0] == magic
    assert after[2] == magic
    assert after[3] == 'trainer = pl.Trainer(accelerator="gpu", devices=1)'


def test_the_statement_of_a_line_magic_is_upgraded() -> None:
    before = notebook(IMPORT, TRAINER, code("%time trainer.fit(net, train_dataloader=data)"))
    assert sources(upgrade(before))[2] == "%time trainer.fit(net, train_dataloaders=data)"


def test_a_statement_that_would_need_more_lines_is_reported_only() -> None:
    before = notebook(IMPORT, code("%time pl.Trainer(resume_from_checkpoint='a.ckpt').fit(net)"))
    after = sources(upgrade(before))[1]
    assert after.startswith("%time ")
    assert "\n" not in after


def test_a_cell_that_does_not_parse_is_told_and_the_others_go_on() -> None:
    before = notebook(IMPORT, code("def f(:", "    pytorch_lightning"), TRAINER)
    found = testing.findings(before, target="lightning", path="book.ipynb")
    assert [(each.code, each.cell, each.start.row) for each in found] == [("TRU001", 2, 1), ("TRU101", 3, 1)]
    assert sources(upgrade(before))[2] == 'trainer = pl.Trainer(accelerator="gpu", devices=1)'
    assert sources(upgrade(before))[1] == sources(before)[1]


def test_places_are_rows_of_a_cell() -> None:
    before = notebook(
        {"cell_type": "markdown", "metadata": {}, "source": "x"},
        IMPORT,
        code("", "%ls", "t = pl.Trainer(gpus=1)"),
    )
    (found,) = testing.findings(before, target="lightning", path="book.ipynb")
    assert (found.cell, found.start.row, found.start.column) == (3, 3, 16)


def test_an_import_that_a_fix_needs_goes_to_the_imports() -> None:
    before = notebook(
        code("!pip install a"),
        code("from pytorch_lightning import Trainer"),
        code("trainer = Trainer(progress_bar_refresh_rate=5)"),
    )
    after = sources(upgrade(before))
    assert after[1].split("\n") == [
        "from pytorch_lightning import Trainer",
        "from pytorch_lightning.callbacks import TQDMProgressBar",
    ]
    assert after[2] == "trainer = Trainer(callbacks=[TQDMProgressBar(refresh_rate=5)])"


def test_a_class_of_the_project_is_known_in_a_notebook() -> None:
    files = {
        "nets.py": "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    pass\n",
        "book.ipynb": notebook(
            code("from nets import Net"),
            code("class Big(Net):", "    def validation_epoch_end(self, outputs):", "        print('end')"),
        ),
    }
    after = testing.upgrade_files(files, target="lightning", unsafe=True)
    assert "def on_validation_epoch_end(self):" in sources(after["book.ipynb"])[1]


def test_top_level_await_is_python_here() -> None:
    after = upgrade(notebook(IMPORT, code("await thing()", "trainer = pl.Trainer(gpus=1)")))
    assert sources(after)[1] == 'await thing()\ntrainer = pl.Trainer(accelerator="gpu", devices=1)'


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "",
        "[]",
        '{"cells": [1, "pytorch_lightning"]',
        '{"nbformat": 4, "x": "pytorch_lightning"}',
        '"lightning"',
    ],
)
def test_a_broken_notebook_is_one_finding(text: str) -> None:
    found = testing.findings(text, path="book.ipynb")
    assert [each.code for each in found] == (["TRU001"] if "ightning" in text else [])


def test_notebooks_of_other_languages_are_left_alone() -> None:
    before = notebook(IMPORT, TRAINER).replace('"python"', '"julia"')
    assert upgrade(before) == before


def test_the_upgraded_code_of_a_notebook_runs() -> None:
    pytest.importorskip("torch")
    before = notebook(
        code("import torch", "import pytorch_lightning as pl"),
        code(
            "class Net(pl.LightningModule):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.layer = torch.nn.Linear(2, 1)",
            "    def training_step(self, batch, batch_idx):",
            "        return self.layer(batch).mean()",
            "    def training_epoch_end(self, outputs):",
            "        self.log('n', float(len(outputs)))",
            "    def configure_optimizers(self):",
            "        return torch.optim.SGD(self.parameters(), lr=0.1)",
        ),
        code("%%time", "trainer = pl.Trainer(gpus=0, max_epochs=1, checkpoint_callback=False, logger=False,"),
    )
    cells = json.loads(before)["cells"]
    cells[2]["source"] = [
        "%matplotlib inline\n",
        "trainer = pl.Trainer(gpus=0, max_epochs=1, checkpoint_callback=False, logger=False,\n",
        "                     progress_bar_refresh_rate=0, weights_summary=None)\n",
        "trainer.fit(Net(), train_dataloader=torch.utils.data.DataLoader(torch.ones(6, 2), batch_size=2))",
    ]
    after = testing.upgrade_files({"book.ipynb": notebook(*cells)}, unsafe=True)["book.ipynb"]
    lines = [line for each in sources(after) for line in each.split("\n") if not line.startswith("%")]
    names: dict[str, Any] = {"__name__": "book"}
    exec("\n".join(lines), names)
    assert float(names["trainer"].callback_metrics["n"]) == 3.0


def test_what_is_no_python_must_stay_where_it_is() -> None:
    inside = Embedded([Block(1, "!ls\nx = 1", magics=True), Block(2, "y = 2")])
    assert inside.texts(inside.text.replace("x = 1", "x = 3")) == ["!ls\nx = 3", "y = 2"]
    for broken in (inside.text.replace("__not_python__(0)", ""), inside.text.replace("# <<block 1>>\n", "")):
        with pytest.raises(Misplaced):
            inside.texts(broken)


def test_an_import_before_everything_goes_behind_leading_magics() -> None:
    inside = Embedded([Block(1, "%load_ext x", magics=True), Block(2, "%%time\nx = 1", magics=True)])
    assert inside.texts("import os\n" + inside.text)[1] == "%%time\nimport os\nx = 1"


def test_each_edit_of_a_cell_is_as_small_as_can_be() -> None:
    text = notebook(code("a", "b", "c", "d"))
    book = Notebook(text)
    for new in ("a\nB\nc\nd", "b\nc\nd", "a\nb\nc", "a\nb\nc\nd\ne", "x\na\nb\nc\nd", "", "a\n\n\nd\n"):
        edits = book.edits(book.cells[0], new)
        from trainer_upgrade.sources.text import apply_edits

        result = apply_edits(text, edits)
        assert "".join(json.loads(result)["cells"][0]["source"]) == new
        outside = Notebook(result)
        assert outside.cells[0].text == new
