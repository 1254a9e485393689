"""Show results to people: as text, LaTeX, HTML, notebook output, pages and pictures.

- `parts` defines tables, entries, notes and pictures as data. `comparisons`, `evaluations` and
  `pictures` make them from results.
- `text` and `html` render parts; `page` writes the report.
- `shares` has what pictures draw; `layout` places it; `drawing`, `plots` and ``static/heatmap.js``
  draw it.
"""

from contextwise.support.loading import lazy_names

lazy_names(__name__, {"plots": "plots"})
