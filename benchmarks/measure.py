"""What is kept of a run: measurements, the figures made of them, and the machine."""

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
"""Seconds after which a measurement is not repeated."""
MOST_REPEATS = 7
PACKAGES = ("contextwise", "numpy", "pyganak", "dd", "scikit-learn")


@dataclass(frozen=True)
class Measurement:
    """One contender on one case."""

    case: str
    contender: str
    seconds: float
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A number made of measurements, and what it should be."""

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
    """The median time of some repetitions (short work is repeated), and the result.

    Work of one thread is measured by the time of its processor, whatever else the machine does.
    """
    times: list[float] = []
    while True:
        began = clock()
        result = work()
        times.append(clock() - began)
        if sum(times) > ENOUGH or len(times) == MOST_REPEATS:
            return statistics.median(times), result


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of time over size on logarithmic scales, by least squares."""
    xs, ys = ([log(value) for value in values] for values in zip(*points, strict=True))
    return statistics.linear_regression(xs, ys).slope


def at_least(what: str, value: float, target: float, unit: str = "times faster") -> Figure:
    """A figure that should be as large as the target."""
    return Figure(what, value, f"at least {target:g} {unit}", value >= target)


def at_most(what: str, value: float, target: float, unit: str = "") -> Figure:
    """A figure that should be no larger than the target."""
    return Figure(what, value, f"at most {target:g} {unit}".strip(), value <= target)


def machine() -> dict[str, Any]:
    """Where the run took place."""
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
    """Keep a run; lines measured earlier and not now stay as they were, with their machine."""
    kept: dict[str, Any] = json.loads(path.read_text())["lines"] if path.exists() else {}
    for line in lines:
        kept[line.name] = {**asdict(line), "machine": machine()}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"models": models, "lines": kept}, indent=1) + "\n")
