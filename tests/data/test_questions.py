"""What is asked about the values of a column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextwise.data.kinds import Profile
from contextwise.data.questions import (
    doubtful_states,
    missing_values,
    odd_codes,
    same_words,
    spellings,
    totals,
    two_readings,
)
from contextwise.data.table import column_of


def profile(cells: list[object], kind: str = "category", **more: object) -> Profile:
    return replace(Profile(column_of("x", cells), len(cells)), kind=kind, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cells", "kind", "asked"),
    [
        (["437", "2.674", "561"], "measurement", True),
        (["437", "2.674", "561"], "category", True),  # 2.674 < 437 or 2674 > 561
        (["1.000", "2.000"], "category", False),  # states in one order, whatever they mean
        (["1.5", "2.674"], "measurement", False),
    ],
)
def test_two_readings_are_asked_where_they_matter(
    cells: list[object], kind: str, asked: bool
) -> None:
    assert bool([*two_readings(profile(cells, kind))]) == asked


def test_totals() -> None:
    cells: list[object] = ["f", "m", "f", "m", "Total"]
    (problem,) = totals(profile(cells))
    assert problem == (
        "rows with 'Total' add up the others",
        (("na", "x=Total"), ("category", "x")),
    )
    assert not [*totals(profile(["Total", *cells[:4]]))]  # not the last row
    assert not [*totals(profile(cells, insisted=True))]
    both: list[object] = ["f", "m", "both"]
    assert [*totals(profile(both, counts=np.array([3.0, 4, 7])))]
    assert not [*totals(profile(both, counts=np.array([3.0, 4, 9])))]


def test_missing_values_have_a_place() -> None:
    cells: list[object] = ["a", None, "b", None]
    shown = profile(cells, asks_about_missing=True, lines=np.array([2, 3, 4, 5]), tokens=["NA"])
    ((reason, remedies),) = missing_values(shown)
    assert reason == "2 missing values (NA; first line 3)"
    assert remedies == (("missing", "drop"), ("missing", "state"))
    assert not [*missing_values(profile(cells))]


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([1, 2, 3, 4, 5, 99], ["99"]),
        ([1, 2, 3, 4, 5, -9], ["-9"]),
        ([0, 1, 2, 9], ["9"]),
        ([6, 7, 8, 9], []),
        ([20, 30, 40, 99, 98], ["98,x=99"]),
        ([-9, 1, 2, 99], ["-9"]),
    ],
)
def test_odd_codes(cells: list[object], codes: list[str]) -> None:
    notes = [*odd_codes(profile(cells))]
    assert [note.option for note in notes] == [f"--na x={code}" for code in codes]
    assert all(note.kind == "question" and note.column == "x" for note in notes)


def test_words_in_several_cases_are_a_problem_and_other_spellings_a_note() -> None:
    words = profile(["Male", "male ", "MALE", "female"])
    ((reason, remedies),) = same_words(words)
    assert reason == "'Male' and 'male ' and 'MALE': the same?"
    assert [option for option, _ in remedies] == ["merge", "category"]
    assert not [*spellings(words)]
    assert not [*same_words(profile(["Male", "Female"]))]
    for cells in (["01", "1", "2"], ["true", "1", "0"], ["a", "A", "b"], ["hid", "hId"]):
        assert not [*same_words(profile([*cells]))]
        (note,) = spellings(profile([*cells]))
        assert "are different states of 'x'; if they mean the same" in note


def test_doubtful_states() -> None:
    (note,) = doubtful_states(profile(["None", "some"]))
    assert note.option == "--na x=None"
    assert not [*doubtful_states(profile(["1", "2"]))]
