"""Map a function over units of work: in this process, over processes, or over a cluster.

A **map** is a function of (function, items) that yields a `Finished` for each item, in the order in
which they finish. An item that raises is reported as failed, with its exception, and the others
continue. An item whose worker died gets another one, three in all. Stopping the iteration (Ctrl-C
included) cancels what has not started and ends the processes. The function and the items must be
picklable.
"""

from __future__ import annotations

import pickle
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Generic, TypeVar

from contextwise.errors import ContextwiseError, require
from contextwise.support.effort import NEVER, Deadline, OutOfTime
from contextwise.support.machine import cores

T = TypeVar("T")
R = TypeVar("R")

TRIES_PER_ITEM = 3
WINDOW = 4
"""The number of items per worker that are submitted ahead of time."""
SECONDS_TO_END_ALONE = 1.0
"""Seconds after the deadline in which running items may end by themselves."""
SECONDS_FOR_A_CLUSTER = 5.0
"""Seconds to wait for a cluster to answer, and for its first worker."""


@dataclass(frozen=True)
class Finished(Generic[T, R]):
    """A finished item: its value, or the error."""

    item: T
    value: R | None = None
    error: str | None = None
    problem: Exception | None = field(default=None, compare=False)
    """The exception, if the item raised one; from other processes with its traceback as a note."""


Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Finished[Any, Any]]]


def choose_map(*, n_jobs: int = 1, cluster: Any = None, deadline: Deadline = NEVER) -> Map:
    """Return the map over a cluster (an address or a Dask client), processes, or this process.

    ``n_jobs=-1`` means one process per core. The map raises `OutOfTime` at the deadline; items that
    run elsewhere get a second more to end by themselves.
    """
    if cluster is not None:
        return lambda function, items: _on_cluster(function, items, cluster, deadline)
    if n_jobs == 1:
        return lambda function, items: _here(function, items, deadline)
    return lambda function, items: _over_processes(function, items, n_jobs, deadline)


def _here(
    function: Callable[[T], R], items: Iterable[T], deadline: Deadline
) -> Iterator[Finished[T, R]]:
    """Map in this process, one item after the other."""
    for item in items:
        deadline.check()
        yield _attempt(function, item)


def _attempt(function: Callable[[T], R], item: T) -> Finished[T, R]:
    try:
        return Finished(item, function(item))
    except Exception as problem:
        return Finished(item, None, f"{type(problem).__name__}: {problem}", problem)


def _attempt_there(function: Callable[[T], R], item: T) -> Finished[T, R]:
    """Do one item in another process: exceptions lose their tracebacks on the way back."""
    done = _attempt(function, item)
    problem = done.problem
    if problem is None:
        return done
    trace = "".join(traceback.format_exception(problem))
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        problem = RuntimeError(done.error)
    problem.add_note(f"In another process:\n{trace}")
    return replace(done, problem=problem)


def _over_processes(
    function: Callable[[T], R], items: Iterable[T], n_jobs: int, deadline: Deadline
) -> Iterator[Finished[T, R]]:
    from multiprocessing import resource_tracker

    loky = require("loky", "jobs")
    require("threadpoolctl", "jobs")  # keeps each process to one thread
    resource_tracker.ensure_running()  # now, as it unblocks signals for the workers when it starts
    count = cores() if n_jobs < 0 else n_jobs
    if isinstance(items, Sized):  # more processes than cores or items would only wait
        count = min(count, max(cores(), len(items)))

    def executor() -> Executor:
        reused: Executor = loky.get_reusable_executor(max_workers=count, timeout=60)
        return reused

    def end() -> None:
        # Without this, Python would wait at exit for work whose result is lost anyway.
        executor().shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]

    yield from _windowed(function, items, executor, count, deadline, when_stopped=end)


def _on_cluster(
    function: Callable[[T], R], items: Iterable[T], cluster: Any, deadline: Deadline
) -> Iterator[Finished[T, R]]:
    with _client_of(cluster) as client:
        executor = client.get_executor(pure=False)
        try:
            workers = _workers_of(client)
            yield from _windowed(function, items, lambda: executor, workers, deadline)
        finally:
            executor.shutdown(wait=False)


@contextmanager
def _client_of(cluster: Any) -> Iterator[Any]:
    """Connect to an address and close the client at the end; a client passed in stays open."""
    distributed = require("distributed", "cluster")
    if not isinstance(cluster, str):
        yield cluster
        return
    try:
        client = distributed.Client(cluster, timeout=SECONDS_FOR_A_CLUSTER)
    except (OSError, ValueError):
        raise ContextwiseError(
            f"no Dask scheduler answers at {cluster!r}; an address looks like tcp://host:8786"
        ) from None
    with client:
        yield client


def _workers_of(client: Any) -> int:
    """Return the number of worker threads; raise if no worker has this version."""
    from importlib.metadata import version

    try:
        client.wait_for_workers(1, timeout=SECONDS_FOR_A_CLUSTER)
    except OSError:
        raise ContextwiseError(
            "the cluster has no workers; start one with: dask worker SCHEDULER_ADDRESS"
        ) from None
    here_version = version("contextwise")
    for worker, theirs in client.run(version, "contextwise", on_error="return").items():
        if theirs != here_version:
            has = f"contextwise {theirs}" if isinstance(theirs, str) else "no contextwise"
            raise ContextwiseError(
                f"the worker {worker} has {has}; install this version there: "
                f"pip install contextwise=={here_version}"
            )
    return sum(client.nthreads().values())


def _windowed(
    function: Callable[[T], R],
    items: Iterable[T],
    executor: Callable[[], Executor],
    workers: int,
    deadline: Deadline,
    when_stopped: Callable[[], None] = lambda: None,
) -> Iterator[Finished[T, R]]:
    """Submit a few items at a time; resubmit an item whose worker died."""
    waiting = iter(items)
    running: dict[Future[Finished[T, R]], tuple[T, int]] = {}
    end = deadline.later(SECONDS_TO_END_ALONE)

    def submit(item: T, deaths: int) -> None:
        with _interrupts_blocked():
            running[executor().submit(_attempt_there, function, item)] = (item, deaths)

    try:
        while True:
            for item in islice(waiting, workers * WINDOW - len(running)):
                submit(item, 0)
            if not running:
                return
            finished = wait(running, end.left(), return_when=FIRST_COMPLETED).done
            end.check()
            for future in finished:
                item, deaths = running.pop(future)
                done = _result(future, item, deaths + 1)
                if done is None:
                    submit(item, deaths + 1)
                else:
                    yield done
    except (KeyboardInterrupt, GeneratorExit, OutOfTime):
        when_stopped()
        raise
    finally:
        for future in running:
            future.cancel()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block signals while workers start: they inherit this, so only the parent ends them.

    A worker that is interrupted during its imports would print a traceback, and a parent that is
    interrupted while it starts workers would not know them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result(future: Future[Finished[T, R]], item: T, deaths: int) -> Finished[T, R] | None:
    """Return the result of a future, or None if its worker died and the item gets another try."""
    try:
        return future.result()
    except CancelledError:
        raise ContextwiseError("the cluster stopped before the work was done") from None
    except Exception as problem:  # of the machinery: exceptions of the work are in a Finished
        if why := _why_not_sent(problem):
            return Finished(item, error=f"it cannot be sent to another process: {why}")
        # Dask raises KilledWorker after several workers died over an item.
        if deaths < TRIES_PER_ITEM and type(problem).__name__ != "KilledWorker":
            return None
        what = f"{type(problem).__name__}: {problem}"
        return Finished(item, error=f"{deaths} workers died over it, the last by {what}")


def _why_not_sent(problem: Exception) -> str:
    """Return why work could not be pickled, or read by the worker; empty if a worker died."""
    if isinstance(problem, pickle.PicklingError | TypeError | AttributeError | ImportError):
        first = problem.__cause__ or problem
        text = str(first).strip().strip('"').strip().splitlines()
        return text[-1] if text else type(first).__name__
    if "un-serialize" in str(problem):  # loky's; the traceback of the worker is the cause
        lines = str(problem.__cause__ or "").strip().strip('"').strip().splitlines()
        return lines[-1] if lines else str(problem)
    return ""
