"""Every result shows itself in notebooks, as text and as a frame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import contextwise
from contextwise import Structure, compare, compare_many, distance_matrix, examples, explain
from contextwise.analysis import stability
from contextwise.comparison.two_models import Comparison
from contextwise.evaluation import chance
from contextwise.evidence import check
from contextwise.report import RENDERERS, rendered
from contextwise.report.comparisons import Guess, compare_parts
from contextwise.report.parts import PARTS, Entries, Part, Section, Table, parts_of
from contextwise.support.formatting import Printed, Shown
from hard import chain, half_known

SIX = compare(examples.load("six"), examples.load("six-guess"))
NASTY = '<script>alert("1")</script>'


class TestNotebooks:
    RESULTS = (
        SIX,
        half_known(),
        explain(examples.load("six"), examples.load("six-guess")),
        explain(examples.load("six"), examples.load("six-guess"), pairs=[("X1", "X2")]),
        distance_matrix([SIX.true, SIX.guess]),
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
        assert len(repr(result)) < 200
        assert "\n" not in repr(result)

    @pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
    def test_every_finished_result_is_a_frame(self, result: Any) -> None:
        if not getattr(result, "open_pairs", None):
            assert len(result.to_frame().columns) > 1

    def test_nothing_to_compare_is_said(self) -> None:
        single = Structure({"A": 2})
        for result in (
            compare(single, single),
            compare_many(single, [single, single]),
            distance_matrix([single, single, single]),
        ):
            assert "There is nothing to compare" in result._repr_html_()

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


def shown_classes(base: type) -> set[type]:
    return {base}.union(*map(shown_classes, base.__subclasses__()))


def titles_of(part: Part) -> Iterator[str]:
    """Yield what every renderer shows of a part: the titles of its columns, the labels."""
    match part:
        case Table():
            yield from (column.title for column in part.columns)
        case Entries():
            yield from (entry.label for group in part.groups for entry in group)
        case Section():
            yield from (title for inner in part.parts for title in titles_of(inner))


class TestRenderers:
    def test_every_result_that_shows_itself_has_a_renderer(self) -> None:
        for room in ("analysis", "comparison", "evaluation", "evidence", "independence", "studies"):
            for module in Path(contextwise.__path__[0], room).glob("*.py"):
                import_module(f"contextwise.{room}.{module.stem}")
        results = shown_classes(Shown) - {Shown, Printed}
        names = {f"{result.__module__}.{result.__qualname__}" for result in results}
        assert names == {f"contextwise.{name}" for name in PARTS if "models.structure" not in name}
        for place, _, function in (name.rpartition(".") for name in PARTS.values()):
            assert callable(getattr(import_module(f"contextwise.{place}"), function))

    def test_a_subclass_of_a_result_shows_itself(self) -> None:
        class Mine(Comparison):
            pass

        mine = Mine(SIX.question, SIX.pairs, SIX.unions)
        assert mine._repr_html_() == SIX._repr_html_()
        assert mine.summary() == SIX.summary()

    def test_an_object_that_is_no_result_is_named(self) -> None:
        with pytest.raises(TypeError, match="cannot show a int"):
            parts_of(7)

    @pytest.mark.parametrize("renderer", RENDERERS)
    def test_every_renderer_shows_what_compare_prints(self, renderer: str) -> None:
        by_chance = chance("six", "six-guess", draws=9)
        guesses = [Guess("six-guess", SIX, chance=by_chance), Guess("other", SIX)]
        for some in (guesses, guesses[:1]):
            parts = compare_parts("six", some, features=7, top=3)
            shown = rendered(parts, renderer)
            assert "six: 6 variables, 7 features" in shown
            assert [t for part in parts for t in titles_of(part) if t not in shown] == []

    def test_every_renderer_is_in_the_reference(self) -> None:
        page = Path(__file__).parents[2] / "docs" / "reference" / "results.md"
        named = re.findall(r"^\| (\w+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert {*RENDERERS} <= {*named}
