"""Where variables are independent, said once and not once a context.

The contexts in which a pair is independent are what its cover leaves; they are given as disjoint
regions (see `contextwise.counting.regions`), largest first. For each region a minimal separator
completes the statement: ``A ⫫ B | C=yes, D`` says that A and B are independent wherever C is yes,
given D, whatever its value; the other variables need not be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.comparison.pairs import all_pairs, pair_positions
from contextwise.counting.cover import Cube
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import BOXES, Region, complement
from contextwise.independence.separation import minimal_separator, network
from contextwise.models.domain import Domain
from contextwise.models.features import Features
from contextwise.models.notation import Literal, quoted, write_literal
from contextwise.models.structure import Model, Structure, structure_of


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
    model: Model,
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
    top : int, optional
        Only so many statements, the most general ones.
    boxes, time_limit : limits on the work for hard pairs
        What is not decided within them is counted as ``open``.

    Examples
    --------
    >>> model = Structure({"A": 2, "B": 2, "C": ["no", "yes"], "D": 3}, [
    ...     "A=1 & B=1 & C=no", "A=1 & D=1", "D=1 & B=1"])
    >>> print(context_specific_independencies(model, "A", "B"))
    A ⫫ B | C=yes, D
    """
    structure = structure_of(model)
    i, j = pair_positions(structure.domain, (first, second))
    speaking = _speaking(structure.features, i, j)
    return _Lister(structure, speaking, top, boxes, time_limit).pair(i, j)


def independencies(
    model: Model,
    *,
    top: int | None = None,
    boxes: int = BOXES,
    time_limit: float | None = None,
) -> Iterator[PairIndependencies]:
    """Everything a structure says about pairs, pair by pair; pairs that always depend are left out.

    The parameters are those of `context_specific_independencies`, for each pair.

    >>> chain = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> for pair in independencies(chain):
    ...     print(pair)
    A ⫫ C | B
    """
    structure = structure_of(model)
    lister = _Lister(structure, structure.features, top, boxes, time_limit)
    for i, j in all_pairs(range(len(structure.domain))).tolist():
        pair = lister.pair(i, j)
        if pair.statements or pair.open:
            yield pair


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
        found = complement(space, cubes, boxes=self.boxes, time_limit=self.time_limit)
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
