"""Results for people: what is shown, as data; then text, pictures, notebooks and pages.

- `elements` are the parts: tables, measures, notes, legends, pictures; `comparisons`, `many`,
  `explanations`, `summaries`, `chances`, `statistics`, `notes` and `pictures` make them of results,
  with every word;
- `text`, `latex` and `html` (with `page` and `notebook`) show them;
- `shares` are what pictures draw: `heatmap`, `edges` (which to show), `layout`, `labels` and
  `drawing` say where; `supports` and `planes` are what statistics draw; `svg`, `svg_statistics`
  and `plots` draw, and `static` has the script for browsers.
"""
