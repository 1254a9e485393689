"""Tables and features: each cell is a feature, and back again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.errors import ContextwiseError, DomainError, TooLargeError
from contextwise.models.domain import Domain
from contextwise.models.factors import (
    Factor,
    check_scopes,
    conjunctions,
    factors_of,
    factors_to_write,
    log_linear,
    log_odds_ratio,
    numbers,
    spread,
    tables,
)
from contextwise.models.structure import LogLinear, Structure
from contextwise.testing import log_linear_models

ABC = Domain({"A": 2, "B": 3, "C": 2})


@given(log_linear_models())
def test_tables_of_a_model_make_the_same_distribution(model: LogLinear) -> None:
    """Scopes of the tables are those of the features, and cells sum to the same potentials."""
    factors = factors_of(model)
    again = log_linear(model.domain, factors)
    assert {f.scope for f in factors} == model.structure.features.scopes()
    axes = range(len(model.domain))
    for one, other in zip(factors, factors_of(again), strict=False):
        assert one.scope == other.scope
        same = spread(one.logs, one.scope, axes), spread(other.logs, other.scope, axes)
        assert np.allclose(*same, equal_nan=True)


def test_each_cell_is_a_feature() -> None:
    assert len(tables(ABC, [(0, 1), (2,)])) == 6 + 2
    made = conjunctions(ABC, np.array([[1, 2, -1], [-1, -1, 0]]))
    assert made == Structure(ABC, ["A=1 & B=2", "C=0"])


def test_large_tables_are_refused_before_they_are_made() -> None:
    wide = Domain.of_cardinalities([2] * 40)
    with pytest.raises(TooLargeError, match="has 16777216 cells, which is too large; buy fewer"):
        check_scopes(wide, [range(24)], "buy fewer")
    with pytest.raises(TooLargeError, match="literals, which is too many"):
        check_scopes(wide, [range(18), range(1, 19)])
    with pytest.raises(TooLargeError, match=r"about 10\*\*12 cells"):
        check_scopes(wide, [range(40)])


def test_infinite_weights_of_both_signs_do_not_add_up() -> None:
    up, down = np.array([np.inf, 0.0]), np.array([-np.inf, 0.0])
    with pytest.raises(DomainError, match="the weights inf and -inf of the feature 'A=0'"):
        log_linear(ABC, [Factor((0,), up), Factor((0,), down)])


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(ContextwiseError, match=r"a \.uai file needs weights"):
        factors_to_write(Structure(ABC), "a .uai file")
    with pytest.raises(ContextwiseError, match="too large or too small for a file"):
        numbers(Factor((0,), np.array([0.0, 1e4])), "a file")
    with pytest.raises(ContextwiseError, match="too large or too small for a file"):
        numbers(Factor((0,), np.array([0.0, -1e4])), "a file")
    assert numbers(Factor((0,), np.array([0.0, -np.inf])), "a file").tolist() == [1.0, 0.0]


@given(st.integers(0, 10**6))
def test_log_odds_ratios_are_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(3, 2, 2))
    table[rng.random(table.shape) < 0.2] = -np.inf
    for k in range(2):
        logs = table[:, :, k]
        possible = np.isfinite(logs)
        product = np.outer(possible.any(axis=1), possible.any(axis=0))
        ratios = [
            abs(logs[i, 0] - logs[j, 0] - logs[i, 1] + logs[j, 1])
            for i in range(3)
            for j in range(i)
            if possible[[i, j]].all()
        ]
        expected = max(ratios, default=0.0) if (product == possible).all() else np.inf
        assert log_odds_ratio(table)[k] == pytest.approx(expected)
