"""Measure how well the structures of a study predict: KL, CMLL and the likelihood of new rows.

Every guess, of a learner or with planted errors, gets weights in the same way: by maximum
likelihood on the rows of its data set with a small ridge. So the numbers compare structures, not
the ways in which learners fit weights. This is the setup of the paper's experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from contextwise.data.rows import Data
from contextwise.distributions.divergence import kl_divergence
from contextwise.distributions.fitting import L2, fit
from contextwise.distributions.inference import exact_inference, probabilities
from contextwise.distributions.likelihood import cmll, mean_log_likelihood
from contextwise.distributions.small_fits import fit_table, is_small
from contextwise.errors import ContextwiseError, TooLargeError
from contextwise.models.structure import LogLinear, numbers_of
from contextwise.studies.units import Case, DataSet
from contextwise.support.arrays import FloatArray

HELD_OUT = 1000
"""The number of new rows of each data set that likelihoods are computed on."""
CMLL_GROUPS = 4
"""The number of groups of variables of CMLL."""


@dataclass(frozen=True)
class Divergence:
    """The columns of ``--kl``: divergence from the truth, CMLL and log-likelihood of new rows.

    All are in nats. KL is exact; the others are means over `HELD_OUT` rows that no guess was
    learned from.

    Parameters
    ----------
    l2 : ridge of the fit, as in `contextwise.distributions.fit`

    Examples
    --------
    >>> from contextwise import study
    >>> result = study("lung", "mpl", rows=500, repeats=1, columns=[Divergence()])
    >>> result.results[0]["kl"] < 0.02
    True
    """

    l2: float = L2
    keys = ("kl", "cmll", "log_likelihood")

    def check(self, data: DataSet) -> None:
        """Raise if the truth has no weights, or too many variables for exact inference."""
        numbers = numbers_of(data.model)
        if numbers is None:
            raise ContextwiseError(f"{data.truth}: KL needs a truth with weights")
        try:
            exact_inference(numbers)
        except TooLargeError as problem:
            text = f"{data.truth}: KL needs exact inference ({problem}); leave out this truth"
            raise TooLargeError(f"{text} or --kl") from None

    def measure(self, case: Case) -> Mapping[str, Any]:
        """Fit the guess to the rows of its data set and compare it with the truth."""
        truth = numbers_of(case.data.model)
        assert truth is not None
        rows, new = case.data.rows, case.data.held_out(HELD_OUT)
        if is_small(case.guess.domain):
            return _by_table(case, truth, rows, new, self.l2)
        fitted = fit(case.guess, rows, method="likelihood", l2=self.l2).model
        divergence = kl_divergence(truth, fitted)
        if not divergence.exact:
            raise TooLargeError("the KL of this guess is beyond exact inference")
        return {
            "kl": float(divergence),
            "cmll": float(cmll(fitted, new, groups=CMLL_GROUPS)),
            "log_likelihood": mean_log_likelihood(fitted, new),
        }


def _by_table(case: Case, truth: LogLinear, rows: Data, new: Data, l2: float) -> dict[str, float]:
    """Return the same numbers from tables of all states, in milliseconds."""
    guess = case.guess.aligned_to(truth.domain)
    logs = fit_table(guess, _shares(rows), l2 / len(rows))
    p = probabilities(truth).ravel()
    there = p > 0
    shares = _shares(new)
    return {
        "kl": max(0.0, float((p[there] * (np.log(p[there]) - logs[there])).sum())),
        "cmll": _cmll(logs.reshape(truth.domain.cardinalities), shares),
        "log_likelihood": float(shares @ logs),
    }


def _shares(rows: Data) -> FloatArray:
    """Return the share of each state in the rows, the last variable fastest."""
    cards = rows.domain.cardinalities
    places = np.ravel_multi_index(tuple(rows.expanded.rows.T), cards)
    shares: FloatArray = np.bincount(places, minlength=int(np.prod(cards))) / len(rows)
    return shares


def _cmll(logs: FloatArray, shares: FloatArray) -> float:
    """Return the conditional marginal log-likelihood of rows, from a table of log-probabilities."""
    p = np.exp(logs)
    seen = shares.reshape(logs.shape)
    total = 0.0
    for part in np.array_split(np.arange(logs.ndim), min(CMLL_GROUPS, logs.ndim)):
        group = tuple(part.tolist())
        outside = p.sum(axis=group, keepdims=True)
        for variable in group:
            others = tuple(v for v in group if v != variable)
            conditional = np.log(p.sum(axis=others, keepdims=True) / outside)
            total += float((seen * conditional).sum())
    return total
