"""Verdicts about pairs: what they say never contradicts an interval or an interaction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contextwise import Domain
from contextwise.analysis.conclusions import analyse
from contextwise.data.rows import Data, as_data
from contextwise.evidence.pair_records import Interaction, PairEffect, PairEvidence
from contextwise.evidence.pair_verdicts import corrected, corrected_interactions, either
from contextwise.evidence.row_tests import RowTests

UNKNOWN = "could not be tested"


def evidence(p: float, **fields: object) -> PairEvidence:
    return PairEvidence(("a", "b"), UNKNOWN, p, None, "", **fields)  # type: ignore[arg-type]


def ratio(low: float, high: float) -> PairEffect:
    return PairEffect("odds ratio", "a", "b", "1", "1", "0", 1.5, low, high, None, 100.0)


@pytest.mark.parametrize(
    ("tested", "verdict"),
    [
        (evidence(0.001), "associated"),
        (evidence(0.001, average_p=0.2), "associated, not on average"),
        (evidence(0.03), "suggestive"),
        (evidence(0.06, average_p=0.048), "suggestive"),
        (evidence(0.06, trend_p=0.048), "suggestive"),
        (evidence(0.06, effects=(ratio(1.01, 2.0),)), "no association shown"),
        (evidence(0.03, reason="few rows"), "suggestive"),
        (evidence(0.06, effects=(ratio(0.9, 2.0),)), "no association shown"),
        (evidence(0.06, reason="few rows"), UNKNOWN),
    ],
)
def test_verdicts(tested: PairEvidence, verdict: str) -> None:
    judged, *_ = corrected([tested, *[evidence(1.0)] * 9], "all pairs")
    assert judged.verdict == verdict


@pytest.mark.parametrize(("p", "excludes"), [(0.049, True), (0.051, False), (0.9, False)])
def test_a_single_effect_excludes_none_only_if_its_test_does(p: float, excludes: bool) -> None:
    (found,) = corrected([evidence(p, average_p=p, effects=(ratio(1.1, 2.0),))], "1 pair")
    (effect,) = found.effects
    assert effect.excludes_none == excludes
    assert effect.low <= 1.1 + 1e-12
    assert effect.high >= 2.0 - 1e-12


def test_the_likelier_test_has_most_of_the_level() -> None:
    assert either(0.04, 1.0) == pytest.approx(0.05)
    assert either(1.0, 0.01) == pytest.approx(0.05)
    assert either(1.0, 1.0) == 1.0


def test_few_rows_alone_are_no_reason_not_to_test() -> None:
    data = as_data(np.random.default_rng(1).integers(2, size=(40, 2)), Domain({"a": 2, "b": 2}))
    (found,) = RowTests(data).pairs()
    assert found.could_show is not None
    assert found.could_show > 0.3
    assert found.verdict == "no association shown"


def rows_of_a_function() -> Data:
    """District determines region; both go with the outcome."""
    rng = np.random.default_rng(0)
    district = rng.integers(0, 6, 600)
    outcome = (rng.random(600) < 0.2 + 0.1 * district).astype(int)
    other = rng.integers(0, 2, 600)
    domain = Domain({"district": 6, "region": 3, "outcome": 2, "other": 2})
    return as_data(np.column_stack([district, district // 2, outcome, other]), domain)


def test_a_determined_variable_is_not_called_unassociated() -> None:
    found = RowTests(rows_of_a_function()).pairs(outcome="outcome")
    region = found.about("region", "outcome")
    assert region is not None
    assert region.verdict == UNKNOWN
    assert region.reason.startswith("district determines region")
    assert region.v is None
    assert not region.effects
    both = found.about("region", "district")
    assert both is not None
    assert both.verdict == "associated"


def test_several_columns_that_determine_a_variable() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 2000))
    y = rng.integers(0, 2, 2000)
    data = as_data(
        np.column_stack([a, b, a & b, y]), Domain(dict.fromkeys(("a", "b", "both", "y"), 2))
    )
    found = RowTests(data).pairs(outcome="y").about("both", "y")
    assert found is not None
    assert (found.verdict, found.reason) == (UNKNOWN, "the other columns determine both")


def test_no_interval_of_v_excludes_what_no_test_would_find() -> None:
    """Independent columns of four and three states: the largest V is never nearly 0."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        data = as_data(
            np.column_stack([rng.integers(0, 4, 200), rng.integers(0, 3, 200)]),
            Domain({"a": 4, "b": 3}),
        )
        found = RowTests(data).pairs().pairs[0]
        assert found.v_high is not None
        assert found.v_high > 1 / np.sqrt(len(data))


def test_differences_are_part_of_the_verdicts_of_an_analysis() -> None:
    """A and B agree where C=0 and disagree where C=1."""
    rng = np.random.default_rng(3)
    a, c = rng.integers(0, 2, (2, 1000))
    b = np.where(rng.random(1000) < 0.7, a ^ c, 1 - (a ^ c))
    data = as_data(np.column_stack([a, b, c]), Domain(dict.fromkeys("abc", 2)))
    found = analyse(data, learner="mpl", resamples=0)
    assert {each.verdict for each in found.pairs} == {"associated, not on average"}


def pair_of(p: float | None, name: str = "B", **more: Any) -> PairEvidence:
    return PairEvidence(("A", name), "no association shown", p, None, "", **more)


def test_the_family_is_corrected_by_holm_and_what_it_takes_away_is_suggestive() -> None:
    pairs = [pair_of(0.04, "B"), pair_of(0.01, "C"), pair_of(0.9, "D")]
    judged = corrected(pairs, "3 pairs")
    assert [each.adjusted for each in judged] == pytest.approx([0.08, 0.03, 0.9])
    assert [each.verdict for each in judged] == [
        "suggestive",
        "associated",
        "no association shown",
    ]
    assert {each.family for each in judged} == {"3 pairs"}


def test_tests_that_were_not_reached_count_in_the_family_and_impossible_ones_do_not() -> None:
    assert corrected([pair_of(0.01)], "10 pairs", size=10)[0].adjusted == pytest.approx(0.1)
    both = corrected([pair_of(0.01), pair_of(None, "C")], "2 pairs")
    assert both[0].adjusted == pytest.approx(0.01)
    assert both[1].adjusted is None


def test_a_triple_is_one_interaction_however_often_it_is_listed() -> None:
    def asked(first: str, second: str, by: str, p: float | None) -> Interaction:
        return Interaction((first, second), by, "no difference shown", p, None, "")

    triple = [asked("A", "B", "C", 0.01), asked("A", "C", "B", 0.01)]
    found = corrected_interactions(
        [*triple, asked("A", "B", "D", 0.04), asked("A", "B", "E", None)], "4 triples", 4, 0.05
    )
    assert [each.adjusted for each in found[:3]] == pytest.approx([0.03, 0.03, 0.08])
    assert [each.verdict for each in found[:3]] == ["differs", "differs", "suggestive"]
    assert found[3].adjusted is None
