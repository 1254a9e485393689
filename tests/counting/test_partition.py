"""The theorem's sets do what the paper proves of them, on features with value sets."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from contextwise.counting.cover import Cover
from contextwise.counting.partition import cube_difference, disjoint_parts
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure
from contextwise.testing import brute_force_pairs, domains, families
from random_covers import covers
from theorem import (
    Feature,
    cardinality,
    confusion_of_pair,
    context_set,
    difference,
    h_fn,
    h_fp,
    h_tp,
    intersection,
    partition_model,
)

DOMAINS = domains(min_variables=2, max_variables=4, max_states=3)
Drawn = tuple[list[Feature], list[Feature], PairIndex, tuple[int, ...]]


@st.composite
def two_sets_and_a_pair(draw: st.DrawFn, max_features: int = 4) -> Drawn:
    """The features of two models, a pair, and the cardinalities."""
    a, b = draw(families(2, DOMAINS, max_features=max_features))
    n = len(a.domain)
    i, j = sorted(draw(st.sets(st.integers(0, n - 1), min_size=2, max_size=2)))
    return features_of(a), features_of(b), (i, j), a.domain.cardinalities


def features_of(model: Structure) -> list[Feature]:
    return [dict(literals) for literals in model.features.literals()]


@given(two_sets_and_a_pair())
def test_intersection_and_difference_of_single_features(drawn: Drawn) -> None:
    true, guess, pair, cards = drawn
    for f in true:
        for g in guess:
            in_f, in_g = context_set([f], pair, cards), context_set([g], pair, cards)
            assert context_set(intersection(f, g, pair), pair, cards) == in_f & in_g
            pieces = difference(f, g, pair, cards)
            assert context_set(pieces, pair, cards) == in_f - in_g
            assert sum(cardinality(d, pair, cards) for d in pieces) == len(in_f - in_g)


@given(two_sets_and_a_pair(max_features=6))
def test_a_partition_model_has_the_same_contexts_once_each(drawn: Drawn) -> None:
    features, _, pair, cards = drawn
    parts = partition_model(features, pair, cards)
    contexts = context_set(features, pair, cards)
    assert context_set(parts, pair, cards) == contexts
    for p, q in combinations(parts, 2):
        assert not context_set([p], pair, cards) & context_set([q], pair, cards)
    assert sum(cardinality(p, pair, cards) for p in parts) == len(contexts)


@given(two_sets_and_a_pair())
def test_the_h_sets_are_the_intersection_and_the_differences(drawn: Drawn) -> None:
    true, guess, pair, cards = drawn
    in_true, in_guess = context_set(true, pair, cards), context_set(guess, pair, cards)
    assert context_set(h_tp(true, guess, pair), pair, cards) == in_true & in_guess
    assert context_set(h_fn(true, guess, pair, cards), pair, cards) == in_true - in_guess
    assert context_set(h_fp(true, guess, pair, cards), pair, cards) == in_guess - in_true


def test_h_fn_when_the_guess_says_nothing_of_the_pair() -> None:
    """As printed it would be the union of no feature at all."""
    f = {0: 1, 1: 1, 2: 1}
    assert h_fn([f], [], (0, 1), [2, 2, 2]) == [f]
    assert h_fn([f], [{0: 1, 2: 1}], (0, 1), [2, 2, 2]) == [f]


def test_h_fn_skips_incompatible_choices() -> None:
    """Against g remain X2=1 or X3=1, against the other X2=0 or X3=0: two of the four choices."""
    f, g, other = {0: 1, 1: 1}, {0: 1, 1: 1, 2: 1, 3: 1}, {0: 1, 1: 1, 2: 2, 3: 2}
    found = h_fn([f], [g, other], (0, 1), [2, 2, 2, 2])
    assert context_set(found, (0, 1), [2] * 4) == {(0, 1), (1, 0)}


@given(families(2, DOMAINS, max_features=4))
def test_the_theorem_equals_brute_force(models: tuple[Structure, ...]) -> None:
    true, guess = models
    cards = true.domain.cardinalities
    for (first, second), matrix in brute_force_pairs(true, guess).items():
        pair = true.domain.positions[first], true.domain.positions[second]
        counts = confusion_of_pair(features_of(true), features_of(guess), pair, cards)
        assert counts == (matrix.tp, matrix.fn, matrix.fp, matrix.tn)


@given(covers())
def test_the_parts_of_cubes_do_not_meet(cover: Cover) -> None:
    parts = disjoint_parts(cover.cubes, lambda f, g: cube_difference(f, g, cover.fields))
    for p, q in combinations(parts, 2):
        assert not all(p & q & field for field in cover.fields)
