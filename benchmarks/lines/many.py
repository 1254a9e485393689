"""Many models: moves of a tracker, and matrices of a trace and of replicates.

A **trace** is the sequence of models of a search: each lacks a few features of the first model and
has a few of another one. **Replicates** are learned from resampled rows and have little in common.
Moves and matrices are compared with a loop of `compare`, in processor time. The times for a
thousand models are extrapolated from the time of one pair, on two cores.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from itertools import combinations, islice
from typing import TypeVar

import numpy as np

from benchmarks.cases import Models
from benchmarks.families import SEED
from benchmarks.lines.learning import made_rows
from benchmarks.measure import Figure, Line, Measurement, at_least, at_most, exponent, timed
from contextwise import (
    Structure,
    compare,
    compare_many,
    distance_matrix,
    explain,
    read,
    track,
)
from contextwise.counting import known_sizes
from contextwise.learning import Data, Trees, as_data
from contextwise.models.features import concatenated
from contextwise.models.structure import structure_of

T = TypeVar("T")
PAIRS = {
    "real": (
        ("plants.dt-ps10", "plants.dtsl-ps10-l1_5-nz"),
        ("jester.dt-ps10", "jester.dn2mn-ps20"),
        ("nips.dt-ps2", "nips.dttree-ps5"),
    ),
    "generated": (("forest.medium", "forest.small"),),
}
GUESSES = {
    "real": (
        "jester.dt-ps3",
        "jester.dt-ps10",
        "jester.dn2mn-ps20",
        "jester.cl",
        "jester.dttree-ps20",
    ),
    "generated": ("forest.large", "forest.medium", "forest.small"),
}
"""A true model whose own unions are hard, and guesses."""
NEW = {"real": "plants.dt-ps2", "generated": "forest.large"}
"""The model that has the new features of a trace."""
MOVES = 60
PENALTY = 10
LOOPED = 30
"""Number of comparisons to measure in a loop."""
CHANGED = 3
"""Number of features removed and added in each model of the trace."""
TRACES = (25, 50, 100)
REPLICATES = (10, 20, 40)
THOUSAND = 1_000


def run_moves(models: Models) -> Line:
    """Time a move and a preview of a tracker against `compare`: medians."""
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for names in PAIRS[_kind(models)]:
        true, guess = (structure_of(read(models.path(name))) for name in names)
        guess = guess.aligned_to(true.domain)
        whole, _ = timed(lambda true=true, guess=guess: fresh(compare, true, guess))  # type: ignore[misc]
        tracker = track(true, guess)
        have = set(map(tuple, guess.features.literals()))
        own = zip(true, true.features.literals(), strict=True)
        new = list(islice((f for f, literals in own if tuple(literals) not in have), MOVES))
        previews = [_seconds(lambda f=f, tracker=tracker: tracker.preview(add=[f])) for f in new]  # type: ignore[misc]
        moves = [_seconds(lambda f=f, tracker=tracker: tracker.add(f)) for f in new]  # type: ignore[misc]
        assert tracker.distance == compare(true, tracker.guess).distance
        case = " / ".join(names)
        preview, move = statistics.median(previews), statistics.median(moves)
        measurements += [
            Measurement(case, "compare", whole),
            Measurement(case, "preview", preview),
            Measurement(case, "move", move),
        ]
        figures.append(at_least(f"{case}: a preview, over compare", whole / preview, 50))
        figures.append(at_least(f"{case}: a move, over compare", whole / move, 50))
    return Line("moves", "Moves of a tracker", measurements, figures)


def fresh(function: Callable[..., T], *arguments: object) -> T:
    """Call a function without known sizes."""
    known_sizes.clear()
    return function(*arguments)


def run_guesses(models: Models) -> Line:
    """`compare_many`, a loop of `compare` and `explain`, against the hardest single `compare`."""
    first, *others = (structure_of(read(models.path(name))) for name in GUESSES[_kind(models)])
    guesses = [guess.aligned_to(first.domain) for guess in others]
    singles = [timed(lambda g=g: fresh(compare, first, g))[0] for g in guesses]  # type: ignore[misc]
    hardest = max(singles)
    many, together = timed(lambda: fresh(compare_many, first, guesses))
    loop, _ = timed(lambda: fresh(lambda: [compare(first, guess) for guess in guesses]))
    explained, _ = timed(lambda: fresh(explain, guesses[0], first))
    assert [c.distance for c in together] == [compare(first, g).distance for g in guesses]
    case = f"{GUESSES[_kind(models)][0]}, {len(guesses)} guesses"
    measurements = [
        Measurement(case, "the hardest compare", hardest),
        Measurement(case, "all compares", sum(singles)),
        Measurement(case, "compare_many", many),
        Measurement(case, "loop of compare", loop),
        Measurement(case, "explain", explained),
    ]
    figures = [
        at_most(f"{case}: compare_many, over the hardest compare", many / hardest, 1.3),
        at_most(f"{case}: compare_many, over the loop", many / loop, 1.1),
        at_most(f"{case}: explain, over compare", explained / singles[0], 3),
    ]
    return Line("guesses", "One true model and several guesses", measurements, figures)


def run_matrices(models: Models) -> Line:
    """Time exact matrices of a trace and of replicates against a loop of `compare`."""
    near = _near(models, max(TRACES))
    measurements, trace_ratio, _, growth = _matrices("trace", near, TRACES)
    figures = [
        at_least(f"a trace of {TRACES[-1]} models, over compare", trace_ratio, 10),
        at_most("a trace: exponent in the number of models", growth, 2),
    ]
    for name, rows in _tables(models).items():
        what = f"replicates of {name}"
        learned = replicates(rows, max(REPLICATES))
        more, ratio, each, growth = _matrices(what, learned, REPLICATES)
        measurements += more
        minutes = each * THOUSAND * (THOUSAND - 1) / 2 / 2 / 60
        figures += [
            at_least(f"{what}, over compare", ratio, 1),
            at_most(f"{what}: exponent in the number of models", growth, 2.1),
            at_most(f"{what}: {THOUSAND:,} on two cores, worked out", minutes, 40, "minutes"),
        ]
    return Line("matrices", "Matrices of many models", measurements, figures)


def _matrices(
    what: str, every: Sequence[Structure], counts: Sequence[int]
) -> tuple[list[Measurement], float, float, float]:
    """Matrices of more and more models: what was measured; of the last one how many times quicker
    than a loop it is, and its seconds per comparison; and how the whole grows."""
    loop, measurements, points = _loop(every), [], []
    for count in counts:
        seconds = _matrix_seconds(every[:count])
        points.append((float(count), seconds))
        each = seconds / (count * (count - 1) / 2)
        case = f"{what}: {count} models"
        measurements.append(Measurement(case, "matrix, per comparison", each))
        measurements.append(Measurement(case, "compare", loop))
    return measurements, loop / each, each, exponent(points)


def trace(first: Structure, second: Structure, count: int) -> list[Structure]:
    """Return models that lack a few features of the first one and have a few of the second."""
    rng = np.random.default_rng(SEED)
    pool, _ = concatenated(first.features, second.features)
    own = len(first)
    made = []
    for _ in range(count):
        gone = rng.choice(own, CHANGED, replace=False)
        new = rng.choice(np.arange(own, len(pool)), CHANGED, replace=False)
        places = np.concatenate([np.delete(np.arange(own), gone), new])
        made.append(Structure(first.domain, pool.take(places)))
    return made


def replicates(rows: Data, count: int) -> list[Structure]:
    """Trees learned from resampled rows."""
    rng = np.random.default_rng(SEED)
    learner = Trees(penalty=PENALTY)
    drawn = (rows.rows[rng.integers(len(rows), size=len(rows))] for _ in range(count))
    return [learner.fit(as_data(own, rows.domain)).structure_ for own in drawn]


def _kind(models: Models) -> str:
    return "generated" if models.generated else "real"


def _near(models: Models, count: int) -> list[Structure]:
    """A trace near the first model of the folder."""
    names = PAIRS[_kind(models)][0][0], NEW[_kind(models)]
    first, second = (structure_of(read(models.path(name))) for name in names)
    return trace(first, second.aligned_to(first.domain), count)


def _tables(models: Models) -> dict[str, Data]:
    """The rows that replicates are learned from, few variables and many."""
    if models.data is None:
        return {"16 variables": made_rows(16, 2000), "40 variables": made_rows(40, 2000)}
    return {name: models.rows(name) for name in ("nltcs", "plants")}


def _loop(models: Sequence[Structure]) -> float:
    """Return the time of one comparison in a loop."""
    two = list(islice(combinations(models, 2), LOOPED))
    began = time.process_time()
    for a, b in two:
        compare(a, b, threads=1)
    return (time.process_time() - began) / len(two)


def _matrix_seconds(models: Sequence[Structure]) -> float:
    """The time of a matrix, of which some distances are looked at."""
    began = time.process_time()
    found = distance_matrix(models)
    seconds = time.process_time() - began
    assert found.distances[0, 1] == compare(models[0], models[1]).distance
    assert found.distances[1, -1] == compare(models[1], models[-1]).distance
    return seconds


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
