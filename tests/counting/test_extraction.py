"""Extraction of the features that mention a pair: the same for some pairs as for all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Domain, Structure
from contextwise.counting import extraction, native
from contextwise.counting.contract import get_engine
from contextwise.counting.extraction import (
    CoverSource,
    covered_in_python,
    covered_pairs,
    covering_features,
    pair_features,
)
from contextwise.testing import families

Models = tuple[Structure, Structure]
Drawn = tuple[Models, list[tuple[int, int]]]


@st.composite
def models_and_pairs(draw: st.DrawFn) -> Drawn:
    """Two models, and some of the pairs of their variables, in any order."""
    a, b = draw(families(2))
    n = len(a.domain)
    every = [(i, j) for i in range(n) for j in range(i + 1, n)]
    some = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    return (a, b), some


def pairs_of_scopes(*models: Structure) -> set[tuple[int, int]]:
    """Said once more, feature by feature."""
    scopes = (variables for m in models for variables in m.features.literals())
    return {pair for literals in scopes for pair in combinations(sorted(v for v, _ in literals), 2)}


@pytest.mark.parametrize("engine", ["kernel", "no kernel"])
@given(models_and_pairs())
def test_covered_pairs(engine: str, drawn: Drawn) -> None:
    """All or among some: the pairs of the scopes, in order."""
    (a, b), some = drawn
    among = np.array(some, dtype=int).reshape(-1, 2)
    every = pairs_of_scopes(a, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "FEATURES_PER_PAIR", 1)
        patch.setattr(extraction, "LITERALS_IN_ANY_MEMORY", 1)
        if engine != "kernel":
            patch.setattr(native, "missing", lambda: "not today")
        assert covered_pairs(a.features, b.features).tolist() == list(map(list, sorted(every)))
        found = covered_pairs(a.features, b.features, among=among)
    assert found.tolist() == [list(pair) for pair in sorted(every.intersection(some))]


@pytest.mark.parametrize("variables", [1, 2, 63, 64, 65, 130, 8192, 8193, 20_000])
def test_covered_pairs_at_the_ends_of_words(variables: int) -> None:
    domain = Domain({f"X{k}": 2 for k in range(variables)})
    ends = sorted({0, variables // 2, variables - 1})
    model = Structure(domain, [{f"X{k}": 1 for k in ends}])
    expected = [list(pair) for pair in combinations(ends, 2)]
    assert covered_pairs(model.features).tolist() == expected
    assert covered_in_python([model.features], None).tolist() == expected


@given(models_and_pairs())
def test_every_feature_that_speaks_of_a_pair_is_kept(
    drawn: Drawn,
) -> None:
    (a, _), some = drawn
    pairs = np.array(some, dtype=int).reshape(-1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "FEATURES_PER_PAIR", 1)
        kept = covering_features(a.features, pairs)
    known, starts, owners = pair_features(a.features)
    speaking = {
        a.features.rows[f]
        for k, pair in enumerate(known.tolist())
        if tuple(pair) in some
        for f in owners[starts[k] : starts[k + 1]].tolist()
    }
    assert speaking <= set(kept.rows) <= set(a.features.rows)


@given(models_and_pairs())
def test_engines_count_some_pairs_as_among_all(
    engine: str, drawn: tuple[Models, list[tuple[int, int]]]
) -> None:
    (a, b), some = drawn
    pairs = np.array(sorted(some), dtype=int).reshape(-1, 2)
    count = get_engine(engine).count_pairs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "FEATURES_PER_PAIR", 10**9)  # never worth a look
        every = count(a.features, b.features, pairs)
        patch.setattr(extraction, "FEATURES_PER_PAIR", 1)
        assert (count(a.features, b.features, pairs).lower == every.lower).all()


def test_one_pair_of_a_large_model_reads_its_own_features_alone() -> None:
    domain = Domain({f"X{k}": 2 for k in range(300)})
    chain = [{a: 1, b: 1} for a, b in combinations(domain.names, 2)][:40_000]
    features = Structure(domain, chain).features
    assert len(features) == 40_000
    one = CoverSource(features, features, pairs=np.array([[0, 1]]))
    assert one.features_read == 2
    assert [len(one.cubes(model, (0, 1))) for model in (0, 1)] == [1, 1]
    assert CoverSource(features).features_read == 40_000
