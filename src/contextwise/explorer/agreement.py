"""What guesses have to do with each other: how far apart they are, a map, and a consensus.

A few models are compared exactly. Of many, distances are estimated first, from the answers of all
of them to the same random assertions; a button counts them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import eq
from typing import Any

import numpy as np
import numpy.typing as npt
from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.matrix import DistanceMatrix
from contextwise.comparison.sketch import EstimatedMatrix
from contextwise.explorer import elements, request
from contextwise.explorer.background import Background
from contextwise.explorer.evaluations import (
    Agreed,
    consensus_of,
    distances_between,
    estimated_distances,
)
from contextwise.explorer.job import Done, Outcome, value_of
from contextwise.explorer.scatter import Point, map_svg
from contextwise.explorer.state import Settled, Shown, State
from contextwise.explorer.wiring import Input, clicks, offer, on, show
from contextwise.formats import encode
from contextwise.report.layout import in_unit_square, planar
from contextwise.report.many import consensus_parts, estimated_parts, matrix_parts
from contextwise.support.formatting import name as short
from contextwise.support.formatting import percent
from contextwise.support.records import as_csv, as_json

MOST_EXACT = 40
"""Up to so many models, each two are compared exactly without being asked for."""
MOST_OPEN = 12
"""Up to so many models, the table of their distances is open."""
SAME_PLACE = 0.02
"""Points of the map that are nearer have one label."""
COUNTING, AGREEING = 120.0, 60.0  # seconds for the distances, and to improve a consensus
GRACE = 60.0  # seconds that either may take beyond that
ESTIMATING = 120.0  # seconds for the estimates

Matrix = DistanceMatrix | EstimatedMatrix
EXACTLY = Input("count_exactly", clicks)
INSTEAD = Input("estimate_instead", clicks)
ADD = Input("add_consensus", clicks)
CONSENSUS = "consensus"


# -- what is shown -------------------------------------------------------------------------------


def panel() -> TagList:
    """The consensus, and the distances with their map.

    The distances come by themselves, and so they stand last: nothing moves when they are there.
    """
    return TagList(
        tags.section(
            tags.h2("What they agree on", class_="h5 mt-3"),
            tags.p(
                "A structure as near to all guesses as features can express: it begins with the "
                "most typical guess, and takes or drops features while the sum of distances falls."
            ),
            request.panel(CONSENSUS),
            class_="needs-several",
        ),
        tags.div(ui.output_ui("between"), ui.output_ui("between_buttons"), class_="needs-several"),
    )


def standing(results: Sequence[Shown], matrix: Matrix) -> str:
    """Which guess is nearest to the true model, and which is the most typical.

    Parameters
    ----------
    results : the comparisons of the guesses
    matrix : of the true model, which comes first, and the guesses
    """
    known = [one for one in results if not one.findings.is_open]
    sentences = []
    if known:
        best = min(known, key=lambda one: one.comparison.distance)
        apart = percent(best.comparison.distance, best.comparison.total or 1)
        sentences.append(f"Nearest to the true model is {short(best.guess.label)}, at {apart}.")
    if len(matrix.names) > 3:
        estimated = isinstance(matrix, EstimatedMatrix)
        sums = middle(matrix)[1:, 1:].sum(axis=1)
        label = matrix.names[1 + int(sums.argmin())]
        if isinstance(matrix, DistanceMatrix) and not matrix.open:
            label = matrix.names[1 + matrix.submatrix(range(1, len(matrix.names))).medoid]
        sentences.append(
            f"{'By the estimates, the' if estimated else 'The'} most typical guess is "
            f"{short(label)}: its distances to the others have the least sum."
        )
    return " ".join(sentences)


def middle(matrix: Matrix) -> npt.NDArray[np.float64]:
    """The distances as shares; one that is open is in the middle of its bounds."""
    if isinstance(matrix, EstimatedMatrix):
        return matrix.normalized
    found: npt.NDArray[np.float64] = (matrix.shares(matrix.lower) + matrix.shares(matrix.upper)) / 2
    return found


def between(outcome: Outcome[Matrix], results: Sequence[Shown] = ()) -> TagChild:
    """The distances of each two models, and a map of them.

    Parameters
    ----------
    outcome : what is known of the distances
    results : the comparisons of the guesses
    """
    if outcome is None:
        return None
    title = tags.h2("How far apart they are", class_="h5 mt-3")
    if not isinstance(outcome, Done):
        return tags.section(title, elements.not_done(outcome))
    matrix = outcome.value
    parts = (
        estimated_parts(matrix)
        if isinstance(matrix, EstimatedMatrix)
        else matrix_parts(matrix, normalized=True, medium="page")
    )
    few = len(matrix.names) <= MOST_OPEN
    return tags.section(
        title,
        tags.p(standing(results, matrix), class_="when"),
        tags.details(
            tags.summary("The distance of each two models, as a share of all assertions"),
            elements.rendered(parts[:1]),
            {"open": ""} if few else {},
        ),
        elements.rendered(parts[1:]),
        tags.p("On the map, models stand about as far apart as their distances say."),
        elements.svg(distance_map(matrix)),
        elements.downloads(("matrix_csv", "distances (CSV)"), ("matrix_json", "distances (JSON)")),
    )


def distance_map(matrix: Matrix) -> str:
    """The models as points whose distances follow those of the matrix."""
    places = in_unit_square(planar(middle(matrix)))
    few = len(places) <= MOST_EXACT
    labels = together(places, matrix.names) if few else [matrix.names[0], *[""] * len(places)]
    points = [
        Point(x, y, name, label)
        for (x, y), name, label in zip(places.tolist(), matrix.names, labels, strict=False)
    ]
    return map_svg(points, title=f"Map of {len(points)} models by their distances")


def together(places: npt.NDArray[np.float64], names: Sequence[str]) -> list[str]:
    """A label for each point; points in the same place share that of the first.

    >>> together(np.array([[0, 0], [1, 1], [0, 0.01]]), ["a", "b", "c"])
    ['a, c', 'b', '']
    """
    labels: list[list[str]] = []
    for k, name in enumerate(names):
        near = np.hypot(*(places[:k] - places[k]).T) < SAME_PLACE
        labels.append([])
        labels[int(near.argmax()) if near.any() else k].append(name)
    return [", ".join(own) for own in labels]


def agreed(found: Agreed) -> TagList:
    """The consensus: how near it is to all guesses, and which of them have its claims."""
    return TagList(
        elements.rendered(consensus_parts(found.consensus, found.supports, medium="page")),
        tags.div(
            ui.input_action_button(ADD.key, "Add it to the guesses", class_="btn-sm"),
            elements.downloads(
                ("consensus_json", "consensus (model file, JSON)"),
                ("supports_csv", "its claims (CSV)"),
            ),
        ),
    )


def matrix_records(matrix: Matrix) -> list[dict[str, object]]:
    """One record per two models: their distance, exact or between bounds, or its estimate."""
    values: dict[str, npt.NDArray[Any]]
    if isinstance(matrix, EstimatedMatrix):
        low, high = matrix.interval()
        values = {"estimate": matrix.normalized, "low": low, "high": high}
    else:
        values = {"low": matrix.lower, "high": matrix.upper, "share": middle(matrix)}
    names = matrix.names
    return [
        {
            "first": names[i],
            "second": names[j],
            **{key: array[i, j] for key, array in values.items()},
        }
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> list[Background[Any]]:
    """Tie the distances to the session, and the consensus with them."""
    counting, estimating = Background(distances_between), Background(estimated_distances)
    nothing: tuple[Hashable, bool] = (None, False)
    asked = reactive.value(nothing, name="asked")

    def models() -> Hashable:
        guesses = state.guesses()
        return (state.true(), tuple(guesses), state.contexts()) if len(guesses) > 1 else None

    def exactly() -> bool:
        about, wanted = asked()
        return wanted if about == models() else len(state.guesses()) < MOST_EXACT

    def outcome() -> Outcome[Matrix]:
        return counting.outcome(models()) if exactly() else estimating.outcome(models())

    def found() -> Matrix:
        return value_of(outcome(), "the distances are not known yet")

    @reactive.effect
    def measure() -> None:
        wanted, exact = models(), exactly()
        ready = len(state.results()) == len(state.guesses())
        if state.tab() != "guesses" or wanted is None or not ready:
            return
        work = counting if exact else estimating
        with reactive.isolate():
            if work.asked() == wanted:
                return
        entries = (state.true(), *state.guesses())
        named = {entry.label: entry.model for entry in entries}
        if exact:
            counting.start(wanted, named, state.contexts(), COUNTING, seconds=COUNTING + GRACE)
        else:
            estimating.start(wanted, named, state.contexts(), seconds=ESTIMATING)

    def choose(exact: bool) -> None:
        counting.drop()
        with reactive.isolate():
            asked.set((models(), exact))

    def other_way() -> str:
        known = outcome()
        if known is None or exactly() == (isinstance(known, Done)):
            return ""
        return INSTEAD.key if exactly() else EXACTLY.key

    offered = Settled(other_way, eq)
    show("between", lambda: between(outcome(), state.results()))
    show("between_buttons", lambda: _way(offered()))
    on(EXACTLY, lambda _: choose(exact=True))
    on(INSTEAD, lambda _: choose(exact=False))

    def name() -> str:
        return f"{state.true().label} distances"

    offer("matrix_csv", lambda: as_csv(matrix_records(found())), name=name)
    offer("matrix_json", lambda: as_json(matrix_records(found())), name=name)
    return [counting, estimating, _serve_consensus(state, models, outcome)]


def _way(key: str) -> Tag | None:
    """The button of the other way to know distances, if there is one now."""
    labels = {EXACTLY.key: "Count them exactly", INSTEAD.key: "Estimate them instead"}
    return ui.input_action_button(key, labels[key], class_="btn-sm") if key in labels else None


def _serve_consensus(
    state: State, models: Callable[[], Hashable], distances: Callable[[], Outcome[Matrix]]
) -> Background[Agreed]:
    """Tie the consensus to the session; distances that are known already are not counted again."""
    agreeing = Background(consensus_of)

    def begin() -> None:
        with reactive.isolate():
            wanted, known, guesses = models(), distances(), state.guesses()
            contexts = state.contexts()
        named = {entry.label: entry.model for entry in guesses}
        matrix = known.value if isinstance(known, Done) else None
        if not isinstance(matrix, DistanceMatrix) or matrix.open:
            matrix = None
        guesses_only = matrix and matrix.submatrix(range(1, len(matrix.names)))
        seconds = COUNTING + AGREEING + GRACE
        agreeing.start(wanted, named, guesses_only, contexts, AGREEING, seconds=seconds)

    outcome = request.serve(
        CONSENSUS, "Find a consensus", agreeing, about=models, begin=begin, content=agreed
    )

    def found() -> Agreed:
        return value_of(outcome(), "no consensus has been found yet")

    def add(_: int) -> None:
        with reactive.isolate():
            made = found().consensus
        state.add([(f"consensus of {len(made.models)}", made.structure)])

    def name() -> str:
        return f"{state.true().label} consensus"

    on(ADD, add)
    offer(
        "consensus_json",
        lambda: encode(found().consensus.structure, "json").decode(),
        name=name,
    )
    offer(
        "supports_csv",
        lambda: as_csv(one.record() for one in found().consensus.widest_supports()),
        name=lambda: f"{name()} claims",
    )
    return agreeing
