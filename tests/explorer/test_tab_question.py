"""The question tab: what the lists offer and pick, and how answers are shown."""

from __future__ import annotations

from contextwise import Domain, examples
from contextwise.explorer import tab_question
from contextwise.explorer.job import Done, Working
from contextwise.independence import query
from shown_guesses import HOSTILE

DOMAIN = Domain({"smoker": ["no", "yes"], "age": ["young", "old"], "ill": 2})


def test_lists_offer_names_and_states_with_their_variable() -> None:
    *names, states = tab_question.choices(DOMAIN)
    assert names == [["smoker", "age", "ill"]] * 3
    assert states[:3] == ["smoker=no", "smoker=yes", "age=young"]
    assert len(states) == 6


def test_a_question_is_picked_in_all_four_lists() -> None:
    picked = tab_question.picked(DOMAIN, "smoker _||_ ill | age=old")
    assert picked == [["smoker"], ["ill"], [], ["age=old"]]
    assert tab_question.picked(DOMAIN, "smoker _||_ ill | age")[2:] == [["age"], []]


def test_without_a_readable_question_the_first_two_variables_are_picked() -> None:
    for question in ("", "what?"):
        assert tab_question.picked(DOMAIN, question)[:2] == [["smoker"], ["age"]]
    assert tab_question.picked(DOMAIN, "weight _||_ age") == [[], [], [], []]


def test_too_many_variables_are_a_sentence() -> None:
    many = Domain.of_cardinalities([2] * (tab_question.MOST_VARIABLES_LISTED + 1))
    assert "3,001 variables are too many" in str(tab_question.panel(many, ""))


def test_each_model_answers_under_its_name() -> None:
    answers = [query(examples.load(name), "X1 _||_ X2 | X0=1") for name in ("six", "six-guess")]
    text = str(tab_question.replies(Done(answers), ["six", HOSTILE]))
    assert "In six: independent" in text
    assert "X1 _||_ X2 | X0=1" in text
    assert "<img" not in text
    assert "Asking" in str(tab_question.replies(Working("Asking"), ["six"]))
