"""Learners are estimators of scikit-learn, as far as rows of states allow."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import contextwise as cw
from contextwise.learning import LEARNERS, learner_named

EXPECTED = {
    "check_positive_only_tag_during_fit": "its rows are measurements, which must be cut into bins",
    "check_estimators_nan_inf": "a missing value asks for missing=, and inf is a state",
}
"""The checks that cannot pass, and why."""


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_passes_the_checks_of_scikit_learn(name: str) -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    if package := LEARNERS[name].package:
        pytest.importorskip(package)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = checks.check_estimator(learner_named(name)(), on_fail=None, on_skip=None)
    failed = {each["check_name"] for each in found if each["status"] == "failed"}
    assert failed == set(EXPECTED)
    assert len(found) == 41


def test_the_names_of_the_variables_are_known() -> None:
    fitted = cw.learn("berkeley", "independent")
    assert fitted.n_features_in_ == 3
    assert fitted.feature_names_in_.tolist() == list(fitted.domain_.names)
    assert not hasattr(learner_named("mpl")(), "n_features_in_")
    with pytest.raises(TypeError, match="Sparse data is not supported"):
        learner_named("mpl")().fit(__import__("scipy.sparse").sparse.eye(3))
    with pytest.raises(cw.errors.DomainError, match="Complex data not supported"):
        learner_named("mpl")().fit(np.ones((3, 2)) * 1j)
