"""Inference, sampling, fitting and divergences of log-linear models.

A log-linear model gives each state x the probability exp(Σ w_f) / Z, summed over the features f
that hold in x.

- `potentials`: the features that hold in each row;
- `inference`: probabilities, marginals, conditionals, expectations, exactly: by visiting all states
  (`tables`), or by summing variables out one by one (`elimination`);
- `sampling`: exact, or by Gibbs chains (`gibbs`), and estimates from samples;
- `fitting`: weights from data, by likelihood or by pseudo-likelihood (`conditionals`), which is a
  sum of logistic losses (`logistic`) and is fitted to a stated gap (`proximal_newton`, with the
  inner loop `descent`); `batch_fitting`: thousands of structures over a small domain;
- `divergence`: divergences between two distributions; `bridge_sampling`: partition functions from
  samples;
- `likelihood`: prediction scores on rows.

Nothing here imports counting, so the metric cannot depend on weights.
"""

from contextwise.distributions.batch_fitting import BatchFit, empirical, fit_many
from contextwise.distributions.bridge_sampling import estimated_log_partition
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
from contextwise.distributions.sampling import (
    Diagnosis,
    Drawn,
    Estimate,
    diagnose,
    draw,
    gibbs_chains,
    sample,
)
from contextwise.distributions.tables import states

__all__ = [
    "BatchFit",
    "ConvergenceWarning",
    "Diagnosis",
    "Divergences",
    "Drawn",
    "Estimate",
    "Fit",
    "cmll",
    "conditional_log_probabilities",
    "diagnose",
    "divergences",
    "draw",
    "empirical",
    "estimated_log_partition",
    "expectations",
    "fit",
    "fit_many",
    "gibbs_chains",
    "kl_divergence",
    "log_partition",
    "log_potential",
    "log_probability",
    "marginal",
    "mean_log_likelihood",
    "mean_pseudo_log_likelihood",
    "probabilities",
    "sample",
    "states",
]
