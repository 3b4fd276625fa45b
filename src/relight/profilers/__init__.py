"""Profilers: how long each part of a run takes."""

from __future__ import annotations

from relight.profilers.advanced import AdvancedProfiler
from relight.profilers.base import PassThroughProfiler
from relight.profilers.profiler import Profiler
from relight.profilers.pytorch import PyTorchProfiler
from relight.profilers.simple import SimpleProfiler

__all__ = ["AdvancedProfiler", "PassThroughProfiler", "Profiler", "PyTorchProfiler", "SimpleProfiler"]
