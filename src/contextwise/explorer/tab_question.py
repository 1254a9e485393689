"""An independence question, answered by each model with the reason."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.errors import ContextwiseError
from contextwise.explorer import controls
from contextwise.explorer.computations import answers
from contextwise.explorer.controls import Input, clicks, follow, on, show, text, texts
from contextwise.explorer.job import Background, Done, Outcome
from contextwise.explorer.state import State, context_in, context_text
from contextwise.independence.queries import Answer
from contextwise.independence.statements import Statement, parse_statement
from contextwise.models.domain import Domain
from contextwise.models.notation import quoted
from contextwise.report.analysis_page import evidence_table

LIMIT = 30.0  # seconds for each model
GRACE = 10.0  # seconds that it may take beyond that

QUESTION = Input("question", text, "")
ASK = Input("ask", clicks)
EXAMPLE = Input("example_question", text)
LEFT = Input("asked_first", text)
RIGHT = Input("asked_second", text)
GIVEN: Input[tuple[str, ...]] = Input("asked_given", texts, ())
WHEN: Input[tuple[str, ...]] = Input("asked_when", texts, ())
ASK_PICKED = Input("ask_picked", clicks)
WIDE = "100%"
MOST_LISTED = 3_000
"""Browsers and Shiny take many seconds for lists of more variables."""


def panel(domain: Domain, question: str) -> TagList:
    """Return the tab with a first question."""
    chosen = picked(domain, question)
    many = len(domain) > MOST_LISTED
    names, states = ([], []) if many else (list(domain.names), literals(domain))
    return TagList(
        tags.p(f"{len(domain):,} variables are too many for lists; write the question.")
        if many
        else tags.form(
            tags.div(
                ui.input_selectize(
                    LEFT.key, "Is", names, selected=list(chosen.first[:1]), width=WIDE
                ),
                ui.input_selectize(
                    RIGHT.key, "independent of", names, selected=list(chosen.second[:1]), width=WIDE
                ),
                ui.input_selectize(
                    GIVEN.key,
                    "given any state of",
                    names,
                    selected=list(chosen.given),
                    multiple=True,
                    width=WIDE,
                ),
                ui.input_selectize(
                    WHEN.key,
                    "in the context",
                    states,
                    selected=[context_text({k: v}) for k, v in chosen.context.items()],
                    multiple=True,
                    width=WIDE,
                ),
                class_="pickers",
            ),
            ui.input_action_button(ASK_PICKED.key, "Ask", class_="btn-primary"),
            onsubmit="return false",
            class_="ask",
        ),
        tags.details(
            tags.summary("Write the question, for several variables at once"),
            tags.p(
                "Is A independent of B, given every value of C, when D is yes? Write ",
                tags.code("A _||_ B | C, D=yes"),
                ". Separate several variables by commas. The part after the bar is optional. Put "
                "names with special characters in double quotes.",
            ),
            ui.output_ui("example"),
            tags.form(
                ui.input_text(QUESTION.key, "Question", question, width="100%"),
                ui.input_action_button(ASK.key, "Ask in writing", class_="btn-sm"),
                onsubmit="return false",
                class_="ask",
            ),
            {"open": ""} if many or (question and not chosen.first) else {},
            class_="mt-3",
        ),
        tags.div(ui.output_ui("replies"), aria_live="polite", class_="mt-3"),
    )


def literals(domain: Domain) -> list[str]:
    """Return every state of every variable, as ``D=yes``."""
    pairs = zip(domain.names, domain.states, strict=True)
    return [context_text({name: state}) for name, states in pairs for state in states]


def picked(domain: Domain, question: str) -> Statement:
    """Return what the lists show for a question: all of it, or a start without one."""
    try:
        statement = parse_statement(question)
    except ContextwiseError:
        return Statement(domain.names[:1], domain.names[1:2])
    mentioned = {*statement.first, *statement.second, *statement.given, *statement.context}
    one_each = len(statement.first) == len(statement.second) == 1
    return statement if one_each and mentioned <= domain.positions.keys() else Statement((), ())


def example(domain: Domain) -> TagChild:
    if len(domain) < 3:
        return None
    text = "{} _||_ {} | {}".format(*map(quoted, domain.names[:3]))
    return tags.p("For example: ", HTML(controls.choose(text, EXAMPLE, text)))


def replies(outcome: Outcome[list[Answer]], models: Sequence[str]) -> TagChild:
    """Show the answers of the models, whose names are given."""
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    statement = str(outcome.value[0].statement).replace("⫫", "_||_")
    return TagList(
        tags.p("Question: ", tags.code(statement)),
        tags.div(*map(_reply, models, outcome.value), class_="graphs"),
    )


def _reply(label: str, answer: Answer) -> Tag:
    steps = [tags.li(tags.code(step)) for step in answer.steps]
    return tags.section(
        tags.h2(f"In {label}: {answer.word}", class_="h6 when"),
        tags.p(f"{answer.reason[:1].upper()}{answer.reason[1:]}.", class_="when"),
        tags.ul(*steps, class_="when") if steps else None,
        tags.div(HTML(evidence_table(answer.evidence)), class_="findings")
        if answer.evidence
        else None,
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
        if not question:
            asking.drop()
            return
        tested = state.tested()
        model = tested.value.model if isinstance(tested, Done) else true.model
        models = [model, *([] if guess is None else [guess.model])]
        asking.start(key(), models, question, LIMIT, seconds=len(models) * LIMIT + GRACE)

    def content() -> TagChild:
        guess = state.guess()
        labels = [state.true().label, *([] if guess is None else [guess.label])]
        return replies(asking.outcome(key()), labels)

    def write(question: str) -> None:
        if question and QUESTION.now() != question:
            ui.update_text(QUESTION.key, value=question)

    def ask_picked(_: int) -> None:
        with reactive.isolate():
            domain = state.domain()
            first, second, given = LEFT(), RIGHT(), GIVEN()
            picked_states = context_in(domain, " & ".join(WHEN()))
        context = {name: s for name, s in picked_states.items() if isinstance(s, str)}
        statement = Statement((first,), (second,), given, context)
        state.change(question=str(statement).replace("⫫", "_||_"))

    def offer_names(domain: Domain) -> None:
        if len(domain) > MOST_LISTED:
            return
        names = list(domain.names)
        start = picked(domain, "")
        ui.update_selectize(LEFT.key, choices=names, selected=list(start.first[:1]))
        ui.update_selectize(RIGHT.key, choices=names, selected=list(start.second[:1]))
        ui.update_selectize(GIVEN.key, choices=names, selected=[])
        ui.update_selectize(WHEN.key, choices=literals(domain), selected=[])

    show("example", lambda: example(state.domain()))
    show("replies", content)
    on(ASK, lambda _: state.change(question=QUESTION.now().strip()))
    on(ASK_PICKED, ask_picked)
    on(EXAMPLE, lambda text: ui.update_text(QUESTION.key, value=text))
    follow(state.question, write)
    follow(state.domain, offer_names)
