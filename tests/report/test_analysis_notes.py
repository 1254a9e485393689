"""Notes of a page: decisions, cautions, methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from analyses import analysed, chain, titanic
from contextwise.data.rows import Data
from contextwise.models.domain import Domain
from contextwise.report.analysis_answer import next_sentences, questions
from contextwise.report.analysis_notes import cautions, decisions, methods, table_note


def test_decisions_have_the_option_that_changes_them(tmp_path: Any) -> None:
    lines = ["age,ill,again"] + [
        f"{20 + k % 50},{'yes' if (k * 7) % 50 > 20 + k % 5 else 'no'},{k % 3}" for k in range(300)
    ]
    file = tmp_path / "ages.csv"
    file.write_text("\n".join(lines))
    found = {topic: (text, option) for topic, text, option in decisions(analysed(str(file)))}
    assert found["age"][1].startswith("--bins 'age=")
    assert found["Rows"][0] == "300 used, all of the file."


def test_at_most_five_cautions_apply() -> None:
    told = cautions(titanic())
    assert 1 <= len(told) <= 5
    assert "not causes" in told[0]


def test_two_columns_that_say_the_same_are_named() -> None:
    data = chain(3)
    rows = np.column_stack([data.rows, data.rows[:, 0]])
    domain = Domain({**dict.fromkeys(data.domain.names, 2), "twin": 2})
    for outcome, dropped in ((None, "twin"), ("twin", "v0"), ("v0", "twin")):
        result = analysed(Data(domain, rows), outcome=outcome)
        told = " ".join([*next_sentences(result), *cautions(result)])
        assert "v0 and twin say nearly the same" in told
        assert f"--drop {dropped}" in told


def test_the_methods_are_true_of_this_analysis() -> None:
    with_outcome, without = methods(titanic(), "1.0"), methods(titanic(None), "1.0")
    assert "survived with each other variable" in with_outcome
    assert "those of the outcome and the others apart" in with_outcome
    assert "of each pair in 2,201 rows" in without
    assert "weighted" not in without


def test_subjects_and_weights_are_told() -> None:
    data = chain(3, rows=400)
    people = replace(data, subjects=np.repeat(np.arange(100), 4))
    told = {topic: text for topic, text, _ in decisions(analysed(people))}
    assert told["Subjects"].startswith("100 of ")


def test_missing_values_that_are_a_state_and_scales_are_cautioned_about(tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    pain, gaps = rng.integers(3, size=300), rng.integers(3, size=300)
    lines = [
        f"{'ab'[k % 2]},{['', '', 'x'][gaps[k]]},{['none', 'mild', 'severe'][pain[k]]}"
        for k in range(300)
    ]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["status,chol,pain", *lines]))
    told = " ".join(cautions(analysed(str(file), missing="state")))
    assert f"Missing values are a state of 'chol' ({int((gaps < 2).sum())})" in told
    assert "; or leave out the columns that lack most: --drop chol." in told
    assert "may be ordered; `--ordered 'pain=none|mild|severe'` says so." in told
    told = " ".join(cautions(analysed(str(file), missing="drop", ordered="pain=none|mild|severe")))
    assert "are a state of" not in told
    assert "may be ordered" not in told


def test_only_tests_with_a_p_are_counted() -> None:
    known = titanic()
    first = known.pairs.of_outcome[0]
    pairs = tuple(
        replace(e, p=None, adjusted=None) if e is first else replace(e, method="draws")
        for e in known.pairs.pairs
    )
    rest = tuple(replace(each, p=None) for each in known.interactions)
    some = replace(known, pairs=replace(known.pairs, pairs=pairs), interactions=rest)
    assert "corrected for the 3 pairs tested" in table_note(known)
    assert "corrected for the 2 pairs tested" in table_note(some)
    assert (questions(known) > 0, questions(some)) == (True, 0)
    assert "few rows (5 of 6 pairs), p is from draws" in methods(some, "1.0")
    assert "fitted in its rows alone" in methods(known, "1.0")
