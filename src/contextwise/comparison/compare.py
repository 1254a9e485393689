"""How far apart two structures are: the confusion matrix over all pairs and contexts.

For each pair of variables the true model and the guess each have a set of contexts in which the
pair depends. Three union sizes per pair, a = |A|, b = |B| and u = |A ∪ B|, give all four counts::

    tp = a + b - u    fn = u - b    fp = u - a    tn = contexts - u

and the distance is FP + FN over all pairs. It is a metric on dependency models.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

from contextwise.comparison.confusion import Number, ZeroDivision
from contextwise.comparison.pairs import (
    FULLY,
    Contexts,
    Pair,
    active_pairs,
    common_pairs,
    in_context,
    is_canonical,
    wanted_pairs,
)
from contextwise.comparison.result import COUNTS, Comparison, Interrupted
from contextwise.comparison.weights import Weights, value_weights
from contextwise.counting import DEFAULT, get_engine
from contextwise.counting.extraction import all_contexts, contexts_of_pairs
from contextwise.counting.observed import count_rows
from contextwise.errors import ContextwiseError, DomainError
from contextwise.execution.progress import Progress, progress_of
from contextwise.formats import read
from contextwise.models.domain import Assignment
from contextwise.models.structure import Model, Structure, structure_of

__all__ = ["COUNTS", "Comparison", "ModelOrPath", "as_structure", "compare", "distance"]

ModelOrPath = Model | str | os.PathLike[str]


def as_structure(model: ModelOrPath) -> Structure:
    """The structure of a model, or of the model in a file."""
    return structure_of(read(model) if isinstance(model, str | os.PathLike) else model)


def compare(
    true: ModelOrPath,
    guess: ModelOrPath,
    *,
    pairs: Iterable[Pair] | None = None,
    variables: Iterable[str] | None = None,
    context: Assignment | None = None,
    data: Any = None,
    weights: Weights | None = None,
    contexts: Contexts = FULLY,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    threads: int | None = None,
    zero_division: ZeroDivision = "warn",
    show_progress: bool | Progress = False,
) -> Comparison:
    """Compare the independence structures of two models, exactly.

    Parameters
    ----------
    true, guess : models, or paths of model files
        Aligned by the names of their variables and states.
    pairs : pairs of names, optional
        Only these pairs.
    variables : names, optional
        Only the pairs inside this set; contexts still range over all other variables.
    context : partial assignment, optional
        Only contexts that agree with it; pairs that contain a variable of it are left out. The
        same as comparing the two restrictions.
    data : rows of observed assignments, optional
        The contexts that occur in these rows, as often as they occur, instead of all contexts.
        See `Domain.encode` for what rows can be.
    weights : mapping from names to the probabilities of their states, optional
        Contexts count by their probability when the variables are drawn independently; those of a
        pair count 1 together, and the distance is the expected number of pairs on which the models
        disagree. Variables that are not named are uniform. See `comparison.weights`, which also
        takes them from data.
    contexts : "fully-contextualized" or "canonical"
        See `contextwise.comparison.pairs`.
    engine : name of an engine; see ``contextwise engines``
    time_limit : seconds, optional
        Pairs that are not finished by then stay open, with proven bounds. So they do after Ctrl-C,
        which raises `Interrupted` with what is known.
    threads : int, optional
        How many threads or processes count; as many as there are cores if not given.
    zero_division : number or "warn"
        What a rate that would divide by zero is.
    show_progress : bool or function
        A line on standard error, or a function of (pairs done, pairs in all).

    Examples
    --------
    Under X0=0 all three variables interact; the guess lacks the interaction of X1 and X2.

    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> compare(true, guess)
    Comparison(distance=3, normalized=0.5, tp=2, fn=1, fp=2, tn=1)
    """
    deadline = _deadline(time_limit)
    a = as_structure(true)
    b = as_structure(guess).aligned_to(a.domain)
    canonical = is_canonical(contexts)
    asked = wanted_pairs(a.domain, pairs, variables)
    rows = None if data is None else a.domain.encode(data)
    shares = None if weights is None else value_weights(a.domain, weights)
    if rows is not None and shares is not None:
        raise DomainError("give data or weights, not both; marginals(domain, data) gives weights")
    if context is not None:
        asked, rows, shares = in_context(a.domain, context, asked, rows, shares)
        a, b = a.restrict(context), b.restrict(context)
    active = active_pairs(a, b) if asked is None else common_pairs(active_pairs(a, b), asked)
    if rows is not None:
        unions = count_rows(a.features, b.features, active, rows, canonical=canonical)
        engine = "rows"
    else:
        with progress_of(show_progress, "comparing pairs") as progress:
            unions = get_engine(engine).count_pairs(
                a.features,
                b.features,
                active,
                canonical=canonical,
                value_weights=shares,
                deadline=deadline,
                threads=_threads(threads),
                progress=progress,
            )
    if shares is not None:
        weighted = [sum(own) for own in shares]
        unions = unions.shares_of(contexts_of_pairs(weighted, active, canonical))
    cardinalities = a.domain.cardinalities
    pair_count = _pairs_in(len(a.domain)) if asked is None else len(asked)
    sizes = contexts_of_pairs(cardinalities, active, canonical)
    pair_size = None
    if rows is not None or shares is not None:
        pair_size = 1 if rows is None else len(rows)
        sizes, total = [pair_size] * len(active), pair_size * pair_count
    elif asked is None:
        total = all_contexts(cardinalities, canonical)
    else:
        total = sum(contexts_of_pairs(cardinalities, asked, canonical))
    comparison = Comparison(
        true=a,
        guess=b,
        pairs=active,
        unions=unions,
        sizes=sizes,
        total=total,
        pair_count=pair_count,
        asked=asked,
        pair_size=pair_size,
        contexts=contexts,
        engine=engine,
        zero_division=zero_division,
    )
    if comparison.interrupted:
        raise Interrupted(comparison)
    return comparison


def distance(true: ModelOrPath, guess: ModelOrPath, **options: Any) -> Number:
    """The distance alone: ``compare(true, guess, **options).distance``."""
    return compare(true, guess, **options).distance


def _pairs_in(variables: int) -> int:
    return variables * (variables - 1) // 2


def _deadline(time_limit: float | None) -> float | None:
    """The time limit as an instant; it counts from now."""
    if time_limit is None:
        return None
    if not time_limit >= 0:
        raise ContextwiseError(f"a time limit is a number of seconds from 0 up, not {time_limit}")
    return time.monotonic() + time_limit


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise ContextwiseError(f"threads is a number from 1 up, not {threads}")
    return threads
