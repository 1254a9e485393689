"""The distances of many models: a symmetric matrix of exact numbers, or of bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from contextwise.comparison.confusion import Number, ratio
from contextwise.counting import ObjectArray
from contextwise.errors import ContextwiseError, OpenResult, require
from contextwise.models.numbers import number

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class DistanceMatrix:
    """The distance of each two models, exact: symmetric, with zeros on the diagonal.

    Attributes
    ----------
    names : of the models, in the order of rows and columns
    lower, upper : object arrays of exact numbers, one row and one column per model
        The distances. Where a time limit left some open, they lie between the two.
    total : the number of assertions, the largest distance there can be
    rests_on_ganak : whether the model counter Ganak had to do with it; see `Comparison`
    by_position : whether the models were aligned by position instead of by names

    Examples
    --------
    >>> from contextwise import distance_matrix
    >>> found = distance_matrix(["six", "six-guess", "six-graph"])
    >>> found.distances[0].tolist(), found.medoid
    ([0, 16, 80], 0)
    """

    names: tuple[str, ...]
    lower: ObjectArray
    upper: ObjectArray
    total: Number
    rests_on_ganak: bool = False
    by_position: bool = False

    @property
    def open(self) -> int:
        """How many of the distances are not known exactly."""
        return int((self.lower != self.upper).sum()) // 2

    @property
    def distances(self) -> ObjectArray:
        """The exact distances; `OpenResult` if a time limit left some open."""
        if self.open:
            each = len(self.names) * (len(self.names) - 1) // 2
            raise OpenResult(
                f"{self.open} of {each} distances are open: they lie between lower and upper; "
                "allow more time to know them"
            )
        return self.lower

    @property
    def medoid(self) -> int:
        """The place of the model with the least sum of distances, the first of several."""
        sums: list[Number] = self.distances.sum(axis=1).tolist()
        return sums.index(min(sums))

    def submatrix(self, places: Sequence[int]) -> DistanceMatrix:
        """The distances of some of the models, by their places."""
        cells = np.ix_(places, places)
        names = tuple(self.names[place] for place in places)
        return replace(self, names=names, lower=self.lower[cells], upper=self.upper[cells])

    @cached_property
    def normalized(self) -> npt.NDArray[np.float64]:
        """The distances over the number of assertions, in [0, 1]."""
        return self.shares(self.distances)

    def shares(self, distances: ObjectArray) -> npt.NDArray[np.float64]:
        """Distances over the number of assertions, in [0, 1]."""
        total = self.total or 1  # without assertions every distance is 0
        shares = [[ratio(d, total) for d in row] for row in distances.tolist()]
        return np.array(shares, dtype=np.float64)

    def as_floats(self) -> npt.NDArray[np.float64]:
        """The distances as floats, for SciPy's ``squareform`` and scikit-learn's metrics.

        They are rounded beyond 2**53, and beyond 10**308 only `normalized` has floats.
        """
        try:
            return self.distances.astype(np.float64)
        except OverflowError:
            raise ContextwiseError(
                "these distances are too large for floats; use normalized"
            ) from None

    def to_frame(self, *, normalized: bool = False) -> pandas.DataFrame:
        """The distances as a pandas DataFrame (``pip install contextwise[frames]``).

        Parameters
        ----------
        normalized : whether to give shares of all assertions, as floats, instead of exact ints

        Returns
        -------
        pandas.DataFrame
            One row and one column per model, under their names.
        """
        cells = self.normalized if normalized else self.distances
        frame: pandas.DataFrame = require("pandas", "frames").DataFrame(
            cells, index=list(self.names), columns=list(self.names)
        )
        return frame

    def __repr__(self) -> str:
        return f"DistanceMatrix({len(self.names)} models, total={number(self.total)})"

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import matrix_html

        return matrix_html(self)
