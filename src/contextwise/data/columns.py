"""Judge the columns of a table: which are categories, and what to do about the others.

`judge` gives each column the first rule of `kinds.RULES` that applies, and collects every problem
with its remedies, so that one message and one command can solve them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from contextwise.data.bins import Bins, cut_text, read_bins
from contextwise.data.counted import (
    Candidates,
    check_counts,
    counts_by_name,
    counts_by_values,
    weights_by_name,
    weights_obstacle,
    wide_obstacle,
    wide_table,
)
from contextwise.data.kinds import FEWEST_SETS, Problem, Profile, Remedies, Rule, rule_of
from contextwise.data.missing import without_missing
from contextwise.data.options import (
    RowOptions,
    command_line,
    find_name,
    find_names,
    row_options,
)
from contextwise.data.questions import NOTES, PROBLEMS, are_many_states, is_total, two_readings
from contextwise.data.table import Column, Note, Sheet
from contextwise.errors import DomainError
from contextwise.support.arrays import BoolArray
from contextwise.support.effort import check_reading
from contextwise.support.formatting import columns as laid_out
from contextwise.support.formatting import name as shortened
from contextwise.support.formatting import plural

PAGE = "docs/howto/your-data.md"
"""The page that explains the choices."""
INDEX_NAMES = frozenset({"", "rownames", "row.names", "row_names", "index", "unnamed: 0"})
FREQUENT = 3
"""The number of most frequent values that a summary lists."""


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
    sparse: tuple[str, ...] = ()  #: columns to leave out so that half of the rows are complete

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
    bins: Mapping[str, Bins]
    missing: str
    dropped: list[str]
    notes: list[Note]


# -- judging ---------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """The choices of the user about columns, by their names in the table."""

    used: list[str]
    left_out: list[str]  #: by name; their subjects and weights too
    named: frozenset[str]  #: by ``columns``
    categories: frozenset[str]
    bins: Mapping[str, Bins]
    bins_of_all: Bins | None
    counts: str | None
    subject: str | None
    weights: str | None

    @property
    def settled(self) -> frozenset[str]:
        return self.categories | self.bins.keys()


def choice_of(table: Sheet, how: RowOptions) -> Choice:
    """Find the columns that the options name; raise if there is no such column."""
    names = table.names
    used = find_names(how.columns, names) if how.columns else names
    counts, subject, weights = (
        None if text is None else find_name(text, names, option)
        for text, option in (
            (how.counts or table.counts, "counts"),
            (how.subject, "subject"),
            (how.row_weights, "row_weights"),
        )
    )
    left_out = find_names(how.drop, names) if how.drop else []
    left_out += [n for n in (subject, weights) if n is not None and n not in left_out]
    of_all, bins = read_bins(how.bins, names)
    return Choice(
        [name for name in used if name not in left_out and name != counts],
        left_out,
        frozenset(used if how.columns else ()),
        frozenset(find_names(how.category, names) if how.category else ()),
        bins,
        of_all,
        counts,
        subject,
        weights,
    )


class Verdict(NamedTuple):
    """The rule that decides a column, its problems and its notes."""

    profile: Profile
    rule: Rule
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    decision: str = ""

    @property
    def name(self) -> str:
        return self.profile.name

    @property
    def is_used(self) -> bool:
        """True for a variable, once its problems are solved."""
        return not self.profile.use and self.decision != "dropped"


def judge(table: Sheet, how: RowOptions) -> tuple[DataSummary, Decisions]:
    """Describe all columns of a table without a domain, and decide about them."""
    choice = choice_of(table, how)
    if choice.counts is not None:
        check_counts(table.column(choice.counts), table)
    sheet, tokens = without_missing(table.only(choice.used), how, table.names)
    used = {column.name: column for column in sheet.columns}
    labels = _row_labels(table, sheet.columns, choice)
    uses, obstacle = _uses(table, sheet.columns, choice, labels)
    counts = [name for name, use in uses.items() if use in ("counts", "asked", "wide")]
    bins = dict(choice.bins)
    verdicts = []
    for column in table.columns:
        check_reading()
        name = column.name
        profile = Profile(
            used.get(name, column),
            table.rows,
            use=uses.get(name, "" if name in used else "left out"),
            is_index=labels is not None and name == labels.name,
            counted=bool(counts),
            in_file=table.file is not None,
            is_array=table.is_array,
            is_first=bool(table.are_codes and table.file and column is table.columns[0]),
            named=name in choice.named,
            cut=name in choice.bins,
            insisted=name in choice.categories,
            has_subjects=choice.subject is not None,
            counts=_counts_of_rows(table, counts),
            asks_about_missing=how.missing in (None, "error"),
            tokens=tokens.get(name, ()),
            lines=table.lines,
        )
        verdicts.append(_verdict(profile, bins, choice))
    remedy, obstacle = _remedy(verdicts), obstacle or _nothing_left(verdicts)
    notes = [*table.notes, *_notes(table, how, choice, verdicts)]
    summaries = tuple(map(_summary, verdicts))
    source = table.file or "the data"
    sparse = _sparse(verdicts, remedy, how)
    summary = DataSummary(source, table.rows, summaries, tuple(notes), obstacle, remedy, sparse)
    decisions = Decisions(
        [each.profile.column for each in verdicts if each.is_used],
        None if choice.counts is None else table.column(choice.counts),
        bins,
        how.missing or "error",
        [each.name for each in verdicts if each.decision == "dropped"],
        notes,
    )
    return summary, decisions


def _row_labels(table: Sheet, used: Sequence[Column], choice: Choice) -> Column | None:
    """Return the first column if it labels the rows."""
    for column in used[:1]:
        is_index = column.name.lower() in INDEX_NAMES and column.name == table.names[0]
        kept = choice.named | choice.settled
        if is_index and len(column.labels) == table.rows and column.name not in kept:
            return column
    return None


def _uses(
    table: Sheet, used: Sequence[Column], choice: Choice, labels: Column | None
) -> tuple[dict[str, str], str]:
    """Return the columns that are no variables, with their use, and why no option would help."""
    uses = dict.fromkeys(choice.left_out, "left out")
    uses |= {name: "subject" for name in (choice.subject,) if name is not None}
    uses |= {name: "weights" for name in (choice.weights,) if name is not None}
    if choice.counts is not None:
        return uses | {choice.counts: "counts"}, ""
    variables = [c for c in used if c is not labels]
    names = {c.name for c in used} | {choice.subject, choice.weights}
    unused = [c for c in table.columns if c.name not in names]
    offered = [c for c in unused if c.name not in choice.left_out]
    among = Candidates(table.rows, variables, unused, offered, choice.settled)
    has_bins = choice.bins_of_all is not None or bool(choice.bins)
    wide = None if has_bins else wide_table(among, labels)
    if wide is not None:
        return uses | dict.fromkeys(wide[1], "wide"), wide_obstacle(*wide, table)
    counts = counts_by_name(among)
    weights = None if counts is not None else weights_by_name(among)
    if weights is not None:
        return uses, weights_obstacle(weights.name)
    counts = counts or counts_by_values(among)
    return uses | ({} if counts is None else {counts.name: "asked"}), ""


def _counts_of_rows(table: Sheet, counts: Sequence[str]) -> Any:
    if len(counts) != 1:
        return None
    column = table.column(counts[0])
    return np.nan_to_num(column.numbers)[column.codes]


def _verdict(profile: Profile, bins: dict[str, Bins], choice: Choice) -> Verdict:
    """Decide about a column by the first rule; a measurement is cut if the user says how."""
    rule, name = rule_of(profile), profile.name
    profile = replace(profile, kind=rule.kind)
    if rule.kind == "row numbers":
        why = "it labels the rows" if profile.is_index else "it numbers the rows"
        label = f"column {name!r}" if name else "the column without a name"
        note = Note(f"{label} dropped: {why}", "dropped", name, "--columns")
        return Verdict(profile, rule, (), (note,), "dropped")
    if profile.use and profile.use != "asked":
        return Verdict(profile, rule, decision=_decision(profile, choice))
    if profile.cut and not profile.column.is_numeric:
        raise DomainError(f"bins: column {name!r} is not made of numbers")
    if rule.kind == "measurement" and choice.bins_of_all:
        bins.setdefault(name, choice.bins_of_all)
    is_cut = name in bins
    problems: list[Problem] = []
    if rule.reason is not None and not is_cut:
        problems.append((rule.reason(profile), rule.remedies(profile)))
    notes: list[Note] = []
    if profile.use == "asked":
        problems += two_readings(profile)
    if rule.kind in ("measurement", "category"):
        problems += [problem for ask in PROBLEMS for problem in ask(profile)]
        notes += [note for ask in NOTES for note in ask(profile)]
    decision = cut_text(bins[name]) if is_cut and rule.kind == "measurement" else ""
    return Verdict(profile, rule, tuple(problems), tuple(notes), decision)


def _decision(profile: Profile, choice: Choice) -> str:
    if profile.use == "counts":
        return "how often each row occurs"
    if profile.use == "weights":
        return "survey weights"
    return "dropped" if profile.name in choice.left_out else ""


def _nothing_left(verdicts: Sequence[Verdict]) -> str:
    used = [each for each in verdicts if each.is_used]
    gone = [each for each in used if any(r[0][0] == "drop" for _, r in each.problems)]
    if verdicts and len(gone) == len(used):
        return "no column has categories: all are row numbers, identifiers, text or empty"
    return ""


def _notes(
    table: Sheet, how: RowOptions, choice: Choice, verdicts: Sequence[Verdict]
) -> list[Note]:
    """Return the notes of all columns, and those about the whole table."""
    notes = [note for each in verdicts for note in each.notes]
    used = [each for each in verdicts if each.is_used]
    states = [
        each.name
        for each in used
        if each.rule.kind == "category" and not each.problems and are_many_states(each.profile)
    ]
    if states:
        shown = ", ".join(map(repr, states[:5])) + ", …" * (len(states) > 5)
        text = f"the numbers of {shown} are states; --bins if they are measurements"
        notes.append(Note(text, "decision", option="--bins"))
    if len(used) == 1 and table.rows > 1:
        doubt = "; is the separator right? (--separator)" if table.lines is not None else ""
        notes.append(Note(f"there is only one variable{doubt}", option="--separator"))
    if how.columns or choice.left_out:
        out = [n for n in table.names if n not in choice.used and n != choice.counts]
        if out:
            notes.append(Note(f"left out: {', '.join(map(repr, out))}", "dropped"))
    by_name = {each.name: each.profile for each in verdicts}
    asked = [by_name[name] for name in (*choice.left_out, *choice.bins)]
    return notes + [_repeats_note(p, p.name in choice.left_out) for p in asked if _repeats(p)]


def _repeats(profile: Profile) -> bool:
    """Check for an identifier, or the number of a matched set, of several rows each."""
    is_named = bool(profile.numbers_people) and not profile.has_subjects
    return is_named and profile.values > FEWEST_SETS and profile.repeats


def _repeats_note(profile: Profile, is_dropped: bool) -> Note:
    name, option = profile.name, "--drop" if is_dropped else "--bins"
    text = (
        f"{name!r} has {profile.values:,} values in {profile.rows:,} rows: if each is one subject "
        "or one matched set, its rows are not independent; use "
        f"--subject {name} instead of {option}"
    )
    return Note(text, "question", name, f"--subject {name}")


def _remedy(verdicts: Sequence[Verdict]) -> RowOptions:
    """Return the first remedy of each problem; drop rows if most of them are complete."""
    fields: dict[str, Any] = {
        option: [] for option in ("drop", "bins", "category", "merge", "decimal", "na")
    }
    # Rows have one subject: people, not their households or their numbers in a family.
    people = [each for each in verdicts for _, r in each.problems if r[0][0] == "subject"]
    others = {p.name for p in sorted(people, key=lambda each: -each.profile.values)[1:]}
    for each in verdicts:
        for _, remedies in each.problems:
            option, value = remedies[0]
            if option == "subject" and value in others:
                option = "drop"
            if option in ("counts", "missing", "subject", "row_weights"):
                fields[option] = value
            else:
                fields[option].append(value)
    if any(map(is_total, fields["na"])):
        fields["missing"] = "drop"
    elif fields["na"] or "missing" in fields:
        known = _known_cells(verdicts, fields["drop"], fields["na"])
        complete = np.logical_and.reduce(list(known.values()))
        fields["missing"] = "drop" if 3 * complete.sum() >= 2 * len(complete) else "state"
    return row_options(**fields)


def _sparse(verdicts: Sequence[Verdict], remedy: RowOptions, how: RowOptions) -> tuple[str, ...]:
    """Return the columns to leave out so that half of the rows are complete, worst first.

    Columns that the user named stay.
    """
    if remedy.missing != "state":
        return ()
    named = {how.outcome, how.subject, how.row_weights, how.counts, *how.category}
    known = _known_cells(verdicts, remedy.drop, remedy.na)
    lacking = np.zeros(len(next(iter(known.values()))), dtype=np.int64)  # cells of each row
    for cells in known.values():
        lacking += ~cells
    found: list[str] = []
    for name in sorted(known, key=lambda name: int(known[name].sum())):
        if 2 * (lacking == 0).sum() >= len(lacking):
            break
        if name not in named and len(known) - len(found) > 2:
            found.append(name)
            lacking -= ~known[name]
    return tuple(found)


def _known_cells(
    verdicts: Sequence[Verdict], dropped: Sequence[str], tokens: Sequence[str]
) -> dict[str, BoolArray]:
    """Return for each column that is used which rows have a value."""
    used = (each for each in verdicts if each.is_used and each.name not in dropped)
    return {each.name: _is_known(each, tokens) for each in used}


def _is_known(verdict: Verdict, tokens: Sequence[str]) -> BoolArray:
    """Return which rows have a value, once these tokens are missing."""
    column, name = verdict.profile.column, verdict.name
    lost = [k for k, label in enumerate(column.labels) if f"{name}={label}" in tokens]
    known: BoolArray = (column.codes >= 0) & ~np.isin(column.codes, lost)
    return known


def _summary(verdict: Verdict) -> ColumnSummary:
    column = verdict.profile.column
    order = np.argsort(-column.counts, kind="stable")[:FREQUENT]
    return ColumnSummary(
        column.name,
        verdict.rule.kind,
        len(column.labels),
        column.missing,
        tuple((column.labels[k], int(column.counts[k])) for k in order),
        verdict.problems,
        verdict.decision,
    )
