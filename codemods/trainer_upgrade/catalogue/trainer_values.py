"""Values that a Trainer argument took and takes no longer, or understands differently."""

# ruff: noqa: E501 (a line of advice reads best unbroken)
from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.build import KEEP, MANUAL, NONE, SAFE, UNSAFE, callback, custom, make, value
from trainer_upgrade.catalogue.entry import Area, Entry

__all__ = ["ENTRIES"]

_UNKNOWN_STRATEGY = "ValueError: unknown strategy"
_UNKNOWN_ACCELERATOR = "ValueError: unknown accelerator"


def _value(code: str, argument: str, old: str, advice: str, **rest: Any) -> Entry:
    """Describe one value; the entry's owner is ``Trainer.<argument>``, its name the value as it is written."""
    return make(Area.TRAINER_VALUE, f"Trainer.{argument}", code, old, advice, **rest)


def _becomes(code: str, argument: str, old: str, new: str, **rest: Any) -> Entry:
    text = f"{argument}={new}"
    rest.setdefault("advice", f"`{argument}={old}` is {text} today")
    return _value(code, argument, old, rest.pop("advice"), relight=value(argument, text), **rest)


_PRECISION = (
    *(
        _becomes(
            "TRU701",
            "precision",
            old,
            new,
            source="Lightning 2.0",
            behaviour="taken as the new name",
            silent=True,
        )
        for old, new in (("64", "'64-true'"), ("32", "'32-true'"))
    ),
    *(
        _becomes(
            "TRU702",
            "precision",
            old,
            new,
            source="Lightning 2.0",
            behaviour="taken as the new name, with a warning",
        )
        for old, new in (("16", "'16-mixed'"), ("'bf16'", "'bf16-mixed'"))
    ),
    _becomes(
        "TRU703", "precision", "'mixed'", "'16-mixed'", removed="2.0", behaviour="ValueError", how=UNSAFE
    ),
)


def _strategy(code: str, old: str, new: str, why: str, removed: str = "2.0", **rest: Any) -> Entry:
    rest.setdefault("how", UNSAFE)
    return _becomes(
        code,
        "strategy",
        old,
        new,
        advice=f"`strategy={old}` {why}: say strategy={new}",
        removed=removed,
        behaviour=_UNKNOWN_STRATEGY,
        **rest,
    )


def _no_strategy(code: str, old: str, why: str, removed: str) -> Entry:
    return _value(
        code,
        "strategy",
        old,
        f"`strategy={old}` {why}: choose another strategy",
        removed=removed,
        relight=NONE,
        behaviour=_UNKNOWN_STRATEGY,
        how=MANUAL,
    )


_STRATEGIES = (
    _strategy(
        "TRU710", "'dp'", "'ddp'", "left in 2.0 with DP; a batch is one process' share afterwards", how=MANUAL
    ),
    _strategy("TRU711", "'ddp2'", "'ddp'", "left in 1.7 with DDP2", "1.7", how=MANUAL),
    *(
        _strategy(
            "TRU712", old, "'fsdp'", "left in 2.0 with FairScale; FSDP is torch's own, with other checkpoints"
        )
        for old in (
            "'ddp_sharded'",
            "'ddp_sharded_spawn'",
            "'ddp_sharded_find_unused_parameters_false'",
            "'ddp_sharded_spawn_find_unused_parameters_false'",
            "'ddp_fully_sharded'",
        )
    ),
    _strategy("TRU713", "'fsdp_native'", "'fsdp'", "has another name since 2.0", how=SAFE),
    _strategy(
        "TRU713",
        "'fsdp_native_full_shard_offload'",
        "'fsdp_cpu_offload'",
        "has another name since 2.0",
        how=SAFE,
    ),
    _strategy("TRU714", "'horovod'", "'ddp'", "left in 2.0 with Horovod", how=MANUAL),
    _strategy("TRU714", "'bagua'", "'ddp'", "stopped working in 2.3", "2.3", how=MANUAL),
    _no_strategy("TRU714", "'colossalai'", "stopped working in 2.3 (DeepSpeed and FSDP are near)", "2.3"),
    _no_strategy("TRU714", "'hivemind'", "left in 2.0", "2.0"),
    _no_strategy("TRU714", "'hpu_parallel'", "left in 2.5.6 with HPU support", "2.5.6"),
    _no_strategy("TRU714", "'hpu_single'", "left in 2.5.6 with HPU support", "2.5.6"),
    _no_strategy("TRU714", "'ipu_strategy'", "left in 2.3 with IPU support", "2.3"),
    _strategy("TRU715", "'tpu_spawn'", "'xla'", "has another name since 2.0", how=SAFE),
    _strategy("TRU715", "'tpu_spawn_debug'", "'xla_debug'", "has another name since 2.0", how=SAFE),
    _becomes(
        "TRU715",
        "strategy",
        "'single_tpu'",
        "'single_xla'",
        deprecated="2.1",
        behaviour="taken, with a deprecation warning",
    ),
    _value(
        "TRU716",
        "strategy",
        "'fsdp'",
        "`strategy='fsdp'` is torch's own FSDP since 2.0 (it was FairScale's): old checkpoints and settings do not fit",
        relight=KEEP,
        source="Lightning 2.0",
        behaviour="another implementation",
        silent=True,
        how=MANUAL,
    ),
    _value(
        "TRU717",
        "strategy",
        "'ddp_spawn'",
        "`strategy='ddp_spawn'` still works, and is no longer what several devices get by default: name it if you rely on it",
        relight=KEEP,
        source="Lightning 2.0",
        how=MANUAL,
    ),
    _value(
        "TRU718",
        "strategy",
        "'ddp'",
        "`strategy='ddp'` no longer looks for unused parameters since 2.0: say 'ddp_find_unused_parameters_true' if a step leaves some out",
        relight=value("strategy", "strategy='ddp_find_unused_parameters_true'"),
        source="Lightning 2.0",
        behaviour="RuntimeError in the second step if parameters are unused, else faster",
        how=MANUAL,
    ),
    _becomes("TRU719", "strategy", "None", "'auto'", removed="2.0", behaviour="ValueError"),
)

_ACCELERATORS = (
    *(
        _value(
            code,
            "accelerator",
            f"'{old}'",
            f"`accelerator='{old}'` is refused since 1.7: {advice}",
            deprecated="1.5",
            removed="1.7",
            relight=custom(text, "strategy"),
            behaviour=_UNKNOWN_ACCELERATOR,
            how=how,
        )
        for code, old, text, how, advice in (
            ("TRU720", "ddp", "strategy='ddp'", SAFE, "it is strategy='ddp'"),
            ("TRU720", "ddp_spawn", "strategy='ddp_spawn'", SAFE, "it is strategy='ddp_spawn'"),
            ("TRU720", "deepspeed", "strategy='deepspeed'", SAFE, "it is strategy='deepspeed'"),
            (
                "TRU721",
                "ddp_cpu",
                "accelerator='cpu', strategy='ddp_spawn'",
                SAFE,
                "it is accelerator='cpu', strategy='ddp_spawn'",
            ),
            (
                "TRU722",
                "dp",
                "strategy='ddp'",
                MANUAL,
                "DP is gone, so say strategy='ddp', where a batch is one process' share",
            ),
            ("TRU722", "ddp2", "strategy='ddp'", MANUAL, "DDP2 is gone, so say strategy='ddp'"),
            ("TRU722", "horovod", "strategy='ddp'", MANUAL, "Horovod is gone, so say strategy='ddp'"),
            ("TRU722", "ddp_sharded", "strategy='fsdp'", UNSAFE, "FairScale is gone, so say strategy='fsdp'"),
            (
                "TRU722",
                "ddp_sharded_spawn",
                "strategy='fsdp'",
                UNSAFE,
                "FairScale is gone, so say strategy='fsdp'",
            ),
        )
    ),
    *(
        _value(
            "TRU723",
            "accelerator",
            f"'{old}'",
            f"`accelerator='{old}'` is refused since 2.1 and its package no longer works: choose another accelerator",
            removed="2.1",
            relight=NONE,
            behaviour=_UNKNOWN_ACCELERATOR,
            how=MANUAL,
        )
        for old in ("ipu", "hpu")
    ),
    _becomes(
        "TRU724",
        "accelerator",
        "None",
        "'auto'",
        advice="`accelerator=None` is refused since 2.0: say 'cpu' for what it meant, 'auto' for the best there is",
        removed="2.0",
        behaviour="ValueError",
    ),
    _becomes(
        "TRU725",
        "devices",
        "None",
        "'auto'",
        advice="`devices=None` is refused since 2.0: say 1 for what it meant, 'auto' for all there are",
        removed="2.0",
        behaviour="TypeError on CPU",
    ),
    _value(
        "TRU726",
        "devices",
        "list[int] with accelerator='cpu'",
        "`devices=[…]` on CPU is refused since 2.5: say the number of processes",
        removed="2.5",
        relight=value("devices", "devices=len(…)"),
        behaviour="TypeError",
    ),
    _value(
        "TRU727",
        "gpus",
        "'n' (string)",
        "`gpus='3'` was GPU number 3 up to 1.4 and three GPUs from 1.5: say devices=[3] or devices=3",
        removed="2.0",
        relight=value("devices", "devices=[3]"),
        behaviour="TypeError: unexpected keyword argument",
        how=MANUAL,
    ),
    _value(
        "TRU728",
        "plugins",
        "strategy name or instance",
        "`plugins=<strategy>` is refused since 1.7: say strategy=<the same>",
        deprecated="1.5",
        removed="1.7",
        relight=custom("strategy=…", "strategy"),
        behaviour="MisconfigurationException or TypeError",
    ),
)

_OTHERS = (
    _becomes(
        "TRU730",
        "profiler",
        "True",
        "'simple'",
        removed="1.3",
        behaviour="passes the constructor, fails in fit",
    ),
    _becomes("TRU730", "profiler", "False", "None", removed="1.3", behaviour="works by accident"),
    _becomes("TRU731", "max_steps", "None", "-1", deprecated="1.5", removed="1.7", behaviour="TypeError"),
    _value(
        "TRU732",
        "accumulate_grad_batches",
        "dict",
        "`accumulate_grad_batches={…}` left in 2.0: say callbacks=[GradientAccumulationScheduler(scheduling={…})]",
        removed="2.0",
        relight=callback("relight.callbacks.GradientAccumulationScheduler", "scheduling"),
        lightning=callback("lightning.pytorch.callbacks.GradientAccumulationScheduler", "scheduling"),
        behaviour="passes the constructor, fails in fit",
    ),
    _value(
        "TRU733",
        "checkpoint_callback",
        "ModelCheckpoint instance",
        "`checkpoint_callback=ModelCheckpoint(…)` left in 1.3: put it in callbacks=[…]",
        removed="1.3",
        relight=custom("callbacks=[ModelCheckpoint(…)]", "callbacks"),
        behaviour="TypeError: unexpected keyword argument",
    ),
    _value(
        "TRU734",
        "logger",
        "[loggers]",
        "`logger=[…]` still works; trainer.logger is the first of them since 1.8, trainer.loggers all",
        relight=KEEP,
        source="Lightning 1.8",
        silent=True,
        how=MANUAL,
    ),
    *(
        _value(
            "TRU735",
            "weights_summary",
            old,
            f"`weights_summary={old}` left in 1.7: {advice}",
            deprecated="1.5",
            removed="1.7",
            relight=relight,
            lightning=lightning,
            behaviour="TypeError: unexpected keyword argument",
        )
        for old, relight, lightning, advice in (
            (
                "'top'",
                callback(
                    "relight.callbacks.ModelSummary", "max_depth", "callbacks=[ModelSummary(max_depth=1)]"
                ),
                callback(
                    "lightning.pytorch.callbacks.ModelSummary",
                    "max_depth",
                    "callbacks=[ModelSummary(max_depth=1)]",
                ),
                "it is the default",
            ),
            (
                "'full'",
                callback(
                    "relight.callbacks.ModelSummary", "max_depth", "callbacks=[ModelSummary(max_depth=-1)]"
                ),
                callback(
                    "lightning.pytorch.callbacks.ModelSummary",
                    "max_depth",
                    "callbacks=[ModelSummary(max_depth=-1)]",
                ),
                "say callbacks=[ModelSummary(max_depth=-1)]",
            ),
            (
                "None",
                custom("no ModelSummary in callbacks"),
                value("enable_model_summary", "enable_model_summary=False"),
                "say enable_model_summary=False",
            ),
        )
    ),
)

ENTRIES: tuple[Entry, ...] = _PRECISION + _STRATEGIES + _ACCELERATORS + _OTHERS
