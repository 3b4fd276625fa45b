"""What a project has to require once its code is upgraded.

A pin says which releases an installer may take. One that takes a 1.x release is for the old code; what
replaces it follows from the target and from what the code imports in the end. All of it is a matter for a
person's eye: fixes are unsafe.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Area, Target
from trainer_upgrade.project import guards
from trainer_upgrade.project.index import Project
from trainer_upgrade.project.relevance import imports

__all__ = ["LIGHTNING", "Needs", "Verdict", "judge", "needs_of", "specifier_of", "word_of"]

LIGHTNING = ("pytorch-lightning", "lightning")
# What the target's own metadata asks for (relight's extra `train`; Lightning 2.6.6).
_TORCH = {Target.RELIGHT: "2.6", Target.LIGHTNING: "2.1"}
_PYTHON = "3.10"
_METRICS = "1.5"
_NEW = ">=2,<3"
# The first release that takes weights_only where checkpoints are read.
_NEWEST = ">=2.6,<3"
_OLD_LIGHTNING = tuple(
    Version(f"{major}.{minor}.{patch}")
    for major, minors in ((0, range(4, 11)), (1, range(10)))
    for minor in minors
    for patch in range(11)
)
_NEW_LIGHTNING = tuple(Version(f"2.{minor}.{patch}") for minor in range(7) for patch in range(10))
_TORCHES = tuple(
    Version(f"{major}.{minor}.{patch}")
    for major, minors in ((0, range(3, 5)), (1, range(14)), (2, range(21)))
    for minor in minors
    for patch in range(4)
)
_PYTHONS = tuple(Version(f"3.{minor}.{patch}") for minor in range(6, 16) for patch in range(21))
_METRIC_RELEASES = tuple(Version(f"0.{minor}.{patch}") for minor in range(12) for patch in range(4)) + tuple(
    Version(f"1.{minor}.0") for minor in range(12)
)


_TRUSTING = re.compile(rb"(load_from_checkpoint|\.(fit|validate|test|predict))\([^\n]*weights_only=")


@dataclass
class Needs:
    """What the code imports, by distribution.

    Attributes:
        project: The project.
        after: Whether the code has been upgraded.
    """

    project: Project
    after: bool

    @cached_property
    def _imported(self) -> tuple[frozenset[str], bool, bool, bool]:
        found: set[str] = set()
        metrics = board = trusting = False
        for module in self.project.relevant_modules():
            data = module.data
            board = board or b"TensorBoardLogger" in data
            trusting = trusting or _TRUSTING.search(data) is not None
            for each in imports(data):
                if each.level or not each.module:
                    continue
                root = each.module.split(".")[0]
                if root in ("pytorch_lightning", "lightning") and guards.behind_relight(module):
                    continue
                found.add(root)
                if each.module.startswith("pytorch_lightning.metrics"):
                    metrics = True
        return frozenset(found), metrics, board, trusting

    def imports(self, name: str) -> bool:
        """Whether the code imports a package."""
        return name in self._imported[0]

    @property
    def old_metrics(self) -> bool:
        """Whether the code imports ``pytorch_lightning.metrics``."""
        return self._imported[1]

    @property
    def tensorboard(self) -> bool:
        """Whether the code names the TensorBoard logger."""
        return self._imported[2]

    @property
    def newest(self) -> bool:
        """Whether the code says ``weights_only`` to Lightning, which takes it since 2.6."""
        return self._imported[3]

    @property
    def lightning(self) -> bool:
        """Whether some code needs Lightning itself, as far as that is known."""
        return self.imports("pytorch_lightning") or self.imports("lightning")


def needs_of(project: Project, *, after: bool) -> Needs:
    """Return what the code needs, before or after its upgrade; each worked out once."""
    key = f"needs-{after}"
    found = project.extras.get(key)
    if not isinstance(found, Needs):
        found = project.extras[key] = Needs(project, after)
        _ = found.lightning  # read now: the files may change
    return found


@dataclass
class Verdict:
    """What is to be done about one requirement.

    Attributes:
        code: The catalogue's code.
        message: What is wrong and what to do.
        new: Name, extras and specifier of what takes its place; ``None`` to leave it to a person.
        drop: Whether it goes without anything in its place.
        add: Requirements to add beside it.
    """

    code: str
    message: str
    new: tuple[str, str, str] | None = None
    drop: bool = False
    add: list[str] = field(default_factory=list)

    @property
    def fixable(self) -> bool:
        """Whether a machine can do it."""
        return self.drop or self.new is not None or bool(self.add)


def judge(
    name: str,
    extras: str,
    specifier: SpecifierSet | None,
    *,
    target: Target,
    needs: Needs,
    before: Needs,
    listed: frozenset[str],
    constraint: bool = False,
) -> list[Verdict]:
    """Say what is to be done about one requirement.

    Args:
        name: The distribution.
        extras: Its extras with brackets, or nothing.
        specifier: The releases it takes; ``None`` if that could not be read.
        target: Where the code is to run.
        needs: What the code imports now (after its upgrade, where that is made).
        before: What it imported before.
        listed: All distributions that the same place requires.
        constraint: Whether the file only limits what others require.
    """
    name = canonicalize_name(name)
    if name in LIGHTNING:
        found = _lightning(name, extras, specifier, target, needs, listed, constraint)
        if not constraint:
            found += _beside(target, needs, before, listed)
        return found
    if name == "torch" and specifier is not None:
        return _floor("TRU902", name, specifier, _TORCHES, _TORCH[target], target)
    if (
        name == "torchmetrics"
        and specifier is not None
        and (before.old_metrics or target is Target.LIGHTNING)
    ):
        # Lightning 2.6.6 takes nothing older; what replaces pl.metrics is written for the API of 0.11.
        floor = "0.11" if before.old_metrics else "0.7.1"
        return _floor("TRU904", name, specifier, _METRIC_RELEASES, floor, target, new=_METRICS)
    if name == "lightning-bolts":
        message = "lightning-bolts has no release for Lightning 2.x: take over what you use of it, or drop it"
        return [Verdict("TRU901", message)]
    return []


def _lightning(
    name: str,
    extras: str,
    specifier: SpecifierSet | None,
    target: Target,
    needs: Needs,
    listed: frozenset[str],
    constraint: bool,
) -> list[Verdict]:
    advice = _entry("pytorch-lightning").advice
    if target is Target.LIGHTNING:
        if specifier is None:
            return [Verdict("TRU901", f"{advice}: `{name}{_NEW}`")]
        other = "lightning" if name == "pytorch-lightning" else "pytorch-lightning"
        own_import, other_import = name.replace("-", "_"), other.replace("-", "_")
        if other in listed and not needs.imports(own_import) and needs.imports(other_import):
            return [
                Verdict(
                    "TRU940", f"the code imports `{other_import}` only: `{name}` is not needed", drop=True
                )
            ]
        wanted, release = name, _NEWEST if needs.newest else _NEW
        if not needs.imports(own_import) and needs.imports(other_import) and other not in listed:
            wanted = other
        both: list[Verdict] = []
        if other in listed and name == "pytorch-lightning" and not constraint:
            entry = catalogue.by_code("TRU940")[0]
            both.append(Verdict(entry.code, entry.advice))
        if wanted == name and not _takes_any(specifier, _OLD_LIGHTNING):
            return both
        if "app" in extras or "cloud" in extras:
            return [Verdict("TRU907", _entry("lightning[app]").advice)]
        if _takes_any(specifier, _NEW_LIGHTNING) and wanted == name:
            what = f"`{name}{specifier}` takes 1.x as well" if str(specifier) else f"`{name}` has no bounds"
        else:
            what = (
                f"`{name}{specifier}` is for the old API"
                if wanted == name
                else f"the code imports `{other_import}`"
            )
        return [Verdict("TRU901", f"{what}: require `{wanted}{release}`", (wanted, extras, release)), *both]
    if needs.after and needs.lightning and not needs.imports("relight"):
        return [
            Verdict(
                "TRU901",
                "some code still imports Lightning, so its pin stays; look at it again when it has moved",
            )
        ]
    if needs.after and needs.lightning:
        if "relight" in listed or constraint:
            return []
        message = "the code imports relight, and some of it Lightning still: require `relight[train]` as well"
        return [Verdict("TRU901", message, add=["relight[train]"])]
    if constraint or "relight" in listed:
        return [Verdict("TRU901", f"no code needs `{name}` on relight: drop its pin", drop=True)]
    return [
        Verdict(
            "TRU901", f"`{name}` is for the old API: require `relight[train]`", ("relight", "[train]", "")
        )
    ]


def _beside(target: Target, needs: Needs, before: Needs, listed: frozenset[str]) -> list[Verdict]:
    found: list[Verdict] = []
    moved = before.old_metrics or (target is Target.RELIGHT and needs.imports("torchmetrics"))
    if moved and "torchmetrics" not in listed:
        entry = _entry("torchmetrics")
        found.append(Verdict(entry.code, entry.advice, add=[f"torchmetrics>={_METRICS}"]))
    if needs.tensorboard and not {"tensorboard", "tensorboardx"} & listed:
        entry = _entry("tensorboard")
        found.append(Verdict(entry.code, entry.advice, add=["tensorboard"]))
    return found


def _floor(
    code: str,
    name: str,
    specifier: SpecifierSet,
    releases: tuple[Version, ...],
    floor: str,
    target: Target,
    new: str | None = None,
) -> list[Verdict]:
    taken = _taken(specifier, releases)
    if not taken or any(each >= Version(floor) for each in taken):
        return []
    wanted = f">={new or floor}"
    extra = " (torchvision and torchaudio go with it)" if name == "torch" else ""
    goal = "relight" if target is Target.RELIGHT else "Lightning 2.6"
    message = f"`{name}{specifier}` is older than {goal} takes: require `{name}{wanted}`{extra}"
    return [Verdict(code, message, (name, "", wanted))]


def python_verdict(specifier: SpecifierSet, *, whole: bool) -> Verdict | None:
    """Say what is to be done about the Python that a project asks for.

    Args:
        specifier: The releases it takes.
        whole: Whether all of them must be ones the target takes (poetry), or one is enough (pip).
    """
    taken = _taken(specifier, _PYTHONS)
    low = [each for each in taken if each < Version(_PYTHON)]
    if not taken or not low or (not whole and len(low) < len(taken)):
        return None
    entry = _entry("python")
    return Verdict(entry.code, f"Python {low[0]}: {entry.advice}", ("python", "", f">={_PYTHON}"))


def _entry(name: str) -> Any:
    entry = catalogue.find(Area.PROJECT_FILE, "requirements", name)
    assert entry is not None
    return entry


def _takes_any(specifier: SpecifierSet, releases: tuple[Version, ...]) -> bool:
    return any(releases[0] <= each <= releases[-1] for each in _taken(specifier, releases))


def _taken(specifier: SpecifierSet, releases: tuple[Version, ...]) -> list[Version]:
    """Return the releases that a specifier takes; of an exact one that release, a local label aside."""
    for each in specifier:
        if each.operator in ("==", "===") and not each.version.endswith(".*"):
            return [Version(Version(each.version).base_version)]
    return [each for each in releases if specifier.contains(each, prereleases=True)]


def specifier_of(text: str) -> SpecifierSet | None:
    """Read a specifier; ``None`` if it is none."""
    try:
        return SpecifierSet(text.strip().strip("()"))
    except InvalidSpecifier:
        return None


def word_of(name: str, extras: str, specifier: str) -> str:
    """Write a requirement."""
    return f"{name}{extras}{specifier}"
