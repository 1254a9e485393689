"""Rows as the tests of pairs use them: distinct rows with counts, and what is ordered.

Rows that agree in everything (states, weight, subject) are one row with a count, so a table of
counts and the same rows one by one give the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from contextwise.data.bins import MISSING_STATE
from contextwise.data.rows import Data
from contextwise.errors import DomainError
from contextwise.evidence.pair_records import Folded
from contextwise.models.domain import Domain
from contextwise.models.notation import quoted
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.formatting import listed

MOST_STATES = 20
"""Of a variable with more states, the rarest become one, and neighbours of ordered ones merge."""
SHARED_CODES = 3
"""Columns with the same consecutive codes that make them a questionnaire, and so ordered."""
OTHER = "other"


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Distinct rows of coded states; ``counts`` has the number of times each occurs.

    ``weights`` are survey weights with mean 1 over the observations. ``clusters`` numbers the
    subjects. ``ordered`` marks the variables whose codes are scores.
    """

    codes: IntArray
    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    ordered: BoolArray
    counts: FloatArray
    weights: FloatArray
    clusters: IntArray | None = None

    @cached_property
    def total(self) -> float:
        """The number of observations."""
        return float(self.counts.sum())

    @cached_property
    def mass(self) -> FloatArray:
        """Count times weight of each row."""
        return self.counts * self.weights

    @cached_property
    def cards(self) -> IntArray:
        """The number of states of each variable."""
        return np.array([len(states) for states in self.states], dtype=np.int64)

    @cached_property
    def is_simple(self) -> bool:
        """True if rows are independent observations that count alike."""
        return self.clusters is None and bool(np.ptp(self.weights) < 1e-9)

    def is_score(self, variable: int) -> bool:
        """True if the order of the states matters: there are at least three."""
        return bool(self.ordered[variable]) and self.cards[variable] > 2

    def only(self, variables: Sequence[int]) -> CodedRows:
        """Return the rows with some of the variables, equal rows merged."""
        kept = list(variables)
        part = replace(
            self,
            codes=self.codes[:, kept],
            names=tuple(self.names[v] for v in kept),
            states=tuple(self.states[v] for v in kept),
            ordered=self.ordered[kept],
        )
        return part.merged()

    def where(self, inside: BoolArray) -> CodedRows:
        """Return some of the rows, without states that do not occur there."""
        clusters = None if self.clusters is None else _numbered(self.clusters[inside])
        part = replace(
            self,
            codes=self.codes[inside],
            counts=self.counts[inside],
            weights=self.weights[inside],
            clusters=clusters,
        )
        return part._without_empty_states()

    def _without_empty_states(self) -> CodedRows:
        codes, states = self.codes.copy(), []
        for v, labels in enumerate(self.states):
            used, codes[:, v] = np.unique(self.codes[:, v], return_inverse=True)
            states.append(tuple(labels[k] for k in used.tolist()))
        return replace(self, codes=codes, states=tuple(states))

    def merged(self) -> CodedRows:
        """Merge rows that agree in everything, in the order of their codes."""
        keys = [self.codes]
        if np.ptp(self.weights) > 1e-12:
            keys.append(_numbered(self.weights)[:, None])
        if self.clusters is not None:
            keys.append(self.clusters[:, None])
        distinct, first, inverse = _distinct(np.concatenate(keys, axis=1))
        counts = np.bincount(inverse, self.counts, minlength=len(distinct)).astype(np.float64)
        clusters = None if self.clusters is None else self.clusters[first]
        return replace(
            self,
            codes=np.ascontiguousarray(distinct[:, : self.codes.shape[1]]),
            counts=counts,
            weights=self.weights[first],
            clusters=clusters,
        )


def _numbered(values: FloatArray | IntArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _distinct(rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return distinct rows in lexicographic order, the first place and the number of each row."""
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return ordered[new], order[new], inverse


# -- from data -------------------------------------------------------------------------------------


class Coding(NamedTuple):
    """Coded rows, and what was decided about the variables."""

    rows: CodedRows
    ordered: tuple[tuple[str, str], ...]
    maybe_ordered: tuple[str, ...]
    folded: tuple[Folded, ...]
    constant: tuple[str, ...]


def code_rows(
    data: Data, weights: FloatArray | None = None, asked: Sequence[str] = (), outcome: str = ""
) -> Coding:
    """Code the rows of data: decide what is ordered, fold many states, merge equal rows."""
    reasons, orders = ordered_variables(data.domain, asked, data)
    counts = data.weights.astype(np.float64)
    used = counts > 0
    weights = np.ones(len(counts)) if weights is None else checked_weights(weights, data)
    used &= weights > 0
    total = float((counts * weights)[used].sum())
    rows = CodedRows(
        data.rows[used],
        data.domain.names,
        data.domain.states,
        np.array([name in reasons for name in data.domain.names], dtype=bool),
        counts[used],
        weights[used] * (counts[used].sum() / total),
        None if data.subjects is None else _numbered(data.subjects[used]),
    )
    rows = _reordered(rows, orders)._without_empty_states()
    constant = tuple(n for n, s in zip(rows.names, rows.states, strict=True) if len(s) < 2)
    rows, folded = _folded(rows.only([v for v, s in enumerate(rows.states) if len(s) > 1]))
    maybe = [
        name
        for name, states in zip(rows.names, rows.states, strict=True)
        if name not in reasons and len(states) > 2 and _all_numbers(states)
    ]
    known = tuple((name, reasons[name]) for name in rows.names if name in reasons)
    return Coding(rows.merged(), known, tuple(maybe), folded, constant)


def checked_weights(weights: FloatArray, data: Data) -> FloatArray:
    """Return survey weights as floats, or raise."""
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (len(data.rows),):
        raise DomainError(f"weights: {values.shape[0]} weights for {len(data.rows)} rows")
    bad = ~np.isfinite(values)
    if bad.any():
        raise DomainError(
            f"{int(bad.sum())} rows have no weight; drop these rows or fill in their weight"
        )
    if (values < 0).any():
        row = int(np.flatnonzero(values < 0)[0])
        raise DomainError(
            f"row {row} has the weight {values[row]:g}; weights must be >= 0, so correct it or "
            "choose another column of weights"
        )
    if not values.any():
        raise DomainError("all weights are 0; choose another column of weights, or none")
    return values


def _reordered(rows: CodedRows, orders: dict[str, tuple[str, ...]]) -> CodedRows:
    """Put the states of some variables into the order that was asked for."""
    codes, states = rows.codes.copy(), list(rows.states)
    for v, name in enumerate(rows.names):
        if name in orders:
            place = np.array([orders[name].index(state) for state in rows.states[v]])
            codes[:, v], states[v] = place[rows.codes[:, v]], orders[name]
    return replace(rows, codes=codes, states=tuple(states))


def _folded(rows: CodedRows) -> tuple[CodedRows, tuple[Folded, ...]]:
    """Leave at most `MOST_STATES` states and "other" of each variable."""
    folded = []
    for v, labels in enumerate(rows.states):
        if len(labels) > MOST_STATES + 1:
            rows = folded_to(rows, v, MOST_STATES + 1)
            folded.append(Folded(rows.names[v], len(labels), len(rows.states[v])))
    return rows, tuple(folded)


def folded_to(rows: CodedRows, v: int, most: int) -> CodedRows:
    """Leave at most ``most`` states of a variable: the rarest are one, ordered neighbours merge."""
    labels = rows.states[v]
    if len(labels) <= most:
        return rows
    counts = np.bincount(rows.codes[:, v], rows.counts, minlength=len(labels))
    if rows.ordered[v]:
        middle = (np.cumsum(counts) - counts / 2) / counts.sum()
        place = _numbered(np.floor(middle * most))
        parts = [np.flatnonzero(place == k) for k in range(place.max() + 1)]
        states = tuple(
            labels[p[0]] if len(p) == 1 else f"{labels[p[0]]} to {labels[p[-1]]}" for p in parts
        )
    else:
        kept = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
        place = np.full(len(labels), most - 1)
        place[kept] = np.arange(most - 1)
        other = OTHER if OTHER not in labels else "all others"
        states = (*(labels[k] for k in kept.tolist()), other)
    codes = rows.codes.copy()
    codes[:, v] = place[codes[:, v]]
    return replace(rows, codes=codes, states=(*rows.states[:v], states, *rows.states[v + 1 :]))


# -- what is ordered -------------------------------------------------------------------------------


def _all_numbers(states: Sequence[str]) -> bool:
    return all(re.fullmatch(r"-?\d+(\.\d+)?", state) for state in states)


def _consecutive(states: Sequence[str]) -> tuple[int, ...] | None:
    """Return the codes of four or more states that are consecutive whole numbers, else None."""
    if len(states) < 4 or not all(re.fullmatch(r"-?\d+", state) for state in states):
        return None
    codes = tuple(map(int, states))
    return codes if codes == tuple(range(codes[0], codes[0] + len(codes))) else None


def ordered_variables(
    domain: Domain, asked: Sequence[str] = (), data: Data | None = None
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return why variables are ordered, and the order of states that was asked for.

    Ordered are declared ordered categories, bins, and numbers of a questionnaire: at least three
    columns with the same four or more consecutive codes. A state for missing values has no place
    in an order.

    >>> ordered_variables(Domain({"q1": ["1", "2", "3", "4"], "race": ["1", "2", "3"]}), ["race"])
    ({'race': 'asked for'}, {})
    """
    decisions = {} if data is None else data.decisions
    declared, binned = (set(decisions.get(key) or ()) for key in ("in_order", "bins"))
    reasons: dict[str, str] = {}
    shared: dict[tuple[int, ...], list[str]] = {}
    for name, states in zip(domain.names, domain.states, strict=True):
        if MISSING_STATE in states or len(states) < 3:
            continue
        if name in declared:
            reasons[name] = "declared"
        elif name in binned or states[0].startswith("up to "):
            reasons[name] = "bins"
        elif codes := _consecutive(states):
            shared.setdefault(codes, []).append(name)
    for names in shared.values():
        if len(names) >= SHARED_CODES:
            reasons |= dict.fromkeys(names, f"same codes as {len(names) - 1} columns")
    orders: dict[str, tuple[str, ...]] = {}
    for text in asked:
        name, states = _asked(domain, text)
        reasons[name] = "asked for"
        if states:
            orders[name] = states
    return reasons, orders


def numeric_order(states: Sequence[str]) -> list[int] | None:
    """Sort states by the first number of each; None if a state has none, or for bins.

    >>> numeric_order(["65+", "20-24", "<20"]), numeric_order(["up to 3", "3 to 5", "above 5"])
    ([2, 1, 0], None)
    """
    numbers = [re.search(r"(?<!\w)-?\d+(\.\d+)?|\d+(\.\d+)?", state) for state in states]
    if not all(numbers) or states[0].startswith("up to "):
        return None

    def place(k: int) -> tuple[float, int]:
        match = numbers[k]
        assert match is not None
        sign = states[k].strip()[:1]
        return float(match[0]), -1 if sign in "<≤" else 1 if sign in ">≥" else 0

    return sorted(range(len(states)), key=place)


def _asked(domain: Domain, text: str) -> tuple[str, tuple[str, ...]]:
    """Return the variable and the order of states of ``pain`` or ``pain=none|mild|strong``."""
    name, _, order = (text, "", "") if text in domain.positions else text.partition("=")
    known = domain.states[domain.position(name)]
    if len(known) < 3:
        raise DomainError(
            f"{quoted(name)} has {len(known)} states, so an order changes nothing; leave out "
            f"--ordered {quoted(name)}"
        )
    if order:
        states = tuple(order.split("|"))
        if sorted(states) != sorted(known):
            raise DomainError(
                f"--ordered {text}: list each state of {quoted(name)} once: {'|'.join(known)}"
            )
        return name, states
    if known[0].startswith("up to "):
        return name, ()
    clear = all(re.match(r"[<≤>≥]?\s*-?\d", state) for state in known)
    order_of = numeric_order(known) if clear else None
    if order_of is None:
        raise DomainError(
            f"the order of {listed(list(known))} is not clear; give it: --ordered "
            f"'{name}={'|'.join(known)}' with the states from lowest to highest"
        )
    states = tuple(known[k] for k in order_of)
    return name, () if states == known else states
