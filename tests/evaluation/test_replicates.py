"""Replicates: intervals, differences, Holm, ranks; each against SciPy or by hand."""

from __future__ import annotations

import warnings
from itertools import combinations, pairwise, product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy import stats

from contextwise import Comparison, Structure, compare
from contextwise.errors import ContextwiseError, ParseError
from contextwise.evaluation import summarize
from contextwise.evaluation.replicates import (
    METRICS,
    DifferenceTest,
    holm,
    mean_with_interval,
    paired_difference,
    rank_groups,
    read_results,
    summarize_values,
    unpaired_difference,
)
from contextwise.report.evaluations import summary_parts
from contextwise.report.plots.plot_guesses import plot_critical_difference
from contextwise.report.text import as_latex, as_text, escaped

DOMAIN = {"A": 2, "B": 2, "C": 3, "D": 2}
TRUE = Structure(DOMAIN, ["A=1 & B=1 & C!=0", "B=1 & D=1"])
TEXTS = ["A=1 & B=1", "A=1 & B=1 & C=1", "B=1 & D=1", "A=1 & D=1", "C=2 & D=1 & B=1", "A=0 & C=1"]


def guess(k: int) -> Structure:
    return Structure(DOMAIN, [TEXTS[k % 6], TEXTS[(k // 2 + 3) % 6]])


def comparisons(*numbers: int, true: Structure = TRUE) -> list[Comparison]:
    return [compare(true, guess(k)) for k in numbers]


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def test_few_replicates_have_an_interval_by_t() -> None:
    x = [0.1, 0.4, 0.25, 0.3]
    found = mean_with_interval(x, rng=rng())
    low, high = stats.t.interval(0.95, 3, loc=np.mean(x), scale=stats.sem(x))
    assert found.low == pytest.approx(low)
    assert found.high == pytest.approx(high)
    assert found.how == "t"


def test_many_replicates_have_a_bootstrap_interval_that_repeats() -> None:
    x = np.random.default_rng(1).exponential(size=40)
    found = mean_with_interval(x.tolist(), rng=rng())
    assert found.how == "bootstrap"
    assert found.low is not None
    assert found.high is not None
    assert found.low < x.mean() < found.high
    assert found == mean_with_interval(x.tolist(), rng=rng())


def test_overlapping_rows_widen_the_interval() -> None:
    """Nadeau and Bengio: the variance of the mean is s²·(1/n + test rows / training rows)."""
    x = [0.1, 0.4, 0.25, 0.3, 0.2]
    found = mean_with_interval(x, training_share=0.9, rng=rng())
    assert found.high is not None
    half = stats.t.ppf(0.975, 4) * np.std(x, ddof=1) * sqrt(1 / 5 + 1 / 9)
    assert found.high - np.mean(x) == pytest.approx(half)
    many = mean_with_interval(x * 6, training_share=0.5, rng=rng())
    assert many.how == "t, overlapping rows"


def paired_p_value(x: list[float], training_share: float | None = None) -> float | None:
    nothing = [0.0] * len(x)
    return paired_difference(x, nothing, training_share=training_share, rng=rng())[1].p_value


def test_differences_that_cancel_out_are_exactly_nothing() -> None:
    """The mean of rounded ratios would be about 1e-18, which reads as if it were something."""
    a, b = [0.1, 0.7, 0.3], [0.7, 0.3, 0.1]
    assert paired_difference(a, b, rng=rng())[0].mean == 0
    assert unpaired_difference(a, b)[0].mean == 0


def test_p_value_of_paired_differences() -> None:
    x = [0.1, 0.4, -0.25, 0.3, 0.2]
    assert paired_p_value(x) == pytest.approx(stats.ttest_1samp(x, 0).pvalue)
    wider, narrower = paired_p_value(x, 0.5), paired_p_value(x)
    assert wider is not None
    assert narrower is not None
    assert wider > narrower


@pytest.mark.parametrize("count", [2, 3, 6, 9, 25])
def test_equal_differences_have_the_p_value_of_their_signs(count: int) -> None:
    """Against all ways to exchange the two groups within replicates; never a p-value of 0."""
    a, b = [0.9] * count, [0.85] * count
    signs = product((-1, 1), repeat=min(count, 9))
    sums = [abs(sum(sign)) for sign in signs]
    exact = sum(s == min(count, 9) for s in sums) / len(sums) * 2.0 ** (min(count, 9) - count)
    mean, test = paired_difference(a, b, rng=rng())
    assert test.p_value == pytest.approx(exact)
    assert test.how == "exact signs"
    assert (mean.low, mean.high, mean.spread) == (None, None, 0.0)
    assert mean.how == "equal replicates have no spread"
    assert paired_difference(a, a, rng=rng())[1] == DifferenceTest(1.0, "exact signs")


def test_equal_differences_are_found_in_spite_of_rounding() -> None:
    """0.9 - 0.85 and 0.3 - 0.25 differ in the last bit, which is no spread."""
    _, test = paired_difference([0.9, 0.3, 0.7], [0.85, 0.25, 0.65], rng=rng())
    assert test == DifferenceTest(0.25, "exact signs")
    tiny = 2.0**-70
    _, test = paired_difference([tiny, 2 * tiny, 4 * tiny], [0, 0, 0], rng=rng())
    assert test.how == "t"


def test_equal_differences_on_overlapping_rows_are_not_tested() -> None:
    _, test = paired_difference([0.5] * 4, [0.25] * 4, training_share=0.5, rng=rng())
    assert test == DifferenceTest(None, "no spread, overlapping rows")
    assert paired_difference([0.5] * 4, [0.5] * 4, training_share=0.5, rng=rng())[1].p_value == 1


@pytest.mark.parametrize(("first", "second"), [(2, 2), (3, 3), (2, 4), (4, 3)])
def test_groups_without_spread_have_the_p_value_of_permutations(first: int, second: int) -> None:
    values = [0.5] * first + [0.25] * second
    apart = []
    for own in combinations(range(len(values)), first):
        others = [values[k] for k in range(len(values)) if k not in own]
        apart.append(abs(np.mean([values[k] for k in own]) - np.mean(others)))
    exact = np.mean(np.array(apart) >= 0.25 - 1e-9)
    mean, test = unpaired_difference(values[:first], values[first:])
    assert test.p_value == pytest.approx(exact)
    assert test.how == "exact permutation"
    assert mean.low is None
    assert unpaired_difference([0.5] * first, [0.5] * second)[1].p_value == 1


def test_equal_replicates_have_no_interval() -> None:
    for count in (2, 19, 20, 30):
        found = mean_with_interval([0.1 + 0.2] * (count - 1) + [0.3], rng=rng())
        assert found.mean == pytest.approx(0.3)
        assert (found.low, found.high) == (None, None)
        assert found.how == "equal replicates have no spread"


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_no_interval_goes_beyond_the_range(metric: str) -> None:
    """The means of two or three replicates have wide intervals by t."""
    groups = {"near": comparisons(0, 1, 6), "far": comparisons(3, 4, 5)}
    found = summarize(groups, metrics=[metric])
    least, most = METRICS[metric].range
    for one in found.means:
        value = one.value
        assert value.low is None or least <= value.low <= (value.mean or 0)
        assert value.high is None or (value.mean or 0) <= value.high <= most
    [difference] = found.differences
    assert difference.value.low is None or difference.value.low >= least - most
    assert difference.value.high is None or difference.value.high <= most - least


def test_a_cut_interval_says_so() -> None:
    x = [0.1, 0.0, 0.9]
    free, cut = (mean_with_interval(x, within=w, rng=rng()) for w in ((-9, 9), (0, 1)))
    assert not free.cut
    assert (cut.low, cut.high, cut.cut) == (0, 1, True)
    mean, _ = unpaired_difference([0.0, 1.0], [0.0, 0.9], within=(0, 1))
    assert (mean.low, mean.high, mean.cut) == (-1, 1, True)
    # A mean that is not in the range shows that the range is not that of these numbers.
    assert not mean_with_interval([1.0, 5.0], within=(0, 1), rng=rng()).cut
    found = summarize({"near": comparisons(0, 1)}, metrics=["normalized"])
    assert found.records()[0]["cut"]
    words = "Intervals are cut where the metric ends."
    assert words in " ".join(as_text(summary_parts(found)).split())


@pytest.mark.parametrize("first", [[0.5, 0.5, 0.5], [0.5, 0.5, 0.75]])
def test_welch_against_scipy(first: list[float]) -> None:
    """Also where one group has no spread, of which SciPy warns."""
    second = [0.25, 0.125, 0.5, 0.375]
    mean, test = unpaired_difference(first, second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = stats.ttest_ind(first, second, equal_var=False)
        low, high = expected.confidence_interval(0.95)
    assert test.p_value == pytest.approx(expected.pvalue)
    assert mean.low == pytest.approx(low)
    assert mean.high == pytest.approx(high)


def test_values_that_cannot_be_summarized_are_refused() -> None:
    with pytest.raises(ContextwiseError, match="there are no values to summarize"):
        summarize_values({})
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ContextwiseError, match="seconds of the group 'a' must be finite"):
            summarize_values({"seconds": {"a": [1.0, bad], "b": [1.0, 2.0]}})
    with pytest.raises(ContextwiseError, match="equally many truths, got a: 1, b: 2"):
        summarize_values({"seconds": {"a": [1.0], "b": [1.0, 2.0]}})
    unpaired = {"seconds": {"a": [1.0, 3.0], "b": [1.0, 2.0, 4.0]}}
    assert summarize_values(unpaired, unit="replicate", paired=False).differences[0].test == "Welch"


def test_verdicts_of_ranks_are_sentences() -> None:
    same = rank_groups(
        {"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [1.0, 2.0]},
        metric="fp_share",
        larger_is_better=False,
    )
    words = "All groups have the same mean rank by FP share over 2 truths (Friedman, p = 1)."
    assert same.verdict == words
    two = {"a": [1.0, 2.0], "b": [2.0, 1.0], "c": [3.0, 3.0]}
    verdict = rank_groups(two, metric="fn_share", larger_is_better=False).verdict
    assert verdict.startswith("a and b rank first by FN share over 2 truths, ")
    three = {"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 1.0], "c": [3.0, 1.0, 2.0], "d": [4.0, 4.0, 4.0]}
    verdict = rank_groups(three, metric="fn_share", larger_is_better=False).verdict
    assert verdict.startswith("a, b and c rank first by FN share over 3 truths, ")


def test_groups_that_never_vary_are_told_in_words() -> None:
    same = {"near": comparisons(0, 0, 0), "far": comparisons(3, 3, 3)}
    found = summarize(same, metrics=["normalized"])
    [record] = found.difference_records()
    assert (record["p_value"], record["holm_p_value"], record["test"]) == (
        0.25,
        0.25,
        "exact signs",
    )
    text = " ".join(as_text(summary_parts(found)).split())
    assert "equal replicates have no spread" in text
    assert "p is exact: how often all signs agree" in text
    apart = summarize(
        {"near": comparisons(0, 0), "far": comparisons(3, 3, 3)}, metrics=["normalized"]
    )
    assert apart.differences[0].test == "exact permutation"
    assert apart.differences[0].p_value == 0.1
    overlapping = summarize(same, metrics=["normalized"], training_share=0.5)
    assert overlapping.differences[0].p_value is None
    assert "overlapping rows are not tested" in " ".join(
        as_text(summary_parts(overlapping)).split()
    )


def test_holm_against_its_definition() -> None:
    p_values = [0.2, 0.001, 0.04, 0.03, 0.04]
    adjusted = holm(p_values)
    order = sorted(range(5), key=lambda k: p_values[k])
    largest = 0.0
    for place, k in enumerate(order):
        largest = max(largest, min(1.0, (5 - place) * p_values[k]))
        assert adjusted[k] == pytest.approx(largest)
    assert holm([]) == []


def test_summary_of_groups() -> None:
    groups = {"near": comparisons(0, 1, 2, 6), "far": comparisons(3, 4, 5, 9)}
    found = summarize(groups)
    by_hand = [c.normalized for c in groups["near"]]
    assert found.mean("near", "normalized").mean == pytest.approx(np.mean(by_hand))
    assert found.mean("near", "kappa").mean == pytest.approx(
        np.mean([c.rate("kappa", 0.0) for c in groups["near"]])
    )
    assert found.paired
    one = next(d for d in found.differences if d.metric == "normalized")
    both = [a.normalized - b.normalized for a, b in zip(*groups.values(), strict=True)]
    assert one.p_value == pytest.approx(stats.ttest_1samp(both, 0).pvalue)
    assert one.adjusted == one.p_value


def test_groups_of_different_sizes_are_not_paired() -> None:
    groups = {"near": comparisons(0, 1, 2, 6), "far": comparisons(3, 4, 5)}
    found = summarize(groups, metrics=["normalized"])
    assert not found.paired
    a, b = ([c.normalized for c in own] for own in groups.values())
    assert found.differences[0].p_value == pytest.approx(
        stats.ttest_ind(a, b, equal_var=False).pvalue
    )
    with pytest.raises(ContextwiseError, match="paired groups must have equally many replicates"):
        summarize(groups, paired=True)


def test_three_groups_are_corrected_together() -> None:
    groups = {name: comparisons(*range(k, k + 5)) for k, name in enumerate("abc")}
    found = summarize(groups, metrics=["normalized", "fp_share"])
    own = [d for d in found.differences if d.metric == "fp_share"]
    assert [d.adjusted for d in own] == holm([d.p_value or 0.0 for d in own])


def test_one_replicate_is_a_clear_word() -> None:
    found = summarize({"a": comparisons(0), "b": comparisons(1)})
    assert found.mean("a", "normalized").how == "one replicate has no spread"
    assert all(d.p_value is None for d in found.differences)
    text = as_text(summary_parts(found))
    assert "one replicate has no spread" in text
    words = "Tests need at least two replicates in both groups."
    assert words in " ".join(text.split())
    assert "nan" not in text


def test_undefined_values_are_left_out_and_counted() -> None:
    empty = Structure(DOMAIN)
    found = summarize({"a": [compare(empty, empty), compare(empty, guess(1))]})
    mcc = next(m for m in found.means if m.metric == "mcc")
    assert mcc.undefined == 2
    assert mcc.value.mean is None
    text = as_text(summary_parts(found))
    assert "MCC" in text[text.index("Not defined for any group:") :]


def test_over_several_truths_the_truths_vary() -> None:
    truths = [Structure(DOMAIN, [text, "A=1 & C=1"]) for text in TEXTS[:4]]
    groups = {
        name: [c for t in truths for c in comparisons(*numbers, true=t)]
        for name, numbers in (("a", (0, 1)), ("b", (2, 3)), ("c", (4, 5)))
    }
    labels = {name: [str(k) for k in range(4) for _ in range(2)] for name in groups}
    found = summarize(groups, truths=labels, metrics=["normalized"])
    assert found.unit == "truth"
    values = {
        name: [np.mean([c.normalized for c in own[2 * k : 2 * k + 2]]) for k in range(4)]
        for name, own in groups.items()
    }
    assert found.mean("a", "normalized").mean == pytest.approx(np.mean(values["a"]))
    assert found.mean("a", "normalized").count == 4
    [ranking] = found.rankings
    assert ranking.p_value == pytest.approx(stats.friedmanchisquare(*values.values()).pvalue)
    text = as_text(summary_parts(found))
    assert "Mean ranks over 4 truths" in text
    assert "(Friedman)" in text


def test_critical_difference_of_demsar() -> None:
    """His table 5: q for α = 0.05 is 2.343, 2.569 and 2.728 for 3, 4 and 5 classifiers."""
    for k, quantile in ((3, 2.343), (4, 2.569), (5, 2.728)):
        values = {str(g): [float(g + t % 2) for t in range(10)] for g in range(k)}
        found = rank_groups(values, metric="normalized", larger_is_better=False)
        assert found.critical_difference == pytest.approx(
            quantile * sqrt(k * (k + 1) / 60), abs=2e-3
        )


def test_ranks_know_which_way_is_better() -> None:
    values = {"low": [0.1, 0.2, 0.1], "high": [0.9, 0.8, 0.9], "middle": [0.5, 0.5, 0.4]}
    small = rank_groups(values, metric="normalized", larger_is_better=False)
    large = rank_groups(values, metric="mcc", larger_is_better=True)
    assert small.groups == ("low", "middle", "high")
    assert large.groups == small.groups[::-1]
    two = rank_groups(
        {"a": [1.0, 2.0, 3.0], "b": [1.5, 2.5, 3.5]}, metric="fp_share", larger_is_better=False
    )
    assert (two.test, two.critical_difference) == ("Wilcoxon", None)
    same = rank_groups(
        {"a": [1.0, 2.0], "b": [1.0, 2.0]}, metric="fp_share", larger_is_better=False
    )
    assert same.p_value == 1
    with pytest.raises(ContextwiseError, match="two groups and two truths"):
        rank_groups({"a": [1.0, 2.0]}, metric="fp_share", larger_is_better=False)


def test_picture_of_critical_differences() -> None:
    values = {str(g): [float(g + t % 2) for t in range(4)] for g in range(4)}
    ranking = rank_groups(values, metric="normalized", larger_is_better=False)
    axes = plot_critical_difference(ranking).axes[0]
    assert [text.get_text() for text in axes.texts][1:] == [f"{g}  {g + 1:.2f}" for g in range(4)]
    two = rank_groups({"a": [1.0, 2.0], "b": [2.0, 4.0]}, metric="fp_share", larger_is_better=False)
    with pytest.raises(ContextwiseError, match="two groups have no critical difference"):
        plot_critical_difference(two)


def test_bars_of_groups_that_do_not_differ_stand_apart() -> None:
    values = {str(g): [float(g + t % 2) for t in range(6)] for g in range(5)}
    ranking = rank_groups(values, metric="normalized", larger_is_better=False)
    axes = plot_critical_difference(ranking).axes[0]
    FigureCanvasAgg(axes.figure).draw()  # type: ignore[arg-type, no-untyped-call]

    def height(place: Any) -> float:
        """Above the bottom of the figure, in points."""
        return float(axes.transData.transform(place)[1]) * 72 / axes.figure.dpi

    bars = [line for line in axes.lines if line.get_linewidth() == 2.5]
    heights = [height(np.asarray(line.get_xydata())[0]) for line in bars]
    assert len(heights) == len(ranking.alike()) > 1
    assert all(above - below > 5 for above, below in pairwise(heights))
    names = [height(text.get_position()) for text in axes.texts[1:]]
    assert min(heights) - max(names) > 8  # no bar runs through a name


def test_latex_is_escaped() -> None:
    assert escaped("a_b & 5 %") == r"a\_b \& 5 \%"
    text = as_latex(
        summary_parts(summarize({"my_trees": comparisons(0, 1)}, metrics=["normalized"]))
    )
    assert r"my\_trees & 2 & " in text
    assert text.count(r"\begin{tabular}") == 1


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ContextwiseError, match="there are no comparisons"):
        summarize({})
    with pytest.raises(ContextwiseError, match="the group 'b' has no comparisons"):
        summarize({"a": comparisons(0), "b": []})
    with pytest.raises(ContextwiseError, match="unknown metric 'auc'"):
        summarize({"a": comparisons(0, 1)}, metrics=["auc"])
    with pytest.raises(ContextwiseError, match="between 0 and 1, got 1"):
        summarize({"a": comparisons(0, 1)}, training_share=1.0)
    with pytest.raises(ContextwiseError, match="has no comparison with 'y'"):
        summarize(
            {"a": comparisons(0, 1), "b": comparisons(0)}, truths={"a": ["x", "y"], "b": ["x"]}
        )
    with pytest.raises(ContextwiseError, match="2 comparisons and 1 truths"):
        summarize({"a": comparisons(0, 1)}, truths={"a": ["x"]})


TABLE = """\
truth,learner,normalized,f1,SHD
a,trees,0.1,0.9,3
a,trees,0.3,,5
a,pairs,0.4,0.5,4
b,trees,0.2,0.8,1
b,pairs,0.1,0.6,2
c,trees,0.2,0.7,7
c,pairs,0.3,0.8,9
"""


def test_a_table_of_results(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(TABLE)
    found = read_results(path, metrics=["normalized", "f1"])
    assert found["normalized"] == {
        "trees": [pytest.approx(0.2), 0.2, 0.2],  # two runs on one truth are averaged
        "pairs": [0.4, 0.1, 0.3],
    }
    assert found["f1"]["trees"] == [0.9, 0.8, 0.7]  # an empty cell is left out
    assert list(read_results(path)) == ["normalized"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TABLE, {"metrics": ["kl"]}, r"t\.csv:1: no column 'kl'; there are 'truth', "),
        (TABLE, {"group": "method"}, "no column 'method'"),
        ("x,y\n1,2\n", {}, "no column 'truth', 'true'"),
        (
            TABLE.replace("0.2,0.8", "high,0.8"),
            {},
            r"t\.csv:5: normalized must be a number, got 'high'",
        ),
        (TABLE.replace("c,pairs,0.3,0.8,9\n", ""), {}, "'pairs' has no row for the truth 'c'"),
        ("truth,learner,normalized\n", {}, "the table has no rows"),
        (TABLE.replace("0.1,0.9", "inf,0.9"), {}, "got 'inf'"),
    ],
)
def test_bad_tables_are_refused(
    tmp_path: Path, text: str, options: dict[str, Any], message: str
) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ParseError, match=message):
        read_results(tmp_path / "t.csv", **options)


def test_values_are_ranked_where_all_groups_have_one() -> None:
    values: dict[str, list[float | None]] = {"a": [1.0, 2.0, None, 1.0], "b": [2.0, 3.0, 1.0, 4.0]}
    [ranking] = summarize_values({"distance": values}).rankings
    known = {"a": [1, 2, 1], "b": [2, 3, 4]}
    assert ranking == rank_groups(known, metric="distance", larger_is_better=False)
    [better] = summarize_values({"distance": values}, smaller_is_better=()).rankings
    assert better.groups == ("b", "a")
    assert not summarize_values({"distance": {"a": [1.0], "b": [2.0]}}).rankings
    assert not summarize_values({"distance": values}, unit="replicate").rankings


def test_verdicts() -> None:
    many = {"a": [1.0] * 9, "b": [1.0] * 9, "c": [2.0] * 9}
    verdict = rank_groups(many, metric="distance", larger_is_better=False).verdict
    assert verdict.startswith("a and b rank first by distance over 9 truths, and the groups are")
    assert verdict.endswith("of each other: a, b.")
    two = {"a": [1.0, 2.0], "b": [2.0, 3.0]}
    verdict = rank_groups(two, metric="f1", larger_is_better=True).verdict
    assert verdict == (
        "b ranks first by f1 over 2 truths, but the groups could be alike (Wilcoxon, p = 0.5)."
    )


def test_the_verdict_names_the_best_group_and_what_it_can_be_distinguished_from() -> None:
    values: dict[str, list[float | None]] = {
        "hc": [0.05, 0.07, 0.06, 0.08],
        "trees": [0.06, 0.06, 0.08, 0.09],
        "chow-liu": [0.3, 0.31, 0.33, 0.35],
    }
    found = summarize_values({"normalized": values}, unit="replicate")
    assert found.verdict.startswith(
        "hc is nearest to the truth (mean normalized distance 0.0650, 95 % interval "
    )
    p_values = {
        (d.first, d.second): f"{d.adjusted:.2g}"
        for d in found.differences
        if d.adjusted is not None
    }
    assert (
        f"It cannot be distinguished from trees (p = {p_values['hc', 'trees']}); it is better than "
        f"chow-liu (p = {p_values['hc', 'chow-liu']}) after Holm's correction."
    ) in found.verdict
    assert as_text(summary_parts(found)).startswith("hc is nearest to the truth")
    single = summarize_values({"normalized": {"hc": [0.25], "trees": [0.5]}}, unit="replicate")
    assert "too few replicates" in single.verdict


def test_a_skill_that_is_nowhere_defined_is_left_out() -> None:
    """Relabelling two variables cannot change a distance."""
    true = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    found = summarize({"a": [compare(true, Structure(true.domain))] * 2})
    text = as_text(summary_parts(found))
    assert "skill" not in text.split("Intervals")[0]
    undefined = text[text.index("Not defined for any group") :]
    assert "MCC" in undefined
    assert "skill" in undefined


class TestVerdicts:
    def test_a_test_against_the_leader_is_reported_with_its_sign(self) -> None:
        """Four replicates have no value of a; on the others b is larger."""
        values: dict[str, list[float | None]] = {
            "a": [0.5, 0.51, 0.49, 0.5, None, None, None, None],
            "b": [0.6, 0.612, 0.589, 0.6, 0.0, 0.01, 0.0, 0.01],
        }
        verdict = summarize_values({"mcc": values}, unit="replicate").verdict
        assert verdict.startswith("a has the largest MCC")
        assert "On the replicates that both have, b (p = 5.5e-07) is better than a." in verdict
        assert "is better than b" not in verdict

    @pytest.mark.parametrize(
        ("metric", "words"),
        [
            ("normalized", "Both groups are equally near to the truth"),
            ("mcc", "Both groups have the same mean MCC"),
        ],
    )
    def test_equal_groups_have_no_winner(self, metric: str, words: str) -> None:
        values = [0.5, 0.3, 0.4]
        verdict = summarize_values({metric: {"a": values, "b": values}}, unit="replicate").verdict
        assert verdict.startswith(words)

    def test_tied_winners_are_all_named(self) -> None:
        values = {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.9, 0.8, 0.85]}
        verdict = summarize_values({"normalized": values}, unit="replicate").verdict
        assert verdict.startswith("a and b are nearest to the truth")
        assert "a cannot be distinguished from b (p = 1); a is better than c (p = 0.027)" in verdict
        assert "b is better than c" in verdict
