"""How units of work are mapped: here, over processes, or over a cluster; the same code everywhere.

A **map** is a function of (function, items) that yields a `Done` for each item, in the order in
which they finish. A unit that raises is tried again, three times in all; then it is reported as
failed and the rest goes on. A worker that dies counts as a failure of the units it held, and
they go to another one. Stopping the iteration (Ctrl-C included) cancels what has not begun, and
ends the processes.

The function and the items travel to other processes, so both must be picklable. Nothing here knows
what the work is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from contextwise.errors import ContextwiseError, require

T = TypeVar("T")
R = TypeVar("R")

TRIES = 3
WINDOW = 4
"""How many units per worker are handed out ahead of time."""
PATIENCE = 5.0
"""Seconds that a cluster may take to answer, and to have its first worker."""


@dataclass(frozen=True)
class Done(Generic[T, R]):
    """A unit that is finished: its value, or why it failed."""

    item: T
    value: R | None = None
    error: str | None = None
    tries: int = 1


Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Done[Any, Any]]]


def choose_map(*, n_jobs: int = 1, cluster: Any = None) -> Map:
    """The map over a cluster, over several processes, or in this process alone.

    Parameters
    ----------
    n_jobs : int
        How many processes; 1 means this one, -1 one process per core.
    cluster : address such as ``tcp://host:8786``, or a Dask client
        Goes before ``n_jobs``.

    Returns
    -------
    function of (function, items)
        It yields a `Done` for each item, in the order in which they finish.

    Raises
    ------
    ContextwiseError
        At once, if there can be no such number of processes; when the work begins, if no cluster
        answers.

    Examples
    --------
    >>> sorted(done.value for done in choose_map(n_jobs=1)(abs, [-1, 2]))
    [1, 2]
    """
    if cluster is not None:
        return lambda function, items: _on_cluster(function, items, cluster)
    if n_jobs < 1 and n_jobs != -1:
        raise ContextwiseError(
            f"n_jobs is a number of processes, or -1 for one process per core, not {n_jobs}"
        )
    if n_jobs == 1:
        return here
    return lambda function, items: _over_processes(function, items, n_jobs)


def here(function: Callable[[T], R], items: Iterable[T]) -> Iterator[Done[T, R]]:
    """One unit after the other in this process: the map for a single process.

    Parameters
    ----------
    function : function of an item
    items : what it is called with

    Yields
    ------
    Done

    Examples
    --------
    >>> [done.value for done in here(abs, [-1, 2])]
    [1, 2]
    >>> next(here(int, ["x"]))
    Done(item='x', value=None, error="ValueError: ...'x'", tries=3)
    """
    for item in items:
        yield _attempt(function, item)


def _attempt(function: Callable[[T], R], item: T) -> Done[T, R]:
    """One unit, tried until it works or has failed too often. Runs in the worker."""
    error = ""
    for tries in range(1, TRIES + 1):
        try:
            return Done(item, function(item), tries=tries)
        except Exception as problem:  # whatever a user's work raises is reported, never lost
            error = _named(problem)
    return Done(item, error=error, tries=TRIES)


def _over_processes(
    function: Callable[[T], R], items: Iterable[T], n_jobs: int
) -> Iterator[Done[T, R]]:
    loky = require("loky", "jobs")
    count = loky.cpu_count() if n_jobs < 0 else n_jobs
    if isinstance(items, Sized):  # more processes than cores and units would only wait
        count = min(count, max(loky.cpu_count(), len(items)))

    def executor() -> Executor:
        made: Executor = loky.get_reusable_executor(max_workers=count, timeout=60)
        return made

    def end() -> None:
        # What is in flight is lost anyway; without this, Python would wait for it at its end.
        executor().shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]

    yield from _windowed(function, items, executor, count, when_stopped=end)


def _on_cluster(
    function: Callable[[T], R], items: Iterable[T], cluster: Any
) -> Iterator[Done[T, R]]:
    with _client_of(cluster) as client:
        workers = _workers_of(client)
        executor = client.get_executor(pure=False)
        try:
            yield from _windowed(function, items, lambda: executor, workers)
        finally:
            executor.shutdown(wait=False)


@contextmanager
def _client_of(cluster: Any) -> Iterator[Any]:
    """A client for an address, closed at the end; or the caller's own, which stays open."""
    distributed = require("distributed", "cluster")
    if not isinstance(cluster, str):
        yield cluster
        return
    try:
        client = distributed.Client(cluster, timeout=PATIENCE)
    except (OSError, ValueError):
        raise ContextwiseError(
            f"no Dask scheduler answers at {cluster!r}; an address looks like tcp://host:8786"
        ) from None
    with client:
        yield client


def _workers_of(client: Any) -> int:
    """How many units a cluster can do at once; none, or workers that cannot do ours, are errors."""
    from importlib.metadata import version

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except OSError:
        raise ContextwiseError(
            "the cluster has no workers; start one with: dask worker SCHEDULER_ADDRESS"
        ) from None
    own = version("contextwise")
    for worker, theirs in client.run(version, "contextwise", on_error="return").items():
        if theirs != own:
            has = f"contextwise {theirs}" if isinstance(theirs, str) else "no contextwise"
            raise ContextwiseError(
                f"the worker {worker} has {has}; install there what is here: "
                f"pip install contextwise=={own}"
            )
    return sum(client.nthreads().values())


def _windowed(
    function: Callable[[T], R],
    items: Iterable[T],
    executor: Callable[[], Executor],
    workers: int,
    when_stopped: Callable[[], None] = lambda: None,
) -> Iterator[Done[T, R]]:
    """Hand units out a few at a time; a unit whose worker died is handed out again."""
    waiting = iter(items)
    running: dict[Future[Done[T, R]], tuple[T, int]] = {}

    def submit(item: T, deaths: int) -> None:
        running[executor().submit(_attempt, function, item)] = (item, deaths)

    try:
        while True:
            for item in islice(waiting, workers * WINDOW - len(running)):
                submit(item, 0)
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                item, deaths = running.pop(future)
                done = _result(future, item, deaths + 1)
                if done is None:
                    submit(item, deaths + 1)
                else:
                    yield done
    except (KeyboardInterrupt, GeneratorExit):
        when_stopped()
        raise
    finally:
        for future in running:
            future.cancel()


def _result(future: Future[Done[T, R]], item: T, deaths: int) -> Done[T, R] | None:
    """What a future gave; None if its worker died and the unit deserves another one.

    A cluster has given a unit to several workers before it says that they died.
    """
    try:
        return future.result()
    except CancelledError:
        raise ContextwiseError("the cluster went away in the middle of the work") from None
    except (BrokenProcessPool, OSError, RuntimeError) as problem:
        if deaths < TRIES:
            return None
        return Done(item, error=f"its worker died: {type(problem).__name__}", tries=deaths)
    except Exception as problem:  # of the machinery: those of the work are in a Done
        return Done(item, error=f"no worker could do it: {_named(problem)}", tries=TRIES)


def _named(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"
