"""The picture of how evenly a sample is spread: its bars are the distances of each two models."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contextwise import Domain, distance_matrix
from contextwise.errors import DomainError
from contextwise.report.plots import plot_spread
from contextwise.truths.generate import even_sample, random_structure

LINE = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
"""Four models in a line: three distances of 1, two of 2 and one of 3."""


def bars(axes: Axes, which: int) -> list[float]:
    return [bar.get_height() for bar in axes.containers[which]]


def test_bars_are_shares_of_each_two_models() -> None:
    (axes,) = plot_spread([[0, 3], [3, 0]], LINE, bins=3).axes
    assert bars(axes, 0) == pytest.approx([0, 3 / 6, 3 / 6])  # the last bin has both its ends
    assert bars(axes, 1) == pytest.approx([0, 0, 1])
    medians = [line.get_xdata()[0] for line in axes.lines]  # type: ignore[index]
    assert medians == [1.5, 3]


def test_an_even_sample_begins_to_the_right_of_its_pool() -> None:
    domain = Domain({f"X{k}": 2 for k in range(5)})
    pool = [random_structure(domain, features=6, rng=seed) for seed in range(40)]
    _, sampled = even_sample(pool, 6, rng=0)
    (axes,) = plot_spread(sampled, distance_matrix(pool).distances).axes
    first = [int(np.flatnonzero(bars(axes, which))[0]) for which in (0, 1)]
    assert first[1] > first[0]


def test_the_axes_are_the_callers() -> None:
    own = Figure().add_subplot()
    assert plot_spread(LINE, LINE, axes=own) is own.figure


def test_equal_models_have_a_picture() -> None:
    assert bars(plot_spread(np.zeros((2, 2)), np.zeros((3, 3))).axes[0], 0)[0] == 1


@pytest.mark.parametrize("matrix", [[[0]], [[0, 1, 2], [1, 0, 1]], []])
def test_what_is_no_matrix_of_distances_is_refused(matrix: list[list[int]]) -> None:
    with pytest.raises(DomainError, match="square matrix"):
        plot_spread(LINE, matrix)
