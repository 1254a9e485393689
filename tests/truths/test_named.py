"""Truths by name: their structures are what their names say, and their rows follow them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contextwise import LogLinear, Structure, compare, examples, write
from contextwise.distributions.inference import probabilities
from contextwise.distributions.sampling import gibbs_chains
from contextwise.errors import ContextwiseError
from contextwise.models.structure import structure_of
from contextwise.truths.named import Rows, draw_rows, truth_named

NAMES = (
    *("paper", "grown-6-1", "grown-13-2", "grown-30-3", "grown-9-2-three", "grown-12-3-nested"),
    *("random-8", "random-30", "lung", "survey"),
)


@pytest.mark.parametrize("name", NAMES)
def test_equal_names_and_seeds_give_equal_models_and_rows(name: str) -> None:
    first, second = truth_named(name, seed=3), truth_named(name, seed=3)
    assert first == second
    rows = [draw_rows(t, 20, rng=np.random.default_rng(5)) for t in (first, second)]
    assert (rows[0].drawn.positions == rows[1].drawn.positions).all()
    assert rows[0].drawn.how == "exact"
    assert not rows[0].is_doubtful


def test_sets_of_weights_differ_and_the_structure_does_not() -> None:
    models = [truth_named(name) for name in ("paper", "paper#1", "paper#9")]
    assert all(model.structure == structure_of(examples.load("six")) for model in models)
    assert len({tuple(model.weights.tolist()) for model in models}) == 3


def test_the_smallest_grown_truth_is_the_papers() -> None:
    assert compare(truth_named("grown-6-1"), truth_named("paper")).distance == 0


@pytest.mark.parametrize("flags", [1, 2])
def test_under_a_flag_of_1_a_group_is_a_star(flags: int) -> None:
    structure = truth_named(f"grown-8-{flags}").structure
    names = structure.domain.names
    ones = structure.restrict(dict.fromkeys(names[:flags], 1))
    assert not ones.pairs()
    complete = structure.restrict(dict.fromkeys(names[:flags], 0))
    assert complete.pairs()


def test_the_third_value_of_a_flag_silences_its_group() -> None:
    structure = truth_named("grown-7-1-three").structure
    assert not structure.restrict({"X0": 2}).pairs()
    assert not [f for f in structure.restrict({"X0": 2}) if f]
    assert structure.restrict({"X0": 0}).pairs()


def test_nested_flags_speak_only_where_those_before_are_0() -> None:
    structure = truth_named("grown-9-2-nested").structure
    inside = structure.restrict({"X0": 0})
    outside = structure.restrict({"X0": 1})
    assert ("X1", "X2") in inside.pairs()
    assert all("X1" not in pair for pair in outside.pairs())


def test_a_random_truth_is_a_bayesian_network() -> None:
    model = truth_named("random-8#2")
    assert np.exp(model.weights).max() < 1
    total = probabilities(model)
    potentials = np.exp(model.weights)
    assert total.sum() == pytest.approx(1)
    first = np.array(
        [potentials[f] for f in range(len(model)) if model.structure.feature_text(f) == "v0=1"]
    )
    assert total.sum(axis=tuple(range(1, 8)))[1] == pytest.approx(first[0])


def test_a_model_file_is_a_truth(tmp_path: Path) -> None:
    model = LogLinear(Structure({"A": 2, "B": 3}, ["A=1 & B=2"]), [1.5])
    write(model, tmp_path / "mine.json")
    assert truth_named(str(tmp_path / "mine.json")) == model


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
        truth_named(name)


def test_rows_of_chains_that_did_not_mix_are_doubtful() -> None:
    drawn = draw_rows(truth_named("paper"), 30, rng=np.random.default_rng(1)).drawn
    chains = gibbs_chains("lung", chains=2, draws=4, rng=1)
    from dataclasses import replace

    from_chains = replace(drawn, chains=chains)
    assert Rows(from_chains, 1.5, 0.9).is_doubtful
    assert Rows(from_chains, 1.0, 0.1).is_doubtful
    assert Rows(from_chains, None, None).is_doubtful
    assert not Rows(from_chains, 1.0, 0.9).is_doubtful


def test_chains_go_on_until_their_mixing_is_known() -> None:
    domain = {f"X{k}": 2 for k in range(26)}
    every_pair = [f"X{a}=1 & X{b}=1" for a in range(26) for b in range(a)]
    weak = LogLinear(Structure(domain, every_pair), np.full(len(every_pair), -0.1))
    rows = draw_rows(weak, 30, rng=np.random.default_rng(1))
    assert rows.drawn.positions.shape == (30, 26)
    assert rows.drawn.how.endswith("Gibbs chains")
    assert rows.r_hat is not None
    assert rows.r_hat < 1.05
    assert not rows.is_doubtful
