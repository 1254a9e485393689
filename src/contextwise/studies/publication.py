"""From the results of a run to what people read: a table, a summary, and the figures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextwise.errors import require
from contextwise.report.plots.plot_models import plot_scatter
from contextwise.report.plots.style import COLUMN, new_figure, save_png_and_svg, styled
from contextwise.studies.summary import summary_text
from contextwise.support.files import write_bytes
from contextwise.support.records import as_csv
from contextwise.support.store import read_records

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def publish(folder: str | os.PathLike[str]) -> str:
    """Write ``results.csv``, ``summary.md`` and the figures beside the results.

    There is one figure per number of rows: ``kl-50.png`` and ``kl-50.svg``, and so on.

    Parameters
    ----------
    folder : path of the run

    Returns
    -------
    str
        The summary, for a terminal.
    """
    place = Path(folder)
    rows = read_records(place)
    write_bytes(place / "results.csv", as_csv(rows).encode())
    write_bytes(place / "summary.md", summary_text(rows).encode())
    for size in sorted({row["size"] for row in rows}):
        save_png_and_svg(kl_figure(rows, size), place, f"kl-{size}")
    return summary_text(rows, markdown=False)


@styled
def kl_figure(rows: Sequence[Mapping[str, Any]], size: int) -> Figure:
    """KL-divergence against the percentage of errors: false positives above, negatives below.

    Both halves have the same scale, so that what KL is blind to looks flat.
    """
    table = require("pandas", "studies").DataFrame(rows)
    figure = new_figure(COLUMN, 1.4 * COLUMN)
    above, below = figure.subplots(2, 1, sharex=True, sharey=True)
    plot_scatter(table, size=size, sides=("fp",), axes=above)
    plot_scatter(table, size=size, sides=("fn",), axes=below)
    above.set_xlabel("")
    below.set_title("")
    return figure
