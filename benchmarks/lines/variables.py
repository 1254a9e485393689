"""Twenty random features over growing numbers of variables: the paper's efficiency."""

from __future__ import annotations

import numpy as np

from benchmarks.cases import Case, Models, assert_equal
from benchmarks.families import SEED
from benchmarks.measure import Line, Measurement, at_most, exponent, timed
from contextwise import Domain
from contextwise.comparison.question import active_pairs
from contextwise.errors import TooLargeError
from contextwise.testing import random_structure

VARIABLES = (6, 10, 20, 50, 100, 200, 500, 1000)
FEATURES = 20
FROM = 50
"""Fit the exponent from this number of variables on."""


def run(models: Models) -> Line:
    """Growth with the number of variables, for a fixed number of features."""
    measurements: list[Measurement] = []
    for number in VARIABLES:
        case = random_case(number)
        ours, counts = timed(case.count)
        measurements.append(Measurement(case.name, "contextwise", ours, {"variables": number}))
        try:
            theirs, answer = timed(lambda case=case: case.count("enumerate"))  # type: ignore[misc]
        except TooLargeError:
            continue
        assert_equal(counts, answer)
        measurements.append(Measurement(case.name, "enumerate", theirs, {"variables": number}))
    large = [
        (m.notes["variables"], m.seconds)
        for m in measurements
        if m.contender == "contextwise" and m.notes["variables"] >= FROM
    ]
    what = f"exponent in the number of variables, from {FROM} on"
    figure = at_most(what, exponent(large), 1.0)
    return Line("variables", f"{FEATURES} random features", measurements, [figure])


def random_case(variables: int) -> Case:
    """Two random models of 20 features of 2 to 6 literals each."""
    domain = Domain({f"X{k}": 2 for k in range(variables)})
    rng = np.random.default_rng([SEED, variables])
    a, b = (random_structure(domain, features=FEATURES, lengths=(2, 6), seed=rng) for _ in range(2))
    return Case(f"{variables} variables", a.features, b.features, active_pairs(a, b))
