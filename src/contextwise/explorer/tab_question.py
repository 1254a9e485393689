"""An independence question, answered by each model with the reason."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.errors import ContextwiseError
from contextwise.explorer import controls
from contextwise.explorer.computations import answers
from contextwise.explorer.controls import Input, clicks, follow, on, show, texts
from contextwise.explorer.job import SECONDS_BEYOND_LIMIT, Background, Done, Outcome
from contextwise.explorer.state import State, context_in, context_text
from contextwise.independence.queries import Answer, Statement, parse_statement
from contextwise.models.domain import Domain
from contextwise.report.analysis_parts import claims_table
from contextwise.support.formatting import capitalized

SECONDS_PER_MODEL = 30.0  # seconds for each model

LEFT, RIGHT, GIVEN, WHEN = LISTS = [
    Input[tuple[str, ...]](f"asked_{part}", texts, ())
    for part in ("first", "second", "given", "when")
]
LABELS = ("Is", "independent of", "given any state of", "in the context")
ASK = Input("ask", clicks)
MOST_VARIABLES_LISTED = 3_000
"""Browsers and Shiny take many seconds for lists of more variables."""


def panel(domain: Domain, question: str) -> Tag:
    """Return the tab with a first question."""
    if len(domain) > MOST_VARIABLES_LISTED:
        return tags.p(f"{len(domain):,} variables are too many for lists; use contextwise query.")
    pickers = [
        ui.input_selectize(source.key, label, offered, selected=chosen, multiple=True, width="100%")
        for source, label, offered, chosen in zip(
            LISTS, LABELS, choices(domain), picked(domain, question), strict=True
        )
    ]
    return tags.div(
        tags.form(
            tags.div(*pickers, class_="pickers"),
            ui.input_action_button(ASK.key, "Ask", class_="btn-primary"),
            onsubmit="return false",
            class_="ask",
        ),
        tags.div(ui.output_ui("replies"), aria_live="polite", class_="mt-3"),
    )


def choices(domain: Domain) -> list[list[str]]:
    """Return what each list offers: names, or every state of every variable, as ``D=yes``."""
    names = list(domain.names)
    pairs = zip(domain.names, domain.states, strict=True)
    literals = [context_text({name: state}) for name, states in pairs for state in states]
    return [names, names, names, literals]


def picked(domain: Domain, question: str) -> list[list[str]]:
    """Return what the lists show for a question: all of it, or a start without one."""
    try:
        asked = parse_statement(question)
    except ContextwiseError:
        asked = Statement(domain.names[:1], domain.names[1:2])
    if not {*asked.first, *asked.second, *asked.given, *asked.context} <= domain.positions.keys():
        asked = Statement((), ())
    when = [context_text({name: state}) for name, state in asked.context.items()]
    return [[*asked.first], [*asked.second], [*asked.given], when]


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
        tags.p(f"{capitalized(answer.reason)}.", class_="when"),
        tags.ul(*steps, class_="when") if steps else None,
        tags.div(controls.parts([claims_table(answer.evidence)]), class_="findings")
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
        model = tested.value.structure if isinstance(tested, Done) else true.model
        models = [model, *([] if guess is None else [guess.model])]
        asking.start(
            key(),
            models,
            question,
            SECONDS_PER_MODEL,
            seconds=len(models) * SECONDS_PER_MODEL + SECONDS_BEYOND_LIMIT,
        )

    def content() -> TagChild:
        guess = state.guess()
        labels = [state.true().label, *([] if guess is None else [guess.label])]
        return replies(asking.outcome(key()), labels)

    def pick(question: str) -> None:
        with reactive.isolate():
            wanted = picked(state.domain(), question)
        for source, chosen in zip(LISTS, wanted, strict=True):
            if list(source.now()) != chosen:
                ui.update_selectize(source.key, selected=chosen)

    def ask_picked(_: int) -> None:
        with reactive.isolate():
            states = context_in(state.domain(), " & ".join(WHEN()))
        context = {name: s for name, s in states.items() if isinstance(s, str)}
        asked = Statement(LEFT.now(), RIGHT.now(), GIVEN.now(), context)
        state.change(question=str(asked).replace("⫫", "_||_"))

    def offer_names(domain: Domain) -> None:
        if len(domain) > MOST_VARIABLES_LISTED:
            return
        for source, *known in zip(LISTS, choices(domain), picked(domain, ""), strict=True):
            ui.update_selectize(source.key, choices=known[0], selected=known[1])

    show("replies", content)
    on(ASK, ask_picked)
    follow(state.question, pick)
    follow(state.domain, offer_names)
