"""How far apart two structures are: the confusion matrix over all pairs and contexts.

For each pair of variables the true model and the guess each have a set of contexts in which the
pair depends. Three union sizes per pair, a = |A|, b = |B| and u = |A ∪ B|, give all four counts::

    tp = a + b - u    fn = u - b    fp = u - a    tn = contexts - u

and the distance is FP + FN over all pairs. It is a metric on dependency models.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from contextwise.comparison.comparison import COUNTS, Comparison, Interrupted
from contextwise.comparison.confusion import Number, ZeroDivision
from contextwise.comparison.question import Question, Restriction, deadline_of, pose
from contextwise.counting import DEFAULT, PairCounts, get_engine
from contextwise.counting.extraction import contexts_of_pairs
from contextwise.counting.pair_counts import count_rows
from contextwise.errors import ContextwiseError
from contextwise.execution.progress import Progress, progress_of
from contextwise.formats import ModelLike
from contextwise.models.features import IntArray

__all__ = ["COUNTS", "Comparison", "Interrupted", "answer", "compare", "distance"]


def compare(
    true: ModelLike,
    guess: ModelLike,
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    threads: int | None = None,
    estimate: bool = False,
    zero_division: ZeroDivision = "warn",
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Comparison:
    """Compare the independence structures of two models, exactly.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    engine : name of an engine; see ``contextwise engines``
    time_limit : seconds, optional
        Pairs that are not finished by then stay open, with proven bounds. So they do after Ctrl-C,
        which raises `Interrupted` with what is known.
    threads : int, optional
        How many threads or processes count; as many as there are cores if not given.
    estimate : bool
        Whether false positives and false negatives of pairs that stay open are estimated by
        sampling, with intervals, beside their proven bounds; see ``Comparison.estimates``.
    zero_division : number or "warn"
        What a rate that would divide by zero is.
    show_progress : bool or function
        A line on standard error, or a function of (pairs done, pairs in all).
    **restriction
        What is compared, if not everything. These keywords mean the same wherever models are
        compared:

        pairs : pairs of names
            Only these pairs.
        variables : names
            Only the pairs inside this set; contexts still range over all other variables.
        context : partial assignment
            Only contexts that agree with it; pairs that contain a variable of it are left out. The
            same as comparing the two restrictions.
        data : rows of observed assignments
            The contexts that occur in these rows, as often as they occur, instead of all contexts.
            See `Domain.encode` for what rows can be.
        weights : mapping from names to the probabilities of their states
            Contexts count by their probability when the variables are drawn independently; those of
            a pair count 1 together, and the distance is the expected number of pairs on which the
            models disagree. Variables that are not named are uniform. See
            `comparison.context_weights`, which also takes them from data.
        contexts : "fully-contextualized" or "canonical"
            See `contextwise.comparison.pairs`.
        align : "names" or "position"
            What says which variables and states are the same: their names and labels, or their
            order; then the names are those of the true model.
        zero_weights : "keep" or "drop"
            Whether features whose weight is exactly 0 count as structure.

    Returns
    -------
    Comparison

    Raises
    ------
    DomainError
        If the models do not align, or something that was asked for does not exist.
    Interrupted
        After Ctrl-C; it has the comparison as far as it got.

    Examples
    --------
    Under X0=0 all three variables interact; the guess lacks the interaction of X1 and X2.

    >>> from contextwise import Structure
    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> compare(true, guess)
    Comparison(distance=3, normalized=0.5, tp=2, fn=1, fp=2, tn=1)
    >>> compare(true, guess, context="X0=0").distance
    1
    """
    deadline = deadline_of(time_limit)
    question = pose([true, guess], **restriction)
    comparison = answer(
        question,
        engine=engine,
        deadline=deadline,
        threads=threads,
        zero_division=zero_division,
        show_progress=show_progress,
    )
    if comparison.interrupted:
        raise Interrupted(comparison)
    if estimate and comparison.open_pairs:
        from contextwise.comparison.estimate import estimate_open_pairs  # it loads much

        return replace(comparison, estimates=estimate_open_pairs(comparison))
    return comparison


def distance(true: ModelLike, guess: ModelLike, **options: Any) -> Number:
    """The distance alone: ``compare(true, guess, **options).distance``.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    **options
        Those of `compare`.

    Returns
    -------
    int, or Fraction if contexts have weights

    Examples
    --------
    >>> distance("lung", "lung-learned")
    2
    """
    return compare(true, guess, **options).distance


def answer(
    question: Question,
    *,
    engine: str = DEFAULT,
    deadline: float | None = None,
    threads: int | None = None,
    zero_division: ZeroDivision = "warn",
    show_progress: bool | Progress = False,
) -> Comparison:
    """Compare the two models of a question that has been posed.

    Parameters
    ----------
    question : Question
        About two models, the true one first.
    deadline : instant of `time.monotonic`, optional
        When to stop.
    engine, threads, zero_division, show_progress
        As in `compare`.

    Returns
    -------
    Comparison
        It may have open pairs, or be interrupted.
    """
    pairs = question.active_pairs()
    unions = _count(question, pairs, engine, deadline, threads, show_progress)
    return Comparison(question, pairs, unions, engine, zero_division)


def _count(
    question: Question,
    pairs: IntArray,
    engine: str,
    deadline: float | None,
    threads: int | None,
    show_progress: bool | Progress,
) -> PairCounts:
    """The three unions of each pair: of all contexts, or of those of the observed rows."""
    chosen = get_engine(engine)
    if threads is not None and threads < 1:
        raise ContextwiseError(f"threads is a number from 1 up, not {threads}")
    a, b = (structure.features for structure in question.structures)
    if question.rows is not None:
        return count_rows(a, b, pairs, question.rows, canonical=question.canonical)
    with progress_of(show_progress, "comparing pairs") as progress:
        unions = chosen.count_pairs(
            a,
            b,
            pairs,
            canonical=question.canonical,
            value_weights=question.value_weights,
            deadline=deadline,
            threads=threads,
            progress=progress,
        )
    if question.value_weights is None:
        return unions
    weighted = [sum(own) for own in question.value_weights]
    return unions.shares_of(contexts_of_pairs(weighted, pairs, question.canonical))
