"""A guess compared with an uncertain truth."""

from __future__ import annotations

import pytest

from contextwise import Structure, compare
from contextwise.errors import ContextwiseError
from contextwise.evaluation import compare_truths

DOMAIN = {"A": 2, "B": 2, "C": 3}
TEXTS = ["A=1 & B=1", "A=1 & B=1 & C=1", "B=1 & C=1", "A=1 & C=2", "A=0 & B=1 & C!=0"]
TRUTHS = [Structure(DOMAIN, [text]) for text in TEXTS]


def test_mean_and_interval_over_truths() -> None:
    found = compare_truths(TRUTHS, TRUTHS[0], coverage=0.5).values["normalized"]
    distances = sorted(compare(true, TRUTHS[0]).normalized for true in TRUTHS)
    assert found.mean == pytest.approx(sum(distances) / 5)
    assert (found.low, found.high) == (distances[1], distances[3])


@pytest.mark.parametrize("coverage", [0.01, 0.5, 0.9, 0.95, 0.99])
def test_the_interval_contains_enough_of_the_values(coverage: float) -> None:
    """Two truths: quantiles between their values would contain neither of them."""
    for count in range(2, 6):
        found = compare_truths(TRUTHS[:count], TRUTHS[0], coverage=coverage)
        values = [c.normalized for c in found.comparisons]
        spread = found.values["normalized"]
        assert spread.low is not None
        assert spread.high is not None
        inside = [v for v in values if spread.low <= v <= spread.high]
        assert len(inside) >= coverage * count
        assert {spread.low, spread.high} <= set(values)


def test_undefined_metrics_and_bad_arguments() -> None:
    empty = Structure(DOMAIN)
    nothing = compare_truths([empty, empty], empty)
    assert nothing.values["mcc"].mean is None
    assert any(line.split() == ["MCC", "–"] for line in str(nothing).splitlines())
    with pytest.raises(ContextwiseError, match="at least two truths, got 1"):
        compare_truths([empty], empty)
    with pytest.raises(ContextwiseError, match="between 0 and 1, got 1"):
        compare_truths([empty, empty], empty, coverage=1)
