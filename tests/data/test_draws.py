"""Draws of rows: shares, resamples and splits, also of counted rows and of whole subjects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextwise.data import draws, read_data
from contextwise.data.draws import draw_data, draw_rows, read_once, split_rows

ROWS = read_data([[k % 2, k % 3] for k in range(60)])
COUNTED = read_data([{"a": k % 2, "b": k % 3, "Freq": 10 * k + 1} for k in range(6)], counts="Freq")


@pytest.mark.parametrize("limit", [2**20, 10])
def test_a_split_has_each_observation_once(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "MOST_TAKEN", limit)  # beyond it counts are drawn
    for data in (ROWS, COUNTED):
        half, rest = split_rows(data, 0.5, 1)
        assert len(half) == round(len(data) / 2)
        assert len(half) + len(rest) == len(data)
        for one, other, whole in zip(half.counts(), rest.counts(), data.counts(), strict=True):
            assert (one + other == whole).all()


@pytest.mark.parametrize("limit", [2**20, 10])
def test_a_resample_is_as_large_as_the_data(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "MOST_TAKEN", limit)
    for data in (ROWS, COUNTED):
        assert len(draw_data(data, data, None, 3)) == len(data)
        assert len(draw_data(data, data, 0.25, 3)) == round(len(data) / 4)


def test_subjects_are_drawn_whole() -> None:
    subjects = np.arange(60) // 4
    chosen = draw_rows(60, subjects, 0.4, np.random.default_rng(0))
    assert len(chosen) == 24
    assert all(np.isin(4 * (subjects[row]) + np.arange(4), chosen).all() for row in chosen)
    half, rest = split_rows(replace(ROWS, subjects=subjects), 0.5, 0)
    assert half.subjects is not None
    assert rest.subjects is not None
    assert not set(half.subjects.tolist()) & set(rest.subjects.tolist())


def test_data_are_read_once_and_keep_their_form() -> None:
    rows = [[0, 1], [1, 0]] * 5
    raw, data = read_once(rows, None)
    assert raw is rows
    assert len(data) == 10
    raw, data = read_once("titanic", None)
    assert raw is data
