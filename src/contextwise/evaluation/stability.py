"""What resamples agree on: instability, support of pairs and of regions of contexts, the medoid."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import compare
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.matrix import DistanceMatrix, distance_matrix
from contextwise.comparison.pairs import Pair, pair_positions
from contextwise.counting.extraction import CoverSource
from contextwise.data.rows import Data, DataLike, DomainLike, read_once, take_rows
from contextwise.errors import ContextwiseError
from contextwise.evaluation.claims import Claim, ClaimSource, NamedClaim, agrees, name_claim
from contextwise.evaluation.consensus import Consensus, consensus
from contextwise.learning.base import as_learner, fresh
from contextwise.models.domain import Domain
from contextwise.models.literals import features_of
from contextwise.models.structure import Structure, structure_of
from contextwise.support.maps import choose_map
from contextwise.support.progress import Progress
from contextwise.support.showing import Printed
from contextwise.support.store import Store, Unit, read_configuration, read_records, run_units

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Stability", "read_stability", "stability"]


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
class Stability(Printed):
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

    def __repr__(self) -> str:
        return f"Stability({self.resamples} resamples, instability={self.instability:.4g})"


# -- Learn structures from resamples


KEPT = frozenset({"domain", "rows", "how", "share"})
"""What the configuration of a run says, so that its folder can be read alone."""
How = Literal["subsample", "bootstrap"]
ALL_ROWS = "all rows"
"""The key of the structure that is learned from every row."""


def stability(
    data: DataLike,
    learner: Any,
    *,
    resamples: int = 100,
    how: How = "subsample",
    share: float = 0.5,
    domain: DomainLike | None = None,
    folder: str | os.PathLike[str] | None = None,
    rng: Seed = 0,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> Stability:
    """Learn from many resamples of some rows, and say what stays the same.

    Parameters
    ----------
    data : frame, array, list of rows, path, or Data
        See `contextwise.data.rows`.
    learner : Learner, class, name, or function of data
        Whatever gives a structure; for several processes it must be picklable.
    resamples : int
        How many; two at least.
    how : "subsample" or "bootstrap"
        A share of the rows without replacement, or as many rows with replacement.
    share : float
        Of the rows, in a subsample.
    domain : Domain, or a mapping that makes one, optional
        The variables and their states; without it they are read off the data.
    folder : path, optional
        Where what was learned is kept. A run that was stopped goes on with the same call, and one
        that is done can be given more resamples.
    rng : generator or seed
        Equal seeds give equal resamples, whatever the number of processes.
    n_jobs : int
        How many processes learn; -1 means one per core.
    cluster : address of a Dask scheduler, or a Dask client
        Goes before ``n_jobs``.
    show_progress : bool or function
        A line on standard error, or a function of (units done, units in all).

    Returns
    -------
    Stability

    Raises
    ------
    ContextwiseError
        If fewer than two resamples gave a structure; the message says why.

    Examples
    --------
    A and B are equal in all rows, and C has nothing to do with them.

    >>> from contextwise.learning import Trees
    >>> rows = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 30
    >>> found = stability(rows, Trees(penalty=5), resamples=6)
    >>> found.instability, found.support("v0", "v1").resamples
    (0.0, 6)
    """
    _check(resamples, how, share)
    own = as_learner(learner)
    given, rows = read_once(data, domain)
    if len(rows) < 2:
        raise ContextwiseError(f"resampling needs two rows at least, not {len(rows)}")
    seed = int(np.random.default_rng(rng).integers(2**62))
    plan = Resampling(own, given, rows.domain, len(rows), how, share, seed)
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory()) if folder is None else folder
        store = stack.enter_context(Store(place, plan.configuration(rows)))
        units = [Unit(ALL_ROWS, None), *(Unit(_key(k), k) for k in range(resamples))]
        outcome = run_units(
            store,
            units,
            partial(learn_resample, plan),
            choose_map(n_jobs=n_jobs, cluster=cluster),
            show_progress=show_progress,
        )
        wanted = {unit.key for unit in units}
        records = [record for record in store.records() if record["key"] in wanted]
    failed = [f"{unit.key}: {unit.error}" for unit in outcome.failed]
    return _assemble(
        plan.configuration(rows),
        records,
        failed,
        asked=f" of {resamples}",
        show_progress=show_progress,
        n_jobs=n_jobs,
        cluster=cluster,
    )


def read_stability(
    folder: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> Stability:
    """What was learned from resamples into a folder, without learning anything.

    Parameters
    ----------
    folder : path
        That `stability` was given; its run need not be finished.
    n_jobs : int
        How many processes count distances; -1 means one per core.
    cluster : address of a Dask scheduler, or a Dask client
        Goes before ``n_jobs``.
    show_progress : bool or function
        A line on standard error, or a function of (done, total).

    Returns
    -------
    Stability

    Raises
    ------
    ContextwiseError
        If the folder holds no such run, or fewer than two resamples.

    Examples
    --------
    >>> import tempfile
    >>> from contextwise.learning import Trees
    >>> rows, folder = [[0, 0], [1, 1]] * 30, tempfile.mkdtemp()
    >>> stability(rows, Trees(penalty=5), resamples=4, folder=folder)
    Stability(4 resamples, instability=0)
    >>> read_stability(folder)
    Stability(4 resamples, instability=0)
    """
    configuration = read_configuration(folder)
    if not configuration.keys() >= KEPT:
        raise ContextwiseError(f"{folder}: this is no run of contextwise stability")
    return _assemble(
        configuration,
        read_records(folder),
        (),
        show_progress=show_progress,
        n_jobs=n_jobs,
        cluster=cluster,
    )


def _assemble(
    configuration: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    failed: Sequence[str],
    *,
    asked: str = "",
    **effort: Any,
) -> Stability:
    """The structures that a run has learned, set beside each other."""
    learned = {record["key"]: record["features"] for record in records}
    everything = learned.pop(ALL_ROWS, None)
    if everything is None or len(learned) < 2:
        why = f"; {failed[0]}" if failed else ""
        raise ContextwiseError(f"{len(learned)}{asked} resamples gave a structure{why}")
    domain = Domain(configuration["domain"])
    structures = [_structure(domain, features) for _, features in sorted(learned.items())]
    return Stability(
        structures=tuple(structures),
        reference=_structure(domain, everything),
        matrix=distance_matrix(structures, **effort),
        rows=configuration["rows"],
        how=configuration["how"],
        share=configuration["share"],
        failed=tuple(failed),
    )


def _check(resamples: int, how: str, share: float) -> None:
    if resamples < 2:
        raise ContextwiseError(f"stability needs two resamples at least, not {resamples}")
    if how not in ("subsample", "bootstrap"):
        raise ContextwiseError(f"how is 'subsample' or 'bootstrap', not {how!r}")
    if not 0 < share < 1:
        raise ContextwiseError(f"share is a part of the rows, between 0 and 1, not {share}")


@dataclass(frozen=True, eq=False)
class Resampling:
    """What every resample needs; it travels to other processes."""

    learner: Any
    data: DataLike
    domain: Domain
    count: int
    how: How
    share: float
    seed: int

    def rows(self, resample: int | None) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The numbers of the rows of a resample; None means all rows."""
        if resample is None:
            return np.arange(self.count)
        generator = np.random.default_rng([self.seed, resample])
        if self.how == "bootstrap":
            return np.sort(generator.integers(self.count, size=self.count))
        size = min(self.count, max(1, round(self.share * self.count)))
        return np.sort(generator.choice(self.count, size=size, replace=False))

    def configuration(self, data: Data) -> dict[str, Any]:
        """What defines the run, for the store; the number of resamples may grow."""
        parameters = self.learner.get_params(deep=False)
        plain = {
            k: v if isinstance(v, int | float | str | None) else repr(v)
            for k, v in parameters.items()
        }
        kept = {k: v for k, v in plain.items() if k not in ("n_jobs", "show_progress")}
        return {
            "learner": self.learner.name or type(self.learner).__name__,
            "parameters": kept,
            "data": data.fingerprint,
            "domain": dict(zip(data.domain.names, data.domain.states, strict=True)),
            "rows": self.count,
            "how": self.how,
            "share": self.share,
            "seed": self.seed,
        }


def learn_resample(plan: Resampling, resample: int | None) -> list[dict[str, Any]]:
    """What is learned from one resample, as a record.

    Parameters
    ----------
    plan : the rows and the learner
    resample : its number, or None for all rows

    Returns
    -------
    list of one record
    """
    rows = take_rows(plan.data, plan.rows(resample))
    learned = fresh(plan.learner).fit(rows, domain=plan.domain)
    structure = structure_of(learned.structure_).aligned_to(plan.domain)
    return [{"key": _key(resample), "features": structure.features.literals()}]


def _key(resample: int | None) -> str:
    return ALL_ROWS if resample is None else f"resample {resample:06d}"


def _structure(domain: Domain, features: Sequence[Sequence[Sequence[int]]]) -> Structure:
    return Structure(domain, features_of(domain, [[(v, s) for v, s in f] for f in features]))
