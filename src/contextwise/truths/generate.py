"""Draw random structures, and structures with a given number of errors.

Every function takes ``rng``, a `numpy.random.Generator` or a seed.

Adding features can only add dependencies, so it causes only false positives; removing features
causes only false negatives. `with_errors` uses a *chain*: a random sequence of features to add, or
a random order in which to remove the features of the structure. Along a chain the number of errors
never decreases, so bisection with exact counts finds the point closest to the wanted number. Then
later features of the chain are tried one by one.

Not every number can be reached, because a feature makes every pair of its scope depend. In the
model ``six`` the smallest number of false positives is 8 (``X0=1 & X1=0 & X2=0`` makes X1 and X2
depend wherever X0=1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from contextwise.comparison.compare import compare, distance
from contextwise.comparison.confusion import Number
from contextwise.errors import DomainError
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure, features_of

__all__ = ["WithErrors", "even_sample", "perturb", "random_structure", "with_errors"]

Rng = np.random.Generator | int | None
Wanted = int | tuple[int, int]
"""A number of errors, or the smallest and the largest accepted number."""

CHAIN = 4096
"""The number of features drawn for a chain of false positives."""
TRIES = 48
"""The number of later features of a chain that are tried to come closer."""


@dataclass(frozen=True)
class WithErrors:
    """A structure with errors of one kind, and their exact number.

    Attributes
    ----------
    structure : Structure
    errors : int
        The exact number, which may differ from the wanted number.

    Examples
    --------
    >>> with_errors("six", false_negatives=20, rng=1).errors
    21
    """

    structure: Structure
    errors: int


def random_structure(
    domain: Domain,
    *,
    features: int,
    lengths: tuple[int, int] = (2, 4),
    set_literals: float = 0.0,
    rng: Rng = None,
) -> Structure:
    """Draw a structure with up to ``features`` distinct random features.

    The length of a feature is uniform in ``lengths``, its scope is uniform among the scopes of that
    length, and each literal is a uniform state, or with probability ``set_literals`` a uniform
    value set. Variables with one state are never drawn.

    Parameters
    ----------
    domain : Domain
    features : int
        The number of draws; equal features count once.
    lengths : (shortest, longest)
    set_literals : float
        Probability that a literal allows a random value set instead of one value.
    rng : generator or seed

    Returns
    -------
    Structure

    Examples
    --------
    >>> random_structure(Domain({"A": 2, "B": 3, "C": 2}), features=2, rng=1)
    Structure(3 variables, 2 features: B=2 & C=1; A=0 & B=2 & C=1)
    """
    generator = np.random.default_rng(rng)
    drawn = [_random_literals(domain, lengths, set_literals, generator) for _ in range(features)]
    return Structure(domain, features_of(domain, drawn))


def perturb(model: ModelLike, *, changes: int, rng: Rng = None) -> Structure:
    """Change a structure at random.

    Each change removes a feature, adds one (drawn as in `random_structure`, with the length of a
    random feature of the structure), or changes the value set of one literal, with equal
    probability.

    Parameters
    ----------
    model : Structure or LogLinear
    changes : int
        The number of changes.
    rng : generator or seed

    Returns
    -------
    Structure

    Examples
    --------
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> perturb(model, changes=1, rng=2) == model
    False
    """
    generator = np.random.default_rng(rng)
    structure = as_structure(model)
    domain = structure.domain
    features = structure.features.literals()
    longest = max([len(f) for f in features], default=2)
    for _ in range(changes):
        kind = generator.integers(3) if features else 1
        if kind == 0:
            features.pop(int(generator.integers(len(features))))
        elif kind == 1:
            length = len(features[generator.integers(len(features))]) if features else longest
            features.append(_random_literals(domain, (length, length), 0.0, generator))
        else:
            at = int(generator.integers(len(features)))
            features[at] = _with_another_literal(domain, features[at], generator)
    return Structure(domain, features_of(domain, features))


def with_errors(
    model: ModelLike,
    *,
    false_positives: Wanted | None = None,
    false_negatives: Wanted | None = None,
    lengths: tuple[int, int] | None = None,
    rng: Rng = None,
) -> WithErrors:
    """Draw a structure with a given number of false positives or false negatives.

    The result comes as close to the number as its chain allows (see the module's docstring).

    Parameters
    ----------
    model : Structure or LogLinear
    false_positives, false_negatives : int, or (lowest, highest)
        The number of errors; pass exactly one of the two. A number in a range is drawn uniformly.
    lengths : (shortest, longest), optional
        Lengths of the features added for false positives; by default 2 to the longest of the model.
    rng : generator or seed

    Returns
    -------
    WithErrors

    Raises
    ------
    DomainError
        Unless exactly one kind of errors is given, as a number >= 0 or an increasing range.

    Examples
    --------
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> made = with_errors(model, false_positives=2, rng=0)
    >>> made.errors
    2
    >>> with_errors(model, false_negatives=2, rng=0)
    WithErrors(structure=Structure(3 variables, 0 features), errors=2)
    """
    structure = as_structure(model)
    if (false_positives is None) == (false_negatives is None):
        raise DomainError("pass either false_positives or false_negatives, not both")
    generator = np.random.default_rng(rng)
    if false_positives is not None:
        longest = int(structure.features.lengths.max(initial=2))
        chain = _additions(structure, lengths or (2, max(2, longest)), generator)
        wanted, kind = false_positives, "fp"
    else:
        chain = _removals(structure, generator)
        wanted, kind = false_negatives or 0, "fn"

    def errors(candidate: Structure) -> int:
        return int(getattr(compare(structure, candidate), kind))

    low, high = wanted if isinstance(wanted, tuple) else (wanted, wanted)
    if not 0 <= low <= high:
        raise DomainError(f"errors must be a number >= 0 or an increasing range, got {wanted!r}")
    target = int(generator.integers(low, high + 1)) if low < high else low
    return _closest(chain, errors, target)


def even_sample(
    models: Sequence[Structure], size: int, *, rng: Rng = None
) -> tuple[list[Structure], list[list[Number]]]:
    """Choose models that are evenly spread under the metric (farthest-point sampling).

    Starts with a random model and repeatedly takes the one farthest from those taken, with ``size``
    comparisons per model.

    Parameters
    ----------
    models : structures over one domain
    size : int
        The number of models to take.
    rng : generator or seed

    Returns
    -------
    structures, distances
        The chosen models, and the matrix of their distances.

    Examples
    --------
    >>> domain = Domain.of_cardinalities([2] * 4)
    >>> models = [random_structure(domain, features=3, rng=k) for k in range(10)]
    >>> chosen, distances = even_sample(models, 3)
    >>> len(chosen)
    3
    """
    if not 1 <= size <= len(models):
        raise DomainError(f"cannot take {size} of {len(models)} models")
    generator = np.random.default_rng(rng)
    taken = [int(generator.integers(len(models)))]
    rows: list[list[Number]] = []
    while True:
        rows.append([distance(models[taken[-1]], model) for model in models])
        if len(taken) == size:
            break
        nearest = [min(row[k] for row in rows) for k in range(len(models))]
        left = [k for k in range(len(models)) if k not in taken]
        taken.append(max(left, key=lambda k: nearest[k]))
    return [models[k] for k in taken], [[row[k] for k in taken] for row in rows]


# -- chains --------------------------------------------------------------------------------------

Literals = list[tuple[int, int]]


@dataclass(frozen=True)
class _Chain:
    """Features in the order in which they are added or removed; errors increase along it."""

    domain: Domain
    kept: list[Literals]
    steps: list[Literals]
    adds: bool

    def at(self, taken: Sequence[int]) -> Structure:
        """Return the structure after some of the steps."""
        chosen = set(taken)
        steps = [s for k, s in enumerate(self.steps) if (k in chosen) == self.adds]
        return Structure(self.domain, features_of(self.domain, [*self.kept, *steps]))


def _additions(structure: Structure, lengths: tuple[int, int], rng: np.random.Generator) -> _Chain:
    domain = structure.domain
    kept = structure.features.literals()
    seen = {tuple(feature) for feature in kept}
    steps = []
    for _ in range(CHAIN):
        feature = _random_literals(domain, lengths, 0.0, rng)
        if tuple(feature) not in seen:
            seen.add(tuple(feature))
            steps.append(feature)
    return _Chain(domain, kept, steps, adds=True)


def _removals(structure: Structure, rng: np.random.Generator) -> _Chain:
    features = structure.features.literals()
    order = rng.permutation(len(features))
    return _Chain(structure.domain, [], [features[k] for k in order], adds=False)


def _closest(chain: _Chain, errors: Callable[[Structure], int], target: int) -> WithErrors:
    """Return the structure of the chain whose number of errors is closest to the target."""
    low, high = 0, len(chain.steps)
    while low < high:  # find the last place with at most `target` errors
        middle = (low + high + 1) // 2
        if errors(chain.at(range(middle))) <= target:
            low = middle
        else:
            high = middle - 1
    taken = list(range(low))
    best = chain.at(taken)
    reached = errors(best)
    for step in range(low, min(low + TRIES, len(chain.steps))):
        if reached == target:
            break
        candidate = chain.at([*taken, step])
        count = errors(candidate)
        if abs(count - target) < abs(reached - target):
            best, reached = candidate, count
            if count <= target:
                taken.append(step)
    return WithErrors(best, reached)


# -- features ------------------------------------------------------------------------------------


def _random_literals(
    domain: Domain, lengths: tuple[int, int], set_literals: float, rng: np.random.Generator
) -> Literals:
    usable = [v for v, c in enumerate(domain.cardinalities) if c > 1]
    shortest, longest = (min(length, len(usable)) for length in lengths)
    length = int(rng.integers(shortest, longest + 1))
    scope = sorted(rng.choice(usable, size=length, replace=False).tolist()) if length else []
    return [(v, _random_set(domain.cardinalities[v], set_literals, rng)) for v in scope]


def _random_set(cardinality: int, set_literals: float, rng: np.random.Generator) -> int:
    if rng.random() >= set_literals:
        return 1 << int(rng.integers(cardinality))
    while True:
        chosen = sum(1 << k for k in np.flatnonzero(rng.random(cardinality) < 0.5).tolist())
        if 0 < chosen < (1 << cardinality) - 1:
            return chosen


def _with_another_literal(domain: Domain, feature: Literals, rng: np.random.Generator) -> Literals:
    if not feature:
        return feature
    at = int(rng.integers(len(feature)))
    variable, old = feature[at]
    new = old
    while new == old:
        new = _random_set(domain.cardinalities[variable], 0.5, rng)
    return [*feature[:at], (variable, new), *feature[at + 1 :]]
