"""The rule behind every converter, against all conjunctions there are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest

from contextwise.convert import from_claims as converting
from contextwise.convert.from_claims import CubeMap, WantedIndependence, features_for, model_for
from contextwise.models.domain import Domain
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure
from convert_oracle import (
    Claims,
    assert_equal,
    claims,
    random_domain,
    representable,
    table_of,
)


def random_target(rng: np.random.Generator) -> WantedIndependence:
    domain = random_domain(rng, int(rng.integers(2, 5)), most=3)
    independent: dict[PairIndex, list[CubeMap]] = {}
    for pair in combinations(range(len(domain)), 2):
        if rng.random() < 0.15:
            continue
        others = [v for v in range(len(domain)) if v not in pair]
        independent[pair] = [
            {
                v: int(rng.integers(1, 2 ** domain.cardinalities[v] - 1))
                for v in others
                if rng.random() < 0.7
            }
            for _ in range(rng.choice([0, 0, 1, 2]))
        ]
    return WantedIndependence(domain, independent)


def claims_of(target: WantedIndependence) -> Claims:
    def independent(pair: PairIndex, context: Mapping[int, int]) -> bool:
        return pair not in target.independent or any(
            all(allowed >> context[v] & 1 for v, allowed in cube.items())
            for cube in target.independent[pair]
        )

    return table_of(target.domain, independent)


@pytest.mark.parametrize("seed", range(150))
def test_features_cover_the_target_exactly_when_all_conjunctions_do(seed: int) -> None:
    target = random_target(np.random.default_rng(seed))
    wanted = claims_of(target)
    if representable(wanted, target.domain):
        features = features_for(target)
        assert features is not None
        assert_equal(claims(Structure(target.domain, features)), wanted)
    else:
        assert features_for(target) is None


def test_both_answers_occur_among_the_random_targets() -> None:
    targets = [random_target(np.random.default_rng(seed)) for seed in range(150)]
    assert {features_for(target) is None for target in targets} == {True, False}


def test_a_variable_with_one_state_interacts_with_nothing() -> None:
    domain = Domain({"A": 2, "B": 1, "C": 2})
    model = model_for(WantedIndependence(domain, {(0, 1): [], (0, 2): [], (1, 2): []}))
    assert not model.given_by_claims
    assert model.pairs() == [("A", "C")]


def test_a_cube_that_allows_nothing_takes_nothing_away() -> None:
    domain = Domain({"A": 2, "B": 2, "C": 2})
    assert model_for(WantedIndependence(domain, {(0, 1): [{2: 0}]})).pairs() == [("A", "B")]


def test_a_search_without_end_gives_the_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "MOST_CONJUNCTIONS_TRIED", 3)
    domain = Domain({"A": 2, "B": 2, "C": 2})
    wanted = WantedIndependence(domain, {(0, 1): [{2: 1}], (0, 2): [], (1, 2): []})
    assert features_for(wanted) is None
    assert model_for(wanted).given_by_claims
