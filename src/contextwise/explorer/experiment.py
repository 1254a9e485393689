"""The results of an experiment: KL-divergence against the errors of many structures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from htmltools import Tag, TagList, tags
from shiny import reactive, render, req, ui
from shiny.session import Inputs

from contextwise.execution.records import as_csv, as_json
from contextwise.explorer import elements, jobs
from contextwise.explorer.scatter import Point, Series, scatter_svg
from contextwise.explorer.work import Worker
from contextwise.models.numbers import number
from contextwise.report.colours import Agreement
from contextwise.studies.summary import NAMES, Effect, means

READING = 60.0  # seconds for a file of results
BARS = {
    "none": "none",
    "deviation": "standard deviation",
    "range": "smallest to largest",
}
Rows = Sequence[Mapping[str, Any]]


def panel() -> TagList:
    """The choices, the plot and the table."""
    return TagList(
        tags.p(
            "Each point is a structure with some percentage of the errors there can be, fitted to "
            "data; its height is the mean KL-divergence over the parameter sets. Open the file ",
            tags.code("results.sqlite"),
            " of a run, or its rows as CSV.",
        ),
        ui.input_file("results", "Results of a run", accept=[".sqlite", ".csv"]),
        tags.div(ui.output_ui("results_problem"), aria_live="polite"),
        tags.div(
            ui.input_checkbox_group("sides", "Errors", dict(NAMES), selected=list(NAMES)),
            ui.input_select("size", "Rows of data", []),
            ui.input_radio_buttons("bars", "Error bars", BARS, selected="deviation"),
            class_="selectors",
        ),
        ui.output_ui("scatter"),
        elements.downloads(
            ("scatter_svg", "plot (SVG)"),
            ("rows_csv", "rows (CSV)"),
            ("rows_json", "rows (JSON)"),
        ),
        ui.output_ui("effects"),
    )


def serve(input: Inputs, run: Path | None) -> list[Worker]:
    """Register what the view shows; ``run`` is a folder that is opened at once."""
    reading = Worker(jobs.results_in, seconds=READING)
    summing = Worker(jobs.effects_of, seconds=READING)

    @reactive.effect
    def open_run() -> None:
        if run is not None:
            reading.start(str(run), run.name)

    @reactive.effect
    @reactive.event(input.results)
    def open_upload() -> None:
        for file in input.results() or ():
            reading.start(file["datapath"], file["name"])

    @render.ui
    def results_problem() -> Tag | None:
        failure = reading.failure()
        return elements.notice(failure, "danger") if failure else None

    def rows() -> Rows:
        found: Rows = reading.result()
        return found

    @reactive.effect
    def offer_sizes() -> None:
        if not reading.succeeded():
            return
        sizes = sorted({row["size"] for row in rows()})
        choices = {str(size): f"{number(size)} rows" for size in sizes}
        ui.update_select("size", choices=choices, selected=str(sizes[-1]) if sizes else None)
        summing.start(rows())

    def picture() -> str:
        req(input.size(), input.sides())
        size, bars = int(input.size()), input.bars()
        there = {(row["side"], row["size"]) for row in rows()}
        series = [
            _series(rows(), side, size, bars) for side in input.sides() if (side, size) in there
        ]
        return scatter_svg(
            series,
            x_label="errors, % of those there can be",
            y_label="mean KL-divergence (nats)",
            title=f"KL-divergence against errors, fitted to {number(size)} rows",
            bars=bars != "none",
        )

    @render.ui
    def scatter() -> Tag:
        return elements.svg(picture())

    @render.ui
    def effects() -> TagList:
        return _effects(summing.result())

    def rows_as_csv() -> str:
        return as_csv(rows())

    def rows_as_json() -> str:
        return as_json(list(rows()))

    elements.offer("scatter_svg", picture)
    elements.offer("rows_csv", rows_as_csv)
    elements.offer("rows_json", rows_as_json)
    return [reading, summing]


def _series(rows: Rows, side: Agreement, size: int, bars: str) -> Series:
    found = means(rows, side, size)
    if bars == "range":
        low, high = found.single.min(axis=0), found.single.max(axis=0)
    else:
        low, high = found.mean - found.deviation, found.mean + found.deviation
    return Series(
        side,
        [
            Point(
                float(x),
                float(y),
                float(least),
                float(most),
                f"{x:.3g} % {NAMES[side]}: KL {y:.4g} (from {least:.4g} to {most:.4g})",
            )
            for x, y, least, most in zip(found.percentage, found.mean, low, high, strict=True)
        ],
    )


def _effects(found: Sequence[Effect]) -> TagList:
    rows = [
        (
            NAMES[one.side],
            number(one.size),
            number(one.structures),
            f"{one.rank:.2f} ({one.rank_interval[0]:.2f} to {one.rank_interval[1]:.2f})",
            f"{one.slope:.2g} ({one.slope_interval[0]:.2g} to {one.slope_interval[1]:.2g})",
            f"{one.slope_over_spread:.2g}",
        )
        for one in found
    ]
    return TagList(
        tags.h2("In numbers", class_="h5 mt-3"),
        elements.table(
            (
                "errors",
                "rows",
                "structures",
                "rank correlation (95 %)",
                "KL per 1 % of errors (95 %)",
                "growth / spread",
            ),
            rows,
            caption="How KL-divergence follows errors",
            numeric=range(1, 6),
        ),
    )
