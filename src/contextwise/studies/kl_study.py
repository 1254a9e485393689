"""The KL study: compare the metric with KL-divergence.

The study draws structures that differ from a true model by false positives only, or by false
negatives only, spread evenly over the possible numbers of errors. It gives the true model several
sets of strong weights, draws data of several sizes from each by Gibbs sampling, fits every
structure to every data set, and relates the exact KL-divergence from the true to the fitted
distribution to the percentage of errors.

**Weights.** For each scope of the true model the study draws one number λ, with its size uniform in
the range ``interaction`` and a random sign. A feature of that scope has weight ±λ/4, with a minus
for every variable whose first allowed state has an odd position. Two binary variables that interact
through the four features of a pair then have the log-odds ratio λ.

**Units.** A unit is a chunk of structures with all its fits. Every random draw depends only on the
run's seed and its place, so results do not depend on workers or interruptions.

**Summary.** For each kind of error and each number of rows: the rank correlation of errors and KL,
the slope of KL per percent of errors, and KL's growth relative to its spread between parameter
sets. Intervals are percentile bootstrap intervals over structures. A rank correlation can be high
where the effect is negligible, because every extra parameter costs about 1/(2N) in KL. The
conclusions therefore use slopes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.distributions import probabilities
from contextwise.distributions.batch_fitting import STATES, empirical, fit_many
from contextwise.distributions.inference import state_count
from contextwise.distributions.sampling import gibbs_chains
from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.report.plots.plot_guesses import plot_scatter
from contextwise.report.plots.style import COLUMN, new_figure, save_png_and_svg, styled
from contextwise.report.text import WIDTH
from contextwise.studies.run_study import check_rules, read_settings, run_study
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.effort import Effort
from contextwise.support.files import write_bytes
from contextwise.support.formatting import as_csv, columns
from contextwise.support.store import Outcome, Record, Unit, read_records
from contextwise.truths import bundled as examples
from contextwise.truths.generate import with_errors
from contextwise.truths.named import strong_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Method = Literal["likelihood", "pseudo-likelihood"]


@dataclass(frozen=True)
class Configuration:
    """Everything that determines the results of a run."""

    variables: tuple[tuple[str, tuple[str, ...]], ...]
    features: tuple[str, ...]
    structures: int = 1000  # per kind of error
    sizes: tuple[int, ...] = (50, 100, 1000, 10000)
    parameter_sets: int = 10
    interaction: tuple[float, float] = (1.0, 3.0)  # least and largest log-odds ratio
    burn_in: int = 100
    thin: int = 5
    chains: int = 1000  # but no more than rows
    method: Method = "likelihood"
    l2: float = 0.1
    chunk: int = 20  # structures per unit of work
    seed: int = 1

    def __post_init__(self) -> None:
        low, high = self.interaction
        rules = {
            "structures": (self.structures >= 1, ">= 1"),
            "sizes": (self.sizes and min(self.sizes) >= 1, "numbers of rows >= 1"),
            "parameter_sets": (self.parameter_sets >= 1, ">= 1"),
            "interaction": (0 < low <= high, "two rising numbers above 0"),
            "burn_in": (self.burn_in >= 0, ">= 0"),
            "thin": (self.thin >= 1, ">= 1"),
            "chains": (self.chains >= 1, ">= 1"),
            "method": (self.method in get_args(Method), " or ".join(get_args(Method))),
            "l2": (self.l2 >= 0, ">= 0"),
            "chunk": (self.chunk >= 1, ">= 1"),
            "seed": (self.seed >= 0, ">= 0"),
        }
        check_rules(self, rules)

    def model(self) -> Structure:
        """Return the true model."""
        return Structure(Domain(dict(self.variables)), self.features)

    def record(self) -> dict[str, Any]:
        """Return the configuration as plain values."""
        return {**asdict(self), "variables": dict(self.variables)}

    def quick(self) -> Configuration:
        """Return a smaller run with the same model."""
        return replace(self, structures=min(self.structures, 60), parameter_sets=3, chunk=10)


def configuration_of(model: Model | None = None, **settings: Any) -> Configuration:
    """Return the configuration for a true model (default: the paper's)."""
    structure = structure_of(examples.load("six") if model is None else model)
    domain = structure.domain
    return Configuration(
        variables=tuple(zip(domain.names, domain.states, strict=True)),
        features=tuple(structure.feature_text(f) for f in range(len(structure))),
        **settings,
    )


def from_toml(path: str | os.PathLike[str]) -> Configuration:
    """Read a configuration; raise on unknown keys and wrong values."""
    settings = read_settings(path, {field.name for field in fields(Configuration)})
    missing = sorted({"variables", "features"} - set(settings))
    if missing:
        raise ParseError(f"the setting {missing[0]!r} is missing", path=path)
    try:
        variables = settings["variables"].items()
        settings["variables"] = tuple((name, tuple(states)) for name, states in variables)
        configuration = Configuration(**settings)
        configuration.model()
    except (TypeError, AttributeError, ValueError, ContextwiseError) as error:
        raise ParseError(f"a setting is wrong: {error}", path=path) from None
    return configuration


# -- summary ---------------------------------------------------------------------------------------


Interval = tuple[float, float]
BOOTSTRAPS = 1000
NAMES = {"fp": "false positives", "fn": "false negatives"}


@dataclass(frozen=True)
class Effect:
    """The effect of one kind of error at one number of rows."""

    side: str
    size: int
    structures: int
    lowest_kl: float
    highest_kl: float
    rank: float
    rank_interval: Interval
    single_ranks: Interval
    slope: float
    slope_interval: Interval
    slope_over_spread: float


@dataclass(frozen=True, eq=False)
class Means:
    """Mean and deviation of KL over parameter sets, for each structure of one kind and size."""

    percentage: FloatArray
    mean: FloatArray
    deviation: FloatArray
    single: FloatArray
    """Shape (parameter sets, structures)."""


def means(rows: Iterable[Mapping[str, Any]], side: str, size: int) -> Means:
    """Collect KL of the structures for one kind of error and size, sorted by errors."""
    table: dict[int, dict[int, float]] = {}
    percentage: dict[int, float] = {}
    for row in rows:
        if row["side"] == side and row["size"] == size:
            table.setdefault(row["structure"], {})[row["parameters"]] = row["kl"]
            percentage[row["structure"]] = row["percentage"]
    if not table:
        raise ContextwiseError(f"the results have no {NAMES[side]} at {size} rows")
    order = sorted(table, key=lambda structure: (percentage[structure], structure))
    parameters = sorted(table[order[0]])
    single = np.array([[table[structure][p] for structure in order] for p in parameters])
    deviation = single.std(axis=0, ddof=1) if len(parameters) > 1 else np.zeros(len(order))
    percentages = np.array([percentage[structure] for structure in order])
    return Means(percentages, single.mean(axis=0), deviation, single)


def effects(rows: Iterable[Mapping[str, Any]]) -> list[Effect]:
    """Compute the effect of each kind of error at each size."""
    listed = list(rows)
    sizes = sorted({row["size"] for row in listed})
    sides = [side for side in NAMES if any(row["side"] == side for row in listed)]
    return [_effect(means(listed, side, size), side, size) for side in sides for size in sizes]


def _effect(results: Means, side: str, size: int) -> Effect:
    rng = np.random.default_rng(0)
    x, y = results.percentage, results.mean
    resampled = rng.integers(len(x), size=(BOOTSTRAPS, len(x)))
    slope = float(_slope(x, y))
    fifth = max(1, len(x) // 5)
    singles = [float(_rank(x, kl)) for kl in results.single]
    spread = float(results.deviation.mean())
    return Effect(
        side=side,
        size=size,
        structures=len(x),
        lowest_kl=float(y[:fifth].mean()),
        highest_kl=float(y[-fifth:].mean()),
        rank=float(_rank(x, y)),
        rank_interval=_interval(_rank(x[resampled], y[resampled])),
        single_ranks=(min(singles), max(singles)),
        slope=slope,
        slope_interval=_interval(_slope(x[resampled], y[resampled])),
        slope_over_spread=slope * float(x.max() - x.min()) / spread if spread else float("nan"),
    )


def _rank(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Spearman's rank correlation along the last axis; 0 if one side is constant."""
    from scipy.stats import rankdata

    a, b = (_centred(rankdata(values, axis=-1)) for values in (x, y))
    return _quotient((a * b).sum(axis=-1), np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1)))


def _slope(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the slope of the regression line along the last axis; 0 if x is constant."""
    a = _centred(x)
    return _quotient((a * y).sum(axis=-1), (a * a).sum(axis=-1))


def _centred(values: FloatArray) -> FloatArray:
    centred: FloatArray = values - values.mean(axis=-1, keepdims=True)
    return centred


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; 0 where the denominator is 0."""
    quotient: FloatArray = np.divide(above, below, out=np.zeros_like(below), where=below > 0)
    return quotient


def _interval(values: FloatArray) -> Interval:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def summary_text(listed: Sequence[Effect], *, markdown: bool = True) -> str:
    """Return the three conclusions of the paper as numbers, and whether they hold."""
    fp, fn = ({e.size: e for e in listed if e.side == side} for side in NAMES)
    conclusions = _follows(fn) if fn else []
    if fp:
        conclusions += _blind(fp, fn)
    if fp and fn and len(fp) > 1:
        conclusions += _with_data(fp, fn)
    note = "KL is in nats; intervals are 95 % bootstrap intervals over structures."
    if markdown:
        head, *rows_of_table = (f"| {' | '.join(row)} |" for row in effect_rows(listed))
        table = ["# KL-divergence against the metric", "", head, "|---" * 9 + "|", *rows_of_table]
    else:
        table = [columns(effect_rows(listed, narrow=True), "<>>>>>")]
        conclusions = [
            fill(line.replace("**", ""), WIDTH, subsequent_indent="   ", break_on_hyphens=False)
            for line in conclusions
        ]
    return "\n".join([*table, "", note, "", *conclusions]) + "\n"


def effect_rows(listed: Sequence[Effect], *, narrow: bool = False) -> list[tuple[str, ...]]:
    """Return the head and a row per effect; a narrow table fits a terminal."""
    heads = ("KL, fewest", "and most") if narrow else ("KL, fewest errors", "KL, most errors")
    head = ("errors", "rows", "structures", *heads, "rank correlation", "single parameter sets")
    rows: list[tuple[str, ...]] = [
        (*head, "KL per 1 %" if narrow else "KL per 1 % of errors", "growth / spread")
    ]
    for e in listed:
        rank, single = (f"{a:.2f} to {b:.2f}" for a, b in (e.rank_interval, e.single_ranks))
        slope = "{:.2g} to {:.2g}".format(*e.slope_interval)
        rows.append(
            (
                *(NAMES[e.side], f"{e.size:,}", f"{e.structures}"),
                *(f"{e.lowest_kl:.4g}", f"{e.highest_kl:.4g}", f"{e.rank:.2f} ({rank})"),
                *(single, f"{e.slope:.2g} ({slope})", f"{e.slope_over_spread:.2g}"),
            )
        )
    return [tuple(row[k] for k in (0, 1, 3, 4, 5, 7)) for row in rows] if narrow else rows


def _follows(fn: Mapping[int, Effect]) -> list[str]:
    weakest = min(fn.values(), key=lambda e: e.rank)
    unclear = [e for e in fn.values() if e.slope_interval[0] <= 0]
    verdict, why = "KL follows false negatives", ""
    if any(e.slope_interval[1] <= 0 for e in unclear):
        verdict = "KL does not always follow false negatives"
    elif unclear:
        verdict = "It is not clear that KL follows false negatives"
        where = " and ".join(f"{e.structures} structures at {e.size:,}" for e in unclear)
        why = f" With {where} rows, the interval of KL per percent of errors reaches 0."
    return [
        f"1. **{verdict}.**{why} The weakest rank correlation is {weakest.rank:.2f} "
        f"(at {weakest.size:,} rows); KL per percent of errors is {_slopes(fn)} rows."
    ]


def _slopes(effects: Mapping[int, Effect]) -> str:
    return ", ".join(f"{e.slope:.2g} at {size:,}" for size, e in effects.items())


def _blind(fp: Mapping[int, Effect], fn: Mapping[int, Effect]) -> list[str]:
    ratios = {size: fn[size].slope / e.slope for size, e in fp.items() if size in fn and e.slope}
    correlated = [e for e in fp.values() if e.rank_interval[0] > 0.3]
    times = ", ".join(f"{ratio:.3g} times that at {size:,}" for size, ratio in ratios.items())
    more = f"; the slope for false negatives is {times} rows" if ratios else ""
    first = f"2. **KL and false positives.** KL per percent of errors is {_slopes(fp)} rows{more}."
    if not correlated:
        return [first, "   No rank correlation with false positives is clearly above 0.3."]
    ranks = ", ".join(f"{e.rank:.2f} at {e.size:,}" for e in correlated)
    return [
        first,
        "   The paper words this as the absence of a correlation. That does not come out here: "
        f"the rank correlation is {ranks} rows, because every extra parameter costs a little. "
        "What does come out is that the effect is small.",
    ]


def _with_data(fp: Mapping[int, Effect], fn: Mapping[int, Effect]) -> list[str]:
    small, large = min(fp), max(fp)
    kept = {
        side: effects[large].slope / effects[small].slope
        for side, effects in (("false positives", fp), ("false negatives", fn))
        if effects[small].slope
    }
    head = f"3. **More data.** From {small:,} to {large:,} rows"
    if kept.get("false positives", 1) >= kept.get("false negatives", 0):
        return [f"{head} the two sides do not come apart here."]
    shares = " and to ".join(f"{share:.2g} of itself for {side}" for side, share in kept.items())
    return [
        f"{head}, KL per percent of errors goes to {shares}: parameters come to make up for false "
        "positives, and never for false negatives."
    ]


# -- run -------------------------------------------------------------------------------------------


Side = Literal["fp", "fn"]
SIDES: tuple[Side, ...] = ("fp", "fn")
_WEIGHTS, _DATA, _STRUCTURE = range(3)
"""The first number of a draw's place in the run's tree of seeds."""


def run_kl(configuration: Configuration, folder: str | os.PathLike[str], **options: Any) -> Outcome:
    """Run the KL study into a folder; ``options`` are those of `Effort.of`."""
    state_count(configuration.model().domain, STATES)
    for side, most in most_errors(configuration.model()).items():
        if not most:
            claim = "independent" if side == "fp" else "dependent"
            raise ContextwiseError(
                f"the true model claims nothing {claim}, so no structure can have "
                f"{NAMES[side]}; the study needs both kinds of errors"
            )
    effort = Effort.of(**options)
    return run_study(folder, configuration.record(), units(configuration), fit_unit, effort)


def units(configuration: Configuration) -> Iterator[Unit]:
    """Yield chunks of structures, alternating between the two kinds of errors."""
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
        [structure for structure, _ in drawn],
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
            "errors": errors,
            "percentage": 100 * errors / study.most[side],
            "features": len(structure),
            "kl": float(kl[at, place]),
            "converged": int(fitted.converged[at, place]),
        }
        for at, (structure, errors) in enumerate(drawn)
        for place, (weights, size) in enumerate(study.data_sets)
    ]


def most_errors(model: Structure) -> dict[Side, int]:
    """Return the largest possible numbers of false positives and false negatives."""
    whole = compare(model, Structure(model.domain))
    return {"fp": int(whole.tn), "fn": int(whole.fn)}


class Study:
    """The true distributions and data sets that all units of a run share."""

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
        interaction = configuration.interaction
        self.originals = [
            strong_weights(self.model, interaction=interaction, rng=self.rng(_WEIGHTS, p))
            for p in range(configuration.parameter_sets)
        ]
        tables = [probabilities(original).ravel() for original in self.originals]
        self.truths = np.stack([tables[parameters] for parameters, _ in self.data_sets])
        self.rows_behind = [size for _, size in self.data_sets]
        self.targets = np.stack(
            [
                empirical(self.plain, self.data(self.originals[parameters], parameters, size))
                for parameters, size in self.data_sets
            ]
        )

    def rng(self, *place: int) -> np.random.Generator:
        """Return the generator at one place of the run's tree of seeds."""
        return np.random.default_rng(
            np.random.SeedSequence(self.configuration.seed, spawn_key=place)
        )

    def data(self, original: LogLinear, parameters: int, size: int) -> IntArray:
        """Draw encoded rows by Gibbs sampling, evenly from several chains."""
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

    def structure(self, side: Side, number: int) -> tuple[Structure, int]:
        """Draw the structure of this number; the errors of all are spread evenly over the range."""
        most = self.most[side]
        wanted = 1 + round((most - 1) * (number + 0.5) / self.configuration.structures)
        rng = self.rng(_STRUCTURE, SIDES.index(side), number)
        if side == "fp":
            return with_errors(self.model, false_positives=wanted, rng=rng)
        return with_errors(self.model, false_negatives=wanted, rng=rng)


@lru_cache(maxsize=2)
def _study(configuration: Configuration) -> Study:
    """Return the study of a configuration, made once per process."""
    return Study(configuration)


# -- publishing ------------------------------------------------------------------------------------


def publish_kl(folder: str | os.PathLike[str]) -> str:
    """Write ``results.csv``, ``summary.md`` and a figure per number of rows; return the summary."""
    place = Path(folder)
    rows = read_records(place)
    write_bytes(place / "results.csv", as_csv(rows).encode())
    listed = effects(rows)
    write_bytes(place / "summary.md", summary_text(listed).encode())
    for size in sorted({row["size"] for row in rows}):
        save_png_and_svg(kl_figure(rows, size), place, f"kl-{size}")
    return summary_text(listed, markdown=False)


@styled
def kl_figure(rows: Sequence[Mapping[str, Any]], size: int) -> Figure:
    """Plot KL against the percentage of errors, false positives above, false negatives below."""
    table = require("pandas", "studies").DataFrame(rows)
    figure = new_figure(COLUMN, 1.4 * COLUMN)
    above, below = figure.subplots(2, 1, sharex=True, sharey=True)
    plot_scatter(table, size=size, side="fp", axes=above)
    plot_scatter(table, size=size, side="fn", axes=below)
    above.set_xlabel("")
    below.set_title("")
    return figure
