"""Growing numbers of features over ten binary variables, compared with the readable engines."""

from __future__ import annotations

import numpy as np

from benchmarks.cases import Case, Models, assert_equal
from benchmarks.families import SEED
from benchmarks.measure import Figure, Line, Measurement, at_least, timed
from contextwise import Domain
from contextwise.comparison.question import active_pairs
from contextwise.testing import random_structure

FEATURES = (10, 20, 40, 80, 160)
VARIABLES = 10
TARGETS = {"partition": 1000.0, "enumerate": 50.0}


def run(models: Models) -> Line:
    """Time the published method, the oracle and the readable method against the default engine."""
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for number in FEATURES:
        case = random_case(number)
        ours, counts = timed(case.count)
        measurements.append(Measurement(case.name, "contextwise", ours, {"features": number}))
        for engine in ("partition", "enumerate", "branch"):
            theirs, answer = timed(lambda case=case, engine=engine: case.count(engine))  # type: ignore[misc]
            assert_equal(counts, answer)
            measurements.append(Measurement(case.name, engine, theirs, {"features": number}))
            if number == FEATURES[-1] and engine in TARGETS:
                what = f"{number} features, {engine}"
                figures.append(at_least(what, theirs / ours, TARGETS[engine]))
    title = f"Random models of {VARIABLES} binary variables"
    return Line("features", title, measurements, figures)


def random_case(features: int) -> Case:
    """Draw two random models with this many features of 2 to 8 literals."""
    domain = Domain({f"X{k}": 2 for k in range(VARIABLES)})
    rng = np.random.default_rng([SEED, features])
    a, b = (random_structure(domain, features=features, lengths=(2, 8), seed=rng) for _ in range(2))
    return Case(f"{features} features", a.features, b.features, active_pairs(a, b))
