"""Counts after changes: the kernel and its readable twin agree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Structure
from contextwise.counting import native
from contextwise.counting.changes import ChangesInPython, NativeChanges
from contextwise.counting.contexts import ContextSpace
from contextwise.testing import claims, domains, structures


@pytest.mark.skipif(bool(native.missing()), reason=str(native.missing()))
@settings(max_examples=60)
@given(st.data(), st.booleans())
def test_the_twins_count_the_same(data: st.DataObject, canonical: bool) -> None:
    domain = data.draw(domains(min_variables=2))
    first: st.SearchStrategy[Structure] = structures(domain)
    if not canonical:
        first |= claims(domain)
    a, b = data.draw(first).features, data.draw(structures(domain)).features
    weights = [list(range(1, c + 1)) for c in domain.cardinalities]
    chosen = data.draw(st.sampled_from([None, weights]))
    twins = [
        kind(a, b, ContextSpace(canonical, chosen)) for kind in (NativeChanges, ChangesInPython)
    ]
    pairs = [(i, j) for j in range(len(domain)) for i in range(j)]
    new = [tuple(f) for f in data.draw(structures(domain)).features.literals()]
    more = [[twin.know(f) for f in new] for twin in twins]
    assert more[0] == more[1]
    less = [f for f in range(len(b)) if data.draw(st.booleans())]
    assert twins[0].growth(pairs, more[0], less) == twins[1].growth(pairs, more[1], less)
    for twin in twins:
        for f in less:
            twin.erase(f)
        for f in more[0]:
            twin.insert(f)
    back = twins[0].growth(pairs, less, more[0])
    assert back == twins[1].growth(pairs, less, more[0])
    assert twins[0].growth(pairs, [], []) == [(0, 0)] * len(pairs)
