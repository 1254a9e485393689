"""Random structures, and structures with a wanted number of errors.

Every draw takes ``rng``, a `numpy.random.Generator` or a seed, and its distribution is stated.

**Errors of one kind only.** Adding features can only add dependencies, so a structure with more
features has false positives and nothing else; leaving features out can only lose dependencies, so
it has false negatives and nothing else. `with_errors` uses both as a *chain*: a random sequence of
features to add, or a random order in which to leave the structure's own features out. Along a chain
the number of errors never falls, so the place where it comes closest to the wanted number is found
by bisection, with exact counts; then later features of the chain are tried one by one, as long as
they bring the count closer.

**What can be reached.** Not every number: a feature makes every pair of its scope depend. In the
model that is complete under X0=0 and a star under X0=1, six binary variables, the smallest number
of false positives is 8 (``X0=1 & X1=0 & X2=0`` makes X1 and X2 depend wherever X0=1). At the far
end, all features over all pairs give every false positive there can be, and no feature at all gives
every false negative.
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
from contextwise.models.literals import features_of
from contextwise.models.structure import Structure

__all__ = ["WithErrors", "even_sample", "perturb", "random_structure", "with_errors"]

Rng = np.random.Generator | int | None
Wanted = int | tuple[int, int]
"""A number of errors, or the smallest and the largest one that will do."""

CHAIN = 4096
"""How many features are drawn for a chain of false positives."""
TRIES = 48
"""How many later features of a chain are tried to come closer."""


@dataclass(frozen=True)
class WithErrors:
    """A structure with errors of one kind, and exactly how many it has.

    Attributes
    ----------
    structure : the structure
    errors : how many it has, exactly; not always as many as wanted

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
    """A structure with up to ``features`` distinct random features.

    Each feature draws its length uniformly from ``lengths`` (no longer than there are variables),
    its scope uniformly among the scopes of that length, and for each variable of the scope one
    state uniformly, or with probability ``set_literals`` a value set uniformly among those that
    allow something and not everything. Variables with one state are never drawn. Features that come
    out equal are one.

    Parameters
    ----------
    domain : Domain
    features : how many features are drawn
    lengths : (shortest, longest)
    set_literals : probability that a literal allows a random value set instead of one value
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
    """The structure after some random changes, each of one of three kinds, equally likely.

    A change leaves a feature out, adds one (drawn as in `random_structure`, with the length of a
    random feature of the structure), or gives one literal of one feature another value set.

    Parameters
    ----------
    model : Structure or LogLinear
    changes : how many
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
    """A structure that differs from ``model`` by errors of one kind, as many as wanted.

    Give exactly one of ``false_positives`` and ``false_negatives``: a number, or a range (lowest,
    highest). The number of a range is drawn uniformly first. The result comes as close to it as its
    chain can get (see the head of this module), and says how close: ``errors`` is exact.

    Parameters
    ----------
    model : Structure or LogLinear
    false_positives, false_negatives : int, or (lowest, highest)
        How many errors; exactly one of the two.
    lengths : (shortest, longest), optional
        Of the features that are added for false positives; by default from 2 to the longest feature
        of the model, drawn as in `random_structure`.
    rng : generator or seed

    Returns
    -------
    WithErrors

    Raises
    ------
    DomainError
        If not exactly one kind of errors is asked for, or there cannot be so many.

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
        raise DomainError("give either false_positives or false_negatives, and not both")
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
        raise DomainError(f"a number of errors, or a range that rises from 0, not {wanted!r}")
    target = int(generator.integers(low, high + 1)) if low < high else low
    return _closest(chain, errors, target)


def even_sample(
    models: Sequence[Structure], size: int, *, rng: Rng = None
) -> tuple[list[Structure], list[list[Number]]]:
    """Some of the models, as evenly spread as can be under the metric, and their distances.

    Starts with a random model and always takes the one that is farthest from those taken
    (farthest-point sampling): no region of the space is left out while another one is crowded.
    Costs ``size`` times the number of models in comparisons.

    Parameters
    ----------
    models : structures over one domain
    size : how many to take
    rng : generator or seed

    Returns
    -------
    structures, distances
        Those that were taken, and for each its distances to all of them.

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
    """Features in the order in which they are put in, or left out; errors rise along it."""

    domain: Domain
    kept: list[Literals]
    steps: list[Literals]
    adds: bool

    def at(self, taken: Sequence[int]) -> Structure:
        """The structure after some of the steps."""
        chosen = set(taken)
        steps = [s for k, s in enumerate(self.steps) if (k in chosen) == self.adds]
        return Structure(self.domain, features_of(self.domain, [*self.kept, *steps]))


def _additions(structure: Structure, lengths: tuple[int, int], rng: np.random.Generator) -> _Chain:
    domain = structure.domain
    own = structure.features.literals()
    seen = {tuple(feature) for feature in own}
    steps = []
    for _ in range(CHAIN):
        feature = _random_literals(domain, lengths, 0.0, rng)
        if tuple(feature) not in seen:
            seen.add(tuple(feature))
            steps.append(feature)
    return _Chain(domain, own, steps, adds=True)


def _removals(structure: Structure, rng: np.random.Generator) -> _Chain:
    own = structure.features.literals()
    order = rng.permutation(len(own))
    return _Chain(structure.domain, [], [own[k] for k in order], adds=False)


def _closest(chain: _Chain, errors: Callable[[Structure], int], target: int) -> WithErrors:
    """The structure of the chain whose errors are closest to the target."""
    low, high = 0, len(chain.steps)
    while low < high:  # the last place with no more errors than wanted
        middle = (low + high + 1) // 2
        if errors(chain.at(range(middle))) <= target:
            low = middle
        else:
            high = middle - 1
    taken = list(range(low))
    best = chain.at(taken)
    found = errors(best)
    for step in range(low, min(low + TRIES, len(chain.steps))):
        if found == target:
            break
        candidate = chain.at([*taken, step])
        count = errors(candidate)
        if abs(count - target) < abs(found - target):
            best, found = candidate, count
            if count <= target:
                taken.append(step)
    return WithErrors(best, found)


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
