"""Many models: moves of a tracker, matrices of a trace and of replicates, sketches, neighbours.

A **trace** is what a search leaves behind: models that have a few features of the first model less
and a few of another one more. **Replicates** are learned from resampled rows, and share little.
Everything is set against a loop of `compare`, in processor time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from itertools import combinations, islice

import numpy as np

from benchmarks.cases import Models
from benchmarks.families import SEED
from benchmarks.lines.learning import made_rows
from benchmarks.measure import Figure, Line, Measurement, at_least, at_most, exponent, timed
from contextwise import Structure, compare, distance_matrix, nearest, read, track
from contextwise.comparison.sketch import estimate_matrix, sketch_many
from contextwise.learning import Trees, as_data
from contextwise.models.literals import features_of
from contextwise.models.structure import structure_of

PAIRS = {
    "real": (
        ("plants.dt-ps10", "plants.dtsl-ps10-l1_5-nz"),
        ("jester.dt-ps10", "jester.dn2mn-ps20"),
        ("nips.dt-ps2", "nips.dttree-ps5"),
    ),
    "generated": (("forest.medium", "forest.small"),),
}
NEW = {"real": "plants.dt-ps2", "generated": "forest.large"}
"""The model that has the new features of a trace."""
MOVES = 60
PENALTY = 10
LOOPED = 30
"""How many comparisons of a loop are measured."""
CHANGED = 3
"""How many features of a model of the trace are gone, and how many are new."""
TRACES = (25, 50, 100)
REPLICATES = 20
SAMPLED = 100
"""So many models stand for thousands: their sketches are made one by one, and set in pairs."""
ASSERTIONS = 2**18
THOUSANDS = 10_000


def run_moves(models: Models) -> Line:
    """A move and a preview of a tracker, against `compare`: medians."""
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for names in _pairs(models):
        true, guess = (structure_of(read(models.path(name))) for name in names)
        guess = guess.aligned_to(true.domain)
        whole, _ = timed(lambda true=true, guess=guess: compare(true, guess, threads=1))  # type: ignore[misc]
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


def run_matrices(models: Models) -> Line:
    """Exact matrices of a trace and of replicates, per comparison, against a loop of `compare`."""
    kind = "generated" if models.generated else "real"
    names = PAIRS[kind][0][0], NEW[kind]
    first, second = (structure_of(read(models.path(name))) for name in names)
    measurements: list[Measurement] = []
    points = []
    every = trace(first, second.aligned_to(first.domain), max(TRACES))
    loop = _loop(every)
    for count in TRACES:
        seconds = _matrix_seconds(every[:count])
        points.append((float(count), seconds))
        each = seconds / (count * (count - 1) / 2)
        case = f"trace of {count} models near {names[0]}"
        measurements.append(Measurement(case, "matrix, per comparison", each))
        measurements.append(Measurement(case, "compare", loop))
    learned = replicates(models, REPLICATES)
    apart, each = _loop(learned), _matrix_seconds(learned) / (REPLICATES * (REPLICATES - 1) / 2)
    case = f"{REPLICATES} replicates"
    measurements.append(Measurement(case, "matrix, per comparison", each))
    measurements.append(Measurement(case, "compare", apart))
    trace_each = points[-1][1] / (TRACES[-1] * (TRACES[-1] - 1) / 2)
    figures = [
        at_least(f"a trace of {TRACES[-1]} models, over compare", loop / trace_each, 10),
        at_least("replicates, over compare", apart / each, 1),
        at_most("exponent in the number of models", exponent(points), 2),
    ]
    return Line("matrices", "Matrices of many models", measurements, figures)


def run_sketches(models: Models) -> Line:
    """Sketches of thousands of models, from some; and how many comparisons a neighbour takes."""
    kind = "generated" if models.generated else "real"
    names = PAIRS[kind][0][0], NEW[kind]
    first, second = (structure_of(read(models.path(name))) for name in names)
    every = trace(first, second.aligned_to(first.domain), SAMPLED)
    began = time.process_time()
    sketches = sketch_many(every, assertions=ASSERTIONS)
    asking = (time.process_time() - began) / SAMPLED
    began = time.process_time()
    estimate_matrix(sketches)
    # The blocks of a matrix set each two models apart once, and those on the diagonal twice.
    pairing = (time.process_time() - began) / SAMPLED**2
    minutes = (asking * THOUSANDS + pairing * THOUSANDS**2 / 2) / 2 / 60
    began = time.process_time()
    found = nearest(every[0], every[1:], 5)
    searching = time.process_time() - began
    case = f"{SAMPLED} models near {names[0]}"
    measurements = [
        Measurement(case, "a sketch", asking),
        Measurement(case, "two sketches", pairing),
        Measurement(case, "5 nearest", searching, {"compared": found.compared, "of": found.of}),
    ]
    figures = [
        at_most(f"{THOUSANDS:,} models on two cores, extrapolated", minutes, 10, "minutes"),
        at_most(
            "5 nearest: exact comparisons, for a hundred models",
            100 * found.compared / found.of,
            50,
        ),
    ]
    return Line("sketches", "Sketches and neighbours", measurements, figures)


def trace(first: Structure, second: Structure, count: int) -> list[Structure]:
    """Models that are a few features from the first one: some gone, some of the second new."""
    rng = np.random.default_rng(SEED)
    own = [tuple(literals) for literals in first.features.literals()]
    others = sorted({tuple(literals) for literals in second.features.literals()} - {*own})
    made = []
    for _ in range(count):
        gone = set(rng.choice(len(own), CHANGED, replace=False).tolist())
        new = rng.choice(len(others), CHANGED, replace=False).tolist()
        kept = [literals for place, literals in enumerate(own) if place not in gone]
        features = features_of(first.domain, [*kept, *(others[place] for place in new)])
        made.append(Structure(first.domain, features))
    return made


def replicates(models: Models, count: int) -> list[Structure]:
    """Trees learned from resampled rows."""
    rows = made_rows(16, 2000) if models.data is None else models.rows("nltcs")
    rng = np.random.default_rng(SEED)
    learner = Trees(penalty=PENALTY)
    drawn = (rows.rows[rng.integers(len(rows), size=len(rows))] for _ in range(count))
    return [learner.fit(as_data(own, rows.domain)).structure_ for own in drawn]


def _pairs(models: Models) -> Sequence[tuple[str, str]]:
    return PAIRS["generated" if models.generated else "real"]


def _loop(models: Sequence[Structure]) -> float:
    """What one comparison takes in a loop."""
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
