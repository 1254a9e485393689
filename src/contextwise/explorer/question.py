"""An independence question, answered by both models with its reason."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.explorer import elements
from contextwise.explorer.background import Background
from contextwise.explorer.computations import answers
from contextwise.explorer.job import Done, Outcome
from contextwise.explorer.state import State
from contextwise.explorer.wiring import Input, clicks, follow, on, show, text
from contextwise.independence import Answer
from contextwise.models.domain import Domain
from contextwise.models.notation import quoted

LIMIT = 30.0  # seconds for each model
GRACE = 10.0  # seconds that it may take beyond that

QUESTION = Input("question", text)
ASK = Input("ask", clicks)
EXAMPLE = Input("example_question", text)


# -- what is shown -------------------------------------------------------------------------------


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
            ui.input_text(QUESTION.key, "Question", question, width="100%"),
            ui.input_action_button(ASK.key, "Ask", class_="btn-primary"),
            onsubmit="return false",
            class_="ask",
        ),
        tags.div(ui.output_ui("replies"), aria_live="polite", class_="mt-3"),
    )


def example(domain: Domain) -> TagChild:
    """A question that makes sense here, to begin with."""
    if len(domain) < 3:
        return None
    words = "{} _||_ {} | {}".format(*map(quoted, domain.names[:3]))
    return tags.p("For example: ", elements.choose(tags.code(words), EXAMPLE, words))


def replies(outcome: Outcome[list[Answer]], models: Sequence[str]) -> TagChild:
    """What each model says, and why.

    Parameters
    ----------
    outcome : what is known of the answers
    models : the names of the models that were asked
    """
    if not isinstance(outcome, Done):
        return elements.not_done(outcome)
    found = outcome.value
    asked = str(found[0].statement).replace("⫫", "_||_")
    roles = (f"the true model, {models[0]}", f"the guess, {models[1]}")
    return TagList(
        tags.p("Asked: ", tags.code(asked)),
        tags.div(*map(_reply, roles, found), class_="graphs"),
    )


def _reply(role: str, answer: Answer) -> Tag:
    steps = [
        tags.li(f"{quoted(here)} – {quoted(there)}: ", tags.code(feature))
        for (here, there), feature in zip(pairwise(answer.path), answer.features, strict=True)
    ]
    return tags.section(
        tags.h2(f"In {role}: {answer.word}", class_="h6 when"),
        tags.p(f"{answer.reason[:1].upper()}{answer.reason[1:]}.", class_="when"),
        tags.ul(*steps, class_="when") if steps else None,
        class_="card card-body",
    )


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> Background[list[Answer]]:
    """Tie the view to the session; the question of the view is asked at once."""
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

    show("example", lambda: example(state.domain()))
    show("replies", content)
    on(ASK, lambda _: state.go(replace(state.now(), question=QUESTION.now("").strip())))
    on(EXAMPLE, lambda words: ui.update_text(QUESTION.key, value=words))

    def write(question: str) -> None:
        if question and QUESTION.now("") != question:
            ui.update_text(QUESTION.key, value=question)

    follow(state.question, write)
    return asking
