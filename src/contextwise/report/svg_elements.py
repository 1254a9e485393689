"""What SVG pictures are made of: elements, tips, and squares of cells with names at their sides.

The pictures stand alone, and fit into a page: colours are attributes, which any style sheet of the
page overrides by classes, and texts have the colour of the text around them. The standard library's
ElementTree writes them, and escapes what it is given. The same input gives the same text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.etree.ElementTree import Element, SubElement, tostring

from contextwise.report.labels import cut_names
from contextwise.support.formatting import printable

MOST_CELLS = 60
"""Up to this many variables each cell is an element with a tip; above, the cells are an image."""
TIGHT, LOOSE = 9, 12
"""The pixels that a label needs along its side: where each cell has one, and where some do."""
SMALLEST_CELL = 3
"""In pixels: cells of an image are drawn together until they are seen, the worst for all."""
TICKS = 5
"""About so many marks along an axis."""
GREY = {"stroke": "#7f7f7f", "stroke_opacity": "0.4"}


def new_picture(kind: str, width: float, height: float, words: str) -> Element:
    """An empty picture.

    Parameters
    ----------
    kind : its class
    width, height : in pixels
    words : what it shows, for those who cannot see it

    Returns
    -------
    Element
    """
    picture = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": kind,
            "role": "img",
            "viewBox": f"0 0 {coordinate(width)} {coordinate(height)}",
            "width": coordinate(width),
            "height": coordinate(height),
            "font-family": "sans-serif",
        },
    )
    add_tip(picture, words)
    return picture


def add(parent: Element, tag: str, **attributes: str) -> Element:
    """A new element.

    Parameters
    ----------
    parent : what it is in
    tag : its name
    **attributes : an underscore stands for a hyphen, as in ``stroke_width``

    Returns
    -------
    Element
    """
    return SubElement(
        parent, tag, {key.rstrip("_").replace("_", "-"): own for key, own in attributes.items()}
    )


def add_tip(parent: Element, words: str) -> None:
    """What a reader sees who points at an element."""
    add(parent, "title").text = printable(words)


def coordinate(value: float) -> str:
    """A coordinate: two places are plenty, and keep the text short and the same everywhere.

    >>> coordinate(12.0), coordinate(1 / 3)
    ('12', '0.33')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def add_line(
    parent: Element, start: tuple[float, float], stop: tuple[float, float], **style: str
) -> Element:
    """A straight line.

    Parameters
    ----------
    parent : what it is in
    start, stop : its ends
    **style : further attributes, as those of `add`

    Returns
    -------
    Element
    """
    ends = zip(("x1", "y1", "x2", "y2"), (*start, *stop), strict=True)
    places = {key: coordinate(value) for key, value in ends}
    return add(parent, "line", **style, **places)


def add_text(
    parent: Element, text: str, place: tuple[float, float], *, anchor: str, **style: str
) -> Element:
    """A text of a picture's usual size, in the colour of the text around it.

    Parameters
    ----------
    parent : what it is in
    text : what it says
    place : where it begins, has its middle or ends; its letters' middle in height
    anchor : "start", "middle" or "end"
    **style : further attributes, as those of `add`

    Returns
    -------
    Element
    """
    usual = {"font_size": "12", "fill": "currentColor", "dy": "0.35em", "text_anchor": anchor}
    x, y = map(coordinate, place)
    drawn = add(parent, "text", x=x, y=y, **usual, **style)
    drawn.text = printable(text)
    return drawn


def round_step(end: float) -> float:
    """A round distance between marks of an axis from 0 to ``end``, so that there are few.

    >>> [round_step(end) for end in (1.0, 100.0, 0.037, 0.26)]
    [0.2, 20.0, 0.01, 0.1]
    """
    power = 10.0 ** floor(log10(end / TICKS))
    return next(power * k for k in (1, 2, 5, 10) if end / TICKS <= power * k * 1.0001)


# -- squares of cells ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SquarePicture:
    """A square of cells, one row and one column per variable.

    Attributes
    ----------
    picture : all of it
    cells : the element that holds the cells
    cell, side : the side of a cell, and of the square
    """

    picture: Element
    cells: Element
    cell: float
    side: float

    def add_cell(
        self, place: tuple[int, int], paint: tuple[str, float], *, kind: str, words: str
    ) -> None:
        """One cell with its tip.

        Parameters
        ----------
        place : its row and its column
        paint : its colour and its opacity
        kind : its class
        words : its tip
        """
        row, column = place
        side = coordinate(self.cell)
        drawn = add(
            self.cells,
            "rect",
            class_=kind,
            x=coordinate(column * self.cell),
            y=coordinate(row * self.cell),
            width=side,
            height=side,
            fill=paint[0],
            fill_opacity=str(paint[1]),
            data_row=str(row),
            data_column=str(column),
        )
        add_tip(drawn, words)

    @property
    def most(self) -> int:
        """The most cells along a side that are seen one by one."""
        return int(self.side / SMALLEST_CELL)

    def finished(self) -> str:
        """The picture as text, with the diagonal above the cells."""
        end = coordinate(self.side)
        add(self.cells, "path", d=f"M0 0L{end} {end}", **GREY)
        return tostring(self.picture, encoding="unicode")


def square_picture(names: Sequence[str], words: str, *, size: int = 600) -> SquarePicture:
    """An empty square about ``size`` wide, with names along its left and its top.

    The cells are in ``<g class="cells">``, which has the attributes ``data-variables`` and
    ``data-cell`` (the side of a cell).

    Parameters
    ----------
    names : of the variables
    words : what the picture shows
    size : the width of the picture

    Returns
    -------
    SquarePicture
    """
    n = max(len(names), 1)
    labels = cut_names(names, 20)
    margin = 12 + 6 * max(map(len, labels), default=0)
    cell = min((size - margin) / n, 48.0)
    side = cell * n
    picture = new_picture("heat", margin + side + 4, margin + side + 4, words)
    _add_names(picture, labels, cell, margin)
    cells = add(
        picture,
        "g",
        class_="cells",
        data_variables=str(n),
        data_cell=coordinate(cell),
        transform=f"translate({margin} {margin})",
    )
    frame = coordinate(side)
    add(cells, "rect", class_="frame", width=frame, height=frame, fill="none", **GREY)
    return SquarePicture(picture, cells, cell, side)


def add_images(square: SquarePicture, light: bytes, dark: bytes) -> None:
    """The cells as an image, and hidden beside it one that a style sheet shows on a dark page.

    Parameters
    ----------
    square : where they are drawn
    light, dark : PNG files for a light page and for a dark one
    """
    side = coordinate(square.side)
    for name, data in (("on-light", light), ("on-dark", dark)):
        drawn = add(
            square.cells,
            "image",
            class_=name,
            width=side,
            height=side,
            style="image-rendering:pixelated",
            href=f"data:image/png;base64,{b64encode(data).decode()}",
        )
        if name == "on-dark":
            drawn.set("display", "none")


def _add_names(parent: Element, names: list[str], cell: float, margin: float) -> None:
    """Names along the left and the top; where they are many, every second, third, ... one."""
    every = max(1, ceil((TIGHT if len(names) <= MOST_CELLS else LOOSE) / cell))
    style = {
        "font_size": coordinate(min(11.0, every * cell)),
        "fill": "currentColor",
        "dy": "0.35em",
    }
    for k in range(0, len(names), every):
        at = margin + (k + 0.5) * cell
        left, place = coordinate(margin - 5), coordinate(at)
        beside = add(parent, "text", **style, x=left, y=place, text_anchor="end")
        turned = f"translate({place} {left}) rotate(-90)"
        beside.text = add(parent, "text", **style, transform=turned).text = names[k]
