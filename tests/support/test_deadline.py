"""Deadlines: limits, checks and the way to other processes."""

from __future__ import annotations

import pickle
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from contextwise import compare
from contextwise.counting.contract import get_engine
from contextwise.errors import ContextwiseError
from contextwise.support.deadline import _ALARM, AGAIN, NEVER, Deadline, OutOfTime, _Enforced
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


@pytest.mark.parametrize("seconds", ["5", [5], 1j])
def test_a_limit_is_a_number(seconds: Any) -> None:
    with pytest.raises(ContextwiseError, match=r"time limit must be a number of seconds, got"):
        Deadline.after(seconds)


def test_a_limit_of_centuries_is_none() -> None:
    assert Deadline.after(1e10) is NEVER
    assert compare("lung", "lung-learned", time_limit=1e10).distance == 2


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


# -- blocks inside each other, and the program's own timer -----------------------------------------


def test_a_longer_limit_inside_does_not_suspend_the_outer_one() -> None:
    start = time.monotonic()
    with (
        pytest.raises(OutOfTime),
        Deadline.after(0.2).enforced(),
        Deadline.after(LATE).enforced(),
    ):
        endless()
    assert time.monotonic() - start < LATE


def test_the_limit_of_a_caller_is_not_caught() -> None:
    inner, outer = Deadline.after(LATE), Deadline.after(0.1)

    def swallows() -> str:
        try:
            with inner.enforced():
                endless()
        except inner.out_of_time:
            return "the inner limit"
        return "no limit"

    with pytest.raises(OutOfTime), outer.enforced():
        swallows()
    assert outer.out_of_time == (OutOfTime,)
    assert inner.out_of_time == ()


def test_an_alarm_in_the_cleanup_waits_and_nothing_rings_later() -> None:
    stopped = 0
    for _ in range(3000):
        try:
            with Deadline.after(0.0011).enforced():
                end = time.perf_counter() + random.uniform(0, 0.0022)
                while time.perf_counter() < end:
                    pass
        except OutOfTime:
            stopped += 1
    assert stopped > 0
    assert not _ALARM.blocks
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_the_list_of_blocks_is_never_interrupted() -> None:
    block = Deadline.after(0.01).enforced()
    with block:
        frame: Any = SimpleNamespace(f_code=_Enforced.__exit__.__code__, f_back=None)
        time.sleep(0.005)
        block.rings = 0.0
        _ALARM._ring(signal.SIGALRM, frame)  # does not raise, but rings again soon
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.001
        block.rings = float("inf")


def test_the_programs_own_timer_goes_on() -> None:
    rung: list[float] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 7.0)
        with Deadline.after(LATE).enforced():
            time.sleep(0.15)
        assert len(rung) == 1  # inside the block
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert interval == 7.0
        assert 6 < left < 7
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
