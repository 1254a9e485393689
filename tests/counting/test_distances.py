"""Distances of one model to many draws of another: the kernel against comparisons, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from contextwise import Domain, Structure, compare
from contextwise.comparison.question import all_pairs
from contextwise.counting import auto, native
from contextwise.counting.contexts import ContextSpace
from contextwise.counting.distances import count_redrawn, redrawn_in_python
from contextwise.evaluation.skill import NULLS
from contextwise.models.features import Features
from contextwise.support.arrays import WordArray
from contextwise.support.effort import Effort
from contextwise.testing import families
from contextwise.truths.generate import random_structure

Models = tuple[Structure, ...]
needs_kernel = pytest.mark.skipif(native.missing() is not None, reason="the kernel was not built")


def drawn_sets(guess: Structure, draws: int = 5) -> WordArray:
    generators = np.random.default_rng(3).spawn(draws)
    return np.stack(
        [NULLS["values"].draw_values(guess.features, generator) for generator in generators]
    )


def drawn_models(guess: Structure, values: WordArray) -> list[Structure]:
    f = guess.features
    literals = [Features(f.cardinalities, f.starts, f.variables, own).literals() for own in values]
    names, states = guess.domain.names, guess.domain.states
    return [
        Structure(
            guess.domain,
            [{names[v]: [s for k, s in enumerate(states[v]) if a >> k & 1] for v, a in own}
             for own in one],
        )
        for one in literals
    ]  # fmt: skip


@pytest.mark.parametrize("contexts", ["fully-contextualized", "canonical"])
@given(models=families(2))
@settings(max_examples=50)
def test_every_draw_is_a_comparison(contexts: Any, models: Models) -> None:
    true, guess = models
    pairs, values = all_pairs(range(len(true.domain))), drawn_sets(guess)
    found = count_redrawn(
        true.features, guess.features, values, pairs, space=ContextSpace(contexts == "canonical")
    )
    names = true.domain.names
    for own, drawn in zip(found, drawn_models(guess, values), strict=True):
        comparison = compare(true, drawn, contexts=contexts)
        for (i, j), distance in zip(pairs.tolist(), own.tolist(), strict=True):
            assert distance == comparison.pair(names[i], names[j]).distance
            assert type(distance) is int


@needs_kernel
@pytest.mark.parametrize(
    "cardinalities",
    [(2,) * 12, (2,) * 30, (2,) * 90, (2, 3, 4) * 4, (63, 64, 65, 2, 2), (2, 1, 2, 70, 2)],
)
@pytest.mark.parametrize("canonical", [False, True])
def test_twins_agree(cardinalities: tuple[int, ...], canonical: bool) -> None:
    """Few binary variables go by truth table, the others as in a comparison; counts may be huge."""
    domain = Domain.of_cardinalities(cardinalities)
    true, guess = (
        random_structure(domain, features=60, lengths=(2, 6), set_literals=0.3, rng=k)
        for k in (1, 2)
    )
    values, pairs = drawn_sets(guess), all_pairs(range(len(domain)))[::2]
    arguments = true.features, guess.features, values, pairs
    kernel = count_redrawn(*arguments, Effort(threads=2), space=ContextSpace(canonical))
    assert (
        kernel == redrawn_in_python(*arguments, engine="branch", space=ContextSpace(canonical))
    ).all()


@needs_kernel
def test_weights_of_values_count() -> None:
    domain = Domain.of_cardinalities((2, 3, 2, 2, 4))
    true, guess = (random_structure(domain, features=12, rng=k) for k in (1, 2))
    weights = [[1, 2], [5, 0, 1], [3, 3], [1, 1], [1, 2, 3, 4]]
    arguments = true.features, guess.features, drawn_sets(guess), all_pairs(range(5))
    kernel = count_redrawn(*arguments, space=ContextSpace(weights=weights))
    readable = redrawn_in_python(*arguments, engine="branch", space=ContextSpace(weights=weights))
    assert (kernel == readable).all()


@needs_kernel
def test_what_exceeds_the_budget_is_counted_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain.of_cardinalities((2,) * 40)
    true, guess = (random_structure(domain, features=400, lengths=(3, 7), rng=k) for k in (1, 2))
    pairs = all_pairs(range(40))[:40]
    arguments = true.features, guess.features, drawn_sets(guess, 3), pairs
    whole = count_redrawn(*arguments)
    again = []

    def spy(*few: Any, **options: Any) -> Any:
        again.append(few)
        return redrawn_in_python(*few, **options)

    monkeypatch.setattr(auto, "BUDGET", 1)
    monkeypatch.setattr("contextwise.counting.ganak.missing", lambda: "not here")
    monkeypatch.setattr("contextwise.counting.distances.redrawn_in_python", spy)
    assert (count_redrawn(*arguments) == whole).all()
    assert again


def test_nothing_to_count_has_a_shape() -> None:
    model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"]).features
    values, no_pairs = model.values[None], np.zeros((0, 2), dtype=np.int64)
    assert count_redrawn(model, model, values, no_pairs).shape == (1, 0)
    assert count_redrawn(model, model, values[:0], all_pairs(range(2))).shape == (0, 1)
    empty = Structure({"A": 2, "B": 2}).features
    values = empty.values.reshape(1, 0, 1).repeat(2, axis=0)
    assert count_redrawn(model, empty, values, all_pairs(range(2))).tolist() == [[1], [1]]


@needs_kernel
def test_draws_of_another_model_are_refused() -> None:
    model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"]).features
    with pytest.raises(ValueError, match="value set"):
        count_redrawn(model, model, model.values[None, :1], all_pairs(range(2)))
