"""Chance: closed forms against enumeration of every random guess."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evaluation import chance
from contextwise.evaluation.random_guesses import draw
from contextwise.models.claims import claims_of_cubes
from contextwise.models.features import members
from contextwise.models.structure import features_of
from contextwise.testing import brute_force, families
from features_invariant import check_features
from hard import LATE, hard_models

CARDINALITIES = [(2, 2), (3, 2), (2, 2, 2), (2, 3, 2), (2, 3, 4), (3, 3, 2), (1, 2, 2, 2)]

Literals = list[list[tuple[int, int]]]

Models = tuple[Structure, ...]


def models(
    cardinalities: Sequence[tuple[int, ...]], with_claims: bool = False
) -> st.SearchStrategy[Models]:
    domains = st.sampled_from([Domain.of_cardinalities(cards) for cards in cardinalities])
    return families(2, domains, max_features=3, with_claims=with_claims)


def permuted(value_set: int, order: tuple[int, ...]) -> int:
    return sum(1 << order[k] for k in members(value_set))


def made(guess: Structure, literals: Literals, order: Sequence[int] | None = None) -> Structure:
    """Return a structure with these literals; of claims, move the pairs as ``order`` says."""
    if guess.features.pairs is None:
        return Structure(guess.domain, features_of(guess.domain, literals))
    cubes: dict[tuple[int, int], list[dict[int, int]]] = {}
    for pair, cube in zip(guess.features.pairs.tolist(), literals, strict=True):
        i, j = sorted(pair if order is None else (order[v] for v in pair))
        cubes.setdefault((i, j), []).append(dict(cube))
    return claims_of_cubes(guess.domain, cubes)


def all_states(guess: Structure) -> Iterator[Structure]:
    """Every relabelling of states."""
    cards = guess.domain.cardinalities
    for orders in product(*(permutations(range(card)) for card in cards)):
        yield made(
            guess,
            [
                [(v, permuted(values, orders[v])) for v, values in f]
                for f in guess.features.literals()
            ],
        )


def all_variables(guess: Structure) -> Iterator[Structure]:
    """Every relabelling of variables of equal cardinality, and of states."""
    cards = guess.domain.cardinalities
    for order in permutations(range(len(cards))):
        if all(cards[order[v]] == card for v, card in enumerate(cards)):
            moved = [[(order[v], values) for v, values in f] for f in guess.features.literals()]
            yield from all_states(made(guess, moved, order))


def mean(numbers: list[int | Fraction]) -> Fraction:
    return Fraction(sum(numbers), len(numbers))


def few(guess: Structure) -> bool:
    """Return whether all random guesses can be enumerated quickly."""
    cards = guess.domain.cardinalities
    relabelled = prod(map(factorial, cards))
    return relabelled * prod(factorial(cards.count(card)) for card in set(cards)) <= 150


@pytest.mark.parametrize("contexts", ["fully-contextualized", "canonical"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_expected_distance_is_the_mean_over_all_draws(contexts: str, data: st.DataObject) -> None:
    true, guess = data.draw(models(CARDINALITIES, with_claims=contexts != "canonical"))
    assume(few(guess))
    found = chance(true, guess, draws=0, contexts=contexts)  # type: ignore[arg-type]
    distances = [
        brute_force(true, drawn, contexts=contexts).distance for drawn in all_variables(guess)
    ]
    assert found.expected == mean(distances)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_expected_distance_of_a_restricted_question(data: st.DataObject) -> None:
    """Rows, weights, pairs and a context: each draw answers the same question."""
    true, guess = data.draw(models([(2, 3, 2), (2, 2, 2), (3, 3, 2)], True))
    rows = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    weights = [Fraction(1, 3), Fraction(2, 3), 0][: len(true.domain.states[0])]
    questions: list[dict[str, Any]] = [
        {"data": rows},
        {"weights": {"v0": weights}},
        {"pairs": [("v0", "v2"), ("v1", "v2")]},
        {"variables": ["v0", "v1"]},
        {"context": "v0=1"},
        {"context": "v2=0", "data": rows},
    ]
    question = data.draw(st.sampled_from(questions))
    context = question.get("context")
    shown = guess if context is None else guess.restrict(context)
    assume(few(shown))
    found = chance(true, guess, draws=0, **question)
    if context is not None:
        true = true.restrict(context)
        [(fixed, state)] = guess.domain.assignment(context).items()
        agree = [row[:fixed] + row[fixed + 1 :] for row in rows if row[fixed] == state]
        question = {"data": agree} if "data" in question else {}
    distances = [compare(true, drawn, **question).distance for drawn in all_variables(shown)]
    assert found.expected == mean(distances)


@settings(max_examples=25, deadline=None)
@given(models(CARDINALITIES))
def test_context_skill_is_over_the_pairs_whose_distance_varies(pair: Models) -> None:
    true, guess = pair
    assume(few(guess))
    found = chance(true, guess, draws=0)
    names = list(combinations(true.domain.names, 2))
    every = [compare(true, drawn) for drawn in all_states(guess)]
    spread = {p: {c.pair(*p).distance for c in every} for p in names}
    c = compare(true, guess)

    def inside(p: tuple[str, str]) -> bool:
        one = c.pair(*p)
        return 0 < one.tp + one.fn < one.total and 0 < one.tp + one.fp < one.total

    chosen = [p for p in names if inside(p)]
    assert all(len(spread[p]) == 1 for p in names if p not in chosen)
    assert found.context_pairs == len(chosen)
    if not chosen:
        assert found.context_skill is None
        return
    expected = sum((mean([c.pair(*p).distance for c in every]) for p in chosen), Fraction(0))
    own = sum(c.pair(*p).distance for p in chosen)
    assert found.context_skill == float(1 - own / expected)


@settings(max_examples=25, deadline=None)
@given(models([(2, 2, 2), (3, 3, 3), (2, 2, 2, 2)]))
def test_skill_of_equal_cardinalities_is_kappa(pair: Models) -> None:
    found = chance(*pair, draws=0)
    c = found.comparison.confusion
    agree = (c.tp + c.fp) * (c.tp + c.fn) + (c.tn + c.fp) * (c.tn + c.fn)
    by_chance = Fraction(agree, c.total**2)
    if by_chance == 1:
        assert found.skill is None
    else:
        kappa = (Fraction(c.tp + c.tn, c.total) - by_chance) / (1 - by_chance)
        assert found.skill == pytest.approx(float(kappa))


@pytest.mark.parametrize("cardinality", [2, 3, 63, 64, 65])
def test_drawn_features_keep_their_shape(cardinality: int) -> None:
    domain = Domain.of_cardinalities([cardinality, 2, cardinality, 3])
    last = cardinality - 1
    texts = [f"v0={last} & v1=1 & v2=0", f"v0!={last} & v3!=0", "v1=1 & v2!=1", "v3=2", ""]
    guess = Structure(domain, [text for text in texts if text] + [{}])
    for seed in range(20):
        drawn = draw(guess.features, np.random.default_rng(seed))
        check_features(drawn)
        sizes = [sorted(values.bit_count() for _, values in f) for f in drawn.literals()]
        assert sizes == [sorted(v.bit_count() for _, v in f) for f in guess.features.literals()]


def test_draws_are_uniform_over_relabellings() -> None:
    guess = Structure({"A": 3, "B": 2}, ["A=0 & B=0"])
    generator = np.random.default_rng(5)
    seen = {drawn.features.rows: 0 for drawn in all_states(guess)}
    for _ in range(600):
        seen[draw(guess.features, generator).rows] += 1
    assert len(seen) == 6
    assert all(60 < count < 140 for count in seen.values())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"contexts": "canonical"},
        {"pairs": [("v0", "v2")]},
        {"weights": {"v0": ["1/3", "2/3"]}},
    ],
)
@given(pair=models([(2, 2, 2), (2, 3, 2), (2, 2, 2, 3)]))
@settings(max_examples=15)
def test_every_draw_is_a_comparison(options: dict[str, Any], pair: Models) -> None:
    true, guess = pair
    found = chance(true, guess, draws=4, seed=3, **options)
    generators = np.random.default_rng(3).spawn(4)
    drawn = [Structure(true.domain, draw(guess.features, g)) for g in generators]
    assert list(found.distances) == [compare(true, one, **options).distance for one in drawn]


TRUE = Structure({"A": 2, "B": 3, "C": 2, "D": 2}, ["A=1 & B=1 & C=1", "B!=0 & C=0 & D=1"])

GUESS = Structure(TRUE.domain, ["A=1 & B=1 & C=1 & D=1", "B=2 & C=0 & D=1"])


def test_distances_of_draws_are_exact_and_repeat() -> None:
    found = chance(TRUE, GUESS, draws=30, seed=7)
    generators = np.random.default_rng(7).spawn(30)
    drawn = [Structure(TRUE.domain, draw(GUESS.features, g)) for g in generators]
    comparisons = [compare(TRUE, one) for one in drawn]
    distances = [c.distance for c in comparisons]
    assert list(found.distances) == distances
    own = compare(TRUE, GUESS).distance
    assert found.p_value == (1 + sum(d <= own for d in distances)) / 31
    again = chance(TRUE, GUESS, draws=30, seed=7)
    assert again.distances == found.distances


@pytest.mark.parametrize(
    "question",
    [
        {"data": [[0, 1, 1, 1], [1, 0, 0, 1], [1, 2, 0, 0]]},
        {"weights": {"B": [0.5, 0.25, 0.25]}},
        {"context": "D=1"},
        {"pairs": [("A", "B"), ("B", "C")]},
        {"contexts": "canonical"},
        {"engine": "branch"},
    ],
)
def test_draws_answer_the_question(question: dict[str, Any]) -> None:
    """The mean over draws comes near the expectation, and the guess itself is measured alike."""
    found = chance(TRUE, GUESS, draws=400, **question)
    assert found.distance == compare(TRUE, GUESS, **question).distance
    drawn = np.array(found.distances, dtype=float)
    error = drawn.std(ddof=1) / np.sqrt(len(drawn))
    assert abs(drawn.mean() - float(found.expected)) <= 4.5 * error + 1e-9


@pytest.mark.parametrize("draws", [0, 9])
def test_two_variables_have_no_skill(draws: int) -> None:
    true = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    found = chance(true, Structure(true.domain), draws=draws)
    assert (found.skill, found.p_value) == (0, 1 if draws else None)
    assert found.context_pairs == 0
    assert "context skill" not in str(found)


def test_a_bayesian_network_is_judged_by_exchanged_variables() -> None:
    """Full tables depend everywhere or nowhere, so relabelled states change nothing."""
    domain = Domain.of_cardinalities([2] * 8)
    edges = [(f"v{k}", f"v{k + 1}") for k in range(7)]
    tables = [{a: i, b: j} for a, b in edges for i, j in product(range(2), repeat=2)]
    true, guess = Structure(domain, tables), Structure(domain, tables[:-4])
    found = chance(true, guess)
    assert found.context_skill is None
    assert found.skill is not None
    assert found.skill > 0.5
    assert found.p_value is not None
    assert found.p_value < 0.05


def test_kappa_and_skill_differ_where_cardinalities_do() -> None:
    """The pairs weigh 4, 3 and 2 contexts; the guess has one pair too many, in every context."""
    true = Structure({"A": 2, "B": 3, "C": 4}, ["A=1 & C=1"])
    found = chance(true, Structure(true.domain, ["A=1 & C=1", "A=1 & B=1"]))
    c = found.comparison
    assert (c.tp, c.fn, c.fp, c.tn) == (3, 0, 4, 2)
    assert c.rate("kappa") == 0.25
    assert found.expected == found.distance == 4
    assert found.skill == 0


@settings(max_examples=15, deadline=None)
@given(models(CARDINALITIES))
def test_expected_true_positives_of_relabelled_states(pair: Models) -> None:
    """E[TP] = T·G/N for each pair, over every relabelling."""
    true, guess = pair
    assume(few(guess))
    every = [compare(true, drawn) for drawn in all_states(guess)]
    own = compare(true, guess)
    for names in combinations(true.domain.names, 2):
        c = own.pair(*names)
        expected = Fraction((c.tp + c.fn) * (c.tp + c.fp), c.total)
        assert mean([one.pair(*names).tp for one in every]) == expected


def test_different_cardinalities_leave_variables_in_place() -> None:
    true = Structure({"A": 2, "B": 3, "C": 4}, ["A=1 & B=1 & C=1"])
    guess = Structure(true.domain, ["A=1 & B=1"])
    found = chance(true, guess, draws=5)
    assert found.expected == mean([compare(true, drawn).distance for drawn in all_states(guess)])
    assert "none can be exchanged" in str(found)


def test_a_guess_as_near_as_every_draw_is_not_worse_than_chance() -> None:
    true = Structure({"A": 2, "B": 3, "C": 4}, ["A=1 & B=1 & C=1"])
    found = chance(true, Structure(true.domain, ["A=1 & B=1"]), draws=99)
    assert set(found.distances) == {found.distance}
    assert "no better than chance (p = 1)" in found.verdict


def test_few_draws_judge_nothing() -> None:
    for draws, judged in ((18, False), (19, True)):
        verdict = chance(TRUE, GUESS, draws=draws).verdict
        assert ("not judged" in verdict) != judged


def test_a_guess_farther_than_nearly_all_draws_is_worse_than_chance() -> None:
    true = Structure({"A": 2, "B": 3, "C": 61}, ["A=1 & B=1 & C=0"])
    wrong = Structure(true.domain, ["A=1 & B=1 & C!=0"])
    found = chance(true, wrong, draws=199, pairs=[("A", "B")])
    assert "worse than chance" in found.verdict


def test_right_pairs_with_wrong_contexts() -> None:
    domain = Domain.of_cardinalities([2] * 8)
    pairs = [("v0", "v1"), ("v2", "v3"), ("v4", "v5")]
    features = [{a: 1, b: 1, "v6": 1, "v7": 1} for a, b in pairs]
    true = Structure(domain, features)
    guess = Structure(domain, [{a: 1, b: 1, "v6": 0, "v7": 1} for a, b in pairs])
    found = chance(true, guess, draws=199)
    assert found.verdict.startswith("The guess is ")
    assert found.context_skill is not None
    assert found.context_skill < 0.3
    same = chance(true, true, draws=199)
    assert same.p_value is not None
    assert same.p_value <= 0.4
    assert same.verdict == "The guess makes exactly the claims of the true model."


def test_bad_questions_are_clear_words() -> None:
    with pytest.raises(ContextwiseError, match="draws must be >= 0, got -1"):
        chance(TRUE, GUESS, draws=-1)
    with pytest.raises(ContextwiseError, match="no row agrees with the context"):
        chance(TRUE, GUESS, data=[[0, 1, 1, 1]], context="D=0")


def test_draws_as_near_are_distinguished_from_nearer_ones() -> None:
    domain = {"A": 2, "B": 2, "C": 2}
    true = Structure(domain, ["A=1 & B=1 & C=1"])
    found = chance(true, true, draws=200, seed=3)
    assert (found.nearer, found.as_near) == (0, sum(d == 0 for d in found.distances))
    assert 10 < found.as_near < 45
    assert found.p_value == (1 + found.as_near) / 201
    text = str(found).splitlines()
    assert next(line for line in text if line.startswith("nearer draws")).split()[2] == "0"
    as_near = next(line for line in text if line.startswith("draws as near"))
    assert as_near.split()[3] == str(found.as_near)
    assert found.record()["draws_as_near"] == found.as_near
    assert chance(true, true, draws=0).record()["draws_nearer"] is None


def test_any_number_of_draws_can_be_begun() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chance("six", "six-guess", draws=10**12, show_progress=stop)


def test_one_variable_has_no_other_to_differ_from() -> None:
    one = Structure({"A": 3}, ["A=1"])
    assert "exchanged:" not in str(chance(one, one, draws=5))


def test_a_time_limit_keeps_the_draws_that_are_done() -> None:
    start = time.monotonic()
    with pytest.warns(UserWarning, match=r"the time limit ended after \d+ of 1000000000 draws"):
        found = chance("six", "six-guess", draws=10**9, time_limit=1)
    assert time.monotonic() - start < LATE
    again = chance("six", "six-guess", draws=20)
    assert not found.draws or found.distances[:20] == again.distances
    assert found.expected == again.expected


def test_a_time_limit_bounds_the_comparisons_before_the_draws() -> None:
    for models in (hard_models(), ("six", "six-guess")):
        with pytest.raises(OpenResult, match="chance was not computed within the time limit"):
            chance(*models, time_limit=0)
    start = time.monotonic()
    with pytest.raises(OpenResult, match="chance was not computed within the time limit"):
        chance(*hard_models(), time_limit=0.5)
    assert time.monotonic() - start < LATE


def test_equal_draws_do_not_hide_a_known_expectation() -> None:
    """Among 100 variables, draws hardly ever meet the only true pair."""
    domain = Domain.of_cardinalities([2] * 100)
    true = Structure(domain, [{"v0": 1, "v1": 1}])
    found = chance(true, Structure(domain, [{"v2": 1, "v3": 1}]))
    assert {*found.distances} == {found.distance}
    assert found.skill == chance(true, found.comparison.guess, draws=0).skill
    assert found.skill is not None
    assert found.skill < 0
    assert found.p_value == 1
    assert found.verdict.startswith("The guess is no better than chance (p = 1)")
