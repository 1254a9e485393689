"""Work that a session waits for without standing still.

A `Background` is one kind of work of a session: a new piece ends the one before. What is known of
it is an `Outcome`, which a view shows: not asked for, under way, failed, or done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from shiny import reactive

from contextwise.explorer.job import Done, Failed, Job, Outcome, WorkError, Working

T = TypeVar("T")
LOOK = 0.25  # seconds between two looks at how far a job is


@dataclass(frozen=True, eq=False)
class Begun:
    """Work that was begun before a session asks for it: the job, and its result to come."""

    job: Job
    result: asyncio.Future[Any]

    @classmethod
    def of(cls, function: Callable[..., Any], *arguments: Any, seconds: float) -> Begun:
        """Begin a function of these arguments in a process of its own.

        Parameters
        ----------
        function : of arguments and of a `Tell`
        arguments : of the function
        seconds : after so many it is given up

        Returns
        -------
        Begun
        """
        job = Job(function, *arguments, seconds=seconds)
        return cls(job, asyncio.ensure_future(job.result()))


class Background(Generic[T]):
    """One kind of work of a session, one piece at a time: a new piece ends the one before.

    What is known of it is one reactive value: the key of what was asked for, and its outcome.

    Parameters
    ----------
    function : of arguments and of a `Tell`
        It is called in a process of its own.
    """

    def __init__(self, function: Callable[..., T]) -> None:
        self._function = function
        self._job: Job | None = None
        self._task: asyncio.Task[None] | None = None
        nothing: tuple[Hashable, Outcome[T]] = (None, None)
        self._known = reactive.value(nothing, name=function.__name__)

    def start(self, key: Hashable, *arguments: Any, seconds: float) -> None:
        """Begin a piece of work; its outcome is known under the key.

        Parameters
        ----------
        key : what the work is about
        arguments : of the function
        seconds : after so many it is given up
        """
        self.adopt(key, Begun.of(self._function, *arguments, seconds=seconds))

    def adopt(self, key: Hashable, begun: Begun) -> None:
        """Go on with a piece of work that was begun already; its outcome is known under the key."""
        self._cancel()
        self._known.set((key, Working("Starting")))
        self._job = begun.job
        self._task = asyncio.create_task(self._follow(key, begun))

    def interrupt(self) -> None:
        """Ask the work to end with what it has."""
        if self._job is not None:
            self._job.interrupt()

    def drop(self) -> None:
        """End the work; nobody wants its result."""
        self._cancel()
        self._known.set((None, None))

    def asked(self) -> Hashable:
        """The key of what was begun last, as a reactive read."""
        return self._known()[0]

    def outcome(self, key: Hashable) -> Outcome[T]:
        """What is known of the work about something, as a reactive read."""
        about, outcome = self._known()
        return outcome if key is not None and about == key else None

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._job = self._task = None

    async def _follow(self, key: Hashable, begun: Begun) -> None:
        """Tell the page how far a job is, from time to time, and then what came of it."""
        result = begun.result
        try:
            while not (await asyncio.wait([result], timeout=LOOK))[0]:
                await self._tell(key, begun.job.told)
        finally:
            result.cancel()  # if nobody waits any more; one that is done stays as it is
        try:
            outcome: Outcome[T] = Done(result.result())
        except WorkError as error:
            outcome = Failed(str(error))
        await self._tell(key, outcome)

    async def _tell(self, key: Hashable, outcome: Outcome[T]) -> None:
        async with reactive.lock():
            with reactive.isolate():
                changed = self._known() != (key, outcome)
            if changed:
                self._known.set((key, outcome))
                await reactive.flush()
