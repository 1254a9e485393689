"""Ensembles against brute force over all assertions, and their files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import given

from contextwise import Structure
from contextwise.errors import ContextwiseError, DomainError, OpenResult, ParseError, TooLargeError
from contextwise.evaluation.ensemble_scores import reliability, score_ensembles
from contextwise.evaluation.ensembles import Ensemble, as_ensemble, is_ensemble_file
from contextwise.models.domain import Domain
from contextwise.testing import domains
from drawn_ensembles import assertions, ensembles, theta_of, truths_and_ensembles

DOMAIN = Domain({"A": 2, "B": 3, "C": 2})


@given(both=truths_and_ensembles())
def test_the_medoid_is_the_nearest_member(both: tuple[Structure, Ensemble]) -> None:
    _, guess = both
    theta = theta_of(guess)

    def mean_distance(structure: Structure) -> Fraction:
        bits = assertions(structure)
        return sum((abs(theta[a] - bit) for a, bit in bits.items()), start=Fraction(0))

    assert mean_distance(guess.medoid()) == min(map(mean_distance, guess.distinct))


def test_a_structure_is_an_ensemble_without_spread() -> None:
    scores = score_ensembles("six", {"guess": "six-guess", "graph": "six-graph"})
    for score, distance in zip(scores, (16, 80), strict=True):
        assert score.spread == 0
        assert score.brier == score.expected_distance
        assert score.brier * score.total == distance
    assert scores.verdict.startswith("guess is best by the Brier score (0.0667).")


def test_too_many_structures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.evaluation.ensemble_scores.MOST", 2)
    with pytest.raises(TooLargeError, match=r"3 distinct structures, and 3 distances .* at most 2"):
        score_ensembles("six", {"all": Ensemble(["six", "six-guess", "six-graph"])})


@given(ensemble=domains(min_variables=1, max_variables=3).flatmap(ensembles))
def test_an_ensemble_is_written_and_read(
    tmp_path_factory: pytest.TempPathFactory, ensemble: Ensemble
) -> None:
    file = tmp_path_factory.mktemp("ensembles") / "file.json"
    ensemble.write(file)
    assert is_ensemble_file(file)
    read = as_ensemble(str(file))
    assert read.distinct == ensemble.distinct
    assert read.draws == ensemble.draws


def test_folders_matrices_and_arrays_are_ensembles(tmp_path: Path) -> None:
    from contextwise import write

    folder = tmp_path / "models"
    folder.mkdir()
    write(Structure(DOMAIN, ["A=1 & B=1"]), folder / "one.json")
    write(Structure(DOMAIN), folder / "two.json")
    (folder / "notes.txt").write_text("not a model")
    assert repr(Ensemble.read(folder)) == "Ensemble(2 draws, 2 distinct structures)"
    text = "name,C,A,B\nC,0,0.25,0\nA,0.25,0,0.5\nB,0,0.5,0\n"
    (tmp_path / "chances.csv").write_text(text)
    read = Ensemble.read(tmp_path / "chances.csv", DOMAIN)
    assert read.domain == DOMAIN
    assert read.probabilities().tolist() == [[0, 0.5, 0.25], [0.5, 0, 0], [0.25, 0, 0]]
    frame = pandas.DataFrame([[1, 0.5], [0.5, 1]], columns=["A", "B"])
    assert Ensemble.from_probabilities(frame).domain.names == ("A", "B")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.6], "weights must sum to 1, got 1.1"),
        ([1.5, -0.5], "weights must be >= 0, got -0.5"),
        ([1.0], "2 structures need as many weights, got 1"),
        (["a", 1], "a weight must be a number, got 'a'"),
        ([float("nan"), 1], "a weight must be a number, got nan"),
    ],
)
def test_wrong_weights(weights: list[Any], message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        Ensemble(["six", "six-guess"], weights)


def test_thirds_are_weights() -> None:
    assert sum(Ensemble(["six"] * 3, [1 / 3] * 3).weights) == 1


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 0.5], [0.4, 0]], "not symmetric: 'v0' and 'v1' have the probabilities 0.5 and 0.4"),
        ([[0, 1.5], [1.5, 0]], "of 'v0' and 'v1' must be between 0 and 1, got 1.5"),
        ([[0, 0.5]], "must be a square matrix"),
        ([[0, "x"], ["x", 0]], "a probability must be a number, got 'x'"),
        ([[0, float("nan")], [float("nan"), 0]], "a probability must be a number, got nan"),
    ],
)
def test_wrong_matrices(matrix: Any, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        Ensemble.from_probabilities(matrix)


def test_wrong_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match="at least one structure"):
        Ensemble([])
    with pytest.raises(DomainError):
        Ensemble(["six", "lung"])
    with pytest.raises(DomainError, match="the matrix has 2 variables, the domain 3"):
        Ensemble.from_probabilities([[0, 1], [1, 0]], DOMAIN)
    with pytest.raises(ContextwiseError, match="no model files in this folder"):
        Ensemble.read(tmp_path)
    (tmp_path / "a.json").write_text('{"format": "contextwise ensemble", "version": 2}')
    with pytest.raises(ParseError, match="version 2 is unknown"):
        Ensemble.read(tmp_path / "a.json")
    (tmp_path / "b.json").write_text('{"format": "contextwise"}')
    with pytest.raises(ParseError, match="not an ensemble"):
        Ensemble.read(tmp_path / "b.json")
    with pytest.raises(ContextwiseError, match="give at least one"):
        score_ensembles("six", {})
    with pytest.raises(OpenResult, match="allow more time"):
        reliability("six", "six-guess", time_limit=0)
