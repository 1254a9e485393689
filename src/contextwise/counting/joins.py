"""The unions of many models: which distinct ones there are, and the tasks that count them.

To set models against each other, the covers of a pair are united: those of one model, or of two or
more (a **join**). Among many models most of these unions coincide: models agree on a pair, one
has all that the other has, or one says nothing. Two unions are equal here if they have the same
cubes and leave as many contexts to the pair; `plan` finds each distinct one and puts it into
exactly one `Task`, a set of features and some pairs, which any engine counts.

The cost is one short key for each feature and pair in its scope, for each model and pair, and for
each join and pair on which its models differ: models a few moves apart cost what they differ in.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from contextwise.counting.contract import get_engine
from contextwise.counting.extraction import ValueWeights, sizes_of
from contextwise.counting.pair_counts import ObjectArray
from contextwise.models.features import Features, IntArray, concatenated, no_features

BoolArray = npt.NDArray[np.bool_]
FEW = 16
"""Up to so many unions of one join wait for others; more are a task of their own."""
NEAR = 4
"""Models are near each other if they differ on less than one pair in so many."""
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
    classes = _Classes(table, owned)
    kinds = {join: classes.of(join) for join in joins}
    number = np.full(len(classes), -1)  # of the union of each class, once it is known to be needed
    number[0] = 0
    unions: dict[Join, IntArray] = {}
    tasks, count = _Tasks(pool, table), 1
    for join, kind in kinds.items():
        needed = np.flatnonzero(number[kind] < 0)
        _, first = np.unique(kind[needed], return_index=True)
        fresh = needed[np.sort(first)]
        number[kind[fresh]] = np.arange(count, count + len(fresh))
        count += len(fresh)
        unions[join] = number[kind]
        tasks.add(classes.held(join), fresh)
    return Plan(table.pairs, unions, tasks.all())


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
        self.features = len(pool)
        # Two unions of the same cubes are equal if both pairs leave as much to count.
        own = sizes_of(pool.cardinalities.tolist(), value_weights)
        sizes = [1 if canonical else own[i] * own[j] for i, j in self.pairs.tolist()]
        places = {size: place for place, size in enumerate(dict.fromkeys(sizes))}
        span = int(cubes.max(initial=0)) + 1
        entries, self._entry_of = np.unique(pair_of * span + cubes, return_inverse=True)
        self.starts = np.searchsorted(entries, np.arange(len(self.pairs) + 1) * span)
        words = np.random.default_rng(0).integers(
            2**64, size=(span + len(places), 2), dtype=np.uint64
        )
        self.words = words[entries % span]
        self.salts = words[span + np.array([places[size] for size in sizes], dtype=np.int64)]
        self._owners = owners
        order = np.argsort(pair_of, kind="stable")
        self.owners_of = np.split(
            owners[order], np.searchsorted(pair_of[order], np.arange(1, len(self.pairs)))
        )
        order = np.argsort(owners, kind="stable")
        self.pairs_of = np.split(
            pair_of[order], np.searchsorted(owners[order], np.arange(1, len(pool)))
        )

    def held_by(self, features: BoolArray) -> BoolArray:
        """Which entries these features have."""
        held = np.zeros(len(self.words), dtype=bool)
        held[self._entry_of[features[self._owners]]] = True
        return held


class _Classes:
    """Covers that make the same union have the same class; the class of no cubes is 0.

    A cover is known by 128 bits: the sum of random words, one for each of its cubes. Two covers
    that differ have the same sum with a probability of 2^-128.
    """

    def __init__(self, table: _CubeTable, owned: Sequence[IntArray]) -> None:
        self._table = table
        self._number: dict[tuple[int, int], int] = {}
        self._joins: dict[Join, int] = {}  # from classes to the class of their union
        self._features = [np.isin(np.arange(table.features), mine) for mine in owned]
        self._entries = [table.held_by(features) for features in self._features]
        every = np.arange(len(table.pairs))
        self._own = [self._classes(every, held) for held in self._entries]

    def __len__(self) -> int:
        return len(self._number) + 1

    def held(self, join: Join) -> BoolArray:
        """Which features the models of a join have."""
        found: BoolArray = np.logical_or.reduce([self._features[m] for m in join])
        return found

    def of(self, join: Join) -> IntArray:
        """The class of each pair. Only pairs on which the models differ are looked at."""
        own = [self._own[m] for m in join]
        found: IntArray = np.maximum.reduce(own)
        differ = [(kind != found) & (kind > 0) for kind in own]
        where = np.flatnonzero(np.logical_or.reduce(differ))
        if len(where):
            found[where] = self._joined(join, where)
        return found

    def _joined(self, join: Join, where: IntArray) -> IntArray:
        """The classes of pairs on which the models of a join differ.

        Models that differ on few pairs are near each other, and meet the same two covers again and
        again; what these make together is remembered.
        """
        held = [self._entries[m] for m in join]
        if len(where) * NEAR > len(self._table.pairs):
            return self._classes(where, *held)
        kinds = np.sort([self._own[m][where] for m in join], axis=0)
        keys = list(zip(*kinds.tolist(), strict=True))
        new = [place for place, key in enumerate(keys) if key not in self._joins]
        if new:
            made = self._classes(where[new], *held).tolist()
            self._joins.update(zip([keys[place] for place in new], made, strict=True))
        return np.array([self._joins[key] for key in keys], dtype=np.int64)

    def _classes(self, pairs: IntArray, *held: BoolArray) -> IntArray:
        """The classes of some pairs, with the entries that any of the models has."""
        table = self._table
        first, sizes = table.starts[pairs], table.starts[pairs + 1] - table.starts[pairs]
        ends = np.cumsum(sizes)
        entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + sizes, sizes)
        there = np.logical_or.reduce([own[entries] for own in held])
        none = np.zeros((1, 2), dtype=np.uint64)
        sums = np.concatenate([none, np.cumsum(table.words[entries[there]], axis=0)])
        before = np.concatenate([[0], np.cumsum(there)])  # entries that are there, up to each one
        low, high = before[ends - sizes], before[ends]
        keys = (sums[high] - sums[low] + table.salts[pairs]).tolist()
        number = self._number
        return np.array(
            [
                number.setdefault((one, two), len(number) + 1) if has else 0
                for (one, two), has in zip(keys, (high > low).tolist(), strict=True)
            ],
            dtype=np.int64,
        )


class _Tasks:
    """Unions put into tasks, in turn: many of one join make a task, a few wait for others.

    A union fits into a waiting task if no feature of either speaks of a pair of the other without
    belonging to its cover.
    """

    def __init__(self, pool: Features, table: _CubeTable) -> None:
        self._pool = pool
        self._table = table
        self._done: list[Task] = []
        self._clear()

    def _clear(self) -> None:
        self._waiting: list[int] = []
        self._inside = np.zeros(len(self._pool), dtype=bool)
        self._asked = np.zeros(len(self._table.pairs), dtype=bool)

    def add(self, held: BoolArray, pairs: IntArray) -> None:
        """Add the unions of some pairs, of the features that a join has."""
        if len(pairs) > FEW:
            self._close()
            self._done.append(Task(self._pool.take(held), self._table.pairs[pairs]))
            return
        for pair in pairs.tolist():
            owners = self._table.owners_of[pair]
            mine = owners[held[owners]]
            if self._waiting and not self._fits(pair, held, owners, mine):
                self._close()
            self._waiting.append(pair)
            self._inside[mine] = self._asked[pair] = True

    def _fits(self, pair: int, held: BoolArray, owners: IntArray, mine: IntArray) -> bool:
        if self._asked[pair] or (self._inside[owners] & ~held[owners]).any():
            return False
        new = mine[~self._inside[mine]].tolist()
        return not any(self._asked[self._table.pairs_of[feature]].any() for feature in new)

    def _close(self) -> None:
        if self._waiting:
            features, pairs = self._pool.take(self._inside), self._table.pairs[self._waiting]
            self._done.append(Task(features, pairs))
            self._clear()

    def all(self) -> tuple[Task, ...]:
        """The tasks; none is waiting any more."""
        self._close()
        return tuple(self._done)


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
