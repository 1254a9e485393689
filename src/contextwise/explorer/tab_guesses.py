"""Several guesses: their table, their errors, the distances between them, a report."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from htmltools import HTML, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.compare import comparison_record
from contextwise.comparison.matrix import DistanceMatrix
from contextwise.comparison.roles import Agreement
from contextwise.evaluation.compare_groups import compare_groups
from contextwise.explorer import controls
from contextwise.explorer.computations import distances, ensemble_of, report_of
from contextwise.explorer.controls import Input, offer, on, show, text
from contextwise.explorer.job import Background, Done, Outcome, value_of
from contextwise.explorer.state import State, is_open
from contextwise.formats import without_suffix
from contextwise.report.comparisons import Guess, guesses_parts, matrix_parts
from contextwise.report.drawing import HALO, label, picture, tip
from contextwise.report.evaluations import guess_groups_parts
from contextwise.report.html import Markup, tag
from contextwise.report.layout import in_unit_square, planar
from contextwise.report.parts import COLOURS, Cell, Column, Table
from contextwise.report.pictures import plane_picture
from contextwise.support.formatting import as_csv, as_json, listed, percent
from contextwise.support.formatting import name as short

EXPLAINING, DRAWING = 30.0, 60.0  # seconds for each guess of a report, and for its pictures
COUNTING = 120.0  # seconds for the distances
GRACE = 60.0  # seconds that each may take beyond that
MOST_LABELS = 40  # up to this number of models, all points of the map have labels
MOST_OPEN = 12  # up to this number of models, the table of their distances is open
SAME_PLACE = 0.02  # points of the map that are nearer than this share a label

WIDTH, HEIGHT, MARGIN = 720, 440, 48  # of the map of models

SHOW = Input("show_guess", text)
REPORT, ENSEMBLE = "report", "ensemble"


def panel() -> TagList:
    """Return the tab; the distances come last, because nothing may move when they are known."""
    return TagList(
        tags.p("Click a column to sort by it, and a name to show that model in the other tabs."),
        ui.output_ui("guess_table"),
        controls.downloads(("guesses_csv", "table (CSV)"), ("guesses_json", "table (JSON)")),
        ui.output_ui("plane"),
        tags.section(
            tags.h2("Report", class_="h5 mt-3"),
            tags.p("All comparisons with explanations, in one file that works without a network."),
            controls.request_panel(REPORT),
        ),
        tags.section(
            tags.h2("Together", class_="h5 mt-3"),
            tags.p("Take the compared models as draws of one ensemble, and score it."),
            controls.request_panel(ENSEMBLE),
            class_="needs-several",
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


def group_of(label: str) -> str:
    """Return the common name of repeats: the label without its last number."""
    stem = without_suffix(re.sub(r" \((example|\d+)\)", "", label))
    return re.sub(r"[-_ .#](run|rep|repeat|seed)?\d+$", "", stem) or stem


def plane(results: Sequence[Guess]) -> TagChild:
    """Draw false positives against false negatives, with the means of groups."""
    finished = [guess for guess in results if not is_open(guess)]
    if len(finished) < 2:
        return None
    groups = defaultdict(list)
    for guess in finished:
        groups[group_of(guess.title)].append(guess.comparison)
    repeated = {name: members for name, members in groups.items() if len(members) > 1}
    drawn = [
        replace(guess, group=group if group in repeated else "")
        for guess in results
        for group in [group_of(guess.title)]
    ]
    text = "Models whose names differ only in their last number form a group."
    return tags.section(
        tags.h2("Differences of both kinds", class_="h5 mt-3"),
        tags.p(text) if repeated else None,
        controls.parts([plane_picture(drawn)]),
        controls.parts(guess_groups_parts(compare_groups(repeated))) if repeated else None,
    )


def nearest(results: Sequence[Guess], matrix: DistanceMatrix) -> str:
    """Name the guess nearest to the true model, the first of the matrix, and the most typical."""
    known = [guess for guess in results if not is_open(guess)]
    sentences = []
    if known:
        best = min(guess.comparison.distance for guess in known)
        c = known[0].comparison
        titles = [short(guess.title) for guess in known if guess.comparison.distance == best]
        verb = "is" if len(titles) == 1 else "are"
        apart = percent(best, c.total or 1)
        sentences.append(f"Nearest to {c.roles.first} {verb} {listed(titles)}, at {apart}.")
    if len(matrix.names) > 3:
        label = matrix.names[1 + int(middle(matrix)[1:, 1:].sum(axis=1).argmin())]
        if not matrix.open_distances:
            label = matrix.names[1 + matrix.submatrix(range(1, len(matrix.names))).medoid]
        sentences.append(
            f"The most typical model is {short(label)}: the sum of its distances to the others "
            "is smallest."
        )
    return " ".join(sentences)


def middle(matrix: DistanceMatrix) -> npt.NDArray[np.float64]:
    """Return the normalized distances; an open one is the middle of its bounds."""
    sums: npt.NDArray[np.float64] = matrix.shares(matrix.lower) + matrix.shares(matrix.upper)
    return sums / 2


def between(outcome: Outcome[DistanceMatrix], results: Sequence[Guess] = ()) -> TagChild:
    """Show the distances between all models, and a map of them."""
    if outcome is None:
        return None
    title = tags.h2("Distances between the models", class_="h5 mt-3")
    if not isinstance(outcome, Done):
        return tags.section(title, controls.not_done(outcome))
    matrix = outcome.value
    parts = matrix_parts(matrix, normalized=True)
    return tags.section(
        title,
        tags.p(nearest(results, matrix), class_="when"),
        tags.details(
            tags.summary("Normalized distances: shares of all assertions"),
            controls.parts(part for part in parts if isinstance(part, Table)),
            {"open": ""} if len(matrix.names) <= MOST_OPEN else {},
        ),
        controls.parts(part for part in parts if not isinstance(part, Table)),
        tags.p("The distances on the map approximate those of the models."),
        tags.div(HTML(distance_map(matrix)), class_="scroll"),
        controls.downloads(("matrix_csv", "distances (CSV)"), ("matrix_json", "distances (JSON)")),
    )


def distance_map(matrix: DistanceMatrix) -> Markup:
    """Draw the models as points with about the distances of the matrix; the first is a square."""
    places = in_unit_square(planar(middle(matrix)))
    few = len(places) <= MOST_LABELS
    labels = shared_labels(places, matrix.names) if few else [matrix.names[0]]
    side = HEIGHT - 2 * MARGIN
    text = f"Map of {len(places)} models by their distances"
    shapes = []
    for k, (across, upward) in enumerate(places.tolist()):
        kind: Agreement = "fp" if k else "fn"
        x, y = (WIDTH - side) / 2 + side * across, MARGIN + side * (1 - upward)
        style = {"class_": f"mark {kind}", "stroke": COLOURS[kind], "fill": "none"}
        style |= {"stroke_width": "1.5", "pointer_events": "all"}
        name = tip(matrix.names[k])
        if k:
            shapes.append(tag("circle", name, **style, cx=x, cy=y, r=4))
        else:
            shapes.append(tag("rect", name, **style, x=x - 3.5, y=y - 3.5, width=7, height=7))
        if words := "".join(labels[k : k + 1]):
            right = x < 0.7 * WIDTH
            place, anchor = (x + (8 if right else -8), y), "start" if right else "end"
            shapes.append(label(short(words, 36), place, anchor, **HALO))
    return picture("scatter", (WIDTH, HEIGHT), text, *shapes, font_family="sans-serif")


def shared_labels(places: npt.NDArray[np.float64], names: Sequence[str]) -> list[str]:
    """Return a label for each point; points in the same place share that of the first."""
    labels: list[list[str]] = []
    for k, name in enumerate(names):
        near = np.hypot(*(places[:k] - places[k]).T) < SAME_PLACE
        labels.append([])
        labels[int(near.argmax()) if near.any() else k].append(name)
    return [", ".join(members) for members in labels]


def matrix_records(matrix: DistanceMatrix) -> list[dict[str, object]]:
    """Return one record per pair of models: the bounds of the distance, and its share."""
    values: dict[str, npt.NDArray[Any]] = {
        "low": matrix.lower,
        "high": matrix.upper,
        "share": middle(matrix),
    }
    names = matrix.names
    return [
        {"first": names[i], "second": names[j]} | {key: a[i, j] for key, a in values.items()}
        for i, j in combinations(range(len(names)), 2)
    ]


def serve(state: State) -> None:
    show("guess_table", lambda: guess_table(state.results()))
    show("plane", lambda: plane(state.results()))
    on(SHOW, lambda key: state.change(shown=key) if state.knows(key) else None)

    def records() -> list[dict[str, Any]]:
        true = state.true().label
        return [
            {"true": true, "guess": guess.title, **comparison_record(guess.comparison)}
            for guess in state.results()
        ]

    offer("guesses_csv", lambda: as_csv(records()), name=_name(state, "guesses"))
    offer("guesses_json", lambda: as_json(records()), name=_name(state, "guesses"))
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
        return (state.true(), tuple(guesses), state.contexts()) if len(guesses) > 1 else None

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
            true, guesses, contexts = state.true(), state.guesses(), state.contexts()
        named = {entry.label: entry.model for entry in (true, *guesses)}
        counting.start(wanted, named, contexts, COUNTING, seconds=COUNTING + GRACE)

    show("between", lambda: between(outcome(), state.results()))
    name = _name(state, "distances")
    offer("matrix_csv", lambda: as_csv(records()), name=name)
    offer("matrix_json", lambda: as_json(records()), name=name)
    controls.serve_request(
        ENSEMBLE,
        "Score the compared models as an ensemble",
        ensemble_of,
        about=models,
        call=lambda: (
            COUNTING + GRACE,
            state.true().model,
            {entry.label: entry.model for entry in state.guesses()},
            state.contexts(),
            COUNTING,
        ),
        content=controls.parts,
    )
