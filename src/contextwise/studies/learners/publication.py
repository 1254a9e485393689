"""From the results of the study to what people read: tables, figures, a summary and a page."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import contextwise
from contextwise.errors import require
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import Note, Part, Section, Table
from contextwise.report.plots.style import encoded, save_png_and_svg
from contextwise.report.text import as_latex, as_text
from contextwise.studies.learners.cells import of_truths
from contextwise.studies.learners.figures import StudyFigure, study_figures
from contextwise.studies.learners.real_data import DATA_COLUMNS
from contextwise.studies.learners.tables import study_parts
from contextwise.studies.learners.unit import COLUMNS
from contextwise.support.files import write_bytes
from contextwise.support.records import as_csv
from contextwise.support.store import read_records, versions

TITLE = "Learners judged by the metric, beside KL and CMLL"


def publish(folder: str | os.PathLike[str]) -> str:
    """Write the tables, the figures, the summary and the page beside the results.

    These are ``units.csv`` (and ``units.parquet`` where pyarrow is installed), ``data.csv`` for
    real data, ``summary.md``, ``tables.tex``, ``page.html``, and the figures as PNG and SVG.

    Parameters
    ----------
    folder : path of the run

    Returns
    -------
    str
        The summary, for a terminal.
    """
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
    """The parts and figures as Markdown.

    Parameters
    ----------
    parts : tables, notes and sections
    figures : whose PNG files stand beside the text

    Returns
    -------
    str
    """
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
        inner = [line for one in part.parts for line in _markdown(one, level + 1)]
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
    for one in figures:
        source = f"data:image/png;base64,{b64encode(encoded(one.figure, 'png')).decode()}"
        image = tag("img", src=source, alt=one.caption)
        body += tag("figure", image, tag("figcaption", one.caption))
    made = {"contextwise": contextwise.__version__, **versions()}
    return page_html(TITLE, body, made.items())
