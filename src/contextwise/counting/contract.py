"""What an engine is: two contracts, and the table of all engines.

Two contracts, and every engine keeps both:

``count_union(cover, *, deadline) -> int``
    the exact size of the union of the cubes of a `Cover`, or `OutOfTime`;
``count_pairs(a, b, pairs, *, canonical, value_weights, deadline, threads, progress) -> PairCounts``
    for each pair of variables, the sizes of the unions of the covers of features ``a``, of
    features ``b``, and of both together. A deadline (an instant of `time.monotonic`) or Ctrl-C
    ends the work early; then what is not finished has proven bounds.

The second has a readable default, `count_pairs_with`, that loops over the first. `ENGINES` is the
table of engines; a caller chooses one by name, and the choice is never silent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from importlib import import_module
from typing import Protocol, TypedDict, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from contextwise.counting.bounds import union_bounds
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource, ValueWeights
from contextwise.counting.limits import OutOfTime, OverBudget
from contextwise.errors import EngineError
from contextwise.execution.progress import Progress
from contextwise.models.features import Features, IntArray

ObjectArray = npt.NDArray[np.object_]


@dataclass(frozen=True)
class PairCounts:
    """The sizes of three unions for each pair: of the first model, the second, and both.

    Attributes
    ----------
    lower, upper : object arrays of shape (pairs, 3) that hold exact Python ints
        Equal where the count is finished; otherwise proven bounds.
    counted : how many of these unions each engine counted
    seconds : where the time went
    interrupted : whether Ctrl-C ended the counting
    nodes : how many nodes the recursion of the kernel visited
    """

    lower: ObjectArray
    upper: ObjectArray
    counted: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    interrupted: bool = False
    nodes: int = 0

    @cached_property
    def open(self) -> IntArray:
        """The pairs of which some union is not finished: their places, rising."""
        if self.lower is self.upper:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self.lower != self.upper).any(axis=1))

    def shares_of(self, sizes: Sequence[int]) -> PairCounts:
        """The same as shares of what the contexts of each pair count: exact rationals."""
        whole = np.array([Fraction(size) for size in sizes], dtype=object)[:, None]
        return replace(self, lower=self.lower / whole, upper=self.upper / whole)

    def refined(self, places: IntArray, later: PairCounts) -> PairCounts:
        """Together with what one engine found out later about the pairs at ``places``."""
        again = int((self.lower[places] == self.upper[places]).sum())
        fresh = {name: count - again for name, count in later.counted.items()}
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[places] = np.maximum(lower[places], later.lower)
        upper[places] = np.minimum(upper[places], later.upper)
        return PairCounts(
            lower,
            upper,
            _added(self.counted, fresh),
            _added(self.seconds, later.seconds),
            self.interrupted or later.interrupted,
            self.nodes + later.nodes,
        )


Amount = TypeVar("Amount", int, float)


def _added(first: Mapping[str, Amount], second: Mapping[str, Amount]) -> dict[str, Amount]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}


class CountUnion(Protocol):
    """The first contract."""

    def __call__(self, cover: Cover, *, deadline: float | None = None) -> int: ...


class Options(TypedDict, total=False):
    """What the second contract takes besides features and pairs."""

    canonical: bool
    value_weights: ValueWeights | None
    deadline: float | None
    threads: int | None
    progress: Progress | None


class CountPairs(Protocol):
    """The second contract."""

    def __call__(
        self, a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
    ) -> PairCounts: ...


@dataclass(frozen=True)
class Engine:
    """One way to count: its name, what it is good for, and where its functions live."""

    name: str
    summary: str
    module: str

    def missing(self) -> str | None:
        """Why the engine cannot be used here, or None if it can."""
        probe = getattr(import_module(self.module), "missing", None)
        return probe() if probe else None

    def _function(self, name: str) -> Callable[..., object] | None:
        reason = self.missing()
        if reason:
            raise EngineError(f"engine {self.name!r} cannot be used: {reason}")
        return getattr(import_module(self.module), name, None)

    @property
    def count_union(self) -> CountUnion:
        """The first contract."""
        return self._function("count_union")  # type: ignore[return-value]

    @property
    def count_pairs(self) -> CountPairs:
        """The second contract: the engine's own way, or the loop over its `count_union`."""
        own = self._function("count_pairs")
        looped = partial(count_pairs_with, self.count_union, self.name)
        return own or looped  # type: ignore[return-value]


ENGINES: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("auto", "native within a budget, then Ganak", "contextwise.counting.auto"),
        Engine("native", "branch and remember, compiled", "contextwise.counting.native"),
        Engine("branch", "branch and remember, in Python", "contextwise.counting.branch"),
        Engine("partition", "the published method", "contextwise.counting.partition"),
        Engine("ganak", "the model counter Ganak", "contextwise.counting.ganak"),
        Engine("enumerate", "visit every context: the oracle", "contextwise.counting.enumerate"),
    )
}

DEFAULT = "auto"


def get_engine(name: str) -> Engine:
    """The engine of that name; an unknown name is an error that lists them."""
    try:
        return ENGINES[name]
    except KeyError:
        raise EngineError(
            f"unknown engine {name!r}; the engines are {', '.join(ENGINES)}"
        ) from None


def deterministic_engine() -> Engine:
    """The quickest engine here that never errs: for answers that cannot say that Ganak counted.

    >>> deterministic_engine().name in ("native", "branch")
    True
    """
    native = ENGINES["native"]
    return ENGINES["branch"] if native.missing() else native


def count_pairs_with(
    count_union: CountUnion,
    name: str,
    a: Features,
    b: Features,
    pairs: IntArray,
    **options: Unpack[Options],
) -> PairCounts:
    """The second contract by means of the first: pair by pair, equal covers counted once.

    One thread does it, whatever ``threads`` says. A cover over the budget of ``count_union`` stays
    open, and the next one follows.
    """
    deadline, progress = options.get("deadline"), options.get("progress")
    seconds = {"extracting": 0.0, name: 0.0}
    with timed(seconds, "extracting"):
        source = CoverSource(
            a,
            b,
            canonical=options.get("canonical", False),
            value_weights=options.get("value_weights"),
        )
    counts = np.full((len(pairs), 3), None, dtype=object)
    memory: dict[Cover, int | None] = {}
    interrupted = False
    try:
        for k, (i, j) in enumerate(pairs.tolist()):
            with timed(seconds, "extracting"):
                covers = source.three_covers((i, j))
            for column, cover in enumerate(covers):
                if cover not in memory:
                    with timed(seconds, name):
                        memory[cover] = _within_budget(count_union, cover, deadline)
                counts[k, column] = memory[cover]
            if progress:
                progress(k + 1, len(pairs))
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        interrupted = True
    known = counts != None  # noqa: E711  (elementwise)
    counted = {name: int(known.sum())}
    if known.all():
        return PairCounts(counts, counts, counted, seconds, interrupted)
    bounds = unknown_counts(a, b, pairs, **options)
    bounds.lower[known] = bounds.upper[known] = counts[known]
    return PairCounts(bounds.lower, bounds.upper, counted, seconds, interrupted)


def _within_budget(count_union: CountUnion, cover: Cover, deadline: float | None) -> int | None:
    try:
        return count_union(cover, deadline=deadline)
    except OverBudget:
        return None


def unknown_counts(
    a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
) -> PairCounts:
    """What is known before anything is counted: see `contextwise.counting.bounds`."""
    return PairCounts(
        *union_bounds(
            a,
            b,
            pairs,
            canonical=options.get("canonical", False),
            value_weights=options.get("value_weights"),
        )
    )


@contextmanager
def timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    """Add the time of a block to ``seconds[what]``."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[what] += time.perf_counter() - began
