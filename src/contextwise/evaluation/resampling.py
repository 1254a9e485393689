"""How stable is what a learner finds? Structures from resamples of the rows, set beside each other.

If the rows had been a few others, would the structure be the same? `stability` learns from many
**resamples** of the rows and compares what comes out, context by context. With θ the share of the
structures that have a dependence, the mean distance of two of them is an unbiased estimate of
2θ(1 - θ), averaged over all assertions: the **instability**, on the scale of StARS (Liu, Roeder and
Wasserman 2010). Subsamples of half of the rows, without replacement, are the default: rows that a
bootstrap repeats make trees larger than they should be.

Every resample is a unit of work with a seed of its own. With a ``folder`` what is learned is kept
there, and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from contextwise.comparison.many import distance_matrix
from contextwise.errors import ContextwiseError
from contextwise.evaluation.stability_result import Stability
from contextwise.execution.maps import choose_map
from contextwise.execution.progress import Progress
from contextwise.execution.runs import Store, Unit, read_configuration, read_records, run_units
from contextwise.learning.base import as_learner, fresh
from contextwise.learning.data import Data, DataLike, DomainLike, read_once, take_rows
from contextwise.models.domain import Domain
from contextwise.models.literals import features_of
from contextwise.models.structure import Structure, structure_of

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Stability", "read_stability", "stability"]

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
        See `contextwise.learning.data`.
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
