"""Convert Bayesian networks with context-specific independence: labelled DAGs and CPT trees.

In a Bayesian network each variable has a distribution for each assignment of its parents.

A **labelled DAG** (Pensar, Nyman, Koski, Corander) adds labels to edges: the label of A → Y holds
outcomes of Y's *other* parents in which Y does not depend on A, so that A's values share one
distribution there. Without labels it is the DAG of a Bayesian network. Labels can imply further
labels, because sharing a distribution is transitive. The parents of Y become dependent only where
the labels leave them a joint effect on Y.

A **CPT tree** (Boutilier, Friedman, Goldszmidt, Koller) is a decision tree for the distribution of
one variable (the child): inner nodes test a parent, branches are its states, and each leaf has a
distribution. Parents that a path does not test do not matter there; this is how a Bayesian network
expresses that Y depends on B only where A=1. A model has one tree per variable. Leaves with the
same label (or the same numbers) share their distribution, so decision graphs can be written too.

Features lose the directions and the independencies that hold only while a child is unobserved (see
`contextwise.convert.directed`). Claims that no features can make raise `NotRepresentable`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from contextwise.convert.directed import Stages, all_different, from_stages
from contextwise.convert.from_claims import CubeMap, DomainLike, cube_of, domain_of, pair_of
from contextwise.convert.hierarchical import leaves_of
from contextwise.errors import DomainError
from contextwise.models.domain import Domain, listed
from contextwise.models.factors import check_scopes
from contextwise.models.features import members
from contextwise.models.literals import Feature
from contextwise.models.structure import Structure

Edge = tuple[str, str]


def from_ldag(
    dag: Any, domain: DomainLike, labels: Mapping[Edge, Iterable[Feature]] | None = None
) -> Structure:
    """Convert a labelled DAG to a structure.

    Parameters
    ----------
    dag : networkx.DiGraph, or iterable of (parent, child)
    domain : Domain, or a mapping that makes one
    labels : mapping, optional
        For an edge (parent, child), the outcomes of the child's other parents where the child does
        not depend on the parent, as texts or mappings; an outcome may leave parents out.

    Returns
    -------
    Structure

    Raises
    ------
    NotRepresentable
        If no features make these claims.
    DomainError
        If the graph has a cycle, or a label mentions a variable that is not another parent.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "Y": 2}
    >>> model = from_ldag([("A", "Y"), ("B", "Y")], domain, {("A", "Y"): ["B=0"]})
    >>> model.restrict("B=0").pairs(), model.restrict("B=1").pairs()
    ([], [('A', 'Y')])
    >>> from_ldag([("A", "Y"), ("B", "Y")], domain).pairs()
    [('A', 'B'), ('A', 'Y'), ('B', 'Y')]
    """
    domain = domain_of(domain)
    parents = _parents(domain, dag)
    cubes: dict[int, list[tuple[int, CubeMap]]] = {}
    for edge, outcomes in (labels or {}).items():
        parent, child = map(domain.position, edge)
        if parent not in parents[child]:
            raise DomainError(f"the graph has no edge from {edge[0]!r} to {edge[1]!r}")
        if isinstance(outcomes, str | Mapping):
            raise DomainError(f"give the label of {edge!r} as a list of outcomes")
        for outcome in outcomes:
            cube = cube_of(domain, outcome)
            _check_label(domain, edge, cube, parents[child] - {parent})
            cubes.setdefault(child, []).append((parent, cube))
    return from_stages(
        domain,
        (_merged(domain, child, own, cubes.get(child, [])) for child, own in parents.items()),
    )


def _parents(domain: Domain, dag: Any) -> dict[int, set[int]]:
    """Return the parents of every variable."""
    if hasattr(dag, "is_directed") and not dag.is_directed():
        raise DomainError("the graph is undirected; use from_graph")
    if isinstance(dag, str):
        raise DomainError(f"{dag!r} is not a graph; give edges such as [('A', 'Y')]")
    parents: dict[int, set[int]] = {v: set() for v in range(len(domain))}
    for edge in dag.edges if hasattr(dag, "is_directed") else dag:
        pair_of(domain, edge)
        parent, child = map(domain.position, edge)
        parents[child].add(parent)
    return parents


def _check_label(domain: Domain, edge: Edge, cube: CubeMap, others: set[int]) -> None:
    strange = [domain.names[v] for v in cube if v not in others]
    if strange:
        raise DomainError(
            f"the label of {edge[0]!r} -> {edge[1]!r} mentions {listed(strange)}, which is not "
            "another parent"
        )


def _merged(
    domain: Domain, child: int, parents: Iterable[int], labels: list[tuple[int, CubeMap]]
) -> Stages:
    """Merge the stages of a child that its labels join, until nothing changes."""
    stages = all_different(domain, child, sorted(parents))
    table = stages.table
    places = []
    for parent, cube in labels:
        states = [members(cube.get(v, (1 << domain.cardinalities[v]) - 1)) for v in stages.parents]
        places.append((np.ix_(*states), stages.parents.index(parent)))
    changed = True
    while changed:
        before = table.copy()
        for place, axis in places:
            table[place] = table[place].min(axis=axis, keepdims=True)
        changed = bool((table != before).any())
    return stages


Tree = Any
"""``{parent: {state: subtree, ...}}``, or a leaf: None, a label, or a list of probabilities."""


def from_cpt_trees(trees: Mapping[str, Tree], domain: DomainLike) -> Structure:
    """Convert a Bayesian network whose conditional distributions are trees to a structure.

    Parameters
    ----------
    trees : mapping from each child to its tree
        A test is ``{parent: {state: subtree, ...}}``, with a subtree for every state (a tuple of
        states shares one); a leaf is None (its own distribution), a label, or a list of
        probabilities. A variable without a tree has no parents.
    domain : Domain, or a mapping that makes one

    Returns
    -------
    Structure

    Raises
    ------
    NotRepresentable
        If no features make these claims.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "Y": 2}
    >>> model = from_cpt_trees({"Y": {"A": {0: None, 1: {"B": {0: None, 1: None}}}}}, domain)
    >>> model.restrict("A=0").pairs(), model.restrict("A=1").pairs()
    ([], [('B', 'Y')])
    """
    domain = domain_of(domain)
    return from_stages(
        domain, (_stages(domain, domain.position(child), tree) for child, tree in trees.items())
    )


def _stages(domain: Domain, child: int, tree: Tree) -> Stages:
    leaves = list(leaves_of(domain, tree, {}))
    parents = tuple(sorted({v for path, _ in leaves for v in path}))
    if child in parents:
        raise DomainError(f"the tree of {domain.names[child]!r} tests {domain.names[child]!r}")
    check_scopes(domain, [parents])
    table = np.zeros([domain.cardinalities[v] for v in parents], dtype=np.int64)
    numbers: dict[Hashable, int] = {}
    for number, (path, leaf) in enumerate(leaves):
        states = [members(path.get(v, (1 << domain.cardinalities[v]) - 1)) for v in parents]
        table[np.ix_(*states)] = numbers.setdefault(_label(leaf, number), number)
    return Stages(child, parents, table)


def _label(leaf: Tree, number: int) -> Hashable:
    """Return a key that leaves with the same distribution share."""
    if leaf is None:
        return "leaf", number
    if isinstance(leaf, Hashable):
        return "label", leaf
    return "distribution", tuple(np.ravel(leaf).tolist())
