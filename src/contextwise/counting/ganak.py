"""The model counter Ganak, for the hardest covers: conflict learning and tree decompositions.

A cover becomes a formula whose models are the uncovered contexts:

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
from itertools import combinations
from math import gcd
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.contract import timed
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource
from contextwise.counting.pair_counts import PairCounts, bound_pairs
from contextwise.errors import EngineError, command_to_install
from contextwise.models.features import Features
from contextwise.support.arrays import IntArray
from contextwise.support.cores import cores
from contextwise.support.deadline import NEVER, Deadline
from contextwise.support.effort import QUIET, Effort

Clause = tuple[int, ...]
"""Literals in DIMACS form: k for the Boolean k = 1, 2, …, and -k for its negation."""


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
        """The number of models if no counting is needed."""
        if not self.clauses:
            return 1 << self.booleans
        return None if all(self.clauses) else 0


def uncovered_formula(cover: Cover) -> Formula:
    """Return the formula whose models are the contexts that no cube of the cover allows.

    >>> from contextwise.counting.cover import cover_of
    >>> uncovered_formula(cover_of([2, 2, 5], [[(0, 0b01), (1, 0b10)]]))
    Formula(booleans=2, clauses=((1, -2),), factor=5)

    The cube tests one value of four. Booleans 2 and 3 are the digits of a copy number: 0 if the
    variable has that value (Boolean 1 is false), and 0, 1 or 2 if it has another one.

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
            # A common factor multiplies the count, so fewer copies are enough.
            common = gcd(*weights) or 1
            factor *= common
            variable = _Variable(booleans, [weight // common for weight in weights])
            booleans += variable.booleans
            clauses += variable.clauses()
            literal.update(enumerate(variable.classes, at))
        else:
            factor *= sum(weights)
        at += len(weights)
    clauses += (tuple(literal[bit] for bit in literal if bits >> bit & 1) for bits in forbidden)
    return Formula(booleans, tuple(clauses), factor)


class _Variable:
    """The Booleans of one variable: its class, and the copy number within the class."""

    def __init__(self, first: int, weights: Sequence[int]) -> None:
        self.weights = weights
        if len(weights) == 2:
            self.classes = [-(first + 1), first + 1]
            used = 1
        else:
            self.classes = [first + 1 + k for k in range(len(weights))]
            used = len(weights)
        # A class of weight w has the copy numbers 0 to w - 1.
        digits = max((weight - 1).bit_length() if weight else 0 for weight in weights)
        self.digits = [first + used + 1 + d for d in range(digits)]
        self.booleans = used + digits

    def clauses(self) -> Iterator[Clause]:
        if len(self.classes) > 2:
            yield tuple(self.classes)
            yield from ((-second, -first) for first, second in combinations(self.classes, 2))
        for weight, boolean in zip(self.weights, self.classes, strict=True):
            if weight:
                yield from ((-boolean, *clause) for clause in self._at_most(weight - 1))
            else:
                yield (-boolean,)

    def _at_most(self, largest: int) -> Iterator[Clause]:
        """Yield the clauses by which the digits make a number up to ``largest``.

        A larger number has a one where ``largest`` has a zero, and ones wherever ``largest`` has
        them above that place.
        """
        for d, digit in enumerate(self.digits):
            if not largest >> d & 1:
                above = self.digits[d + 1 :]
                ones = (-higher for e, higher in enumerate(above, d + 1) if largest >> e & 1)
                yield (-digit, *ones)


SHARE = 0.5
"""Share of the machine's memory for all Ganak processes; the environment variable overrides it."""
SHARE_VARIABLE = "CONTEXTWISE_MEMORY_SHARE"
CONTAINER = Path("/sys/fs/cgroup/memory.max")
SCRIPT = Path(__file__).with_name("ganak_worker.py")


def missing() -> str | None:
    """Return why Ganak is not available, or None if it is."""
    if find_spec("pyganak") is None:
        return f"pyganak is not installed: {command_to_install('ganak')}"
    return None


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """Count the union of the cubes."""
    for _, size in count_covers([cover], processes=1, deadline=deadline):
        return size
    deadline.check()
    raise _died()


def count_covers(
    covers: Iterable[Cover], *, processes: int | None = None, deadline: Deadline = NEVER
) -> Iterator[tuple[Cover, int]]:
    """Yield each cover with the size of its union, as they finish.

    It stops at the deadline and leaves out covers whose process died.
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
    a: Features,
    b: Features,
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    space: ContextSpace = UNIFORM,
) -> PairCounts:
    """Count every union with Ganak, in as many processes as the effort has threads."""
    known = bound_pairs(a, b, pairs, space=space)
    known = replace(known, counted={"ganak": int((known.low == known.high).sum())})
    result = close_pairs(known, a, b, pairs, effort, space=space)
    if len(result.open_places) and not result.interrupted and not effort.deadline.passed:
        raise _died()
    return result


def close_pairs(
    known: PairCounts,
    a: Features,
    b: Features,
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    space: ContextSpace = UNIFORM,
) -> PairCounts:
    """Count the unfinished unions with Ganak, each distinct cover once.

    After the deadline, Ctrl-C or the death of a process, the others keep their bounds.
    """
    low, high = known.low.copy(), known.high.copy()
    seconds = {"extracting": 0.0, "ganak": 0.0, **known.seconds}
    counted, interrupted = 0, False
    try:
        with timed(seconds, "extracting"):
            source = CoverSource(a, b, pairs=pairs[known.open_places], space=space)
            places: dict[Cover, list[tuple[int, int]]] = {}  # the unions that need each cover
            for k in known.open_places.tolist():
                effort.deadline.check()
                i, j = pairs[k].tolist()
                for column, cover in enumerate(source.three_covers((i, j))):
                    if low[k, column] != high[k, column]:
                        places.setdefault(cover, []).append((k, column))
        left = Counter(k for unions in places.values() for k, _ in unions)
        sizes = count_covers(places, processes=effort.threads, deadline=effort.deadline)
        with timed(seconds, "ganak"):
            for cover, size in sizes:
                for union in places[cover]:
                    low[union] = high[union] = size // known.unit
                left.subtract(k for k, _ in places[cover])
                counted += len(places[cover])
                effort.report(len(pairs) - sum(map(bool, left.values())), len(pairs))
    except effort.deadline.out_of_time:
        pass
    except KeyboardInterrupt:
        interrupted = True
    counts = {**known.counted, "ganak": known.counted.get("ganak", 0) + counted}
    return replace(
        known, low=low, high=high, counted=counts, seconds=seconds, interrupted=interrupted
    )


def _died() -> EngineError:
    return EngineError(
        "a Ganak process died while counting, probably for lack of memory; together they may use "
        f"{memory_share():.0%} of the machine's memory; set {SHARE_VARIABLE} to change that"
    )


# -- the processes -------------------------------------------------------------------------------


def count_models(
    formulas: Iterable[Formula], *, processes: int | None = None, deadline: Deadline = NEVER
) -> Iterator[tuple[int, int]]:
    """Yield (place, number of models) for each formula, as they finish.

    It stops at the deadline and leaves out formulas whose process died.
    """
    processes = processes or cores()
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
            ready: list[Any] = wait(list[Any](busy), deadline.left()) if busy else []
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
    """Return the share of the machine's memory for all Ganak processes together."""
    text = os.environ.get(SHARE_VARIABLE)
    try:
        share = SHARE if text is None else float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise EngineError(f"{SHARE_VARIABLE} must be > 0 and <= 1, got {text!r}")
    return share


def machine_memory() -> int:
    """Return the bytes of memory of this machine or container."""
    bytes_here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no container, or one without a limit
        bytes_here = min(bytes_here, int(CONTAINER.read_text()))
    return bytes_here


class Worker:
    """A Ganak process, which counts one formula at a time."""

    idle: list[Worker] = []  # noqa: RUF012  (shared by all of them on purpose)
    ended: list[subprocess.Popen[bytes]] = []  # noqa: RUF012

    def __init__(self) -> None:
        # In its own session, so that Ctrl-C at the terminal reaches only us, and we end it.
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    @classmethod
    def take(cls) -> Worker:
        """Return an idle worker or start one.

        After a fork, the parent's workers are not our children and count as dead.
        """
        cls.ended[:] = [process for process in cls.ended if process.poll() is None]
        while cls.idle:
            worker = cls.idle.pop()
            if worker.process.poll() is None:
                return worker
            worker.end()
        return cls()

    def give_back(self) -> None:
        """Keep this worker for later, or end it if there are enough."""
        if len(self.idle) < cores():
            self.idle.append(self)
        else:
            self.end()

    def fileno(self) -> int:
        """Return the pipe that becomes readable with an answer or when the process dies."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def send(self, formula: Formula, limit: int) -> None:
        """Start counting with at most ``limit`` bytes; `receive` reports a process that died."""
        assert self.process.stdin is not None
        line = json.dumps([limit, formula.booleans, formula.clauses]).encode() + b"\n"
        with suppress(BrokenPipeError):
            self.process.stdin.write(line)
            self.process.stdin.flush()

    def receive(self) -> int | None:
        """Return the number of models, or None if the process died."""
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().decode().strip()
        if not answer:
            self.end()
            return None
        if answer.startswith("!"):
            raise EngineError(f"Ganak failed{answer.removeprefix('!')}")
        return int(answer, 16)

    def end(self) -> None:
        """Kill the process without waiting: one that holds gigabytes takes a while to end."""
        self.process.kill()
        self.ended.append(self.process)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


@atexit.register
def end_idle_workers() -> None:
    """Kill the idle processes and wait until all have ended."""
    while Worker.idle:
        Worker.idle.pop().end()
    while Worker.ended:
        Worker.ended.pop().wait()
