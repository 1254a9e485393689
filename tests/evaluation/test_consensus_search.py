"""A consensus is a local optimum whose sum is exact and lies above its bounds."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare, distance_matrix
from contextwise.comparison.question import pose
from contextwise.comparison.track import Tracker
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evaluation import consensus
from contextwise.evaluation.consensus_search import _Moves
from contextwise.support.deadline import Deadline, OutOfTime
from contextwise.support.effort import QUIET, Effort
from contextwise.testing import contexts_of, depends, domains, families
from contextwise.truths.generate import random_structure
from hard import LATE, hard_models, hard_pair


def loss(models: tuple[Structure, ...], structure: Structure, t: Fraction, **options: Any) -> Any:
    found = [compare(model, structure, **options) for model in models]
    return sum(2 * t * c.fp + 2 * (1 - t) * c.fn for c in found)


@settings(max_examples=40)
@given(st.data(), st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)]))
def test_no_single_feature_makes_it_better(data: st.DataObject, threshold: Fraction) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=3))
    models = data.draw(families(3, domain))
    found = consensus(models, threshold=threshold)
    assert found.is_local_optimum
    assert found.sum == loss(found.models, found.structure, threshold)
    assert found.sum <= found.medoid_sum
    assert found.lower_bound <= found.sum
    assert found.majority_is_exact
    assert found.majority.value <= float(found.sum) + 1e-9
    have = list(found.structure)
    pool = [feature for model in models for feature in model]
    for feature in pool:
        other = [f for f in have if f != feature] if feature in have else [*have, feature]
        assert loss(found.models, Structure(domain, other), threshold) >= found.sum


def test_the_threshold_decides_how_many_votes_a_dependence_needs() -> None:
    domain = {"A": 2, "B": 2, "C": 2}
    with_it, without = Structure(domain, ["A=1 & B=1"]), Structure(domain)
    models = [with_it, without, without]
    assert len(consensus(models).structure) == 0
    assert len(consensus(models, threshold=0.3).structure) == 1


def test_features_that_hide_each_other_go_together() -> None:
    """Two features make a pair depend everywhere, and without one of them it still does."""
    domain = {"A": 2, "B": 2, "C": 2}
    often = Structure(domain, ["A=1 & B=1", "A=0 & B=0"])
    other = Structure(domain, ["A=1 & C=1", "A=0 & C=0"])
    found = consensus([often, often, often, other, other], threshold=0.8)
    assert len(found.structure) == 0
    assert float(found.sum) == pytest.approx(found.majority.value)
    assert found.sum < found.medoid_sum == loss(found.models, often, Fraction(4, 5))


def claims(structure: Structure) -> npt.NDArray[np.bool_]:
    """Return a mask of the domain's assertions that are dependences, by brute force."""
    domain = structure.domain
    return np.array(
        [
            depends(structure, pair, context)
            for pair in combinations(domain.names, 2)
            for context in contexts_of(domain, pair)
        ]
    )


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_its_sum_is_near_the_least_that_features_of_the_models_can_have(threshold: float) -> None:
    """Against every subset of the features of the models, in twenty cases together."""
    sums = least = 0.0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        domain = Domain({"A": 2, "B": 3, "C": 2, "D": 2})
        models = [random_structure(domain, features=2, lengths=(2, 3), rng=rng) for _ in range(4)]
        votes = np.sum([claims(model) for model in models], axis=0)
        nothing = 2 * (1 - threshold) * votes.sum()
        gain = 2 * (votes - threshold * len(models))
        every = np.array([claims(Structure(domain, [f])) for model in models for f in model])
        subsets = product([False, True], repeat=len(every))
        best = max(gain[every[list(chosen)].any(axis=0)].sum() for chosen in subsets)
        sums += float(consensus(models, threshold=threshold).sum)
        least += nothing - best
    assert least - 1e-6 <= sums <= 1.01 * least


def test_only_features_that_speak_of_what_is_asked_are_moved() -> None:
    domain = {"A": 2, "B": 2, "C": 2}
    other = ["A=1", "B=1 & C=1", "B=0 & C=0"]
    models = [Structure(domain, [*other, "A=1 & B=1"]) for _ in range(3)]
    assert consensus(models, pairs=[("A", "B")]).structure == models[0]


def test_the_majority_is_estimated_where_assertions_are_many() -> None:
    rng = np.random.default_rng(3)
    names = [f"X{k}" for k in range(14)]
    texts = [
        [" & ".join(f"{v}={rng.integers(2)}" for v in rng.choice(names, 4, replace=False))]
        for _ in range(4)
    ]
    models = [Structure(dict.fromkeys(names, 2), text) for text in texts]
    few = consensus(models, variables=names[:6])
    assert few.majority_is_exact == (few.total <= 2**16)
    many = consensus(models)
    assert not many.majority_is_exact
    assert many.majority.low <= many.majority.value <= many.majority.high <= float(many.sum) * 1.05


def test_supports_say_how_many_models_have_the_dependence() -> None:
    domain = {"A": 2, "B": 2, "C": 2}
    texts = [["A=1 & B=1 & C=1"], ["A=1 & B=1"], ["A=1 & B=1 & C=1"]]
    found = consensus([Structure(domain, text) for text in texts])
    assert list(map(str, found.supports("A", "B"))) == [
        "A–B depend when C=1: 3 of 3 models have the dependence",
        "A–B are independent when C=0: 1 of 3 models have the dependence",
    ]


@pytest.mark.parametrize("domain", [{}, {"A": 2}])
def test_models_without_a_pair_agree(domain: dict[str, int]) -> None:
    models = [Structure(domain), Structure(domain, ["A=1"] if domain else [])]
    found = consensus(models)
    assert (found.sum, found.total, found.mean_distance) == (0, 0, 0.0)
    assert found.lower_bound == distance_matrix(models).distances.sum() == 0
    assert found.widest_supports() == []
    assert "mean normalized distance of 0 " in found.verdict


@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_the_time_limit_bounds_everything(limit: float) -> None:
    """Not even the distance of these two models is known in time."""
    models = [hard_pair(seed) for seed in range(2)]
    start = time.perf_counter()
    with pytest.raises(OpenResult, match="not known within the time limit"):
        consensus(models, time_limit=limit)
    assert time.perf_counter() - start < LATE


def test_a_search_without_time_gives_the_most_typical_model() -> None:
    models = ["six", "six-guess", "six-graph"]
    found = consensus(models, matrix=distance_matrix(models), time_limit=0)
    assert not found.is_local_optimum
    assert (found.sum, found.moves) == (found.medoid_sum, 0)
    assert found.structure == found.models[distance_matrix(models).medoid]


@pytest.mark.parametrize(
    ("models", "options", "words"),
    [
        ([], {}, "no model"),
        (["lung"], {}, "at least two"),
        (["lung", "lung"], {"threshold": 1.0}, "between 0 and 1"),
        (["lung", "lung"], {"data": [["yes", "yes", "yes"]]}, "observed rows"),
    ],
)
def test_bad_input_is_told(models: list[str], options: dict[str, Any], words: str) -> None:
    with pytest.raises(ContextwiseError, match=words):
        consensus(models, **options)


def test_a_matrix_that_is_known_saves_counting_and_changes_nothing() -> None:
    models = ["six", "six-guess", "six-graph"]
    matrix = distance_matrix(models)
    assert matrix.medoid == distance_matrix(models).medoid
    assert matrix.submatrix([2, 0]).distances.tolist() == [[0, 80], [80, 0]]
    asked, known = consensus(models), consensus(models, matrix=matrix)
    assert (known.structure, known.record()) == (asked.structure, asked.record())
    with pytest.raises(ContextwiseError, match="must be of 3 models, got 2"):
        consensus(models, matrix=matrix.submatrix([0, 1]))


def test_a_step_without_time_changes_no_tracker(monkeypatch: pytest.MonkeyPatch) -> None:
    question = pose(["six", "six-guess", "six-graph"])
    moves = _Moves(question, question.structures[2], Fraction(1, 2), QUIET)
    before, loss = moves.trackers[0].guess, moves.loss
    step, steps = Tracker._step, []

    def late(self: Tracker, *change: Any) -> Tracker:
        steps.append(change)
        if len(steps) == 2:
            moves._effort = Effort.of(0)
            raise OutOfTime
        return step(self, *change)

    monkeypatch.setattr(Tracker, "_step", late)
    pool = [tuple(f) for f in question.structures[0].features.literals()]
    assert not moves.improve(pool)
    assert len(steps) == 2
    assert {tracker.guess for tracker in moves.trackers} == {before}
    assert moves.loss == loss


def test_a_preview_stops_at_the_deadline() -> None:
    guess, _ = hard_models()
    nothing = Structure(guess.domain)
    tracker = Tracker(pose([nothing, nothing]))
    tracker._deadline = Deadline.after(0.2)
    with pytest.raises(OutOfTime):
        tracker.preview(add=list(map(guess.feature_text, range(len(guess)))))
