"""Scores of ensembles, and how often their probabilities are right."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure
from contextwise.convert.undirected import from_graph
from contextwise.evaluation.ensemble_scores import reliability, score_ensembles
from contextwise.evaluation.ensembles import Ensemble
from contextwise.models.domain import Domain
from drawn_ensembles import assertions, theta_of, truths_and_ensembles


@given(both=truths_and_ensembles(), canonical=st.booleans())
def test_scores_are_sums_over_all_assertions(
    both: tuple[Structure, Ensemble], canonical: bool
) -> None:
    truth, guess = both
    how: Any = {"contexts": "canonical" if canonical else "fully-contextualized"}
    (score,) = score_ensembles(truth, {"guess": guess}, **how)
    theta, true = theta_of(guess, canonical), assertions(truth, canonical)
    count = len(theta)
    spread = sum(2 * p * (1 - p) for p in theta.values())
    assert score.expected_distance * count == sum(abs(p - true[a]) for a, p in theta.items())
    assert score.spread * count == spread * guess.correction
    brier = sum((p - true[a]) ** 2 for a, p in theta.items())
    assert score.brier * count == brier - spread * (guess.correction - 1) / 2
    assert score.brier >= 0  # it is the chance that two different draws are both wrong


def graphs_of(edges: int) -> list[Structure]:
    domain = Domain({f"v{k}": 2 for k in range(edges + 1)})
    links = [(f"v{k}", f"v{k + 1}") for k in range(edges)]
    return [
        from_graph([e for e, there in zip(links, chosen, strict=True) if there], domain, by="edges")
        for chosen in product((False, True), repeat=edges)
    ]


def test_the_brier_score_is_proper_and_the_expected_distance_is_not() -> None:
    graphs = graphs_of(3)
    truth = Ensemble(graphs, [Fraction(k + 1, 36) for k in range(8)])
    majority = from_graph([("v0", "v1"), ("v1", "v2"), ("v2", "v3")], truth.domain, by="edges")
    rng = np.random.default_rng(0)
    others = {
        f"other {k}": Ensemble(graphs, [Fraction(int(w), int(weights.sum())) for w in weights])
        for k, weights in enumerate(rng.integers(1, 9, (20, 8)))
    }
    guesses: dict[str, Any] = {"itself": truth, "majority": majority, **others}
    brier: dict[str, Fraction] = dict.fromkeys(guesses, Fraction(0))
    distance: dict[str, Fraction] = dict.fromkeys(guesses, Fraction(0))
    for graph, weight in truth.distinct.items():
        for score in score_ensembles(graph, guesses):
            brier[score.name] += weight * score.brier
            distance[score.name] += weight * score.expected_distance
    assert brier["itself"] == min(brier.values()) < brier["majority"]
    assert distance["majority"] < distance["itself"]


def test_the_verdict_names_the_best() -> None:
    none, edge = graphs_of(1)
    guesses = {
        "sure": Ensemble([none, edge], [0.7, 0.3]),
        "even": Ensemble([none, edge], [0.5, 0.5]),
    }
    assert score_ensembles(none, guesses).verdict == ("sure is best by the Brier score (0.0900).")


@pytest.mark.parametrize("edges", [1, 3, 6])
def test_layers_score_like_all_graphs_with_independent_edges(edges: int) -> None:
    rng = np.random.default_rng(edges)
    chances = [Fraction(int(k), 10) for k in rng.integers(0, 11, edges)]
    graphs = graphs_of(edges)
    weights = [
        prod(p if there else 1 - p for p, there in zip(chances, chosen, strict=True))
        for chosen in product((False, True), repeat=edges)
    ]
    whole = Ensemble(graphs, weights)
    matrix = np.zeros((edges + 1, edges + 1), dtype=object)
    for k, chance in enumerate(chances):
        matrix[k, k + 1] = matrix[k + 1, k] = chance
    layers = Ensemble.from_probabilities(matrix, whole.domain)
    assert len(layers.distinct) <= edges + 1
    assert (layers.probabilities() == whole.probabilities()).all()
    for truth in (graphs[0], graphs[-1]):
        first, second = score_ensembles(truth, {"layers": layers, "whole": whole})
        assert first.brier == second.brier
        assert first.expected_distance == second.expected_distance
        assert first.spread == second.spread


def test_the_fair_score_is_unbiased_and_the_plain_one_is_not() -> None:
    graphs = graphs_of(2)
    weights = [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10)]
    exact = score_ensembles(graphs[0], {"": Ensemble(graphs, weights)})[0]
    fair = plain = Fraction(0)
    size = 3
    for drawn in product(range(4), repeat=size):  # every sample, with its probability
        chance = Fraction(1)
        for k in drawn:
            chance *= weights[k]
        members = [graphs[k] for k in drawn]
        sample, fixed = Ensemble(members), Ensemble(members, [Fraction(1, size)] * size)
        scores = score_ensembles(graphs[0], {"fair": sample, "plain": fixed})
        fair += chance * Fraction(scores[0].brier)
        plain += chance * Fraction(scores[1].brier)
    assert fair == exact.brier
    assert plain == exact.brier + Fraction(exact.spread) / 2 / size


def test_probabilities_of_one_bin_are_not_called_equal() -> None:
    """A diagram with one group compares its mean probability with the share that is true."""
    matrix = np.zeros((6, 6))
    edges = [*combinations(range(6), 2)]
    for k, (i, j) in enumerate(edges):
        matrix[i, j] = matrix[j, i] = round(0.92 + k / 1000, 3)
    layers = Ensemble.from_probabilities(matrix)
    complete = from_graph([(f"v{i}", f"v{j}") for i, j in edges], layers.domain, by="edges")
    found = reliability(complete, layers, assertions=3_000)
    assert len(found.groups) == 1
    assert "same probability" not in found.verdict
    assert found.verdict.endswith("by 0.073 (root mean square).")


def test_an_ensemble_that_is_always_right_is_told_so() -> None:
    independent = Structure({"A": 2, "B": 2, "C": 2})
    for truth in (independent, from_graph([("A", "B")], independent.domain, by="edges")):
        assert reliability(truth, Ensemble([truth])).verdict.endswith(
            " is right about every drawn assertion."
        )


def test_groups_of_exact_probabilities() -> None:
    sample = Ensemble(["six", "six-guess", "six-guess", "six-graph"])
    found = reliability("six", sample, assertions=50_000)
    assert sum(group.number for group in found.groups) == 50_000
    for group in found.groups:
        assert group.low <= group.share <= group.high
    # Within a group of one probability, the Brier score has a closed form.
    weighted = Ensemble(sample.structures, sample.weights)
    (exact,) = score_ensembles("six", {"weighted": weighted})
    parts = [
        g.number * ((g.probability - g.share) ** 2 + g.share * (1 - g.share)) for g in found.groups
    ]
    assert sum(parts) / 50_000 == pytest.approx(float(exact.brier), abs=0.01)


def test_many_probabilities_are_binned() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.random((7, 7))
    matrix = (matrix + matrix.T) / 2
    layers = Ensemble.from_probabilities(matrix)
    truth = from_graph(np.triu(matrix > 0.5, 1) | np.tril(matrix > 0.5, -1), layers.domain)
    found = reliability(truth, layers, assertions=20_000)
    assert len(found.groups) <= 10
    assert sum(group.number for group in found.groups) == 20_000


def test_ten_calibrated_draws_look_overconfident() -> None:
    """If all probabilities are equally frequent, 1/12 of what no draw has is true."""
    rng = np.random.default_rng(2)
    domain = Domain(dict.fromkeys((f"v{k}" for k in range(40)), 2))
    chance = np.triu(rng.random((40, 40)), 1)
    drawn = [np.triu(rng.random((40, 40)) < chance, 1) for _ in range(11)]
    graphs = [from_graph(graph | graph.T, domain, by="edges") for graph in drawn]
    found = reliability(graphs[0], Ensemble(graphs[1:]), assertions=2**16)
    assert found.groups[0].probability < 0.05
    assert found.groups[0].share == pytest.approx(1 / 12, abs=0.04)
