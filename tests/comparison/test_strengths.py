"""Strengths of errors: against full enumeration, and the sentence about them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from contextwise import Claims, Domain, LogLinear, Structure, compare
from contextwise.comparison.roles import AGREEMENTS
from contextwise.comparison.strengths import (
    Strengths,
    StrengthSample,
    strengths_at,
    strengths_of,
)
from contextwise.convert import by_values
from contextwise.models.structure import Model, numbers_of
from contextwise.report.parts import Table, parts_of
from contextwise.support.arrays import FloatArray
from contextwise.testing import contexts_of, depends
from convert_oracle import random_domain, random_weights, strength_in


def table_in(model: LogLinear, pair: tuple[str, str], context: dict[str, str]) -> FloatArray:
    """Add up the weights of the features with both variables, from their mappings."""
    domain = model.domain
    first, second = (domain.states[domain.position(name)] for name in pair)
    logs = np.zeros((len(first), len(second)))
    for feature, weight in zip(model.structure, model.weights.tolist(), strict=True):
        if not {*pair} <= {*feature}:
            continue
        for a, b in np.ndindex(logs.shape):
            states = {**context, pair[0]: first[a], pair[1]: second[b]}
            if all(states[name] in allowed for name, allowed in feature.items()):
                logs[a, b] += weight
    return logs


def every_strength(true: Model, guess: Model) -> dict[str, list[float]]:
    """The strengths of all missed, invented and found dependencies."""
    comparison = compare(true, guess)
    values: dict[str, list[float]] = {kind: [] for kind in AGREEMENTS}
    for pair in combinations(true.domain.names, 2):
        for context in contexts_of(true.domain, pair):
            in_true = depends(comparison.true, pair, context)
            in_guess = depends(comparison.guess, pair, context)
            if in_true or in_guess:
                model = numbers_of(true if in_true else guess)
                assert model is not None
                kind = "found" if in_true and in_guess else "missed" if in_true else "invented"
                values[kind].append(strength_in(table_in(model, pair, context)))
    return values


def random_models(seed: int) -> tuple[LogLinear, LogLinear]:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    true, guess = (random_weights(rng, zeros=bool(seed % 2), domain=domain) for _ in range(2))
    return true, guess


@pytest.mark.parametrize("seed", range(30))
def test_the_strength_is_the_largest_log_odds_ratio(seed: int) -> None:
    model, _ = random_models(seed)
    domain = model.domain
    for i, j in combinations(range(len(domain)), 2):
        pair = domain.names[i], domain.names[j]
        for context in contexts_of(domain, pair):
            row = domain.assignment(context)
            states = np.array([[row.get(v, 0) for v in range(len(domain))]])
            wanted = strength_in(table_in(model, pair, context))
            assert strengths_at(model, np.array([[i, j]]), states)[0] == pytest.approx(wanted)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_sample_is_uniform_over_all_dependencies_of_a_kind(
    seed: int, values: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextwise.comparison.strengths.WANTED", 4000)
    monkeypatch.setattr("contextwise.comparison.strengths.MOST_ASSERTIONS_MEASURED", 0)
    true, guess = random_models(seed)
    models: tuple[Model, Model] = true, guess
    if values:
        models = by_values(true), by_values(guess, tolerance=0.7)
    every = every_strength(*models)
    found = strengths_of(compare(*models))
    assert found is not None
    assert {kind for kind, strengths in every.items() if strengths} == {*found.samples}
    for kind, sample in found.samples.items():
        for value in {*np.round(every[kind], 9)}:
            share = np.mean(np.round(every[kind], 9) <= value)
            drawn = np.mean(sample.values <= value + 1e-6)
            error = (share * (1 - share) / len(sample)) ** 0.5
            assert abs(drawn - share) < 4 * error + 1e-9


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_few_dependencies_are_all_measured(seed: int, values: bool) -> None:
    true, guess = random_models(seed)
    models = (by_values(true), by_values(guess, tolerance=0.7)) if values else (true, guess)
    every = every_strength(*models)
    found = compare(*models, strengths=True).strengths
    assert found is not None
    assert {kind for kind, strengths in every.items() if strengths} == {*found.samples}
    for kind, sample in found.samples.items():
        assert sample.values == pytest.approx(sorted(every[kind]))
        median = sample.quantile(0.5)
        assert median.low == median.value == median.high


def test_the_sample_of_a_context_is_from_that_context() -> None:
    true = LogLinear(Structure(dict.fromkeys("ABC", 2), ["A=1 & B=1", "A=1 & B=1 & C=1"]), [1, 2])
    guess = Structure(true.domain)
    for context, strength in (("C=0", 1.0), ("C=1", 3.0)):
        found = compare(true, guess, context=context, strengths=True).strengths
        assert found is not None
        assert {*found.samples["missed"].values.tolist()} == {strength}


def test_intervals_hold_the_quantile_as_often_as_promised() -> None:
    rng = np.random.default_rng(0)
    for share in (0.25, 0.5, 0.75):
        holds = 0
        for _ in range(400):
            found = StrengthSample("found", "true", np.sort(rng.random(150))).quantile(share)
            assert found.low <= found.value <= found.high
            holds += found.low <= share <= found.high
        assert holds >= 370  # 380 are promised, with a deviation of 4.4
    few = StrengthSample("found", "true", np.array([0.3, 0.4])).quantile(0.5)
    assert (few.low, few.high) == (0.0, np.inf)


def test_strengths_follow_new_names_and_orders() -> None:
    true, _ = random_models(0)
    claims, names = by_values(true), true.domain.names
    renamed = claims.renamed({name: f"new {name}" for name in names})
    back = Domain({name: true.domain.states[true.domain.position(name)] for name in names[::-1]})
    moved = renamed.renamed({f"new {name}": name for name in names}).aligned_to(back)
    assert numbers_of(moved) == true.aligned_to(back)
    guess = Structure(back)
    here = compare(claims, guess, strengths=True).strengths
    there = compare(guess, moved, strengths=True).strengths
    assert here is not None
    assert there is not None
    assert len(here.samples["missed"]) == len(there.samples["invented"])
    assert here.samples["missed"].values == pytest.approx(there.samples["invented"].values)


def sample(kind: str, values: list[float]) -> StrengthSample:
    of = "guess" if kind == "invented" else "true"
    return StrengthSample(kind, of, np.array(values))  # type: ignore[arg-type]


def compared(**samples: list[float]) -> list[list[str]]:
    found = Strengths({kind: sample(kind, values) for kind, values in samples.items()})  # type: ignore[misc]
    (table,) = parts_of(found)
    assert isinstance(table, Table)
    return [[row[0], row[1], row[3], row[5]] for row in table.texts()]


def test_the_table_compares_the_medians() -> None:
    weak, strong = [0.08] * 50, [1.2] * 50
    assert compared(missed=weak, found=strong) == [
        ["missed", "50", "0.08", "weaker"],
        ["found", "50", "1.2", ""],
    ]
    invented = ["invented, by the guess's weights", "50", "1.2", "stronger"]
    assert compared(invented=strong, found=weak)[0] == invented
    assert compared(missed=weak, found=weak[:9])[0][3] == "unclear"
    assert parts_of(Strengths({})) == []


def test_models_without_weights_have_no_strengths() -> None:
    plain = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    assert compare(plain, Claims.of(plain), strengths=True).strengths is None
    weighted = LogLinear(plain, [1.0])
    assert compare(weighted, plain, contexts="canonical", strengths=True).strengths is None
    assert compare(plain, weighted).strengths is None  # nobody asked
    guess = compare(plain, weighted, strengths=True).strengths
    assert guess is not None
    assert guess.samples["found"].weights_of == "guess"
    assert "found, by the guess's weights" in str(parts_of(guess))
