"""Pictures with matplotlib: what is drawn, how it is labelled, and files that do not change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from contextwise import Comparison, Structure, compare, examples
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError, DomainError
from contextwise.learning.generate import perturb, random_structure
from contextwise.models.domain import Domain
from contextwise.report.edges import edges_of
from contextwise.report.layout import graph_layout
from contextwise.report.plots import (
    plot_confusion,
    plot_dendrogram,
    plot_distances,
    plot_errors,
    plot_graph,
    plot_graphs,
    plot_map,
    plot_models,
    plot_pairs,
    plot_rates,
    plot_scatter,
    save,
)
from contextwise.report.plots.figures import encoded
from contextwise.studies.summary import means

SIX = compare(examples.load("six"), examples.load("six-guess"))
LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
"""Five models in a line."""


def random_comparison(variables: int) -> Comparison:
    domain = Domain({f"X{i}": 2 for i in range(variables)})
    true = random_structure(domain, features=variables, rng=1)
    return compare(true, perturb(true, changes=variables // 3 + 1, rng=2))


class TestPairs:
    @pytest.mark.parametrize(("variables", "labels"), [(3, 3), (40, 40), (41, 21), (1001, 39)])
    def test_labels_thin_out(self, variables: int, labels: int) -> None:
        axes = plot_pairs(random_comparison(variables))
        assert len(axes.get_xticklabels()) == len(axes.get_yticklabels()) == labels
        assert len(axes.images) == 1

    def test_the_axes_are_the_callers(self) -> None:
        mine = Figure().add_subplot()
        assert plot_pairs(SIX, axes=mine) is mine

    def test_dollars_in_names_are_no_formulas(self) -> None:
        domain = {"$x_{$": 2, "$y$": 2}
        found = compare(Structure(domain, []), Structure(domain, [{"$x_{$": 1, "$y$": 1}]))
        assert encoded(plot_pairs(found), "svg")  # as a formula it could not be drawn
        assert encoded(plot_graphs(found)[0], "svg")

    def test_no_variables(self) -> None:
        nothing = Structure({}, [])
        assert encoded(plot_pairs(compare(nothing, nothing)), "png")


class TestGraph:
    def test_a_line_for_each_strand_and_a_dot_for_each_variable(self) -> None:
        edges = edges_of(SIX)
        places = graph_layout(SIX.domain.names, [edge.pair for edge in edges])
        axes = plot_graph(edges, places)
        strands = sum(len(edge.strands()) for edge in edges)
        assert len(axes.lines) == strands + 6
        assert [text.get_text() for text in axes.texts] == list(SIX.domain.names)

    def test_a_context_stands_beside_the_union_with_nodes_in_place(self) -> None:
        inside = compare(SIX.true, SIX.guess, context="X0=1")
        union, context = plot_graphs(SIX, inside, fixed={"X0": "1"})
        assert context.get_title() == "X0=1"
        assert [t.xy for t in union.texts] == [t.xy for t in context.texts]  # type: ignore[attr-defined]
        assert "X0=1" in [text.get_text() for text in context.texts]

    def test_of_many_variables_the_worst_are_drawn(self) -> None:
        (axes,) = plot_graphs(random_comparison(80), most=10)
        assert len(axes.texts) == 10


class TestConfusion:
    def test_the_counts_are_written(self) -> None:
        texts = [text.get_text().splitlines() for text in plot_confusion(SIX).texts]
        counts = {kind: int(count.replace(",", "")) for kind, count, *_ in texts}
        assert counts == {"TP": SIX.tp, "FN": SIX.fn, "FP": SIX.fp, "TN": SIX.tn}

    def test_bars_are_as_long_as_the_errors(self) -> None:
        same = compare(SIX.true, SIX.true)
        axes = plot_errors({"guess": SIX, "same": same})
        ends = [0.0, 0.0]
        for bars in axes.containers:
            for k, bar in enumerate(bars):
                ends[k] += bar.get_width()
        assert ends == pytest.approx([SIX.normalized, 0.0])

    def test_undefined_rates_are_left_out(self) -> None:
        nothing = Structure(SIX.domain, [])
        axes = plot_rates({"one": SIX, "nothing": compare(nothing, nothing)})
        precision = np.asarray(axes.lines[0].get_xdata(), dtype=float)
        assert precision[0] == SIX.precision
        assert np.isnan(precision[1])


def _draw(axes: Axes) -> None:
    encoded(axes, "png")


def _boxes(axes: Axes) -> list[Bbox]:
    """Where the labels of a picture stand, without their lines."""
    _draw(axes)
    return [Text.get_window_extent(text) for text in axes.texts]


class TestMatrix:
    def test_the_tree_keeps_neighbours_together(self) -> None:
        order = plot_dendrogram(list("ABCDE"), LINE)
        assert order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])

    def test_the_map_of_a_line_is_a_line(self) -> None:
        axes = plot_map(list("ABCDE"), LINE)
        assert axes.get_xlabel() == "stress 0.000"

    @pytest.mark.parametrize("models", [1, 6, 40])
    def test_labels_of_models_at_one_place_stand_apart(self, models: int) -> None:
        names = [f"M{i}" for i in range(models)]
        axes = plot_map(names, np.zeros((models, models)))
        assert sorted(text.get_text() for text in axes.texts) == sorted(names)
        boxes = _boxes(axes)
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])

    def test_labels_leave_the_points_free(self) -> None:
        axes = plot_map([f"a long name {i}" for i in range(5)], LINE)
        inside = axes.get_window_extent()
        assert not any(box.overlaps(inside) for box in _boxes(axes))

    def test_the_tree_ends_at_the_rows_of_the_matrix(self) -> None:
        tree, matrix, _ = plot_models(list("ABCDE"), LINE)
        _draw(tree)
        one, other = tree.get_position(), matrix.get_position()
        assert (one.y0, one.y1) == pytest.approx((other.y0, other.y1))

    def test_numbers_of_few_models(self) -> None:
        assert len(plot_distances(list("ABCDE"), LINE).texts) == 25
        assert len(plot_distances([f"M{i}" for i in range(30)], np.zeros((30, 30))).texts) == 0

    @pytest.mark.parametrize("models", [1, 2, 30])
    def test_any_number_of_models(self, models: int) -> None:
        apart = np.abs(np.subtract.outer(np.arange(models), np.arange(models))) / 10
        assert encoded(plot_models([f"M{i}" for i in range(models)], apart)[0], "png")

    def test_a_matrix_that_does_not_fit_is_refused(self) -> None:
        with pytest.raises(DomainError, match="2 × 2"):
            plot_map(["A", "B"], np.array([[0.0, 1.0], [2.0, 0.0]]))


class TestScatter:
    TABLE = pd.DataFrame(
        [
            (structure, side, size, parameters, 10 * structure, 5.0 * structure, kl)
            for structure, side in enumerate(["fp", "fn", "fp"])
            for size in (50, 1000)
            for parameters, kl in enumerate((0.1, 0.3))
        ],
        columns=["structure", "side", "size", "parameters", "errors", "percentage", "kl"],
    )

    def test_a_point_a_structure_at_its_mean(self) -> None:
        axes = plot_scatter(self.TABLE, size=50)
        points = {bars.get_label(): bars[0].get_xydata() for bars in axes.containers}
        assert np.allclose(points["false positives"], [[0, 0.2], [10, 0.2]])
        assert np.allclose(points["false negatives"], [[5, 0.2]])

    def test_bars_are_the_standard_deviation_that_the_summary_uses(self) -> None:
        axes = plot_scatter(self.TABLE, size=50)
        [bars] = axes.containers[1][2]
        [bar] = bars.get_segments()
        rows = [
            {str(key): cell for key, cell in row.items()} for row in self.TABLE.to_dict("records")
        ]
        deviation = means(rows, "fn", 50).deviation
        assert np.allclose(bar[:, 1], [0.2 - deviation[0], 0.2 + deviation[0]])

    def test_what_is_missing_is_said(self) -> None:
        with pytest.raises(DomainError, match="there are: 50, 1000"):
            plot_scatter(self.TABLE, size=7)
        with pytest.raises(DomainError, match="no column 'kl'"):
            plot_scatter(self.TABLE.drop(columns="kl"), size=50)


class TestFiles:
    @pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
    def test_the_same_picture_gives_the_same_bytes(self, suffix: str, tmp_path: Path) -> None:
        files = [tmp_path / f"{k}.{suffix}" for k in range(2)]
        for file in files:
            save(plot_pairs(SIX), file)
        assert files[0].read_bytes() == files[1].read_bytes()

    def test_an_unknown_suffix_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ContextwiseError, match=r"\.png, \.svg or \.pdf"):
            save(plot_pairs(SIX), tmp_path / "pairs.jpg")

    def test_pyplot_is_never_touched(self) -> None:
        code = (
            "import sys; from contextwise import compare, examples; "
            "from contextwise.report import plots; "
            "c = compare(examples.load('six'), examples.load('six-guess')); "
            "plots.plot_pairs(c); plots.plot_graphs(c); "
            "sys.exit('matplotlib.pyplot' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(contextwise, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.mark.parametrize(
    "arguments",
    [
        ("pairs", "six", "six-guess", "--cluster"),
        ("graph", "lung", "lung-learned", "--context", "smoker=yes"),
        ("confusion", "six", "six-guess"),
        ("confusion", "six", "six-guess", "six-graph"),
        ("matrix", "six", "six-guess", "six-graph"),
    ],
)
def test_the_command_writes_a_picture(arguments: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    assert run("plot", *arguments, "--out", str(out)).exit_code == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]


def test_a_wrong_suffix_is_refused_before_the_work() -> None:
    with pytest.raises(ContextwiseError, match="a picture is"):
        run("plot", "pairs", "six", "no-such-model.mn", "--out", "picture.gif")
