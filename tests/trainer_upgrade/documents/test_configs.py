"""Configuration files: what reaches a Trainer is upgraded, all else keeps every byte."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest
import yaml

from trainer_upgrade import testing

USE = "import pytorch_lightning as pl\n\ntrainer = pl.Trainer(**cfg.trainer)\n"


def clean(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n")


def upgrade(
    text: str, path: str = "conf/config.yaml", *, code: str = "", target: str = "lightning", **more: Any
) -> str:
    files = {path: clean(text)}
    if code:
        files["train.py"] = clean(code)
    return testing.upgrade_files(files, target=target, **more)[path]


def findings(
    text: str, path: str = "conf/config.yaml", *, code: str = "", target: str = "lightning"
) -> list[Any]:
    return testing.findings(text, target=target, path=path, files={"train.py": clean(code)} if code else None)


HYDRA = """
    # @package _global_
    trainer:
      _target_: pytorch_lightning.Trainer
      gpus: 4   # cards
      accelerator: ddp  # one process a card

      # kept
      precision: 16
      progress_bar_refresh_rate: 5
      max_epochs: 3
    other:
      gpus: 4
"""


def test_a_hydra_node_is_upgraded_in_place() -> None:
    assert upgrade(HYDRA) == clean("""
        # @package _global_
        trainer:
          _target_: pytorch_lightning.Trainer
          devices: 4   # cards
          accelerator: gpu
          strategy: ddp  # one process a card

          # kept
          precision: "16-mixed"
          callbacks:
            - _target_: pytorch_lightning.callbacks.TQDMProgressBar
              refresh_rate: 5
          max_epochs: 3
        other:
          gpus: 4
    """)


def test_the_same_for_relight_with_options() -> None:
    text = """
        trainer:
          _target_: pytorch_lightning.Trainer
          gpus: 1
          gradient_clip_val: 0.50  # as in the paper
          limit_val_batches: 1.0e-1
    """
    assert upgrade(text, target="relight") == clean("""
        trainer:
          _target_: relight.Trainer
          devices: 1
          accelerator: gpu
          options:
            gradient_clip_val: 0.50  # as in the paper
            limit_val_batches: 1.0e-1
    """)


def test_what_only_compat_takes_goes_through_compat() -> None:
    text = "trainer:\n  _target_: pytorch_lightning.Trainer\n  deterministic: true\n  track_grad_norm: 2\n"
    new = upgrade(text, target="relight", unsafe=True)
    assert "_target_: relight.compat.Trainer" in new
    assert "track_grad_norm: 2" in new


def test_line_ends_bom_quotes_and_a_missing_last_line_end_stay() -> None:
    text = (
        "\ufefftrainer:\r\n    '_target_': 'pytorch_lightning.Trainer'\r\n    'gpus': 2\r\n    precision: 16"
    )
    new = upgrade(text)
    assert new == (
        "\ufefftrainer:\r\n    '_target_': 'pytorch_lightning.Trainer'\r\n    'devices': 2\r\n"
        "    accelerator: gpu\r\n    precision: '16-mixed'"
    )


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (USE, "trainer:\n  gpus: 2\n"),
        (
            "import pytorch_lightning as pl\npl.Trainer(logger=x, **config['trainer'])\n",
            "trainer:\n  gpus: 2\n",
        ),
        (
            "import yaml\nfrom pytorch_lightning import Trainer\nwith open('conf/config.yaml') as f:\n"
            "    config = yaml.safe_load(f)\nrunner = Trainer(**config['trainer_params'])\n",
            "trainer_params:\n  gpus: 2\n",
        ),
        (
            "import yaml\nfrom pytorch_lightning import Trainer\nwith open('conf/config.yaml') as f:\n"
            "    config = yaml.safe_load(f)\nrunner = Trainer(**config)\n",
            "gpus: 2\nmax_epochs: 3\n",
        ),
        (
            "from argparse import Namespace\nimport pytorch_lightning as pl\nfrom omegaconf import OmegaConf\n"
            "lightning_config = config.pop('lightning', OmegaConf.create())\n"
            "trainer_config = lightning_config.get('trainer', OmegaConf.create())\n"
            "opt = Namespace(**trainer_config)\ntrainer = pl.Trainer.from_argparse_args(opt)\n",
            "lightning:\n  trainer:\n    gpus: 2\n",
        ),
        (
            "import pytorch_lightning as pl\nfrom omegaconf import OmegaConf\n\n\ndef build(conf):\n"
            "    return pl.Trainer(**OmegaConf.to_container(conf))\n\n\nbuild(cfg.exp.trainer)\n",
            "exp:\n  trainer:\n    gpus: 2\n",
        ),
        ("from pytorch_lightning.cli import LightningCLI\nLightningCLI(Net)\n", "trainer:\n  gpus: 2\n"),
    ],
)
def test_ways_to_a_trainer(code: str, text: str) -> None:
    new = upgrade(text, code=code, unsafe=True)
    assert "devices: 2" in new
    assert "gpus" not in new


@pytest.mark.parametrize(
    "code",
    [
        "",
        "from transformers import Trainer\nTrainer(**cfg.trainer)\n",
        "import pytorch_lightning as pl\npl.Trainer(**cfg.other)\n",
        "import pytorch_lightning as pl\npl.Trainer(gpus=cfg.trainer.gpus)\n",
    ],
)
def test_what_no_code_hands_to_a_trainer_is_told_and_kept(code: str) -> None:
    text = "trainer:\n  gpus: 2\n  max_epochs: 3\n"
    assert upgrade(text, code=code, unsafe=True) == text
    assert [each.code for each in findings(text, code=code)] == ["TRU920"]


@pytest.mark.parametrize(
    "text",
    [
        "gpus: 2\n",
        "cluster:\n  gpus: 4\n  partition: a\n",
        "trainer:\n  gpus: 2\n  workers: 3\n  steps: 4\n  batch: 5\n",
        "trainer: {name: x}\n",
        "model:\n  _target_: src.models.Net\n  gpus: 2\n",
        "trainer:\n  _target_: transformers.Trainer\n  gpus: 2\n  precision: 16\n",
        "- pytorch_lightning\n- {gpus: 1}\n",
        "x: pytorch-lightning is a package\n",
        "trainer:\n  max_epochs: 3\n  precision: 16\n  devices: 2\n",
    ],
)
def test_other_configurations_are_left_alone(text: str) -> None:
    assert findings(text) == []
    assert upgrade(text, unsafe=True) == text


def test_a_group_file_is_known_by_its_directory() -> None:
    code = """
        import hydra
        import pytorch_lightning as pl
        trainer = hydra.utils.instantiate(cfg.trainer, callbacks=callbacks, logger=logger)
    """
    files = {
        "conf/trainer/default.yaml": "_target_: pytorch_lightning.Trainer\ngpus: 0\nresume_from_checkpoint: null\n",
        "conf/trainer/ddp.yaml": "defaults:\n  - default.yaml\n\ngpus: 4\nstrategy: ddp\n",
        "conf/experiment/big.yaml": "# @package _global_\ntrainer:\n  gpus: 8\n",
        "conf/data/big.yaml": "gpus: 8\n",
        "train.py": clean(code),
    }
    after = testing.upgrade_files(files, target="lightning")
    assert after["conf/trainer/default.yaml"] == (
        "_target_: pytorch_lightning.Trainer\naccelerator: cpu\ndevices: 1\n"
    )
    assert after["conf/trainer/ddp.yaml"] == (
        "defaults:\n  - default.yaml\n\ndevices: 4\naccelerator: gpu\nstrategy: ddp\n"
    )
    assert (
        after["conf/experiment/big.yaml"]
        == "# @package _global_\ntrainer:\n  devices: 8\n  accelerator: gpu\n"
    )
    assert after["conf/data/big.yaml"] == files["conf/data/big.yaml"]


def test_a_callback_has_no_place_where_the_code_passes_its_own() -> None:
    code = (
        "import hydra\nimport pytorch_lightning\nhydra.utils.instantiate(cfg.trainer, callbacks=callbacks)\n"
    )
    text = (
        "trainer:\n  _target_: pytorch_lightning.Trainer\n  progress_bar_refresh_rate: 5\n  max_epochs: 1\n"
    )
    (found,) = findings(text, code=code)
    assert "add it to the callbacks that the code passes" in found.message
    assert upgrade(text, code=code) == text
    assert "refresh" not in upgrade(text, code=code, unsafe=True)
    text = "trainer:\n  _target_: pytorch_lightning.Trainer\n  stochastic_weight_avg: true\n  max_epochs: 1\n"
    assert upgrade(text, code=code, unsafe=True) == text


@pytest.mark.parametrize("value", ["${gpus}", "${oc.env:GPUS}", "${trainer.n}", "${eval:'1 + 1'}"])
def test_an_interpolation_that_matters_is_not_guessed(value: str) -> None:
    text = f"trainer:\n  _target_: pytorch_lightning.Trainer\n  gpus: {value}\n"
    assert upgrade(text, unsafe=True) == text
    (found,) = findings(text)
    assert found.code == "TRU101"
    assert found.fix is None


def test_an_interpolation_moves_along_where_only_the_name_changes() -> None:
    text = "trainer:\n  _target_: pytorch_lightning.Trainer\n  default_save_path: ${dir}/out\n"
    assert upgrade(text) == text.replace("default_save_path", "default_root_dir")


def test_keys_that_others_read_are_renamed_only_when_asked() -> None:
    code = USE + "\nprint(cfg.trainer.checkpoint_callback)\n"
    text = "trainer:\n  checkpoint_callback: false\n  max_epochs: 1\n"
    (found,) = findings(text, code=code)
    assert "train.py:5 reads `trainer.checkpoint_callback`" in found.message
    assert upgrade(text, code=code) == text
    assert "enable_checkpointing: false" in upgrade(text, code=code, unsafe=True)
    text += "name: run-${trainer.checkpoint_callback}\n"
    (found,) = findings(text, code=USE)
    assert "refers to `${trainer.checkpoint_callback}`" in found.message


def test_resuming_moves_to_the_root_where_fit_reads_it() -> None:
    code = USE + "trainer.fit(net, ckpt_path=cfg.ckpt_path)\n"
    text = "trainer:\n  resume_from_checkpoint: a.ckpt\n  max_epochs: 1\nseed: 1\n"
    assert upgrade(text, code=code, unsafe=True) == "trainer:\n  max_epochs: 1\nseed: 1\nckpt_path: a.ckpt\n"
    code = USE + "trainer.fit(net)\n"
    assert upgrade(text, code=code, unsafe=True) == text
    (found,) = findings(text, code=code)
    assert "train.py:4" in found.message


CLI = """
    seed_everything: 1
    trainer:
      gpus: 1
      checkpoint_callback: true
      weights_summary: top
      replace_sampler_ddp: true
      track_grad_norm: -1
      amp_level: O2
      callbacks:
        - class_path: pytorch_lightning.callbacks.progress.ProgressBar
          init_args: {refresh_rate: 5}
        - class_path: pytorch_lightning.callbacks.GPUStatsMonitor
      profiler:
        class_path: pytorch_lightning.profiler.SimpleProfiler
      plugins:
        - class_path: pytorch_lightning.plugins.DDPPlugin
          init_args:
            # faster
            find_unused_parameters: false
    model:
      class_path: src.Net
      init_args:
        gpus: 1
"""


def test_a_dump_of_lightning_cli() -> None:
    code = "from pytorch_lightning.utilities.cli import LightningCLI\nLightningCLI(Net)\n"
    assert upgrade(CLI, code=code, unsafe=True) == clean("""
        seed_everything: 1
        trainer:
          devices: 1
          accelerator: gpu
          enable_checkpointing: true
          use_distributed_sampler: true
          callbacks:
            - class_path: pytorch_lightning.callbacks.progress.TQDMProgressBar
              init_args: {refresh_rate: 5}
            - class_path: pytorch_lightning.callbacks.DeviceStatsMonitor
          profiler:
            class_path: pytorch_lightning.profilers.SimpleProfiler
          strategy:
            class_path: pytorch_lightning.strategies.DDPStrategy
            init_args:
              # faster
              find_unused_parameters: false
        model:
          class_path: src.Net
          init_args:
            gpus: 1
    """).replace("callbacks.progress.TQDMProgressBar", "callbacks.TQDMProgressBar")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "a: {_target_: pytorch_lightning.callbacks.ModelCheckpoint, period: 2, mode: max}",
            "a: {_target_: pytorch_lightning.callbacks.ModelCheckpoint, every_n_epochs: 2, mode: max}",
        ),
        (
            "a:\n  _target_: lightning.pytorch.callbacks.ModelCheckpoint\n  filepath: ${d}/{epoch}-x  # here",
            "a:\n  _target_: lightning.pytorch.callbacks.ModelCheckpoint\n  dirpath: ${d}  # here\n"
            '  filename: "{epoch}-x"',
        ),
        (
            "target: pytorch_lightning.loggers.base.LightningLoggerBase\nparams: {}",
            "target: pytorch_lightning.loggers.Logger\nparams: {}",
        ),
        (
            "m:\n  _target_: pytorch_lightning.metrics.Accuracy",
            "m:\n  _target_: torchmetrics.Accuracy",
        ),
    ],
)
def test_paths_and_arguments_of_other_classes(before: str, after: str) -> None:
    new = upgrade(before + "\n", unsafe=True)
    assert new == after + "\n"


def test_anchors_and_several_documents() -> None:
    text = """
        base: &base
          max_epochs: 3
        trainer:
          <<: *base
          _target_: pytorch_lightning.Trainer
          checkpoint_callback: &keep false
        other: *keep
        ---
        trainer: !tag
          _target_: pytorch_lightning.Trainer
          terminate_on_nan: false
          max_epochs: 1
    """
    assert upgrade(text) == clean(text).replace(
        "checkpoint_callback: &keep", "enable_checkpointing: &keep"
    ).replace("  terminate_on_nan: false\n", "")


def test_a_mapping_that_aliases_stand_for_wants_a_look() -> None:
    text = "a: &t\n  _target_: pytorch_lightning.Trainer\n  checkpoint_callback: false\nb: *t\n"
    assert upgrade(text) == text
    assert "enable_checkpointing" in upgrade(text, unsafe=True)


def test_a_node_with_nothing_left_is_an_empty_one() -> None:
    assert upgrade("trainer:\n  terminate_on_nan: false\n", code=USE) == "trainer:\n  {}\n"


@pytest.mark.parametrize("indent", [2, 4, "\t", None])
def test_json(indent: Any) -> None:
    content = {"trainer": {"gpus": 2, "gradient_clip_val": 0.5, "accelerator": "ddp"}, "other": {"gpus": 2}}
    text = json.dumps(content, indent=indent) + "\n"
    new = upgrade(text, "conf/config.json", code=USE.replace("cfg.trainer", "cfg['trainer']"))
    assert json.loads(new) == {
        "trainer": {"devices": 2, "accelerator": "gpu", "gradient_clip_val": 0.5, "strategy": "ddp"},
        "other": {"gpus": 2},
    }
    if indent is not None:
        assert new == json.dumps(json.loads(new), indent=indent) + "\n"


def test_toml() -> None:
    text = """
        # run
        [trainer]
        gpus = 2  # cards
        gradient_clip_val = 0.5
        distributed_backend = "ddp"

        [other]
        gpus = 2
    """
    assert upgrade(text, "conf/config.toml", code=USE.replace("cfg.trainer", "cfg['trainer']")) == clean("""
        # run
        [trainer]
        devices = 2  # cards
        accelerator = "gpu"
        gradient_clip_val = 0.5
        strategy = "ddp"

        [other]
        gpus = 2
    """)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.yaml", "trainer: [pytorch_lightning"),
        ("a.yaml", "a: b\n\tpytorch_lightning: {{ x }}\n"),
        ("a.yaml", "pytorch_lightning: *nowhere\n"),
        ("a.json", '{"pytorch_lightning": }'),
        ("a.toml", "[pytorch_lightning\n"),
        ("a.yaml", "x: pytorch_lightning\n\0"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_one_finding(path: str, text: str) -> None:
    assert [each.code for each in findings(text, path)] == ["TRU001"]
    assert findings(text.replace("pytorch_lightning", "trainer"), path) == []


def test_options_and_pins_count_for_configurations_too(tmp_path: Any) -> None:
    from trainer_upgrade.catalogue.entry import Target
    from trainer_upgrade.engine import Engine, Options, PathCodes
    from trainer_upgrade.project.index import Project

    (tmp_path / "requirements.txt").write_text("pytorch-lightning==1.5.0\n")
    path = tmp_path / "conf" / "a.yaml"
    path.parent.mkdir()
    path.write_text(
        "trainer:\n  _target_: pytorch_lightning.Trainer\n  gpus: 1\n  checkpoint_callback: true\n"
    )

    def codes(**options: Any) -> list[tuple[str, str]]:
        project = Project([path], Target.LIGHTNING, roots=[tmp_path])
        (result,) = Engine(project, Options(**options)).check()
        return [(each.code, str(each.severity)) for each in result.findings]

    assert codes() == [("TRU101", "warning"), ("TRU117", "warning")]
    assert codes(ignore=("TRU101",)) == [("TRU117", "warning")]
    assert codes(per_file_ignores=(PathCodes(tmp_path, "conf/*", ("TRU1",)),)) == []
    (tmp_path / "requirements.txt").write_text("pytorch-lightning==2.1.0\n")
    assert {severity for _, severity in codes()} == {"error"}


def test_comments_switch_findings_off() -> None:
    text = "trainer:\n  _target_: pytorch_lightning.Trainer\n  gpus: 1  # noqa: TRU101\n"
    assert findings(text) == []
    assert findings("# trainer-upgrade: ignore-file\n" + text.replace("  # noqa: TRU101", "")) == []


VALUES = [
    "0",
    "1",
    "-1",
    "null",
    "[0, 1]",
    '"0,1"',
    "true",
    "False",
    "ddp",
    "16",
    "32",
    "1.0",
    "${x}",
    '"x"',
    "~",
    "O2",
]
NAMES = [
    "gpus", "accelerator", "precision", "amp_level", "amp_backend", "strategy", "checkpoint_callback", "max_steps",
    "weights_summary", "progress_bar_refresh_rate", "resume_from_checkpoint", "auto_lr_find", "min_epochs", "logger",
    "callbacks", "plugins", "deterministic", "track_grad_norm", "num_processes", "early_stop_callback", "profiler",
]  # fmt: skip


@pytest.mark.parametrize("target", ["lightning", "relight"])
@pytest.mark.parametrize("style", ["block", "flow", "plain"])
def test_any_values_give_yaml_that_comes_to_rest(style: str, target: str) -> None:
    """Every argument with every value, in pairs: the result parses, the rest is as it was, a second run rests."""
    parts = []
    for number, name in enumerate(NAMES):
        for shift in range(number % 5, len(VALUES), 5):
            value = VALUES[shift]
            other = NAMES[(number + shift + 1) % len(NAMES)]
            second = VALUES[(shift * 7 + number) % len(VALUES)]
            key = f"t{number}_{shift}"
            if style == "flow":
                value, second = (each.replace("${x}", '"${x}"') for each in (value, second))
                parts.append(
                    f"{key}: {{_target_: pytorch_lightning.Trainer, {name}: {value}, max_epochs: 1, {other}: {second}}}"
                )
            else:
                head = "  _target_: pytorch_lightning.Trainer\n" if style == "block" else ""
                parts.append(f"{key}:\n{head}  {name}: {value}  # c\n  max_epochs: 1\n  {other}: {second}")
            parts.append(f"after_{key}: [{number}]")
    text = "\n".join(parts) + "\n"
    code = "import pytorch_lightning as pl\n" + "".join(
        f"pl.Trainer(**cfg.t{number}_{shift})\n"
        for number in range(len(NAMES))
        for shift in range(number % 5, len(VALUES), 5)
    )
    new = upgrade(text, code=code if style == "plain" else "", target=target, unsafe=True)
    before, after = yaml.safe_load(text), yaml.safe_load(new)
    assert [key for key in after if key != "ckpt_path"] == list(before)
    for key, value in after.items():
        if key.startswith("after_"):
            assert value == before[key]
        elif key != "ckpt_path":
            options = value.get("options") or {}
            assert value["max_epochs"] == 1, (key, options)


def test_configurations_stay_on_lightning_with_the_code() -> None:
    text = "trainer:\n  _target_: pytorch_lightning.Trainer\n  gpus: 1\n  gradient_clip_val: 0.5\n"
    code = "import pytorch_lightning as pl\nfrom pytorch_lightning.strategies import FSDPStrategy\nFSDPStrategy()\n"
    files = {"conf/config.yaml": text, "train.py": code}
    after = testing.upgrade_files(files, target="relight")
    stays = "pytorch_lightning" in after["train.py"] and "relight" not in after["train.py"]
    assert ("pytorch_lightning.Trainer" in after["conf/config.yaml"]) == stays
    assert "devices: 1" in after["conf/config.yaml"]


def test_an_upgraded_configuration_builds_a_trainer() -> None:
    pytest.importorskip("torch")
    import importlib

    text = """
        trainer:
          _target_: pytorch_lightning.Trainer
          gpus: 0
          checkpoint_callback: false
          logger: false
          weights_summary: null
          progress_bar_refresh_rate: 3
          gradient_clip_val: 0.5
          max_steps: null
          max_epochs: 2
          early_stop_callback:
            _target_: pytorch_lightning.callbacks.EarlyStopping
            monitor: loss
    """

    def build(value: Any) -> Any:
        if isinstance(value, list):
            return [build(each) for each in value]
        if not isinstance(value, dict) or "_target_" not in value:
            return value
        module, _, name = value["_target_"].rpartition(".")
        arguments = {key: build(each) for key, each in value.items() if key != "_target_"}
        return getattr(importlib.import_module(module), name)(**arguments)

    new = upgrade(text, target="relight", unsafe=True)
    trainer = build(yaml.safe_load(new)["trainer"])
    assert trainer.max_epochs == 2
    assert trainer.num_devices == 1
    assert {type(each).__name__ for each in trainer.callbacks} >= {"TQDMProgressBar", "EarlyStopping"}
