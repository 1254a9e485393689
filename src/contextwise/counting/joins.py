"""The unions of many models: which distinct ones there are, and the tasks that count them.

To set models against each other, the covers of a pair are united: those of one model, or of two or
more (a **join**). Among many models most of these unions coincide: models agree on a pair, one
has all that the other has, or one says nothing. Two unions are equal here if they have the same
cubes and leave as many contexts to the pair; `plan` finds each distinct one and puts it into
exactly one `Task`, a set of features and some pairs, which any engine counts.

The cost is one short key for each feature and pair in its scope, and for each join and pair.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from contextwise.counting.contract import get_engine
from contextwise.counting.extraction import ValueWeights, sizes_of
from contextwise.counting.pair_counts import ObjectArray
from contextwise.models.features import Features, IntArray, concatenated, no_features

Join = tuple[int, ...]
"""The models whose covers are united, by their places."""


@dataclass(frozen=True)
class Task:
    """For each of these pairs one union to count: of the cover that all these features make."""

    features: Features
    pairs: IntArray


@dataclass(frozen=True)
class Plan:
    """The distinct unions of some joins; the first one is the empty union, of size 0.

    Attributes
    ----------
    pairs : the pairs that a feature of any of the models covers: shape (p, 2)
    unions : for each join, which of the distinct unions each pair has
    tasks : they count the distinct unions, in turn; the empty one needs no count
    """

    pairs: IntArray
    unions: dict[Join, IntArray]
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Counted:
    """The sizes of the unions of a task, and the engine that counted them.

    Attributes
    ----------
    lower, upper : exact ints, equal where a union is finished; otherwise proven bounds
    engine : where a portfolio used several, it is Ganak, if Ganak counted any of them: see there
        for why a result says that it rests on it
    """

    lower: ObjectArray
    upper: ObjectArray
    engine: str


def plan(
    models: Sequence[Features],
    joins: Iterable[Join],
    *,
    canonical: bool = False,
    pairs: IntArray | None = None,
    value_weights: ValueWeights | None = None,
) -> Plan:
    """Find the distinct unions of the joins of some models over the same variables.

    Parameters
    ----------
    models : features of each model
    joins : which models are united, by their places
    canonical : whether contexts are full assignments
    pairs : only these pairs, if given
    value_weights : how much each value of each variable counts, if they do not count alike

    Returns
    -------
    Plan

    Examples
    --------
    >>> from contextwise.models.structure import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> a = Structure(domain, ["A=1 & B=1 & C=1"]).features
    >>> b = Structure(domain, ["A=0 & B=0 & C=1", "A=1 & B=1 & C=1"]).features
    >>> found = plan([a, b], [(0,), (1,), (0, 1)])
    >>> found.unions  # A and B depend under C=1 in both models
    {(0,): array([1, 2, 3]), (1,): array([1, 4, 5]), (0, 1): array([1, 4, 5])}
    >>> [task.pairs.tolist() for task in found.tasks]
    [[[0, 1], [0, 2], [1, 2]], [[0, 2], [1, 2]]]
    """
    pool, places = concatenated(*models)
    bounds = np.cumsum([0, *map(len, models)]).tolist()
    owned = [places[first:last] for first, last in pairwise(bounds)]
    table = _CubeTable(pool, canonical, pairs, value_weights)
    held = [table.held_by(mine) for mine in owned]
    known: dict[tuple[int, bytes], int] = {(size, b""): 0 for size in table.sizes}
    count = 1  # of the distinct unions so far
    unions: dict[Join, IntArray] = {}
    tasks: list[Task] = []
    for join in joins:
        found, fresh = np.zeros(len(table.pairs), dtype=np.int64), []
        for pair, key in enumerate(table.keys(np.any([held[m] for m in join], axis=0))):
            found[pair] = known.setdefault(key, count)
            if found[pair] == count:
                fresh.append(pair)
                count += 1
        unions[join] = found
        if fresh:
            mine = np.unique(np.concatenate([owned[m] for m in join]))
            tasks.append(Task(pool.take(mine), table.pairs[fresh]))
    return Plan(table.pairs, unions, tuple(tasks))


def count_task(
    task: Task,
    *,
    engine: str,
    canonical: bool,
    threads: int | None,
    value_weights: ValueWeights | None = None,
    ends: float | None = None,
) -> Counted:
    """Count the unions of a task; the second model of the contract is the empty one.

    Parameters
    ----------
    task : features and pairs
    engine : its name
    canonical : whether contexts are full assignments
    threads : how many threads may count
    value_weights : how much each value of each variable counts
    ends : when to stop, on the clock of `time.time`, which other machines have too

    Returns
    -------
    Counted
    """
    nothing = no_features(task.features.cardinalities)
    counts = get_engine(engine).count_pairs(
        task.features,
        nothing,
        task.pairs,
        canonical=canonical,
        threads=threads,
        value_weights=value_weights,
        deadline=None if ends is None else time.monotonic() + ends - time.time(),
    )
    if counts.interrupted:
        raise KeyboardInterrupt
    used = sorted(name for name, unions in counts.counted.items() if unions)
    counted = "ganak" if "ganak" in used else (used or [engine])[0]
    return Counted(counts.lower[:, 0], counts.upper[:, 0], counted)


class _CubeTable:
    """The distinct (pair, cube) entries of some features, in the order of the pairs."""

    def __init__(
        self,
        pool: Features,
        canonical: bool,
        pairs: IntArray | None,
        value_weights: ValueWeights | None,
    ) -> None:
        n = max(1, len(pool.cardinalities))
        codes, owners, cubes = _cubes(pool, canonical)
        if pairs is not None:
            asked = np.isin(codes, pairs[:, 0] * n + pairs[:, 1])
            codes, owners, cubes = codes[asked], owners[asked], cubes[asked]
        pair_codes, pair_of = np.unique(codes, return_inverse=True)
        self.pairs: IntArray = np.stack(np.divmod(pair_codes, n), 1)
        # Two unions of the same cubes are equal if both pairs leave as much to count.
        own = sizes_of(pool.cardinalities.tolist(), value_weights)
        self.sizes = [1 if canonical else own[i] * own[j] for i, j in self.pairs.tolist()]
        span = int(cubes.max(initial=0)) + 1
        entries, self._entry_of = np.unique(pair_of * span + cubes, return_inverse=True)
        self._owners = owners
        self._cubes = entries % span
        self._starts = np.searchsorted(entries, np.arange(len(self.pairs) + 1) * span)

    def held_by(self, features: IntArray) -> npt.NDArray[np.bool_]:
        """Which entries these features have."""
        held = np.zeros(len(self._cubes), dtype=bool)
        held[self._entry_of[np.isin(self._owners, features)]] = True
        return held

    def keys(self, held: npt.NDArray[np.bool_]) -> Iterator[tuple[int, bytes]]:
        """For each pair, what tells the union of its held cubes from other unions."""
        entries = np.flatnonzero(held)
        ends = np.searchsorted(entries, self._starts).tolist()
        cubes = self._cubes[entries]
        for size, (first, last) in zip(self.sizes, pairwise(ends), strict=True):
            yield size, cubes[first:last].tobytes()


def _cubes(features: Features, canonical: bool) -> tuple[IntArray, IntArray, IntArray]:
    """For each feature and pair in its scope: the pair's code, the feature, and the cube's number.

    Equal cubes have equal numbers: the feature's row without the literals of the pair.
    """
    n = len(features.cardinalities)
    step = 8 * (1 + features.values.shape[1])  # bytes of a literal in a row
    variables, starts = features.variables.tolist(), features.starts.tolist()
    numbers: dict[bytes, int] = {}
    codes: list[int] = []
    owners: list[int] = []
    cubes: list[int] = []
    for feature, row in enumerate(features.rows):
        scope = variables[starts[feature] : starts[feature + 1]]
        for (a, first), (b, second) in combinations(enumerate(scope), 2):
            cube = row
            if not canonical:
                cube = row[: a * step] + row[(a + 1) * step : b * step] + row[(b + 1) * step :]
            codes.append(first * n + second)
            owners.append(feature)
            cubes.append(numbers.setdefault(cube, len(numbers)))
    return np.array(codes, np.int64), np.array(owners, np.int64), np.array(cubes, np.int64)
