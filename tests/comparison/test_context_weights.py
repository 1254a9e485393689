"""Weighted contexts: expected shares, as exact rationals, against the definition."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare
from contextwise.comparison.context_weights import marginals, value_weights
from contextwise.errors import DomainError
from contextwise.testing import contexts_of, depends, domains, families, rows

Models = tuple[Structure, Structure]
FEW_STATES = domains(max_variables=4, max_states=3)


@st.composite
def distributions(draw: st.DrawFn, domain: Domain) -> dict[str, list[Fraction]]:
    """A distribution for some of the variables, with states that never occur among them."""
    chosen = {}
    for name, cardinality in zip(domain.names, domain.cardinalities, strict=True):
        if draw(st.booleans()):
            parts = [draw(st.integers(0, 4)) for _ in range(cardinality)]
            parts[draw(st.integers(0, cardinality - 1))] += 1
            chosen[name] = [Fraction(part, sum(parts)) for part in parts]
    return chosen


def expected(
    true: Structure, guess: Structure, weights: dict[str, list[Fraction]], canonical: bool
) -> Fraction:
    """The expected number of pairs on which the models disagree, from the definition."""
    domain = true.domain
    chance = {
        name: dict(
            zip(states, weights.get(name, [Fraction(1, len(states))] * len(states)), strict=True)
        )
        for name, states in zip(domain.names, domain.states, strict=True)
    }
    total = Fraction(0)
    for pair in combinations(domain.names, 2):
        for context in contexts_of(domain, pair, canonical=canonical):
            if depends(true, pair, context) != depends(guess, pair, context):
                weight = Fraction(1)
                for name, state in context.items():
                    weight *= chance[name][state]
                total += weight
    return total


@pytest.mark.parametrize("contexts", ["fully-contextualized", "canonical"])
@given(data=st.data())
def test_equal_to_the_definition(engine: str, contexts: Any, data: st.DataObject) -> None:
    true, guess = data.draw(families(2, FEW_STATES, with_claims=contexts != "canonical"))
    weights = data.draw(distributions(true.domain))
    comparison = compare(true, guess, engine=engine, contexts=contexts, weights=weights)
    truth = expected(true, guess, weights, contexts == "canonical")
    assert comparison.distance == truth
    assert comparison.total == comparison.question.pair_count
    assert comparison.distance_bounds == (truth, truth)


@given(models=families(2))
def test_uniform_weights_are_the_mean_over_pairs(models: Models) -> None:
    plain, weighted = compare(*models), compare(*models, weights={})
    assert weighted.normalized == pytest.approx(plain.mean_pair_distance)
    for pair in plain.pair_names():
        ours, theirs = weighted.pair(*pair), plain.pair(*pair)
        assert ours.distance * theirs.total == theirs.distance


@given(st.data())
def test_a_context_takes_its_weights_away(data: st.DataObject) -> None:
    models = data.draw(families(2, domains(min_variables=1, max_states=3), with_claims=True))
    domain = models[0].domain
    weights = data.draw(distributions(domain))
    context = {domain.names[0]: domain.states[0][0]}
    rest = {name: own for name, own in weights.items() if name not in context}
    inside = compare(*models, weights=weights, context=context)
    restricted = compare(*(model.restrict(context) for model in models), weights=rest)
    assert inside.confusion == restricted.confusion


@given(st.data())
def test_frequencies_of_data(data: st.DataObject) -> None:
    domain = data.draw(domains(min_variables=1))
    some = data.draw(rows(domain).filter(bool))
    for v, (name, shares) in enumerate(marginals(domain, some).items()):
        assert name == domain.names[v]
        assert sum(shares.values()) == 1
        for state, share in shares.items():
            assert share * len(some) == [row[v] for row in some].count(state)


def test_weights_as_they_are_written() -> None:
    domain = Domain({"A": 2, "B": ["no", "yes"], "C": 3})
    weights = value_weights(
        domain,
        {"A": [0.9, 0.1], "B": {"yes": Decimal("0.25"), "no": 0.75}, "C": [1 / 3, 1 / 3, 1 / 3]},
    )
    assert weights == ((9, 1), (3, 1), (1, 1, 1))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"Z": [1]}, "unknown variable 'Z'"),
        ({"A": [0.5]}, "one number for each of its 2 states"),
        ({"A": "01"}, "one number for each of its 2 states"),
        ({"A": [0.5, 0.6]}, "add up to 1.1, not to 1"),
        ({"A": [-0.5, 1.5]}, "negative"),
        ({"A": [float("nan"), 1]}, "not a number"),
        ({"A": [float("inf"), 1]}, "not a number"),
        ({"A": [None, 1]}, "not a number"),
        ({"A": [True, 0]}, "not a number"),
        ({"A": ["1e-100000000", 1]}, "exponent beyond 1000: 1e-100000000; round it"),
        ({"A": [Decimal("1e-100_000_000"), 1]}, "exponent beyond 1000"),
        ({"A": {"0": 1}}, "lack its state '1'"),
        ({"A": {"0": 0.5, "2": 0.5}}, "no state '2'"),
    ],
)
def test_bad_weights_are_named(weights: Any, message: str) -> None:
    model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    with pytest.raises(DomainError, match=message):
        compare(model, model, weights=weights)


def test_data_and_weights_exclude_each_other() -> None:
    model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    with pytest.raises(DomainError, match="not both"):
        compare(model, model, weights={}, data=[[0, 1]])


def test_data_without_rows_has_no_frequencies() -> None:
    with pytest.raises(DomainError, match="no rows"):
        marginals(Domain({"A": 2}), [])
