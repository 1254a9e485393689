"""Two threads instead of one."""

from __future__ import annotations

import time

from benchmarks.cases import Models, assert_equal
from benchmarks.measure import Line, Measurement, at_least, timed

REAL = ("nips.dttree-ps5", "nips.dt-ps2")
MADE = ("wide.small", "wide.large")


def run(models: Models) -> Line:
    """Time a large comparison on one and two threads; the counts must be equal."""
    case = models.case(*(MADE if models.generated else REAL))
    one, first = timed(lambda: case.count(threads=1), time.perf_counter)
    two, second = timed(lambda: case.count(threads=2), time.perf_counter)
    assert_equal(first, second)
    measurements = [
        Measurement(case.name, "one thread", one),
        Measurement(case.name, "two threads", two),
    ]
    figures = [at_least(f"{case.name}, two threads", one / two, 1.7)]
    return Line("threads", "Two threads instead of one", measurements, figures)
