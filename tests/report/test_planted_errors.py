"""The effects of planted errors: a sentence, a table and a figure."""

from __future__ import annotations

from contextwise import study
from contextwise.report.parts import Table
from contextwise.report.planted_errors import planted_figure, planted_parts
from contextwise.studies.kl import Divergence


def test_a_study_of_planted_errors_is_a_sentence_a_table_and_a_figure() -> None:
    result = study("six", planted=8, rows=[50, 10_000], repeats=1, columns=[Divergence()])
    parts = planted_parts(result)
    assert "six, 10,000 rows: a percent of false positives costs" in str(parts[0])
    (listed,) = [part for part in parts if isinstance(part, Table)]
    assert len(listed.rows) == 4  # two kinds of errors, two numbers of rows
    figure = planted_figure(result)
    assert len(figure.axes) == 4
    assert all(axes.has_data() for axes in figure.axes)
