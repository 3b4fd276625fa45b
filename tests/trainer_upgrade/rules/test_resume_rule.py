"""``resume_from_checkpoint`` moves to the first ``fit``, and only there."""

from __future__ import annotations

import pytest

from trainer_upgrade import testing

HEAD = "import pytorch_lightning as pl\n\nm = p = cond = None\n"

MOVED = [
    pytest.param(
        't = pl.Trainer(resume_from_checkpoint="a.ckpt")\nt.fit(m)\n',
        't = pl.Trainer()\nt.fit(m, ckpt_path="a.ckpt")\n',
        id="a literal",
    ),
    pytest.param(
        'pl.Trainer(max_epochs=1, resume_from_checkpoint="a.ckpt").fit(m)\n',
        'pl.Trainer(max_epochs=1).fit(m, ckpt_path="a.ckpt")\n',
        id="built and fitted at once",
    ),
    pytest.param(
        "def f(path):\n    t = pl.Trainer(resume_from_checkpoint=path)\n    t.fit(m)\n",
        "def f(path):\n    t = pl.Trainer()\n    t.fit(m, ckpt_path=path or None)\n",
        id="a value that may be an empty string",
    ),
    pytest.param(
        "def f(path):\n    t = pl.Trainer(resume_from_checkpoint=path)\n    t.validate(m)\n    t.fit(m)\n"
        "    t.test(m)\n    t.fit(m)\n",
        "def f(path):\n    t = pl.Trainer()\n    t.validate(m)\n    t.fit(m, ckpt_path=path or None)\n"
        "    t.test(m)\n    t.fit(m)\n",
        id="the first fit used it up, and nothing else took it",
    ),
    pytest.param(
        'def f():\n    t = pl.Trainer(resume_from_checkpoint="a")\n    if cond:\n        t.fit(m)\n    else:\n'
        "        t.fit(m, m)\n",
        'def f():\n    ckpt_path = "a"\n    t = pl.Trainer()\n    if cond:\n        t.fit(m, ckpt_path=ckpt_path)\n'
        "    else:\n        t.fit(m, m, ckpt_path=ckpt_path)\n",
        id="a first fit in each branch",
    ),
    pytest.param(
        "def f(path):\n    t = pl.Trainer(resume_from_checkpoint=path)\n    path = other(path)\n    t.fit(m)\n",
        "def f(path):\n    ckpt_path = path\n    t = pl.Trainer()\n    path = other(path)\n"
        "    t.fit(m, ckpt_path=ckpt_path or None)\n",
        id="the value changes in between: it is kept",
    ),
    pytest.param(
        "def f():\n    t = pl.Trainer(resume_from_checkpoint=find())\n    t.fit(m)\n",
        "def f():\n    ckpt_path = find()\n    t = pl.Trainer()\n    t.fit(m, ckpt_path=ckpt_path or None)\n",
        id="a call is made when the Trainer is built, as before",
    ),
    pytest.param(
        "def f(path):\n    t = pl.Trainer(resume_from_checkpoint=path)\n    t.fit(m)\n    return t\n",
        "def f(path):\n    t = pl.Trainer()\n    t.fit(m, ckpt_path=path or None)\n    return t\n",
        id="handed on after the first fit",
    ),
    pytest.param(
        "def f(path, old=None):\n    t = pl.Trainer(resume_from_checkpoint=path)\n    t.fit(m, ckpt_path=old)\n",
        "def f(path, old=None):\n    t = pl.Trainer()\n    t.fit(m, ckpt_path=old or (path or None))\n",
        id="a path given to fit won",
    ),
    pytest.param(
        't = pl.Trainer(resume_from_checkpoint="a.ckpt")\nt.test(m)\n',
        "t = pl.Trainer()\nt.test(m)\n",
        id="never fitted: it had no effect",
    ),
]


@pytest.mark.parametrize("target", ["lightning", "relight"])
@pytest.mark.parametrize(("before", "after"), MOVED)
def test_moved(before: str, after: str, target: str) -> None:
    head = HEAD.replace("pytorch_lightning", "relight") if target == "relight" else HEAD
    testing.check(HEAD + before, head + after, target=target)


def test_a_helper_that_builds_the_trainer_returns_the_path_too() -> None:
    before = (
        "def make():\n    return pl.Trainer(resume_from_checkpoint=p)\n\n\ndef run():\n    t = make()\n"
        "    t.validate(m)\n    t.fit(m)\n"
    )
    after = (
        "def make():\n    ckpt_path = p\n    return pl.Trainer(), ckpt_path\n\n\ndef run():\n"
        "    t, ckpt_path = make()\n    t.validate(m)\n    t.fit(m, ckpt_path=ckpt_path or None)\n"
    )
    assert testing.upgrade(HEAD + before, target="lightning") == HEAD + before
    testing.check(HEAD + before, HEAD + after, target="lightning", unsafe=True)


REPORTED = [
    pytest.param("def f():\n    return pl.Trainer(resume_from_checkpoint=p)\n", id="fitted somewhere else"),
    pytest.param(
        "class R:\n    def __init__(self):\n        self.t = pl.Trainer(resume_from_checkpoint=p)\n\n"
        "    def run(self):\n        self.t.fit(m)\n",
        id="kept in an attribute",
    ),
    pytest.param(
        "t = pl.Trainer(resume_from_checkpoint=p)\nfor _ in range(2):\n    t.fit(m)\n",
        id="the first fit is one of a loop",
    ),
    pytest.param(
        "def f(x):\n    t = pl.Trainer(resume_from_checkpoint=p)\n    if x:\n        t.fit(m)\n    t.fit(m)\n",
        id="which fit is the first depends",
    ),
    pytest.param(
        "def f(x):\n    t = pl.Trainer(resume_from_checkpoint=p)\n    x.run(t)\n    t.fit(m)\n",
        id="handed on before the fit",
    ),
]


@pytest.mark.parametrize("source", REPORTED)
def test_reported_and_left(source: str) -> None:
    found = testing.check_noop(HEAD + source, target="lightning", codes=["TRU116"])
    assert found[0].fix is None


UNTOUCHED = [
    pytest.param("t = pl.Trainer()\nt.fit(m, ckpt_path=p)\n", id="modern already"),
    pytest.param(
        "from transformers import Trainer, TrainingArguments\n"
        "t = Trainer(args=TrainingArguments(resume_from_checkpoint=p))\nt.train(resume_from_checkpoint=p)\n",
        id="another library's argument of that name",
    ),
    pytest.param(
        "def go(resume_from_checkpoint): ...\ngo(resume_from_checkpoint=p)\n", id="the user's own function"
    ),
]


@pytest.mark.parametrize("source", UNTOUCHED)
def test_untouched(source: str) -> None:
    testing.check_noop(HEAD + source, target="lightning")
