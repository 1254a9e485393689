"""Learn from resamples of the rows, and report what the learned structures agree on."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.comparison.matrix import DistanceMatrix, matrix_of
from contextwise.comparison.question import Pair, pose
from contextwise.comparison.two_models import Comparison, compare
from contextwise.counting.extraction import CoverSource, covered_pairs
from contextwise.data.draws import draw_data, read_once
from contextwise.data.rows import Data, DataLike, DomainLike
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evaluation.ensembles import Ensemble
from contextwise.evidence.claim_tests import judge_claims
from contextwise.independence.claims import agrees
from contextwise.learning.base import as_learner, fresh
from contextwise.learning.identity import identity_of_learner, user_modules
from contextwise.models.domain import Domain
from contextwise.models.evidence import ClaimEvidence, Evidence
from contextwise.models.structure import Structure, features_of, structure_of
from contextwise.support.effort import NEVER, Deadline, Effort, OutOfTime, Progress
from contextwise.support.formatting import Printed
from contextwise.support.other_process import sent_by_value
from contextwise.support.store import Store, Unit, run_units
from contextwise.support.words import exact_percent

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Stability", "stability"]

How = Literal["subsample", "bootstrap"]

LEARNING = 0.75
"""Share of the time limit for learning; the rest is for the distances."""
ALL_ROWS = "all rows"
"""Key of the structure learned from every row."""


class Repeats:
    """Count the structures that make each claim of some evidence, and have each pair depend."""

    def __init__(self, domain: Domain, claims: Iterable[ClaimEvidence]) -> None:
        self.count = 0  #: structures
        self.pairs: Counter[Pair] = Counter()  #: those in which a pair depends in some context
        self._claims = {
            claim: (domain.pair(claim.pair), domain.indexed(claim.region), claim.dependent)
            for claim in claims
            if claim.claim != "d-separated"  # features do not decide it
        }
        self.claims = dict.fromkeys(self._claims, 0)  #: those that make a claim in all its contexts

    def add(self, structure: Structure) -> None:
        """Count one more structure."""
        covers = CoverSource(structure.features)
        for claim, indexed in self._claims.items():
            self.claims[claim] += agrees(covers, *indexed)
        names = structure.domain.names
        pairs = covered_pairs(structure.features).tolist()
        self.pairs.update((names[i], names[j]) for i, j in pairs)
        self.count += 1


class PairSupport(NamedTuple):
    """The number of resamples in which a pair depends in some context."""

    first: str
    second: str
    resamples: int
    of: int
    learned_from_all_rows: bool


class ClaimSupport(NamedTuple):
    """A claim of the structure of all rows, and how many resamples make it in all its contexts."""

    claim: ClaimEvidence
    resamples: int
    of: int

    def __str__(self) -> str:
        tested = f"{self.claim.verdict}, {self.claim.finding}"
        return f"{self.claim.sentence}: in {self.resamples} of {self.of} resamples; rows: {tested}"

    def record(self) -> dict[str, object]:
        """Return the claim, its evidence and its support as one flat mapping."""
        support = {"resamples": self.resamples, "of": self.of, "sentence": str(self)}
        return self.claim.record() | support


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Printed):
    """Structures learned from resamples of the same rows, and the one from all rows."""

    structures: tuple[Structure, ...]  #: one per resample
    reference: Structure  #: the structure learned from all rows
    evidence: Evidence  #: what all rows say about its claims
    matrix: DistanceMatrix  #: the distances between the distinct structures, exact
    how: str  #: "subsample" or "bootstrap"
    share: float  #: share of the rows in a subsample
    failed: tuple[str, ...] = ()  #: the resamples that gave no structure, and why
    deadline: Deadline = NEVER  #: until when counts may take; they raise `OpenResult` after it

    @property
    def resamples(self) -> int:
        """The number of resamples that gave a structure."""
        return len(self.structures)

    @cached_property
    def ensemble(self) -> Ensemble:
        """The structures of the resamples as an ensemble of draws."""
        return Ensemble(self.structures)

    @property
    def instability(self) -> float:
        """The mean share of assertions in which two resamples differ.

        This estimates the mean of 2θ(1 - θ) over all assertions without bias.
        """
        weights = np.array(list(self.ensemble.distinct.values()), dtype=object)
        apart = weights @ self.matrix.distances @ weights * self.ensemble.correction
        return ratio(apart, self.matrix.total) if self.matrix.total else 0.0

    @property
    def medoid(self) -> Structure:
        """The most typical structure: the one with the smallest sum of distances to all others."""
        return self.ensemble.medoid(self.matrix)

    def record(self) -> dict[str, object]:
        """Return the numbers about the whole structure as one flat mapping."""
        return {
            "rows": self.evidence.count,
            "how": self.how,
            "share": self.share if self.how == "subsample" else None,
            "resamples": self.resamples,
            "failed": len(self.failed),
            "found_again": self.found_again,
            "instability": self.instability,
            "features": len(self.reference),
            "medoid_features": len(self.medoid),
        }

    @cached_property
    def _comparisons(self) -> list[Comparison]:
        compared = partial(compare, self.reference)
        return [compared(s, time_limit=self.deadline.left()) for s in self.structures]

    @property
    def found_again(self) -> float | None:
        """The mean share of the structure's dependencies that a resample has as well, if any."""
        shares = [ratio(c.tp, c.tp + c.fn) for c in self._comparisons if c.tp + c.fn]
        return fmean(shares) if shares else None

    @property
    def verdict(self) -> str:
        """The share of the structure that would be found again, in one sentence."""
        again = self.found_again
        if again is None:
            return "The structure of all rows has no dependencies."
        new = [ratio(c.fp, c.tp + c.fp) for c in self._comparisons if c.tp + c.fp]
        rows = "a resample" if self.how == "bootstrap" else f"{100 * self.share:g} % of the rows"
        finds, adds = (exact_percent(x) for x in (again, fmean(new) if new else 0.0))
        return (
            f"Learning again from {rows} finds {finds} of the dependencies again; {adds} of the "
            "dependencies it finds are new."
        )

    # -- support -----------------------------------------------------------------------------------

    @cached_property
    def _repeats(self) -> Repeats:
        repeats = Repeats(self.reference.domain, self.evidence.claims)
        for structure in self.structures:
            repeats.add(structure)
        return repeats

    def supports(self) -> list[PairSupport]:
        """Return the support of every pair of a resample or of the structure of all rows."""
        learned, found = self.reference.pairs(), self._repeats.pairs
        pairs = dict.fromkeys([*learned, *found])
        in_reference = set(learned)
        supports = [
            PairSupport(*pair, found[pair], self.resamples, pair in in_reference) for pair in pairs
        ]
        return sorted(supports, key=lambda support: -support.resamples)

    def records(self) -> list[dict[str, object]]:
        """Return the support of each pair as a flat mapping."""
        return [support._asdict() for support in self.supports()]

    def claims(self, *, dependent: bool) -> list[ClaimSupport]:
        """Return the claims of one kind: dependencies most repeated first, others least.

        Those of equal support are in the order of their p-values.
        """
        counts = self._repeats.claims.items()
        chosen = [ClaimSupport(c, k, self.resamples) for c, k in counts if c.dependent == dependent]
        chosen.sort(key=lambda support: 1.0 if support.claim.p is None else support.claim.p)
        return sorted(chosen, key=lambda support: support.resamples, reverse=dependent)

    def __repr__(self) -> str:
        return f"Stability({self.resamples} resamples, instability={self.instability:.4g})"


def stability(
    data: DataLike,
    learner: Any,
    *,
    resamples: int = 100,
    how: How = "subsample",
    share: float = 0.5,
    domain: DomainLike | None = None,
    folder: str | os.PathLike[str] | None = None,
    seed: Seed = 0,
    n_jobs: int = 1,
    cluster: Any = None,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
) -> Stability:
    """Learn from many resamples of the rows, and report what the learner finds again.

    A claim that the learner repeats need not be true: the evidence of all rows is next to it.

    Parameters
    ----------
    data : frame, array, list of rows, path, or Data
    learner : Learner, class, name, or function of data; picklable for several processes
    resamples : at least 2
    how : "subsample" or "bootstrap"
        A share of the rows without replacement, or as many rows with replacement.
    share : share of the rows in a subsample
    domain : the variables and their states; inferred from the data by default
    folder : where to keep what was learned
        An interrupted run resumes with the same call, and a finished one can be given more
        resamples.
    seed : generator or seed; equal seeds give equal resamples, whatever the number of processes
    n_jobs : number of processes; -1 means one per core
    cluster : address of a Dask scheduler, or a Dask client; replaces ``n_jobs``
    time_limit : seconds, of which learning may take three quarters
        A warning tells how many resamples were learned.
    show_progress : bool, or a function of (units done, all units)

    Returns
    -------
    Stability

    Raises
    ------
    ContextwiseError
        If fewer than two resamples gave a structure; the message says why.
    OpenResult
        If the time limit leaves fewer than two resamples, or distances that are not known.

    Examples
    --------
    A and B are equal in all rows, and C is independent of them.

    >>> from contextwise.learning import Trees
    >>> rows = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 30
    >>> result = stability(rows, Trees(penalty=5), resamples=6)
    >>> result.instability, result.found_again, result.supports()[0].resamples
    (0.0, 1.0, 6)
    >>> print(result.claims(dependent=True)[0])
    v0–v1 depend in every context: in 6 of 6 resamples;
    rows: supported, p < 0.001, V 1.00 (0.96 to 1.00)
    """
    if resamples < 2:
        raise ContextwiseError(f"resamples must be >= 2, got {resamples}")
    if how not in ("subsample", "bootstrap"):
        raise ContextwiseError(f"how must be 'subsample' or 'bootstrap', got {how!r}")
    if not 0 < share < 1:
        raise ContextwiseError(f"share must be between 0 and 1, got {share}")
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    deadline = effort.deadline
    learning = deadline if time_limit is None else deadline.sooner(LEARNING * time_limit)
    chosen = as_learner(learner)
    source, rows = read_once(data, domain)
    if len(rows) < 2:
        raise ContextwiseError(f"resampling needs at least two rows, got {len(rows)}")
    drawn = int(np.random.default_rng(seed).integers(2**62))
    chosen = chosen.settled(rows)
    plan = Resampling(chosen, source, rows, how, share, drawn)
    configuration = {**plan.configuration(rows), "seed": seed if isinstance(seed, int) else drawn}
    with sent_by_value(user_modules([chosen])), Store(folder, configuration) as store:
        units = [Unit(ALL_ROWS, None), *(Unit(_key(k), k) for k in range(resamples))]
        failed: tuple[str, ...] = ()
        is_late = False
        try:
            learn_one = partial(learn_resample, plan, learning)
            outcome = run_units(store, units, learn_one, replace(effort, deadline=learning))
            failed = tuple(f"{unit.item.key}: {unit.error}" for unit in outcome.failed)
        except learning.out_of_time:
            is_late = True
        records = list(store.records([unit.key for unit in units]))
    if is_late:
        text = f"the time limit ended after learning {len(records)} of {len(units)} structures"
        # All rows and two resamples are the least that can be compared.
        if len(records) < 3 or ALL_ROWS not in {record["key"] for record in records}:
            raise OpenResult(f"{text}; allow more time")
        warnings.warn(text, stacklevel=2)
    structures, reference = _learned(records, rows.domain, failed, resamples)
    if effort.deadline.left() is not None:  # there may be no time to start workers
        effort = effort.alone()
    different = list(dict.fromkeys(structures))  # equal structures are compared once
    matrix = matrix_of(pose(different), tuple(map(str, range(len(different)))), effort)
    _ = matrix.distances  # raises if the time limit left some of them open
    evidence = judge_claims(
        reference,
        rows,
        seen_by_learner=True,
        used_by_learner=getattr(chosen, "decides_by_test", False),
        deadline=deadline,
    )
    reference = reference.with_evidence(evidence)
    return Stability(structures, reference, evidence, matrix, how, share, failed, deadline)


def _learned(
    records: Sequence[Mapping[str, Any]], domain: Domain, failed: tuple[str, ...], resamples: int
) -> tuple[tuple[Structure, ...], Structure]:
    """Return the structures of the resamples, and that of all rows."""
    learned = {
        record["key"]: Structure(domain, features_of(domain, record["features"]))
        for record in records
    }
    reference = learned.pop(ALL_ROWS, None)
    if reference is None or len(learned) < 2:
        why = f"; {failed[0]}" if failed else ""
        raise ContextwiseError(f"{len(learned)} of {resamples} resamples gave a structure{why}")
    return tuple(learned[key] for key in sorted(learned)), reference


@dataclass(frozen=True, eq=False)
class Resampling:
    """The plan of all resamples; it is pickled for other processes."""

    learner: Any
    data: DataLike
    rows: Data
    how: How
    share: float
    seed: int

    def draw(self, resample: int | None) -> DataLike:
        """Return the data of a resample; None means all rows."""
        if resample is None:
            return self.data
        # Each resample has its own seed, so any worker can draw it, in any order.
        share = None if self.how == "bootstrap" else self.share
        return draw_data(self.data, self.rows, share, [self.seed, resample])

    def configuration(self, data: Data) -> dict[str, Any]:
        """Return what defines the run, for the store; the number of resamples may grow."""
        return {
            **identity_of_learner(self.learner),
            "data": data.fingerprint,
            "domain": dict(zip(data.domain.names, data.domain.states, strict=True)),
            "rows": len(data),
            "how": self.how,
            "share": self.share,
        }


def learn_resample(
    plan: Resampling, deadline: Deadline, resample: int | None
) -> list[dict[str, Any]]:
    """Learn from one resample, or from all rows for None, and return one record."""
    domain = plan.rows.domain
    try:
        learned = fresh(plan.learner)
        learned.fit(plan.draw(resample), domain=domain, time_limit=deadline.left())
    except OpenResult:
        raise OutOfTime from None
    if not learned.finished_:
        raise OutOfTime
    structure = structure_of(learned.structure_).aligned_to(domain)
    return [{"key": _key(resample), "features": structure.features.literals()}]


def _key(resample: int | None) -> str:
    return ALL_ROWS if resample is None else f"resample {resample:06d}"
