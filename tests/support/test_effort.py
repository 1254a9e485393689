"""The effort of a call: keywords, workers, progress."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from contextwise import compare, distance_matrix
from contextwise.errors import ContextwiseError
from contextwise.support.effort import QUIET, Effort


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"threads": 2.5}, "threads must be a whole number >= 1, got 2.5"),
        ({"threads": 0}, "threads must be a whole number >= 1, got 0"),
        ({"time_limit": "5"}, "time limit must be a number of seconds, got '5'"),
    ],
)
def test_wrong_keywords_are_errors(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        compare("lung", "lung-learned", **keywords)


@pytest.mark.parametrize("n_jobs", [0, -2, 2.5, "2"])
def test_a_wrong_number_of_jobs_is_an_error(n_jobs: Any) -> None:
    with pytest.raises(ContextwiseError, match=f"n_jobs must be >= 1, .* got {n_jobs!r}"):
        distance_matrix(["lung", "lung-learned"], n_jobs=n_jobs)


def test_a_worker_has_one_thread_and_the_deadline_and_is_silent() -> None:
    effort = Effort.of(60, n_jobs=2, cluster=lambda: None, show_progress=print)
    worker = pickle.loads(pickle.dumps(effort.of_worker()))
    assert (worker.threads, worker.n_jobs, worker.cluster, worker.progress) == (1, 1, None, None)
    assert 59 < worker.deadline.left() <= 60.1
    assert QUIET.of_worker().threads is None
    assert effort.alone().is_here


def test_a_part_reports_as_a_share_of_the_whole() -> None:
    told: list[tuple[int, int]] = []
    effort = Effort(show_progress=lambda *step: told.append(step))
    effort.part(10, 20, 40).report(1, 2)
    QUIET.part(10, 20, 40).report(1, 2)
    assert told == [(20, 40)]
