"""The lines of the report, by name. Each is a function of the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.cases import Models
from benchmarks.lines import (
    deadline,
    distributions,
    features,
    files,
    growth,
    hard,
    learners_d,
    learning,
    many,
    scale,
    solvers,
    statistics,
    steps,
    strength,
    threads,
    variables,
    weights,
)
from benchmarks.measure import Line

LINES: Mapping[str, Callable[[Models], Line]] = {
    "solvers": solvers.run,
    "features": features.run,
    "variables": variables.run,
    "scale": scale.run,
    "hard": hard.run,
    "deadline": deadline.run,
    "files": files.run,
    "threads": threads.run,
    "steps": steps.run,
    "growth": growth.run,
    "distributions": distributions.run,
    "distances": learners_d.run,
    "learned": learning.run_agreement,
    "learners": learning.run_speed,
    "structures": learning.run_structures,
    "chance": statistics.run_chance,
    "checks": statistics.run_checks,
    "weights": weights.run,
    "strength": strength.run,
    "moves": many.run_moves,
    "guesses": many.run_guesses,
    "matrices": many.run_matrices,
}
