"""`groups`: verdicts, what is held fixed, several groups and columns, and bad input."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.data import read_data
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError
from contextwise.evidence.row_tests import RowTests
from contextwise.learning.graphs import separator
from contextwise.models.domain import Domain


def drawn(rows: int, slopes: tuple[float, ...], seed: int = 0) -> Data:
    """Draw A - B - C with one slope of A and B per group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(len(slopes), size=rows)
    a = rng.integers(2, size=rows)

    def following(before: Any, slope: Any) -> Any:
        return (rng.random(rows) < 1 / (1 + np.exp(-slope * (before - 0.5)))).astype(int)

    b = following(a, np.array(slopes)[group])
    c = following(b, 1.5)
    domain = Domain({"A": 2, "B": 2, "C": 2, "g": [f"g{k}" for k in range(len(slopes))]})
    return Data(domain, np.column_stack([a, b, c, group]))


def test_a_difference_is_found_where_it_is() -> None:
    found = cw.groups(drawn(4000, (2.5, 0.0)), "g", "mpl")
    assert [pair.pair for pair in found.differing] == [("A", "B")]
    pair = found.differing[0]
    assert pair.odds[0].low > 4 > pair.odds[1].high
    assert pair.ratio is not None
    assert pair.ratio.high < 1
    assert 0 < pair.p_value < 1e-20
    assert "in g1 any dependence is, on average, weaker than an odds ratio of 2" in " ".join(
        str(found).split()
    )


def test_equal_groups_are_about_the_same() -> None:
    found = cw.groups(drawn(8000, (1.5, 1.5), seed=1), "g", "mpl")
    assert not found.differing
    verdicts = {pair.pair: pair.verdict for pair in found.pairs}
    assert verdicts["A", "B"] == verdicts["B", "C"] == "about the same"
    assert "No association is shown to differ" in str(found)


def test_few_rows_are_undecided() -> None:
    found = cw.groups(drawn(100, (1.5, 1.5), seed=1), "g", "mpl")
    assert {pair.verdict for pair in found.pairs} == {"undecided"}


def test_what_connects_a_pair_is_held_fixed() -> None:
    """A and C are associated through B alone, more strongly in one group."""
    found = cw.groups(drawn(6000, (3.0, 0.0)), "g", "mpl")
    pair = next(each for each in found.pairs if each.pair == ("A", "C"))
    assert pair.given == ("B",)
    assert pair.verdict != "differs"


def test_several_groups_name_those_that_differ() -> None:
    found = cw.groups(drawn(6000, (2.0, 2.0, -1.0)), "g", "mpl")
    (pair,) = found.differing
    clear = {(one, other) for one, other, p in pair.between if p <= 0.05}
    assert clear == {("g0", "g2"), ("g1", "g2")}


def test_several_columns_are_corrected() -> None:
    found = cw.groups("titanic", ["sex", "age"], "mpl")
    assert [each.by for each in found] == ["sex", "age"]
    for each in found:
        assert each.adjusted is not None
        assert each.p_value <= each.adjusted


def test_ordered_groups_have_a_trend() -> None:
    rows = [
        [age, a, b]
        for age, equal in (("20-29", 40), ("30-39", 30), ("40-49", 20))
        for a in (0, 1)
        for b in (0, 1)
        for _ in range(equal if a == b else 15)
    ]
    found = cw.groups(rows, "v0", "mpl")
    assert [group.name for group in found.groups] == ["20-29", "30-39", "40-49"]
    trend = found.pairs[0].trend
    assert trend is not None
    assert trend == pytest.approx(
        RowTests(read_data(rows), ordered=["v0"]).same(("v1", "v2"), "v0").trend_p
    )


def test_berkeley_differs_in_department_a_alone() -> None:
    """The textbook's result (Bickel, Hammel and O'Connell 1975)."""
    found = cw.groups("berkeley", "Dept", "mpl")
    (pair,) = found.differing
    assert pair.pair == ("Admit", "Gender")
    departments = {group.name: odds for group, odds in zip(found.groups, pair.odds, strict=True)}
    compared = pair.compared
    assert compared is not None
    assert (compared.of, compared.by) == ("Admit", "Gender")
    assert departments["A"].low > 1 or departments["A"].high < 1
    assert all(odds.low < 1 < odds.high for name, odds in departments.items() if name != "A")


def test_paired_rows_need_subjects_in_two_groups() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"who": who, "visit": visit, "A": int(a), "B": int(b)}
        for who in range(120)
        for visit, a, b in zip("xy", *rng.integers(2, size=(2, 2)), strict=True)
    ]
    found = cw.groups(rows, "visit", "mpl", subject="who")
    assert found.pairs[0].method == "clusters"
    assert found.domain.names == ("A", "B")
    assert found.p_value > 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by": "nobody"}, "there is no column 'nobody'"),
        ({"by": []}, "by must name at least one column"),
        ({"margin": 1}, "margin must be > 1"),
        ({"level": 0}, "level must be between 0 and 1"),
        ({"by": ["sex", "sex"]}, "name a column twice"),
        ({"by": "sex", "subject": "sex"}, "name a column twice"),
    ],
)
def test_bad_arguments_are_named(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"data": "titanic", "by": "sex", "learner": "mpl"} | change
    with pytest.raises(ContextwiseError, match=message):
        cw.groups(**arguments)


def rows_of(groups: list[str]) -> list[list[object]]:
    return [[name, k % 2, k // 2 % 2] for k, name in enumerate(groups)]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["x"] * 60 + ["y"] * 5, "fewer than 20 rows: 'y' \\(5\\)"),
        (["x"] * 60, "one group, 'x'"),
        ([f"g{k % 60}" for k in range(2400)], "60 groups, and at most 12"),
        ([f"{k / 7:.3f}" for k in range(300)], "300 groups, and at most 12"),
    ],
)
def test_bad_groups_are_named(groups: list[str], message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        cw.groups(rows_of(groups), "v0", "mpl")


def test_a_variable_that_is_constant_in_a_group_is_named() -> None:
    rows = [["x", k % 2, k // 2 % 2] for k in range(80)] + [["y", 0, k % 2] for k in range(80)]
    found = cw.groups(rows, "v0", "mpl")
    assert found.groups[1].constant == ("v1",)
    assert "Constant: v1 in y" in str(found)


@pytest.mark.parametrize("seed", range(20))
def test_separators_are_smallest_and_separate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = [pair for pair in combinations(range(6), 2) if rng.random() < 0.4]

    def connected(without: set[int]) -> bool:
        reached, more = {0}, {0}
        while more:
            links = [e for e in edges if set(e) != {0, 1} and not set(e) & without]
            more = {w for e in links for v, w in (e, e[::-1]) if v in reached} - reached
            reached |= more
        return 1 in reached

    matrix = np.zeros((6, 6), dtype=bool)
    for v, w in edges:
        matrix[v, w] = matrix[w, v] = True
    found = separator(matrix, 0, 1)
    assert not connected(found)
    for fewer in combinations(range(2, 6), len(found) - 1) if found else ():
        assert connected(set(fewer))


def written(found: Any) -> str:
    return " ".join(str(found).split())


def test_every_p_value_of_paired_rows_counts_subjects() -> None:
    """Each row occurs ten times, so a test of independent rows would find anything."""
    rng = np.random.default_rng(5)
    rows = []
    for who in range(40):
        for visit in range(3):
            a = int(rng.integers(2))
            b = a if visit or rng.random() < 0.3 else 1 - a
            rows += [{"who": f"s{who}", "visit": f"v{visit}", "A": a, "B": b}] * 10
    found = cw.groups(rows, "visit", "mpl", subject="who")
    (pair,) = found.pairs
    (once,) = cw.groups(rows[::10], "visit", "mpl", subject="who").pairs
    assert pair.verdict == "differs"
    assert pair.p_value == pytest.approx(once.p_value, rel=0.2)
    assert [p for *_, p in pair.between] == pytest.approx([p for *_, p in once.between], rel=0.2)
    assert found.subject == "who"


def test_subjects_of_one_group_each_count_once() -> None:
    """Ten equal rows per subject are evidence of one row."""
    rng = np.random.default_rng(2)
    subjects = np.repeat(np.arange(60), 10)
    of_subject = rng.integers(2, size=(60, 2))
    domain = Domain({"A": 2, "B": 2, "g": ["x", "y"]})
    rows = np.column_stack([of_subject[subjects], subjects % 2])
    (alone,) = cw.groups(Data(domain, rows[::10]), "g", "mpl").pairs
    (counted,) = cw.groups(Data(domain, rows, subjects=subjects), "g", "mpl").pairs
    (naive,) = cw.groups(Data(domain, rows), "g", "mpl").pairs
    assert naive.p_value < 1e-3 < 0.1 < alone.p_value
    assert counted.p_value == pytest.approx(alone.p_value, abs=0.15)


def test_paired_rows_may_lack_a_state() -> None:
    domain = Domain({"A": 3, "B": 2, "g": ["x", "y"]})
    rng = np.random.default_rng(1)
    rows = np.column_stack(
        [rng.integers(2, size=200) * 2, rng.integers(2, size=200), np.tile([0, 1], 100)]
    )
    data = Data(domain, rows, subjects=np.repeat(np.arange(100), 2))
    (pair,) = cw.groups(data, "g", "mpl").pairs
    assert pair.method == "clusters"


def test_levels_of_intervals_follow_the_level() -> None:
    data = drawn(4000, (1.5, 1.5), seed=1)
    strict = cw.groups(data, "g", "mpl", level=0.01)
    usual = cw.groups(data, "g", "mpl")
    assert strict.pairs[0].odds[0].low < usual.pairs[0].odds[0].low
    assert "(98 % interval;" in written(strict)
    assert "(90 % interval;" in written(usual)


def test_an_analysis_refuses_bad_groups_before_it_learns() -> None:
    class Never:
        def __call__(self, data: Any) -> Any:
            raise AssertionError("nothing must be learned")

    rows = rows_of(["x"] * 60 + ["y"] * 5)
    with pytest.raises(ContextwiseError, match="fewer than 20 rows: 'y'"):
        cw.analyse(rows, by="v0", learner=Never(), resamples=2)
    with pytest.raises(ContextwiseError, match="there is no column 'v9'"):
        cw.analyse(rows, by="v9")


def test_the_numbers_are_those_of_the_tests_of_pairs() -> None:
    data = drawn(900, (2.0, 0.5))
    tests = RowTests(data)
    for pair in cw.groups(data, "g", "mpl").pairs:
        tested = tests.same(pair.pair, "g", effects=False)
        assert (pair.p_value, pair.given) == (tested.p, tested.given)
        assert pair.ratio is not None
        assert pair.ratio.value == tested.ratio
        assert pair.ratio.low == pytest.approx(tested.ratio_low)


def test_items_of_a_questionnaire_have_one_degree_of_freedom() -> None:
    """Seven points each; in one group the items go together more strongly."""
    rng = np.random.default_rng(3)
    rows = []
    for k in range(800):
        common = rng.normal() * (1.5 if k % 2 else 0.7)
        points = np.clip(np.round(4 + common + rng.normal(size=3)), 1, 7)
        rows.append({"g": "xy"[k % 2], **{f"q{j}": int(p) for j, p in enumerate(points)}})
    found = cw.groups(rows, "g", "mpl")
    assert found.differing
    for pair in found.pairs:
        assert pair.ratio is not None
        assert pair.compared is not None
        assert pair.compared.kind == "odds ratio per step"
