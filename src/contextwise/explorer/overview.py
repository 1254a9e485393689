"""The first view: how far apart the models are, and the heat map of pairs."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.compare import PAIR_KEYS, Comparison, comparison_record, pair_records
from contextwise.explorer import elements
from contextwise.explorer.computations import Findings
from contextwise.explorer.state import State
from contextwise.explorer.wiring import Input, flag, offer, send, show
from contextwise.report.notes import ganak_notes, rounding_notes
from contextwise.report.parts import Note, Part, Table
from contextwise.report.pictures import HeatMap, heat_legends, heat_map
from contextwise.report.plots import plot_pairs
from contextwise.report.plots.style import encoded
from contextwise.report.shares import packed
from contextwise.support.records import as_csv, as_json

CLUSTER = Input("cluster", flag)
KEYS = (
    "Arrow keys move from cell to cell, Enter shows the pair, plus and minus zoom, 0 shows "
    "everything, N and P go to the next and the previous error, the largest first."
)


# -- what is shown -------------------------------------------------------------------------------


def panel(beside: Tag) -> TagList:
    """The sentence and the numbers, the heat map, and what stands beside it."""
    return TagList(
        ui.output_ui("summary"),
        tags.div(map_panel(), beside, class_="map-and-beside needs-comparison"),
        tags.div(
            ui.output_ui("worst"),
            elements.downloads(
                ("comparison_json", "comparison (JSON)"),
                ("comparison_csv", "comparison (CSV)"),
                ("pairs_csv", "all pairs (CSV)"),
                ("pairs_json", "all pairs (JSON)"),
                ("heat_svg", "heat map (SVG)"),
            ),
            class_="needs-comparison",
        ),
    )


def map_panel() -> Tag:
    """The heat map, which a script of the page draws, with its buttons and its legend."""

    def button(action: str, label: str, sign: str) -> Tag:
        return tags.button(
            sign,
            type="button",
            class_="btn btn-outline-secondary btn-sm",
            data_heat=action,
            aria_label=label,
            title=label,
        )

    return tags.section(
        tags.div(
            tags.h2("Pairs", class_="h5 m-0"),
            ui.input_checkbox(CLUSTER.key, "variables that err alike together"),
            tags.div(
                button("in", "Zoom in", "+"),
                button("out", "Zoom out", "−"),
                button("fit", "Show everything", "⤢"),
                class_="btn-group",
                role="group",
                aria_label="Zoom of the heat map",
            ),
            class_="map-head",
        ),
        tags.div(
            tags.canvas(
                tabindex="0",
                role="application",
                aria_label=f"Heat map of pairs. {KEYS}",
                aria_describedby="heat_readout",
            ),
            id="heat",
            class_="heat-map",
        ),
        tags.p(
            "Point at a cell to read it.", id="heat_readout", class_="readout", aria_live="polite"
        ),
        ui.output_ui("heat_legend"),
        class_="map",
        aria_label="Heat map of pairs",
    )


def summary(found: Findings) -> TagList:
    """The sentence and the distance first; the rates and the confusion matrix beside them."""
    matrix: list[Part] = [] if found.matrix is None else [found.matrix]
    notes = [*ganak_notes([found.comparison]), *rounding_notes(matrix, "page")]
    return TagList(
        tags.div(
            tags.div(
                headline(found), elements.quiet_measures(found.measures.all), class_="headline"
            ),
            tags.div(elements.rendered(matrix), elements.rendered(notes)),
            class_="summary",
        ),
    )


def headline(found: Findings) -> Tag:
    """Show the verdict, its first sentence large."""
    first, *others = found.sentences
    if found.is_open:
        others.append("Choose a longer time limit and compare again to know more.")
    return tags.div(
        tags.p(tags.strong(first, class_="distance"), class_="lead m-0"),
        tags.p(" ".join(others), class_="m-0 when"),
    )


def worst(found: Findings) -> TagList:
    """The pairs with the most errors, and those of which least is known."""
    return TagList(*(_with_title(part) for part in found.pairs))


def _with_title(part: Table | Note) -> TagChild:
    if isinstance(part, Table):
        return TagList(tags.h2(part.title, class_="h6 mt-3"), elements.table(part))
    return elements.note(part)


def heat_legend(heat: HeatMap) -> Tag:
    """What the colours mean, and which half is which."""
    return tags.div(
        elements.legends(heat_legends(heat)),
        tags.p(
            "Above the diagonal only the guess has the dependence, below it only the true model. "
            "Where cells are smaller than what can be seen, the worst of several is drawn.",
            class_="note m-0",
        ),
    )


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> None:
    """Tie the view to the session."""

    @reactive.calc
    async def drawn() -> HeatMap:
        return await asyncio.to_thread(
            heat_map, state.shown().shares, reorder=CLUSTER.or_else(False)
        )

    async def data() -> dict[str, Any] | None:
        shares = state.shown().shares
        # The browser makes the cells itself: all it lacks is the order, which is known at once
        # unless like variables stand together.
        order = (await drawn()).order if CLUSTER.or_else(False) else np.arange(len(shares.names))
        return packed(shares, order)

    async def legend() -> TagChild:
        return heat_legend(await drawn())

    def picture() -> str:
        return encoded(plot_pairs(comparison(), reorder=CLUSTER()), "svg").decode()

    show("summary", lambda: summary(state.shown().findings))
    show("worst", lambda: worst(state.shown().findings))
    show("heat_legend", legend)
    send("heat", data)

    def name(what: str) -> Any:
        return lambda: f"{state.shown().name} {what}"

    def comparison() -> Comparison:
        return state.shown().comparison

    offer(
        "comparison_json", lambda: as_json(comparison_record(comparison())), name=name("comparison")
    )
    offer(
        "comparison_csv", lambda: as_csv([comparison_record(comparison())]), name=name("comparison")
    )
    offer("pairs_csv", lambda: as_csv(pair_records(comparison()), PAIR_KEYS), name=name("pairs"))
    offer("pairs_json", lambda: as_json(list(pair_records(comparison()))), name=name("pairs"))
    offer("heat_svg", picture, name=name("heat map"))
