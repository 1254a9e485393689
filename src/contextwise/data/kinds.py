"""Decide what kind of column a column is: a table of rules, read from top to bottom.

Each rule is a pure function of the column's `Profile`. The first that applies decides. The page
docs/howto/your-data.md prints the same table.

A column ``id`` with 133 values in 4,152 rows is not cut by the user, not declared, does not number
the rows, and has the name of a person's number. So the seventh rule applies: it is a *subject*, and
the advice is ``--subject id``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from contextwise.data.table import Column

FEWEST_ROWS_TO_JUDGE = 5
"""From this number of rows on, values that all differ or number the rows are not a category."""
MOST_FRACTIONS, MOST_WHOLE, MOST_CODES = 12, 20, 60
"""Numbers with more values are measurements; up to `MOST_CODES` whole numbers may be codes."""
FEW_FRACTIONS, FEW_WHOLE = 4, 8
"""Numbers with more values are measurements if they have more values than half of the rows."""
MOST_LABELS = 30
"""Text with more values, and more than a tenth of the rows, is not a category."""
BINS = 4
"""The number of bins that is advised."""
FEWEST_PEOPLE, FEWEST_SETS = 5, 20
"""Fewer people, and no more matched sets or numbered things, are taken for categories."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBERED = {"id", "ids", "idcode", "no", "nr", "num", "number", "code", "key"}
_PEOPLE = frozenset(
    [
        "id",
        "subject",
        "subj",
        "patient",
        "person",
        "participant",
        "respondent",
        "individual",
        "proband",
        "pupil",
        "student",
        "child",
        "mother",
        "case",
        "pid",
        "sid",
        "uid",
    ]
)
_SETS = frozenset(
    ["stratum", "strata", "pair", "match", "matched", "cluster", "household", "family"]
)
_NO_IDS = frozenset(
    [
        "paid",
        "unpaid",
        "prepaid",
        "covid",
        "valid",
        "invalid",
        "bid",
        "kid",
        "aid",
        "acid",
        "grid",
        "hybrid",
        "thyroid",
        "steroid",
        "fluid",
        "solid",
        "liquid",
        "lipid",
        "opioid",
        "rapid",
        "mid",
        "lid",
        "rigid",
        "humid",
        "android",
        "raid",
        "avoid",
        "typhoid",
        "said",
    ]
)
_WEIGHTS = re.compile(
    r"((survey|sampling|sample|person|household|final|design|case)[ _.]?)?"
    r"(p?weights?|p?wg?t|wtss\w*)",
    re.I,
)
_LARGE_NUMBER = re.compile(r"(number|code|no|nr|key)\.?$", re.I)

Remedies = tuple[tuple[str, str], ...]
"""Options and their values, such as ``("drop", "id")``; the first is the advice."""


def names_people(name: str) -> str:
    """Return what a name says that its values number: "person", "id", "set" or "".

    >>> [names_people(n) for n in ("PatientNo", "storeid", "matched.set", "paid", "household size")]
    ['person', 'id', '', '', '']
    """
    words = [word.lower() for word in _WORDS.findall(name) if not word.isdecimal()]
    has_id = False
    while len(words) > 1 and words[-1] in _NUMBERED:
        has_id |= words.pop().startswith("id")
    last = words[-1] if words else ""
    if last.endswith(("id", "idcode")) and last not in _NO_IDS:
        has_id, stem = True, re.sub(r"(id|idcode)$", "", last)
        last = stem if stem in _PEOPLE | _SETS or not stem else last
        last = last or "id"
    if last in _PEOPLE:
        return "person"
    return "set" if last in _SETS else "id" if has_id else ""


@dataclass(frozen=True, eq=False)
class Profile:
    """What the rules may look at: a column, and what is known of its table and from the user."""

    column: Column
    rows: int
    counted: bool = False  #: another column tells how often each row occurs
    in_file: bool = False  #: the table is a file, not a frame
    is_array: bool = False  #: the cells have no names and no file
    is_first: bool = False  #: the first column of a file without header
    named: bool = False  #: chosen by the user
    cut: bool = False  #: the user says how to cut it
    insisted: bool = False  #: a category, says the user
    has_subjects: bool = False  #: another column has the subjects

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
        """True for 1..n or 0..n-1 in order."""
        if self.rows < FEWEST_ROWS_TO_JUDGE or self.values != self.rows:
            return False
        numbers = self.column.numbers[self.column.codes]
        return numbers[0] in (0, 1) and bool((np.diff(numbers) == 1).all())

    @cached_property
    def repeats(self) -> bool:
        """True if its values have several rows each, as people have."""
        return self.values <= 0.8 * self.rows

    @cached_property
    def has_many_numbers(self) -> bool:
        fractions = self.column.has_fractions
        if self.values > (MOST_FRACTIONS if fractions else MOST_WHOLE):
            return True
        few = self.values <= (FEW_FRACTIONS if fractions else FEW_WHOLE)
        return 2 * self.values > self.rows and not (few or self.counted or self.is_array)

    @cached_property
    def has_many_texts(self) -> bool:
        hardly_repeats = 2 * self.values > self.answered and self.values > FEW_WHOLE
        is_long = self.values > max(MOST_LABELS, self.rows / 10)
        return is_long or (hardly_repeats and not self.counted)

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
    """A kind of column, when it is that, and what to do; no reason if it is used as it is."""

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
    fewest = FEWEST_PEOPLE if p.numbers_people == "person" else FEWEST_SETS + 1
    has_name = bool(p.numbers_people) and not p.is_array
    return has_name and p.values >= fewest and (p.repeats or p.numbers_people != "set")


def _may_be_weights(p: Profile) -> bool:
    is_named = _WEIGHTS.fullmatch(p.name) and p.column.has_fractions
    return bool(is_named and p.column.numbers.min() >= 0 and not p.counted)


def _measured(p: Profile) -> str:
    commas = p.column.has_fractions and any("," in label for label in p.column.labels)
    note = " (decimal commas)" if commas else ""
    return f"{p.values:,} different numbers: a measurement{note}"


def _bins(p: Profile) -> Remedies:
    codes = not p.column.has_fractions and p.values <= max(MOST_CODES, p.rows / 50)
    may_be_codes = codes or p.column.has_padded_twins
    return (("bins", f"{p.name}={BINS}"), *((("category", p.name),) if may_be_codes else ()))


RULES = (
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
        "subject",
        "a name such as *id*, *subject*, *PatientNo*, with 5 values or more, or such as *storeid*, "
        "*household*, *pair*, with more than 20, and several rows for each value",
        lambda p: _people(p) and p.repeats,
        lambda p: _different(p, "several rows of each"),
        lambda p: (*_subject(p), ("drop", p.name), ("category", p.name)),
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
        "weights",
        "more than 12 numbers >= 0 with a fraction in a column called *weight*, *survey_weight*, "
        "*wt*, *pwgt* or the like",
        lambda p: p.column.is_numeric and p.has_many_numbers and _may_be_weights(p),
        lambda _: "survey weights, or a measurement?",
        lambda p: (("row_weights", p.name), *_bins(p), ("drop", p.name)),
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
        "identifier",
        "text that differs in each row",
        lambda p: p.differs_in_each_row,
        lambda p: _different(p, "an identifier"),
        lambda p: (("drop", p.name), ("category", p.name)),
    ),
    Rule(
        "text",
        "more than 30 texts and a tenth of the rows, or more than 8 and half of the rows",
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
