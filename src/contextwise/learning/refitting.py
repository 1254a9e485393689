"""Weights for features that a learner has found: all together, by penalised pseudo-likelihood."""

from __future__ import annotations

from contextwise.distributions.fitting import fit
from contextwise.execution.progress import Progress
from contextwise.formats import ModelLike, as_structure
from contextwise.learning.data import Data, by_position
from contextwise.models.structure import LogLinear


def refit_l1(
    model: ModelLike,
    data: Data,
    l1: float,
    *,
    l2: float = 0.0,
    show_progress: bool | Progress = False,
) -> LogLinear:
    """The model with new weights, by L1-penalised pseudo-likelihood, without those of weight 0.

    Parameters
    ----------
    model : Structure, or LogLinear whose weights are ignored
    data : Data
        Over the domain of the model.
    l1, l2 : float
        The penalties l1 · Σ|w| and l2/2 · Σw² on the total over the rows.
    show_progress : bool or function
        A line on standard error, or a function of (iterations, at most).

    Examples
    --------
    >>> from contextwise import Structure
    >>> from contextwise.learning.data import as_data
    >>> rows = as_data([[0, 0], [1, 1]] * 30)
    >>> model = Structure(rows.domain, ["v0=1 & v1=1", "v0=1"])
    >>> len(refit_l1(model, rows, 1.0))
    2
    """
    structure = as_structure(model)
    found = fit(by_position(structure), data.rows, l1=l1, l2=l2, show_progress=show_progress)
    return LogLinear(structure, found.weights).without_zero_weights()
