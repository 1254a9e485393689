"""Figures at the width of a column, what they take, and files that are the same each time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from textwrap import fill
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from contextwise.comparison.compare import Comparison
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.report.parts import Legend, Mark
from contextwise.support.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN = 3.4
"""The width of a paper's column, in inches."""
POINTS = 72
"""How many points an inch has."""
FORMATS = ("png", "svg", "pdf")
STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.hashsalt": "contextwise",
    "pdf.fonttype": 42,
}

Guesses: TypeAlias = Comparison | Mapping[str, Comparison] | Iterable[Comparison]
"""One comparison, several by their names, or several in a row, as `compare_many` gives them."""

P = ParamSpec("P")
R = TypeVar("R")


def named(guesses: Guesses) -> dict[str, Comparison]:
    """Comparisons by their names; without names they are numbered.

    Parameters
    ----------
    guesses : one comparison, a mapping from names, or a list

    Returns
    -------
    dict from names to comparisons

    Raises
    ------
    DomainError
        If there is none.

    Examples
    --------
    >>> from contextwise import compare_many, examples
    >>> list(named(compare_many(examples.load("six"), [examples.load("six-guess")] * 2)))
    ['guess 1', 'guess 2']
    """
    if isinstance(guesses, Comparison):
        return {"guess": guesses}
    if isinstance(guesses, Mapping):
        found = dict(guesses)
    else:
        found = {f"guess {k}": guess for k, guess in enumerate(guesses, 1)}
    if not found:
        raise DomainError("there is no comparison to draw; give at least one")
    return found


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in our style, or, where the caller brings the Axes, in the caller's."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> R:
        style = STYLE if kwargs.get("axes") is None else {"text.parse_math": False}
        with require("matplotlib", "plots").rc_context(style):
            return draw(*args, **kwargs)

    return in_style


def new_figure(
    width: float = COLUMN, height: float = COLUMN, *, layout: str | None = "constrained"
) -> Figure:
    """An empty figure.

    Parameters
    ----------
    width, height : in inches
    layout : how matplotlib arranges what is in it; None leaves everything where it is put

    Returns
    -------
    Figure
    """
    figure: Figure = require("matplotlib.figure", "plots").Figure(
        figsize=(width, height), layout=layout
    )
    return figure


def new_axes(width: float = COLUMN, height: float = COLUMN) -> Axes:
    """The only Axes of a new figure.

    Parameters
    ----------
    width, height : in inches; by default a square as wide as a column of a paper

    Returns
    -------
    Axes

    Examples
    --------
    >>> new_axes(3.4, 2.0).figure.get_size_inches().tolist()
    [3.4, 2.0]
    """
    return new_figure(width, height).add_subplot()


def fitted_title(text: str, width: float, *, size: float = 8.0) -> str:
    """A title in as many lines as a width needs, broken at commas first.

    Parameters
    ----------
    text : the title
    width : in inches
    size : of the font, in points

    Returns
    -------
    str

    Examples
    --------
    >>> fitted_title("true: a-long-name-of-a-model.mn, guess: another-such-name.mn", 3.4)
    'true: a-long-name-of-a-model.mn,\\nguess: another-such-name.mn'
    """
    most = int(width * POINTS / (0.55 * size))
    lines = [text] if len(text) <= most else text.replace(", ", ",\n").splitlines()
    return "\n".join(fill(line, most, break_on_hyphens=False) for line in lines)


def handles(legend: Legend) -> list[Artist]:
    """The entries of a legend as matplotlib draws them."""
    return [_handle(mark, words) for mark, words in legend.entries]


def _handle(mark: Mark, words: str) -> Artist:
    handle: Artist
    if mark.shape == "line":
        style = "-" if mark.dashes is None else (0, tuple(d / 2 for d in mark.dashes))
        line = require("matplotlib.lines", "plots").Line2D
        handle = line([], [], color=mark.colour, linewidth=2, linestyle=style, label=words)
    else:
        patch = require("matplotlib.patches", "plots").Patch
        handle = patch(
            facecolor=mark.colour if mark.opacity else "white",
            alpha=mark.opacity or None,
            edgecolor="#999999" if mark.kind in ("blank", "covered") else "none",
            linewidth=0.4,
            label=words,
        )
    return handle


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that the suffix of a file says.

    >>> format_of("pairs.SVG")
    'svg'
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower().lstrip(".")
    if suffix not in FORMATS:
        raise ContextwiseError(
            f"{os.fspath(path)}: a picture is a .png, .svg or .pdf file; choose one of these"
        )
    return suffix


def save(picture: Axes | Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure, or the one of some Axes, to a file; the same picture gives the same bytes.

    Parameters
    ----------
    picture : Axes or Figure
    path : path of a file
        Its suffix says the format: .png, .svg or .pdf.

    Raises
    ------
    ContextwiseError
        If the suffix is another one, or the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(new_axes(), Path(folder) / "empty.svg")
    ...     [path.name for path in Path(folder).iterdir()]
    ['empty.svg']
    """
    write_bytes(path, encoded(picture, format_of(path)))


def save_png_and_svg(picture: Axes | Figure, folder: str | os.PathLike[str], name: str) -> None:
    """Write a picture into a folder twice: as dots for a page, and as lines for a paper.

    Parameters
    ----------
    picture : Axes or Figure
    folder : path
    name : of both files, without a suffix
    """
    for suffix in ("png", "svg"):
        save(picture, os.path.join(folder, f"{name}.{suffix}"))


def encoded(picture: Axes | Figure, format: str) -> bytes:
    """A picture as the bytes of a file, without the date."""
    figure: Any = picture if hasattr(picture, "savefig") else picture.figure
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    data = io.BytesIO()
    with require("matplotlib", "plots").rc_context(STYLE):
        figure.savefig(data, format=format, dpi=300, metadata=dates.get(format))
    return data.getvalue()
