"""Searches before a run: a good first learning rate, and the largest batch size that fits."""

from __future__ import annotations

from relight.tuner.lr import LRFinder
from relight.tuner.tuner import Tuner

__all__ = ["LRFinder", "Tuner"]
