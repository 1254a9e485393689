"""Measurements of a run, the figures computed from them, and the machine."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

ENOUGH = 0.5
"""Stop repeating a measurement after this many seconds."""
MOST_REPEATS = 7
PACKAGES = ("contextwise", "numpy", "pyganak", "dd", "scikit-learn")


@dataclass(frozen=True)
class Measurement:
    """The time of one method on one case."""

    case: str
    contender: str
    seconds: float
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A number computed from measurements, and its goal."""

    what: str
    value: float
    target: str
    met: bool | None


@dataclass(frozen=True)
class Line:
    """One line of the report."""

    name: str
    title: str
    measurements: list[Measurement]
    figures: list[Figure]


def timed(work: Callable[[], T], clock: Callable[[], float] = time.process_time) -> tuple[float, T]:
    """Return the median time of several runs, and the result.

    Single-threaded work is measured in processor time.
    """
    times: list[float] = []
    while True:
        began = clock()
        result = work()
        times.append(clock() - began)
        if sum(times) > ENOUGH or len(times) == MOST_REPEATS:
            return statistics.median(times), result


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Fit the slope of log time over log size by least squares."""
    xs, ys = ([log(value) for value in values] for values in zip(*points, strict=True))
    return statistics.linear_regression(xs, ys).slope


def at_least(what: str, value: float, target: float, unit: str = "times faster") -> Figure:
    """Return a figure that should reach the target."""
    return Figure(what, value, f"at least {target:g} {unit}", value >= target)


def at_most(what: str, value: float, target: float, unit: str = "") -> Figure:
    """Return a figure that should not exceed the target."""
    return Figure(what, value, f"at most {target:g} {unit}".strip(), value <= target)


def machine() -> dict[str, Any]:
    """Describe the machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "date": time.strftime("%Y-%m-%d"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def save(path: Path, lines: Iterable[Line], models: str) -> None:
    """Store a run; lines that were not measured again keep their earlier values and machine."""
    kept: dict[str, Any] = json.loads(path.read_text())["lines"] if path.exists() else {}
    for line in lines:
        kept[line.name] = {**asdict(line), "machine": machine()}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"models": models, "lines": kept}, indent=1) + "\n")
