"""Write the tables, figures, summary and page of a study."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import contextwise
from contextwise.errors import require
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import Note, Part, Section, Table
from contextwise.report.plots.plot_models import plot_scatter
from contextwise.report.plots.style import COLUMN, encoded, new_figure, save_png_and_svg, styled
from contextwise.report.text import as_latex, as_text
from contextwise.studies.kl_study import summary_text
from contextwise.studies.learner_figures import StudyFigure, study_figures
from contextwise.studies.learner_results import of_truths, study_parts
from contextwise.studies.learner_study import COLUMNS, DATA_COLUMNS
from contextwise.support.files import write_bytes
from contextwise.support.records import as_csv
from contextwise.support.store import read_records, versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def publish_kl(folder: str | os.PathLike[str]) -> str:
    """Write ``results.csv``, ``summary.md`` and a figure per number of rows; return the summary."""
    place = Path(folder)
    rows = read_records(place)
    write_bytes(place / "results.csv", as_csv(rows).encode())
    write_bytes(place / "summary.md", summary_text(rows).encode())
    for size in sorted({row["size"] for row in rows}):
        save_png_and_svg(kl_figure(rows, size), place, f"kl-{size}")
    return summary_text(rows, markdown=False)


@styled
def kl_figure(rows: Sequence[Mapping[str, Any]], size: int) -> Figure:
    """Plot KL against the percentage of errors, false positives above, false negatives below."""
    table = require("pandas", "studies").DataFrame(rows)
    figure = new_figure(COLUMN, 1.4 * COLUMN)
    above, below = figure.subplots(2, 1, sharex=True, sharey=True)
    plot_scatter(table, size=size, side="fp", axes=above)
    plot_scatter(table, size=size, side="fn", axes=below)
    above.set_xlabel("")
    below.set_title("")
    return figure


TITLE = "Learners judged by the metric, by KL and by CMLL"


def publish_learners(folder: str | os.PathLike[str]) -> str:
    """Write tables, figures, ``summary.md`` and ``page.html``; return the summary."""
    place = Path(folder)
    records = read_records(place)
    _write_units(place, records)
    parts, figures = study_parts(records), study_figures(records)
    for figure in figures:
        save_png_and_svg(figure.figure, place, figure.name)
    write_bytes(place / "summary.md", markdown_summary(parts, figures).encode())
    write_bytes(place / "tables.tex", as_latex(parts).encode())
    write_bytes(place / "page.html", _page(parts, figures).encode())
    return as_text(parts) + "\n"


def _write_units(place: Path, records: Sequence[dict[str, Any]]) -> None:
    truths = of_truths(records)
    if truths:
        write_bytes(place / "units.csv", as_csv(truths, COLUMNS).encode())
        if find_spec("pyarrow"):
            frame = require("pandas", "studies").DataFrame(truths, columns=list(COLUMNS))
            for column in ("distance", "assertions", "fp", "fn", "oracle_distance"):
                frame[column] = frame[column].astype("float64")  # counts outgrow its integers
            write_bytes(place / "units.parquet", frame.to_parquet(index=False))
    real = [{key: r[key] for key in DATA_COLUMNS} for r in records if "data" in r]
    if real:
        write_bytes(place / "data.csv", as_csv(real, DATA_COLUMNS).encode())


def markdown_summary(parts: Iterable[Part], figures: Sequence[StudyFigure]) -> str:
    """Return the parts and figures as Markdown."""
    lines = [f"# {TITLE}", ""]
    for part in parts:
        lines += _markdown(part, 2)
    if figures:
        lines += ["## Figures", ""]
    for figure in figures:
        lines += [f"![{figure.caption}]({figure.name}.png)", "", f"*{figure.caption}*", ""]
    made = ", ".join(f"{key} {value}" for key, value in versions().items())
    return "\n".join([*lines, f"Made with {made}.", ""])


def _markdown(part: Part, level: int) -> list[str]:
    if isinstance(part, Section):
        inner = [line for inside in part.parts for line in _markdown(inside, level + 1)]
        return [f"{'#' * level} {part.title}", "", *inner]
    if isinstance(part, Note):
        return [*part.text.splitlines(), ""]
    if isinstance(part, Table):
        sides = [" ---: " if column.is_number else " --- " for column in part.columns]
        head = [f"**{part.title}**", ""] if part.title else []
        rows = [_row(column.title for column in part.columns), f"|{'|'.join(sides)}|"]
        return [*head, *rows, *(_row(cells) for cells in part.texts()), ""]
    return []


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _page(parts: Sequence[Part], figures: Sequence[StudyFigure]) -> str:
    body: str = as_html(parts)
    if figures:
        body += tag("h2", "Figures")
    for figure in figures:
        source = f"data:image/png;base64,{b64encode(encoded(figure.figure, 'png')).decode()}"
        image = tag("img", src=source, alt=figure.caption)
        body += tag("figure", image, tag("figcaption", figure.caption))
    made = {"contextwise": contextwise.__version__, **versions()}
    return page_html(TITLE, body, made.items())
