"""Listings of independencies: every statement true, together complete, and short."""

import time
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given

from contextwise.evidence.claim_tests import judge_claims
from contextwise.independence import claims as claims_module
from contextwise.independence.claims import PairClaims
from contextwise.independence.model_claims import (
    explain_model,
)
from contextwise.independence.queries import Statement
from contextwise.models.directions import bayesian_network
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal
from contextwise.models.structure import Structure, structure_of
from contextwise.testing import claims, contexts_of, depends, domains, structures
from hard import LATE, hard_pair
from independence_oracle import assignments_of, independent

SMALL = domains(min_variables=2, max_variables=5, max_states=3)


def independencies(structure: Structure) -> list[PairClaims]:
    explained = explain_model(structure, top=10**6)
    return [*explained.somewhere, *explained.never]


def in_region(region: tuple[Literal, ...], context: dict[str, str]) -> bool:
    return all((context[lit.variable] in lit.states) != lit.negated for lit in region)


@given(structures(SMALL) | claims(SMALL))
def test_the_regions_are_the_independent_contexts(structure: Structure) -> None:
    listed = {pair.pair: pair for pair in independencies(structure)}
    names = structure.domain.names
    sizes = zip(names, structure.domain.cardinalities, strict=True)
    constants = {name for name, states in sizes if states == 1}
    for pair in ((a, b) for k, a in enumerate(names) for b in names[k + 1 :]):
        contexts = list(contexts_of(structure.domain, pair))
        free = [context for context in contexts if not depends(structure, pair, context)]
        assert (pair in listed) == (bool(free) and not constants.intersection(pair))
        if pair in listed:
            assert listed[pair].contexts == len(contexts)
            assert listed[pair].independent_contexts == len(free)
            assert not any(listed[pair].unlisted.values())
            assert listed[pair].undecided == 0
            for context in contexts:
                holding = sum(in_region(one.region, context) for one in listed[pair].independent)
                assert holding == (not depends(structure, pair, context))


@given(structures(SMALL) | claims(SMALL))
def test_every_statement_holds_with_nothing_else_known(structure: Structure) -> None:
    for pair in independencies(structure):
        for one in pair.independent:
            inside = [literal.variable for literal in one.region]
            for context in assignments_of(structure.domain, inside):
                if in_region(one.region, context):
                    statement = Statement(one.pair[:1], one.pair[1:], one.given, context)
                    assert independent(structure, statement)


@given(structures(SMALL))
def test_no_given_variable_is_idle(structure: Structure) -> None:
    """Without any one of them the graph of the whole region has a path."""
    for pair in independencies(structure):
        for one in pair.independent:
            for name in one.given:
                fewer = {*one.given} - {name}
                assert path_in_region(structure, *one.pair, one.region, fewer)


def path_in_region(
    structure: Structure, first: str, second: str, region: tuple[Literal, ...], known: set[str]
) -> bool:
    tested = {literal.variable: literal for literal in region}
    scopes = [
        feature.keys() - tested.keys() - known
        for feature in structure
        if all(
            any((state in lit.states) != lit.negated for state in feature[v])
            for v, lit in tested.items()
            if v in feature
        )
    ]
    reached = {first}
    for _ in structure.domain.names:
        reached = reached.union(*(scope for scope in scopes if scope & reached))
    return second in reached


def test_one_pair_is_what_the_whole_listing_says() -> None:
    model = Structure(
        {"A": 2, "B": 2, "C": ["no", "yes"], "D": 3},
        ["A=1 & B=1 & C=no", "A=1 & D=1", "D=1 & B=1"],
    )
    listed = {pair.pair: pair for pair in independencies(model)}
    assert (listed["A", "B"],) == explain_model(model, pairs=[("B", "A")]).listed
    (one,) = listed["A", "B"].independent
    assert str(one) == "A ⫫ B | C=yes, D"
    assert (one.size, listed["A", "B"].contexts) == (3, 6)


def test_a_limit_is_told() -> None:
    names = [f"x{k}" for k in range(12)]
    features = [{"A": 1, "B": 1, a: 1, b: 1} for a, b in pairwise(names)]
    model = Structure({"A": 2, "B": 2, **dict.fromkeys(names, 2)}, features)

    def listing(top: int) -> PairClaims:
        (pair,) = explain_model(model, pairs=[("A", "B")], top=top).listed
        return pair

    whole = listing(10**6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims_module, "MOST_BOXES_OF_A_COVER", 5)
        part = listing(10**6)
    found, every = part.independent_contexts, whole.independent_contexts
    assert part.undecided > 0 == whole.undecided
    assert found <= every <= found + part.undecided
    fibonacci = sum(
        not any(a & b for a, b in pairwise(bits)) for bits in product((0, 1), repeat=12)
    )
    assert every == fibonacci
    first = listing(3)
    assert first.independent == whole.independent[:3]
    assert first.unlisted["independent"] == len(whole.independent) - 3
    assert first.independent_contexts == fibonacci


@given(structures(SMALL) | claims(SMALL))
def test_regions_of_dependence_are_the_dependent_contexts(structure: Structure) -> None:
    explained = explain_model(structure, top=10**6)
    for claims_of_pair in explained.listed:
        for context in contexts_of(structure.domain, claims_of_pair.pair):
            holding = sum(in_region(one.region, context) for one in claims_of_pair.dependent)
            assert holding == depends(structure, claims_of_pair.pair, context)
    counts = explained.counts
    listed = (explained.somewhere, explained.never, explained.always)
    assert tuple(map(len, listed)) == (counts["somewhere"], counts["never"], counts["always"])
    constants = len(explained.constants)
    n = len(structure.domain) - constants
    assert sum(map(len, listed)) == n * (n - 1) // 2


def test_a_constant_does_not_fill_the_listing() -> None:
    model = Structure({"A": 2, "B": 2, "K": 1, "C": 2}, ["A=1 & B=1"])
    explained = explain_model(model)
    assert explained.constants == ("K",)
    assert [claims.pair for claims in explained.never] == [("A", "C"), ("B", "C")]
    assert "K has one state; its pairs are left out." in " ".join(str(explained).split())
    alone = str(explain_model(Structure({"A": 2, "K": 1}, ["A=1"])))
    assert alone.startswith("The model claims nothing: fewer than two variables have several")


def test_the_time_limit_bounds_the_whole_listing() -> None:
    start = time.perf_counter()
    explained = explain_model(hard_pair(), time_limit=1, top=5)
    assert time.perf_counter() - start < LATE
    assert explained.partial


def test_the_time_limit_bounds_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims_module, "MOST_BOXES_OF_A_COVER", 10**9)
    start = time.perf_counter()
    explained = explain_model(hard_pair(), pairs=[("v0", "v1")], time_limit=1)
    assert time.perf_counter() - start < LATE
    assert explained.partial


def test_d_separation_counts_no_contexts() -> None:
    """Two parents of one child depend in every context, and are independent by d-separation."""
    collider = bayesian_network(Domain({"A": 2, "B": 2, "C": 2}), [(), (0, 2), ()])
    record = explain_model(collider).record()
    (separation,) = record["separations"]
    assert separation.pop("evidence") is None
    assert separation == {"first": "A", "second": "C", "given": (), "text": "A ⫫ C"}
    assert record["counts"] == {"somewhere": 0, "never": 0, "always": 3, "separations": 1}
    assert all(pair["independent"] == 0 for pair in record["pairs"])


def test_d_separations_have_evidence() -> None:
    collider = bayesian_network(Domain({"A": 2, "B": 2, "C": 2}), [(), (0, 2), ()])
    rows = np.random.default_rng(1).integers(0, 2, (400, 3))
    tested = collider.with_evidence(judge_claims(structure_of(collider), rows))
    (separation,) = explain_model(tested).record()["separations"]
    assert separation["evidence"]["verdict"] == "not contradicted"
    assert "A – C" in str(explain_model(tested))
    assert "not contradicted: p = " in str(explain_model(tested))


def test_one_context_and_some_pairs() -> None:
    model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1", "B=1 & C=1"])
    assert explain_model(model, context="C=1").counts["always"] == 1
    assert explain_model(model, context="C=0").counts["never"] == 1
    only = explain_model(model, pairs=[("B", "A")])
    assert [claims.pair for claims in only.listed] == [("A", "B")]
