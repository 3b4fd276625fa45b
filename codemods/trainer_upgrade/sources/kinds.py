"""Which files beside Python modules are read, told by their names, and which words make one worth it.

A file is opened because of its name and looked at because of its bytes: a project's thousand YAML files that
never mention Lightning cost one search each.
"""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

__all__ = ["SUFFIXES", "Kind", "kind_of", "mentions"]


class Kind(str, Enum):
    """A kind of file; its value is what ``--file-types`` calls it."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    CONFIG = "config"
    REQUIREMENTS = "requirements"
    DOCS = "docs"
    SCRIPT = "script"

    def __str__(self) -> str:  # noqa: D105
        return self.value


_REQUIREMENTS = re.compile(
    r"(?:^|[-_.])(?:requirements?|reqs?|constraints?|deps|dependencies)(?:[-_.].*)?\.(?:txt|in|pip)$"
    r"|^(?:setup\.(?:cfg|py)|pyproject\.toml|Pipfile|Pipfile\.lock|tox\.ini)$"
    r"|^(?:poetry|uv|pdm|conda-lock|pixi|requirements)\.lock$|^conda-lock\.ya?ml$|^pylock.*\.toml$"
    r"|^(?:conda[-_.]?)?env(?:ironment)?s?(?:[-_.].*)?\.ya?ml$|^meta\.ya?ml$|[-_.]env(?:ironment)?\.ya?ml$",
    re.IGNORECASE,
)
_SCRIPT = re.compile(
    r"\.(?:sh|bash|zsh|slurm|sbatch|ps1|bat|cmd|mk|service|env)$"
    r"|^(?:Docker|Container)file|\.[Dd]ockerfile$|^(?:GNU)?[Mm]akefile$|^[Jj]ustfile$|^\.env",
)
_CI = re.compile(
    r"(?:^|/)(?:\.github/.*\.ya?ml|\.gitlab-ci[^/]*\.ya?ml|\.circleci/.*\.ya?ml|\.travis\.ya?ml"
    r"|azure-pipelines[^/]*\.ya?ml|\.azure/.*\.ya?ml|\.?appveyor\.ya?ml|bitbucket-pipelines\.ya?ml"
    r"|\.readthedocs\.ya?ml|\.pre-commit-config\.ya?ml|(?:docker-)?compose[^/]*\.ya?ml)$"
)
_BY_SUFFIX = {
    ".py": Kind.PYTHON,
    ".pyi": Kind.PYTHON,
    ".ipynb": Kind.NOTEBOOK,
    ".yaml": Kind.CONFIG,
    ".yml": Kind.CONFIG,
    ".json": Kind.CONFIG,
    ".toml": Kind.CONFIG,
    ".md": Kind.DOCS,
    ".markdown": Kind.DOCS,
    ".mdx": Kind.DOCS,
    ".rst": Kind.DOCS,
}
# Ends of names that are worth a call of `kind_of`: a cheap first question when a tree is walked.
SUFFIXES = (
    *_BY_SUFFIX, ".txt", ".in", ".pip", ".cfg", ".ini", ".lock", ".sh", ".bash", ".zsh", ".slurm", ".sbatch",
    ".ps1", ".bat", ".cmd", ".mk", ".service", ".env", "Pipfile", "file",
)  # fmt: skip


def kind_of(path: Path) -> Kind | None:
    """Return what kind of file a name stands for; ``None`` for one that is never read.

    ``setup.py`` is Python (its pins are looked at as well, see :mod:`trainer_upgrade.documents`).
    """
    name = path.name
    suffix = path.suffix.lower()
    if suffix in (".py", ".pyi"):
        return Kind.PYTHON
    if _CI.search(path.as_posix()):
        return Kind.SCRIPT
    if _REQUIREMENTS.search(name) or (
        suffix in (".txt", ".in") and path.parent.name.lower() in ("requirements", "requires", "reqs")
    ):
        return Kind.REQUIREMENTS
    if _SCRIPT.search(name):
        return Kind.SCRIPT
    return _BY_SUFFIX.get(suffix)


_LIGHTNING = re.compile(rb"(?i)lightning|relight")
# What a configuration file or a command line may hold without naming Lightning.
_ARGUMENTS = re.compile(
    rb"(?i)lightning|relight|trainer|gpus|distributed_backend|tpu_cores|num_processes|resume_from_checkpoint"
    rb"|progress_bar_refresh_rate|weights_summary|amp_(?:backend|level)|replace_sampler_ddp|check_val_every"
    rb"|auto_(?:lr_find|scale_batch_size|select_gpus)|terminate_on_nan|checkpoint_callback|track_grad_norm"
    rb"|PL_[A-Z]"
)
_WORDS = {
    Kind.NOTEBOOK: re.compile(
        rb"(?i)lightning|relight|trainer|_epoch_end|(?:ing|ion)_step|configure_optimizers"
    ),
    Kind.CONFIG: _ARGUMENTS,
    Kind.REQUIREMENTS: _LIGHTNING,
    Kind.DOCS: _ARGUMENTS,
    Kind.SCRIPT: _ARGUMENTS,
}


def mentions(kind: Kind, data: bytes) -> bool:
    """Whether the bytes of a file hold a word that makes it worth a look."""
    words = _WORDS.get(kind)
    return words is None or words.search(data) is not None
