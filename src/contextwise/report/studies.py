"""Show a study: the answer first, a table of means, one figure, one page."""

from __future__ import annotations

import os
import platform
from base64 import b64encode
from collections.abc import Sequence
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextwise.errors import require
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import Cell, Note, Part, Style, table
from contextwise.report.planted_errors import planted_figure, planted_parts
from contextwise.report.plots.of_guesses import MARKERS, SERIES
from contextwise.report.plots.style import COLUMN, encoded, new_figure, save, styled
from contextwise.report.scatter import scatter_html
from contextwise.support.files import write_bytes
from contextwise.support.formatting import as_csv, as_json, listed, percent, plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contextwise.studies.learner_study import Score, Study


def publish(study: Study, folder: str | os.PathLike[str]) -> None:
    """Write results, models, provenance, the page and the figure of a study into a folder."""
    place = Path(folder)
    write_bytes(place / "results.csv", as_csv(study.results).encode())
    write_bytes(place / "study.json", f"{as_json(study.provenance)}\n".encode())
    for path, text in study.models.items():
        (place / "models" / path).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(place / "models" / path, text.encode())
    if all(record["status"] != "done" for record in study.results):
        return
    figures = []
    if study.learners:
        figures.append(("study", study_figure(study), CAPTION))
    if any(record.get("kl") is not None for record in study.planted):
        figures.append(("planted", planted_figure(study), PLANTED))
    for name, figure, _ in figures:
        for suffix in (".png", ".pdf", ".svg"):
            save(figure, place / f"{name}{suffix}")
    write_bytes(place / "study.html", _page(study, figures).encode())


def _page(study: Study, figures: Sequence[tuple[str, Figure, str]]) -> str:
    answer, *rest = study_parts(study)
    body = [as_html([answer])]
    for _, figure, caption in figures:
        picture = b64encode(encoded(figure, "svg")).decode()
        body.append(tag("img", src=f"data:image/svg+xml;base64,{picture}", alt=caption))
        body.append(tag("p", caption))
    body += [as_html(rest), scatter_html(study.results)]
    made = [("contextwise", version("contextwise")), ("Python", platform.python_version())]
    title = "Study of learners" if study.learners else "Study of planted errors"
    return page_html(title, "".join(body), made)


CAPTION = (
    "Share of all assertions in which what was learned differs from the truth: mean over data "
    "sets, with its standard error."
)


PLANTED = (
    "KL from the true to the fitted distribution, for structures with planted errors: mean over "
    "sets of weights."
)


@styled
def study_figure(study: Study) -> Figure:
    """Draw the mean distance of each learner against the number of rows."""
    figure = new_figure(1.5 * COLUMN, COLUMN)
    axes = figure.add_subplot()
    for k, learner in enumerate(study.learners):
        scores = [(size, study.score(learner, size)) for size in study.sizes]
        points = [(n, 100 * s.mean, 100 * (s.error or 0)) for n, s in scores if s]
        if points:
            x, y, error = zip(*points, strict=True)
            look: dict[str, Any] = {
                "color": SERIES[k % len(SERIES)],
                "marker": MARKERS[k % len(MARKERS)],
            }
            axes.errorbar(x, y, error, label=learner, markersize=4, linewidth=1, **look)
    ticker = require("matplotlib.ticker", "plots")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.FixedLocator(study.sizes))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda size, _: f"{size:,.0f}"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rows")
    axes.set_ylabel("wrong assertions, %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper")
    return figure


def study_parts(study: Study, *, top: int | None = None) -> list[Part]:
    """Return the answers, the means at each number of rows, and what did not finish."""
    planted = planted_parts(study) if study.planted else []
    return [*(_learner_parts(study) if study.learners else []), *planted]


def _learner_parts(study: Study) -> list[Part]:
    sizes = study.sizes
    columns: dict[str, Style] = {"learner": "name"}
    columns |= {f"{size:,} rows": "text" for size in sizes}
    most = f"at {sizes[-1]:,}"
    columns |= {f"FP {most}": "text", f"FN {most}": "text", "seconds": "score"}
    order = study.ranking(sizes[-1])
    order += [learner for learner in study.learners if learner not in order]
    rows = [_row(study, learner) for learner in order]
    title = "Wrong assertions: mean over data sets ± standard error"
    parts: list[Part] = [Note("finding", verdict(study)), table(title, columns, rows, "means")]
    parts += _strong_parts(study, order)
    parts += [Note("unfinished", text, warns=True) for text in _unfinished(study)]
    if any(record["rows_from"] != "exact" for record in study.results):
        chains = "Rows of truths beyond exact inference come from Gibbs chains."
        parts.append(Note("chains", chains, warns=True))
    return parts


def _strong_parts(study: Study, order: list[str]) -> list[Part]:
    """Return the means of what differs at each tolerance, with the most rows."""
    if not study.tolerances:
        return []
    size = study.sizes[-1]
    columns: dict[str, Style] = {"learner": "name"}
    columns |= {f"t = {tolerance}": "text" for tolerance in study.tolerances}
    rows: list[tuple[Cell, ...]] = []
    for learner in order:
        means = (study.mean_at(tolerance, learner, size) for tolerance in study.tolerances)
        rows.append((learner, *("–" if mean is None else _share(mean) for mean in means)))
    title = f"Wrong assertions at {size:,} rows if only dependences stronger than t count"
    return [table(title, columns, rows, "at")]


def verdict(study: Study) -> str:
    """Return the answer: which learner is nearest to the truths with the most rows."""
    size = study.sizes[-1]
    order = study.ranking(size)
    truths = plural(len(study.truths), "truth")
    learned = len(study.results) - len(study.planted)
    sets = plural(learned // len(study.learners) // len(study.sizes), "data set")
    where = f"at {size:,} rows (mean over {sets} of {truths})"
    if not order:
        return f"No learner finished on every data set {where}."
    shares = [f"{learner} in {_percent(study, learner, size)}" for learner in order]
    if len(order) == 1:
        return f"{shares[0].replace(' in', ' is wrong in', 1)} of all assertions {where}."
    _, error = study.difference(order[0], order[1], size)
    gap = study.difference(order[1], order[0], size)[0]
    known = error is not None and gap <= 2 * error
    tie = f" The difference of {order[0]} and {order[1]} is within its error." if known else ""
    rest = listed(shares[1:])
    return (
        f"{order[0]} is nearest to the truth: it is wrong in "
        f"{_percent(study, order[0], size)} of all assertions {where}, {rest}.{tie}"
    )


def _percent(study: Study, learner: str, size: int) -> str:
    score = study.score(learner, size)
    return "–" if score is None else _share(score.mean)


def _share(value: float) -> str:
    return percent(Fraction(value), 1)


def _row(study: Study, learner: str) -> list[Cell]:
    scores = [study.score(learner, size) for size in study.sizes]
    last = scores[-1]
    if last is None:
        return [learner, *map(_mean_text, scores), None, None, None]
    shares = (_share(last.fp_share), _share(last.fn_share))
    return [learner, *map(_mean_text, scores), *shares, round(last.seconds, 3)]


def _mean_text(score: Score | None) -> str:
    if score is None:
        return "–"
    error = "" if score.error is None else f" ± {100 * score.error:.1f}"
    return f"{100 * score.mean:.1f}{error} %"


def _unfinished(study: Study) -> list[str]:
    """Say which learners failed or were too slow, how often, and why the first time."""
    texts = []
    for learner in study.learners:
        records = [r for r in study.results if r["learner"] == learner]
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
