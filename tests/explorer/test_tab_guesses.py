"""The tab of guesses: tables and distances."""

from __future__ import annotations

import re
from dataclasses import replace

from contextwise import Domain, Structure, examples
from contextwise.comparison.matrix import distance_matrix
from contextwise.explorer import (
    tab_guesses,
)
from contextwise.explorer.controls import file_name
from contextwise.explorer.job import Done
from contextwise.models.structure import structure_of
from hard import hard_models
from shown_guesses import HOSTILE, SIX, SIX_GUESS, shown


def test_guesses_sort_by_exact_numbers() -> None:
    large = Structure(Domain.of_cardinalities([2] * 90), ["v0=1 & v1=1", "v0=1 & v2=1 & v3=1"])
    empty = Structure(large.domain, [])
    some = [shown(large, empty, "a"), shown(large, Structure(large.domain, ["v0=1 & v1=1"]), "b")]
    rows = re.findall(r'data-sort="(\d)"', str(tab_guesses.guess_table(some)))
    distance = [row[2] for row in (rows[: len(rows) // 2], rows[len(rows) // 2 :])]
    assert distance == ["1", "0"]


def test_a_name_opens_its_comparison_also_if_no_model_is_true() -> None:
    guess = shown(SIX, SIX_GUESS, "near")
    peers = replace(guess, comparison=guess.comparison.as_peers("six", "near"))
    for one in (guess, peers):
        assert 'data-input="show_guess"' in str(tab_guesses.guess_table([one]))


def test_the_nearest_models_are_named_and_their_distances_listed() -> None:
    names = ["six", "near", HOSTILE]
    matrix = distance_matrix(
        [SIX, SIX_GUESS, structure_of(examples.load("six-graph"))], names=names
    )
    text = str(tab_guesses.between(Done(matrix)))
    assert "six and near are nearest: they differ in 6.67 % of all assertions." in text
    assert "<table" in text.split("</details>")[0]
    assert "<img" not in text
    first, *_ = tab_guesses.matrix_records(matrix)
    assert first == {"first": "six", "second": "near", "low": 16, "high": 16}


def test_open_distances_have_bounds() -> None:
    matrix = distance_matrix(hard_models(), names=["a", "b"], time_limit=0)
    [record] = tab_guesses.matrix_records(matrix)
    assert record["low"] < record["high"]  # type: ignore[operator]
    assert "<table" in str(tab_guesses.between(Done(matrix)))


def test_names_of_files() -> None:
    assert file_name("a/b: <c>.mn vs d.mn") == "a-b-c-.mn-vs-d.mn"
    assert file_name("..") == "contextwise"
