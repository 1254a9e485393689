"""Checks on data: error rates, restrictions, the overall test, and the command."""

from __future__ import annotations

import json
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import contextwise as cw
from contextwise import Domain, LogLinear, Structure, learn, write
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError
from contextwise.evidence import check
from contextwise.evidence.blanket_tests import evaluate_claims
from contextwise.evidence.counted_rows import CountedRows
from contextwise.independence.separation import open_trail
from contextwise.models.directions import bayesian_network
from drawn_rows import sample
from hard import LATE, hard_pair
from known_weights import CHAIN, TRUTH


def test_calibrated_on_rows_of_the_model() -> None:
    p_values = []
    for seed in range(60):
        rows = sample(TRUTH, 300, seed=seed, method="exact")
        found = check(TRUTH, rows, dependencies=False)
        p_values += [claim.p for claim in found.claims if claim.p is not None]
    for alpha in (0.01, 0.05, 0.2):
        # claims of one sample share rows; twice the binomial error of independent ones
        error = 2 * np.sqrt(alpha * (1 - alpha) / len(p_values))
        assert np.mean(np.array(p_values) <= alpha) <= alpha + 2 * error


def test_a_removed_dependence_is_found() -> None:
    without = Structure(CHAIN.domain, ["v1=1 & v2=1", "v2=1 & v3=1 & v4=1"])
    for seed in range(5):
        found = check(without, sample(TRUTH, 5_000, seed=seed, method="exact"))
        assert ("v0", "v1") in {claim.pair for claim in found.contradicted}
        supported = found.evidence.with_verdict("supported")
        assert {claim.pair for claim in supported} >= {("v1", "v2"), ("v2", "v3")}


def test_more_states() -> None:
    domain = Domain.of_cardinalities([3, 4, 2, 3])
    truth = LogLinear(
        Structure(domain, ["v0=1 & v1=2", "v0=2 & v1=3", "v2=1 & v3=1"]), [2.0, 2.0, 1]
    )
    without = Structure(domain, ["v2=1 & v3=1"])
    found = check(without, sample(truth, 1_000, seed=3, method="exact"))
    assert {claim.pair for claim in found.contradicted} == {("v0", "v1")}


def test_claims_are_corrected_by_benjamini_and_yekutieli() -> None:
    """The k-th smallest of m p-values, times m·(1 + 1/2 + … + 1/m)/k, made monotone from above."""
    found = check(Structure(CHAIN.domain), sample(TRUTH, 400, seed=4, method="exact"))
    tested = [(claim.p, claim.adjusted) for claim in found.claims if claim.p is not None]
    p_values = sorted(p for p, _ in tested)
    m = len(p_values)
    harmonic = sum(1 / k for k in range(1, m + 1))
    for own, adjusted in tested:
        raised = [p * m * harmonic / k for k, p in enumerate(p_values, 1) if p >= own]
        assert adjusted == pytest.approx(min(1.0, *raised))


def test_claims_without_information_are_counted() -> None:
    found = check(CHAIN, [[0, 1, 0, 1, 0]])
    assert {claim.verdict for claim in found.claims} == {"could not be tested"}
    assert "cannot test" in str(found)
    assert "nan" not in str(found)
    lonely = check(Structure({"A": 2}), [[0], [1]])
    assert not lonely.claims


def test_regions_that_are_left_out_are_counted_and_explained() -> None:
    domain = Domain.of_cardinalities([2, 2, 2, 2])
    model = Structure(domain, [f"v0=1 & v1=1 & v2={k} & v3={k}" for k in (0, 1)])
    found = check(model, sample(LogLinear(model, [1, -1]), 400, seed=1), regions=1)
    text = " ".join(str(found).split())
    assert "not tested: others have more rows." in text


def test_questions_can_be_restricted() -> None:
    rows = sample(TRUTH, 500, seed=1, method="exact")
    found = check(TRUTH, rows, pairs=[("v3", "v0")], context="v2=1")
    assert {claim.pair for claim in found.claims} == {("v0", "v3")}
    assert found.evidence.count == int((np.asarray(rows)[:, 2] == 1).sum())
    inside = check(TRUTH, rows, variables=["v0", "v1", "v4"])
    assert len({claim.pair for claim in inside.claims}) == 3
    long = Structure(CHAIN.domain, ["v0=1 & v1=1 & v2=1 & v3=1"])
    one, two = (check(long, rows, regions=regions) for regions in (1, 2))
    # of each pair, one of two independent regions
    assert (one.evidence.regions_left_out, two.evidence.regions_left_out) == (6, 0)
    assert len(two.claims) == len(one.claims) + 6


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ContextwiseError, match="there are no rows"):
        check(CHAIN, np.zeros((0, 5), dtype=int))
    with pytest.raises(ContextwiseError, match="no row agrees with the context"):
        check(CHAIN, [[0, 0, 0, 0, 0]], context="v0=1")
    with pytest.raises(ContextwiseError, match="regions must be >= 1, got 0"):
        check(CHAIN, [[0, 0, 0, 0, 0]], regions=0)
    with pytest.raises(ContextwiseError, match="fdr must be > 0 and < 1, got 0"):
        check(CHAIN, [[0, 0, 0, 0, 0]], fdr=0)


def test_the_overall_test_counts_simulations_that_are_as_extreme() -> None:
    rows = sample(TRUTH, 300, seed=5, method="exact")
    found = check(TRUTH, rows, overall=29)
    overall = found.overall
    assert overall is not None
    assert overall.exact
    assert len(overall.simulated) == 29
    table = CountedRows.of(cw.read_data(rows, TRUTH.domain))
    by_hand = -sum(np.log(p) for _, p in evaluate_claims(TRUTH.structure, table))
    assert overall.statistic == pytest.approx(by_hand)
    larger = sum(value >= overall.statistic for value in overall.simulated)
    assert overall.p_value == (1 + larger) / 30
    again = check(TRUTH, rows, overall=29, n_jobs=2)
    assert again.overall == overall


def test_the_overall_test_finds_a_missing_dependence() -> None:
    without = Structure(CHAIN.domain, ["v1=1 & v2=1", "v2=1 & v3=1 & v4=1"])
    found = check(without, sample(TRUTH, 1_000, seed=5, method="exact"), overall=99)
    assert found.overall is not None
    assert found.overall.p_value == 0.01
    assert found.verdict.startswith("Overall, the rows contradict the structure (p = 0.01). ")
    assert "99 simulated data sets" in " ".join(str(found).split())


@pytest.mark.parametrize("overall", [0, 99])
def test_the_time_limit_bounds_everything(overall: int) -> None:
    rows = np.random.default_rng(2).integers(2, size=(300, 90))
    start = time.perf_counter()
    found = check(hard_pair(), rows, time_limit=1, overall=overall)
    assert time.perf_counter() - start < LATE
    assert found.evidence.unfinished > 0
    assert "not tested within the time limit" in str(found)
    if overall:
        assert found.overall is not None
        assert found.overall.p_value is None
        assert "The overall test did not finish: 0 of at least 19" in found.verdict


def test_rows_that_the_model_was_learned_from_are_noticed(tmp_path: Path) -> None:
    rows = [[0, 0], [1, 1], [0, 1]] * 30
    learned = learn(rows, "chow-liu")
    assert check(learned, rows).evidence.seen_by_learner
    assert "The model was learned from these rows" in str(check(learned, rows))
    write(learned.model_, tmp_path / "learned.json")
    assert check(tmp_path / "learned.json", rows).evidence.seen_by_learner
    other = check(learned, rows[1:])
    assert not other.evidence.seen_by_learner
    assert "must be independent observations" in str(other)


def test_learners_that_decide_by_this_test() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (500, 3))
    for name, verdict in (("gsmn", "used by the learner"), ("chow-liu", "not contradicted")):
        learned = learn(rows, name)
        again = check(learned, rows).evidence
        assert again == learned.structure_.evidence == learned.evidence_
        assert verdict in {claim.verdict for claim in again.of("independent")}


def test_learning_and_checking_agree() -> None:
    for name in ("mpl", "pair-blocks"):
        learned = learn("titanic", name)
        assert check(learned, "titanic").claims == learned.evidence_.claims


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"A": 0}], "B"),
        ([{"A": 0, "B": 7}], "7"),
        ([{"A": 0, "B": 1, "n": 0.5}], "counts must be whole numbers .* is 0.5"),
    ],
)
def test_rows_that_do_not_fit(rows: list[dict[str, float]], message: str) -> None:
    model = Structure({"A": 2, "B": 2})
    with pytest.raises(ContextwiseError, match=message):
        check(
            model, cw.read_data(rows, model.domain, **({"counts": "n"} if "n" in rows[0] else {}))
        )


def random_network(rng: np.random.Generator, count: int = 5) -> LogLinear:
    parents = [rng.permutation(v)[: rng.integers(0, 3)].tolist() for v in range(count)]
    tables = [rng.dirichlet([1, 1], size=(2,) * len(above)) for above in parents]
    model = bayesian_network(Domain(dict.fromkeys("ABCDE"[:count], 2)), parents, tables)
    assert isinstance(model, LogLinear)
    return model


@pytest.mark.parametrize("seed", range(20))
def test_one_d_separation_for_each_pair_without_an_arc(seed: int) -> None:
    """Each holds in the graph, and the tests are corrected in a family of their own."""
    model = random_network(np.random.default_rng(seed))
    directions, names = model.directions, model.domain.names
    assert directions is not None
    rows = sample(model, 300, seed=seed)
    separated = check(model, rows).evidence.of("d-separated")
    arcs = {frozenset((names[p], names[c])) for p, c in directions.arcs}
    expected = {frozenset(pair) for pair in combinations(names, 2)} - arcs
    assert {frozenset(claim.pair) for claim in separated} == expected
    assert len(separated) == len(expected)
    for claim in separated:
        first, second = map(model.domain.position, claim.pair)
        given = {model.domain.position(name) for name in claim.given}
        assert given in (set(directions.parents[first]), set(directions.parents[second]))
        assert open_trail(directions.parents, [first], {second}, given) is None
    tested = [claim for claim in separated if claim.p is not None]
    corrected = stats.false_discovery_control([c.p for c in tested], method="by")
    assert [claim.adjusted for claim in tested] == pytest.approx(corrected.tolist())
    assert not check(model, rows, context={"A": rows[0][0]}).evidence.of("d-separated")


def test_a_missing_arc_is_found_by_its_d_separation(tmp_path: Path) -> None:
    """B depends on A and C, which are independent; their features make them depend."""
    domain = Domain({"A": 2, "B": 2, "C": 2})
    copy = [[0.9, 0.1], [0.1, 0.9]]
    collider = bayesian_network(domain, [(), (0, 2), ()], [[0.5, 0.5], [copy, copy], [0.5, 0.5]])
    write(collider, tmp_path / "collider.json")
    truth = bayesian_network(domain, [(), (), (0,)], [[0.5, 0.5], [0.5, 0.5], copy])
    rows = tmp_path / "rows.csv"
    drawn = sample(truth, 400, seed=1)
    rows.write_text("\n".join(["A,B,C", *(",".join(map(str, row)) for row in drawn)]))
    words = ["check", str(tmp_path / "collider.json"), str(rows)]
    shown = CliRunner().invoke(contextwise, [*words, "--exit-code"])
    assert shown.exit_code == 1
    assert "contradict the one independence (A–C) that the graph claims" in " ".join(
        shown.output.split()
    )
    records = json.loads(CliRunner().invoke(contextwise, [*words, "--json"]).stdout)
    (separated,) = [c for c in records["claims"] if c["claim"] == "d-separated"]
    assert (separated["first"], separated["second"], separated["given"]) == ("A", "C", "")
    assert separated["verdict"] == "contradicted"
