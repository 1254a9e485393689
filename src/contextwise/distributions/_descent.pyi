import numpy as np
import numpy.typing as npt

def descend(
    indptr: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int64],
    data: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    curvatures: npt.NDArray[np.float64],
    prices: npt.NDArray[np.float64],
    point: npt.NDArray[np.float64],
    pull: npt.NDArray[np.float64],
    passes: int,
    tolerance: float,
) -> npt.NDArray[np.float64]: ...
def gram(
    indptr: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int32],
    data: npt.NDArray[np.float64],
    turned_indptr: npt.NDArray[np.int64],
    turned_indices: npt.NDArray[np.int32],
    turned_data: npt.NDArray[np.float64],
    scale: npt.NDArray[np.float64],
    chosen: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...
