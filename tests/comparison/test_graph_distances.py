"""Distances of graphs: CPDAGs against enumeration, the distances against gadjid's own."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import run
from contextwise import Domain, Structure, compare, compare_groups, compare_many, write
from contextwise.comparison.confusion import CAUSAL
from contextwise.comparison.graph_distances import adjacency, between_graphs
from contextwise.comparison.two_models import comparison_record
from contextwise.errors import ContextwiseError, DomainError
from contextwise.models.directions import Directions, bayesian_network, directions_of
from contextwise.models.structure import Model

gadjid = pytest.importorskip("gadjid")


def random_directions(rng: np.random.Generator, count: int) -> Directions:
    order = rng.permutation(count).tolist()
    parents: list[list[int]] = [[] for _ in range(count)]
    for place, child in enumerate(order):
        parents[child] = [p for p in order[:place] if rng.random() < 0.4]
    return directions_of(Domain({f"v{k}": 2 for k in range(count)}), parents)


def all_dags(count: int) -> list[Directions]:
    domain, pairs = (
        Domain({f"v{k}": 2 for k in range(count)}),
        list(combinations(range(count), 2)),
    )
    dags = []
    for marks in product(range(3), repeat=len(pairs)):
        arcs = [(a, b) if m == 1 else (b, a) for (a, b), m in zip(pairs, marks, strict=True) if m]
        try:
            dags.append(
                directions_of(domain, [[p for p, c in arcs if c == v] for v in range(count)])
            )
        except DomainError:
            continue
    return dags


def test_compelled_arcs_are_those_of_all_equivalent_dags() -> None:
    classes: dict[Any, list[Directions]] = defaultdict(list)
    dags = all_dags(4)
    assert len(dags) == 543
    for dag in dags:
        skeleton = frozenset(map(frozenset, dag.arcs))
        colliders = frozenset(
            (a, child, b)
            for child, above in enumerate(dag.parents)
            for a, b in combinations(sorted(above), 2)
            if frozenset((a, b)) not in skeleton
        )
        classes[skeleton, colliders].append(dag)
    assert len(classes) == 185
    for members in classes.values():
        common = frozenset.intersection(*(frozenset(dag.arcs) for dag in members))
        assert all(dag.compelled == common for dag in members)


@pytest.mark.parametrize("seed", range(10))
def test_distances_are_those_of_gadjid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (random_directions(rng, 7) for _ in range(2))
    dags = [adjacency(d, of_class=False) for d in (first, second)]
    classes = [adjacency(d, of_class=True) for d in (first, second)]
    direction = "from row to column"
    assert between_graphs("sid", first, second) == gadjid.sid(*dags, edge_direction=direction)[1]
    for name in ("ancestor_aid", "parent_aid", "oset_aid"):
        wanted = getattr(gadjid, name)(*dags, edge_direction=direction)[1]
        assert between_graphs(name, first, second) == wanted
    edges = [{frozenset(arc): arc for arc in d.arcs} for d in (first, second)]
    both = edges[0].keys() | edges[1].keys()
    assert between_graphs("shd", first, second) == sum(
        edges[0].get(edge) != edges[1].get(edge) for edge in both
    )
    assert between_graphs("shd", first, second) == gadjid.shd(*dags)[1]
    assert between_graphs("cpdag_shd", first, second) == gadjid.shd(*classes)[1]
    assert all(between_graphs(name, first, first) == 0 for name in CAUSAL)


DOMAIN = Domain({"A": 2, "B": 2, "C": 2})
CHAIN = bayesian_network(DOMAIN, [(), (0,), (1,)])
FORK = bayesian_network(DOMAIN, [(1,), (), (1,)])
BARE = Structure(DOMAIN, CHAIN.features if isinstance(CHAIN, Structure) else ())


def test_equivalent_networks_differ_only_in_their_directions(tmp_path: Path) -> None:
    wanted = {"shd": 1, "cpdag_shd": 0, "sid": 3, "ancestor_aid": 3, "parent_aid": 3, "oset_aid": 3}
    comparison = compare(CHAIN, FORK)
    assert comparison.distance == 0
    record = comparison_record(comparison)
    assert {key: record[key] for key in CAUSAL} == wanted
    found = compare_groups({"a": [comparison, comparison]}, measure="sid")
    assert found.groups[0].means["sid"].mean == 3
    write(CHAIN, tmp_path / "chain.json")
    write(FORK, tmp_path / "fork.json")
    write(BARE, tmp_path / "bare.json")
    names = [str(tmp_path / f"{name}.json") for name in ("chain", "fork", "bare")]
    assert json.loads(run("compare", *names[:2], "--json").stdout)["shd"] == 1
    shown = run("compare", *names[:2]).stdout
    assert "SHD of classes" in shown
    assert "The distance ignores directions" in shown
    table = run("compare", *names, "--csv").stdout.splitlines()
    assert table[0].count("shd") == 2
    assert len(table) == 3


@pytest.mark.parametrize("guess", [BARE, CHAIN])
def test_models_without_directions_have_no_such_distances(guess: Model) -> None:
    comparison = compare(BARE, guess)
    assert not set(CAUSAL) & comparison_record(comparison).keys()
    assert compare_groups({"a": [comparison]}, measure="shd").verdict.endswith("for any group.")
    whole = compare(CHAIN, FORK, variables=["A", "B"])
    assert not set(CAUSAL) & comparison_record(whole).keys()
    assert not set(CAUSAL) & comparison_record(compare(CHAIN, FORK, context="A=0")).keys()
    assert [len(r) for r in compare_many(CHAIN, [FORK, BARE]).records()]


def test_a_partly_directed_graph_is_compared_by_its_class() -> None:
    learned = bayesian_network(DOMAIN, [(), (), ()], undirected=[(0, 1), (1, 2)])
    distances = comparison_record(compare(CHAIN, learned))
    assert "shd" not in distances
    assert "sid" not in distances
    assert distances["cpdag_shd"] == 0
    collider = bayesian_network(DOMAIN, [(), (0, 2), ()])
    assert comparison_record(compare(collider, learned))["cpdag_shd"] == 2


def test_without_gadjid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.comparison.graph_distances.find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "gadjid", None)
    record = comparison_record(compare(CHAIN, FORK))
    assert record["shd"] == 1
    assert "sid" not in record
    with pytest.raises(ContextwiseError, match="pip install 'gadjid"):
        compare_groups({"a": [compare(CHAIN, FORK)]}, measure="sid")
