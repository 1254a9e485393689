"""The page of the explorer and its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from htmltools import Tag, TagChild, tags
from shiny import App, reactive, ui
from shiny.session import Inputs, Outputs, Session
from starlette.requests import Request

from contextwise import report
from contextwise.explorer import (
    sidebar,
    tab_graph,
    tab_overview,
    tab_question,
    tab_rows,
)
from contextwise.explorer.controls import Input, choice, mirror, on, text
from contextwise.explorer.job import prepare
from contextwise.explorer.shiny_private import skip_source_references
from contextwise.explorer.state import (
    FIRST_TAB,
    TABS,
    Entries,
    Key,
    State,
    View,
    library,
    true_model,
)
from contextwise.models.structure import Model
from contextwise.report.comparisons import Guess

STATIC = Path(__file__).parent / "static"
SCRIPTS = Path(report.__file__).parent / "static"
TAB = Input("tab", choice(TABS, str), FIRST_TAB)
THEME = Input("theme", choice({"light": "", "dark": ""}, str))
WALK = Input("walk", text)  # the query that Back or Forward of the browser leads to


def explorer(
    models: Sequence[tuple[str, Model]] = (),
    *,
    data: Path | None = None,
    peers: bool = False,
) -> App:
    """Return the explorer as an application.

    The first of the named models is the true one. The rows of ``data`` test its claims. With
    ``peers``, no model is true.
    """
    entries = library(models)
    kept: dict[Key, Guess] = {}  # by all sessions, so that reloading does not compare again
    prepare()
    skip_source_references()

    def start(query: str) -> View:
        view = View.parse(query) if query else View(peers=peers)
        if not query and data is not None and not models:
            return replace(view, tab="rows", guesses=())
        return view

    def page(request: Request) -> Tag:
        return _page(entries, start(request.url.query))

    def server(input: Inputs, output: Outputs, session: Session) -> None:
        with reactive.isolate():
            query = session.clientdata.url_search().removeprefix("?")
        _serve(session, State(entries, kept, start(query), data))

    return App(page, server, static_assets={"/explorer": STATIC, "/report": SCRIPTS})


def _page(entries: Entries, view: View) -> Tag:
    panels: dict[str, TagChild] = {
        "overview": tab_overview.panel(view, len(true_model(view, entries).model.domain)),
        "graph": tags.div(tab_graph.panel(view), class_="needs-comparison needs-pairs"),
        "question": tags.div(
            tab_question.panel(true_model(view, entries).model.domain, view.question),
            class_="needs-pairs",
        ),
        "rows": tab_rows.panel(),
    }
    return ui.page_sidebar(
        sidebar.panel(entries, view),
        ui.head_content(
            tags.link(rel="icon", type="image/svg+xml", href="explorer/icon.svg"),
            tags.link(rel="stylesheet", href="report/findings.css"),
            tags.link(rel="stylesheet", href="explorer/explorer.css"),
            tags.script(src="report/heatmap.js"),
            tags.script(src="explorer/explorer.js"),
        ),
        ui.navset_underline(
            *(ui.nav_panel(TABS[tab], content, value=tab) for tab, content in panels.items()),
            id=TAB.key,
            selected=view.tab,
            header=sidebar.status_panel(),  # below the tabs, so that they do not move
        ),
        title=tags.div(
            tags.h1("contextwise explorer", class_="h5 m-0"),
            ui.input_dark_mode(id=THEME.key),
            class_="d-flex justify-content-between align-items-center w-100",
            role="banner",
        ),
        window_title="contextwise explorer",
        fillable=False,
        lang="en",
    )


def _serve(session: Session, state: State) -> None:
    for part in (sidebar, tab_overview, tab_graph, tab_question, tab_rows):
        part.serve(state)
    on(TAB, lambda tab: state.change(tab=tab))
    on(WALK, lambda query: state.go(View.parse(query), step=False))
    mirror(TAB, state.tab, ui.update_navset)
    _send_view(session, state)


def _send_view(session: Session, state: State) -> None:
    """Keep the page's address, marked pair and hidden parts up to date."""

    @reactive.effect
    async def send_address() -> None:
        view = state.view()
        stepped, state.stepped = state.stepped, False
        await session.send_custom_message(
            "view", {"state": view.query(), "link": view.link().query(), "step": stepped}
        )

    @reactive.effect
    async def send_mark() -> None:
        compared = state.current() is not None
        chosen = list(state.pair()) if compared and len(state.domain()) > 1 else None
        await session.send_custom_message("mark", {"pair": chosen})

    @reactive.effect
    async def send_variable() -> None:
        name = state.variable()
        if name is not None:
            await session.send_custom_message("field", {"id": "around", "value": name})

    @reactive.effect
    async def send_presence() -> None:
        current = state.current()
        await session.send_custom_message(
            "present",
            {
                "comparison": current is not None,
                "one": current is not None and current.one is not None,
                "guess": state.guess() is not None,
                "offer": bool(state.offered()),
                "rows": state.rows() is not None,
                "several": len(state.guesses()) > 1,
                "pairs": len(state.domain()) > 1,
            },
        )
