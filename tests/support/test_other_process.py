"""Calls in another process: equal results, its exceptions, and an end in time."""

from __future__ import annotations

import os
import random
import sys
import time
from functools import partial

import pytest

from contextwise.errors import ContextwiseError
from contextwise.support import other_process
from contextwise.support.other_process import TimeIsUp, call_elsewhere, processor_time


def drawn() -> tuple[float, str]:
    return random.random(), repr({"a", "b", "c", "d"})


def test_equal_calls_give_equal_results_in_a_process_with_a_fixed_hash_seed() -> None:
    first = call_elsewhere(drawn)
    assert call_elsewhere(drawn) == first
    for process in other_process._idle:
        process.end()
    other_process._idle.clear()
    assert call_elsewhere(drawn) == first  # also in a new process
    assert call_elsewhere(other_process.is_repeatable)


def test_a_process_serves_again_and_an_exception_comes_back() -> None:
    here = call_elsewhere(os.getpid)
    with pytest.raises(ZeroDivisionError):
        call_elsewhere(partial(divmod, 1, 0))
    assert call_elsewhere(os.getpid) == here != os.getpid()


def test_the_call_is_ended_in_time_and_the_next_one_gets_another_process() -> None:
    before = call_elsewhere(os.getpid)
    with pytest.raises(TimeIsUp):
        call_elsewhere(partial(time.sleep, 60), seconds=0.1)
    assert call_elsewhere(os.getpid) != before


def test_a_process_that_dies_is_an_error() -> None:
    with pytest.raises(ContextwiseError, match=r"without a result \(exit code 3\)"):
        call_elsewhere(partial(os._exit, 3))


def test_what_is_printed_there_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert call_elsewhere(partial(print, "words")) is None
    assert sys.stdout is not None
    assert "words" not in capfd.readouterr().out


def test_its_processor_time_counts() -> None:
    before = processor_time()
    call_elsewhere(partial(sum, range(3_000_000)))
    assert processor_time() > before
