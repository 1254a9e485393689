"""The verdicts of rows about claims, against brute force, SciPy and numbers of R."""

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import contextwise as cw
from contextwise.data import Data, UnclearData
from contextwise.data.rows import as_data
from contextwise.errors import ContextwiseError, DomainError
from contextwise.evidence import p_values
from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.effect_size import (
    Cells,
    common_odds_ratios,
    cramers_v,
    estimate,
    odds_ratio_shown,
    odds_ratios_pooled,
)
from contextwise.evidence.free_counts import FreeCounts
from contextwise.evidence.independence_test import PooledTests
from contextwise.evidence.verdicts import judge
from contextwise.support.effort import Deadline

NO_DENSE = (0.0, 0.0)


def x_squared(tables: Any) -> Any:
    total = 0.0
    for table in tables:
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        total += float(((table - expected) ** 2 / expected).sum())
    return total


def one_p(*tables: Any) -> Any:
    stacked = np.array(tables, dtype=float)
    rng = np.random.default_rng(0)
    return p_values.exact_p(stacked, x_squared(stacked), NO_DENSE, rng)[0]


def test_an_exactly_independent_table_has_p_1() -> None:
    assert one_p([[1, 3], [2, 6]]) == 1


cells = st.integers(0, 4)
tables = st.tuples(*[cells] * 4).map(lambda c: np.array(c, dtype=float).reshape(2, 2))
varying = tables.filter(lambda t: t.sum(axis=0).all() and t.sum(axis=1).all())


@given(varying)
def test_one_table_is_fishers_test_by_x_squared(table: Any) -> None:
    # SciPy orders tables by probability, so list them all by hypergeometric draws instead.
    n, row, column = map(int, (table.sum(), table[1].sum(), table[:, 1].sum()))
    null = stats.hypergeom(n, row, column)
    expected = row * column / n
    far = abs(table[1, 1] - expected) - 1e-9
    p = sum(null.pmf(k) for k in range(n + 1) if abs(k - expected) >= far)
    assert one_p(table) == pytest.approx(p)


def test_groups_are_permuted_within() -> None:
    first = np.array([0, 0, 1, 1, 0, 1, 1, 1])
    second = np.array([0, 0, 0, 1, 0, 1, 1, 0])
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1])

    def tables_of(values: Any) -> Any:
        cells = np.zeros((2, 2, 2))
        np.add.at(cells, (groups, first, values), 1)
        return cells

    observed = x_squared(tables_of(second))
    large = total = 0
    for one in permutations(second[:4]):
        for other in permutations(second[4:]):
            total += 1
            large += x_squared(tables_of(np.array([*one, *other]))) >= observed - 1e-9
    assert one_p(*tables_of(second)) == pytest.approx(large / total)


def test_the_grid_agrees_with_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    many = rng.integers(1, 6, (12, 2, 2)).astype(float)
    drawn = p_values.draw_statistics(many, 20_000, rng)
    p = (drawn >= x_squared(many) - 1e-9).mean()
    assert one_p(*many) == pytest.approx(p, abs=4 * (p * (1 - p) / 20_000) ** 0.5)


def test_draws_that_do_not_reach_the_statistic_give_no_tiny_p() -> None:
    # In each of 30 groups, the one row with the rare state of both variables has X² = 100 if the
    # two states are in the same row, and about 1 if not. Draws have up to four such groups.
    hits = 5
    common, rare = [[50.0, 0], [48, 1], [1, 0]], [[50.0, 0], [49, 0], [0, 1]]
    tables = np.array([rare] * hits + [common] * (30 - hits))
    dense = (40.0, 80.0)
    p = p_values.exact_p(tables, x_squared(tables) + dense[0], dense, [0])[0]
    assert 0.25 < p / stats.binom.sf(hits - 1, 30, 0.01) < 4


def test_drawn_tables_keep_their_margins() -> None:
    table = np.array([[[3.0, 5, 1], [2, 0, 6]]])
    drawn = p_values.draw_statistics(table, 20_000, np.random.default_rng(1))
    n = table.sum()
    assert drawn.mean() == pytest.approx(n / (n - 1) * 2, rel=0.03)


@given(varying)
def test_no_p_is_smaller_than_the_smallest(table: Any) -> None:
    smallest = float(p_values.smallest_p(table[None])[0])
    assert one_p(table) >= smallest * (1 - 1e-9)


def test_five_and_one_rows_cannot_show_anything() -> None:
    assert p_values.smallest_p(np.array([[[5.0, 0], [0, 1]]]))[0] == pytest.approx(1 / 6)
    assert odds_ratio_shown(np.array([[[5.0, 0], [0, 1]]]), 0.05, 2.0) is None


@pytest.mark.parametrize(
    ("n", "row", "column", "start"),
    # Balanced margins: large and small cells have equal statistics, and so one p-value.
    [(220, 40, 82, 1.5), (140, 70, 70, 1.5), (220, 55, 110, 1.5)],
)
def test_the_stated_power_is_the_power(n: int, row: int, column: int, start: float) -> None:
    cell = row * column // n
    table = np.array([[[n - row - column + cell, column - cell], [row - cell, cell]]], float)
    ratio = odds_ratio_shown(table, 0.05, start)
    assert ratio is not None
    cells = np.arange(max(0, row + column - n), min(row, column) + 1)
    chances = stats.hypergeom(n, row, column).pmf(cells)
    far = np.abs(n * cells - row * column)
    p = np.array([chances[far >= each].sum() for each in far])
    for sign in (1, -1):
        weights = chances * ratio ** (sign * cells.astype(float))
        assert weights[p <= 0.05].sum() >= 0.8 * weights.sum()


def test_the_pooled_test_is_that_of_r() -> None:
    """``mantelhaen.test(x, correct = FALSE)``; the last table of each array varies fastest in R."""
    for shape, values, expected in (
        ((2, 2, 3), [12, 5, 3, 9, 20, 11, 8, 7, 4, 6, 9, 15], (3.396848996, 1, 0.065321089)),
        ((2, 3, 2), [12, 5, 3, 9, 20, 11, 8, 7, 4, 6, 9, 15], (5.069354321, 2, 0.079287312)),
    ):
        tables = np.array(values, dtype=float).reshape(shape, order="F").transpose(2, 0, 1)
        found = PooledTests(tables, np.array([0, len(tables)]))
        assert (found.statistic[0], found.freedom[0], found.p[0]) == pytest.approx(expected)
        assert found.is_valid[0]


def test_the_pooled_test_ignores_states_and_groups_that_say_nothing() -> None:
    table = np.array([[[12.0, 5.0], [3.0, 9.0]], [[20.0, 11.0], [8.0, 7.0]]])
    wide = np.zeros((3, 3, 4))
    wide[:2, 1:, 2:] = table
    wide[2, 0, 3] = 7.0
    for tables, count in ((table, 2), (wide, 3)):
        found = PooledTests(tables, np.array([0, count]))
        assert found.statistic[0] == pytest.approx(4.3949065)  # of R, as above
        assert found.freedom[0] == 1


def test_one_group_and_few_rows_have_no_pooled_test() -> None:
    table = np.array([[[12.0, 5.0], [3.0, 9.0]]])
    few = np.array([[[1.0, 0.0], [3.0, 2.0]]] * 3)
    found = PooledTests(np.concatenate([table, few]), np.array([0, 1, 4]))
    assert not found.is_valid.any()
    assert found.p.tolist() == [1.0, 1.0]


def test_many_groups_have_power_together() -> None:
    """An odds ratio of 2.25 in forty groups of ten rows; X² alone finds it half of the time."""
    rng = np.random.default_rng(0)
    chances = np.array([3, 2, 2, 3]) / 10
    structure = cw.Structure({"A": 2, "B": 2, "C": 40}, ["A=1 & B=1", "A=1 & C=1"])
    found = 0
    for _ in range(40):
        cells = [rng.choice(4, 10, p=chances) for _ in range(40)]
        rows = [[c // 2, c % 2, k] for k, group in enumerate(cells) for c in group]
        (claim,) = judge(structure, rows, pairs=[(0, 1)]).claims
        assert claim.given == ("C",)
        found += claim.verdict == "supported"
    assert found >= 36


def test_the_stated_pooled_power_is_simulated_power() -> None:
    rng = np.random.default_rng(3)
    rows, columns = np.full(20, 6), np.full(20, 8)  # of 15 rows in each group

    def tables_of(ratio: float) -> Any:
        """Draw cells with these margins by their exact probabilities."""
        cell = np.arange(0, 7)
        weights = stats.hypergeom(15, 8, 6).pmf(cell) * ratio**cell
        cells = rng.choice(cell, 20, p=weights / weights.sum()).astype(float)
        other = [cells, rows - cells, columns - cells, 15 - rows - columns + cells]
        return np.stack(other, axis=1).reshape(-1, 2, 2)[:, ::-1, ::-1]

    margins, together = Cells.of(tables_of(1.0)), np.zeros(20, dtype=int)
    ratio = odds_ratios_pooled(margins, together, np.array([0.05]))[0]
    p_values = [PooledTests(tables_of(ratio), np.array([0, 20])).p[0] for _ in range(2_000)]
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.8, abs=0.035)


def test_common_odds_ratio_of_berkeley() -> None:
    # mantelhaen.test(UCBAdmissions, exact = TRUE): 0.905, 0.770 to 1.063; Woolf's test: 0.003.
    data = cw.read_data("berkeley")
    rows = data.expanded.rows
    order = [data.domain.position(name) for name in ("Dept", "Gender", "Admit")]
    cells = np.zeros((6, 2, 2))
    np.add.at(cells, tuple(rows[:, order].T), 1)
    value, low, high, p = common_odds_ratios(Cells.of(cells[:, ::-1]), np.zeros(6, dtype=int), 1)
    assert value[0] == pytest.approx(0.905, abs=1e-3)
    assert (low[0], high[0]) == pytest.approx((0.772, 1.060), abs=1e-3)
    assert p[0] == pytest.approx(0.0021, abs=2e-4)


@pytest.mark.parametrize("table", [[[3, 108], [2, 90]], [[23, 6], [7, 2]]])
def test_limits_are_at_1_96_standard_errors(table: Any) -> None:
    """Newton steps alone swing around these limits for ever."""
    counts = np.array(table, float)
    n, row, column = map(int, (counts.sum(), counts[1].sum(), counts[:, 1].sum()))
    many = common_odds_ratios(Cells.of(counts[None]), np.zeros(1, int), 1)
    one = estimate(FreeCounts.of(table))
    for low, high in ((many.low[0], many.high[0]), (np.exp(one.low), np.exp(one.high))):
        for limit, score in ((low, 1.96), (high, -1.96)):
            null = stats.nchypergeom_fisher(n, row, column, limit)
            assert (counts[1, 1] - null.mean()) / null.std() == pytest.approx(score, abs=1e-3)


def test_zero_cells_have_exact_limits() -> None:
    # fisher.test: 1.750 to Inf, and 0 to 0.571 the other way round
    for table, limits in (([[5, 0], [0, 4]], (1.750, np.inf)), ([[0, 5], [4, 0]], (0, 0.571))):
        cells = Cells.of(np.array([table], float))
        value, low, high, _ = common_odds_ratios(cells, np.zeros(1, int), 1)
        assert (low[0], high[0]) == pytest.approx(limits, abs=1e-3)
        assert value[0] in (0, np.inf)


def test_the_interval_of_v_covers_the_truth() -> None:
    rng, v, n = np.random.default_rng(2), 0.2, 400
    statistic = stats.ncx2(4, n * v**2).rvs(2_000, random_state=rng)
    _, low, high = cramers_v(statistic, np.full(2_000, 4.0), np.full(2_000, float(n)))
    assert ((low <= v) & (v <= high)).mean() == pytest.approx(0.95, abs=0.02)


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
    return {(c.pair, c.when, c.claim): c.verdict for c in judge(model, rows, **options).claims}


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
    evidence = judge(cw.Structure({"A": 2, "B": 2}), [[0, 0]] * 5 + [[1, 1]])
    (claim,) = evidence.claims
    assert claim.verdict == "could not be tested"
    assert claim.reason == "no rows with these totals would be significant"
    (claim,) = judge(cw.Structure({"A": 2, "B": 2}), [[0, 0], [0, 1]]).claims
    assert claim.reason == "'A' has one value in the rows"


def test_too_few_rows_per_group_take_the_smaller_blanket() -> None:
    domain = {"A": 2, "B": 2} | {f"X{k}": 4 for k in range(4)}
    model = cw.Structure(
        domain, [f"A=1 & X{k}=1" for k in range(3)] + ["B=1 & X3=1", "X0=1 & X1=1 & X2=1"]
    )
    rows = np.random.default_rng(0).integers(0, [2, 2, 4, 4, 4, 4], (500, 6))
    claim = next(c for c in judge(model, rows).claims if c.pair == ("A", "B"))
    assert claim.smaller_blanket
    assert claim.given == ("X3",)


def test_time_that_is_up_is_reported_as_that() -> None:
    evidence = judge(TRUE, planted(50), deadline=Deadline.after(0))
    assert evidence.unfinished == 3
    assert "time limit" in evidence.summary


def test_a_variable_with_one_state_is_in_no_claim() -> None:
    model = cw.Structure({"A": 2, "K": 1, "B": 2})
    evidence = judge(model, [[0, 0, 0], [1, 0, 1]] * 20)
    assert [claim.pair for claim in evidence.claims] == [("A", "B")]


def test_many_pairs_are_sampled() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (200, 120))
    rows[:, 1] = rows[:, 0]
    model = cw.Structure({f"v{k}": 2 for k in range(120)}, ["v2=1 & v3=1"])
    evidence = judge(model, rows)
    assert len(evidence.claims) + evidence.pairs_left_out == 120 * 119 // 2
    assert evidence.contradicted[0].pair == ("v0", "v1")
    assert evidence.about("v2", "v3")[0].verdict == "not supported"


def test_counted_rows_are_rows() -> None:
    rows = planted(300)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    data = Data(cw.Domain(DOMAIN), distinct, counts)
    assert judge(TRUE, data).claims == judge(TRUE, rows).claims


def test_bad_input() -> None:
    with pytest.raises(DomainError, match="no rows"):
        judge(TRUE, [])
    with pytest.raises(ContextwiseError, match="level must be"):
        judge(TRUE, planted(20), level=2)


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
        naive.append(judge(model, rows).claims[0].p)
        data = Data(model.domain, rows, subjects=owner)
        robust.append(judge(model, data).claims[0].p)
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


# -- compiled twins --------------------------------------------------------------------------------


def test_python_and_compiled_code_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(0, [2, 2, 3, 2, 4, 2], (400, 6))
    model = cw.Structure(
        {f"v{k}": c for k, c in enumerate([2, 2, 3, 2, 4, 2])},
        ["v0=1 & v2=1 & v4=1", "v1=1 & v4=0", "v3=1 & v5=1", "v1=1 & v2=0 & v3=1"],
    )
    compiled = judge(model, rows)
    monkeypatch.setattr(CountedRows, "compiled", None)
    monkeypatch.setattr(p_values, "compiled", None)
    readable = judge(model, rows)
    assert len(readable.claims) == len(compiled.claims)
    for one, other in zip(readable.claims, compiled.claims, strict=True):
        assert (one.pair, one.region, one.verdict) == (other.pair, other.region, other.verdict)
        assert (one.informative, one.groups, one.silent) == (
            other.informative,
            other.groups,
            other.silent,
        )
        assert one.p == pytest.approx(other.p, rel=1e-9)
