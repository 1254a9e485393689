"""Figures at the width of a column, and files that are the same each time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from contextwise.errors import ContextwiseError, require
from contextwise.execution.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN = 3.4
"""The width of a paper's column, in inches."""
FORMATS = ("png", "svg", "pdf")
STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.hashsalt": "contextwise",
    "pdf.fonttype": 42,
}


P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in our style, or, where the caller brings the Axes, in the caller's."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> R:
        style = STYLE if kwargs.get("axes") is None else {"text.parse_math": False}
        with require("matplotlib", "plots").rc_context(style):
            return draw(*args, **kwargs)

    return in_style


def new_figure(width: float = COLUMN, height: float = COLUMN) -> Figure:
    """An empty figure of that size, in inches."""
    figure: Figure = require("matplotlib.figure", "plots").Figure(
        figsize=(width, height), layout="constrained"
    )
    return figure


def new_axes(width: float = COLUMN, height: float = COLUMN) -> Axes:
    """The only Axes of a new figure."""
    return new_figure(width, height).add_subplot()


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
    """Write a figure, or the one of some Axes, to a file; the same picture gives the same bytes."""
    write_bytes(path, encoded(picture, format_of(path)))


def encoded(picture: Axes | Figure, format: str) -> bytes:
    """A picture as the bytes of a file, without the date."""
    figure: Any = picture if hasattr(picture, "savefig") else picture.figure
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    data = io.BytesIO()
    with require("matplotlib", "plots").rc_context(STYLE):
        figure.savefig(data, format=format, dpi=300, metadata=dates.get(format))
    return data.getvalue()
