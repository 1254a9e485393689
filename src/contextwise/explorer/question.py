"""An independence question, answered by both models with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from htmltools import Tag, TagList, tags
from shiny import reactive, render, req, ui

from contextwise.explorer import elements, jobs
from contextwise.explorer.state import State
from contextwise.explorer.work import Worker
from contextwise.independence import Answer
from contextwise.models.notation import quoted

LIMIT = 30.0  # seconds a model


def panel(question: str) -> TagList:
    """The question and its answers."""
    return TagList(
        tags.p(
            "Is A independent of B, given C whatever its value, when D is yes? Write it as ",
            tags.code("A _||_ B | C, D=yes"),
            "; several variables are separated by commas, and what follows the bar may be left "
            "out. Names with signs in them stand in double quotes.",
        ),
        ui.output_ui("example"),
        tags.form(
            ui.input_text("question", "Question", question, width="100%"),
            ui.input_action_button("ask", "Ask", class_="btn-primary"),
            onsubmit="return false",
        ),
        tags.div(ui.output_ui("replies"), aria_live="polite", class_="mt-3"),
    )


def serve(state: State, wanted: str) -> Worker:
    """Register what the view shows; a question that came with the link is asked at once."""
    worker = Worker(jobs.answers, seconds=2 * LIMIT + 10)
    first = reactive.value(bool(wanted))

    def start() -> None:
        models = [state.true().model, state.guess().model]
        worker.start(models, state.input.question(), LIMIT)

    @reactive.effect
    @reactive.event(state.input.ask)
    def ask() -> None:
        req(state.input.question().strip())
        start()

    @reactive.effect
    def ask_first() -> None:
        if first():
            start()
            first.set(False)

    @render.ui
    def example() -> TagList:
        names = state.domain().names
        req(len(names) > 2)
        text = "{} _||_ {} | {}".format(*map(quoted, names[:3]))
        return TagList(
            tags.p("For example: ", elements.choose(text, input="example_question", value=text))
        )

    @reactive.effect
    @reactive.event(state.input.example_question)
    def take_example() -> None:
        ui.update_text("question", value=state.input.example_question())

    @render.ui
    def replies() -> TagList:
        if worker.running():
            return TagList(tags.p("Asking both models …"))
        answers: Sequence[Answer] = worker.result()
        return TagList(
            tags.p("Asked: ", tags.strong(str(answers[0].statement).replace("⫫", "_||_"))),
            tags.div(
                *(
                    _reply(role, answer)
                    for role, answer in zip(("true model", "guess"), answers, strict=True)
                ),
                class_="graphs",
            ),
        )

    return worker


def _reply(role: str, answer: Answer) -> Tag:
    steps = [
        tags.li(f"{quoted(here)} – {quoted(there)}: ", tags.code(feature))
        for (here, there), feature in zip(pairwise(answer.path), answer.features, strict=True)
    ]
    return ui.card(
        ui.card_header(tags.h3(f"In the {role}: {answer.word}", class_="h6 m-0")),
        tags.p(f"{answer.reason[:1].upper()}{answer.reason[1:]}."),
        tags.ul(*steps) if steps else None,
    )
