"""Is a guess better than chance? Its distance beside that of random guesses of the same shape.

A distance of 0.24 says little alone. `chance` sets it beside guesses that a null draws (see
`contextwise.evaluation.nulls`): their expected distance in closed form, and p-values from exact
distances of drawn ones. The contexts of a pair are not exchangeable, because features cover many
of them at once; so no test here treats assertions as independent draws.

**Skill** is 1 - distance / expected: 1 for a perfect guess, 0 for one as good as chance. Where the
true model or the guess has a pair depend in all contexts or in none, relabelling states changes
nothing, and such pairs pull the skill to 0; the **context skill** is over the other pairs alone,
always against relabelled states. It asks: given the graph, are the contexts right?
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from contextwise.comparison.compare import Comparison, compare
from contextwise.comparison.confusion import Number
from contextwise.comparison.pairs import active_pairs, all_pairs
from contextwise.comparison.question import Restriction
from contextwise.counting import DEFAULT, ObjectArray
from contextwise.counting.extraction import ValueWeights
from contextwise.errors import ContextwiseError, DomainError
from contextwise.evaluation.chance_result import (
    Chance,
    ChanceInterrupted,
    PairChance,
    Skeleton,
    skill_of,
)
from contextwise.evaluation.draws import DrawQuestion, make_draws
from contextwise.evaluation.nulls import Null, can_move, check_null, densities, sizes_of_pairs
from contextwise.execution.progress import Progress
from contextwise.formats import ModelLike
from contextwise.models.features import IntArray

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Chance", "ChanceInterrupted", "PairChance", "Skeleton", "chance"]


def chance(
    true: ModelLike,
    guess: ModelLike,
    *,
    null: Null = "states",
    draws: int = 999,
    rng: Seed = 0,
    engine: str = DEFAULT,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Chance:
    """Say whether a guess is nearer to the true model than guesses by chance.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    null : "states", "variables" or "values"
        What a guess by chance keeps; see `contextwise.evaluation.nulls`. Where all cardinalities
        differ, no variable can take another's place, and ``"variables"`` is ``"states"``.
    draws : int
        How many guesses are drawn for the p-values; 0 for the expected distance alone.
    rng : generator or seed
        Equal seeds give equal draws, whatever the number of processes.
    engine : name of an engine
    n_jobs : int
        How many processes draw; 1 draws here and counts on all cores, -1 means one per core.
    cluster : address of a Dask scheduler, or a Dask client
        Goes before ``n_jobs``.
    show_progress : bool or function
        A line on standard error, or a function of (draws done, draws in all).
    **restriction
        What is compared, with the keywords of `compare`. A context restricts both models first.

    Returns
    -------
    Chance

    Raises
    ------
    ChanceInterrupted
        After Ctrl-C, with the draws that were finished.

    Examples
    --------
    The guess misses that the dependencies need D=2, but C=3 is right.

    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 5, "D": 5}
    >>> true = Structure(domain, ["A=1 & B=1 & C=3 & D=2"])
    >>> found = chance(true, Structure(domain, ["A=1 & B=1 & C=3"]), draws=99)
    >>> found.distance, found.expected, found.p_value
    (15, Fraction(93, 5), 0.03)
    >>> print(found)
    Chance: the states of every variable relabelled, 99 draws.
    <BLANKLINE>
    distance       15      context skill  0.2308  common edges    3
    expected       18.6    over pairs     3       expected edges  3
    skill          0.1935                         p of the graph  1
    nearer draws   0
    draws as near  2
    p              0.03
    <BLANKLINE>
    No pairs to get right or wrong, contexts better than chance.
    """
    check_null(null)
    if draws < 0:
        raise ContextwiseError(f"draws is a number from 0 up, not {draws}")
    comparison = compare(true, guess, engine=engine, **restriction)
    asked = comparison.question
    rows, shares = asked.rows, asked.value_weights
    uniform = comparison
    if rows is not None and not len(rows):
        raise DomainError("no row agrees with the context, so there is nothing to compare")
    if rows is not None or shares is not None or (asked.asked is not None and null == "variables"):
        uniform = compare(
            comparison.true, comparison.guess, engine=engine, contexts=comparison.contexts
        )
    result = _expectations(comparison, uniform, null)
    if not draws:
        return result
    question, places = _question(result, uniform, rows, shares)
    made, interrupted = make_draws(
        question, draws, rng=rng, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress
    )
    if made is None:
        raise KeyboardInterrupt
    same = comparison.distance - sum(question.distances.tolist())
    below, equal = np.full((2, len(result.pairs)), -1, dtype=np.int64)
    below[places], equal[places] = made.below, made.equal
    distances = tuple(same + distance for distance in made.distances)
    result = replace(result, distances=distances, below=below, equal=equal)
    if interrupted:
        raise ChanceInterrupted(result)
    return result


# -- in closed form ------------------------------------------------------------------------------


def expectations(comparison: Comparison) -> Chance:
    """A comparison beside relabelled states, in closed form: `chance` without draws.

    Parameters
    ----------
    comparison : over all contexts, each of which counts once

    Returns
    -------
    Chance
    """
    return _expectations(comparison, comparison, "states")


def _expectations(comparison: Comparison, uniform: Comparison, null: Null) -> Chance:
    """All that needs no draws."""
    pairs = _asked_pairs(comparison) if _moves(comparison, null) else comparison.pairs
    errors = comparison.counts[:, 1] + comparison.counts[:, 2]
    deps = _of_pairs(comparison, comparison.unions.lower[:, 0], pairs)
    sizes = sizes_of_pairs(comparison, pairs)
    density = densities(null, uniform, pairs)
    expected = _expected(deps, sizes, density)
    own = densities("states", uniform, comparison.pairs)
    where = np.flatnonzero(_varies("states", comparison, own))
    context_skill = None
    if len(where):
        by_states = _expected(comparison.unions.lower[:, 0], comparison.sizes, own)
        context_skill = skill_of(
            sum(errors[where].tolist()),
            sum((by_states[k] for k in where.tolist()), start=Fraction(0)),
        )
    return Chance(
        comparison=comparison,
        null=null,
        expected=sum(expected, start=Fraction(0)),
        dependencies=sum((g * n for g, n in zip(density, sizes, strict=True)), start=Fraction(0)),
        context_pairs=len(where),
        context_skill=context_skill,
        skeleton=_skeleton(comparison),
        pairs=pairs,
        pair_distances=_of_pairs(comparison, errors, pairs),
        pair_expected=tuple(expected),
    )


def _expected(
    deps: Iterable[Number], sizes: Iterable[Number], density: Iterable[Fraction]
) -> list[Fraction]:
    return [t + (n - 2 * t) * g for t, n, g in zip(deps, sizes, density, strict=True)]


def _varies(null: Null, comparison: Comparison, density: list[Fraction]) -> list[bool]:
    """For which of the comparison's pairs draws have different distances."""
    varies = [0 < g < 1 for g in density]
    if null == "states" and comparison.question.pair_size is None:  # all contexts count alike
        deps = comparison.unions.lower[:, 0]
        return [v and 0 < t < n for v, t, n in zip(varies, deps, comparison.sizes, strict=True)]
    return varies


def _asked_pairs(comparison: Comparison) -> IntArray:
    asked = comparison.question.asked
    return all_pairs(range(len(comparison.domain))) if asked is None else asked


def _moves(comparison: Comparison, null: Null) -> bool:
    """Whether a drawn guess can cover other pairs than the guess itself."""
    return null == "variables" and can_move(comparison.domain.cardinalities)


def _of_pairs(comparison: Comparison, numbers: ObjectArray, pairs: IntArray) -> ObjectArray:
    """The numbers of the comparison's pairs for these pairs; 0 for those that no feature covers."""
    if pairs is comparison.pairs:
        return numbers
    known = dict(zip(map(tuple, comparison.pairs.tolist()), numbers, strict=True))
    return np.array([known.get(tuple(pair), 0) for pair in pairs.tolist()], dtype=object)


def _skeleton(comparison: Comparison) -> Skeleton:
    asked = set(map(tuple, _asked_pairs(comparison).tolist()))
    in_true, in_guess = (
        asked.intersection(map(tuple, active_pairs(model).tolist()))
        for model in (comparison.true, comparison.guess)
    )
    return Skeleton.of(
        pairs=len(asked),
        true=len(in_true),
        guess=len(in_guess),
        common=len(in_true & in_guess),
    )


# -- by draws ------------------------------------------------------------------------------------


def _question(
    result: Chance, uniform: Comparison, rows: IntArray | None, shares: ValueWeights | None
) -> tuple[DrawQuestion, IntArray]:
    """What is drawn, and the places of its pairs among those of the result."""
    c, moves = result.comparison, _moves(result.comparison, result.null)
    density = densities(result.null, uniform, result.pairs)
    varies = [0 < g < 1 for g in density] if moves else _varies(result.null, c, density)
    places = np.flatnonzero(varies)
    pairs = result.pairs[places]
    question = DrawQuestion(
        null=result.null,
        true=c.true.features,
        guess=c.guess.features,
        pairs=pairs,
        deps=_of_pairs(c, c.unions.lower[:, 0], pairs),
        distances=result.pair_distances[places],
        moves=moves,
        canonical=c.contexts == "canonical",
        engine=uniform.engine,
        rows=rows,
        shares=shares,
    )
    return question, places
