"""Score a guess by its weights: divergences from the true model, likelihoods of rows.

Divergences need weights of both models, likelihoods need weights of the guess and rows. Scores that
cannot be computed are left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from contextwise.distributions.divergence import kl_divergence
from contextwise.distributions.likelihood import (
    cmll,
    mean_log_likelihood,
    mean_pseudo_log_likelihood,
    scored_rows,
)
from contextwise.distributions.sampling import Estimate
from contextwise.errors import ContextwiseError
from contextwise.models.structure import LogLinear, Model, numbers_of

DIVERGENCES = {
    "kl_true_guess": "KL(true ‖ guess)",
    "kl_guess_true": "KL(guess ‖ true)",
}
LIKELIHOODS = {
    "log_likelihood": "log-likelihood",
    "pseudo_log_likelihood": "pseudo-ll",
    "cmll": "CMLL",
}
SCORES = {**DIVERGENCES, **LIKELIHOODS}
"""The scores and their labels; divergences and mean likelihoods are in nats."""


class Scores(NamedTuple):
    """The scores of one guess, and why others are missing."""

    values: Mapping[str, Estimate]
    missing: Mapping[str, str]

    def record(self) -> dict[str, object]:
        """Return the values and standard errors of all scores; None where one is missing."""
        keys = [key for key in SCORES if key in self.values or key in self.missing]
        record: dict[str, object] = {}
        for key in keys:
            value = self.values.get(key)
            record[key] = None if value is None else value.value
            record[f"{key}_standard_error"] = None if value is None else value.standard_error
        return record


def score(true: Model, guess: Model, *, rows: Any = None, kl: bool = False) -> Scores:
    """Compute divergences if ``kl`` is true, and likelihoods if there are rows.

    >>> from contextwise import Structure
    >>> structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    >>> true, guess = LogLinear(structure, [1.0]), LogLinear(structure, [0.0])
    >>> score(true, guess, kl=True).values["kl_true_guess"]
    Estimate(0.117993, exact)
    >>> score(structure, guess, kl=True).missing["kl_true_guess"]
    'the true model has no weights'
    """
    values: dict[str, Estimate] = {}
    missing: dict[str, str] = {}

    def add(name: str, value: Callable[[], Estimate]) -> None:
        try:
            values[name] = value()
        except ContextwiseError as error:
            missing[name] = str(error)

    first, second = numbers_of(true) or true, numbers_of(guess) or guess
    if kl and isinstance(first, LogLinear) and isinstance(second, LogLinear):
        add("kl_true_guess", lambda: kl_divergence(first, second))
        add("kl_guess_true", lambda: kl_divergence(second, first))
    elif kl:
        which = "guess" if isinstance(first, LogLinear) else "true model"
        missing |= dict.fromkeys(DIVERGENCES, f"the {which} has no weights")
    if rows is not None and isinstance(second, LogLinear):
        scored = scored_rows(second, rows)
        add("log_likelihood", lambda: Estimate(mean_log_likelihood(second, scored)))
        add("pseudo_log_likelihood", lambda: Estimate(mean_pseudo_log_likelihood(second, scored)))
        add("cmll", lambda: cmll(second, scored))
    elif rows is not None:
        missing |= dict.fromkeys(LIKELIHOODS, "the guess has no weights; contextwise fit adds them")
    return Scores(values, missing)
