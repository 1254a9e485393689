"""What the explorer computes, as functions that run in processes of their own.

Arguments and results travel between processes. The last argument of each is told what is done, and
how far it is (`contextwise.explorer.job.Tell`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from contextwise.comparison.compare import Comparison, Interrupted, compare
from contextwise.comparison.explain import PairExplanation, explain_comparison, explain_pair
from contextwise.comparison.pairs import Contexts, Pair
from contextwise.errors import ContextwiseError
from contextwise.explorer.job import Tell
from contextwise.formats import format_of, read_stream
from contextwise.independence import Answer, answer_to, parse_statement
from contextwise.models.structure import Model
from contextwise.report.comparisons import (
    Guess,
    confusion_table,
    measures,
    open_pairs_table,
    worst_pairs,
)
from contextwise.report.page import report_page
from contextwise.report.parts import Measures, Note, PairName, Table
from contextwise.report.shares import Shares, shares_of
from contextwise.support.deadline import Deadline

WORST = 10
"""How many of the pairs with the most errors are listed."""


@dataclass(frozen=True, eq=False)
class Findings:
    """A comparison, and what is looked at again and again.

    Attributes
    ----------
    comparison : exact
    shares : its shares as floats, to be drawn
    sentences : what it says in words
    measures : its distances and rates
    matrix : its confusion matrix; None while some pairs are open
    pairs : the pairs with the most errors, and those of which least is known
    """

    comparison: Comparison
    shares: Shares
    sentences: tuple[str, ...]
    measures: Measures
    matrix: Table | None
    pairs: tuple[Table | Note, ...]

    @property
    def is_open(self) -> bool:
        """Whether some pairs were not decided."""
        return bool(len(self.comparison.unions.open))

    @property
    def worst(self) -> Pair | None:
        """The pair with the most errors, if there are any."""
        found = self.pairs[0]
        first = found.rows[0][0] if isinstance(found, Table) else None
        return (first.first, first.second) if isinstance(first, PairName) else None


def findings_of(comparison: Comparison) -> Findings:
    """What is to be known of a comparison."""
    pairs: list[Table | Note] = [worst_pairs(comparison, WORST)]
    if len(comparison.unions.open):
        pairs.append(open_pairs_table(comparison, WORST))
    return Findings(
        replace(comparison),  # without what it has derived: that need not travel
        shares_of(comparison),
        tuple(comparison.summary().split("\n")),
        measures(comparison),
        None if len(comparison.unions.open) else confusion_table(comparison),
        tuple(pairs),
    )


def read_uploads(files: Sequence[tuple[str, str]], tell: Tell) -> list[tuple[str, Model | str]]:
    """The models of uploaded files, each with its name; a broken one gives the reader's message.

    A file is given by its path here and by the name it had at home, which messages use.
    """
    found: list[tuple[str, Model | str]] = []
    for k, (path, name) in enumerate(files):
        tell(f"Reading {name}", k, len(files))
        found.append((name, _read(path, name)))
    return found


def _read(path: str, name: str) -> Model | str:
    try:
        with open(path, "rb") as file:
            return read_stream(file, name=name, format=format_of(name).name)
    except ContextwiseError as error:
        return str(error)


def compare_all(
    true: Model,
    guesses: Mapping[str, tuple[str, Model]],
    contexts: Contexts,
    time_limit: float,
    tell: Tell,
) -> dict[str, Findings]:
    """The comparisons of guesses, by their keys; after an interrupt, those that were reached.

    Parameters
    ----------
    true : the true model
    guesses : the label and the model of each guess, by its key
    contexts : what a context is
    time_limit : seconds for each guess
    tell : is told how far it is
    """
    found: dict[str, Findings] = {}
    for place, (key, (label, guess)) in enumerate(guesses.items(), start=1):
        words = f"Comparing with {label}" + (
            f", guess {place} of {len(guesses)}" if len(guesses) > 1 else ""
        )
        tell(words, 0, 0)
        try:
            comparison = compare(
                true,
                guess,
                contexts=contexts,
                time_limit=time_limit,
                show_progress=partial(tell, words),
            )
        except Interrupted as stop:
            comparison = stop.comparison
        tell("Putting the result together", 0, 0)
        found[key] = findings_of(comparison)
        if comparison.interrupted:
            break
    return found


def explain_one(
    true: Model,
    guess: Model,
    pair: Pair,
    contexts: Contexts,
    top: int,
    time_limit: float,
    tell: Tell,
) -> PairExplanation:
    """Where the models differ about a pair.

    Parameters
    ----------
    true, guess : the models
    pair : two names
    contexts : what a context is
    top : how many regions
    time_limit : seconds
    tell : is told how far it is
    """
    tell("Looking for the contexts in which the models differ", 0, 0)
    found = compare(true, guess, pairs=[pair], contexts=contexts, time_limit=time_limit)
    return explain_pair(found, pair, top=top, time_limit=time_limit)


def shares_in(
    true: Model,
    guess: Model,
    context: Mapping[str, str],
    contexts: Contexts,
    time_limit: float,
    tell: Tell,
) -> Shares:
    """The shares of all pairs that are left in a context.

    Parameters
    ----------
    true, guess : the models
    context : the states that are known
    contexts : what a context is
    time_limit : seconds
    tell : is told how far it is
    """
    words = "Comparing in this context"
    tell(words, 0, 0)
    return shares_of(
        compare(
            true,
            guess,
            context=context,
            contexts=contexts,
            time_limit=time_limit,
            show_progress=partial(tell, words),
        )
    )


def answers(models: Sequence[Model], question: str, time_limit: float, tell: Tell) -> list[Answer]:
    """What each model says to an independence question.

    Parameters
    ----------
    models : who is asked
    question : as it is written
    time_limit : seconds for each model
    tell : is told how far it is
    """
    statement = parse_statement(question)
    found = []
    for k, model in enumerate(models):
        tell("Asking both models", k, len(models))
        found.append(answer_to(model, statement, time_limit=time_limit))
    return found


def report_of(true: str, guesses: Mapping[str, Comparison], time_limit: float, tell: Tell) -> str:
    """The report page about guesses, by their names.

    Parameters
    ----------
    true : name of the true model
    guesses : the comparisons, by the names of the guesses
    time_limit : seconds for the explanation of each
    tell : is told how far it is
    """
    reported = []
    for name, comparison in guesses.items():
        words = f"Explaining {name}"
        tell(words, 0, 0)
        explanation = explain_comparison(
            comparison,
            deadline=Deadline.after(time_limit),
            show_progress=partial(tell, words),
        )
        reported.append(Guess(name, comparison, explanation=explanation))
    tell("Drawing the report", 0, 0)
    return report_page(true, reported)
