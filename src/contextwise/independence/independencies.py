"""List where variables are independent, by regions instead of single contexts.

The contexts in which a pair is independent are the complement of its cover. They are listed as
disjoint regions, largest first. A minimal separator completes each statement: ``A ⫫ B | C=yes, D``
says that A and B are independent wherever C is yes, given any value of D.

Pairs that are independent in every context come first, fewest neighbours first. Pairs that are
independent in some contexts follow, largest share first.

The features of a Bayesian network do not show that parents of one child may be independent. With
``separators``, list one minimal set for each pair without an arc that d-separates the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from contextwise.comparison.compare import answer
from contextwise.comparison.confusion import ratio
from contextwise.comparison.question import active_pairs, all_pairs, pose
from contextwise.counting.cover import Cube
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import BOXES, complement
from contextwise.errors import ContextwiseError
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.graphs import minimal_separator, network
from contextwise.independence.separation import minimal_d_separator
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal, between, quoted, write_literal
from contextwise.models.structure import Structure
from contextwise.support.deadline import Deadline
from contextwise.support.effort import Effort


@dataclass(frozen=True)
class Independence:
    """Two variables are independent, or only weaker than a strength, in a region of contexts."""

    first: str
    second: str
    region: tuple[Literal, ...]  # empty for every context
    given: tuple[str, ...]  # the other variables that must be known
    contexts: int  # of the pair, in the region
    share: float  # of all contexts of the pair
    weaker_than: float | None = None  # what no log odds ratio exceeds; None: independent

    def __str__(self) -> str:
        condition = [*map(write_literal, self.region), *map(quoted, self.given)]
        sides = f"{quoted(self.first)} ⫫ {quoted(self.second)}"
        if self.weaker_than is not None:
            names = between((self.first, self.second))
            sides = f"{names} weaker than {self.weaker_than:g}"
        return f"{sides} | {', '.join(condition)}" if condition else sides


@dataclass(frozen=True)
class PairIndependencies:
    """All independencies of one pair, most general first."""

    first: str
    second: str
    statements: tuple[Independence, ...]  # disjoint; all of them, or as many as the limits allow
    unlisted: int  # statements beyond these
    independent: int  # contexts in which the pair is independent, listed or not
    contexts: int  # all contexts of the pair
    undecided: int = 0  # contexts that were not decided within the limits

    def __iter__(self) -> Iterator[Independence]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements))


def context_specific_independencies(
    model: ModelLike,
    first: str,
    second: str,
    *,
    top: int | None = None,
    boxes: int = BOXES,
    time_limit: float | None = None,
) -> PairIndependencies:
    """List where two variables are independent, as disjoint regions.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    first, second : names of the variables
    top : most statements to list, the most general ones
    boxes : limit of the search for regions
    time_limit : seconds; contexts that are not decided by then are counted as ``undecided``

    Returns
    -------
    PairIndependencies

    Examples
    --------
    >>> model = Structure({"A": 2, "B": 2, "C": ["no", "yes"], "D": 3}, [
    ...     "A=1 & B=1 & C=no", "A=1 & D=1", "D=1 & B=1"])
    >>> print(context_specific_independencies(model, "A", "B"))
    A ⫫ B | C=yes, D
    """
    deadline = Deadline.after(time_limit)
    structure = as_structure(model)
    i, j = structure.domain.pair((first, second))
    features = structure.features
    owners, variables = features.covered
    touched = (variables == i) | (variables == j)
    of_pair = np.bincount(owners[touched], minlength=len(features)) == 2
    return _Lister(structure, CoverSource(features.take(of_pair)), top, boxes, deadline).pair(i, j)


def independencies(
    model: ModelLike,
    *,
    most: int | None = None,
    context_specific: bool = False,
    separators: bool = False,
    top: int | None = None,
    boxes: int = BOXES,
    time_limit: float | None = None,
) -> Independencies:
    """List the independencies of every pair, strongest first.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    most : most pairs to list
    context_specific : whether to leave out the pairs that are independent in every context
    separators : whether to list d-separations of a Bayesian network instead
        One minimal separator for each pair without an arc, in the order of the variables.
    top, boxes : for each pair, as in `context_specific_independencies`
    time_limit : seconds for all pairs together, from this call on

    Returns
    -------
    Independencies
        Iterate over it: each pair is worked out when it is reached. Pairs that always depend are
        left out.

    Examples
    --------
    >>> from contextwise import Structure
    >>> chain = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1 & A=0"])
    >>> for pair in independencies(chain):
    ...     print(pair)
    A ⫫ C | B=0
    B ⫫ C | A=1
    >>> from contextwise.models.directions import bayesian_network
    >>> collider = bayesian_network(chain.domain, [(), (0, 2), ()])  # A -> B <- C
    >>> [str(pair) for pair in independencies(collider, separators=True)]
    ['A ⫫ C']
    """
    deadline = Deadline.after(time_limit)
    structure = as_structure(model)
    if separators:
        directions = structure.directions
        if directions is None:
            raise ContextwiseError("separators are those of a network; this model has no arcs")
        arcs = {frozenset(arc) for arc in directions.arcs}
        every = combinations(range(len(structure.domain)), 2)
        free = [pair for pair in every if frozenset(pair) not in arcs]
        listed = tuple(free[:most])
        separating = _Separators(structure.domain, directions.parents, deadline)
        return Independencies(separating, listed, len(free) - len(listed), 0)
    everywhere, somewhere = _ranked(structure, deadline)
    chosen = [*([] if context_specific else everywhere), *somewhere]
    beyond = chosen[len(chosen[:most]) :]
    always = max(0, len(beyond) - len(somewhere))
    lister = _Lister(structure, CoverSource(structure.features), top, boxes, deadline)
    return Independencies(lister, tuple(chosen[:most]), always, len(beyond) - always)


@dataclass
class Independencies:
    """The pairs of a structure that are independent somewhere, strongest first."""

    _lister: _Lister | _Separators
    pairs: tuple[tuple[int, int], ...]  # positions
    unlisted_everywhere: int  # further pairs that are independent in every context
    unlisted_somewhere: int  # further pairs that are independent in some contexts
    unreached: int = 0  # listed pairs that the last iteration did not reach in time

    def __iter__(self) -> Iterator[PairIndependencies]:
        self.unreached = len(self.pairs)
        for i, j in self.pairs:
            if self._lister.deadline.passed:
                return
            pair = self._lister.pair(i, j)
            self.unreached -= 1
            yield pair

    def __len__(self) -> int:
        return len(self.pairs)


def _ranked(
    structure: Structure, deadline: Deadline
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The pairs that are independent in every context, and in some; each strongest first.

    Pairs whose share is not known in time count with their least share.
    """
    domain = structure.domain
    linked = active_pairs(structure)
    neighbours = np.bincount(linked.ravel(), minlength=len(domain))
    every = all_pairs(range(len(domain)))
    free = every[~np.isin(every @ [len(domain), 1], linked @ [len(domain), 1])]
    order = np.argsort(neighbours[free].min(axis=1, initial=len(domain)), kind="stable")
    dependent = answer(pose([structure, Structure(domain)]), Effort(deadline))
    if dependent.unions.interrupted:
        raise KeyboardInterrupt
    shares = {
        (i, j): ratio(size - most, size)
        for (i, j), least, most, size in zip(
            dependent.pairs.tolist(),
            dependent.unions.lower[:, 0],
            dependent.unions.upper[:, 0],
            dependent.sizes,
            strict=True,
        )
        if least < size
    }
    somewhere = sorted(shares, key=lambda pair: -shares[pair])
    return [(i, j) for i, j in free[order].tolist()], somewhere


@dataclass(frozen=True)
class _Separators:
    """Finds a minimal d-separator of a pair of a network."""

    domain: Domain
    parents: Sequence[Sequence[int]]
    deadline: Deadline

    def pair(self, i: int, j: int) -> PairIndependencies:
        separator = minimal_d_separator(
            self.parents, [i], [j], set(range(len(self.domain))) - {i, j}
        )
        assert separator is not None, "no arc connects the pair"
        cardinalities, names = self.domain.cardinalities, self.domain.names
        contexts = prod(cardinalities) // (cardinalities[i] * cardinalities[j])
        given = tuple(names[v] for v in separator)
        statement = Independence(names[i], names[j], (), given, contexts, 1.0)
        return PairIndependencies(names[i], names[j], (statement,), 0, contexts, contexts)


@dataclass(frozen=True)
class _Lister:
    """Lists the pairs of one structure."""

    structure: Structure
    source: CoverSource
    top: int | None
    boxes: int
    deadline: Deadline

    def pair(self, i: int, j: int) -> PairIndependencies:
        domain = self.structure.domain
        cubes: list[Cube] = self.source.cubes(0, (i, j))
        space = self.source.space((i, j), cubes)
        independent = complement(space, cubes, boxes=self.boxes, deadline=self.deadline)
        contexts = prod(domain.cardinalities) // (domain.cardinalities[i] * domain.cardinalities[j])
        first, second = domain.names[i], domain.names[j]
        statements: list[Independence] = []
        for region in independent.regions[: self.top]:
            if statements and self.deadline.passed:
                break
            graph = network(self.structure.features, dict(region.literals))
            ends = graph.mask([i]), graph.mask([j])
            others = ~(ends[0] | ends[1] | graph.assigned)
            holds = self.structure.separation_holds
            separator = minimal_separator(graph, *ends, others) if holds else others
            assert separator is not None, (
                "no feature that links the pair is compatible with the region"
            )
            literals = tuple(domain.literal(v, allowed) for v, allowed in region.literals)
            known = tuple(domain.names[v] for v in separator.nonzero()[0].tolist())
            share = ratio(region.size, contexts)
            statements.append(
                Independence(
                    first,
                    second,
                    literals,
                    known,
                    region.size,
                    share,
                    self.structure.weaker_than,
                )
            )
        unlisted = len(independent) - len(statements)
        return PairIndependencies(
            first,
            second,
            tuple(statements),
            unlisted,
            independent.size,
            contexts,
            independent.undecided,
        )
