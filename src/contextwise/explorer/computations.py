"""The computations of the explorer; each runs in its own process (`contextwise.explorer.job`).

The last argument of each function reports progress.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from contextwise.analysis.conclusions import Analysis, analyse, analysis_of
from contextwise.comparison.error_regions import PairExplanation, explain_pair
from contextwise.comparison.question import Pair
from contextwise.comparison.roles import Roles
from contextwise.comparison.two_models import Comparison, Interrupted, compare
from contextwise.data.columns import DataSummary
from contextwise.data.options import FLAGS, RowOptions
from contextwise.data.rows import Data, as_data, following, summarize_data
from contextwise.errors import ContextwiseError
from contextwise.explorer.job import Tell, Upload
from contextwise.formats import read_stream
from contextwise.independence.claims import PairClaims
from contextwise.independence.model_claims import claims_of, explain_model
from contextwise.independence.queries import Answer, query
from contextwise.learning import learner_named
from contextwise.learning.parameters import parse_values
from contextwise.models.domain import Assignment
from contextwise.models.structure import Model, Structure
from contextwise.report.comparisons import Guess
from contextwise.report.pictures import Shares, shares_of
from contextwise.support.effort import Deadline, Effort
from contextwise.support.formatting import listed

OF_ROWS = "learn a structure first"  # the advice of `contextwise.formats` for rows
COUNTING = "Counting the contexts in which pairs depend"
LISTED = 20  # pairs of a kind whose independencies are listed
SENTENCES, MANY = 2.0, 200  # seconds to find them, and a quarter of that for so many variables


def read_uploads(files: Sequence[tuple[str, str]], tell: Tell) -> list[tuple[str, Model | str]]:
    """Read model files, each a path and a name; return the models, or what is wrong with them."""
    models: list[tuple[str, Model | str]] = []
    for k, (path, name) in enumerate(files):
        tell(f"Reading {name}", k, len(files))
        try:
            with open(path, "rb") as file:
                model: Model | str = read_stream(file, name=name)
        except ContextwiseError as error:
            model = str(error)
            if OF_ROWS in model:
                model = f"{name}: this is not a model; choose a file of rows in the tab Rows"
        models.append((name, model))
    return models


def compare_all(
    true: Model, guesses: Mapping[str, tuple[str, Model]], time_limit: float, tell: Tell
) -> dict[str, Guess]:
    """Compare guesses (labels and models by key), each with the time limit; stop if interrupted."""
    compared: dict[str, Guess] = {}
    for place, (key, (label, model)) in enumerate(guesses.items(), start=1):
        alone = model is true
        text = COUNTING if alone else f"Comparing with {label}"
        if len(guesses) > 1:
            text += f", guess {place} of {len(guesses)}"
        tell(text, 0, 0)
        try:
            comparison = compare(
                true,
                Structure(true.domain) if alone else model,
                time_limit=time_limit,
                show_progress=partial(tell, text),
            )
        except Interrupted as stop:
            comparison = stop.comparison
        # Derived values need not travel between processes; the shares are drawn at once.
        guess = Guess(key, replace(comparison), label=label, features=len(model))
        if alone:
            seconds = SENTENCES if len(model.domain) < MANY else SENTENCES / 4
            claims = claims_of(guess.comparison, top=LISTED, deadline=Deadline.after(seconds))
            guess = replace(guess, one=claims)
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
        comparison = compare(
            comparison.true,
            comparison.guess,
            pairs=[pair],
            peers=comparison.question.peers,
            time_limit=time_limit,
        )
    return explain_pair(comparison, pair, top=top, time_limit=time_limit)


def regions_of(
    model: Model, pair: Pair, top: int, time_limit: float, tell: Tell
) -> PairClaims | None:
    """Find the contexts in which a pair of one model is independent, if there is time."""
    tell("Looking for the contexts of this pair", 0, 0)
    listed = explain_model(model, pairs=[pair], top=top, time_limit=time_limit).listed
    return listed[0] if listed else None


def shares_in(
    comparison: Comparison, roles: Roles, context: Assignment, time_limit: float, tell: Tell
) -> Shares:
    """Compare the same models in a context; return the shares of the pairs that are left."""
    text = "Comparing in this context"
    tell(text, 0, 0)
    inside = compare(
        comparison.true,
        comparison.guess,
        context=context,
        peers=comparison.question.peers,
        time_limit=time_limit,
        show_progress=partial(tell, text),
    )
    return shares_of(inside, roles)


def answers(models: Sequence[Model], question: str, time_limit: float, tell: Tell) -> list[Answer]:
    """Answer an independence question in each model; the time limit is for each of them."""
    results = []
    for k, model in enumerate(models):
        tell("Asking both models", k, len(models))
        results.append(query(model, question, time_limit=time_limit))
    return results


def analyse_claims(model: Model, rows: Upload, time_limit: float, tell: Tell) -> Analysis:
    """Test the claims of a model with the rows of a file."""
    tell(f"Reading {rows.name}", 0, 0)
    data = _rows(rows, model)
    tell("Testing claims", 0, 0)
    return analysis_of(model, data, rows.name, Effort.of(time_limit))


def summarize_rows(rows: Upload, tell: Tell) -> DataSummary:
    """Describe the columns of a file of rows."""
    tell(f"Reading {rows.name}", 0, 0)
    with _named(rows):
        return summarize_data(rows.path)


@dataclass(frozen=True)
class Recipe:
    """How to learn: the rows, how they are read, the learner, and its settings as written.

    With ``halves``, the learner also learns from that many random halves of the rows. ``counting``
    are the columns that were chosen to say how often a row occurs. ``outcome`` is the outcome,
    or empty.
    """

    rows: Upload
    how: RowOptions
    learner: str
    settings: tuple[tuple[str, str], ...]
    halves: int = 0
    counting: tuple[str, ...] = ()
    outcome: str = ""


def learn_from(recipe: Recipe, tell: Tell) -> Analysis:
    """Learn from the rows of a file, and test the claims as ``contextwise analyse`` does."""
    if recipe.counting[1:]:
        raise ContextwiseError(
            f"one column can say how often a row occurs; got {listed(recipe.counting)}"
        )
    kind, how = learner_named(recipe.learner), recipe.how._asdict()
    learner = kind(**parse_values(kind, dict(recipe.settings)))
    tell(f"Learning from {recipe.rows.name}", 0, 0)
    with _named(recipe.rows):
        learned = analyse(
            recipe.rows.path,
            outcome=recipe.outcome or None,
            learner=learner,
            resamples=recipe.halves,
            show_progress=partial(tell, "Learning"),
            **{field: how[field] for field in FLAGS if field != "subject"},
        )
    return replace(learned, title=recipe.rows.name)


def _rows(rows: Upload, model: Model) -> Data:
    with _named(rows):
        return as_data(rows.path, model.domain, following(model))


@contextmanager
def _named(rows: Upload) -> Iterator[None]:
    """Call a file by its name on the user's machine in messages."""
    try:
        yield
    except ContextwiseError as error:
        raise ContextwiseError(str(error).replace(rows.path, rows.name)) from None
