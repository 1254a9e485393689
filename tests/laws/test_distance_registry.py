"""Every public distance between structures, listed with its laws; one that is missing here fails.

A distance is a public function or property of the package named ``…distance``, ``hamming`` or
``normalized``. To add one: list it under its full name with the laws it keeps; a `Measure` lists
itself. (Divergences compare distributions, weights included; their laws are with them.)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import given, settings

import contextwise
from contextwise import LogLinear, Structure, compare, distance
from contextwise.comparison.confusion import Counted, Number, Rates, WholeMeasures
from contextwise.comparison.matrix import distance_matrix
from contextwise.comparison.tolerances import AtTolerance
from contextwise.comparison.tracker import track
from contextwise.evaluation import chance
from contextwise.testing import families

Distance = Callable[[Structure, Structure], Number | float]
Models = tuple[Structure, ...]

FUNCTION = re.compile(r"([a-z]\w*_)?distance|hamming")
PROPERTY = re.compile(FUNCTION.pattern + "|normalized")
FEW = settings(max_examples=10)
METRIC = frozenset({"identity", "symmetry", "triangle", "relabelling", "claims"})
"""``claims``: equal claims are at distance 0 from each other, whatever their features."""


def _measured(name: str, a: Structure, b: Structure) -> float:
    return compare(a, b).rate(name)


def _strong(a: Structure, b: Structure) -> AtTolerance:
    """Compare at a tolerance that some sums of weights exceed and others do not."""
    first, second = (LogLinear(model, [0.4] * len(model)) for model in (a, b))
    at = compare(first, second, at=0.5).at
    assert at is not None
    return at[0.5]


DISTANCES: dict[str, tuple[Distance, frozenset[str]]] = {
    "contextwise.comparison.two_models.distance": (distance, METRIC),
    "contextwise.comparison.two_models.Comparison.distance": (
        lambda a, b: compare(a, b).distance,
        METRIC,
    ),
    **{
        f"contextwise.comparison.confusion.{owner.__name__}.{name}": (
            partial(_measured, name),
            METRIC,
        )
        for owner in (Rates, WholeMeasures)
        for name in filter(PROPERTY.fullmatch, vars(owner))
    },
    "contextwise.comparison.two_models.Comparison.normalized": (
        lambda a, b: compare(a, b).normalized,
        METRIC,
    ),
    "contextwise.comparison.two_models.Comparison.mean_pair_distance": (
        lambda a, b: compare(a, b).mean_pair_distance,
        METRIC,
    ),
    "contextwise.comparison.confusion.Confusion.normalized": (
        lambda a, b: compare(a, b).confusion.normalized,
        METRIC,
    ),
    "contextwise.comparison.confusion.Confusion.distance": (
        lambda a, b: compare(a, b).confusion.distance,
        METRIC,
    ),
    "contextwise.comparison.matrix.DistanceMatrix.normalized": (
        lambda a, b: float(distance_matrix([a, b]).normalized[0, 1]),
        METRIC,
    ),
    "contextwise.comparison.tolerances.AtTolerance.distance": (
        lambda a, b: _strong(a, b).distance,
        METRIC - {"claims"},  # weights decide, so models with equal claims can differ
    ),
    "contextwise.comparison.tolerances.AtTolerance.normalized": (
        lambda a, b: _strong(a, b).normalized,
        METRIC - {"claims"},
    ),
    "contextwise.comparison.tracker.Tracker.distance": (
        lambda a, b: track(a, b).distance,
        METRIC,
    ),
    "contextwise.evaluation.random_guesses.Chance.distance": (
        lambda a, b: chance(a, b, draws=0).distance,
        METRIC,
    ),
}


def public_distances() -> Iterator[str]:
    for info in walk_packages(contextwise.__path__, "contextwise."):
        if info.name.endswith("__main__") or ".cli" in info.name:
            continue
        for name, thing in vars(import_module(info.name)).items():
            if getattr(thing, "__module__", None) != info.name:
                continue
            if inspect.isfunction(thing) and FUNCTION.fullmatch(name):
                yield f"{info.name}.{name}"
            if inspect.isclass(thing) and thing is not Counted and not name.startswith("_"):
                for part in vars(thing) if thing.__subclasses__() else dir(thing):
                    if PROPERTY.fullmatch(part):
                        yield f"{info.name}.{name}.{part}"


def keeping(law: str) -> pytest.MarkDecorator:
    chosen = {name: d for name, (d, laws) in DISTANCES.items() if law in laws}
    return pytest.mark.parametrize("d", chosen.values(), ids=list(chosen))


def test_every_distance_is_listed() -> None:
    assert sorted(public_distances()) == sorted(DISTANCES)


@keeping("identity")
@FEW
@given(models=families(1))
def test_identity(d: Distance, models: Models) -> None:
    assert d(*models, *models) == 0


@keeping("symmetry")
@FEW
@given(models=families(2))
def test_symmetry(d: Distance, models: Models) -> None:
    a, b = models
    assert d(a, b) == d(b, a) >= 0


@keeping("triangle")
@FEW
@given(models=families(3))
def test_triangle(d: Distance, models: Models) -> None:
    a, b, c = models
    slack = 0 if isinstance(d(a, c), int) else 1e-12
    assert d(a, c) <= d(a, b) + d(b, c) + slack


@keeping("relabelling")
@FEW
@given(models=families(2))
def test_relabelling(d: Distance, models: Models) -> None:
    names = {name: f"new {name}" for name in models[0].domain.names}
    a, b = models
    assert d(a.renamed(names), b.renamed(names)) == d(a, b)


@keeping("claims")
@FEW
@given(models=families(1))
def test_equal_claims(d: Distance, models: Models) -> None:
    """Features with one literal, and a feature's own halves, claim nothing new."""
    (model,) = models
    domain = model.domain
    more = [{name: own[:1]} for name, own in zip(domain.names, domain.states, strict=True)]
    halves = [{name: allowed[:1] for name, allowed in feature.items()} for feature in model]
    assert d(model, Structure(domain, [*model, *more, *halves])) == 0
