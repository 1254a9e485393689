"""What resamples agree on: instability, support of pairs and of regions of contexts, the medoid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import compare
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.many import DistanceMatrix
from contextwise.comparison.pairs import Pair, pair_positions
from contextwise.counting.extraction import CoverSource
from contextwise.evaluation.agreement import Consensus, consensus
from contextwise.evaluation.claims import Claim, ClaimSource, NamedClaim, agrees, name_claim
from contextwise.execution.progress import Progress
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure

REGIONS = 3
"""How many regions of a pair are asked about."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairSupport:
    """How many resamples have a pair depend.

    Attributes
    ----------
    pair : the names
    resamples : in how many it depends in some context
    of : the number of resamples
    contexts : the mean share of contexts in which it depends, exactly
    learned : whether the structure of all rows has it depend
    """

    pair: Pair
    resamples: int
    of: int
    contexts: Fraction
    learned: bool

    def record(self) -> dict[str, object]:
        """The support as one flat mapping."""
        return {
            "first": self.pair[0],
            "second": self.pair[1],
            "resamples": self.resamples,
            "of": self.of,
            "mean_share_of_contexts": float(self.contexts),
            "learned_from_all_rows": self.learned,
        }


@dataclass(frozen=True)
class RegionSupport(NamedClaim):
    """How many resamples agree with a claim of the structure of all rows.

    Attributes
    ----------
    pair : the names
    dependent : what the structure claims in this region
    literals : where the region is; none for every context
    resamples : how many make the same claim in every context of the region
    of : the number of resamples
    """

    resamples: int
    of: int

    def __str__(self) -> str:
        return f"{self.sentence}: in {self.resamples} of {self.of} resamples"

    def record(self) -> dict[str, object]:
        """The claim and its support as one flat mapping."""
        return {
            **self.claim_record(),
            "resamples": self.resamples,
            "of": self.of,
            "sentence": str(self),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Structures from resamples of the same rows, and the one from all rows.

    Attributes
    ----------
    structures : one per resample
    reference : the structure that was learned from all rows
    matrix : the distance of each two resamples, exactly
    rows : how many rows there are
    how, share : how they were resampled
    failed : the resamples that gave no structure, and why

    Examples
    --------
    >>> from contextwise.evaluation import stability
    >>> from contextwise.learning import Trees
    >>> rows = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 30
    >>> found = stability(rows, Trees(penalty=5), resamples=6)
    >>> found
    Stability(6 resamples, instability=0)
    >>> print(found.regions("v0", "v1")[0])
    v0–v1 depend in every context: in 6 of 6 resamples
    """

    structures: tuple[Structure, ...]
    reference: Structure
    matrix: DistanceMatrix
    rows: int
    how: str
    share: float
    failed: tuple[str, ...] = ()

    @property
    def domain(self) -> Domain:
        """The variables."""
        return self.reference.domain

    @property
    def resamples(self) -> int:
        """How many resamples gave a structure."""
        return len(self.structures)

    @property
    def instability(self) -> float:
        """The mean share of assertions in which two resamples differ.

        That is the mean of 2θ(1 - θ) over all assertions, without bias.
        """
        pairs = self.resamples * (self.resamples - 1)
        return ratio(self._sums.sum(), pairs * self.matrix.total) if self.matrix.total else 0.0

    @property
    def _sums(self) -> npt.NDArray[np.object_]:
        """For each resample the sum of its distances to all others."""
        sums: npt.NDArray[np.object_] = self.matrix.distances.sum(axis=1)
        return sums

    @property
    def medoid(self) -> Structure:
        """The resample's structure that is nearest to all others: a typical one."""
        return self.structures[min(range(self.resamples), key=lambda b: self._sums[b])]

    @property
    def medoid_distance(self) -> float:
        """The mean share of assertions in which the medoid differs from the resamples."""
        if not self.matrix.total:
            return 0.0
        return ratio(min(self._sums), self.resamples * self.matrix.total)

    @property
    def least_distance(self) -> float:
        """A bound from below of that mean, for any structure at all."""
        if not self.matrix.total:
            return 0.0
        bound: Number = Fraction(self._sums.sum(), 2 * (self.resamples - 1))
        return ratio(bound, self.resamples * self.matrix.total)

    def consensus(
        self, *, time_limit: float | None = None, show_progress: bool | Progress = False
    ) -> Consensus:
        """A structure that is as near to all resamples as features can express.

        Parameters
        ----------
        time_limit : seconds, optional
            When to stop improving it.
        show_progress : bool or function
            A line on standard error, or a function of (features tried, features in all).

        Returns
        -------
        Consensus
        """
        return consensus(self.structures, time_limit=time_limit, show_progress=show_progress)

    def record(self) -> dict[str, object]:
        """Everything but the pairs as one flat mapping."""
        return {
            "rows": self.rows,
            "how": self.how,
            "share": self.share if self.how == "subsample" else None,
            "resamples": self.resamples,
            "failed": len(self.failed),
            "instability": self.instability,
            "medoid_distance": self.medoid_distance,
            "least_distance": self.least_distance,
            "features": len(self.reference),
            "medoid_features": len(self.medoid),
        }

    # -- support ---------------------------------------------------------------------------------

    @cached_property
    def _support(self) -> dict[tuple[int, int], tuple[int, Fraction]]:
        """For each pair that some resample has: in how many, and the mean share of contexts."""
        empty = Structure(self.domain)
        found: dict[tuple[int, int], tuple[int, Fraction]] = {}
        for structure in self.structures:
            own = compare(empty, structure)
            for (i, j), fp, size in zip(
                own.pairs.tolist(), own.counts[:, 2], own.sizes, strict=True
            ):
                count, shares = found.get((i, j), (0, Fraction(0)))
                found[i, j] = count + 1, shares + Fraction(fp) / size
        return {
            pair: (count, shares / self.resamples)
            for pair, (count, shares) in sorted(found.items())
        }

    def support(self, first: str, second: str) -> PairSupport:
        """In how many resamples a pair depends, and in how many of its contexts."""
        return self._pair_support(pair_positions(self.domain, (first, second)))

    def _pair_support(self, pair: tuple[int, int]) -> PairSupport:
        names = self.domain.names
        count, contexts = self._support.get(pair, (0, Fraction(0)))
        learned = bool(self._reference.cubes(0, pair))
        return PairSupport(
            (names[pair[0]], names[pair[1]]), count, self.resamples, contexts, learned
        )

    @cached_property
    def _reference(self) -> CoverSource:
        return CoverSource(self.reference.features)

    def supports(self) -> list[PairSupport]:
        """The support of every pair that a resample or the structure of all rows has."""
        pairs = {*self._support, *map(tuple, self._own_pairs())}
        found = [self._pair_support((i, j)) for i, j in sorted(pairs)]
        return sorted(found, key=lambda one: (-one.resamples, -one.contexts))

    def _own_pairs(self) -> list[tuple[int, int]]:
        position = self.domain.position
        return [(position(a), position(b)) for a, b in self.reference.pairs()]

    def support_matrix(self) -> FloatArray:
        """Shares of resamples with the pair above the diagonal, of contexts below: n × n."""
        matrix = np.zeros((len(self.domain), len(self.domain)))
        for (i, j), (count, contexts) in self._support.items():
            matrix[i, j] = count / self.resamples
            matrix[j, i] = float(contexts)
        return matrix

    @cached_property
    def _covers(self) -> list[CoverSource]:
        return [CoverSource(structure.features) for structure in self.structures]

    def regions(self, first: str, second: str, *, most: int = REGIONS) -> list[RegionSupport]:
        """The claims of the structure of all rows about a pair, and how many resamples agree.

        Parameters
        ----------
        first, second : the names of the pair
        most : how many regions of either kind, the largest first

        Returns
        -------
        list of RegionSupport
        """
        pair = pair_positions(self.domain, (first, second))
        kept = ClaimSource(self.reference.features).largest(pair, most)
        return [self._region(claim) for claim in kept]

    def top_regions(self, top: int) -> list[RegionSupport]:
        """The claims about the best supported of the pairs that all rows have depend."""
        claimed = [one for one in self.supports() if one.learned][:top]
        return [region for one in claimed for region in self.regions(*one.pair)]

    def _region(self, claim: Claim) -> RegionSupport:
        resamples = sum(agrees(covers, claim) for covers in self._covers)
        return RegionSupport(*name_claim(self.domain, claim), resamples, self.resamples)

    # -- in words --------------------------------------------------------------------------------

    def __str__(self) -> str:
        from contextwise.report.statistics import stability_parts
        from contextwise.report.text import as_text

        return as_text(stability_parts(self))

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import stability_html

        return stability_html(self)

    def __repr__(self) -> str:
        return f"Stability({self.resamples} resamples, instability={self.instability:.4g})"
