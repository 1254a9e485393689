"""One true model and many guesses, in a table that sorts."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from htmltools import TagChild, TagList, tags
from shiny import reactive, render, req, ui

from contextwise.execution.records import as_csv, as_json
from contextwise.explorer import elements, jobs
from contextwise.explorer.process import Job
from contextwise.explorer.state import Shown, State
from contextwise.models.numbers import number, rate
from contextwise.report.records import Record, comparison_record

EXPLAINING = 30.0  # seconds for each guess of a report
COUNTS = ("distance", "tp", "fn", "fp", "tn")
RATES = ("precision", "recall", "f1", "mcc")
HEAD = (
    "guess", "features", "distance", "TP", "FN", "FP", "TN",
    "normalized", "precision", "recall", "F1", "MCC",
)  # fmt: skip


def panel() -> TagList:
    """The table of guesses."""
    return TagList(
        tags.p("One row a guess; a column's head sorts by it, a guess's name shows it."),
        ui.output_ui("guess_table"),
        elements.downloads(
            ("guesses_csv", "table (CSV)"),
            ("guesses_json", "table (JSON)"),
            ("report_html", "report on all of them (HTML)"),
        ),
    )


def serve(state: State) -> None:
    """Register what the view shows."""

    @render.ui
    def guess_table() -> TagChild:
        rows = [list(_cells(result)) for result in state.results()]
        return elements.sortable(HEAD, rows, caption="Guesses at the true model")

    @reactive.effect
    @reactive.event(state.input.show_guess)
    def show() -> None:
        ui.update_select("shown", selected=state.input.show_guess())

    def records() -> list[Record]:
        return [
            {"true": one.true.label, "guess": one.guess.label, **comparison_record(one.comparison)}
            for one in state.results()
        ]

    def table_as_csv() -> str:
        return as_csv(records())

    def table_as_json() -> str:
        return as_json(records())

    async def report() -> str:
        results = state.results()
        req(results)
        compared = {one.guess.label: one.comparison for one in results}
        seconds = len(results) * EXPLAINING + 60
        job = Job(jobs.report_of, results[0].true.label, compared, EXPLAINING, seconds=seconds)
        page: str = await job.result()
        return page

    elements.offer("report_html", report)
    elements.offer("guesses_csv", table_as_csv)
    elements.offer("guesses_json", table_as_json)


def _cells(result: Shown) -> Iterator[tuple[TagChild, Any]]:
    """What is shown in each cell, and what it is sorted by."""
    guess, c = result.guess, result.comparison
    yield elements.choose(guess.label, input="show_guess", value=guess.key), guess.label
    yield number(len(guess.model)), len(guess.model)
    if len(c.unions.open):
        low, high = c.distance_bounds
        yield f"{number(low)} to {number(high)}", low
        yield from (("–", None) for _ in HEAD[3:])
        return
    for key in COUNTS:
        yield number(getattr(c, key)), getattr(c, key)
    rates = [c.normalized, *(c.rate(key, float("nan")) for key in RATES)]
    yield from ((rate(value), None if isnan(value) else value) for value in rates)
