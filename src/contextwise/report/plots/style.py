"""Figures for papers: their style, their size, and files that are the same each time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import cache, wraps
from inspect import cleandoc, signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypedDict, TypeVar, cast

from contextwise.comparison.two_models import Comparison
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.report.parts import Legend
from contextwise.support.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN = 3.4  # the width of a paper's column, in inches
POINTS = 72  # points of an inch
PICTURES = ("png", "svg", "pdf")
STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": "medium",
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.6,
    "legend.fontsize": "small",
    "legend.frameon": False,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.hashsalt": "contextwise",
    "pdf.fonttype": 42,
}

Guesses: TypeAlias = Comparison | Mapping[str, Comparison] | Iterable[Comparison]
"""One comparison, several by their names, or several in a row, as `compare_many` returns them."""


class FigureOptions(TypedDict, total=False):
    """Options of every plot: the width of the figure in inches, and the size of its text."""

    width: float
    font_size: float


P = ParamSpec("P")
R = TypeVar("R")
_width: ContextVar[float | None] = ContextVar("width", default=None)


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in our style and at the wanted size, or in the caller's style on the caller's Axes.

    The docstring gets the parameters that all plots have, and the result.
    """

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> R:
        wanted: Any = kwargs.pop("width", None)
        font_size = kwargs.pop("font_size", None)
        style: dict[str, Any] = (
            dict(STYLE) if kwargs.get("axes") is None else {"text.parse_math": False}
        )
        if font_size is not None:
            style["font.size"] = font_size
        before = _width.set(wanted)
        try:
            with require("matplotlib", "plots").rc_context(style):
                return draw(*args, **kwargs)
        finally:
            _width.reset(before)

    text = cleandoc(draw.__doc__ or "")
    shared = [name for name in ("axes", "title") if name in signature(draw).parameters]
    shared += [] if "**options" in text else ["**options"]
    sentence = f"{', '.join(shared)} : as in all plots; see above\n"
    sections = f"{sentence}\nReturns\n-------\nFigure\n\nExamples\n"
    in_style.__doc__ = text.replace("\nExamples\n", sections, 1)
    return in_style


@cache
def _figure_class() -> Any:
    base: Any = require("matplotlib.figure", "plots").Figure

    class PaperFigure(base):  # type: ignore[misc]
        """A figure that notebooks show."""

        def _repr_png_(self) -> bytes:
            return encoded(self, "png", dpi=150)

    return PaperFigure


def new_figure(
    width: float = COLUMN, height: float = COLUMN, *, layout: str | None = "constrained"
) -> Figure:
    """Return an empty figure; the option ``width`` of a plot scales both sides."""
    wanted = _width.get() or width
    figure: Figure = _figure_class()(figsize=(wanted, height * wanted / width), layout=layout)
    return figure


def new_axes(width: float = COLUMN, height: float = COLUMN) -> Axes:
    return new_figure(width, height).add_subplot()


def titled(axes: Axes, title: str = "") -> Figure:
    """Write a title, if there is one, and return the figure, outside of all subfigures."""
    if title:
        axes.set_title(title)
    figure: Any = axes.get_figure(root=True)
    return cast("Figure", figure)


def named(guesses: Guesses) -> dict[str, Comparison]:
    """Return comparisons by their names; without names they are numbered."""
    if isinstance(guesses, Comparison):
        return {guesses.roles.guess: guesses}
    if isinstance(guesses, Mapping):
        by_name = dict(guesses)
    else:
        by_name = {f"guess {k}": guess for k, guess in enumerate(guesses, 1)}
    if not by_name:
        raise DomainError("there is no comparison to draw; pass at least one")
    return by_name


def fitted_title(text: str, width: float, *, size: float = 8.0) -> str:
    """Break a title into lines of a width in inches, at commas first."""
    most = int(width * POINTS / (0.55 * size))
    lines = [text] if len(text) <= most else text.replace(", ", ",\n").splitlines()
    return "\n".join(fill(line, most, break_on_hyphens=False) for line in lines)


def on_white(colour: str, opacity: float) -> str:
    """Return the opaque colour that a translucent one has on white paper."""
    channels = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - opacity * (255 - c)):02x}" for c in channels)


def handles(legend: Legend) -> list[Artist]:
    """Return the entries of a legend as matplotlib draws them."""
    patch = require("matplotlib.patches", "plots").Patch
    line = require("matplotlib.lines", "plots").Line2D
    entries: list[Artist] = []
    for mark, words in legend.entries:
        text = f"{legend.title}: {words}" if legend.title else words
        if mark.shape == "line":
            style = "-" if mark.dashes is None else (0, tuple(d / 2 for d in mark.dashes))
            look: dict[str, Any] = {"color": mark.colour, "linewidth": 2, "linestyle": style}
            entries.append(line([], [], label=text, **look))
        else:
            look = {"facecolor": mark.colour if mark.opacity else "white", "linewidth": 0.4}
            edge = "#999999" if mark.kind in ("blank", "covered") else "none"
            entries.append(patch(alpha=mark.opacity or None, edgecolor=edge, label=text, **look))
    return entries


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a picture by the suffix of its file, in any case."""
    suffix = os.path.splitext(os.fspath(path))[1].lower().lstrip(".")
    if suffix not in PICTURES:
        raise ContextwiseError(f"{os.fspath(path)}: unknown picture format; use .png, .svg or .pdf")
    return suffix


def save(picture: Axes | Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure, or the figure of some Axes, to a file; the same picture gives the same bytes.

    Parameters
    ----------
    picture : Axes or Figure
    path : path of a .png, .svg or .pdf file

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


def encoded(picture: Axes | Figure, format: str, *, dpi: int = 300) -> bytes:
    """Return a picture as the bytes of a file, without the date."""
    figure: Any = picture if hasattr(picture, "savefig") else picture.figure
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    data = io.BytesIO()
    with require("matplotlib", "plots").rc_context(STYLE):
        figure.savefig(data, format=format, dpi=dpi, metadata=dates.get(format))
    return data.getvalue()
