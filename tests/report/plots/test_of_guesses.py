"""Figures of several guesses, groups and models."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import t

from contextwise import compare, compare_many
from contextwise.errors import DomainError
from contextwise.report.plots import (
    plot_groups,
    plot_guesses,
    plot_models,
)
from contextwise.report.plots.style import encoded
from every_plot import LINE, SIX, draw, label_boxes
from perturbed import perturb


class TestGroups:
    GROUPS: ClassVar = {
        f"learner {k}": [
            compare(SIX.true, perturb(SIX.true, changes=k + 1, rng=10 * k + j)) for j in range(5)
        ]
        for k in range(3)
    }

    def test_intervals_are_students(self) -> None:
        values = [c.normalized for c in self.GROUPS["learner 2"]]
        _, high = t.interval(0.95, 4, np.mean(values), np.std(values, ddof=1) / np.sqrt(5))
        (axes,) = plot_groups({"learner 2": self.GROUPS["learner 2"]}).axes
        _, caps, _ = axes.containers[0]
        ends = [float(np.asarray(cap.get_xdata())[0]) for cap in caps]
        assert max(ends) == pytest.approx(high)
        assert min(ends) >= 0

    def test_a_group_of_one_has_no_interval(self) -> None:
        assert encoded(plot_groups({"one": SIX, "two": [SIX, SIX]}), "svg")

    def test_no_group_is_refused(self) -> None:
        with pytest.raises(DomainError, match="no group"):
            plot_groups({})


class TestErrors:
    def test_bars_are_as_long_as_the_errors(self) -> None:
        same = compare(SIX.true, SIX.true)
        (axes,) = plot_guesses({"guess": SIX, "same": same}).axes
        ends = [0.0, 0.0]
        for bars in axes.containers:
            for k, bar in enumerate(bars):
                ends[k] += bar.get_width()
        assert ends == pytest.approx([SIX.normalized, 0.0])

    def test_a_list_and_a_mapping_and_what_compare_many_gives(self) -> None:
        many = compare_many(SIX.true, [SIX.guess, SIX.true])
        for guesses in (many, [SIX], {"a": SIX}, SIX):
            assert len(plot_guesses(guesses).axes) == 1
        assert len(plot_guesses(many).axes[0].containers) == 2
        with pytest.raises(DomainError, match="no comparison"):
            plot_guesses([])


class TestMatrix:
    def test_the_tree_keeps_neighbours_together(self) -> None:
        tree, matrix = plot_models(list("ABCDE"), LINE).axes
        order = "".join(label.get_text() for label in matrix.get_yticklabels())
        assert order in ("ABCDE", "EDCBA")
        assert len(tree.lines) == 4

    def test_the_tree_ends_at_the_rows_of_the_matrix(self) -> None:
        tree, matrix = plot_models(list("ABCDE"), LINE).axes
        draw(tree)
        one, other = tree.get_position(), matrix.get_position()
        assert (one.y0, one.y1) == pytest.approx((other.y0, other.y1))

    def test_numbers_of_few_models(self) -> None:
        many = [f"M{i}" for i in range(30)]
        assert len(plot_models(list("ABCDE"), LINE).axes[1].texts) == 25
        assert not plot_models(many, np.zeros((30, 30))).axes[1].texts

    @pytest.mark.parametrize("models", [3, 5, 6, 8])
    def test_the_numbers_of_two_cells_do_not_touch(self, models: int) -> None:
        apart = 0.8888 * (1 - np.eye(models))
        names = [f"{sign}tsl-ps10-l1_5-nz-{sign}" for sign in "ABCDEFGH"[:models]]
        _, matrix = plot_models(names, apart).axes
        boxes = label_boxes(matrix)
        assert len(boxes) == models**2
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])

    @pytest.mark.parametrize("models", [1, 2, 30])
    def test_any_number_of_models(self, models: int) -> None:
        apart = np.abs(np.subtract.outer(np.arange(models), np.arange(models))) / 10
        assert encoded(plot_models([f"M{i}" for i in range(models)], apart), "png")

    def test_a_matrix_that_does_not_fit_is_refused(self) -> None:
        with pytest.raises(DomainError, match="2 × 2"):
            plot_models(["A", "B"], np.array([[0.0, 1.0], [2.0, 0.0]]))
