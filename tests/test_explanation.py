"""Explanations: regions add up to what `compare` counts, and the figures of features are exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings

from contextwise import Domain, Structure, compare, examples
from contextwise.comparison.explain import FeatureErrors, explain, explain_pair, in_words
from contextwise.comparison.pairs import Contexts
from contextwise.learning.generate import random_structure
from contextwise.testing import families

BOTH: tuple[Contexts, ...] = ("fully-contextualized", "canonical")


@given(families(2))
@settings(max_examples=60)
def test_regions_add_up_to_the_comparison(models: tuple[Structure, Structure]) -> None:
    true, guess = models
    for contexts in BOTH:
        for pair in combinations(true.domain.names, 2):
            compared = compare(true, guess, contexts=contexts)
            found, counted = explain_pair(compared, pair, top=3), compared.pair(*pair)
            assert (found.fp, found.fn, found.undecided) == (counted.fp, counted.fn, 0)
            assert found.contexts == counted.total
            assert sum(region.size for region in found.regions) + found.rest == found.errors
            assert all(r.share == Fraction(r.size, found.contexts) for r in found.regions)
            assert [r.size for r in found.regions] == sorted(
                (r.size for r in found.regions), reverse=True
            )


@given(families(2))
@settings(max_examples=60)
def test_the_figures_of_features_are_what_removing_and_adding_does(
    models: tuple[Structure, Structure],
) -> None:
    true, guess = models
    found = explain(true, guess, top=1000)
    before = found.comparison
    for errors in found.features:
        if errors.only_in == "guess":
            after = compare(true, _without(guess, errors.feature))
            assert before.fp - after.fp == errors.vanish
            assert after.fn - before.fn == errors.created
        else:
            after = compare(true, guess | Structure(true.domain, [errors.feature]))
            assert before.fn - after.fn == errors.vanish == errors.takes_part
        assert errors.vanish <= errors.takes_part


@given(families(2))
@settings(max_examples=40)
def test_the_first_features_are_those_with_the_most_errors(
    models: tuple[Structure, Structure],
) -> None:
    true, guess = models
    everything = explain(true, guess, top=1000).features
    for top in (1, 2):
        first = explain(true, guess, top=top).features
        assert [f.takes_part for f in first] == [f.takes_part for f in everything[:top]]


def _without(structure: Structure, feature: str) -> Structure:
    texts = [structure.feature_text(f) for f in range(len(structure))]
    texts.remove(feature)
    return Structure(structure.domain, texts)


DOMAIN = Domain({"A": 2, "B": 2, "C": ["no", "yes"], "D": ["young", "old", "very old"]})


def test_a_pair_in_words() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    guess = Structure(DOMAIN, ["A=1 & B=1 & D=young"])
    assert str(explain_pair(compare(true, guess), ("B", "A"))).splitlines() == [
        "A–B only in true: when C=no and D≠young; 33.3 % of contexts",
        "A–B only in guess: when C=yes and D=young; 16.7 % of contexts",
    ]
    assert str(explain_pair(compare(true, true), ("A", "B"))) == "A–B: no difference"
    everywhere = Structure(DOMAIN, ["A=1 & B=1"])
    assert str(explain_pair(compare(Structure(DOMAIN), everywhere), ("A", "B"))) == (
        "A–B only in guess: in every context; 100 % of contexts"
    )


def test_signs_inside_names_stay() -> None:
    assert in_words('"a & b"="x!=y" & c!=d') == '"a & b"="x!=y" and c≠d'


def test_features_are_named() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    guess = Structure(DOMAIN, ["A=1 & B=1 & D=young"])
    found = explain(true, guess)
    assert FeatureErrors("true", "A=1 & B=1 & C=no", 8, 8) in found.features


def test_errors_are_counted_in_words() -> None:
    true, guess = (examples.load(name) for name in ("lung", "lung-learned"))
    assert str(explain(true, guess)).splitlines()[-2:] == [
        "The guess lacks smoker=yes and asbestos=yes and cancer=yes: 1 error, gone if it is added.",
        "The guess has asbestos=yes and cancer=yes: it takes part in 1 error; removing it alone "
        "undoes 1 and brings 1 new.",
    ]


def test_what_a_time_limit_leaves_out_is_said() -> None:
    domain = Domain.of_cardinalities([2] * 12)
    rng = np.random.default_rng(3)
    true, guess = (
        random_structure(domain, features=150, lengths=(5, 7), rng=rng) for _ in range(2)
    )
    counted = compare(true, guess, pairs=[("v0", "v1")])
    found = explain_pair(counted, ("v0", "v1"), time_limit=0.0)
    assert found.undecided > 0
    assert found.fp <= counted.fp <= found.fp + found.undecided
    assert found.fn <= counted.fn <= found.fn + found.undecided
    assert "not decided in time" in str(found)
    assert found.partial
    whole = explain(true, guess, time_limit=0.0)
    assert whole.partial
    assert "A time limit left out part" in str(whole)


def test_no_features_can_be_asked_for() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    found = explain(true, Structure(DOMAIN), top=0)
    assert (found.pairs, found.features, found.partial) == ((), (), False)
