"""Parts as HTML, through templates: what is not our own markup is escaped.

The templates are in ``templates/``: ``elements.html`` knows every kind of part, ``page.html`` is
the report and ``notebook.html`` what a notebook shows. The scripts are in ``static/``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from contextwise.errors import require
from contextwise.report.edges import Graph
from contextwise.report.elements import Picture, cell_text, exact_digits
from contextwise.report.heatmap import HeatMap
from contextwise.report.planes import Plane
from contextwise.report.supports import SupportMap
from contextwise.report.svg import graph_svg, heat_map_svg
from contextwise.report.svg_statistics import plane_svg, supports_svg
from contextwise.support.formatting import printable

if TYPE_CHECKING:
    import jinja2


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in.

    Parameters
    ----------
    template : its name
    **values : what it shows; texts are escaped

    Returns
    -------
    str
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> jinja2.Environment:
    jinja = require("jinja2", "report")
    environment: jinja2.Environment = jinja.Environment(
        loader=jinja.PackageLoader("contextwise.report"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        finalize=_one_line,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "kind_of": lambda value: type(value).__name__,
        "cell_text": cell_text,
        "exact_digits": exact_digits,
        "picture_svg": _picture,
        "script": _script,
    }
    return environment


def _one_line(value: object) -> object:
    """A text of somebody else's without control characters; markup of our own as it is."""
    return printable(value) if type(value) is str else value


def picture_svg(part: Picture) -> str:
    """A picture as SVG, which escapes what it is given."""
    if isinstance(part.content, HeatMap):
        return heat_map_svg(part.content)
    if isinstance(part.content, SupportMap):
        return supports_svg(part.content)
    if isinstance(part.content, Plane):
        return plane_svg(part.content)
    assert isinstance(part.content, Graph)
    return graph_svg(part.content.edges, part.content.positions, size=560)


def _picture(part: Picture) -> object:
    return require("markupsafe", "report").Markup(picture_svg(part))


def _script(name: str) -> object:
    """One of our own scripts, as it is."""
    text = files("contextwise.report").joinpath("static", name).read_text("utf-8")
    return require("markupsafe", "report").Markup(text)
