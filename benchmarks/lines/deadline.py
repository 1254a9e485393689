"""A hard comparison with a time limit of two minutes: how close are the bounds?"""

from __future__ import annotations

import time

from benchmarks.cases import Models
from benchmarks.measure import Line, Measurement, at_most
from contextwise import compare, read
from contextwise.comparison.confusion import ratio

REAL = ("jester.dt-ps10", "jester.dt-ps3")
MADE = ("forest.medium", "forest.large")
LIMIT = 120.0
MADE_LIMIT = 10.0


def run(models: Models) -> Line:
    """Compare on all cores, with a time limit."""
    names = MADE if models.generated else REAL
    limit = MADE_LIMIT if models.generated else LIMIT
    a, b = (read(models.path(name)) for name in names)
    began = time.perf_counter()
    comparison = compare(a, b, time_limit=limit)
    took = time.perf_counter() - began
    low, high = comparison.distance_bounds
    width = ratio(high - low, comparison.total)
    notes = {
        "open pairs": len(comparison.open_pairs),
        "normalized": [ratio(low, comparison.total), ratio(high, comparison.total)],
    }
    case = " / ".join(names)
    figures = [
        at_most(f"{case}: width of the bounds after {limit:g} s", width, 0.01, "of the assertions"),
        at_most(f"{case}: seconds in all", took, limit + 5, "s"),
    ]
    title = "A hard comparison with a time limit"
    return Line("deadline", title, [Measurement(case, "contextwise", took, notes)], figures)
