"""A guess against a truth that is not known for sure: many truths, and what the guess is to them.

The true structure is often an estimate itself: draws from a posterior, or structures learned from
resamples. Then a comparison has as many values as there are truths. `compare_truths` gives their
mean and the interval that holds most of them. It says how uncertain the truth makes the answer,
which more comparisons cannot change; it is no interval of the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from contextwise.comparison.compare import Comparison, compare
from contextwise.errors import ContextwiseError
from contextwise.evaluation.metrics import METRICS, metric_label, shares_words
from contextwise.formats import ModelLike
from contextwise.support.formatting import plural, rate
from contextwise.support.progress import Progress, progress_of


@dataclass(frozen=True)
class Spread:
    """One metric over all truths.

    Attributes
    ----------
    mean : over the truths for which it is defined; None if there are none
    low, high : between them lies it for most truths
    undefined : for how many truths it is not defined
    """

    mean: float | None
    low: float | None
    high: float | None
    undefined: int


@dataclass(frozen=True, eq=False)
class UncertainComparison:
    """A guess against many truths.

    Attributes
    ----------
    comparisons : one per truth
    values : each metric of `contextwise.evaluation.metrics.METRICS` over the truths
    coverage : the share of truths that the intervals hold

    Examples
    --------
    >>> found = compare_truths(["six", "six-graph"], "six-guess")
    >>> found.values["distance"].mean == sum(c.normalized for c in found.comparisons) / 2
    True
    """

    comparisons: tuple[Comparison, ...]
    values: Mapping[str, Spread]
    coverage: float

    def records(self) -> list[dict[str, object]]:
        """One flat mapping per metric."""
        return [
            {
                "metric": metric,
                "truths": len(self.comparisons),
                "undefined": value.undefined,
                "mean": value.mean,
                "low": value.low,
                "high": value.high,
            }
            for metric, value in self.values.items()
        ]

    def __str__(self) -> str:
        truths = plural(len(self.comparisons), "truth")
        lines = [f"Against {truths}, the mean and where {100 * self.coverage:g} % lie:"]
        for metric, value in self.values.items():
            said = "not defined for any of them"
            if value.mean is not None and value.low is not None and value.high is not None:
                said = f"{rate(value.mean):6}  {rate(value.low)} to {rate(value.high)}"
            lines.append(f"{metric_label(metric):8}  {said}")
        return "\n".join([*lines, "", shares_words(self.values)])


def compare_truths(
    truths: Iterable[ModelLike],
    guess: ModelLike,
    *,
    coverage: float = 0.95,
    show_progress: bool | Progress = False,
    **options: Any,
) -> UncertainComparison:
    """Compare a guess with many truths, such as draws from a posterior.

    Parameters
    ----------
    truths : models, paths of model files, or names of bundled examples
        All of equal weight; two at least.
    guess : model, path, or name
    coverage : float
        The share of truths that the intervals hold, from quantile to quantile.
    show_progress : bool or function
        A line on standard error, or a function of (truths done, truths in all).
    **options
        Those of `compare`.

    Returns
    -------
    UncertainComparison

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> truths = [Structure(domain, [text]) for text in ("A=1 & B=1", "A=1 & B=1 & C=1")]
    >>> found = compare_truths(truths, Structure(domain, ["A=1 & B=1"]))
    >>> found.values["distance"].mean
    0.25
    """
    given = list(truths)
    if len(given) < 2:
        raise ContextwiseError(f"an uncertain truth is two truths at least, not {len(given)}")
    if not 0 < coverage < 1:
        raise ContextwiseError(f"coverage is between 0 and 1, not {coverage}")
    found = []
    with progress_of(show_progress, "comparing with truths") as progress:
        for truth in given:
            found.append(compare(truth, guess, **options))
            if progress:
                progress(len(found), len(given))
    values = {
        metric: _spread([value(c) for c in found], coverage) for metric, value in METRICS.items()
    }
    return UncertainComparison(tuple(found), values, coverage)


def _spread(values: list[float | None], coverage: float) -> Spread:
    known = [value for value in values if value is not None]
    if not known:
        return Spread(None, None, None, len(values))
    ends = np.quantile(known, [(1 - coverage) / 2, (1 + coverage) / 2])
    missing = len(values) - len(known)
    return Spread(float(np.mean(known)), float(ends[0]), float(ends[1]), missing)
