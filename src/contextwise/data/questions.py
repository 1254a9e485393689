"""Ask about the values of a column whose kind is known: `PROBLEMS` must be solved, `NOTES` may be.

Each is a function of the column's `Profile`, tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from unicodedata import normalize

import numpy as np

from contextwise.data.kinds import FEW_FRACTIONS, MOST_FRACTIONS, MOST_LABELS, Problem, Profile
from contextwise.data.notation import readings
from contextwise.data.table import Column, Note, label_of
from contextwise.data.text import DOUBTFUL
from contextwise.support.formatting import plural

SURE_TOTALS = frozenset(
    ("total", "totals", "grand total", "subtotal", "sum", "gesamt", "insgesamt", "summe", "somme")
)
TOTALS = SURE_TOTALS | {"all", "overall", "both", "both sexes", "all ages", "alle", "todos"}
"""States of rows that add up others: always, or if the counts say so."""
_TRUTH: dict[object, float] = {"true": 1.0, "false": 0.0}
_WHOLE_WITH_ZERO = re.compile(r"-?(0|[1-9]\d{0,14})\.0")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def two_readings(p: Profile) -> Iterator[Problem]:
    """Ask for the decimal sign if sizes or the order of states depend on it."""
    if p.column.is_unclear and p.column.is_numeric and p.column.declared is None:
        _, point, comma = readings(p.column.labels)
        if p.kind == "measurement" or (np.argsort(point) != np.argsort(comma)).any():
            reason, *remedies = unclear_decimals(p.column)
            yield reason, tuple(remedies)


def totals(p: Profile) -> Iterator[Problem]:
    """Ask about rows that add up others, such as a last row ``Total``."""
    if p.insisted or p.cut or p.column.declared is not None:
        return
    for k, label in enumerate(p.column.labels):
        word = label.casefold().strip(" ():")
        if word not in TOTALS:
            continue
        inside = p.column.codes == k
        if p.counts is None:
            adds_up = int(inside.sum()) == 1 and bool(inside[-1])
        else:
            adds_up = word in SURE_TOTALS or 2 * p.counts[inside].sum() == p.counts.sum()
        if adds_up:
            remedies = ("na", f"{p.name}={label}"), ("category", p.name)
            yield f"rows with {label!r} add up the others", remedies


def missing_values(p: Profile) -> Iterator[Problem]:
    """Ask what to do about missing values."""
    missing = p.column.missing
    if missing and p.asks_about_missing:
        tokens = [token or "empty" for token in p.tokens] or ["empty"]
        row = int(np.argmax(p.column.codes < 0))
        place = f"row {row}" if p.lines is None else f"line {p.lines[row]}"
        first = "" if missing == 1 else "first "
        reason = f"{plural(missing, 'missing value')} ({', '.join(tokens[:4])}; {first}{place})"
        yield reason, (("missing", "drop"), ("missing", "state"))


def unclear_decimals(column: Column) -> tuple[str, tuple[str, str], tuple[str, str]]:
    """Return both readings of a column's numbers, thousands first, and the options for them."""
    label, point, comma = readings(column.labels)
    k = column.labels.index(label)
    ways = sorted((("point", point[k]), ("comma", comma[k])), key=lambda way: -abs(way[1]))
    (_, large), (_, small) = ways
    first, second = (("decimal", f"{column.name}={word}") for word, _ in ways)
    return f"{label} may be {label_of(large)} or {label_of(small)}", first, second


PROBLEMS: tuple[Callable[[Profile], Iterator[Problem]], ...] = (
    two_readings,
    totals,
    missing_values,
)
"""The problems of categories and measurements."""


def are_many_states(p: Profile) -> bool:
    """Check for numbers that are states, but might be measurements."""
    most = FEW_FRACTIONS if p.column.has_fractions else MOST_FRACTIONS
    decided = p.is_array or p.cut or p.insisted
    return p.column.is_numeric and p.values > most and not decided


def spellings(p: Profile) -> Iterator[Note]:
    """Name states that differ only in case, blanks, invisible signs, or notation."""
    labels = p.column.labels
    if p.cut or len(labels) > MOST_LABELS:
        return
    same = next((x for x in labels if _WHOLE_WITH_ZERO.fullmatch(x) and x[:-2] in labels), None)
    if same:
        text = f"{same[:-2]!r} and {same!r} are one state of {p.name!r}"
        yield Note(text, "decision", p.name)
    meanings: dict[object, list[str]] = {}
    for label, number in zip(labels, p.column.numbers.tolist(), strict=True):
        is_exact = abs(number) < 2**53  # False for NaN, the number of a text
        visible = _INVISIBLE.sub("", normalize("NFKC", label))
        meaning = number if is_exact else " ".join(visible.casefold().split())
        plain = label[:-2] if _WHOLE_WITH_ZERO.fullmatch(label) else label
        alike = meanings.setdefault(_TRUTH.get(meaning, meaning), [])
        if plain not in alike:
            alike.append(plain)
    for twins in meanings.values():
        if len(twins) > 1:
            text = (
                f"{' and '.join(map(repr, twins[:3]))} are different states of {p.name!r}; if they "
                "mean the same, write them alike in the file"
            )
            yield Note(text, "decision", p.name)


def doubtful_states(p: Profile) -> Iterator[Note]:
    """Name states such as ``-`` and ``None``."""
    doubtful = DOUBTFUL.intersection(p.column.labels) - set(p.column.declared or ())
    for token in () if p.column.is_numeric else sorted(doubtful):
        option = f"--na {p.name}={token}"
        text = f"{token!r} is a state of {p.name!r}; {option} if it stands for a missing value"
        yield Note(text, "question", p.name, option)


def odd_codes(p: Profile) -> Iterator[Note]:
    """Name a largest or smallest number such as 99 or -9 that is far from the others."""
    column, order = p.column, np.argsort(p.column.numbers)
    if not column.is_numeric or len(order) < 3:
        return
    for at, beside in ((order[-1], order[-2]), (order[0], order[1])):
        code = column.labels[at]
        if not re.fullmatch(r"-?(9+|8+|7+)", code):
            continue
        nearest, value = float(column.numbers[beside]), float(column.numbers[at])
        small = float(column.numbers[order[0] if value > 0 else order[-1]])
        if (value < 0 <= nearest) or (value >= 9 and small >= 0 and 1.5 * nearest < value):
            option = f"--na {p.name}={code}"
            text = (
                f"{code} occurs {plural(int(column.counts[at]), 'time')} in {p.name!r} next to "
                f"{label_of(min(nearest, small))} to {label_of(max(nearest, small))}; {option} "
                "if it stands for a missing value"
            )
            yield Note(text, "question", p.name, option)


NOTES: tuple[Callable[[Profile], Iterator[Note]], ...] = (spellings, odd_codes, doubtful_states)
"""The questions about categories and measurements that are asked in notes."""
