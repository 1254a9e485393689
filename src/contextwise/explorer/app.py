"""The page and its sessions."""

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
    context,
    experiment,
    guesses,
    overview,
    pair,
    question,
    sidebar,
    statistics,
)
from contextwise.explorer.computations import Findings
from contextwise.explorer.job import prepare
from contextwise.explorer.state import Ahead, Key, State, begin_ahead
from contextwise.explorer.view import Entries, View, library
from contextwise.explorer.wiring import Input, choice, follow, forgo_traces, on, text
from contextwise.models.structure import Model

STATIC = Path(__file__).parent / "static"
SCRIPTS = Path(report.__file__).parent / "static"
TITLES = {
    "overview": "Overview",
    "context": "Context",
    "question": "Question",
    "guesses": "Guesses",
    "statistics": "Statistics",
    "experiment": "Experiment",
}
TAB = Input("tab", choice(TITLES, str))
THEME = Input("theme", choice({"light": "", "dark": ""}, str))
WALK = Input("walk", text)
"""Where Back or Forward of the browser leads, as a query."""


def explorer(
    models: Sequence[tuple[str, Model]] = (),
    *,
    run: Path | None = None,
    data: Path | None = None,
) -> App:
    """The explorer as an application.

    Parameters
    ----------
    models : names and models
        Offered first: the first is the true model, the others are guesses.
    run : folder of the results of a run, optional
        The page begins with them.
    data : file of rows, optional
        Against which claims are tested when somebody asks for it.
    """
    entries = library(models)
    kept: dict[Key, Findings] = {}
    ahead: Ahead = {}
    prepare()
    forgo_traces()

    def start(query: str) -> View:
        view = View.parse(query)
        return replace(view, tab="experiment") if run is not None and not query else view

    def page(request: Request) -> Tag:
        view = start(request.url.query)
        begin_ahead(view, entries, kept, ahead)
        return _page(entries, view)

    def server(input: Inputs, output: Outputs, session: Session) -> None:
        with reactive.isolate():
            query = session.clientdata.url_search().removeprefix("?")
        _serve(session, State(entries, kept, start(query), ahead), run, data)

    return App(page, server, static_assets={"/explorer": STATIC, "/report": SCRIPTS})


def _page(entries: Entries, view: View) -> Tag:
    panels: dict[str, TagChild] = {
        "overview": overview.panel(pair.panel(view)),
        "context": tags.div(context.panel(view), class_="needs-comparison"),
        "question": tags.div(question.panel(view.question), class_="needs-guess"),
        "guesses": tags.div(guesses.panel(), class_="needs-comparison"),
        "statistics": tags.div(statistics.panel(), class_="needs-comparison"),
        "experiment": experiment.panel(),
    }
    return ui.page_sidebar(
        sidebar.panel(entries, view),
        ui.head_content(
            tags.link(rel="icon", type="image/svg+xml", href="explorer/icon.svg"),
            tags.link(rel="stylesheet", href="explorer/explorer.css"),
            tags.script(src="report/heatmap.js"),
            tags.script(src="explorer/explorer.js"),
        ),
        ui.navset_underline(
            *(ui.nav_panel(TITLES[tab], panels[tab], value=tab) for tab in TITLES),
            id=TAB.key,
            selected=view.tab,
            header=sidebar.status_panel(),  # below the tabs, so that they stay where they are
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


def _serve(session: Session, state: State, run: Path | None, data: Path | None) -> None:
    overview.serve(state)
    works = [
        *sidebar.serve(state),
        *experiment.serve(run),
        *guesses.serve(state),
        *statistics.serve(state, data),
        pair.serve(state),
        context.serve(state),
        question.serve(state),
        state.comparing,
    ]
    on(TAB, lambda tab: state.go(replace(state.now(), tab=tab)))
    on(WALK, lambda query: state.go(View.parse(query), step=False))
    _tell(session, state)

    def end() -> None:
        for work in works:
            work.drop()

    session.on_ended(end)


def _tell(session: Session, state: State) -> None:
    """Tell the page what it shows: its address, the tab in front, and the pair to mark."""

    @reactive.effect
    async def address() -> None:
        view = state.view()
        pushed, state.stepped = state.stepped, False
        await session.send_custom_message(
            "view", {"state": view.query(), "link": view.link().query(), "step": pushed}
        )

    def turn(tab: str) -> None:
        if TAB.now("") != tab:
            ui.update_navset(TAB.key, selected=tab)

    follow(state.tab, turn)

    @reactive.effect
    async def mark() -> None:
        there = state.current() is not None
        chosen = list(state.pair()) if there and len(state.domain()) > 1 else None
        await session.send_custom_message("mark", {"pair": chosen})

    @reactive.effect
    async def name_variable() -> None:
        name = state.variable()
        if name is not None:
            await session.send_custom_message("field", {"id": "around", "value": name})

    @reactive.effect
    async def present() -> None:
        await session.send_custom_message(
            "present",
            {
                "comparison": state.current() is not None,
                "guess": state.guess() is not None,
                "several": len(state.guesses()) > 1,
            },
        )
