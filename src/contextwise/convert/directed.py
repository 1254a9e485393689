"""Convert directed models: labelled DAGs, trees of probabilities, staged trees and CStrees.

A directed model gives each variable (child) a distribution for each assignment of its parents.
Assignments that share their distribution form a **stage**. In a Bayesian network each assignment
has its own; the other models specify which ones share. The log of the joint distribution is the
sum of the logs of all children, so two variables interact in a context if they do in some child's
term (for all but special parameters, no two terms cancel):

- the child and a parent, where the parent's values lead to different stages;
- two parents, where the stages, as a table over the two, are not determined by one of them alone.
  For a table of stages s this holds if for some values s(p, q), s(0, 0) and s(p, 0), s(0, q) are
  different pairs of stages: then no sum of a term in p and a term in q fits.

The second case is moralization, context by context. Features cannot express the independencies that
hold only while a variable is unobserved, such as that of a collider's parents; the structure keeps
its `contextwise.models.directions.Directions` for them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from contextwise.convert.from_claims import (
    CubeMap,
    DomainLike,
    WantedIndependence,
    converter,
    cube_index,
    cubes_of,
    cubes_where,
    domain_of,
    model_for,
)
from contextwise.convert.hierarchical import leaves_of
from contextwise.errors import DomainError
from contextwise.models.directions import directions_of
from contextwise.models.domain import Domain, listed
from contextwise.models.factors import check_scopes, spread
from contextwise.models.features import PairIndex
from contextwise.models.notation import write_literals
from contextwise.models.structure import Feature, Structure
from contextwise.support.arrays import BoolArray, IntArray

Edge = tuple[str, str]
Tree = Any
"""``{parent: {state: subtree, ...}}``, or a leaf: None, a label, or a list of probabilities."""


@converter
def from_ldag(
    dag: Any, domain: DomainLike, labels: Mapping[Edge, Iterable[Feature]] | None = None
) -> Structure:
    """Convert a labelled DAG (Pensar, Nyman, Koski, Corander) to a structure.

    The label of an edge A → Y holds outcomes of Y's *other* parents in which Y does not depend on
    A. Labels can imply further labels, because sharing a distribution is transitive. Without
    labels this is the DAG of a Bayesian network.

    Parameters
    ----------
    dag : networkx.DiGraph, or iterable of (parent, child)
    labels : mapping, optional
        For an edge (parent, child), the outcomes of the child's other parents where the child does
        not depend on the parent, as texts or mappings; an outcome may leave parents out.

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
    is_graph = hasattr(dag, "is_directed")
    if is_graph and not dag.is_directed():
        raise DomainError("the graph is undirected; use from_graph")
    if isinstance(dag, str):
        raise DomainError(f"{dag!r} is not a graph; give edges such as [('A', 'Y')]")
    parents: dict[int, set[int]] = {v: set() for v in range(len(domain))}
    for edge in (edge[:2] for edge in dag.edges) if is_graph else dag:
        domain.pair(edge)
        parent, child = map(domain.position, edge)
        parents[child].add(parent)
    cubes: dict[int, list[tuple[int, CubeMap]]] = {}
    for edge, outcomes in (labels or {}).items():
        parent, child = map(domain.position, edge)
        if parent not in parents[child]:
            raise DomainError(f"the graph has no edge from {edge[0]!r} to {edge[1]!r}")
        others = parents[child] - {parent}
        what = f"the label of {edge[0]!r} -> {edge[1]!r}"
        for cube in cubes_of(domain, outcomes, what, others, "is not another parent"):
            cubes.setdefault(child, []).append((parent, cube))
    stages = (labelled_stages(domain, v, parents[v], cubes.get(v, [])) for v in parents)
    return _from_stages(domain, stages)


def labelled_stages(
    domain: Domain, child: int, parents: Iterable[int], labels: Sequence[tuple[int, CubeMap]]
) -> Stages:
    """Merge the stages of a child that its labels join, until nothing changes."""
    stages = _all_different(domain, child, sorted(parents))
    table = stages.table
    places = [
        (cube_index(domain, stages.parents, cube), stages.parents.index(parent))
        for parent, cube in labels
    ]
    changed = True
    while changed:
        before = table.copy()
        for place, axis in places:
            # The smallest number of the joined stages names them all; the loop spreads it further.
            table[place] = table[place].min(axis=axis, keepdims=True)
        changed = bool((table != before).any())
    return stages


@converter
def from_cpt_trees(trees: Mapping[str, Tree], domain: DomainLike) -> Structure:
    """Convert a Bayesian network whose conditional distributions are trees to a structure.

    Inner nodes of the tree of a child test a parent; parents that a path does not test do not
    matter there (Boutilier, Friedman, Goldszmidt, Koller).

    Parameters
    ----------
    trees : mapping from each child to its tree
        A test is ``{parent: {state: subtree, ...}}``, with a subtree for every state (a tuple of
        states shares one); a leaf is None (its own distribution), a label, or a list of
        probabilities. Equal leaves share their distribution. A variable without a tree has no
        parents.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "Y": 2}
    >>> model = from_cpt_trees({"Y": {"A": {0: None, 1: {"B": {0: None, 1: None}}}}}, domain)
    >>> model.restrict("A=0").pairs(), model.restrict("A=1").pairs()
    ([], [('B', 'Y')])
    """
    domain = domain_of(domain)
    stages = (_tree_stages(domain, domain.position(v), tree) for v, tree in trees.items())
    return _from_stages(domain, stages)


def _tree_stages(domain: Domain, child: int, tree: Tree) -> Stages:
    leaves = list(leaves_of(domain, tree, {}))
    parents = tuple(sorted({v for path, _ in leaves for v in path}))
    if child in parents:
        raise DomainError(f"the tree of {domain.names[child]!r} tests {domain.names[child]!r}")
    stages = _all_different(domain, child, parents)
    numbers: dict[Hashable, int] = {}
    for number, (path, leaf) in enumerate(leaves):
        key: Hashable = "leaf", number
        if leaf is not None:
            is_label = isinstance(leaf, Hashable)
            key = ("label", leaf) if is_label else ("numbers", *np.ravel(leaf).tolist())
        stages.table[cube_index(domain, parents, path)] = numbers.setdefault(key, number)
    return stages


@converter
def from_staged_tree(
    stages: Mapping[str, Any], domain: DomainLike, *, order: Sequence[str] | None = None
) -> Structure:
    """Convert a staged tree (Smith and Anderson) to a structure.

    The event tree branches on the variables in their order. A vertex is a history, an assignment
    of all variables before it. Vertices of a level that share their distribution form a stage.

    Parameters
    ----------
    stages : mapping
        For each variable, the stage (any label) of each history of the variables before it, the
        last of them varying fastest; a nested list or array with one axis each is fine. This is how
        R's ``stagedtrees`` keeps them. A variable that is left out has a stage for each history.
    order : sequence of names, optional
        The order of the tree; the domain's own if left out.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "Y": 2}
    >>> tree = from_staged_tree({"B": ["s", "s"], "Y": ["low", "low", "low", "high"]}, domain)
    >>> tree.restrict("A=0").pairs(), tree.restrict("A=1").pairs()
    ([], [('B', 'Y')])
    """
    domain = domain_of(domain)
    levels = _levels(domain, stages, order)
    for name, values in stages.items():
        table = levels[domain.position(name)].table
        labels = np.asarray(values, dtype=object).ravel()
        if len(labels) != table.size:
            raise DomainError(
                f"variable {name!r} has {table.size} histories, got {len(labels)} stages"
            )
        numbers: dict[object, int] = {}
        table.flat[:] = [numbers.setdefault(label, len(numbers)) for label in labels]
    return _from_stages(domain, levels.values())


@converter
def from_cstree(
    stages: Mapping[str, Iterable[Feature]] | Any,
    domain: DomainLike,
    *,
    order: Sequence[str] | None = None,
) -> Structure:
    """Convert a CStree (Duarte and Solus), a staged tree whose stages are contexts, to a structure.

    Parameters
    ----------
    stages : mapping, or CStree of the package cstrees
        For each variable, its stages as contexts (texts or mappings) of the variables before it;
        ``""`` is the stage of all histories. Histories in no context are stages of their own. The
        values of a CStree are positions of states in the domain.
    order : sequence of names, optional
        The order of the tree; that of a CStree, otherwise the domain's own if left out.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "Y": 2}
    >>> cstree = from_cstree({"B": [""], "Y": ["A=0"]}, domain)
    >>> cstree.restrict("A=0").pairs(), cstree.restrict("A=1").pairs()
    ([], [('B', 'Y')])
    """
    domain = domain_of(domain)
    if hasattr(stages, "update_stages"):
        stages, order = _stages_of(stages, domain)
    levels = _levels(domain, stages, order)
    for name, contexts in stages.items():
        level = levels[domain.position(name)]
        taken = np.zeros(level.table.shape, dtype=bool)
        where = "does not come before it in the order"
        for cube in cubes_of(domain, contexts, f"a stage of {name!r}", level.parents, where):
            place = cube_index(domain, level.parents, cube)
            if taken[place].any():
                context = write_literals(domain.literal(*literal) for literal in cube.items())
                raise DomainError(f"the stage {context!r} of {name!r} overlaps another one")
            taken[place] = True
            level.table[place] = level.table[place].min()
    return _from_stages(domain, levels.values())


def _stages_of(tree: Any, domain: Domain) -> tuple[dict[str, list[Feature]], list[str]]:
    """Return the stages and the order of a CStree of the package cstrees."""
    order = [str(label) for label in tree.labels]
    stages: dict[str, list[Feature]] = {}
    for name, level in zip(order[1:], range(len(order)), strict=False):
        # A stage has a value for each variable before, or the set of all its values.
        stages[name] = [
            {
                before: domain.states[domain.position(before)][value]
                for before, value in zip(order, stage.list_repr, strict=False)
                if not isinstance(value, set | list)
            }
            for stage in tree.stages.get(level, ())
        ]
    return stages, order


def _levels(
    domain: Domain, stages: Mapping[str, Any], order: Sequence[str] | None
) -> dict[int, Stages]:
    """Return the levels of the event tree, each history in its own stage."""
    for name in stages:
        domain.position(name)
    names = domain.names if order is None else tuple(order)
    if sorted(names) != sorted(domain.names):
        raise DomainError(f"the order {listed(names)} is not one of the variables of the domain")
    positions = [domain.position(name) for name in names]
    return {v: _all_different(domain, v, positions[:k]) for k, v in enumerate(positions)}


# -- stages and their claims -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of one child: a stage number for each assignment of its parents."""

    child: int
    parents: tuple[int, ...]
    table: IntArray

    def arcs(self) -> tuple[int, ...]:
        """Return the parents on which the stage depends; one with a single state counts too."""
        fixed = (
            len(part) > 1 and (part == part[:1]).all()
            for part in (np.moveaxis(self.table, axis, 0) for axis in range(self.table.ndim))
        )
        return tuple(p for p, is_fixed in zip(self.parents, fixed, strict=True) if not is_fixed)


def _all_different(domain: Domain, child: int, parents: Sequence[int]) -> Stages:
    """Return stages in which each assignment of the parents has its own."""
    check_scopes(domain, [parents])
    shape = [domain.cardinalities[v] for v in parents]
    return Stages(child, tuple(parents), np.arange(prod(shape)).reshape(shape))


def _from_stages(domain: Domain, children: Iterable[Stages]) -> Structure:
    """Find where each pair interacts, and make the features."""
    children = list(children)
    parents: list[tuple[int, ...]] = [()] * len(domain)
    for stages in children:
        parents[stages.child] = stages.arcs()
    directions = directions_of(domain, parents)
    terms: dict[PairIndex, list[tuple[tuple[int, ...], BoolArray]]] = {}
    for stages in children:
        if domain.cardinalities[stages.child] == 1:
            continue
        for pair in combinations(sorted((stages.child, *stages.parents)), 2):
            scope, where = _interacting(stages, pair)
            if where.any():
                terms.setdefault(pair, []).append((scope, where))
    independent = {pair: _independent(domain, parts) for pair, parts in terms.items()}
    return model_for(WantedIndependence(domain, independent), directions=directions)


def _interacting(stages: Stages, pair: PairIndex) -> tuple[tuple[int, ...], BoolArray]:
    """Find where a pair interacts in the term of one child: a table over the other parents."""
    scope = tuple(v for v in stages.parents if v not in pair)
    axes = [stages.parents.index(v) for v in pair if v != stages.child]
    table = np.moveaxis(stages.table, axes, range(len(axes)))
    if len(axes) == 1:
        return scope, (table != table[:1]).any(axis=0)
    corner, first, second = table[:1, :1], table[:, :1], table[:1, :]
    # Whatever their numbers are, the odds ratio is 1 only if the four stages cancel in pairs.
    same = (table == first) & (corner == second) | (table == second) & (corner == first)
    return scope, ~same.all(axis=(0, 1))


def _independent(
    domain: Domain, terms: list[tuple[tuple[int, ...], BoolArray]]
) -> Sequence[CubeMap]:
    """Find where none of the terms of a pair interacts."""
    if any(where.all() for _, where in terms):
        return []
    variables = sorted({v for scope, _ in terms for v in scope})
    check_scopes(domain, [variables])
    anywhere = np.zeros([domain.cardinalities[v] for v in variables], dtype=bool)
    for scope, where in terms:
        anywhere |= spread(where, scope, variables)
    return cubes_where(variables, ~anywhere)
