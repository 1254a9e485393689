"""Judge the columns of a table: which are categories, and what to do about the others.

`Judge` decides about all columns at once. It collects every problem with its remedies, so that one
message and one command can solve them all. The rules and their figures are in
docs/howto/your-data.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log2, prod
from typing import Any
from unicodedata import normalize

import numpy as np

from contextwise.data.kinds import (
    BINS,
    FEW_FRACTIONS,
    FEWEST_SETS,
    MOST_FRACTIONS,
    MOST_LABELS,
    MOST_WHOLE,
    Profile,
    Remedies,
    rule_of,
)
from contextwise.data.notation import numbers_of, readings
from contextwise.data.options import (
    RowOptions,
    command_line,
    find_name,
    find_names,
    find_values,
    row_options,
)
from contextwise.data.table import Column, Note, Sheet, label_of
from contextwise.data.text import DOUBTFUL, SEPARATORS, TOKENS
from contextwise.errors import DomainError
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.formatting import columns as laid_out
from contextwise.support.formatting import name as shortened
from contextwise.support.formatting import plural

PAGE = "docs/howto/your-data.md"
"""The page that explains the choices."""

FEW_CELLS = 12
"""A table of more cells has counts only if the largest is ten times the smallest."""
MOST_BINS = 1_000
LARGEST_COUNT = 10**12
"""Sums of larger counts may not be exact."""
COUNT_NAMES = frozenset({"freq", "frequency", "count", "counts", "n"})
WEIGHT_NAMES = COUNT_NAMES | {"weight", "weights", "proportion", "share", "percent"}
SURE_TOTALS = frozenset(
    ("total", "totals", "grand total", "subtotal", "sum", "gesamt", "insgesamt", "summe", "somme")
)
TOTALS = SURE_TOTALS | {"all", "overall", "both", "both sexes", "all ages", "alle", "todos"}
"""States of rows that add up others: always, or if the counts say so."""
INDEX_NAMES = frozenset({"", "rownames", "row.names", "row_names", "index", "unnamed: 0"})
_TRUTH: dict[object, float] = {"true": 1.0, "false": 0.0}
FREQUENT = 3
"""The number of most frequent values that a summary lists."""


Problem = tuple[str, Remedies]
"""A reason why a column cannot be used, and what can be done."""
Bins = int | tuple[float, ...]
"""A number of bins, or the upper edges of all but the last."""


@dataclass(frozen=True)
class ColumnSummary:
    """A column of data, and what to do about it."""

    name: str
    #: category, measurement, identifier, row numbers, counts, subject, text, empty or left out
    kind: str
    values: int  #: the number of different values, without missing ones
    missing: int  #: the number of rows without a value
    frequent: tuple[tuple[str, int], ...]  #: the most frequent values, and their numbers of rows
    problems: tuple[Problem, ...] = ()  #: reasons, each with its remedies; the first is the advice
    decision: str = ""  #: what was decided, if it is not obvious

    @property
    def advice(self) -> str:
        """The remedies as options of a command."""
        return "; ".join(_options(remedies) for _, remedies in self.problems)

    def record(self) -> dict[str, object]:
        """Return the column as a flat mapping."""
        plain = {key: getattr(self, key) for key in ("name", "kind", "values", "missing")}
        reasons = [reason for reason, _ in self.problems]
        more = {"problems": reasons, "advice": self.advice, "decision": self.decision}
        return {**plain, "frequent": dict(self.frequent), **more}


@dataclass(frozen=True)
class DataSummary:
    """All columns of a source, and the options that solve its problems.

    >>> from contextwise.data import summarize_data
    >>> summary = summarize_data([{"age": 20 + k, "ill": "no"} for k in range(30)])
    >>> print(summary.problems(["learn", "people.csv"]))
    the data: 1 column cannot be used as it is
      age  30 different numbers: a measurement  --bins age=4, or --category age
    Try: contextwise learn people.csv --bins age=4
    More: docs/howto/your-data.md
    """

    source: str  #: the file, or "the data"
    rows: int
    columns: tuple[ColumnSummary, ...]
    notes: tuple[Note, ...] = ()  #: what was decided while reading, and questions to the user
    obstacle: str = ""  #: a reason why no option helps, such as several columns of counts
    remedy: RowOptions = RowOptions()  #: options that solve all problems  # noqa: RUF009

    @property
    def unclear(self) -> list[ColumnSummary]:
        """The columns that cannot be used as they are."""
        return [column for column in self.columns if column.problems]

    def problems(self, command: Sequence[str] | None = None) -> str:
        """Return all problems as text, and the line that solves them.

        With the words of a command, the line is that command with the options added; without, it is
        a call of `read_data`.
        """
        if self.obstacle:
            return f"{self.source}: {self.obstacle}\nMore: {PAGE}"
        lines = [
            (f"  {shortened(c.name, 30)}", reason, _options(remedies, python=command is None))
            for c in self.unclear
            for reason, remedies in c.problems
        ]
        head = f"{plural(len(self.unclear), 'column')} cannot be used as "
        head += "it is" if len(self.unclear) == 1 else "they are"
        advice = self.try_line(command), f"More: {PAGE}"
        return "\n".join([f"{self.source}: {head}", laid_out(lines, "<<<"), *advice])

    def try_line(self, command: Sequence[str] | None = None) -> str:
        """Return the line that solves all problems, to be copied."""
        if command is None:
            source = "data" if self.source == "the data" else repr(self.source)
            return f"Try: read_data({source}, {self.remedy.keywords()})"
        return f"Try: {command_line([*command, *self.remedy.words()])}"

    def table(self) -> str:
        """Return the columns as a table of text."""
        head = ["column", "kind", "values", "missing", "most frequent", "advice"]
        rows = [
            [
                shortened(c.name, 30),
                c.kind,
                f"{c.values:,}",
                f"{c.missing:,}" if c.missing else "",
                ", ".join(f"{shortened(label, 20)} ({rows:,})" for label, rows in c.frequent),
                c.decision or c.advice,
            ]
            for c in self.columns
        ]
        return laid_out([head, *rows], "<<>><<")


class UnclearData(DomainError):
    """Data with columns that cannot be used as they are; the message has all of them.

    Attributes
    ----------
    summary : DataSummary

    Examples
    --------
    >>> from contextwise.data.rows import read_data
    >>> try:
    ...     read_data([{"name": f"person {k}", "ill": k % 2} for k in range(9)])
    ... except UnclearData as error:
    ...     print(error)
    the data: 1 column cannot be used as it is
      name  9 different texts in 9 rows: an identifier  drop=['name'], or category=['name']
    Try: read_data(data, drop=['name'])
    More: docs/howto/your-data.md
    """

    def __init__(self, summary: DataSummary) -> None:
        self.summary = summary
        super().__init__(summary.problems())

    def __reduce__(self) -> tuple[object, ...]:
        return UnclearData, (self.summary,)


def _options(remedies: Remedies, *, python: bool = False) -> str:
    """Write remedies: ``--bins age=4, or --category age``."""
    ways = [row_options(**{option: value}) for option, value in remedies]
    return ", or ".join(how.keywords() if python else how.command() for how in ways)


@dataclass
class Decisions:
    """What becomes of each column."""

    columns: list[Column]
    counts: Column | None
    bins: dict[str, Bins]
    missing: str
    dropped: list[str]
    notes: list[Note]


# -- missing values --------------------------------------------------------------------------------


def without_missing(
    table: Sheet, how: RowOptions, names: Sequence[str] | None = None
) -> tuple[Sheet, dict[str, list[str]]]:
    """Return the table with missing values as empty cells, and which tokens were missing.

    ``names`` are the columns that ``--na`` may name, if the table has only some of them.
    """
    stored = [(text, text.rpartition("=")[0]) for text in (how.learned or {}).get("na", ())]
    texts = [*how.na, *(text for text, name in stored if not name or name in table.names)]
    tokens: dict[str | None, set[str]] = {}
    for name, token in find_values(texts, names or table.names, "na"):
        tokens.setdefault(name, set()).add(token)
    doubtful = _doubtful(table)
    columns, missing_of = [], {}
    for column in table.columns:
        states, doubted = set(column.declared or ()), doubtful
        if how.domain is not None:
            states = set(how.domain.states[how.domain.position(column.name)])
            doubted = DOUBTFUL
        stated = tokens.get(None, set()) | tokens.get(column.name, set())
        missing = ((TOKENS | doubted) - states) | stated
        plain = column.labels if how.domain else [label.strip() for label in column.labels]
        labels = [None if label in missing else label for label in plain]
        if stated:
            same = np.isin(column.numbers, numbers_of([*stated]))
            labels = [None if gone else x for x, gone in zip(labels, same.tolist(), strict=True)]
        gone = [label for label, kept in zip(plain, labels, strict=True) if kept is None]
        if labels != list(column.labels):
            column = column.mapped(labels)
        if (column.codes < 0).any():
            missing_of[column.name] = gone
        columns.append(column)
    return replace(table, columns=columns), missing_of


def _doubtful(table: Sheet) -> Set[str]:
    """Return the doubtful tokens that occur among numbers: they are missing in the whole file."""
    doubtful: set[str] = set()
    for column in table.columns:
        tokens = DOUBTFUL.intersection(column.labels)
        if tokens and column.declared is None:
            others = [x for x in column.labels if x not in DOUBTFUL and x not in TOKENS]
            if len(others) > 1 and not np.isnan(numbers_of(others)).any():
                doubtful |= tokens
    return doubtful


# -- judging ---------------------------------------------------------------------------------------


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


def _cut(bins: Bins) -> str:
    if isinstance(bins, int):
        return f"cut into {bins} bins"
    return f"cut at {', '.join(map(label_of, bins))}"


class Judge:
    """What is known of the columns of a table without a domain; `decide` finds it out."""

    def __init__(self, table: Sheet, how: RowOptions) -> None:
        names = table.names
        self.all = table
        chosen = find_names(how.columns, names) if how.columns else names
        counts_column = how.counts or table.counts
        if counts_column is not None:
            counts_column = find_name(counts_column, names, "counts")
        self.left_out = find_names(how.drop, names) if how.drop else []
        subject = None if how.subject is None else find_name(how.subject, names, "subject")
        weights = how.row_weights and find_name(how.row_weights, names, "row_weights")
        aside = [name for name in (subject, weights) if name is not None]
        self.left_out += [name for name in aside if name not in self.left_out]
        self.named = set(chosen) if how.columns else set()
        self.insisted = set(find_names(how.category, names)) if how.category else set()
        kept = [n for n in chosen if n not in self.left_out and n != counts_column]
        self.counts = None if counts_column is None else table.column(counts_column)
        self.table, self.found = without_missing(table.only(kept), how, names)
        self.used = {column.name: column for column in self.table.columns}
        self.how, self.rows = how, table.rows
        self.every_bins, self.bins = read_bins(how.bins, names)
        self.problems: dict[str, list[Problem]] = {}
        self.kinds: dict[str, str] = {} if subject is None else {subject: "subject"}
        self.decisions: dict[str, str] = dict.fromkeys(self.left_out, "dropped")
        if weights is not None:
            self.kinds[weights], self.decisions[weights] = "weights", "survey weights"
        self.notes = list(table.notes)
        self.obstacle = ""
        self.many: list[str] = []

    def problem(self, name: str, reason: str, *remedies: tuple[str, str]) -> None:
        self.problems.setdefault(name, []).append((reason, remedies))

    def drop(self, column: Column, why: str) -> None:
        self.kinds[column.name] = "row numbers"
        self.decisions[column.name] = "dropped"
        label = "the column without a name" if not column.name else f"column {column.name!r}"
        self.notes.append(Note(f"{label} dropped: {why}", "dropped", column.name, "--columns"))

    def decide(self) -> tuple[DataSummary, Decisions]:
        """Describe all columns, and decide about them."""
        self._find_row_labels()
        if self.counts is not None:
            check_counts(self.counts, self.all)
            self.kinds[self.counts.name] = "counts"
            self.decisions[self.counts.name] = "how often each row occurs"
        else:
            self._find_counts()
        for column in self.table.columns:
            if column.name not in self.kinds:
                self._judge_column(column)
        usable = [c for c in self.table.columns if self.decisions.get(c.name) != "dropped"]
        remedy = self._remedy(usable)
        states = [name for name in self.many if name not in self.problems]
        if states:
            shown = ", ".join(map(repr, states[:5])) + ", …" * (len(states) > 5)
            text = f"the numbers of {shown} are states; --bins if they are measurements"
            self.notes.append(Note(text, "decision", option="--bins"))
        if self.all.columns and not self.obstacle and {c.name for c in usable} <= self.gone:
            self.obstacle = (
                "no column has categories: all are row numbers, identifiers, text or empty"
            )
        if len(usable) == 1 and self.rows > 1:
            is_text = self.all.lines is not None
            doubt = "; is the separator right? (--separator)" if is_text else ""
            self.notes.append(Note(f"there is only one variable{doubt}", option="--separator"))
        if self.how.columns or self.left_out:
            kept = {c.name for c in self.table.columns} | {self.counts.name if self.counts else ""}
            out = [n for n in self.all.names if n not in kept]
            if out:
                self.notes.append(Note(f"left out: {', '.join(map(repr, out))}", "dropped"))
        dropped = [n for n in self.all.names if self.decisions.get(n) == "dropped"]
        asked = [*self.left_out, *self.bins]
        self.notes += [self._repeats_note(name) for name in asked if self._repeats(name)]
        summary = DataSummary(
            self.all.file or "the data",
            self.rows,
            tuple(map(self._summary, self.all.columns)),
            tuple(self.notes),
            self.obstacle,
            remedy,
        )
        missing = self.how.missing or "error"
        return summary, Decisions(usable, self.counts, self.bins, missing, dropped, self.notes)

    def _repeats(self, name: str) -> bool:
        """Check for an identifier, or the number of a matched set, of several rows each."""
        profile = self._profile(self.all.column(name))
        is_named = bool(profile.numbers_people) and self.how.subject is None
        return is_named and profile.values > FEWEST_SETS and profile.repeats

    def _repeats_note(self, name: str) -> Note:
        values = len(self.all.column(name).labels)
        option = "--drop" if name in self.left_out else "--bins"
        text = (
            f"{name!r} has {values:,} values in {self.rows:,} rows: if each is one subject or one "
            f"matched set, its rows are not independent; use --subject {name} instead of {option}"
        )
        return Note(text, "question", name, f"--subject {name}")

    # -- row labels and counts ---------------------------------------------------------------------

    def _find_row_labels(self) -> None:
        """Drop a first column of row labels."""
        for column in self.table.columns[:1]:
            is_index = column.name.lower() in INDEX_NAMES and column.name == self.all.names[0]
            kept = {*self.named, *self.insisted, *self.bins}
            if is_index and len(column.labels) == self.rows and column.name not in kept:
                self.drop(column, "it labels the rows")

    def _others(self, *names: str) -> list[Column]:
        return [c for c in self.table.columns if c.name not in (*names, *self.kinds)]

    def _unused(self) -> list[Column]:
        """Return the columns that the user left out."""
        used = {c.name for c in self.table.columns}
        return [c for c in self.all.columns if c.name not in (*used, *self.kinds)]

    def _labels(self, name: str) -> list[Column]:
        """Return the other columns, with categories that were left out: rows differ in them too."""
        left_out = [c for c in self._unused() if c.name != name and self._may_be_category(c)]
        return [*self._others(name), *left_out]

    def _find_counts(self) -> None:
        """Recognise a column of counts, or several of them, also if ``columns`` omits it."""
        columns = [*self._others(), *(c for c in self._unused() if c.name not in self.left_out)]
        whole = [c for c in columns if self._is_count(c)]
        if not self.every_bins and not self.bins and self._find_wide(whole):
            return None
        are_whole = {c.name for c in whole}
        for column in columns:
            name = column.name.lower()
            is_count = column.name in are_whole and name in COUNT_NAMES
            if is_count and self._never_repeat(self._labels(column.name)):
                return self._is_counts(column)
            is_weight = name in WEIGHT_NAMES and column.has_fractions
            if is_weight and self._fill_half(self._labels(column.name)):
                self.obstacle = (
                    f"{column.name!r} looks like weights of the other columns. Only whole counts "
                    "can be used, because tests and scores count rows; multiply shares by the "
                    f"number of observations and use {RowOptions(counts=column.name).command()}"
                )
                return None
        for column in self._may_count(whole) if self.rows >= 4 else ():
            others, most = self._labels(column.name), column.numbers.max()
            is_labelled = len(others) > 1 or np.isnan(others[0].numbers).any() if others else False
            uneven = self.rows <= FEW_CELLS or most > 10 * column.numbers.min()
            varied = 3 * len(column.labels) >= self.rows and most > 5
            if is_labelled and uneven and varied and self._fill_half(others):
                return self._is_counts(column)
        return None

    def _may_count(self, whole: Sequence[Column]) -> Iterator[Column]:
        """Yield those next to few enough categories; rows cannot fill half of many columns."""
        others = self._others()
        sizes = {c.name: log2(max(1, len(c.labels))) for c in others}
        bad = {c.name for c in others if not self._may_be_category(c)}
        size = sum(sizes.values())
        for column in whole:
            left = size - sizes.get(column.name, 0.0)
            if bad <= {column.name} and left <= log2(2 * self.rows) + 1e-6:
                yield column

    def _find_wide(self, whole: Sequence[Column]) -> bool:
        """Recognise several columns of large counts next to labels that never repeat."""
        labels = [c for c in self._others() if np.isnan(c.numbers).any()]
        kept = [c for c in self.table.columns if self.kinds.get(c.name) == "row numbers"]
        if not labels and kept and np.isnan(kept[0].numbers).any():
            labels = kept  # a matrix: its rows have labels, and no other column is text
        numbers = [c for c in self._others() if c not in labels and not self._numbers(c)]
        large = sum(c.numbers.max() > MOST_WHOLE for c in numbers if c in whole)
        are_counts = all(c in whole for c in numbers) and 2 * large >= len(numbers)
        is_wide = len(numbers) > 1 and are_counts and self.rows >= 4 and self._fill_half(labels)
        if is_wide:
            self._is_wide(labels, numbers)
        return is_wide

    def _numbers(self, column: Column) -> bool:
        """Check for years, or numbers of the rows."""
        whole = column.is_numeric and not column.has_fractions
        are_years = whole and column.numbers.min() > 1500 and column.numbers.max() < 2100
        return are_years or (whole and self._profile(column).is_in_order)

    def _is_count(self, column: Column) -> bool:
        whole = bool(len(column.labels)) and bool((column.numbers % 1 == 0).all())
        varies = len(column.labels) > 1 and column.numbers.min() >= 0 and column.numbers.max() > 1
        insisted = column.name in self.insisted or column.name in self.bins
        return whole and bool(varies) and not insisted and not (column.codes < 0).any()

    def _never_repeat(self, columns: Sequence[Column]) -> bool:
        if not columns or self.rows < 2:
            return False
        cells = np.column_stack([column.codes for column in columns])
        return len(np.unique(cells, axis=0)) == self.rows

    def _fill_half(self, columns: Sequence[Column]) -> bool:
        """Check for categories whose combinations never repeat and are mostly there."""
        if not columns or not all(self._may_be_category(column) for column in columns):
            return False
        states = prod(len(column.labels) for column in columns)
        return 2 * self.rows >= states and self._never_repeat(columns)

    def _may_be_category(self, column: Column) -> bool:
        if np.isnan(column.numbers).any():
            return len(column.labels) <= max(MOST_LABELS, self.rows / 10)
        most = MOST_FRACTIONS if column.has_fractions else MOST_WHOLE
        return len(column.labels) <= most and not self._profile(column).is_in_order

    def _is_counts(self, column: Column) -> None:
        self.kinds[column.name] = "counts"
        many = len(column.labels) > MOST_WHOLE
        other = ("bins", f"{column.name}={BINS}") if many else ("category", column.name)
        remedies = ("counts", column.name), other
        self.problem(column.name, "looks like counts of the other columns", *remedies)

    def _is_wide(self, labels: Sequence[Column], numbers: Sequence[Column]) -> None:
        ids = [column.name or "Unnamed: 0" for column in labels]  # as pandas calls it
        names = [column.name for column in numbers]
        self.kinds |= dict.fromkeys(names, "counts")
        shown = ", ".join(names[:5]) + ", …" * (len(names) > 5)
        self.obstacle = (
            f"this looks like a wide table of counts: {plural(len(names), 'column')} of counts "
            f"({shown}) next to labels that never repeat. Melt it into one column of counts with "
            "pandas:\n"
            f"  long = {self._in_pandas()}.melt({(ids[0] if len(ids) == 1 else ids)!r}, {names!r}, "
            "'column', 'Freq')\n"
            "  long.to_csv('long.csv', index=False)   # then: --counts Freq\n"
            "If one column is the total of others, leave it out. If each row is one observation "
            f"instead, use --bins {BINS}"
        )

    def _in_pandas(self) -> str:
        """Write how pandas reads the source."""
        notes = self.all.notes
        if self.all.lines is None or any(note.kind == "source" for note in notes):
            return "frame"
        words = {note for note in notes if note.kind == "separator"}
        sign = next((s for s, word in SEPARATORS.items() if word in words), ",")
        separator = r"\s+" if sign == " " else sign
        return f"pandas.read_csv({self.all.file!r}{'' if sign == ',' else f', sep={separator!r}'})"

    # -- one column --------------------------------------------------------------------------------

    def _profile(self, column: Column) -> Profile:
        name = column.name
        return Profile(
            column,
            self.rows,
            counted=self.counts is not None or "counts" in self.kinds.values(),
            in_file=self.all.file is not None,
            is_array=self.all.is_array,
            is_first=bool(
                self.all.are_codes and self.all.file and name == self.all.columns[0].name
            ),
            named=name in self.named,
            cut=name in self.bins,
            insisted=name in self.insisted,
            has_subjects=self.how.subject is not None,
        )

    def _judge_column(self, column: Column) -> None:
        profile = self._profile(column)
        rule, name = rule_of(profile), column.name
        self.kinds[name] = rule.kind
        if rule.kind == "row numbers":
            return self.drop(column, "it numbers the rows")
        if rule.kind == "measurement":
            self._cut(column)
        is_cut = name in self.bins
        if rule.reason is not None and not is_cut:
            self.problem(name, rule.reason(profile), *rule.remedies(profile))
        if rule.kind in ("measurement", "category"):
            self._ask_about_decimals(column, rule.kind)
            self._ask_about_totals(column)
            self._judge_missing(column)
            self._ask(column)
        return None

    def _cut(self, column: Column) -> None:
        """Cut a measurement into the bins that the user gives."""
        name = column.name
        if name in self.bins and not column.is_numeric:
            raise DomainError(f"bins: column {name!r} is not made of numbers")
        if self.every_bins:
            self.bins.setdefault(name, self.every_bins)
        if name in self.bins:
            self.decisions[name] = _cut(self.bins[name])

    def _ask_about_totals(self, column: Column) -> None:
        """Ask about rows that add up others, such as a last row ``Total``."""
        if column.name in (*self.insisted, *self.bins) or column.declared is not None:
            return
        for k, label in enumerate(column.labels):
            word = label.casefold().strip(" ():")
            if word not in TOTALS:
                continue
            inside = column.codes == k
            counts = self._count_of_rows()
            if counts is None:
                adds_up = int(inside.sum()) == 1 and bool(inside[-1])
            else:
                adds_up = word in SURE_TOTALS or 2 * counts[inside].sum() == counts.sum()
            if adds_up:
                remedy = ("na", f"{column.name}={label}")
                reason = f"rows with {label!r} add up the others"
                self.problem(column.name, reason, remedy, ("category", column.name))

    def _count_of_rows(self) -> FloatArray | None:
        named = [name for name, kind in self.kinds.items() if kind == "counts"]
        column = self.counts or (self.all.column(named[0]) if len(named) == 1 else None)
        return None if column is None else np.nan_to_num(column.numbers)[column.codes]

    def _ask_about_decimals(self, column: Column, kind: str) -> None:
        """Ask for the decimal sign if sizes or the order of states depend on it."""
        if not column.is_unclear or not column.is_numeric or column.declared is not None:
            return
        _, point, comma = readings(column.labels)
        if kind == "measurement" or (np.argsort(point) != np.argsort(comma)).any():
            self.problem(column.name, *unclear_decimals(column))

    def _judge_missing(self, column: Column) -> None:
        missing = column.missing
        if missing and self.how.missing in (None, "error"):
            tokens = [t or "empty" for t in self.found[column.name]] or ["empty"]
            row, lines = int(np.argmax(column.codes < 0)), self.all.lines
            place = f"row {row}" if lines is None else f"line {lines[row]}"
            first = "" if missing == 1 else "first "
            reason = f"{plural(missing, 'missing value')} ({', '.join(tokens[:4])}; {first}{place})"
            self.problem(column.name, reason, ("missing", "drop"), ("missing", "state"))

    def _ask(self, column: Column) -> None:
        """Ask about values that may stand for missing ones, or for each other."""
        name = column.name
        self._ask_about_twins(column)
        if column.is_numeric:
            most = FEW_FRACTIONS if column.has_fractions else MOST_FRACTIONS
            decided = self.all.is_array or name in self.bins or name in self.insisted
            if len(column.labels) > most and not decided:
                self.many.append(name)
            self._ask_about_codes(column)
            return
        for token in sorted(DOUBTFUL.intersection(column.labels) - set(column.declared or ())):
            option = f"--na {name}={token}"
            text = f"{token!r} is a state of {name!r}; {option} if it stands for a missing value"
            self.notes.append(Note(text, "question", name, option))

    def _ask_about_codes(self, column: Column) -> None:
        """Name a largest or smallest number such as 99 or -9 that is far from the others."""
        name, order = column.name, np.argsort(column.numbers)
        for at, beside in ((order[-1], order[-2:-1]), (order[0], order[1:2])):
            code = column.labels[at]
            if len(order) < 3 or not re.fullmatch(r"-?(9+|8+|7+)", code):
                continue
            nearest, value = float(column.numbers[beside[0]]), float(column.numbers[at])
            small = float(column.numbers[order[0] if value > 0 else order[-1]])
            if (value < 0 <= nearest) or (value >= 9 and small >= 0 and 1.5 * nearest < value):
                option = f"--na {name}={code}"
                text = (
                    f"{code} occurs {plural(int(column.counts[at]), 'time')} in {name!r} next to "
                    f"{label_of(min(nearest, small))} to {label_of(max(nearest, small))}; {option} "
                    "if it stands for a missing value"
                )
                self.notes.append(Note(text, "question", name, option))

    def _ask_about_twins(self, column: Column) -> None:
        """Name states that differ only in case, blanks, invisible signs, or notation."""
        meanings: dict[object, list[str]] = {}
        for label, number in zip(column.labels, column.numbers.tolist(), strict=True):
            is_exact = abs(number) < 2**53  # False for NaN, the number of a text
            visible = re.sub("[\u00ad\u200b-\u200f\u2060\ufeff]", "", normalize("NFKC", label))
            meaning = number if is_exact else " ".join(visible.casefold().split())
            meaning = _TRUTH.get(meaning, meaning)
            plain = label[:-2] if re.fullmatch(r"-?(0|[1-9]\d{0,14})\.0", label) else label
            if plain not in meanings.setdefault(meaning, []):
                meanings[meaning].append(plain)
        if column.name in self.bins or len(column.labels) > MOST_LABELS:
            return
        zeros = [x for x in column.labels if re.fullmatch(r"-?(0|[1-9]\d{0,14})\.0", x)]
        same = next((x for x in zeros if x.partition(".")[0] in column.labels), None)
        if same:
            text = f"{same.partition('.')[0]!r} and {same!r} are one state of {column.name!r}"
            self.notes.append(Note(text, "decision", column.name))
        for twins in meanings.values():
            if len(twins) > 1:
                shown = " and ".join(map(repr, twins[:3]))
                text = (
                    f"{shown} are different states of {column.name!r}; if they mean the same, "
                    "write them alike in the file"
                )
                self.notes.append(Note(text, "decision", column.name))

    # -- all columns -------------------------------------------------------------------------------

    def _remedy(self, usable: Sequence[Column]) -> RowOptions:
        """Return the first remedy of each problem; drop rows if most of them are complete."""
        fields: dict[str, Any] = {
            option: [] for option in ("drop", "bins", "category", "decimal", "na")
        }
        people = [n for n, ps in self.problems.items() for _, r in ps if r[0][0] == "subject"]
        # People, before their households; children of a family may be numbered anew in each.
        people.sort(key=lambda name: -len(self.all.column(name).labels))
        self.gone = {n for n, ps in self.problems.items() for _, r in ps if r[0][0] == "drop"}
        kept = [c for c in usable if c.name not in self.gone and self.kinds[c.name] != "counts"]
        for problems in self.problems.values():
            for _, remedies in problems:
                option, value = remedies[0]
                if value in people[1:]:
                    option = "drop"  # rows have one subject
                if option in ("counts", "missing", "subject", "row_weights"):
                    fields[option] = value
                else:
                    fields[option].append(value)
        if fields["na"]:
            fields["missing"] = "drop"
        elif "missing" in fields:
            complete = np.ones(self.rows, dtype=bool)
            for column in kept:
                complete &= column.codes >= 0
            fields["missing"] = "drop" if 3 * complete.sum() >= 2 * self.rows else "state"
        return row_options(**fields)

    def _summary(self, column: Column) -> ColumnSummary:
        column = self.used.get(column.name, column)
        order = np.argsort(-column.counts, kind="stable")[:FREQUENT]
        return ColumnSummary(
            column.name,
            self.kinds.get(column.name, "left out"),
            len(column.labels),
            column.missing,
            tuple((column.labels[k], int(column.counts[k])) for k in order),
            tuple(self.problems.get(column.name, ())),
            self.decisions.get(column.name, ""),
        )


def unclear_decimals(column: Column) -> tuple[str, tuple[str, str], tuple[str, str]]:
    """Return both readings of a column's numbers, thousands first, and the options for them."""
    label, point, comma = readings(column.labels)
    k = column.labels.index(label)
    ways = sorted((("point", point[k]), ("comma", comma[k])), key=lambda way: -abs(way[1]))
    (_, large), (_, small) = ways
    first, second = (("decimal", f"{column.name}={word}") for word, _ in ways)
    return f"{label} may be {label_of(large)} or {label_of(small)}", first, second


def check_counts(column: Column, table: Sheet) -> IntArray:
    """Return how often each row occurs; raise unless all are whole numbers >= 0."""
    values = column.numbers[column.codes] if len(column.labels) else np.full(table.rows, np.nan)
    values = np.where(column.codes < 0, np.nan, values)
    bad = ~(values >= 0) | (values % 1 != 0) | (values > LARGEST_COUNT)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        cell = (column.codes[row] >= 0 and column.labels[column.codes[row]]) or "empty"
        raise table.error(
            row,
            f"counts must be whole numbers from 0 to {LARGEST_COUNT:,}, but {column.name!r} is "
            f"{cell}; weights such as those of surveys are no counts: give them with --row-weights",
        )
    if not values.any():
        raise DomainError(f"every row occurs 0 times by {column.name!r}")
    counts: IntArray = values.astype(np.int64)
    return counts
