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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Protocol

import numpy as np
import numpy.typing as npt

from contextwise.counting.bounds import union_bounds
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource, ValueWeights
from contextwise.counting.limits import OutOfTime
from contextwise.errors import EngineError
from contextwise.features import Features, IntArray
from contextwise.progress import Progress

ObjectArray = npt.NDArray[np.object_]


@dataclass(frozen=True)
class PairCounts:
    """The sizes of three unions for each pair: of the first model, the second, and both.

    Attributes
    ----------
    lower, upper : object arrays of shape (pairs, 3) that hold exact Python ints
        Equal where the count is finished; otherwise proven bounds.
    counted : how many unions each engine counted
    seconds : where the time went
    interrupted : whether Ctrl-C ended the counting
    """

    lower: ObjectArray
    upper: ObjectArray
    counted: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    interrupted: bool = False

    @cached_property
    def open(self) -> IntArray:
        """The pairs of which some union is not finished: their places, rising."""
        return np.flatnonzero((self.lower != self.upper).any(axis=1))


class CountUnion(Protocol):
    """The first contract."""

    def __call__(self, cover: Cover, *, deadline: float | None = None) -> int: ...


class CountPairs(Protocol):
    """The second contract."""

    def __call__(
        self,
        a: Features,
        b: Features,
        pairs: IntArray,
        *,
        canonical: bool = False,
        value_weights: ValueWeights | None = None,
        deadline: float | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
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
        return own or _looped(self.name, self.count_union)  # type: ignore[return-value]


ENGINES: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("branch", "branch and remember, in Python", "contextwise.counting.branch"),
        Engine("partition", "the published method", "contextwise.counting.partition"),
        Engine("enumerate", "visit every context: the oracle", "contextwise.counting.enumerate"),
    )
}

DEFAULT = "branch"


def get_engine(name: str) -> Engine:
    """The engine of that name; an unknown name is an error that lists them."""
    try:
        return ENGINES[name]
    except KeyError:
        raise EngineError(
            f"unknown engine {name!r}; the engines are {', '.join(ENGINES)}"
        ) from None


def count_pairs_with(
    count_union: CountUnion,
    a: Features,
    b: Features,
    pairs: IntArray,
    *,
    canonical: bool = False,
    value_weights: ValueWeights | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
    name: str = "engine",
) -> PairCounts:
    """The second contract by means of the first: pair by pair, equal covers counted once."""
    seconds = {"extracting": 0.0, name: 0.0}
    with timed(seconds, "extracting"):
        source = CoverSource(a, b, canonical=canonical, value_weights=value_weights)
    counts = np.full((len(pairs), 3), None, dtype=object)
    memory: dict[Cover, int] = {}
    interrupted = False
    try:
        for k, (i, j) in enumerate(pairs.tolist()):
            with timed(seconds, "extracting"):
                covers = source.three_covers((i, j))
            for column, cover in enumerate(covers):
                if cover not in memory:
                    with timed(seconds, name):
                        memory[cover] = count_union(cover, deadline=deadline)
                counts[k, column] = memory[cover]
            if progress:
                progress(k + 1, len(pairs))
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        interrupted = True
    counted = {name: len(memory)}
    if None not in counts:
        return PairCounts(counts, counts, counted, seconds)
    lower, upper = union_bounds(a, b, pairs, canonical=canonical, value_weights=value_weights)
    known = counts != None  # noqa: E711  (elementwise)
    lower[known] = upper[known] = counts[known]
    return PairCounts(lower, upper, counted, seconds, interrupted)


@contextmanager
def timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    """Add the time of a block to ``seconds[what]``."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[what] += time.perf_counter() - began


def _looped(name: str, count_union: CountUnion) -> CountPairs:
    def count_pairs(
        a: Features,
        b: Features,
        pairs: IntArray,
        *,
        canonical: bool = False,
        value_weights: ValueWeights | None = None,
        deadline: float | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PairCounts:
        """Pair by pair, on one thread whatever ``threads`` says."""
        return count_pairs_with(
            count_union,
            a,
            b,
            pairs,
            canonical=canonical,
            value_weights=value_weights,
            deadline=deadline,
            progress=progress,
            name=name,
        )

    return count_pairs
