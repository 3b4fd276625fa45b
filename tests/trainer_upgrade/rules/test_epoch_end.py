"""Epoch-end hooks with outputs: what becomes of them, and what is left alone."""

from __future__ import annotations

import textwrap

import pytest

from trainer_upgrade import testing
from trainer_upgrade.catalogue.entry import Applicability

HEAD = "import torch\nimport pytorch_lightning as pl\n\n\n"


def module(text: str) -> str:
    return HEAD + textwrap.dedent(text).lstrip("\n")


RENAMED = {
    "outputs are never read": (
        "def validation_epoch_end(self, outputs):",
        "def on_validation_epoch_end(self):",
    ),
    "an underscore": ("def training_epoch_end(self, _):", "def on_train_epoch_end(self):"),
    "an annotation": (
        "def test_epoch_end(self, outs: list) -> None:",
        "def on_test_epoch_end(self) -> None:",
    ),
    "only *args": ("def test_epoch_end(self, *args):", "def on_test_epoch_end(self):"),
    "a default of the user's own": (
        'def validation_epoch_end(self, outputs, prefix="val"):',
        'def on_validation_epoch_end(self, prefix="val"):',
    ),
    "one parameter a line": (
        "def validation_epoch_end(\n        self,\n        outputs,  # never read\n    ):",
        "def on_validation_epoch_end(\n        self,  # never read\n    ):",
    ),
}


@pytest.mark.parametrize(("before", "after"), RENAMED.values(), ids=RENAMED)
@pytest.mark.parametrize("target", ["lightning", "relight"])
def test_only_the_name_changes_where_nobody_reads_the_outputs(before: str, after: str, target: str) -> None:
    source = HEAD + "class Net(pl.LightningModule):\n    {}\n        self.log('n', self.seen)  # kept\n"
    root = {"lightning": "pytorch_lightning", "relight": "relight"}[target]
    expected = source.format(after).replace("import pytorch_lightning", f"import {root}")
    testing.check(source.format(before), expected, target=target)


def test_the_import_of_an_annotation_goes_with_the_parameter() -> None:
    testing.check(
        """
        import pytorch_lightning as pl
        from pytorch_lightning.utilities.types import EPOCH_OUTPUT

        class Net(pl.LightningModule):
            def training_epoch_end(self, outputs: EPOCH_OUTPUT) -> None:
                self.reset()
        """,
        """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def on_train_epoch_end(self) -> None:
                self.reset()
        """,
        target="lightning",
    )


STEP = """
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def validation_step(self, batch, batch_idx):
        {step}

    def validation_epoch_end(self, outputs):
        self.log("n", len(outputs))
"""
APPENDED = """
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self._validation_outputs = []
        self.net = torch.nn.Linear(4, 1)

    def validation_step(self, batch, batch_idx):
        {step}

    def on_validation_epoch_start(self):
        self._validation_outputs = []

    def on_validation_epoch_end(self):
        outputs = self._validation_outputs
        self.log("n", len(outputs))
        self._validation_outputs.clear()
"""
CAPTURED = """
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def validation_step(self, batch, batch_idx):
        {step}

    def on_validation_epoch_start(self):
        self._validation_outputs = []

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        if outputs is not None:
            self._validation_outputs.append(outputs)

    def on_validation_epoch_end(self):
        outputs = self._validation_outputs
        self.log("n", len(outputs))
        self._validation_outputs.clear()
"""
NL = "\n        "
APPENDS = {
    "a dict": (
        'return {"x": batch.sum()}',
        'output = {"x": batch.sum()}' + NL + "self._validation_outputs.append(output)" + NL + "return output",
    ),
    "a name of a number": (
        "loss = torch.abs(batch)" + NL + "return loss",
        "loss = torch.abs(batch)" + NL + "self._validation_outputs.append(loss)" + NL + "return loss",
    ),
    "the name output is taken": (
        "output = self.net(batch)" + NL + "return output, 1",
        "output = self.net(batch)"
        + NL
        + "step_output = output, 1"
        + NL
        + "self._validation_outputs.append(step_output)"
        + NL
        + "return step_output",
    ),
    "another return gives None": (
        "if batch_idx:" + NL + "    return None" + NL + "return 2 * batch",
        "if batch_idx:"
        + NL
        + "    return None"
        + NL
        + "output = 2 * batch"
        + NL
        + "self._validation_outputs.append(output)"
        + NL
        + "return output",
    ),
    "several lines and a comment": (
        "return {" + NL + '    "x": batch,  # why' + NL + "}  # end",
        "output = {"
        + NL
        + '    "x": batch,  # why'
        + NL
        + "}  # end"
        + NL
        + "self._validation_outputs.append(output)"
        + NL
        + "return output",
    ),
}


@pytest.mark.parametrize(("before", "after"), APPENDS.values(), ids=APPENDS)
def test_one_visible_return_appends_in_the_step(before: str, after: str) -> None:
    testing.check(module(STEP.format(step=before)), module(APPENDED.format(step=after)), target="lightning")


CAPTURES = {
    "two returns": "if batch_idx:" + NL + "    return batch.sum()" + NL + "return batch.mean()",
    "a value that may be None": "return self.maybe(batch)",
    "a value that somebody else gives": "loss = helper(batch)" + NL + "return loss",
    "a return that shares its line": "if batch_idx: return {}",
    "a name rebound by a loop": "for loss in batch: pass" + NL + "return loss",
}


@pytest.mark.parametrize("step", CAPTURES.values(), ids=CAPTURES)
def test_elsewhere_the_batch_end_hook_collects(step: str) -> None:
    testing.check(module(STEP.format(step=step)), module(CAPTURED.format(step=step)), target="lightning")


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param("\n    test_step = validation_step\n", id="the step has another name, too"),
        pytest.param(
            "\n    def test_step(self, batch, batch_idx):\n        return "
            "self.validation_step(batch, batch_idx)\n",
            id="the step is called by another",
        ),
        pytest.param(
            "\n\nclass Sub(Net):\n    def validation_step(self, batch, batch_idx):\n        return 1\n",
            id="a subclass overrides the step",
        ),
    ],
)
def test_no_append_where_it_would_store_too_much_or_too_little(extra: str) -> None:
    before, after = STEP.format(step="return {}") + extra, CAPTURED.format(step="return {}") + extra
    testing.check(module(before), module(after), target="lightning")


ENDINGS = {
    "a dict that nobody reads": (
        'avg = sum(outputs)\n        return {"avg": avg}',
        "outputs = self._test_outputs\n        avg = sum(outputs)\n        self._test_outputs.clear()\n"
        '        return {"avg": avg}',
    ),
    "a helper that may keep the list": (
        'return self.summarise(outputs, "test")',
        'outputs = self._test_outputs\n        self.summarise(outputs, "test")\n        '
        "self._test_outputs = []",
    ),
    "the outputs themselves": (
        "self.n = len(outputs)\n        return outputs",
        "outputs = self._test_outputs\n        self._test_outputs = []\n        self.n = len(outputs)\n"
        "        return outputs",
    ),
    "early": (
        "if not outputs:\n            return\n        self.log('n', len(outputs))",
        "outputs = self._test_outputs\n        self._test_outputs = []\n        if not outputs:\n"
        "            return\n"
        "        self.log('n', len(outputs))",
    ),
    "after a docstring": (
        '"""Say it."""\n        self.n = len(outputs)',
        '"""Say it."""\n        outputs = self._test_outputs\n        self.n = len(outputs)\n'
        "        self._test_outputs.clear()",
    ),
    "rebinding": (
        "outputs = [o for o in outputs if o]\n        self.n = len(outputs)",
        "outputs = self._test_outputs\n        outputs = [o for o in outputs if o]\n        "
        "self.n = len(outputs)\n"
        "        self._test_outputs.clear()",
    ),
    "kept on the module": (
        "self.kept = outputs",
        "outputs = self._test_outputs\n        self.kept = outputs\n        self._test_outputs = []",
    ),
    "a comment at the end of a block": (
        "for o in outputs:\n            print(o)\n            # done",
        "outputs = self._test_outputs\n        for o in outputs:\n            print(o)\n            # done\n"
        "        self._test_outputs.clear()",
    ),
}


@pytest.mark.parametrize(("before", "after"), ENDINGS.values(), ids=ENDINGS)
def test_the_list_is_emptied_however_the_hook_ends(before: str, after: str) -> None:
    source = """
class Net(pl.LightningModule):
    def test_step(self, batch, batch_idx):
        return self.score(batch)

    {hooks}def {name}:
        {body}
"""
    hooks = (
        "def on_test_epoch_start(self):\n        self._test_outputs = []\n\n"
        "    def on_test_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):\n"
        "        if outputs is not None:\n            self._test_outputs.append(outputs)\n\n    "
    )
    testing.check(
        module(source.format(hooks="", name="test_epoch_end(self, outputs)", body=before)),
        module(source.format(hooks=hooks, name="on_test_epoch_end(self)", body=after)),
        target="lightning",
    )


def test_a_body_on_the_line_of_its_def() -> None:
    text = testing.upgrade(
        module("""
        class Net(pl.LightningModule):
            def validation_step(self, b, i): return self.f(b)
            def validation_epoch_end(self, outs): self.log("n", len(outs))
        """),
        target="lightning",
    )
    assert (
        "    def on_validation_epoch_end(self):\n        outs = self._validation_outputs\n"
        '        self.log("n", len(outs))\n        self._validation_outputs.clear()\n'
    ) in text


LOADERS = {
    "a required index proves several loaders": ("dataloader_idx", False, True),
    "a default leaves it open": ("dataloader_idx=0", True, True),
    "no index proves one loader": ("", False, False),
}


@pytest.mark.parametrize(("parameter", "flattens", "nested"), LOADERS.values(), ids=LOADERS)
def test_a_list_for_each_loader(parameter: str, flattens: bool, nested: bool) -> None:
    signature = "self, batch, batch_idx" + (f", {parameter}" if parameter else "")
    text = testing.upgrade(
        module(f"""
        class Net(pl.LightningModule):
            def validation_step({signature}):
                return self.f(batch)

            def validation_epoch_end(self, outputs):
                print(outputs[0])
        """),
        target="lightning",
    )
    assert ("if len(outputs) == 1:\n            outputs = outputs[0]" in text) == flattens
    assert ("[[] for _ in loaders]" in text) == nested
    assert ("self._validation_outputs[dataloader_idx].append(outputs)" in text) == nested


def test_training_stores_the_keys_that_are_read_without_their_graph() -> None:
    testing.check(
        module("""
        class Net(pl.LightningModule):
            def training_step(self, batch, batch_idx):
                return {"loss": self.loss(batch), "out": batch, "image": batch}

            def training_epoch_end(self, outputs):
                self.log("mean", torch.stack([o["out"] for o in outputs]).mean())
        """),
        module("""
        class Net(pl.LightningModule):
            def training_step(self, batch, batch_idx):
                return {"loss": self.loss(batch), "out": batch, "image": batch}

            def on_train_epoch_start(self):
                self._train_outputs = []

            def on_train_batch_end(self, outputs, batch, batch_idx):
                if outputs:
                    self._train_outputs.append(
                        {
                            key: value.detach() if hasattr(value, "detach") else value
                            for key, value in outputs.items()
                            if key in ("out",)
                        }
                    )

            def on_train_epoch_end(self):
                outputs = self._train_outputs
                self.log("mean", torch.stack([o["out"] for o in outputs]).mean())
                self._train_outputs.clear()
        """),
        target="lightning",
    )


def test_the_class_has_the_new_hook_already() -> None:
    testing.check(
        module("""
        class Net(pl.LightningModule):
            def validation_step(self, batch, batch_idx):
                return self.f(batch)

            def on_validation_epoch_end(self):
                print("second")

            def validation_epoch_end(self, outputs):
                print("first", outputs)
        """),
        module("""
        class Net(pl.LightningModule):
            def validation_step(self, batch, batch_idx):
                return self.f(batch)

            def on_validation_epoch_end(self):
                self._validation_epoch_end(self._validation_outputs)
                self._validation_outputs = []
                print("second")

            def on_validation_epoch_start(self):
                self._validation_outputs = []

            def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
                if outputs is not None:
                    self._validation_outputs.append(outputs)

            def _validation_epoch_end(self, outputs):
                print("first", outputs)
        """),
        target="lightning",
    )


def test_the_class_has_the_other_hooks_already() -> None:
    testing.check(
        module("""
        class Net(pl.LightningModule):
            def validation_step(self, batch, batch_idx):
                return self.f(batch)

            def on_validation_epoch_start(self):
                print("start")

            def on_validation_batch_end(self, outs, batch, batch_idx, dataloader_idx=0):
                print("batch")

            def validation_epoch_end(self, outputs):
                print(len(outputs))
        """),
        module("""
        class Net(pl.LightningModule):
            def validation_step(self, batch, batch_idx):
                return self.f(batch)

            def on_validation_epoch_start(self):
                self._validation_outputs = []
                print("start")

            def on_validation_batch_end(self, outs, batch, batch_idx, dataloader_idx=0):
                if outs is not None:
                    self._validation_outputs.append(outs)
                print("batch")

            def on_validation_epoch_end(self):
                outputs = self._validation_outputs
                print(len(outputs))
                self._validation_outputs.clear()
        """),
        target="lightning",
    )


def test_a_base_has_the_new_hooks() -> None:
    text = testing.upgrade(
        module("""
        class Base(pl.LightningModule):
            def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
                print("base")

            def on_validation_epoch_end(self):
                print("base")

        class Net(Base):
            def validation_epoch_end(self, outputs):
                print(len(outputs))
        """),
        target="lightning",
    )
    assert "super().on_validation_batch_end(outputs, batch, batch_idx, dataloader_idx)" in text
    assert text.rstrip().endswith("self._validation_outputs = []\n        super().on_validation_epoch_end()")


BASE = """
import pytorch_lightning as pl

class Base(pl.LightningModule):
    def validation_epoch_end(self, outputs):
        self.log("n", len(outputs))
"""
SUB = """
from base import Base

class Net(Base):
    def validation_step(self, batch, batch_idx):
        return self.f(batch)

    def validation_epoch_end(self, outs):
        super().validation_epoch_end(outs[1:])
        print(outs)
"""


def test_a_hook_and_its_override_in_another_file_change_together() -> None:
    done = testing.upgrade_files({"base.py": BASE, "net.py": SUB}, target="lightning")
    # No step in sight of the base: one loader or several.
    assert (
        "        self._validation_epoch_end(outputs[0] if len(outputs) == 1 else outputs)\n"
        in done["base.py"]
    )
    assert "    def _validation_epoch_end(self, outputs):" in done["base.py"]
    assert "    def _validation_epoch_end(self, outs):" in done["net.py"]
    assert "        super()._validation_epoch_end(outs[1:])" in done["net.py"]
    assert "on_validation" not in done["net.py"]


@pytest.mark.parametrize("first", ["base.py", "net.py"])
def test_it_does_not_matter_which_file_is_upgraded_first(first: str) -> None:
    files = {"base.py": BASE, "net.py": SUB}
    together = testing.upgrade_files(files, target="lightning")
    second = next(name for name in files if name != first)
    for name in (first, second):
        others = {each: text for each, text in files.items() if each != name}
        files[name] = testing.upgrade(files[name], files=others, path=name, target="lightning")
    assert files == together


def test_a_hook_that_only_passes_on_the_outputs_is_renamed_with_its_base() -> None:
    done = testing.upgrade_files(
        {
            "base.py": BASE.replace("len(outputs)", "self.n"),
            "net.py": "from base import Base\n\nclass Net(Base):\n    def "
            "validation_epoch_end(self, outputs):\n"
            "        super().validation_epoch_end(outputs)\n        print()\n",
        },
        target="lightning",
    )
    assert "    def on_validation_epoch_end(self):\n        self.log" in done["base.py"]
    assert (
        "    def on_validation_epoch_end(self):\n        super().on_validation_epoch_end()\n"
        in done["net.py"]
    )


def test_calls_by_hand_find_the_method_that_takes_outputs() -> None:
    done = testing.upgrade_files(
        {
            "net.py": BASE.replace("Base", "Net"),
            "use.py": "from net import Net\n\nnet = Net()\nnet.validation_epoch_end([1])\n",
        },
        target="lightning",
    )
    assert "net._validation_epoch_end([1])" in done["use.py"]
    assert "def _validation_epoch_end(self, outputs):" in done["net.py"]


def test_a_subclass_must_not_hide_what_the_base_collects() -> None:
    done = testing.upgrade_files(
        {
            "base.py": BASE.replace(
                "    def validation_epoch_end", "    x = 1\n\n    def validation_epoch_end"
            ),
            "net.py": "from base import Base\n\nclass Net(Base):\n    def on_validation_epoch_start(self):\n"
            "        print()\n\n    def on_validation_epoch_end(self):\n        "
            "super().on_validation_epoch_end()\n",
        },
        target="lightning",
    )
    assert "        super().on_validation_epoch_start()\n        print()" in done["net.py"]
    assert done["net.py"].count("super().on_validation_epoch_end()") == 1


def test_one_function_under_two_names() -> None:
    text = testing.upgrade(
        module("""
        class Net(pl.LightningModule):
            def validation_step(self, batch, batch_idx):
                return self.f(batch)

            test_step = validation_step

            def validation_epoch_end(self, outputs):
                print(outputs)

            test_epoch_end = validation_epoch_end
        """),
        target="lightning",
    )
    assert "_test_epoch_end = _validation_epoch_end\n" in text
    assert "self._test_epoch_end(self._test_outputs)" in text
    assert "self._validation_epoch_end(self._validation_outputs)" in text


MANUAL = {
    "several optimizers": (
        "    def training_step(self, batch, batch_idx, optimizer_idx):\n        return self.f(batch)\n\n"
        "    def training_epoch_end(self, outputs):\n        print(outputs)\n",
        "several optimizers",
    ),
    "truncated backpropagation": (
        "    truncated_bptt_steps = 2\n\n    def training_epoch_end(self, outputs):\n        "
        "print(outputs)\n",
        "truncated backpropagation",
    ),
    "outputs by *args": (
        "    def test_epoch_end(self, *args):\n        print(args)\n",
        "*args",
    ),
    "a generator": (
        "    def test_epoch_end(self, outputs):\n        yield outputs\n",
        "generator",
    ),
    "the outputs come from a step-end hook that cannot be moved": (
        "    def validation_step_end(self, out):\n        return out + 1\n\n"
        "    def validation_epoch_end(self, outputs):\n        print(outputs)\n",
        "validation_step_end",
    ),
}


@pytest.mark.parametrize(("body", "why"), MANUAL.values(), ids=MANUAL)
def test_what_has_no_sure_rewrite_is_reported_with_its_reason(body: str, why: str) -> None:
    source = module("class Net(pl.LightningModule):\n" + body)
    assert testing.upgrade(source, target="lightning", unsafe=True) == source
    messages = [
        each.message for each in testing.findings(source) if each.code in ("TRU200", "TRU201", "TRU202")
    ]
    assert len(messages) == 1
    assert why in messages[0]


NOOPS = {
    "a class of another library": (
        "from projectlib import Task\n\nclass Net(Task):\n    def validation_epoch_end(self, outputs):\n"
        "        return len(outputs)\n"
    ),
    "no base": "class Net:\n    def validation_epoch_end(self, outputs):\n        return len(outputs)\n",
    "a function": "def validation_epoch_end(self, outputs):\n    return len(outputs)\n",
    "a callback": (
        "import pytorch_lightning as pl\n\nclass Log(pl.Callback):\n"
        "    def validation_epoch_end(self, outputs):\n        return len(outputs)\n"
    ),
    "Hugging Face's callback": (
        "from transformers import TrainerCallback\n\nclass Log(TrainerCallback):\n"
        "    def on_epoch_end(self, args, state, control):\n        print(state)\n"
    ),
    "set to None": (
        "import pytorch_lightning as pl\n\nclass Net(pl.LightningModule):\n    validation_epoch_end = None\n"
    ),
    "already upgraded": (
        "import pytorch_lightning as pl\n\nclass Net(pl.LightningModule):\n"
        "    def on_validation_epoch_start(self):\n        self._validation_outputs = []\n\n"
        "    def on_validation_epoch_end(self):\n        outputs = self._validation_outputs\n    "
        "    print(outputs)\n"
    ),
    "a method of that name on something else": (
        "import pytorch_lightning as pl\nfrom other import Adapter\n\nclass Net(pl.LightningModule):\n"
        "    def on_test_epoch_end(self):\n        Adapter().validation_epoch_end([])\n"
    ),
    "a private method of the user's own": (
        "import pytorch_lightning as pl\n\nclass Net(pl.LightningModule):\n"
        "    def _validation_epoch_end(self, outputs):\n        print(outputs)\n"
    ),
    "a subclass of an upgraded class that calls super": (
        "import pytorch_lightning as pl\n\nclass Base(pl.LightningModule):\n"
        "    def on_validation_epoch_end(self):\n        print(self._validation_outputs)\n\n"
        "class Net(Base):\n    def on_validation_epoch_end(self):\n        "
        "super().on_validation_epoch_end()\n"
    ),
    "a mixin that callbacks and modules share": (
        "import pytorch_lightning as pl\n\nclass Mixin:\n    def validation_epoch_end(self, outputs):\n"
        "        print(outputs)\n\nclass A(Mixin, pl.LightningModule): ...\n\nclass B(Mixin, "
        "pl.Callback): ...\n"
    ),
}


@pytest.mark.parametrize("source", NOOPS.values(), ids=NOOPS)
def test_left_alone(source: str) -> None:
    testing.check_noop(source, target="lightning")


def test_a_base_out_of_sight_is_reported_and_not_touched() -> None:
    source = (
        "from projectlib import Task\n# lightning\n\nclass Net(Task):\n    def "
        "validation_epoch_end(self, outputs):\n"
        "        super().validation_epoch_end(outputs)\n        self.log('n', len(outputs))\n"
    )
    (found,) = testing.check_noop(source, target="lightning", codes=["TRU201"])
    assert found.applicability is Applicability.MANUAL
    assert "out of sight" in found.message


def test_the_user_has_a_method_of_the_private_name() -> None:
    text = testing.upgrade(
        module("""
        class Net(pl.LightningModule):
            def _validation_epoch_end(self, outputs, stage):
                print(stage)

            def validation_epoch_end(self, outputs):
                self._validation_epoch_end(outputs, "val")

            def check(self):
                self.validation_epoch_end([])
        """),
        target="lightning",
    )
    assert "def _on_validation_epoch_end(self, outputs):" in text
    assert "self._on_validation_epoch_end([])" in text
    assert "def _validation_epoch_end(self, outputs, stage):" in text


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        pytest.param(
            "self, batch, batch_idx", Applicability.SAFE, id="no index: 1.x took one optimizer only"
        ),
        pytest.param("self, *args", Applicability.UNSAFE, id="any number of optimizers"),
    ],
)
def test_how_sure_a_training_rewrite_is(training: str, expected: Applicability) -> None:
    found = testing.findings(
        module(f"""
        class Net(pl.LightningModule):
            def training_step({training}):
                return self.loss()

            def training_epoch_end(self, outputs):
                print(outputs)
        """)
    )
    assert [each.applicability for each in found if each.code == "TRU200"] == [expected]


def test_windows_line_ends_and_tabs_stay() -> None:
    source = module("""
    class Net(pl.LightningModule):
    \tdef validation_step(self, batch, batch_idx):
    \t\treturn self.f(batch)

    \tdef validation_epoch_end(self, outputs):
    \t\tprint(len(outputs))
    """).replace("\n", "\r\n")
    text = testing.upgrade(source, target="lightning")
    assert "\n" not in text.replace("\r\n", "")
    assert "\t\tif outputs is not None:\r\n\t\t\tself._validation_outputs.append(outputs)\r\n" in text
    assert "    " not in text


COLLECTS = """
class Net(pl.LightningModule):
    def validation_step(self, batch, batch_idx):
        return batch.sum()

    def validation_epoch_end(self, outputs):
        self.log("n", len(outputs))
"""
DOUBTS = {
    "looked up by its name": (
        'def call(model):\n    return getattr(model, "validation_epoch_end")\n',
        "example.py:13 looks it up by its name",
        ["TRU201", "TRU201"],
    ),
    "called on something unknown": (
        "def call(model):\n    model.validation_epoch_end([])\n",
        "example.py:13 mentions it on an unknown object",
        ["TRU201", "TRU201"],
    ),
    "its own __setattr__": (
        "    def __setattr__(self, name, value):\n        print(name)\n",
        "its own way of setting attributes",
        ["TRU201"],
    ),
}


@pytest.mark.parametrize(("more", "message", "codes"), DOUBTS.values(), ids=DOUBTS)
def test_a_doubt_outside_of_the_hook_makes_the_rewrite_unsafe(
    more: str, message: str, codes: list[str]
) -> None:
    found = testing.findings(module(COLLECTS) + "\n" + more, target="lightning")
    assert [each.code for each in found] == codes
    assert found[0].applicability is Applicability.UNSAFE
    assert message in found[0].message
    # The place at fault is told, too, and not changed.
    assert all(each.fix is None and each.start.row == 13 for each in found[1:])


def test_what_another_library_has_under_that_name_is_no_doubt() -> None:
    found = testing.findings(
        module(COLLECTS) + "\nimport other\n\nother.Adapter().validation_epoch_end([])\n", target="lightning"
    )
    assert [each.applicability for each in found] == [Applicability.SAFE]


UNFIT = {
    "a second definition": (
        COLLECTS + "\n    def validation_epoch_end(self, outputs):\n        print(outputs)\n",
        "more than once",
    ),
    "super() in a variable": (
        COLLECTS + "        parent = super()\n        print(parent, outputs)\n",
        "`super()` in a variable",
    ),
    "a start hook under a condition": (
        COLLECTS
        + "\n    if torch.cuda.is_available():\n        def on_validation_epoch_start(self):\n            print()\n",
        "under a condition",
    ),
    "a start hook with a decorator": (
        COLLECTS + "\n    @timed\n    def on_validation_epoch_start(self):\n        print()\n",
        "`on_validation_epoch_start` of the class is decorated",
    ),
    "outputs by **kwargs": (
        "class Net(pl.LightningModule):\n    def validation_epoch_end(self, **kwargs):\n        print(kwargs)\n",
        "",
    ),
    "an annotated attribute": (
        "def mean(self, outputs):\n    print(outputs)\n\nclass Net(pl.LightningModule):\n"
        "    validation_epoch_end: object = mean\n",
        "must become `on_validation_epoch_end(self)`",
    ),
    "an attribute of an instance": (
        "class Net(pl.LightningModule):\n    pass\n\nnet = Net()\nnet.validation_epoch_end = print\n",
        "must become `on_validation_epoch_end(self)`",
    ),
}


@pytest.mark.parametrize(("source", "message"), UNFIT.values(), ids=UNFIT)
def test_what_is_written_in_a_strange_way_is_told_and_left(source: str, message: str) -> None:
    (found,) = testing.check_noop(module(source), target="lightning", codes=["TRU201"])
    assert message in found.message


def test_locals_sees_the_outputs_so_they_are_collected() -> None:
    text = testing.upgrade(module(COLLECTS).replace('self.log("n", len(outputs))', "print(locals())"))
    assert "outputs = self._validation_outputs" in text


def test_a_decorator_goes_on_wrapping_a_method_that_takes_the_outputs() -> None:
    source = module(COLLECTS).replace(
        '    def validation_epoch_end(self, outputs):\n        self.log("n", len(outputs))',
        "    @timed\n    def validation_epoch_end(self, outputs):\n        print()",
    )
    text = testing.upgrade(source)
    assert "    @timed\n    def _validation_epoch_end(self, outputs):\n        print()" in text
    assert "self._validation_epoch_end(self._validation_outputs)" in text


def test_a_name_that_the_class_body_binds_is_taken() -> None:
    text = testing.upgrade(module(COLLECTS) + "\n    _validation_outputs = ()\n")
    assert "outputs = self._validation_step_outputs" in text
