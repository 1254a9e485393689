"""Inference, sampling, fitting and KL-divergence of log-linear models.

A log-linear model gives each state x the probability exp(Σ w_f) / Z, summed over the features f
that hold in x. Exact functions raise `TooLargeError`, with the size, where the treewidth is too
large.

- `potentials`: the features that hold in each row;
- `inference`: probabilities, marginals and expectations, by visiting all states or by elimination;
- `sampling`: exact, or by Gibbs chains;
- `fitting`: weights from data, by likelihood or by pseudo-likelihood (`conditionals`), which is a
  sum of logistic losses (`logistic_loss`), fitted to a stated gap (`proximal_newton`); AIC, BIC
  and G²;
- `divergence`: KL between two distributions;
- `likelihood`: prediction scores on rows.

Nothing here imports counting, so the metric cannot depend on weights.
"""

from contextwise.distributions.divergence import kl_divergence
from contextwise.distributions.fitting import fit, goodness_of_fit
from contextwise.distributions.inference import log_probability, marginal, probabilities
from contextwise.distributions.likelihood import (
    cmll,
    mean_log_likelihood,
    mean_pseudo_log_likelihood,
)
from contextwise.distributions.sampling import gibbs_chains, sample

__all__ = [
    "cmll",
    "fit",
    "gibbs_chains",
    "goodness_of_fit",
    "kl_divergence",
    "log_probability",
    "marginal",
    "mean_log_likelihood",
    "mean_pseudo_log_likelihood",
    "probabilities",
    "sample",
]
