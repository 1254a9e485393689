"""Covers as formulas, for model counters: the models of the formula are the uncovered contexts.

- A variable with two classes of values is one Boolean; one with more is a Boolean per class, of
  which exactly one is true.
- Each cube, negated, is a clause: some variable takes a class that the cube does not allow.
- A class of weight w must count w times, exactly, so the variable gets a few more Booleans, the
  binary digits of a **copy number**: under a class of weight w it can be 0, 1, …, w - 1.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import gcd
from multiprocessing.connection import wait
from pathlib import Path
from typing import Unpack

from contextwise.counting.contract import Options, first_bounds, timed
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import cover_source
from contextwise.counting.pair_counts import PairCounts
from contextwise.errors import EngineError
from contextwise.models.features import Features, IntArray
from contextwise.support.deadline import NEVER, Deadline, OutOfTime

Clause = tuple[int, ...]
"""Literals as in the DIMACS format: k for the Boolean k = 1, 2, …, and -k for its negation."""


@dataclass(frozen=True)
class Formula:
    """Clauses over the Booleans 1, 2, …, ``booleans``.

    The number of uncovered contexts is the number of models times ``factor``.
    """

    booleans: int
    clauses: tuple[Clause, ...]
    factor: int

    @property
    def obvious(self) -> int | None:
        """The number of models, where it takes no counting."""
        if not self.clauses:
            return 1 << self.booleans
        return None if all(self.clauses) else 0


def uncovered_formula(cover: Cover) -> Formula:
    """The formula whose models are the contexts that no cube of the cover allows.

    >>> from contextwise.counting.cover import cover_of
    >>> uncovered_formula(cover_of([2, 2, 5], [[(0, 0b01), (1, 0b10)]]))
    Formula(booleans=2, clauses=((1, -2),), factor=5)

    A variable of which one value in four is ever tested. The digits 2 and 3 of a copy number
    are 0 where it takes that value (not 1), and make 0, 1 or 2 where it takes another (1).

    >>> uncovered_formula(cover_of([4], [[(0, 0b0001)]]))
    Formula(booleans=3, clauses=((1, -2), (1, -3), (-1, -2, -3), (1,)), factor=1)
    """
    everything = (1 << len(cover.bit_weights)) - 1
    forbidden = [everything ^ cube for cube in cover.cubes]
    tested = 0
    for bits in forbidden:
        tested |= bits
    booleans, factor, at = 0, cover.scale, 0
    clauses: list[Clause] = []
    literal: dict[int, int] = {}
    for weights, field in zip(cover.weights, cover.fields, strict=True):
        if tested & field:
            common = gcd(*weights) or 1
            factor *= common
            variable = _Variable(booleans, [weight // common for weight in weights])
            booleans += variable.booleans
            clauses += variable.clauses()
            literal.update({at + k: own for k, own in enumerate(variable.classes)})
        else:
            factor *= sum(weights)
        at += len(weights)
    clauses += (tuple(literal[bit] for bit in literal if bits >> bit & 1) for bits in forbidden)
    return Formula(booleans, tuple(clauses), factor)


class _Variable:
    """The Booleans of one variable: which class it takes, and which copy of it."""

    def __init__(self, first: int, weights: Sequence[int]) -> None:
        self.weights = weights
        if len(weights) == 2:
            self.classes = [-(first + 1), first + 1]
            used = 1
        else:
            self.classes = [first + 1 + k for k in range(len(weights))]
            used = len(weights)
        digits = max((weight - 1).bit_length() if weight else 0 for weight in weights)
        self.digits = [first + used + 1 + d for d in range(digits)]
        self.booleans = used + digits

    def clauses(self) -> Iterator[Clause]:
        if len(self.classes) > 2:
            yield tuple(self.classes)
            for k, one in enumerate(self.classes):
                yield from ((-one, -other) for other in self.classes[:k])
        for weight, own in zip(self.weights, self.classes, strict=True):
            if weight:
                yield from ((-own, *clause) for clause in self._at_most(weight - 1))
            else:
                yield (-own,)

    def _at_most(self, largest: int) -> Iterator[Clause]:
        """The digits make a number up to ``largest``.

        A larger number has a one where ``largest`` has a zero, and ones wherever ``largest`` has
        them above that place.
        """
        for d, digit in enumerate(self.digits):
            if not largest >> d & 1:
                above = self.digits[d + 1 :]
                ones = (-own for e, own in enumerate(above, d + 1) if largest >> e & 1)
                yield (-digit, *ones)


# -- The model counter Ganak, for the hardest covers: conflict learning and tree decompositions.


SHARE = 0.5
"""Of the machine's memory, for all processes of Ganak together, unless the variable says so."""
SHARE_VARIABLE = "CONTEXTWISE_MEMORY_SHARE"
CONTAINER = Path("/sys/fs/cgroup/memory.max")
SCRIPT = Path(__file__).with_name("ganak_worker.py")


def missing() -> str | None:
    """Why Ganak cannot be used here, or None if it can."""
    if find_spec("pyganak") is None:
        return "pyganak is not installed: pip install 'contextwise[ganak]'"
    return None


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """The size of the union of the cubes.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    for _, size in count_covers([cover], processes=1, deadline=deadline):
        return size
    deadline.check()
    raise _died()


def count_covers(
    covers: Iterable[Cover], *, processes: int | None = None, deadline: Deadline = NEVER
) -> Iterator[tuple[Cover, int]]:
    """Count unions, in the order they are finished.

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
    known = first_bounds(a, b, pairs, **options)
    known = replace(known, counted={"ganak": int((known.lower == known.upper).sum())})
    result = close_pairs(known, a, b, pairs, **options)
    if len(result.open) and not result.interrupted:
        with suppress(OutOfTime):
            options.get("deadline", NEVER).check()
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
    deadline, progress = options.get("deadline", NEVER), options.get("progress")
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
    source = cover_source(
        a,
        b,
        pairs[known.open],
        canonical=options.get("canonical", False),
        value_weights=options.get("value_weights"),
    )
    places: dict[Cover, list[tuple[int, int]]] = {}
    for k in known.open.tolist():
        options.get("deadline", NEVER).check()
        i, j = pairs[k].tolist()
        for column, cover in enumerate(source.three_covers((i, j))):
            if known.lower[k, column] != known.upper[k, column]:
                places.setdefault(cover, []).append((k, column))
    return places


def _died() -> EngineError:
    return EngineError(
        "Ganak's process ended in the middle of a count; is there enough memory? Its processes may "
        f"use {memory_share():.0%} of the machine's together; {SHARE_VARIABLE} sets another share"
    )


# -- the processes -------------------------------------------------------------------------------


def count_models(
    formulas: Iterable[Formula], *, processes: int | None = None, deadline: Deadline = NEVER
) -> Iterator[tuple[int, int]]:
    """The numbers of models of many formulas, as (place, number), in the order they are finished.

    Ends early at the deadline. A formula whose process died, for want of memory say, is left out.

    >>> formulas = [Formula(2, ((1, 2),), factor=1), Formula(3, (), factor=1)]
    >>> sorted(count_models(formulas))
    [(0, 3), (1, 8)]
    """
    processes = processes or os.cpu_count() or 1
    limit = int(memory_share() * machine_memory() / processes)
    waiting = enumerate(formulas)
    busy: dict[Worker, int] = {}
    try:
        while True:
            while len(busy) < processes and (job := next(waiting, None)):
                place, formula = job
                if formula.obvious is not None:
                    yield place, formula.obvious
                else:
                    worker = Worker.take()
                    busy[worker] = place
                    worker.send(formula, limit)
            ready = _ready(busy, deadline)
            if not ready:
                return
            for worker in ready:
                models = worker.receive()
                place = busy.pop(worker)
                if models is not None:
                    worker.give_back()
                    yield place, models
    finally:
        for worker in busy:
            worker.end()


def memory_share() -> float:
    """The share of the machine's memory that all processes of Ganak may use together.

    >>> 0 < memory_share() <= 1
    True
    """
    given = os.environ.get(SHARE_VARIABLE)
    try:
        share = SHARE if given is None else float(given)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise EngineError(f"{SHARE_VARIABLE} is a number above 0 and up to 1, not {given!r}")
    return share


def machine_memory() -> int:
    """The bytes of memory that this machine, or the container we are in, has."""
    bytes_here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no container, or one without a limit
        bytes_here = min(bytes_here, int(CONTAINER.read_text()))
    return bytes_here


def _ready(busy: Iterable[Worker], deadline: Deadline) -> list[Worker]:
    """The workers that have answered, as soon as one has; none when time is over."""
    waited: list[object] = list(busy)
    return wait(waited, deadline.left()) if waited else []  # type: ignore[arg-type, return-value]


class Worker:
    """One process around Ganak. It counts one formula at a time."""

    idle: list[Worker] = []  # noqa: RUF012  (shared by all of them on purpose)
    ended: list[subprocess.Popen[bytes]] = []  # noqa: RUF012

    def __init__(self) -> None:
        # A session of its own: Ctrl-C at the terminal reaches us, and we end it.
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    @classmethod
    def take(cls) -> Worker:
        """A worker without work: one that was given back, or a new one.

        After a fork the workers of the parent are no children of ours, and count as dead here.
        """
        cls.ended[:] = [process for process in cls.ended if process.poll() is None]
        while cls.idle:
            worker = cls.idle.pop()
            if worker.process.poll() is None:
                return worker
            worker.end()
        return cls()

    def give_back(self) -> None:
        """Keep this worker for later, unless there are enough."""
        if len(self.idle) < (os.cpu_count() or 1):
            self.idle.append(self)
        else:
            self.end()

    def fileno(self) -> int:
        """Readable when there is an answer, or when the process has died."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def send(self, formula: Formula, limit: int) -> None:
        """Begin to count within so many bytes.

        A process that died shows when its answer is received.
        """
        assert self.process.stdin is not None
        line = json.dumps([limit, formula.booleans, formula.clauses]).encode() + b"\n"
        with suppress(BrokenPipeError):
            self.process.stdin.write(line)
            self.process.stdin.flush()

    def receive(self) -> int | None:
        """The number of models, or None if the process has died (then it is tidied up)."""
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().decode().strip()
        if not answer:
            self.end()
            return None
        if answer.startswith("!"):
            raise EngineError(f"Ganak failed{answer.removeprefix('!')}")
        return int(answer, 16)

    def end(self) -> None:
        """End the process by force, without waiting: one that holds gigabytes takes a while."""
        self.process.kill()
        self.ended.append(self.process)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


@atexit.register
def end_idle_workers() -> None:
    """End the processes that are kept for later, and wait until all are gone."""
    while Worker.idle:
        Worker.idle.pop().end()
    while Worker.ended:
        Worker.ended.pop().wait()
