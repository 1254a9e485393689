"""The map of supports: how many resamples have each pair depend, and in how many contexts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from contextwise.evaluation.stability import Stability

COLOUR, DARK_COLOUR = "#0072B2", "#56B4E9"
STEPS = (0.25, 0.5, 0.75, 0.95, 1.0)
"""Supports are shown in steps; the last but one begins where nearly all resamples agree."""
STEP_WORDS = ("≤ 25 %", "≤ 50 %", "≤ 75 %", "≤ 95 %", "≤ 100 %")
OPACITIES = (0.15, 0.32, 0.52, 0.76, 1.0)


@dataclass(frozen=True, eq=False)
class SupportMap:
    """The support of every pair.

    Attributes
    ----------
    names : the variables
    shares : array of shape (n, n)
        Above the diagonal the share of resamples that have the pair depend, below it the mean share
        of contexts in which they have it depend.
    resamples : how many there are
    """

    names: tuple[str, ...]
    shares: npt.NDArray[np.float64]
    resamples: int

    @cached_property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The step of each cell from 1 on; 0 where no resample has the pair."""
        codes = 1 + np.searchsorted(STEPS, self.shares)
        codes[self.shares == 0] = 0
        return codes.astype(np.uint8)


def support_map(found: Stability) -> SupportMap:
    """The supports of a result, in the order of the domain."""
    return SupportMap(found.domain.names, found.support_matrix(), found.resamples)


def palette(*, dark: bool = False) -> list[tuple[str, float]]:
    """The colour and the opacity of each code, on a light page or on a dark one."""
    hue = DARK_COLOUR if dark else COLOUR
    return [("#ffffff", 0.0), *((hue, opacity) for opacity in OPACITIES)]
