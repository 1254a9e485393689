"""Conditional probability trees (Boutilier, Friedman, Goldszmidt, Koller).

A CPT tree is a decision tree for the distribution of one variable (the child): inner nodes test a
parent, branches are its states, and each leaf has a distribution of its own. Parents that a way
through the tree does not test do not matter there: that is how a Bayesian network says that Y
depends on B only where A=1. A model has one tree for each variable.

Leaves that carry the same label (or the same numbers) share their distribution, so decision graphs
can be written as well.

Lost: the directions, and the independencies that hold only while a child is not observed (see
`contextwise.convert.stages`). Trees that no features can express are `NotRepresentable`.

>>> domain = {"A": 2, "B": 2, "Y": 2}
>>> model = from_cpt_trees(domain, {"Y": {"A": {0: None, 1: {"B": {0: None, 1: None}}}}})
>>> model.restrict("A=0").pairs(), model.restrict("A=1").pairs()
([], [('B', 'Y')])
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from contextwise.convert.context_specific import split_of
from contextwise.convert.stages import Stages, from_stages
from contextwise.convert.target import DomainLike, domain_of
from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.factors import checked
from contextwise.models.features import members
from contextwise.models.structure import Structure

Tree = Any
"""``{parent: {state: subtree, ...}}``, or a leaf: None, a label, or a list of probabilities."""


def from_cpt_trees(domain: DomainLike, trees: Mapping[str, Tree]) -> Structure:
    """The structure of a Bayesian network whose conditional distributions are trees.

    Parameters
    ----------
    domain : Domain, or a mapping that makes one
    trees : mapping from each child to its tree
        A test is ``{parent: {state: subtree, ...}}``, with a subtree for every state (a tuple of
        states shares one); a leaf is None (a distribution of its own), a label, or a list of
        probabilities. A variable without a tree has no parents.

    Raises
    ------
    NotRepresentable
        If no features make these claims.
    """
    domain = domain_of(domain)
    return from_stages(
        domain, (_stages(domain, domain.position(child), tree) for child, tree in trees.items())
    )


def _stages(domain: Domain, child: int, tree: Tree) -> Stages:
    leaves = list(_leaves(domain, tree, {}))
    parents = tuple(sorted({v for path, _ in leaves for v in path}))
    if child in parents:
        raise DomainError(f"the tree of {domain.names[child]!r} tests {domain.names[child]!r}")
    checked(domain, [parents])
    table = np.zeros([domain.cardinalities[v] for v in parents], dtype=np.int64)
    numbers: dict[Hashable, int] = {}
    for number, (path, leaf) in enumerate(leaves):
        states = [members(path.get(v, (1 << domain.cardinalities[v]) - 1)) for v in parents]
        table[np.ix_(*states)] = numbers.setdefault(_label(leaf, number), number)
    return Stages(child, parents, table)


def _leaves(
    domain: Domain, tree: Tree, path: dict[int, int]
) -> Iterator[tuple[dict[int, int], Tree]]:
    """The leaves of a tree, each with the value sets on the way to it."""
    if not isinstance(tree, Mapping):
        yield path, tree
        return
    variable, branches = split_of(domain, tree, path)
    for allowed, subtree in branches:
        yield from _leaves(domain, subtree, {**path, variable: allowed})


def _label(leaf: Tree, number: int) -> Hashable:
    """What leaves that share a distribution have in common."""
    if leaf is None:
        return "leaf", number
    if isinstance(leaf, Hashable):
        return "label", leaf
    return "distribution", tuple(np.ravel(leaf).tolist())
