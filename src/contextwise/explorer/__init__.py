"""The explorer: a local page on which people look at where structures differ.

Thin: it parses what a person does, calls the package's public functions, and shows what they give.

- `app` puts the page together and starts a session's state; `serve` runs it on this machine.
- `state` is what one session knows: its models, what was compared, which pair is looked at.
- `process` runs computations in processes of their own, so that the page stays alive and can stop
  them; `jobs` are these computations, and `work` is how a session waits for one.
- `link` is the address that brings a view back.
- `overview`, `pairs`, `context`, `question`, `guesses` and `experiment` are the views: each has a
  ``panel()``, what is on the page, and a ``serve(...)``, what happens there.

All scripts and styles are served from here; nothing is asked of a network. A session's uploads are
in a temporary folder that goes with it.
"""
