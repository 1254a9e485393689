"""Show results to people: as text, LaTeX, HTML, notebook output, pages and pictures.

- `parts` defines tables, entries, notes and pictures as data. `comparisons`, `evaluations` and
  `pictures` make them from results.
- `text` and `html` render parts; `page` writes the report.
- `shares` has what pictures draw; `layout` places it; `drawing`, `plots` and ``static/heatmap.js``
  draw it.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.report import (
        comparisons,
        evaluations,
        page,
        parts,
        plots,
        shares,
        structures,
        text,
    )
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
