"""The pytest plugin of relight: quiet Trainers, and a summary of legacy uses.

It is loaded with pytest wherever relight is installed, so it imports nothing but pytest until it is asked for
something; what it does is in :mod:`relight.testing`.

- The fixture ``quiet_trainers`` turns loggers, checkpoints, progress bars and summaries off for all Trainers
  of a test, keeps their files in ``tmp_path``, and leaves out any callback::

      def test_it_learns(quiet_trainers):
          quiet_trainers.leave_out("EarlyStopping")
          main(["--max-epochs", "1"])
          assert quiet_trainers.trainers[0].callback_metrics["loss"] < 1

- ``--quiet-trainers``, or ``quiet_trainers = true`` in the configuration, does so for every test;
  ``--leave-out-callback NAME`` and ``leave_out_callbacks`` leave out callbacks then, too.
- ``@pytest.mark.quiet_trainers(leave_out=["EarlyStopping"], keep=["checkpoints"])`` changes it for one test.
- Each use of the legacy API under :mod:`relight.compat` that a test run saw is listed at its end, by code and
  place; ``legacy_summary = false`` or ``--no-legacy-summary`` turns that off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import warnings

    from relight.testing import QuietTrainers

_MARK = "quiet_trainers"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options and settings."""
    group = parser.getgroup("relight", "Trainers of relight")
    group.addoption(
        "--quiet-trainers", action="store_true", default=None,
        help="no loggers, checkpoints, progress bars and summaries in any test",
    )  # fmt: skip
    group.addoption(
        "--leave-out-callback", action="append", default=[], metavar="NAME",
        help="a callback that quiet Trainers do without: name of a class, or registered name",
    )  # fmt: skip
    group.addoption(
        "--no-legacy-summary", action="store_true", help="do not list uses of the legacy API at the end"
    )
    parser.addini("quiet_trainers", "quiet Trainers in every test", type="bool", default=False)
    parser.addini(
        "leave_out_callbacks", "callbacks that quiet Trainers do without", type="linelist", default=[]
    )
    parser.addini("legacy_summary", "list uses of the legacy API at the end", type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Turn on what is wanted in every test."""
    config.addinivalue_line(
        "markers",
        "quiet_trainers(leave_out=(), keep=()): quiet Trainers in this test, without more callbacks, or"
        " keeping some of loggers, checkpoints, configurations, progress_bars, summaries",
    )
    wanted = config.getoption("--quiet-trainers")
    if config.getini("quiet_trainers") if wanted is None else wanted:
        config.pluginmanager.register(_Everywhere(), "relight-quiet-trainers")
    if config.getini("legacy_summary") and not config.getoption("--no-legacy-summary"):
        config.pluginmanager.register(_LegacySummary(config.rootpath), "relight-legacy-summary")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a marked test the fixture."""
    names = getattr(item, "fixturenames", None)
    if names is not None and _MARK not in names and item.get_closest_marker(_MARK):
        names.insert(0, _MARK)


@pytest.fixture
def quiet_trainers(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[QuietTrainers]:
    """Turn loggers, checkpoints, progress bars and summaries off for all Trainers of this test.

    Gives a :class:`relight.testing.QuietTrainers`.
    """
    from relight.testing import QuietTrainers

    names = [*request.config.getini("leave_out_callbacks"), *request.config.getoption("--leave-out-callback")]
    with QuietTrainers(root=tmp_path, leave_out=names) as quiet:
        for mark in request.node.iter_markers(_MARK):
            quiet.leave_out(*mark.kwargs.get("leave_out", ()))
            quiet.keep(*mark.kwargs.get("keep", ()))
        yield quiet


class _Everywhere:
    """Gives every test the fixture."""

    @pytest.fixture(autouse=True)
    def _quiet_trainers_everywhere(self, quiet_trainers: QuietTrainers) -> None:
        pass


class _LegacySummary:
    """Lists uses of the legacy API at the end of a run."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._uses: dict[str, set[tuple[str, int, str]]] = {}  # file, line and text by code

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Remember a legacy use."""
        # By name: nothing of relight is imported for the warnings of others.
        names = {(cls.__module__.partition(".")[0], cls.__name__) for cls in warning_message.category.__mro__}
        if ("relight", "LegacyWarning") not in names:
            return
        code, _, text = str(warning_message.message).partition(" ")
        text = text.removesuffix(" (or run trainer-upgrade)")
        self._uses.setdefault(code, set()).add((warning_message.filename, warning_message.lineno, text))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the list."""
        if not self._uses:
            return
        places = {use[:2] for uses in self._uses.values() for use in uses}
        title = f"legacy API: {_number(len(self._uses), 'code')} at {_number(len(places), 'place')}"
        terminalreporter.write_sep("=", title, yellow=True)
        for code, uses in sorted(self._uses.items()):
            texts = {text for _, _, text in uses}
            # One line for all places if they are told the same.
            terminalreporter.write_line(f"{code} {texts.pop()}" if len(texts) == 1 else code, yellow=True)
            for filename, line, text in sorted(uses):
                suffix = f"  {text}" if texts else ""
                terminalreporter.write_line(f"    {self._shown(filename)}:{line}{suffix}")
        terminalreporter.write_line(
            "`trainer-upgrade .` rewrites them; `trainer-upgrade --explain CODE` tells more"
        )

    def _shown(self, filename: str) -> str:
        try:
            path = os.path.relpath(filename, self._root)
        except ValueError:  # another drive
            return filename
        return filename if path.startswith(os.pardir) else path


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
