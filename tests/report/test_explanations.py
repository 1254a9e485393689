"""Explanations as parts: regions and features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from contextwise import Structure, compare, examples, explain
from contextwise.comparison.explain import explain_comparison
from contextwise.report.explanations import explanation_parts
from contextwise.report.parts import (
    Part,
    Section,
    Table,
)

SIX = compare(examples.load("six"), examples.load("six-guess"))


def tables(parts: list[Part]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Table):
            yield part
        elif isinstance(part, Section):
            yield from tables(list(part.parts))


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
