"""The explorer: a local page that shows where structures differ.

- `view`: the page as one value, which is also its address. `state`: the state of a session.
- `computations` and `runs`: functions that a `job` runs in its own process.
- `server`: token, headers, uploads. `messages`: checks of what a browser sends. `wiring`: inputs
  and outputs. `controls`: buttons, searches, progress.
- `sidebar` and ``tab_*``: the parts of the page. Each has functions from values to HTML, and a
  ``serve`` that connects them to a session. `app` puts the page together.

``report/static/heatmap.js`` draws the heat map in the browser, so zooming does not use the server.
All scripts and styles are served from here.
"""
