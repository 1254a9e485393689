"""Ising models."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from contextwise.convert import from_ising
from contextwise.errors import DomainError
from network_tables import log_table


@pytest.mark.parametrize("values", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("seed", range(10))
def test_an_ising_model_has_its_distribution_and_its_graph(
    values: tuple[int, int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(size=(4, 4)) * (rng.random((4, 4)) < 0.5), 1)
    weights += weights.T
    thresholds = rng.normal(size=4)
    model = from_ising(weights, thresholds, values=values)
    logs = log_table(model)
    wanted = np.empty((2,) * 4)
    for cell in product(range(2), repeat=4):
        x = np.array([values[k] for k in cell])
        wanted[cell] = thresholds @ x + x @ weights @ x / 2
    np.testing.assert_allclose(logs - logs.mean(), wanted - wanted.mean(), atol=1e-12)
    edges = [(f"X{i + 1}", f"X{j + 1}") for i, j in np.argwhere(np.triu(weights)).tolist()]
    assert model.structure.pairs() == edges


def test_the_names_of_a_frame() -> None:
    frame = pd.DataFrame([[0, 1.5], [1.5, 0]], columns=["sad", "tired"])
    assert from_ising(frame).domain.names == ("sad", "tired")
    assert len(from_ising(np.zeros((3, 3)))) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]],), "a square matrix"),
        (([[0, 1], [2, 0]],), "symmetric"),
        (([[1, 0], [0, 0]],), "0 on the diagonal"),
        (([[0, np.nan], [np.nan, 0]],), "finite"),
        (([[0, 1], [1, 0]], [1]), "thresholds must be 2"),
    ],
)
def test_what_is_no_ising_model(arguments: tuple[list[list[float]]], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_ising(*arguments)
    with pytest.raises(DomainError, match="names must be 1"):
        from_ising([[0]], names=["a", "b"])
    with pytest.raises(DomainError, match=r"values must be \(0, 1\)"):
        from_ising([[0]], values=(0, 2))
