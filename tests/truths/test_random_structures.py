"""Random structures repeat with their seed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain
from contextwise.testing import random_structure
from features_invariant import check_features
from perturbed import perturb

seeds = st.integers(0, 2**32 - 1)
domains = st.lists(st.integers(1, 4), min_size=2, max_size=5).map(Domain.of_cardinalities)


@given(domains, seeds)
@settings(max_examples=30, deadline=None)
def test_draws_repeat(domain: Domain, seed: int) -> None:
    first = random_structure(domain, features=5, seed=seed)
    assert first == random_structure(domain, features=5, seed=np.random.default_rng(seed))
    assert perturb(first, changes=3, rng=seed) == perturb(first, changes=3, rng=seed)
    check_features(first.features)
    check_features(perturb(first, changes=4, rng=seed).features)
