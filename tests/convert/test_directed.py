"""Directed classes: random distributions for the stages, joint tables, and what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import contextwise as cw
from contextwise import Domain, Structure
from contextwise.convert import from_cpt_trees, from_cstree, from_ldag, from_staged_tree
from contextwise.errors import DomainError, TooLargeError
from contextwise.support.arrays import FloatArray
from convert_oracle import (
    Claims,
    assert_equal,
    claims,
    interactions,
    random_context,
    random_domain,
    random_edges,
    representable,
)

SEEDS = range(40)
ABY = Domain({"A": 2, "B": 2, "Y": 2})
Stage = Callable[[Mapping[str, int]], object]
"""The stage of a child, as a function of the values of all variables."""


def joint(rng: np.random.Generator, domain: Domain, stages: Mapping[str, Stage]) -> FloatArray:
    """The table of log p, with a random distribution for each stage."""
    logs = np.zeros(domain.cardinalities)
    known: dict[tuple[str, object], FloatArray] = {}
    for cell in product(*map(range, domain.cardinalities)):
        values = dict(zip(domain.names, cell, strict=True))
        for child, stage in stages.items():
            key = child, stage(values)
            if key not in known:
                size = domain.cardinalities[domain.positions[child]]
                known[key] = np.log(rng.dirichlet(np.full(size, 2.0)))
            logs[cell] += known[key][values[child]]
    return logs


def check(convert: Callable[[], Structure], wanted: Claims, domain: Domain) -> None:
    """The converted model claims what the table shows, with features if they can."""
    converted = convert()
    assert_equal(claims(converted), wanted)
    assert isinstance(converted, cw.Claims) != representable(wanted, domain)


def lookup(names: Sequence[str], table: Mapping[tuple[int, ...], object]) -> Stage:
    return lambda values: table[tuple(values[name] for name in names)]


# -- plain and labelled DAGs ---------------------------------------------------------------------


def closed(domain: Domain, parents: list[str], labels: Mapping[str, list[str]]) -> Stage:
    """The stages of a child by joining, label by label, what shares a distribution."""
    shape = [domain.cardinalities[domain.positions[name]] for name in parents]
    graph: Any = nx.Graph()
    graph.add_nodes_from(product(*map(range, shape)))
    for parent, outcomes in labels.items():
        at = parents.index(parent)
        for outcome in outcomes:
            fixed = domain.assignment(outcome)
            for one in list(graph.nodes):
                if all(one[parents.index(domain.names[v])] == s for v, s in fixed.items()):
                    graph.add_edge(one, (*one[:at], 0, *one[at + 1 :]))
    numbers = {
        cell: number for number, part in enumerate(nx.connected_components(graph)) for cell in part
    }
    return lookup(parents, numbers)


@pytest.mark.parametrize("seed", SEEDS)
def test_ldags(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    dag = random_edges(rng, domain, 0.8)
    labels = {}
    for parent, child in dag:
        others = [p for p, c in dag if c == child and p != parent]
        if others and rng.random() < 0.5:
            labels[parent, child] = [random_context(rng, domain, others)]
    stages = {}
    for child in domain.names:
        parents = [p for p, c in dag if c == child]
        own = {p: outcomes for (p, c), outcomes in labels.items() if c == child}
        stages[child] = closed(domain, parents, own)
    wanted = interactions(joint(rng, domain, stages))
    check(lambda: from_ldag(nx.DiGraph(dag), domain, labels), wanted, domain)


def test_a_dag_marries_the_parents() -> None:
    assert from_ldag([("A", "Y"), ("B", "Y")], ABY).pairs() == [("A", "B"), ("A", "Y"), ("B", "Y")]
    assert from_ldag([("Y", "A"), ("Y", "B")], ABY).pairs() == [("A", "Y"), ("B", "Y")]
    assert from_ldag(nx.MultiDiGraph([("Y", "A")]), ABY).pairs() == [("A", "Y")]


def test_a_large_dag_is_converted_at_once() -> None:
    domain = Domain.of_cardinalities([3] * 300)
    dag = [(f"v{k}", f"v{k + step}") for k in range(290) for step in (1, 4, 9)]
    graph = nx.moral_graph(nx.DiGraph(dag))
    assert len(from_ldag(dag, domain).pairs()) == graph.number_of_edges()


@pytest.mark.parametrize(
    ("dag", "labels", "message"),
    [
        ([("A", "Y"), ("Y", "A")], {}, "cycle: "),
        ([("A", "A")], {}, "two different variables, got 'A', 'A'"),
        ([("A", "Z")], {}, "unknown variable 'Z'"),
        ("AY", {}, "is not a graph"),
        (nx.Graph([("A", "Y")]), {}, "undirected; use from_graph"),
        ([("A", "Y")], {("B", "Y"): ["A=0"]}, "no edge from 'B' to 'Y'"),
        ([("A", "Y")], {("A", "Y"): ["B=0"]}, "mentions B, which is not another parent"),
        ([("A", "Y"), ("B", "Y")], {("A", "Y"): ["A=0"]}, "mentions A"),
        ([("A", "Y"), ("B", "Y")], {("A", "Y"): "B=0"}, "as a list of contexts"),
    ],
)
def test_bad_ldags(dag: Any, labels: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_ldag(dag, ABY, labels)


def test_a_child_with_too_many_parents() -> None:
    domain = Domain.of_cardinalities([2] * 40)
    with pytest.raises(TooLargeError, match="v0, v1, v2 and 36 more has 549755813888 cells"):
        from_ldag([(f"v{k}", "v39") for k in range(39)], domain)


# -- CPT trees -----------------------------------------------------------------------------------


def random_tree(rng: np.random.Generator, domain: Domain, names: Sequence[str]) -> Any:
    if not names or rng.random() < 0.25:
        return None if rng.random() < 0.7 else "shared"
    name = names[int(rng.integers(len(names)))]
    left = [other for other in names if other != name]
    states = range(domain.cardinalities[domain.positions[name]])
    if len(states) == 3 and rng.random() < 0.5:
        return {name: {0: random_tree(rng, domain, left), (1, 2): random_tree(rng, domain, left)}}
    return {name: {state: random_tree(rng, domain, left) for state in states}}


def leaf_of(tree: Any) -> Stage:
    def walk(values: Mapping[str, int]) -> object:
        node, path = tree, []
        while isinstance(node, Mapping):
            [(name, branches)] = node.items()
            key = next(k for k in branches if values[name] in (k if isinstance(k, tuple) else (k,)))
            path.append((name, key))
            node = branches[key]
        return node or tuple(path)

    return walk


@pytest.mark.parametrize("seed", SEEDS)
def test_cpt_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    trees = {
        child: random_tree(rng, domain, domain.names[:k]) for k, child in enumerate(domain.names)
    }
    stages = {child: leaf_of(tree) for child, tree in trees.items()}
    wanted = interactions(joint(rng, domain, stages))
    check(lambda: from_cpt_trees(trees, domain), wanted, domain)


def test_leaves_with_equal_numbers_share_a_distribution() -> None:
    same = {"A": {0: [0.2, 0.8], 1: [0.2, 0.8]}}
    assert from_cpt_trees({"Y": same}, ABY).pairs() == []
    assert from_cpt_trees({"Y": {"A": {0: [0.2, 0.8], 1: [0.3, 0.7]}}}, ABY).pairs() == [("A", "Y")]


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ({"Y": {"A": {0: None}}}, "no branch for 1"),
        ({"Y": {"Y": {0: None, 1: None}}}, "the tree of 'Y' tests 'Y'"),
        (
            {"Y": {"A": {0: None, 1: None}}, "A": {"Y": {0: None, 1: None}}},
            "has a cycle: (A -> Y -> A|Y -> A -> Y)",
        ),
        ({"Z": None}, "unknown variable 'Z'"),
    ],
)
def test_bad_cpt_trees(trees: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_cpt_trees(trees, ABY)


# -- staged trees and CStrees ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_staged_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 3 + seed % 2)
    order = [domain.names[k] for k in rng.permutation(len(domain))]
    stages: dict[str, Stage] = {}
    given = {}
    for k, child in enumerate(order):
        histories = list(
            product(*(range(domain.cardinalities[domain.positions[name]]) for name in order[:k]))
        )
        if k == 1 or rng.random() < 0.6:
            given[child] = [f"s{rng.integers(1 + len(histories) // 2)}" for _ in histories]
            numbers: Mapping[Any, object] = dict(zip(histories, given[child], strict=True))
        else:
            numbers = {history: history for history in histories}
        stages[child] = lookup(order[:k], numbers)
    wanted = interactions(joint(rng, domain, stages))
    check(lambda: from_staged_tree(given, domain, order=order), wanted, domain)


@pytest.mark.parametrize("seed", SEEDS)
def test_cstrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    stages: dict[str, Stage] = {}
    given: dict[str, list[str]] = {}
    for k, child in enumerate(domain.names):
        names = list(domain.names[:k])
        given[child] = [random_context(rng, domain, names)]
        fixed = domain.assignment(given[child][0])

        def stage(
            values: Mapping[str, int],
            fixed: Mapping[int, int] = fixed,
            names: Sequence[str] = tuple(names),
        ) -> object:
            inside = all(values[domain.names[v]] == state for v, state in fixed.items())
            return "the stage" if inside else tuple(values[name] for name in names)

        stages[child] = stage
    wanted = interactions(joint(rng, domain, stages))
    check(lambda: from_cstree(given, domain), wanted, domain)


def test_a_selector_with_shared_distributions_has_no_features() -> None:
    domain = Domain({"S": 2, "A": 2, "B": 2, "Y": 2})
    histories = product(range(2), repeat=3)
    stages: dict[str, list[Any]] = {
        "A": [0, 0],
        "B": [0] * 4,
        "Y": [(b if s else a) for s, a, b in histories],
    }
    model = from_staged_tree(stages, domain)
    assert isinstance(model, cw.Claims)
    assert model.restrict("A=0 & B=0").pairs() == []
    assert model.restrict("A=0 & B=1").pairs() == [("S", "Y")]
    stages["Y"] = ["b0", "b0", "b1", "b1", "a0", "a1", "a0", "a1"]
    assert from_staged_tree(stages, domain).pairs() == [
        ("S", "A"),
        ("S", "B"),
        ("S", "Y"),
        ("A", "Y"),
        ("B", "Y"),
    ]


def test_stages_as_an_array_of_histories() -> None:
    flat = from_staged_tree({"Y": [0, 0, 1, 2]}, ABY)
    assert flat == from_staged_tree({"Y": np.array([[0, 0], [1, 2]])}, ABY)


@pytest.mark.parametrize(
    ("stages", "order", "message"),
    [
        ({"Y": [0, 1]}, None, "'Y' has 4 histories, got 2 stages"),
        ({"Z": [0, 1]}, None, "unknown variable 'Z'"),
        ({}, ["A", "B"], "the order A, B is not one of the variables"),
    ],
)
def test_bad_staged_trees(stages: Any, order: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_staged_tree(stages, ABY, order=order)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ({"Y": ["A=0", "B=0"]}, "the stage 'B=0' of 'Y' overlaps another one"),
        ({"B": ["Y=0"]}, "mentions Y, which does not come before it"),
        ({"Y": "A=0"}, "as a list of contexts"),
    ],
)
def test_bad_cstrees(stages: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_cstree(stages, ABY)


def test_a_cstree_of_the_package_is_the_tree_of_its_stages() -> None:
    def stage(*values: object) -> SimpleNamespace:
        return SimpleNamespace(list_repr=list(values))

    # The order is Y, A, B; the stage of B is one where Y=0, and two where Y=1.
    tree = SimpleNamespace(
        labels=["Y", "A", "B"],
        stages={-1: [stage()], 0: [stage(0), stage(1)], 1: [stage(0, {0, 1})], 2: []},
        update_stages=None,
    )
    domain = Domain({"A": ["a", "b"], "B": 2, "Y": ["no", "yes"]})
    expected = from_cstree({"A": ["Y=no", "Y=yes"], "B": ["Y=no"]}, domain, order=["Y", "A", "B"])
    assert from_cstree(tree, domain) == expected


def test_a_cstree_that_cstrees_draws() -> None:
    cstree = pytest.importorskip("cstrees.cstree")
    tree = cstree.sample_cstree([2] * 4, max_cvars=2, prob_cvar=0.5, labels=["A", "B", "C", "D"])
    structure = from_cstree(tree, {"A": 2, "B": 2, "C": 2, "D": 2})
    assert structure.directions is not None
