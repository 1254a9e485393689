"""The skin of the C++ in ``grow/``: arrays in, trees as arrays out."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

def grow(
    codes: npt.NDArray[np.int32],
    cardinalities: list[int],
    penalty: float,
    min_count: int,
    prior: float,
    acyclic: bool,
    threads: int,
    progress: Callable[[int], None] | None,
) -> list[tuple[Ints, Ints, Ints]]: ...
