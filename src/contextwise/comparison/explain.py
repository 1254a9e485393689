"""Where two structures differ: the contexts of each error, and the features behind them.

For one pair of variables, the contexts in which only the guess, or only the true model, has the
dependence are given as **regions**: disjoint, few and general rather than many and narrow, largest
first, each with its exact share of the pair's contexts (`contextwise.counting.regions` states the
method). How many errors a pair has is known from the comparison, so the search ends as soon as the
largest regions are found. For the whole comparison, pairs are ranked by their errors, and features
by the errors they take part in.

A feature of the guess **takes part** in a false positive when it holds in that context (the pair's
literals apart); the error **vanishes** when the feature alone is removed, if no other feature of
the guess makes the pair depend there. Removing it can also **create** false negatives, where it was
the only feature that was right. A feature of the true model that the guess lacks takes part in the
false negatives of the contexts where it holds, and all of them vanish when it is added.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Unpack

from contextwise.comparison.compare import compare
from contextwise.comparison.comparison import Comparison
from contextwise.comparison.confusion import Number
from contextwise.comparison.cubes import PairCubes
from contextwise.comparison.explanation import (
    ErrorRegion,
    Explanation,
    FeatureErrors,
    Kind,
    PairExplanation,
)
from contextwise.comparison.feature_errors import worst_features
from contextwise.comparison.pairs import Pair, pair_positions
from contextwise.comparison.question import Restriction, deadline_of
from contextwise.counting import DEFAULT
from contextwise.execution.progress import Progress, progress_of
from contextwise.formats import ModelLike

__all__ = [
    "TIME_LIMIT",
    "ErrorRegion",
    "Explanation",
    "FeatureErrors",
    "PairExplanation",
    "explain",
    "explain_comparison",
    "explain_pair",
]

TOP = 10
OF_EACH_PAIR = 3
"""How many regions of a pair the explanation of a whole comparison gives."""
TIME_LIMIT = 60.0
"""Seconds, half of them for the comparison."""


def explain(
    true: ModelLike,
    guess: ModelLike,
    *,
    top: int = TOP,
    engine: str = DEFAULT,
    time_limit: float | None = TIME_LIMIT,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Explanation:
    """Say where two structures differ.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    top : int
        How many pairs, regions and features are given.
    engine : name of the engine that compares
    time_limit : seconds, or None for no limit
        What is not decided by then is left out, and the result says so. At most half of it goes
        into the comparison.
    show_progress : bool or function
        A line on standard error, or a function of (done, in all): of the comparison first, then of
        the pairs and features that are explained.
    **restriction
        What is compared, with the keywords of `compare`: ``pairs=[("A", "B")]`` explains one pair.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": ["no", "yes"], "D": ["young", "old", "very old"]}
    >>> true = Structure(domain, ["A=1 & B=1 & C=no"])
    >>> guess = Structure(domain, ["A=1 & B=1 & C=no", "A=1 & B=1 & D!=old"])
    >>> print(explain(true, guess, pairs=[("A", "B")]).pairs[0])
    A–B only in guess: when C=yes and D≠old; 33.3 % of contexts
    """
    deadline = deadline_of(time_limit)
    found = compare(
        true,
        guess,
        engine=engine,
        time_limit=None if time_limit is None else time_limit / 2,
        show_progress=show_progress,
        **restriction,
    )
    return explain_comparison(found, top=top, deadline=deadline, show_progress=show_progress)


def explain_pair(
    comparison: Comparison, pair: Pair, *, top: int = TOP, time_limit: float | None = None
) -> PairExplanation:
    """`explain` one pair of a comparison that is there already.

    Parameters
    ----------
    comparison : what `compare` gave
    pair : two names
    top : how many regions are given
    time_limit : seconds, optional

    Returns
    -------
    PairExplanation
    """
    cubes = PairCubes(comparison.question, deadline_of(time_limit))
    return _explained(comparison, cubes, pair_positions(comparison.domain, pair), top)


def explain_comparison(
    comparison: Comparison,
    *,
    top: int = TOP,
    deadline: float | None = None,
    show_progress: bool | Progress = False,
) -> Explanation:
    """`explain` a comparison that is there already.

    Parameters
    ----------
    comparison : what `compare` gave
    top : how many pairs, regions and features are given
    deadline : when to stop, on the clock of `time.monotonic`, optional
    show_progress : bool or function
        A line on standard error, or a function of (done, in all).

    Returns
    -------
    Explanation
    """
    cubes = PairCubes(comparison.question, deadline)
    of_each = top if comparison.pair_count == 1 else min(top, OF_EACH_PAIR)
    worst = _worst_pairs(comparison, top)
    steps = len(worst) + top
    pairs = []
    with progress_of(show_progress, "explaining") as progress:
        for done, pair in enumerate(worst, 1):
            pairs.append(_explained(comparison, cubes, pair, of_each))
            if progress:
                progress(done, steps)

        def tell(features: int) -> None:
            if progress:
                progress(len(worst) + features, steps)

        features, in_time = worst_features(comparison, cubes, top, tell)
    undecided = bool(len(comparison.unions.open)) or any(pair.undecided for pair in pairs)
    return Explanation(comparison, tuple(pairs), features, partial=undecided or not in_time)


def _worst_pairs(comparison: Comparison, top: int) -> list[tuple[int, int]]:
    """The pairs with the most errors, worst first; those that are open come after those known."""
    known = comparison.known_counts
    positions: list[tuple[int, int]] = list(map(tuple, comparison.pairs.tolist()))
    finished = [k for k, (_, fn, _, _) in enumerate(known) if fn is not None]
    finished.sort(key=lambda k: -(known[k][1] + known[k][2]))
    worst = [k for k in finished[:top] if known[k][1] + known[k][2]]
    if len(worst) < top:
        _, u = comparison.unions.lower[:, 2], comparison.unions.upper[:, 2]
        worst += sorted(comparison.unions.open.tolist(), key=lambda k: -u[k])[: top - len(worst)]
    return [positions[k] for k in worst]


def _explained(
    comparison: Comparison, cubes: PairCubes, pair: tuple[int, int], top: int
) -> PairExplanation:
    """The largest regions of one pair, and how many errors are outside of them."""
    names = comparison.domain.names[pair[0]], comparison.domain.names[pair[1]]
    bounds, whole = comparison.pair_bounds(*names), cubes.whole(pair)
    regions, complete = [], True
    kinds: tuple[tuple[Kind, int, Number], ...]
    kinds = ("guess", 1, bounds.fp[1]), ("true", 0, bounds.fn[1])
    sums: dict[Kind, Number] = {"guess": 0, "true": 0}
    for kind, model, most in kinds:
        if not most or not top:
            continue
        limit = None if cubes.deadline is None else max(0.0, cubes.deadline - time.monotonic())
        # Twice as many as are shown: some of them turn out to be one.
        found, ended = cubes.only_in(model, pair, most=2 * top, time_limit=limit)
        complete &= ended or limit is None or limit > 0
        for literals, size in found:
            sums[kind] += size
            written = tuple(comparison.domain.literal(v, allowed) for v, allowed in literals)
            regions.append(ErrorRegion(kind, written, size, Fraction(size) / whole))
    regions.sort(key=lambda region: -region.size)
    fp, fn = max(bounds.fp[0], sums["guess"]), max(bounds.fn[0], sums["true"])
    left = fp + fn - sum(region.size for region in regions[:top])
    in_time = complete and (cubes.deadline is None or time.monotonic() < cubes.deadline)
    unknown = max(bounds.distance[1] - fp - fn, 0)
    return PairExplanation(
        pair=names,
        contexts=whole,
        regions=tuple(regions[:top]),
        fp=fp,
        fn=fn,
        rest=left if in_time else 0,
        undecided=unknown + (0 if in_time else left),
    )
