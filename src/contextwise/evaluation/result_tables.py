"""Tables of results: one row per run, with its truth, its group, and numbers.

That is how benchmarks keep what they found. `read_results` takes such a table from a CSV file and
gives, for each metric, every group's values over the truths; the runs of a group on one truth are
averaged. `contextwise.evaluation.replicates.summarize_values` makes ranks and intervals of them.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from math import inf, isfinite, nan
from statistics import fmean

from contextwise.errors import ParseError
from contextwise.evaluation.metrics import SMALLER_IS_BETTER
from contextwise.support import files

TRUTHS = ("truth", "true", "dataset", "data", "network")
GROUPS = ("group", "learner", "method", "algorithm", "model")
"""What columns are called that name the truth and the group, the likeliest first."""
SMALLER = SMALLER_IS_BETTER | {
    "normalized", "mean_pair_distance", "false_positive_rate", "false_negative_rate",
    "fp_share", "fn_share", "kl", "shd", "seconds",
}  # fmt: skip
LARGER = frozenset(
    {"mcc", "kappa", "skill", "f1", "precision", "recall", "accuracy", "jaccard", "tp", "tn"}
)

RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(SMALLER | LARGER, (0, inf)),
    **dict.fromkeys(
        (
            "normalized", "mean_pair_distance", "false_positive_rate", "false_negative_rate",
            "fp_share", "fn_share", "f1", "precision", "recall", "accuracy", "jaccard",
        ),
        (0, 1),
    ),
    "mcc": (-1, 1), "kappa": (-1, 1), "skill": (-inf, 1),
}  # fmt: skip
"""The least and the largest value of the metrics that are known here."""

Results = dict[str, dict[str, list[float | None]]]
"""For each metric and group one value per truth; None where no run has one."""


def read_results(
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str] = (),
    truth: str | None = None,
    group: str | None = None,
) -> Results:
    """The values of a table of results.

    Parameters
    ----------
    path : path
        A CSV file with a header, also packed as .gz.
    metrics : names of columns with numbers
        By default ``normalized``, or ``distance`` where there is none.
    truth, group : names of columns, optional
        Which truth and which group a row is of; by default columns with names such as ``truth``
        and ``group`` or ``learner``.

    Returns
    -------
    dict from metrics to dicts from groups to lists of values

    Raises
    ------
    ParseError
        If a column is missing, a cell is no number, or a group lacks a truth.
    """
    name = os.fspath(path)
    try:
        text = files.read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise ParseError("this is not UTF-8 text", path=name) from None
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        rows, header = list(reader), list(reader.fieldnames or ())
    except csv.Error as error:
        raise ParseError(f"this is no CSV file: {error}", path=name, line=reader.line_num) from None
    if not rows:
        raise ParseError("there are no rows of results", path=name)
    by = _column(header, truth, TRUTHS, name), _column(header, group, GROUPS, name)
    wanted = list(metrics) or [_column(header, None, ("normalized", "distance"), name)]
    return {
        metric: _values(rows, _column(header, metric, (), name), *by, name) for metric in wanted
    }


def _column(header: Sequence[str], given: str | None, likely: Sequence[str], path: str) -> str:
    wanted = likely if given is None else (given,)
    for column in wanted:
        if column in header:
            return column
    what = " or ".join(map(repr, wanted))
    columns = ", ".join(map(repr, header)) or "none"
    raise ParseError(f"there is no column {what}; there are {columns}", path=path, line=1)


def _values(
    rows: Sequence[Mapping[str, str | None]], metric: str, truth: str, group: str, path: str
) -> dict[str, list[float | None]]:
    """The values of one metric, group by group, in the order in which truths first come."""
    cells: dict[tuple[str, str], list[float]] = {}
    for line, row in enumerate(rows, 2):
        key = str(row[group]), str(row[truth])
        value = _number(row[metric], metric, path, line)
        cells.setdefault(key, []).extend([] if value is None else [value])
    groups, truths = (list(dict.fromkeys(key[k] for key in cells)) for k in (0, 1))
    for own in groups:
        missing = [one for one in truths if (own, one) not in cells]
        if missing:
            raise ParseError(
                f"the group {own!r} has no row for the truth {missing[0]!r}; ranks need every "
                "group on every truth",
                path=path,
            )
    return {
        own: [fmean(cells[own, one]) if cells[own, one] else None for one in truths]
        for own in groups
    }


def _number(text: str | None, metric: str, path: str, line: int) -> float | None:
    """The number of a cell; an empty one is not defined."""
    if text is None or not text.strip() or text.strip().lower() in ("nan", "na", "none"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value):
        raise ParseError(f"{metric} is a number, not {text!r}", path=path, line=line)
    return value
