"""What is shown, as data: the same parts and words in text, on pages and in notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Comparison, Structure, compare, distance_matrix, examples, explain, score
from contextwise.comparison.explain import explain_comparison
from contextwise.evaluation import chance, check, stability
from contextwise.report.comparisons import (
    Guess,
    comparison_parts,
    guesses_parts,
    measures,
    variables_tables,
    worst_pairs,
)
from contextwise.report.explanations import explanation_parts
from contextwise.report.notes import open_note
from contextwise.report.parts import (
    Column,
    Interval,
    Note,
    Part,
    Section,
    Share,
    Table,
    cell_text,
    exact_digits,
    is_rounded,
)
from contextwise.report.pictures import graph_pictures, pairs_picture
from contextwise.report.shares import Edge, select_edges
from contextwise.report.text import as_text
from contextwise.testing import families
from hard import hard_models

SIX = compare(examples.load("six"), examples.load("six-guess"))
NASTY = '<script>alert("1")</script>'


def tables(parts: list[Part]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Table):
            yield part
        elif isinstance(part, Section):
            yield from tables(list(part.parts))


def notes(parts: list[Part], key: str) -> list[str]:
    return [part.text for part in parts if isinstance(part, Note) and part.key == key]


def chain(length: int) -> Structure:
    variables = {f"X{i}": 2 for i in range(length)}
    return Structure(variables, [f"X{i}=1 & X{i + 1}=1" for i in range(length - 1)])


def half_known() -> Comparison:
    """A comparison in which one pair differs for sure, and another is open."""
    true, guess = hard_models()
    return compare(true, guess, time_limit=0.0)


class TestComparisons:
    @given(families(2))
    def test_cells_are_the_counts(self, models: tuple[Structure, Structure]) -> None:
        c = compare(*models)
        parts = comparison_parts(c, top=1000)
        confusion = next(table for table in tables(parts) if table.key == "confusion")
        shares = [cell for row in confusion.rows for cell in row if isinstance(cell, Share)]
        assert [(s.part, s.whole) for s in shares] == [
            (n, c.total) for n in (c.tp, c.fn, c.fp, c.tn)
        ]
        worst = [table for table in tables(parts) if table.key == "worst pairs"]
        errors = [row[1] for table in worst for row in table.rows]
        assert sum(s.part for s in errors if isinstance(s, Share)) == c.distance
        values = {measure.key: measure.value for measure in measures(c).all}
        assert values["distance"] == c.distance
        assert {**values, "normalized": c.normalized} == values

    def test_open_pairs_are_never_called_all(self) -> None:
        c = half_known()
        text = as_text(comparison_parts(c))
        assert "All pairs that differ:" not in text
        assert open_note(c).text in text
        assert open_note(c).warns
        distance = next(m for m in measures(c).all if m.key == "distance")
        assert distance.value == Interval(*c.distance_bounds)

    def test_known_differences_beside_open_pairs(self) -> None:
        c = half_known()
        some, every = worst_pairs(c), worst_pairs(c, 10_000)
        assert isinstance(some, Table)
        assert isinstance(every, Table)
        assert f"of {len(every.rows):,} that are known to differ" in some.title
        assert every.title == "All pairs that are known to differ"

    def test_several_guesses_say_what_is_open_and_what_is_rounded(self) -> None:
        c = half_known()
        parts = guesses_parts([Guess("first", c), Guess("second", SIX)])
        assert len(notes(parts, "open")) == 1
        assert "first: " in notes(parts, "open")[0]
        assert "second" not in notes(parts, "open")[0]

    def test_several_guesses_have_their_correlation(self) -> None:
        (table,) = tables(guesses_parts([Guess("one", SIX)]))
        place = [column.title for column in table.columns].index("MCC")
        assert table.rows[0][place] == SIX.mcc

    def test_long_counts_are_left_out_of_a_terminal_and_rounded_elsewhere(self) -> None:
        c = compare(chain(70), Structure(chain(70).domain, []))
        assert "e21" not in as_text(comparison_parts(c))
        assert not notes(comparison_parts(c), "rounding")
        for medium in ("page", "python"):
            (note,) = notes(comparison_parts(c, medium=medium), "rounding")
            assert "--json" not in note

    def test_a_list_that_is_cut_in_a_tie_says_so(self) -> None:
        c = compare(chain(9), Structure(chain(9).domain, []))
        table = worst_pairs(c, 3)
        assert isinstance(table, Table)
        assert "8 tie" in table.title
        assert "tie" not in comparison_parts(c, top=8)[3].title  # type: ignore[union-attr]
        (variables,) = variables_tables(c, 3)
        assert "7 tie" in variables.title


class TestExplanations:
    def test_many_features_over_the_same_variables_are_one_row(self) -> None:
        domain = {"A": 2, "B": 3, "C": 3}
        guess = Structure(domain, [f"A=1 & B={k} & C={k}" for k in range(3)])
        found = explain(Structure(domain), guess)
        (table,) = (t for t in tables(explanation_parts(found)) if t.key == "features")
        assert len(table.rows) == 2
        assert table.texts()[1][-2:] == ["has it", "2 more features over A, B, C"]
        assert "2 more features over A, B, C" in str(found)

    def test_a_notebook_says_that_ganak_counted(self) -> None:
        by_ganak = replace(SIX, unions=replace(SIX.unions, counted={"ganak": 3}))
        assert "Ganak" in explain_comparison(by_ganak)._repr_html_()
        assert "Ganak" not in explain_comparison(SIX)._repr_html_()


class TestCells:
    @given(st.integers(0, 10**40), st.integers(1, 40))
    def test_what_is_rounded_has_its_digits(self, value: int, digits: int) -> None:
        column = Column("errors", "count", digits)
        exact = exact_digits(value, column)
        shown = cell_text(value, column)
        assert (exact is None) == (shown == f"{value:,}")
        assert exact in (None, str(value))
        table = Table("", (column,), ((Interval(0, value),),))
        assert is_rounded([Section("", (table,))]) == (None if exact is None else digits)

    def test_each_style_has_its_words(self) -> None:
        assert cell_text(Fraction(1, 8), Column("", "share")) == "12.5 %"
        assert cell_text(2.5, Column("", "mean")) == "2.50"
        assert cell_text(float("inf"), Column("", "score")) == "inf"
        assert cell_text("a" * 99, Column("", "name")) != "a" * 99
        assert cell_text("a" * 99, Column("", "words")) == "a" * 99


class TestPictures:
    def test_a_legend_has_what_occurs_and_nothing_else(self) -> None:
        domain = {"A": 2, "B": 2, "C": 2}
        found = compare(Structure(domain, []), Structure(domain, ["A=1 & B=1"]))
        legends = pairs_picture(found).legends
        assert [legend.title for legend in legends] == ["only in guess, share of contexts", ""]
        assert [words for _, words in legends[0].entries] == ["≤ 100 %"]
        assert [words for _, words in legends[1].entries] == [
            "depends, without such errors",
            "never depends",
        ]

    def test_an_open_pair_is_in_the_legend(self) -> None:
        picture = pairs_picture(half_known())
        words = [words for legend in picture.legends for _, words in legend.entries]
        assert "not decided in time" in words

    def test_the_graphs_show_all_edges_where_they_can_be_read(self) -> None:
        true, guess = graph_pictures(SIX)
        assert true.caption.startswith("The true model. All ")
        assert guess.caption.startswith("The guess. All ")
        domain = {f"X{i}": 2 for i in range(60)}
        crowd = Structure(domain, [f"X{i}=1 & X{j}=1" for i in range(30) for j in range(30, 60)])
        many = graph_pictures(compare(crowd, Structure(domain, [])))
        assert len(many) == 1
        assert "40 largest of 900 differences (900 tie;" in many[0].caption

    def test_ties_are_cut_by_the_variables_with_more_differences(self) -> None:
        edges = [Edge((f"A{k}", f"B{k}"), 0, 1.0, 0) for k in range(50)]
        edges += [Edge(("hub", f"C{k}"), 0, 1.0, 0) for k in range(20)]
        chosen = select_edges(edges, most_edges=20)
        assert {edge.pair[0] for edge in chosen.edges} == {"hub"}
        assert chosen.tied == 70

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


class TestNotebooks:
    RESULTS = (
        SIX,
        half_known(),
        explain(examples.load("six"), examples.load("six-guess")),
        explain(examples.load("six"), examples.load("six-guess"), pairs=[("X1", "X2")]),
        distance_matrix([SIX.true, SIX.guess]),
        score(examples.load("lung"), examples.load("lung-learned")),
        chance("six", "six-guess", draws=9),
        check("six", [[0, 1] * 3, [1, 0] * 3, [1, 1, 0] * 2]),
        stability([[0, 0, 1], [1, 1, 0], [1, 1, 1]] * 9, "chow-liu", resamples=3),
    )

    @pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
    def test_every_result_shows_itself(self, result: object) -> None:
        html = result._repr_html_()  # type: ignore[attr-defined]
        assert html.startswith('<div class="contextwise">')
        assert html.count("<table") == html.count("</table>")
        assert "nan" not in str(result).lower()

    def test_long_numbers_are_rounded_with_their_digits_in_a_tip(self) -> None:
        c = compare(chain(500), Structure(chain(500).domain, []))
        assert f'title="{c.distance}"' in c._repr_html_()
        assert f">{c.distance}<" not in c._repr_html_()
        assert len(repr(c)) < 200
        assert len(repr(distance_matrix([c.true, c.guess]))) < 100

    def test_names_are_shown_and_not_run(self) -> None:
        domain = {NASTY: 2, "B": 2, "C": 2}
        found = compare(Structure(domain, [{NASTY: 1, "B": 1}]), Structure(domain, []))
        assert "<script" not in found._repr_html_()
        assert "&lt;script&gt;" in found._repr_html_()

    def test_a_matrix_as_a_frame(self) -> None:
        matrix = distance_matrix([SIX.true, SIX.guess], names=["true", "guess"])
        frame = matrix.to_frame()
        assert frame.loc["true", "guess"] == SIX.distance
        assert matrix.to_frame(normalized=True).loc["guess", "true"] == SIX.normalized
        assert matrix.to_frame(normalized=True).to_numpy().dtype.kind == "f"
