"""What SVG pictures are made of: elements, tips, and squares of cells with names at their sides.

The pictures stand alone, and fit into a page: colours are attributes, which any style sheet of the
page overrides by classes, and texts have the colour of the text around them. The standard library's
ElementTree writes them, and escapes what it is given. The same input gives the same text.
"""

from __future__ import annotations

from math import floor, log10
from xml.etree.ElementTree import Element, SubElement

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
