"""Baselines: Ganak on every union, and CUDD's decision diagrams.

Each runs in a separate process, which is killed at its time limit; then the time is a lower bound.
Covers are extracted and turned into formulas beforehand, and only the solver's time is measured,
which favours the baseline.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.formulas import Formula, uncovered_formula
from contextwise.counting.cover import Cover

Count = Callable[[Formula], int]
"""Count the models of a formula."""


@dataclass(frozen=True)
class Baseline:
    """The times of the covers that a baseline finished, and whether it finished all."""

    seconds: list[float]
    finished: bool

    @property
    def total(self) -> float:
        """The time of all finished covers."""
        return sum(self.seconds)


def ganak() -> Count:
    """Return Ganak's counter; its output is discarded."""
    import pyganak

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)

    def count(formula: Formula) -> int:
        counter = pyganak.Counter()
        counter.new_vars(formula.booleans)
        counter.add_clauses(formula.clauses)
        models: int = counter.count()
        return models

    return count


def cudd() -> Count:
    """Return CUDD's counter (through ``dd``) with a new manager for each cover."""
    from dd.cudd import BDD

    return lambda formula: _count_with(BDD(), formula)


def cudd_shared() -> Count:
    """Return CUDD's counter with one manager for all covers."""
    from dd.cudd import BDD

    bdd = BDD()
    return lambda formula: _count_with(bdd, formula)


def _count_with(bdd: Any, formula: Formula) -> int:
    """Build the decision diagram of a formula clause by clause, and count its models."""
    for k in range(len(bdd.vars), formula.booleans):
        bdd.declare(f"x{k + 1}")
    models = bdd.true
    for clause in formula.clauses:
        some = bdd.false
        for literal in clause:
            variable = bdd.var(f"x{abs(literal)}")
            some |= variable if literal > 0 else ~variable
        models &= some
    return _exact_count(bdd, models, formula.booleans)


def _exact_count(bdd: Any, node: Any, booleans: int) -> int:
    """Count the models of a diagram exactly."""
    levels = len(bdd.vars)
    known: dict[int, int] = {}

    def below(node: Any) -> int:
        """Count the models over the levels from the node's level down."""
        if node == bdd.false:
            return 0
        if node == bdd.true:
            return 1
        if int(node) not in known:
            level, low, high = bdd.succ(node)
            low, high = (~low, ~high) if node.negated else (low, high)
            known[int(node)] = sum(below(n) << (_level(n) - level - 1) for n in (low, high))
        return known[int(node)]

    def _level(node: Any) -> int:
        return levels if node in (bdd.false, bdd.true) else int(node.level)

    return (below(node) << _level(node)) >> (levels - booleans)


def run(
    solver: Callable[[], Count], covers: Sequence[Cover], sizes: Sequence[int], cap: float
) -> Baseline:
    """Count the unions of the covers, and check each against its known size."""
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(solver, list(covers), there))
    process.start()
    there.close()
    seconds: list[float] = []
    deadline = time.monotonic() + cap
    try:
        while len(seconds) < len(covers) and here.poll(max(0.0, deadline - time.monotonic())):
            took, uncovered = here.recv()
            cover, size = covers[len(seconds)], sizes[len(seconds)]
            assert uncovered == cover.total - size, f"{uncovered} uncovered contexts"
            seconds.append(took)
    except EOFError as error:
        raise RuntimeError("the baseline's process ended") from error
    finally:
        process.kill()
        process.join()
    if len(seconds) < len(covers):
        seconds.append(cap - sum(seconds) if cap > sum(seconds) else 0.0)
        return Baseline(seconds, finished=False)
    return Baseline(seconds, finished=True)


def _serve(solver: Callable[[], Count], covers: list[Cover], there: Connection) -> None:
    count = solver()
    for cover in covers:
        formula = uncovered_formula(cover)
        began = time.process_time()
        models = count(formula) if formula.obvious is None else formula.obvious
        took = time.process_time() - began
        there.send((took, models * formula.factor))
