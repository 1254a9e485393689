"""What the KL experiment shows, in numbers: effect sizes and rank correlations with intervals.

For each side (false positives, false negatives) and each number of rows, over the structures:

- **rank correlation** of the percentage of errors with KL-divergence: of the mean over parameter
  sets, with a 95 % interval, and the range over single parameter sets;
- **slope**: by how much mean KL grows per percent of errors (least squares), with a 95 % interval;
- **slope over spread**: KL's growth over all percentages, divided by the standard deviation of KL
  between parameter sets: below 1, the parameters drown the errors.

Intervals are percentile bootstrap intervals over structures, with a fixed seed. A rank correlation
can be high where the effect is negligible: every extra parameter costs about 1/(2N) in KL, false or
not. So conclusions are drawn from slopes, and the summary says where the two disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, require
from contextwise.report.text import WIDTH
from contextwise.support.formatting import columns

FloatArray = npt.NDArray[np.float64]
Interval = tuple[float, float]
BOOTSTRAPS = 1000
NAMES = {"fp": "false positives", "fn": "false negatives"}


@dataclass(frozen=True)
class Effect:
    """What one side shows at one number of rows."""

    side: str
    size: int
    structures: int
    lowest_kl: float
    highest_kl: float
    rank: float
    rank_interval: Interval
    single_ranks: Interval
    slope: float
    slope_interval: Interval
    slope_over_spread: float


@dataclass(frozen=True, eq=False)
class Means:
    """KL of each structure of one side at one size: mean and deviation over parameter sets."""

    percentage: FloatArray
    mean: FloatArray
    deviation: FloatArray
    single: FloatArray
    """Shape (parameter sets, structures)."""


def means(rows: Iterable[Mapping[str, Any]], side: str, size: int) -> Means:
    """KL of the structures of one side at one size, in the order of their errors.

    Parameters
    ----------
    rows : records of a run
    side : "fp" or "fn"
    size : the number of rows of the data
    """
    table: dict[int, dict[int, float]] = {}
    percentage: dict[int, float] = {}
    for row in rows:
        if row["side"] == side and row["size"] == size:
            table.setdefault(row["structure"], {})[row["parameters"]] = row["kl"]
            percentage[row["structure"]] = row["percentage"]
    if not table:
        raise ContextwiseError(f"the results have no {NAMES[side]} at {size} rows")
    order = sorted(table, key=lambda structure: (percentage[structure], structure))
    parameters = sorted(table[order[0]])
    single = np.array([[table[structure][p] for structure in order] for p in parameters])
    deviation = single.std(axis=0, ddof=1) if len(parameters) > 1 else np.zeros(len(order))
    return Means(
        np.array([percentage[structure] for structure in order]),
        single.mean(axis=0),
        deviation,
        single,
    )


def effects(rows: Iterable[Mapping[str, Any]]) -> list[Effect]:
    """The effect of each side at each size."""
    listed = list(rows)
    sizes = sorted({row["size"] for row in listed})
    sides = [side for side in NAMES if any(row["side"] == side for row in listed)]
    return [_effect(means(listed, side, size), side, size) for side in sides for size in sizes]


def _effect(found: Means, side: str, size: int) -> Effect:
    rng = np.random.default_rng(0)
    x, y = found.percentage, found.mean
    resampled = rng.integers(len(x), size=(BOOTSTRAPS, len(x)))
    slope = float(_slope(x, y))
    fifth = max(1, len(x) // 5)
    singles = [float(_rank(x, one)) for one in found.single]
    spread = float(found.deviation.mean())
    return Effect(
        side=side,
        size=size,
        structures=len(x),
        lowest_kl=float(y[:fifth].mean()),
        highest_kl=float(y[-fifth:].mean()),
        rank=float(_rank(x, y)),
        rank_interval=_interval(_rank(x[resampled], y[resampled])),
        single_ranks=(min(singles), max(singles)),
        slope=slope,
        slope_interval=_interval(_slope(x[resampled], y[resampled])),
        slope_over_spread=slope * float(x.max() - x.min()) / spread if spread else float("nan"),
    )


def _rank(x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman's rank correlation along the last axis; 0 where one side does not vary."""
    rankdata = require("scipy.stats", "distributions").rankdata
    a, b = (_centred(rankdata(values, axis=-1)) for values in (x, y))
    return _quotient((a * b).sum(axis=-1), np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1)))


def _slope(x: FloatArray, y: FloatArray) -> FloatArray:
    """The slope of the line through points along the last axis; 0 where x does not vary."""
    a = _centred(x)
    return _quotient((a * y).sum(axis=-1), (a * a).sum(axis=-1))


def _centred(values: FloatArray) -> FloatArray:
    found: FloatArray = values - values.mean(axis=-1, keepdims=True)
    return found


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """A quotient, or 0 where it would be one by 0."""
    found: FloatArray = np.divide(above, below, out=np.zeros_like(below), where=below > 0)
    return found


def _interval(values: FloatArray) -> Interval:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def summary_text(rows: Iterable[Mapping[str, Any]], *, markdown: bool = True) -> str:
    """The three conclusions of the paper, as numbers, and whether they hold as worded.

    Parameters
    ----------
    rows : records of a run
    markdown : bool
        With a title and the whole table, for a file; otherwise with a narrower table and in lines
        of its width, for a terminal.

    Returns
    -------
    str
    """
    found = effects(rows)
    sides = {side: {e.size: e for e in found if e.side == side} for side in NAMES}
    title = ["# KL-divergence against the metric", ""]
    lines = [*title, *_markdown(found), ""] if markdown else [_table(found), ""]
    lines += ["KL is in nats; intervals are 95 % bootstrap intervals over structures.", ""]
    said = _conclusions(sides["fp"], sides["fn"])
    lines += said if markdown else map(_terminal_line, said)
    return "\n".join(lines) + "\n"


def _conclusions(fp: Mapping[int, Effect], fn: Mapping[int, Effect]) -> list[str]:
    """What the paper concludes of each side, as far as there are results of it, in Markdown."""
    lines = _follows(fn) if fn else []
    if fp:
        lines += _blind(fp, fn)
    if fp and fn and len(fp) > 1:
        lines += _with_data(fp, fn)
    return lines


def _terminal_line(line: str) -> str:
    return fill(line.replace("**", ""), WIDTH, subsequent_indent="   ", break_on_hyphens=False)


def _markdown(found: list[Effect]) -> list[str]:
    head = (
        "| errors | rows | structures | KL, fewest errors | KL, most errors | rank correlation "
        "| single parameter sets | KL per 1 % of errors | growth / spread |"
    )
    return [
        head,
        "|---" * 9 + "|",
        *(
            f"| {NAMES[e.side]} | {e.size:,} | {e.structures} | {e.lowest_kl:.4g} | "
            f"{e.highest_kl:.4g} | {e.rank:.2f} ({_range(e.rank_interval, '.2f')}) | "
            f"{_range(e.single_ranks, '.2f')} | {e.slope:.2g} "
            f"({_range(e.slope_interval, '.2g')}) | {e.slope_over_spread:.2g} |"
            for e in found
        ),
    ]


def _table(found: list[Effect]) -> str:
    """What fits a terminal; the rest is in the file."""
    head = ("errors", "rows", "KL, fewest", "and most", "rank correlation", "KL per 1 %")
    rows = [
        (
            NAMES[e.side],
            f"{e.size:,}",
            f"{e.lowest_kl:.4g}",
            f"{e.highest_kl:.4g}",
            f"{e.rank:.2f} ({_range(e.rank_interval, '.2f')})",
            f"{e.slope:.2g} ({_range(e.slope_interval, '.2g')})",
        )
        for e in found
    ]
    return columns([head, *rows], "<>>>>>")


def _range(interval: Interval, form: str) -> str:
    return f"{interval[0]:{form}} to {interval[1]:{form}}"


def _follows(fn: Mapping[int, Effect]) -> list[str]:
    weakest = min(fn.values(), key=lambda e: e.rank)
    unclear = [e for e in fn.values() if e.slope_interval[0] <= 0]
    verdict, why = "KL follows false negatives", ""
    if any(e.slope_interval[1] <= 0 for e in unclear):
        verdict = "KL does not always follow false negatives"
    elif unclear:
        verdict = "It is not clear that KL follows false negatives"
        where = " and ".join(f"{e.structures} structures at {e.size:,}" for e in unclear)
        why = f" With {where} rows, the interval of KL per percent of errors reaches 0."
    return [
        f"1. **{verdict}.**{why} The weakest rank correlation is {weakest.rank:.2f} "
        f"(at {weakest.size:,} rows); KL per percent of errors is "
        + ", ".join(f"{e.slope:.2g} at {size:,}" for size, e in fn.items())
        + " rows.",
    ]


def _blind(fp: Mapping[int, Effect], fn: Mapping[int, Effect]) -> list[str]:
    ratios = {size: fn[size].slope / e.slope for size, e in fp.items() if size in fn and e.slope}
    correlated = [e for e in fp.values() if e.rank_interval[0] > 0.3]
    lines = [
        "2. **KL and false positives.** KL per percent of errors is "
        + ", ".join(f"{e.slope:.2g} at {size:,}" for size, e in fp.items())
        + " rows"
        + (
            "; the slope for false negatives is "
            + ", ".join(f"{ratio:.3g} times that at {size:,}" for size, ratio in ratios.items())
            + " rows."
            if ratios
            else "."
        )
    ]
    if correlated:
        lines.append(
            "   The paper words this as the absence of a correlation. That does not come out here: "
            "the rank correlation is "
            + ", ".join(f"{e.rank:.2f} at {e.size:,}" for e in correlated)
            + " rows, because every extra parameter costs a little. What does come out is that the "
            "effect is small."
        )
    else:
        lines.append("   No rank correlation with false positives is clearly above 0.3.")
    return lines


def _with_data(fp: Mapping[int, Effect], fn: Mapping[int, Effect]) -> list[str]:
    small, large = min(fp), max(fp)
    kept = {
        side: effects[large].slope / effects[small].slope
        for side, effects in (("false positives", fp), ("false negatives", fn))
        if effects[small].slope
    }
    head = f"3. **More data.** From {small:,} to {large:,} rows"
    if kept.get("false positives", 1) >= kept.get("false negatives", 0):
        return [f"{head} the two sides do not come apart here."]
    shares = " and to ".join(f"{share:.2g} of itself for {side}" for side, share in kept.items())
    return [
        f"{head}, KL per percent of errors goes to {shares}: parameters come to make up for false "
        "positives, and never for false negatives."
    ]
