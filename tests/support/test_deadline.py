"""Deadlines: limits, checks and the way to other processes."""

from __future__ import annotations

import pickle

import pytest

from contextwise.errors import ContextwiseError
from contextwise.support.deadline import NEVER, Deadline, OutOfTime


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
