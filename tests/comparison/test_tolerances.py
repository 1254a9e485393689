"""Tolerances: bad input, records, many states, limits; the laws are in `tests/laws`."""

from __future__ import annotations

import numpy as np
import pytest

from contextwise import LogLinear, Structure, compare, explain
from contextwise.comparison import tolerances
from contextwise.comparison.question import pose
from contextwise.comparison.tolerances import count_at
from contextwise.comparison.two_models import Interrupted
from contextwise.convert import by_values
from contextwise.errors import DomainError, OpenResult
from contextwise.models.domain import Domain
from contextwise.support.effort import Effort
from contextwise.testing import brute_force_at

DOMAIN = {"A": 2, "B": 2, "C": 2, "D": 3}

FEATURES = ["A=1 & B=1", "A=1 & B=1 & C=1", "B=1 & C=1 & D=0", "C=1 & D=2"]

TRUE = LogLinear(Structure(DOMAIN, FEATURES), [2.0, 1.0, 0.5, 0.001])

GUESS = LogLinear(Structure(DOMAIN, FEATURES[:3]), [2.0, -1.0, 0.05])


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (-0.1, "must be a number >= 0, got -0.1"),
        ([float("nan")], "got nan"),
        ([0.1, float("inf")], "got inf"),
        (["0.1"], "got '0.1'"),
        ([True], "got True"),
        ([0.1, 1, 0.1], "0.1 is given twice"),
        ([], "one tolerance or more"),
    ],
)
def test_bad_tolerances_are_refused(refused: object, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        compare(TRUE, GUESS, at=refused)  # type: ignore[arg-type]


def test_questions_without_an_answer_are_refused() -> None:
    with pytest.raises(DomainError, match="neither model has any"):
        compare(TRUE.structure, GUESS.structure, at=0)
    with pytest.raises(DomainError, match="leave out data and weights"):
        compare(TRUE, GUESS, at=0, weights={"C": [0.5, 0.5]})
    with pytest.raises(DomainError, match="not canonical"):
        compare(TRUE, GUESS, at=0, contexts="canonical")
    huge = LogLinear(TRUE.structure, [3e6, 1, 1, 1])
    with pytest.raises(DomainError, match="A and B add up to more than 2,000,000"):
        compare(huge, GUESS, at=0)
    hard = LogLinear(TRUE.structure, [np.inf, 1, 1, 1])
    with pytest.raises(DomainError, match="infinite"):
        compare(hard, GUESS, at=0)


def test_each_tolerance_has_counts_for_all_and_for_each_pair() -> None:
    at = compare(TRUE, GUESS, at=(1, 0)).at
    assert at is not None
    assert list(at) == [0, 1]
    assert at.closed
    assert at[0].confusion == brute_force_at(TRUE, GUESS, tolerance=0)
    assert (at[1].fn, at[1].fp, at[1].distance) == (4, 0, 4)
    assert at[1].pair("A", "B").fn == 3
    assert at[0].pair("A", "D").total == 4
    assert at.record()["fn_at_1"] == 4
    assert at.records()[1]["tolerance"] == 1
    assert "differs" in str(at)
    assert at.to_frame().shape[0] == 2


def test_a_model_without_weights_keeps_its_claims() -> None:
    at = compare(TRUE, GUESS.structure, at=(0, 5)).at
    assert at is not None
    assert [at[t].confusion for t in at] == [
        brute_force_at(TRUE, GUESS.structure, tolerance=t) for t in (0, 5)
    ]
    assert at.without_weights == ["the guess"]
    assert "The guess has no weights" in str(at)


def test_claims_read_at_a_tolerance_count_with_their_numbers() -> None:
    read = by_values(TRUE, tolerance=0.7)
    first, second = (compare(model, GUESS, at=0.1).at for model in (read, TRUE))
    assert first is not None
    assert second is not None
    assert first[0.1].confusion == second[0.1].confusion


def test_many_states_are_counted_by_cells() -> None:
    rng = np.random.default_rng(1)
    domain = Domain({"A": 9, "B": 8, "C": 2, "D": 3})
    features = [
        f"A={rng.integers(9)}|{rng.integers(9)} & B={rng.integers(8)} & C={rng.integers(2)}"
        for _ in range(30)
    ] + ["A!=3 & B!=2 & D=1"]
    structure = Structure(domain, list(dict.fromkeys(features)))
    two = [LogLinear(structure, rng.integers(-9, 9, len(structure)) / 8) for _ in range(2)]
    for tolerance, found in count_at(pose(two), (0.0, 1.0, 2.0)).items():
        assert found.confusion == brute_force_at(*two, tolerance=tolerance)


def test_a_restriction_is_the_comparison_of_restricted_models() -> None:
    inside = compare(TRUE, GUESS, at=0.3, context="C=1").at
    apart = compare(TRUE.restrict("C=1"), GUESS.restrict("C=1"), at=0.3).at
    pairs = compare(TRUE, GUESS, at=0.3, pairs=[("B", "C")]).at
    assert inside is not None
    assert apart is not None
    assert pairs is not None
    assert inside[0.3].confusion == apart[0.3].confusion
    assert pairs[0.3].confusion == compare(TRUE, GUESS, at=0.3).at[0.3].pair("B", "C")  # type: ignore[index]


def test_open_pairs_have_bounds() -> None:
    at = count_at(pose([TRUE, GUESS]), (0.0, 1.0), node_budget=0)
    assert not at.closed
    assert ("A", "B") in at[1.0].open_pairs
    low, high = at[1.0].distance_bounds
    assert low <= brute_force_at(TRUE, GUESS, tolerance=1.0).distance <= high
    with pytest.raises(OpenResult, match="unfinished at tolerance 1"):
        _ = at[1.0].distance
    with pytest.raises(OpenResult, match="pair_bounds"):
        at[1.0].pair("A", "B")
    assert at.record()["distance_at_1"] is None
    assert "Bounds are proven" in str(at)


@pytest.mark.skipif(tolerances.compiled is None, reason="the twin has no partial result")
def test_an_interruption_keeps_what_is_known() -> None:
    calls: list[int] = []

    def stop(done: int, total: int) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    domain = Domain({f"v{k}": 2 for k in range(40)})
    features = [
        "v0=1 & v1=1 & " + " & ".join(f"v{v}={rng.integers(2)}" for v in sorted(chosen))
        for chosen in (rng.choice(np.arange(2, 40), 5, replace=False) for _ in range(400))
    ]
    structure = Structure(domain, features)
    two = [LogLinear(structure, rng.normal(size=len(structure))) for _ in range(2)]
    at = count_at(pose(two), (0.5,), Effort.of(threads=1, show_progress=stop))
    assert at.interrupted
    assert not at.closed
    assert calls
    with pytest.raises(Interrupted):
        compare(*two, at=0.5, show_progress=stop)


def test_explain_lists_where_strong_dependences_differ() -> None:
    explanation = explain(TRUE, GUESS, at=1)
    pair, other = explanation.pairs
    assert other.regions[0].when == "A=1 & D=0"
    assert (pair.pair, pair.fn, pair.fp) == (("A", "B"), 3, 0)
    assert [(r.only_in, r.when, r.size) for r in pair.regions] == [("true", "C=1", 3)]
    assert explanation.record()["tolerance"] == 1
    assert "stronger than 1" in str(explanation)
    with pytest.raises(DomainError, match="explain takes one tolerance"):
        explain(TRUE, GUESS, at=(0, 1))
