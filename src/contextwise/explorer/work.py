"""Work that a session waits for without standing still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shiny import reactive, req

from contextwise.explorer.process import Job


class Worker:
    """One kind of work of a session, one piece at a time: a new piece ends the one before."""

    def __init__(self, function: Callable[..., Any], *, seconds: float) -> None:
        self._function = function
        self._seconds = seconds
        self._job: Job | None = None
        self._task: reactive.ExtendedTask[..., Any] = reactive.ExtendedTask(self._run)

    async def _run(self, *arguments: Any, seconds: float) -> Any:
        self._job = Job(self._function, *arguments, seconds=seconds)
        return await self._job.result()

    def start(self, *arguments: Any, seconds: float | None = None) -> None:
        """Begin; its result is there later."""
        self._task.cancel()
        self._task.invoke(*arguments, seconds=seconds or self._seconds)

    def interrupt(self) -> None:
        """Ask the work to end with what it has."""
        if self._job is not None:
            self._job.interrupt()

    def drop(self) -> None:
        """End the work; nobody wants its result."""
        self._task.cancel()

    @property
    def done(self) -> tuple[int, int]:
        """How far it is, as (done, in all)."""
        return (0, 0) if self._job is None else self._job.done

    def running(self) -> bool:
        """Whether it is under way; whoever asks is told when that changes."""
        return self._task.status() == "running"

    def succeeded(self) -> bool:
        """Whether there is a result; whoever asks is told when that changes."""
        return self._task.status() == "success"

    def failure(self) -> str | None:
        """Why there is none, if it failed."""
        return str(self._task.error()) if self._task.status() == "error" else None

    def result(self) -> Any:
        """What it gave; while there is nothing, whoever asks waits, and a failure is raised."""
        status = self._task.status()
        if status == "error":
            raise self._task.error()
        req(status == "success", cancel_output=status == "running")  # meanwhile, what was there
        return self._task.value()
