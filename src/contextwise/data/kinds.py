"""Decide what kind of column a column is: a table of rules, read from top to bottom.

Each rule is a pure function of the column's `Profile`. The first that applies decides. The page
docs/howto/your-data.md prints the same table.

A column ``id`` with 133 values in 4,152 rows is not cut by the user, not declared, does not number
the rows, and has the name of a person's number. So the seventh rule applies: it is a *subject*, and
the advice is ``--subject id``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from contextwise.data.notation import COMMA, decimal_sign
from contextwise.data.table import Column
from contextwise.support.arrays import FloatArray, IntArray

FEWEST_ROWS_TO_JUDGE = 5
"""From this number of rows on, values that all differ or number the rows are not a category."""
MOST_FRACTIONS, MOST_WHOLE, MOST_CODES = 12, 20, 60
"""Numbers with more values are measurements; up to `MOST_CODES` whole numbers may be codes."""
FEW_FRACTIONS, FEW_WHOLE = 4, 8
"""Numbers with more values are measurements if they have more values than half of the rows."""
MOST_LABELS, MOST_STATES_OF_TEXT = 30, 500
"""Text with more values, and more than a tenth of the rows or the second, is not a category."""
MOST_ODD_TEXTS = 5
"""Texts among many numbers that may stand for missing ones."""
MOST_DATES = 12
"""More dates are not a category."""
BINS = 4
"""The number of bins that is advised."""
FEWEST_PEOPLE, FEWEST_SETS = 5, 20
"""Fewer people, and no more matched sets or numbered things, are taken for categories."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBERED = re.compile("ids?|idcode|no|nr|num|number|code|key")
_PEOPLE = re.compile(
    "id|subject|subj|patient|person|participant|respondent|individual|proband|pupil|student|child|"
    "mother|case|[psu]id|idcode"
)
_SETS = re.compile("stratum|strata|pair|match|matched|cluster|household|family")
_NO_ID = re.compile(  # words that end in "id"
    "(un|pre|re)?paid|covid|(in)?valid|[bkalm]id|[a-z]*(acid|oid|fluid)|grid|hybrid|solid|liquid|"
    "lipid|rapid|rigid|humid|android|raid|maid|said|braid|plaid|pyramid|carotid|parotid|(co)?morbid|"
    "squid|orchid|hominid|vivid|timid|candid|arid|avid|amid|lucid|rabid|(bi|tri)?cuspid|euclid|madrid"
)
_WEIGHTS = re.compile(
    r"((survey|sampling|sample|person|household|final|design|case)[ _.]?)?"
    r"(p?weights?|p?wg?t|wtss\w*)",
    re.I,
)
_SURELY_WEIGHTS = re.compile(
    r"(survey|sampling|sample|person|household|final|fnl|design|case)[ _.]?(weights?|wg?t)|"
    r"pw(eigh|g)?ts?|wtss\w*|weights",
    re.I,
)
_DATE = re.compile(
    r"(1[5-9]|20)\d\d[-/.](0?[1-9]|1[0-2])[-/.]\d\d?([ T]\d\d:\d\d\S*)?|"
    r"\d\d?[-/.]\d\d?[-/.](\d\d|(1[5-9]|20)\d\d)([ T]\d\d:\d\d\S*)?"
)
_HAS_DIGIT = re.compile(r"\d")
_LARGE_NUMBER = re.compile(r"(number|code|no|nr|key)\.?$", re.I)

Remedies = tuple[tuple[str, str], ...]
"""Options and their values, such as ``("drop", "id")``; the first is the advice."""
Problem = tuple[str, Remedies]
"""A reason why a column cannot be used, and what can be done."""


def names_people(name: str) -> str:
    """Return what a name says that its values number: "person", "id", "set" or "".

    >>> [names_people(n) for n in ("PatientNo", "storeid", "matched.set", "paid", "household size")]
    ['person', 'id', '', '', '']
    """
    words = [word.lower() for word in _WORDS.findall(name) if not word.isdecimal()]
    has_id = False
    while len(words) > 1 and _NUMBERED.fullmatch(words[-1]):
        has_id |= words.pop().startswith("id")
    last = words[-1] if words else ""
    if last.endswith(("id", "idcode")) and not _NO_ID.fullmatch(last):
        has_id, last = True, re.sub(r"(?<=...)(id|idcode)$", "", last)
    if _PEOPLE.fullmatch(last):
        return "person"
    return "set" if _SETS.fullmatch(last) else "id" if has_id else ""


def is_in_order(column: Column, rows: int) -> bool:
    """Check for 1..n or 0..n-1 in order."""
    if rows < FEWEST_ROWS_TO_JUDGE or len(column.labels) != rows:
        return False
    numbers = column.numbers[column.codes]
    return numbers[0] in (0, 1) and bool((np.diff(numbers) == 1).all())


@dataclass(frozen=True, eq=False)
class Profile:
    """The input of the rules: a column, facts about its table, and what the user decided."""

    column: Column
    rows: int
    use: str = ""  #: a kind that the user, the source or a table of counts gives it
    is_index: bool = False  #: the labels of the rows, by its name and its values
    counted: bool = False  #: another column tells how often each row occurs
    in_file: bool = False  #: the table is a file, not a frame
    is_array: bool = False  #: the cells have no names and no file
    is_first: bool = False  #: the first column of a file without header
    named: bool = False  #: chosen by the user
    cut: bool = False  #: the user says how to cut it
    insisted: bool = False  #: a category, says the user
    has_subjects: bool = False  #: another column has the subjects
    counts: FloatArray | None = None  #: how often each row occurs
    asks_about_missing: bool = False  #: the user has not decided about missing values
    tokens: Sequence[str] = ()  #: what stood in the empty cells
    lines: IntArray | None = None  #: the line of each row in the file
    kind: str = ""  #: by the rules

    @property
    def name(self) -> str:
        return self.column.name

    @cached_property
    def values(self) -> int:
        return len(self.column.labels)

    @cached_property
    def answered(self) -> int:
        return len(self.column.codes) - self.column.missing

    @cached_property
    def numbers_people(self) -> str:
        whole = not (self.column.is_numeric and self.column.has_fractions)
        return names_people(self.name) if whole else ""

    @cached_property
    def is_in_order(self) -> bool:
        return is_in_order(self.column, self.rows)

    @cached_property
    def repeats(self) -> bool:
        """True if its values have several rows each, as people have."""
        most = 0.97 if self.numbers_people == "person" else 0.8
        return self.values <= most * self.rows

    @cached_property
    def has_many_numbers(self) -> bool:
        fractions = self.column.has_fractions
        if self.values > (MOST_FRACTIONS if fractions else MOST_WHOLE):
            return True
        few = self.values <= (FEW_FRACTIONS if fractions else FEW_WHOLE)
        return 2 * self.values > self.rows and not (few or self.counted or self.is_array)

    @cached_property
    def odd_texts(self) -> tuple[str, ...]:
        """The few texts among many numbers."""
        column, others = self.column, np.isnan(self.column.numbers)
        numbers = replace(column, declared=None).mapped(
            [None if odd else label for label, odd in zip(column.labels, others, strict=True)]
        )
        many = replace(self, column=numbers).has_many_numbers if (~others).any() else False
        few = (
            0 < others.sum() <= MOST_ODD_TEXTS and 5 * column.counts[others].sum() <= self.answered
        )
        return tuple(np.array(column.labels)[others].tolist()) if few and many else ()

    @cached_property
    def has_many_texts(self) -> bool:
        hardly_repeats = 2 * self.values > self.answered and self.values > FEW_WHOLE
        return self.has_long_list or (hardly_repeats and not self.counted)

    @cached_property
    def has_long_list(self) -> bool:
        return self.values > min(max(MOST_LABELS, self.rows / 10), MOST_STATES_OF_TEXT)

    @cached_property
    def are_dates(self) -> bool:
        labels = self.column.labels
        return self.values > MOST_DATES and all(map(_DATE.fullmatch, labels))

    @cached_property
    def are_padded(self) -> bool:
        """True for numbers of one length of which some start with 0, such as postal codes."""
        labels = self.column.labels
        padded = any(x[0] == "0" for x in labels) and len(set(map(len, labels))) == 1
        return padded and len(labels[0]) > 2 and all(map(str.isdecimal, labels))

    @cached_property
    def may_be_weights(self) -> bool:
        """True for the name of survey weights, which may also mean the weight of a body."""
        named = _SURELY_WEIGHTS if not self.column.has_fractions else _WEIGHTS
        return bool(named.fullmatch(self.name)) and self.column.numbers.min() >= 0

    @cached_property
    def are_weights(self) -> bool:
        """True for a name that only survey weights have, or for their usual sizes."""
        numbers, column = self.column.numbers, self.column
        mean = float(numbers @ column.counts) / max(1, self.answered)
        is_scaled = abs(mean - 1) < 0.05 or (mean > 300 and numbers.max() < 1000 * numbers.min())
        return is_scaled or bool(_SURELY_WEIGHTS.fullmatch(self.name))

    @cached_property
    def differs_in_each_row(self) -> bool:
        return self.values == self.rows >= FEWEST_ROWS_TO_JUDGE and not self.counted

    @cached_property
    def is_large_number(self) -> bool:
        named = self.is_first or bool(_LARGE_NUMBER.search(self.name))
        many = self.values > max(MOST_WHOLE, 0.9 * self.rows)
        whole = not (self.column.is_numeric and self.column.has_fractions)
        return named and many and whole and bool(self.column.numbers.min() > 999)


class Rule(NamedTuple):
    """A kind of column, the test for it, and the remedies; without a reason, it is usable."""

    kind: str
    when: str
    applies: Callable[[Profile], bool]
    reason: Callable[[Profile], str] | None = None
    remedies: Callable[[Profile], Remedies] = lambda p: (("drop", p.name),)


def _different(p: Profile, why: str) -> str:
    texts = "numbers" if p.column.is_numeric else "texts"
    return f"{p.values:,} different {texts} in {p.rows:,} rows: {why}"


def _subject(p: Profile) -> Remedies:
    cannot_be = p.counted or p.has_subjects or not p.repeats or p.column.missing
    return () if cannot_be else (("subject", p.name),)


def _people(p: Profile) -> bool:
    is_person = p.numbers_people == "person" and all(map(_HAS_DIGIT.search, p.column.labels))
    has_name = bool(p.numbers_people) and not p.is_array
    most = FEWEST_PEOPLE - 1 if is_person else FEWEST_SETS
    return has_name and p.values > most and (p.repeats or p.numbers_people != "set")


def _weights(p: Profile) -> bool:
    return p.column.is_numeric and p.has_many_numbers and not p.counted and p.may_be_weights


def _measured(p: Profile) -> str:
    sign = p.column.decimal or decimal_sign(p.column.labels)
    commas = p.column.has_fractions and sign == COMMA
    note = " (decimal commas)" if commas else ""
    return f"{p.values:,} different numbers: a measurement{note}"


def _bins(p: Profile) -> Remedies:
    codes = not p.column.has_fractions and p.values <= max(MOST_CODES, p.rows / 50)
    may_be_codes = codes or p.column.has_padded_twins
    return (("bins", f"{p.name}={BINS}"), *((("category", p.name),) if may_be_codes else ()))


def _counts(p: Profile) -> Remedies:
    many = p.values > MOST_WHOLE
    other = ("bins", f"{p.name}={BINS}") if many else ("category", p.name)
    return ("counts", p.name), other


RULES = (
    Rule("counts", "`--counts` names it", lambda p: p.use == "counts"),
    Rule("subject", "`--subject` names it", lambda p: p.use == "subject"),
    Rule("weights", "`--row-weights` names it", lambda p: p.use == "weights"),
    Rule("left out", "`--drop` names it, or `--columns` does not", lambda p: p.use == "left out"),
    Rule(
        "row numbers",
        "a first column without a name, or called rownames or index, whose values all differ "
        "(dropped)",
        lambda p: p.is_index,
    ),
    Rule(
        "counts",
        "whole numbers next to categories whose combinations never repeat, see below",
        lambda p: p.use == "asked",
        lambda _: "looks like counts of the other columns",
        _counts,
    ),
    Rule("counts", "one of several such columns", lambda p: p.use == "wide"),
    Rule("empty", "no values", lambda p: not p.values, lambda _: "no values"),
    Rule("measurement", "`--bins` names it", lambda p: p.cut),
    Rule("category", "`--category` names it", lambda p: p.insisted),
    Rule(
        "identifier",
        "declared a category by a file, but more than 20 values that differ in each row",
        lambda p: (
            p.column.declared is not None
            and p.in_file
            and p.differs_in_each_row
            and p.values > MOST_WHOLE
        ),
        lambda p: _different(p, "an identifier"),
        lambda p: (("drop", p.name), ("category", p.name)),
    ),
    Rule(
        "subject",
        "a name such as *id*, *subject*, *PatientNo*, with 5 numbers or more, or such as "
        "*storeid*, *household*, *pair*, with more than 20 values, and several rows of each",
        lambda p: _people(p) and p.repeats,
        lambda p: _different(p, "several rows of each"),
        lambda p: (*_subject(p), ("drop", p.name), ("category", p.name)),
    ),
    Rule(
        "text",
        "declared a category, but more than 60 values and a tenth of the rows, or more than 500",
        lambda p: p.column.declared is not None and p.has_long_list and p.values > MOST_CODES,
        lambda p: _different(p, "too many for a category"),
        lambda p: (("drop", p.name), ("category", p.name)),
    ),
    Rule(
        "category",
        "declared a category by the file or the frame",
        lambda p: p.column.declared is not None,
    ),
    Rule(
        "row numbers",
        "1 to n or 0 to n-1 in order, from five rows on (dropped)",
        lambda p: p.is_in_order and not (p.counted or p.is_array or p.named),
    ),
    Rule(
        "identifier",
        "such a name, and nearly as many values as rows",
        _people,
        lambda p: _different(p, "an identifier"),
    ),
    Rule(
        "identifier",
        "large numbers that nearly all differ in a first column without a header, or in one called "
        "*number* or *code*",
        lambda p: p.is_large_number,
        lambda p: _different(p, "an identifier"),
        lambda p: (("drop", p.name), ("bins", f"{p.name}={BINS}")),
    ),
    Rule(
        "text",
        "more than 20 numbers of one length of which some start with 0, such as 00501",
        lambda p: p.values > MOST_WHOLE and p.are_padded,
        lambda p: f"{p.values:,} different codes such as {min(p.column.labels)}",
        lambda p: (("drop", p.name), ("category", p.name)),
    ),
    Rule(
        "weights",
        "more than 12 numbers >= 0 called *survey_weight*, *pwgt* or the like; or called *weight* "
        "or *wt*, with fractions and a mean of 1 or above 300",
        lambda p: _weights(p) and p.are_weights,
        lambda _: "survey weights, or a measurement?",
        lambda p: (("row_weights", p.name), *_bins(p), ("drop", p.name)),
    ),
    Rule(
        "measurement",
        "other numbers with fractions called *weight* or *wt*",
        lambda p: _weights(p),
        lambda _: "a measurement, or survey weights?",
        lambda p: (*_bins(p), ("row_weights", p.name)),
    ),
    Rule(
        "measurement",
        "more than 12 different numbers with a fraction, or 20 whole ones; in small files more "
        "than half as many as rows",
        lambda p: p.column.is_numeric and p.has_many_numbers,
        _measured,
        _bins,
    ),
    Rule("category", "other numbers", lambda p: p.column.is_numeric),
    Rule(
        "measurement",
        "such numbers, and up to 5 texts in at most a fifth of the rows, such as *<5*",
        lambda p: bool(p.odd_texts),
        lambda p: f"{p.values:,} different values, nearly all numbers: a measurement",
        _bins,
    ),
    Rule(
        "dates",
        "more than 12 dates",
        lambda p: p.are_dates,
        lambda p: f"{p.values:,} different dates",
        lambda p: (("drop", p.name), ("category", p.name)),
    ),
    Rule(
        "identifier",
        "text that differs in each row",
        lambda p: p.differs_in_each_row,
        lambda p: _different(p, "an identifier"),
        lambda p: (("drop", p.name), ("category", p.name)),
    ),
    Rule(
        "text",
        "more than 30 texts and a tenth of the rows, or 500, or more than 8 and half of the rows",
        lambda p: p.has_many_texts,
        lambda p: _different(p, "too many for a category"),
        lambda p: (("drop", p.name), ("category", p.name)),
    ),
    Rule("category", "everything else", lambda p: True),
)
"""The rules of a column. The first that applies decides."""


def rule_of(profile: Profile) -> Rule:
    """Return the first rule that applies to a column."""
    return next(rule for rule in RULES if rule.applies(profile))


def rules_as_table() -> str:
    """Return the rules as the table of the documentation."""
    lines = ["| kind | the first that applies |", "|---|---|"]
    return "\n".join([*lines, *(f"| {rule.kind} | {rule.when} |" for rule in RULES)])
