"""Claims from numbers: against brute force, thresholded Ising graphs and joint distributions."""

from __future__ import annotations

from io import BytesIO
from itertools import chain, combinations, product

import numpy as np
import pytest

import contextwise as cw
from contextwise.convert import by_values
from contextwise.errors import ContextwiseError, DomainError, OpenResult, TooLargeError
from contextwise.formats import encode, read_stream
from contextwise.independence.model_claims import explain_model
from contextwise.independence.queries import query
from contextwise.models.directions import bayesian_network
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.arrays import FloatArray
from convert_oracle import Claims, assert_equal, claims, random_weights, strength_in
from independence_oracle import is_independent


def joint_logs(model: LogLinear) -> FloatArray:
    """Add up the weights that hold in each cell, from the features as mappings."""
    domain = model.domain
    logs = np.zeros(domain.cardinalities)
    for cell in product(*map(range, domain.cardinalities)):
        states = {n: s[k] for n, s, k in zip(domain.names, domain.states, cell, strict=True)}
        holding = (
            all(states[name] in allowed for name, allowed in feature.items())
            for feature in model.structure
        )
        logs[cell] = sum(w for w, holds in zip(model.weights, holding, strict=True) if holds)
    return logs


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("zeros", [False, True])
def test_claims_are_where_the_log_odds_ratio_exceeds_the_tolerance(seed: int, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    model = random_weights(rng, zeros=zeros)
    tolerance = float(rng.choice([0.0, 0.6, 1.2]))
    wanted: Claims = {}
    for i, j in combinations(range(len(model.domain)), 2):
        both = [
            k
            for k, feature in enumerate(model.structure)
            if {model.domain.names[i], model.domain.names[j]} <= set(feature)
        ]
        part = LogLinear(
            Structure(model.domain, model.structure.features.take(np.array(both, dtype=np.int64))),
            model.weights[both],
        )
        logs = np.moveaxis(joint_logs(part), (i, j), (0, 1))
        where = np.zeros(logs.shape[2:], dtype=bool)
        for cell in np.ndindex(where.shape):
            where[cell] = strength_in(logs[(slice(None), slice(None), *cell)]) > tolerance + 1e-12
        wanted[i, j] = where
    assert_equal(claims(by_values(model, tolerance=tolerance + 1e-12)), wanted)


@pytest.mark.parametrize("seed", range(20))
def test_an_ising_model_claims_the_graph_of_its_strong_couplings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = "ABCDEF"
    couplings = {pair: float(rng.normal()) for pair in combinations(names, 2)}
    domain = Domain(dict.fromkeys(names, 2))
    model = LogLinear(
        Structure(domain, [f"{a}=1 & {b}=1" for a, b in couplings]), list(couplings.values())
    )
    strong = [pair for pair, value in couplings.items() if abs(value) > 0.7]
    made = by_values(model, tolerance=0.7)
    assert made.pairs() == strong
    assert cw.distance(made, Structure(domain, [f"{a}=1 & {b}=1" for a, b in strong])) == 0
    # Regions shrink as the tolerance grows, and scale with the weights.
    assert cw.compare(by_values(model, tolerance=0.3), made).fp == 0
    scaled = LogLinear(model.structure, 2 * model.weights)
    assert cw.distance(by_values(scaled, tolerance=1.4), made) == 0


@pytest.mark.parametrize("seed", range(20))
def test_table_by_table_contains_every_dependence(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    model = random_weights(rng, zeros=False)
    tolerance = float(rng.choice([0.0, 0.6]))
    exact = by_values(model, tolerance=tolerance)
    monkeypatch.setitem(by_values.__globals__, "MOST_CELLS_OF_A_PAIR", 0)
    wider = by_values(model, tolerance=tolerance)
    monkeypatch.setitem(by_values.__globals__, "MOST_REGIONS_OF_ALL_PAIRS", 0)
    if len(wider):
        with pytest.raises(TooLargeError, match="more than 0 regions after"):
            by_values(model, tolerance=tolerance)
    assert cw.compare(exact, wider).fn == 0
    assert wider.origin.by_values is not None
    assert wider.origin.by_values.pairs_by_table == len({*model.structure.pairs()})


def random_network(rng: np.random.Generator) -> LogLinear:
    """A network of binary variables with deterministic and repeated rows."""
    n = int(rng.integers(3, 6))
    domain = Domain(dict.fromkeys("ABCDE"[:n], 2))
    parents = [tuple(np.flatnonzero(rng.random(v) < 0.6).tolist()) for v in range(n)]
    tables = []
    for own in parents:
        rows = rng.choice([0.0, 0.0, 1.0, 1.0, 0.3, 0.8], size=(2,) * len(own))
        tables.append(np.stack([rows, 1 - rows], axis=-1))
    model = bayesian_network(domain, parents, tables)
    assert isinstance(model, LogLinear)
    return model


def is_truly_independent(joint: FloatArray, i: int, j: int, given: tuple[int, ...]) -> bool:
    others = tuple(v for v in range(joint.ndim) if v not in (i, j, *given))
    table = np.moveaxis(
        joint.sum(axis=others, keepdims=True), (*given, i, j), range(len(given) + 2)
    ).reshape(-1, joint.shape[i], joint.shape[j])
    whole = table.sum(axis=(1, 2), keepdims=True)
    product_ = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
    return bool(np.allclose(table * whole, product_, atol=1e-12))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_no_query_calls_dependent_variables_independent(seed: int, directed: bool) -> None:
    model = random_network(np.random.default_rng(seed))
    joint = np.exp(joint_logs(model))
    if not directed:
        model = LogLinear(Structure(model.domain, model.structure.features), model.weights)
    made = by_values(model)
    assert (made.directions is not None) == directed
    names = model.domain.names
    for i, j in combinations(range(len(names)), 2):
        rest = [v for v in range(len(names)) if v not in (i, j)]
        for given in chain.from_iterable(combinations(rest, k) for k in range(len(rest) + 1)):
            shown = is_independent(made, names[i], names[j], given=[names[v] for v in given])
            assert not shown or is_truly_independent(joint, i, j, given)


def test_every_function_of_three_binary_variables_converts() -> None:
    domain = Domain(dict.fromkeys("ABCY", 2))
    by_claims = 0
    for function in range(256):
        on = np.array([function >> k & 1 for k in range(8)], dtype=float).reshape(2, 2, 2)
        table = np.stack([1 - on, on], axis=-1)
        half = np.array([0.5, 0.5])
        model = bayesian_network(domain, [(), (), (), (0, 1, 2)], [half, half, half, table])
        assert isinstance(model, LogLinear)
        made = by_values(model)
        by_claims += made.given_by_claims
        wanted: Claims = {}
        with np.errstate(divide="ignore"):
            logs = np.log(table)
        for i, j in combinations(range(4), 2):
            moved = np.moveaxis(logs, (i, j), (0, 1))
            wanted[i, j] = np.array(
                [[strength_in(moved[:, :, a, b]) > 0 for b in (0, 1)] for a in (0, 1)]
            )
        assert_equal(claims(made), wanted)
    assert by_claims == 152


def test_a_copy_is_not_called_independent() -> None:
    domain = Domain({"A": 2, "B": 2, "C": 2})
    copy = np.array([[1.0, 0.0], [0.0, 1.0]])
    same = np.stack([copy, copy], axis=1)  # C = A, whatever B is
    model = bayesian_network(domain, [(), (0,), (0, 1)], [np.array([0.5, 0.5]), copy, same])
    assert isinstance(model, LogLinear)
    made = by_values(LogLinear(Structure(domain, model.structure.features), model.weights))
    answer = query(made, "A _||_ B")
    assert not answer
    assert answer.word == "not shown independent"
    assert "given all others" in answer.reason


def test_a_tolerance_makes_pairs_weak_not_independent() -> None:
    model = LogLinear(Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"]), [0.05])
    answer = query(by_values(model, tolerance=0.1), "A _||_ B | C")
    assert not answer
    assert answer.word == "weaker than 0.1"
    sound = query(by_values(model), "A _||_ C | B")
    assert sound.word == "independent"


@pytest.mark.parametrize("tolerance", [1e-9, 0.3])
def test_json_keeps_how_claims_were_read(tolerance: float) -> None:
    made = by_values(random_network(np.random.default_rng(3)), tolerance=tolerance)
    read = read_stream(BytesIO(encode(made, "json")))
    assert read == made
    assert read.origin.by_values == made.origin.by_values
    assert isinstance(read, Structure)
    assert read.separation_holds == made.separation_holds


def test_words_with_a_tolerance_never_say_independent() -> None:
    model = LogLinear(Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"]), [0.05, 2])
    made = by_values(model, tolerance=0.1)
    assert made.size_text().endswith(" by values: dependent where a log odds ratio exceeds 0.1")
    explained = explain_model(made)
    listed = [str(claim) for claims in explained.listed for claim in claims.independent]
    listed.append(str(explained))
    assert "A–B weaker than 0.1 | C" in listed
    assert "weaker than 0.1" in made._repr_html_()
    assert "ndependent" not in f"{listed}{made._repr_html_()}"
    with pytest.raises(ContextwiseError, match="rows cannot contradict it"):
        cw.check(made, [("0", "1", "0")] * 5)


def test_limits_are_refused() -> None:
    model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [0.05])
    with pytest.raises(DomainError, match="a weight is infinite"):
        by_values(LogLinear(model.structure, [np.inf]))
    with pytest.raises(DomainError, match="tolerance must be >= 0, got -1"):
        by_values(model, tolerance=-1)
    with pytest.raises(OpenResult, match="0 of 1 pairs"):
        by_values(model, time_limit=0)
