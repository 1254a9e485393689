"""Which features speak of which pair, found for some pairs as among all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure
from contextwise.counting import extraction, get_engine
from contextwise.counting.extraction import covered_pairs, pair_features, speaking_features
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


@pytest.mark.parametrize("columns", [0, 64])
@given(models_and_pairs())
def test_covered_pairs_among_some(
    columns: int, drawn: tuple[Models, list[tuple[int, int]]]
) -> None:
    """By a table of few columns, or by all pairs: the same pairs, in order."""
    (a, b), some = drawn
    among = np.array(some, dtype=int).reshape(-1, 2)
    every = set(map(tuple, covered_pairs(a.features, b.features).tolist()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "MOST_COLUMNS", columns)
        patch.setattr(extraction, "FEW", 1)
        found = covered_pairs(a.features, b.features, among=among)
    assert found.tolist() == [list(pair) for pair in sorted(every.intersection(some))]


@given(models_and_pairs())
def test_every_feature_that_speaks_of_a_pair_is_kept(
    drawn: Drawn,
) -> None:
    (a, _), some = drawn
    pairs = np.array(some, dtype=int).reshape(-1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "FEW", 1)
        kept = speaking_features(a.features, pairs)
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
        patch.setattr(extraction, "FEW", 10**9)  # never worth a look
        every = count(a.features, b.features, pairs)
        patch.setattr(extraction, "FEW", 1)
        assert (count(a.features, b.features, pairs).lower == every.lower).all()
