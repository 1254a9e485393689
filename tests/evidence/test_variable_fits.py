"""Fits of a variable given the others."""

from __future__ import annotations

import numpy as np

from contextwise.evidence.row_tests import RowTests
from small_tables import data_of, rows_of


def test_confounding_by_an_interaction_is_no_association() -> None:
    rng = np.random.default_rng(1)
    z = rng.integers(2, size=(2000, 3))
    chance = np.where((z[:, 0] + z[:, 1]) % 2 == 1, 0.8, 0.2)
    a, b = (rng.random(2000) < chance for _ in range(2))
    tested = RowTests(data_of(np.column_stack([a, b, z]).astype(np.int64))).given(("A", "B"))
    assert tested.verdict == "no association shown"
    assert any("×" in product for product in tested.products)
    assert tested.crude_v is not None
    assert tested.crude_v > 0.3


def test_a_determined_variable_could_not_be_tested() -> None:
    rows = rows_of(6, 300)[:, :3]
    copied = np.column_stack([rows[:, 0], rows[:, 2], rows[:, 0]])
    tested = RowTests(data_of(copied)).given(("A", "B"))
    assert tested.verdict in ("could not be tested", "no association shown")
    assert tested.could_show is None or tested.could_show > 0.2
