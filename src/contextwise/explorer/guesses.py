"""One true model and many guesses: a table, where they err, and how far apart they are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from htmltools import TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.errors import ContextwiseError
from contextwise.evaluation.intervals import Mean
from contextwise.evaluation.replicates import summarize
from contextwise.evaluation.summaries import Summary
from contextwise.execution.records import as_csv, as_json
from contextwise.explorer import agreement, elements, request
from contextwise.explorer.background import Background
from contextwise.explorer.computations import report_of
from contextwise.explorer.job import Done
from contextwise.explorer.scatter import Bar, Point, Series, scatter_svg
from contextwise.explorer.state import Shown, State
from contextwise.explorer.wiring import Input, offer, on, show, text
from contextwise.report.comparisons import Guess, guesses_parts
from contextwise.report.elements import Cell, Column, Table
from contextwise.report.records import Record, comparison_record
from contextwise.report.summaries import summary_parts

EXPLAINING = 30.0  # seconds for each guess of a report
DRAWING = 60.0  # seconds for its pictures
MOST_LABELS = 25
"""Up to so many guesses, their names stand beside their points."""
SUMMARIZED = ("distance", "fp", "fn", "mcc", "kappa")
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
        agreement.panel(),
        tags.section(
            tags.h2("Report", class_="h5 mt-3"),
            tags.p("All guesses with their explanations, in one file that needs no network."),
            request.panel(REPORT),
        ),
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
        if not one.compared.is_open:
            groups[group_of(one.guess.label)].append(one.comparison)
    return {name: own for name, own in groups.items() if len(own) > 1}


def plane(results: Sequence[Shown]) -> TagChild:
    """False positives against false negatives: one point per guess, and the means of groups."""
    known = [one for one in results if not one.compared.is_open]
    if len(known) < 2:
        return None
    points = [_guess_point(one, labelled=len(known) <= MOST_LABELS) for one in known]
    groups = groups_of(known)
    summary = summarize(groups, metrics=SUMMARIZED) if groups else None
    words = "Each circle is a guess; the nearer to the corner, the nearer to the true model."
    if summary:
        words += " A square is the mean of guesses whose names differ only in their last number, "
        words += "with its 95 % interval."
    means = [group_mean(summary, name) for name in groups] if summary else []
    picture = scatter_svg(
        [Series("fp", points), Series("fn", means)],
        x_label="false positives, % of assertions",
        y_label="false negatives, % of assertions",
        title="False positives against false negatives of the guesses",
    )
    return tags.section(
        tags.h2("Where they err", class_="h5 mt-3"),
        tags.p(words),
        elements.svg(picture),
        elements.rendered(summary_parts(summary)) if summary else None,
    )


def _guess_point(one: Shown, *, labelled: bool) -> Point:
    c = one.comparison
    fp, fn = (100 * ratio(count, c.total) for count in (c.fp, c.fn))
    label = one.guess.label
    tip = f"{label}: false positives {fp:.3g} %, false negatives {fn:.3g} %"
    return Point(fp, fn, tip, label if labelled else "")


def group_mean(summary: Summary, group: str) -> Point:
    """The mean errors of a group as a point, with their intervals."""
    (x, x_bar), (y, y_bar) = (_percents(summary.mean(group, kind)) for kind in ("fp", "fn"))
    tip = f"{group}, mean of {summary.mean(group, 'fp').count}: "
    tip += f"FP {x:.3g} % ({x_bar[0]:.3g} to {x_bar[1]:.3g}), "
    tip += f"FN {y:.3g} % ({y_bar[0]:.3g} to {y_bar[1]:.3g})"
    return Point(x, y, tip, "", x_bar, y_bar)


def _percents(value: Mean) -> tuple[float, Bar]:
    assert value.mean is not None
    assert value.low is not None
    assert value.high is not None
    return 100 * value.mean, (100 * value.low, 100 * value.high)


def report_link(page: str) -> TagChild:
    """The link to a report that is made."""
    return elements.downloads(
        ("report_html", f"report (HTML, {len(page.encode()) / 2**20:.1f} MiB)")
    )


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> list[Background[Any]]:
    """Tie the view to the session."""
    reporting = Background(report_of)

    def compared() -> Hashable:
        return tuple(state.results()) or None

    def make_report() -> None:
        with reactive.isolate():
            results, wanted = state.results(), compared()
        named = {one.guess.label: one.comparison for one in results}
        seconds = len(results) * EXPLAINING + DRAWING
        reporting.start(wanted, results[0].true.label, named, EXPLAINING, seconds=seconds)

    outcome = request.serve(
        REPORT,
        "Make the report",
        reporting,
        about=compared,
        begin=make_report,
        content=report_link,
    )

    def report() -> str:
        known = outcome()
        if not isinstance(known, Done):
            raise ContextwiseError("the report has not been made yet")
        return known.value

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
