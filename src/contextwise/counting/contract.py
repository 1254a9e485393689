"""What an engine is: two contracts, and the table of all engines.

Every engine keeps both contracts:

``count_union(cover, *, deadline) -> int``
    the exact size of the union of the cubes of a `Cover`, or `OutOfTime`;
``count_pairs(a, b, pairs, *, canonical, value_weights, deadline, threads, progress) -> PairCounts``
    for each pair of variables, the sizes of the unions of the covers of features ``a``, of
    features ``b``, and of both together. A deadline or Ctrl-C
    ends the work early; then what is not finished has proven bounds.

The second has a readable default, `count_pairs_with`, that loops over the first. `ENGINES` is the
table of engines; a caller chooses one by name, and the choice is never silent.

An engine that counts cover by cover calls ``deadline.check()`` inside its work, so that one hard
cover cannot overrun the limit; the loop over pairs catches `OutOfTime` and gives bounds for what is
left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Protocol, TypedDict, Unpack

import numpy as np

from contextwise.counting.cover import Cover
from contextwise.counting.extraction import ValueWeights, cover_source
from contextwise.counting.pair_counts import PairCounts, bound_pairs
from contextwise.errors import EngineError
from contextwise.models.features import Features, IntArray
from contextwise.support.deadline import NEVER, Deadline, OutOfTime
from contextwise.support.progress import Progress


class OverBudget(Exception):
    """One cover takes more work than it was given; the next one may well not."""


class CountUnion(Protocol):
    """The first contract."""

    def __call__(self, cover: Cover, *, deadline: Deadline = NEVER) -> int: ...


class Options(TypedDict, total=False):
    """What the second contract takes besides features and pairs."""

    canonical: bool
    value_weights: ValueWeights | None
    deadline: Deadline
    threads: int | None
    progress: Progress | None


class CountPairs(Protocol):
    """The second contract."""

    def __call__(
        self, a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
    ) -> PairCounts: ...


@dataclass(frozen=True)
class Engine:
    """One way to count: its name, what it is good for, and where its functions live.

    Attributes
    ----------
    name, summary : for those who choose
    module : has `count_union`, and perhaps `count_pairs` and `missing`

    >>> engine = ENGINES["branch"]
    >>> engine.missing() is None
    True
    >>> engine.count_union(Cover(weights=((1, 1),), cubes=(0b01,)))
    1
    """

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
        if own is None:
            return partial(count_pairs_with, self.count_union, self.name)
        return own  # type: ignore[return-value]


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
    """The engine of that name; an unknown name is an error that lists them.

    >>> get_engine("branch").summary
    'branch and remember, in Python'
    >>> get_engine("abacus")
    Traceback (most recent call last):
    contextwise.errors.EngineError: unknown engine 'abacus'; the engines are auto, native, ...
    """
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
    deadline, progress = options.get("deadline", NEVER), options.get("progress")
    seconds = {"extracting": 0.0, name: 0.0}
    with timed(seconds, "extracting"):
        source = cover_source(
            a,
            b,
            pairs,
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
    bounds = first_bounds(a, b, pairs, **options)
    bounds.lower[known] = bounds.upper[known] = counts[known]
    return PairCounts(bounds.lower, bounds.upper, counted, seconds, interrupted)


def _within_budget(count_union: CountUnion, cover: Cover, deadline: Deadline) -> int | None:
    try:
        return count_union(cover, deadline=deadline)
    except OverBudget:
        return None


def first_bounds(
    a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
) -> PairCounts:
    """What is known before anything is counted: `bound_pairs`, with the options of the contract."""
    return bound_pairs(
        a,
        b,
        pairs,
        canonical=options.get("canonical", False),
        value_weights=options.get("value_weights"),
    )


@contextmanager
def timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    """Add the time of a block to ``seconds[what]``."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[what] += time.perf_counter() - began
