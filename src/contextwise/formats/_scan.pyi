import numpy as np
import numpy.typing as npt

def scan(
    data: bytes, at: int, keyword: str, cardinalities: npt.NDArray[np.int64], most_literals: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64], int] | None: ...
