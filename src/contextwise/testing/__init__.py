"""Random models for property tests, and a brute-force oracle that shares no code with the engines.

The strategies of hypothesis (``pip install '.[testing]'``) draw small models with many edge
cases: variables with one state or seventy, odd names, features without literals, models without
features::

    @given(families(2))
    def test_symmetry(models):
        a, b = models
        assert distance(a, b) == distance(b, a)

`brute_force` is the definition of the confusion matrix in plain Python: it visits every context of
every pair. `inclusion_exclusion` counts a `Cover` of few cubes. Neither needs hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING

from contextwise.comparison.confusion import Confusion
from contextwise.comparison.question import Pair
from contextwise.counting.cover import Cover
from contextwise.models.domain import Domain
from contextwise.models.features import members
from contextwise.models.structure import Structure
from contextwise.support.loading import lazy_names

if TYPE_CHECKING:
    from contextwise.testing.strategies import (
        assignments,
        claims,
        covers,
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
    "brute_force_pairs",
    "claims",
    "contexts_of",
    "covers",
    "depends",
    "domains",
    "families",
    "features",
    "inclusion_exclusion",
    "log_linear_models",
    "names",
    "rows",
    "states",
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
        matrices[pair] = Confusion(
            tp=tally[True, True],
            fn=tally[True, False],
            fp=tally[False, True],
            tn=tally[False, False],
        )
    return matrices


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


def inclusion_exclusion(cover: Cover) -> int:
    """Count a union of cubes by inclusion and exclusion, in time 2 to the number of cubes.

    Parameters
    ----------
    cover : Cover

    Examples
    --------
    >>> from contextwise.counting.cover import cover_of
    >>> inclusion_exclusion(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    size = 0
    for number in range(1, len(cover.cubes) + 1):
        for chosen in combinations(cover.cubes, number):
            size -= (-1) ** number * _size_of_meet(cover, chosen)
    return size * cover.scale


def _size_of_meet(cover: Cover, cubes: tuple[int, ...]) -> int:
    meet = (1 << len(cover.bit_weights)) - 1
    for cube in cubes:
        meet &= cube
    return prod(
        sum(cover.bit_weights[bit] for bit in members(meet & field)) for field in cover.fields
    )


if not TYPE_CHECKING:  # the names that are not defined above
    _strategies = [name for name in __all__ if name not in globals()]
    __getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(_strategies, "strategies"))
