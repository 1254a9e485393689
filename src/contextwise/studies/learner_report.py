"""Publish the study of learners: figures with captions, tables, summary and page.

Colours are those of Okabe and Ito, then of Tol, for readers with colour vision deficiency; learners
also differ by their markers.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.errors import require
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import Note, Part, Section, Table
from contextwise.report.plots.plot_guesses import plot_critical_difference
from contextwise.report.plots.style import COLUMN, encoded, new_figure, save_png_and_svg, styled
from contextwise.report.text import as_latex, as_text
from contextwise.studies.learner_results import (
    CMLL,
    DISTANCE,
    HAMMING,
    KL,
    Record,
    by_rows,
    grouped,
    labels_of,
    mean_of_truths,
    means_by_truth,
    of_truths,
    rank,
    sizes_of,
    study_parts,
)
from contextwise.studies.learner_study import COLUMNS, DATA_COLUMNS, TRUE_STRUCTURE
from contextwise.support.files import write_bytes
from contextwise.support.formatting import as_csv, plural
from contextwise.support.store import read_records, read_versions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31"),
    *("#882255", "#44AA99", "#332288", "#999933", "#AA4499", "#661100"),
)
MARKERS = "os^Dv<>Ph*Xp"
GREY = "#999999"
LEAST_KL = 1e-4
"""Smaller values are drawn here, so that a logarithmic axis has an end."""


@dataclass(frozen=True)
class StudyFigure:
    """A figure with its name and caption."""

    name: str
    figure: Figure
    caption: str


def study_figures(records: Sequence[Record]) -> list[StudyFigure]:
    """Draw all figures of a run that its sizes and truths allow."""
    truths = of_truths(records)
    if not truths:
        return []
    makers: list[Callable[[Sequence[Record]], StudyFigure | None]] = [
        *(learning_curves, errors_plane, kl_against_errors, ranks_side_by_side),
        *(critical_differences, times),
    ]
    return [figure for maker in makers if (figure := maker(truths)) is not None]


def _counted(records: Sequence[Record]) -> str:
    truths = {record["truth"] for record in records}
    failed = sum(record["status"] != "done" for record in records)
    text = f"{plural(len(records), 'unit')} on {plural(len(truths), 'truth')}"
    return f"{text}, {failed} of them without a structure" if failed else text


def _look(labels: Sequence[str], label: str) -> dict[str, Any]:
    """Return the colour and marker of a learner."""
    if label == TRUE_STRUCTURE:
        return {"color": GREY, "marker": "."}
    place = labels.index(label)
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}


def _named(records: Sequence[Record]) -> tuple[list[str], list[str]]:
    """Return the learners, and the same with the true structure if it took part."""
    labels = labels_of(records)
    with_truth = any(record["learner"] == TRUE_STRUCTURE for record in records)
    return labels, [*labels, TRUE_STRUCTURE] if with_truth else labels


def _curve(
    axes: Axes, records: Sequence[Record], column: str, label: str, look: dict[str, Any]
) -> None:
    """Draw the means of a learner against the number of rows, with intervals over truths."""
    points = []
    for size in sizes_of(records):
        values = means_by_truth(records, column, learner=label, size=size)
        if values:
            mean, interval = mean_of_truths(values)
            points.append((size, mean, *(interval or (mean, mean))))
    if not points:
        return
    x, y, low, high = np.array(points).T
    axes.plot(x, y, markersize=3.5, linewidth=1, label=label, **look)
    axes.fill_between(x, low, high, color=look["color"], alpha=0.08, linewidth=0)


def _log_scale(axes: Axes, which: str, values: Sequence[float] | None = None) -> None:
    """Make an axis logarithmic, with plain numbers as ticks."""
    ticker = require("matplotlib.ticker", "plots")
    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set(**{f"{which}scale": "log"})
    if values is not None:
        axis.set_major_locator(ticker.FixedLocator(values))
        axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def _legend(figure: Figure, axes: Axes, columns: int = 4) -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns)
    for each in figure.axes:
        each.spines[["top", "right"]].set_visible(False)


@styled
def learning_curves(records: Sequence[Record]) -> StudyFigure | None:
    """Plot distance, KL and CMLL against the number of rows."""
    sizes = sizes_of(records)
    if len(sizes) < 2:
        return None
    labels, every = _named(records)
    figure = new_figure(2 * COLUMN, 1.05 * COLUMN)
    shown = (DISTANCE, KL, CMLL)
    for axes, metric in zip(figure.subplots(1, len(shown)), shown, strict=True):
        shown_records = _below_true_structure(records) if metric is CMLL else records
        for label in every:
            _curve(axes, shown_records, metric.column, label, _look(labels, label))
        _log_scale(axes, "x", sizes)
        if metric is KL:
            _log_scale(axes, "y")
        axes.set_xlabel("rows")
        axes.set_title("CMLL below the true one" if metric is CMLL else metric.label)
    _legend(figure, figure.axes[0])
    return StudyFigure(
        "learning-curves",
        figure,
        "Normalized distance, KL of the refitted structure (log scale, nats), and by how much CMLL "
        "on test rows is below that of the true structure on the same rows (nats), against the "
        "number of rows: means over truths, with 95 % intervals that resample truths. From "
        f"{_counted(records)}.",
    )


def _below_true_structure(records: Sequence[Record]) -> list[Record]:
    """Return the records with CMLL as the loss against the true structure, where known."""
    losses: list[Record] = []
    for learners in by_rows(records).values():
        reference = learners.get(TRUE_STRUCTURE, {}).get(CMLL.column)
        for record in learners.values():
            value = record[CMLL.column]
            loss = None if value is None or reference is None else reference - value
            losses.append({**record, CMLL.column: loss})
    return losses


@styled
def errors_plane(records: Sequence[Record]) -> StudyFigure | None:
    """Plot false positives against false negatives, a path per learner from few rows to many."""
    labels = labels_of(records)
    figure = new_figure(1.5 * COLUMN, 1.2 * COLUMN)
    axes = figure.add_subplot()
    sizes = sizes_of(records)
    for label in labels:
        points = []
        for size in sizes:
            fp = means_by_truth(records, "fp_share", learner=label, size=size)
            fn = means_by_truth(records, "fn_share", learner=label, size=size)
            if fp:
                points.append((np.mean(list(fp.values())), np.mean(list(fn.values()))))
        if not points:
            continue
        x, y = np.array(points).T
        look = _look(labels, label)
        axes.plot(x, y, linewidth=0.8, alpha=0.6, color=look["color"])
        axes.scatter(x, y, s=np.linspace(8, 36, len(points)), label=label, **look)
    ends = axes.get_xlim()[1], axes.get_ylim()[1]
    for total in np.arange(0.1, sum(ends), 0.1):
        axes.plot([0, total], [total, 0], color=GREY, linewidth=0.3, zorder=0)
    axes.set(xlim=(-0.01, ends[0]), ylim=(-0.01, ends[1]))
    axes.set(xlabel="false positives / all assertions", ylabel="false negatives / all assertions")
    _legend(figure, axes, 3)
    return StudyFigure(
        "errors-plane",
        figure,
        "False positives against false negatives as shares of all assertions, means over truths; "
        f"marks grow with the number of rows ({', '.join(f'{size:,}' for size in sizes)}). On a "
        f"grey line the distance is the same, 0.1 from line to line. From {_counted(records)}.",
    )


@styled
def kl_against_errors(records: Sequence[Record]) -> StudyFigure | None:
    """Plot KL of every structure against its false positives and its false negatives."""
    most = sizes_of(records)[-1]
    exact = [r for r in records if r["size"] == most and r["kl"] is not None and r["kl_exact"]]
    labels, every = _named(exact)
    if not exact:
        return None
    figure = new_figure(2 * COLUMN, 1.15 * COLUMN)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    names = ("false positives", "false negatives")
    for axes, column, errors in zip(panels, ("fp_share", "fn_share"), names, strict=True):
        for label in every:
            points = [(r[column], max(r["kl"], LEAST_KL)) for r in exact if r["learner"] == label]
            x, y = np.array(points).T
            axes.scatter(x, y, s=9, alpha=0.7, label=label, **_look(labels, label))
        axes.set_xlabel(f"{errors} / all assertions")
        _log_scale(axes, "y")
    panels[0].set_ylabel("KL, refitted (nats)")
    _legend(figure, panels[0])
    return StudyFigure(
        "kl-against-errors",
        figure,
        f"KL of every refitted structure at {most:,} rows against its false positives (left) and "
        f"its false negatives (right), a mark per unit. From {_counted(exact)} with exact KL.",
    )


@styled
def ranks_side_by_side(records: Sequence[Record]) -> StudyFigure | None:
    """Plot the mean ranks by d, KL, CMLL and graph Hamming distance, a line per learner."""
    shown = [rank(records, metric) for metric in (HAMMING, DISTANCE, KL, CMLL)]
    means = [ranks.means() for ranks in shown]
    labels = labels_of(records)
    if len(labels) < 2 or not all(means):
        return None
    figure = new_figure(1.5 * COLUMN, 1.1 * COLUMN)
    axes = figure.add_subplot()
    table = np.array([[ranks[label] for label in labels] for ranks in means])
    for place, label in enumerate(labels):
        axes.plot(table[:, place], linewidth=1.2, markersize=4.5, **_look(labels, label))
    _side_labels(axes, labels, table)
    axes.set_xticks(range(len(shown)), [ranks.metric.label for ranks in shown])
    axes.set_xlim(-0.1, len(shown) - 0.2)
    axes.invert_yaxis()
    axes.set_ylabel("mean rank (1 is the best)")
    axes.spines[["top", "right"]].set_visible(False)
    used = min(len(ranks.ranks) for ranks in shown)
    return StudyFigure(
        "ranks",
        figure,
        "Mean ranks of the learners over truths by four metrics, all sizes and repeats of a truth "
        f"together; a learner that gave no structure ranks last. From {_counted(records)}; the "
        f"metric with the fewest values ranks {plural(used, 'data set')}.",
    )


def _side_labels(axes: Axes, labels: Sequence[str], table: np.ndarray) -> None:
    """Write the names of the learners at the right end, without overlaps."""
    order = np.argsort(table[-1], kind="stable").tolist()
    step = 0.055 * max(1.0, float(np.ptp(table)))
    at = -np.inf
    for place in order:
        at = max(float(table[-1, place]), at + step)
        colour = _look(labels, labels[place])["color"]
        axes.text(len(table) - 0.92, at, labels[place], color=colour, va="center", fontsize=7)


@styled
def critical_differences(records: Sequence[Record]) -> StudyFigure | None:
    """Plot the mean ranks by d and by KL with critical differences."""
    tested = [rank(records, metric).ranking() for metric in (DISTANCE, KL)]
    rankings = [r for r in tested if r is not None and r.critical_difference is not None]
    if not rankings:
        return None
    height = 0.9 + 0.26 * len(rankings[0].groups)
    figure = new_figure(2 * COLUMN, height)
    for axes, ranking in zip(
        np.atleast_1d(figure.subplots(1, len(rankings))), rankings, strict=True
    ):
        plot_critical_difference(ranking, axes=axes)
    return StudyFigure(
        "critical-differences",
        figure,
        "Mean ranks over truths by the distance and by KL; a bar joins learners whose ranks are "
        f"within the critical difference (Nemenyi, 5 %). From {_counted(records)}.",
    )


@styled
def times(records: Sequence[Record]) -> StudyFigure | None:
    """Plot seconds of learning against rows and against variables."""
    labels = labels_of(records)
    figure = new_figure(2 * COLUMN, 1.05 * COLUMN)
    left, right = figure.subplots(1, 2)
    most = sizes_of(records)[-1]
    for label in labels:
        look = _look(labels, label)
        _curve(left, records, "seconds", label, look)
        by_width = grouped(
            (r["variables"], r["seconds"])
            for r in records
            if (r["learner"], r["size"]) == (label, most) and r["seconds"] is not None
        )
        if by_width:
            x = sorted(by_width)
            y = [float(np.mean(by_width[n])) for n in x]
            right.plot(x, y, linewidth=0.8, markersize=3.5, **look)
    _log_scale(left, "x", sizes_of(records))
    left.set(xlabel="rows", ylabel="seconds of processor time")
    right.set(xlabel=f"variables (at {most:,} rows)")
    for axes in (left, right):
        _log_scale(axes, "y")
    _legend(figure, left)
    return StudyFigure(
        "times",
        figure,
        "Seconds of processor time of learning, the choice of settings included: against rows, "
        f"means over truths with 95 % intervals, and against variables. From {_counted(records)}; "
        "units that were too slow have no time and are not in the means.",
    )


# -- files -----------------------------------------------------------------------------------------


TITLE = "Learners judged by the metric, by KL and by CMLL"


def publish_learners(folder: str | os.PathLike[str]) -> str:
    """Write tables, figures, ``summary.md`` and ``page.html``; return the summary."""
    place = Path(folder)
    records = read_records(place)
    _write_units(place, records)
    parts, figures, made = study_parts(records), study_figures(records), read_versions(place)
    for figure in figures:
        save_png_and_svg(figure.figure, place, figure.name)
    write_bytes(place / "summary.md", markdown_summary(parts, figures, made).encode())
    write_bytes(place / "tables.tex", as_latex(parts).encode())
    write_bytes(place / "page.html", _page(parts, figures, made).encode())
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


def markdown_summary(
    parts: Iterable[Part], figures: Sequence[StudyFigure], made: Mapping[str, str]
) -> str:
    """Return the parts and figures as Markdown, and the versions that made the results."""
    lines = [f"# {TITLE}", ""]
    for part in parts:
        lines += _markdown(part, 2)
    if figures:
        lines += ["## Figures", ""]
    for figure in figures:
        lines += [f"![{figure.caption}]({figure.name}.png)", "", f"*{figure.caption}*", ""]
    used = ", ".join(f"{key} {value}" for key, value in made.items())
    return "\n".join([*lines, f"Made with {used}.", ""])


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


def _page(parts: Sequence[Part], figures: Sequence[StudyFigure], made: Mapping[str, str]) -> str:
    body: str = as_html(parts)
    if figures:
        body += tag("h2", "Figures")
    for figure in figures:
        source = f"data:image/png;base64,{b64encode(encoded(figure.figure, 'png')).decode()}"
        image = tag("img", src=source, alt=figure.caption)
        body += tag("figure", image, tag("figcaption", figure.caption))
    return page_html(TITLE, body, made.items())
