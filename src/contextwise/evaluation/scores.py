"""Score a guess: the metric next to divergences, likelihoods and sizes.

The metric needs no weights. Divergences need weights of both models; likelihoods need weights of
the guess and test rows. Scores that cannot be computed are left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack, overload

from contextwise.comparison.causal import BY_GADJID, has_gadjid
from contextwise.comparison.compare import Comparison, compare
from contextwise.comparison.confusion import computed, shown_in
from contextwise.comparison.question import Restriction
from contextwise.distributions.divergence import (
    How,
    divergences,
    estimated_log_partition,
    kl_divergence,
)
from contextwise.distributions.fitting import fit
from contextwise.distributions.goodness import (
    LARGEST,
    ROWS_PER_CELL,
    GoodnessOfFit,
    goodness_of_fit,
)
from contextwise.distributions.inference import log_partition
from contextwise.distributions.likelihood import cmll, mean_pseudo_log_likelihood, scored_rows
from contextwise.distributions.potentials import log_potential_of
from contextwise.distributions.sampling import Estimate, Seed
from contextwise.errors import ContextwiseError, TooLargeError, command_to_install
from contextwise.evaluation.ensemble_scores import EnsembleScore, score_ensembles
from contextwise.evaluation.ensembles import Ensemble, EnsembleLike
from contextwise.formats import ModelLike, as_model
from contextwise.models.structure import LogLinear, Model, numbers_of, structure_of
from contextwise.support.deadline import Deadline
from contextwise.support.formatting import Shown, number
from contextwise.support.progress import Progress

DIVERGENCES = ("kl_true_guess", "kl_guess_true", "jensen_shannon", "total_variation")
PREDICTIONS = ("log_likelihood", "pseudo_log_likelihood", "cmll")
FITTED = ("parameters", "aic", "bic", "g_squared", "degrees_of_freedom", "p_value")
"""The fields of `GoodnessOfFit`, of the guess fitted to the rows by maximum likelihood."""
SCORES = (*DIVERGENCES, *PREDICTIONS, *FITTED)
LATE = "not finished within the time limit"


@dataclass(frozen=True, eq=False, repr=False)
class Score(Shown):
    """The scores of a guess."""

    comparison: Comparison  #: the metric, its confusion matrix and rates
    features: Mapping[str, float]  #: number of features of the guess, their mean and largest length
    values: Mapping[str, Estimate]  #: the other scores by name, with standard errors
    missing: Mapping[str, str]  #: the scores that could not be computed, by name, with the reason
    fitted: GoodnessOfFit | None = None  #: the guess fitted by maximum likelihood, if it could be

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value.value:.6g}" for name, value in self.values.items())
        low, high = self.comparison.distance_bounds
        known = number(low) if low == high else f"{number(low)} to {number(high)}"
        return f"Score(distance={known}{', ' if shown else ''}{shown})"

    def record(self) -> dict[str, object]:
        """Return everything as one flat mapping; a missing score is None."""
        flat: dict[str, object] = dict(self.features)
        c = self.comparison
        unknown = bool(c.open_pairs)
        keys = shown_in("score")
        flat |= dict.fromkeys(keys) if unknown else computed(c, keys)
        for name in SCORES:
            value = self.values.get(name)
            flat[name] = value.value if value else None
            if name not in FITTED:  # these are exact
                flat[f"{name}_standard_error"] = value.standard_error if value else None
        return flat


@overload
def score(
    true: ModelLike,
    guess: ModelLike,
    *,
    test: Any = None,
    fit_to: Any = None,
    sampling: bool = True,
    groups: int = 4,
    rng: Seed = 0,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Score: ...


@overload
def score(
    true: EnsembleLike,
    guess: EnsembleLike,
    *,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Score | EnsembleScore: ...


def score(
    true: EnsembleLike,
    guess: EnsembleLike,
    *,
    test: Any = None,
    fit_to: Any = None,
    sampling: bool = True,
    groups: int = 4,
    rng: Seed = 0,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Score | EnsembleScore:
    """Score a guess against the true model.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
        With weights (`LogLinear`) for the scores of distributions. If one is an `Ensemble`, the
        result is an `EnsembleScore`; see `contextwise.evaluation.score_ensembles`.
    test : rows for the scores of predictions
    fit_to : rows to fit the weights of the guess to first, by pseudo-likelihood
    sampling : whether to estimate, with standard errors, what is too large to compute exactly
    groups : number of groups of variables that CMLL queries in turn
    rng : generator or seed of the estimates
    time_limit : seconds; then the comparison may be open, and scores may be missing
    show_progress : as in `compare`
    **restriction : what the metric compares, with the keywords of `compare`
        Alignment and zero weights apply to every score, the others to the metric alone. In
        particular ``data`` restricts its contexts; it is not related to ``test``.

    Returns
    -------
    Score

    Notes
    -----
    ``log_likelihood``, ``pseudo_log_likelihood`` and ``cmll`` are means over the test rows, in
    nats. AIC, BIC and G² are those of `goodness_of_fit` on the rows of ``fit_to``: by maximum
    likelihood without a penalty, with the dimension of the guess as the number of parameters.

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2}
    >>> true = LogLinear(Structure(domain, ["A=1 & B=1"]), [1.0])
    >>> guess = Structure(domain, ["A=1", "B=1"])
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]
    >>> result = score(true, guess, test=rows, fit_to=rows)
    >>> result.comparison.distance, result.features["features"]
    (1, 2)
    >>> result.values["kl_true_guess"]
    Estimate(0.0403..., exact)
    """
    if isinstance(true, Ensemble) or isinstance(guess, Ensemble):
        if test is not None or fit_to is not None:
            raise ContextwiseError(
                "an ensemble has no weights of features to score; leave out test and fit_to"
            )
        how: Any = {"time_limit": time_limit, "show_progress": show_progress, **restriction}
        return score_ensembles(true, {"guess": guess}, **how)[0]
    zero_weights = restriction.get("zero_weights", "keep")
    first, second = (as_model(model, zero_weights=zero_weights) for model in (true, guess))
    deadline = Deadline.after(time_limit)
    comparison = compare(
        first, second, time_limit=deadline.left(), show_progress=show_progress, **restriction
    )
    second = second.aligned_to(first.domain, align=restriction.get("align", "names"))
    scores = _Scores({}, {}, sampling, rng, show_progress)
    fitted = None
    try:
        with deadline.enforced():
            if fit_to is not None:
                second = fit(structure_of(second), fit_to, show_progress=show_progress).model
            guessed = numbers_of(second) or second
            scores.compare_distributions(numbers_of(first) or first, guessed)
            scores.predict(guessed, test, groups)
            fitted = scores.fit_by_likelihood(second, fit_to)
    except deadline.out_of_time:
        unknown = {*SCORES} - {*scores.values, *scores.missing}
        scores.missing.update(dict.fromkeys(sorted(unknown), LATE))
    if first.directions and second.directions and not has_gadjid():
        needed = f"this needs the package 'gadjid': {command_to_install('causal')}"
        scores.missing.update(dict.fromkeys(BY_GADJID, needed))
    statistics = structure_of(second).statistics()
    counts = {key: statistics[key] for key in ("features", "mean_length", "largest_length")}
    return Score(comparison, counts, scores.values, scores.missing, fitted)


@dataclass(frozen=True)
class _Scores:
    """Collects the scores, and why others are missing."""

    values: dict[str, Estimate]
    missing: dict[str, str]
    sampling: bool
    rng: Seed
    show_progress: bool | Progress

    def add(self, name: str, value: Callable[[], Estimate]) -> None:
        """Add a score, or the reason why it is missing."""
        try:
            self.values[name] = value()
        except ContextwiseError as error:
            self.missing[name] = str(error)

    def compare_distributions(self, true: Model, guess: Model) -> None:
        if not isinstance(true, LogLinear) or not isinstance(guess, LogLinear):
            which = "guess" if isinstance(true, LogLinear) else "true model"
            self.missing.update(dict.fromkeys(DIVERGENCES, f"the {which} has no weights"))
            return
        try:
            how: How = "auto" if self.sampling else "exact"
            d = divergences(true, guess, how=how, rng=self.rng, show_progress=self.show_progress)
        except TooLargeError as error:
            self.add("kl_true_guess", lambda: kl_divergence(true, guess, how="exact"))
            self.add("kl_guess_true", lambda: kl_divergence(guess, true, how="exact"))
            self.missing.update(dict.fromkeys(DIVERGENCES[2:], str(error)))
        except ContextwiseError as error:
            self.missing.update(dict.fromkeys(DIVERGENCES, str(error)))
        else:
            values = (d.kl_p_q, d.kl_q_p, d.jensen_shannon, d.total_variation)
            self.values.update(zip(DIVERGENCES, values, strict=True))

    def predict(self, guess: Model, test: Any, groups: int) -> None:
        if test is None or not isinstance(guess, LogLinear):
            why = "there are no rows to predict" if test is None else "the guess has no weights"
            self.missing.update(dict.fromkeys(PREDICTIONS, why))
            return
        effort: dict[str, Any] = {"rng": self.rng, "show_progress": self.show_progress}
        rows = scored_rows(guess, test)

        def likelihood() -> Estimate:
            try:
                log_z = Estimate(log_partition(guess))
            except TooLargeError:
                if not self.sampling:
                    raise
                log_z = estimated_log_partition(guess, **effort)
            mean = rows.mean(log_potential_of(guess, rows.rows))
            return Estimate(mean - log_z.value, log_z.standard_error, log_z.how)

        self.add("log_likelihood", likelihood)
        self.add("pseudo_log_likelihood", lambda: Estimate(mean_pseudo_log_likelihood(guess, rows)))
        self.add("cmll", lambda: cmll(guess, rows, groups=groups, sampling=self.sampling, **effort))

    def fit_by_likelihood(self, guess: Model, rows: Any) -> GoodnessOfFit | None:
        if rows is None:
            self.missing.update(dict.fromkeys(FITTED, "there are no rows to fit to"))
            return None
        try:
            fitted = goodness_of_fit(guess, rows, show_progress=self.show_progress)
        except ContextwiseError as error:
            self.missing.update(dict.fromkeys(FITTED, str(error)))
            return None
        for name in FITTED:
            value = getattr(fitted, name)
            if value is not None:
                self.values[name] = Estimate(float(value))
            elif fitted.parameters is None:
                self.missing[name] = f"unknown above {LARGEST:,} features or with weights of -inf"
            elif fitted.degrees_of_freedom:
                self.missing[name] = f"fewer than {ROWS_PER_CELL} rows for each of the cells"
        return fitted
