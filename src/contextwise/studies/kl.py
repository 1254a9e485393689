"""The metric against KL-divergence: why structures need a distance of their own.

Random structures are drawn that differ from a true model by false positives only, or by false
negatives only, spread evenly over the numbers of errors that there can be. The true model gets
several sets of strong weights; data of several sizes are drawn from each by Gibbs sampling; every
structure is fitted to every data set, and the exact KL-divergence from the true distribution to the
fitted one is set against the percentage of errors that the metric counts.

**Weights.** For each scope of the true model one number λ is drawn: its size uniformly from the
range ``interaction``, its sign by a fair coin. A feature of that scope weighs ±λ/4, with a minus
for every variable of which the first state that it allows is in an odd place. So two binary
variables that interact through the four features of a pair have the log-odds ratio λ.

**Units.** A unit is a chunk of structures of one side with all its fits. Everything in it is drawn
from the run's seed by the position of what is drawn, so results do not depend on which worker did
what, nor on how often the run was stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, Unpack

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.distributions import empirical, fit_many, probabilities
from contextwise.distributions.batch_fitting import STATES
from contextwise.distributions.sampling import gibbs_chains
from contextwise.distributions.tables import state_count
from contextwise.errors import ContextwiseError
from contextwise.models.domain import Domain
from contextwise.models.features import IntArray
from contextwise.models.structure import LogLinear, Structure
from contextwise.studies.configuration import Configuration, RunOptions, run_study
from contextwise.studies.summary import NAMES
from contextwise.support.store import Outcome, Record, Unit
from contextwise.truths.generate import WithErrors, with_errors
from contextwise.truths.named import strong_weights

Side = Literal["fp", "fn"]
SIDES: tuple[Side, ...] = ("fp", "fn")
_WEIGHTS, _DATA, _STRUCTURE = range(3)
"""What is drawn, as the first number of its place in the run's tree of seeds."""


def run_kl(
    configuration: Configuration,
    folder: str | os.PathLike[str],
    **options: Unpack[RunOptions],
) -> Outcome:
    """Run the experiment into a folder, or go on where it stopped.

    The folder gets ``results.sqlite`` and ``configuration.toml``; `contextwise.studies.summary`
    says what the results show.

    Parameters
    ----------
    configuration : Configuration
        Everything that the results depend on.
    folder : path
        Where the results go; made if it is not there.
    **options : n_jobs, cluster and show_progress
        As in `contextwise.studies.configuration.run_study`.

    Returns
    -------
    Outcome
        How many units of work were done, and which failed.

    Raises
    ------
    TooLargeError
        If the model has more states than `fit_many` visits.
    ContextwiseError
        If no structure can err on one of the two sides.
    """
    state_count(configuration.model().domain, STATES)
    for side, most in most_errors(configuration.model()).items():
        if not most:
            claim = "independent" if side == "fp" else "dependent"
            raise ContextwiseError(
                f"the true model claims nothing {claim}, so no structure can have "
                f"{NAMES[side]}; the study needs both kinds of errors"
            )
    return run_study(folder, configuration.record(), units(configuration), fit_unit, **options)


def units(configuration: Configuration) -> Iterator[Unit]:
    """The units of a run: chunks of structures, in an order that mixes the two sides."""
    for first in range(0, configuration.structures, configuration.chunk):
        chunk = range(first, min(first + configuration.chunk, configuration.structures))
        for side in SIDES:
            yield Unit(f"{side}-{first:06}", (configuration, side, chunk))


def fit_unit(parameters: tuple[Configuration, Side, range]) -> Sequence[Record]:
    """Draw the structures of a unit, fit each to every data set, and measure."""
    configuration, side, chunk = parameters
    study = _study(configuration)
    drawn = [study.structure(side, k) for k in chunk]
    fitted = fit_many(
        [made.structure for made in drawn],
        study.targets,
        sizes=study.rows_behind,
        method=configuration.method,
        l2=configuration.l2,
    )
    kl = fitted.kl_from(slice(None), study.truths)
    return [
        {
            "structure": chunk[at],
            "side": side,
            "size": size,
            "parameters": weights,
            "errors": made.errors,
            "percentage": 100 * made.errors / study.most[side],
            "features": len(made.structure),
            "kl": float(kl[at, place]),
            "converged": int(fitted.converged[at, place]),
        }
        for at, made in enumerate(drawn)
        for place, (weights, size) in enumerate(study.data_sets)
    ]


def most_errors(model: Structure) -> dict[Side, int]:
    """How many false positives and how many false negatives a structure can have.

    >>> most_errors(Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"]))
    {'fp': 3, 'fn': 3}
    """
    whole = compare(model, Structure(model.domain))
    return {"fp": int(whole.tn), "fn": int(whole.fn)}


class Study:
    """What all units of a run share: the true distributions and the data drawn from them."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.model = configuration.model()
        self.plain = Domain.of_cardinalities(self.model.domain.cardinalities)
        self.most = most_errors(self.model)
        self.data_sets = [
            (parameters, size)
            for parameters in range(configuration.parameter_sets)
            for size in configuration.sizes
        ]
        originals = [self.original(p) for p in range(configuration.parameter_sets)]
        tables = [probabilities(original).ravel() for original in originals]
        self.truths = np.stack([tables[parameters] for parameters, _ in self.data_sets])
        self.rows_behind = [size for _, size in self.data_sets]
        self.targets = np.stack(
            [
                empirical(self.plain, self.data(originals[parameters], parameters, size))
                for parameters, size in self.data_sets
            ]
        )

    def rng(self, *place: int) -> np.random.Generator:
        """The generator of one place in the run's tree of seeds."""
        return np.random.default_rng(
            np.random.SeedSequence(self.configuration.seed, spawn_key=place)
        )

    def original(self, parameters: int) -> LogLinear:
        """The true model with one of its sets of weights."""
        rng = self.rng(_WEIGHTS, parameters)
        return strong_weights(self.model, interaction=self.configuration.interaction, rng=rng)

    def data(self, original: LogLinear, parameters: int, size: int) -> IntArray:
        """Rows drawn by Gibbs sampling, as many from each of several chains.

        Parameters
        ----------
        original : the true model with its weights
        parameters : the number of these weights
        size : how many rows

        Returns
        -------
        array of shape (size, variables)
            The position of each state.
        """
        c = self.configuration
        count = min(c.chains, size)
        chains = gibbs_chains(
            original,
            chains=count,
            draws=-(-size // count),
            rng=self.rng(_DATA, parameters, size),
            burn_in=c.burn_in,
            thin=c.thin,
        )
        return np.swapaxes(chains, 0, 1).reshape(-1, len(self.model.domain))[:size]

    def structure(self, side: Side, number: int) -> WithErrors:
        """The random structure of that number; its errors are spread evenly over what can be."""
        most = self.most[side]
        wanted = 1 + round((most - 1) * (number + 0.5) / self.configuration.structures)
        rng = self.rng(_STRUCTURE, SIDES.index(side), number)
        if side == "fp":
            return with_errors(self.model, false_positives=wanted, rng=rng)
        return with_errors(self.model, false_negatives=wanted, rng=rng)


@lru_cache(maxsize=2)
def _study(configuration: Configuration) -> Study:
    """The study of a configuration, made once per process."""
    return Study(configuration)
