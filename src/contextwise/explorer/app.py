"""The page and its sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from htmltools import Tag, TagList, tags
from shiny import App, reactive, ui
from shiny.session import Inputs, Outputs, Session
from starlette.requests import Request

from contextwise.explorer import context, experiment, guesses, overview, pairs, question, sidebar
from contextwise.explorer.context import context_text
from contextwise.explorer.link import TABS, Link
from contextwise.explorer.process import prepare
from contextwise.explorer.state import Entry, State, bundled, given
from contextwise.models.structure import Model

STATIC = Path(__file__).parent / "static"


def explorer(models: Sequence[tuple[str, Model]] = (), *, run: Path | None = None) -> App:
    """The explorer as an application.

    Parameters
    ----------
    models : names and models
        Offered first: the first is the true model, the others are guesses.
    run : folder of an experiment's results, optional
    """
    library = [*given(models), *bundled()]
    prepare()

    def page(request: Request) -> Tag:
        return _page(library, Link.parse(request.url.query))

    def server(input: Inputs, output: Outputs, session: Session) -> None:
        _serve(session, State(input, library), run)

    return App(page, server, static_assets={"/explorer": STATIC})


def _page(library: Sequence[Entry], link: Link) -> Tag:
    views: dict[str, tuple[str, TagList]] = {
        "overview": (
            "Overview",
            TagList(
                overview.panel(),
                tags.div(overview.map_panel(), pairs.panel(), class_="map-and-pair"),
            ),
        ),
        "context": ("Context", context.panel()),
        "question": ("Question", question.panel(link.question)),
        "guesses": ("Guesses", guesses.panel()),
        "experiment": ("Experiment", experiment.panel()),
    }
    return ui.page_sidebar(
        sidebar.panel(library, link),
        ui.head_content(
            tags.link(rel="icon", type="image/svg+xml", href="explorer/icon.svg"),
            tags.link(rel="stylesheet", href="explorer/explorer.css"),
            tags.script(src="explorer/explorer.js"),
        ),
        ui.navset_underline(
            *(ui.nav_panel(views[tab][0], views[tab][1], value=tab) for tab in TABS),
            id="tab",
            selected=link.tab,
        ),
        title=tags.div(
            tags.h1("contextwise explorer", class_="h4 m-0"),
            ui.input_dark_mode(id="theme"),
            class_="d-flex justify-content-between align-items-center w-100",
        ),
        window_title="contextwise explorer",
        fillable=False,
        lang="en",
    )


def _serve(session: Session, state: State, run: Path | None) -> None:
    with reactive.isolate():
        link = Link.parse(session.clientdata.url_search())
    workers = [
        *sidebar.serve(state, link),
        *experiment.serve(state.input, run),
        pairs.serve(state),
        question.serve(state, link.question),
    ]
    overview.serve(state)
    guesses.serve(state)
    worker, chosen_context = context.serve(state, link.context)

    @reactive.effect
    def offer_pairs() -> None:
        state.offer_pairs(link.pair)

    _tell_address(session, state, link, chosen_context)

    def end() -> None:
        for one in (*workers, worker):
            one.drop()

    session.on_ended(end)


def _tell_address(
    session: Session, state: State, came: Link, chosen_context: Callable[[], dict[str, str]]
) -> None:
    """Keep the address of the page the link to what it shows.

    What is chosen is in it at once, so that a reload does not lose a comparison under way; what is
    looked at, once the comparison is there: until then it is what the page was asked for.
    """

    @reactive.effect
    async def address() -> None:
        true, guess = state.true(), state.guess()
        lasting = [entry.key for entry in state.guesses() if entry.lasting]
        link = replace(
            came if came.true == true.key else Link(),
            true=true.key if true.lasting else "",
            guesses=tuple(lasting),
            contexts=state.input.contexts(),
            tab=state.input.tab(),
            question=state.input.question(),
        )
        if any(one.guess is guess for one in state.results()):
            link = replace(
                link,
                shown=guess.key if guess.lasting else "",
                pair=state.pair() if true.lasting else None,
                context=context_text(chosen_context()) if true.lasting else "",
            )
        await session.send_custom_message("address", {"query": link.query()})
