"""The invariant of `contextwise.models.features`, as an assertion."""

from __future__ import annotations

import numpy as np

from contextwise.models.features import Features, all_values, words_of


def check_features(features: Features) -> None:
    """Raise `AssertionError` unless the invariant holds."""
    assert features.starts[0] == 0
    assert features.starts[-1] == len(features.variables) == len(features.values)
    assert (features.lengths >= 0).all()
    assert features.values.shape[1] == words_of(features.cardinalities)
    same_owner = np.diff(features.owners) == 0
    assert (np.diff(features.variables)[same_owner] > 0).all(), "variables out of order"
    allowed = all_values(features.cardinalities)[features.variables]
    assert not (features.values & ~allowed).any(), "a value beyond the cardinality"
    assert features.values.any(axis=1).all(), "a literal that allows nothing"
    assert (features.values != allowed).any(axis=1).all(), "a literal that allows everything"
    assert len(set(features.rows)) == len(features), "a feature that occurs twice"
