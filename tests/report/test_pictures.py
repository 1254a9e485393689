"""Heat maps and graphs as parts: they draw the counted values."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Comparison, Domain, Structure, compare, examples
from contextwise.comparison.roles import ALONE
from contextwise.errors import TooLargeError
from contextwise.report import pictures
from contextwise.report.comparisons import Guess
from contextwise.report.page import guess_parts
from contextwise.report.parts import Picture, Section
from contextwise.report.pictures import (
    AGREED,
    BLANK,
    FIRST_FN,
    FIRST_FP,
    OPEN,
    DrawnGraph,
    Edge,
    _inside,
    edges_of,
    graph_picture,
    heat_map,
    no_heat_map,
    packed,
    pairs_picture,
    select_edges,
    shares_of,
)
from contextwise.testing import families, random_structure
from hard import hard_models
from perturbed import perturb

SIX = compare(examples.load("six"), examples.load("six-guess"))


def random_comparison(variables: int) -> Comparison:
    domain = Domain({f"X{i}": 2 for i in range(variables)})
    true = random_structure(domain, features=variables, seed=1)
    return compare(true, perturb(true, changes=variables // 3 + 1, rng=2))


def half_known() -> Comparison:
    """A comparison in which one pair differs for sure, and another is open."""
    true, guess = hard_models()
    return compare(true, guess, time_limit=0.0)


class TestHeatMap:
    @given(families(2))
    @settings(max_examples=40, deadline=None)
    def test_cells_are_the_counts_in_any_order(self, models: tuple[Structure, Structure]) -> None:
        found = compare(*models)
        for reorder in (False, True):
            heat = heat_map(shares_of(found), reorder=reorder)
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

    @pytest.mark.parametrize(
        ("allowed", "step"), [(1, 2), (2, 2), (3, 3), (4, 3), (5, 4), (6, 4), (7, 5), (8, 6)]
    )
    def test_steps(self, allowed: int, step: int) -> None:
        domain = Domain({"A": 2, "B": 2, "C": 8})
        values = "|".join(map(str, range(allowed)))
        guess = Structure(domain, [f"A=1 & B=1 & C={values}"])
        heat = heat_map(shares_of(compare(Structure(domain, []), guess)))
        assert heat.shares[0, 1] == allowed / 8
        assert heat.codes[0, 1] == FIRST_FP + step

    def test_an_open_pair_is_marked(self) -> None:
        found = compare(*hard_models(), time_limit=0.0)
        heat = heat_map(shares_of(found))
        assert heat.codes[0, 1] == heat.codes[1, 0] == OPEN
        assert ("A", "B") not in [edge.pair for edge in edges_of(found)]

    def test_one_context_in_any_number_is_not_lost(self) -> None:
        names = [f"X{i}" for i in range(110)]  # of 1,024 values each
        guess = Structure(dict.fromkeys(names, 1024), [dict.fromkeys(names, 1)])
        found = compare(Structure(guess.domain, []), guess, pairs=[("X0", "X1")])
        assert (
            heat_map(shares_of(found), reorder=False).codes[0, 1] == FIRST_FP
        )  # a share of 2**-1080 is 0 as a float

    def test_many_variables_are_grouped(self) -> None:
        assert list(heat_map(shares_of(random_comparison(100))).order) == list(range(100))
        assert list(heat_map(shares_of(random_comparison(101))).order) != list(range(101))


class TestPictures:
    def test_a_legend_has_what_occurs_and_nothing_else(self) -> None:
        domain = {"A": 2, "B": 2, "C": 2}
        found = compare(Structure(domain, []), Structure(domain, ["A=1 & B=1"]))
        picture = pairs_picture(shares_of(found))
        assert isinstance(picture, Picture)
        legends = picture.legends
        assert [legend.title for legend in legends] == ["only in guess", ""]
        assert [words for _, words in legends[0].entries] == ["always"]
        assert [words for _, words in legends[1].entries] == [
            "no such difference",
            "never depends",
        ]

    def test_a_pair_that_always_depends_has_a_step_of_its_own(self) -> None:
        domain = {"A": 2, "B": 2, "C": 3, "D": 2}
        guess = Structure(domain, [{"A": 1, "B": 1, "C": ["0", "1"]}, {"A": 1, "D": 1}])
        picture = pairs_picture(shares_of(compare(Structure(domain, []), guess)))
        assert isinstance(picture, Picture)
        steps = [words for _, words in picture.legends[0].entries]
        assert steps == ["≤ 50 %", "≤ 75 %", "always"]  # A–C and B–C, A–B, A–D

    def test_an_open_pair_is_in_the_legend(self) -> None:
        picture = pairs_picture(shares_of(half_known()))
        assert isinstance(picture, Picture)
        words = [words for legend in picture.legends for _, words in legend.entries]
        assert "not decided in time" in words

    def test_the_graph_shows_all_edges_where_they_can_be_read(self) -> None:
        assert graph_picture(shares_of(SIX)).caption.startswith("All ")
        domain = {f"X{i}": 2 for i in range(60)}
        crowd = Structure(domain, [f"X{i}=1 & X{j}=1" for i in range(30) for j in range(30, 60)])
        many = graph_picture(shares_of(compare(crowd, Structure(domain, []))))
        assert "40 of 900 differences, the largest first" in many.caption
        same = graph_picture(shares_of(compare(crowd, crowd)))
        assert same.caption.startswith("40 of 900 dependencies, those in the most contexts")

    def test_variables_without_an_edge_are_drawn(self) -> None:
        model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
        graph = graph_picture(shares_of(compare(model, Structure(model.domain)), ALONE)).content
        assert isinstance(graph, DrawnGraph)
        assert sorted(graph.positions) == ["A", "B", "C"]

    def test_ties_are_cut_by_the_variables_with_more_differences(self) -> None:
        edges = [Edge((f"A{k}", f"B{k}"), 0, 1.0, 0) for k in range(50)]
        edges += [Edge(("hub", f"C{k}"), 0, 1.0, 0) for k in range(20)]
        chosen = select_edges(edges, most_edges=20)
        assert {edge.pair[0] for edge in chosen.edges} == {"hub"}

    @given(
        st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.floats(0, 1)), max_size=60),
        st.integers(1, 12),
        st.integers(2, 12),
    )
    def test_as_many_edges_as_can_be_read(
        self, drawn: list[tuple[int, int, float]], most_edges: int, most_nodes: int
    ) -> None:
        edges = [
            Edge((f"X{min(i, j)}", f"X{max(i, j)}"), 0, errors, 0)
            for i, j, errors in drawn
            if i != j
        ]
        chosen = select_edges(edges, most_edges=most_edges, most_nodes=most_nodes)
        assert len(chosen.edges) <= most_edges
        assert len(chosen.nodes) <= most_nodes
        wrong = [edge for edge in edges if edge.errors]
        assert chosen.of == len(wrong)
        if wrong:
            assert chosen.edges[0].errors == max(edge.errors for edge in wrong)


@pytest.mark.parametrize("cluster", [False, True])
def test_the_browser_gets_what_the_report_draws(cluster: bool) -> None:
    comparison = compare(examples.load("survey"), examples.load("survey-learned"))
    shares = shares_of(comparison)
    heat = heat_map(shares, reorder=cluster)
    sent = packed(shares, heat.order)
    assert [shares.names[v] for v in _array(sent["order"], "<u4")] == list(heat.names)
    assert np.allclose(_array(sent["fp"], "<f4"), shares.fp)
    assert _array(sent["pairs"], "<u4").reshape(-1, 2).tolist() == comparison.pairs.tolist()


def _array(text: str, kind: str) -> Any:
    return np.frombuffer(base64.b64decode(text), kind)


def test_a_tiny_share_is_not_lost_on_the_way() -> None:
    n = 1200
    domain = Domain.of_cardinalities([2] * n)
    narrow = " & ".join(f"v{k}=1" for k in range(n))
    shares = shares_of(compare(Structure(domain, ["v0=1 & v1=1"]), Structure(domain, [])))
    assert shares.fn.tolist() == [1.0]
    wide = Structure(domain, ["v0=1 & v1=1", narrow])
    found = shares_of(compare(wide, Structure(domain, ["v0=1 & v1=1"]), variables=["v0", "v2"]))
    assert found.fn.astype(np.float32)[0] > 0


def test_a_note_replaces_the_heat_map_of_too_many_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comparison = compare("lung", "lung-learned")
    assert no_heat_map(len(comparison.domain)) is None
    monkeypatch.setattr(pictures, "MOST_DRAWN", 2)
    with pytest.raises(TooLargeError, match="at most 2 variables, and there are 3; choose some"):
        heat_map(shares_of(comparison))
    sections = [part for part in guess_parts(Guess("g", comparison)) if isinstance(part, Section)]
    (shown,) = (section for section in sections if section.key == "pictures")
    assert shown.parts[0] == no_heat_map(3)


class TestAgreement:
    @given(families(2))
    @settings(max_examples=40, deadline=None)
    def test_shares_are_those_of_the_comparison(self, models: tuple[Structure, Structure]) -> None:
        found = compare(*models)
        for edge in edges_of(found):
            pair = found.pair(*edge.pair)
            assert edge.tp == pytest.approx(pair.tp / pair.total)
            assert edge.errors == pytest.approx(pair.normalized)


def test_a_selection_and_an_edge_in_words() -> None:
    pairs = ("A", "B"), ("B", "C"), ("C", "D")
    same, small, large = (
        Edge(pair, *shares)
        for pair, shares in zip(pairs, ((1.0, 0, 0), (0, 0.25, 0), (0, 0, 1.0)), strict=True)
    )
    edges = [same, small, large]
    assert select_edges(edges, most_edges=1).description == "1 of 2 differences, the largest first"
    assert select_edges(edges, around=["B"]).description == "both dependencies of B"
    assert Edge(("A", "B"), tp=0.5, fp=0.25, fn=0.0).text == (
        "A – B: in both in 50 % of contexts, only in guess in 25 % of contexts"
    )


def test_only_none_is_0_and_only_all_are_1() -> None:
    assert _inside(0, 0) == 0.0
    assert [_inside(count, 8) for count in (0, 2, 8)] == [0.0, 0.25, 1.0]
    assert 0 < _inside(1, 10**40) < _inside(10**40 - 1, 10**40) < 1
