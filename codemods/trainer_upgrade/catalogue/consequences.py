"""What happens where no error tells: the consequence of each silent change, in a few words.

An entry's ``behaviour`` says what old code does on Lightning 2.6; a stock phrase of it is
turned into a sentence here. Changes whose entry has no behaviour of its own are listed with theirs.
"""

from __future__ import annotations

from trainer_upgrade.catalogue.entry import Entry

__all__ = ["GENERAL", "consequence"]

GENERAL = "2.x goes on without an error, with another result"

_STOCK = {
    "never called, without a word": "2.x never calls it and raises no error",
    "goes on, with another result": GENERAL,
    "goes on without an error": "2.x ignores it without an error",
    "another default, without a word": "2.x takes another default without an error",
    "there, with another meaning": "2.x has it with another meaning, without an error",
    "imports, as another class": "2.x has another class of that name: the import works",
    "another implementation": "2.x takes another implementation without an error",
    "taken as the new name": "2.x takes it for its new name without an error",
    "AttributeError where it is used": "2.x ignores the attribute: each step gets the whole batch",
    "TypeError on an instance; before 2.1 the instance stayed as it was": (
        "up to 2.0 the instance stays as it was, without an error"
    ),
}
# (code, name) of the entries that say no behaviour.
_OWN = {
    ("TRU121", "logger"): "2.x logs to CSV files where tensorboard is not installed, without an error",
    ("TRU239", "logger"): "2.x gives the first of several loggers, without an error",
    ("TRU239", "global_step"): "2.x counts steps of the optimizers, not batches, without an error",
    ("TRU239", "current_epoch"): "after fit 2.x has one more than before, without an error",
    ("TRU516", "map_location"): "2.x loads onto the device it was saved from, without an error",
    ("TRU522", "update_attr"): "2.x overwrites the learning rate, without an error",
    ("TRU534", "seed"): "2.x seeds with 0, without an error",
    ("TRU734", "[loggers]"): "2.x gives the first of them as trainer.logger, without an error",
}


def consequence(entry: Entry) -> str:
    """Return what 2.x does with old code of a silent entry, without an error."""
    own = _OWN.get((entry.code, entry.name))
    if own is not None:
        return own
    if not entry.silent or not entry.behaviour:
        return GENERAL
    return _STOCK.get(entry.behaviour) or f"no error in 2.x: {entry.behaviour}"
