"""The contract of an engine, and the table of engines.

``count_union(cover, *, deadline) -> int``
    The exact size of the union of the cubes of a `Cover`. Raises `OutOfTime` at the deadline, so
    an engine calls ``deadline.check()`` inside its work.
``count_pairs(a, b, pairs, effort, *, space) -> PairCounts``
    For each pair of variables, the sizes of the unions of the covers of features ``a``, of features
    ``b``, and of both, over the contexts of a `ContextSpace`. After the deadline of the effort or
    Ctrl-C, unfinished unions have proven bounds.

An engine without its own ``count_pairs`` gets `count_pairs_with`, a loop over its ``count_union``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module

import numpy as np

from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource
from contextwise.counting.pair_counts import PairCounts, bound_pairs
from contextwise.errors import EngineError
from contextwise.models.features import Features
from contextwise.support.arrays import IntArray
from contextwise.support.effort import QUIET, Effort

CountUnion = Callable[..., int]
CountPairs = Callable[..., PairCounts]
load = cache(import_module)  # of a loaded module, many times faster than `import_module`


@dataclass(frozen=True)
class Engine:
    """A way to count: its name, what it is good for, and the module with its functions."""

    name: str
    summary: str
    module: str

    def missing(self) -> str | None:
        """Return why the engine is not available, or None if it is."""
        probe = getattr(load(self.module), "missing", None)
        return probe() if probe else None

    @property
    def count_union(self) -> CountUnion:
        """Count the union of one cover."""
        function: CountUnion = load(self.module).count_union
        return function

    @property
    def count_pairs(self) -> CountPairs:
        """Count the unions of all pairs of two models."""
        module = load(self.module)
        loop = partial(count_pairs_with, module.count_union)
        function: CountPairs = getattr(module, "count_pairs", loop)
        return function


ENGINES: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("native", "branch and remember, compiled", "contextwise.counting.native"),
        Engine("branch", "branch and remember, in Python", "contextwise.counting.branch"),
        Engine("partition", "the published method", "contextwise.counting.partition"),
        Engine("enumerate", "visit every context: the oracle", "contextwise.counting.enumerate"),
    )
}

DEFAULT = "auto"
"""The name of the fastest available engine."""


def get_engine(name: str) -> Engine:
    """Return the engine with this name; raise `EngineError` if it is not available."""
    if name == DEFAULT:
        return ENGINES["branch"] if ENGINES["native"].missing() else ENGINES["native"]
    if name not in ENGINES:
        choices = ", ".join([DEFAULT, *ENGINES])
        raise EngineError(f"unknown engine {name!r}; choose one of {choices}")
    if reason := ENGINES[name].missing():
        raise EngineError(f"engine {name!r} is not available: {reason}")
    return ENGINES[name]


def count_pairs_with(
    count_union: CountUnion,
    a: Features,
    b: Features,
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    space: ContextSpace = UNIFORM,
) -> PairCounts:
    """Count pair by pair with the ``count_union`` of an engine, equal covers once.

    It uses one thread.
    """
    source = CoverSource(a, b, pairs=pairs, space=space)
    # None marks a union that is not counted.
    counts = np.full((len(pairs), 3), None, dtype=object)
    memory: dict[Cover, int] = {}
    interrupted = False
    try:
        for k, (i, j) in enumerate(pairs.tolist()):
            for column, cover in enumerate(source.three_covers((i, j))):
                if cover not in memory:
                    memory[cover] = count_union(cover, deadline=effort.deadline)
                counts[k, column] = memory[cover]
            effort.report(k + 1, len(pairs))
    except effort.deadline.out_of_time:
        pass
    except KeyboardInterrupt:
        interrupted = True
    known = counts != None  # noqa: E711  (elementwise)
    if known.all():
        return PairCounts(counts, counts, interrupted)
    bounds = bound_pairs(a, b, pairs, space=space)
    bounds.low[known] = bounds.high[known] = counts[known]
    return PairCounts(bounds.low, bounds.high, interrupted)
