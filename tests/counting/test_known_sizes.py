"""Sizes that are kept with a model never change a result, whatever is asked of it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from gc import collect
from typing import Any

import numpy as np
import pytest

from contextwise import Comparison, Domain, Structure, compare, compare_many
from contextwise.counting import known_sizes, native

pytestmark = pytest.mark.skipif(native.missing() is not None, reason="needs the kernel")

DOMAIN = Domain.of_cardinalities([2, 3, 2, 2, 4, 2, 2, 3, 2, 2, 2, 2, 3, 2, 2, 2])
NAMES = DOMAIN.names
RESTRICTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "canonical": {"contexts": "canonical"},
    "pairs": {"pairs": [(NAMES[0], NAMES[1]), (NAMES[4], NAMES[7]), (NAMES[2], NAMES[3])]},
    "variables": {"variables": NAMES[3:9]},
    "context": {"context": {NAMES[0]: "1"}},
    "data": {"data": np.random.default_rng(1).integers(0, 2, (50, len(NAMES)))},
    "weights": {"weights": {NAMES[1]: [0.2, 0.3, 0.5], NAMES[5]: [0.9, 0.1]}},
    "other weights": {"weights": {NAMES[1]: [0.1, 0.4, 0.5]}},
    "position": {"align": "position"},
}


@pytest.fixture(autouse=True)
def keep_everything(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(known_sizes, "WORTH", 0)
    monkeypatch.setattr(known_sizes, "WORTH_EACH", 0)
    known_sizes.clear()
    yield
    known_sizes.clear()


def model(seed: int, features: int = 60) -> Structure:
    """Random features of 3 to 7 literals: too many variables for truth tables."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(features):
        scope = rng.choice(len(NAMES), rng.integers(3, 8), replace=False)
        values = [rng.integers(DOMAIN.cardinalities[v]) for v in scope]
        texts.append(" & ".join(f"{NAMES[v]}={k}" for v, k in zip(scope, values, strict=True)))
    return Structure(DOMAIN, texts)


def numbers(comparison: Comparison) -> tuple[object, ...]:
    return comparison.pairs.tolist(), comparison.counts.tolist(), comparison.confusion


def fresh(true: Structure, guess: Structure, **restriction: Any) -> Comparison:
    """Compare copies, whose features have no known sizes."""
    return compare(*(pickle.loads(pickle.dumps(m)) for m in (true, guess)), **restriction)


def known(structure: Structure) -> int:
    return len(known_sizes._kept.get(structure.features, known_sizes.NOTHING).places)


@pytest.mark.parametrize("second", RESTRICTIONS)
@pytest.mark.parametrize("first", RESTRICTIONS)
def test_a_second_comparison_is_the_same_as_a_fresh_one(first: str, second: str) -> None:
    true, guess, other = model(1), model(2), model(3)
    compare(true, guess, **RESTRICTIONS[first])
    again = compare(true, other, **RESTRICTIONS[second])
    assert numbers(again) == numbers(fresh(true, other, **RESTRICTIONS[second]))
    turned = compare(other, true, **RESTRICTIONS[second])
    assert (turned.fp, turned.fn) == (again.fn, again.fp)


def test_the_readable_engine_agrees_and_does_not_reuse() -> None:
    true, guess = model(1, features=25), model(2, features=25)
    pairs = [(NAMES[i], NAMES[i + 1]) for i in range(0, 14, 2)]
    expected = compare(true, guess, engine="branch", pairs=pairs)
    assert not known(true)
    compare(true, model(3), pairs=pairs)
    assert known(true)
    assert numbers(compare(true, guess, pairs=pairs)) == numbers(expected)


def test_the_true_model_is_counted_once() -> None:
    true = model(1)
    compare(true, model(2))
    again, first = compare(true, model(3)), fresh(true, model(3))
    assert 0 < again.unions.nodes < first.unions.nodes


def test_many_guesses_are_those_of_a_loop() -> None:
    true, guesses = model(1), [model(seed) for seed in range(2, 6)]
    together = compare_many(true, guesses)
    assert [numbers(c) for c in together] == [numbers(fresh(true, g)) for g in guesses]


def test_threads_share_what_is_known() -> None:
    true, guesses = model(1), [model(seed) for seed in range(2, 10)]
    with ThreadPoolExecutor(8) as threads:
        comparisons = list(threads.map(lambda guess: compare(true, guess), guesses * 2))
    expected = [numbers(fresh(true, guess)) for guess in guesses]
    assert [numbers(c) for c in comparisons] == expected * 2


def test_a_copy_starts_without_known_sizes_and_compares_the_same() -> None:
    true, guess = model(1), model(2)
    before = pickle.dumps(true)
    result = compare(true, guess)
    assert len(pickle.dumps(true)) == len(before)
    copy = pickle.loads(pickle.dumps(true))
    assert not known(copy)
    assert numbers(compare(copy, guess)) == numbers(result)


def test_known_sizes_end_with_their_model() -> None:
    true = model(1)
    compare(true, model(2))
    assert known(true)
    del true
    collect()
    assert not known_sizes._kept


def test_each_model_keeps_the_sizes_of_one_kind_of_contexts_and_of_most_pairs() -> None:
    true = model(1)
    compare(true, model(2))
    everything = known(true)
    compare(true, model(3), pairs=RESTRICTIONS["pairs"]["pairs"])
    assert known(true) == everything
    compare(true, model(4), weights=RESTRICTIONS["weights"]["weights"])
    assert known_sizes._kept[true.features].space.weights is not None


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    true = model(1)
    compare(true, model(2))
    size = known_sizes._kept[true.features].memory()
    known_sizes.clear()
    monkeypatch.setattr(known_sizes, "MOST_BYTES_PER_MODEL", size - 1)
    compare(true, model(2))
    assert not known(true)


def test_the_arrays_of_features_cannot_be_written() -> None:
    features = Structure({"A": 2, "B": 2}, ["A=1 & B=1"]).features
    for made in (features, copy.deepcopy(features), pickle.loads(pickle.dumps(features))):
        for array in (made.cardinalities, made.starts, made.variables, made.values):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
