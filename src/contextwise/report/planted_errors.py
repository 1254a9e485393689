"""Show a study of planted errors: what a percent of errors costs, as sentences, table, figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.report.parts import Cell, Note, Part, Style, table
from contextwise.report.plots.of_guesses import SERIES
from contextwise.report.plots.style import COLUMN, new_figure, styled
from contextwise.studies.planted import LABELS, effects, percentage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contextwise.studies.learner_study import Study

HEADS: dict[str, Style] = {
    "truth": "name",
    "errors": "name",
    "rows": "count",
    "KL, fewest errors": "text",
    "KL, most errors": "text",
    "rank correlation": "text",
    "KL per 1 %": "text",
}


def planted_parts(study: Study) -> list[Part]:
    """Return the answer and the table of the effects of planted errors on KL."""
    if all(record.get("kl") is None for record in study.planted):
        text = "Structures with planted errors are in results.csv; --kl relates errors and KL."
        return [Note("planted", text)]
    found = effects(study.planted)
    note = "KL is in nats; intervals are 95 % bootstrap intervals over structures."
    return [
        Note("planted", conclusion(found)),
        table("Planted errors and KL", HEADS, [_row(effect) for effect in found], "planted"),
        Note("intervals", note),
    ]


def conclusion(found: Sequence[dict[str, Any]]) -> str:
    """Say what a percent of errors of each kind costs at the largest number of rows."""
    sentences = []
    for truth in dict.fromkeys(effect["truth"] for effect in found):
        rows = max(effect["rows"] for effect in found if effect["truth"] == truth)
        fp, fn = (
            next(e for e in found if (e["truth"], e["errors"], e["rows"]) == (truth, label, rows))
            for label in LABELS.values()
        )
        sentences.append(
            f"{truth}, {rows:,} rows: a percent of false positives costs {fp['slope']:.2g} nats of "
            f"KL, a percent of false negatives {fn['slope']:.2g}; the rank correlations are "
            f"{fp['rank']:.2f} and {fn['rank']:.2f}."
        )
    return " ".join(sentences)


def _row(effect: dict[str, Any]) -> list[Cell]:
    rank = "{rank:.2f} ({rank_low:.2f} to {rank_high:.2f})".format(**effect)
    slope = "{slope:.2g} ({slope_low:.2g} to {slope_high:.2g})".format(**effect)
    ends = [f"{effect['fewest']:.4g}", f"{effect['most']:.4g}"]
    return [effect["truth"], effect["errors"], effect["rows"], *ends, rank, slope]


@styled
def planted_figure(study: Study) -> Figure:
    """Plot KL against the percentage of errors: a row for each kind, a column for each size."""
    records = [record for record in study.planted if record.get("kl") is not None]
    truths = list(dict.fromkeys(record["truth"] for record in records))
    sizes = sorted({record["rows"] for record in records})
    figure = new_figure(0.9 * COLUMN * max(1.5, len(sizes) / 2), 1.4 * COLUMN)
    grid = figure.subplots(2, len(sizes), sharex=True, sharey="row", squeeze=False)
    for axes_of_side, label in zip(grid, LABELS.values(), strict=True):
        for axes, size in zip(axes_of_side, sizes, strict=True):
            for k, truth in enumerate(truths):
                points = _points(records, truth, label, size)
                axes.plot(*points, ".", markersize=2, color=SERIES[k % len(SERIES)], label=truth)
            axes.set_title(f"{size:,} rows" if label == LABELS["fp"] else "")
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
        axes_of_side[0].set_ylabel(f"KL, {label}")
    figure.supxlabel("errors, in percent of all possible ones", fontsize="medium")
    if len(truths) > 1:
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper")
    return figure


def _points(records: Sequence[dict[str, Any]], truth: str, label: str, size: int) -> Any:
    """Return percentages and means of KL over sets of weights and repeats."""
    groups: dict[int, list[tuple[float, float]]] = {}
    for record in records:
        if (record["truth"], record["learner"], record["rows"]) == (truth, label, size):
            point = percentage(record), record["kl"]
            groups.setdefault(record["structure"], []).append(point)
    return np.array([np.mean(points, axis=0) for points in groups.values()]).T
