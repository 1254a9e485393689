"""Stratified graphical models (Nyman, Pensar, Koski, Corander).

A stratified graph is an undirected graph whose edges may carry a **stratum**: outcomes of the
common neighbours of the two ends in which the edge vanishes, so that the ends are independent in
that context. It reads like a graph and says what a graph cannot: A and B depend, except where
C=0.

In features: an edge without a stratum has a table of its own; a stratified edge A–B has the cells
of A and B together with literals of the common neighbours that stay outside the stratum.

Not every stratified graph has features. A feature makes all pairs of its scope depend, so a stratum
that has to tell apart outcomes of *two* common neighbours needs these to be neighbours too: if C
and D have no edge, "A–B vanishes where C=0, D=0 and where C=1, D=1" is `NotRepresentable`.

>>> model = from_stratified(
...     {"A": 2, "B": 2, "C": 2},
...     [("A", "B"), ("A", "C"), ("B", "C")], {("A", "B"): ["C=0"]},
... )
>>> model.restrict("C=0").pairs(), model.restrict("C=1").pairs()
([], [('A', 'B')])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contextwise.convert.graphs import GraphLike, nodes_and_edges
from contextwise.convert.target import (
    Cube,
    DomainLike,
    Pair,
    Target,
    cube_of,
    domain_of,
    features_for,
    pair_of,
)
from contextwise.errors import DomainError
from contextwise.models.domain import listed
from contextwise.models.literals import Feature
from contextwise.models.structure import Structure


def from_stratified(
    domain: DomainLike, graph: GraphLike, strata: Mapping[tuple[str, str], Iterable[Feature]]
) -> Structure:
    """The structure of a stratified graphical model.

    Parameters
    ----------
    domain : Domain, or a mapping that makes one
    graph : as in `contextwise.convert.from_graph`
    strata : mapping
        For an edge, the outcomes of common neighbours where it vanishes, as texts or mappings.
        An outcome may leave common neighbours out (whatever they are), or allow several states.

    Raises
    ------
    NotRepresentable
        If no features make these claims.
    """
    domain = domain_of(domain)
    _, edges = nodes_and_edges(domain, graph)
    independent: dict[Pair, list[Cube]] = {edge: [] for edge in edges}
    for names, outcomes in strata.items():
        edge = pair_of(domain, names)
        if edge not in independent:
            raise DomainError(f"the graph has no edge between {' and '.join(map(repr, names))}")
        if isinstance(outcomes, str | Mapping):
            raise DomainError(f"give the stratum of {names!r} as a list of outcomes")
        for outcome in outcomes:
            cube = cube_of(domain, outcome)
            strange = [
                domain.names[v]
                for v in cube
                if v in edge or any((min(v, end), max(v, end)) not in edges for end in edge)
            ]
            if strange:
                raise DomainError(
                    f"the stratum of {names!r} speaks of {listed(strange)}, which is not a common "
                    "neighbour"
                )
            independent[edge].append(cube)
    return features_for(Target(domain, independent))
