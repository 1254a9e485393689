"""The computations of the explorer; each runs in its own process (`contextwise.explorer.job`).

The last argument of each function reports progress.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from contextwise.comparison.compare import Comparison, Interrupted, compare
from contextwise.comparison.explain import PairExplanation, explain_comparison, explain_pair
from contextwise.comparison.matrix import DistanceMatrix, distance_matrix
from contextwise.comparison.question import Contexts, Pair
from contextwise.comparison.sketch import EstimatedMatrix
from contextwise.data.rows import as_data
from contextwise.errors import ContextwiseError
from contextwise.evaluation.chance import Chance, ChanceInterrupted, chance
from contextwise.evaluation.check import Check, check
from contextwise.evaluation.consensus import ClaimSupport, Consensus, consensus
from contextwise.explorer.job import Tell
from contextwise.formats import format_of, read_stream
from contextwise.independence.queries import Answer, answer_to, parse_statement
from contextwise.models.structure import Model
from contextwise.report.comparisons import Guess
from contextwise.report.shares import Shares, shares_of
from contextwise.support.deadline import Deadline

SUPPORTED = 10  # pairs of a consensus whose support is shown


def read_uploads(files: Sequence[tuple[str, str]], tell: Tell) -> list[tuple[str, Model | str]]:
    """Read model files, each a path and a name; return the models, or what is wrong with them."""
    models: list[tuple[str, Model | str]] = []
    for k, (path, name) in enumerate(files):
        tell(f"Reading {name}", k, len(files))
        try:
            with open(path, "rb") as file:
                model: Model | str = read_stream(file, name=name, format=format_of(name).name)
        except ContextwiseError as error:
            model = str(error)
        models.append((name, model))
    return models


def compare_all(
    true: Model,
    guesses: Mapping[str, tuple[str, Model]],
    contexts: Contexts,
    time_limit: float,
    tell: Tell,
) -> dict[str, Guess]:
    """Compare guesses (labels and models by key), each with the time limit; stop if interrupted."""
    compared: dict[str, Guess] = {}
    for place, (key, (label, model)) in enumerate(guesses.items(), start=1):
        words = f"Comparing with {label}"
        if len(guesses) > 1:
            words += f", guess {place} of {len(guesses)}"
        tell(words, 0, 0)
        try:
            comparison = compare(
                true,
                model,
                contexts=contexts,
                time_limit=time_limit,
                show_progress=partial(tell, words),
            )
        except Interrupted as stop:
            comparison = stop.comparison
        # Derived values need not travel between processes; the shares are drawn at once.
        guess = Guess(key, replace(comparison), label=label, features=len(model))
        _ = guess.shares
        compared[key] = guess
        if comparison.unions.interrupted:
            break
    return compared


def explain_one(
    comparison: Comparison, pair: Pair, top: int, time_limit: float, tell: Tell
) -> PairExplanation:
    """Find the contexts in which the models differ about a pair; an open pair is counted again."""
    tell("Looking for the contexts in which the models differ", 0, 0)
    if pair in comparison.open_pairs or pair[::-1] in comparison.open_pairs:
        true, guess, contexts = comparison.true, comparison.guess, comparison.question.contexts
        comparison = compare(true, guess, pairs=[pair], contexts=contexts, time_limit=time_limit)
    return explain_pair(comparison, pair, top=top, time_limit=time_limit)


def shares_in(
    comparison: Comparison, context: Mapping[str, str], time_limit: float, tell: Tell
) -> Shares:
    """Compare the same models in a context; return the shares of the pairs that are left."""
    words = "Comparing in this context"
    tell(words, 0, 0)
    inside = compare(
        comparison.true,
        comparison.guess,
        context=context,
        contexts=comparison.question.contexts,
        time_limit=time_limit,
        show_progress=partial(tell, words),
    )
    return shares_of(inside)


def answers(models: Sequence[Model], question: str, time_limit: float, tell: Tell) -> list[Answer]:
    """Answer an independence question in each model; the time limit is for each of them."""
    statement = parse_statement(question)
    results = []
    for k, model in enumerate(models):
        tell("Asking both models", k, len(models))
        results.append(answer_to(model, statement, time_limit=time_limit))
    return results


def report_of(true: str, guesses: Sequence[Guess], time_limit: float, tell: Tell) -> str:
    """Return the report page about guesses; the time limit is for the explanation of each."""
    from contextwise.report.page import report_page

    explained = []
    for guess in guesses:
        words = f"Explaining {guess.title}"
        tell(words, 0, 0)
        explanation = explain_comparison(
            guess.comparison,
            deadline=Deadline.after(time_limit),
            show_progress=partial(tell, words),
        )
        explained.append(replace(guess, name=guess.title, explanation=explanation))
    tell("Drawing the report", 0, 0)
    return report_page(true, explained)


def distances(
    models: Mapping[str, Model], contexts: Contexts, time_limit: float | None, tell: Tell
) -> DistanceMatrix | EstimatedMatrix:
    """Compute all pairwise distances or bounds; without a time limit, estimate them."""
    what = f"Comparing {len(models)} models pairwise"
    how: dict[str, Any] = {"time_limit": time_limit}
    if time_limit is None:
        what, how = f"Estimating the distances between {len(models)} models", {"approximate": True}
    tell(what, 0, 0)
    matrix: DistanceMatrix | EstimatedMatrix = distance_matrix(
        list(models.values()),
        names=list(models),
        contexts=contexts,
        show_progress=partial(tell, what),
        **how,
    )
    return matrix


def consensus_of(
    models: Mapping[str, Model],
    matrix: DistanceMatrix | None,
    contexts: Contexts,
    time_limit: float,
    tell: Tell,
) -> tuple[Consensus, list[ClaimSupport]]:
    """Find a structure near to all models, and the support of its widest claims."""
    tell("Comparing the models", 0, 0)
    result = consensus(
        list(models.values()),
        matrix=matrix,
        contexts=contexts,
        time_limit=time_limit,
        show_progress=partial(tell, "Trying features"),
    )
    tell("Counting the models that support it", 0, 0)
    return result, list(result.widest_supports(SUPPORTED))


def chance_of(comparison: Comparison, null: str, draws: int, tell: Tell) -> Chance:
    """Compare a guess with random guesses; after an interrupt, with those that were drawn."""
    tell("Comparing the models", 0, 0)
    try:
        return chance(
            comparison.true,
            comparison.guess,
            null=null,
            draws=draws,
            contexts=comparison.question.contexts,
            show_progress=partial(tell, "Drawing random guesses"),
        )
    except ChanceInterrupted as stopped:
        return stopped.chance


def check_of(model: Model, path: str, name: str, tell: Tell) -> Check:
    """Test the claims of a model with the rows of a file; messages call the file ``name``."""
    tell(f"Reading {name}", 0, 0)
    try:
        rows = as_data(path, model.domain)
    except ContextwiseError as error:
        raise ContextwiseError(str(error).replace(path, name)) from None
    return check(model, rows, show_progress=partial(tell, "Testing claims, pair by pair"))
