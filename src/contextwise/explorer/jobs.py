"""What the explorer computes, as functions that run in processes of their own.

Arguments and results travel between processes; the last argument reports progress.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from contextwise.comparison.compare import Comparison, compare
from contextwise.comparison.comparison import Interrupted
from contextwise.comparison.explain import PairExplanation, explain_comparison, explain_pair
from contextwise.comparison.pairs import Contexts, Pair
from contextwise.errors import ContextwiseError
from contextwise.execution.progress import Progress
from contextwise.explorer.results import Row, read_results
from contextwise.formats import format_of, read_stream
from contextwise.independence import Answer, answer_to, parse_statement
from contextwise.models.structure import Model
from contextwise.report.comparisons import Guess
from contextwise.report.edges import Edge, edges_of
from contextwise.report.page import report_page
from contextwise.studies.summary import Effect, effects

STEPS = 1000
"""A guess's share of the progress of several."""


def read_uploads(
    files: Sequence[tuple[str, str]], progress: Progress
) -> list[tuple[str, Model | str]]:
    """The models of uploaded files, each with its name; a broken one gives the reader's message.

    A file is given by its path here and by the name it had at home, which messages use.
    """
    return [(name, _read(path, name)) for path, name in files]


def _read(path: str, name: str) -> Model | str:
    try:
        with open(path, "rb") as file:
            return read_stream(file, name=name, format=format_of(name).name)
    except ContextwiseError as error:
        return str(error)


def compare_all(
    true: Model,
    guesses: Mapping[str, Model],
    contexts: Contexts,
    time_limit: float,
    progress: Progress,
) -> dict[str, Comparison]:
    """The comparisons of guesses, by their keys; after an interrupt, those that were reached."""
    found: dict[str, Comparison] = {}
    for place, (key, guess) in enumerate(guesses.items()):

        def tell(done: int, total: int, before: int = STEPS * place) -> None:
            progress(before + STEPS * done // max(total, 1), STEPS * len(guesses))

        try:
            found[key] = compare(
                true, guess, contexts=contexts, time_limit=time_limit, show_progress=tell
            )
        except Interrupted as stop:
            found[key] = stop.comparison
            break
    return found


def explain_one(
    true: Model,
    guess: Model,
    pair: Pair,
    contexts: Contexts,
    top: int,
    time_limit: float,
    progress: Progress,
) -> PairExplanation:
    """Where the models differ about a pair."""
    found = compare(true, guess, pairs=[pair], contexts=contexts, time_limit=time_limit)
    return explain_pair(found, pair, top=top, time_limit=time_limit)


def edges_in(
    true: Model,
    guess: Model,
    variables: Sequence[str],
    context: Mapping[str, str],
    contexts: Contexts,
    time_limit: float,
    progress: Progress,
) -> list[Edge]:
    """The edges between some variables that are left in a context."""
    return edges_of(
        compare(
            true,
            guess,
            variables=variables,
            context=context,
            contexts=contexts,
            time_limit=time_limit,
        )
    )


def answers(
    models: Sequence[Model], question: str, time_limit: float, progress: Progress
) -> list[Answer]:
    """What each model says to an independence question."""
    statement = parse_statement(question)
    return [answer_to(model, statement, time_limit=time_limit) for model in models]


def report_of(
    true: str, guesses: Mapping[str, Comparison], time_limit: float, progress: Progress
) -> str:
    """The report page about guesses, by their names; each is explained within the time limit."""
    reported = [
        Guess(name, c, explanation=explain_comparison(c, deadline=time.monotonic() + time_limit))
        for name, c in guesses.items()
    ]
    return report_page(true, reported)


def results_in(path: str, name: str, progress: Progress) -> list[Row]:
    """The rows of an experiment: of a run's folder, of its ``results.sqlite``, or of a CSV file."""
    return read_results(path, name=name)


def effects_of(rows: Sequence[Mapping[str, Any]], progress: Progress) -> list[Effect]:
    """What the rows of an experiment show, with intervals."""
    return effects(rows)
