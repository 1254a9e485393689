"""Read numbers as people write them: decimal signs, thousands, currencies and percent signs.

``2.674`` may be a decimal number or 2674. `decimal_sign` decides by the other values of a column:
``1.75`` can only have a decimal point, ``1.234.567`` only points between thousands. If no value
decides, the column is unclear, and the user must decide: see ``Column.is_unclear``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from contextwise.support.arrays import FloatArray

POINT, COMMA = ".", ","
SIGNS = {"point": POINT, "comma": COMMA, ".": POINT, ",": COMMA}
"""The decimal signs by the words of ``--decimal``."""
UNCLEAR = "?"
"""Returned for columns whose numbers have two readings."""
_UNITS = "$€£%"
_BLANKS = " '\u2019\u00a0\u2009\u202f"
"""Signs between thousands that are never decimal signs."""
_STARTS = "0123456789+-.,"
_MINUS = str.maketrans({"\u2212": "-"})


_LONG = 300
"""More digits are a text."""


class Written(str):
    """The text of a cell that was a number already, so its point is a decimal point."""

    __slots__ = ()


def _grouped(decimal: str) -> re.Pattern[str]:
    signs = (re.escape(COMMA if decimal == POINT else POINT), f"[{_BLANKS}]")
    groups = "|".join(rf"({sign}\d{{3}})+" for sign in signs)
    return re.compile(rf"[-+]?[1-9]\d{{0,2}}({groups})({re.escape(decimal)}\d+)?")


_GROUPED = {POINT: _grouped(POINT), COMMA: _grouped(COMMA)}
_WITHOUT = {
    POINT: str.maketrans("", "", _BLANKS + COMMA),
    COMMA: str.maketrans("", "", _BLANKS + POINT),
}


_SURE = re.compile(r"[-+]?\d+([.,])(\d{1,2}|\d{4,})", re.ASCII)
"""Numbers with a decimal sign that cannot mark thousands: their last part has not three digits."""
_DIGITS = re.compile(r"\d+", re.ASCII)
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


def _value(text: str, decimal: str) -> float:
    """Read a text as a number with this decimal sign; return NaN if it is not a number."""
    if text.isascii() and text.isdecimal():
        return float(text) if len(text) < _LONG else np.nan
    other = COMMA if decimal == POINT else POINT
    is_plain = text[:1] in _STARTS and text.isascii() and not {other, "'", " ", "_"} & set(text)
    if not text or not (is_plain or _GROUPED[decimal].fullmatch(text)):
        return np.nan
    try:
        value = float(text.translate(_WITHOUT[decimal]).replace(decimal, POINT))
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


def decimal_sign(labels: Sequence[str]) -> str:
    """Return the decimal sign that the labels show, "" if none matters, or `UNCLEAR`.

    Texts that are numbers with neither sign do not matter.

    >>> [decimal_sign(x) for x in (["1.75", "437"], ["1.234.567"], ["7"], ["437", "2.674"])]
    ['.', ',', '', '?']
    """
    is_unclear, shown = False, set()
    for label in labels:
        if COMMA not in label and POINT not in label:
            continue
        if sure := _SURE.fullmatch(label):
            shown.add(sure[1])
            continue
        text = _plain(label)
        if isinstance(label, Written):
            shown.add(POINT)
            continue
        values = {sign: _value(text, sign) for sign in (POINT, COMMA)}
        known = [sign for sign, value in values.items() if not np.isnan(value)]
        if len(known) == 1:
            shown.update(known)
        elif known:
            is_unclear = True
    if len(shown) == 1:
        return shown.pop()
    return POINT if shown else UNCLEAR if is_unclear else ""


def _plain(label: str) -> str:
    return label.strip(_UNITS + " ").translate(_MINUS)


def _unit(label: str) -> str:
    """Return the currency or percent sign of a label."""
    text = label.strip()
    return text[: len(text) - len(text.lstrip(_UNITS))] + text[len(text.rstrip(_UNITS)) :]


def numbers_of(labels: Sequence[str], decimal: str = "") -> FloatArray:
    """Read each label of a column as a number; NaN where it is not a number.

    Without a decimal sign, use the one that the labels show, and a point if they show none. All
    labels but zeros have the same currency or percent sign, or those that have one are no numbers.

    >>> numbers_of(["2.5", "02", "$7", "1.2.3"]), numbers_of(["2,5", "1"])
    (array([2.5, 2. , nan, nan]), array([2.5, 1. ]))
    >>> numbers_of(["1.234,5", "1.234"]), numbers_of(["1.234"], decimal=",")
    (array([1234.5, 1234. ]), array([1234.]))
    """
    sign = decimal or decimal_sign(labels)
    sign = POINT if sign in ("", UNCLEAR) else sign
    is_plain = (_PLAIN if sign == POINT else _DIGITS).fullmatch  # most, and fast to read
    numbers = np.array(
        [float(x) if is_plain(x) and len(x) < _LONG else _value(_plain(x), sign) for x in labels],
        dtype=np.float64,
    )
    numbers[np.isinf(numbers)] = np.nan
    units = [
        _unit(label) if label[:1] in _UNITS or label[-1:] in _UNITS else "" for label in labels
    ]
    if any(units):
        counted = {u for u, x in zip(units, numbers.tolist(), strict=True) if x and x == x}
        if len(counted) > 1:
            numbers[np.array(list(map(bool, units)))] = np.nan
    return numbers


def is_number(label: str) -> bool:
    """Check whether a label stands for a number."""
    return not bool(np.isnan(numbers_of([label])[0]))


def readings(labels: Sequence[str]) -> tuple[str, FloatArray, FloatArray]:
    """Return the first unclear label, and the numbers with a decimal point and with a comma."""
    point, comma = numbers_of(labels, POINT), numbers_of(labels, COMMA)
    first = next((k for k, same in enumerate((point == comma).tolist()) if not same), 0)
    return labels[first], point, comma
