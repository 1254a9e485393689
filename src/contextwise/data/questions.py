"""Ask about the values of a column whose kind is known: `PROBLEMS` must be solved, `NOTES` may be.

Each is a function of the column's `Profile`, tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from shlex import quote
from unicodedata import normalize

import numpy as np

from contextwise.data.kinds import FEW_FRACTIONS, MOST_FRACTIONS, MOST_LABELS, Problem, Profile
from contextwise.data.notation import readings
from contextwise.data.table import Column, Note, label_of
from contextwise.data.text import DOUBTFUL
from contextwise.support.formatting import listed, plural

SURE_TOTALS = frozenset(
    ("total", "totals", "grand total", "subtotal", "sum", "gesamt", "insgesamt", "summe", "somme")
)
TOTALS = SURE_TOTALS | {"all", "overall", "both", "both sexes", "all ages", "alle", "todos"}
"""States of rows that add up others: always, or if the counts say so."""
_TRUTH: dict[object, float] = {"true": 1.0, "false": 0.0}
_WHOLE_WITH_ZERO = re.compile(r"-?(0|[1-9]\d{0,14})\.0")
_CODE = re.compile(r"-[1-9]|-?(9+|8+|7+|9+[6-8])")
MOST_ODD_CODES = 5
"""Codes such as 95 to 99 that may stand for kinds of missing values."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def two_readings(p: Profile) -> Iterator[Problem]:
    """Ask for the decimal sign if sizes or the order of states depend on it."""
    if p.column.is_unclear and p.column.is_numeric and p.column.declared is None:
        _, point, comma = readings(p.column.labels)
        if p.kind != "category" or (np.argsort(point) != np.argsort(comma)).any():
            reason, *remedies = unclear_decimals(p.column)
            yield reason, tuple(remedies)


def totals(p: Profile) -> Iterator[Problem]:
    """Ask about rows that add up others, such as a last row ``Total``."""
    if p.insisted or p.cut or p.column.declared is not None:
        return
    for k, label in enumerate(p.column.labels):
        word = _word(label)
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


def texts_among_numbers(p: Profile) -> Iterator[Problem]:
    """Ask about the few texts of a measurement, such as ``<5``."""
    for text in p.odd_texts if p.kind == "measurement" else ():
        rows = plural(int(p.column.counts[p.column.labels.index(text)]), "row")
        yield f"{text!r} ({rows}) is not a number", (("na", f"{p.name}={text}"), ("drop", p.name))


def is_total(text: str) -> bool:
    """Check whether ``sex=Total`` names a state of rows that add up others."""
    return _word(text.rpartition("=")[2]) in TOTALS


def _word(label: str) -> str:
    return label.casefold().strip(" ():")


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


def are_many_states(p: Profile) -> bool:
    """Check for numbers that are states, but might be measurements."""
    most = FEW_FRACTIONS if p.column.has_fractions else MOST_FRACTIONS
    decided = p.is_array or p.cut or p.insisted
    return p.column.is_numeric and p.values > most and not decided


def visible(label: str) -> str:
    """Return a label without what the eye misses: case, invisible signs, and kinds of blanks."""
    return " ".join(_INVISIBLE.sub("", normalize("NFKC", label)).casefold().split())


def same_words(p: Profile) -> Iterator[Problem]:
    """Ask about words in several cases, such as Male, male and MALE."""
    alike = [] if p.insisted or p.column.is_numeric else _spelled_alike(p)
    alike = [labels for labels in alike if all(map(_is_word, labels))]
    if alike:
        shown = "; ".join(" and ".join(map(repr, labels[:3])) for labels in alike[:3])
        yield f"{shown}: the same?", (("merge", p.name), ("category", p.name))


def _is_word(label: str) -> bool:
    """Check for a word in one case, or with a capital: no code such as hId."""
    has_usual_case = label.islower() or label.isupper() or label[1:].islower() or label.istitle()
    return sum(map(str.isalpha, label)) > 1 and has_usual_case


def _spelled_alike(p: Profile) -> list[list[str]]:
    """Return the states that differ only in case, blanks, invisible signs, or notation."""
    meanings: dict[object, list[str]] = {}
    for label, number in zip(p.column.labels, p.column.numbers.tolist(), strict=True):
        is_exact = abs(number) < 2**53  # False for NaN, the number of a text
        meaning = number if is_exact else visible(label)
        plain = label[:-2] if _WHOLE_WITH_ZERO.fullmatch(label) else label
        alike = meanings.setdefault(_TRUTH.get(meaning, meaning), [])
        if plain not in alike:
            alike.append(plain)
    return [labels for labels in meanings.values() if len(labels) > 1]


def spellings(p: Profile) -> Iterator[Note]:
    """Name states whose spellings are nearly the same."""
    labels = p.column.labels
    if p.cut or len(labels) > MOST_LABELS:
        return
    same = next((x for x in labels if _WHOLE_WITH_ZERO.fullmatch(x) and x[:-2] in labels), None)
    if same:
        text = f"{same[:-2]!r} and {same!r} are one state of {p.name!r}"
        yield Note(text, "decision", p.name)
    for alike in [] if [*same_words(p)] else _spelled_alike(p):
        text = (
            f"{' and '.join(map(repr, alike[:3]))} are different states of {p.name!r}; if they "
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
    """Name numbers such as 98 and 99, or -9, that end a column and are far from the others."""
    column = p.column
    if not column.is_numeric:
        return
    order = np.argsort(column.numbers).tolist()
    usual = float(np.median(column.counts))
    for ends, sign in ((order[::-1], 1), (order, -1)):
        codes = [*takewhile(lambda k: _CODE.fullmatch(column.labels[k]), ends[:MOST_ODD_CODES])]
        while codes and len(order) >= len(codes) + 2:
            rest = column.numbers[[k for k in order if k not in codes]]
            nearest = float(rest.max() if sign > 0 else rest.min())
            code = float(column.numbers[codes[-1]])
            is_far = code >= (7 if len(codes) > 1 else 9) and 1.5 * nearest < code
            often = code >= 97 and nearest + 3 < code and column.counts[codes[0]] > 3 * usual
            below = code < 0 <= nearest and code < nearest - 1
            if below if sign < 0 else float(column.numbers.min()) >= 0 and (is_far or often):
                break
            codes.pop()
        else:
            continue
        labels = [column.labels[k] for k in reversed(codes)]
        options = ",".join(f"{p.name}={label}" for label in labels)
        times = plural(int(column.counts[codes].sum()), "time")
        verb, doubt = "occur", "they stand for missing values"
        if len(codes) == 1:
            verb, doubt = "occurs", "it stands for a missing value"
        text = (
            f"{listed(labels)} {verb} {times} in {p.name!r} next to {label_of(rest.min())} to "
            f"{label_of(rest.max())}; --na {options} if {doubt}"
        )
        yield Note(text, "question", p.name, f"--na {options}")


_SCALES = [
    scale.split("|")
    for scale in (
        "none|minimal|little|slight|some|mild|light|low|moderate|medium|middle|marked|high|severe|"
        "heavy|very high|very severe|extreme",
        "never|seldom|rarely|occasionally|occas|sometimes|often|regularly|regul|frequently|usually|"
        "heavy|always",
        "strongly disagree|disagree|neither|neutral|undecided|agree|strongly agree",
        "very poor|poor|bad|fair|satisfactory|average|good|very good|excellent",
        "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
        "too little|about right|too much",
        "extra small|small|medium|large|extra large|huge",
        "child|young|adult|middle|middle-aged|elderly|old",
        "worse|same|better",
    )
]
"""Words that are a scale, in their order."""


def word_scales(p: Profile) -> Iterator[Note]:
    """Name words such as low, medium and high, which may be ordered."""
    states = {" ".join(re.split(r"[\s_.]+", label.casefold())): label for label in p.column.labels}
    scale = next((scale for scale in _SCALES if states.keys() <= set(scale)), None)
    if scale and len(states) == p.values > 2 and not p.column.in_order:
        option = (
            f"--ordered {quote(f'{p.name}=' + '|'.join(states[x] for x in scale if x in states))}"
        )
        text = f"the states of {p.name!r} may be ordered; {option} says so"
        yield Note(text, "question", p.name, option)


PROBLEMS: tuple[Callable[[Profile], Iterator[Problem]], ...] = (
    two_readings,
    totals,
    same_words,
    texts_among_numbers,
    missing_values,
)
"""The problems of categories and measurements."""
NOTES: tuple[Callable[[Profile], Iterator[Note]], ...] = (
    spellings,
    odd_codes,
    doubtful_states,
    word_scales,
)
"""The questions about categories and measurements that are asked in notes."""
