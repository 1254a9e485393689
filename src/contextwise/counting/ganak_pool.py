"""The processes in which Ganak counts: started when needed, kept for later, ended by force.

Ganak can neither be interrupted nor kept from writing to the standard output, so it lives in
processes of its own (`ganak_worker`). A time limit or Ctrl-C kills them; otherwise they stay for
the next count, because a process takes longer to start than most counts.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path

from contextwise.counting.cnf import Formula
from contextwise.errors import EngineError

SCRIPT = Path(__file__).with_name("ganak_worker.py")


def count_models(
    formulas: Iterable[Formula], *, processes: int | None = None, deadline: float | None = None
) -> Iterator[tuple[int, int]]:
    """The numbers of models of many formulas, as (place, number), in the order they are finished.

    Ends early at the deadline. A formula whose process died, for want of memory say, is left out.

    >>> formulas = [Formula(2, ((1, 2),), factor=1), Formula(3, (), factor=1)]
    >>> sorted(count_models(formulas))
    [(0, 3), (1, 8)]
    """
    processes = processes or os.cpu_count() or 1
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
                    worker.send(formula)
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


def _ready(busy: Iterable[Worker], deadline: float | None) -> list[Worker]:
    """The workers that have answered, as soon as one has; none when time is over."""
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    waited: list[object] = list(busy)
    return wait(waited, left) if waited else []  # type: ignore[arg-type, return-value]


class Worker:
    """One process around Ganak. It counts one formula at a time."""

    idle: list[Worker] = []  # noqa: RUF012  (shared by all of them on purpose)

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

    def send(self, formula: Formula) -> None:
        """Begin to count; a process that died shows when its answer is received."""
        assert self.process.stdin is not None
        line = json.dumps([formula.booleans, formula.clauses]).encode() + b"\n"
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
        """End the process by force."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


@atexit.register
def end_idle_workers() -> None:
    """End the processes that are kept for later."""
    while Worker.idle:
        Worker.idle.pop().end()
