"""Sketches estimate the normalized distance without bias, and their intervals cover it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contextwise import Structure, compare, examples
from contextwise.comparison.sketch import (
    binomial_interval,
    estimate_matrix,
    sketch,
    sketch_many,
)
from contextwise.errors import ContextwiseError, DomainError

DOMAIN = {"A": 2, "B": 2, "C": 5, "D": 5, "E": 3}
ONE = Structure(DOMAIN, ["A=1 & B=1 & C=0|1", "C=1 & D!=2", "A=0 & D=1 & C=4", "B=1 & E=2 & A=0"])
TWO = Structure(DOMAIN, ["A=1 & B=1", "C=1 & D!=2 & A=0", "B=1 & E!=2"])
RESTRICTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "canonical": {"contexts": "canonical"},
    "pairs": {"pairs": [("A", "B"), ("C", "D"), ("B", "E")]},
    "context": {"context": "C=1"},
    "rows": {"data": [[0, 1, 4, 1, 2], [1, 0, 0, 0, 0], [0, 0, 1, 3, 1]]},
    "weights": {"weights": {"C": [0.9, 0.1, 0, 0, 0], "A": [0.25, 0.75]}},
}


@pytest.mark.parametrize("restriction", RESTRICTIONS.values(), ids=RESTRICTIONS)
def test_intervals_cover_the_exact_distance_as_often_as_they_say(
    restriction: dict[str, Any],
) -> None:
    exact = compare(ONE, TWO, **restriction).normalized
    covered, values = 0, []
    for seed in range(200):
        one, two = sketch_many([ONE, TWO], assertions=300, rng=seed, **restriction)
        found = one.distance(two, confidence=0.9)
        covered += found.low <= exact <= found.high
        values.append(found.value)
    assert covered >= 170  # 180 are promised; 200 repeats have a deviation of 4.2
    error = (exact * (1 - exact) / (300 * 200)) ** 0.5
    assert abs(np.mean(values) - exact) < 4.5 * error


def test_the_same_seed_gives_sketches_that_can_be_compared() -> None:
    alone = [sketch(m, assertions=500, rng=3) for m in (ONE, TWO)]
    together = sketch_many([ONE, TWO], assertions=500, rng=3)
    assert alone[0].distance(alone[1]) == together[0].distance(together[1])
    with pytest.raises(DomainError, match="different assertions"):
        alone[0].distance(sketch(TWO, assertions=500, rng=4))
    with pytest.raises(DomainError, match="different assertions"):
        estimate_matrix([alone[0], sketch(examples.load("lung"), assertions=500, rng=3)])


def test_a_matrix_of_estimates_has_the_distances_of_its_sketches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("contextwise.comparison.sketch.BLOCK", 2)
    made = sketch_many([ONE, TWO, ONE, Structure(DOMAIN)], assertions=700)
    found = estimate_matrix(made)
    for m, first in enumerate(made):
        for k, second in enumerate(made):
            assert found.normalized[m, k] == first.distance(second).value
    low, high = found.interval()
    assert (low <= found.normalized).all()
    assert (found.normalized <= high).all()
    assert found.widest() == pytest.approx(((high - low) / 2).max())


def test_no_hit_gives_an_upper_limit_and_never_none() -> None:
    low, high = binomial_interval([0, 10], 10)
    assert low[0] == 0 < high[0] < 1
    assert 0 < low[1] < high[1] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"assertions": 0}, "assertions must be >= 1, got 0"),
        ({"variables": ["A"]}, "no pair is left"),
        ({"data": [[1, 1, 1, 1, 1]], "context": "A=0"}, "no row of the data is left"),
    ],
)
def test_nothing_to_ask_is_a_clear_error(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ContextwiseError, match=words):
        sketch(ONE, **options)
