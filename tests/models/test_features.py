"""Features as arrays: normalising keeps what the literals say, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.models.features import (
    all_values,
    as_int,
    as_words,
    concatenated,
    normalized,
    words_of,
)
from features_invariant import check_features

CARDINALITIES = st.lists(
    st.sampled_from([1, 2, 3, 63, 64, 65, 127, 128, 129]), min_size=1, max_size=4
)
Raw = list[list[tuple[int, int]]]


@st.composite
def raw_features(draw: st.DrawFn) -> tuple[list[int], Raw]:
    """Literals in any order: repeated variables, empty value sets and full ones among them."""
    cardinalities = draw(CARDINALITIES)
    full = [(1 << c) - 1 for c in cardinalities]
    sets = [st.sampled_from([0, whole, 1, whole ^ 1]) | st.integers(0, whole) for whole in full]
    variable = st.integers(0, len(cardinalities) - 1)
    literal = variable.flatmap(lambda v: st.tuples(st.just(v), sets[v]))
    return cardinalities, draw(st.lists(st.lists(literal, max_size=5), max_size=6))


def plainly(
    cardinalities: list[int], raw: Raw
) -> tuple[list[tuple[tuple[int, int], ...]], list[int]]:
    """What `normalized` promises, a feature at a time."""
    distinct: list[tuple[tuple[int, int], ...]] = []
    places = []
    for literals in raw:
        allowed: dict[int, int] = {}
        for variable, values in literals:
            allowed[variable] = allowed.get(variable, (1 << cardinalities[variable]) - 1) & values
        if 0 in allowed.values():
            places.append(-1)
            continue
        feature = tuple(
            (v, values)
            for v, values in sorted(allowed.items())
            if values != (1 << cardinalities[v]) - 1
        )
        if feature not in distinct:
            distinct.append(feature)
        places.append(distinct.index(feature))
    return distinct, places


@given(given_features=raw_features())
def test_normalising_keeps_what_is_said(given_features: tuple[list[int], Raw]) -> None:
    check_normalising(*given_features)


@given(given_features=raw_features())
def test_equal_hashes_decide_nothing(given_features: tuple[list[int], Raw]) -> None:
    alike = np.zeros(100, dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "contextwise.models.features._hashes", lambda features: alike[: len(features)]
        )
        check_normalising(*given_features)


def check_normalising(cardinalities: list[int], raw: Raw) -> None:
    words = words_of(cardinalities)
    literals = [(f, v, values) for f, feature in enumerate(raw) for v, values in feature]
    features, places = normalized(
        cardinalities,
        [f for f, _, _ in literals],
        [v for _, v, _ in literals],
        np.array([as_words(s, words) for _, _, s in literals], dtype=np.uint64).reshape(-1, words),
        len(raw),
    )
    check_features(features)
    distinct, expected = plainly(cardinalities, raw)
    assert [tuple(feature) for feature in features.literals()] == distinct
    assert places.tolist() == expected
    again, both = concatenated(features, features)
    assert again.rows == features.rows
    assert both.tolist() == [*range(len(features))] * 2


@given(cardinalities=CARDINALITIES)
def test_everything_is_allowed_up_to_the_cardinality(cardinalities: list[int]) -> None:
    sets = all_values(np.array(cardinalities))
    assert [as_int(row) for row in sets] == [(1 << c) - 1 for c in cardinalities]
