"""The effort of a call: its deadline, its workers, and where it reports progress.

Public functions take ``time_limit``, ``n_jobs``, ``cluster`` and ``show_progress``, make one
`Effort` of them with `Effort.of`, and pass that on. Loops look at its `Deadline`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import inf, isinf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

from contextwise.errors import ContextwiseError, OpenResult

if TYPE_CHECKING:
    from contextwise.support.maps import Map

T = TypeVar("T")
R = TypeVar("R")

# -- deadlines -------------------------------------------------------------------------------------

SOON = 1e-3
"""Seconds by which compiled code, which measures a limit on its own, may stop early."""
LONGEST_LIMIT_IN_SECONDS = 1e8
"""Seconds, about three years, from which on a limit is ignored."""


class OutOfTime(BaseException):
    """A deadline has passed. Code that set the deadline catches it with `Deadline.out_of_time`.

    It is not an `Exception`: code that reports failures must let it pass.
    """


class Deadline:
    """The moment when work must stop; nested calls pass on the same one.

    A deadline can be pickled and sent to another machine: it then refers to the wall clock, so the
    time spent in a queue counts.
    """

    def __init__(self, instant: float = inf) -> None:
        self.instant = instant
        """On the clock of `time.monotonic`; infinite if there is no limit."""

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline ``seconds`` from now, or one that never passes for None."""
        if seconds is None:
            return NEVER
        number: Any = seconds  # callers in Python can pass anything
        if not isinstance(number, Real):
            raise ContextwiseError(f"time limit must be a number of seconds, got {seconds!r}")
        if not seconds >= 0:
            raise ContextwiseError(f"time limit must be >= 0 seconds, got {seconds}")
        return (
            NEVER if seconds >= LONGEST_LIMIT_IN_SECONDS else cls(time.monotonic() + float(seconds))
        )

    def left(self) -> float | None:
        """Return the seconds that are left, at least 0, or None if there is no limit."""
        return None if isinf(self.instant) else max(0.0, self.instant - time.monotonic())

    @property
    def passed(self) -> bool:
        """True if no time is left."""
        return time.monotonic() >= self.instant

    def check(self) -> None:
        """Raise `OutOfTime` if no time is left."""
        if self.instant < inf and time.monotonic() >= self.instant:
            raise OutOfTime

    @property
    def out_of_time(self) -> tuple[type[OutOfTime], ...]:
        """The exceptions to catch for this deadline: none if it has not passed.

        Python looks at this only when something was raised. If this deadline has not passed then,
        `OutOfTime` is about the limit of a caller, who must get it::

            try:
                work(deadline)
            except deadline.out_of_time:
                return partial_result
        """
        return (OutOfTime,) if time.monotonic() >= self.instant - SOON else ()

    def sooner(self, seconds: float) -> Deadline:
        """Return this deadline, or the one ``seconds`` from now if that is earlier."""
        return Deadline(min(self.instant, time.monotonic() + seconds))

    def later(self, seconds: float) -> Deadline:
        """Return the deadline some seconds after this one."""
        return Deadline(self.instant + seconds)

    def __reduce__(self) -> tuple[object, ...]:
        return _from_wall_clock, (self.instant - time.monotonic() + time.time(),)


def _from_wall_clock(instant: float) -> Deadline:
    return Deadline(instant - time.time() + time.monotonic())


NEVER = Deadline()
SHORT_READING = 1.0  # seconds that reading has, however short the time limit
_READING: ContextVar[Deadline] = ContextVar("reading", default=NEVER)


@contextmanager
def limited_reading(deadline: Deadline) -> Iterator[None]:
    """Let `check_reading` raise once a deadline has passed, with a sentence for the user.

    Rows that are read quickly are always read: a command without time says what it left undone.
    """
    token = _READING.set(Deadline(max(deadline.instant, time.monotonic() + SHORT_READING)))
    try:
        yield
    except OutOfTime:
        raise OpenResult(
            "the time limit passed while the rows were read; raise it, or read fewer rows or "
            "columns"
        ) from None
    finally:
        _READING.reset(token)


def check_reading() -> None:
    """Raise `OutOfTime` if the deadline for reading has passed."""
    _READING.get().check()


# -- progress --------------------------------------------------------------------------------------

Progress = Callable[[int, int], None]
"""A function of (done, total)."""
SECONDS_BEFORE_A_BAR = 0.5  # seconds before the bar appears
INTERVAL = 0.1  # seconds between two drawings
BETWEEN_LINES = 10.0  # seconds between two lines where there is no terminal
CLEAR = "\r\x1b[K\x1b[?25h"  # an empty line, and the cursor that click hides


@contextmanager
def progress_of(wanted: bool | Progress, label: str) -> Iterator[Progress | None]:
    """Yield the function to report to: the caller's, one that draws a bar, or None.

    The bar appears only on a terminal and after half a second; it is removed at the end. Elsewhere
    a line is written every ten seconds.
    """
    if callable(wanted):
        yield wanted
    elif not wanted or sys.stderr is None:
        yield None
    elif not sys.stderr.isatty():
        yield _lines(label)
    else:
        try:
            yield _bar(label)
        finally:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def _lines(label: str) -> Progress:
    due = time.monotonic() + BETWEEN_LINES

    def write(done: int, total: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + BETWEEN_LINES
            print(f"{label}: {done:,} of {total:,}", file=sys.stderr, flush=True)

    return write


def _bar(label: str) -> Progress:
    import click  # here, because work without a terminal does not need it

    # Click needs a length at once; the first call sets it.
    bar = click.progressbar(length=0, label=label, file=sys.stderr, show_pos=True)
    due = time.monotonic() + SECONDS_BEFORE_A_BAR

    def draw(done: int, total: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + INTERVAL
            bar.length = total
            bar.update(done - bar.pos)

    return draw


# -- efforts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """How long a call may take, on how many workers, and where it reports progress."""

    deadline: Deadline = NEVER
    threads: int | None = None
    """The threads of a count in one process; None means one per core."""
    n_jobs: int = 1
    cluster: Any = None
    show_progress: bool | Progress = False

    @classmethod
    def of(
        cls,
        time_limit: float | None = None,
        *,
        threads: int | None = None,
        n_jobs: int = 1,
        cluster: Any = None,
        show_progress: bool | Progress = False,
    ) -> Effort:
        """Check the keywords of a public function; the time starts now."""
        if threads is not None and not (_is_whole(threads) and threads >= 1):
            raise ContextwiseError(f"threads must be a whole number >= 1, got {threads!r}")
        check_jobs(n_jobs)
        return cls(Deadline.after(time_limit), threads, n_jobs, cluster, show_progress)

    @property
    def is_here(self) -> bool:
        """True if this process does the work."""
        return self.n_jobs == 1 and self.cluster is None

    @property
    def map(self) -> Map:
        """The map over the workers."""
        from contextwise.support.maps import choose_map  # here, as it loads multiprocessing

        return choose_map(n_jobs=self.n_jobs, cluster=self.cluster)

    def of_worker(self) -> Effort:
        """Return the effort of one worker, which can be pickled: it has one thread and is silent.

        If this process does the work, it keeps its threads.
        """
        return Effort(self.deadline, self.threads if self.is_here else 1)

    def alone(self) -> Effort:
        """Return the effort of this process without other workers."""
        return replace(self, n_jobs=1, cluster=None)

    def showing(self, label: str) -> AbstractContextManager[Effort]:
        """Yield this effort with a bar on a terminal, if progress is shown, under a label."""
        if self.show_progress is False:
            return nullcontext(self)  # faster, which small comparisons notice
        return self._showing(label)

    @contextmanager
    def _showing(self, label: str) -> Iterator[Effort]:
        with progress_of(self.show_progress, label) as progress:
            yield replace(self, show_progress=progress or False)

    @property
    def progress(self) -> Progress | None:
        """The function to report to, if there is one; see `showing`."""
        return self.show_progress if callable(self.show_progress) else None

    def report(self, done: int, total: int) -> None:
        """Report progress if somebody listens."""
        if callable(self.show_progress):
            self.show_progress(done, total)

    def part(self, before: int, share: int, total: int) -> Effort:
        """Return the effort of one part, which reports its progress as that of the whole.

        ``before`` units of the whole are done already, this part is ``share`` of ``total`` units.
        """
        whole = self.progress
        if whole is None:
            return replace(self, show_progress=False)
        return replace(
            self,
            show_progress=lambda done, of: whole(before + share * done // max(of, 1), total),
        )

    def each(
        self, what: str, function: Callable[[T], R], items: Iterable[T]
    ) -> Iterator[tuple[T, R]]:
        """Yield items with their values as workers finish them; raise if one fails at ``what``."""
        for done in self.map(function, items):
            if done.problem is not None:
                raise done.problem
            if done.error is not None:
                raise ContextwiseError(f"{what} failed: {done.error}")
            value: Any = done.value
            yield done.item, value


def check_jobs(n_jobs: int) -> None:
    """Raise unless this is a number of processes or threads."""
    if not _is_whole(n_jobs) or (n_jobs < 1 and n_jobs != -1):
        raise ContextwiseError(f"n_jobs must be >= 1, or -1 for one per core, got {n_jobs!r}")


def _is_whole(value: object) -> bool:
    return type(value) is int or isinstance(value, Integral)  # the first is much faster


QUIET = Effort()
"""No limit, this process, no report."""
