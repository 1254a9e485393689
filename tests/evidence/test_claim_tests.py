"""The claims of a structure on rows: the same p whoever claims it, regions on their rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure
from contextwise.data.rows import Data, as_data
from contextwise.evidence.claim_tests import judge_claims
from contextwise.evidence.row_tests import RowTests
from contextwise.learning import learner_named
from contextwise.models.domain import Domain
from contextwise.support.effort import Deadline

LEARNERS = ["pair-blocks", "chow-liu", "independent", "acyclic-trees"]


def rows_of(seed: int, count: int = 400) -> Data:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, count))
    c = np.where(rng.random(count) < 0.2, 1 - a, a)
    d = np.where(b == 1, (c + rng.integers(0, 3, count)) % 3, rng.integers(0, 3, count))
    return as_data(np.column_stack([a, b, c, d]))


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_has_the_same_test_whoever_claims_something_about_it(seed: int) -> None:
    data = rows_of(seed)
    tested = RowTests(data).pairs(effects=False)
    for name in LEARNERS:
        structure = learner_named(name)().fit(data).structure_
        for claim in judge_claims(structure, data).claims:
            if not claim.region and claim.claim != "d-separated":
                pair = tested.about(*claim.pair)
                assert pair is not None
                assert claim.p == pair.p
                assert claim.given == pair.given


@given(st.integers(0, 50), st.integers(0, 1))
def test_a_claim_about_a_region_is_tested_on_its_rows(seed: int, state: int) -> None:
    data = rows_of(seed, 60)
    structure = Structure(data.domain, [f"v0=1 & v2=1 & v1={state}"])
    inside = int((data.rows[:, 1] == state).sum())
    for claim in judge_claims(structure, data, pairs=[(0, 2)]).claims:
        assert claim.rows == (inside if claim.dependent else 60 - inside)
        where = {"v1": "01"[state if claim.dependent else 1 - state]}
        alone = RowTests(data).given(("v0", "v2"), where=where, effects=False)
        assert claim.p == alone.p


def test_a_d_separation_holds_the_parents_fixed() -> None:
    data = rows_of(1)
    structure = learner_named("acyclic-trees")().fit(data).structure_
    separated = [c for c in judge_claims(structure, data).claims if c.claim == "d-separated"]
    for claim in separated:
        alone = RowTests(data).given(claim.pair, claim.given, effects=False)
        assert claim.p == alone.p


def test_known_tests_of_pairs_change_nothing() -> None:
    data = rows_of(2)
    structure = learner_named("pair-blocks")().fit(data).structure_
    known = RowTests(data).pairs()
    assert judge_claims(structure, data, known=known) == judge_claims(structure, data)


def test_constant_variables_and_no_time_are_told() -> None:
    data = rows_of(0)
    domain = Domain({**dict(zip(data.domain.names, data.domain.states, strict=True)), "e": ["x"]})
    wider = Data(domain, np.column_stack([data.rows, np.zeros(len(data), dtype=np.int64)]))
    evidence = judge_claims(Structure(domain), wider)
    reasons = {claim.reason for claim in evidence.claims if "e" in claim.pair}
    assert reasons == {"e has one value in the rows"}
    late = judge_claims(Structure(domain), wider, deadline=Deadline.after(0))
    assert (late.claims, late.unfinished) == ((), 10)
