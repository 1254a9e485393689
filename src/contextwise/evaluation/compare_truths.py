"""Compare a guess with an uncertain truth: many structures, such as draws from a posterior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor
from statistics import fmean
from typing import Any

from contextwise.comparison.compare import Comparison, compare
from contextwise.errors import ContextwiseError
from contextwise.evaluation.replicates import METRICS, metric_label
from contextwise.formats import ModelLike
from contextwise.support.formatting import plural, rate
from contextwise.support.progress import Progress, progress_of


@dataclass(frozen=True)
class Spread:
    """One metric over all truths.

    Attributes
    ----------
    mean : over the truths for which it is defined; None without any
    low, high : two of the values, between which at least ``coverage`` of them lie
    undefined : number of truths for which it is not defined
    """

    mean: float | None
    low: float | None
    high: float | None
    undefined: int


@dataclass(frozen=True, eq=False)
class UncertainComparison:
    """A guess compared with many truths.

    Attributes
    ----------
    comparisons : one per truth
    values : each metric over the truths, by name
    coverage : share of truths that the intervals contain

    Examples
    --------
    >>> found = compare_truths(["six", "six-graph"], "six-guess")
    >>> found.values["normalized"].mean == sum(c.normalized for c in found.comparisons) / 2
    True
    """

    comparisons: tuple[Comparison, ...]
    values: Mapping[str, Spread]
    coverage: float

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per metric."""
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
        lines = [f"Mean over {truths}, and where at least {100 * self.coverage:g} % of them lie:"]
        for metric, value in self.values.items():
            shown = "–"
            if value.mean is not None and value.low is not None and value.high is not None:
                shown = f"{rate(value.mean):6}  {rate(value.low)} to {rate(value.high)}"
            lines.append(f"{metric_label(metric):19}  {shown}")
        return "\n".join(lines)


def compare_truths(
    truths: Iterable[ModelLike],
    guess: ModelLike,
    *,
    coverage: float = 0.95,
    show_progress: bool | Progress = False,
    **options: Any,
) -> UncertainComparison:
    """Compare a guess with many truths, such as draws from a posterior.

    The intervals show how uncertain the truth makes the answer. They are not confidence intervals
    of the mean.

    Parameters
    ----------
    truths : models, paths of model files, or names of bundled examples
        At least two, of equal weight.
    guess : model, path, or name
    coverage : float
        Share of the truths that each interval contains, at least.
    show_progress : bool or function
        A line on standard error, or a function of (truths done, all truths).
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
    >>> found.values["normalized"].mean
    0.25
    """
    models = list(truths)
    if len(models) < 2:
        raise ContextwiseError(f"compare_truths needs at least two truths, got {len(models)}")
    if not 0 < coverage < 1:
        raise ContextwiseError(f"coverage must be between 0 and 1, got {coverage}")
    comparisons = []
    with progress_of(show_progress, "comparing with truths") as progress:
        for truth in models:
            comparisons.append(compare(truth, guess, **options))
            if progress:
                progress(len(comparisons), len(models))
    values = {
        name: _spread([metric.value(c) for c in comparisons], coverage)
        for name, metric in METRICS.items()
    }
    return UncertainComparison(tuple(comparisons), values, coverage)


def _spread(values: list[float | None], coverage: float) -> Spread:
    known = sorted(value for value in values if value is not None)
    missing = len(values) - len(known)
    if not known:
        return Spread(None, None, None, missing)
    # Drop as many values at both ends as the coverage allows; no quantiles between values.
    drop = floor(len(known) * (1 - coverage) / 2 + 1e-9)
    return Spread(fmean(known), known[drop], known[-1 - drop], missing)
