"""Beside the heat map: one pair with its regions, or one variable with its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.compare import Comparison
from contextwise.comparison.explain import ErrorRegion, PairExplanation
from contextwise.comparison.pairs import Pair
from contextwise.errors import OpenResult
from contextwise.explorer import elements, view
from contextwise.explorer.background import Background
from contextwise.explorer.computations import explain_one
from contextwise.explorer.job import Done, Outcome, value_of
from contextwise.explorer.state import Shown, State
from contextwise.explorer.view import View
from contextwise.explorer.wiring import Input, choice, follow, offer, on, show, text, texts_named
from contextwise.models.domain import Domain
from contextwise.report.colours import UNDECIDED, WORDS, Agreement
from contextwise.report.explanations import region_parts
from contextwise.report.parts import Cell, Column, Marked, Table
from contextwise.report.shares import Edge, Shares, neighbours
from contextwise.support.formatting import Number, number, percent
from contextwise.support.formatting import name as short
from contextwise.support.records import as_csv, as_json

TOP = 20
LIMIT = 20.0  # seconds to find regions
GRACE = 10.0  # seconds that it may take beyond that
REGION_KEYS = ("only_in", "when", "size", "share")
MOST_NEIGHBOURS = 100
KINDS: tuple[Agreement, ...] = ("tp", "fn", "fp")

FIRST = Input("first", text)
SECOND = Input("second", text)
AROUND = Input("around", text)
BESIDE = Input("beside", choice({"pair": "", "around": ""}, str))
PAIR = Input(elements.CHOSEN_PAIR, texts_named("first", "second"))
REGION = Input("chosen_region", text)


# -- what is shown -------------------------------------------------------------------------------


def panel(start: View) -> Tag:
    """The card beside the heat map, as the view says."""
    one = ui.nav_panel(
        "One pair",
        ui.output_ui("pair_selectors"),
        tags.div(ui.output_ui("pair_counts"), ui.output_ui("regions"), aria_live="polite"),
        ui.output_ui("pair_downloads"),
        value="pair",
    )
    around = ui.nav_panel(
        "Around one variable",
        ui.output_ui("variable_search"),
        ui.output_ui("neighbours"),
        value="around",
    )
    return tags.section(
        ui.navset_pill(one, around, id=BESIDE.key, selected="around" if start.variable else "pair"),
        class_="beside",
        aria_label="One pair, or around one variable",
    )


def pair_selectors(names: Sequence[str], pair: Pair) -> Tag:
    """The two variables, to be chosen."""
    labels = ("First variable", "Second variable")
    return tags.div(
        *(
            tags.div(
                tags.label(label, for_=source.key),
                tags.select(
                    elements.UNBOUND,
                    elements.options(names, selected=name),
                    id=source.key,
                    class_="form-select",
                    data_input=source.key,
                ),
                class_="form-group",
            )
            for label, source, name in zip(labels, (FIRST, SECOND), pair, strict=True)
        ),
        class_="selectors",
    )


def variable_search(names: Sequence[str], chosen: str | None = None) -> Tag:
    """A field that finds a variable by its name; it holds the chosen one."""
    return elements.search(AROUND, names, label="Variable", placeholder="Type a name", value=chosen)


def counts(c: Comparison, pair: Pair) -> TagChild:
    """How often the pair depends, in both models and in each."""
    try:
        one = c.pair(*pair)
    except OpenResult:
        low, high = c.pair_bounds(*pair).distance
        words = f"{UNDECIDED.capitalize()}: between {number(low)} and {number(high)} errors."
        return elements.notice(words)
    shares: tuple[tuple[Cell, Number], ...] = (
        *((Marked(f"{WORDS[kind]} ({kind.upper()})", kind), getattr(one, kind)) for kind in KINDS),
        ("in neither (TN)", one.tn),
    )
    columns = Column("dependent", "words"), Column("contexts", "count"), Column("share", "share")
    rows = tuple((words, n, Fraction(n, one.total)) for words, n in shares)
    return elements.table(Table("Contexts of this pair", columns, rows))


def regions(outcome: Outcome[PairExplanation], domain: Domain) -> TagChild:
    """Where the models differ about the pair; a region's context can be shown in graphs."""
    if not isinstance(outcome, Done):
        return elements.not_done(outcome)
    found = outcome.value
    # The rows of the regions come first; others say what is left, or not decided.
    by_words = dict(zip((row[-1] for row in _rows(found)), found.regions, strict=False))

    def cell(value: Cell, column: Column) -> TagChild:
        region = by_words.get(value) if column.title == "when" else None
        content = elements.shown_cell(value, column)
        return TagList(content, " ", _show_context(region, domain)) if region else content

    return TagList(
        *(
            elements.table(part, cell=cell)
            if isinstance(part, Table)
            else elements.rendered([part])
            for part in region_parts(found)
        )
    )


def _rows(found: PairExplanation) -> Sequence[tuple[Cell, ...]]:
    return [row for part in region_parts(found) if isinstance(part, Table) for row in part.rows]


def _show_context(region: ErrorRegion, domain: Domain) -> Tag | None:
    context = region_context(region, domain)
    if not context:
        return None
    return elements.choose("show this context", REGION, context, class_="btn btn-link btn-sm p-0")


def region_context(region: ErrorRegion, domain: Domain) -> str:
    """The context of a region as it is written: of each literal, the first state that it allows.

    >>> domain = Domain({"C": ["no", "yes"], "D": ["young", "old", "very old"]})
    >>> from contextwise.models.notation import Literal
    >>> literals = (Literal("C", ("yes",)), Literal("D", ("old",), negated=True))
    >>> region_context(ErrorRegion("guess", literals, 2, Fraction(1, 3)), domain)
    'C=yes & D=young'
    """
    context = {}
    for literal in region.literals:
        states = domain.states[domain.position(literal.variable)]
        allowed = [s for s in states if (s in literal.states) != literal.negated]
        context[literal.variable] = allowed[0]
    return view.context_text(context)


def around(shares: Shares, name: str) -> TagChild:
    """The neighbours of a variable in both models, the largest errors first."""
    found = neighbours(shares, name)
    if not found:
        return tags.p(f"{short(name)} depends on no other variable, in either model.")
    differ = sum(1 for edge in found if edge.errors)
    words = f"{len(found):,} of {len(shares.names) - 1:,} other variables depend on {short(name)} "
    words += f"in some context, in one model or both; the models differ about {differ:,} of them."
    more = f" Shown are the first {MOST_NEIGHBOURS}." if len(found) > MOST_NEIGHBOURS else ""
    return TagList(
        tags.p(words + more),
        tags.div(
            tags.table(
                tags.caption("Its neighbours, the largest errors first", class_="visually-hidden"),
                tags.thead(
                    tags.tr(
                        tags.th("neighbour", scope="col"),
                        tags.th("share of contexts", scope="col"),
                        *(
                            tags.th(words, scope="col", class_="number")
                            for words in ("guess only", "true only", "both")
                        ),
                    )
                ),
                tags.tbody(*map(_neighbour, found[:MOST_NEIGHBOURS])),
                class_="table table-sm numbers neighbours",
            ),
            class_="wide",
            tabindex="0",
            role="region",
            aria_label="Neighbours",
        ),
    )


def _neighbour(edge: Edge) -> Tag:
    shares = {"tp": edge.tp, "fn": edge.fn, "fp": edge.fp}
    bar = (
        tags.span(class_=f"paint {kind}", style=f"width: {100 * share:.2f}%")
        for kind, share in shares.items()
        if share
    )
    return tags.tr(
        tags.th(elements.choose_pair(short(edge.pair[1], 24), *edge.pair), scope="row"),
        tags.td(tags.div(*bar, class_="bar", aria_hidden="true")),
        *(tags.td(share_text(shares[kind]), class_="number") for kind in ("fp", "fn", "tp")),
    )


def share_text(share: float) -> str:
    """A share of contexts as it reads.

    >>> share_text(0.0), share_text(0.25), share_text(1e-9)
    ('–', '25 %', '<0.01 %')
    """
    return percent(Fraction(share), 1) if share else "–"


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> Background[PairExplanation]:
    """Tie the card to the session."""
    explaining = Background(explain_one)

    def key() -> tuple[Shown, Pair]:
        return state.shown(), state.pair()

    def found() -> PairExplanation:
        return value_of(explaining.outcome(key()), "no pair has been explained yet")

    @reactive.effect
    def explain() -> None:
        shown, pair = key()
        c = shown.comparison
        explaining.start(
            key(), c.true, c.guess, pair, c.contexts, TOP, LIMIT, seconds=LIMIT + GRACE
        )

    show("pair_selectors", lambda: pair_selectors(state.shown().shares.names, state.pair()))
    show("variable_search", lambda: _search(state))
    show("pair_counts", lambda: counts(state.shown().comparison, state.pair()))
    show("regions", lambda: regions(explaining.outcome(key()), state.domain()))
    show("neighbours", lambda: _neighbours(state))
    show("pair_downloads", lambda: _downloads(state, explaining.outcome(key())))
    follow(state.variable, _turn_tab)
    on(FIRST, lambda name: _choose_one(state, 0, name))
    on(SECOND, lambda name: _choose_one(state, 1, name))
    on(PAIR, lambda pair: _choose(state, pair))
    on(BESIDE, lambda which: _turn(state, which))
    on(AROUND, lambda name: _around(state, name))
    on(REGION, lambda context: state.go(replace(state.now(), tab="context", context=context)))

    def name() -> str:
        return " ".join((state.shown().name, *state.pair(), "regions"))

    def records() -> str:
        return as_csv((region.record() for region in found().regions), REGION_KEYS)

    offer("regions_csv", records, name=name)
    offer("regions_json", lambda: as_json(found().record()), name=name)
    return explaining


def _downloads(state: State, outcome: Outcome[PairExplanation]) -> TagChild:
    if not isinstance(outcome, Done):
        return None
    return elements.downloads(("regions_csv", "regions (CSV)"), ("regions_json", "regions (JSON)"))


def _neighbours(state: State) -> TagChild:
    shown, name = state.shown(), state.variable()
    return around(shown.shares, name) if name else None


def _search(state: State) -> Tag:
    with reactive.isolate():  # the field is not made again when another variable is chosen
        chosen = state.variable()
    return variable_search(state.domain().names, chosen)


def _turn_tab(name: str | None) -> None:
    which = "pair" if name is None else "around"
    if BESIDE.now("pair") != which:
        ui.update_navset(BESIDE.key, selected=which)


def _choose_one(state: State, place: int, name: str) -> None:
    with reactive.isolate():
        if state.current() is None or name not in state.domain().positions:
            return
        pair = state.pair()
    if pair[place] != name:
        state.go(view.with_one_of_pair(state.now(), pair, place=place, name=name))


def _choose(state: State, pair: tuple[str, ...]) -> None:
    first, second = pair
    with reactive.isolate():
        known = state.domain().positions
    if first in known and second in known and first != second:
        state.go(view.at_pair(state.now(), (first, second)))


def _turn(state: State, which: str) -> None:
    with reactive.isolate():
        name = state.variable()
        if (which == "around") != (name is None) or state.current() is None:
            return
        wanted = state.pair()[0] if which == "around" else None
    state.go(replace(state.now(), variable=wanted))


def _around(state: State, name: str) -> None:
    with reactive.isolate():
        known = state.domain().positions
    if name in known:
        state.go(replace(state.now(), tab=view.TABS[0], variable=name))
