"""The results of a run: KL-divergence against errors, learners judged, or resamples compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from htmltools import TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.errors import ContextwiseError
from contextwise.explorer import elements, study
from contextwise.explorer.background import Background
from contextwise.explorer.job import Done, Outcome
from contextwise.explorer.results import Row, sizes
from contextwise.explorer.runs import Resamples, Results, Study, effects_of, results_in
from contextwise.explorer.scatter import Bar, Point, Series, scatter_svg
from contextwise.explorer.wiring import (
    Input,
    Upload,
    choice,
    offer,
    on,
    show,
    texts,
    uploads,
    whole,
)
from contextwise.report.colours import Agreement
from contextwise.report.parts import Column, Table
from contextwise.studies.summary import NAMES, Effect, means
from contextwise.support.formatting import number
from contextwise.support.records import as_csv, as_json

T = TypeVar("T")
READING = 300.0  # seconds for the results of a run
BARS = {
    "none": "none",
    "deviation": "standard deviation",
    "range": "smallest to largest",
}
COLUMNS = (
    Column("errors", "words"),
    Column("rows", "count"),
    Column("structures", "count"),
    Column("rank correlation (95 %)", "words"),
    Column("KL per 1 % of errors (95 %)", "words"),
    Column("growth / spread", "words"),
)

RESULTS = Input("results", uploads)
SIDES = Input("sides", lambda sent: tuple(map(choice(NAMES, str), texts(sent))))
SIZE = Input("size", whole)
BAR = Input("bars", choice(BARS, str))


# -- what is shown -------------------------------------------------------------------------------


def panel() -> TagList:
    """The choices, the plot and the table."""
    return TagList(
        tags.p(
            "Open the file ",
            tags.code("results.sqlite"),
            " of a run (",
            tags.code("contextwise experiment"),
            " or ",
            tags.code("contextwise stability --folder"),
            "), or the rows of the study of KL-divergence as CSV.",
        ),
        ui.input_file(RESULTS.key, "Results of a run", accept=[".sqlite", ".csv"]),
        tags.div(ui.output_ui("results_state"), aria_live="polite"),
        ui.output_ui("run"),
        tags.div(
            tags.p(
                "Each point is a structure with some percentage of the errors there can be, fitted "
                "to data; its height is the mean KL-divergence over the parameter sets."
            ),
            tags.div(
                ui.input_checkbox_group(SIDES.key, "Errors", dict(NAMES), selected=list(NAMES)),
                ui.input_select(SIZE.key, "Rows of data", []),
                ui.input_radio_buttons(BAR.key, "Error bars", BARS, selected="deviation"),
                class_="selectors",
            ),
            ui.output_ui("scatter"),
            elements.downloads(
                ("scatter_svg", "plot (SVG)"),
                ("rows_csv", "rows (CSV)"),
                ("rows_json", "rows (JSON)"),
            ),
            ui.output_ui("effects"),
            class_="needs-results",
        ),
    )


def results_state(outcome: Outcome[Results]) -> TagChild:
    """How far the reading is, or why there is nothing to see."""
    if isinstance(outcome, Done):
        return None
    return elements.not_done(outcome, nothing="No results are open.")


def scatter(rows: Sequence[Row], sides: Sequence[str], size: int, bars: str) -> str:
    """The plot as SVG.

    Parameters
    ----------
    rows : of the experiment
    sides : which errors are shown
    size : of which number of rows of data
    bars : what error bars show; a key of `BARS`
    """
    there = {(row["side"], row["size"]) for row in rows}
    return scatter_svg(
        [_series(rows, side, size, bars) for side in sides if (side, size) in there],
        x_label="errors, % of those there can be",
        y_label="mean KL-divergence (nats)",
        title=f"KL-divergence against errors, fitted to {number(size)} rows",
    )


def _series(rows: Sequence[Row], side: str, size: int, bars: str) -> Series:
    found = means(rows, side, size)
    low, high = found.mean - found.deviation, found.mean + found.deviation
    if bars == "range":
        low, high = found.single.min(axis=0), found.single.max(axis=0)
    places = zip(*(a.tolist() for a in (found.percentage, found.mean, low, high)), strict=True)
    return Series(
        cast("Agreement", side),
        [_point(x, y, None if bars == "none" else (a, b), side) for x, y, a, b in places],
    )


def _point(x: float, y: float, bar: Bar | None, side: str) -> Point:
    tip = f"{x:.3g} % {NAMES[side]}: KL {y:.4g}"
    tip += f" (from {bar[0]:.4g} to {bar[1]:.4g})" if bar else ""
    return Point(x, y, tip, bar=bar)


def effects_table(outcome: Outcome[list[Effect]]) -> TagChild:
    """What the experiment shows, with intervals."""
    if not isinstance(outcome, Done):
        return elements.not_done(outcome)
    rows = tuple(
        (
            NAMES[one.side],
            one.size,
            one.structures,
            f"{one.rank:.2f} ({one.rank_interval[0]:.2f} to {one.rank_interval[1]:.2f})",
            f"{one.slope:.2g} ({one.slope_interval[0]:.2g} to {one.slope_interval[1]:.2g})",
            f"{one.slope_over_spread:.2g}",
        )
        for one in outcome.value
    )
    return TagList(
        tags.h2("In numbers", class_="h5 mt-3"),
        elements.table(Table("How KL-divergence follows errors", COLUMNS, rows)),
    )


# -- what happens --------------------------------------------------------------------------------


def serve(run: Path | None) -> list[Background[Any]]:
    """Tie the view to the session; ``run`` is a folder that is opened at once."""
    reading, summing = Background(results_in), Background(effects_of)

    def outcome() -> Outcome[Results]:
        return reading.outcome(reading.asked())

    def opened(kind: type[T]) -> T:
        found = outcome()
        if isinstance(found, Done) and isinstance(found.value, kind):
            return found.value
        raise ContextwiseError("no such results have been opened yet")

    def rows() -> list[Row]:
        return opened(list)

    def open_files(files: Sequence[Upload]) -> None:
        for file in files[-1:]:
            reading.start(file.path, file.path, file.name, seconds=READING)

    @reactive.effect
    def open_run() -> None:
        if run is not None:
            open_files([Upload(str(run), run.name or str(run))])

    def is_kl() -> bool:
        found = outcome()
        return isinstance(found, Done) and isinstance(found.value, list)

    @reactive.effect
    async def offer_sizes() -> None:
        if not is_kl():
            return
        offered = sizes(rows())
        choices = {str(size): f"{number(size)} rows" for size in offered}
        ui.update_select(SIZE.key, choices=choices, selected=str(offered[-1]))
        summing.start(reading.asked(), rows(), seconds=READING)

    def picture() -> str:
        return scatter(rows(), SIDES.or_else(()), SIZE(), BAR.or_else("none"))

    def plot() -> TagChild:
        return elements.svg(picture()) if is_kl() and SIZE() in sizes(rows()) else None

    def other_run() -> TagChild:
        found = outcome()
        value = found.value if isinstance(found, Done) else None
        if isinstance(value, Study):
            return study.study_view(value)
        return study.resamples_view(value) if isinstance(value, Resamples) else None

    on(RESULTS, open_files)
    show("results_state", lambda: results_state(outcome()))
    show("run", other_run)
    show("scatter", plot, eager=True)
    show("effects", lambda: effects_table(summing.outcome(reading.asked())))
    offer("scatter_svg", picture, name=lambda: "experiment kl")
    offer("rows_csv", lambda: as_csv(rows()), name=lambda: "experiment rows")
    offer("rows_json", lambda: as_json(rows()), name=lambda: "experiment rows")
    study.serve(lambda: opened(Study))
    study.serve_resamples(lambda: opened(Resamples))
    return [reading, summing]
