"""Words for numbers and names that all results share: one rule for shares, p-values, V and odds.

>>> percent(0.654), points(-0.056), p_text(0.00002), p_text(0.0504), ratio(2.139), strength(0.208)
('65 %', '−6', '< 0.001', '0.0504', '2.1', '0.21')

Estimated shares have no decimals. Counts of contexts are exact; `exact_percent` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

LEVEL = 0.05
MOST_NAMED = 4
CLEARLY_MORE = 999.5


class Phrase(str):
    """A text that knows which of its words are names; pages print them in bold.

    >>> sentence = Phrase("It goes with ", Name("age"), ".")
    >>> str(sentence), [str(word) for word in sentence.words if isinstance(word, Name)]
    ('It goes with age.', ['age'])
    """

    words: tuple[str, ...]

    def __new__(cls, *words: str) -> Phrase:
        phrase = super().__new__(cls, "".join(words))
        flat = (w.words if isinstance(w, Phrase) else (w,) for w in words)
        phrase.words = tuple(word for part in flat for word in part)
        return phrase


class Name(str):
    """The name of a variable in a `Phrase`."""

    __slots__ = ()


def joined_names(names: Iterable[str], most: int = MOST_NAMED) -> Phrase:
    """List names: ``year, age and 3 more``."""
    known = list(names)
    shown: list[str] = [Name(name) for name in known[:most]]
    shown += [f"{len(known) - most} more"] if len(known) > most else []
    return listed_phrases([Phrase(each) for each in shown])


def listed_phrases(phrases: Iterable[Phrase]) -> Phrase:
    """Join phrases with commas, and the last one with "and"."""
    *first, last = phrases
    if not first:
        return last
    words = [word for phrase in first for word in (", ", phrase)][1:]
    return Phrase(*words, " and ", last)


def percent(share: float) -> str:
    """Write a share without decimals; 0 and 100 only if it is exactly that."""
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 < share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"


def exact_percent(part: float | Fraction, whole: float | Fraction = 1) -> str:
    """Write an exact share with three digits; 0 and 100 only if it is exactly that.

    >>> exact_percent(1, 8), exact_percent(1, 10**9), exact_percent(4095, 4096), exact_percent(1.0)
    ('12.5 %', '<0.01 %', '99.98 %', '100 %')
    """
    share = 100 * Fraction(part) / Fraction(whole)
    if 0 < share < Fraction(1, 100):
        return "<0.01 %"
    if Fraction(9999, 100) < share < 100:
        return ">99.99 %"
    # Three digits would round the shares from 99.95 % on to 100 %.
    digits = 4 if Fraction(9995, 100) <= share < 100 else 3
    return f"{float(share):.{digits}g} %"


def points(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    rounded = round(100 * difference)
    return f"{'−' if rounded < 0 else '+' if rounded else ''}{abs(rounded)}"


def p_text(p: float | None) -> str:
    """Write a p-value with two digits, with three where two would hide on which side of .05 it is.

    >>> p_text(0.04961), p_text(0.32), p_text(0.9999), p_text(None)
    ('0.0496', '0.32', '1', '–')
    """
    if p is None:
        return "–"
    if p < 0.001:
        return "< 0.001"
    if p >= 0.995:
        return "1"
    two = f"{p:.2g}"
    return f"{p:.3g}" if float(two) == LEVEL and p != LEVEL else two


def p_is(p: float | None, name: str = "p") -> str:
    """Write a p-value in a sentence: ``p = 0.023`` or ``p < 0.001``."""
    text = p_text(p)
    return f"{name} {text}" if text.startswith("<") else f"{name} = {text}"


def ratio(value: float) -> str:
    """Write an odds ratio with two digits, and with two decimals near 1, to show its side."""
    if value < 0.01:
        return "< 0.01"
    if value >= CLEARLY_MORE:
        return "> 999"
    return f"{value:.2f}" if value < 1.095 else two_digits(value)


def two_digits(value: float) -> str:
    """Write a number of at least 1 with two digits, or all in front of the point."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def strength(v: float | None) -> str:
    """Write Cramér's V with two decimals."""
    return "–" if v is None else f"{v:.2f}"


def between(low: float, high: float, written: Callable[[float], str]) -> str:
    """Write an interval: ``0.39 to 0.55``."""
    return f"{written(low)} to {written(high)}"
