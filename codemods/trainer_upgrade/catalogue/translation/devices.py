"""``gpus``, ``num_processes``, ``tpu_cores``, ``ipus`` and the like → ``accelerator`` and ``devices``.

What each release chose is in :mod:`~.eras`; here the choice is written down in today's words.
"""

from __future__ import annotations

from typing import Any

from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translation.device_requests import is_none, modern_tpu
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, show
from trainer_upgrade.catalogue.translation.eras import GPU_NAMES, Chosen, Refused, Request, choose
from trainer_upgrade.catalogue.translation.strategy import BACKENDS
from trainer_upgrade.catalogue.translation.strategy_choice import translate_strategy

__all__ = ["translate_devices"]

_KNOWN = ("auto", "cpu", "tpu", *GPU_NAMES)
_HARDWARE_GONE = {"ipu": "2.1 (lightning-graphcore, archived)", "hpu": "2.1 (lightning-habana) and 2.5.6"}
_LEGACY = (
    "gpus",
    "num_processes",
    "tpu_cores",
    "num_tpu_cores",
    "ipus",
    "auto_select_gpus",
    "distributed_backend",
)


def translate_devices(draft: Draft) -> None:
    """Translate everything that says where the training runs, the strategy included."""
    given = {name: draft.take(name) for name in (*_LEGACY, "accelerator", "devices")}
    backend, backend_argument = _backend(draft, given)
    if backend == "ddp_cpu" and not is_none(draft.rest.get("strategy", MISSING)):
        message = f'`{backend_argument}="ddp_cpu"`: `strategy` won over it; drop it'
        draft.say(backend_argument, message, Applicability.UNSAFE)
        backend, given["distributed_backend"] = None, MISSING
    accelerator = given["accelerator"]
    if (
        isinstance(accelerator, str)
        and accelerator not in _KNOWN
        and accelerator.lower() in (*_KNOWN, *_HARDWARE_GONE)
    ):
        given["accelerator"] = accelerator = accelerator.lower()
        if accelerator in _KNOWN:
            draft.say(
                "accelerator", f'`accelerator={show(draft.legacy["accelerator"])}` is written "{accelerator}"'
            )
    if isinstance(accelerator, (bool, int, float, list, tuple, dict)):
        draft.refuse("accelerator", f"`accelerator={show(accelerator)}` is neither a name nor an Accelerator")
        given["accelerator"] = MISSING
        return _leave_open(draft, given, backend_argument)
    if isinstance(accelerator, str) and accelerator not in _KNOWN:
        _unknown_accelerator(draft, accelerator)
        given["accelerator"] = MISSING
        return _leave_open(draft, given, backend_argument)

    tpu_argument = (
        "num_tpu_cores"
        if is_none(given["tpu_cores"]) and not is_none(given["num_tpu_cores"])
        else "tpu_cores"
    )
    request = Request(
        draft.release,
        gpus=given["gpus"],
        num_processes=given["num_processes"],
        tpu_cores=given[tpu_argument],
        ipus=given["ipus"],
        devices=given["devices"],
        accelerator=given["accelerator"],
        backend=backend,
        num_nodes=draft.modern.get("num_nodes", 1),
        auto_select=bool(given["auto_select_gpus"]),
        strategy=draft.rest.get("strategy", MISSING),
        is_legacy=draft.is_legacy,
    )
    try:
        chosen = choose(request)
    except Refused as refused:
        argument = tpu_argument if refused.argument == "tpu_cores" else refused.argument
        if argument not in draft.legacy and backend_argument:
            argument = backend_argument
        draft.refuse(argument, f"`{argument}={show(draft.legacy.get(argument))}`: {refused.why}")
        given[argument] = MISSING
        draft.modern.pop(argument, None)
        return _leave_open(draft, given, backend_argument)
    if chosen.accelerator == "ipu":
        draft.refuse("ipus", f"`ipus={show(given['ipus'])}`: support left in {_HARDWARE_GONE['ipu']}")
        given["ipus"] = MISSING
        return _leave_open(draft, given, backend_argument)

    explicit = (
        backend == "ddp_cpu"
        or any(given[name] is not MISSING for name in _LEGACY if name != "distributed_backend")
        or draft.legacy.get("accelerator", MISSING) is None
        or given["devices"] is None
    )
    _write(draft, given, chosen, explicit=explicit)
    _report(draft, given, chosen, tpu_argument, named=backend is not None)
    if backend is None and isinstance(given["distributed_backend"], str):
        now = f"`accelerator={show(chosen.accelerator)}`"
        draft.say(
            "distributed_backend", f"`distributed_backend={show(given['distributed_backend'])}` → {now}"
        )
    _auto_select(draft, given, chosen)
    translate_strategy(draft, chosen, backend, backend_argument)
    return None


def _backend(draft: Draft, given: dict[str, Any]) -> tuple[str | None, str]:
    """Separate a strategy's name from the arguments that took one before ``strategy`` existed."""
    if given["distributed_backend"] is None:
        draft.default("distributed_backend", None)
        given["distributed_backend"] = MISSING
    value = given["distributed_backend"]
    if value is not MISSING and (
        not isinstance(value, str) or value.lower() not in (*BACKENDS, *_KNOWN, *_HARDWARE_GONE)
    ):
        message = f"`distributed_backend={show(value)}` names no strategy of any release"
        draft.refuse("distributed_backend", message)
        given["distributed_backend"] = MISSING
    for name in ("distributed_backend", "accelerator"):
        value = given[name]
        if isinstance(value, str) and value.lower() in BACKENDS:
            if name == "accelerator":
                given[name] = MISSING
            elif isinstance(given["accelerator"], str) and given["accelerator"].lower() in BACKENDS:
                draft.say(
                    "accelerator",
                    f"`accelerator={show(given['accelerator'])}`: `distributed_backend` won over it",
                )
                given["accelerator"] = MISSING
            return value.lower(), name
    value = given["distributed_backend"]
    if (
        isinstance(value, str)
        and value.lower() in (*_KNOWN, *_HARDWARE_GONE)
        and is_none(given["accelerator"])
    ):
        if given["accelerator"] is None:
            draft.default("accelerator", None)
        given["accelerator"] = value.lower()  # hardware by this name: 1.0 to 1.4
        return None, "distributed_backend"
    return None, ""


def _unknown_accelerator(draft: Draft, name: str) -> None:
    argument = "accelerator" if draft.given("accelerator") else "distributed_backend"
    if name in _HARDWARE_GONE:
        draft.refuse(
            argument,
            f"`{argument}={show(name)}`: support left in {_HARDWARE_GONE[name]}",
        )
        return
    from difflib import get_close_matches

    close = get_close_matches(name, _KNOWN, 1)
    draft.refuse(
        argument,
        f"`accelerator={show(name)}` is not known" + (f'; did you mean "{close[0]}"?' if close else ""),
    )


def _leave_open(draft: Draft, given: dict[str, Any], backend_argument: str) -> None:
    """After an error: keep what is modern, and say of the rest that it waits for a decision."""
    if backend_argument:
        given = {**given, backend_argument: MISSING}
        message = (
            f"`{backend_argument}={show(draft.legacy[backend_argument])}` was not looked at: see the other"
        )
        draft.say(backend_argument, f"{message} device argument", Applicability.MANUAL)
    for name, value in given.items():
        if value is MISSING:
            continue
        if value is None:
            draft.say(name, f"`{name}=None` asks for nothing; drop it")
        elif name in ("accelerator", "devices"):
            draft.put(name, value)
        else:
            message = f"`{name}={show(value)}` was not looked at: see the other device argument"
            draft.say(name, message, Applicability.MANUAL)
    strategy = draft.take("strategy")
    if strategy is None:
        draft.say("strategy", "`strategy=None` asks for nothing; drop it")
    elif strategy is not MISSING:
        origin = draft.origin.pop("strategy", "strategy")
        draft.put("strategy", strategy, origin)
        if origin != "strategy":
            draft.say(origin, f"the strategy among `{origin}` → `strategy={show(strategy)}`")


def _write(draft: Draft, given: dict[str, Any], chosen: Chosen, *, explicit: bool) -> None:
    """Write ``accelerator`` and ``devices`` where the arguments asked for them, or where a default changed.

    Code that names no device at all is left alone, unless the changed defaults are to be written out.
    """
    if chosen.accelerator == "tpu" and chosen.devices is not MISSING and chosen.devices != "auto":
        _count_from_zero(draft, chosen)
    accelerator_given = not is_none(given["accelerator"])
    devices_given = not is_none(given["devices"])
    if explicit or draft.defaults:
        accelerator, devices = True, True
    elif accelerator_given:
        accelerator, devices = True, devices_given or chosen.accelerator != given["accelerator"]
    else:  # `devices` alone meant CPU processes, if this is legacy code
        accelerator, devices = devices_given and draft.is_legacy, devices_given
    if accelerator:
        draft.put("accelerator", chosen.accelerator)
    if devices and chosen.devices is not MISSING:
        draft.put("devices", chosen.devices)


def _count_from_zero(draft: Draft, chosen: Chosen) -> None:
    if chosen.decided_by != "devices":
        chosen.devices = modern_tpu(chosen.devices)
    elif draft.is_legacy:  # else it is 2.x code, which counts from 0 already
        written, chosen.devices = chosen.devices, modern_tpu(chosen.devices)
        if chosen.devices != written:
            draft.say(
                "devices",
                f"`devices={show(written)}` → `{show(chosen.devices)}`: cores count from 0 since 2.1",
                Applicability.UNSAFE,
            )


def _report(draft: Draft, given: dict[str, Any], chosen: Chosen, tpu_argument: str, *, named: bool) -> None:
    """One finding for each device argument that was written and is not there any more."""
    result = ", ".join(
        f"{name}={show(draft.modern[name])}" for name in ("accelerator", "devices") if name in draft.modern
    )
    decided_by = tpu_argument if chosen.decided_by == "tpu_cores" else chosen.decided_by
    lost = {tpu_argument if name == "tpu_cores" else name: why for name, why in chosen.lost.items()}
    for name in ("gpus", "num_processes", "tpu_cores", "num_tpu_cores", "ipus"):
        value = given[name]
        if value is MISSING:
            continue
        written = f"`{name}={show(value)}`"
        if name == decided_by:
            note = "" if named else _spawn_note(draft, chosen)
            sure = Applicability.UNSAFE if "gpus" in lost else Applicability.SAFE
            draft.say(name, f"{written} → `{result}`{note}", sure)
        elif name in lost:
            draft.say(name, f"{written}: {lost[name]}; drop it (now `{result}`)", Applicability.UNSAFE)
        else:
            draft.say(name, f"{written} asked for no device; drop it (now `{result}`)")
    if "devices" in lost:
        draft.say(
            "devices",
            f"`devices={show(given['devices'])}`: {lost['devices']} (now `{result}`)",
            Applicability.UNSAFE,
        )
    elif given["devices"] is None:
        draft.say(
            "devices", f"`devices=None` is refused by 2.x; drop it{f' (now `{result}`)' if result else ''}"
        )
    if draft.legacy.get("accelerator", MISSING) is None:
        draft.say(
            "accelerator",
            f"`accelerator=None` is refused by 2.x{f' → `{result}`' if result else '; drop it'}",
        )
    elif given["accelerator"] is MISSING and "accelerator" in draft.modern and chosen.decided_by == "devices":
        draft.say(
            "devices",
            f"`devices={show(given['devices'])}` alone meant CPU processes → `{result}`",
            Applicability.UNSAFE,
            silent=True,
        )
    elif (
        draft.given("accelerator")
        and not is_none(given["accelerator"])
        and draft.modern.get("accelerator") != given["accelerator"]
    ):
        draft.say(
            "accelerator", f"`accelerator={show(given['accelerator'])}` → `{result}`", Applicability.UNSAFE
        )


def _spawn_note(draft: Draft, chosen: Chosen) -> str:
    if (chosen.number or 0) > 1 and is_none(draft.rest.get("strategy", MISSING)) and not draft.defaults:
        return "; with no strategy 1.x spawned processes, 2.x starts the script once a device"
    return ""


def _auto_select(draft: Draft, given: dict[str, Any], chosen: Chosen) -> None:
    value = given["auto_select_gpus"]
    if value is MISSING:
        return
    number = chosen.devices
    if value and chosen.accelerator in GPU_NAMES and isinstance(number, int) and number > 0:
        draft.adapters["auto_select_gpus"] = number
        draft.say(
            "auto_select_gpus",
            f"`auto_select_gpus={show(value)}` picked GPUs that were free; write"
            f" `devices=find_usable_cuda_devices({number})` for that",
            Applicability.UNSAFE,
        )
    else:
        draft.default("auto_select_gpus", value)
