"""The first view: the numbers, and the heat map of pairs."""

from __future__ import annotations

import asyncio

import numpy as np
from htmltools import Tag, TagList, tags
from shiny import reactive, render, req, ui

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.comparison.pairs import Pair
from contextwise.execution.records import as_csv, as_json
from contextwise.explorer import elements
from contextwise.explorer.state import State
from contextwise.models.numbers import name, number, rate
from contextwise.report.colours import STEP_WORDS
from contextwise.report.comparisons import LABELS
from contextwise.report.heatmap import HeatMap, heat_map
from contextwise.report.records import (
    PAIR_KEYS,
    comparison_record,
    pair_records,
    worst_pair_records,
)
from contextwise.report.svg import MOST_CELLS, heat_map_svg

AROUND = 12
"""How many variables to either side of a click the enlarged map shows."""
WORST = 10


def panel() -> TagList:
    """The numbers of the comparison."""
    return TagList(
        ui.output_ui("summary"),
        elements.downloads(
            ("comparison_json", "comparison (JSON)"),
            ("comparison_csv", "comparison (CSV)"),
            ("pairs_csv", "all pairs (CSV)"),
            ("pairs_json", "all pairs (JSON)"),
        ),
    )


def map_panel() -> Tag:
    """The heat map, and the pairs with the most errors as a table."""
    return ui.card(
        ui.card_header(tags.h2("Pairs", class_="h5 m-0")),
        tags.p(
            "Each cell is a pair of variables: above the diagonal the share of contexts in which ",
            tags.span("only the guess", class_="fp"),
            " has the dependence, below it those in which ",
            tags.span("only the true model", class_="fn"),
            " has it. Click a cell to see where.",
            class_="mb-1",
        ),
        ui.input_checkbox("cluster", "Put variables that err alike together"),
        ui.output_ui("heat"),
        ui.output_ui("enlarged"),
        tags.div(
            f"Tints: {', '.join(STEP_WORDS)} of the pair's contexts. Grey: the pair depends "
            "somewhere, without such errors; blank: it never does.",
            class_="small",
        ),
        elements.downloads(("heat_svg", "heat map (SVG)")),
        ui.output_ui("worst"),
    )


def serve(state: State) -> None:
    """Register what the view shows and what a click does."""
    input = state.input

    @render.ui
    def summary() -> TagList:
        return _summary(state.shown().comparison)

    @reactive.calc
    async def whole() -> HeatMap:
        found, cluster = state.shown().comparison, input.cluster()
        return await asyncio.to_thread(heat_map, found, cluster=cluster)

    @render.ui
    async def heat() -> Tag:
        return elements.svg(heat_map_svg(await whole()), name="whole")

    place: reactive.Value[Pair | None] = reactive.value(None)

    @reactive.calc
    async def part() -> HeatMap:
        found, at = await whole(), place()
        req(len(found.names) > MOST_CELLS and at and set(at) <= set(found.names))
        assert at is not None
        return _around(found, found.names.index(at[0]), found.names.index(at[1]))

    @render.ui
    async def enlarged() -> TagList:
        return TagList(
            tags.h3("Enlarged, around the click", class_="h6 mt-2"),
            elements.svg(heat_map_svg(await part()), name="part"),
        )

    @reactive.effect
    @reactive.event(input.cell)
    async def clicked() -> None:
        cell = input.cell()
        on_whole = cell["map"] == "whole"
        found = await (whole() if on_whole else part())
        pair = cell_pair(found, int(cell["row"]), int(cell["column"]))
        if pair is None:
            return
        if on_whole:
            place.set(pair)
        state.look_at(pair)

    @render.ui
    def worst() -> TagList:
        return _worst_pairs(state.shown().comparison)

    @reactive.effect
    @reactive.event(input.worst_pair)
    def chosen() -> None:
        names = state.shown().comparison.domain.names
        first, second = (names[int(k)] for k in input.worst_pair().split("-"))
        state.look_at((first, second))

    def record_json() -> str:
        return as_json(comparison_record(state.shown().comparison))

    def record_csv() -> str:
        return as_csv([comparison_record(state.shown().comparison)])

    def all_pairs_csv() -> str:
        return as_csv(pair_records(state.shown().comparison), PAIR_KEYS)

    def all_pairs_json() -> str:
        return as_json(list(pair_records(state.shown().comparison)))

    def heat_picture() -> str:
        return heat_map_svg(heat_map(state.shown().comparison, cluster=input.cluster()))

    elements.offer("comparison_json", record_json)
    elements.offer("comparison_csv", record_csv)
    elements.offer("pairs_csv", all_pairs_csv)
    elements.offer("pairs_json", all_pairs_json)
    elements.offer("heat_svg", heat_picture)


def cell_pair(heat: HeatMap, row: int, column: int) -> Pair | None:
    """The pair of a cell; on a map of many variables, the worst pair near it.

    A cell is then smaller than what a finger can hit. The diagonal has no pair.
    """
    n = len(heat.names)
    if not (0 <= row < n and 0 <= column < n):
        return None
    reach = 0 if n <= MOST_CELLS else n // 100
    top, left = max(0, row - reach), max(0, column - reach)
    near = heat.codes[top : row + reach + 1, left : column + reach + 1]
    if near.any():
        down, right = np.unravel_index(int(near.argmax()), near.shape)
        row, column = top + int(down), left + int(right)
    return None if row == column else (heat.names[row], heat.names[column])


def _around(heat: HeatMap, row: int, column: int) -> HeatMap:
    """The part of a heat map with the variables around two of them."""
    n = len(heat.names)
    near = sorted(
        {k for at in (row, column) for k in range(max(0, at - AROUND), min(n, at + AROUND + 1))}
    )
    return HeatMap(tuple(heat.names[k] for k in near), heat.shares[np.ix_(near, near)])


def _summary(c: Comparison) -> TagList:
    low, high = c.distance_bounds
    if len(c.unions.open):
        why = "Stopped" if c.interrupted else "Not decided in time"
        return TagList(
            elements.notice(
                f"{why}: {len(c.unions.open):,} of {len(c.pairs):,} pairs are open. "
                "What is shown is proven; choose a longer time limit and compare again."
            ),
            elements.numbers(
                ("distance, at least", number(low)),
                ("distance, at most", number(high)),
                ("normalized, at least", rate(ratio(low, c.total))),
                ("normalized, at most", rate(ratio(high, c.total))),
                ("assertions", number(c.total)),
            ),
        )
    return TagList(
        tags.div(tags.p(c.summary(), class_="summary m-0"), _matrix(c), class_="halves"),
        elements.numbers(
            ("distance (FP + FN)", number(c.distance)),
            ("normalized", rate(c.normalized)),
            ("mean pair distance", rate(c.mean_pair_distance)),
            *((LABELS[key], rate(value)) for key, value in c.rates().items()),
        ),
    )


def _matrix(c: Comparison) -> Tag:
    return elements.table(
        ("", "guess dependent", "guess independent"),
        [
            ("true dependent", f"TP {number(c.tp)}", f"FN {number(c.fn)}"),
            ("true independent", f"FP {number(c.fp)}", f"TN {number(c.tn)}"),
        ],
        caption="Confusion matrix",
        numeric=(1, 2),
        header_column=True,
    )


def _worst_pairs(c: Comparison) -> TagList:
    rows = []
    for record in worst_pair_records(c, WORST):
        first, second = str(record["first"]), str(record["second"])
        value = f"{c.domain.position(first)}-{c.domain.position(second)}"
        label = f"{name(first, 24)} – {name(second, 24)}"
        rows.append(
            (
                elements.choose(label, input="worst_pair", value=value),
                number(record["fn"]),  # type: ignore[arg-type]
                number(record["fp"]),  # type: ignore[arg-type]
            )
        )
    if not rows:
        return TagList(tags.p("No pair differs.", class_="mt-2"))
    return TagList(
        tags.h3("The pairs with the most errors", class_="h6 mt-3"),
        elements.table(
            ("pair", "only in true (FN)", "only in guess (FP)"),
            rows,
            caption="The pairs with the most errors",
            numeric=(1, 2),
        ),
    )
