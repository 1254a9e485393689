"""Draw a map of models as SVG; a style sheet of the page overrides the colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import tostring

from contextwise.report.drawing import add, add_text, add_tip, coordinate, new_picture
from contextwise.report.parts import COLOURS, Agreement
from contextwise.support.formatting import name as short

WIDTH, HEIGHT, MARGIN = 720, 440, 48
HALO = {
    "class_": "halo",
    "paint_order": "stroke",
    "stroke": "#ffffff",
    "stroke_width": "3",
    "stroke_opacity": "0.8",
}


@dataclass(frozen=True)
class Point:
    """A point of the unit square with its tip and its label."""

    x: float
    y: float
    tip: str
    label: str = ""


def map_svg(points: Sequence[Point], *, title: str) -> str:
    """Draw points without axes; the first one is a square."""
    side = HEIGHT - 2 * MARGIN
    picture = new_picture("scatter", WIDTH, HEIGHT, title)
    for place, point in enumerate(points):
        kind: Agreement = "fp" if place else "fn"
        x = (WIDTH - side) / 2 + side * point.x
        y = MARGIN + side * (1 - point.y)
        style = {"class_": f"mark {kind}", "stroke": COLOURS[kind], "fill": "none"}
        style |= {"stroke_width": "1.5", "pointer_events": "all"}
        if place:
            drawn = add(picture, "circle", **style, cx=coordinate(x), cy=coordinate(y), r="4")
        else:
            corner = {"x": coordinate(x - 3.5), "y": coordinate(y - 3.5)}
            drawn = add(picture, "rect", **style, **corner, width="7", height="7")
        add_tip(drawn, point.tip)
        if point.label:
            right = x < 0.7 * WIDTH
            label, anchor = short(point.label, 36), "start" if right else "end"
            add_text(picture, label, (x + (8 if right else -8), y), anchor=anchor, **HALO)
    return tostring(picture, encoding="unicode")
