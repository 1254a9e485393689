"""Checks on data: the null against enumeration of all permutations, blankets, calibration."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from importlib import import_module
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from contextwise import Domain, LogLinear, Structure, learn, write
from contextwise.cli import contextwise
from contextwise.distributions import sample
from contextwise.errors import ContextwiseError
from contextwise.evaluation import check
from contextwise.evaluation.claims import ClaimSource, group_rows, rows_in
from contextwise.evaluation.g_test import ConditionalTest, conditional_test, g_squared
from contextwise.independence.separation import open_trail
from contextwise.models.directions import bayesian_network
from contextwise.testing import contexts_of, depends, log_linear_models, structures
from hard import LATE, hard_pair

Column = list[int]


def statistic(first: Column, second: Column, groups: Column) -> float:
    """The sum of G² over groups, from the definition."""
    total = 0.0
    for group in set(groups):
        cells = [(a, b) for a, b, g in zip(first, second, groups, strict=True) if g == group]
        for a, b in set(cells):
            row, column = sum(x == a for x, _ in cells), sum(y == b for _, y in cells)
            seen = cells.count((a, b))
            total += 2 * seen * np.log(seen * len(cells) / (row * column))
    return float(total)


def all_permutations(first: Column, groups: Column) -> Iterator[Column]:
    """Every way to permute the first column within groups."""
    places = [[r for r, g in enumerate(groups) if g == group] for group in sorted(set(groups))]
    for orders in product(*(permutations(own) for own in places)):
        result = list(first)
        for own, order in zip(places, orders, strict=True):
            for place, source in zip(own, order, strict=True):
                result[place] = first[source]
        yield result


def ask(first: Column, second: Column, groups: Column, draws: int = 9_999) -> ConditionalTest:
    columns = (np.array(column, dtype=np.int64) for column in (first, second, groups))
    return conditional_test(*columns, rng=np.random.default_rng(1), draws=draws)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=8))
def test_null_of_binary_tables_is_exact(rows: list[tuple[int, int, int]]) -> None:
    first, second, groups = (list(column) for column in zip(*rows, strict=True))
    assume(max(groups.count(0), groups.count(1)) <= 6)
    found = ask(first, second, groups)
    own = statistic(first, second, groups)
    every = [statistic(one, second, groups) for one in all_permutations(first, groups)]
    exact = sum(value >= own - 1e-9 for value in every) / len(every)
    assert found.draws == 0
    if not found.rows:
        assert max(every) - min(every) < 1e-9
        assert found.p_value == 1
    else:
        # rounding to the grid can take in statistics that are smaller by a thousandth
        near = sum(value >= own * (1 - 0.01) - 1e-9 for value in every) / len(every)
        assert exact - 1e-9 <= found.p_value <= near + 1e-9
        silent = own - found.statistic
        assert found.mean == pytest.approx(np.mean(every) - silent)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=3, max_size=7
    )
)
def test_null_of_larger_tables_is_drawn(rows: list[tuple[int, int, int]]) -> None:
    first, second, groups = (list(column) for column in zip(*rows, strict=True))
    found = ask(first, second, groups, draws=1_999)
    assume(found.draws)
    own = statistic(first, second, groups)
    every = [statistic(one, second, groups) for one in all_permutations(first, groups)]
    exact = sum(value >= own - 1e-9 for value in every) / len(every)
    error = 5 * np.sqrt(exact * (1 - exact) / found.draws) + 10 / found.draws
    assert abs(found.p_value - exact) <= error


def test_statistic_and_effect() -> None:
    assert g_squared(np.array([[5, 5], [5, 5]])) == 0
    same = [0] * 50 + [1] * 50
    found = ask(same, same, [0] * 100)
    assert found.statistic == pytest.approx(200 * np.log(2))
    assert 0.98 < found.bits < 1
    assert found.p_value < 1e-20


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=2, max_size=7))
def test_effect_is_information_beyond_what_permutations_have(
    rows: list[tuple[int, int, int]],
) -> None:
    """Bits: the conditional mutual information of the rows that speak, less its mean."""
    first, second, groups = (list(column) for column in zip(*rows, strict=True))
    found = ask(first, second, groups)
    assume(found.rows)
    own = {group: [row for row in rows if row[2] == group] for group in set(groups)}
    inside = [row for some in own.values() if is_informative(some) for row in some]
    assert len(inside) == found.rows
    a, b, g = (list(column) for column in zip(*inside, strict=True))
    every = [information(one, b, g) for one in all_permutations(a, g)]
    assert found.bits == pytest.approx(information(a, b, g) - np.mean(every), abs=1e-9)


def is_informative(rows: list[tuple[int, int, int]]) -> bool:
    """Return whether permuting rows within their groups can change the statistic."""
    a, b, g = (list(column) for column in zip(*rows, strict=True))
    return len({round(statistic(one, b, g), 9) for one in all_permutations(a, g)}) > 1


def information(first: Column, second: Column, groups: Column) -> float:
    """The conditional mutual information of three columns in bits, from its definition."""
    rows = list(zip(first, second, groups, strict=True))
    total = 0.0
    for a, b, g in set(rows):
        joint = rows.count((a, b, g))
        own = sum(r[2] == g for r in rows)
        with_a = sum((r[0], r[2]) == (a, g) for r in rows)
        with_b = sum((r[1], r[2]) == (b, g) for r in rows)
        total += joint / len(rows) * np.log2(joint * own / (with_a * with_b))
    return float(total)


def test_far_tails_keep_their_digits() -> None:
    """A p-value far below the precision of 1 - x comes out, and is the hypergeometric one."""
    same = [0] * 30 + [1] * 30
    stats = pytest.importorskip("scipy.stats")
    both_ends = 2 * stats.hypergeom.pmf(30, 60, 30, 30)
    assert ask(same, same, [0] * 60).p_value == pytest.approx(both_ends, rel=0.01)


def test_silent_groups_are_counted() -> None:
    found = ask([0, 1, 0, 0, 1, 0], [0, 1, 1, 1, 1, 0], [0, 1, 2, 2, 3, 3])
    assert (found.groups, found.uninformative, found.rows, found.p_value) == (4, 4, 0, 1.0)
    assert ask([], [], []).p_value == 1


# -- claims --------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(structures())
def test_regions_say_what_the_structure_says(model: Structure) -> None:
    """Every context of a pair lies in exactly one region, of the right kind."""
    names, source = model.domain.names, ClaimSource(model.features)
    for i, j in combinations(range(len(names)), 2):
        claims = list(source.claims((i, j)))
        for context in contexts_of(model.domain, (names[i], names[j])):
            row = np.zeros((1, len(names)), dtype=np.int64)
            for name, state in context.items():
                v = model.domain.position(name)
                row[0, v] = model.domain.state_position(v, state)
            inside = [claim for claim in claims if rows_in(row, claim.literals)[0]]
            assert len(inside) == 1
            assert inside[0].dependent == depends(model, (names[i], names[j]), context)


@settings(max_examples=60, deadline=None)
@given(
    log_linear_models(st.sampled_from([Domain.of_cardinalities(c) for c in ([2] * 4, [2, 3, 2])]))
)
def test_blanket_screens_off_in_its_region(model: LogLinear) -> None:
    """In a region of independence the joint of the pair factorises given either blanket."""
    domain = model.domain
    states = list(product(*(range(card) for card in domain.cardinalities)))
    rows = np.array(states)
    weight = np.array(
        [
            np.exp(
                sum(
                    w
                    for f, w in zip(model.structure.features.literals(), model.weights, strict=True)
                    if all(values >> state[v] & 1 for v, values in f)
                )
            )
            for state in states
        ]
    )
    source = ClaimSource(model.structure.features)
    for i, j in combinations(range(len(domain)), 2):
        for claim in source.claims((i, j)):
            if claim.dependent:
                continue
            inside = rows_in(rows, claim.literals)
            for variable, other in ((i, j), (j, i)):
                blanket = source.blanket(variable, claim.literals)
                assert other not in blanket
                groups = group_rows(rows, blanket)
                for group in np.unique(groups[inside]):
                    mine = inside & (groups == group)
                    table = np.zeros((domain.cardinalities[i], domain.cardinalities[j]))
                    np.add.at(table, (rows[mine, i], rows[mine, j]), weight[mine])
                    product_of = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
                    assert np.allclose(table, product_of)


# -- check ---------------------------------------------------------------------------------------

CHAIN = Structure(
    Domain.of_cardinalities([2] * 5), ["v0=1 & v1=1", "v1=1 & v2=1", "v2=1 & v3=1 & v4=1", "v3=1"]
)
TRUTH = LogLinear(CHAIN, [1.5, -1.5, 2.0, -0.5])


def test_calibrated_on_rows_of_the_model() -> None:
    p_values = []
    for seed in range(60):
        rows = sample(TRUTH, 300, rng=seed, method="exact")
        found = check(TRUTH, rows, dependencies=False)
        p_values += [claim.test.p_value for claim in found.claims if claim.is_testable]
    for alpha in (0.01, 0.05, 0.2):
        # claims of one sample share rows; twice the binomial error of independent ones
        error = 2 * np.sqrt(alpha * (1 - alpha) / len(p_values))
        assert np.mean(np.array(p_values) <= alpha) <= alpha + 2 * error


def test_a_removed_dependence_is_found() -> None:
    without = Structure(CHAIN.domain, ["v1=1 & v2=1", "v2=1 & v3=1 & v4=1"])
    for seed in range(5):
        found = check(without, sample(TRUTH, 5_000, rng=seed, method="exact"))
        assert ("v0", "v1") in {claim.pair for claim in found.contradicted}
        assert {claim.pair for claim in found.shown} >= {("v1", "v2"), ("v2", "v3")}


def test_larger_domains_are_drawn_until_it_is_clear() -> None:
    domain = Domain.of_cardinalities([3, 4, 2, 3])
    truth = LogLinear(
        Structure(domain, ["v0=1 & v1=2", "v0=2 & v1=3", "v2=1 & v3=1"]), [2.0, 2.0, 1]
    )
    without = Structure(domain, ["v2=1 & v3=1"])
    rows = sample(truth, 1_000, rng=3, method="exact")
    found = check(without, rows)
    assert {claim.pair for claim in found.contradicted} == {("v0", "v1")}
    few = check(without, rows, draws=20)
    assert not few.contradicted or few.contradicted[0].test.draws > 20
    again = check(without, rows, n_jobs=2)
    assert again.records() == found.records()


def test_too_few_draws_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("contextwise.evaluation.claim_tests"), "FIRST_DRAWS", 19)
    domain = Domain.of_cardinalities([3, 3, 2])
    rows = [[k, k, b] for k in range(3) for b in range(2)] * 30
    found = check(Structure(domain), rows, draws=19)
    assert [claim.pair for claim in found.undecided] == [("v0", "v1")]
    assert "too few tables were drawn" in str(found)
    assert [c.pair for c in check(Structure(domain), rows).contradicted] == [("v0", "v1")]


def test_claims_are_corrected_by_benjamini_and_yekutieli() -> None:
    """The k-th smallest of m p-values, times m·(1 + 1/2 + … + 1/m)/k, made monotone from above."""
    found = check(Structure(CHAIN.domain), sample(TRUTH, 400, rng=4, method="exact"))
    claims = [claim for claim in found.claims if claim.is_testable]
    p_values = sorted(claim.test.p_value for claim in claims)
    m = len(p_values)
    harmonic = sum(1 / k for k in range(1, m + 1))
    for claim in claims:
        raised = [
            p * m * harmonic / k for k, p in enumerate(p_values, 1) if p >= claim.test.p_value
        ]
        assert claim.adjusted == pytest.approx(min(1.0, *raised))


def test_claims_without_information_are_counted() -> None:
    found = check(CHAIN, [[0, 1, 0, 1, 0]])
    assert len(found.untestable) == len(found.claims)
    assert "cannot test" in str(found)
    assert "nan" not in str(found)
    lonely = check(Structure({"A": 2}), [[0], [1]])
    assert not lonely.claims


def test_questions_can_be_restricted() -> None:
    rows = sample(TRUTH, 500, rng=1, method="exact")
    found = check(TRUTH, rows, pairs=[("v3", "v0")], context="v2=1")
    assert {claim.pair for claim in found.claims} == {("v0", "v3")}
    assert found.rows == int((np.asarray(rows)[:, 2] == 1).sum())
    inside = check(TRUTH, rows, variables=["v0", "v1", "v4"])
    assert inside.pairs == 3
    long = Structure(CHAIN.domain, ["v0=1 & v1=1 & v2=1 & v3=1"])
    one, two = (check(long, rows, regions=regions) for regions in (1, 2))
    assert (one.left_out, two.left_out) == (6, 0)  # of each pair, one of two independent regions
    assert len(two.claims) == len(one.claims) + 6


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ContextwiseError, match="there are no rows"):
        check(CHAIN, np.zeros((0, 5), dtype=int))
    with pytest.raises(ContextwiseError, match="no row agrees with the context"):
        check(CHAIN, [[0, 0, 0, 0, 0]], context="v0=1")
    with pytest.raises(ContextwiseError, match="regions must be >= 1, got 0"):
        check(CHAIN, [[0, 0, 0, 0, 0]], regions=0)
    with pytest.raises(ContextwiseError, match="alpha must be between 0 and 1, got 0"):
        check(CHAIN, [[0, 0, 0, 0, 0]], alpha=0)


def test_the_overall_test_counts_simulations_that_are_as_extreme() -> None:
    rows = sample(TRUTH, 300, rng=5, method="exact")
    found = check(TRUTH, rows, overall=29)
    overall = found.overall
    assert overall is not None
    assert overall.exact
    assert len(overall.simulated) == 29
    by_hand = -sum(np.log(c.test.p_value) for c in found.claims if not c.dependent)
    assert overall.statistic == pytest.approx(by_hand)  # binary tables: no draws
    larger = sum(value >= overall.statistic for value in overall.simulated)
    assert overall.p_value == (1 + larger) / 30
    again = check(TRUTH, rows, overall=29, n_jobs=2)
    assert again.overall == overall


def test_the_overall_test_finds_a_missing_dependence() -> None:
    without = Structure(CHAIN.domain, ["v1=1 & v2=1", "v2=1 & v3=1 & v4=1"])
    found = check(without, sample(TRUTH, 1_000, rng=5, method="exact"), overall=99)
    assert found.overall is not None
    assert found.overall.p_value == 0.01
    assert found.verdict.startswith("Overall, the rows contradict the structure (p = 0.01); ")
    assert "99 simulated data sets" in " ".join(str(found).split())


@pytest.mark.parametrize("overall", [0, 99])
def test_the_time_limit_bounds_everything(overall: int) -> None:
    rows = np.random.default_rng(2).integers(2, size=(300, 90))
    start = time.perf_counter()
    found = check(hard_pair(), rows, time_limit=1, overall=overall)
    assert time.perf_counter() - start < LATE
    assert found.unfinished > 0
    assert "not tested within the time limit" in str(found)
    if overall:
        assert found.overall is not None
        assert found.overall.p_value is None
        assert "The overall test did not finish: 0 of at least 19" in found.verdict


def test_command(tmp_path: Path) -> None:
    write(Structure(CHAIN.domain, ["v1=1 & v2=1"]), tmp_path / "model.json")
    rows = sample(TRUTH, 2_000, rng=0, method="exact")
    text = "\n".join(",".join(map(str, row)) for row in np.asarray(rows).tolist())
    (tmp_path / "rows.csv").write_text(text + "\n")
    given_paths = [str(tmp_path / "model.json"), str(tmp_path / "rows.csv")]
    shown = CliRunner().invoke(contextwise, ["check", *given_paths, "--exit-code"])
    assert shown.exit_code == 1, shown.output
    assert "Contradicted by the rows" in shown.output
    assert "v0–v1" in shown.output
    record = json.loads(CliRunner().invoke(contextwise, ["check", *given_paths, "--json"]).output)
    assert record["rows"] == 2_000
    first = next(c for c in record["claims"] if (c["first"], c["second"]) == ("v0", "v1"))
    assert first["rows_show_dependence"]
    table = CliRunner().invoke(contextwise, ["check", *given_paths, "--csv"]).output.splitlines()
    assert table[0].startswith("first,second,claim,when")
    assert len(table) == 1 + len(record["claims"])


def test_notes_explain_the_columns_of_tables() -> None:
    """A small p that is not called a contradiction needs a word on the correction."""
    rows = [[0, 0], [1, 1]] * 20
    text = " ".join(str(check(Structure({"A": 2, "B": 2}), rows)).split())
    assert "uncorrected" in text
    assert "the rows of groups in which both variables vary" in text
    silent = str(check(Structure({"A": 2, "B": 2}), rows[:1]))
    assert "correction" not in silent
    with pytest.raises(ContextwiseError, match="draws must be >= 1, got 0"):
        check(Structure({"A": 2, "B": 2}), rows, draws=0)


# -- power ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "size", "level"), [(1, 200, 0.05), (4, 80, 0.002)])
def test_the_detectable_odds_ratio_is_found_with_probability_0_8(
    groups: int, size: int, level: float
) -> None:
    rng = np.random.default_rng(7)
    within = np.repeat(np.arange(groups), size)

    def draw(odds_ratio: float) -> ConditionalTest:
        first = rng.integers(0, 2, groups * size)
        odds = np.sqrt(odds_ratio) ** (2 * first - 1)  # so that the second is 1 in half of the rows
        second = (rng.random(groups * size) < odds / (1 + odds)).astype(int)
        return conditional_test(first, second, within, rng=rng)

    ratio = draw(1.0).detectable(level).odds_ratio
    assert ratio is not None
    found = sum(draw(ratio).p_value <= level for _ in range(200))
    assert 0.70 <= found / 200 <= 0.88


def test_what_rows_could_show_follows_from_their_number_and_the_level() -> None:
    first, second = [0, 0, 1, 1] * 50, [0, 1, 0, 1] * 50
    one, four = ask(first, second, [0] * 200), ask(first * 4, second * 4, [0] * 800)
    assert four.detectable(0.05).bits == pytest.approx(one.detectable(0.05).bits / 4)
    # lambda = (1.96 + 0.8416)² up to the other tail, and Σ r0 r1 c0 c1 / n³ = n / 16
    bits, ratio = one.detectable(0.05)
    assert bits == pytest.approx(7.849 / (2 * 200 * np.log(2)), rel=1e-3)
    assert ratio == pytest.approx(np.exp(np.sqrt(7.849 / (200 / 16))), rel=1e-3)
    assert one.detectable(0.001).bits > bits
    assert ask([0, 1], [0, 0], [0, 0]).detectable(0.05) == (np.inf, None)
    three = ask([0, 1, 2] * 20, [0, 0, 1, 1, 2, 2] * 10, [0] * 60)
    assert three.freedom == 4
    assert three.detectable(0.05).odds_ratio is None


def test_every_claim_states_what_the_rows_could_have_shown() -> None:
    domain = Domain({"A": 2, "B": 2, "C": 3})
    rows = np.random.default_rng(3).integers(0, [2, 2, 3], (300, 3))
    found = check(Structure(domain), rows)
    assert not found.contradicted
    # three claims, none rejected: one would need p <= 0.05 / (3 · (1 + 1/2 + 1/3))
    level = 0.05 / 5.5
    for claim in found.claims:
        bits, ratio = claim.test.detectable(level)
        assert claim.detectable.bits == pytest.approx(bits)
        assert (claim.detectable.odds_ratio is None) == ("C" in claim.pair)
        assert claim.record()["detectable_bits"] == pytest.approx(bits)
        assert "C" in claim.pair or claim.detectable.odds_ratio == ratio
    text = " ".join(str(found).split())
    assert "With probability 0.8 the rows would have contradicted a dependence of" in text
    assert "confirm" not in text


def test_rows_that_the_model_was_learned_from_are_noticed(tmp_path: Path) -> None:
    rows = [[0, 0], [1, 1], [0, 1]] * 30
    learned = learn(rows, "chow-liu")
    assert check(learned, rows).learned_from
    assert "The model was learned from these rows" in str(check(learned, rows))
    write(learned.model_, tmp_path / "learned.json")
    assert check(tmp_path / "learned.json", rows).learned_from
    other = check(learned, rows[1:])
    assert not other.learned_from
    assert "must be independent observations" in str(other)


# -- networks --------------------------------------------------------------------------------------


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
    rows = sample(model, 300, rng=seed)
    result = check(model, rows, rng=seed)
    arcs = {frozenset((names[p], names[c])) for p, c in directions.arcs}
    expected = {frozenset(pair) for pair in combinations(names, 2)} - arcs
    assert {frozenset(claim.pair) for claim in result.separations} == expected
    assert len(result.separations) == len(expected)
    for claim in result.separations:
        first, second = map(model.domain.position, claim.pair)
        given = {model.domain.position(name) for name in claim.given or ()}
        assert given == set(directions.parents[second])
        assert open_trail(directions.parents, [first], {second}, given) is None
    tested = [claim for claim in result.separations if claim.is_testable]
    corrected = stats.false_discovery_control([c.test.p_value for c in tested], method="by")
    assert [claim.adjusted for claim in tested] == pytest.approx(corrected.tolist())
    assert not result.failed_separations
    assert f"none of {len(tested)} d-separation" in result.verdict
    assert not check(model, rows, context={"A": rows[0][0]}).separations


def test_a_missing_arc_is_found_by_its_d_separation(tmp_path: Path) -> None:
    """B depends on A and C, which are independent; their features make them depend."""
    domain = Domain({"A": 2, "B": 2, "C": 2})
    copy = [[0.9, 0.1], [0.1, 0.9]]
    collider = bayesian_network(domain, [(), (0, 2), ()], [[0.5, 0.5], [copy, copy], [0.5, 0.5]])
    write(collider, tmp_path / "collider.json")
    truth = bayesian_network(domain, [(), (), (0,)], [[0.5, 0.5], [0.5, 0.5], copy])
    rows = tmp_path / "rows.csv"
    drawn = sample(truth, 400, rng=1)
    rows.write_text("\n".join(["A,B,C", *(",".join(map(str, row)) for row in drawn)]))
    words = ["check", str(tmp_path / "collider.json"), str(rows)]
    shown = CliRunner().invoke(contextwise, [*words, "--exit-code"])
    assert shown.exit_code == 1
    assert "contradict the structure: 1 of 1 d-separation of the network fails." in shown.output
    assert "d-separations that the rows contradict, clearest first:" in shown.output
    records = json.loads(CliRunner().invoke(contextwise, [*words, "--json"]).stdout)
    assert records["separations_contradicted"] == 1
    assert [(c["first"], c["second"], c["given"]) for c in records["claims"]][-1] == ("A", "C", "")
