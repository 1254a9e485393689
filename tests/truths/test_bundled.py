"""The bundled models are what they are said to be, and their differences are as counted by hand."""

from itertools import combinations, product
from typing import Any

import pytest

from contextwise import LogLinear, Structure, compare, examples, read
from contextwise.errors import ContextwiseError
from contextwise.formats import as_log_linear, as_model, as_structure
from contextwise.learning import learner_named
from contextwise.models.structure import structure_of
from contextwise.testing import brute_force


@pytest.mark.parametrize("name", examples.names())
def test_every_example_loads_and_says_what_it_is(name: str) -> None:
    model = examples.load(name)
    assert model.origin.file.contradictory == model.origin.file.duplicates == 0
    assert examples.describe(name).endswith(".")
    assert name in str(examples.__doc__)


def test_six_is_complete_under_0_and_a_star_under_1() -> None:
    star = [{"X0": 1, f"X{i}": a} for i in range(1, 6) for a in (0, 1)]
    complete = [
        {"X0": 0, f"X{i}": a, f"X{j}": b}
        for i, j in combinations(range(1, 6), 2)
        for a, b in product((0, 1), repeat=2)
    ]
    six = examples.load("six")
    assert six == Structure({f"X{i}": 2 for i in range(6)}, star + complete)
    assert len(six) == 50


@pytest.mark.parametrize(
    ("true", "guess", "counts"),
    [
        # 5 pairs with X0, dependent in all 16 contexts; 10 without, in the 8 with X0=0
        ("six", "six", (160, 0, 0, 80)),
        ("six", "six-guess", (152, 8, 8, 72)),
        ("six", "six-graph", (160, 0, 80, 0)),
        ("lung", "lung-learned", (3, 1, 1, 1)),
        # contexts: gender-children 9, gender-work 6, children-work 6, education-work 4, others 6
        ("survey", "survey-learned", (7, 6, 3, 21)),
    ],
)
def test_differences_counted_by_hand(
    true: str, guess: str, counts: tuple[int, int, int, int]
) -> None:
    a, b = structure_of(examples.load(true)), structure_of(examples.load(guess))
    result = compare(a, b)
    assert (result.tp, result.fn, result.fp, result.tn) == counts
    assert brute_force(a, b) == result.confusion


def test_one_example_has_weights_and_one_has_three_states() -> None:
    assert isinstance(examples.load("lung"), LogLinear)
    assert max(examples.load("survey").domain.cardinalities) == 3


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(ContextwiseError, match="unknown example 'seven'; the examples are six"):
        examples.load("seven")


def test_read_takes_the_name_of_an_example() -> None:
    assert read("lung") == as_model("lung")
    assert read("lung", zero_weights="drop") == as_model("lung", zero_weights="drop")
    with pytest.raises(ContextwiseError, match="lang: no such file or example"):
        read("lang")


def test_a_fitted_learner_is_a_model() -> None:
    learner: Any = learner_named("trees")()
    with pytest.raises(ContextwiseError, match="this Trees is not fitted"):
        as_model(learner)
    learner.fit([[0, 1], [1, 0], [0, 0], [1, 1]] * 5)
    assert as_structure(learner) == learner.structure_
    assert as_log_linear(learner) == learner.model_
