"""Inference, sampling, fitting and divergences of log-linear models.

A log-linear model gives each state x the probability exp(Σ w_f) / Z, summed over the features f
that hold in x. Exact functions raise `TooLargeError`, with the size, where the treewidth is too
large.

- `potentials`: the features that hold in each row;
- `inference`: probabilities, marginals and expectations, by visiting all states or by elimination;
- `sampling`: exact, or by Gibbs chains; `bridge_sampling`: partition functions from samples;
- `fitting`: weights from data, by likelihood or by pseudo-likelihood (`conditionals`), which is a
  sum of logistic losses, fitted to a stated gap (`proximal_newton`); `batch_fitting`: thousands of
  structures over a small domain;
- `divergence`: between two distributions; `likelihood`: prediction scores on rows.

Nothing here imports counting, so the metric cannot depend on weights.
"""

from contextwise.distributions.conditionals import conditional_log_probabilities
from contextwise.distributions.divergence import Divergences, divergences, kl_divergence
from contextwise.distributions.fitting import ConvergenceWarning, Fit, fit
from contextwise.distributions.inference import (
    expectations,
    log_partition,
    log_potential,
    log_probability,
    marginal,
    probabilities,
)
from contextwise.distributions.likelihood import (
    cmll,
    mean_log_likelihood,
    mean_pseudo_log_likelihood,
)
from contextwise.distributions.sampling import Diagnosis, Drawn, Estimate, draw, sample

__all__ = [
    "ConvergenceWarning",
    "Diagnosis",
    "Divergences",
    "Drawn",
    "Estimate",
    "Fit",
    "cmll",
    "conditional_log_probabilities",
    "divergences",
    "draw",
    "expectations",
    "fit",
    "kl_divergence",
    "log_partition",
    "log_potential",
    "log_probability",
    "marginal",
    "mean_log_likelihood",
    "mean_pseudo_log_likelihood",
    "probabilities",
    "sample",
]
