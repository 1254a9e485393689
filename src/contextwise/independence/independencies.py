"""Where variables are independent, said once and not once per context.

The contexts in which a pair is independent are what its cover leaves; they are given as disjoint
regions (see `contextwise.counting.regions`), largest first. For each region a minimal separator
completes the statement: ``A ⫫ B | C=yes, D`` says that A and B are independent wherever C is yes,
given D, whatever its value; the other variables need not be known.

A structure over hundreds of variables says something about every one of its pairs. So pairs are
listed strongest first: those that are independent in every context, the ones with the fewest
neighbours before the others because they need the least to be given; then those that are so in some
contexts, by their share. What a limit leaves out is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.comparison.confusion import ratio
from contextwise.comparison.pairs import active_pairs, all_pairs, pair_positions
from contextwise.counting.cover import Cube
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import BOXES, Region, complement
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.separation import minimal_separator, network
from contextwise.models.domain import Domain
from contextwise.models.features import Features
from contextwise.models.notation import Literal, quoted, write_literal
from contextwise.models.structure import Structure
from contextwise.support.deadline import Deadline


@dataclass(frozen=True)
class Independence:
    """That two variables are independent in a region of contexts.

    Attributes
    ----------
    first, second : the variables
    region : the literals of the region; none if it is every context
    given : the other variables that have to be known
    contexts : the number of contexts of the pair in the region
    share : the same, as a share of all contexts of the pair

    Examples
    --------
    >>> print(Independence("A", "B", (Literal("C", ("yes",)),), ("D",), 1, 0.5))
    A ⫫ B | C=yes, D
    """

    first: str
    second: str
    region: tuple[Literal, ...]
    given: tuple[str, ...]
    contexts: int
    share: float

    def __str__(self) -> str:
        condition = [*map(write_literal, self.region), *map(quoted, self.given)]
        sides = f"{quoted(self.first)} ⫫ {quoted(self.second)}"
        return f"{sides} | {', '.join(condition)}" if condition else sides


@dataclass(frozen=True)
class PairIndependencies:
    """All that a structure says about the independence of one pair, most general first.

    Attributes
    ----------
    first, second : the variables
    statements : disjoint statements, together all the contexts where they are independent
        (only the first ones, if no more were asked for)
    unlisted : how many statements there are beyond these
    independent : the number of contexts in which the pair is independent, listed or not
    contexts : the number of all contexts of the pair
    open : the number of contexts that were not decided within the limits; 0 if all were

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0"])
    >>> found = context_specific_independencies(model, "A", "B")
    >>> found.independent, found.contexts, len(found)
    (1, 2, 1)
    """

    first: str
    second: str
    statements: tuple[Independence, ...]
    unlisted: int
    independent: int
    contexts: int
    open: int = 0

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
    """Where two variables are independent, as a short list of disjoint regions.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    first, second : names of the variables
    top : int, optional
        Only so many statements, the most general ones.
    boxes, time_limit : limits on the work for hard pairs
        What is not decided within so many boxes or seconds is counted as ``open``.

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
    structure = as_structure(model)
    i, j = pair_positions(structure.domain, (first, second))
    speaking = _speaking(structure.features, i, j)
    return _Lister(structure, speaking, top, boxes, time_limit).pair(i, j)


def independencies(
    model: ModelLike,
    *,
    most: int | None = None,
    context_specific: bool = False,
    top: int | None = None,
    boxes: int = BOXES,
    time_limit: float | None = None,
) -> Independencies:
    """What a structure says about the independence of its pairs, the strongest first.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    most : int, optional
        Only so many pairs.
    context_specific : bool
        Leave out the pairs that are independent in every context.
    top, boxes, time_limit
        For each pair, as in `context_specific_independencies`.

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
    """
    structure = as_structure(model)
    lister = _Lister(structure, structure.features, top, boxes, time_limit)
    everywhere, somewhere = _ranked(structure)
    chosen = [*([] if context_specific else everywhere), *somewhere]
    listed = chosen[:most]
    beyond = chosen[len(listed) :]
    always = max(0, len(beyond) - len(somewhere))
    return Independencies(lister, tuple(listed), always, len(beyond) - always)


@dataclass(frozen=True)
class Independencies:
    """The pairs of a structure that are independent somewhere, strongest first.

    Attributes
    ----------
    pairs : positions of the pairs that are listed
    unlisted_everywhere : how many more are independent in every context
    unlisted_somewhere : how many more are independent in some contexts

    Examples
    --------
    >>> from contextwise import Structure
    >>> found = independencies(Structure(dict.fromkeys("ABCD", 2), ["A=1 & B=1"]), most=2)
    >>> [str(pair) for pair in found], found.unlisted_everywhere, found.unlisted_somewhere
    (['A ⫫ C', 'A ⫫ D'], 3, 0)
    """

    _lister: _Lister
    pairs: tuple[tuple[int, int], ...]
    unlisted_everywhere: int
    unlisted_somewhere: int

    def __iter__(self) -> Iterator[PairIndependencies]:
        for i, j in self.pairs:
            yield self._lister.pair(i, j)

    def __len__(self) -> int:
        return len(self.pairs)


def _ranked(structure: Structure) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The pairs that are independent in every context, and in some; each strongest first."""
    domain = structure.domain
    linked = active_pairs(structure)
    neighbours = np.bincount(linked.ravel(), minlength=len(domain))
    every = all_pairs(range(len(domain)))
    free = every[~np.isin(every @ [len(domain), 1], linked @ [len(domain), 1])]
    order = np.argsort(neighbours[free].min(axis=1, initial=len(domain)), kind="stable")
    dependent = compare(structure, Structure(domain))
    shares = {
        pair: ratio(counts.tn, counts.total)
        for pair, counts in dependent.worst_pairs(len(linked))
        if counts.tn
    }
    somewhere = sorted(shares, key=lambda pair: -shares[pair])
    positions = [(domain.position(a), domain.position(b)) for a, b in somewhere]
    return [(i, j) for i, j in free[order].tolist()], positions


def _speaking(features: Features, i: int, j: int) -> Features:
    """The features that have both variables in their scope."""
    asked = (features.variables == i) | (features.variables == j)
    return features.take(np.bincount(features.owners[asked], minlength=len(features)) == 2)


class _Lister:
    """The listing of one structure, with what all its pairs share."""

    def __init__(
        self,
        structure: Structure,
        speaking: Features,
        top: int | None,
        boxes: int,
        time_limit: float | None,
    ) -> None:
        self.domain: Domain = structure.domain
        self.features: Features = structure.features
        self.source = CoverSource(speaking)
        self.top, self.boxes, self.time_limit = top, boxes, time_limit

    def pair(self, i: int, j: int) -> PairIndependencies:
        cubes: list[Cube] = self.source.cubes(0, (i, j))
        space = self.source.space((i, j), cubes)
        deadline = Deadline.after(self.time_limit)
        found = complement(space, cubes, boxes=self.boxes, deadline=deadline)
        listed = found.regions[: self.top]
        cardinalities = self.domain.cardinalities
        contexts = prod(cardinalities) // (cardinalities[i] * cardinalities[j])
        names = self.domain.names
        return PairIndependencies(
            names[i],
            names[j],
            tuple(self.statement(i, j, region, contexts) for region in listed),
            len(found) - len(listed),
            found.size,
            contexts,
            found.open,
        )

    def statement(self, i: int, j: int, region: Region, contexts: int) -> Independence:
        graph = network(self.features, dict(region.literals))
        first, second = graph.mask([i]), graph.mask([j])
        separator = minimal_separator(graph, first, second, ~(first | second | graph.assigned))
        assert separator is not None, "no feature that links the pair is compatible with the region"
        names = self.domain.names
        return Independence(
            names[i],
            names[j],
            tuple(self.domain.literal(v, allowed) for v, allowed in region.literals),
            tuple(names[v] for v in separator.nonzero()[0].tolist()),
            region.size,
            ratio(region.size, contexts),
        )
