"""The results of a run (``--run``): a study of KL-divergence or of learners, or resamples."""

from __future__ import annotations

from pathlib import Path

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.errors import ContextwiseError
from contextwise.explorer import controls
from contextwise.explorer.computations import Run, RunPicture, read_run
from contextwise.explorer.job import Background, Done, value_of
from contextwise.explorer.wiring import offer, show
from contextwise.formats import encode
from contextwise.report.text import as_latex
from contextwise.support.formatting import as_csv, as_json

READING = 300.0  # seconds


def panel() -> Tag:
    return tags.div(ui.output_ui("run"), aria_live="polite")


def run_view(run: Run, name: str) -> TagList:
    offers = [("records_csv", "records (CSV)"), ("records_json", "records (JSON)")]
    offers.append(("tables_tex", "tables (LaTeX)"))
    if run.medoid is not None:
        offers.append(("medoid_json", "most typical structure (model file, JSON)"))
    return TagList(
        tags.h2(f"{run.title}: {name}", class_="h5 when"),
        tags.div(*map(_figure, run.pictures), class_="study-figures"),
        controls.downloads(*offers),
        controls.parts(run.parts),
    )


def _figure(picture: RunPicture) -> Tag:
    return tags.figure(
        tags.a(
            tags.img(src=picture.source, alt=picture.name.replace("-", " ")),
            href=picture.source,
            download=f"{picture.name}.svg",
            title="Download this figure (SVG)",
        ),
        tags.figcaption(picture.caption, class_="note"),
        class_="wide-figure" if picture.is_wide else None,
    )


def serve(run: Path) -> None:
    """Connect the tab to the session, and read the run."""
    reading = Background(read_run)
    name = run.name or str(run)

    @reactive.effect
    def read() -> None:
        reading.start(str(run), str(run), seconds=READING)

    def content() -> TagChild:
        outcome = reading.latest()
        if isinstance(outcome, Done):
            return run_view(outcome.value, name)
        return controls.not_done(outcome)

    def result() -> Run:
        return value_of(reading.latest(), "there is nothing here yet")

    def medoid() -> str:
        structure = result().medoid
        if structure is None:
            raise ContextwiseError("this run has no resamples")
        return encode(structure, "json").decode()

    show("run", content)
    offer("records_csv", lambda: as_csv(result().records), name=lambda: f"{name} records")
    offer("records_json", lambda: as_json(list(result().records)), name=lambda: f"{name} records")
    offer("tables_tex", lambda: as_latex(result().parts), name=lambda: f"{name} tables")
    offer("medoid_json", medoid, name=lambda: f"{name} medoid")
