"""Estimates: intervals that cover, hits that are never invented, honest zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Comparison, Structure, compare
from contextwise.comparison.estimate import (
    binomial_interval,
    draw_assertions,
    estimate_open_pairs,
)
from contextwise.comparison.question import FULLY, Contexts, Question, pose
from contextwise.comparison.two_models import answer
from contextwise.counting.assertions import answers
from contextwise.counting.pair_counts import bound_pairs
from contextwise.errors import ContextwiseError, TooLargeError
from contextwise.support.effort import Effort
from contextwise.testing import domains, families
from hard import hard_models

DOMAIN = {"A": 2, "B": 2, "C": 3, "D": 2, "E": 2, "F": 2}
TRUE = Structure(DOMAIN, ["A=1 & B=1 & C=0|1 & D=1", "A=1 & B=1 & C=2", "C=1 & D=1 & E=0 & F=1"])
GUESS = Structure(DOMAIN, ["A=1 & B=1 & E=1", "A=0 & B=0 & C=0", "C=1 & D=1 & F=0", "C=2 & D=0"])


def leave_open(true: Structure, guess: Structure, contexts: Contexts = FULLY) -> Comparison:
    """Return a comparison in which no pair has been counted yet."""
    question = pose([true, guess], contexts=contexts)
    pairs = question.active_pairs()
    a, b = (structure.features for structure in question.structures)
    unions = bound_pairs(a, b, pairs, space=question.space)
    return Comparison(question, pairs, unions)


@pytest.mark.parametrize("contexts", ["fully-contextualized", "canonical"])
def test_intervals_cover_as_often_as_they_say(contexts: Contexts) -> None:
    left_open = leave_open(TRUE, GUESS, contexts)
    exact = compare(TRUE, GUESS, contexts=contexts)
    assert left_open.open_pairs
    covered = {"fp": 0, "fn": 0}
    values: dict[str, list[float]] = {"fp": [], "fn": []}
    for seed in range(150):
        found = estimate_open_pairs(left_open, draws=200, seed=seed)
        for kind in covered:
            share = float(getattr(exact, kind) / exact.total)
            estimate = getattr(found, kind)
            covered[kind] += estimate.low <= share <= estimate.high
            values[kind].append(estimate.value)
    assert min(covered.values()) >= 134  # 142.5 are promised, with a deviation of 2.7
    for kind, given_values in values.items():
        share = float(getattr(exact, kind) / exact.total)
        error = float(np.std(given_values)) / 150**0.5
        assert abs(np.mean(given_values) - share) < 4.5 * error


@given(st.data())
def test_what_is_finished_is_exact_and_bounds_hold(data: st.DataObject) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=4))
    one, two = data.draw(families(2, domain, with_claims=True))
    exact = compare(one, two)
    found = estimate_open_pairs(exact, draws=10)
    assert found.fp.low == found.fp.high == pytest.approx(float(exact.fp / exact.total))
    left_open = leave_open(one, two)
    estimates = estimate_open_pairs(left_open, draws=50)
    if not exact.fp:
        assert estimates.fp.value == 0  # a context outside the union is never drawn
    if not exact.fn:
        assert estimates.fn.value == 0
    # No hit is an upper limit, never "none".
    assert (estimates.fn.high > 0) == bool(exact.tp + exact.fn)
    assert (estimates.fp.high > 0) == bool(exact.tp + exact.fp)


def test_the_answer_of_compare_has_estimates_where_pairs_are_open() -> None:
    left_open = compare(*hard_models(), time_limit=0.1, estimate=True)
    assert left_open.estimates is not None
    assert left_open.estimates == estimate_open_pairs(left_open)
    assert compare(TRUE, GUESS, estimate=True).estimates is None


def test_bad_input_is_told() -> None:
    rows = compare(TRUE, GUESS, data=[[1, 1, 1, 1, 1, 1]])
    with pytest.raises(ContextwiseError, match="observed rows"):
        estimate_open_pairs(rows)
    with pytest.raises(ContextwiseError, match="draws must be >= 1, got"):
        estimate_open_pairs(compare(TRUE, GUESS), draws=0)


# -- sketches --------------------------------------------------------------------------------------

FIVE = {"A": 2, "B": 2, "C": 5, "D": 5, "E": 3}
ONE = Structure(FIVE, ["A=1 & B=1 & C=0|1", "C=1 & D!=2", "A=0 & D=1 & C=4", "B=1 & E=2 & A=0"])
TWO = Structure(FIVE, ["A=1 & B=1", "C=1 & D!=2 & A=0", "B=1 & E!=2"])
RESTRICTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "canonical": {"contexts": "canonical"},
    "pairs": {"pairs": [("A", "B"), ("C", "D"), ("B", "E")]},
    "context": {"context": "C=1"},
    "rows": {"data": [[0, 1, 4, 1, 2], [1, 0, 0, 0, 0], [0, 0, 1, 3, 1]]},
    "weights": {"weights": {"C": [0.9, 0.1, 0, 0, 0], "A": [0.25, 0.75]}},
}


@pytest.mark.parametrize("restriction", RESTRICTIONS.values(), ids=RESTRICTIONS)
def test_intervals_of_drawn_assertions_cover_the_exact_distance_as_often_as_they_say(
    restriction: dict[str, Any],
) -> None:
    exact = compare(ONE, TWO, **restriction).normalized
    question = pose([ONE, TWO], **restriction)
    differing = []
    for seed in range(200):
        sample = draw_assertions(question, 300, seed)
        first, second = (answers(model.features, sample)[0] for model in question.structures)
        differing.append(int.from_bytes((first ^ second).tobytes()).bit_count())
    low, high = binomial_interval(differing, 300)
    # 190 are promised; 200 repeats have a deviation of 3.1
    assert ((low <= exact) & (exact <= high)).sum() >= 183
    error = (exact * (1 - exact) / (300 * 200)) ** 0.5
    assert abs(np.mean(differing) / 300 - exact) < 4.5 * error


def test_no_hit_gives_an_upper_limit_and_never_none() -> None:
    low, high = binomial_interval([0, 10], 10)
    assert low[0] == 0 < high[0] < 1
    assert 0 < low[1] < high[1] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0}, "assertions must be >= 1, got 0"),
        ({"variables": ["A"]}, "no pair is left"),
        ({"data": [[1, 1, 1, 1, 1]], "context": "A=0"}, "no row of the data is left"),
    ],
)
def test_nothing_to_ask_is_a_clear_error(options: dict[str, Any], words: str) -> None:
    count = options.pop("count", 10)
    with pytest.raises(ContextwiseError, match=words):
        draw_assertions(pose([ONE], **options), count)


def test_more_assertions_than_memory_are_an_error() -> None:
    with pytest.raises(TooLargeError, match=r"not enough memory for .* assertions; ask for less"):
        draw_assertions(pose(["six"]), 10**16)


def test_counting_leaves_half_of_the_time_for_the_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = []

    def watched(question: Question, effort: Effort, **options: Any) -> Comparison:
        left.append(effort.deadline.left() or 0.0)
        return answer(question, effort, **options)

    monkeypatch.setattr("contextwise.comparison.two_models.answer", watched)
    compare("lung", "lung-learned", time_limit=100)
    compare("lung", "lung-learned", time_limit=100, estimate=True)
    assert 50 < left[0] <= 100
    assert 0 < left[1] <= 50
