"""The paper's theorem in its own terms: the confusion matrix of a pair from the sets H.

For one pair of variables (i, j), the confusion matrix of a set of features G against a set F
is read off the partition models of three sets of features, H^TP, H^FN and H^FP. Three unions give
the same numbers for less work (`contextwise.counting.contract`); the tests hold the two to each
other and to brute force.

Here a feature is a mapping from each variable of its scope to the values it allows, as the bits of
an int: ``{0: 0b100, 2: 0b001}`` is <X0=2, X2=0>. The paper's literals have one value; here equality
of two values becomes "the sets meet", and what two features allow together is the meet. All
functions that take a pair look at the other variables only, but for the condition C1 that the pair
is in the scope.

Where the paper slips:

- The printed H^FN leaves f itself out of the union of features when every g overlaps f. If there
  is no such g, because G has no feature at all, it takes the union of nothing. Here f always takes
  part: the features of the difference sets contain its literals anyway.
- A choice of one feature from each difference set can be incompatible; such a choice has no union
  and is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from contextwise.counting.partition import partition
from contextwise.models.features import PairIndex, members

Feature = Mapping[int, int]
Context = tuple[int, ...]


def without_pair(f: Feature, pair: PairIndex) -> dict[int, int]:
    """f^ij: the feature without the literals of the pair.

    >>> without_pair({0: 0b100, 1: 0b010, 2: 0b010, 5: 0b001}, (0, 2))
    {1: 2, 5: 1}
    """
    return {k: allowed for k, allowed in f.items() if k not in pair}


def has_pair(f: Feature, pair: PairIndex) -> bool:
    """The condition C1: both variables are in the scope of f."""
    return pair[0] in f and pair[1] in f


def compatible(f: Feature, g: Feature, pair: Sequence[int] = ()) -> bool:
    """The condition C2: at no variable, the pair apart, do f and g exclude each other.

    Parameters
    ----------
    f, g : the two features
    pair : the two variables, or none

    Returns
    -------
    bool
    """
    return all(f[k] & g[k] for k in f.keys() & g.keys() - set(pair))


def union(f: Feature, g: Feature) -> dict[int, int] | None:
    """f ∪ g: the literals of both, or None if they exclude each other.

    >>> union({0: 0b10, 2: 0b01}, {0: 0b10, 1: 0b01})
    {0: 2, 1: 1, 2: 1}
    """
    if not compatible(f, g):
        return None
    return {k: f.get(k, -1) & g.get(k, -1) for k in sorted(f.keys() | g.keys())}


def union_over_pair(features: Sequence[Feature], pair: PairIndex) -> dict[int, int] | None:
    """The union of features over (i, j); the values of the pair do not matter.

    The paper allows any values there; these are the first feature's. None if the features exclude
    each other elsewhere.
    """
    result: dict[int, int] | None = {k: features[0][k] for k in pair}
    for f in features:
        result = result and union(result, without_pair(f, pair))
    return result


def context_set(
    features: Iterable[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> set[Context]:
    """X^ij: the contexts in which some feature makes the pair depend, each listed.

    A context is the values of all variables but the pair, in order. Exponential, of course: the
    point of the paper is to do without.

    Parameters
    ----------
    features : a set of features
    pair : the two variables, the smaller first
    cardinalities : of all variables

    Returns
    -------
    set of tuple of int

    Examples
    --------
    >>> sorted(context_set([{0: 0b01, 1: 0b01, 2: 0b01}], (0, 1), [2, 2, 2, 2]))
    [(0, 0), (0, 1)]
    """
    return {context for f in features for context in _contexts(f, pair, cardinalities)}


def _contexts(f: Feature, pair: PairIndex, cardinalities: Sequence[int]) -> Iterator[Context]:
    if has_pair(f, pair):
        yield from product(
            *(members(f.get(k, (1 << n) - 1)) for k, n in enumerate(cardinalities) if k not in pair)
        )


def cardinality(f: Feature, pair: PairIndex, cardinalities: Sequence[int]) -> int:
    """|X^ij(f)|: a product over the other variables, of all their values or of those f allows.

    Parameters
    ----------
    f : a feature
    pair : the two variables, the smaller first
    cardinalities : of all variables

    Returns
    -------
    int

    Examples
    --------
    >>> cardinality({0: 0b01, 1: 0b01, 2: 0b011}, (0, 1), [2, 2, 3, 10])
    20
    """
    if not has_pair(f, pair):
        return 0
    return prod(
        f[k].bit_count() if k in f else n for k, n in enumerate(cardinalities) if k not in pair
    )


def intersection(f: Feature, g: Feature, pair: PairIndex) -> list[dict[int, int]]:
    """X^ij(f) ∩ X^ij(g), as a list of one feature or none.

    Parameters
    ----------
    f, g : the two features
    pair : the two variables, the smaller first

    Returns
    -------
    list of features
    """
    if not (has_pair(f, pair) and has_pair(g, pair)):
        return []
    both = union_over_pair([f, g], pair)
    return [] if both is None else [both]


def difference(
    f: Feature, g: Feature, pair: PairIndex, cardinalities: Sequence[int]
) -> list[dict[int, int]]:
    """X^ij(f) ∖ X^ij(g), as mutually exclusive features.

    Nothing is left of f where g contains it, f is left as it is where the two share no context, and
    else one feature is left for each variable k at which f allows more than g: it allows what g
    refuses at k and agrees with g at the variables before.

    Parameters
    ----------
    f, g : the two features
    pair : the two variables, the smaller first
    cardinalities : of all variables

    Returns
    -------
    list of features
    """
    if not has_pair(f, pair):
        return []
    if not has_pair(g, pair) or not compatible(f, g, pair):
        return [dict(f)]
    pieces, agreeing = [], dict(f)
    for k, wanted in sorted(without_pair(g, pair).items()):
        allowed = f.get(k, (1 << cardinalities[k]) - 1)
        if allowed & ~wanted:
            pieces.append({**agreeing, k: allowed & ~wanted})
            agreeing[k] = allowed & wanted
    return pieces


def partition_model(
    features: Iterable[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> list[Feature]:
    """Algorithm 1 for a pair: mutually exclusive features with the same context set.

    Parameters
    ----------
    features : a set of features
    pair : the two variables, the smaller first
    cardinalities : of all variables

    Returns
    -------
    list of features
    """
    speaking = (f for f in features if has_pair(f, pair))
    return partition(speaking, lambda f, g: difference(f, g, pair, cardinalities))


def h_tp(
    true: Iterable[Feature], guess: Sequence[Feature], pair: PairIndex
) -> list[dict[int, int]]:
    """H^TP: features whose contexts are those where the pair depends in both models.

    Parameters
    ----------
    true, guess : the features of the two models
    pair : the two variables, the smaller first

    Returns
    -------
    list of features
    """
    return [h for f in true for g in guess for h in intersection(f, g, pair)]


def h_fn(
    true: Iterable[Feature], guess: Sequence[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> list[dict[int, int]]:
    """H^FN: features whose contexts are those where the pair depends in the true model only.

    For each f of the true model: f united with one feature from each of its differences with a g
    that overlaps it, in every way that is compatible. A g that contains f leaves no difference to
    choose from, and so nothing of f.

    Parameters
    ----------
    true, guess : the features of the two models
    pair : the two variables, the smaller first
    cardinalities : of all variables

    Returns
    -------
    list of features
    """
    found = []
    for f in true:
        if not has_pair(f, pair):
            continue
        choices = [dict(f)]
        for g in guess:
            if has_pair(g, pair) and compatible(f, g, pair):
                pieces = difference(f, g, pair, cardinalities)
                choices = [
                    both
                    for choice in choices
                    for piece in pieces
                    if (both := union_over_pair([choice, piece], pair)) is not None
                ]
        found += choices
    return found


def h_fp(
    true: Sequence[Feature], guess: Iterable[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> list[dict[int, int]]:
    """H^FP: features whose contexts are those where the pair depends in the guess only.

    Parameters
    ----------
    true, guess : the features of the two models
    pair : the two variables, the smaller first
    cardinalities : of all variables

    Returns
    -------
    list of features
    """
    return h_fn(guess, true, pair, cardinalities)


def confusion_of_pair(
    true: Sequence[Feature], guess: Sequence[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> tuple[int, int, int, int]:
    """The theorem: tp, fn, fp and tn of one pair, from the partition models of the H sets.

    Parameters
    ----------
    true, guess : the features of the two models
    pair : the two variables, the smaller first
    cardinalities : of all variables

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> confusion_of_pair([{0: 1, 1: 1, 2: 1}], [{0: 1, 1: 1}], (0, 1), [2, 2, 2])
    (1, 0, 1, 0)
    """
    sets = (
        h_tp(true, guess, pair),
        h_fn(true, guess, pair, cardinalities),
        h_fp(true, guess, pair, cardinalities),
    )
    tp, fn, fp = (
        sum(cardinality(p, pair, cardinalities) for p in partition_model(h, pair, cardinalities))
        for h in sets
    )
    contexts = prod(n for k, n in enumerate(cardinalities) if k not in pair)
    return tp, fn, fp, contexts - tp - fn - fp
