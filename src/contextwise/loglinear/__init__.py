"""What a `LogLinear` can do: distributions, sampling, fitting, divergences.

A log-linear model gives every state x the probability exp(Σ w_f f(x)) / Z, the sum over the
features f that hold in x.

- `inference`: probabilities, marginals, conditionals, expectations, exactly: by visiting all states
  (`tables`), or by summing variables out one by one (`elimination`);
- `fitting`: weights from data; `batch`: thousands of structures over a small domain; `pseudo`: the
  pseudo-likelihood.

Nothing here touches counting: the metric cannot come to depend on weights.
"""

from contextwise.loglinear.batch import BatchFit, empirical, fit_many
from contextwise.loglinear.fitting import ConvergenceWarning, Fit, fit
from contextwise.loglinear.inference import (
    expectations,
    log_partition,
    log_potential,
    log_probability,
    marginal,
    probabilities,
)
from contextwise.loglinear.pseudo import conditional_log_probabilities
from contextwise.loglinear.tables import states

__all__ = [
    "BatchFit",
    "ConvergenceWarning",
    "Fit",
    "conditional_log_probabilities",
    "empirical",
    "expectations",
    "fit",
    "fit_many",
    "log_partition",
    "log_potential",
    "log_probability",
    "marginal",
    "probabilities",
    "states",
]
