"""Deadlines: limits, checks and the way to other processes."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from contextwise import compare
from contextwise.errors import ContextwiseError
from contextwise.support.effort import NEVER, Deadline, OutOfTime
from hard import LATE


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


def test_a_deadline_can_be_moved() -> None:
    assert NEVER.sooner(0).passed
    assert Deadline.after(0).sooner(60).passed
    assert not Deadline.after(0).later(60).passed
    assert NEVER.later(1).left() is None


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


def test_the_limit_of_a_caller_is_not_caught() -> None:
    inner, outer = Deadline.after(LATE), Deadline.after(0)

    def swallows() -> str:
        try:
            outer.check()
        except inner.out_of_time:
            return "the inner limit"
        return "no limit"

    with pytest.raises(OutOfTime):
        swallows()
    assert outer.out_of_time == (OutOfTime,)
    assert inner.out_of_time == ()
