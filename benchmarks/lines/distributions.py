"""Exact inference, sampling and fitting, compared with pyAgrum and pgmpy.

The models are chains, where the tables of the other packages are small. For learned models with
long features they would need full tables of every scope.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

import numpy as np

from benchmarks.cases import Models
from benchmarks.families import SEED
from benchmarks.measure import Figure, Line, Measurement, at_least, at_most, timed
from benchmarks.other_packages import to_pgmpy, to_pyagrum
from contextwise import Domain, LogLinear, Structure, read
from contextwise.distributions import fit, marginal, mean_pseudo_log_likelihood
from contextwise.distributions.inference import exact_inference
from contextwise.distributions.sampling import draw
from contextwise.errors import require

CHAIN = 12
FITTED = {"real": "nltcs.dt-ps10", "generated": "forest.medium"}
SAMPLED = {"real": "jester.dt-ps10", "generated": "forest.medium"}


def run(models: Models) -> Line:
    """Time every task with every package that supports it, and compare the answers."""
    kind = "generated" if models.generated else "real"
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for job, ours, theirs in (_marginals(), _samples()):
        mine = _add(measurements, job, "contextwise", ours)
        for contender, work in theirs.items():
            other = _add(measurements, job, contender, work)
            figures.append(at_least(f"{job}, {contender}", other / mine, 1))
    large = read(models.path(SAMPLED[kind]))
    assert isinstance(large, LogLinear)
    job = f"1,000 rows of {SAMPLED[kind]} by Gibbs chains"
    seconds = _add(measurements, job, "contextwise", lambda: _gibbs(large))
    figures.append(at_most(job, seconds, 10, "seconds"))
    fitted = read(models.path(FITTED[kind]))
    assert isinstance(fitted, LogLinear)
    job = f"{len(fitted):,} weights of {FITTED[kind]} from 10,000 rows"
    seconds = _add(measurements, job, "contextwise", _fit(fitted))
    figures.append(at_most(job, seconds, 10, "seconds"))
    return Line("distributions", "Inference, samples and fits", measurements, figures)


def _add(
    measurements: list[Measurement], job: str, contender: str, work: Callable[[], None]
) -> float:
    seconds, _ = timed(work)
    measurements.append(Measurement(job, contender, seconds))
    return seconds


def chain() -> LogLinear:
    """Return a chain of binary variables with a weight on every cell of each edge."""
    domain = Domain({f"v{k}": 2 for k in range(CHAIN)})
    features = [
        f"v{k}={a} & v{k + 1}={b}" for k in range(CHAIN - 1) for a in (0, 1) for b in (0, 1)
    ]
    rng = np.random.default_rng(SEED)
    return LogLinear(Structure(domain, features), rng.normal(0, 1, len(features)))


Job = tuple[str, Callable[[], None], dict[str, Callable[[], None]]]


def _marginals() -> Job:
    """Time the marginals of all variables."""
    pyagrum = require("pyagrum", "pyagrum")
    from pgmpy.inference import VariableElimination

    model = chain()
    expected = {name: marginal(model, name) for name in model.domain.names}
    network, other = to_pyagrum(model), to_pgmpy(model)

    def ours() -> None:
        found = exact_inference(model)
        for k, table in enumerate(expected.values()):
            assert np.allclose(found.marginal([k]), table)

    def by_pyagrum() -> None:
        inference = pyagrum.ShaferShenoyMRFInference(network)
        inference.makeInference()
        for name, table in expected.items():
            assert np.allclose(inference.posterior(name).toarray(), table)

    def by_pgmpy() -> None:
        inference = VariableElimination(other)
        for name, table in expected.items():
            found = inference.query([name], show_progress=False)
            found.normalize()
            assert np.allclose(found.values, table)

    job = f"marginals of a chain of {CHAIN} variables"
    return job, ours, {"pyAgrum": by_pyagrum, "pgmpy": by_pgmpy}


def _samples() -> Job:
    """Time Gibbs sampling: one chain in pgmpy, a hundred in contextwise."""
    from pgmpy.sampling import GibbsSampling

    model = chain()
    other = GibbsSampling(to_pgmpy(model))
    mean = np.array([marginal(model, name)[1] for name in model.domain.names])

    def ours() -> None:
        rows = draw(model, 1000, seed=SEED, method="gibbs", burn_in=20, thin=1).rows
        assert np.abs(rows.mean(axis=0) - mean).max() < 0.1

    def by_pgmpy() -> None:
        with contextlib.redirect_stderr(io.StringIO()):
            rows = other.sample(size=1000, seed=SEED)
        assert len(rows) == 1000

    return f"1,000 rows of a chain of {CHAIN} variables", ours, {"pgmpy": by_pgmpy}


def _gibbs(model: LogLinear) -> None:
    rows = draw(model, 1000, seed=SEED, method="gibbs").rows
    assert rows.shape == (1000, len(model.domain))


def _fit(model: LogLinear) -> Callable[[], None]:
    rows = draw(model, 10_000, seed=SEED, thin=2).rows
    before = mean_pseudo_log_likelihood(model, rows)

    def ours() -> None:
        found = fit(model.structure, rows)
        assert found.converged
        assert found.value > before  # better on these rows than what made them

    return ours
