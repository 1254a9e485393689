"""Graphs: layouts, short names, places for labels, and SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Comparison, Domain, Structure, compare, examples
from contextwise.report.graphs import (
    cut_names,
    edge_lines,
    fitted_to,
    graph_layout,
    graph_svg,
    place_labels,
    planar,
)
from contextwise.report.pictures import Edge, edges_of
from contextwise.support.arrays import FloatArray
from contextwise.testing import random_structure
from perturbed import perturb

WORDS = st.lists(st.sampled_from(["a", "bc", "def", ".", "-", "x" * 30]), min_size=1, max_size=6)
NAMES = st.lists(WORDS.map("".join), min_size=1, max_size=8)


class TestLayout:
    def test_points_that_lie_in_the_plane_are_found_again(self) -> None:
        points = np.random.default_rng(0).normal(size=(12, 2))
        apart = np.linalg.norm(points[:, None] - points[None, :], axis=2)
        found = planar(apart)
        again = np.linalg.norm(found[:, None] - found[None, :], axis=2)
        assert np.abs(again - apart).max() < 0.05

    @given(st.integers(0, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, 40)))))
    @settings(max_examples=60, deadline=None)
    def test_every_node_has_its_own_place_in_the_square(self, drawn: tuple[int, set[int]]) -> None:
        n, chosen = drawn
        names = [f"X{i}" for i in range(n)]
        every = [(a, b) for k, a in enumerate(names) for b in names[:k]]
        places = graph_layout(names, [pair for k, pair in enumerate(every) if k in chosen])
        assert list(places) == names
        assert len({(round(x, 6), round(y, 6)) for x, y in places.values()}) == n
        assert all(-1e-9 <= v <= 1 + 1e-9 for place in places.values() for v in place)

    @pytest.mark.parametrize("n", [3, 12, 39])
    def test_the_neighbours_of_one_variable_stand_around_it(self, n: int) -> None:
        names = ["hub", *(f"v{k}" for k in range(n))]
        places = graph_layout(names, [("hub", name) for name in names[1:]])
        spokes = np.array([places[name] for name in names[1:]]) - places["hub"]
        assert np.ptp(np.hypot(*spokes.T)) < 1e-9
        angles = np.sort(np.arctan2(*spokes.T))
        assert np.diff(angles).min() == pytest.approx(2 * np.pi / n)


@given(NAMES, st.integers(5, 20))
def test_short_forms_differ_where_names_do(names: list[str], most: int) -> None:
    short = cut_names(names, most)
    assert all(short)
    for k, own in enumerate(names):
        for j in range(k):
            assert (short[k] == short[j]) == (own == names[j])


@pytest.mark.parametrize("seed", range(20))
def test_labels_cover_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, frame = int(rng.integers(1, 41)), (480.0, 330.0)
    points = fitted_to(rng.random((n, 2)), frame, margin=(30, 10), apart=20)
    sizes = np.stack([rng.uniform(8, 55, n), np.full(n, 8.0)], axis=1)
    lines = points[rng.integers(0, n, (30, 2))]
    middles = place_labels(points, sizes, frame=frame, radius=2, lines=lines)
    assert middles is not None
    low, high = middles - sizes / 2, middles + sizes / 2
    assert (low >= 0).all()
    assert (high <= frame).all()
    for k in range(n):
        others = np.arange(n) != k
        meets = (low[k] < high[others]) & (high[k] > low[others])
        assert not meets.all(axis=1).any()
        nearest = np.clip(points, low[k], high[k])
        assert (np.hypot(*(nearest - points).T) >= 2).all()


def test_no_place_is_no_answer() -> None:
    points = np.array([[5.0, 5.0], [6.0, 5.0]])
    sizes = np.array([[9.0, 2.0], [9.0, 2.0]])
    assert place_labels(points, np.full((2, 2), 9.0), frame=(10, 10)) is None
    points = np.array([[5.0, 2.0], [6.0, 2.0]])
    assert place_labels(points, sizes, frame=(11, 9)) is None
    for first in ([1.0, 0.0], [0.0, 1.0]):
        middles = place_labels(points, sizes, frame=(11, 9), first=np.array(first))
        assert middles is not None
        assert np.isfinite(middles).all(axis=1).tolist() == [bool(value) for value in first]


@pytest.mark.parametrize(
    "points", [np.zeros((5, 2)), np.array([[0.0, 0], [1, 0], [1, 0]]), np.ones((1, 2))]
)
def test_points_on_each_other_are_pushed_apart(points: FloatArray) -> None:
    found = fitted_to(points, (200, 100), margin=(10, 10), apart=20)
    lengths = np.hypot(*(found[:, None] - found[None, :]).transpose(2, 0, 1))
    assert (lengths[~np.eye(len(points), dtype=bool)] >= 15).all()
    assert (found >= 10).all()
    assert (found <= [190, 90]).all()


def test_examples_of_names() -> None:
    long = ["x" * 30 + digit + "y" * 30 for digit in "12"]
    assert cut_names(["smoker", *long], most=9) == ["smoker", "…xx1yyyy…", "…xx2yyyy…"]


# -- SVG -------------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '<script>alert("1")</script>&\x07'


def random_comparison(variables: int) -> Comparison:
    domain = Domain({f"X{i}": 2 for i in range(variables)})
    true = random_structure(domain, features=variables, seed=1)
    return compare(true, perturb(true, changes=variables // 3 + 1, rng=2))


def nasty_comparison() -> Comparison:
    domain = {NASTY: 2, "B": 2, "C": 2}
    return compare(Structure(domain, [{NASTY: 1, "B": 1}]), Structure(domain, [{NASTY: 1, "C": 1}]))


class TestSvg:
    def test_the_graph_has_a_line_for_each_strand(self) -> None:
        found = compare(examples.load("six"), examples.load("six-guess"))
        edges = edges_of(found)
        places = graph_layout(found.domain.names, [edge.pair for edge in edges])
        picture = ElementTree.fromstring(graph_svg(edges, places))
        lines = [line.attrib["class"] for line in picture.iter(f"{SVG}line")]
        assert lines == [kind for edge in edges for kind, _ in edge.kinds()]
        assert len(list(picture.iter(f"{SVG}circle"))) == 6

    def test_the_same_input_gives_the_same_text(self) -> None:
        found = random_comparison(30)
        edges = edges_of(found)
        texts = [
            graph_svg(edges, graph_layout(found.domain.names, [edge.pair for edge in edges]))
            for _ in range(2)
        ]
        assert texts[0] == texts[1]

    def test_names_are_shown_and_not_run(self) -> None:
        found = nasty_comparison()
        edges = edges_of(found)
        places = graph_layout(found.domain.names, [edge.pair for edge in edges])
        text = graph_svg(edges, places, fixed={NASTY: NASTY})
        assert "<script" not in text
        assert '<script>alert("1")' in "".join(ElementTree.fromstring(text).itertext())

    def test_nothing_at_all_can_be_drawn(self) -> None:
        ElementTree.fromstring(graph_svg([], {}))

    def test_lines(self) -> None:
        (line,) = edge_lines(Edge(("A", "B"), 1.0, 0.0, 0.0), {"A": (0, 0), "B": (9, 0)})
        assert (line.kind, line.width, line.start, line.end) == ("tp", 5.0, (0, 0), (9, 0))
