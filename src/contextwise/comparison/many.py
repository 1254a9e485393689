"""Many models at once: a true one against several guesses, or each against each.

With dep(F) the number of dependencies that features F assert, over all pairs and contexts, the
distance of two models is 2 · dep(F ∪ G) - dep(F) - dep(G). A matrix of M models thus needs the M
models' own counts, made once, and one union for each two of them; equal unions, of whatever
models, are counted once (`contextwise.counting.joins`). The tasks run here, over processes, or on a
cluster (`contextwise.execution.maps`), with the same results.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison, ModelOrPath, as_structure
from contextwise.comparison.confusion import ZeroDivision, ratio
from contextwise.comparison.pairs import FULLY, Contexts, is_canonical
from contextwise.counting import DEFAULT, ObjectArray, PairCounts, get_engine
from contextwise.counting.extraction import all_contexts, contexts_of_pairs
from contextwise.counting.joins import Counted, Join, Plan, Task, count_task, plan
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.execution.maps import choose_map
from contextwise.execution.progress import Progress, progress_of
from contextwise.models.numbers import number
from contextwise.models.structure import Structure

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class DistanceMatrix:
    """The distance of each two models, exact: symmetric, with zeros on the diagonal.

    Attributes
    ----------
    names : of the models, in the order of rows and columns
    distances : object array of exact ints, one row and one column a model
    total : the number of assertions, the largest distance there can be
    rests_on_ganak : whether the model counter Ganak had to do with it; see `Comparison`
    """

    names: tuple[str, ...]
    distances: ObjectArray
    total: int
    rests_on_ganak: bool = False

    @cached_property
    def normalized(self) -> npt.NDArray[np.float64]:
        """The distances over the number of assertions, in [0, 1]."""
        total = self.total or 1  # without assertions every distance is 0
        shares = [[ratio(d, total) for d in row] for row in self.distances.tolist()]
        return np.array(shares, dtype=np.float64)

    def as_floats(self) -> npt.NDArray[np.float64]:
        """The distances as floats, for SciPy's ``squareform`` and scikit-learn's metrics.

        They are rounded beyond 2**53, and beyond 10**308 only `normalized` has floats.
        """
        try:
            return self.distances.astype(np.float64)
        except OverflowError:
            raise ContextwiseError(
                "these distances are too large for floats; use normalized"
            ) from None

    def to_frame(self, *, normalized: bool = False) -> pandas.DataFrame:
        """The distances as a pandas DataFrame (``pip install contextwise[frames]``).

        Parameters
        ----------
        normalized : whether to give shares of all assertions, as floats, instead of exact ints

        Returns
        -------
        pandas.DataFrame
            One row and one column per model, under their names.
        """
        cells = self.normalized if normalized else self.distances
        frame: pandas.DataFrame = require("pandas", "frames").DataFrame(
            cells, index=list(self.names), columns=list(self.names)
        )
        return frame

    def __repr__(self) -> str:
        return f"DistanceMatrix({len(self.names)} models, total={number(self.total)})"

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import matrix_html

        return matrix_html(self)


def distance_matrix(
    models: Iterable[ModelOrPath],
    *,
    names: Iterable[str] | None = None,
    contexts: Contexts = FULLY,
    engine: str = DEFAULT,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> DistanceMatrix:
    """The distance of each two of some models, exactly.

    Parameters
    ----------
    models : models, or paths of model files
        Aligned by the names of their variables and states.
    names : one a model, optional
        Without them a path is its own name, and a model is named by its place.
    contexts, engine
        As in `compare`.
    n_jobs : int
        How many processes; 1 counts here, on all cores where the engine can, -1 means one a core.
    cluster : address of a Dask scheduler, or a Dask client
        Goes before ``n_jobs``.
    show_progress : bool or function
        A line on standard error, or a function of (unions counted, unions in all).

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> texts = [], ["A=1 & B=1"], ["A=1 & B=1", "A=1 & B=1 & C=1"]
    >>> matrix = distance_matrix([Structure(domain, features) for features in texts])
    >>> matrix.distances
    array([[0, 2, 4],
           [2, 0, 2],
           [4, 2, 0]], dtype=object)
    >>> matrix.normalized[0].tolist()
    [0.0, 0.3333333333333333, 0.6666666666666666]
    """
    labels, structures = _aligned(models, names)
    each = [*((m,) for m in range(len(labels))), *combinations(range(len(labels)), 2)]
    unions = _count(structures, each, contexts, engine, n_jobs, cluster, show_progress)
    distances = np.zeros((len(labels), len(labels)), dtype=object)
    for m, k in combinations(range(len(labels)), 2):
        own = unions.all_of(m), unions.all_of(k)
        distances[m, k] = distances[k, m] = 2 * unions.all_of(m, k) - sum(own)
    total = all_contexts(structures[0].domain.cardinalities, is_canonical(contexts))
    return DistanceMatrix(labels, distances, total, "ganak" in unions.engines)


def compare_many(
    true: ModelOrPath,
    guesses: Iterable[ModelOrPath],
    *,
    contexts: Contexts = FULLY,
    engine: str = DEFAULT,
    zero_division: ZeroDivision = "warn",
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> list[Comparison]:
    """Compare several guesses with one true model: the same as `compare` for each, counted at once.

    The parameters are those of `compare` and `distance_matrix`. As equal unions are counted once,
    a union that was counted together with some of Ganak's is one of Ganak's in ``counted``.

    Examples
    --------
    >>> from contextwise import Structure
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> guesses = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=1")]
    >>> [comparison.distance for comparison in compare_many(true, guesses)]
    [3, 3]
    """
    _, structures = _aligned([true, *guesses])
    joins = [(0,), *(join for g in range(1, len(structures)) for join in ((g,), (0, g)))]
    unions = _count(structures, joins, contexts, engine, n_jobs, cluster, show_progress)
    canonical = is_canonical(contexts)
    cardinalities = structures[0].domain.cardinalities
    total, n = all_contexts(cardinalities, canonical), len(cardinalities)
    comparisons = []
    for g in range(1, len(structures)):
        counts, active = unions.of_pairs((0,), (g,), (0, g))
        pairs = unions.plan.pairs[active]
        comparisons.append(
            Comparison(
                true=structures[0],
                guess=structures[g],
                pairs=pairs,
                unions=counts,
                sizes=contexts_of_pairs(cardinalities, pairs, canonical),
                total=total,
                pair_count=n * (n - 1) // 2,
                contexts=contexts,
                engine=engine,
                zero_division=zero_division,
            )
        )
    return comparisons


@dataclass(frozen=True)
class _Unions:
    """The distinct unions of a plan, counted; each with the engine that had to do with it."""

    plan: Plan
    sizes: ObjectArray
    engines: Sequence[str]

    def all_of(self, *join: int) -> int:
        """The dependencies of a join, over all pairs."""
        return int(self.sizes[self.plan.unions[join]].sum())

    def of_pairs(self, *joins: Join) -> tuple[PairCounts, npt.NDArray[np.bool_]]:
        """The sizes for the pairs that the last join covers, and which pairs these are."""
        active = self.plan.unions[joins[-1]] > 0
        which = np.stack([self.plan.unions[join][active] for join in joins], axis=1)
        counted = Counter(self.engines[union] for union in which.ravel().tolist() if union)
        return PairCounts(self.sizes[which], self.sizes[which], counted), active


def _count(
    structures: Sequence[Structure],
    joins: Iterable[Join],
    contexts: Contexts,
    engine: str,
    n_jobs: int,
    cluster: Any,
    show_progress: bool | Progress,
) -> _Unions:
    """Count the distinct unions of these joins, wherever the tasks are to run."""
    map_tasks = choose_map(n_jobs=n_jobs, cluster=cluster)
    threads = None if n_jobs == 1 and cluster is None else 1
    canonical = is_canonical(contexts)
    get_engine(engine).count_pairs  # noqa: B018  (an engine that cannot be used is an error now)
    work = partial(_work, engine=engine, canonical=canonical, threads=threads)
    found = plan([s.features for s in structures], joins, canonical=canonical)
    results: dict[int, Counted] = {}
    done, total = 0, sum(len(task.pairs) for task in found.tasks)
    with progress_of(show_progress, "counting unions") as progress:
        for unit in map_tasks(work, enumerate(found.tasks)):
            if unit.value is None:
                raise ContextwiseError(f"counting failed {unit.tries} times: {unit.error}")
            place, task = unit.item
            results[place] = unit.value
            done += len(task.pairs)
            if progress:
                progress(done, total)
    sizes, engines = [0], [""]  # of the empty union
    for _, counted in sorted(results.items()):
        sizes += counted.sizes.tolist()
        engines += [counted.engine] * len(counted.sizes)
    return _Unions(found, np.array(sizes, dtype=object), engines)


def _work(numbered: tuple[int, Task], **options: Any) -> Counted:
    return count_task(numbered[1], **options)


def _aligned(
    models: Iterable[ModelOrPath], names: Iterable[str] | None = None
) -> tuple[tuple[str, ...], list[Structure]]:
    """The names of the models, and their structures over the domain of the first."""
    given = list(models)
    labels = tuple(map(_name, range(len(given)), given) if names is None else names)
    if len(labels) != len(given):
        raise ContextwiseError(f"{len(given)} models need as many names, not {len(labels)}")
    if not given:
        raise ContextwiseError("there is no model to compare; give at least one")
    structures = [as_structure(model) for model in given]
    domain = structures[0].domain
    for place, structure in enumerate(structures):
        try:
            structures[place] = structure.aligned_to(domain)
        except DomainError as error:
            raise DomainError(f"{labels[0]}, {labels[place]}: {error}") from None
    return labels, structures


def _name(place: int, model: ModelOrPath) -> str:
    return os.fspath(model) if isinstance(model, str | os.PathLike) else str(place)
