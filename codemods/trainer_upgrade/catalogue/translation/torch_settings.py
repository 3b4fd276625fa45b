"""``benchmark`` and ``deterministic``: arguments on Lightning, settings of torch on relight."""

from __future__ import annotations

from trainer_upgrade.catalogue.entry import Target
from trainer_upgrade.catalogue.translation.draft import MISSING, Draft, show

__all__ = ["translate_torch_settings"]


def translate_torch_settings(draft: Draft) -> None:
    """Pass them on (Lightning), or say which settings of torch they stand for (relight)."""
    benchmark, deterministic = draft.take("benchmark"), draft.take("deterministic")
    if draft.target is Target.LIGHTNING:
        if benchmark is not MISSING:
            draft.put("benchmark", benchmark)
        if deterministic is not MISSING:
            draft.put("deterministic", deterministic)
        return
    if deterministic is not MISSING:
        if deterministic is None:
            draft.default("deterministic", None)
        else:
            draft.torch["use_deterministic_algorithms"] = deterministic
            call = "True, warn_only=True" if deterministic == "warn" else str(bool(deterministic))
            more = ""
            if deterministic:
                draft.torch["environ.CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
                draft.torch["backends.cudnn.benchmark"] = False
                more = ', `os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"`'
            draft.say(
                "deterministic",
                f"`deterministic={show(deterministic)}` → `torch.use_deterministic_algorithms({call})`{more}",
            )
    if benchmark is not MISSING:
        if benchmark is None:
            draft.default("benchmark", None)
        else:
            draft.torch["backends.cudnn.benchmark"] = bool(benchmark)
            draft.say(
                "benchmark",
                f"`benchmark={show(benchmark)}` → `torch.backends.cudnn.benchmark = {bool(benchmark)}`",
            )
