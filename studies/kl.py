"""The paper's experiment: does KL-divergence see the errors that the metric counts?

    python -m studies.kl --out runs/kl --jobs 2

Draw structures that differ from the model ``six`` by false positives only, or by false negatives
only, spread evenly over the possible numbers of errors. Give the model several sets of strong
weights, draw data of several sizes from each by Gibbs sampling, fit every structure to every data
set by maximum likelihood with a small ridge, and relate the exact KL-divergence from the true to
the fitted distribution to the percentage of errors.

For each kind of error and each number of rows ``kl.csv`` has the rank correlation of errors and KL,
and the slope of KL per percent of errors, with 95 % bootstrap intervals over structures. A rank
correlation can be high where the effect is negligible, because every extra parameter costs about
1/(2N) in KL. The conclusions therefore use slopes.

Every random draw depends only on the seed and its place, so results do not depend on workers or
interruptions; the same command resumes an interrupted run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import contextwise as cw
from contextwise.distributions import gibbs_chains, probabilities
from contextwise.models.structure import structure_of
from contextwise.support.effort import Effort
from contextwise.support.store import Store, Unit, run_units
from contextwise.truths.named import strong_weights
from contextwise.truths.planted import Side, most_errors, plant

FloatArray = npt.NDArray[np.float64]
SIDES: tuple[Side, ...] = ("fp", "fn")
NAMES = {"fp": "false positives", "fn": "false negatives"}
CHUNK = 20  # structures per unit of work
L2 = 0.1
CHAINS, BURN_IN, THIN = 1000, 100, 5
TOLERANCE, MOST_STEPS = 1e-10, 200
BOOTSTRAPS = 1000
_WEIGHTS, _DATA, _STRUCTURE = range(3)
"""The first number of a draw's place in the run's tree of seeds."""


class Settings(NamedTuple):
    """Everything that determines the results of a run."""

    structures: int = 1000  # per kind of error
    sizes: tuple[int, ...] = (50, 100, 1000, 10000)
    parameter_sets: int = 10
    seed: int = 1


class Experiment:
    """The true distributions and data sets that all units of a run share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.model = structure_of(cw.examples.load("six"))
        self.most = most_errors(self.model)
        sets = range(settings.parameter_sets)
        self.weighted = [strong_weights(self.model, self.rng(_WEIGHTS, p)) for p in sets]
        self.data_sets = [(p, size) for p in sets for size in settings.sizes]
        self.truths = [probabilities(self.weighted[p]).ravel() for p, _ in self.data_sets]
        self.targets = [self.data(self.weighted[p], p, size) for p, size in self.data_sets]

    def rng(self, *place: int) -> np.random.Generator:
        """Return the generator at one place of the run's tree of seeds."""
        return np.random.default_rng(np.random.SeedSequence(self.settings.seed, spawn_key=place))

    def data(self, model: cw.LogLinear, parameters: int, size: int) -> FloatArray:
        """Draw rows evenly from several Gibbs chains; return the share of each state."""
        count = min(CHAINS, size)
        chains = gibbs_chains(
            model,
            chains=count,
            draws=-(-size // count),
            seed=self.rng(_DATA, parameters, size),
            burn_in=BURN_IN,
            thin=THIN,
        )
        rows = np.swapaxes(chains, 0, 1).reshape(-1, len(model.domain))[:size]
        cards = model.domain.cardinalities
        places = np.ravel_multi_index(tuple(rows.T), cards)
        return np.bincount(places, minlength=int(np.prod(cards))) / size

    def structure(self, side: Side, number: int) -> tuple[cw.Structure, int]:
        """Draw the structure of this number; the errors of all are spread evenly over the range."""
        wanted = 1 + round((self.most[side] - 1) * (number + 0.5) / self.settings.structures)
        rng = self.rng(_STRUCTURE, SIDES.index(side), number)
        return plant(self.model, side, wanted, rng)

    def records(self, side: Side, number: int) -> list[dict[str, Any]]:
        """Fit a structure to every data set and measure KL from the truth."""
        structure, errors = self.structure(side, number)
        basis = basis_of(structure)
        common: dict[str, Any] = {"side": side, "structure": number, "errors": errors}
        common["percentage"] = 100 * errors / self.most[side]
        records = []
        for (parameters, size), truth, target in zip(
            self.data_sets, self.truths, self.targets, strict=True
        ):
            fitted = fit(basis, target, L2 / size)
            kl = float((truth * (np.log(truth) - fitted)).sum())
            records.append({**common, "rows": size, "parameters": parameters, "kl": kl})
        return records


@lru_cache(maxsize=1)
def experiment_of(settings: Settings) -> Experiment:
    """Return the experiment with these settings, made once per process."""
    return Experiment(settings)


def compute(task: tuple[Settings, Side, range]) -> list[dict[str, Any]]:
    """Return the records of a unit of work."""
    settings, side, numbers = task
    experiment = experiment_of(settings)
    return [record for number in numbers for record in experiment.records(side, number)]


# -- fitting ---------------------------------------------------------------------------------------


def basis_of(structure: cw.Structure) -> FloatArray:
    """Return an orthogonal basis of the log-potentials that a structure can have.

    It is the row space of the 0/1 matrix of states and features: directions of the weights that
    leave the distribution unchanged are gone, and a ridge on the coordinates is one on the weights.
    """
    cards = structure.domain.cardinalities
    states = np.indices(cards).reshape(len(cards), -1)
    design = np.ones((states.shape[1], len(structure)))
    for feature, literals in enumerate(structure.features.literals()):
        for variable, allowed in literals:
            design[:, feature] *= allowed >> states[variable] & 1
    if not len(structure):
        return design
    left, scale, _ = np.linalg.svd(design, full_matrices=False)
    rank = int((scale > scale[0] * 1e-10).sum())
    basis: FloatArray = left[:, :rank] * scale[:rank]
    return basis


def fit(basis: FloatArray, target: FloatArray, ridge: float) -> FloatArray:
    """Fit to a distribution by Newton's method; return the log-probability of each state."""
    point = np.zeros(basis.shape[1])
    floor = (ridge + 1e-12) * np.eye(len(point))
    value, logs = _objective(basis, point, target, ridge)
    for _ in range(MOST_STEPS):
        p = np.exp(logs)
        gradient = basis.T @ (target - p) - ridge * point
        curvature = basis.T @ (np.diag(p) - np.outer(p, p)) @ basis
        step = np.linalg.solve(curvature + floor, gradient)
        gain = float(gradient @ step)
        if gain / 2 < TOLERANCE:
            return logs
        length = 1.0
        while (tried := _objective(basis, point + length * step, target, ridge))[0] < (
            value + 0.1 * length * gain
        ):
            length /= 2
            if length < 1e-10:
                return logs
        point, (value, logs) = point + length * step, tried
    raise RuntimeError("Newton's method has not converged")


def _objective(
    basis: FloatArray, point: FloatArray, target: FloatArray, ridge: float
) -> tuple[float, FloatArray]:
    """Return the penalised mean log-likelihood, and the log-probability of each state."""
    potentials = basis @ point
    top = potentials.max()
    logs = potentials - (top + np.log(np.exp(potentials - top).sum()))
    return float(target @ logs) - ridge / 2 * float(point @ point), logs


# -- results ---------------------------------------------------------------------------------------


def effects(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compute the effect of each kind of error at each number of rows."""
    frame = pd.DataFrame(records)
    return [
        {"errors": NAMES[side], "rows": size, **_effect(part)}
        for side in SIDES
        for size, part in frame[frame.side == side].groupby("rows")
    ]


def _effect(part: Any) -> dict[str, float]:
    """Relate the mean of KL over parameter sets to the percentage of errors."""
    means = part.groupby(["percentage", "structure"]).kl.mean().reset_index()
    x, y = means.percentage.to_numpy(), means.kl.to_numpy()
    resampled = np.random.default_rng(0).integers(len(x), size=(BOOTSTRAPS, len(x)))
    fifth = max(1, len(x) // 5)
    effect = {"structures": len(x), "kl_fewest": y[:fifth].mean(), "kl_most": y[-fifth:].mean()}
    for name, statistic in (("rank", _rank), ("slope", _slope)):
        low, high = np.percentile(statistic(x[resampled], y[resampled]), [2.5, 97.5])
        effect |= {name: float(statistic(x, y)), f"{name}_low": low, f"{name}_high": high}
    return effect


def _rank(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Spearman's rank correlation along the last axis."""
    from scipy.stats import rankdata

    a, b = (_centred(rankdata(values, axis=-1)) for values in (x, y))
    scale = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    correlation: FloatArray = (a * b).sum(axis=-1) / scale
    return correlation


def _slope(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the slope of the regression line along the last axis."""
    a = _centred(x)
    slope: FloatArray = (a * y).sum(axis=-1) / (a * a).sum(axis=-1)
    return slope


def _centred(values: FloatArray) -> FloatArray:
    centred: FloatArray = values - values.mean(axis=-1, keepdims=True)
    return centred


def conclusions(listed: Sequence[dict[str, Any]]) -> str:
    """Return the table of effects and the paper's three sentences as numbers, in Markdown."""
    lines = [
        "| errors | rows | KL, fewest errors | KL, most errors | rank correlation | KL per 1 % |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for e in listed:
        rank = "{rank:.2f} ({rank_low:.2f} to {rank_high:.2f})".format(**e)
        slope = "{slope:.2g} ({slope_low:.2g} to {slope_high:.2g})".format(**e)
        kl = "{kl_fewest:.4g} | {kl_most:.4g}".format(**e)
        lines.append(f"| {e['errors']} | {e['rows']:,} | {kl} | {rank} | {slope} |")
    fp, fn = ([e for e in listed if e["errors"] == NAMES[side]] for side in SIDES)
    ratios = [b["slope"] / a["slope"] for a, b in zip(fp, fn, strict=True)]
    follows = "follows" if all(e["slope_low"] > 0 for e in fn) else "does not always follow"
    costs = ", ".join(f"{r:.3g} at {e['rows']:,}" for r, e in zip(ratios, fp, strict=True))
    kept = [side[-1]["slope"] / side[0]["slope"] for side in (fp, fn)]
    lines += [
        "",
        "KL is in nats; intervals are 95 % bootstrap intervals over structures.",
        "",
        f"1. KL {follows} false negatives.",
        "2. A percent of false negatives costs a multiple of what a percent of false positives "
        f"costs: {costs} rows.",
        f"3. From {fp[0]['rows']:,} to {fp[-1]['rows']:,} rows, the cost of false positives goes "
        f"to {kept[0]:.2g} of itself, that of false negatives to {kept[1]:.2g} of itself.",
    ]
    return "\n".join(lines) + "\n"


def draw(records: Sequence[dict[str, Any]], path: Path) -> None:
    """Plot KL against the percentage of errors: a row for each kind, a column for each size."""
    from matplotlib.figure import Figure

    frame = pd.DataFrame(records)
    sizes = sorted(frame["rows"].unique())
    figure = Figure(figsize=(2.2 * len(sizes), 4.4), layout="constrained")
    grid = figure.subplots(2, len(sizes), sharex=True, sharey=True, squeeze=False)
    for axes_of_side, side in zip(grid, SIDES, strict=True):
        for axes, size in zip(axes_of_side, sizes, strict=True):
            part = frame[(frame.side == side) & (frame["rows"] == size)]
            means = part.groupby(["percentage", "structure"]).kl.mean().reset_index()
            axes.plot(means.percentage, means.kl, ".", markersize=2, color="#0072B2")
            axes.set_title(f"{size:,} rows" if side == "fp" else "")
        axes_of_side[0].set_ylabel(f"KL, {NAMES[side]} only")
    figure.supxlabel("errors, in percent of all possible ones")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Run the experiment, or resume it, and write its results."""
    parser = argparse.ArgumentParser(prog="python -m studies.kl", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--structures", type=int, default=Settings().structures)
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    arguments = parser.parse_args()
    settings = Settings(structures=arguments.structures)
    starts = range(0, settings.structures, CHUNK)
    units = [
        Unit(f"{side}-{start:06}", (settings, side, range(start, start + CHUNK)))
        for start in starts
        for side in SIDES
    ]
    with Store(arguments.out, settings._asdict()) as store:
        effort = Effort.of(n_jobs=arguments.jobs, show_progress=True)
        print(run_units(store, units, compute, effort))
        records = list(store.records())
    listed = effects(records)
    pd.DataFrame(listed).to_csv(arguments.out / "kl.csv", index=False)
    (arguments.out / "kl.md").write_text(conclusions(listed))
    draw(records, arguments.out / "kl.png")
    print(conclusions(listed))


if __name__ == "__main__":
    from studies import kl  # workers can import the functions of a module, not those of __main__

    kl.main()
