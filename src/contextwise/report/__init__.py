"""Show results to people: as text, LaTeX, HTML, notebook output, pages and pictures.

- `parts` defines tables, entries, notes and pictures as data. `comparisons`,
  `differences`, `claims`, `evaluations`, `groups` and `pictures` make them from results.
- `RENDERERS` lists what shows parts; `page` writes the report, `analysis_page` that of an analysis.
- `graphs` draws graphs as SVG, ``static/heatmap.js`` heat maps, and `plots` pictures for papers.
"""

from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.report import (
        analysis_notes,
        analysis_page,
        comparisons,
        differences,
        evaluations,
        page,
        parts,
        pictures,
        plots,
        text,
    )
    from contextwise.report.parts import Part
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)

RENDERERS = {
    "text": ("text.as_text", ""),
    "html": ("html.as_html", ""),
    "latex": ("text.as_latex", "Print LaTeX tables."),
}
"""The functions that show parts, and the help of the option of commands that have one."""


def rendered(parts: "list[Part]", renderer: str) -> str:
    """Show parts with one of `RENDERERS`."""
    module, _, name = RENDERERS[renderer][0].partition(".")
    shown: str = getattr(import_module(f"contextwise.report.{module}"), name)(parts)
    return shown
