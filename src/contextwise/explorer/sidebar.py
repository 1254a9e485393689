"""What is compared: the choice of models, uploads, and the work under way with its progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from htmltools import Tag, TagList, tags
from shiny import reactive, render, ui

from contextwise.comparison.pairs import FULLY
from contextwise.explorer import elements, jobs
from contextwise.explorer.link import Link
from contextwise.explorer.server import LARGEST_UPLOAD
from contextwise.explorer.state import Entry, State, fitting, likely
from contextwise.explorer.work import Worker
from contextwise.formats import FORMATS

READING = 120.0  # seconds for the files of one upload
LIMITS = {"10": "10 seconds", "60": "1 minute", "600": "10 minutes"}
CONTEXTS: dict[str, str] = {
    FULLY: "of the other variables",
    "canonical": "full assignments",
}


def panel(library: Iterable[Entry], link: Link) -> ui.Sidebar:
    """The choices, set as the link says."""
    entries = list(library)
    true, guesses = _first_choice(entries, link)
    wanted = [entry.key for entry in guesses if entry.key in link.guesses]
    suffixes = [suffix for one in FORMATS for suffix in one.suffixes]
    return ui.sidebar(
        ui.input_select("true", "True model", _labels(entries), selected=true.key),
        ui.input_checkbox_group(
            "guesses", "Guesses", _labels(guesses), selected=wanted or likely(true, guesses)
        ),
        ui.input_file(
            "upload",
            f"Add model files ({LARGEST_UPLOAD >> 20} MiB at most)",
            multiple=True,
            accept=[*suffixes, ".gz"],
        ),
        tags.div(ui.output_ui("uploaded"), ui.output_ui("status"), aria_live="polite"),
        ui.input_select("shown", "Shown guess", []),
        ui.accordion(
            ui.accordion_panel(
                "Options",
                ui.input_radio_buttons("contexts", "Contexts", CONTEXTS, selected=link.contexts),
                ui.input_select("limit", "Time limit for each guess", LIMITS, selected="60"),
            ),
            open=False,
        ),
        tags.div(
            tags.button(
                "Copy link",
                type="button",
                id="copy-link",
                class_="btn btn-outline-primary btn-sm",
            ),
            tags.p(
                "The page's address brings this view back; uploaded files are not kept.",
                class_="small text-body-secondary mt-1 mb-0",
            ),
        ),
        width=310,
        title="Models",
        open={"desktop": "open", "mobile": "always-above"},
    )


def serve(state: State, link: Link) -> list[Worker]:
    """Register what the choices do."""
    input = state.input
    reading = Worker(jobs.read_uploads, seconds=READING)
    fresh: list[str] = []
    with reactive.isolate():
        offered = _first_choice(list(state.entries().values()), link)[1]

    @reactive.effect
    def offer_guesses() -> None:
        nonlocal offered
        true, guesses = state.true(), state.fitting()
        if guesses == offered:
            return  # what somebody is clicking at this moment must not be undone
        offered = guesses
        with reactive.isolate():
            before = {*input.guesses(), *fresh}
        kept = [entry.key for entry in guesses if entry.key in before]
        ui.update_checkbox_group(
            "guesses", choices=_labels(guesses), selected=kept or likely(true, guesses)
        )

    @reactive.effect
    def compare() -> None:
        state.compare()

    @reactive.effect
    def keep() -> None:
        if state.comparing.succeeded():
            state.keep_results()

    @reactive.effect
    @reactive.event(input.again)
    def again() -> None:
        state.compare(again=True)

    @reactive.effect
    @reactive.event(input.stop)
    def stop() -> None:
        state.comparing.interrupt()

    @reactive.effect
    def offer_shown() -> None:
        guesses = state.guesses()
        with reactive.isolate():
            chosen = input.shown() or link.shown
        keys = [entry.key for entry in guesses]
        ui.update_select(
            "shown",
            choices=_labels(guesses),
            selected=chosen if chosen in keys else keys[0] if keys else None,
        )

    @render.ui
    def status() -> TagList | Tag | None:
        if state.comparing.running():
            stop = ui.input_action_button("stop", "Cancel", class_="btn-sm btn-warning mb-3")
            return TagList(ui.output_ui("progress"), stop)
        if not state.guesses():
            return elements.notice("Choose at least one guess.", "info")
        if failure := state.comparing.failure():
            return TagList(elements.notice(failure), _again())
        if any(len(one.comparison.unions.open) for one in state.results()):
            return TagList(elements.notice("Some pairs are open."), _again())
        return None

    @render.ui
    def progress() -> Tag:
        reactive.invalidate_later(0.25)
        return _progress(*state.comparing.done)

    @reactive.effect
    @reactive.event(input.upload)
    def read() -> None:
        files = input.upload() or ()
        reading.start([(file["datapath"], file["name"]) for file in files])

    @reactive.effect
    def take() -> None:
        if not reading.succeeded():
            return
        with reactive.isolate():
            new = [
                state.add(name, model)
                for name, model in reading.result()
                if not isinstance(model, str)
            ]
            fresh[:] = [entry.key for entry in new]
            others = new and (len(new) > 1 or new[0] not in state.fitting())
            ui.update_select(
                "true",
                choices=_labels(state.entries().values()),
                selected=new[0].key if others else input.true(),
            )

    @render.ui
    def uploaded() -> TagList | Tag:
        if failure := reading.failure():
            return elements.notice(failure, "danger")
        broken = [text for _, text in reading.result() if isinstance(text, str)]
        return TagList(*(elements.notice(text, "danger") for text in broken))

    return [reading, state.comparing]


def _first_choice(entries: Sequence[Entry], link: Link) -> tuple[Entry, list[Entry]]:
    """The true model with which the page begins, and the guesses that it offers."""
    true = next((entry for entry in entries if entry.key == link.true), entries[0])
    return true, fitting(true, entries)


def _labels(entries: Iterable[Entry]) -> dict[str, str]:
    return {entry.key: entry.label for entry in entries}


def _again() -> Tag:
    return ui.input_action_button("again", "Compare again", class_="btn-sm mb-3")


def _progress(done: int, total: int) -> Tag:
    share = 100 * done // max(total, 1)
    return tags.div(
        tags.div(f"{share} %", class_="progress-bar", style=f"width: {max(share, 8)}%"),
        class_="progress mb-2",
        role="progressbar",
        aria_label="Comparing",
        aria_valuenow=str(share),
        aria_valuemin="0",
        aria_valuemax="100",
    )
