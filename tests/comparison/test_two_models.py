"""Results of a comparison (counts, rates, frames, text) and the arguments it rejects."""

from __future__ import annotations

import math
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Comparison, Domain, LogLinear, Structure, compare, distance
from contextwise.comparison.confusion import RATES, Confusion
from contextwise.comparison.question import pose
from contextwise.counting import native
from contextwise.errors import ContextwiseError, DomainError, EngineError
from contextwise.testing import brute_force, families
from hard import hard_models

DOMAIN = Domain({"X0": 2, "X1": 2, "X2": 3})
TRUE = Structure(DOMAIN, ["X0=0 & X1=1 & X2=1"])
GUESS = Structure(DOMAIN, ["X0=0 & X1=1", "X0=0 & X2=1"])
COUNTS = st.integers(0, 10**30)


@pytest.fixture
def comparison() -> Comparison:
    return compare(TRUE, GUESS)


def test_counted_by_hand(comparison: Comparison) -> None:
    """X0–X1 depends under X2=1 of three; the guess always. X0–X2 under X1=1; the guess always.
    X1–X2 under X0=0; the guess never."""
    assert comparison.pair("X0", "X1") == Confusion(tp=1, fn=0, fp=2, tn=0)
    assert comparison.pair("X2", "X0") == Confusion(tp=1, fn=0, fp=1, tn=0)
    assert comparison.pair("X1", "X2") == Confusion(tp=0, fn=1, fp=0, tn=1)
    assert (comparison.tp, comparison.fn, comparison.fp, comparison.tn) == (2, 1, 3, 1)
    assert comparison.distance == distance(TRUE, GUESS) == 4
    assert comparison.normalized == 4 / 7
    assert comparison.mean_pair_distance == pytest.approx((2 / 3 + 1 / 2 + 1 / 2) / 3)
    assert comparison.precision == 2 / 5
    assert comparison.recall == 2 / 3
    assert comparison.f1 == 2 * 2 / (2 * 2 + 3 + 1)
    assert comparison.jaccard == 2 / 6
    assert comparison.accuracy == 3 / 7
    assert comparison.false_positive_rate == 3 / 4
    assert comparison.false_negative_rate == 1 / 3
    assert comparison.mcc == pytest.approx((2 * 1 - 3 * 1) / math.sqrt(5 * 3 * 4 * 2))


def test_counts_of_pairs_as_an_array_and_a_frame(comparison: Comparison) -> None:
    assert comparison.pair_names() == [("X0", "X1"), ("X0", "X2"), ("X1", "X2")]
    assert comparison.counts.tolist() == [[1, 0, 2, 0], [1, 0, 1, 0], [0, 1, 0, 1]]
    frame = comparison.to_frame()
    assert frame[["first", "second"]].to_numpy().tolist() == [
        list(pair) for pair in comparison.pair_names()
    ]
    assert frame[["tp", "fn", "fp", "tn"]].to_numpy().tolist() == comparison.counts.tolist()


def test_counts_of_any_size_stay_ints_in_a_frame() -> None:
    domain = Domain.of_cardinalities([2] * 100)
    frame = compare(Structure(domain, ["v0=1 & v1=1"]), Structure(domain)).to_frame()
    assert frame["fn"].tolist() == [2**98]


def test_a_frame_has_shares_that_pandas_can_add() -> None:
    domain = Domain.of_cardinalities([2] * 1100)
    frame = compare(Structure(domain, ["v0=1 & v1=1 & v2=1"]), Structure(domain)).to_frame()
    assert frame["fn"].tolist() == [2**1097] * 3
    assert frame["fn_share"].mean() == 0.5
    assert frame[["tp_share", "fn_share", "fp_share", "tn_share"]].sum(axis=1).tolist() == [1] * 3


def test_the_engine_is_the_one_that_was_asked_for() -> None:
    found = compare(TRUE, GUESS, data=[[0, 1, 1]], engine="branch")
    assert found.engine == "branch"


def test_kappa_and_the_normalized_distance_are_among_the_rates() -> None:
    matrix = Confusion(tp=20, fn=5, fp=10, tn=15)
    assert matrix.kappa == pytest.approx(0.4)
    assert matrix.rates()["kappa"] == matrix.kappa
    assert matrix.rates()["normalized"] == matrix.normalized == 0.3
    huge = Confusion(*(10**400 * n for n in (20, 5, 10, 15)))
    assert huge.kappa == matrix.kappa


def test_the_worst_pairs_first(comparison: Comparison) -> None:
    worst = comparison.worst_pairs(2)
    assert [pair for pair, _ in worst] == [("X0", "X1"), ("X0", "X2")]
    assert worst[0][1].distance == 2
    assert compare(TRUE, TRUE).worst_pairs() == []


def test_weights_do_not_matter() -> None:
    weighted = LogLinear(GUESS, [0.0, -3.0])
    assert compare(LogLinear(TRUE, [1.0]), weighted).confusion == compare(TRUE, GUESS).confusion


def test_words_for_people(comparison: Comparison) -> None:
    assert repr(comparison).startswith("Comparison(distance=4, normalized=0.5714, tp=2, fn=1")
    evil = Domain({"<script>": 2, "&": 2})

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            assert tag != "script"

    html = compare(Structure(evil, [{"<script>": 1, "&": 1}]), Structure(evil))._repr_html_()
    assert "&lt;script&gt;" in html
    Tags().feed(html)


# -- what it refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"pairs": [("X0", "X9")]}, DomainError, "unknown variable 'X9'"),
        ({"pairs": [("X0", "X0")]}, DomainError, "two different variables"),
        ({"pairs": [("X0",)]}, DomainError, "two different variables"),
        ({"pairs": ["X0"]}, DomainError, "two different variables"),
        ({"variables": "X0"}, DomainError, "variables must be a list of names"),
        ({"variables": ["X9"]}, DomainError, "unknown variable 'X9'"),
        ({"context": "X0=2"}, DomainError, "variable 'X0' has no state '2'"),
        ({"context": {"X9": 0}}, DomainError, "unknown variable 'X9'"),
        ({"contexts": "all"}, DomainError, "unknown contexts 'all'"),
        ({"engine": "magic"}, EngineError, "unknown engine 'magic'; choose one of"),
        ({"data": [[0, 0]]}, DomainError, "row 0 of the data has 2 cells for 3 variables"),
        ({"data": [[0, 0, 3]]}, DomainError, "row 0 of the data: variable 'X2' has no state '3'"),
    ],
)
def test_bad_options_are_named(
    options: dict[str, Any], error: type[ContextwiseError], words: str
) -> None:
    with pytest.raises(error) as caught:
        compare(TRUE, GUESS, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pair_that_was_not_asked_for_has_no_answer() -> None:
    some = compare(TRUE, GUESS, pairs=[("X1", "X0")])
    assert some.pair("X0", "X1").fp == 2
    with pytest.raises(DomainError, match="leaves out the pair"):
        some.pair("X0", "X2")
    with pytest.raises(DomainError, match="unknown variable 'X0'"):
        compare(TRUE, GUESS, context="X0=0").pair("X0", "X1")


# -- rates ---------------------------------------------------------------------------------------


@given(st.builds(Confusion, COUNTS, COUNTS, COUNTS, COUNTS))
def test_rates_are_shares(matrix: Confusion) -> None:
    for name, value in matrix.rates(zero_division=0.0).items():
        assert (-1.0 if name in ("mcc", "kappa") else 0.0) <= value <= 1.0
    assert matrix + Confusion(0, 0, 0, 0) == matrix
    assert matrix.total == matrix.tp + matrix.fn + matrix.fp + matrix.tn
    assert 0.0 <= matrix.normalized <= 1.0


@pytest.mark.parametrize("name", list(RATES))
def test_what_is_undefined_is_what_the_caller_says(name: str) -> None:
    """Nothing at all: every rate divides by zero."""
    nothing = Structure({"A": 2})
    comparison = compare(nothing, nothing)
    assert comparison.rate(name, zero_division=0.25) == 0.25
    assert math.isnan(comparison.rate(name, zero_division=float("nan")))
    with pytest.warns(UserWarning, match=f"{name} is undefined"):
        assert comparison.rate(name) == 0.0
    with pytest.warns(UserWarning, match=f"{name} is undefined"):
        assert getattr(comparison, name) == 0.0


def test_an_unknown_rate_is_named() -> None:
    model = Structure({"A": 2, "B": 2})
    with pytest.raises(ContextwiseError, match=r"unknown rate .f2.; .*accuracy, "):
        compare(model, model).rate("f2")


@given(families(2))
def test_rates_come_from_the_counts(models: tuple[Structure, ...]) -> None:
    expected = brute_force(*models).rates(zero_division=-7.0)
    assert compare(*models).rates(zero_division=-7.0) == expected


def test_rates_of_numbers_beyond_floats() -> None:
    huge = 10**400
    matrix = Confusion(tp=huge, fn=huge, fp=0, tn=2 * huge)
    assert matrix.recall == 0.5
    assert matrix.normalized == 0.25
    assert matrix.mcc == pytest.approx(math.sqrt(1 / 3))


def test_progress_is_told_pair_by_pair() -> None:
    told: list[tuple[int, int]] = []
    compare(TRUE, GUESS, engine="branch", show_progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_data_given_as_an_array_of_ints() -> None:
    table = np.array([[0, 1, 1], [0, 0, 0], [1, 1, 2]])
    comparison = compare(TRUE, GUESS, data=table)
    assert comparison.confusion.total == 9
    assert comparison.pair("X1", "X2") == Confusion(tp=0, fn=2, fp=0, tn=1)


@given(families(2))
def test_variables_sum_the_errors_of_their_pairs(models: tuple[Structure, Structure]) -> None:
    found = compare(*models)
    names = found.domain.names
    variables = {variable.variable: variable for variable in found.variables()}
    assert sorted(variables) == sorted(names)
    for name in names:
        pairs = [found.pair(name, other) for other in names if other != name]
        assert variables[name].fp == sum(pair.fp for pair in pairs)
        assert variables[name].fn == sum(pair.fn for pair in pairs)
        assert variables[name].assertions == sum(pair.total for pair in pairs)
    assert sum(variable.errors for variable in found.variables()) == 2 * found.distance
    shares = [variable.share for variable in found.variables()]
    assert shares == sorted(shares, reverse=True)


def test_variables_of_some_pairs_count_the_assertions_of_these() -> None:
    found = compare("six", "six-guess", pairs=[("X0", "X1"), ("X1", "X2")])
    assertions = {variable.variable: variable.assertions for variable in found.variables()}
    assert assertions == {"X0": 16, "X1": 32, "X2": 16, "X3": 0, "X4": 0, "X5": 0}


@pytest.mark.skipif(native.missing() is not None, reason="only the kernel has a budget")
def test_the_bounds_of_the_distance_are_the_sum_of_those_of_the_pairs() -> None:
    """`confusion_bounds` gives the narrowest intervals, so neither sum may be wider."""
    models = hard_models(30, 75)
    question = pose(models)
    (a, b), pairs = [model.features for model in models], question.active_pairs()
    for budget in (0, 1, 16):
        unions = native.count_pairs(a, b, pairs, node_budget=budget)
        found = Comparison(question, pairs, unions)
        bounds = [found.pair_bounds(*pair).distance for pair in found.pair_names()]
        low, high = found.distance_bounds
        assert (low, high) == (sum(b[0] for b in bounds), sum(b[1] for b in bounds))
        assert low <= distance(*models) <= high
        places = unions.open_places  # their errors are fewer than the contexts in either model
        assert (found.distances_at(places)[1] < unions.high[places, 2]).any()


def test_ties_between_pairs_are_cut_by_the_errors_of_their_variables() -> None:
    domain = dict.fromkeys("ABCDE", 2)
    wrong = ["A=1 & B=1", "C=1 & D=1", "D=1 & E=1"]
    found = compare(Structure(domain, []), Structure(domain, wrong))
    assert [pair for pair, _ in found.worst_pairs(2)] == [("C", "D"), ("D", "E")]
