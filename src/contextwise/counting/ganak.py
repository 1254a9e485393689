"""The model counter Ganak, for the hardest covers: conflict learning and tree decompositions.

Ganak (PyPI ``pyganak``) counts exactly but for its probabilistic caching, which its binding cannot
switch off; its authors put the probability of a wrong count below one in a billion. Where a result
rests on it, the result says so. A count costs milliseconds before it begins, so the easy covers are
better left to another engine: see `contextwise.counting.auto`.

Ganak can neither be interrupted nor kept from writing to the standard output, nor does it bound its
memory. So it lives in processes of its own (`ganak_worker`), which together may use a share of the
machine's memory; one that needs more ends, and its cover keeps its bounds. A time limit or Ctrl-C
kills them; otherwise they stay for the next count, because a process takes longer to start than
most counts.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing.connection import wait
from pathlib import Path
from typing import Unpack

from contextwise.counting.cnf import Formula, uncovered_formula
from contextwise.counting.contract import Options, OutOfTime, check, first_bounds, timed
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import cover_source
from contextwise.counting.pair_counts import PairCounts
from contextwise.errors import EngineError
from contextwise.models.features import Features, IntArray

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
    """Count unions, in the order they are finished.

    Ends early at the deadline. A cover whose process died is left out.

    Parameters
    ----------
    covers : taken one by one, as processes are free
    processes : how many; one per core if None
    deadline : when to stop, on the clock of `time.monotonic`

    Yields
    ------
    tuple of Cover and int
        A cover and the size of its union.
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
    """The second contract: every union by Ganak, in as many processes as ``threads`` says.

    Parameters
    ----------
    a, b : the features of the two models
    pairs : the pairs of variables, shape (pairs, 2)
    **options : those of the second contract

    Returns
    -------
    PairCounts
    """
    known = first_bounds(a, b, pairs, **options)
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

    Parameters
    ----------
    known : what is known already
    a, b : the features of the two models
    pairs : the pairs of variables, shape (pairs, 2)
    **options : those of the second contract

    Returns
    -------
    PairCounts
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
    source = cover_source(
        a,
        b,
        pairs[known.open],
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
    return EngineError(
        "Ganak's process ended in the middle of a count; is there enough memory? Its processes may "
        f"use {memory_share():.0%} of the machine's together; {SHARE_VARIABLE} sets another share"
    )


# -- the processes -------------------------------------------------------------------------------


def count_models(
    formulas: Iterable[Formula], *, processes: int | None = None, deadline: float | None = None
) -> Iterator[tuple[int, int]]:
    """The numbers of models of many formulas, as (place, number), in the order they are finished.

    Ends early at the deadline. A formula whose process died, for want of memory say, is left out.

    Parameters
    ----------
    formulas : taken one by one, as processes are free
    processes : how many; one per core if None
    deadline : when to stop, on the clock of `time.monotonic`

    Yields
    ------
    tuple of int
        The place of a formula and its number of models.

    Examples
    --------
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


def _ready(busy: Iterable[Worker], deadline: float | None) -> list[Worker]:
    """The workers that have answered, as soon as one has; none when time is over."""
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    waited: list[object] = list(busy)
    return wait(waited, left) if waited else []  # type: ignore[arg-type, return-value]


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
