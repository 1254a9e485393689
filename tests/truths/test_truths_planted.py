"""Planted errors are of one kind, and counted exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare, examples
from contextwise.comparison.matrix import farthest_first
from contextwise.errors import ContextwiseError
from contextwise.models.structure import structure_of
from contextwise.testing import random_structure
from contextwise.truths import with_errors
from contextwise.truths.planted import Chain, _closest, most_errors, plant

SIX = structure_of(examples.load("six"))
domains = st.lists(st.integers(2, 3), min_size=2, max_size=4).map(Domain.of_cardinalities)
seeds = st.integers(0, 2**32 - 1)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(domains, seeds, st.integers(0, 6), st.integers(0, 40))
@settings(max_examples=40, deadline=None)
def test_false_positives_only(domain: Domain, seed: int, features: int, wanted: int) -> None:
    model = random_structure(domain, features=features, set_literals=0.4, seed=seed)
    made, errors = plant(model, "fp", wanted, rng(seed))
    found = compare(model, made)
    assert found.fn == 0
    assert found.fp == errors
    assert set(model.features.rows) <= set(made.features.rows)


@given(domains, seeds, st.integers(0, 6), st.integers(0, 40))
@settings(max_examples=40, deadline=None)
def test_false_negatives_only(domain: Domain, seed: int, features: int, wanted: int) -> None:
    model = random_structure(domain, features=features, set_literals=0.4, seed=seed)
    made, errors = plant(model, "fn", wanted, rng(seed))
    found = compare(model, made)
    assert found.fp == 0
    assert found.fn == errors


def test_the_smallest_number_of_false_positives_is_eight() -> None:
    model = SIX
    assert compare(model, Structure(model.domain)).fn == 160
    reached = {plant(model, "fp", k, rng(k))[1] for k in range(1, 13)}
    assert min(reached - {0}) == 8


def test_every_multiple_of_eight_and_the_ends_are_reached() -> None:
    model = SIX
    for wanted in range(0, 81, 16):
        assert plant(model, "fp", wanted, rng(1))[1] == wanted
    assert plant(model, "fn", 160, rng(1))[1] == 160


def test_steps_after_one_that_is_too_large_add_up_to_the_target() -> None:
    """Each pair that depends errs in all contexts of the other variables."""
    domain = Domain({"A": 2, "B": 3, "C": 4, "D": 7})
    sizes = {(0, 1): 4 * 7, (2, 3): 2 * 3, (1, 3): 2 * 4}
    chain = Chain(domain, [], [[(first, 1), (second, 1)] for first, second in sizes], adds=True)
    truth = Structure(domain)
    made, errors = _closest(chain, lambda guess: int(compare(truth, guess).fp), 14)
    assert made.pairs() == [("B", "D"), ("C", "D")]
    assert errors == 6 + 8


def test_the_public_function() -> None:
    for wanted in (0, 16, 80):
        assert compare(SIX, with_errors(SIX, fp=wanted, seed=3)).distance == wanted
    guess = with_errors("six", fn=40, seed=3)
    assert guess == with_errors(SIX, fn=40, seed=3)
    assert compare(SIX, guess).fp == 0
    assert most_errors(SIX) == {"fp": 80, "fn": 160}
    sample = [with_errors(SIX, fp=40, seed=seed) for seed in range(8)]
    places = farthest_first(sample, 3)
    assert all(apart > 0 for _, apart in places[1:])


@pytest.mark.parametrize(
    ("fp", "fn", "message"),
    [(81, 0, "room for 80 errors"), (0, 161, "room for 160"), (1, 1, "one kind"), (-1, 0, "> 0")],
)
def test_what_is_refused(fp: int, fn: int, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        with_errors(SIX, fp=fp, fn=fn)
