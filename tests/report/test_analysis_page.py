"""The page of an analysis: its sections, its words, and pages for 2 to 70 variables."""

from __future__ import annotations

import re
from dataclasses import replace
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contextwise import Structure
from contextwise.analysis.findings import Analysis, analyse, analysis_of
from contextwise.analysis.pair_rows import WithInterval, rows_where
from contextwise.data.rows import Data, read_data
from contextwise.errors import DomainError, OpenResult
from contextwise.models.domain import Domain
from contextwise.models.evidence import (
    CONTRADICTED,
    NOT_CONTRADICTED,
    UNTESTABLE,
    ClaimEvidence,
    Effect,
)
from contextwise.models.notation import Literal
from contextwise.report.analysis_notes import cautions, methods, terminal_lines
from contextwise.report.analysis_page import card_html, page_of_analysis, strength_plot
from contextwise.report.analysis_words import (
    card_sentence,
    context_phrase,
    disagreement_sentence,
    effect_remark,
    first_sentence,
    p_value,
    percent,
    plain,
    points,
    strongest_sentence,
)
from contextwise.support.effort import Effort

HOSTILE = "<img src=x onerror=\"throw Error('run')\">"


def chain(variables: int, rows: int = 700, names: list[str] | None = None) -> Data:
    """Return rows of a chain: each variable depends on the one before."""
    rng = np.random.default_rng(variables)
    columns = [rng.integers(0, 2, rows)]
    for _ in range(variables - 1):
        columns.append(np.where(rng.random(rows) < 0.8, columns[-1], 1 - columns[-1]))
    labels = names or [f"v{k}" for k in range(variables)]
    return Data(Domain(dict.fromkeys(labels, 2)), np.stack(columns, axis=1))


def analysed(data: Data | str | pd.DataFrame, **options: object) -> Analysis:
    return analyse(data, **{"resamples": 2, "learner": "mpl", **options})  # type: ignore[arg-type]


def text_of(page: str) -> str:
    body = re.sub(r"<(style|script).*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_the_page_has_all_sections() -> None:
    result = analysed("titanic")
    page = text_of(page_of_analysis(result, command="contextwise analyse titanic", model="t.json"))
    for words in (
        plain(first_sentence(result)).split(" when ")[0],
        "claims, tested:",
        "The picture",
        "Pair by pair",
        "The claims and their evidence",
        "Found again in 2 random halves",
        "The data, as read",
        "Before you quote this",
        "Methods paragraph for a paper",
        "All pairs as a table",
        "On 734 rows that the learner did not see.",
    ):
        assert words in page, words
    assert not re.search(r"\b(features?|scopes?|assertions?|bits)\b", page)


@pytest.mark.parametrize("variables", [2, 3, 5, 12, 13, 30, 61])
def test_any_number_of_variables(variables: int) -> None:
    result = analysed(chain(variables), resamples=0)
    page = page_of_analysis(result)
    assert (page.count('class="matrix"') == 1) == (13 <= variables <= 60)
    assert (page.count('class="map"') == 1) == (3 <= variables <= 12)
    assert plain(first_sentence(result)) in text_of(page).replace(" .", ".") or variables > 2
    assert 5 <= len(terminal_lines(result, "a.html", "a.json")) <= 20


def test_every_variable_is_in_the_graph_also_an_isolated_one() -> None:
    data = chain(3)
    rng = np.random.default_rng(0)
    rows = np.column_stack([data.rows, rng.integers(0, 2, len(data))])
    domain = Domain({**dict.fromkeys(data.domain.names, 2), "alone": 2})
    page = page_of_analysis(analysed(Data(domain, rows)))
    nodes = re.findall(r'<g class="node"><title>([^<]*)', page)
    assert nodes == [*data.domain.names, "alone"]


def test_a_label_is_beside_the_gap_of_an_interrupted_line() -> None:
    result = analysed("berkeley", learner="pair-blocks", holdout=0)
    gap = result.finding("Admit", "Gender")
    page = page_of_analysis(replace(result, findings=(gap,)))
    x1, y1, x2, y2 = (
        float(re.search(rf'class="gapline"[^>]*? {end}="([\d.]+)"', page)[1])  # type: ignore[index]
        for end in ("x1", "y1", "x2", "y2")
    )
    label = re.search(r'class="num" x="([\d.]+)" y="([\d.]+)"', page)
    assert label is not None
    x, y = float(label[1]), float(label[2])
    assert hypot(x - (x1 + x2) / 2, y - (y1 + y2) / 2) > 30


def test_the_label_of_a_short_level_line_does_not_hide_it() -> None:
    page = page_of_analysis(analysed(chain(9), resamples=0))
    number = r'="([\d.]+)"'
    ends = rf'class="solid"[^>]*? x1{number} y1{number} x2{number} y2{number}'
    lines = [tuple(map(float, found)) for found in re.findall(ends, page)]
    short = [(x1, y1, x2, y2) for x1, y1, x2, y2 in lines if hypot(x1 - x2, y1 - y2) < 170]
    level = [each for each in short if abs(each[1] - each[3]) < 30]
    assert level
    labels = re.findall(rf'class="num" x{number} y{number}', page)
    for x1, y1, x2, y2 in level:
        middle = (x1 + x2) / 2, (y1 + y2) / 2 + 6
        assert min(hypot(float(x) - middle[0], float(y) - middle[1]) for x, y in labels) > 20


def test_two_variables_are_one_sentence() -> None:
    assert plain(first_sentence(analysed(chain(2)))) == "v0 and v1 are associated."


@pytest.mark.parametrize("outcome", [None, "v1"])
def test_pairs_that_were_not_tested_are_not_called_independent(outcome: str | None) -> None:
    result = analysed(chain(4), time_limit=0, outcome=outcome)
    about = "3 pairs of v1 with another variable" if outcome else "6 pairs"
    assert plain(first_sentence(result)) == f"None of the {about} was tested."
    page = text_of(page_of_analysis(result))
    assert "The analysis was stopped" in page
    assert "no association" not in page.replace("no association.", "")
    assert "claims no independence" not in page
    assert "claims, tested" not in page


def test_two_variables_that_were_not_tested() -> None:
    result = analysed(chain(2), time_limit=0)
    assert plain(first_sentence(result)) == "v0 and v1: not tested."


def test_a_sample_of_the_pairs_is_not_taken_for_all() -> None:
    rows = np.random.default_rng(0).integers(2, size=(1500, 100))
    data = Data(Domain({f"v{k}": 2 for k in range(100)}), rows)
    result = analysed(data, learner="independent", resamples=0)
    assert plain(first_sentence(result)) == (
        "The rows show no association in any of the 1,000 tested pairs when the rest are held "
        "fixed; 3,950 pairs not tested."
    )
    assert "500 at random" in text_of(page_of_analysis(result))


def test_pairs_that_could_not_be_tested_are_counted() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 60)
    rows = np.stack([first, first, rng.integers(0, 2, 60), np.eye(60, dtype=int)[7]], axis=1)
    result = analysed(Data(Domain(dict.fromkeys("abcd", 2)), rows), learner="pair-blocks")
    assert plain(first_sentence(result)).endswith("a with b; 5 pairs could not be tested.")
    told = (
        "Caution: 5 of 6 claims could not be tested. With fewer columns (--columns A,B,...) or bins"
    )
    assert any(line.startswith(told) for line in terminal_lines(result, "a.html", "a.json"))


def test_the_page_of_a_given_model_names_dropped_rows_and_no_options_of_analyse() -> None:
    rows: list[dict[str, object]] = [{"x": k % 2, "y": k % 3 % 2} for k in range(60)]
    data = read_data([*rows, {"x": "", "y": 1}], missing="drop")
    result = analysis_of(Structure(data.domain, []), data, "model.json", Effort.of(None))
    page = text_of(page_of_analysis(result))
    assert "dropped" in page.split("Decisions")[1]
    assert "all 60 used" not in page
    assert "--holdout" not in page
    assert "--outcome" not in page
    assert "The structure was given" in page


def test_groups_that_take_too_long_do_not_cost_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise OpenResult("not all pairs were tested within the time limit")

    monkeypatch.setattr("contextwise.analysis.findings.groups", late)
    result = analysed("titanic", by="sex")
    assert result.unfinished == ("the groups of sex not compared",)
    assert "the groups of sex not compared" in text_of(page_of_analysis(result))


@pytest.mark.parametrize("name", ["berkeley", "titanic", "women-math"])
def test_the_context_of_a_pair_is_the_one_of_its_rows(name: str) -> None:
    result = analysed(name, resamples=0, learner="pair-blocks", holdout=0)
    weights = result.data.weights
    for finding in result.findings:
        for region, where in (
            (finding.only_where, finding.inside),
            (finding.not_where, None if finding.inside is None else ~finding.inside),
        ):
            if region:
                assert where is not None
                assert np.array_equal(rows_where(result.data, region), where)
        if finding.inside is not None:
            share = weights[finding.inside].sum() / len(result.data)
            assert finding.holds == pytest.approx(share)


def test_numbers_of_a_context_are_not_given_for_all_rows() -> None:
    """B copies A where C is 1, and the strongest association says so."""
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 2000))
    rows = np.stack([a, np.where(c == 1, a, b), c], axis=1)
    result = analysed(Data(Domain(dict.fromkeys("ABC", 2)), rows), learner="pair-blocks")
    assert result.finding("A", "B").partly
    told = plain(strongest_sentence(result))
    assert "association is A with B, only where C is 1: " in told
    assert "100 %" in told


@pytest.mark.parametrize("strength", [None, WithInterval(0.2, 0.1, 0.3)])
def test_a_limit_that_the_rows_do_not_show_either_is_not_stated(
    strength: WithInterval | None,
) -> None:
    found = analysed("berkeley", learner="pair-blocks", holdout=0).finding("Admit", "Gender")
    claims = [replace(c, verdict=UNTESTABLE) if not c.dependent else c for c in found.claims]
    assert plain(context_phrase(found)) == "only where Dept is A"
    changed: dict[str, Any] = {"elsewhere": strength} if strength else {"claims": tuple(claims)}
    assert plain(context_phrase(replace(found, **changed))) == "shown only where Dept is A"


def test_the_page_follows_the_rows_where_the_learner_is_wrong() -> None:
    result = analysed(chain(3), learner="independent")
    assert {f.kind for f in result.findings if f.associated} == {"left out"}
    page = text_of(page_of_analysis(result))
    assert "Left out by the model, but shown by the rows" in page
    assert "A dashed line" in page


def test_associations_come_before_pairs_that_the_tests_do_not_show() -> None:
    result = analysed("titanic", resamples=0)
    first, *rest = result.findings
    changed = replace(result, findings=(replace(first, kind="not shown"), *rest))
    kinds = [f.associated for f in changed.ranked]
    assert kinds == sorted(kinds, reverse=True)
    assert changed.ranked[sum(kinds)].kind == "not shown"


def test_rows_that_the_learner_saw_are_told_everywhere() -> None:
    page = text_of(page_of_analysis(analysed(chain(3, rows=200))))
    assert "On the rows that the learner saw, so claims look better" in page
    assert "Tests on the rows that the learner saw" in page


def test_the_outcome_comes_first() -> None:
    result = analysed("titanic", outcome="survived")
    assert plain(first_sentence(result)).startswith("survived is associated with")
    assert all("survived" in f.pair for f in result.ranked[:3])
    assert "survived" in plain(strongest_sentence(result))


def test_small_counts_are_hidden() -> None:
    shown = page_of_analysis(analysed("titanic", learner="pair-blocks"))
    assert "show fewer than 5 rows" in text_of(shown)
    hidden = page_of_analysis(analysed("titanic", learner="pair-blocks", smallest_count=5))
    assert "hidden" in text_of(hidden)
    groups = re.findall(r"<small>([\d,]+) of ([\d,]+)</small>", hidden)
    cells = [(int(a.replace(",", "")), int(b.replace(",", ""))) for a, b in groups]
    assert cells
    assert all(c == 0 or c >= 5 for part, whole in cells for c in (part, whole - part))


def test_a_rare_state_is_not_told_by_its_share_or_bar() -> None:
    rows = np.stack([np.arange(60) % 2, (np.arange(60) < 3).astype(int)], axis=1)
    page = page_of_analysis(analysed(Data(Domain({"a": 2, "rare": 2}), rows), smallest_count=5))
    assert "is rare" not in page
    box = page.split("<h3>rare</h3>")[1].split("</h3>")[0]
    assert "&lt; 5" in box
    assert ">5 %" not in box.replace("\xa0", " ")
    assert "width:5.0%" not in box


@pytest.mark.parametrize("columns", [["a", "b"], ["a", "b", "c"], ["a", "c"]])
def test_neither_totals_nor_sentences_tell_a_rare_state(columns: list[str]) -> None:
    """Three rows of 600 have a rare state, and two of them have b = 1."""
    states = {"a": ["x", "rare"], "b": ["0", "1"], "c": ["0", "1", "2"]}
    counted = np.arange(600)
    values = {"a": counted < 3, "b": (counted + 1) % 2, "c": counted // 2 % 3}
    rows = np.stack([values[name].astype(int) for name in columns], axis=1)
    data = Data(Domain({name: states[name] for name in columns}), rows)
    shown = text_of(page_of_analysis(analysed(data)))
    assert "597" in shown
    hidden = text_of(page_of_analysis(analysed(data, smallest_count=5)))
    assert not {"597", "599", "598"} & set(re.findall(r"[\d,]+", hidden))
    assert "where a is" not in hidden
    assert "67 %" not in hidden.replace("\xa0", " ")


def test_two_columns_that_say_the_same_are_named() -> None:
    data = chain(2)
    rows = np.column_stack([data.rows, data.rows[:, 0]])
    domain = Domain({"a": 2, "b": 2, "again": 2})
    assert "a and again say nearly the same" in cautions(analysed(Data(domain, rows)), 0)[0]


def test_all_pairs_that_say_the_same_are_named() -> None:
    data = chain(2)
    columns = {"a": 2, "b": 2, "again": 2, "twice": 2}
    rows = np.column_stack([data.rows, data.rows])
    (told,) = [t for t in cautions(analysed(Data(Domain(columns), rows)), 0) if "the same" in t]
    assert told.startswith("a and again say nearly the same; so do b and twice.")
    assert told.endswith("`--drop again,twice`.")


def test_a_card_names_the_group_where_shares_differ_if_their_average_does_not() -> None:
    ones = {(0, 0): 140, (1, 0): 100, (2, 0): 60, (0, 1): 60, (1, 1): 100, (2, 1): 140}  # of 200
    rows = [(a, z, b) for (a, z), n in ones.items() for b in [1] * n + [0] * (200 - n)]
    data = Data(Domain({"a": 3, "z": 2, "b": 2}), np.array(rows))
    result = analysed(data, holdout=0)
    found = replace(result.finding("a", "b"), given=("z",), adjusted=WithInterval(0.3, 0.2, 0.4))
    told = plain(card_sentence(result.card(found)))
    group = (
        "Groups differ: where z is 0, b is 1 for 70 % where a is 0, for 30 % where it is 2 (crude)"
    )
    assert group in told


def test_names_are_escaped() -> None:
    page = page_of_analysis(analysed(chain(3, names=[HOSTILE, "b & c", "d{}"])))
    assert "<img" not in page
    assert "b &amp; c" in page
    assert "d{}" in page


def test_the_parts_stand_alone() -> None:
    result = analysed("titanic")
    finding = result.finding("survived", "sex")
    assert 'id="p-sex-survived"' in card_html(result.card(finding))
    assert strength_plot([]) is None


def test_numbers_are_written_for_people() -> None:
    assert [percent(x) for x in (0, 0.001, 0.46, 0.999, 1)] == [
        "0 %",
        "< 1 %",
        "46 %",
        "> 99 %",
        "100 %",
    ]
    assert [points(x) for x in (0.3, -0.071, 0.0)] == ["+30", "−7", "+0"]
    assert [p_value(p) for p in (None, 1e-9, 0.0491, 0.3239, 1.0)] == [
        "–",
        "< 0.001",
        "0.049",
        "0.32",
        "1",
    ]


def test_the_page_is_the_same_each_time(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    made = datetime(2026, 1, 2, tzinfo=UTC)
    first, second = (page_of_analysis(analysed("women-math"), made=made) for _ in range(2))
    assert first == second


def test_an_odds_ratio_that_does_not_show_the_association_is_explained() -> None:
    effect = Effect("odds ratio", 1.9, 0.79, 4.8)
    claim = ClaimEvidence(
        ("a", "b"), (), "independent", CONTRADICTED, (), 99, p=0.01, effect=effect
    )
    assert effect_remark(claim) == "shown in the groups, not on average"
    clear = replace(claim, effect=Effect("odds ratio", 1.9, 1.2, 4.8))
    assert not effect_remark(clear)
    unclear = replace(claim, verdict=NOT_CONTRADICTED)
    assert not effect_remark(unclear)


def test_rows_that_the_tests_have_seen_are_not_called_all_rows() -> None:
    finding = analysed("titanic", resamples=0).findings[0]
    seen = replace(finding, kind="not shown", adjusted=WithInterval(0.3, 0.2, 0.4), held_out=True)
    assert seen.in_all_rows
    assert not replace(seen, held_out=False).in_all_rows


def test_subjects_are_told_and_are_no_column_left_out() -> None:
    records = [{"": k, "visit": k // 2, "ill": k % 2, "old": k % 3 % 2} for k in range(120)]
    result = analysed(pd.DataFrame(records), subject="visit")
    lines = terminal_lines(result, "a.html", "a.json")
    told = "all 120 used, of 60 subjects (visit); the rows of one count together in the tests"
    assert f"Rows: {told}" in lines
    assert (
        "Columns: 2 used as categories; left out: the column without a name (row numbers)" in lines
    )
    assert not any(line.startswith("Numbers:") for line in lines)
    assert "each of 60 subjects, of which the larger p-value counts" in methods(result, "1")


def test_the_methods_name_settings_that_were_made() -> None:
    assert "pair-blocks (depth 2) of" in methods(analysed("titanic", learner="pair-blocks"), "1")


def test_the_groups_that_were_asked_for_are_told_in_the_terminal() -> None:
    lines = terminal_lines(analysed("berkeley", by="Dept"), "a.html", "a.json")
    (told,) = [line for line in lines if line.startswith("Groups: ")]
    assert "Admit and Gender differs between the groups of Dept" in told


def test_v_says_what_it_holds_fixed_if_the_shares_do_not() -> None:
    """C varies only where A is 1, in too few rows for shares: they are crude, and V is not."""
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 400)
    a = c + rng.integers(0, 2, 400)
    b = (a + c >= 2) ^ (rng.random(400) < 0.1)
    data = Data(Domain({"A": 3, "B": 2, "C": 2}), np.stack([a, b, c], axis=1))
    sentence = plain(strongest_sentence(analysed(data, outcome="B")))
    assert "strongest association is B with C" in sentence
    assert re.search(r"where it is 0 \(V 0\.\d\d with A held fixed\)\.$", sentence)


def test_the_terminal_lists_the_associations_of_the_outcome_first() -> None:
    lines = terminal_lines(analysed("titanic", outcome="age"), "a.html", "a.json")
    start = next(k for k, line in enumerate(lines) if line.startswith("Strongest"))
    assert ", those of age first (" in lines[start]
    about = ["age" in line.split("  ")[1].split(" – ") for line in lines[start + 1 : start + 5]]
    assert about == sorted(about, reverse=True)
    assert about.count(True) == 3


def test_a_column_computed_from_the_outcome_is_named_and_the_outcome_is_kept() -> None:
    rng = np.random.default_rng(0)
    weight, smokes = rng.integers(0, 4, 200), rng.integers(0, 2, 200)
    rows = np.stack([weight, smokes, (weight == 0) ^ (rng.random(200) < 0.03)], axis=1)
    result = analysed(Data(Domain({"weight": 4, "smokes": 2, "low": 2}), rows), outcome="low")
    (told,) = [text for text in cautions(result, 0) if "If one is computed from the other" in text]
    assert told.startswith("weight and low go together very closely (V 0.9")
    assert told.endswith("leave one out: `--drop weight`.")
    assert f"Caution: {told.replace('`', '')}" in terminal_lines(result, "a.html", "a.json")


def test_an_association_that_the_tests_cannot_decide_may_be_seen_in_all_rows() -> None:
    result = analysed("titanic", resamples=0)
    pair, clear = ("age", "survived"), WithInterval(0.2, 0.1, 0.3)
    findings = tuple(
        replace(f, kind="untested", adjusted=clear) if set(f.pair) == set(pair) else f
        for f in result.findings
    )
    told = plain(disagreement_sentence(replace(result, findings=findings)))
    words = (
        "shown by all 2,201 rows, but not by the 734 of the tests, which show only stronger ones"
    )
    assert f"In the model and {words}: age with survived." in told


def test_the_exception_of_a_single_association_does_not_repeat_its_name() -> None:
    result = analysed("titanic", resamples=0, outcome="survived")
    where = (Literal("class", ("1st",)),)
    strong, none = WithInterval(0.3, 0.2, 0.4), WithInterval(0.0, 0.0, 0.1)
    changes: dict[str, Any] = {"only_where": where, "adjusted": strong, "elsewhere": none}
    findings = tuple(
        replace(f, kind="associated", holds=0.5, **changes)
        if set(f.pair) == {"age", "survived"}
        else replace(f, kind="none")
        for f in result.findings
    )
    told = plain(first_sentence(replace(result, findings=findings)))
    held = "when the rest are held fixed"
    assert told == f"survived is associated with age {held}, but only where class is 1st."


def test_what_was_not_held_fixed_because_of_untested_claims_is_told() -> None:
    rng = np.random.default_rng(1)
    a, c = rng.integers(0, 2, (2, 40))
    rows = np.stack([a, np.where(rng.random(40) < 0.9, a, 1 - a), c], axis=1)
    few = analysed(Data(Domain({"a": 2, "b": 2, "c": 2}), rows))
    assert few.finding("a", "b").associated
    words = "c was not held fixed for a with b: the model has no association of it with either"
    assert any(words in text for text in cautions(few, 0))
    many = analysed(chain(4, 3000))
    assert not any("not held fixed" in text for text in cautions(many, 0))


def test_the_outcome_cannot_be_the_subject() -> None:
    with pytest.raises(DomainError, match="outcome and subject are the same column: 'survived'"):
        analysed("titanic", outcome="survived", subject="survived")
