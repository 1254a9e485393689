"""Stability: instability against its definition, supports against brute force, resumption."""

from __future__ import annotations

import json
import time
import tracemalloc
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings

import contextwise as cw
from contextwise import Domain, LogLinear, Structure, distance_matrix, read, write
from contextwise.analysis import stability
from contextwise.analysis.resampling import Repeats, Resampling, Stability
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evidence.claim_tests import judge_claims
from contextwise.learning import Data, Learner, Trees
from contextwise.learning.base import Run
from contextwise.models.structure import structure_of
from contextwise.testing import brute_force, contexts_of, depends, families
from drawn_rows import sample
from hard import LATE

DOMAIN = Domain({"smoker": ["no", "yes"], "asbestos": 2, "cancer": ["no", "yes"], "age": 3})
TRUTH = LogLinear(
    Structure(DOMAIN, ["smoker=yes & asbestos=1 & cancer=yes", "cancer=yes & age=2"]), [3.0, 1.0]
)


@pytest.fixture(scope="module")
def found() -> Stability:
    rows = sample(TRUTH, 400, seed=2, method="exact")
    return stability(rows, Trees(penalty=2), resamples=12, domain=DOMAIN, seed=5)


def share(found: Stability, pair: tuple[str, str], context: dict[str, str]) -> Fraction:
    having = sum(depends(structure, pair, context) for structure in found.structures)
    return Fraction(having, found.resamples)


def test_instability_is_the_unbiased_mean_over_assertions(found: Stability) -> None:
    """Over all assertions, 2θ(1 - θ)·B / (B - 1), visited one by one."""
    b = found.resamples
    terms = [
        2 * theta * (1 - theta) * Fraction(b, b - 1)
        for pair in combinations(DOMAIN.names, 2)
        for context in contexts_of(DOMAIN, pair)
        for theta in [share(found, pair, context)]
    ]
    assert found.instability == pytest.approx(float(sum(terms) / len(terms)))
    assert 0 < found.instability < 1


def test_support_of_pairs(found: Stability) -> None:
    supports = {(support.first, support.second): support for support in found.supports()}
    for pair in combinations(DOMAIN.names, 2):
        having = [s for s in found.structures if pair in s.pairs()]
        if pair not in supports:
            assert not having
            assert pair not in found.reference.pairs()
            continue
        assert supports[pair].resamples == len(having)
        assert supports[pair].learned_from_all_rows == (pair in found.reference.pairs())


@settings(max_examples=30, deadline=None)
@given(families(4))
def test_support_of_claims(models: tuple[Structure, ...]) -> None:
    """A resample agrees if it makes the same claim in every context of the region."""
    reference, *structures = models
    domain = reference.domain
    every = np.array(list(product(*map(range, domain.cardinalities))))
    evidence = judge_claims(reference, Data(domain, every), regions=99)
    repeats = Repeats(domain, evidence.claims)
    for structure in structures:
        repeats.add(structure)
    assert repeats.count == len(structures)
    for pair in combinations(domain.names, 2):
        assert repeats.pairs[pair] == sum(pair in s.pairs() for s in structures)
        counts = {claim: k for claim, k in repeats.claims.items() if claim.pair == pair}
        inside = {
            claim: [c for c in contexts_of(domain, pair) if _holds(domain, claim.when, c)]
            for claim in counts
        }
        varies = all(len(domain.states[domain.position(name)]) > 1 for name in pair)
        assert sum(map(len, inside.values())) == varies * len(list(contexts_of(domain, pair)))
        for claim, contexts in inside.items():
            assert counts[claim] == sum(
                all(depends(s, pair, context) == claim.dependent for context in contexts)
                for s in structures
            )


def _holds(domain: Domain, when: str, context: dict[str, str]) -> bool:
    if not when:
        return True
    [literals] = Structure(domain, [when])
    return all(context[name] in states for name, states in literals.items())


def test_medoid(found: Stability) -> None:
    sums = [sum(row) for row in distance_matrix(found.structures).distances.tolist()]
    assert found.medoid == found.structures[sums.index(min(sums))]


def test_words(found: Stability) -> None:
    text = str(found)
    assert "12 resamples of half of the 400 rows" in " ".join(text.split())
    assert text.startswith("Learning again from 50 % of the rows finds ")
    claims = found.claims(dependent=True)
    line = next(c for c in claims if c.claim.pair == ("smoker", "asbestos"))
    assert str(line).startswith("smoker–asbestos depend ")
    assert str(line).partition(";")[0].endswith(" of 12 resamples")
    assert str(line) in text


def test_rows_stand_next_to_claims_that_every_resample_repeats() -> None:
    """A learner that misses a dependence misses it in each resample: agreement is no evidence."""
    result = stability("berkeley", "independent", resamples=5, seed=1)
    (line,) = [line for line in str(result).splitlines() if line.startswith("Gender–Dept")]
    assert "independent in every context: in 5 of 5 resamples; rows: contradicted, p < " in line
    assert "which need not be true" in " ".join(str(result).split())


def test_the_share_that_is_found_again(found: Stability) -> None:
    """Counted by hand over all assertions of the structure of all rows."""
    comparisons = [brute_force(found.reference, own) for own in found.structures]
    shares = [Fraction(c.tp) / (c.tp + c.fn) for c in comparisons]
    assert found.found_again == pytest.approx(float(sum(shares) / len(shares)))
    assert found.record()["found_again"] == found.found_again


def test_resamples_repeat_wherever_they_are_made() -> None:
    rows = sample(TRUTH, 200, seed=2, method="exact")
    once = stability(rows, Trees(penalty=2), resamples=4, domain=DOMAIN, seed=5)
    again = stability(rows, Trees(penalty=2), resamples=4, domain=DOMAIN, seed=5, n_jobs=2)
    assert once.structures == again.structures
    other = stability(rows, Trees(penalty=2), resamples=4, domain=DOMAIN, seed=6)
    assert once.structures != other.structures


def test_rows_of_resamples() -> None:
    table = [[k] for k in range(10)]
    rows = cw.read_data(table, category="v0")
    plan = Resampling(Trees(), table, rows, "subsample", 0.3, 1)
    assert len({row[0] for row in plan.draw(0)}) == len(plan.draw(0)) == 3
    boot = Resampling(Trees(), table, rows, "bootstrap", 0.3, 1)
    assert len(boot.draw(0)) == 10
    assert boot.draw(0) != boot.draw(1)
    assert plan.draw(None) == table


def test_very_many_counted_rows_are_drawn_by_their_counts() -> None:
    counts = np.array([3, 10, 7]) * 10**7
    data = Data(Domain({"A": 3}), np.arange(3)[:, None], counts)
    tracemalloc.start()
    half = Resampling(Trees(), data, data, "subsample", 0.5, 1).draw(0)
    boot = Resampling(Trees(), data, data, "bootstrap", 0.5, 1).draw(0)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    assert len(half) == 10**8
    assert len(boot) == 2 * 10**8
    for drawn, share in ((half, 0.5), (boot, 1)):
        assert np.abs(drawn.multiplicity / (share * counts) - 1).max() < 1e-3
        assert drawn.multiplicity.tolist() != (share * counts).tolist()


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    rows = np.asarray(sample(TRUTH, 200, seed=2, method="exact")).tolist()
    calls: list[int] = []

    def learn(data: Any) -> Structure:
        calls.append(len(data))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return Trees(penalty=2).fit(data, domain=DOMAIN).structure_

    options: dict[str, Any] = {"resamples": 5, "domain": DOMAIN, "folder": tmp_path, "seed": 1}
    with pytest.raises(KeyboardInterrupt):
        stability(rows, learn, **options)
    assert len(calls) == 4
    done = stability(rows, learn, **options)
    assert len(calls) == 4 + 3  # three units were done: all rows, and two resamples
    more = stability(rows, learn, **{**options, "resamples": 7})
    assert len(calls) == 4 + 3 + 2
    assert more.structures[:5] == done.structures


def test_a_folder_belongs_to_one_question(tmp_path: Path) -> None:
    rows = sample(TRUTH, 100, seed=2, method="exact")
    stability(rows, Trees(penalty=2), resamples=2, domain=DOMAIN, folder=tmp_path)
    with pytest.raises(ContextwiseError, match="another configuration: parameters"):
        stability(rows, Trees(penalty=3), resamples=2, domain=DOMAIN, folder=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ContextwiseError, match="file is a file; name a folder"):
        stability(rows, Trees(penalty=2), resamples=2, domain=DOMAIN, folder=tmp_path / "file")
    again = tmp_path / "again"
    stability(rows, Trees(penalty=2), resamples=2, domain=DOMAIN, folder=again, seed=3)
    with pytest.raises(ContextwiseError, match="seed is 3 there and 4 here"):
        stability(rows, Trees(penalty=2), resamples=2, domain=DOMAIN, folder=again, seed=4)


def test_failures_are_told() -> None:
    rows = np.asarray(sample(TRUTH, 100, seed=2, method="exact")).tolist()

    def learn(data: Any) -> Structure:
        if len(data) < 100 and data[0] == rows[0]:
            raise ValueError("the first row is bad")
        return Structure(DOMAIN, ["smoker=yes & age=1"])

    found = stability(rows, learn, resamples=8, domain=DOMAIN)
    assert 2 <= found.resamples < 8
    assert "the first row is bad" in str(found)
    with pytest.raises(ContextwiseError, match=r"0 of 3 resamples gave a structure; .*no luck"):
        stability(rows, _fail, resamples=3, domain=DOMAIN)


def _fail(data: Any) -> Structure:
    raise ValueError("no luck")


def test_bad_questions_are_clear_words() -> None:
    rows = [[0, 0], [1, 1]]
    with pytest.raises(ContextwiseError, match="resamples must be >= 2, got 1"):
        stability(rows, "trees", resamples=1)
    with pytest.raises(ContextwiseError, match="'subsample' or 'bootstrap', got 'jackknife'"):
        stability(rows, "trees", how="jackknife")  # type: ignore[arg-type]
    with pytest.raises(ContextwiseError, match="between 0 and 1, got 2"):
        stability(rows, "trees", share=2)
    with pytest.raises(ContextwiseError, match="at least two rows, got 1"):
        stability([[0, 0]], "trees")


def test_command(tmp_path: Path) -> None:
    rows = np.asarray(sample(TRUTH, 300, seed=2, method="exact"))
    lines = [",".join(DOMAIN.names), *(",".join(map(str, row)) for row in rows.tolist())]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    write(TRUTH, tmp_path / "truth.json")
    command = ["stability", str(tmp_path / "rows.csv"), "--learner", "trees:penalty=2"]
    command += ["--resamples", "4", "--domain-from", str(tmp_path / "truth.json"), "--seed", "5"]
    own = stability(rows, Trees(penalty=2), resamples=4, domain=DOMAIN, seed=5)
    files = ["--folder", "run", "--medoid", "typical.json"]
    files[1::2] = [str(tmp_path / name) for name in files[1::2]]
    shown = CliRunner().invoke(contextwise, [*command, *files])
    assert shown.exit_code == 0, shown.output
    assert shown.output.strip() == str(own)
    assert structure_of(read(tmp_path / "typical.json")) == own.medoid
    record = json.loads(CliRunner().invoke(contextwise, [*command, "--json"]).output)
    assert record["instability"] == own.instability
    assert record["pairs"] == own.records()
    claims = [claim.record() for claim in own.claims(dependent=True)]
    assert [claim["sentence"] for claim in record["dependencies"]] == [
        claim["sentence"] for claim in claims
    ]
    assert str(claims[0]["sentence"]) in " ".join(shown.output.split())
    medoid = [own.medoid.feature_text(k) for k in range(len(own.medoid))]
    assert record["medoid"] == medoid
    table = CliRunner().invoke(contextwise, [*command, "--csv"]).output.splitlines()
    assert table[0].startswith("first,second,resamples,of")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_time_limit_keeps_the_resamples_that_are_done(n_jobs: int, tmp_path: Path) -> None:
    rows = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 30
    start = time.monotonic()
    with pytest.warns(UserWarning, match="the time limit ended after learning") as caught:
        found = stability(
            rows, "trees", resamples=30_000, time_limit=6, n_jobs=n_jobs, folder=tmp_path
        )
    assert time.monotonic() - start < LATE
    assert f"learning {found.resamples + 1} of 30001 structures" in str(caught[0].message)
    assert found.instability == 0


class Patient(Learner):
    """It looks at the time while it waits."""

    def learn(self, data: Data, run: Run) -> Structure:
        until = time.monotonic() + LATE
        while time.monotonic() < until and not run.is_late():
            time.sleep(0.01)
        return Structure(data.domain)


def test_a_time_limit_stops_the_learner() -> None:
    start = time.monotonic()
    with pytest.raises(OpenResult, match="ended after learning 0 of 3 structures"):
        stability([[0, 1]] * 9, Patient(), resamples=2, time_limit=0.5)
    assert time.monotonic() - start < LATE


def test_whole_subjects_are_drawn() -> None:
    owner = np.repeat(np.arange(20), 3)
    rng = np.random.default_rng(0)
    table = [{"id": int(s), "A": int(rng.integers(2)), "B": int(rng.integers(2))} for s in owner]
    data = cw.read_data(table, subject="id")
    for how in ("subsample", "bootstrap"):
        drawn = Resampling(None, data, data, how, 0.5, 1).draw(0)
        counts = np.bincount(drawn.subjects, minlength=20)
        assert set(counts.tolist()) <= {0, 3, 6, 9, 12, 15}
        assert counts.sum() == (30 if how == "subsample" else 60)
    assert stability(data, "chow-liu", resamples=3).reference.evidence.subject == "id"  # type: ignore[union-attr]
