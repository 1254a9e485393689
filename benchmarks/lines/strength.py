"""The distance at four tolerances, on one thread: exact, or how close the bounds are."""

from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks.cases import Models
from benchmarks.measure import Figure, Line, Measurement, at_most
from contextwise import read
from contextwise.comparison.question import pose
from contextwise.comparison.tolerances import AtTolerances, count_at
from contextwise.support.effort import Effort

TOLERANCES = (0.0, 0.1, 0.3, 1.0)
NO_LIMIT = 1e6  # with a deadline, open pairs get close bounds
ALONE = 60.0  # seconds of processor time
WIDTH = 0.1
SEVERAL = 1.5
REAL = (
    ("plants.dt-ps10", "plants.dtsl-ps10-l1_5-nz", 5.0),
    ("plants.dt-ps10", "plants.bn-ps10", 40.0),
    ("nips.dttree-ps5", "nips.dt-ps2", 60.0),
    ("moviereview.cl", "moviereview.dttree-ps5", 60.0),
)
MADE = (("forest.small", "forest.medium", 60.0),)


def run(models: Models) -> Line:
    """Count with a limit of processor time; the first pair also one tolerance at a time."""
    cases = MADE if models.generated else REAL
    measurements, figures = [], []
    for true, guess, limit in cases:
        case = f"{true} / {guess}"
        seconds, at = _counted(models, true, guess, TOLERANCES, limit)
        ends = [found.distance_bounds for found in at.values()]
        width = max((float((high - low) / high) for low, high in ends if high), default=0.0)
        notes = {
            "open pairs": max(len(found.open_pairs) for found in at.values()),
            "nodes": at.nodes,
            "normalized": [float(low / at.total) for low, _ in ends],
        }
        measurements.append(Measurement(case, "four tolerances", seconds, notes))
        figures.append(at_most(f"{case}: width of the bounds", width, WIDTH, "of d"))
        figures.append(at_most(f"{case}: seconds", seconds, limit + 1, "s"))
    figures += _one_by_one(models, *cases[0][:2], measurements)
    return Line("strength", "The distance at four tolerances", measurements, figures)


def _one_by_one(
    models: Models, true: str, guess: str, measurements: list[Measurement]
) -> list[Figure]:
    case = f"{true} / {guess}"
    for tolerance in TOLERANCES:
        seconds, _ = _counted(models, true, guess, (tolerance,), ALONE)
        measurements.append(Measurement(case, f"t = {tolerance:g} alone", seconds))
    together, *alone = (m.seconds for m in measurements if m.case == case)
    return [
        at_most(f"{case}: four tolerances, by the slowest alone", together / max(alone), SEVERAL)
    ]


def _counted(
    models: Models, true: str, guess: str, tolerances: Sequence[float], limit: float
) -> tuple[float, AtTolerances]:
    """Count on one thread; stop after this processor time."""
    began = time.process_time()

    def stop(done: int, total: int) -> None:
        if time.process_time() - began > limit:
            raise KeyboardInterrupt

    question = pose([read(models.path(true)), read(models.path(guess))])
    effort = Effort.of(NO_LIMIT, threads=1, show_progress=stop)
    at = count_at(question, tolerances, effort)
    return time.process_time() - began, at
