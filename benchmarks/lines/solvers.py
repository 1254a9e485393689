"""Whole comparisons, against general solvers on the same unions: Ganak and CUDD."""

from __future__ import annotations

from benchmarks import baselines
from benchmarks.cases import Models
from benchmarks.measure import Figure, Line, Measurement, at_least, timed

REAL = [
    ("plants.dt-ps10", "plants.dtsl-ps10-l1_5-nz"),
    ("jester.dt-ps10", "jester.dn2mn-ps20"),
    ("alarm.cl", "alarm.bn-ps2"),
]
MADE = [("forest.small", "forest.medium")]
SOLVERS = {
    "Ganak alone": baselines.ganak,
    "CUDD": baselines.cudd,
    "CUDD, one manager": baselines.cudd_shared,
}
"""The solvers; CUDD with a new manager for each union, and with one manager for all."""
CAP = 150.0
"""Seconds for one solver on one comparison."""
TARGET = 300.0


def run(models: Models) -> Line:
    """Time our extraction and counting on one thread against the solvers' counting alone."""
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for names in MADE if models.generated else REAL:
        case = models.case(*names)
        ours, counts = timed(case.count)
        measurements.append(Measurement(case.name, "contextwise", ours))
        covers, sizes = case.covers(counts)
        for solver, make in SOLVERS.items():
            theirs = baselines.run(make, covers, sizes, CAP)
            notes = {"covers": len(covers), "finished": theirs.finished}
            measurements.append(Measurement(case.name, solver, theirs.total, notes))
            figures.append(at_least(f"{case.name}, {solver}", theirs.total / ours, TARGET))
    return Line("solvers", "Real comparisons against general solvers", measurements, figures)
