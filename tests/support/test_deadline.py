"""Deadlines: limits, checks and the way to other processes."""

from __future__ import annotations

import pickle
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from contextwise.counting.contract import get_engine
from contextwise.errors import ContextwiseError
from contextwise.support.deadline import AGAIN, NEVER, Deadline, OutOfTime
from hard import LATE, hard_cover


def test_a_limit_of_zero_has_passed() -> None:
    deadline = Deadline.after(0)
    assert deadline.passed
    assert deadline.left() == 0
    with pytest.raises(OutOfTime):
        deadline.check()


def test_no_limit_never_passes() -> None:
    assert Deadline.after(None) is NEVER
    assert NEVER.left() is None
    assert not NEVER.passed
    NEVER.check()


def test_a_deadline_can_be_moved_forward_only() -> None:
    assert NEVER.sooner(0).passed
    assert Deadline.after(0).sooner(60).passed


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_a_limit_is_not_negative(seconds: float) -> None:
    with pytest.raises(ContextwiseError, match=r"time limit must be >= 0 seconds, got"):
        Deadline.after(seconds)


def test_another_process_gets_the_same_deadline() -> None:
    left = pickle.loads(pickle.dumps(Deadline.after(60))).left()
    assert 59 < left <= 60.1
    assert pickle.loads(pickle.dumps(NEVER)).left() is None


# -- code that does not check ----------------------------------------------------------------------


def endless() -> None:
    start = time.monotonic()
    while time.monotonic() - start < LATE:
        pass


def count_in_the_kernel() -> None:
    get_engine("native").count_union(hard_cover())


def swallow() -> None:
    with suppress(OutOfTime):
        endless()
    endless()


@pytest.mark.parametrize("work", [endless, count_in_the_kernel, swallow])
def test_an_enforced_deadline_stops_any_code(work: Callable[[], None]) -> None:
    start = time.monotonic()
    with pytest.raises(OutOfTime), Deadline.after(0.2).enforced():
        work()
    assert time.monotonic() - start < LATE


def test_enforced_deadlines_nest_and_end() -> None:
    with pytest.raises(OutOfTime), Deadline.after(0.3).enforced():  # noqa: PT012
        with Deadline.after(60).enforced(), NEVER.enforced():
            pass
        endless()
    with Deadline.after(0.1).enforced(grace=60):
        time.sleep(0.2)
    with pytest.raises(OutOfTime), Deadline.after(0).enforced():
        pass
    time.sleep(2 * AGAIN)  # nothing rings after the blocks
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_a_thread_checks_an_enforced_deadline_at_its_start() -> None:
    with ThreadPoolExecutor() as threads:
        stopped = threads.submit(Deadline.after(0).enforced().__enter__)
        assert isinstance(stopped.exception(), OutOfTime)
        threads.submit(Deadline.after(60).enforced().__enter__).result()


class Lasting:
    """Its destructor takes longer than the deadline."""

    def __del__(self) -> None:
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pass


def test_a_deadline_in_a_destructor_is_raised_again_without_a_message() -> None:
    def drop_and_wait() -> None:
        lasting = Lasting()
        del lasting
        time.sleep(LATE)

    with pytest.raises(OutOfTime), Deadline.after(0.05).enforced():
        drop_and_wait()
