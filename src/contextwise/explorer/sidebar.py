"""What is compared: the choice of models, uploads, and the work under way with its progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import eq

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.pairs import FULLY, Contexts
from contextwise.explorer import elements, view
from contextwise.explorer.background import Background
from contextwise.explorer.computations import read_uploads
from contextwise.explorer.job import Done, Outcome, Working
from contextwise.explorer.server import LARGEST_UPLOAD
from contextwise.explorer.state import Settled, State
from contextwise.explorer.view import Entries, Entry, View
from contextwise.explorer.wiring import (
    Input,
    Upload,
    choice,
    clicks,
    follow,
    on,
    show,
    text,
    texts,
    uploads,
)
from contextwise.formats import FORMATS
from contextwise.models.structure import Model

READING = 120.0  # seconds for the files of one upload
LIMITS = {"10": "10 seconds", "60": "1 minute", "600": "10 minutes"}
CONTEXTS: dict[Contexts, str] = {
    FULLY: "of the other variables",
    "canonical": "full assignments",
}


ReadFiles = list[tuple[str, Model | str]]
"""The models of files, by their names; of a broken one, what is wrong with it."""

TRUE = Input("true", text)
GUESSES = Input("guesses", texts)
SHOWN = Input("shown", text)
UPLOAD = Input("upload", uploads)
CONTEXT_KIND: Input[Contexts] = Input("contexts", choice(CONTEXTS, str))  # type: ignore[arg-type]
TIME_LIMIT = Input("limit", choice(LIMITS, float))
STOP = Input("stop", clicks)
AGAIN = Input("again", clicks)
NEW_TRUE = Input("new_true", text)


# -- what is shown -------------------------------------------------------------------------------


def panel(entries: Entries, start: View) -> ui.Sidebar:
    """The choices, set as the view says."""
    true = view.true_model(start, entries)
    guesses = view.chosen_guesses(start, entries)
    shown = view.shown_guess(start, entries)
    suffixes = [suffix for one in FORMATS for suffix in one.suffixes]
    return ui.sidebar(
        ui.input_select(TRUE.key, "True model", _labels(entries.values()), selected=true.key),
        ui.input_checkbox_group(
            GUESSES.key,
            "Guesses",
            _labels(view.offered_guesses(true, entries)),
            selected=[entry.key for entry in guesses],
        ),
        ui.input_select(
            SHOWN.key, "Shown guess", _labels(guesses), selected=shown.key if shown else None
        ),
        ui.input_file(
            UPLOAD.key,
            f"Add model files ({LARGEST_UPLOAD >> 20} MiB at most)",
            multiple=True,
            accept=[*suffixes, ".gz"],
            placeholder="none yet",
        ),
        tags.div(ui.output_ui("uploaded"), aria_live="polite"),
        ui.accordion(
            ui.accordion_panel(
                "Options",
                ui.input_radio_buttons(
                    CONTEXT_KIND.key,
                    "Contexts",
                    dict(CONTEXTS.items()),
                    selected=start.contexts,
                ),
                ui.input_select(TIME_LIMIT.key, "Time limit for each guess", LIMITS, selected="60"),
            ),
            open=False,
        ),
        tags.div(
            tags.button("Copy link", type="button", id="copy-link", class_="btn btn-sm btn-link"),
            tags.p(
                "The page's address brings this view back; uploaded files are not kept.",
                class_="note",
            ),
        ),
        width=290,
        title="Models",
        resizable=False,
        open={"desktop": "open", "mobile": "closed"},
    )


def status_panel() -> Tag:
    """What is missing and what is under way, above every view and below the tabs.

    What is under way stands in a corner of the window once there is something to look at, so that
    nothing moves when it comes or goes.
    """
    return tags.div(
        tags.div(elements.under_way(Working("Connecting")), class_="connecting"),
        ui.output_ui("status"),
        ui.output_ui("status_buttons"),
        tags.div(ui.output_ui("work"), ui.output_ui("work_buttons"), class_="work"),
        aria_live="polite",
        class_="status",
    )


def status(*, any_guess: bool, failure: str | None, open_pairs: bool) -> TagChild:
    """What is missing, or what went wrong.

    Parameters
    ----------
    any_guess : whether a guess is chosen
    failure : why there is no result
    open_pairs : whether some pairs were not decided
    """
    if not any_guess:
        return elements.notice(
            "No guess is chosen. Choose one under Models, or add a model file of the same "
            "variables.",
            "info",
        )
    if failure:
        return elements.notice(failure, "danger")
    return (
        elements.notice("Some pairs are open: what is shown of them is proven.")
        if open_pairs
        else None
    )


def uploaded(outcome: Outcome[ReadFiles], strangers: Sequence[Entry]) -> TagList:
    """What became of an upload.

    Parameters
    ----------
    outcome : what is known of the reading
    strangers : the models that have other variables than the true one
    """
    if not isinstance(outcome, Done):
        return TagList(elements.not_done(outcome))
    broken = [words for _, words in outcome.value if isinstance(words, str)]
    return TagList(*(elements.notice(words, "danger") for words in broken), _strangers(strangers))


def _strangers(entries: Sequence[Entry]) -> Tag | None:
    if not entries:
        return None
    names = " and ".join(entry.label for entry in entries)
    have = "has" if len(entries) == 1 else "have"
    buttons = (
        elements.choose(
            f"Make {entry.label} the true model",
            NEW_TRUE,
            entry.key,
            class_="btn btn-sm btn-outline-secondary d-block mt-1 when",
        )
        for entry in entries
    )
    words = f"{names} {have} other variables than the true model, and cannot be guesses at it."
    return tags.div(words, *buttons, class_="alert alert-info py-2 when", role="alert")


def _labels(entries: Iterable[Entry]) -> dict[str, str]:
    return {entry.key: entry.label for entry in entries}


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> list[Background[ReadFiles]]:
    """Tie the choices to the session."""
    _follow(state)
    _compare(state)
    on(TRUE, lambda key: _choose_true(state, key))
    on(NEW_TRUE, lambda key: _choose_true(state, key))
    on(CONTEXT_KIND, lambda kind: state.go(replace(state.now(), contexts=kind)))
    on(SHOWN, lambda key: _choose_shown(state, key))

    @reactive.effect
    @reactive.event(GUESSES, ignore_none=False)
    def choose_guesses() -> None:
        keys = GUESSES()
        with reactive.isolate():
            same = set(keys) == {entry.key for entry in state.guesses()}
        if not same:
            state.go(replace(state.now(), guesses=keys))

    return [_uploads(state)]


def _choose_true(state: State, key: str) -> None:
    with reactive.isolate():
        if key == state.true().key or key not in state.entries():
            return
    now = state.now()
    state.go(View(true=key, tab=now.tab, contexts=now.contexts, all_edges=now.all_edges))


def _choose_shown(state: State, key: str) -> None:
    with reactive.isolate():
        guess = state.guess()
    if guess is not None and key != guess.key:
        state.go(replace(state.now(), shown=key))


def _follow(state: State) -> None:
    """Let the choices follow the view; what a person has just set is never set again."""

    def true() -> tuple[dict[str, str], str]:
        return _labels(state.entries().values()), state.true().key

    def set_true(wanted: tuple[dict[str, str], str]) -> None:
        ui.update_select(TRUE.key, choices=wanted[0], selected=wanted[1])

    def chosen() -> list[str]:
        return [entry.key for entry in state.guesses()]

    def offer_guesses(offered: list[Entry]) -> None:
        with reactive.isolate():
            ui.update_checkbox_group(GUESSES.key, choices=_labels(offered), selected=chosen())

    def check_guesses(keys: list[str]) -> None:
        if set(GUESSES.now(())) != set(keys):
            ui.update_checkbox_group(GUESSES.key, selected=keys)

    def shown() -> tuple[dict[str, str], str | None]:
        guess = state.guess()
        return _labels(state.guesses()), guess.key if guess else None

    def set_shown(wanted: tuple[dict[str, str], str | None]) -> None:
        ui.update_select(SHOWN.key, choices=wanted[0], selected=wanted[1])

    def set_contexts(kind: Contexts) -> None:
        if CONTEXT_KIND.now(FULLY) != kind:
            ui.update_radio_buttons(CONTEXT_KIND.key, selected=kind)

    follow(true, set_true)
    follow(state.offered, offer_guesses)
    follow(chosen, check_guesses)
    follow(shown, set_shown)
    follow(state.contexts, set_contexts)


def _compare(state: State) -> None:
    """Compare what is chosen, say how far it is, and let it be stopped."""

    @reactive.effect
    def compare() -> None:
        state.compare(time_limit=TIME_LIMIT.now(60.0))

    @reactive.effect
    def keep() -> None:
        state.keep_results()

    def working() -> Working | None:
        outcome = state.comparing.outcome(state.comparing.asked())
        return outcome if isinstance(outcome, Working) else None

    busy = Settled(lambda: working() is not None, eq)

    def is_open() -> bool:
        shown = state.current()
        return shown is not None and shown.findings.is_open

    def missing() -> TagChild:
        return status(
            any_guess=bool(state.guesses()), failure=state.failure(), open_pairs=is_open()
        )

    def again() -> TagChild:
        if not (state.failure() or is_open()):
            return None
        return ui.input_action_button(
            AGAIN.key, "Compare again", class_="btn-sm mb-3", disabled=busy()
        )

    def progress() -> TagChild:
        now = working()
        return None if now is None else elements.under_way(now)

    def stop() -> TagChild:
        stopping = ui.input_action_button(STOP.key, "Stop", class_="btn-sm btn-warning")
        return stopping if busy() else None

    # All of it is made even where it is not on screen: while it is empty it takes no room.
    show("status", missing, eager=True)
    show("status_buttons", again, eager=True)
    show("work", progress, eager=True)
    show("work_buttons", stop, eager=True)
    on(STOP, lambda _: state.comparing.interrupt())
    on(AGAIN, lambda _: state.compare(time_limit=TIME_LIMIT.now(60.0), again=True))


def _uploads(state: State) -> Background[ReadFiles]:
    """Read uploaded files: those that fit become guesses, of the others somebody is asked."""
    reading = Background(read_uploads)
    new: reactive.Value[tuple[str, ...]] = reactive.value((), name="new")

    def read(files: Sequence[Upload]) -> None:
        if files:
            pairs = [(file.path, file.name) for file in files]
            reading.start(tuple(files), pairs, seconds=READING)

    @reactive.effect
    def take() -> None:
        outcome = reading.outcome(reading.asked())
        if not isinstance(outcome, Done):
            return
        good = [(name, model) for name, model in outcome.value if not isinstance(model, str)]
        new.set(state.add(good))

    def content() -> TagList:
        outcome = reading.outcome(reading.asked())
        entries, true = state.entries(), state.true()
        fitting = {true.key, *(entry.key for entry in state.offered())}
        return uploaded(outcome, [entries[key] for key in new() if key not in fitting])

    on(UPLOAD, read)
    show("uploaded", content)
    return reading
