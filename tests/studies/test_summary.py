"""Means, ranks and tests of a study."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from contextwise import Structure, compare, compare_groups
from contextwise.studies.learner_study import Study
from contextwise.studies.summary import ALL, paired_tests, summaries
from study_records import record


def test_means_are_over_truths_of_means_over_repeats() -> None:
    values = {("a", 0): 1, ("a", 1): 3, ("b", 0): 4, ("b", 1): 4}
    result = Study([record("x", r, fp=fp, truth=truth) for (truth, r), fp in values.items()])
    first, _, over_all = summaries(result.results)
    assert over_all["normalized"] == over_all["fp_share"] == pytest.approx((0.2 + 0.4) / 2)
    assert (over_all["truth"], over_all["fn_share"], over_all["rank"]) == (ALL, 0, 1)
    # Truth b does not vary, so the interval has the one degree of freedom of a.
    half = stats.t.ppf(0.975, 1) * np.sqrt(0.02 / 2) / 2
    assert over_all["low"] == pytest.approx(max(0, 0.3 - half))
    assert over_all["high"] == pytest.approx(min(1, 0.3 + half))
    alone = stats.t.interval(0.95, 1, 0.2, np.sqrt(0.02 / 2))
    assert (first["low"], first["high"]) == (max(0, alone[0]), min(1, alone[1]))


def test_the_tests_are_those_of_compare_groups() -> None:
    guesses = {"x": [0, 1, 0, 2, 1], "y": [3, 4, 2, 3, 5]}
    true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    features = ["A=1 & B=1", "B=1 & C=1", "A=1 & C=1", "A=0 & C=0 & B=0", "A=1 & B=1 & C=1"]
    groups = {
        name: [compare(true, Structure(true.domain, features[:k])) for k in counts]
        for name, counts in guesses.items()
    }
    records = [
        record(name, k, int(c.fp), int(c.fn), normalized=c.normalized, assertions=int(c.total))
        for name, comparisons in groups.items()
        for k, c in enumerate(comparisons)
    ]
    expected = compare_groups(groups).differences[0]
    (found,) = paired_tests(records)
    assert found["p_value"] == expected.p_value
    assert found["holm_p_value"] == expected.adjusted
    assert found["difference"] == pytest.approx(expected.value.mean)
    assert found["low"] == pytest.approx(expected.value.low)


def test_tests_are_blocked_by_truth() -> None:
    """All signs by brute force, for a mean over truths of means over repeats."""
    gaps = {"a": [1, 2, -1, 3], "b": [2, 1]}
    records = [
        record(name, k, fp=5 + (gap if name == "y" else 0), truth=truth)
        for name in ("x", "y")
        for truth, own in gaps.items()
        for k, gap in enumerate(own)
    ]
    weighted = [gap / len(own) / 2 for own in gaps.values() for gap in own]
    sums = [
        abs(sum(s * w for s, w in zip(signs, weighted, strict=True)))
        for signs in product((1, -1), repeat=6)
    ]
    expected = np.mean([value >= abs(sum(weighted)) - 1e-9 for value in sums])
    assert paired_tests(records)[0]["p_value"] == pytest.approx(expected)


def test_a_learner_without_all_results_has_no_mean_and_no_rank() -> None:
    records = [record("x", k, fp=1) for k in range(3)] + [record("y", k, fp=0) for k in range(2)]
    records.append(record("y", 2, status="failed", normalized=None))
    x, y = summaries(records)
    assert (x["done"], x["rank"], y["done"], y["rank"], y["normalized"]) == (3, 1, 2, None, None)
