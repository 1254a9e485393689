"""Neighbours, diverse subsets and medoids agree with looking at every distance."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure, compare, distance, distance_matrix
from contextwise.comparison.neighbours import farthest_first, medoid, nearest
from contextwise.errors import ContextwiseError
from contextwise.testing import domains, structures


@given(st.data(), st.sampled_from(["fully-contextualized", "canonical"]))
def test_nearest_is_what_all_comparisons_say(data: st.DataObject, contexts: str) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=4))
    query, *models = [data.draw(structures(domain)) for _ in range(data.draw(st.integers(2, 6)))]
    k = data.draw(st.integers(1, len(models)))
    options = {"contexts": contexts}
    every = [(distance(query, m, **options), place) for place, m in enumerate(models)]
    matrix = distance_matrix(models, **options) if data.draw(st.booleans()) else None  # type: ignore[call-overload]
    found = nearest(query, models, k, matrix=matrix, **options)  # type: ignore[arg-type]
    assert list(zip(found.distances, found.places, strict=True)) == sorted(every)[:k]
    assert found.compared <= found.of == len(models)


def test_bounds_save_comparisons_and_restrictions_hold() -> None:
    domain = {"A": 2, "B": 2, "C": 3, "D": 2}
    query = Structure(domain, ["A=1 & B=1 & C=1"])
    full = Structure(domain, ["A=1 & B=1 & C!=0 & D=1", "A=0 & B=0", "C=1 & D=1", "A=1 & D=0"])
    near = Structure(domain, ["A=1 & B=1 & C=2"])
    found = nearest(query, [full, near, full, full])
    assert (found.places, found.compared) == ((1,), 1)
    only = {"pairs": [("A", "D")], "context": "C=1"}
    apart = [compare(query, m, **only).distance for m in (full, near)]  # type: ignore[arg-type]
    assert list(nearest(query, [full, near], 2, **only).distances) == sorted(apart)  # type: ignore[arg-type]


@given(st.data())
def test_farthest_first_takes_the_farthest_each_time(data: st.DataObject) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=4))
    models = [data.draw(structures(domain)) for _ in range(data.draw(st.integers(2, 5)))]
    k = data.draw(st.integers(1, len(models)))
    found = farthest_first(models, k)
    each = distance_matrix(models).distances
    for step in range(1, k):
        before, chosen = list(found.places[:step]), found.places[step]
        least = {m: min(each[m, b] for b in before) for m in range(len(models)) if m not in before}
        assert found.distances[step] == least[chosen] == max(least.values())
    best = max(
        min((each[a, b] for a, b in combinations(subset, 2)), default=0)
        for subset in combinations(range(len(models)), k)
    )
    assert not k > 1 or 2 * min(found.distances[1:]) >= best
    sums = each.sum(axis=1)
    assert sums[medoid(models)] == min(sums)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: nearest(m, []), "no model to search among"),
        (lambda m: nearest(m, [m], 2), "between 1 and the number of models, 1"),
        (lambda m: nearest(m, [m], matrix=distance_matrix([m, m])), "matrix is of 2 models"),
        (lambda m: farthest_first([m], 0), "k is between 1"),
        (lambda m: farthest_first([m], 1, first=3), "place of a model"),
    ],
)
def test_bad_input_is_told(call: object, words: str) -> None:
    model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    with pytest.raises(ContextwiseError, match=words):
        call(model)  # type: ignore[operator]
