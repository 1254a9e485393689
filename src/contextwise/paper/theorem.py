"""Theorem 1: the confusion matrix of two sets of features from the sets H (section 4.3).

For each pair of variables, H^TP, H^FN and H^FP are features whose context sets are the true
positives, false negatives and false positives. Their partition models are counted. The sets H are
exponential in the number of features; `contextwise.compare` gives the same counts without them.

Two steps are completed where the printed definitions leave a gap. A union over (i, j) of features
that are incompatible does not exist, so it adds nothing. If the guess has no features, the paper's
H^FN unites nothing; the result of subtracting nothing from f is f.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from math import prod

from contextwise.comparison.confusion import Confusion
from contextwise.formats import ModelLike, as_structure
from contextwise.paper.features import (
    Feature,
    Pair,
    Variables,
    c1,
    c2,
    cardinality,
    contains,
    d_e_fg,
    domain_of,
    features_of,
    intersection,
    partition_model,
    refuse_more,
    union_over,
)


def g1(f: Feature, guess: Iterable[Feature], pair: Pair) -> list[Feature]:
    """Return G1(f): the features of the guess that leave nothing of f (Eq. 44).

    They contain the contexts of f; or f says nothing about the pair, then all of them count.
    """
    return [g for g in guess if contains(g, f, pair) or not c1(f, pair)]


def g2(f: Feature, guess: Iterable[Feature], pair: Pair) -> list[Feature]:
    """Return G2(f): the features of the guess that share no context with f (Eq. 45)."""
    return [g for g in guess if not c2(f, g, pair) or not c1(g, pair)]


def f1(true: Iterable[Feature], guess: Sequence[Feature], pair: Pair) -> list[Feature]:
    """Return F1: the true features of which the guess leaves nothing (Eq. 42)."""
    return [f for f in true if g1(f, guess, pair)]


def f2(true: Iterable[Feature], guess: Sequence[Feature], pair: Pair) -> list[Feature]:
    """Return F2: true features that share no context with some feature of the guess (Eq. 43)."""
    return [f for f in true if g2(f, guess, pair)]


def delta(
    f: Feature, guess: Sequence[Feature], pair: Pair, domain: Variables
) -> list[tuple[Feature, ...]]:
    """Return Δ(f): one feature of D^E_fg for each g outside G1(f) ∪ G2(f), in every way.

    >>> f, g = Feature("<A=1, B=1>"), Feature("<A=1, B=1, C=1, D=1>")
    >>> delta(f, [g], ("A", "B"), {"A": 2, "B": 2, "C": 2, "D": 2})
    [(<A=1, B=1, C=0>,), (<A=1, B=1, C=1, D=0>,)]
    """
    outside = {*g1(f, guess, pair), *g2(f, guess, pair)}
    factors = [d_e_fg(f, g, pair, domain) for g in guess if g not in outside]
    refuse_more(prod(map(len, factors)), f"the cross product Δ of {f}")
    return list(product(*factors))


def h_tp(true: Iterable[Feature], guess: Sequence[Feature], pair: Pair) -> list[Feature]:
    """Return H^TP: the unions of a true feature and one of the guess (Eq. 37, Lemma 1).

    >>> h_tp([Feature("<A=1, B=1, C=1>")], [Feature("<A=0, B=1, D=0>")], ("A", "B"))
    [<A=1, B=1, C=1, D=0>]
    """
    return [h for f in true for g in guess for h in intersection(f, g, pair)]


def h_fn(
    true: Sequence[Feature], guess: Sequence[Feature], pair: Pair, domain: Variables
) -> list[Feature]:
    """Return H^FN: the true features minus those of the guess (Eq. 41, Lemma 2).

    >>> V = {"A": 2, "B": 2, "C": 2}
    >>> h_fn([Feature("<A=1, B=1>")], [Feature("<A=1, B=1, C=1>")], ("A", "B"), V)
    [<A=1, B=1, C=0>]
    >>> h_fn([Feature("<A=1, B=1>")], [], ("A", "B"), V)
    [<A=1, B=1>]
    """
    nothing_left, kept_by_some = set(f1(true, guess, pair)), set(f2(true, guess, pair))
    result = []
    for f in true:
        if f in nothing_left or not c1(f, pair):
            continue
        alone = f in kept_by_some or not guess
        for chosen in delta(f, guess, pair, domain):
            united = union_over([f, *chosen] if alone else chosen, pair)
            if united is not None:
                result.append(united)
    return result


def h_fp(
    true: Sequence[Feature], guess: Sequence[Feature], pair: Pair, domain: Variables
) -> list[Feature]:
    """Return H^FP, which is H^FN with the models exchanged."""
    return h_fn(guess, true, pair, domain)


def confusion_of_pair(
    true: Sequence[Feature], guess: Sequence[Feature], pair: Pair, domain: Variables
) -> Confusion:
    """Return the confusion matrix of one pair by Theorem 1 (Eqs. 33 to 36).

    >>> true, guess = [Feature("<A=1, B=1, C=1>")], [Feature("<A=1, B=1>")]
    >>> confusion_of_pair(true, guess, ("A", "B"), {"A": 2, "B": 2, "C": 2})
    Confusion(tp=1, fn=0, fp=1, tn=0)
    """
    known = domain_of(domain)
    sets = (
        h_tp(true, guess, pair),
        h_fn(true, guess, pair, known),
        h_fp(true, guess, pair, known),
    )
    tp, fn, fp = (
        sum(cardinality(p, pair, known) for p in partition_model(h, pair, known)) for h in sets
    )
    sizes = zip(known.names, known.cardinalities, strict=True)
    contexts = prod(size for name, size in sizes if name not in pair)
    return Confusion(tp, fn, fp, contexts - tp - fn - fp)


def confusion(true: ModelLike, guess: ModelLike) -> Confusion:
    """Return the confusion matrix of two models by Theorem 1, pair by pair.

    >>> from contextwise import compare
    >>> confusion("lung", "lung-learned"), compare("lung", "lung-learned").confusion
    (Confusion(tp=3, fn=1, fp=1, tn=1), Confusion(tp=3, fn=1, fp=1, tn=1))
    """
    first = as_structure(true)
    second = as_structure(guess).aligned_to(first.domain)
    a, b = features_of(first), features_of(second)
    matrices = (
        confusion_of_pair(a, b, pair, first.domain) for pair in combinations(first.domain.names, 2)
    )
    return sum(matrices, start=Confusion(0, 0, 0, 0))
