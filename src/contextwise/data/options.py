"""Describe how rows are read: the keywords of `read_data` and the options of the commands.

A field of `RowOptions` with a line in `FLAGS` is a keyword in Python and an option of every command
that reads rows. Names are resolved against the columns when the data is read, so a name may contain
commas. Nothing here imports NumPy, so that ``--help`` prints at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from contextwise.errors import DomainError

if TYPE_CHECKING:
    from contextwise.models.domain import Domain

BUNDLED = {"berkeley": "Freq", "titanic": None, "women-math": None}
"""The bundled data sets, with the column of counts; their sources are in the README here."""

Missing = Literal["error", "drop", "state"]


class RowOptions(NamedTuple):
    """The keywords of `read_data`, held as the texts of the command line.

    Attributes
    ----------
    columns, drop : name or list of names
        Use only these columns; leave out these columns.
    missing : "error", "drop" or "state"
        Refuse missing values, drop their rows, or make ``missing`` a state.
    na : token, list of tokens, or mapping from columns to tokens
        Values that stand for missing ones, such as 99.
    bins : int, or mapping from columns to ints or to points such as ``[20, 30]`` or ``"20|30"``
        Cut numbers into this many bins with about equally many rows, or at these points.
    counts : name
        The column that tells how often each row occurs.
    category : name or list of names
        Columns whose values are categories, whatever they look like.
    merge : name or list of names
        Columns whose spellings that differ only in case and blanks are one state.
    header : bool
        Whether the first line has the names of the columns.
    separator, encoding : str
        Of a text file; both are detected by default.
    decimal : "point" or "comma", or mapping from columns to these
        The decimal sign, for numbers such as 2.674 that have two readings.
    object : str
        Which object of a file of R to read, if it has several.
    subject : name
        The column that says whose row it is, if subjects have several rows; see `Data.subjects`.
    row_weights : name
        The column of survey weights. Tests use them; learners and counts of rows do not.
    ordered : name or list of names, or mapping from columns to states from low to high
        Columns whose states are ordered, such as ``{"pain": ["none", "mild", "severe"]}``.
    outcome : name
        Rows without a value of this column are dropped.
    domain, names, learned : Domain, names and mapping
        The variables, if they are known, or only their names, some of which may not be there; and
        what a model stores about the rows that it was learned from (see `Data.decisions`).

    Examples
    --------
    >>> RowOptions(drop=("id",), missing="drop").words()
    ['--drop', 'id', '--missing', 'drop']
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: Missing | None = None
    na: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()
    counts: str | None = None
    category: tuple[str, ...] = ()
    merge: tuple[str, ...] = ()
    header: bool | None = None
    separator: str | None = None
    encoding: str | None = None
    decimal: tuple[str, ...] = ()
    object: str | None = None
    subject: str | None = None
    row_weights: str | None = None
    ordered: tuple[str, ...] = ()
    outcome: str | None = None
    domain: Domain | None = None
    names: tuple[str, ...] | None = None
    learned: Mapping[str, Any] | None = None

    def words(self) -> list[str]:
        """Return the options as words of a command line, those that are set."""
        words: list[str] = []
        for field, (flag, _, _) in FLAGS.items():
            value = getattr(self, field)
            if value is True or value is False:
                words.append(flag.split("/")[not value])
            elif isinstance(value, tuple):
                words += [word for text in _joined(value) for word in (flag, text)]
            elif value is not None:
                words += [flag, value]
        return words

    def command(self) -> str:
        """Return the options as they are typed."""
        return command_line(self.words()).removeprefix("contextwise ")

    def keywords(self) -> str:
        """Return the options as keywords of Python, those that are set."""
        parts = []
        for field in FLAGS:
            value = getattr(self, field)
            if field in ("bins", "na", "decimal") and value:
                pairs = [text.rpartition("=")[::2] for text in value]
                if all(name for name, _ in pairs):
                    entries = ", ".join(
                        f"{name!r}: {end if end.isdecimal() and field == 'bins' else repr(end)}"
                        for name, end in pairs
                    )
                    parts.append(f"{field}={{{entries}}}")
                    continue
            if value not in (None, ()):
                parts.append(f"{field}={list(value) if isinstance(value, tuple) else value!r}")
        return ", ".join(parts)


FLAGS: dict[str, tuple[str, str, str]] = {
    "columns": ("--columns", "A,B,...", "Use only these columns."),
    "drop": ("--drop", "A,B,...", "Leave out these columns."),
    "missing": (
        "--missing",
        "error|drop|state",
        "Missing values: refuse them, drop their rows, or make them a state.",
    ),
    "na": ("--na", "TOKEN", "Also a missing value; --na income=99 for one column."),
    "bins": ("--bins", "N or A=N,...", "Cut numbers into N bins; A=20|30 cuts at 20 and 30."),
    "counts": ("--counts", "COLUMN", "This column tells how often each row occurs."),
    "category": ("--category", "A,B,...", "The values of these columns are categories."),
    "merge": ("--merge", "A,B,...", "Spellings such as Male and male are one state here."),
    "header": ("--header/--no-header", "", "Whether the first line has the names."),
    "separator": ("--separator", "SIGN", "The sign between cells: a sign, tab or blank."),
    "encoding": ("--encoding", "NAME", "The encoding of the text, such as latin-1."),
    "decimal": (
        "--decimal",
        "WORD",
        "The decimal sign: point or comma; --decimal A=comma for one column.",
    ),
    "object": ("--object", "NAME", "The object of a file of R, if it has several."),
    "subject": ("--subject", "COLUMN", "Rows with the same value here are of one subject."),
    "row_weights": ("--row-weights", "COLUMN", "This column has the survey weight of each row."),
    "ordered": (
        "--ordered",
        "NAME",
        "The states of this column are ordered; --ordered 'pain=none|mild|severe' gives the order.",
    ),
}
"""The flag, the metavar and the help of each option, in the order of the help."""


def row_options(**keywords: Any) -> RowOptions:
    """Make options from the keywords of `read_data`, in any of their forms.

    >>> row_options(drop="id", bins={"age": 4}, na=[99], missing="drop").words()
    ['--drop', 'id', '--missing', 'drop', '--na', '99', '--bins', 'age=4']
    """
    fields: dict[str, Any] = {}
    for name, value in keywords.items():
        if name not in FLAGS:
            raise DomainError(f"unknown keyword {name!r}; the keywords are {', '.join(FLAGS)}")
        if name == "bins" and isinstance(value, Mapping):
            value = {n: _points(v) if isinstance(v, list | tuple) else v for n, v in value.items()}
        if name == "ordered" and isinstance(value, Mapping):
            value = [f"{n}={'|'.join(_texts(states))}" for n, states in value.items()]
        if isinstance(RowOptions._field_defaults[name], tuple):
            value = _texts(value)
        elif value is not None and name != "header":
            value = str(value)
        fields[name] = value
    if fields.get("missing") not in (None, "error", "drop", "state"):
        raise DomainError(f"missing must be error, drop or state, got {fields['missing']!r}")
    return RowOptions(**fields)


def _points(edges: Sequence[Any]) -> str:
    """Write the points where to cut as on the command line, ``20|30``."""
    return "|".join(_texts(edges)) + "|" * (len(edges) < 2)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return tuple(f"{n}={end}" for n, ends in value.items() for end in _texts(ends))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(text for entry in value for text in _texts(entry))
    is_whole = isinstance(value, float) and value.is_integer()  # R's numbers are floats
    return (str(int(value) if is_whole else value),)


def _joined(texts: Sequence[str]) -> list[str]:
    """Join texts by commas, except those that contain commas themselves."""
    plain = [text for text in texts if "," not in text]
    return [*([",".join(plain)] if plain else []), *(text for text in texts if "," in text)]


def find_names(texts: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns that texts name: a whole name first, else names between commas.

    >>> find_names(["a,b", "c, d"], ["a", "b", "c, d"])
    ['a', 'b', 'c, d']
    """
    chosen = []
    for text in texts:
        parts = [text] if text in names else [part.strip() for part in text.split(",")]
        for part in parts:
            if part not in names:
                near = [name for name in names if name.casefold() == part.casefold()]
                near = near or get_close_matches(part, names, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                shown = ", ".join(names[:8]) + ("" if len(names) <= 8 else ", …")
                raise DomainError(
                    f"there is no column {part!r}{hint or f'; the columns are {shown}'}"
                )
            chosen.append(part)
    return list(dict.fromkeys(chosen))


def find_name(text: str, names: Sequence[str], option: str) -> str:
    """Return the column that an option for one column names."""
    found = find_names([text], names)
    if len(found) > 1:
        raise DomainError(f"{option} needs one column, got {text!r}")
    return found[0]


def find_values(
    texts: Sequence[str], names: Sequence[str], option: str
) -> list[tuple[str | None, str]]:
    """Return (column, value) for each ``name=value``, and (None, value) for a value alone.

    >>> find_values(["age=4,bmi=3", "5"], ["age", "bmi"], "bins")
    [('age', '4'), ('bmi', '3'), (None, '5')]
    """
    values: list[tuple[str | None, str]] = []
    for text in texts:
        name, sign, value = text.rpartition("=")
        if sign and name in names:
            values.append((name, value))
            continue
        for part in text.split(","):
            name, sign, value = part.strip().rpartition("=")
            if sign:
                name = find_name(name, names, option)
            values.append((name if sign else None, value))
    return values


def command_line(words: Sequence[str]) -> str:
    """Return a command that can be copied into a shell."""
    from shlex import join  # only advice needs it, not --help

    return join(["contextwise", *words])
