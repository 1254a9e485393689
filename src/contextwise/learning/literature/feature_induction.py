"""Feature induction: grow a log-linear model by the feature that gains most.

Della Pietra, Della Pietra and Lafferty 1997, "Inducing features of random fields"; McCallum 2003
adds several features per step. The model starts with all single literals, which make the variables
independent. Candidates are active features with one more literal. The **gain** of a candidate g is
what the mean log-likelihood grows if g is added with its best weight and all other weights stay.
With p the share of rows in which g holds and q its
probability in the model, this is the divergence of two coins, ::

    gain(g) = p ln(p/q) + (1 - p) ln((1 - p)/(1 - q))

The best candidate is added, all weights are fitted again by maximum likelihood, and so on, until
the gain over all rows is below ``penalty`` · ln(rows)/2, as in BIC (the paper stops by a second set
of rows).

Up to 65,536 joint states q is exact; beyond, as in the paper, it is a share of rows drawn by Gibbs
sampling. Where exact inference is too large, weights are fitted by pseudo-likelihood. The gain has
no look ahead: two variables that matter only together, such as an exclusive or, are not found. It
is readable, not fast: use it up to about 30 variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np

from contextwise.data.rows import Data, by_position
from contextwise.distributions import gibbs_chains, probabilities
from contextwise.distributions.fitting import fit as fit_weights
from contextwise.distributions.inference import states
from contextwise.errors import DomainError, TooLargeError
from contextwise.evidence.counted_rows import CountedRows
from contextwise.learning.base import Learner, Run
from contextwise.models.factors import conjunctions, single_literals
from contextwise.models.structure import LogLinear, Model
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import NEVER, Deadline, progress_of

STATES_VISITED = 2**16
CHAINS, ROWS_PER_CHAIN = 1000, 16
LARGEST_GAP = 1e-5
"""The largest gap of a fit by likelihood."""
NEGLIGIBLE = 1e-12
"""The least probability of a feature in the model."""


@dataclass(eq=False, repr=False, kw_only=True)
class FeatureInduction(Learner):
    """Features by gain, one literal longer at a time (Della Pietra et al. 1997; McCallum 2003).

    Slow beyond 30 variables.

    Parameters
    ----------
    penalty : float
        Least gain of a feature over all rows, in units of ln(rows)/2; 1 is BIC.
    batch : int
        Number of features to add per step; 1 is Della Pietra's, McCallum adds many.
    max_features : int
        Largest number of features to add.
    l2 : float
        L2 penalty of the fits.
    seed : int or Generator
        Seed of Gibbs sampling, in large domains.

    Attributes
    ----------
    gains_ : list of float
        The gain of each added feature when it was added, in nats per row.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> FeatureInduction().fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    penalty: float = 1.0
    batch: int = 1
    max_features: int = 1000
    l2: float = 0.1
    seed: int | np.random.Generator = 0

    def learn(self, data: Data, run: Run) -> Model:
        """Add features while they gain enough."""
        if self.penalty < 0 or self.batch < 1 or self.max_features < 0:
            raise DomainError("feature induction needs penalty >= 0, batch >= 1, max_features >= 0")
        generator = np.random.default_rng(self.seed)
        counted = CountedRows.of(data)
        shares = counted.counts / max(1, len(data))
        observed = Holding(counted.rows, shares, counted.cardinalities)
        table = single_literals(data.domain)
        most = len(table) + self.max_features
        best: Model = conjunctions(data.domain, table)
        run.best = lambda: best
        self.gains_: list[float] = []
        least = self.penalty * log(max(len(data), 2)) / 2 / max(1, len(data))
        with progress_of(run.show_progress, "adding features") as progress:
            while len(data) and not run.is_late():
                try:
                    best = fitted(data, table, self.l2, run)
                    expected = model_shares(best, generator, run.deadline)
                except run.deadline.out_of_time:
                    continue
                count = min(self.batch, most - len(table))
                gain = gains(observed.shares(table), expected.shares(table))
                gain[~observed.candidates(table)] = -np.inf
                found = _best(gain, observed, table, count, least)
                if not found:
                    break
                table = np.concatenate([table, [feature for feature, _ in found]])
                self.gains_ += [value for _, value in found]
                if progress:
                    progress(len(self.gains_), self.max_features)
        return best


class Holding:
    """Weighted rows of codes, and how often conjunctions hold in them."""

    def __init__(self, rows: IntArray, weights: Any, cardinalities: tuple[int, ...]) -> None:
        from scipy import sparse

        self.rows, self.weights = rows, np.asarray(weights, dtype=np.float64)
        self.starts = np.cumsum([0, *cardinalities])
        codes = (rows + self.starts[:-1]).ravel()
        each = np.repeat(np.arange(len(rows)), rows.shape[1])
        shape = len(rows), int(self.starts[-1])
        self.literals = sparse.csr_array((np.ones(len(codes)), (each, codes)), shape=shape)
        self.owners = np.repeat(np.arange(len(cardinalities)), cardinalities)
        self.values = np.arange(shape[1]) - self.starts[self.owners]

    def shares(self, table: IntArray) -> FloatArray:
        """Return the weight of the rows in which a conjunction and a literal hold.

        Conjunctions are lines of values, -1 for none; there is one column per literal.
        """
        from scipy import sparse

        places, variables = np.nonzero(table >= 0)
        literals = self.starts[variables] + table[places, variables]
        shape = len(self.owners), len(table)
        members = sparse.csr_array((np.ones(len(places)), (literals, places)), shape=shape)
        matching = sparse.coo_array(self.literals @ members)
        full = matching.data == (table >= 0).sum(axis=1)[matching.col]
        rows, features = matching.row[full], matching.col[full]
        shape = len(table), len(self.rows)
        active = sparse.csr_array((self.weights[rows], (features, rows)), shape=shape)
        return np.asarray((active @ self.literals).todense())

    def candidates(self, table: IntArray) -> BoolArray:
        """Return where a literal is about a variable that the conjunction does not have."""
        usable = np.diff(self.starts)[self.owners] > 1
        return np.asarray((table < 0)[:, self.owners] & usable)


def gains(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the gain of features that hold with these shares in rows and in the model.

    >>> gains(np.array([0.5, 0.5]), np.array([0.5, 0.25])).round(4).tolist()
    [0.0, 0.1438]
    """
    from scipy.special import rel_entr

    q = np.clip(q, NEGLIGIBLE, 1 - NEGLIGIBLE)
    p = np.clip(p, 0, 1)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def model_shares(model: LogLinear, rng: np.random.Generator, deadline: Deadline = NEVER) -> Holding:
    """Return all states with their probabilities, or rows drawn from the model."""
    domain = model.domain
    if prod(domain.cardinalities) <= STATES_VISITED:
        return Holding(states(domain), probabilities(model).ravel(), domain.cardinalities)
    drawn = gibbs_chains(model, chains=CHAINS, draws=ROWS_PER_CHAIN, seed=rng, deadline=deadline)
    rows = drawn.reshape(-1, len(domain))
    return Holding(rows, np.full(len(rows), 1 / len(rows)), domain.cardinalities)


def fitted(data: Data, table: IntArray, l2: float, run: Run) -> LogLinear:
    """Fit the weights of conjunctions, by likelihood if inference is possible."""
    structure = conjunctions(data.domain, table)
    plain = by_position(structure)
    options: dict[str, Any] = {"l2": l2, "deadline": run.deadline}
    try:
        exact = {"method": "likelihood", "tolerance": LARGEST_GAP, **options}
        found = fit_weights(plain, data.coded, **exact)
    except TooLargeError:
        found = fit_weights(plain, data.coded, **options)
    return LogLinear(structure, found.weights)


def _best(
    gain: FloatArray, holding: Holding, table: IntArray, count: int, least: float
) -> list[tuple[IntArray, float]]:
    """Return the best new features with a gain above the least, each with its gain."""
    known = set(map(bytes, table))
    found: list[tuple[IntArray, float]] = []
    # Rounding must not decide between equal gains: the first of them is chosen.
    for place in np.argsort(-gain.ravel().round(12), kind="stable"):
        base, literal = np.unravel_index(place, gain.shape)
        if len(found) == count or gain[base, literal] <= least:
            break
        feature = table[base].copy()
        feature[holding.owners[literal]] = holding.values[literal]
        if bytes(feature) not in known:
            known.add(bytes(feature))
            found.append((feature, float(gain[base, literal])))
    return found
