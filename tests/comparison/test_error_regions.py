"""Explanations: regions add up to what `compare` counts, and the figures of features are exact."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare
from contextwise.comparison.error_regions import (
    explain,
    explain_comparison,
    explain_pair,
)
from contextwise.comparison.question import Contexts
from contextwise.testing import families, random_structure, rows

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


def test_no_features_can_be_asked_for() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    found = explain(true, Structure(DOMAIN), top=0)
    assert (found.pairs, found.features, found.partial) == ((), (), False)


@given(families(2), st.data())
@settings(max_examples=40)
def test_regions_add_up_in_the_contexts_of_rows(
    models: tuple[Structure, Structure], data: st.DataObject
) -> None:
    observed = data.draw(rows(models[0].domain, max_rows=12))
    for contexts in BOTH:
        found = explain(*models, data=observed, contexts=contexts, top=1000)
        for pair in found.pairs:
            counted = found.comparison.pair(*pair.pair)
            assert (pair.fp, pair.fn, pair.undecided) == (counted.fp, counted.fn, 0)
            assert pair.contexts == len(observed)
            assert sum(region.size for region in pair.regions) + pair.rest == pair.errors
            for region in pair.regions:
                there = compare(*models, data=observed, pairs=[pair.pair], contexts=contexts)
                assert region.size <= there.fp + there.fn
        for errors in found.features:
            if errors.only_in == "true":
                more = models[1] | Structure(models[0].domain, [errors.feature])
                after = compare(models[0], more, data=observed, contexts=contexts)
                assert found.comparison.fn - after.fn == errors.takes_part


def test_contexts_that_count_by_probability() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    guess = Structure(DOMAIN, ["A=1 & B=1 & D=young"])
    weights = {"C": [0.9, 0.1], "D": [0.5, 0.25, 0.25]}
    found = explain(true, guess, weights=weights)
    (pair,) = (p for p in found.pairs if p.pair == ("A", "B"))
    assert [(r.only_in, r.when, r.size) for r in pair.regions] == [
        ("true", "C=no & D!=young", Fraction(9, 20)),
        ("guess", "C=yes & D=young", Fraction(1, 20)),
    ]
    assert (pair.contexts, pair.rest) == (1, 0)


def test_in_a_context_its_variables_are_gone() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    guess = Structure(DOMAIN, ["A=1 & B=1 & D=young"])
    found = explain(true, guess, context="C=no", pairs=[("A", "B")])
    (pair,) = found.pairs
    assert re.search("only in true +66.7 % +D≠young", str(pair))


def test_only_the_largest_regions_are_looked_for_and_the_rest_is_exact() -> None:
    domain = Domain.of_cardinalities([2] * 12)
    rng = np.random.default_rng(5)
    true, guess = (
        random_structure(domain, features=60, lengths=(4, 6), seed=rng) for _ in range(2)
    )
    compared = compare(true, guess)
    everything = explain_pair(compared, ("v0", "v1"), top=1000)
    few = explain_pair(compared, ("v0", "v1"), top=1)
    assert (few.fp, few.fn, few.undecided) == (everything.fp, everything.fn, 0)
    assert len(few.regions) == 1
    assert few.rest == few.errors - few.regions[0].size


def test_pairs_that_are_known_come_before_open_ones() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no", "C=no & D=young"])
    compared = compare(true, Structure(DOMAIN))
    low, high = compared.unions.low.copy(), compared.unions.high.copy()
    low[0], high[0] = 0, compared.unit_sizes[0]
    half = replace(compared, unions=replace(compared.unions, low=low, high=high))
    found = explain_comparison(half)
    is_open = [pair.pair in half.open_pairs for pair in found.pairs]
    assert is_open == sorted(is_open)
    assert any(is_open)


def test_features_that_only_repeat_errors_are_listed() -> None:
    guess = Structure(DOMAIN, [f"A=1 & B=1 & D={d}" for d in ("young", "old")] + ["A=1 & B=1"])
    said = str(explain(Structure(DOMAIN), guess)).splitlines()
    (line,) = (line for line in said if line.endswith("has it  A=1 and B=1 and D=old"))
    assert line.split()[2:6] == ["0", "%", "0", "%"]


def test_progress_counts_pairs_and_features() -> None:
    told: list[tuple[int, int]] = []
    explain("lung", "lung-learned", show_progress=lambda done, of: told.append((done, of)))
    assert told[-1][0] <= told[-1][1]
    assert len(told) > 3
