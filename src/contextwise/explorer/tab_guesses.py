"""Several guesses: their table, the distances between them, a report."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import Any

from htmltools import TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.compare import comparison_record
from contextwise.comparison.matrix import DistanceMatrix
from contextwise.explorer import controls
from contextwise.explorer.computations import distances, report_of
from contextwise.explorer.controls import Input, offer, on, show, text
from contextwise.explorer.job import Background, Done, Outcome, value_of
from contextwise.explorer.state import State
from contextwise.report.comparisons import Guess, guesses_parts, matrix_parts
from contextwise.report.html import Markup
from contextwise.report.parts import Cell, Column, Table
from contextwise.support.formatting import as_csv

EXPLAINING, DRAWING = 30.0, 60.0  # seconds for each guess of a report, and for its pictures
COUNTING = 120.0  # seconds for the distances
GRACE = 60.0  # seconds that each may take beyond that
MOST_OPEN = 12  # up to this number of models, the table of their distances is open

SHOW = Input("show_guess", text)
REPORT = "report"


def panel() -> TagList:
    """Return the tab; the distances come last, because nothing may move when they are known."""
    return TagList(
        tags.p("Click a column to sort by it, and a name to show that model in the other tabs."),
        ui.output_ui("guess_table"),
        controls.downloads(("guesses_csv", "table (CSV)")),
        tags.section(
            tags.h2("Report", class_="h5 mt-3"),
            tags.p("All comparisons with explanations, in one file that works without a network."),
            controls.request_panel(REPORT),
        ),
        tags.div(ui.output_ui("between"), class_="needs-several"),
    )


def guess_table(results: Sequence[Guess]) -> TagChild:
    if not results:
        return None
    keys = {guess.title: guess.name for guess in results}

    def cell(value: Cell, column: Column) -> Markup | None:
        if column.style == "name" and isinstance(value, str):
            return controls.choose(value, SHOW, keys[value])
        return None

    return controls.parts(guesses_parts(results), cell=cell, sortable=True)


def between(outcome: Outcome[DistanceMatrix]) -> TagChild:
    """Show the distances between all models."""
    if outcome is None:
        return None
    title = tags.h2("Distances between the models", class_="h5 mt-3")
    if not isinstance(outcome, Done):
        return tags.section(title, controls.not_done(outcome))
    matrix = outcome.value
    parts = matrix_parts(matrix, normalized=True)
    return tags.section(
        title,
        controls.parts(part for part in parts if not isinstance(part, Table)),
        tags.details(
            tags.summary("Normalized distances: shares of all assertions"),
            controls.parts(part for part in parts if isinstance(part, Table)),
            {"open": ""} if len(matrix.names) <= MOST_OPEN else {},
        ),
        controls.downloads(("matrix_csv", "distances (CSV)")),
    )


def matrix_records(matrix: DistanceMatrix) -> list[dict[str, object]]:
    """Return one record per pair of models: the bounds of their distance."""
    names, low, high = matrix.names, matrix.lower, matrix.upper
    return [
        {"first": names[i], "second": names[j], "low": low[i, j], "high": high[i, j]}
        for i, j in combinations(range(len(names)), 2)
    ]


def serve(state: State) -> None:
    show("guess_table", lambda: guess_table(state.results()))
    on(SHOW, lambda key: state.change(shown=key) if state.knows(key) else None)

    def records() -> list[dict[str, Any]]:
        true = state.true().label
        return [
            {"true": true, "guess": guess.title, **comparison_record(guess.comparison)}
            for guess in state.results()
        ]

    offer("guesses_csv", lambda: as_csv(records()), name=_name(state, "guesses"))
    _serve_report(state)
    _serve_distances(state)


def _name(state: State, what: str) -> Callable[[], str]:
    return lambda: f"{state.true().label} {what}"


def _serve_report(state: State) -> None:
    def about() -> Hashable:
        return tuple(state.results()) or None

    def call() -> tuple[Any, ...]:
        results = state.results()
        return len(results) * EXPLAINING + DRAWING, state.true().label, results, EXPLAINING

    def link(page: str) -> TagChild:
        size = len(page.encode()) / 2**20
        return controls.downloads(("report_html", f"report (HTML, {size:.1f} MiB)"))

    outcome = controls.serve_request(
        REPORT, "Make the report", report_of, about=about, call=call, content=link
    )
    missing = "the report has not been made yet"
    offer("report_html", lambda: value_of(outcome(), missing), name=_name(state, "report"))


def _serve_distances(state: State) -> None:
    counting = Background(distances)

    def models() -> Hashable:
        guesses = state.guesses()
        return (state.true(), tuple(guesses)) if len(guesses) > 1 else None

    def outcome() -> Outcome[DistanceMatrix]:
        return counting.outcome(models())

    def records() -> list[dict[str, object]]:
        return matrix_records(value_of(outcome(), "the distances are not known yet"))

    @reactive.effect
    def measure() -> None:
        wanted = models()
        ready = len(state.results()) == len(state.guesses())
        if state.tab() != "guesses" or wanted is None or not ready:
            return
        with reactive.isolate():
            if counting.key() == wanted:
                return
            named = {entry.label: entry.model for entry in (state.true(), *state.guesses())}
        counting.start(wanted, named, COUNTING, seconds=COUNTING + GRACE)

    show("between", lambda: between(outcome()))
    offer("matrix_csv", lambda: as_csv(records()), name=_name(state, "distances"))
