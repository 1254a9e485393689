"""Generators, context-specific interactions and split models: random tables, and the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from contextwise import Domain, Structure, distance
from contextwise.convert import (
    from_generators,
    from_interactions,
    from_split_model,
    to_generators,
)
from contextwise.errors import ContextwiseError, DomainError, NotRepresentable
from convert_oracle import (
    assert_equal,
    claims,
    holds,
    interactions,
    random_context,
    random_domain,
    random_table,
)

SEEDS = range(25)
ABC = Domain({"A": 2, "B": 2, "C": 2})


@pytest.mark.parametrize("seed", SEEDS)
def test_generators(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    generators = [[name for name in domain.names if rng.random() < 0.5] or ["A"] for _ in range(3)]
    logs = sum(random_table(rng, domain, generator) for generator in generators)
    structure = from_generators(generators, domain)
    assert_equal(claims(structure), interactions(np.asarray(logs)))
    assert distance(structure, from_generators(to_generators(structure), domain)) == 0


def test_equal_claims_of_different_generators() -> None:
    assert distance(from_generators("[ABC]", ABC), from_generators("[AB][BC][AC]", ABC)) == 0
    assert to_generators(from_generators("[AB][BC][AC][A]", ABC)) == [
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    ]
    assert to_generators(from_generators("", ABC)) == []


def test_generators_of_a_pair_that_depends_in_some_contexts() -> None:
    message = "^A and B are independent when C=1 and depend elsewhere: generators cannot say that$"
    with pytest.raises(NotRepresentable, match=message):
        to_generators(Structure(ABC, ["A=1 & B=1 & C=0"]))


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("[AB][C]", [("A", "B"), ("C",)]),
        (" [A B] [ B:C ]", [("A", "B"), ("B", "C")]),
        ("[A,B]", [("A", "B")]),
        ("[A*B]", [("A", "B")]),
        ("[long name]", [("long name",)]),
        ("~A:B + B:C", [("A", "B"), ("B", "C")]),
        ("freq ~ A*B+C", [("A", "B"), ("C",)]),
    ],
)
def test_ways_to_write_generators(text: str, scopes: list[tuple[str, ...]]) -> None:
    domain = Domain({"A": 2, "B": 2, "C": 2, "long name": 2})
    assert to_generators(from_generators(text, domain)) == scopes


@pytest.mark.parametrize(
    ("generators", "message"),
    [
        ("[AB", "cannot read"),
        ("AB", "cannot read"),
        ("[]", "a generator without variables"),
        ("~A + ", "a generator without variables"),
        ("[AZ]", "unknown variable 'AZ'"),
        (["AB"], "as a list of names"),
        ([("A", "Z")], "unknown variable 'Z'"),
    ],
)
def test_bad_generators(generators: Any, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        from_generators(generators, ABC)


@pytest.mark.parametrize("seed", SEEDS)
def test_interactions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    logs = np.zeros(domain.cardinalities)
    model = []
    for _ in range(3):
        context = random_context(rng, domain, domain.names[:3])
        free = [name for name in domain.names if f"{name}=" not in context]
        generator = [name for name in free if rng.random() < 0.7] or ["D"]
        model.append((context, [generator]))
        logs += np.where(holds(domain, context), random_table(rng, domain, generator), 0)
    assert_equal(claims(from_interactions(model, domain)), interactions(logs))


def random_split(rng: np.random.Generator, domain: Domain, names: list[str], depth: int) -> Any:
    if depth and len(names) > 2 and rng.random() < 0.8:
        name = names[int(rng.integers(len(names)))]
        left = [other for other in names if other != name]
        states = domain.states[domain.positions[name]]
        return {name: {state: random_split(rng, domain, left, depth - 1) for state in states}}
    return [[name for name in names if rng.random() < 0.6] for _ in range(2)]


def split_logs(rng: np.random.Generator, domain: Domain, tree: Any, path: str) -> Any:
    if isinstance(tree, Mapping):
        [(name, branches)] = tree.items()
        return sum(
            split_logs(rng, domain, subtree, f"{path} & {name}={state}".removeprefix(" & "))
            for state, subtree in branches.items()
        )
    total = rng.normal() + sum(random_table(rng, domain, generator) for generator in tree)
    return np.where(holds(domain, path), total, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_split_models(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    tree = random_split(rng, domain, list(domain.names), 2)
    logs = split_logs(rng, domain, tree, "")
    assert_equal(claims(from_split_model(tree, domain)), interactions(logs))


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"A": {0: "[B]"}}, "'A' has no branch for 1"),
        ({"A": {0: "[B]", (0, 1): "[C]"}}, "two branches for one state"),
        ({"A": {0: {"A": {0: "[B]", 1: "[B]"}}, 1: "[B]"}}, "'A' is split twice"),
        ({"A": {0: "[B]", 1: "[A]"}}, "a generator has A, which its context fixes"),
        ({"A": {0: "[B]", 2: "[B]"}}, "'A' has no state '2'"),
        ({"A": "[B]"}, "needs a mapping"),
        ({"A": {}, "B": {}}, "a split must name one variable"),
    ],
)
def test_bad_split_models(tree: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_split_model(tree, ABC)
