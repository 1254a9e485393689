"""The results of a run (``--run``): a study of KL-divergence or of learners, or resamples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.explorer import controls
from contextwise.explorer.job import Background, Done, Outcome, value_of
from contextwise.explorer.runs import (
    Resamples,
    Results,
    Row,
    Study,
    StudyPicture,
    effects_of,
    read_run,
    sizes,
)
from contextwise.explorer.scatter import Bar, Point, Series, scatter_svg
from contextwise.explorer.wiring import Input, choice, offer, show, texts, whole
from contextwise.formats import encode
from contextwise.report.colours import Agreement
from contextwise.report.parts import Column, Table
from contextwise.report.text import as_latex
from contextwise.studies.summary import NAMES, Effect, means
from contextwise.support.formatting import number
from contextwise.support.records import as_csv, as_json

T = TypeVar("T")
READING = 300.0  # seconds for the results of a run
BARS = {"none": "none", "deviation": "standard deviation", "range": "smallest to largest"}
COLUMNS = (
    Column("errors", "words"),
    Column("rows", "count"),
    Column("structures", "count"),
    Column("rank correlation (95 %)", "words"),
    Column("KL per 1 % of errors (95 %)", "words"),
    Column("growth / spread", "words"),
)
TITLES = {
    "learning-curves": "Learning curves",
    "errors-plane": "False positives against false negatives",
    "kl-against-errors": "KL-divergence against errors",
    "ranks": "Ranks by four metrics",
    "critical-differences": "Critical differences",
    "times": "Time",
}
"""The titles of the figures of a study."""

SIDES: Input[tuple[str, ...]] = Input(
    "sides", lambda sent: tuple(map(choice(NAMES, str), texts(sent))), ()
)
SIZE = Input("size", whole)
BAR = Input("bars", choice(BARS, str), "none")


# -- content -------------------------------------------------------------------------------------


def panel() -> TagList:
    """Return the tab."""
    return TagList(
        tags.div(ui.output_ui("results_state"), aria_live="polite"),
        ui.output_ui("run"),
        tags.div(
            tags.p(
                "Each point is a structure with a percentage of all possible errors, fitted to "
                "data. Its height is the mean KL-divergence over the parameter sets."
            ),
            tags.div(
                ui.input_checkbox_group(SIDES.key, "Errors", dict(NAMES), selected=list(NAMES)),
                ui.input_select(SIZE.key, "Rows of data", []),
                ui.input_radio_buttons(BAR.key, "Error bars", BARS, selected="deviation"),
                class_="selectors",
            ),
            ui.output_ui("scatter"),
            controls.downloads(
                ("scatter_svg", "plot (SVG)"),
                ("rows_csv", "rows (CSV)"),
                ("rows_json", "rows (JSON)"),
            ),
            ui.output_ui("effects"),
            class_="needs-results",
        ),
    )


def scatter(rows: Sequence[Row], sides: Sequence[str], size: int, bars: str) -> str:
    """Draw the structures of some sides at one size; ``bars`` is a key of `BARS`."""
    there = {(row["side"], row["size"]) for row in rows}
    return scatter_svg(
        [_series(rows, side, size, bars) for side in sides if (side, size) in there],
        x_label="errors, % of all possible ones",
        y_label="mean KL-divergence (nats)",
        title=f"KL-divergence against errors, fitted to {number(size)} rows",
    )


def _series(rows: Sequence[Row], side: str, size: int, bars: str) -> Series:
    result = means(rows, side, size)
    low, high = result.mean - result.deviation, result.mean + result.deviation
    if bars == "range":
        low, high = result.single.min(axis=0), result.single.max(axis=0)
    places = zip(*(a.tolist() for a in (result.percentage, result.mean, low, high)), strict=True)
    return Series(
        cast("Agreement", side),
        [_point(x, y, None if bars == "none" else (a, b), side) for x, y, a, b in places],
    )


def _point(x: float, y: float, bar: Bar | None, side: str) -> Point:
    tip = f"{x:.3g} % {NAMES[side]}: KL {y:.4g}"
    tip += f" (from {bar[0]:.4g} to {bar[1]:.4g})" if bar else ""
    return Point(x, y, tip, bar=bar)


def effects_table(outcome: Outcome[list[Effect]]) -> TagChild:
    """Show how KL-divergence follows errors, with intervals."""
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    rows = tuple(
        (
            NAMES[effect.side],
            effect.size,
            effect.structures,
            f"{effect.rank:.2f} ({effect.rank_interval[0]:.2f} to {effect.rank_interval[1]:.2f})",
            f"{effect.slope:.2g} ({effect.slope_interval[0]:.2g} to "
            f"{effect.slope_interval[1]:.2g})",
            f"{effect.slope_over_spread:.2g}",
        )
        for effect in outcome.value
    )
    return controls.parts([Table("How KL-divergence follows errors", COLUMNS, rows)])


def study_view(study: Study, name: str) -> TagList:
    """Show the figures and tables of a study of learners."""
    return TagList(
        tags.h2(f"Study of learners: {name}", class_="h5 when"),
        tags.div(*map(_figure, study.pictures), class_="study-figures"),
        controls.downloads(
            ("units_csv", "units (CSV)"),
            ("units_json", "units (JSON)"),
            ("tables_tex", "tables (LaTeX)"),
        ),
        controls.parts(study.parts),
    )


def _figure(picture: StudyPicture) -> Tag:
    title = TITLES.get(picture.name, picture.name)
    return tags.figure(
        tags.h3(title, class_="h6"),
        tags.a(
            tags.img(src=picture.source, alt=title),
            href=picture.source,
            download=f"{picture.name}.svg",
            title="Download this figure (SVG)",
        ),
        tags.figcaption(picture.caption, class_="note"),
        class_="wide-figure" if picture.is_wide else None,
    )


def resamples_view(resamples: Resamples, name: str) -> TagList:
    """Show what resamples agree on."""
    return TagList(
        tags.h2(f"Stability of the learned structure: {name}", class_="h5 when"),
        controls.parts(resamples.parts),
        controls.downloads(
            ("supports_of_resamples_csv", "support of each pair (CSV)"),
            ("medoid_json", "most typical structure (model file, JSON)"),
        ),
    )


# -- sessions ------------------------------------------------------------------------------------


def serve(run: Path) -> list[Background[Any]]:
    """Connect the tab to the session, and read the run."""
    reading, summing = Background(read_run), Background(effects_of)
    title = run.name or str(run)

    def opened(kind: type[T]) -> T | None:
        outcome = reading.latest()
        is_kind = isinstance(outcome, Done) and isinstance(outcome.value, kind)
        return cast("Done[T]", outcome).value if is_kind else None

    def required(kind: type[T]) -> T:
        value = opened(kind)
        return value_of(None if value is None else Done(value), "there is nothing here yet")

    @reactive.effect
    def read() -> None:
        reading.start(str(run), str(run), seconds=READING)

    @reactive.effect
    def offer_sizes() -> None:
        rows = opened(list)
        if rows is None:
            return
        offered = sizes(rows)
        choices = {str(size): f"{number(size)} rows" for size in offered}
        ui.update_select(SIZE.key, choices=choices, selected=str(offered[-1]))
        summing.start(str(run), rows, seconds=READING)

    def progress() -> TagChild:
        outcome: Outcome[Results] = reading.latest()
        return None if isinstance(outcome, Done) else controls.not_done(outcome)

    def other_run() -> TagChild:
        study, resamples = opened(Study), opened(Resamples)
        if study is not None:
            return study_view(study, title)
        return None if resamples is None else resamples_view(resamples, title)

    def picture() -> str:
        return scatter(required(list), SIDES(), SIZE(), BAR())

    def plot() -> TagChild:
        rows = opened(list)
        return controls.svg(picture()) if rows and SIZE() in sizes(rows) else None

    show("results_state", progress)
    show("run", other_run)
    show("scatter", plot, eager=True)
    show("effects", lambda: effects_table(summing.latest()))
    offer("scatter_svg", picture, name=lambda: "experiment kl")
    offer("rows_csv", lambda: as_csv(required(list)), name=lambda: "experiment rows")
    offer("rows_json", lambda: as_json(required(list)), name=lambda: "experiment rows")

    def units() -> list[Row]:
        return list(required(Study).units)

    offer("units_csv", lambda: as_csv(units()), name=lambda: f"{title} units")
    offer("units_json", lambda: as_json(units()), name=lambda: f"{title} units")
    offer("tables_tex", lambda: as_latex(required(Study).parts), name=lambda: f"{title} tables")

    def supports() -> str:
        return as_csv(required(Resamples).supports)

    def medoid() -> str:
        return encode(required(Resamples).medoid, "json").decode()

    offer("supports_of_resamples_csv", supports, name=lambda: f"{title} supports")
    offer("medoid_json", medoid, name=lambda: f"{title} medoid")
    return [reading, summing]
