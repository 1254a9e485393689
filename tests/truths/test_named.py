"""Truths by name: their structures are what their names say, and their rows follow them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contextwise import LogLinear, Structure, compare, examples, write
from contextwise.distributions.inference import probabilities
from contextwise.errors import ContextwiseError
from contextwise.models.structure import structure_of
from contextwise.truths.named import truth

NAMES = (
    *("paper", "grown-6-1", "grown-13-2", "grown-30-3", "grown-9-2-three"),
    *("random-8", "random-30", "lung", "survey"),
)


def _weighted(name: str) -> LogLinear:
    model = truth(name)
    assert isinstance(model, LogLinear)
    return model


@pytest.mark.parametrize("name", NAMES)
def test_equal_names_and_seeds_give_equal_models(name: str) -> None:
    assert truth(name) == truth(name)


def test_sets_of_weights_differ_and_the_structure_does_not() -> None:
    models = [_weighted(name) for name in ("paper", "paper#1", "paper#9")]
    assert all(model.structure == structure_of(examples.load("six")) for model in models)
    assert len({tuple(model.weights.tolist()) for model in models}) == 3


def test_the_smallest_grown_truth_is_the_papers() -> None:
    assert compare(truth("grown-6-1"), truth("paper")).distance == 0


@pytest.mark.parametrize("flags", [1, 2])
def test_under_a_flag_of_1_a_group_is_a_star(flags: int) -> None:
    structure = _weighted(f"grown-8-{flags}").structure
    names = structure.domain.names
    ones = structure.restrict(dict.fromkeys(names[:flags], 1))
    assert not ones.pairs()
    complete = structure.restrict(dict.fromkeys(names[:flags], 0))
    assert complete.pairs()


def test_the_third_value_of_a_flag_silences_its_group() -> None:
    structure = _weighted("grown-7-1-three").structure
    assert not structure.restrict({"X0": 2}).pairs()
    assert not [f for f in structure.restrict({"X0": 2}) if f]
    assert structure.restrict({"X0": 0}).pairs()


def test_a_random_truth_is_a_bayesian_network() -> None:
    model = _weighted("random-8#2")
    assert np.exp(model.weights).max() < 1
    total = probabilities(model)
    potentials = np.exp(model.weights)
    assert total.sum() == pytest.approx(1)
    first = np.array(
        [potentials[f] for f in range(len(model)) if model.structure.feature_text(f) == "v0=1"]
    )
    assert total.sum(axis=tuple(range(1, 8)))[1] == pytest.approx(first[0])


@pytest.mark.parametrize("seed", range(6))
def test_a_truth_of_several_states_has_half_as_many_pairs_more_than_a_tree(seed: int) -> None:
    """Tables that hold only in some states of a third variable can add pairs, never remove any."""
    structure = structure_of(truth(f"states-6#{seed}"))
    assert len(structure.pairs()) >= 5 + 6 // 2
    assert all(2 <= states <= 5 for states in structure.domain.cardinalities)


def test_a_model_file_is_a_truth(tmp_path: Path) -> None:
    model = LogLinear(Structure({"A": 2, "B": 3}, ["A=1 & B=2"]), [1.5])
    write(model, tmp_path / "mine.json")
    assert truth(str(tmp_path / "mine.json")) == model


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "unknown truth 'nothing'"),
        ("grown-5-1", "must be 6 to 30"),
        ("grown-10-4", "must be 1 to 3"),
        ("random-31", "must be 6 to 30"),
        ("paper#x", "expected a number after #"),
        ("lung#1", "has its own weights"),
    ],
)
def test_a_truth_that_cannot_be(name: str, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        truth(name)
