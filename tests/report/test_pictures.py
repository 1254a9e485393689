"""Geometry and SVG pictures: what is drawn is what was counted, and nothing escapes."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Comparison, Domain, Structure, compare, examples
from contextwise.report.colours import STEPS
from contextwise.report.layout import graph_layout, hop_distances, planar
from contextwise.report.pictures import (
    AGREED,
    BLANK,
    FIRST_FN,
    FIRST_FP,
    OPEN,
    HeatMap,
    heat_map,
    pooled,
)
from contextwise.report.shares import edges_of
from contextwise.report.svg import graph_svg
from contextwise.testing import families
from contextwise.truths.generate import perturb, random_structure
from hard import hard_models

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '<script>alert("1")</script>&\x07'


def random_comparison(variables: int) -> Comparison:
    domain = Domain({f"X{i}": 2 for i in range(variables)})
    true = random_structure(domain, features=variables, rng=1)
    return compare(true, perturb(true, changes=variables // 3 + 1, rng=2))


def nasty_comparison() -> Comparison:
    domain = {NASTY: 2, "B": 2, "C": 2}
    return compare(Structure(domain, [{NASTY: 1, "B": 1}]), Structure(domain, [{NASTY: 1, "C": 1}]))


class TestLayout:
    def test_points_that_lie_in_the_plane_are_found_again(self) -> None:
        points = np.random.default_rng(0).normal(size=(12, 2))
        apart = np.linalg.norm(points[:, None] - points[None, :], axis=2)
        found = planar(apart)
        again = np.linalg.norm(found[:, None] - found[None, :], axis=2)
        assert np.abs(again - apart).max() < 0.05

    def test_hops_of_a_path_with_a_stranger(self) -> None:
        adjacent = np.zeros((4, 4), dtype=bool)
        for i, j in ((0, 1), (1, 2)):
            adjacent[i, j] = adjacent[j, i] = True
        assert hop_distances(adjacent)[0].tolist() == [0, 1, 2, np.inf]

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


class TestHeatMap:
    @given(families(2))
    @settings(max_examples=40, deadline=None)
    def test_cells_are_the_counts_in_any_order(self, models: tuple[Structure, Structure]) -> None:
        found = compare(*models)
        for reorder in (False, True):
            heat = heat_map(found, reorder=reorder)
            assert sorted(heat.names) == sorted(found.domain.names)
            for c, second in enumerate(heat.names):
                assert heat.codes[c, c] == BLANK
                for r, first in enumerate(heat.names[:c]):
                    pair = found.pair(first, second)
                    for code, errors, start in (
                        (heat.codes[r, c], pair.fp, FIRST_FP),
                        (heat.codes[c, r], pair.fn, FIRST_FN),
                    ):
                        assert (code >= start) == bool(errors)
                        assert errors or code == (AGREED if pair.tp + pair.distance else BLANK)

    @pytest.mark.parametrize(("allowed", "step"), [(1, 3), (2, 3), (3, 4), (4, 4), (8, 5)])
    def test_steps(self, allowed: int, step: int) -> None:
        domain = Domain({"A": 2, "B": 2, "C": 8})
        values = "|".join(map(str, range(allowed)))
        guess = Structure(domain, [f"A=1 & B=1 & C={values}"])
        heat = heat_map(compare(Structure(domain, []), guess))
        assert heat.shares[0, 1] == allowed / 8
        assert heat.codes[0, 1] == FIRST_FP + step

    def test_an_open_pair_is_marked(self) -> None:
        found = compare(*hard_models(), time_limit=0.0)
        heat = heat_map(found)
        assert heat.codes[0, 1] == heat.codes[1, 0] == OPEN
        assert ("A", "B") not in [edge.pair for edge in edges_of(found)]

    def test_one_context_in_any_number_is_not_lost(self) -> None:
        names = [f"X{i}" for i in range(110)]  # of 1,024 values each
        guess = Structure(dict.fromkeys(names, 1024), [dict.fromkeys(names, 1)])
        found = compare(Structure(guess.domain, []), guess, pairs=[("X0", "X1")])
        assert (
            heat_map(found, reorder=False).codes[0, 1] == FIRST_FP
        )  # a share of 2**-1080 is 0 as a float

    def test_pooled_cells_are_means_and_mark_a_lone_error(self) -> None:
        shares = np.full((1001, 1001), np.nan)
        shares[3, 997] = shares[997, 3] = 0.0
        shares[3, 997] = 1.0
        heat = HeatMap(tuple(map(str, range(1001))), shares, np.arange(1001))
        cells = pooled(heat, 300)
        assert (cells.codes.shape, cells.block) == ((251, 251), 4)
        assert np.argwhere(cells.codes).tolist() == cells.marked.tolist() == [[0, 249]]
        assert cells.codes[0, 249] == FIRST_FP + np.searchsorted(STEPS, 1 / 16)
        worst = pooled(heat, 300, worst=True)
        assert worst.codes[0, 249] == FIRST_FP + len(STEPS) - 1
        assert not len(worst.marked)

    def test_a_mean_counts_pairs_that_never_depend(self) -> None:
        found = random_comparison(130)
        cells = pooled(heat_map(found, reorder=False), 65)
        errors = np.nan_to_num(heat_map(found, reorder=False).shares)
        for row, column in ((0, 5), (7, 2), (64, 64)):
            square = errors[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            mean = square.sum() / (4 - 2 * (row == column))
            assert (cells.codes[row, column] >= FIRST_FP) == (mean > 0)

    def test_many_variables_are_grouped(self) -> None:
        assert list(heat_map(random_comparison(100)).order) == list(range(100))
        assert list(heat_map(random_comparison(101)).order) != list(range(101))


class TestSvg:
    def test_the_graph_has_a_line_for_each_strand(self) -> None:
        found = compare(examples.load("six"), examples.load("six-guess"))
        edges = edges_of(found)
        places = graph_layout(found.domain.names, [edge.pair for edge in edges])
        for view in ("both", "true", "guess"):
            picture = ElementTree.fromstring(graph_svg(edges, places, view=view))
            lines = [line.attrib["class"] for line in picture.iter(f"{SVG}line")]
            assert lines == [kind for edge in edges for kind, _ in edge.kinds(view)]
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


class TestAgreement:
    @given(families(2))
    @settings(max_examples=40, deadline=None)
    def test_shares_are_those_of_the_comparison(self, models: tuple[Structure, Structure]) -> None:
        found = compare(*models)
        for edge in edges_of(found):
            pair = found.pair(*edge.pair)
            assert edge.tp == pytest.approx(pair.tp / pair.total)
            assert edge.errors == pytest.approx(pair.normalized)
