"""Groups of guesses: tests against enumeration, intervals against SciPy, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb, inf
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextwise import Comparison, Structure, compare, compare_groups, compare_many
from contextwise.errors import ContextwiseError
from contextwise.evaluation.groups_of_guesses import label_test, mean_with_interval, sign_test
from contextwise.support.statistics import holm

RNG = np.random.default_rng(0)
DOMAIN = {f"v{k}": 2 for k in range(6)}
TRUE = Structure(DOMAIN, [f"v{k}=1 & v{k + 1}=1" for k in range(5)])
NUMBERS = st.integers(-8, 8)


def guesses(sizes: Sequence[int]) -> list[Comparison]:
    """Comparisons of the truth with its first few edges; fewer edges are farther away."""
    texts = [f"v{k}=1 & v{k + 1}=1" for k in range(5)]
    return [compare(TRUE, Structure(DOMAIN, texts[:size])) for size in sizes]


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_signs_against_enumeration(numbers: list[int]) -> None:
    sums = [
        abs(sum(s * x for s, x in zip(signs, numbers, strict=True)))
        for signs in product((1, -1), repeat=len(numbers))
    ]
    share = sum(each >= abs(sum(numbers)) for each in sums) / len(sums)
    assert sign_test(np.array(numbers) / 7, RNG) == pytest.approx(share)


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.lists(NUMBERS, min_size=1, max_size=5))
def test_labels_against_enumeration(first: list[int], second: list[int]) -> None:
    pooled = [*first, *second]
    apart = []
    for chosen in combinations(range(len(pooled)), len(first)):
        inside = [pooled[k] for k in chosen]
        outside = [x for k, x in enumerate(pooled) if k not in chosen]
        apart.append(abs(fmean(inside) - fmean(outside)))
    observed = abs(fmean(first) - fmean(second)) - 1e-9
    share = sum(each >= observed for each in apart) / len(apart)
    assert label_test(np.array(first) / 7, np.array(second) / 7, RNG) == pytest.approx(share)


def test_nearly_equal_differences_have_the_p_value_of_equal_ones() -> None:
    """Student's t gave 0.062 for five equal differences and 1.8e-9 for nearly equal ones."""
    equal = np.full(5, 0.0364)
    nearly = equal + np.array([0, 1, -1, 2, -2]) * 1e-4
    assert sign_test(equal, RNG) == sign_test(nearly, RNG) == 2 / 2**5


def test_many_ways_are_drawn() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(0.4, 1, 30)
    p = sign_test(x, np.random.default_rng(2))
    assert p == pytest.approx(stats.ttest_1samp(x, 0).pvalue, rel=0.3)
    a, b = rng.normal(0, 1, 20), rng.normal(1, 1, 20)
    assert comb(40, 20) > 100_000
    drawn = label_test(a, b, np.random.default_rng(2))
    assert drawn == pytest.approx(stats.ttest_ind(a, b).pvalue, rel=0.5, abs=1e-3)
    assert sign_test(np.full(25, 0.1), rng) == 1 / 10_000


def test_rounding_does_not_break_ties() -> None:
    x = np.array([0.1, 0.2, -0.3, 0.3, -0.1, -0.2])
    assert sign_test(x, RNG) == 1
    assert sign_test(np.zeros(3), RNG) == 1


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30, unique=True))
def test_intervals_against_scipy(values: list[float]) -> None:
    found = mean_with_interval(values, within=(0, 1))
    assert found.mean == pytest.approx(fmean(values))
    if found.low is None or found.high is None:
        return
    low, high = stats.t.interval(0.95, len(values) - 1, fmean(values), stats.sem(values) or 1e-300)
    assert found.low == pytest.approx(max(low, 0), abs=1e-9)
    assert found.high == pytest.approx(min(high, 1), abs=1e-9)


def test_overlapping_rows_widen_the_interval_and_have_no_test() -> None:
    """The variance of the mean is s² (1/n + (1 - q)/q) (Nadeau and Bengio 2003)."""
    values = [0.1, 0.2, 0.4, 0.3]
    plain, wide = mean_with_interval(values), mean_with_interval(values, training_share=0.8)
    assert plain.high is not None
    assert wide.high is not None
    factor = ((1 / 4 + 0.25) / (1 / 4)) ** 0.5
    assert wide.high - 0.25 == pytest.approx(factor * (plain.high - 0.25))
    groups = {"a": guesses([5, 4, 3]), "b": guesses([1, 2, 2])}
    found = compare_groups(groups, training_share=0.5)
    assert found.differences[0].p_value is None
    assert found.differences[0].value.low is not None
    assert "no test is valid" in str(found)
    assert "better than" not in found.verdict


def test_holm_against_its_definition() -> None:
    rng = np.random.default_rng(3)
    for size in range(1, 7):
        p = rng.random(size).tolist()
        order = sorted(range(size), key=p.__getitem__)
        for place, k in enumerate(order):
            raised = max((size - j) * p[order[j]] for j in range(place + 1))
            assert holm(p)[k] == pytest.approx(min(1, raised))


def test_one_test_for_each_pair_of_groups() -> None:
    groups = {
        "a": guesses([5, 5, 4, 5, 4, 5]),
        "b": guesses([3, 2, 3, 2, 3, 3]),
        "c": guesses([3, 3, 2, 3, 2, 2]),
    }
    found = compare_groups(groups)
    assert [(d.first, d.second) for d in found.differences] == [("a", "b"), ("a", "c"), ("b", "c")]
    values = {name: [c.normalized for c in members] for name, members in groups.items()}
    raw = [sign_test(np.subtract(values[a], values[b]), RNG) for a, b in combinations("abc", 2)]
    assert [d.p_value for d in found.differences] == pytest.approx(raw)
    assert [d.adjusted for d in found.differences] == pytest.approx(holm(raw))
    assert found.paired
    assert [group.name for group in found.best] == ["a"]
    assert found.verdict.startswith("a is nearest to the truth (mean normalized distance")
    assert "a cannot be distinguished from b (p = 0.094) and c" in found.verdict
    assert "p after Holm" in str(found)
    assert len(found.records()) == 3 * len(found.groups[0].means)
    assert len(found.difference_records()) == 3


def test_six_paired_replicates_can_differ_and_fewer_say_that_they_cannot() -> None:
    six = compare_groups({"a": guesses([5] * 6), "b": guesses([2] * 6)})
    assert six.differences[0].p_value == six.differences[0].attainable == 2 / 2**6
    assert "a is better than b (p = 0.031)" in six.verdict
    assert "no p-value can be below" not in str(six)
    four = compare_groups({"a": guesses([5] * 4), "b": guesses([2] * 4)})
    assert "With 4 replicates no p-value can be below 0.12." in " ".join(str(four).split())


def test_groups_of_different_sizes_are_not_paired() -> None:
    found = compare_groups({"a": guesses([5, 5, 5, 4]), "b": guesses([1, 2, 1])})
    assert not found.paired
    assert found.differences[0].p_value == 1 / comb(7, 3)
    assert found.differences[0].attainable == 1 / comb(7, 3)
    assert "deal the replicates" in str(found)
    same = compare_groups({"a": guesses([5, 4]), "b": guesses([2, 1])}, paired=False)
    assert same.differences[0].p_value == pytest.approx(2 / comb(4, 2))


def test_one_group_and_one_replicate() -> None:
    found = compare_groups({"alone": guesses([3, 4])})
    assert found.verdict.startswith("alone: mean normalized distance")
    assert found.differences == ()
    single = compare_groups({"a": guesses([5]), "b": guesses([2])})
    assert single.differences[0].p_value == 1
    assert single.groups[0].means["normalized"].low is None


def test_tied_groups_are_all_named() -> None:
    found = compare_groups({"a": guesses([5, 3]), "b": guesses([3, 5]), "c": guesses([1, 1])})
    assert found.verdict.startswith("a and b are equally near to the truth")


def test_undefined_values_are_left_out_and_counted() -> None:
    nothing = Structure(DOMAIN)
    both = compare_many(nothing, [nothing, TRUE])
    found = compare_groups({"a": both, "b": both}, measure="kappa")
    assert found.groups[0].means["kappa"].count == 1
    assert "2 undefined values left out" in str(found)
    none = compare_groups({"a": both[:1], "b": both[:1]}, measure="kappa")
    assert none.verdict == "The kappa is not defined for any group."


def test_other_measures() -> None:
    found = compare_groups({"a": guesses([5, 4]), "b": guesses([2, 3])}, measure="f1")
    assert found.verdict.startswith("a has the best F1")
    assert "F1" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": {}}, "there is no group to compare"),
        ({"groups": {"a": []}}, "the group 'a' has no comparisons"),
        ({"measure": "skill"}, "unknown measure 'skill'; use one of normalized, "),
        ({"measure": "distance"}, "unknown measure 'distance'"),
        ({"training_share": 1.0}, "training_share must be between 0 and 1, got 1.0"),
        ({"groups": {"a": guesses([1]), "b": guesses([1, 2])}, "paired": True}, "a: 1, b: 2"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        compare_groups(**{"groups": {"a": guesses([1])}, **arguments})


def test_an_interval_is_inside_the_range_of_its_measure() -> None:
    found = compare_groups({"a": guesses([5, 5, 5, 0])})
    mean = found.groups[0].means["normalized"]
    assert mean.low == 0
    assert mean.high is not None
    assert -inf < mean.high < inf
