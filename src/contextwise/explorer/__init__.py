"""The explorer: a local page on which people look at where structures differ.

Thin: it reads what a person does, calls the package's public functions, and shows what they give.

- `view` is what the page shows as one value, which is also its address; steps make a new one of it.
- `state` is what one session knows: its view, its models, and what was compared.
- `wiring` ties functions of values to the page: inputs with types, outputs, downloads.
- `job` runs a function in a process of its own, `background` is how a session waits for one, and
  `request` is the button that begins one. `computations`, `evaluations` and `runs` are what runs
  there; `results` reads what a run has stored.
- `elements` are the pieces of the page, as tags; `scatter` draws points.
- `sidebar`, `overview`, `pair`, `context`, `question`, `guesses` with `agreement`, `statistics` and
  `experiment` with `study` are the views. Each begins with what is shown, as functions from values
  to tags, and ends with a ``serve`` that ties them to a session.
- `app` puts the page together; `server` runs it on this machine, for this machine.

The heat map is drawn in the browser (``report/static/heatmap.js``) from the shares of all pairs, so
that zooming asks nothing of the server. All scripts and styles are served from here, and nothing is
asked of a network. A session's uploads are in a temporary folder that goes with it.
"""
