"""Parts of a view, as data: tables, measures, notes, pictures.

`comparisons` and `evaluations` turn a result into parts, with every word in place; `parts_of` finds
the function for a result. `text`, `html` and the explorer only show parts. Cells hold values, not
strings, so that tables can be sorted; only `cell_text` turns a value into a string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from contextwise.comparison.roles import Agreement
from contextwise.support import words
from contextwise.support.formatting import is_readable, name, number, rate
from contextwise.support.words import exact_percent

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Estimate
    from contextwise.evidence.pair_records import Verdict
    from contextwise.report.html import Markup

Number = int | Fraction
Style = Literal["name", "text", "count", "rate", "share", "counted", "mean", "score", "p", "plot"]
"""Content of a column or measure: a name, plain words, an exact count, a rate, a share of contexts
without or with its counts, a mean of counts, a score of any size, a p-value as
`words.p_text` writes it, or a picture of a `Spread`, which only pages show."""
UNKNOWN = "–"
LONGEST_TIP = 400  # digits
TOP = 10  # default number of entries of a list to show
SHORT = 10**4  # counts out of fewer than this are shown next to their shares

UNDECIDED = "not decided in time"
# Okabe and Ito's hues, which colour-blind readers can distinguish; dashes are for black and white.
COLOURS: dict[Agreement, str] = {"tp": "#7f7f7f", "fp": "#D55E00", "fn": "#0072B2"}
DARK_COLOURS: dict[Agreement, str] = {"tp": "#9a9a9a", "fp": "#F28E3C", "fn": "#56B4E9"}
DASHES: dict[Agreement, tuple[float, float] | None] = {"tp": None, "fp": (6, 3), "fn": (1.5, 2.5)}


class Interval(NamedTuple):
    """A value between two bounds, both included; in JSON a list of two."""

    low: Number | float
    high: Number | float

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


class Share(NamedTuple):
    """An exact count as a share of another; `str` and tips have the counts."""

    part: Number
    whole: Number

    def __str__(self) -> str:
        return f"{number(self.part)} of {number(self.whole)}"

    @property
    def value(self) -> float:
        """The share as a float; 0 of 0 is 0."""
        return float(self.part / self.whole) if self.whole else 0.0


class Marked(NamedTuple):
    """Words about one kind of context, which renderers may colour."""

    text: str
    kind: Agreement

    def __str__(self) -> str:
        return self.text


class PairName(NamedTuple):
    first: str
    second: str

    def __str__(self) -> str:
        return f"{name(self.first, 24)} – {name(self.second, 24)}"


class Spread(NamedTuple):
    """A number with its interval and the crude one; pages draw it where its column is a plot."""

    value: float
    low: float
    high: float
    crude: float | None
    kind: Literal["points", "ratio", "V"]
    is_approximate: bool = False  # the interval covers less than it says
    unit: str = ""  # such as "per step"

    @property
    def written(self) -> Callable[[float], str]:
        """The function that writes such a number."""
        return {"points": words.points, "ratio": words.ratio, "V": words.strength}[self.kind]

    @property
    def interval(self) -> str:
        """The interval as text."""
        about = "about " if self.is_approximate else ""
        return f"{about}{words.between(self.low, self.high, self.written)}"

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.written(self.value)}{unit} ({self.interval})"


class Judged(NamedTuple):
    """A verdict about a pair, and a few words on what limits it."""

    verdict: Verdict
    note: words.Phrase

    def __str__(self) -> str:
        return f"{self.verdict}; {self.note}" if self.note else self.verdict


Cell: TypeAlias = (
    "str | Number | float | Interval | Share | Estimate | Marked | PairName | Spread | Judged"
    " | None"
)
"""A value of a table or of a measure; None if it is unknown."""


class Column(NamedTuple):
    title: str
    style: Style

    @property
    def is_number(self) -> bool:
        """True if its cells are numbers, which are aligned to the right."""
        return self.style not in ("name", "text", "plot")


class Table(NamedTuple):
    """Rows of values under typed columns; renderers treat some tables differently by ``key``."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    key: str = ""

    @property
    def as_words(self) -> Table:
        """The table without the columns that only pages show."""
        return self.only(*(column.title for column in self.columns if column.style != "plot"))

    def only(self, *titles: str) -> Table:
        """Return the table with some of its columns."""
        kept = [k for k, column in enumerate(self.columns) if column.title in titles]
        rows = tuple(tuple(row[k] for k in kept) for row in self.rows)
        return self._replace(columns=tuple(self.columns[k] for k in kept), rows=rows)

    def records(self) -> list[dict[str, Any]]:
        """Return a flat mapping per row: numbers stay numbers, and intervals have own columns."""
        return [
            {
                key: value
                for column, cell in zip(self.columns, row, strict=True)
                if column.style != "plot"
                for key, value in _flat(column.title, cell).items()
            }
            for row in self.rows
        ]

    def texts(self) -> list[list[str]]:
        """Return the cells as strings, without the head."""
        return [
            [cell_text(cell, column.style) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


def _flat(title: str, cell: Cell) -> dict[str, Any]:
    """Return the numbers of a cell under the title of its column."""
    match cell:
        case Spread():
            by = 100 if cell.kind == "points" else 1
            crude = None if cell.crude is None else by * cell.crude
            ends = {f"{title} low": by * cell.low, f"{title} high": by * cell.high}
            unit = {f"{title} unit": cell.unit} if cell.kind == "ratio" else {}
            return {title: by * cell.value, **ends, f"crude {title}": crude, **unit}
        case Judged():
            return {title: cell.verdict, "note": str(cell.note)}
        case PairName():
            return {"first": cell.first, "second": cell.second}
    return {title: cell}


def table(
    title: str, columns: Mapping[str, Style], rows: Iterable[Sequence[Cell]], key: str = ""
) -> Table:
    """Return a table from the titles and styles of its columns, and its rows."""
    heads = tuple(Column(head, style) for head, style in columns.items())
    return Table(title, heads, tuple(map(tuple, rows)), key)


class Entry(NamedTuple):
    """One number: its key in JSON, its label, its value, and one sentence on its meaning."""

    key: str
    label: str
    value: Cell
    style: Style
    meaning: str = ""


class Entries(NamedTuple):
    """Numbers in groups; the first group has the most important ones."""

    groups: tuple[tuple[Entry, ...], ...]


class Note(NamedTuple):
    """A few sentences; ``warns`` if they limit what the numbers mean."""

    key: str
    text: str
    warns: bool = False


class Mark(NamedTuple):
    shape: Literal["box", "line"]
    kind: str  # "tp", "fp" or "fn"; boxes can also be "covered", "blank" or "open"
    colour: str
    opacity: float = 1.0
    dashes: tuple[float, float] | None = None


class Drawn(Protocol):
    """A picture that draws itself."""

    def svg(self) -> Markup:
        """Return it as SVG."""
        ...


class Legend(NamedTuple):
    title: str
    entries: tuple[tuple[Mark, str], ...]


@dataclass(frozen=True, eq=False)
class Picture:
    """What draws itself as SVG, or the packed data of a heat map."""

    caption: str
    legends: tuple[Legend, ...]
    content: Drawn | None = None
    packed: str = ""


class Verdicts(NamedTuple):
    """How many pairs have which verdict."""

    title: str
    counts: tuple[tuple[Verdict, int], ...]

    def __str__(self) -> str:
        known = [f"{count} {verdict}" for verdict, count in self.counts if count]
        return f"{self.title}: {', '.join(known)}."


class Card(NamedTuple):
    """One finding: its title, its test in a few words, a sentence, a picture and its numbers."""

    title: words.Phrase
    test: str
    sentence: words.Phrase
    picture: Picture | None
    numbers: Table


class Section(NamedTuple):
    title: str
    parts: tuple[Part, ...]
    key: str = ""


Part: TypeAlias = Note | Entries | Table | Legend | Picture | Verdicts | Card | Section


# -- the parts of a result -------------------------------------------------------------------------

PARTS = {
    "comparison.two_models.Comparison": "report.comparisons.comparison_parts",
    "comparison.error_regions.Explanation": "report.differences.difference_parts",
    "comparison.error_regions.PairExplanation": "report.differences.region_parts",
    "comparison.matrix.Comparisons": "report.comparisons.comparisons_parts",
    "comparison.matrix.DistanceMatrix": "report.comparisons.matrix_parts",
    "comparison.strengths.Strengths": "report.comparisons.strength_parts",
    "comparison.tolerances.AtTolerances": "report.comparisons.tolerance_parts",
    "evaluation.random_guesses.Chance": "report.evaluations.chance_parts",
    "evidence.model_check.Check": "report.claims.check_parts",
    "evaluation.groups_of_guesses.GroupComparison": "report.evaluations.guess_groups_parts",
    "evaluation.ensemble_scores.EnsembleScore": "report.evaluations.ensemble_score_parts",
    "evaluation.ensemble_scores.EnsembleScores": "report.evaluations.ensemble_scores_parts",
    "evaluation.ensemble_scores.Reliability": "report.evaluations.reliability_parts",
    "analysis.conclusions.Analysis": "report.analysis_parts.parts_of_analysis",
    "analysis.groups_of_rows.Groups": "report.groups_of_rows.groups_parts",
    "analysis.groups_of_rows.GroupsOfColumns": "report.groups_of_rows.columns_parts",
    "analysis.resampling.Stability": "report.evaluations.stability_parts",
    "independence.model_claims.ModelExplanation": "report.claims.explanation_parts",
    "models.evidence.Evidence": "report.claims.evidence_parts",
    "models.structure.LogLinear": "report.claims.model_parts",
    "models.structure.Structure": "report.claims.model_parts",
    "studies.learner_study.Study": "report.studies.study_parts",
}
"""Functions of (result, *, top) by the classes they show, subclasses included. Both are given by
name, so that showing one result does not load the others."""


def parts_of(result: object, **options: int) -> list[Part]:
    """Return the parts of any result; ``top`` limits its lists."""
    for kind in type(result).__mro__:
        path = f"{kind.__module__}.{kind.__qualname__}".removeprefix("contextwise.")
        if path in PARTS:
            module, _, function = PARTS[path].rpartition(".")
            parts: list[Part] = getattr(import_module(f"contextwise.{module}"), function)(
                result, **options
            )
            return parts
    raise TypeError(f"contextwise.report cannot show a {type(result).__name__}")


def cell_text(cell: Cell, style: Style) -> str:
    """Return a value as one line of text."""
    match cell:
        case None:
            return UNKNOWN
        case Interval():
            ends = (cell.low,) if cell.low == cell.high else (cell.low, cell.high)
            return " to ".join(cell_text(end, style) for end in ends)
        case Share():
            share = exact_percent(cell.part, cell.whole) if cell.whole else "0 %"
            with_counts = style == "counted" and cell.whole < SHORT
            return f"{share} ({cell})" if with_counts else share
        case Marked() | PairName() | Spread() | Judged():
            return str(cell)
        case str():
            return name(cell) if style == "name" else cell
    value: Any = cell
    if hasattr(value, "standard_error"):
        error = value.standard_error  # 0 if the value is exact
        return f"{value.value:.4g} ± {error:.1g}" if error else f"{value.value:.6g}"
    match style:
        case "rate":
            return rate(float(value))
        case "share" | "counted":
            return exact_percent(value)
        case "mean":
            return f"{float(value):.2f}"
        case "score":
            return f"{float(value):.6g}"
        case "p":
            return words.p_text(float(value))
    return number(value if isinstance(value, int) else Fraction(value))


def exact_digits(cell: Cell, style: Style) -> str | None:
    """Return the exact number behind a rounded one, or None."""
    if isinstance(cell, Share):
        if style == "counted" and cell.whole < SHORT:
            return None
        if not is_readable(cell.whole, LONGEST_TIP):
            return f"about {cell}"
        exact = f"{cell.part} of {cell.whole}"
        return exact if len(exact) <= LONGEST_TIP else f"about {cell}"
    if style == "count" and isinstance(cell, int) and not is_readable(cell):
        if is_readable(cell, LONGEST_TIP):
            return str(cell)
        return f"{Decimal(cell).adjusted() + 1} digits"
    return None
