"""Show a study: the answer first, tables of means and tests, a figure, a page."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextwise.errors import require
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import Cell, Note, Part, Style, table
from contextwise.report.planted_errors import planted_figure, planted_parts
from contextwise.report.plots.of_guesses import MARKERS, SERIES
from contextwise.report.plots.style import COLUMN, PICTURES, encoded, new_figure, save, styled
from contextwise.report.scatter import scatter_html
from contextwise.report.text import as_latex
from contextwise.studies.summary import ALL, GRAPH_DISTANCES, paired_tests, summaries
from contextwise.studies.summary import COLUMNS as SUMMARY
from contextwise.support.files import write_bytes
from contextwise.support.formatting import as_csv, as_json, listed, plural
from contextwise.support.words import exact_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from contextwise.studies.learner_study import Study

TESTS = (
    *("rows", "measure", "first", "second", "replicates", "difference", "low", "high"),
    *("p_value", "attainable_p_value", "holm_p_value"),
)
"""The columns of ``tests.csv``."""
MOST_PANELS = 8
"""The most truths that get a panel of their own."""
CAPTION = (
    "Share of all assertions in which what was learned differs from the truth: mean over data "
    "sets, with its 95 % interval."
)
PLANTED = (
    "KL from the true to the fitted distribution, for structures with planted errors: mean over "
    "sets of weights."
)


def publish(study: Study, folder: str | os.PathLike[str]) -> None:
    """Write results, tables, models, provenance, figures and the page of a study."""
    place = Path(folder)
    files = {"results.csv": as_csv(study.results), "study.json": f"{as_json(study.provenance)}\n"}
    files |= {f"models/{path}": text for path, text in study.models.items()}
    if study.learned:
        files["summary.csv"] = as_csv(summaries(study.learned), SUMMARY)
        files["tests.csv"] = as_csv(paired_tests(study.learned), TESTS)
    figures = []
    if any(record["status"] == "done" for record in study.learned):
        figures.append(("study", study_figure(study), CAPTION))
    if any(record.get("kl") is not None for record in study.planted):
        figures.append(("planted", planted_figure(study), PLANTED))
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(place / path, text.encode())
    for name, figure, _ in figures:
        for suffix in PICTURES:
            save(figure, place / f"{name}.{suffix}")
    if figures or study.planted:
        parts = [*study_parts(study), *_provenance(study)]
        write_bytes(place / "study.tex", as_latex(parts).encode())
        write_bytes(place / "study.html", _page(study, figures, parts).encode())


def _page(study: Study, figures: Sequence[tuple[str, Figure, str]], parts: Sequence[Part]) -> str:
    answer, *rest = parts
    body = [as_html([answer])]
    for _, figure, caption in figures:
        picture = b64encode(encoded(figure, "svg")).decode()
        body.append(tag("img", src=f"data:image/svg+xml;base64,{picture}", alt=caption))
        body.append(tag("p", caption))
    body += [as_html(rest), scatter_html(study.results)]
    made = list(study.provenance.get("versions", {}).items())
    title = "Study of learners" if study.learners else "Study of planted errors"
    return page_html(title, "".join(body), made)


def _provenance(study: Study) -> list[Part]:
    """Return how the study can be repeated: command, seed, learners with parameters."""
    known: Mapping[str, Any] = study.provenance
    lines = [f"command: {known['command']}"] if known.get("command") else []
    lines.append(f"seed: {known.get('seed')}; study.json has all parameters and versions")
    for label, learner in known.get("learners", {}).items():
        values = ", ".join(f"{k}={v}" for k, v in learner["parameters"].items()) or "no parameters"
        lines.append(f"{label}: {learner['learner']}, {values}")
    return [Note("provenance", "\n".join(lines))]


# -- tables ----------------------------------------------------------------------------------------


def study_parts(study: Study, *, top: int | None = None) -> list[Part]:
    """Return the answer, the means of each truth, the paired tests, and what did not finish."""
    parts: list[Part] = []
    if study.learners:
        rows = summaries(study.learned)
        parts += [Note("finding", verdict(study)), _means(rows)]
        if any(row[key] is not None for row in rows for key in GRAPH_DISTANCES):
            parts.append(_graph_distances(rows))
        parts += [*_tests(study), *_strong_parts(study)]
        parts += [Note("unfinished", text, warns=True) for text in _unfinished(study)]
    if study.planted:
        parts += planted_parts(study)
    if any(record["rows_from"].startswith("from ") for record in study.results):
        chains = "Rows of truths beyond exact inference come from Gibbs chains."
        parts.append(Note("chains", chains, warns=True))
    return parts


def _strong_parts(study: Study) -> list[Part]:
    """Return the means of what differs at each tolerance, with the most rows."""
    if not study.tolerances:
        return []
    size = study.sizes[-1]
    columns: dict[str, Style] = {"learner": "name"}
    columns |= {f"t = {tolerance}": "text" for tolerance in study.tolerances}
    rows: list[tuple[Cell, ...]] = []
    for learner in study.learners:
        means = (study.mean_at(tolerance, learner, size) for tolerance in study.tolerances)
        rows.append((learner, *("–" if mean is None else _share(mean) for mean in means)))
    title = f"Wrong assertions at {size:,} rows if only dependences stronger than t count"
    return [table(title, columns, rows, "at")]


def verdict(study: Study) -> str:
    """Return the answer: which learner is nearest to the truths with the most rows."""
    size = study.sizes[-1]
    compared = study.comparison(size)
    truths = plural(len(study.truths), "truth")
    sets = plural(len(study.learned) // len(study.learners) // len(study.sizes), "data set")
    where = f"at {size:,} rows (mean over {sets} of {truths})"
    if compared is None:
        return f"No learner finished on every data set {where}."
    means = {g.name: g.means["normalized"].mean or 0.0 for g in compared.groups}
    first, *others = sorted(means, key=lambda name: means[name])
    if not others:
        return f"{first} is wrong in {_share(means[first])} of all assertions {where}."
    tests_of = {name: compared.difference(first, name).adjusted for name in others}
    texts = [f"{name} in {_share(means[name])}" for name in others]
    answer = (
        f"{first} is nearest to the truth: it is wrong in {_share(means[first])} of all "
        f"assertions {where}, {listed(texts)}."
    )
    alike = [n for n, p in tests_of.items() if p is not None and p > compared.level]
    if alike:
        answer += f" Paired tests do not distinguish {first} from {listed(alike)}."
    return answer


def _share(value: float) -> str:
    return exact_percent(value)


def _means(rows: Sequence[Mapping[str, Any]]) -> Part:
    heads: dict[str, Style] = {"truth": "name", "rows": "count", "learner": "name"}
    heads |= {"wrong": "text", "95 % interval": "text", "kappa": "rate", "FP": "text"}
    heads |= {"FN": "text", "rank": "score", "seconds": "score"}
    cells = []
    for row in rows:
        shares = [_percent(row[key]) for key in ("normalized", "fp_share", "fn_share")]
        line: list[Cell] = [row["truth"], row["rows"], row["learner"], shares[0], _interval(row)]
        seconds = None if row["seconds"] is None else float(f"{row['seconds']:.3g}")
        rank = None if row["rank"] is None else float(f"{row['rank']:.3g}")
        cells.append([*line, row["kappa"], *shares[1:], rank, seconds])
    title = "Wrong assertions: mean over data sets, with false positives and false negatives"
    return table(title, heads, cells, "means")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None:
        return "–"
    return f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %"


def _graph_distances(rows: Sequence[Mapping[str, Any]]) -> Part:
    heads: dict[str, Style] = {"truth": "name", "rows": "count", "learner": "name"}
    heads |= {"SHD": "score", "SHD of classes": "score", "SID": "score"}
    cells = [
        [row["truth"], row["rows"], row["learner"], *(row[key] for key in GRAPH_DISTANCES)]
        for row in rows
        if any(row[key] is not None for key in GRAPH_DISTANCES)
    ]
    return table("Distances of graphs, where truth and guess are directed", heads, cells, "graphs")


def _tests(study: Study) -> list[Part]:
    heads: dict[str, Style] = {"rows": "count", "learners": "text", "difference": "text"}
    heads |= {"95 % interval": "text", "p": "p", "p after Holm": "p"}
    cells: list[list[Cell]] = []
    for row in paired_tests(study.learned):
        if row["difference"] is not None:
            names, gap = f"{row['first']} − {row['second']}", f"{100 * row['difference']:+.1f} %"
            interval, p_values = _interval(row), (row["p_value"], row["holm_p_value"])
            cells.append([row["rows"], names, gap, interval, *p_values])
    title = "Paired tests of the difference of learners, every truth with the same weight"
    return [table(title, heads, cells, "tests")] if cells else []


def _unfinished(study: Study) -> list[str]:
    """Say which learners failed or were too slow, how often, and why the first time."""
    texts = []
    for learner in study.learners:
        records = [r for r in study.learned if r["learner"] == learner]
        for status in ("failed", "too slow"):
            ended = [r for r in records if r["status"] == status]
            if ended:
                first = ended[0]
                why = f" ({first['error']})" if first["error"] else ""
                texts.append(
                    f"{learner}: {status} on {len(ended)} of {plural(len(records), 'data set')}, "
                    f"first on {first['truth']} with {first['rows']:,} rows{why}."
                )
    return texts


# -- the figure ------------------------------------------------------------------------------------


@styled
def study_figure(study: Study) -> Figure:
    """Draw the mean distance of each learner against the number of rows, for each truth."""
    rows = summaries(study.learned)
    truths = list(dict.fromkeys(row["truth"] for row in rows))
    if len(truths) > 1 + MOST_PANELS:
        truths = [ALL]
    truths = truths[-1:] + truths[:-1] if truths[-1] == ALL else truths
    across = min(len(truths), 4)
    down = -(-len(truths) // across)
    figure = new_figure(COLUMN * max(1.5, 0.62 * across + 0.4), COLUMN * max(0.75 * down, 0.8))
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, truth in zip(grid, truths, strict=False):
        _panel(axes, study, [row for row in rows if row["truth"] == truth])
        axes.set_title(truth if len(truths) > 1 else "")
    grid[0].set_ylim(bottom=0)  # all panels share it
    for axes in grid[len(truths) :]:
        axes.remove()
    if len(truths) > 1:
        figure.supxlabel("rows", fontsize="medium")
    else:
        grid[0].set_xlabel("rows")
    for axes in grid[: len(truths) : across]:
        axes.set_ylabel("wrong assertions, %")
    handles, labels = grid[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper")
    return figure


def _panel(axes: Axes, study: Study, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw one line per learner, with the 95 % intervals as bars."""
    ticker = require("matplotlib.ticker", "plots")
    for k, learner in enumerate(study.learners):
        own = [row for row in rows if row["learner"] == learner and row["normalized"] is not None]
        if not own:
            continue
        y = [100 * row["normalized"] for row in own]
        lows = [100 * (row["normalized"] - _end(row, "low")) for row in own]
        highs = [100 * (_end(row, "high") - row["normalized"]) for row in own]
        # A little apart, so that the bars of several learners can be told apart.
        x = [row["rows"] * (1 + 0.03 * (k - (len(study.learners) - 1) / 2)) for row in own]
        look: dict[str, Any] = {"color": SERIES[k % len(SERIES)]}
        look |= {"marker": MARKERS[k % len(MARKERS)], "markersize": 4, "linewidth": 1}
        axes.errorbar(x, y, (lows, highs), label=learner, **look)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.FixedLocator(study.sizes))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda size, _: f"{size:,.0f}"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.spines[["top", "right"]].set_visible(False)


def _end(row: Mapping[str, Any], key: str) -> float:
    """Return an end of the interval, or the mean without one."""
    return float(row["normalized"] if row[key] is None else row[key])
