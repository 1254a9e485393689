"""Growth with the number of features: finer and finer models of one learner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.cases import Case, Models
from benchmarks.measure import Figure, Line, Measurement, at_most, exponent, timed
from contextwise.counting import native
from contextwise.counting.pair_counts import PairCounts
from contextwise.support.effort import Effort

REAL = {
    "nltcs": ("nltcs.cl", ["nltcs.dt-ps50", "nltcs.dt-ps10", "nltcs.dt-ps1"]),
    "plants": ("plants.cl", ["plants.dttree-ps50", "plants.dt-ps10", "plants.dt-ps2"]),
}
BUDGET = 500_000
"""Nodes of one union, about a second."""
MADE = {"forest": ("forest.small", ["forest.small", "forest.medium", "forest.large"])}


def run(models: Models) -> Line:
    """Fit the exponent of time over features, for pairs solved within the node budget."""
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for family, (coarse, finer) in (MADE if models.generated else REAL).items():
        points = []
        for name in finer:
            case = models.case(coarse, name)
            solved, left = _solved(case)
            seconds, _ = timed(lambda solved=solved: _within_budget(solved))  # type: ignore[misc]
            features = len(case.guess)
            points.append((features, seconds))
            notes = {"features": features, "pairs": len(solved.pairs), "over budget": left}
            measurements.append(Measurement(case.name, family, seconds, notes))
        what = f"{family}: exponent in the number of features"
        figures.append(at_most(what, exponent(points), 1.5))
    return Line("growth", "Growth with the number of features", measurements, figures)


def _solved(case: Case) -> tuple[Case, int]:
    """Return the case with the pairs solved within the budget, and the number of the others."""
    over = _within_budget(case).open_places
    return replace(case, pairs=np.delete(case.pairs, over, axis=0)), len(over)


def _within_budget(case: Case) -> PairCounts:
    return native.count_pairs(
        case.true, case.guess, case.pairs, Effort(threads=1), node_budget=BUDGET
    )
