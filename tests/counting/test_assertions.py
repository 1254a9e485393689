"""Samples of assertions and draws from unions: twins, unbiased shares, brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure, compare
from contextwise.comparison.question import Contexts
from contextwise.counting import native
from contextwise.counting.assertions import (
    Assertions,
    answers,
    ask_in_python,
    draw,
    draw_union,
)
from contextwise.counting.contexts import ContextSpace
from contextwise.counting.pair_counts import PairShares
from contextwise.testing import domains, structures

needs_kernel = pytest.mark.skipif(bool(native.missing()), reason=str(native.missing()))


def all_pairs(n: int) -> np.ndarray:
    return np.array(list(combinations(range(n), 2)), dtype=np.int64).reshape(-1, 2)


def sample_of(model: Structure, count: int, seed: int = 0, **options: object) -> Assertions:
    cards = model.domain.cardinalities
    rng = np.random.default_rng(seed)
    return draw(cards, count, rng, pairs=all_pairs(len(cards)), **options)  # type: ignore[arg-type]


@needs_kernel
@given(st.data(), st.sampled_from([1, 63, 64, 65, 500]), st.booleans())
def test_the_twins_give_the_same_bits(data: st.DataObject, count: int, canonical: bool) -> None:
    domain = data.draw(domains(min_variables=2))
    model = data.draw(structures(domain))
    sample = sample_of(model, count, space=ContextSpace(canonical))
    found, features = answers(model.features, sample)
    said, first = ask_in_python(model.features, sample)
    assert (found == said).all()
    assert (features == first).all()


@given(st.data(), st.booleans())
def test_answers_are_those_of_the_definition(data: st.DataObject, canonical: bool) -> None:
    domain = data.draw(domains(min_variables=2))
    model = data.draw(structures(domain))
    sample = sample_of(model, 40, space=ContextSpace(canonical))
    said, _ = answers(model.features, sample)
    states = states_of(sample)
    for k, (i, j) in enumerate(sample.pairs.tolist()):
        for at in range(*sample.starts[k : k + 2].tolist()):
            expected = any(
                {i, j} <= {v for v, _ in literals}
                and all(
                    allowed >> states[at, v] & 1
                    for v, allowed in literals
                    if canonical or v not in (i, j)
                )
                for literals in model.features.literals()
            )
            assert bool(said[at // 64] >> np.uint64(at % 64) & np.uint64(1)) == expected


def states_of(sample: Assertions) -> np.ndarray:
    """The state of each variable in each assertion."""
    states = np.zeros((len(sample), len(sample.cardinalities)), dtype=np.int64)
    for v, first in enumerate(sample.offsets.tolist()):
        for k in range(int(sample.cardinalities[v])):
            bits = np.unpackbits(sample.holds[first + k].view(np.uint8), bitorder="little")
            states[bits[: len(sample)] == 1, v] = k
    return states


def test_pairs_are_drawn_by_their_number_of_contexts() -> None:
    model = Structure({"A": 2, "B": 2, "C": 5, "D": 5})
    sample = sample_of(model, 200_000, seed=3)
    shares = np.diff(sample.starts) / len(sample)
    contexts = np.array([25, 10, 10, 10, 10, 4])
    assert np.abs(shares - contexts / contexts.sum()).max() < 0.005


@pytest.mark.parametrize("contexts", ["fully-contextualized", "canonical"])
def test_the_share_of_differing_answers_estimates_the_distance(contexts: str) -> None:
    domain = {"A": 2, "B": 2, "C": 5, "D": 5}
    one = Structure(domain, ["A=1 & B=1 & C=0|1", "C=1 & D!=2", "A=0 & D=1 & C=4"])
    two = Structure(domain, ["A=1 & B=1", "C=1 & D!=2 & A=0"])
    canonical = contexts == "canonical"
    sample = sample_of(one, 100_000, seed=5, space=ContextSpace(canonical))
    first, second = (answers(m.features, sample)[0] for m in (one, two))
    share = int.from_bytes((first ^ second).tobytes()).bit_count() / len(sample)
    exact = compare(one, two, contexts=contexts).normalized  # type: ignore[arg-type]
    assert abs(share - exact) < 5 * (exact * (1 - exact) / len(sample)) ** 0.5


def test_rows_and_weights_decide_which_contexts_are_drawn() -> None:
    model = Structure({"A": 2, "B": 3, "C": 2}, ["A=1 & B=1 & C=1"])
    rows = np.array([[0, 2, 1], [0, 2, 1], [1, 0, 0]])
    states = states_of(sample_of(model, 3000, rows=rows))
    assert {tuple(state) for state in states.tolist()} == {(0, 2, 1), (1, 0, 0)}
    weighted = states_of(
        sample_of(model, 3000, space=ContextSpace(weights=[[1, 3], [1, 0, 0], [1, 1]]))
    )
    assert abs(weighted[:, 0].mean() - 0.75) < 0.05
    assert not weighted[:, 1].any()


@given(st.data(), st.booleans())
def test_draws_from_unions_agree_with_exact_differences(
    data: st.DataObject, canonical: bool
) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=4))
    one, two = data.draw(structures(domain)), data.draw(structures(domain))
    contexts: Contexts = "canonical" if canonical else "fully-contextualized"
    comparison = compare(one, two, contexts=contexts)
    sizes = np.array(comparison.question.sizes(comparison.pairs), dtype=np.float64)
    found = draw_union(
        PairShares(one.features, ContextSpace(canonical)),
        two.features,
        comparison.pairs,
        sizes,
        4000,
        np.random.default_rng(7),
    )
    whole = float((found.shares * sizes).sum())
    if not len(found.hits):
        assert not comparison.tp + comparison.fn
        return
    share = float(comparison.fn) / whole
    assert abs(found.hits.mean() - share) < 6 * (share * (1 - share) / 4000) ** 0.5 + 1e-9
