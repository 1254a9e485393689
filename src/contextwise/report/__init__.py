"""Show results to people: as text, LaTeX, HTML, notebook output, pages and pictures.

- `parts` defines tables, measures, notes and pictures as data. `comparisons`, `explanations`,
  `many`, `chances`, `statistics`, `summaries`, `notes` and `pictures` make them from results.
- `text` and `html` render parts; `show` does it for any result, and `page` writes the report.
- `shares` has what pictures draw; `layout` and `drawing` place it; `svg`, `plane`, `plots` and
  ``static/heatmap.js`` draw it.
"""
