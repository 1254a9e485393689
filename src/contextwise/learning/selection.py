"""Select parameters of a learner from a grid, by one of three rules.

- ``pseudo-likelihood``: the mean pseudo-log-likelihood of held-out rows; larger is better.
- ``bic``: the pseudo-likelihood BIC, -2 · PLL + ln N · (nonzero weights), over the training rows;
  smaller is better. It is not the BIC of the likelihood: see `goodness_of_fit` for that.
- ``stability``: the instability of structures learned from subsamples, as the mean of their
  pairwise normalized distances. It compares contexts, not edges. For an assertion that a share θ of
  the structures makes, its expectation is 2θ(1 - θ), the scale of StARS (Liu, Roeder and Wasserman
  2010) and its threshold 0.05. The empty structure is the most stable, so the smallest value is not
  the goal: going from the strongest penalty to the weakest, the rule takes the largest instability
  so far and chooses the weakest penalty that stays at or below the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log
from typing import Any, Literal

import numpy as np

from contextwise.comparison.matrix import distance_matrix
from contextwise.data.options import RowOptions
from contextwise.data.rows import (
    Data,
    DataLike,
    DomainLike,
    as_data,
    draw_rows,
    read_once,
    take_rows,
)
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.learning.base import Learner, as_learner, fresh
from contextwise.support.effort import Deadline, OutOfTime, Progress, progress_of
from contextwise.support.formatting import plural

Rng = np.random.Generator | int | None
By = Literal["pseudo-likelihood", "bic", "stability"]
Grid = Mapping[str, Sequence[Any]]

RULES: tuple[By, ...] = ("pseudo-likelihood", "bic", "stability")
LABELS = {"bic": "pseudo-likelihood BIC"}
"""How results name a rule, where that differs from its name."""
LATE = "the selection was not finished within the time limit; allow more time"


@dataclass(frozen=True)
class Candidate:
    """A combination of parameters, its score by the rule, and its (mean) number of features.

    The score is None if the candidate was not needed or not finished.
    """

    parameters: Mapping[str, Any]
    value: float | None
    features: float = np.nan


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The candidates and the best of them.

    Attributes
    ----------
    by : the rule
    candidates : list of Candidate
        In the order of the grid. For stability from the strongest penalty on; values are the
        largest instability so far.
    best : Candidate
    learner : the learner with the best parameters, fitted to all rows
    note : a caveat about the choice, if any

    Examples
    --------
    >>> selection = select("trees", {"penalty": [100, 1]}, [[0, 0], [1, 1]] * 20, by="bic")
    >>> selection.best.parameters, selection.learner
    ({'penalty': 1}, Trees(penalty=1), fitted: 4 features of 2 variables)
    """

    by: By
    candidates: Sequence[Candidate]
    best: Candidate
    learner: Any
    note: str = ""

    @property
    def label(self) -> str:
        """The name of the rule in results."""
        return LABELS.get(self.by, self.by)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{key}={value!r}" for key, value in self.best.parameters.items())
        return f"Selection(by {self.label}, {chosen} of {len(self.candidates)} candidates)"


def select(
    learner: Any,
    grid: Grid,
    train: DataLike,
    *,
    valid: DataLike | None = None,
    by: By = "pseudo-likelihood",
    domain: DomainLike | None = None,
    subsamples: int = 20,
    threshold: float = 0.05,
    strongest: Literal["largest", "smallest"] = "largest",
    rng: Rng = 0,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
) -> Selection:
    """Fit a learner with each combination of parameters and choose the best.

    By held-out ``pseudo-likelihood``, by ``bic`` (the pseudo-likelihood BIC; no rows are held out),
    or by ``stability``: the weakest penalty at which structures learned from subsamples differ
    little.

    Parameters
    ----------
    learner : Learner, class, or name
    grid : mapping from parameters to values
        All combinations are tried. For stability, one parameter: the penalty.
    train : data
        The rows to learn from.
    valid : data, optional
        Held-out rows, required for "pseudo-likelihood".
    by : "pseudo-likelihood", "bic" or "stability"
    domain : Domain or mapping, optional
    subsamples : int
        Number of subsamples, each half of the rows, or of the subjects; shared by all penalties.
    threshold : float
        Largest accepted instability.
    strongest : "largest" or "smallest"
        Which value of the penalty gives the smallest structure.
    rng : generator or seed of the subsamples
    time_limit : float, optional
        Leave out the combinations that are not finished after this many seconds.
    show_progress : bool or function
        Show a progress bar on standard error, or call a function of (fits done, fits).

    Returns
    -------
    Selection

    Raises
    ------
    OpenResult
        If the time limit leaves nothing to choose from.

    Examples
    --------
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> select("trees", {"penalty": [100, 1]}, rows, by="bic")
    Selection(by pseudo-likelihood BIC, penalty=1 of 2 candidates)
    """
    learner = as_learner(learner)
    raw, data = read_once(train, domain)
    tried = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if by not in RULES:
        raise ContextwiseError(f"by must be one of {', '.join(RULES)}, got {by!r}")
    if not grid or not tried:
        raise ContextwiseError("the grid is empty; pass at least one value of a parameter")
    if by == "pseudo-likelihood" and valid is None:
        raise ContextwiseError("selection by pseudo-likelihood needs held-out rows; pass valid=")
    with progress_of(show_progress, "fits") as progress:
        work = _Work(learner, raw, data, Deadline.after(time_limit), progress)
        if by != "stability":
            how = RowOptions(learned=data.decisions)
            held_out = as_data(valid, data.domain, how) if by == "pseudo-likelihood" else None
            return work.by_score(by, tried, held_out)
        if len(grid) != 1:
            raise ContextwiseError(
                "selection by stability needs a grid of one parameter, the penalty"
            )
        if strongest not in ("largest", "smallest"):
            raise ContextwiseError(f"strongest must be 'largest' or 'smallest', got {strongest!r}")
        (name,) = grid
        tried.sort(key=lambda parameters: parameters[name], reverse=strongest == "largest")
        try:
            return work.by_stability(tried, subsamples, threshold, np.random.default_rng(rng))
        except (OpenResult, OutOfTime):
            raise OpenResult(LATE) from None


@dataclass(eq=False)
class _Work:
    """Fit one learner with many parameters."""

    learner: Any
    raw: DataLike
    data: Data
    deadline: Deadline
    progress: Progress | None

    def fit(self, parameters: Mapping[str, Any], rows: DataLike, *step: int) -> Any:
        """Fit to rows, then report the step, if any: fits done, fits; raise if there is no time."""
        self.deadline.check()
        left = self.deadline.left()
        limit = {} if left is None else {"time_limit": left}
        fitted = fresh(self.learner, parameters).fit(rows, domain=self.data.domain, **limit)
        if not getattr(fitted, "finished_", True):
            raise OutOfTime
        if self.progress and step:
            self.progress(*step)
        return fitted

    def by_score(self, by: By, tried: list[dict[str, Any]], valid: Data | None) -> Selection:
        """Choose the best score, the first of equal ones: by BIC if no rows are held out."""
        candidates: list[Candidate] = []
        best, best_score, best_learner = 0, -np.inf, None
        for place, parameters in enumerate(tried):
            try:
                fitted = self.fit(parameters, self.raw, place + 1, len(tried))
                if isinstance(fitted, Learner):
                    fitted.fit_weights(self.deadline)
                value = fitted.score(self.data if valid is None else valid)
                if valid is None:
                    weights, size = np.count_nonzero(fitted.model_.weights), len(self.data)
                    value = float(-2 * (size * value) + log(max(1, size)) * weights)
            except (OpenResult, OutOfTime):
                candidates.append(Candidate(parameters, None))
                continue
            candidates.append(Candidate(parameters, value, len(fitted.structure_)))
            score = -value if valid is None else value
            if best_learner is None or score > best_score:
                best, best_score, best_learner = place, score, fitted
        if best_learner is None:
            raise OpenResult(LATE)
        late = sum(candidate.value is None for candidate in candidates)
        note = f"{plural(late, 'combination')} not finished within the time limit" if late else ""
        return Selection(by, candidates, candidates[best], best_learner, note)

    def by_stability(
        self,
        tried: list[dict[str, Any]],
        subsamples: int,
        threshold: float,
        rng: np.random.Generator,
    ) -> Selection:
        """Choose the weakest penalty whose structures are stable enough."""
        rows, subjects = len(self.data), self.data.subjects
        what = "rows" if subjects is None else "subjects"
        units = rows if subjects is None else len(np.unique(subjects))
        if subsamples < 2 or units < 2:
            raise ContextwiseError(
                f"stability needs at least 2 subsamples and 2 {what}, got {subsamples} and {units}"
            )
        drawn = [draw_rows(rows, subjects, 0.5, rng) for _ in range(subsamples)]
        candidates: list[Candidate] = []
        best, largest, total = 0, 0.0, len(tried) * subsamples
        for place, parameters in enumerate(tried):
            if largest > threshold:  # weaker penalties cannot qualify any more
                candidates.append(Candidate(parameters, None))
                continue
            structures = [
                self.fit(parameters, take_rows(self.raw, part), done, total).structure_
                for done, part in enumerate(drawn, place * subsamples + 1)
            ]
            largest = max(largest, instability(structures))
            features = float(np.mean([len(structure) for structure in structures]))
            candidates.append(Candidate(parameters, largest, features))
            best = place if largest <= threshold else best
        learner, note = self.fit(tried[best], self.raw), ""
        if (candidates[best].value or 0.0) > threshold:
            note = f"no penalty is stable at {threshold:g}; this is the strongest"
        elif not learner.structure_.pairs():
            note = f"only a structure without dependencies is stable at {threshold:g}"
        return Selection("stability", candidates, candidates[best], learner, note)


def instability(structures: Sequence[Any]) -> float:
    """Return the mean normalized distance of all pairs of structures.

    >>> from contextwise import Structure
    >>> a = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> instability([a, a, Structure(a.domain)]) == (0 + 2 / 6 + 2 / 6) / 3
    True
    """
    matrix = distance_matrix(structures).normalized
    return float(matrix[np.triu_indices(len(structures), 1)].mean())
