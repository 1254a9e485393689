"""What an engine is: two contracts, and the table of all engines.

Two contracts, and every engine keeps both:

``count_union(cover) -> int``
    the exact size of the union of the cubes of a `Cover`;
``count_pairs(a, b, pairs, *, canonical, progress) -> PairCounts``
    for each pair of variables, the sizes of the unions of the covers of features ``a``, of
    features ``b``, and of both together.

The second has a readable default, `count_pairs_with`, that loops over the first. `ENGINES` is the
table of engines; a caller chooses one by name, and the choice is never silent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol

import numpy as np
import numpy.typing as npt

from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource
from contextwise.errors import EngineError
from contextwise.features import Features, IntArray
from contextwise.progress import Progress

ObjectArray = npt.NDArray[np.object_]
CountUnion = Callable[[Cover], int]


@dataclass(frozen=True)
class PairCounts:
    """The sizes of three unions for each pair: of the first model, the second, and both.

    Attributes
    ----------
    lower, upper : object arrays of shape (pairs, 3) that hold exact Python ints
        Equal where the count is finished; otherwise proven bounds.
    counted : how many unions each engine counted
    seconds : where the time went
    """

    lower: ObjectArray
    upper: ObjectArray
    counted: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


class CountPairs(Protocol):
    """The second contract."""

    def __call__(
        self,
        a: Features,
        b: Features,
        pairs: IntArray,
        *,
        canonical: bool = False,
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
    progress: Progress | None = None,
    name: str = "engine",
) -> PairCounts:
    """The second contract by means of the first: pair by pair, equal covers counted once."""
    began = time.perf_counter()
    source = CoverSource(a, b, canonical=canonical)
    counts = np.empty((len(pairs), 3), dtype=object)
    memory: dict[Cover, int] = {}

    def count(cover: Cover) -> int:
        if cover not in memory:
            memory[cover] = count_union(cover)
        return memory[cover]

    for k, (i, j) in enumerate(pairs.tolist()):
        pair = (i, j)
        first, second = source.cubes(0, pair), source.cubes(1, pair)
        counts[k] = [
            count(source.cover(pair, cubes)) if cubes else 0
            for cubes in (first, second, [*first, *second])
        ]
        if progress:
            progress(k + 1, len(pairs))
    seconds = {"counting": time.perf_counter() - began}
    return PairCounts(counts, counts, {name: len(memory)}, seconds)


def _looped(name: str, count_union: CountUnion) -> CountPairs:
    def count_pairs(
        a: Features,
        b: Features,
        pairs: IntArray,
        *,
        canonical: bool = False,
        progress: Progress | None = None,
    ) -> PairCounts:
        return count_pairs_with(
            count_union, a, b, pairs, canonical=canonical, progress=progress, name=name
        )

    return count_pairs
