"""Theorem 1: the sets H and the confusion matrix, pair by pair and on every engine."""

from itertools import combinations

import pytest
from hypothesis import given
from test_paper_features import Drawn, two_sets_and_a_pair

from contextwise import compare
from contextwise.counting.contract import ENGINES
from contextwise.models.structure import Structure
from contextwise.paper import (
    Feature,
    confusion,
    confusion_of_pair,
    context_set,
    delta,
    f1,
    f2,
    features_of,
    g1,
    g2,
    h_fn,
    h_fp,
    h_tp,
    union_over,
)
from contextwise.testing import brute_force, brute_force_pairs, domains, families

MODELS = families(2, domains(max_variables=4, max_states=3), max_features=4)


@given(two_sets_and_a_pair())
def test_the_h_sets_are_the_intersection_and_the_differences(drawn: Drawn) -> None:
    true, guess, pair, domain = drawn
    in_true, in_guess = (context_set(features, pair, domain) for features in (true, guess))
    assert context_set(h_tp(true, guess, pair), pair, domain) == in_true & in_guess
    assert context_set(h_fn(true, guess, pair, domain), pair, domain) == in_true - in_guess
    assert context_set(h_fp(true, guess, pair, domain), pair, domain) == in_guess - in_true


@given(two_sets_and_a_pair())
def test_the_sets_f_and_g_sort_out_what_the_guess_leaves(drawn: Drawn) -> None:
    true, guess, pair, domain = drawn
    first, second = f1(true, guess, pair), f2(true, guess, pair)
    for f in true:
        contexts = context_set(f, pair, domain)
        for g in guess:
            left = contexts - context_set(g, pair, domain)
            assert g not in g1(f, guess, pair) or not left
            assert g not in g2(f, guess, pair) or left == contexts
        if f not in first and f not in second and guess:
            united = [union_over(chosen, pair) for chosen in delta(f, guess, pair, domain)]
            left = context_set([u for u in united if u is not None], pair, domain)
            assert left == contexts - context_set(guess, pair, domain)


@given(MODELS)
def test_the_theorem_equals_brute_force(models: tuple[Structure, Structure]) -> None:
    true, guess = models
    a, b = features_of(true), features_of(guess)
    for pair, matrix in brute_force_pairs(true, guess).items():
        assert confusion_of_pair(a, b, pair, true.domain) == matrix


@pytest.mark.parametrize("engine", sorted(ENGINES))
@given(models=MODELS)
def test_the_theorem_equals_compare(engine: str, models: tuple[Structure, Structure]) -> None:
    assert confusion(*models) == compare(*models, engine=engine).confusion


@pytest.mark.parametrize("names", ["A", "AB", "ABC"])
def test_empty_models(names: str) -> None:
    nothing = Structure(dict.fromkeys(names, 2))
    full = Structure(nothing.domain, [dict.fromkeys(pair, 1) for pair in combinations(names, 2)])
    for true, guess in [(nothing, nothing), (nothing, full), (full, nothing), (full, full)]:
        assert confusion(true, guess) == brute_force(true, guess)


def test_h_fn_when_the_guess_says_nothing_of_the_pair() -> None:
    """As printed it would be the union of no feature at all."""
    f, V = Feature("<A=1, B=1, C=1>"), {"A": 2, "B": 2, "C": 2}
    assert h_fn([f], [], ("A", "B"), V) == [f]
    assert h_fn([f], [Feature("<A=1, C=1>")], ("A", "B"), V) == [f]


def test_h_fn_skips_incompatible_choices() -> None:
    """Against g remain C=0 or D=0, against the other C=1 or D=1: two of the four choices."""
    f, V = Feature("<A=1, B=1>"), dict.fromkeys("ABCD", 2)
    g, other = Feature("<A=1, B=1, C=1, D=1>"), Feature("<A=1, B=1, C=0, D=0>")
    found = h_fn([f], [g, other], ("A", "B"), V)
    assert context_set(found, ("A", "B"), V) == {Feature("<C=0, D=1>"), Feature("<C=1, D=0>")}
