"""The computations of the explorer; each runs in its own process (`contextwise.explorer.job`).

The last argument of each function reports progress. `read_run` reads the results of a run: a
folder, or its ``results.sqlite``, holds the study of KL-divergence, the study of learners, or
structures learned from resamples, depending on its configuration. A CSV file holds rows of the
first. Rows are checked here, so that the views can rely on them.
"""

from __future__ import annotations

import csv
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from contextwise.comparison.compare import Comparison, Interrupted, compare
from contextwise.comparison.estimate import EstimatedMatrix, estimate_matrix
from contextwise.comparison.explain import PairExplanation, explain_comparison, explain_pair
from contextwise.comparison.matrix import DistanceMatrix, distance_matrix
from contextwise.comparison.question import Contexts, Pair
from contextwise.counting.extraction import covered_pairs
from contextwise.data.columns import DataSummary
from contextwise.data.options import RowOptions
from contextwise.data.rows import Data, as_data, following, summarize_data
from contextwise.errors import ContextwiseError, ParseError
from contextwise.evaluation.claim_tests import Check, check
from contextwise.evaluation.consensus_search import ClaimSupport, Consensus, consensus
from contextwise.evaluation.resampling import stability
from contextwise.evaluation.skill import Chance, ChanceInterrupted, chance
from contextwise.explorer.job import Tell, Upload
from contextwise.formats import read_stream
from contextwise.independence.independencies import (
    PairIndependencies,
    context_specific_independencies,
)
from contextwise.independence.queries import Answer, answer_to, parse_statement
from contextwise.learning import learner_named
from contextwise.learning.base import Learner
from contextwise.learning.missed_pairs import advice
from contextwise.learning.parameters import parse_values
from contextwise.models.structure import Model, Structure
from contextwise.report.comparisons import Guess
from contextwise.report.parts import Part, Style, table
from contextwise.report.shares import Shares, shares_of
from contextwise.report.structures import OneModel, described, with_stability
from contextwise.studies.kl_study import NAMES, effect_rows, effects, kl_figure
from contextwise.support.deadline import Deadline
from contextwise.support.effort import Effort
from contextwise.support.formatting import number, plural
from contextwise.support.store import read_configuration, read_records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTING = "Counting the contexts in which pairs depend"
LISTED = 20  # pairs of a kind whose independencies are listed
SENTENCES, MANY = 2.0, 200  # seconds to find them, and a quarter of that for so many variables
SUPPORTED = 10  # pairs of a consensus whose support is shown


def read_uploads(files: Sequence[tuple[str, str]], tell: Tell) -> list[tuple[str, Model | str]]:
    """Read model files, each a path and a name; return the models, or what is wrong with them."""
    models: list[tuple[str, Model | str]] = []
    for k, (path, name) in enumerate(files):
        tell(f"Reading {name}", k, len(files))
        try:
            with open(path, "rb") as file:
                model: Model | str = read_stream(file, name=name)
        except ContextwiseError as error:
            model = str(error)
        models.append((name, model))
    return models


def compare_all(
    true: Model,
    guesses: Mapping[str, tuple[str, Model]],
    contexts: Contexts,
    time_limit: float,
    tell: Tell,
) -> dict[str, Guess]:
    """Compare guesses (labels and models by key), each with the time limit; stop if interrupted."""
    compared: dict[str, Guess] = {}
    for place, (key, (label, model)) in enumerate(guesses.items(), start=1):
        alone = model is true
        text = COUNTING if alone else f"Comparing with {label}"
        if len(guesses) > 1:
            text += f", guess {place} of {len(guesses)}"
        tell(text, 0, 0)
        try:
            comparison = compare(
                true,
                model,
                contexts=contexts,
                time_limit=time_limit,
                show_progress=partial(tell, text),
            )
        except Interrupted as stop:
            comparison = stop.comparison
        # Derived values need not travel between processes; the shares are drawn at once.
        guess = Guess(key, replace(comparison), label=label, features=len(model))
        if alone:
            seconds = SENTENCES if len(model.domain) < MANY else SENTENCES / 4
            shown = described(guess.comparison, top=LISTED, deadline=Deadline.after(seconds))
            guess = replace(guess, one=shown)
        _ = guess.shares
        compared[key] = guess
        if comparison.unions.interrupted:
            break
    return compared


def explain_one(
    comparison: Comparison, pair: Pair, top: int, time_limit: float, tell: Tell
) -> PairExplanation:
    """Find the contexts in which the models differ about a pair; an open pair is counted again."""
    tell("Looking for the contexts in which the models differ", 0, 0)
    if pair in comparison.open_pairs or pair[::-1] in comparison.open_pairs:
        comparison = compare(
            comparison.true,
            comparison.guess,
            pairs=[pair],
            contexts=comparison.question.contexts,
            peers=comparison.question.peers,
            time_limit=time_limit,
        )
    return explain_pair(comparison, pair, top=top, time_limit=time_limit)


def regions_of(
    model: Model, pair: Pair, rows: Upload | None, top: int, time_limit: float, tell: Tell
) -> tuple[PairIndependencies, Check | None]:
    """Find the contexts in which a pair of one model is independent, and test them with rows."""
    tell("Looking for the contexts of this pair", 0, 0)
    independencies = context_specific_independencies(model, *pair, top=top, time_limit=time_limit)
    tested = None
    if rows is not None:
        with suppress(ContextwiseError):  # rows that do not fit: the overview says so
            tested = check(model, _rows(rows, model), pairs=[pair], dependencies=False, regions=top)
    return independencies, tested


def shares_in(
    comparison: Comparison, context: Mapping[str, str], time_limit: float, tell: Tell
) -> Shares:
    """Compare the same models in a context; return the shares of the pairs that are left."""
    text = "Comparing in this context"
    tell(text, 0, 0)
    inside = compare(
        comparison.true,
        comparison.guess,
        context=context,
        contexts=comparison.question.contexts,
        peers=comparison.question.peers,
        time_limit=time_limit,
        show_progress=partial(tell, text),
    )
    return shares_of(inside)


def answers(models: Sequence[Model], question: str, time_limit: float, tell: Tell) -> list[Answer]:
    """Answer an independence question in each model; the time limit is for each of them."""
    statement = parse_statement(question)
    results = []
    for k, model in enumerate(models):
        tell("Asking both models", k, len(models))
        results.append(answer_to(model, statement, time_limit=time_limit))
    return results


def report_of(true: str, guesses: Sequence[Guess], time_limit: float, tell: Tell) -> str:
    """Return the report page about guesses; the time limit is for the explanation of each."""
    from contextwise.report.page import report_page

    explained = []
    for guess in guesses:
        text = f"Explaining {guess.title}"
        tell(text, 0, 0)
        explanation = explain_comparison(
            guess.comparison, Effort.of(time_limit, show_progress=partial(tell, text))
        )
        explained.append(replace(guess, name=guess.title, explanation=explanation))
    tell("Drawing the report", 0, 0)
    return report_page(true, explained)


def distances(
    models: Mapping[str, Model], contexts: Contexts, time_limit: float | None, tell: Tell
) -> DistanceMatrix | EstimatedMatrix:
    """Compute all pairwise distances or bounds; without a time limit, estimate them."""
    what = f"Comparing {len(models)} models pairwise"
    if time_limit is None:
        what = f"Estimating the distances between {len(models)} models"
    tell(what, 0, 0)
    progress = partial(tell, what)
    if time_limit is None:
        return estimate_matrix(models, contexts=contexts, show_progress=progress)
    return distance_matrix(models, contexts=contexts, time_limit=time_limit, show_progress=progress)


def consensus_of(
    models: Mapping[str, Model],
    matrix: DistanceMatrix | None,
    contexts: Contexts,
    time_limit: float,
    tell: Tell,
) -> tuple[Consensus, list[ClaimSupport]]:
    """Find a structure near to all models, and the support of its widest claims."""
    tell("Comparing the models", 0, 0)
    result = consensus(
        list(models.values()),
        matrix=matrix,
        contexts=contexts,
        time_limit=time_limit,
        show_progress=partial(tell, "Trying features"),
    )
    tell("Counting the models that support it", 0, 0)
    return result, list(result.widest_supports(SUPPORTED))


def ensemble_of(
    true: Model, models: Mapping[str, Model], contexts: Contexts, time_limit: float, tell: Tell
) -> list[Part]:
    """Score the guesses as one ensemble, and show its reliability."""
    from contextwise.evaluation import Ensemble, reliability, score_ensembles
    from contextwise.report.evaluations import ensembles_section

    sample = Ensemble(list(models.values()))
    scores = score_ensembles(
        true,
        {"all of them together": sample, **models},
        contexts=contexts,
        time_limit=time_limit,
        show_progress=partial(tell, "Comparing the models"),
    )
    tell("Drawing assertions", 0, 0)
    curve = reliability(true, sample, name="all of them together", contexts=contexts)
    return list(ensembles_section(scores, [curve]).parts)


def chance_of(comparison: Comparison, null: str, draws: int, tell: Tell) -> Chance:
    """Compare a guess with random guesses; after an interrupt, with those that were drawn."""
    tell("Comparing the models", 0, 0)
    try:
        return chance(
            comparison.true,
            comparison.guess,
            null=null,
            draws=draws,
            contexts=comparison.question.contexts,
            peers=comparison.question.peers,
            show_progress=partial(tell, "Drawing random guesses"),
        )
    except ChanceInterrupted as stopped:
        return stopped.chance


def check_of(model: Model, rows: Upload, tell: Tell) -> Check:
    """Test the claims of a model with the rows of a file."""
    tell(f"Reading {rows.name}", 0, 0)
    progress = partial(tell, "Testing claims, pair by pair")
    return check(model, _rows(rows, model), show_progress=progress)


def evidence_of(one: OneModel, rows: Upload, tell: Tell) -> Check:
    """Test the sentences that are listed about one model with the rows of a file."""
    tell(f"Reading {rows.name}", 0, 0)
    model = one.comparison.true
    return check(
        model,
        _rows(rows, model),
        pairs=[(pair.first, pair.second) for pair in (*one.somewhere, *one.never)],
        dependencies=False,
        show_progress=partial(tell, "Testing the sentences"),
    )


def summarize_rows(rows: Upload, tell: Tell) -> DataSummary:
    """Describe the columns of a file of rows."""
    tell(f"Reading {rows.name}", 0, 0)
    with _named(rows):
        return summarize_data(rows.path)


@dataclass(frozen=True)
class Recipe:
    """How to learn: the rows, how they are read, the learner, and its settings as written."""

    rows: Upload
    how: RowOptions
    learner: str
    settings: tuple[tuple[str, str], ...]

    def read(self, tell: Tell) -> Data:
        tell(f"Reading {self.rows.name}", 0, 0)
        with _named(self.rows):
            return as_data(self.rows.path, None, self.how)

    def make(self, tell: Tell | None = None) -> Learner:
        kind = learner_named(self.learner)
        values = parse_values(kind, dict(self.settings))
        if tell is not None and "show_progress" in kind.defaults():
            values["show_progress"] = partial(tell, "Learning")
        return kind(**values)


class Learned(NamedTuple):
    """What was learned: a label, the model, a summary, and whether the learner found too little."""

    label: str
    model: Model
    text: str
    missed: str


def learn_from(recipe: Recipe, tell: Tell) -> Learned:
    """Learn from the rows of a file."""
    rows = recipe.read(tell)
    learner = recipe.make(tell)
    tell("Learning", 0, 0)
    fitted = learner.fit(rows)
    tell("Fitting the weights", 0, 0)
    model = fitted.model_
    pairs = plural(len(covered_pairs(model.structure.features)), "pair")
    words = f"{plural(len(rows), 'row')}, {plural(len(rows.domain), 'variable')}: "
    label = f"{recipe.learner} on {recipe.rows.name}"
    tell("Testing what the model claims", 0, 0)
    missed = f"{fitted.missed_} {advice(recipe.learner)}" if fitted.missed_ else ""
    return Learned(label, model, f"{words}{plural(len(model), 'feature')}, {pairs}", missed)


def stability_of(one: OneModel, recipe: Recipe, resamples: int, tell: Tell) -> OneModel:
    """Learn from resamples, and count those that have each sentence about one model."""
    model = one.comparison.true
    rows, learner = _rows(recipe.rows, model), recipe.make()
    progress = partial(tell, f"Learning from resamples with {recipe.learner}")
    resampled = stability(rows, learner, resamples=resamples, show_progress=progress)
    return with_stability(one, resampled)


def _rows(rows: Upload, model: Model) -> Data:
    with _named(rows):
        return as_data(rows.path, model.domain, following(model))


@contextmanager
def _named(rows: Upload) -> Iterator[None]:
    """Call a file by its name on the user's machine in messages."""
    try:
        yield
    except ContextwiseError as error:
        raise ContextwiseError(str(error).replace(rows.path, rows.name)) from None


# -- the results of a run --------------------------------------------------------------------------

Row = Mapping[str, Any]
Kind = Literal["kl", "learners", "stability"]
WIDE = 1.6  # width over height of a figure that has panels side by side
LONGEST = 40  # characters of an invalid value in a message


@dataclass(frozen=True)
class RunPicture:
    """A figure of a run; ``source`` is a data URL."""

    name: str
    source: str
    caption: str
    is_wide: bool


@dataclass(frozen=True, eq=False)
class Run:
    """The contents of a run: records, parts, figures, and of resamples the most typical one."""

    title: str
    records: Sequence[Row]
    parts: Sequence[Part]
    pictures: Sequence[RunPicture] = ()
    medoid: Structure | None = None


def kind_of_run(path: str) -> Kind:
    """Return the kind of a run; raise `ContextwiseError` if the path has no run."""
    if path.lower().endswith(".csv"):
        return "kl"
    from contextwise.evaluation.resampling import KEPT

    configuration = _stored(path, read_configuration)
    if configuration.keys() >= KEPT:
        return "stability"
    if "learners" in configuration:
        return "learners"
    if "structures" in configuration:
        return "kl"
    raise ContextwiseError(f"{path}: not a run of contextwise experiment or stability")


def _stored(path: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(path)
    except RecursionError:
        raise ContextwiseError(f"{path}: not the results of a run: nested too deeply") from None


def read_run(path: str, tell: Tell) -> Run:
    """Read a run, and make the parts and figures that the page shows."""
    tell(f"Reading {path}", 0, 0)
    kind = kind_of_run(path)
    make = {"kl": kl_run, "learners": learners_run, "stability": stability_run}[kind]
    try:
        return make(path, tell)
    except (KeyError, TypeError, ValueError) as error:
        raise ContextwiseError(
            f"{path}: cannot read the records: {type(error).__name__}: {error}"
        ) from None


def kl_run(path: str, tell: Tell) -> Run:
    """Read the study of KL-divergence: one figure for each number of rows, and the effects."""
    rows = read_results(path)
    tell("Drawing the figures", 0, 2)
    pictures = [
        _picture(
            f"kl-{size}",
            kl_figure(rows, size),
            f"Structures with errors, fitted to {number(size)} rows: KL-divergence against the "
            "percentage of all possible errors.",
        )
        for size in sorted({row["size"] for row in rows})
    ]
    tell("Resampling structures for the intervals", 1, 2)
    head, *listed = effect_rows(effects(rows))
    columns: dict[str, Style] = dict.fromkeys(head, "text")
    parts = [table("How KL-divergence follows errors", columns, listed)]
    return Run("Study of KL-divergence", rows, parts, pictures)


def learners_run(path: str, tell: Tell) -> Run:
    """Read the study of learners: the tables and figures that it publishes."""
    from contextwise.studies.learner_report import study_figures
    from contextwise.studies.learner_results import study_parts

    units = read_units(path)
    tell("Making the tables, with intervals that resample truths", 0, 2)
    parts = study_parts(units)
    tell("Drawing the figures", 1, 2)
    figures = study_figures(units)
    pictures = [_picture(made.name, made.figure, made.caption) for made in figures]
    return Run("Study of learners", units, parts, pictures)


def stability_run(path: str, tell: Tell) -> Run:
    """Read structures learned from resamples: what they share, and the most typical one."""
    from contextwise.evaluation.resampling import read_stability
    from contextwise.report.evaluations import stability_parts

    stability = read_stability(path, show_progress=partial(tell, "Comparing the resamples"))
    tell("Counting how many resamples agree", 0, 0)
    supports = [support.record() for support in stability.supports()]
    parts = stability_parts(stability)
    return Run("Stability of the learned structure", supports, parts, medoid=stability.medoid)


def _picture(name: str, figure: Figure, caption: str) -> RunPicture:
    from contextwise.report.plots.style import encoded

    width, height = figure.get_size_inches()
    text = b64encode(encoded(figure, "svg")).decode()
    source = f"data:image/svg+xml;base64,{text}"
    return RunPicture(name, source, caption, is_wide=width > WIDE * height)


def read_units(path: str) -> list[Row]:
    from contextwise.studies.learner_study import COLUMNS

    units: list[Row] = _stored(path, read_records)
    if not units:
        raise ContextwiseError(f"{path}: there are no results yet")
    for k, record in enumerate(units, start=1):
        wanted = COLUMNS if "truth" in record else ("data",)
        missing = [key for key in wanted if key not in record]
        if missing:
            raise ContextwiseError(f"{path}: row {k}: {missing[0]} is missing")
    return units


def read_results(path: str) -> list[Row]:
    """Read the rows of the study of KL-divergence, checked."""
    rows = list(_rows_of_csv(path) if path.lower().endswith(".csv") else _rows_of_store(path))
    if not rows:
        raise ContextwiseError(f"{path}: there are no results in it")
    _check_complete(rows, path)
    return rows


def _rows_of_store(path: str) -> Iterator[Row]:
    for k, row in enumerate(_stored(path, read_records), start=1):
        try:
            yield _parse_row(row)
        except ValueError as error:
            raise ContextwiseError(f"{path}: row {k}: {error}") from None


def _rows_of_csv(path: str) -> Iterator[Row]:
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader(file, restval="")
        try:
            for row in reader:
                yield _parse_row({k: v for k, v in row.items() if k is not None})
        except (csv.Error, ValueError) as error:
            text = f"this is not a CSV file: {error}" if isinstance(error, csv.Error) else error
            raise ParseError(str(text), path=path, line=reader.line_num) from None


NEEDED = {
    "structure": int, "side": str, "size": int, "parameters": int, "percentage": float, "kl": float,
}  # fmt: skip
MUST_BE = {int: "a whole number", float: "a finite number", str: " or ".join(NAMES)}


def _parse_row(row: Row) -> Row:
    """Return the row with its numbers as numbers; raise `ValueError` if it is invalid."""
    if any(key not in row for key in NEEDED):
        raise ValueError(
            f"these are not the results of an experiment; the columns must be {', '.join(NEEDED)}"
        )
    parsed = {}
    for key, kind in NEEDED.items():
        value = row[key]
        try:
            parsed[key] = kind(value)
            if kind is str:
                valid = value in NAMES
            else:
                # int() cuts 2.5 to 2, so compare with what was written.
                valid = isfinite(float(value)) and float(value) == parsed[key]
        except (TypeError, ValueError, OverflowError):
            valid = False
        if not valid:
            raise ValueError(f"{key} must be {MUST_BE[kind]}, got {repr(value)[:LONGEST]}")
    return {**row, **parsed}


def _check_complete(rows: Sequence[Row], path: str) -> None:
    """Raise unless each structure has a row for each parameter set of its side and size."""
    groups: dict[tuple[str, int], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        groups[row["side"], row["size"]][row["structure"]].add(row["parameters"])
    for (side, size), structures in groups.items():
        wanted = set().union(*structures.values())
        for structure, present in structures.items():
            if present != wanted:
                raise ContextwiseError(
                    f"{path}: structure {structure} ({NAMES[side]}, {size} rows) has no row for "
                    f"the parameter set {min(wanted - present)}"
                )
