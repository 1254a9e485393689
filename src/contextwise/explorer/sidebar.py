"""The sidebar: the choice of models, uploads, options, and the progress of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.explorer import controls
from contextwise.explorer.computations import read_uploads
from contextwise.explorer.job import Background, Done, Outcome, Upload, Working
from contextwise.explorer.server import LARGEST_UPLOAD
from contextwise.explorer.state import (
    LONGER,
    Entries,
    ModelEntry,
    State,
    View,
    chosen_guesses,
    is_open,
    offered_guesses,
    shown_guess,
    true_model,
)
from contextwise.formats import FORMATS
from contextwise.models.structure import Model
from contextwise.support.files import PACKINGS

READING = 120.0  # seconds for the files of one upload
ReadFiles = list[tuple[str, Model | str]]
"""Names and models of files, or messages about what is wrong with them."""

TRUE = controls.Input("true", controls.text)
GUESSES = controls.Input("guesses", controls.texts)
SHOWN = controls.Input("shown", controls.text)
UPLOAD = controls.Input("upload", controls.uploads)
PEERS = controls.Input("peers", controls.flag, False)
STOP = controls.Input("stop", controls.clicks)
AGAIN = controls.Input("again", controls.clicks)
AGAIN_LABEL = f"Compare again, up to {LONGER / 60:g} minutes"


def panel(entries: Entries, start: View) -> ui.Sidebar:
    true = true_model(start, entries)
    guesses = chosen_guesses(start, entries)
    shown = shown_guess(start, entries)
    suffixes = [suffix for file_format in FORMATS for suffix in file_format.suffixes]
    return ui.sidebar(
        ui.input_select(TRUE.key, "Model", _labels(entries.values()), selected=true.key),
        tags.div(
            ui.input_checkbox_group(
                GUESSES.key,
                "Compare it with",
                _labels(offered_guesses(true, entries)),
                selected=[entry.key for entry in guesses],
            ),
            class_="needs-offer",
        ),
        tags.div(
            ui.input_select(
                SHOWN.key,
                "Shown comparison",
                _labels(guesses),
                selected=shown.key if shown else None,
            ),
            class_="needs-several",
        ),
        tags.div(
            ui.input_checkbox(PEERS.key, "Treat both models alike", start.peers),
            class_="needs-guess",
        ),
        ui.input_file(
            UPLOAD.key,
            f"Add model files (at most {LARGEST_UPLOAD >> 20} MiB)",
            multiple=True,
            accept=[*dict.fromkeys(suffixes), *PACKINGS],
            placeholder="none yet",
        ),
        tags.div(ui.output_ui("uploaded"), aria_live="polite"),
        tags.p(
            "The address of the page restores this view, without uploaded files, while the "
            "explorer runs.",
            class_="note",
        ),
        width=290,
        title="Models",
        resizable=False,
        open={"desktop": "open", "mobile": "closed"},
    )


def status_panel() -> Tag:
    """Return the place of messages and progress; progress moves to a corner later."""
    return tags.div(
        tags.div(controls.under_way(Working("Connecting")), class_="connecting"),
        ui.output_ui("status"),
        ui.output_ui("status_buttons"),
        tags.div(ui.output_ui("work"), ui.output_ui("work_buttons"), class_="work"),
        aria_live="polite",
        class_="status",
    )


def status(*, failure: str | None, open_pairs: bool) -> TagChild:
    if failure:
        return controls.notice(failure, "danger")
    if open_pairs:
        return controls.notice("Some pairs are unfinished; the values shown are proven bounds.")
    return None


def uploaded(outcome: Outcome[ReadFiles], others: Sequence[ModelEntry]) -> TagList:
    """Show the errors of an upload, and models with other variables than the chosen one."""
    if not isinstance(outcome, Done):
        return TagList(controls.not_done(outcome))
    errors = [message for _, message in outcome.value if isinstance(message, str)]
    return TagList(*(controls.notice(error, "danger") for error in errors), _others(others))


def _others(entries: Sequence[ModelEntry]) -> Tag | None:
    if not entries:
        return None
    names = " and ".join(entry.label for entry in entries)
    have = "has" if len(entries) == 1 else "have"
    text = f"{names} {have} other variables than this model, and cannot be compared with it. "
    text += "To see such a model, choose it under Model."
    return tags.div(text, class_="alert alert-info py-2 when", role="alert")


def _labels(entries: Iterable[ModelEntry]) -> dict[str, str]:
    return {entry.key: entry.label for entry in entries}


def serve(state: State) -> None:
    _serve_choices(state)
    _serve_comparing(state)
    _serve_uploads(state)


def _serve_choices(state: State) -> None:
    """Connect the choices in both directions; an input that the user has just set stays."""

    def choose_true(key: str) -> None:
        with reactive.isolate():
            if not state.knows(key) or key == state.true().key:
                return
        view = state.now()
        state.go(View(true=key, tab=view.tab, peers=view.peers, all_edges=view.all_edges))

    def choose_shown(key: str) -> None:
        with reactive.isolate():
            guess = state.guess()
        if guess is not None and key != guess.key and state.knows(key):
            state.change(shown=key)

    def choose_guesses(keys: tuple[str, ...]) -> None:
        with reactive.isolate():
            same = set(keys) == {entry.key for entry in state.guesses()}
        if not same and state.knows(*keys):
            state.change(guesses=keys)

    controls.on(TRUE, choose_true)
    controls.on(SHOWN, choose_shown)
    controls.on(GUESSES, choose_guesses)
    controls.on(PEERS, lambda peers: state.change(peers=peers))

    def chosen() -> list[str]:
        return [entry.key for entry in state.guesses()]

    def shown() -> tuple[dict[str, str], str | None]:
        guess = state.guess()
        return _labels(state.guesses()), guess.key if guess else None

    def offer_guesses(offered: list[ModelEntry]) -> None:
        with reactive.isolate():
            ui.update_checkbox_group(GUESSES.key, choices=_labels(offered), selected=chosen())

    def check_guesses(keys: list[str]) -> None:
        if set(GUESSES.now()) != set(keys):
            ui.update_checkbox_group(GUESSES.key, selected=keys)

    def set_options(key: str) -> Callable[[tuple[dict[str, str], str | None]], None]:
        return lambda wanted: ui.update_select(key, choices=wanted[0], selected=wanted[1])

    def true() -> tuple[dict[str, str], str | None]:
        return _labels(state.entries().values()), state.true().key

    controls.follow(true, set_options(TRUE.key))
    controls.follow(state.offered, offer_guesses)
    controls.follow(chosen, check_guesses)
    controls.follow(shown, set_options(SHOWN.key))
    controls.mirror(PEERS, state.peers, ui.update_checkbox, "value")


def _serve_comparing(state: State) -> None:
    """Compare what is chosen, show the progress, and let it be stopped."""

    @reactive.effect
    def compare() -> None:
        state.compare()

    reactive.effect(state.keep_results)

    def working() -> Working | None:
        outcome = state.comparing.latest()
        return outcome if isinstance(outcome, Working) else None

    busy = controls.Settled(lambda: working() is not None)

    def some_open() -> bool:
        current = state.current()
        return current is not None and is_open(current)

    def messages() -> TagChild:
        return status(failure=state.failure(), open_pairs=some_open())

    def again() -> TagChild:
        if not (state.failure() or some_open()):
            return None
        return ui.input_action_button(AGAIN.key, AGAIN_LABEL, class_="btn-sm mb-3", disabled=busy())

    def progress() -> TagChild:
        current = working()
        return None if current is None else controls.under_way(current)

    def stop() -> TagChild:
        button = ui.input_action_button(STOP.key, "Stop", class_="btn-sm btn-warning")
        return button if busy() else None

    # Eager, because an empty output takes no room and counts as hidden.
    controls.show("status", messages, eager=True)
    controls.show("status_buttons", again, eager=True)
    controls.show("work", progress, eager=True)
    controls.show("work_buttons", stop, eager=True)
    controls.on(STOP, lambda _: state.comparing.interrupt())
    controls.on(AGAIN, lambda _: state.compare(again=True))


def _serve_uploads(state: State) -> None:
    """Read uploaded files; models that fit become guesses."""
    reading = Background(read_uploads)
    new: reactive.Value[tuple[str, ...]] = reactive.value((), name="new")

    def read(files: Sequence[Upload]) -> None:
        if files:
            pairs = [(file.path, file.name) for file in files]
            reading.start(tuple(files), pairs, seconds=READING)

    @reactive.effect
    def take() -> None:
        outcome = reading.latest()
        if isinstance(outcome, Done):
            models = [(name, model) for name, model in outcome.value if not isinstance(model, str)]
            new.set(state.add(models))

    def content() -> TagList:
        entries = state.entries()
        fitting = {state.true().key, *(entry.key for entry in state.offered())}
        others = [entries[key] for key in new() if key not in fitting]
        return uploaded(reading.latest(), others)

    controls.on(UPLOAD, read)
    controls.show("uploaded", content)
