"""Neighbours and diverse subsets agree with looking at every distance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure, compare, distance, distance_matrix
from contextwise.comparison import neighbours
from contextwise.comparison.neighbours import farthest_first, nearest
from contextwise.errors import ContextwiseError
from contextwise.testing import domains, families, structures


@contextmanager
def look_first(pairs: int) -> Iterator[None]:
    """Make a search look at ``pairs`` pairs first, even if there are only a few."""
    with pytest.MonkeyPatch.context() as patch:
        if pairs != neighbours.FIRST:
            patch.setattr(neighbours, "FIRST", pairs)
            patch.setattr(neighbours, "ENOUGH", pairs + 1)
        yield


@pytest.mark.parametrize("first", [neighbours.FIRST, 1, 2])
@given(st.data(), st.sampled_from(["fully-contextualized", "canonical"]))
def test_nearest_is_what_all_comparisons_say(
    first: int, data: st.DataObject, contexts: str
) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=4))
    fully = contexts == "fully-contextualized"
    query, *models = data.draw(families(data.draw(st.integers(2, 6)), domain, with_claims=fully))
    k = data.draw(st.integers(1, len(models)))
    options = {"contexts": contexts}
    every = [(distance(query, m, **options), place) for place, m in enumerate(models)]
    matrix = distance_matrix(models, **options) if data.draw(st.booleans()) else None  # type: ignore[arg-type]
    with look_first(first):
        found = nearest(query, models, k, matrix=matrix, **options)  # type: ignore[arg-type]
    assert list(zip(found.distances, found.places, strict=True)) == sorted(every)[:k]
    assert k <= found.compared <= found.of == len(models)
    ranked = sorted(apart for apart, _ in every)
    assert found.ties == ranked[k:].count(ranked[k - 1])


DOMAIN = {"A": 2, "B": 2, "C": 3, "D": 2}
QUERY = Structure(DOMAIN, ["A=1 & B=1 & C=1"])
FULL = Structure(DOMAIN, ["A=1 & B=1 & C!=0 & D=1", "A=0 & B=0", "C=1 & D=1", "A=1 & D=0"])
NEAR = Structure(DOMAIN, ["A=1 & B=1 & C=2"])


def chain(variables: int, values: str) -> Structure:
    """Features over three neighbouring variables each, which all take one of these values."""
    scopes = (range(k, k + 3) for k in range(variables - 2))
    features = [" & ".join(f"X{v}={value}" for v in s) for s in scopes for value in values]
    return Structure({f"X{v}": 3 for v in range(variables)}, features)


def complete(variables: int) -> Structure:
    """Every pair depends in every context."""
    each = combinations(range(variables), 2)
    domain = {f"X{v}": 3 for v in range(variables)}
    return Structure(domain, [f"X{i}=1 & X{j}=1" for i, j in each])


def test_bounds_on_some_pairs_rule_models_out() -> None:
    query, near, far = chain(20, "1"), chain(20, "12"), complete(20)
    found = nearest(query, [far, near, far])
    assert (found.places, found.compared, found.of) == ((1,), 1, 3)
    assert found.distances == (distance(query, near),)
    both = nearest(query, [far, near, far], 2)
    assert both.places == (1, 0)
    assert both.distances[1] == distance(query, far)


@pytest.mark.parametrize("pair", list(combinations("ABCD", 2)))
def test_who_seems_far_on_the_first_pair_may_be_nearest(pair: tuple[str, str]) -> None:
    domain = dict.fromkeys("ABCD", 2)
    everywhere = Structure(domain, ["A=1 & B=1 & C=1 & D=1"])  # one context of each pair
    here = Structure(domain, [f"{pair[0]}=1 & {pair[1]}=1"])  # the four contexts of one pair
    with look_first(1):
        found = nearest(Structure(domain), [everywhere, here])
    assert (found.places, found.distances) == ((1,), (4,))


def test_the_triangle_inequality_rules_models_out() -> None:
    models = [NEAR, FULL, FULL, FULL]
    assert nearest(QUERY, models).compared == 4
    found = nearest(QUERY, models, matrix=distance_matrix(models))
    assert (found.places, found.compared) == ((0,), 1)


def test_where_models_hardly_differ_the_first_pairs_say_nothing() -> None:
    query = chain(20, "1")
    models = [Structure(query.domain, [*query, f"X0={v} & X19=1"]) for v in (0, 1, 2)]
    found = nearest(query, models, 2)
    assert (found.places, found.compared) == ((0, 1), 3)


def test_restrictions_hold() -> None:
    only = {"pairs": [("A", "D")], "context": "C=1"}
    apart = [compare(QUERY, m, **only).distance for m in (FULL, NEAR)]  # type: ignore[arg-type]
    assert list(nearest(QUERY, [FULL, NEAR], 2, **only).distances) == sorted(apart)  # type: ignore[arg-type]


def test_a_search_tells_how_far_it_is() -> None:
    calls: list[tuple[int, int]] = []
    nearest(QUERY, [FULL, NEAR], show_progress=lambda *call: calls.append(call))
    assert calls == sorted(calls)
    assert calls[-1] == (2, 2)
    calls.clear()
    farthest_first([QUERY, FULL, NEAR], 3, show_progress=lambda *call: calls.append(call))
    assert calls == sorted(calls)
    assert calls[-1] == (3, 3)


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


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: nearest(m, []), "no model to search"),
        (lambda m: nearest(m, [m], 2), r"k must be between 1 .* \(1\), got 2"),
        (lambda m: nearest(m, [m], matrix=distance_matrix([m, m])), "matrix has 2 models"),
        (lambda m: farthest_first([m], 0), "k must be between 1"),
        (lambda m: farthest_first([m], 1, first=3), "first must be between 0 and 0, got 3"),
    ],
)
def test_bad_input_is_told(call: object, words: str) -> None:
    model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    with pytest.raises(ContextwiseError, match=words):
        call(model)  # type: ignore[operator]
