"""An independence question, answered by both models with the reason."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.explorer import controls
from contextwise.explorer.computations import answers
from contextwise.explorer.job import Background, Done, Outcome
from contextwise.explorer.state import State
from contextwise.explorer.wiring import Input, clicks, follow, on, show, text
from contextwise.independence.queries import Answer
from contextwise.models.domain import Domain
from contextwise.models.notation import quoted

LIMIT = 30.0  # seconds for each model
GRACE = 10.0  # seconds that it may take beyond that

QUESTION = Input("question", text, "")
ASK = Input("ask", clicks)
EXAMPLE = Input("example_question", text)


def panel(question: str) -> TagList:
    """Return the tab with a first question."""
    return TagList(
        tags.p(
            "Is A independent of B, given every value of C, when D is yes? Write ",
            tags.code("A _||_ B | C, D=yes"),
            ". Separate several variables by commas. The part after the bar is optional. Put names "
            "with special characters in double quotes.",
        ),
        ui.output_ui("example"),
        tags.form(
            ui.input_text(QUESTION.key, "Question", question, width="100%"),
            ui.input_action_button(ASK.key, "Ask", class_="btn-primary"),
            onsubmit="return false",
            class_="ask",
        ),
        tags.div(ui.output_ui("replies"), aria_live="polite", class_="mt-3"),
    )


def example(domain: Domain) -> TagChild:
    if len(domain) < 3:
        return None
    words = "{} _||_ {} | {}".format(*map(quoted, domain.names[:3]))
    return tags.p("For example: ", HTML(controls.choose(words, EXAMPLE, words)))


def replies(outcome: Outcome[list[Answer]], models: Sequence[str]) -> TagChild:
    """Show the answers of the true model and of the guess, whose names are given."""
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    roles = (f"the true model, {models[0]}", f"the guess, {models[1]}")
    statement = str(outcome.value[0].statement).replace("⫫", "_||_")
    return TagList(
        tags.p("Question: ", tags.code(statement)),
        tags.div(*map(_reply, roles, outcome.value), class_="graphs"),
    )


def _reply(role: str, answer: Answer) -> Tag:
    steps = [tags.li(tags.code(step)) for step in answer.steps]
    return tags.section(
        tags.h2(f"In {role}: {answer.word}", class_="h6 when"),
        tags.p(f"{answer.reason[:1].upper()}{answer.reason[1:]}.", class_="when"),
        tags.ul(*steps, class_="when") if steps else None,
        class_="card card-body",
    )


def serve(state: State) -> None:
    """Connect the tab to the session; the question of the view is answered at once."""
    asking = Background(answers)

    def key() -> Hashable:
        return state.true(), state.guess(), state.question()

    @reactive.effect
    def ask() -> None:
        true, guess, question = state.true(), state.guess(), state.question()
        if guess is None or not question:
            asking.drop()
            return
        models = [true.model, guess.model]
        asking.start(key(), models, question, LIMIT, seconds=len(models) * LIMIT + GRACE)

    def content() -> TagChild:
        guess = state.guess()
        if guess is None:
            return None
        return replies(asking.outcome(key()), [state.true().label, guess.label])

    def write(question: str) -> None:
        if question and QUESTION.now() != question:
            ui.update_text(QUESTION.key, value=question)

    show("example", lambda: example(state.domain()))
    show("replies", content)
    on(ASK, lambda _: state.change(question=QUESTION.now().strip()))
    on(EXAMPLE, lambda words: ui.update_text(QUESTION.key, value=words))
    follow(state.question, write)
