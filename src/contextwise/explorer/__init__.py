"""The explorer: a local page that shows where structures differ.

`app` puts the page together from `sidebar` and the tabs (``tab_*``), which have functions from
values to HTML and a ``serve`` for sessions. `state` has the page as one value and its address, and
the state of a session. A `job` runs `computations` in its own process. `server` guards the page;
`controls` has its pieces and connects them. ``report/static/heatmap.js`` draws the heat map in the
browser. All scripts and styles are served from here.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.explorer import app, computations, server
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
