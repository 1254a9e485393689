"""d-separation against networkx, CSI-separation against the joint distribution."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import networkx
import numpy as np
import pytest

from contextwise import Domain, LogLinear, Structure, read, write
from contextwise.convert import from_ldag
from contextwise.errors import DomainError
from contextwise.independence.model_claims import explain_model
from contextwise.independence.queries import CSI, D_SEPARATION, Statement, query
from contextwise.independence.separation import minimal_d_separator, open_trail
from contextwise.models.directions import bayesian_network
from contextwise.support.arrays import FloatArray
from independence_oracle import is_independent
from network_models import random_network

SEEDS = range(25)


def random_parents(rng: np.random.Generator, variables: int) -> list[tuple[int, ...]]:
    order = rng.permutation(variables).tolist()
    parents: list[tuple[int, ...]] = [()] * variables
    density = rng.uniform(0.1, 0.7)
    for place, child in enumerate(order):
        parents[child] = tuple(p for p in order[:place] if rng.random() < density)
    return parents


def as_graph(parents: list[tuple[int, ...]]) -> networkx.DiGraph[int]:
    graph: networkx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(range(len(parents)))
    graph.add_edges_from((p, child) for child, above in enumerate(parents) for p in above)
    return graph


@pytest.mark.parametrize("seed", SEEDS)
def test_trails_and_separators_are_those_of_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, int(rng.integers(2, 9)))
    graph = as_graph(parents)
    for _ in range(20):
        role = rng.integers(0, 4, size=len(parents))
        first, second, given = (set(np.flatnonzero(role == k).tolist()) for k in range(3))
        if not first or not second:
            continue
        trail = open_trail(parents, first, second, given)
        assert (trail is None) == networkx.is_d_separator(graph, first, second, given)
        separator = minimal_d_separator(parents, first, second, given)
        wanted = networkx.find_minimal_d_separator(graph, first, second, restricted=given)
        assert (separator is None) == (wanted is None)
        if separator is not None:
            chosen = set(separator)
            assert chosen <= given
            assert networkx.is_minimal_d_separator(graph, first, second, chosen, restricted=given)
        if trail is not None:
            path = trail.variables
            assert path[0] in first
            assert path[-1] in second
            for here, there, forward in zip(path, path[1:], trail.forward, strict=False):
                assert (here in parents[there]) if forward else (there in parents[here])
            opening = given | {a for v in given for a in networkx.ancestors(graph, v)}
            colliders = trail.colliders()
            assert all(v in opening if v in colliders else v not in given for v in path)


def joint_of(model: LogLinear) -> FloatArray:
    """P of every cell, from the tables."""
    directions = model.directions
    assert directions is not None
    cards = model.domain.cardinalities
    result = np.ones(cards)
    for child, (above, table) in enumerate(zip(directions.parents, directions.tables, strict=True)):
        assert table is not None
        scope = (*above, child)
        shape = [c if v in scope else 1 for v, c in enumerate(cards)]
        result = result * table.transpose(np.argsort(scope)).reshape(shape)
    return result


def holds(joint: FloatArray, i: int, j: int, given: set[int], context: dict[int, int]) -> bool:
    """Whether i and j are independent given every value of some variables, in a context."""
    index = tuple(context.get(v, slice(None)) for v in range(joint.ndim))
    rest = [v for v in range(joint.ndim) if v not in context]
    table = joint[index]
    table = np.moveaxis(table, [rest.index(i), rest.index(j)], [-2, -1])
    names = [v for v in rest if v not in (i, j)]
    table = table.sum(axis=tuple(k for k, v in enumerate(names) if v not in given))
    both = table * table.sum(axis=(-2, -1), keepdims=True)
    return bool(
        np.allclose(both, table.sum(-1, keepdims=True) * table.sum(-2, keepdims=True), atol=1e-10)
    )


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_answered_independent_is_independent(seed: int, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, 5, zeros=zeros, equal_rows=0.5)
    joint, domain = joint_of(model), model.domain
    fewer = model.without_zero_weights()
    for i, j in combinations(range(5), 2):
        others = [v for v in range(5) if v not in (i, j)]
        role = dict(zip(others, rng.integers(-1, 3, size=3).tolist(), strict=True))
        context = {v: r % domain.cardinalities[v] for v, r in role.items() if r > 0}
        given = {v for v, r in role.items() if r == 0}
        asked = Statement(
            (domain.names[i],),
            (domain.names[j],),
            tuple(domain.names[v] for v in given),
            {domain.names[v]: domain.states[v][s] for v, s in context.items()},
        )
        for one in (model, fewer):
            answer = query(one, asked)
            if answer:
                assert holds(joint, i, j, given, context), (answer, asked)
            else:
                assert answer.word in ("dependent in general", "not shown independent")


@pytest.mark.parametrize("seed", SEEDS)
def test_dependent_in_general_is_dependent_for_random_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, 5)
    joint, names = joint_of(model), model.domain.names
    for i, j in combinations(range(5), 2):
        given = {v for v in range(5) if v not in (i, j) and rng.random() < 0.4}
        asked = Statement((names[i],), (names[j],), tuple(names[v] for v in given))
        answer = query(model, asked)
        assert answer.word in ("independent", "dependent in general")
        assert bool(answer) == holds(joint, i, j, given, {})


EQUAL = bayesian_network(
    Domain({"A": 2, "B": 2, "C": 2}),
    [(), (), (0, 1)],
    [[0.5, 0.5], [0.5, 0.5], [[[0.3, 0.7], [0.3, 0.7]], [[0.1, 0.9], [0.6, 0.4]]]],
)


def test_each_rule_is_named(tmp_path: Path) -> None:
    write(EQUAL, tmp_path / "network.json")
    model = read(tmp_path / "network.json")

    def ask(text: str, model: Structure | LogLinear = model) -> tuple[str, str]:
        answer = query(model, text)
        return answer.rule, str(answer)

    assert ask("A _||_ B") == (D_SEPARATION, "independent: by d-separation, no trail is open")
    assert ask("B _||_ C | A=0") == (
        CSI,
        "independent: by CSI-separation, no trail of the arcs that matter when A=0 is open",
    )
    assert ask("B _||_ C | A=1")[1] == "not shown independent: the trail B → C is open"
    assert ask("B _||_ C")[1] == "not shown independent: the trail B → C is open"
    trail = "the trail A → C ← B is open because C is given"
    assert ask("A _||_ B | C")[1] == f"not shown independent: {trail}"
    domain = model.domain
    chain = bayesian_network(domain, [(), (0,), (1,)])
    blocked = "independent: by d-separation, every trail is blocked by B"
    assert ask("A _||_ C | B", chain)[1] == blocked
    assert ask("A _||_ C", chain)[1] == "dependent in general: the trail A → B → C is open"
    collider = bayesian_network(Domain({"A": 2, "B": 2, "C": 2, "D": 2}), [(), (), (0, 1), (2,)])
    below = "the trail A → C ← B is open because D, a descendant of C, is given"
    assert ask("A _||_ B | D", collider)[1] == f"dependent in general: {below}"
    labelled = from_ldag([("A", "C"), ("B", "C")], domain, {("B", "C"): ["A=0"]})
    assert ask("B _||_ C | A=0", labelled) == (
        "features",
        "independent: no path connects them",
    )


def test_arcs_without_any_effect_do_not_connect() -> None:
    domain = Domain({"A": 2, "B": 2})
    model = bayesian_network(domain, [(), (0,)], [[0.5, 0.5], [[0.2, 0.8], [0.2, 0.8]]])
    answer = query(model, "A _||_ B")
    assert answer.rule == CSI
    assert str(answer).endswith("no trail of the arcs that matter is open")


def test_queries_about_a_given_variable_are_errors() -> None:
    with pytest.raises(DomainError, match="'A' is on a side of the query and given"):
        is_independent(EQUAL, "A", "B", given="A")
    with pytest.raises(DomainError, match="'A' is on a side of the query and in the context"):
        is_independent(EQUAL, "A", "B", context={"A": 0})


def test_a_partly_directed_graph_answers_for_all_its_dags() -> None:
    """A – B – C, and D -> E <- C: every DAG of the class has the same d-separations."""
    domain = Domain(dict.fromkeys("ABCDE", 2))
    model = bayesian_network(domain, [(), (), (), (), (2, 3)], undirected=[(0, 1), (2, 1)])
    assert model.directions is not None
    assert {frozenset(arc) for arc in model.directions.undirected} == {
        frozenset((0, 1)),
        frozenset((1, 2)),
    }
    for given, role in product([(), ("B",), ("E",)], ["A", "D"]):
        wanted = is_independent(
            bayesian_network(domain, [(), (0,), (1,), (), (2, 3)]), role, "C", given=given
        )
        assert is_independent(model, role, "C", given=given) == wanted
    with pytest.raises(DomainError, match="stands for no DAG"):
        bayesian_network(
            Domain(dict.fromkeys("ABCD", 2)),
            [()] * 4,
            undirected=[(0, 1), (1, 2), (2, 3), (3, 0)],
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_minimal_separator_is_listed_for_each_pair_without_an_arc(seed: int) -> None:
    parents = random_parents(np.random.default_rng(seed), 6)
    model = bayesian_network(Domain(dict.fromkeys("ABCDEF", 2)), parents)
    dag = networkx.relabel_nodes(as_graph(parents), dict(enumerate("ABCDEF")))
    listed = explain_model(model, top=100).separations
    free = set(networkx.non_edges(dag.to_undirected()))
    assert {frozenset(claim.pair) for claim in listed} == set(map(frozenset, free))
    for claim in listed:
        assert networkx.is_minimal_d_separator(dag, *claim.pair, set(claim.given))
    few = explain_model(model, top=1)
    assert few.separations == listed[:1]
    assert few.counts["separations"] == len(free)


def test_separations_need_arcs() -> None:
    assert explain_model("six").separations == ()
