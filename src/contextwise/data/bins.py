"""Cut numbers into bins: read where to cut, cut, and name the states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from contextwise.data.notation import numbers_of
from contextwise.data.options import find_values
from contextwise.data.table import Column, label_of
from contextwise.errors import DomainError
from contextwise.support.arrays import IntArray

MISSING_STATE = "missing"
MOST_BINS = 1_000

Bins = int | tuple[float, ...]
"""A number of bins, or the upper edges of all but the last."""


def parse_bins(text: str) -> Bins:
    """Read a number of bins, ``4``, or the points where to cut, ``20|30``."""
    if "|" in text:
        parts = [part.strip() for part in text.removesuffix("|").split("|")]  # 20| is one point
        edges = tuple(numbers_of(parts).tolist())
        if not np.isnan(edges).any() and all(low < high for low, high in pairwise(edges)):
            return edges
    elif re.fullmatch(r"\d{1,9}", text) and 2 <= int(text) <= MOST_BINS:
        return int(text)
    raise DomainError(
        f"bins must be a number from 2 to {MOST_BINS:,}, as in age=4, or points where to cut, as "
        f"in age=20|30; got {text!r}"
    )


def read_bins(texts: Sequence[str], names: Sequence[str]) -> tuple[Bins | None, dict[str, Bins]]:
    """Read the bins of all columns, and those of single ones."""
    of_all: Bins | None = None
    of_one: dict[str, Bins] = {}
    for name, text in find_values(texts, names, "bins"):
        if (name is None and of_one and not of_all) or name in of_one:
            raise DomainError(
                f"bins: cannot read {','.join(texts)!r}; write age=4,weight=3 for numbers of bins, "
                "or age=20|30 for points where to cut"
            )
        if name is None:
            of_all = parse_bins(text)
        else:
            of_one[name] = parse_bins(text)
    return of_all, of_one


def cut_text(bins: Bins) -> str:
    if isinstance(bins, int):
        return f"cut into {bins} bins"
    return f"cut at {', '.join(map(label_of, bins))}"


_BIN = re.compile(r"(?:up to|.+ to) (\S+)|above (\S+)")


def edges_note(name: str, edges: Sequence[float]) -> str:
    """Say where a column was cut."""
    if not edges:
        return f"{name!r} has one bin: most of its values are equal"
    bins = f"{len(edges) + 1} bins"
    return f"{name!r} cut at {', '.join(map(label_of, edges))} into {bins} (--bins)"


def binned(column: Column, bins: Bins, counts: IntArray | None) -> tuple[Column, list[float]]:
    """Cut numbers at points, or into bins with equally many observations; return upper edges."""
    edges = list(bins) if isinstance(bins, tuple) else _even_edges(column, bins, counts)
    states = bin_labels(edges, bool((column.numbers % 1 == 0).all()))
    places = np.searchsorted(edges, column.numbers)
    labels = [states[k] for k in places.tolist()]
    return replace(column.mapped(labels), declared=tuple(states)), edges


def _even_edges(column: Column, bins: int, counts: IntArray | None) -> list[float]:
    """Return upper edges of bins with about equally many observations."""
    present = column.codes >= 0
    weights = np.bincount(
        column.codes[present],
        None if counts is None else counts[present],
        minlength=len(column.labels),
    )
    order = np.argsort(column.numbers)
    values, running = column.numbers[order], np.cumsum(weights[order])
    wanted = running[-1] * np.arange(1, bins) / bins
    # Rounding must not move an edge to the next value.
    places = np.unique(np.searchsorted(running, wanted * (1 - 1e-12)))
    # An edge above the largest value would make an empty bin.
    places = places[places < len(values) - 1]
    return [_short_edge(values[k], values[k + 1]) for k in places.tolist()]


def _short_edge(value: float, following: float) -> float:
    """Return the shortest decimal number from a value to just below the next one."""
    if value % 1 == 0:
        return float(value)
    for digits in range(1, 17):
        edge = float(f"{value:.{digits}g}")
        if value <= edge < following:
            return edge
    return float(value)


def bin_labels(edges: Sequence[float], whole: bool) -> list[str]:
    """Return the labels of bins: ``up to 25``, ``26 to 40``, ``above 40``."""
    if not edges:
        return ["all"]
    inner = [
        f"{label_of(low // 1 + 1 if whole else low)} to {label_of(high)}"
        for low, high in pairwise(edges)
    ]
    return [f"up to {label_of(edges[0])}", *inner, f"above {label_of(edges[-1])}"]


def upper_edges(states: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return the upper edges of states that are bins, else None."""
    matches = [_BIN.fullmatch(state) for state in states if state != MISSING_STATE]
    if len(matches) < 2 or not all(matches):
        return None
    edges = numbers_of([match[1] or "" for match in matches[:-1] if match])
    last = matches[-1]
    is_last = last is not None and last[2] is not None
    return edges if is_last and not np.isnan(edges).any() and (np.diff(edges) > 0).all() else None
