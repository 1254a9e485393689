"""Holm's correction and Wilson's interval: their laws, and the numbers of statsmodels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.support.statistics import holm, wilson_interval

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES)
def test_a_corrected_value_is_larger_keeps_the_order_and_is_at_most_one(
    p_values: list[float],
) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [q for _, q in pairs] == sorted(adjusted)
    assert min(adjusted) == min(1.0, len(p_values) * min(p_values))


@given(P_VALUES, st.floats(0.001, 0.5))
def test_rejections_are_those_of_the_step_down_rule(p_values: list[float], level: float) -> None:
    rejected, count = 0, len(p_values)
    for k, p in enumerate(sorted(p_values)):
        if (count - k) * p > level:
            break
        rejected += 1
    assert sum(q <= level for q in holm(p_values)) == rejected


@given(P_VALUES)
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(expected))


@given(st.integers(1, 500), st.data())
def test_wilson_is_the_solution_of_its_equation(whole: int, data: st.DataObject) -> None:
    """The ends are the shares q at which the observed one is 1.96 standard errors away."""
    part = data.draw(st.integers(0, whole))
    p, ends = part / whole, wilson_interval(part, whole)
    assert ends[0] <= p <= ends[1]
    for q in ends:
        if 1e-9 < q < 1 - 1e-9:
            assert (p - q) ** 2 == pytest.approx(1.959963984540054**2 * q * (1 - q) / whole)


def test_ends_at_no_and_at_all_rows() -> None:
    assert wilson_interval(0, 10)[0] == 0
    assert wilson_interval(10, 10)[1] == 1
    assert wilson_interval(0, 10)[1] == pytest.approx(1 - wilson_interval(10, 10)[0])
