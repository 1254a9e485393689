"""Jobs of the explorer: results, errors, interrupts, and processes that end."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from contextwise import compare, examples
from contextwise.explorer import computations
from contextwise.explorer.job import Job, WorkError
from contextwise.models.structure import structure_of
from hard import hard_models

SIX, SIX_GUESS = (structure_of(examples.load(name)) for name in ("six", "six-guess"))


def run(function: Callable[..., Any], *arguments: Any, seconds: float = 60) -> Any:
    return asyncio.run(Job(function, *arguments, seconds=seconds).result())


def test_a_job_gives_what_the_function_gives() -> None:
    guess = {"a": ("guess", SIX_GUESS)}
    found = run(computations.compare_all, SIX, guess, 60.0)
    assert found["a"].comparison.confusion == compare(SIX, SIX_GUESS).confusion
    assert found["a"].worst_pair == ("X1", "X2")


def test_a_user_s_error_comes_back_as_its_message() -> None:
    with pytest.raises(WorkError, match="unknown variable 'Y'"):
        run(computations.answers, [SIX], "X0 _||_ Y", 10.0)


def test_a_mistake_of_ours_is_said_and_does_not_end_the_session() -> None:
    with pytest.raises(WorkError, match="internal error"):
        run(computations.read_uploads, [None])


def test_a_job_that_is_late_leaves_no_process() -> None:
    true, guess = hard_models()
    arguments = (true, {"a": ("guess", guess)}, 600.0)
    job = Job(computations.compare_all, *arguments, seconds=2)
    with pytest.raises(WorkError, match="within 2 seconds"):
        asyncio.run(job.result())
    pid = job._process.pid
    for _ in range(200):
        if not _alive(pid):
            break
        time.sleep(0.05)
    assert not _alive(pid)


def test_a_job_is_interrupted_however_early(capfd: pytest.CaptureFixture[str]) -> None:
    true, guess = hard_models()
    arguments = (true, {"a": ("guess", guess)}, 600.0)
    job = Job(computations.compare_all, *arguments, seconds=60)
    job.interrupt()  # before there is a process

    async def outcome() -> str:
        try:
            found = await job.result()
        except WorkError as error:
            return str(error)
        return "stopped" if found["a"].comparison.unions.interrupted else "went on"

    assert "stopped" in asyncio.run(outcome())
    assert "Traceback" not in capfd.readouterr().err


def test_a_pipe_stays_open_while_somebody_reads_from_it() -> None:
    job = Job(computations.read_uploads, [], seconds=60)
    pipe, reading, go_on = job._receiving, threading.Event(), threading.Event()

    class Slow:
        poll, close = pipe.poll, pipe.close

        def recv(self) -> object:
            reading.set()
            go_on.wait()
            return pipe.recv()

    job._receiving = Slow()

    async def give_up() -> None:
        result = asyncio.ensure_future(job.result())
        await asyncio.to_thread(reading.wait)
        result.cancel()
        await asyncio.wait([result])
        await asyncio.to_thread(job._end)
        is_closed = pipe.closed
        go_on.set()
        assert not is_closed

    asyncio.run(give_up())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
