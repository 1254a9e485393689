"""Convert staged trees and CStrees: event trees whose vertices share distributions.

Order the variables. The **event tree** branches on the first, below it on the second, and so on; a
vertex is a history, an assignment of all variables before it, and has a distribution over the
states of the next one. A **staged tree** (Smith and Anderson) puts vertices that share their
distribution into one stage. Any vertices of a level may share, so staged trees are more expressive
than DAGs; they have as many vertices as there are histories.

A **CStree** (Duarte and Solus) is a staged tree whose stages are contexts: all histories that agree
on some of the variables. "At level Y: where A=0, one distribution" is one line, however many
variables come before. Labelled DAGs with one fixed order are CStrees or staged trees.

Features lose the order and the independencies that hold only while later variables are unobserved
(see `contextwise.convert.directed`). Most trees have features. Stages that no features can express
raise `NotRepresentable`. An example is a Y that depends on A where S=0 and on B where S=1, with the
same two distributions: S matters where A and B differ, and A and B never interact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from contextwise.convert.directed import Stages, all_different, from_stages
from contextwise.convert.from_claims import DomainLike, cube_of, domain_of
from contextwise.errors import DomainError
from contextwise.models.domain import Domain, listed
from contextwise.models.features import members
from contextwise.models.literals import Feature
from contextwise.models.structure import Structure


def from_staged_tree(
    stages: Mapping[str, Any], domain: DomainLike, *, order: Sequence[str] | None = None
) -> Structure:
    """Convert a staged tree to a structure.

    Parameters
    ----------
    stages : mapping
        For each variable, the stage (any label) of each history of the variables before it, the
        last of them varying fastest; a nested list or array with one axis each is fine. This is how
        R's ``stagedtrees`` keeps them. A variable that is left out has a stage for each history.
    domain : Domain, or a mapping that makes one
    order : sequence of names, optional
        The order of the tree; the domain's own if left out.

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
    >>> tree = from_staged_tree({"B": ["s", "s"], "Y": ["low", "low", "low", "high"]}, domain)
    >>> tree.restrict("A=0").pairs(), tree.restrict("A=1").pairs()
    ([], [('B', 'Y')])
    """
    domain = domain_of(domain)
    levels = dict(_levels(domain, stages, order))
    for name, given in stages.items():
        level = levels[domain.position(name)]
        labels = np.asarray(given, dtype=object).ravel()
        if len(labels) != level.table.size:
            raise DomainError(
                f"variable {name!r} has {level.table.size} histories, got {len(labels)} stages"
            )
        numbers: dict[object, int] = {}
        level.table.flat[:] = [numbers.setdefault(label, len(numbers)) for label in labels]
    return from_stages(domain, levels.values())


def from_cstree(
    stages: Mapping[str, Iterable[Feature]],
    domain: DomainLike,
    *,
    order: Sequence[str] | None = None,
) -> Structure:
    """Convert a CStree to a structure.

    Parameters
    ----------
    stages : mapping
        For each variable, its stages as contexts (texts or mappings) of the variables before it;
        ``""`` is the stage of all histories. Histories in no context are stages of their own.
    domain : Domain, or a mapping that makes one
    order : sequence of names, optional
        The order of the tree; the domain's own if left out.

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
    >>> cstree = from_cstree({"B": [""], "Y": ["A=0"]}, domain)
    >>> cstree.restrict("A=0").pairs(), cstree.restrict("A=1").pairs()
    ([], [('B', 'Y')])
    """
    domain = domain_of(domain)
    levels = dict(_levels(domain, stages, order))
    for name, contexts in stages.items():
        if isinstance(contexts, str | Mapping):
            raise DomainError(f"give the stages of {name!r} as a list of contexts")
        level = levels[domain.position(name)]
        taken = np.zeros(level.table.shape, dtype=bool)
        for context in contexts:
            place = _place(domain, level, context)
            if taken[place].any():
                raise DomainError(f"the stage {context!r} of {name!r} overlaps another one")
            taken[place] = True
            level.table[place] = level.table[place].min()
    return from_stages(domain, levels.values())


def _levels(
    domain: Domain, stages: Mapping[str, Any], order: Sequence[str] | None
) -> Iterator[tuple[int, Stages]]:
    """Yield the levels of the event tree, each history in its own stage."""
    for name in stages:
        domain.position(name)
    names = domain.names if order is None else tuple(order)
    if sorted(names) != sorted(domain.names):
        raise DomainError(f"the order {listed(names)} is not one of the variables of the domain")
    positions = [domain.position(name) for name in names]
    for k, variable in enumerate(positions):
        yield variable, all_different(domain, variable, positions[:k])


def _place(domain: Domain, level: Stages, context: Feature) -> Any:
    """Return the histories of a context as an index into the table of a level."""
    cube = cube_of(domain, context)
    strange = [domain.names[v] for v in cube if v not in level.parents]
    if strange:
        raise DomainError(
            f"the stage {context!r} of {domain.names[level.child]!r} mentions {listed(strange)}, "
            "which does not come before it in the order"
        )
    everything = [(1 << domain.cardinalities[v]) - 1 for v in level.parents]
    states = [members(cube.get(v, e)) for v, e in zip(level.parents, everything, strict=True)]
    return np.ix_(*states)
