"""Arguments of the Trainer: what is gone, renamed, or lives elsewhere.

Before::

    trainer = pl.Trainer(gpus=4, accelerator="ddp", precision=16, progress_bar_refresh_rate=10, callbacks=cbs)
    small = pl.Trainer(gpus=args.gpus, checkpoint_callback=False)

After::

    trainer = pl.Trainer(
        devices=4, accelerator="gpu", strategy="ddp", precision="16-mixed",
        callbacks=[*cbs, TQDMProgressBar(refresh_rate=10)],
    )
    small = pl.Trainer(
        accelerator="gpu" if args.gpus else "cpu", devices=args.gpus or 1, enable_checkpointing=False
    )

What a value means is decided by ``translate_trainer_arguments`` alone, which compat uses too. An
argument whose
value is known only at run time is translated case by case (see ``_expressions``). For relight, what one
entry point
uses moves to its call (``fit(limit_train_batches=…)``), or to ``options={…}`` where not all calls can be
seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainer_upgrade import catalogue
from trainer_upgrade.catalogue.entry import Applicability
from trainer_upgrade.catalogue.translate import ArgumentFinding
from trainer_upgrade.catalogue.translation.names import EVER, LEGACY_ONLY, LIGHTNING, RELIGHT
from trainer_upgrade.catalogue.translation.strategy import BACKENDS
from trainer_upgrade.findings import Finding, Fix
from trainer_upgrade.project.context import FileContext
from trainer_upgrade.rules._cases import Cases, cases_of
from trainer_upgrade.rules._expressions import option_default, parenthesised
from trainer_upgrade.rules._merge import Merged, translate_cases
from trainer_upgrade.rules._rewrite import Unwritable, quote_of, rewrite, speller
from trainer_upgrade.rules._trainer_calls import Given, TrainerCall, trainer_call
from trainer_upgrade.rules.registry import on, rule

__all__ = ["RELEASE", "TrainerArguments"]

# The release that code without other evidence is taken to be written for.
RELEASE = "1.9"
SAFE, UNSAFE, MANUAL = Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL

# Arguments that are translated together or not at all.
_GROUPS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "gpus num_processes tpu_cores num_tpu_cores ipus auto_select_gpus distributed_backend accelerator"
        " devices strategy plugins cluster_environment",
        "precision amp_backend amp_level use_amp",
        "progress_bar_refresh_rate process_position show_progress_bar progress_bar_callback"
        " enable_progress_bar",
        "checkpoint_callback enable_checkpointing",
        "weights_summary enable_model_summary",
        "terminate_on_nan detect_anomaly",
        "reload_dataloaders_every_epoch reload_dataloaders_every_n_epochs",
        "deterministic benchmark",
        "min_epochs min_steps min_nb_epochs",
        "val_percent_check limit_val_batches",
        "train_percent_check limit_train_batches",
        "test_percent_check limit_test_batches",
        "overfit_pct overfit_batches",
        "row_log_interval log_every_n_steps add_row_log_interval",
        "replace_sampler_ddp use_distributed_sampler",
    )
)
# Rules of their own move these, unless there is nothing to move.
_ELSEWHERE = {
    "resume_from_checkpoint": (None, ""),
    "auto_lr_find": (None, False),
    "auto_scale_batch_size": (None, False),
}
# Where a `*` or `**` may bring the same argument again.
_OFTEN_PASSED_ON = frozenset({"accelerator", "devices", "strategy", "callbacks", "plugins"})


def group_of(name: str) -> frozenset[str]:
    """Return the arguments that are translated together with one."""
    return next((group for group in _GROUPS if name in group), frozenset({name}))


@rule("trainer-arguments")
class TrainerArguments:
    """Rewrites the arguments where a Trainer is built."""

    @on(ast.Call)
    def check(self, node: ast.Call, file: FileContext) -> Iterator[Finding]:
        """Look at one call."""
        if not node.keywords and not node.args:
            return
        found = trainer_call(node, file)
        if found is None or not (found.given or found.positional):
            return
        work = _Work(found, file)
        yield from work.findings()


class _Work:
    """What is to be done about one call."""

    def __init__(self, found: TrainerCall, file: FileContext) -> None:
        self.found = found
        self.file = file
        self.target = found.target
        self.cases: dict[str, Cases] = {}
        self.blind: set[str] = set()  # arguments about whose value nothing is known
        self.strategy = ""  # what stands for it in another argument, where that is no literal
        self.quote = quote_of(found.call, file)
        self.spell = speller(found, file)
        self._read()

    def _read(self) -> None:
        for given in self.found.given:
            name = given.name
            if name not in EVER and name != "options" and self.found.kind == "subclass":
                continue
            cases = cases_of(name, given.value, given.text, self.file, self.target)
            if name in _ELSEWHERE and not (
                cases is not None and cases.single and cases.values[0][1] in _ELSEWHERE[name]
            ):
                continue
            if cases is None and name in ("accelerator", "distributed_backend"):
                cases = self._backend(given)
            if cases is not None:
                self.cases[name] = cases
            elif name in LEGACY_ONLY:
                self.blind.add(name)

    def _backend(self, given: Given) -> Cases | None:
        """A strategy's name in an argument of another name, known at run time only."""
        if self.strategy or any(self.found.get(name) is not None for name in ("strategy", "plugins")):
            return None
        if given.name == "accelerator":
            default = option_default(given.value, self.file)
            if not isinstance(default, str) or default.lower() not in BACKENDS:
                return None
        self.strategy = f"{parenthesised(given.text)} or {self.quote}auto{self.quote}"
        return Cases([({}, None)], f"`{given.text}` may be a strategy that is gone")

    def translate(self, names: set[str]) -> Merged | None:
        """Translate some of the arguments."""
        chosen = {name: cases for name, cases in self.cases.items() if name in names}
        merged = translate_cases(
            chosen, target=self.target, release=RELEASE, spell=self.spell, quote=self.quote
        )
        if merged is not None and self.strategy and names & {"accelerator", "distributed_backend"}:
            merged.constructor["strategy"] = self.strategy
        return merged

    def findings(self) -> Iterator[Finding]:
        """Report every argument that is not as it should be."""
        file, found = self.file, self.found
        for node in found.positional:
            yield file.finding(
                _code("kwargs"), node, "positional arguments of the Trainer: name them, 2.x takes none"
            )
        merged = self.translate(set(self.cases))
        if merged is None:
            for given in found.given:
                if given.name in LEGACY_ONLY:
                    yield self._told(given.name, _advice(given.name), None)
            return
        manual, unsafe = self._sort(merged)
        safe_names = set(self.cases) - manual - unsafe
        all_names = set(self.cases) - manual
        touched = self._touched(merged)
        fixes: dict[Applicability, Fix | None] = {}
        if file.fixing:
            if touched & safe_names:
                fixes[SAFE] = self._fix(safe_names, SAFE)
                if fixes[SAFE] is None and touched & safe_names:
                    fixes[UNSAFE] = self._fix(all_names, UNSAFE)
            if touched & unsafe and not fixes.get(UNSAFE):
                fixes[UNSAFE] = self._fix(all_names, UNSAFE)
        for given in found.given:
            name = given.name
            if name in self.blind:
                yield self._told(name, _advice(name), None)
            elif name in merged.errors:
                yield self._told(name, merged.errors[name].message, None)
            elif name in manual and name not in merged.findings:
                if name in LEGACY_ONLY:
                    yield self._told(name, _advice(name), None)
            else:
                yield from self._of_one(name, merged, manual, unsafe, fixes)
        yield from self._orphans(merged, fixes)
        yield from self._named(fixes)

    # Inner works

    def _sort(self, merged: Merged) -> tuple[set[str], set[str]]:
        """Return the arguments that are left to a person, and those whose translation wants a look."""
        manual = set(self.blind) | set(merged.errors)
        unsafe = {name for name, cases in self.cases.items() if cases.unsafe}
        for name, those in merged.findings.items():
            kinds = {each.applicability for each in those}
            if kinds == {MANUAL} and name in LEGACY_ONLY and name not in merged.constructor:
                manual.add(name)
            elif UNSAFE in kinds:
                unsafe.add(name)
        for key in merged.failed:
            manual |= {key} | {each.name for each in self.found.given if key in _leads_to(each.name)}
        # What has a value nobody can see, next to legacy arguments of its group: not to be taken apart.
        for given in self.found.given:
            if given.name not in self.cases and given.name in ("accelerator", "plugins", "precision"):
                if given.name == "precision" and not self._apex():
                    continue
                group = group_of(given.name)
                if any(name in LEGACY_ONLY for name in group & set(self.cases)):
                    manual |= group & {each.name for each in self.found.given}
        for names in (manual, unsafe):
            for name in list(names):
                names |= group_of(name) & {each.name for each in self.found.given}
        return manual, unsafe - manual

    def _apex(self) -> bool:
        cases = self.cases.get("amp_backend")
        return cases is not None and any(value == "apex" for _, value in cases.values)

    def _touched(self, merged: Merged) -> set[str]:
        """Return the arguments that a rewrite changes."""
        changed = {name for name, text in merged.constructor.items() if text is not None}
        gone = {name for name in self.cases if name not in merged.constructor}
        named = {each.name for each in self.found.given if each.positional}
        return changed | gone | named

    def _fix(self, names: set[str], how: Applicability) -> Fix | None:
        merged = self.translate(names)
        if merged is None or merged.errors.keys() & names:
            return None
        found = self.found.fresh(self.file)
        try:
            made = rewrite(found, merged, names, self.file)
        except Unwritable:
            return None
        if not made.edits:
            return None
        if (made.unsafe or (found.open and made.added & _OFTEN_PASSED_ON)) and how is SAFE:
            return Fix(UNSAFE, made.message, made.edits, made.imports)
        return Fix(how, made.message, made.edits, made.imports)

    def _of_one(
        self,
        name: str,
        merged: Merged,
        manual: set[str],
        unsafe: set[str],
        fixes: dict[Applicability, Fix | None],
    ) -> Iterator[Finding]:
        those = merged.findings.get(name, ())
        if not those:
            return
        fix = None
        if name not in manual:
            fix = fixes.get(UNSAFE if name in unsafe else SAFE) or fixes.get(UNSAFE)
        main = [each for each in those if each.applicability is not MANUAL] or list(those)
        notes = [each for each in those if each.applicability is MANUAL and each not in main]
        message = main[0].message
        if len(main) > 1:
            message = _advice(name)  # it depends: the cases would contradict each other
        extra = self.cases[name].unsafe if name in self.cases else ""
        if extra and name not in manual:
            message = f"{message}; {extra}"
        only_told = (
            all(each.applicability is MANUAL for each in main) and merged.constructor.get(name, "") is None
        )
        yield self._told(name, message, None if only_told else fix, silent=any(each.silent for each in main))
        for note in notes:
            yield self._told(name, note.message, None, silent=note.silent)

    def _orphans(self, merged: Merged, fixes: dict[Applicability, Fix | None]) -> Iterator[Finding]:
        """Findings about arguments that are not written: the strategy that stood in ``accelerator``."""
        given = {each.name for each in self.found.given}
        for name, those in merged.findings.items():
            if name in given:
                continue
            for each in those:
                place = next((one for one in self.found.given if one.name in group_of(name)), None)
                node = place.node if place is not None else self.found.call
                yield self.file.finding(each.code, node, self._message(each), None, silent=each.silent)

    def _named(self, fixes: dict[Applicability, Fix | None]) -> Iterator[Finding]:
        """Positional arguments get their name."""
        for given in self.found.given:
            if given.positional and given.name in self.cases:
                message = f"`{given.name}` is given by its position, which 2.x refuses: name it"
                fix = fixes.get(SAFE) or fixes.get(UNSAFE)
                yield self.file.finding(_code(given.name), given.node, message, fix, silent=False)

    def _told(self, name: str, message: str, fix: Fix | None, *, silent: bool = False) -> Finding:
        given = self.found.get(name)
        node = given.node if given is not None else self.found.call
        return self.file.finding(_code(name), node, self._readable(name, message), fix, silent=silent)

    def _message(self, finding: ArgumentFinding) -> str:
        return self._readable(finding.argument, finding.message)

    def _readable(self, name: str, message: str) -> str:
        given = self.found.get(name)
        if given is not None and "Opaque(...)" in message:
            text = " ".join(given.text.split())
            message = message.replace("Opaque(...)", text if len(text) <= 40 else text[:37] + "...")
        return message


def _leads_to(name: str) -> frozenset[str]:
    """Return the arguments and parts that a legacy argument may turn into."""
    entry = catalogue.trainer_argument(name)
    names = {name, *(group_of(name) & (LIGHTNING | RELIGHT))}
    if entry is not None:
        names |= {entry.lightning.name, entry.relight.argument, entry.relight.name}
    if name == "deterministic":
        names |= {
            "use_deterministic_algorithms",
            "environ.CUBLAS_WORKSPACE_CONFIG",
            "backends.cudnn.benchmark",
        }
    if name == "benchmark":
        names.add("backends.cudnn.benchmark")
    return frozenset(names)


def _code(name: str) -> str:
    entry = catalogue.trainer_argument(name) or catalogue.trainer_argument("kwargs")
    assert entry is not None
    return entry.code


def _advice(name: str) -> str:
    entry = catalogue.trainer_argument(name)
    return entry.advice if entry is not None else f"`{name}` is not an argument of the Trainer"
