"""One true model and many guesses: a table, where they err, and how far apart they are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from htmltools import TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.compare import Comparison, Record, comparison_record
from contextwise.evaluation.replicates import summarize
from contextwise.explorer import agreement, elements, request
from contextwise.explorer.background import Background
from contextwise.explorer.computations import report_of
from contextwise.explorer.job import value_of
from contextwise.explorer.state import Shown, State
from contextwise.explorer.wiring import Input, offer, on, show, text
from contextwise.report.comparisons import Guess, guesses_parts
from contextwise.report.parts import Cell, Column, Table
from contextwise.report.pictures import plane_picture
from contextwise.report.summaries import summary_parts
from contextwise.support.records import as_csv, as_json

EXPLAINING = 30.0  # seconds for each guess of a report
DRAWING = 60.0  # seconds for its pictures
SUMMARIZED = ("normalized", "fp_share", "fn_share", "mcc", "kappa")
"""What is summarized of a group of guesses."""

SHOW = Input("show_guess", text)
REPORT = "report"


# -- what is shown -------------------------------------------------------------------------------


def panel() -> TagList:
    """The table, the pictures, and the report."""
    return TagList(
        tags.p("One row per guess; a column's head sorts by it, a guess's name shows it."),
        ui.output_ui("guess_table"),
        elements.downloads(("guesses_csv", "table (CSV)"), ("guesses_json", "table (JSON)")),
        ui.output_ui("plane"),
        tags.section(
            tags.h2("Report", class_="h5 mt-3"),
            tags.p("All guesses with their explanations, in one file that needs no network."),
            request.panel(REPORT),
        ),
        agreement.panel(),
    )


def guess_table(results: Sequence[Shown]) -> TagChild:
    """The counts and rates of each guess; a guess's name shows it."""
    if not results:
        return None
    keys = {one.guess.label: one.guess.key for one in results}

    def cell(value: Cell, column: Column) -> TagChild:
        content = elements.shown_cell(value, column)
        if column.title == "guess" and isinstance(value, str):
            return elements.choose(content, SHOW, keys[value])
        return content

    guesses = [
        Guess(one.guess.label, one.comparison, features=len(one.guess.model)) for one in results
    ]
    return TagList(
        *(
            elements.table(part, cell=cell, sortable=True)
            if isinstance(part, Table)
            else elements.rendered([part])
            for part in guesses_parts(guesses, medium="page")
        )
    )


def group_of(label: str) -> str:
    """What repeats of one learner have in common: the label without its last number.

    >>> group_of("nltcs.pc-3.json"), group_of("nltcs.dt-ps10.mn"), group_of("six (example)")
    ('nltcs.pc', 'nltcs.dt-ps10', 'six')
    """
    stem = re.sub(r"( \((example|\d+)\))|(\.(mn|json|bn|dn|uai|bif)(\.gz)?$)", "", label)
    return re.sub(r"[-_ .#](run|rep|repeat|seed)?\d+$", "", stem) or stem


def groups_of(results: Sequence[Shown]) -> dict[str, list[Comparison]]:
    """The guesses whose names differ only in their last number, where there are such groups."""
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for one in results:
        if not one.findings.is_open:
            groups[group_of(one.guess.label)].append(one.comparison)
    return {name: own for name, own in groups.items() if len(own) > 1}


def plane(results: Sequence[Shown]) -> TagChild:
    """False positives against false negatives: one point per guess, and the means of groups."""
    if sum(not one.findings.is_open for one in results) < 2:
        return None
    groups = groups_of(results)
    summary = summarize(groups, metrics=SUMMARIZED) if groups else None
    drawn = [
        Guess(one.guess.label, one.comparison, group=group if group in groups else "")
        for one in results
        for group in [group_of(one.guess.label)]
    ]
    words = "Guesses whose names differ only in their last number are a group."
    return tags.section(
        tags.h2("Where they err", class_="h5 mt-3"),
        tags.p(words) if groups else None,
        elements.rendered([plane_picture(drawn, summary)]),
        elements.rendered(summary_parts(summary)) if summary else None,
    )


def report_link(page: str) -> TagChild:
    """The link to a report that is made."""
    return elements.downloads(
        ("report_html", f"report (HTML, {len(page.encode()) / 2**20:.1f} MiB)")
    )


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> list[Background[Any]]:
    """Tie the view to the session."""
    reporting = Background(report_of)

    def about() -> Hashable:
        return tuple(state.results()) or None

    def make_report() -> None:
        with reactive.isolate():
            results, wanted = state.results(), about()
        named = {one.guess.label: one.comparison for one in results}
        seconds = len(results) * EXPLAINING + DRAWING
        reporting.start(wanted, results[0].true.label, named, EXPLAINING, seconds=seconds)

    outcome = request.serve(
        REPORT,
        "Make the report",
        reporting,
        about=about,
        begin=make_report,
        content=report_link,
    )

    def report() -> str:
        return value_of(outcome(), "the report has not been made yet")

    show("guess_table", lambda: guess_table(state.results()))
    show("plane", lambda: plane(state.results()))
    on(SHOW, lambda key: state.go(replace(state.now(), shown=key)))

    def name() -> str:
        return f"{state.true().label} guesses"

    offer("report_html", report, name=lambda: f"{state.true().label} report")
    offer("guesses_csv", lambda: as_csv(records(state.results())), name=name)
    offer("guesses_json", lambda: as_json(records(state.results())), name=name)
    return [reporting, *agreement.serve(state)]


def records(results: Sequence[Shown]) -> list[Record]:
    """The rows of the table, exact."""
    return [
        {"true": one.true.label, "guess": one.guess.label, **comparison_record(one.comparison)}
        for one in results
    ]
