"""Codes as people write them: which there are, what is meant by a wrong one, what one stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainer_upgrade.errors import UsageError

__all__ = ["ALL", "OWN_CODES", "explain", "known_codes", "page_url", "read_codes"]

ALL, SILENT = "ALL", "SILENT"
# Codes of the tool itself, which no entry of the catalogue has.
OWN_CODES = {
    "TRU001": "The file is no Python that this interpreter can parse; it is left as it is.",
    "TRU002": "A comment switches findings off that are not there: remove it, or the code it names in vain.",
    "TRU003": "The file cannot be read or written; it is left as it is.",
    "TRU004": "A fix was not applied (the file would not compile after it, or a rule failed): do it by hand.",
}


def known_codes() -> dict[str, str]:
    """Return all codes, with the names that carry them."""
    from trainer_upgrade import catalogue

    known: dict[str, str] = dict.fromkeys(OWN_CODES, "")
    for entry in catalogue.entries():
        known[entry.code] = f"{known[entry.code]} {entry.name}" if entry.code in known else entry.name
    return known


def read_codes(given: Iterable[str], where: str = "") -> tuple[str, ...]:
    """Split and check codes: ``TRU101``, ``TRU1,TRU2``, ``ALL``, ``silent``.

    Args:
        given: Codes, or several parted by commas.
        where: What to name in an error, such as a setting.

    Raises:
        UsageError: There is no such code.
    """
    codes = tuple(code.strip().upper() for part in given for code in part.split(",") if code.strip())
    if not codes:
        return ()
    known = known_codes()
    for code in codes:
        if code not in (ALL, SILENT) and not any(each.startswith(code) for each in known):
            raise UsageError(f"{where}there is no code {code}{_meant(code, known)}")
    return tuple("TRU" if code == ALL else code for code in codes)


def _meant(code: str, known: dict[str, str]) -> str:
    import difflib

    named = [each for each, names in known.items() if code.lower() in names.lower().split()]
    close = named or difflib.get_close_matches(code, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else "; codes look like TRU101"


def page_url(docs_url: str, code: str) -> str | None:
    """Return the address of a code's page on a docs site; ``None`` where no site is known.

    Args:
        docs_url: Where the site's front page is; of a ``file://`` site each page's file is named.
        code: The code.
    """
    if not docs_url:
        return None
    page = f"{docs_url.rstrip('/')}/rules/{code}/"
    return page + "index.html" if docs_url.startswith("file:") else page


def explain(asked: str) -> Iterator[str]:
    """Yield what the catalogue says of a code, line by line: what reports carry.

    Raises:
        UsageError: There is no such code.
    """
    from trainer_upgrade import catalogue
    from trainer_upgrade.catalogue.consequences import consequence

    code = asked.strip().upper()
    if code in OWN_CODES:
        yield from (code, f"  {OWN_CODES[code]}")
        return
    found = catalogue.by_code(code)
    if not found:
        raise UsageError(f"there is no code {asked}{_meant(code, known_codes())}")
    yield code
    for entry in found:
        yield f"\n{entry.owner}: {entry.name}"
        yield f"  {entry.advice}"
        history = [f"deprecated in {entry.deprecated_in}"] if entry.deprecated_in else []
        history += [f"removed in {entry.removed_in}"] if entry.removed_in else []
        if history:
            yield f"  {', '.join(history)}" + (f" ({entry.source})" if entry.source else "")
        for title, new in (("relight", entry.relight), ("Lightning 2.x", entry.lightning)):
            modern = new.text or new.name
            if modern:
                yield f"  on {title}: {modern}"
        if entry.silent:
            yield f"  silent: {consequence(entry)}"
        elif entry.behaviour:
            yield f"  old code on Lightning 2.6: {entry.behaviour}"
        yield f"  the rewrite is {entry.applicability}"
