"""The paper's theorem in readable form: the confusion matrix of a pair from the sets H.

A feature maps variables to the values it allows, as a bit set. Every function has the paper's name
and cost, which is exponential, and no engine uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from contextwise.counting.partition import disjoint_parts
from contextwise.models.features import PairIndex, members

Feature = Mapping[int, int]
Context = tuple[int, ...]


def without_pair(f: Feature, pair: PairIndex) -> dict[int, int]:
    """f^ij: the feature without the literals of the pair."""
    return {k: allowed for k, allowed in f.items() if k not in pair}


def has_pair(f: Feature, pair: PairIndex) -> bool:
    """The condition C1: both variables are in the scope of f."""
    return pair[0] in f and pair[1] in f


def compatible(f: Feature, g: Feature, pair: Sequence[int] = ()) -> bool:
    """The condition C2: f and g allow a common value at every variable outside the pair."""
    return all(f[k] & g[k] for k in f.keys() & g.keys() - set(pair))


def union(f: Feature, g: Feature) -> dict[int, int] | None:
    """f ∪ g: the literals of both, or None if they are incompatible.

    >>> union({0: 0b10, 2: 0b01}, {0: 0b10, 1: 0b01})
    {0: 2, 1: 1, 2: 1}
    """
    if not compatible(f, g):
        return None
    return {k: f.get(k, -1) & g.get(k, -1) for k in sorted(f.keys() | g.keys())}


def union_over_pair(features: Sequence[Feature], pair: PairIndex) -> dict[int, int] | None:
    """The union of features over (i, j), or None if they are incompatible elsewhere.

    The paper allows any values of the pair; these are the first feature's.
    """
    result: dict[int, int] | None = {k: features[0][k] for k in pair}
    for f in features:
        result = result and union(result, without_pair(f, pair))
    return result


def context_set(
    features: Iterable[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> set[Context]:
    """X^ij: list the contexts in which some feature makes the pair depend; exponential.

    A context is the values of all variables but the pair, in order.

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

    >>> cardinality({0: 0b01, 1: 0b01, 2: 0b011}, (0, 1), [2, 2, 3, 10])
    20
    """
    if not has_pair(f, pair):
        return 0
    return prod(
        f[k].bit_count() if k in f else n for k, n in enumerate(cardinalities) if k not in pair
    )


def intersection(f: Feature, g: Feature, pair: PairIndex) -> list[dict[int, int]]:
    """X^ij(f) ∩ X^ij(g), as a list of one feature or none."""
    if not (has_pair(f, pair) and has_pair(g, pair)):
        return []
    both = union_over_pair([f, g], pair)
    return [] if both is None else [both]


def difference(
    f: Feature, g: Feature, pair: PairIndex, cardinalities: Sequence[int]
) -> list[dict[int, int]]:
    """X^ij(f) ∖ X^ij(g), as mutually exclusive features.

    The result is empty if g contains f, and f itself if the two share no context. Otherwise it has
    one feature for each variable k at which f allows more than g: it allows what g forbids at k and
    agrees with g at the variables before.
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
    """Algorithm 1 for a pair: mutually exclusive features with the same context set."""
    covering = (f for f in features if has_pair(f, pair))
    return disjoint_parts(covering, lambda f, g: difference(f, g, pair, cardinalities))


def h_tp(
    true: Iterable[Feature], guess: Sequence[Feature], pair: PairIndex
) -> list[dict[int, int]]:
    """H^TP: features whose contexts are those where the pair depends in both models."""
    return [h for f in true for g in guess for h in intersection(f, g, pair)]


def h_fn(
    true: Iterable[Feature], guess: Sequence[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> list[dict[int, int]]:
    """H^FN: features whose contexts are those where the pair depends in the true model only.

    For each f of the true model: unite f with one feature from each of its differences with the g
    that overlap it, in every compatible way. If some g contains f, nothing of f is left.
    """
    result = []
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
        result += choices
    return result


def h_fp(
    true: Sequence[Feature], guess: Iterable[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> list[dict[int, int]]:
    """H^FP: features whose contexts are those where the pair depends in the guess only."""
    return h_fn(guess, true, pair, cardinalities)


def confusion_of_pair(
    true: Sequence[Feature], guess: Sequence[Feature], pair: PairIndex, cardinalities: Sequence[int]
) -> tuple[int, int, int, int]:
    """The theorem: tp, fn, fp and tn of one pair, from the partition models of the H sets.

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
