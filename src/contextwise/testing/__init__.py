"""Random models for property tests, and a brute-force oracle that shares no code with the engines.

The strategies of hypothesis (``pip install '.[testing]'``) draw small models with many edge
cases: variables with one state or seventy, odd names, features without literals, models without
features::

    @given(families(2))
    def test_symmetry(models):
        a, b = models
        assert distance(a, b) == distance(b, a)

`brute_force` is the definition of the confusion matrix in plain Python: it visits every context of
every pair. `random_structure` draws larger models. Neither needs hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from contextwise.comparison.confusion import Confusion
from contextwise.comparison.question import Pair
from contextwise.models.domain import Domain
from contextwise.models.origin import ROUNDING
from contextwise.models.structure import LogLinear, Model, Structure, features_of
from contextwise.support.loading import lazy_names

if TYPE_CHECKING:
    from contextwise.testing.strategies import (
        assignments,
        claims,
        domains,
        families,
        features,
        log_linear_models,
        names,
        rows,
        states,
        structures,
        value_sets,
    )

__all__ = [
    "assignments",
    "brute_force",
    "brute_force_at",
    "brute_force_pairs",
    "claims",
    "contexts_of",
    "depends",
    "domains",
    "families",
    "features",
    "log_linear_models",
    "names",
    "random_structure",
    "rows",
    "states",
    "strength",
    "structures",
    "value_sets",
]


def depends(structure: Structure, pair: Pair, context: Mapping[str, str]) -> bool:
    """Decide whether a pair depends in a context.

    It does if some feature has both variables in its scope, or some claim is about them, and is
    compatible with the context.

    Parameters
    ----------
    structure : Structure
    pair : names of two variables
    context : states of the other variables

    Examples
    --------
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0"])
    >>> depends(model, ("A", "B"), {"C": "0"}), depends(model, ("A", "B"), {"C": "1"})
    (True, False)
    """
    names, pairs = structure.domain.names, structure.features.pairs
    covered = [None] * len(structure) if pairs is None else pairs.tolist()
    return any(
        (feature.keys() if literals is None else {names[v] for v in literals}) >= set(pair)
        and all(context[v] in allowed for v, allowed in feature.items() if v in context)
        for feature, literals in zip(structure, covered, strict=True)
    )


def contexts_of(domain: Domain, pair: Pair, *, canonical: bool = False) -> Iterator[dict[str, str]]:
    """Yield the contexts of a pair: assignments of the other variables, or of all variables.

    Parameters
    ----------
    domain : Domain
    pair : two names
    canonical : bool
        Assign the variables of the pair too.

    Examples
    --------
    >>> list(contexts_of(Domain({"A": 2, "B": 2, "C": 2}), ("A", "B")))
    [{'C': '0'}, {'C': '1'}]
    """
    states = dict(zip(domain.names, domain.states, strict=True))
    names = [name for name in domain.names if canonical or name not in pair]
    for chosen in product(*(states[name] for name in names)):
        yield dict(zip(names, chosen, strict=True))


def brute_force_pairs(
    true: Structure, guess: Structure, *, contexts: str = "fully-contextualized"
) -> dict[Pair, Confusion]:
    """Compute the confusion matrix of every pair of variables by visiting every context.

    Parameters
    ----------
    true, guess : structures over one domain
    contexts : "fully-contextualized" or "canonical"

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> true, guess = Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & B=1 & C=1"])
    >>> brute_force_pairs(true, guess)["A", "B"]
    Confusion(tp=1, fn=1, fp=0, tn=0)
    """
    matrices = {}
    for pair in combinations(true.domain.names, 2):
        tally = {(t, g): 0 for t in (True, False) for g in (True, False)}
        for context in contexts_of(true.domain, pair, canonical=contexts == "canonical"):
            tally[depends(true, pair, context), depends(guess, pair, context)] += 1
        matrices[pair] = _confusion_of(tally)
    return matrices


def _confusion_of(tally: Mapping[tuple[bool, bool], int]) -> Confusion:
    """Name the counts of contexts, by whether the true model depends and whether the guess does."""
    return Confusion(
        tp=tally[True, True], fn=tally[True, False], fp=tally[False, True], tn=tally[False, False]
    )


def brute_force(
    true: Structure, guess: Structure, *, contexts: str = "fully-contextualized"
) -> Confusion:
    """Compute the confusion matrix over all pairs by visiting every context.

    Parameters
    ----------
    true, guess : structures over one domain
    contexts : "fully-contextualized" or "canonical"

    Examples
    --------
    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> brute_force(true, guess)
    Confusion(tp=2, fn=1, fp=2, tn=1)
    """
    matrices = brute_force_pairs(true, guess, contexts=contexts).values()
    return sum(matrices, start=Confusion(0, 0, 0, 0))


def strength(model: LogLinear, pair: Pair, context: Mapping[str, str]) -> float:
    """Compute the largest absolute log odds ratio of a pair in a context.

    Cells of weight ``-inf`` are impossible. If the possible cells are no product of rows and
    columns, the strength is infinite.

    Parameters
    ----------
    model : LogLinear
    pair : names of two variables
    context : states of the other variables

    Examples
    --------
    >>> structure = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "A=1 & B=1 & C=1"])
    >>> strength(LogLinear(structure, [0.5, 2.0]), ("A", "B"), {"C": "1"})
    2.5
    """
    first, second = (model.domain.states[model.domain.position(name)] for name in pair)
    table = dict.fromkeys(product(first, second), 0.0)
    for feature, weight in zip(model.structure, model.weights.tolist(), strict=True):
        if set(pair) <= set(feature):
            for a, b in table:
                full = {**context, pair[0]: a, pair[1]: b}
                if all(full[name] in allowed for name, allowed in feature.items()):
                    table[a, b] += weight
    possible = {cell for cell, value in table.items() if value > -inf}
    if len(possible) != len({a for a, _ in possible}) * len({b for _, b in possible}):
        return inf
    return max(
        (
            abs(table[a, c] + table[b, d] - table[a, d] - table[b, c])
            for a, b in combinations(first, 2)
            for c, d in combinations(second, 2)
            if {(a, c), (b, d), (a, d), (b, c)} <= possible
        ),
        default=0.0,
    )


def brute_force_at(true: Model, guess: Model, *, tolerance: float) -> Confusion:
    """Compute the confusion matrix at a tolerance by visiting every context.

    A pair depends where its strength exceeds the tolerance, or 1e-9 if that is larger. A model
    without weights depends wherever it has a feature.

    Parameters
    ----------
    true, guess : models over one domain
    tolerance : float

    Examples
    --------
    >>> structure = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> true, guess = LogLinear(structure, [3.0, 0.001]), LogLinear(structure, [3.0, 2.0])
    >>> brute_force_at(true, guess, tolerance=0.1)
    Confusion(tp=2, fn=0, fp=2, tn=2)
    """
    tally = {(t, g): 0 for t in (True, False) for g in (True, False)}
    for pair in combinations(true.domain.names, 2):
        for context in contexts_of(true.domain, pair):
            first, second = (
                strength(model, pair, context) > max(tolerance, ROUNDING)
                if isinstance(model, LogLinear)
                else depends(model, pair, context)
                for model in (true, guess)
            )
            tally[first, second] += 1
    return _confusion_of(tally)


Literals = list[tuple[int, int]]


def random_structure(
    domain: Domain,
    *,
    features: int,
    lengths: tuple[int, int] = (2, 4),
    set_literals: float = 0.0,
    seed: np.random.Generator | int = 0,
) -> Structure:
    """Draw a structure of random features; variables with one state are never drawn.

    Parameters
    ----------
    domain : Domain
    features : number of draws; equal features count once
    lengths : (shortest, longest); lengths, and scopes of one length, are drawn uniformly
    set_literals : probability that a literal allows a random value set instead of one value
    seed : generator or seed

    Examples
    --------
    >>> random_structure(Domain({"A": 2, "B": 3, "C": 2}), features=2, seed=1)
    Structure(3 variables, 2 features: B=2 & C=1; A=0 & B=2 & C=1)
    """
    generator = np.random.default_rng(seed)
    drawn = [random_literals(domain, lengths, set_literals, generator) for _ in range(features)]
    return Structure(domain, features_of(domain, drawn))


def random_literals(
    domain: Domain, lengths: tuple[int, int], set_literals: float, rng: np.random.Generator
) -> Literals:
    """Draw the literals of a feature: variables, each with its allowed values as an int."""
    usable = [v for v, c in enumerate(domain.cardinalities) if c > 1]
    shortest, longest = (min(length, len(usable)) for length in lengths)
    length = int(rng.integers(shortest, longest + 1))
    scope = sorted(rng.choice(usable, size=length, replace=False).tolist()) if length else []
    return [(v, random_set(domain.cardinalities[v], set_literals, rng)) for v in scope]


def random_set(cardinality: int, set_literals: float, rng: np.random.Generator) -> int:
    """Draw one value, or with this probability a set of some but not all values."""
    if rng.random() >= set_literals:
        return 1 << int(rng.integers(cardinality))
    while True:
        chosen = sum(1 << k for k in np.flatnonzero(rng.random(cardinality) < 0.5).tolist())
        if 0 < chosen < (1 << cardinality) - 1:
            return chosen


if not TYPE_CHECKING:  # the names that are not defined above
    _strategies = [name for name in __all__ if name not in globals()]
    __getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(_strategies, "strategies"))
