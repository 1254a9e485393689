"""Comparisons as parts: the cells are the counts, and what is cut or unfinished is named."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given

from contextwise import (
    Comparison,
    Domain,
    LogLinear,
    Structure,
    compare,
    distance_matrix,
    examples,
)
from contextwise.comparison.question import pose
from contextwise.comparison.tolerances import count_at
from contextwise.comparison.two_models import comparison_record, pair_records
from contextwise.report.comparisons import (
    Guess,
    comparison_parts,
    guesses_parts,
    matrix_parts,
    measures,
    nearest_text,
    open_note,
    scope_text,
    summary,
    tolerance_parts,
    worst_pairs,
)
from contextwise.report.parts import Interval, Note, Part, Section, Share, Table
from contextwise.report.text import as_text
from contextwise.testing import families
from hard import chain, half_known

SIX = compare(examples.load("six"), examples.load("six-guess"))


def tables(parts: list[Part]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Table):
            yield part
        elif isinstance(part, Section):
            yield from tables(list(part.parts))


def notes(parts: list[Part], key: str) -> list[str]:
    return [part.text for part in parts if isinstance(part, Note) and part.key == key]


def comparison_table(comparison: Comparison, *, top: int = 10) -> str:
    return as_text(comparison_parts(comparison, top=top))


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
        values = {m.key: m.value for group in measures(c).groups for m in group}
        assert values["distance"] == c.distance
        assert {**values, "normalized": c.normalized} == values

    def test_open_pairs_are_never_called_all(self) -> None:
        c = half_known()
        text = as_text(comparison_parts(c))
        assert "All pairs that differ:" not in text
        assert open_note({"": c}).text in text
        assert open_note({"": c}).warns
        distance = next(m for g in measures(c).groups for m in g if m.key == "distance")
        assert distance.value == Interval(*c.distance_bounds)

    def test_known_differences_beside_open_pairs(self) -> None:
        c = half_known()
        some, every = worst_pairs(c), worst_pairs(c, 10_000)
        assert isinstance(some, Table)
        assert isinstance(every, Table)
        assert f"of the {len(every.rows):,} pairs that are known to differ" in some.title
        assert every.title == "All pairs that are known to differ"

    def test_several_guesses_say_what_is_open(self) -> None:
        c = half_known()
        parts = guesses_parts([Guess("first", c), Guess("second", SIX)])
        assert len(notes(parts, "open")) == 1
        assert "first: " in notes(parts, "open")[0]
        assert "second" not in notes(parts, "open")[0]

    def test_several_guesses_have_their_correlation(self) -> None:
        (table,) = tables(guesses_parts([Guess("one", SIX)]))
        place = [column.title for column in table.columns].index("MCC")
        assert table.rows[0][place] == SIX.mcc

    def test_pairs_that_always_differ_are_counted(self) -> None:
        c = compare(chain(9), Structure(chain(9).domain, []))
        assert "8 of 36 pairs differ, all of them in every context." in summary(c)


@pytest.fixture(name="small")
def _small() -> Comparison:
    domain = {"A": 2, "B": 2, "C": 3}
    true = Structure(domain, ["A=1 & B=1 & C=0"])
    return compare(true, Structure(domain, ["A=1 & B=1"]))


def test_the_table_shows_the_counts(small: Comparison) -> None:
    # A–B depends in C=0 in the true model and always in the guess: TP 1, FP 2.
    # A–C and B–C depend in one of two contexts in the true model and never in the guess: FN 2.
    lines = comparison_table(small).splitlines()
    assert "All pairs that differ:" in lines
    (dependent,) = (line for line in lines if line.startswith("true dependent"))
    assert re.split(" {2,}", dependent)[1:] == ["14.3 % (1 of 7)", "28.6 % (2 of 7)"]
    (distance,) = (line for line in lines if line.startswith("distance"))
    assert distance.split()[1] == "4"
    (first,) = (line for line in lines if line.startswith("A – B"))
    assert re.split(" {2,}", first)[1:] == ["66.7 % (2 of 3)", "0 %", "66.7 %", "50 %"]


def test_top_limits_the_pairs(small: Comparison) -> None:
    assert "2 of the 3 pairs that differ, most errors first" in comparison_table(small, top=2)
    assert "B – C" not in comparison_table(small, top=2)
    assert "first" not in comparison_table(small, top=0)


def test_equal_models_say_so() -> None:
    assert comparison_table(compare(chain(3), chain(3))).endswith("No pair differs.")


def test_shares_are_shown_and_records_are_exact() -> None:
    true, guess = chain(200), Structure(chain(200).domain, [])
    comparison = compare(true, guess)
    assert "1 % of all assertions differ, all of them false negatives" in comparison_table(
        comparison
    )
    assert comparison_record(comparison)["fn"] == 199 * 2**198
    assert next(pair_records(comparison, comparison.worst_places(1)))["fn"] == 2**198


def test_several_guesses_are_a_row_each(small: Comparison) -> None:
    table = as_text(
        guesses_parts([Guess("one", small), Guess("two", compare(small.true, small.true))])
    )
    verdict, _, table = table.partition("\n\n")
    assert verdict.startswith("two is nearest to the true model: 0 % of all assertions differ.")
    head, one, two = (line.split("  ") for line in table.splitlines())
    assert [title for title in head if title][:3] == ["guess", "features", "normalized distance"]
    assert "57.1 % (4 of 7)" in [cell.strip() for cell in one]
    assert "0 % (0 of 7)" in [cell.strip() for cell in two]


def test_pair_records_add_up(small: Comparison) -> None:
    records = list(pair_records(small))
    assert [(r["first"], r["second"]) for r in records] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [sum(int(str(r[key])) for r in records) for key in ("tp", "fn", "fp", "tn")] == [
        small.tp,
        small.fn,
        small.fp,
        small.tn,
    ]


def test_an_undefined_rate_is_a_dash_and_none() -> None:
    nothing = Structure({"A": 2, "B": 2}, [])
    comparison = compare(nothing, nothing)
    assert comparison_record(comparison)["precision"] is None
    assert "precision  –" in comparison_table(comparison)


def test_the_summary_and_the_scope_in_words() -> None:
    true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    c = compare(true, Structure(true.domain, ["A=1 & B=1 & C=1"]))
    assert summary(c) == c.summary()
    assert summary(c).splitlines() == [
        "50 % of all assertions differ (3 of 6): 33.3 % false negatives, 16.7 % false positives.",
        "Kappa is 0.",
        "3 of 3 pairs differ: A–B, A–C and B–C.",
    ]
    assert scope_text(c) == "3 pairs, 6 assertions"
    restricted = compare("lung", "lung-learned", context="smoker=yes", contexts="canonical")
    assert scope_text(restricted) == (
        "1 pair, 4 assertions on full assignments in the context smoker=yes"
    )


def test_unfinished_counts_at_a_tolerance_are_shown_between_their_bounds() -> None:
    """One feature of A, B and C: each pair has 2 contexts, and its log odds ratio is in one."""
    domain = Domain({"A": 2, "B": 2, "C": 2})
    true, guess = (LogLinear(Structure(domain, ["A=1 & B=1 & C=1"]), [w]) for w in (1.0, 0.5))
    question = pose([true, guess])
    (finished,) = tables(tolerance_parts(count_at(question, [0.75])))
    half, none = Share(3, 6), Share(0, 6)
    assert finished.rows == (("0.75", half, half, none, none, Share(3, 3)),)
    (unfinished,) = tables(tolerance_parts(count_at(question, [0.25], node_budget=0)))
    assert unfinished.rows == (("0.25", *[Interval(0.0, 1.0)] * 4, None),)


class TestTies:
    """Superlatives name all that tie."""

    DOMAIN = Domain.of_cardinalities([2] * 90)
    TRUE = Structure(DOMAIN)
    ONE = Structure(DOMAIN, [{"v0": 1, "v1": 1}])
    ALMOST = Structure(DOMAIN, [{"v0": 1, "v1": 1}, dict.fromkeys(DOMAIN.names[1:], 1)])

    def test_the_nearest_guess_is_chosen_exactly(self) -> None:
        """The guesses differ by less than floats can tell."""
        near, far = compare(self.TRUE, self.ONE), compare(self.TRUE, self.ALMOST)
        assert near.normalized == far.normalized
        words = nearest_text([Guess("far", far), Guess("near", near)])
        assert words.splitlines()[0].startswith("near is nearest to the true model")
        assert words.splitlines()[1].startswith("far is farthest")

    def test_all_that_tie_are_named(self) -> None:
        same, one = compare(self.TRUE, self.TRUE), compare(self.TRUE, self.ONE)
        guesses = [Guess("a", one), Guess("b", same), Guess("c", one), Guess("d", same)]
        assert nearest_text(guesses).splitlines() == [
            "b and d are nearest to the true model: 0 % of all assertions differ.",
            "a and c are farthest: 0.025 %.",
        ]

    def test_models_that_are_all_equally_far_apart(self) -> None:
        edges = ("A=1 & B=1", "A=1 & C=1", "B=1 & C=1")
        models = [Structure({"A": 2, "B": 2, "C": 2}, [edge]) for edge in edges]
        [verdict, *_] = matrix_parts(distance_matrix(models))
        assert isinstance(verdict, Note)
        assert verdict.text.startswith("All pairs of models are equally far apart: 66.7 %")
