"""Products of matrices: compiled, packed into bits, and plain."""

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from contextwise.distributions import logistic_loss
from contextwise.distributions.logistic_loss import PackedBlock, PackedMatrix, gram


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_both_products_are_one(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    matrix: Any = sparse.random_array((20, size), density=0.3, rng=rng, format="csr")
    scale = rng.normal(0, 1, 20)
    chosen = np.flatnonzero(rng.random(size) < 0.6)
    dense = matrix.toarray()[:, chosen]
    found = [gram(matrix, matrix.T.tocsr(), scale, chosen)]
    with patch.object(logistic_loss, "_descent", None):
        found.append(gram(matrix, matrix.T.tocsr(), scale, chosen))
    for product in found:
        assert np.allclose(product.toarray(), dense.T @ (scale[:, None] * dense))


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_a_packed_matrix_is_the_dense_one(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    blocks, dense, first = [], np.zeros((24, size)), 0
    for rows in (9, 0, 15):
        columns = np.flatnonzero(rng.random(size) < 0.7)
        bits = rng.random((len(columns), rows)) < 0.4
        signs = rng.choice([-1.0, 1.0], len(columns))
        dense[first : first + rows, columns] = (bits * signs[:, None]).T
        blocks.append(PackedBlock(first, np.packbits(bits, axis=0), columns, signs))
        first += rows
    matrix = PackedMatrix(blocks, dense.shape)
    weights, excess, scale = rng.normal(0, 1, size), rng.normal(0, 1, 24), rng.random(24)
    assert np.allclose(matrix @ weights, dense @ weights)
    assert np.allclose(excess @ matrix, excess @ dense)
    chosen = np.flatnonzero(rng.random(size) < 0.6)
    part = dense[:, chosen]
    product = matrix.gram(scale, chosen).toarray()
    assert np.allclose(product, part.T @ (scale[:, None] * part), atol=1e-5)
