"""The model counter Ganak, for the hardest covers: conflict learning and tree decompositions.

Ganak (PyPI ``pyganak``) counts exactly but for its probabilistic caching, which its binding cannot
switch off; its authors put the probability of a wrong count below one in a billion. Where a result
rests on it, the result says so. A count costs milliseconds before it begins, so the easy covers are
better left to another engine: see `contextwise.counting.auto`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Unpack

from contextwise.counting.cnf import Formula, uncovered_formula
from contextwise.counting.contract import Options, PairCounts, timed, unknown_counts
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource
from contextwise.counting.ganak_pool import count_models
from contextwise.counting.limits import OutOfTime, check
from contextwise.errors import EngineError
from contextwise.models.features import Features, IntArray


def missing() -> str | None:
    """Why Ganak cannot be used here, or None if it can."""
    if find_spec("pyganak") is None:
        return "pyganak is not installed: pip install 'contextwise[ganak]'"
    return None


def count_union(cover: Cover, *, deadline: float | None = None) -> int:
    """The size of the union of the cubes.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    for _, size in count_covers([cover], processes=1, deadline=deadline):
        return size
    check(deadline)
    raise _died()


def count_covers(
    covers: Iterable[Cover], *, processes: int | None = None, deadline: float | None = None
) -> Iterator[tuple[Cover, int]]:
    """Covers and the sizes of their unions, in the order they are finished.

    Ends early at the deadline. A cover whose process died is left out.
    """
    started: dict[int, tuple[Cover, int]] = {}

    def formulas() -> Iterator[Formula]:
        for place, cover in enumerate(covers):
            formula = uncovered_formula(cover)
            started[place] = cover, formula.factor
            yield formula

    for place, models in count_models(formulas(), processes=processes, deadline=deadline):
        cover, factor = started.pop(place)
        yield cover, cover.total - factor * models


def count_pairs(
    a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
) -> PairCounts:
    """The second contract: every union by Ganak, in as many processes as ``threads`` says."""
    known = unknown_counts(a, b, pairs, **options)
    known = replace(known, counted={"ganak": int((known.lower == known.upper).sum())})
    result = close_pairs(known, a, b, pairs, **options)
    if len(result.open) and not result.interrupted:
        with suppress(OutOfTime):
            check(options.get("deadline"))
            raise _died()
    return result


def close_pairs(
    known: PairCounts, a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
) -> PairCounts:
    """The unions that are not finished, counted by Ganak; each distinct cover once.

    What the deadline, Ctrl-C or a dead process leaves open keeps its bounds.
    """
    lower, upper = known.lower.copy(), known.upper.copy()
    seconds = {"extracting": 0.0, "ganak": 0.0, **known.seconds}
    deadline, progress = options.get("deadline"), options.get("progress")
    counted, interrupted = 0, False
    try:
        with timed(seconds, "extracting"):
            places = _open_covers(known, a, b, pairs, **options)
        left = Counter(k for unions in places.values() for k, _ in unions)
        sizes = count_covers(places, processes=options.get("threads"), deadline=deadline)
        with timed(seconds, "ganak"):
            for cover, size in sizes:
                for union in places[cover]:
                    lower[union] = upper[union] = size
                left.subtract(k for k, _ in places[cover])
                counted += len(places[cover])
                if progress:
                    progress(len(pairs) - sum(map(bool, left.values())), len(pairs))
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        interrupted = True
    counts = {**known.counted, "ganak": known.counted.get("ganak", 0) + counted}
    return PairCounts(lower, upper, counts, seconds, interrupted, known.nodes)


def _open_covers(
    known: PairCounts, a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
) -> dict[Cover, list[tuple[int, int]]]:
    """The covers that are left to count, and the (pair, union) places that wait for each."""
    source = CoverSource(
        a,
        b,
        canonical=options.get("canonical", False),
        value_weights=options.get("value_weights"),
    )
    places: dict[Cover, list[tuple[int, int]]] = {}
    for k in known.open.tolist():
        check(options.get("deadline"))
        i, j = pairs[k].tolist()
        for column, cover in enumerate(source.three_covers((i, j))):
            if known.lower[k, column] != known.upper[k, column]:
                places.setdefault(cover, []).append((k, column))
    return places


def _died() -> EngineError:
    return EngineError("Ganak's process ended in the middle of a count; is there enough memory?")
