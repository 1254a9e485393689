"""Select parameters of a learner from a grid, by held-out rows or by BIC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log
from typing import Any

import numpy as np

from contextwise.data.options import RowOptions
from contextwise.data.rows import Data, DataLike, DomainLike, as_data, read_once
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.learning.base import Learner, as_learner, fresh
from contextwise.support.effort import Deadline, OutOfTime, Progress, progress_of
from contextwise.support.formatting import plural


@dataclass(frozen=True)
class Candidate:
    """A combination of parameters, its score, and its number of features.

    The score is None if the candidate was not finished.
    """

    parameters: Mapping[str, Any]
    value: float | None
    features: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The candidates and the best of them.

    Attributes
    ----------
    by : "pseudo-likelihood" or "pseudo-likelihood BIC"
        The score of the candidates: the mean over held-out rows, larger is better, or the BIC over
        the training rows, smaller is better.
    candidates : list of Candidate
        In the order of the grid.
    best : Candidate
        The first of equally good ones.
    learner : the learner with the best parameters, fitted to all rows

    Examples
    --------
    >>> selection = select("trees", {"penalty": [100, 1]}, [[0, 0], [1, 1]] * 20)
    >>> selection.best.parameters, selection.learner
    ({'penalty': 1}, Trees(penalty=1), fitted: 4 features of 2 variables)
    """

    by: str
    candidates: Sequence[Candidate]
    best: Candidate
    learner: Any

    @property
    def note(self) -> str:
        """How many combinations were not finished, if any."""
        late = sum(candidate.value is None for candidate in self.candidates)
        return f"{plural(late, 'combination')} not finished within the time limit" if late else ""

    def __repr__(self) -> str:
        chosen = ", ".join(f"{key}={value!r}" for key, value in self.best.parameters.items())
        return f"Selection(by {self.by}, {chosen} of {len(self.candidates)} candidates)"


def select(
    learner: Any,
    grid: Mapping[str, Sequence[Any]],
    train: DataLike,
    *,
    valid: DataLike | None = None,
    domain: DomainLike | None = None,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
) -> Selection:
    """Fit a learner with each combination of parameters and choose the best.

    With held-out rows, by their pseudo-likelihood. Without, by the BIC of the pseudo-likelihood of
    the training rows, -2 · PLL + ln N · (nonzero weights), which is not the BIC of the likelihood:
    see `goodness_of_fit` for that.

    Parameters
    ----------
    learner : Learner, class, or name
    grid : mapping from parameters to values
        All combinations are tried.
    train : data
        The rows to learn from.
    valid : data, optional
        Held-out rows.
    domain : Domain or mapping, optional
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
    >>> select("trees", {"penalty": [100, 1]}, rows)
    Selection(by pseudo-likelihood BIC, penalty=1 of 2 candidates)
    """
    chosen = as_learner(learner)
    raw, data = read_once(train, domain)
    tried = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if not grid or not tried:
        raise ContextwiseError("the grid is empty; pass at least one value of a parameter")
    held_out = None
    if valid is not None:
        held_out = as_data(valid, data.domain, RowOptions(learned=data.decisions))
    deadline = Deadline.after(time_limit)
    candidates: list[Candidate] = []
    best_score, best, best_learner = -np.inf, 0, None
    with progress_of(show_progress, "fits") as progress:
        for place, parameters in enumerate(tried):
            try:
                fitted = _fit(fresh(chosen, parameters), raw, data, deadline)
                value = _bic(fitted, data) if held_out is None else fitted.score(held_out)
            except (OpenResult, OutOfTime):
                candidates.append(Candidate(parameters, None))
                continue
            candidates.append(Candidate(parameters, value, len(fitted.structure_)))
            score = -value if held_out is None else value
            if best_learner is None or score > best_score:
                best_score, best, best_learner = score, place, fitted
            if progress:
                progress(place + 1, len(tried))
    if best_learner is None:
        raise OpenResult("the selection was not finished within the time limit; allow more time")
    by = "pseudo-likelihood BIC" if held_out is None else "pseudo-likelihood"
    return Selection(by, candidates, candidates[best], best_learner)


def _fit(learner: Learner, raw: DataLike, data: Data, deadline: Deadline) -> Learner:
    """Fit a learner and its weights; raise if there is no time."""
    deadline.check()
    fitted = learner.fit(raw, domain=data.domain, time_limit=deadline.left())
    if not fitted.finished_:
        raise OutOfTime
    fitted.fit_weights(deadline)
    return fitted


def _bic(fitted: Learner, data: Data) -> float:
    weights = int(np.count_nonzero(fitted.model_.weights))
    return float(-2 * len(data) * fitted.score(data) + log(max(1, len(data))) * weights)
