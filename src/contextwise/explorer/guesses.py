"""One true model and many guesses: a table, where they err, and how far apart they are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import sqrt
from statistics import mean, stdev

from htmltools import TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.confusion import ratio
from contextwise.comparison.many import DistanceMatrix
from contextwise.errors import ContextwiseError
from contextwise.execution.records import as_csv, as_json
from contextwise.explorer import elements
from contextwise.explorer.background import Background
from contextwise.explorer.computations import distances_between, report_of
from contextwise.explorer.job import Done, Outcome, Working
from contextwise.explorer.scatter import Point, Series, map_svg, scatter_svg
from contextwise.explorer.state import Shown, State
from contextwise.explorer.wiring import Input, clicks, offer, on, show, text
from contextwise.report.comparisons import Guess, guesses_parts
from contextwise.report.elements import Cell, Column, Table
from contextwise.report.layout import in_unit_square, planar
from contextwise.report.many import matrix_parts
from contextwise.report.records import Record, comparison_record

EXPLAINING = 30.0  # seconds for each guess of a report
DRAWING = 60.0  # seconds for its pictures
COMPARING = 120.0  # seconds for the distances between guesses
MOST_LABELS = 25
"""Up to so many guesses, their names stand beside their points."""
NORMAL = 1.96
"""How many standard errors to either side a 95 % interval of a mean has."""

SHOW = Input("show_guess", text)
REPORT = Input("make_report", clicks)


# -- what is shown -------------------------------------------------------------------------------


def panel() -> TagList:
    """The table, the pictures, and the report."""
    return TagList(
        tags.p("One row per guess; a column's head sorts by it, a guess's name shows it."),
        ui.output_ui("guess_table"),
        elements.downloads(("guesses_csv", "table (CSV)"), ("guesses_json", "table (JSON)")),
        ui.output_ui("plane"),
        ui.output_ui("between"),
        tags.section(
            tags.h2("Report", class_="h5 mt-3"),
            tags.p("All guesses with their explanations, in one file that needs no network."),
            ui.input_action_button(REPORT.key, "Make the report", class_="btn-sm"),
            tags.div(ui.output_ui("report_state"), aria_live="polite", class_="mt-2"),
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


def plane(results: Sequence[Shown]) -> TagChild:
    """False positives against false negatives: one point per guess, and the means of groups."""
    known = [one for one in results if not one.compared.is_open]
    if len(known) < 2:
        return None
    points = [_guess_point(one, labelled=len(known) <= MOST_LABELS) for one in known]
    groups: dict[str, list[Point]] = defaultdict(list)
    for one, point in zip(known, points, strict=True):
        groups[group_of(one.guess.label)].append(point)
    means = [group_mean(name, some) for name, some in groups.items() if len(some) > 1]
    words = "Each circle is a guess; the nearer to the corner, the nearer to the true model."
    if means:
        words += " A square is the mean of guesses whose names differ only in their last number, "
        words += "with a 95 % interval of that mean."
    picture = scatter_svg(
        [Series("fp", points), Series("fn", means)],
        x_label="false positives, % of assertions",
        y_label="false negatives, % of assertions",
        title="False positives against false negatives of the guesses",
    )
    title = tags.h2("Where they err", class_="h5 mt-3")
    return tags.section(title, tags.p(words), elements.svg(picture))


def _guess_point(one: Shown, *, labelled: bool) -> Point:
    c = one.comparison
    fp, fn = (100 * ratio(count, c.total) for count in (c.fp, c.fn))
    label = one.guess.label
    tip = f"{label}: false positives {fp:.3g} %, false negatives {fn:.3g} %"
    return Point(fp, fn, tip, label if labelled else "")


def group_mean(name: str, points: Sequence[Point]) -> Point:
    """The mean of some points, with 95 % intervals (normal approximation)."""
    fp, fn = [p.x for p in points], [p.y for p in points]
    x, y = mean(fp), mean(fn)
    dx, dy = (NORMAL * stdev(values) / sqrt(len(points)) for values in (fp, fn))
    tip = f"{name}, mean of {len(points)}: FP {x:.3g} ± {dx:.2g} %, FN {y:.3g} ± {dy:.2g} %"
    return Point(x, y, tip, "", (x - dx, x + dx), (y - dy, y + dy))


def between(outcome: Outcome[DistanceMatrix]) -> TagChild:
    """The distances of each two models, and a map of them."""
    if outcome is None:
        return None
    title = tags.h2("How far apart they are", class_="h5 mt-3")
    if not isinstance(outcome, Done):
        return tags.section(title, elements.not_done(outcome))
    matrix = outcome.value
    return tags.section(
        title,
        tags.p("The distance of each two models, as a share of all assertions."),
        elements.rendered(matrix_parts(matrix, normalized=True, medium="page")),
        tags.p("On the map, models stand about as far apart as their distances say."),
        elements.svg(distance_map(matrix)),
    )


def distance_map(matrix: DistanceMatrix) -> str:
    """The models as points whose distances follow those of the matrix."""
    places = in_unit_square(planar(matrix.normalized)).tolist()
    points = [Point(x, y, name, name) for (x, y), name in zip(places, matrix.names, strict=True)]
    return map_svg(points, title=f"Map of {len(points)} models by their distances")


def report_state(outcome: Outcome[str]) -> TagChild:
    """How far the report is, and then the link to it."""
    if isinstance(outcome, Done):
        size = len(outcome.value.encode()) / 2**20
        return elements.downloads(("report_html", f"report (HTML, {size:.1f} MiB)"))
    return elements.not_done(outcome)


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> list[Background[DistanceMatrix] | Background[str]]:
    """Tie the view to the session."""
    measuring, reporting = Background(distances_between), Background(report_of)

    def models() -> Hashable:
        return state.true(), tuple(state.guesses()), state.contexts()

    def compared() -> Hashable:
        return tuple(state.results())

    @reactive.effect
    def measure() -> None:
        true, guesses = state.true(), state.guesses()
        wanted = models()
        if state.tab() != "guesses" or len(guesses) < 2 or len(state.results()) < len(guesses):
            return
        with reactive.isolate():
            if measuring.asked() == wanted:
                return
        named = {entry.label: entry.model for entry in (true, *guesses)}
        measuring.start(wanted, named, state.contexts(), seconds=COMPARING)

    def make_report() -> None:
        with reactive.isolate():
            results = state.results()
            wanted = compared()
        if not results:
            return
        named = {one.guess.label: one.comparison for one in results}
        seconds = len(results) * EXPLAINING + DRAWING
        reporting.start(wanted, results[0].true.label, named, EXPLAINING, seconds=seconds)

    def report() -> str:
        outcome = reporting.outcome(compared())
        if not isinstance(outcome, Done):
            raise ContextwiseError("the report has not been made yet")
        return outcome.value

    show("guess_table", lambda: guess_table(state.results()))
    show("plane", lambda: plane(state.results()))
    show("between", lambda: between(measuring.outcome(models())))
    show("report_state", lambda: report_state(reporting.outcome(compared())))
    on(SHOW, lambda key: state.go(replace(state.now(), shown=key)))
    on(REPORT, lambda _: make_report())

    @reactive.effect
    def one_at_a_time() -> None:
        running = isinstance(reporting.outcome(compared()), Working)
        ui.update_action_button(REPORT.key, disabled=running)

    def name() -> str:
        return f"{state.true().label} guesses"

    offer("report_html", report, name=lambda: f"{state.true().label} report")
    offer("guesses_csv", lambda: as_csv(records(state.results())), name=name)
    offer("guesses_json", lambda: as_json(records(state.results())), name=name)
    return [measuring, reporting]


def records(results: Sequence[Shown]) -> list[Record]:
    """The rows of the table, exact."""
    return [
        {"true": one.true.label, "guess": one.guess.label, **comparison_record(one.comparison)}
        for one in results
    ]
