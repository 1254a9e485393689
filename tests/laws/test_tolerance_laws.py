"""d(t) agrees with its definition, and is a distance for each fixed t."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import compare
from contextwise.comparison import tolerances
from contextwise.comparison.question import pose
from contextwise.comparison.tolerances import AtTolerances, checked, count_at
from contextwise.convert import by_values
from contextwise.models.directions import bayesian_network
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Model, Structure
from contextwise.support.effort import Effort
from contextwise.testing import (
    brute_force_at,
    claims,
    domains,
    structures,
)

EIGHTHS = st.integers(-12, 12).map(lambda k: k / 8)  # so sums are exact, and many cancel
TOLERANCES = (0.0, 0.125, 0.5, 1.0)  # also values that strengths have


@st.composite
def weighted(draw: st.DrawFn, domain: Domain, *, zeros: bool = False) -> LogLinear:
    structure = draw(structures(domain, max_features=7))
    weight = EIGHTHS | st.just(-np.inf) if zeros else EIGHTHS
    return LogLinear(structure, [draw(weight) for _ in range(len(structure))])


@st.composite
def networks(draw: st.DrawFn, domain: Domain) -> LogLinear:
    """Draw networks whose tables have zeros and equal rows."""
    parents = [
        [p for p in range(v) if draw(st.booleans())][:2] for v in range(len(domain.cardinalities))
    ]
    tables = []
    for v, of_v in enumerate(parents):
        shape = [domain.cardinalities[p] for p in (*of_v, v)]
        size = int(np.prod(shape))
        counts = np.array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
        table = counts.reshape(shape).astype(float)
        table[table.sum(axis=-1) == 0] = 1
        tables.append(table / table.sum(axis=-1, keepdims=True))
    model = bayesian_network(domain, parents, tables)
    assert isinstance(model, LogLinear)
    return model


@st.composite
def models(draw: st.DrawFn, count: int = 2) -> tuple[Model, ...]:
    """Draw models over one domain; the first has weights."""
    domain = draw(domains(min_variables=1, max_variables=4, max_states=3))
    kinds = weighted(domain) | weighted(domain, zeros=True) | networks(domain)
    others = kinds | structures(domain, max_features=5) | claims(domain, max_regions=5)
    return (draw(kinds), *(draw(others) for _ in range(count - 1)))


def at(*two: Model, **how: object) -> AtTolerances:
    return count_at(pose(two), TOLERANCES, Effort.of(threads=1), **how)  # type: ignore[arg-type]


@pytest.fixture(params=["compiled", "python"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(tolerances, "compiled", None)
    elif tolerances.compiled is None:
        pytest.skip("not compiled")


@given(models())
def test_counts_are_those_of_every_context(two: tuple[Model, ...]) -> None:
    for tolerance, found in at(*two).items():
        assert found.confusion == brute_force_at(*two, tolerance=tolerance)


@given(models(3))
def test_each_tolerance_has_a_distance(three: tuple[Model, ...]) -> None:
    a, b, c = three
    weights = [model for model in three if isinstance(model, LogLinear)]
    for tolerance in TOLERANCES:
        assert at(a, a)[tolerance].distance == 0
        assert at(a, b)[tolerance].distance == at(b, a)[tolerance].distance
        assert at(a, b)[tolerance].fp == at(b, a)[tolerance].fn
        if len(weights) > 1 or isinstance(b, LogLinear):
            sides = [at(*two)[tolerance].distance for two in ((a, b), (b, c), (a, c))]
            assert sides[2] <= sides[0] + sides[1]


@given(models(), st.integers(0, 6))
def test_bounds_contain_the_truth(two: tuple[Model, ...], budget: int) -> None:
    for tolerance, found in at(*two, node_budget=budget).items():
        truth = brute_force_at(*two, tolerance=tolerance)
        for key in ("tp", "fn", "fp", "tn", "distance"):
            low, high = getattr(found.bounds, key)
            assert low <= getattr(truth, key) <= high


@given(models())
def test_a_deadline_that_has_passed_leaves_bounds(two: tuple[Model, ...]) -> None:
    found = count_at(pose(two), TOLERANCES, Effort.of(0.0, threads=1))
    for tolerance in TOLERANCES:
        low, high = found[tolerance].distance_bounds
        assert low <= brute_force_at(*two, tolerance=tolerance).distance <= high


@given(st.data())
def test_claims_read_from_the_numbers_agree(data: st.DataObject) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=4, max_states=3))
    pair = data.draw(st.tuples(weighted(domain), weighted(domain, zeros=True) | networks(domain)))
    for tolerance, found in at(*pair).items():
        read = [by_values(model, tolerance=max(tolerance, 1e-9)) for model in pair]
        if all((about := model.origin.by_values) and about.pairs_by_table == 0 for model in read):
            assert compare(*read).confusion == found.confusion


@given(models())
def test_pairs_add_up(two: tuple[Model, ...]) -> None:
    for found in at(*two).values():
        names = two[0].domain.names
        pairs = [found.pair(*pair) for pair in combinations(names, 2)]
        assert sum(pair.distance for pair in pairs) == found.distance


def test_many_variables_give_numbers_beyond_64_bits() -> None:
    domain = Domain({f"v{k}": 2 + k % 3 for k in range(90)})
    features = [f"v{k}=1 & v{k + 1}=1 & v{70 + k // 4}=0" for k in range(60)]
    structure = Structure(domain, features)
    rng = np.random.default_rng(0)
    models = [LogLinear(structure, rng.integers(-8, 8, len(structure)) / 8) for _ in range(2)]
    found = at(*models)
    for tolerance in TOLERANCES:
        read = [by_values(model, tolerance=max(tolerance, 1e-9)) for model in models]
        assert found[tolerance].confusion == compare(*read).confusion
    assert found[0.0].distance > 2**64


def test_one_tolerance_or_several_count_alike() -> None:
    structure = Structure({"A": 3, "B": 3, "C": 4}, ["A=1 & B=1 & C!=0", "A!=0 & B=2 & C=0|3"])
    two = LogLinear(structure, [0.25, 1.5]), LogLinear(structure, [0.75, 0.25])
    together = at(*two)
    for tolerance in TOLERANCES:
        alone = count_at(pose(two), checked(tolerance))
        assert alone[tolerance].confusion == together[tolerance].confusion
