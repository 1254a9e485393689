"""The claims of a structure on rows: the same p whoever claims it, regions on their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwise as cw
from contextwise import Structure
from contextwise.data import UnclearData
from contextwise.data.rows import Data, as_data
from contextwise.errors import ContextwiseError, DomainError
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
    domain = Domain(
        {**dict(zip(data.domain.names, data.domain.states, strict=True)), "e": ["x", "y"]}
    )
    wider = Data(domain, np.column_stack([data.rows, np.zeros(len(data), dtype=np.int64)]))
    evidence = judge_claims(Structure(domain), wider)
    reasons = {claim.reason for claim in evidence.claims if "e" in claim.pair}
    assert reasons == {"e has one value in the rows"}
    late = judge_claims(Structure(domain), wider, deadline=Deadline.after(0))
    assert (late.claims, late.unfinished) == ((), 10)


# -- verdicts --------------------------------------------------------------------------------------


def planted(rows: int, seed: int = 0) -> Any:
    """C is a coin; A and B are equal in 80 % of the rows where C=1, and independent elsewhere."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 2, (3, rows))
    same = (c == 1) & (rng.random(rows) < 0.6)
    return np.stack([a, np.where(same, a, b), c], axis=1)


DOMAIN = {"A": 2, "B": 2, "C": 2}
TRUE = cw.Structure(DOMAIN, ["A=1 & B=1 & C=1", "C=1"])


def verdicts(model: Any, rows: Any, **options: Any) -> Any:
    return {
        (c.pair, c.when, c.claim): c.verdict for c in judge_claims(model, rows, **options).claims
    }


def test_verdicts_of_both_kinds() -> None:
    rows = planted(2_000)
    found = verdicts(TRUE, rows)
    assert found[("A", "B"), "C=0", "independent"] == "not contradicted"
    assert found[("A", "B"), "C=1", "dependent"] == "supported"
    nothing = verdicts(cw.Structure(DOMAIN), rows)
    assert nothing[("A", "B"), "", "independent"] == "contradicted"
    coins = np.random.default_rng(0).integers(0, 2, (2_000, 2))
    pair = verdicts(cw.Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), coins)
    assert pair == {(("A", "B"), "", "dependent"): "not supported"}


def test_what_the_learner_decided_by_this_test() -> None:
    found = verdicts(TRUE, planted(2_000), used_by_learner=True)
    assert found[("A", "B"), "C=0", "independent"] == "used by the learner"
    assert found[("A", "B"), "C=1", "dependent"] == "supported"


def test_few_rows_cannot_test() -> None:
    evidence = judge_claims(cw.Structure({"A": 2, "B": 2}), [[0, 0]] * 5 + [[1, 1]])
    (claim,) = evidence.claims
    assert claim.verdict == "could not be tested"
    assert claim.reason == "only a strong association would show"
    (claim,) = judge_claims(cw.Structure({"A": 2, "B": 2}), [[0, 0], [0, 1]]).claims
    assert claim.reason == "A has one value in the rows"


def test_time_that_is_up_is_reported_as_that() -> None:
    evidence = judge_claims(TRUE, planted(50), deadline=Deadline.after(0))
    assert evidence.unfinished == 3
    assert "time limit" in evidence.summary


def test_a_variable_with_one_state_is_in_no_claim() -> None:
    model = cw.Structure({"A": 2, "K": 1, "B": 2})
    evidence = judge_claims(model, [[0, 0, 0], [1, 0, 1]] * 20)
    assert [claim.pair for claim in evidence.claims] == [("A", "B")]


def test_many_pairs_are_sampled() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (1_000, 120))
    rows[:, 1] = rows[:, 0]
    model = cw.Structure({f"v{k}": 2 for k in range(120)}, ["v2=1 & v3=1"])
    evidence = judge_claims(model, rows)
    assert len(evidence.claims) + evidence.pairs_left_out == 120 * 119 // 2
    assert evidence.contradicted[0].pair == ("v0", "v1")
    assert evidence.about("v2", "v3")[0].verdict == "not supported"


def test_counted_rows_are_rows() -> None:
    rows = planted(300)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    data = Data(cw.Domain(DOMAIN), distinct, counts)
    assert judge_claims(TRUE, data).claims == judge_claims(TRUE, rows).claims


def test_bad_input() -> None:
    with pytest.raises(DomainError, match="no rows"):
        judge_claims(TRUE, [])
    with pytest.raises(ContextwiseError, match="level must be"):
        judge_claims(TRUE, planted(20), level=2)


# -- subjects --------------------------------------------------------------------------------------


def repeated(subjects: int, seed: int) -> Any:
    """A and B are independent traits of subjects; each subject has four equal rows."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.integers(0, 2, (subjects, 2)), 4, axis=0), np.repeat(
        np.arange(subjects), 4
    )


@pytest.mark.parametrize("subjects", [20, 80])
def test_rows_of_one_subject_are_not_independent(subjects: int) -> None:
    model = cw.Structure({"A": 2, "B": 2})
    naive, robust = [], []
    for seed in range(150):
        rows, owner = repeated(subjects, seed)
        naive.append(judge_claims(model, rows).claims[0].p)
        data = Data(model.domain, rows, subjects=owner)
        robust.append(judge_claims(model, data).claims[0].p)
    assert np.mean(np.array(naive) <= 0.05) > 0.2
    assert np.mean(np.array(robust) <= 0.05) < 0.1


def test_subjects_are_read_from_a_column(tmp_path: Path) -> None:
    rows = planted(600)
    table = [{"id": k // 2, "A": a, "B": b, "C": c} for k, (a, b, c) in enumerate(rows.tolist())]
    data: Any = cw.read_data(table, subject="id")
    assert data.domain.names == ("A", "B", "C")
    assert len(np.unique(data.subjects)) == 300
    assert len(data.take(np.arange(10)).subjects) == 10
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["id,A,B,C", *(",".join(map(str, r.values())) for r in table)]))
    again: Any = cw.read_data(path, cw.Domain(DOMAIN), subject="id")
    assert again.subjects.tolist() == data.subjects.tolist()
    learned = cw.learn(table, "gsmn", subject="id")
    assert learned.evidence_.subject == "id"
    assert {c.method for c in learned.evidence_.claims} == {"clusters"}
    assert learned.evidence_.about("A", "B")[0].verdict == "supported"
    dropped = cw.read_data(table, drop="id")
    assert any("--subject id" in note for note in dropped.notes)
    with pytest.raises(ContextwiseError, match="no column 'who'"):
        cw.read_data(table, subject="who")


@pytest.mark.parametrize("name", ["id", "stratum", "patient"])
def test_subjects_and_matched_sets_are_asked_for(name: str) -> None:
    """Such as the 83 sets of three women in R's infert."""
    table = [{name: k // 3, "A": k % 2, "B": k // 2 % 2} for k in range(240)]
    with pytest.raises(UnclearData) as refused:
        cw.read_data(table)
    (column,) = refused.value.summary.unclear
    assert column.name == name
    assert column.advice.startswith(f"--subject {name}, ")
    remedy = refused.value.summary.remedy
    assert remedy.subject == name
    assert as_data(table, None, remedy).subjects is not None
    dropped = cw.read_data(table, drop=name)
    (note,) = (note for note in dropped.notes if "its rows are not independent" in note)
    assert note.endswith(f"use --subject {name} instead of --drop")
    by_subject = cw.read_data(table, subject=name)
    assert not any("not independent" in note for note in by_subject.notes)
    assert by_subject.domain.names == ("A", "B")


def test_evidence_of_sparse_groups_can_be_written_and_read(tmp_path: Path) -> None:
    """No finite odds ratio would show in some groups of this table."""
    table = Path(__file__).parents[2] / "studies" / "tables" / "rochdale.csv"
    learned = cw.learn(cw.read_data(str(table), counts="count"))
    cw.write(learned.structure_, tmp_path / "learned.json")
    assert cw.read(tmp_path / "learned.json").evidence == learned.evidence_
