"""Groups over several truths: ranks, Friedman's test, and critical differences (Demšar 2006).

For each truth the groups are ranked, the best first; ties share their ranks. Friedman's test asks
whether all groups are alike. Two groups differ, at the same level for all of them together, if
their mean ranks differ by more than Nemenyi's **critical difference**. With two groups only, it is
Wilcoxon's signed-rank test, and there is no critical difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from contextwise.errors import ContextwiseError, require
from contextwise.evaluation.metrics import metric_label


@dataclass(frozen=True)
class Ranking:
    """The mean ranks of groups over several truths, by one metric.

    Attributes
    ----------
    metric : what they are ranked by
    groups : the best first
    ranks : the mean rank of each; 1 is the best
    truths : over how many truths
    p_value : that all groups are alike, by Friedman's test, or Wilcoxon's for two
    test : "Friedman" or "Wilcoxon"
    critical_difference : of two mean ranks; None for two groups
    alpha : the level of the critical difference
    """

    metric: str
    groups: tuple[str, ...]
    ranks: tuple[float, ...]
    truths: int
    p_value: float
    test: str
    critical_difference: float | None
    alpha: float

    def alike(self) -> list[tuple[str, ...]]:
        """The largest sets of neighbours whose ranks are within the critical difference."""
        if self.critical_difference is None:
            return [self.groups] if self.p_value > self.alpha else []
        spans: list[tuple[int, int]] = []
        for first in range(len(self.groups)):
            near = [r - self.ranks[first] <= self.critical_difference for r in self.ranks]
            last = max(k for k in range(first, len(near)) if near[k])
            if last > first and (not spans or last > spans[-1][1]):
                spans.append((first, last))
        return [self.groups[first : last + 1] for first, last in spans]

    @property
    def verdict(self) -> str:
        """What the ranks mean, in one or two sentences."""
        best = [g for g, r in zip(self.groups, self.ranks, strict=True) if r == self.ranks[0]]
        names = " and ".join(filter(None, (", ".join(best[:-1]), best[-1])))
        ranks = f"{names} {'ranks' if len(best) == 1 else 'rank'} first"
        if len(best) == len(self.groups):
            ranks = "All groups have the same mean rank"
        first = f"{ranks} by {metric_label(self.metric)} over {self.truths} truths"
        p_value = f"{self.test}, p = {self.p_value:.2g}"
        if len(best) == len(self.groups) and self.p_value > self.alpha:
            return f"{first} ({p_value})."
        if self.p_value > self.alpha:
            return f"{first}, but the groups could be alike ({p_value})."
        differ = f"{first}, and the groups are not all alike ({p_value})."
        if self.critical_difference is None:
            return differ
        alike = "; ".join(", ".join(names) for names in self.alike())
        within = f"ranks within {self.critical_difference:.2f} are not told apart"
        return f"{differ} By Nemenyi's test {within}" + (f": {alike}." if alike else ".")

    def records(self) -> list[dict[str, object]]:
        """One flat mapping per group, the best first."""
        return [
            {
                "metric": self.metric,
                "group": group,
                "mean_rank": rank,
                "truths": self.truths,
                "test": self.test,
                "p_value": self.p_value,
                "critical_difference": self.critical_difference,
                "alpha": self.alpha,
            }
            for group, rank in zip(self.groups, self.ranks, strict=True)
        ]


def rank_groups(
    values: Mapping[str, Sequence[float]],
    *,
    metric: str,
    larger_is_better: bool,
    alpha: float = 0.05,
) -> Ranking:
    """Rank groups by their values on several truths.

    Parameters
    ----------
    values : for each group one value per truth, in the same order of truths
    metric : the name of what they are
    larger_is_better : whether the largest value has rank 1
    alpha : the level of the critical difference

    Returns
    -------
    Ranking

    Raises
    ------
    ContextwiseError
        If there are fewer than two groups or two truths.

    Examples
    --------
    >>> values = {"a": [1, 2, 1, 2], "b": [2, 3, 3, 4], "c": [3, 4, 5, 6]}
    >>> found = rank_groups(values, metric="distance", larger_is_better=False)
    >>> found.groups, found.ranks, round(found.p_value, 4)
    (('a', 'b', 'c'), (1.0, 2.0, 3.0), 0.0183)
    >>> round(found.critical_difference, 3), found.alike()
    (1.657, [('a', 'b'), ('b', 'c')])
    >>> print(found.verdict)
    a ranks first by distance over 4 truths, and the groups are not all alike (Friedman, ...
    """
    table = np.array([list(own) for own in values.values()], dtype=np.float64)
    if len(table) < 2 or table.shape[1] < 2:
        raise ContextwiseError(
            "a ranking needs two groups and two truths at least, "
            f"not {len(table)} and {table.shape[1] if table.ndim == 2 else 0}"
        )
    stats = require("scipy.stats", "statistics")
    signed = -table if larger_is_better else table
    ranks = stats.rankdata(signed, axis=0).mean(axis=1)
    k, n = table.shape
    if all((table[a] == table[b]).all() for a, b in combinations(range(k), 2)):
        p_value = 1.0
    elif k == 2:
        p_value = float(stats.wilcoxon(table[0], table[1], zero_method="zsplit").pvalue)
    else:
        p_value = float(stats.friedmanchisquare(*table).pvalue)
    difference = None
    if k > 2:
        quantile = float(stats.studentized_range.ppf(1 - alpha, k, np.inf)) / sqrt(2)
        difference = quantile * sqrt(k * (k + 1) / (6 * n))
    names, order = list(values), np.argsort(ranks, kind="stable").tolist()
    return Ranking(
        metric=metric,
        groups=tuple(names[g] for g in order),
        ranks=tuple(float(ranks[g]) for g in order),
        truths=n,
        p_value=p_value,
        test="Wilcoxon" if k == 2 else "Friedman",
        critical_difference=difference,
        alpha=alpha,
    )
