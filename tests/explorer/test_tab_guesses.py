"""The tab of guesses: tables and distances."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

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


def test_groups_of_guesses_have_means_with_intervals() -> None:
    some = [shown(SIX, SIX_GUESS, "pc-1"), shown(SIX, SIX, "pc-2"), shown(SIX, SIX, "cl")]
    text = str(tab_guesses.plane(some))
    assert text.count('class="guess"') == 3
    assert "Means of the groups" in text


def test_the_nearest_and_the_most_typical_guess_are_named() -> None:
    graph = structure_of(examples.load("six-graph"))
    some = [shown(SIX, SIX_GUESS, "near"), shown(SIX, graph, "far"), shown(SIX, SIX_GUESS, "twin")]
    models = [SIX, SIX_GUESS, graph, SIX_GUESS]
    names = ["six", *(one.title for one in some)]
    matrix = distance_matrix(models, names=names)
    text = str(tab_guesses.between(Done(matrix), some))
    assert "Nearest to the true model are near and twin, at 6.67 %." in text
    assert "most typical model is near" in text
    assert text.count('class="mark') == 4
    assert "<table" in text.split("</details>")[0]
    assert len(tab_guesses.matrix_records(matrix)) == 6
    hostile_names = distance_matrix([SIX, SIX_GUESS, SIX], names=["a", HOSTILE, "c"])
    assert "<img" not in str(tab_guesses.between(Done(hostile_names)))


def test_distances_that_are_open_are_drawn_between_their_bounds() -> None:
    matrix = distance_matrix(hard_models(), names=["a", "b"], time_limit=0)
    assert matrix.open_distances
    assert 'class="mark' in str(tab_guesses.between(Done(matrix)))
    assert 0 < tab_guesses.middle(matrix)[0, 1] < 1


def test_names_of_groups_files_and_places() -> None:
    labels = "nltcs.pc-3.json", "nltcs.dt-ps10.mn", "six (example)"
    assert list(map(tab_guesses.group_of, labels)) == ["nltcs.pc", "nltcs.dt-ps10", "six"]
    places = np.array([[0, 0], [1, 1], [0, 0.01]])
    assert tab_guesses.shared_labels(places, ["a", "b", "c"]) == ["a, c", "b", ""]
    assert file_name("a/b: <c>.mn vs d.mn") == "a-b-c-.mn-vs-d.mn"
    assert file_name("..") == "contextwise"
