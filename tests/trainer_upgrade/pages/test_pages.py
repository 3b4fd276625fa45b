"""Every code has a page that says what the tool really does with its example."""

from __future__ import annotations

import ast

import pytest

from trainer_upgrade import catalogue
from trainer_upgrade.codes import OWN_CODES, known_codes
from trainer_upgrade.errors import UsageError
from trainer_upgrade.pages.examples import written
from trainer_upgrade.pages.lookup import find_codes
from trainer_upgrade.pages.markdown import render
from trainer_upgrade.pages.page import name_of, rule_page
from trainer_upgrade.pages.run import codes_in
from trainer_upgrade.pages.terminal import explained

CODES = sorted(known_codes())


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_page(code: str) -> None:
    page = rule_page(code)
    text = render(page)
    assert text.startswith(f"# {code}: ")
    if code not in OWN_CODES:
        assert catalogue.by_code(code)[0].advice.rstrip(".")[1:60] in text
    if page.before is None:
        return
    # What is shown is what the tool does: each target's text is there and is Python where the example is.
    assert len(page.after) == 2
    assert any(fixed.messages for fixed in page.after)
    for fixed in page.after:
        assert fixed.how in ("safe", "unsafe", "reported", "kept")
        if page.before.path.endswith(".py"):
            ast.parse(fixed.after)
        if fixed.how in ("safe", "unsafe"):
            assert fixed.after != page.before.text
            assert fixed.after.rstrip("\n") in text


@pytest.mark.parametrize("code", sorted(written()))
def test_a_written_example_shows_its_code(code: str) -> None:
    assert code in codes_in(written()[code])


def test_most_codes_have_an_example() -> None:
    # The rest are facts about numbers and defaults, which no file alone shows.
    shown = [code for code in CODES if rule_page(code).before is not None]
    assert len(shown) >= 300


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("tru101", "TRU101"),
        ("gpus", "TRU101"),
        ("--gpus", "TRU101"),
        ("--trainer.gpus", "TRU101"),
        ("Trainer(gpus=4)", "TRU101"),
        ("trainer.tune", "TRU404"),
        ("training_epoch_end", "TRU200"),
        ("pl.metrics.Accuracy", "TRU310"),
        ("pytorch_lightning.lite.LightningLite", "TRU318"),
        ("TypeError: Trainer.__init__() got an unexpected keyword argument 'gpus'", "TRU101"),
        ("__init__() got an unexpected keyword argument 'resume_from_checkpoint'", "TRU116"),
        ("ModelCheckpoint.__init__() got an unexpected keyword argument 'period'", "TRU602"),
        ("Trainer.fit() got an unexpected keyword argument 'train_dataloader'", "TRU501"),
        ("AttributeError: 'Trainer' object has no attribute 'tune'", "TRU404"),
        ("ModuleNotFoundError: No module named 'pytorch_lightning.metrics'", "TRU310"),
        (
            "cannot import name 'rank_zero_only' from 'pytorch_lightning.utilities.distributed' (a.py)",
            "TRU311",
        ),
        ("NotImplementedError: Support for `training_epoch_end` has been removed in v2.0.0.", "TRU200"),
        ("ModelCheckpoint(filepath", "TRU601"),
        ("cannot import name 'LightningLoggerBase'", "TRU314"),
        ("model.load_from_checkpoint(path)", "TRU233"),
        ("'16-mixed' is invalid", "TRU942"),
        ("Support for validation_epoch_end has been removed", "TRU201"),
        ("type object 'Trainer' has no attribute 'add_argparse_args'", "TRU435"),
        ("LitModel.setup() got an unexpected keyword argument 'stage'", "TRU246"),
        ("TypeError: __new__() missing 1 required positional argument: 'task'", "TRU310"),
        ("AttributeError: can't set attribute 'hparams'", "TRU225"),
        ("AttributeError: property 'hparams' of 'Net' object has no setter", "TRU225"),
        ("KeyError: 'pytorch-lightning_version'", "TRU898"),
        ("optimizer_step() missing 1 required positional argument: 'optimizer_closure'", "TRU213"),
        ("Net.on_train_batch_end() missing 1 required positional argument: 'dataloader_idx'", "TRU223"),
        ("Net.on_validation_epoch_end() missing 1 required positional argument: 'outputs'", "TRU224"),
        (
            "You selected an invalid accelerator name: `accelerator='ddp'`. Available names are: auto",
            "TRU108",
        ),
        ("You selected an invalid strategy name: `strategy=None`.", "TRU110"),
        ("Precision '16-mixed' is invalid. Allowed precision values: ('16', 16)", "TRU942"),
        ("element 0 of tensors does not require grad and does not have a grad_fn", "TRU834"),
        ("invalid metadata: .* suffix can only be used with `==` or `!=` operators", "TRU901"),
        ("parameters that were not used in producing the loss returned by training_step", "TRU804"),
        (
            "TypeError: `model` must be a `LightningModule` or `torch._dynamo.OptimizedModule`, got `Net`",
            "TRU940",
        ),
        ("_pickle.UnpicklingError: Weights only load failed", "TRU873"),
    ],
)
def test_a_question_finds_its_code(asked: str, code: str) -> None:
    assert find_codes(asked)[0] == code
    assert explained(asked).startswith(f"# {code}: ")


@pytest.mark.parametrize(
    ("asked", "word"),
    [("gpux", "gpus"), ("TRU10", "TRU10"), ("hello world", "names like gpus"), ("", "TRU101")],
)
def test_an_unknown_question_says_what_is_close(asked: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        find_codes(asked)


def test_the_name_asked_for_comes_first_on_a_shared_page() -> None:
    text = explained("pytorch_lightning.metrics.Accuracy")
    assert "from torchmetrics import Accuracy" in text
    assert text.splitlines()[0] == "# TRU310: `pytorch_lightning.metrics.Accuracy`"


def test_a_value_is_shown_under_the_argument_that_holds_it() -> None:
    page = rule_page("TRU710")
    assert page.before is not None
    assert 'strategy="dp"' in page.before.text
    assert page.after[0].how == "reported"


def test_names_are_written_as_people_write_them() -> None:
    names = {entry.code: name_of(entry) for entry in reversed(list(catalogue.entries()))}
    assert names["TRU101"] == "Trainer(gpus=…)"
    assert names["TRU404"] == "trainer.tune"
    assert names["TRU200"] == "LightningModule.training_epoch_end"
    assert names["TRU602"] == "ModelCheckpoint(period=…)"


def test_the_page_is_about_what_the_error_names() -> None:
    text = explained("ModuleNotFoundError: No module named 'pytorch_lightning.utilities.distributed'")
    assert text.startswith("# TRU325: `pytorch_lightning.utilities.distributed`")
    assert "rank_zero" in text.partition("| | |")[0]
    text = explained("cannot import name 'AMPType' from 'pytorch_lightning.utilities.enums' (enums.py)")
    assert "AMPType" in text.splitlines()[0]
