"""Heat maps and graphs for papers."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from commands import run
from contextwise import Comparison, Structure, compare, write
from contextwise.models.domain import Domain
from contextwise.report.pictures import Edge, edges_of
from contextwise.report.plots import (
    plot_graphs,
    plot_guesses,
    plot_models,
    plot_pairs,
)
from contextwise.report.plots.style import encoded, new_figure
from contextwise.support.arrays import FloatArray
from contextwise.testing import random_structure
from every_plot import LINE, SIX, label_boxes
from perturbed import perturb


def random_comparison(variables: int) -> Comparison:
    domain = Domain({f"X{i}": 2 for i in range(variables)})
    true = random_structure(domain, features=variables, seed=1)
    return compare(true, perturb(true, changes=variables // 3 + 1, rng=2))


class TestPairs:
    @pytest.mark.parametrize(("variables", "labels"), [(3, 3), (40, 40), (41, 21), (1001, 39)])
    def test_labels_thin_out(self, variables: int, labels: int) -> None:
        (axes,) = plot_pairs(random_comparison(variables)).axes
        assert len(axes.get_xticklabels()) == len(axes.get_yticklabels()) == labels
        assert len(axes.images) == 1

    def test_width_font_size_and_title(self) -> None:
        figure = plot_pairs(SIX, width=7.0, font_size=12, title="six")
        assert figure.get_figwidth() == 7.0
        assert figure.axes[0].title.get_fontsize() == 12
        assert figure.axes[0].get_title() == "six"
        assert plot_models(list("ABCDE"), LINE, width=5.0).get_figwidth() == 5.0

    def test_a_notebook_shows_it(self) -> None:
        shown: Any = plot_guesses(SIX)
        assert shown._repr_png_().startswith(b"\x89PNG")

    def test_the_axes_are_the_callers(self) -> None:
        mine = Figure().add_subplot()
        assert plot_pairs(SIX, axes=mine) is mine.figure

    def test_dollars_in_names_are_no_formulas(self) -> None:
        domain = {"$x_{$": 2, "$y$": 2}
        found = compare(Structure(domain, []), Structure(domain, [{"$x_{$": 1, "$y$": 1}]))
        assert encoded(plot_pairs(found), "svg")  # as a formula it could not be drawn
        assert encoded(plot_graphs(found), "svg")

    @pytest.mark.parametrize("size", [(3.5, 4.4), (7, 3)])
    def test_words_of_the_legend_do_not_overlap(self, size: tuple[float, float]) -> None:
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, 2)[0] if size[0] == 7 else figure.subplots()
        plot_pairs(SIX, axes=axes)
        encoded(axes, "png")  # which lays it out
        legend = axes.get_legend()
        assert legend is not None
        boxes = [text.get_window_extent() for text in legend.get_texts() if text.get_text()]
        assert len(boxes) == 3
        for one, two in combinations(boxes, 2):
            shared = Bbox.intersection(one, two)
            assert shared is None or min(shared.width, shared.height) < 2

    def test_no_variables(self) -> None:
        nothing = Structure({}, [])
        assert encoded(plot_pairs(compare(nothing, nothing)), "png")


class TestGraph:
    def test_a_line_for_each_strand_and_a_dot_for_each_variable(self) -> None:
        (axes,) = plot_graphs(SIX, which="strongest").axes
        strands = sum(len(edge.kinds()) for edge in edges_of(SIX))
        assert len(axes.lines) == strands + 6
        assert sorted(text.get_text() for text in axes.texts) == sorted(SIX.domain.names)

    def test_a_context_stands_beside_the_union_with_nodes_in_place(self) -> None:
        inside = compare(SIX.true, SIX.guess, context="X0=1")
        union, context = plot_graphs(SIX, inside, which="strongest").axes
        assert context.get_title().startswith("X0=1: ")
        assert "X0=1" in [text.get_text() for text in context.texts]
        places = [np.array([_place(dot) for dot in _dots(axes)]) for axes in (union, context)]
        assert places[0].shape == (6, 2)
        assert np.abs(places[0] - places[1]).max() < 20

    def test_it_says_how_many_of_how_many(self) -> None:
        found = random_comparison(80)
        (axes,) = plot_graphs(found, most_edges=10).axes
        wrong = sum(1 for edge in edges_of(found) if edge.errors)
        assert f"10 of {wrong} differences, the largest first" in axes.get_title()

    def test_around_a_variable_there_are_its_edges(self) -> None:
        (axes,) = plot_graphs(SIX, around=["X0"]).axes
        own = [edge for edge in edges_of(SIX) if "X0" in edge.pair]
        assert axes.get_title() == f"all {len(own)} dependencies of X0"

    @pytest.mark.parametrize("length", [2, 14, 40])
    @pytest.mark.parametrize("variables", [3, 9, 16, 40])
    def test_labels_cover_neither_nodes_nor_each_other(self, variables: int, length: int) -> None:
        names = [f"N{i}".ljust(length, "m") for i in range(variables)]
        rng = np.random.default_rng(variables)
        chosen = rng.permutation([(i, j) for j in range(variables) for i in range(j)])[:45]
        edges = [Edge((names[i], names[j]), 0, float(rng.random()), 0) for i, j in chosen]
        (axes,) = plot_graphs(comparison_with(edges, names)).axes
        boxes = label_boxes(axes)
        dots = _dots(axes)
        assert len(boxes) == len(dots) > 2
        inside = axes.get_window_extent().padded(2)
        assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
        for dot in dots:
            x, y = axes.transData.transform(_place(dot))
            assert not any(box.x0 < x < box.x1 and box.y0 < y < box.y1 for box in boxes)


def _place(dot: Line2D) -> FloatArray:
    place: FloatArray = np.asarray(dot.get_xydata(), dtype=np.float64)[0]
    return place


def _dots(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if line.get_marker() == "o"]


def comparison_with(edges: list[Edge], names: list[str]) -> Comparison:
    """A comparison whose guess has the errors of these edges, as near as 64 contexts allow."""
    domain = {**dict.fromkeys(names, 2), "S": 64}
    features: list[dict[str, int | list[int]]] = [
        {edge.pair[0]: 1, edge.pair[1]: 1, "S": list(range(1 + int(62 * edge.fp)))}
        for edge in edges
    ]
    return compare(Structure(domain, []), Structure(domain, features), variables=names)


def test_what_does_not_fit_into_a_graph_is_said(tmp_path: Path) -> None:
    names = [f"X{k}" for k in range(80)]
    pairs = [{a: 1, b: 1} for a, b in pairwise(names)]
    files = [str(tmp_path / name) for name in ("true.json", "guess.json")]
    for features, path in zip(([], pairs), files, strict=True):
        write(Structure(dict.fromkeys(names, 2), features), path)
    out = ["--out", str(tmp_path / "graph.svg")]
    result = run("plot", "graph", *files, *out)
    assert result.exit_code == 0
    assert "39 of 79 differences, the largest first" in result.stderr
    assert run("plot", "graph", *files, "--top", "80", *out).stderr == ""


def test_equal_edges_are_drawn_together(tmp_path: Path) -> None:
    """A tree of 60 variables; with 40 of its edges it would look disconnected."""
    names = [f"X{k}" for k in range(60)]
    tree = Structure(dict.fromkeys(names, 2), [{a: 1, b: 1} for a, b in pairwise(names)])
    write(tree, tmp_path / "tree.json")
    out = str(tmp_path / "graph.svg")
    assert run("plot", "graph", str(tmp_path / "tree.json"), "--out", out).stderr == ""


@pytest.mark.parametrize("panels", [1, 2])
def test_legends_of_pairs_are_whole_and_apart(panels: int) -> None:
    """Also where two heat maps share a figure of seven inches."""
    domain = Domain.of_cardinalities([2] * 12)
    above = [" & ".join(f"v{j}=1" for j in range(k)) for k in range(2, 12)]
    below = [" & ".join(f"v{11 - j}=1" for j in range(k)) for k in range(2, 12)]
    comparison = compare(Structure(domain, above), Structure(domain, below))
    if panels == 1:
        figure = plot_pairs(comparison, title="true: a, guess: b").get_figure(root=True)
        assert figure is not None
    else:
        figure = new_figure(7, 4.8)
        for axes in figure.subplots(1, panels):
            plot_pairs(comparison, axes=axes)
    figure.draw_without_rendering()
    legends = figure.findobj(Legend)
    assert len(legends) == panels
    boxes = [legend.get_window_extent() for legend in legends]
    for box in boxes:
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height
    for one, other in combinations(boxes, 2):
        assert one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
