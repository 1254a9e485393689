"""Random structures: their errors are of the wanted kind, and as many as they say."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare
from contextwise.errors import DomainError
from contextwise.truths.generate import random_structure, with_errors
from features_invariant import check_features
from perturbed import perturb

seeds = st.integers(0, 2**32 - 1)
domains = st.lists(st.integers(1, 4), min_size=2, max_size=5).map(Domain.of_cardinalities)


def complete_or_star() -> Structure:
    """Complete under X0=0, a star under X0=1."""
    others = range(1, 6)
    star = [{"X0": 1, f"X{i}": a} for i in others for a in (0, 1)]
    complete = [
        {"X0": 0, f"X{i}": a, f"X{j}": b}
        for i, j in itertools.combinations(others, 2)
        for a, b in itertools.product((0, 1), repeat=2)
    ]
    return Structure({f"X{i}": 2 for i in range(6)}, [*star, *complete])


@given(domains, seeds, st.integers(0, 6), st.integers(0, 40))
@settings(max_examples=40, deadline=None)
def test_false_positives_only(domain: Domain, seed: int, features: int, wanted: int) -> None:
    model = random_structure(domain, features=features, set_literals=0.4, rng=seed)
    made, errors = with_errors(model, false_positives=wanted, rng=seed)
    found = compare(model, made)
    assert found.fn == 0
    assert found.fp == errors
    assert set(model.features.rows) <= set(made.features.rows)


@given(domains, seeds, st.integers(0, 6), st.integers(0, 40))
@settings(max_examples=40, deadline=None)
def test_false_negatives_only(domain: Domain, seed: int, features: int, wanted: int) -> None:
    model = random_structure(domain, features=features, set_literals=0.4, rng=seed)
    made, errors = with_errors(model, false_negatives=wanted, rng=seed)
    found = compare(model, made)
    assert found.fp == 0
    assert found.fn == errors


def test_the_smallest_number_of_false_positives_is_eight() -> None:
    model = complete_or_star()
    assert compare(model, Structure(model.domain)).fn == 160
    reached = {with_errors(model, false_positives=k, rng=k)[1] for k in range(1, 13)}
    assert min(reached - {0}) == 8


def test_every_multiple_of_eight_and_the_ends_are_reached() -> None:
    model = complete_or_star()
    for wanted in range(0, 81, 16):
        assert with_errors(model, false_positives=wanted, rng=1)[1] == wanted
    assert with_errors(model, false_negatives=160, rng=1)[1] == 160


@given(domains, seeds)
@settings(max_examples=30, deadline=None)
def test_draws_repeat(domain: Domain, seed: int) -> None:
    first = random_structure(domain, features=5, rng=seed)
    assert first == random_structure(domain, features=5, rng=np.random.default_rng(seed))
    assert perturb(first, changes=3, rng=seed) == perturb(first, changes=3, rng=seed)
    check_features(first.features)
    check_features(perturb(first, changes=4, rng=seed).features)


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"false_positives": 1, "false_negatives": 1},
        {"false_positives": -1},
    ],
)
def test_what_cannot_be_wanted(wanted: dict[str, Any]) -> None:
    with pytest.raises(DomainError):
        with_errors(complete_or_star(), **wanted)
