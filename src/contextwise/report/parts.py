"""What is shown, as data: tables, measures, notes, legends and pictures.

A result is made into a tuple of these parts once (`contextwise.report.comparisons` and its
neighbours), with every word in place. What shows it is thin: `contextwise.report.text` writes
columns for a terminal, the templates of the page and of notebooks write HTML, and the explorer
makes tags. Cells hold values, not texts, so that a table can be sorted by what it says;
`cell_text` is the one place where a value becomes words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from contextwise.report.colours import Agreement
from contextwise.support.formatting import READABLE, is_readable, name, number, percent, rate

if TYPE_CHECKING:
    from contextwise.report.plane import Plane
    from contextwise.report.shares import Graph

Number = int | Fraction
Style = Literal["name", "words", "count", "rate", "share", "mean", "score", "probability", "bits"]
"""What a column or a measure holds: a name, plain words, an exact count, a rate, an exact share
of contexts, a mean of counts, a score of any size with its standard error, a p-value, or
information in bits."""
UNKNOWN = "–"
"""How a value that is not known or not defined reads."""


@dataclass(frozen=True)
class Interval:
    """A value that is known to lie between two others, both included."""

    low: Number | float
    high: Number | float


@dataclass(frozen=True)
class Marked:
    """Words about one kind of context, which renderings may colour."""

    text: str
    kind: Agreement

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class PairName:
    """The two variables of a pair."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{name(self.first, 24)} – {name(self.second, 24)}"


@runtime_checkable
class Estimated(Protocol):
    """A number that may come from samples, such as the estimates of `contextwise.distributions`."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def standard_error(self) -> float:
        """Its standard error; 0 where it is exact."""


Cell: TypeAlias = str | Number | float | Interval | Estimated | Marked | PairName | None
"""A value of a table or of a measure; None is what is not known."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : its head
    style : what its cells hold
    digits : how many digits of a count are shown before it is rounded
    """

    title: str
    style: Style
    digits: int = READABLE

    @property
    def is_number(self) -> bool:
        """Whether its cells are numbers, which stand to the right."""
        return self.style not in ("name", "words")


@dataclass(frozen=True)
class Table:
    """Rows of values under typed columns; the first column names the rows.

    Attributes
    ----------
    title : what the table shows; empty where that is clear
    columns : one for each cell of a row
    rows : values, not texts; see `cell_text`
    key : which table it is, for those who treat one in their own way
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    key: str = ""

    def texts(self) -> list[list[str]]:
        """The cells as texts, without the head.

        >>> columns = Column("pair", "name"), Column("errors", "count")
        >>> Table("", columns, ((PairName("A", "B"), 1048576),)).texts()
        [['A – B', '1,048,576']]
        """
        return [
            [cell_text(cell, column) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


@dataclass(frozen=True)
class Measure:
    """One number and what it means.

    Attributes
    ----------
    key : its name in Python and in JSON
    label : its name for readers
    value : the number, an `Interval`, or None where it is not known or not defined
    style : ``"count"`` or ``"rate"``
    meaning : one sentence
    """

    key: str
    label: str
    value: Cell
    style: Style
    meaning: str = ""

    @property
    def column(self) -> Column:
        """The column that its value could stand in."""
        return Column(self.label, self.style)

    def text(self) -> str:
        """The value as text."""
        return cell_text(self.value, self.column)


@dataclass(frozen=True)
class Measures:
    """Numbers in groups; the first group has the most important ones."""

    groups: tuple[tuple[Measure, ...], ...]

    @property
    def all(self) -> tuple[Measure, ...]:
        """Those of all groups, one after the other."""
        return tuple(measure for group in self.groups for measure in group)


@dataclass(frozen=True)
class Note:
    """A sentence or two that belong to what is shown.

    Attributes
    ----------
    key : what it is about, such as "summary", "verdict", "rounding", "open" or "nothing"
    text : plain words, ready to read; a line break ends a sentence
    warns : whether it limits what the numbers say
    """

    key: str
    text: str
    warns: bool = False


@dataclass(frozen=True)
class Mark:
    """A sample of what a picture is drawn with: a filled box, a piece of line, or a point.

    Attributes
    ----------
    shape : "box", "line" or "point"
    kind : the kind of context it stands for; "covered" and "open" are boxes of no such kind
    colour : as in CSS, on a light page
    opacity : of a box
    dashes : lengths of dashes and gaps of a line; None is solid
    path : the outline of a point around its middle, as in SVG
    """

    shape: Literal["box", "line", "point"]
    kind: str
    colour: str
    opacity: float = 1.0
    dashes: tuple[float, float] | None = None
    path: str = ""


@dataclass(frozen=True)
class Legend:
    """What the marks of a picture mean."""

    title: str
    entries: tuple[tuple[Mark, str], ...]


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture with its caption and legends.

    Attributes
    ----------
    caption : what it shows, in sentences
    legends : the meanings of its marks
    content : a graph or a plane, drawn as SVG
    packed : the data of a heat map, which the browser draws; see `contextwise.report.pictures`
    """

    caption: str
    legends: tuple[Legend, ...]
    content: Graph | Plane | None = None
    packed: str = ""


@dataclass(frozen=True)
class Section:
    """Parts under a heading of their own."""

    title: str
    parts: tuple[Part, ...]
    key: str = ""


Part: TypeAlias = Note | Measures | Table | Legend | Picture | Section


def cell_text(cell: Cell, column: Column) -> str:
    """A value as text, by what its column holds.

    Parameters
    ----------
    cell : the value
    column : whose style and digits decide how it reads

    Returns
    -------
    str
        One line; an unknown value is a dash.

    Examples
    --------
    >>> cell_text(Interval(3, 10**20), Column("distance", "count"))
    '3 to 1.000e20'
    >>> cell_text(0.99999, Column("recall", "rate")), cell_text(None, Column("recall", "rate"))
    ('>0.9999', '–')
    >>> cell_text(Fraction(1, 3), Column("of contexts", "share"))
    '33.3 %'
    """
    if cell is None:
        return UNKNOWN
    if isinstance(cell, Interval):
        ends = (cell.low,) if cell.low == cell.high else (cell.low, cell.high)
        return " to ".join(cell_text(end, column) for end in ends)
    if isinstance(cell, Marked | PairName):
        return str(cell)
    if isinstance(cell, Estimated):
        return _estimate_text(cell)
    if isinstance(cell, str):
        return name(cell) if column.style == "name" else cell
    return _number_text(cell, column)


def _number_text(value: Number | float, column: Column) -> str:
    if column.style == "rate":
        return rate(float(value))
    if column.style == "share":
        return percent(Fraction(value), 1)
    if column.style == "mean":
        return f"{float(value):.2f}"
    if column.style == "score":
        return f"{float(value):.6g}"
    if column.style == "probability":
        return f"{float(value):.2g}" if value else "<1e-300"
    if column.style == "bits":
        return f"{round(float(value), 4) + 0.0:.4f}"  # never -0.0000
    return number(value if isinstance(value, int | Fraction) else Fraction(value), column.digits)


def _estimate_text(estimate: Estimated) -> str:
    if not estimate.standard_error:
        return f"{estimate.value:.6g}"
    return f"{estimate.value:.4g} ± {estimate.standard_error:.1g}"


def exact_digits(cell: Cell, column: Column) -> str | None:
    """All digits of a count that `cell_text` rounds, or None if it shows them already.

    >>> exact_digits(10**16, Column("errors", "count")), exact_digits(7, Column("errors", "count"))
    ('10000000000000000', None)
    """
    if isinstance(cell, Interval):
        return None
    if column.style == "count" and isinstance(cell, int) and not is_readable(cell, column.digits):
        return str(cell)
    return None


def is_rounded(parts: Sequence[Part]) -> int | None:
    """The most digits that some table or measure shows in full, where one rounds a count.

    Returns
    -------
    int or None
        The digits of the first that rounds; None if every count can be read exactly.
    """
    for part in parts:
        if isinstance(part, Section):
            inner = is_rounded(part.parts)
            if inner is not None:
                return inner
        for cell, column in _counts(part):
            ends = (cell.low, cell.high) if isinstance(cell, Interval) else (cell,)
            if any(exact_digits(end, column) is not None for end in ends):
                return column.digits
    return None


def _counts(part: Part) -> Iterable[tuple[Cell, Column]]:
    if isinstance(part, Table):
        for row in part.rows:
            yield from zip(row, part.columns, strict=True)
    if isinstance(part, Measures):
        for measure in part.all:
            yield measure.value, measure.column
