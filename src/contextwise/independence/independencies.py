"""List where one pair of variables is independent, and where it depends, by regions of contexts.

The contexts in which a pair is independent are the complement of its cover. They are listed as
disjoint regions, largest first. A minimal separator completes each statement: ``A ⫫ B | C=yes, D``
says that A and B are independent wherever C is yes, given any value of D. The contexts in which the
pair depends are listed as regions, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.comparison.question import Pair
from contextwise.counting.cover import Cube
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import BOXES, Region, complement, union
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.graphs import minimal_separator, network
from contextwise.models.notation import Literal, between, quoted, write_literal
from contextwise.models.structure import Structure
from contextwise.support.effort import Deadline


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
class Dependence:
    """Two variables depend in a region of contexts."""

    first: str
    second: str
    region: tuple[Literal, ...]  # empty for every context
    contexts: int  # of the pair, in the region
    share: float  # of all contexts of the pair


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


@dataclass(frozen=True)
class PairClaims:
    """The claims about one pair: its independencies, and regions in which it depends."""

    independent: PairIndependencies
    dependent: tuple[Dependence, ...]
    unlisted: int  # regions of dependence beyond these

    @property
    def pair(self) -> Pair:
        """The names of the variables."""
        return self.independent.first, self.independent.second


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
    lister = PairLister(structure, CoverSource(features.take(of_pair)), top, boxes, deadline)
    return lister.independencies(i, j)


@dataclass(frozen=True)
class PairLister:
    """Lists the claims about the pairs of one structure."""

    structure: Structure
    source: CoverSource
    top: int | None
    boxes: int
    deadline: Deadline

    def all_claims(self, pairs: Iterable[tuple[int, int]]) -> list[PairClaims]:
        """List the claims about pairs, as far as the time allows."""
        listed = []
        for i, j in pairs:
            if self.deadline.passed:
                break
            listed.append(self.claims(i, j))
        return listed

    def claims(self, i: int, j: int) -> PairClaims:
        """List where a pair is independent, and where it depends."""
        names = self.structure.domain.names
        cubes: list[Cube] = self.source.cubes(0, (i, j))
        space = self.source.space((i, j), cubes)
        depends = union(space, cubes, boxes=self.boxes, deadline=self.deadline)
        regions = tuple(
            Dependence(names[i], names[j], *self._described(region, i, j))
            for region in depends.regions[: self.top]
        )
        return PairClaims(self.independencies(i, j), regions, len(depends) - len(regions))

    def always(self, i: int, j: int) -> PairClaims:
        """Return the claim that a pair depends in every context."""
        first, second = (self.structure.domain.names[v] for v in (i, j))
        contexts = self._contexts(i, j)
        depends = Dependence(first, second, (), contexts, 1.0)
        return PairClaims(PairIndependencies(first, second, (), 0, 0, contexts), (depends,), 0)

    def independencies(self, i: int, j: int) -> PairIndependencies:
        """List where a pair is independent, with a separator for each region."""
        cubes: list[Cube] = self.source.cubes(0, (i, j))
        space = self.source.space((i, j), cubes)
        independent = complement(space, cubes, boxes=self.boxes, deadline=self.deadline)
        names = self.structure.domain.names
        statements: list[Independence] = []
        for region in independent.regions[: self.top]:
            if statements and self.deadline.passed:
                break
            literals, contexts, share = self._described(region, i, j)
            given, weak = self._separator(region, i, j), self.structure.weaker_than
            statements.append(
                Independence(names[i], names[j], literals, given, contexts, share, weak)
            )
        return PairIndependencies(
            names[i],
            names[j],
            tuple(statements),
            len(independent) - len(statements),
            independent.size,
            self._contexts(i, j),
            independent.undecided,
        )

    def _contexts(self, i: int, j: int) -> int:
        cardinalities = self.structure.domain.cardinalities
        return prod(cardinalities) // (cardinalities[i] * cardinalities[j])

    def _described(self, region: Region, i: int, j: int) -> tuple[tuple[Literal, ...], int, float]:
        """Return the literals of a region, its number of contexts, and its share of them."""
        domain = self.structure.domain
        literals = tuple(domain.literal(v, allowed) for v, allowed in region.literals)
        return literals, region.size, ratio(region.size, self._contexts(i, j))

    def _separator(self, region: Region, i: int, j: int) -> tuple[str, ...]:
        """Return a minimal set of variables that separates the pair in a region."""
        graph = network(self.structure.features, dict(region.literals))
        ends = graph.mask([i]), graph.mask([j])
        separator: Any = ~(ends[0] | ends[1] | graph.assigned)
        if self.structure.separation_holds:
            separator = minimal_separator(graph, *ends, separator)
        assert separator is not None, "no feature that links the pair is compatible with the region"
        return tuple(self.structure.domain.names[v] for v in separator.nonzero()[0].tolist())
