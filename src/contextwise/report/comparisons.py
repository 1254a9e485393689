"""Turn results of `contextwise.comparison` into parts.

`compare_parts` is what the command prints. `summary` is the verdict on one guess,
`comparison_parts` shows one guess in full, `guesses_parts` several guesses in one table, and
`matrix_parts` many models. `differences` shows where models differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.comparison.confusion import (
    COUNTS,
    MEASURES,
    Confusion,
    Number,
    computed,
    ratio,
    shown_in,
)
from contextwise.comparison.question import Pair
from contextwise.comparison.roles import ALONE, TRUE_AND_GUESS, Roles
from contextwise.comparison.two_models import Comparison
from contextwise.report.parts import (
    SHORT,
    TOP,
    UNDECIDED,
    Cell,
    Column,
    Entries,
    Entry,
    Interval,
    Note,
    PairName,
    Part,
    Section,
    Share,
    Style,
    Table,
    table,
)
from contextwise.support.formatting import listed, name, number, plural, rate
from contextwise.support.words import exact_percent

if TYPE_CHECKING:
    from contextwise.comparison.error_regions import Explanation
    from contextwise.comparison.matrix import Comparisons, DistanceMatrix
    from contextwise.comparison.strengths import Strengths
    from contextwise.comparison.tolerances import AtTolerances
    from contextwise.evaluation.likelihood_scores import Scores
    from contextwise.evaluation.random_guesses import Chance
    from contextwise.evidence.model_check import Check
    from contextwise.independence.model_claims import ModelExplanation
    from contextwise.report.pictures import Shares

GROUPS = ("distances", "causal", "dependencies", "assertions")  # of measures, as shown
FEW_PAIRS = 3
"""Up to this many pairs that differ are named in a summary."""
NOTHING = "There is nothing to compare: no pair of variables is left."
BY_POSITION = "Variables and states are aligned by position, not by name."


@dataclass(frozen=True, eq=False)
class Guess:
    """A guess and its comparison with the true model: what commands, pages and explorer pass on."""

    name: str
    comparison: Comparison
    label: str = ""  # a short name for tables
    features: int | None = None  # as read; a restriction can leave fewer to compare
    zero_weights: int = 0  # the number of its features of weight 0
    truth: str = ""  # the true model, where there are several
    explanation: Explanation | None = None
    chance: Chance | None = None
    check: Check | None = None
    scores: Scores | None = None
    one: ModelExplanation | None = None  # the claims of the true model, if it is shown alone

    @property
    def title(self) -> str:
        return self.label or self.name

    @property
    def feature_count(self) -> int:
        return len(self.comparison.guess) if self.features is None else self.features

    @cached_property
    def shares(self) -> Shares:
        """Shares of contexts of every pair, as floats, for pictures."""
        from contextwise.report.pictures import shares_of

        return shares_of(self.comparison, None if self.one is None else ALONE)

    @cached_property
    def worst_pair(self) -> Pair | None:
        """The pair with the most errors; None if no finished pair differs."""
        worst = self.comparison.worst_pairs(1)
        return worst[0][0] if worst else None


# -- what compare prints ---------------------------------------------------------------------------


def compare_parts(
    true: str,
    guesses: Sequence[Guess],
    *,
    features: int,
    top: int,
    data: str = "",
    zero_weights: int = 0,
    drops_zeros: bool = False,
) -> list[Part]:
    """Return what ``contextwise compare`` prints: the verdict, the models, then the guesses.

    ``true`` is the name of the true model; ``features`` and ``zero_weights`` are how many features
    it has, and how many of them have weight 0. ``data`` is the name of a file of rows.
    """
    from contextwise.report.evaluations import chance_parts, scores_parts

    several = len(guesses) > 1
    verdicts: list[str] = []
    parts = (
        guesses_parts(guesses)
        if several
        else comparison_parts(guesses[0].comparison, top=top, chance=guesses[0].chance)
    )
    if isinstance(verdict := parts[0], Note):
        verdicts.append(verdict.text)
        del parts[0]
    for guess in guesses:
        if several and guess.comparison.at is not None:
            parts.append(Section(guess.title, tuple(tolerance_parts(guess.comparison.at))))
        if several and (drawn := strength_parts(guess.comparison.strengths)):
            parts.append(Section(guess.title, tuple(drawn)))
        if guess.chance is not None:
            _, *drawn = chance_parts(guess.chance)
            verdicts += [f"{guess.title}: {guess.chance.verdict}"] if several else []
            parts += [Section(guess.title, tuple(drawn))] if several else drawn
    if any(guess.scores is not None for guess in guesses):
        parts += scores_parts(guesses)
    models = _models_table(true, guesses, features, data)
    zeros = [(true, zero_weights), *((guess.title, guess.zero_weights) for guess in guesses)]
    if any(count for _, count in zeros):
        counts = ", ".join(f"{count:,} in {name(title)}" for title, count in zeros if count)
        status = "dropped" if drops_zeros else "kept; --zero-weights drop drops them"
        note = ("note", f"features of weight 0: {counts} ({status})")
        models = models._replace(rows=(*models.rows, note))
    return [*([Note("verdict", "\n".join(verdicts))] if verdicts else []), models, *parts]


def _models_table(true: str, guesses: Sequence[Guess], features: int, data: str) -> Table:
    """Describe the true model, the guess if there is only one, and what is compared."""
    comparison = guesses[0].comparison
    labels = ("first", "second") if comparison.roles.peers else ("true", "guess")
    sizes = [(labels[0], true, comparison.true.size_text(features))]
    if len(guesses) == 1:
        size = comparison.guess.size_text(guesses[0].feature_count)
        sizes.append((labels[1], guesses[0].title, size))
    variables = plural(len(comparison.question.box.domain), "variable")
    rows = [(role, f"{name(title)}: {variables}, {size}") for role, title, size in sizes]
    rows.append(("over", scope_text(comparison, data=data)))
    return Table("", (Column("", "text"),) * 2, tuple(rows), "compared")


def summary(comparison: Comparison, chance: Chance | None = None) -> str:
    """Describe how near the models are, whether that beats chance, and where the errors are.

    Only random guesses (``chance``) can tell whether it does; without them, kappa is given.
    """
    unfinished, pair_count = len(comparison.unions.open_places), comparison.question.pair_count
    if unfinished:
        low, high = (exact_percent(bound, comparison.total) for bound in comparison.distance_bounds)
        return (
            f"{low} to {high} of all assertions differ.\n"
            f"{unfinished:,} of {pair_count:,} pairs are unfinished; these are proven bounds."
        )
    c = comparison.confusion
    if not c.total:
        return NOTHING
    if not c.distance:
        verdict = "" if chance is None else f"\n{chance.verdict}"
        every = "the only assertion" if c.total == 1 else f"all {number(c.total)} assertions"
        return f"The models agree on {every}.{verdict}"
    against = _kappa_text(c) if chance is None else chance.verdict
    lines = _errors_text(comparison), against, _pairs_text(comparison)
    return "\n".join(filter(None, lines))


def _errors_text(comparison: Comparison) -> str:
    c, words = comparison.confusion, comparison.roles.errors
    counts = f" ({number(c.distance)} of {number(c.total)})" if c.total < SHORT else ""
    kinds = sorted([(c.fp, words["fp"]), (c.fn, words["fn"])], key=lambda kind: -kind[0])
    shares = ", ".join(f"{exact_percent(count, c.total)} {kind}" for count, kind in kinds)
    split = f": {shares}" if c.fp and c.fn else f", all of them {kinds[0][1]}"
    return f"{exact_percent(c.distance, c.total)} of all assertions differ{counts}{split}."


def _kappa_text(confusion: Confusion) -> str:
    """Give kappa; a value that only rounds to 1 or -1 is not shown as such."""
    kappa = confusion.rate("kappa", float("nan"))
    if isnan(kappa):
        return ""
    rounded = f"{kappa:.2g}"
    is_exact = rounded not in ("1", "-1") or abs(kappa) == 1
    return f"Kappa is {rounded if is_exact else rate(kappa)}."


def _pairs_text(comparison: Comparison) -> str:
    """Say how many pairs differ; name a few, or count those that differ in every context."""
    places, errors = comparison.differing
    verb = "differs" if len(errors) == 1 else "differ"
    text = f"{len(errors):,} of {plural(comparison.question.pair_count, 'pair')} {verb}"
    if len(errors) <= FEW_PAIRS:
        worst = [f"{first}–{second}" for (first, second), _ in comparison.worst_pairs(FEW_PAIRS)]
        return f"{text}: {listed(worst, 'and')}."
    opposite = int((errors == comparison.unit_sizes[places]).sum())
    if not opposite:
        return f"{text}."
    how_many = "all" if opposite == len(errors) else f"{opposite:,}"
    return f"{text}, {how_many} of them in every context."


# -- one guess, and several ----------------------------------------------------------------------


def comparison_parts(
    comparison: Comparison, *, top: int = TOP, chance: Chance | None = None
) -> list[Part]:
    """Return one guess in full; ``top`` limits the pairs and variables, 0 leaves them out."""
    parts: list[Part] = [Note("summary", summary(comparison, chance))]
    if len(comparison.unions.open_places):
        parts += [open_note({"": comparison}), measures(comparison), *estimate_notes(comparison)]
        if top:
            parts.append(open_pairs_table(comparison, top))
    else:
        parts += [confusion_table(comparison), measures(comparison)]
    parts += alignment_notes(comparison)
    if comparison.at is not None:
        sentence, *at_parts = tolerance_parts(comparison.at)
        parts[0] = Note("summary", f"{summary(comparison, chance)}\n{sentence.text}")
        parts[1:1] = at_parts
    parts += [*strength_parts(comparison.strengths), *direction_notes(comparison)]
    if top:
        parts += [worst_pairs(comparison, top), *variables_tables(comparison, top)]
    return parts


def strength_parts(strengths: Strengths | None, *, top: int = TOP) -> list[Part]:
    """Return a table of the quartiles of the strengths of each kind, if some model has weights."""
    if strengths is None or not strengths.samples:
        return []
    columns: dict[str, Style] = {"dependencies": "text"}
    columns["number" if strengths.complete else "drawn"] = "count"
    columns |= dict.fromkeys(("lower quartile", "median", "upper quartile"), "text")
    peers = strengths.roles.peers
    columns |= {} if peers else {"next to those found": "text"}
    rows: list[tuple[Cell, ...]] = []
    for kind, sample in strengths.samples.items():
        label = strengths.label(kind)
        label += ", by the guess's weights" if sample.weights_of == "guess" else ""
        quartiles = (str(sample.quantile(share)) for share in (0.25, 0.5, 0.75))
        how = (strengths.compared(kind) or "") if kind != "found" else ""
        rows.append((label, len(sample), *quartiles, *([] if peers else [how])))
    title = "How strong the dependencies are: absolute log odds ratios"
    if not strengths.complete:
        from contextwise.support.statistics import CONFIDENCE

        title += f" of dependencies drawn at random, with {100 * CONFIDENCE:g} % intervals"
    return [table(title, columns, rows, "strengths")]


def tolerance_parts(at: AtTolerances, *, top: int = TOP) -> list[Any]:
    """Return the distance at each tolerance: a sentence, a table, and notes."""
    roles, total = at.roles, at.total or 1
    columns: dict[str, Style] = {"stronger than": "text", "differs": "share"}
    columns |= {roles.heads["fn"]: "share", roles.heads["fp"]: "share", "both": "share"}
    columns |= {"differs, of what either has": "share"}
    rows: list[tuple[Cell, ...]] = []
    for found in at.values():
        b = found.bounds
        cells = [_between(*ends, total) for ends in (b.distance, b.fn, b.fp, b.tp)]
        either = total - b.tn[0]
        of_either = Share(b.distance[0], either) if not found.open_pairs and either else None
        rows.append((f"{found.tolerance:g}", *cells, of_either))
    title = "Where dependences must be stronger than a tolerance (absolute log odds ratio)"
    shares = [_between_text(found.bounds.distance, total) for found in at.values()]
    later = [f"{share} at {t:g}" for share, t in zip(shares[1:], at.tolerances[1:], strict=True)]
    first = f"{shares[0]} of all assertions differ at t = {at.tolerances[0]:g}"
    text = f"If only dependences stronger than t count, {listed([first, *later])}."
    parts: list[Part] = [Note("summary", text), table(title, columns, rows, "at")]
    for model in at.without_weights:
        text = f"{model[0].upper()}{model[1:]} has no weights and keeps its claims at all of them."
        parts.append(Note("claims", text))
    if not at.closed:
        unfinished = max(len(found.open_pairs) for found in at.values())
        text = f"{UNDECIDED.capitalize()}: up to {unfinished:,} of {len(at.pairs):,} pairs are "
        parts.append(
            Note("open", f"{text}unfinished at a tolerance. Bounds are proven.", warns=True)
        )
    return parts


def _between(low: Number, high: Number, total: Number) -> Cell:
    return Share(low, total) if low == high else Interval(ratio(low, total), ratio(high, total))


def _between_text(ends: tuple[Number, Number], total: Number) -> str:
    return " to ".join(dict.fromkeys(exact_percent(end, total) for end in ends))


def guesses_parts(guesses: Sequence[Guess]) -> list[Part]:
    """Return several guesses at one true model, one row each, and notes on all of them."""
    comparisons = {guess.title: guess.comparison for guess in guesses}
    parts: list[Part] = [guesses_table(guesses), *alignment_notes(guesses[0].comparison)]
    if any(len(c.unions.open_places) for c in comparisons.values()):
        parts.append(open_note(comparisons))
    elif len(guesses) > 1:
        parts.insert(0, Note("verdict", nearest_text(guesses)))
    return parts


def nearest_text(guesses: Sequence[Guess]) -> str:
    """Name the nearest and the farthest of several guesses."""
    roles, total = guesses[0].comparison.roles, guesses[0].comparison.total
    if not total:
        return NOTHING
    shares = [Fraction(guess.comparison.distance) / total for guess in guesses]
    least, most = min(shares), max(shares)
    if least == most:
        every = f"All {len(guesses)} {'models' if roles.peers else 'guesses'}"
        near = f"equally near to {roles.first}" if roles.peers else "equally near"
        return f"{every} are {near}: {exact_percent(least)} of all assertions differ."
    lines = []
    for extreme, text in ((least, f"nearest to {roles.first}"), (most, "farthest")):
        titles = [g.title for g, share in zip(guesses, shares, strict=True) if share == extreme]
        verb = "are" if titles[1:] else "is"
        differ = " of all assertions differ" if extreme == least else ""
        lines.append(f"{listed(titles)} {verb} {text}: {exact_percent(extreme)}{differ}.")
    return "\n".join(lines)


def confusion_table(comparison: Comparison) -> Table:
    """Return the confusion matrix over all pairs, as shares of all assertions."""
    c = comparison.confusion
    true, guess = comparison.roles.true, comparison.roles.guess
    columns: dict[str, Style] = {"": "text"}
    columns |= {f"{guess} dependent": "counted", f"{guess} independent": "counted"}
    rows = (
        (f"{true} dependent", Share(c.tp, c.total), Share(c.fn, c.total)),
        (f"{true} independent", Share(c.fp, c.total), Share(c.tn, c.total)),
    )
    title = "Both models" if comparison.roles.peers else "Confusion matrix"
    return table(f"{title} over {scope_text(comparison)}", columns, rows, "confusion")


def measures(comparison: Comparison) -> Entries:
    """Return the distances and rates; of a comparison with unfinished pairs, only bounds."""
    c = comparison
    values: dict[str, Cell]
    if len(c.unions.open_places):
        low, high = c.distance_bounds
        shares = Interval(ratio(low, c.total), ratio(high, c.total))
        values = {"normalized": shares, "distance": Interval(low, high)}
    else:
        keys = (key for key, measure in MEASURES.items() if measure.column != "counts")
        values = {**computed(c, meaningful(keys, c))}
    groups: dict[str, list[Entry]] = {column: [] for column in GROUPS}
    for key, value in values.items():
        measure = MEASURES[key]
        label = measure.neutral if c.roles.peers else measure.label
        entry = Entry(key, label, value, measure.style, measure.meaning)
        groups[measure.column].append(entry)
    return Entries(tuple(tuple(group) for group in groups.values() if group))


def meaningful(keys: Iterable[str], comparison: Comparison) -> list[str]:
    """Leave out the measures that need a true model, if neither model is true."""
    return [key for key in keys if not (comparison.roles.peers and MEASURES[key].needs_truth)]


def error_columns(comparison: Comparison) -> dict[str, Style]:
    """Return the columns of shares of all differences and of both kinds."""
    heads = comparison.roles.heads
    return {"differs": "counted", heads["fn"]: "share", heads["fp"]: "share"}


def worst_pairs(comparison: Comparison, top: int = TOP) -> Table | Note:
    """Return the finished pairs with the most errors, or a note that no pair differs."""
    some_open = bool(len(comparison.unions.open_places))
    errors = comparison.differing[1]
    if not len(errors):
        return Note("nothing", f"No {'finished ' if some_open else ''}pair differs.")
    all_errors = comparison.unions.total(errors)
    columns: dict[str, Style] = {"pair": "name", **error_columns(comparison)}
    columns |= {} if some_open else {f"of all {comparison.roles.noun}": "share"}
    rows: list[tuple[Cell, ...]] = []
    for pair, c in comparison.worst_pairs(top):
        shares = [Share(count, c.total) for count in (c.distance, c.fn, c.fp)]
        shares += [] if some_open else [Share(c.distance, all_errors)]
        rows.append((PairName(*pair), *shares))
    return table(worst_title(comparison, len(rows)), columns, rows, "worst pairs")


def worst_title(comparison: Comparison, shown: int) -> str:
    every = len(comparison.differing[1])
    known = "are known to differ" if len(comparison.unions.open_places) else "differ"
    if shown >= every:
        return f"All pairs that {known}"
    return f"{shown} of the {every:,} pairs that {known}, most {comparison.roles.noun} first"


def variables_tables(comparison: Comparison, top: int = TOP) -> list[Table]:
    """Return the table of the variables with the most errors, if there are errors."""
    wrong = [variable for variable in comparison.unit_variables if variable.errors]
    if not wrong:
        return []
    noun = comparison.roles.noun
    columns: dict[str, Style] = {"variable": "name", **error_columns(comparison)}
    rows: list[tuple[Cell, ...]] = [
        (v.variable, *(Share(count, v.assertions) for count in (v.errors, v.fn, v.fp)))
        for v in wrong[:top]
    ]
    title = f"Variables by their {noun}: the share of the assertions about them that differ"
    if len(rows) < len(wrong):
        title = f"{len(rows)} of the {len(wrong):,} variables with {noun}, most {noun} first"
    return [table(title, columns, rows, "variables")]


def open_pairs_table(comparison: Comparison, top: int = TOP) -> Table:
    """Return the unfinished pairs with the widest bounds."""
    places, names = comparison.unions.open_places, comparison.open_pairs
    low, high = comparison.distances_at(places)
    widths = (high - low) / np.maximum(comparison.unit_sizes[places], 1)
    widest = np.argsort(-widths.astype(np.float64), kind="stable")[:top]
    bounds = (comparison.unions.exact(end[widest]) for end in (low, high))
    sizes = comparison.question.sizes(comparison.pairs[places[widest]])
    rows = [
        (PairName(*names[k]), Share(least, size), Share(most, size))
        for k, least, most, size in zip(widest.tolist(), *bounds, sizes, strict=True)
    ]
    columns: dict[str, Style] = {"pair": "name", "differs in": "share", "to": "share"}
    title = "Unfinished pairs, the widest bounds first"
    if top < len(names):
        title = f"The {top} unfinished pairs with the widest bounds, of {len(names):,}"
    return table(title, columns, rows, "open pairs")


def guesses_table(guesses: Sequence[Guess]) -> Table:
    roles = guesses[0].comparison.roles
    keys = meaningful(shown_in("guesses"), guesses[0].comparison)
    columns: dict[str, Style] = {"model" if roles.peers else "guess": "name", "features": "count"}
    columns |= measure_columns(keys, roles)
    rows = [
        (guess.title, guess.feature_count, *measure_cells(guess.comparison, keys))
        for guess in guesses
    ]
    title = f"Every {'model' if roles.peers else 'guess'} against {roles.first}"
    return table(title, columns, rows, "guesses")


def measure_columns(keys: Iterable[str], roles: Roles = TRUE_AND_GUESS) -> dict[str, Style]:
    """Return the columns of `measure_cells`, for guesses with one true model."""
    styles: dict[str, Style] = {"normalized": "counted", **dict.fromkeys(COUNTS, "share")}
    labels = {**roles.heads, "fp": "only the other"} if roles.peers else roles.heads
    return {
        labels.get(key, MEASURES[key].label): styles.get(key, MEASURES[key].style) for key in keys
    }


def measure_cells(comparison: Comparison, keys: Iterable[str]) -> Iterator[Cell]:
    """Yield measures, counts as shares; while pairs are unfinished, only bounds of the distance."""
    c = comparison
    for key in keys:
        if len(c.unions.open_places):
            bounds = Interval(*(ratio(end, c.total) for end in c.distance_bounds))
            yield bounds if key == "normalized" else None
        elif key in ("normalized", *COUNTS):
            yield Share(c.distance if key == "normalized" else getattr(c, key), c.total)
        else:
            yield MEASURES[key].formula(c)


# -- notes on what limits the numbers --------------------------------------------------------------


def scope_text(comparison: Comparison, *, data: str = "the data") -> str:
    """Return the number of pairs and assertions, and the restriction to contexts or to ``data``."""
    question = comparison.question
    text = f"{plural(question.pair_count, 'pair')}, {plural(question.total, 'assertion')}"
    if question.space.canonical:
        text += " on full assignments"
    if question.rows is not None:
        text += f" in the contexts of the rows of {name(data)}"
    if question.space.weights is not None:
        text += ", each context by its probability"
    if question.box:
        text += f" in the context {name(question.box.words)}"
    return text


def open_note(comparisons: Mapping[str, Comparison]) -> Note:
    """Say how many pairs of which guesses are unfinished, and why."""
    unfinished = {guess: c for guess, c in comparisons.items() if len(c.unions.open_places)}
    shares = [
        f"{f'{name(guess)}: ' if guess else ''}{len(c.open_pairs):,} of {len(c.pairs):,} pairs"
        for guess, c in unfinished.items()
    ]
    interrupted = any(c.unions.interrupted for c in unfinished.values())
    why = "Interrupted" if interrupted else UNDECIDED.capitalize()
    return Note("open", f"{why}: {', '.join(shares)}. Bounds are proven.", warns=True)


def estimate_notes(comparison: Comparison) -> list[Note]:
    """Return the sampled estimates of the errors of unfinished pairs, if there are any."""
    estimates = comparison.estimates
    if estimates is None:
        return []
    errors = comparison.roles.errors
    kinds = ((errors["fp"], estimates.fp), (errors["fn"], estimates.fn))
    sentence = " and ".join(
        f"{kind} {100 * e.value:.3g} % ({100 * e.low:.3g} % to {100 * e.high:.3g} %)"
        if e.value
        else f"{kind} at most {100 * e.high:.3g} % (no draw found one)"
        for kind, e in kinds
    )
    text = (
        f"Estimated from {plural(estimates.draws, 'draw')} of each kind: {sentence} of all "
        "assertions (95 % intervals)."
    )
    return [Note("estimate", text)]


def direction_notes(comparison: Comparison) -> list[Note]:
    if comparison.true.directions is None or comparison.guess.directions is None:
        return []
    text = "The distance ignores directions; SHD, SID and the AIDs compare the arcs."
    return [Note("directions", text)]


def alignment_notes(comparison: Comparison) -> list[Note]:
    return [Note("alignment", BY_POSITION)] if comparison.question.align == "position" else []


# -- distances between many models -----------------------------------------------------------------


def matrix_parts(
    matrix: DistanceMatrix,
    *,
    names: Sequence[str] | None = None,
    normalized: bool = False,
    top: int = TOP,
) -> list[Part]:
    """Return the pairwise distances, or their shares of all assertions, and notes.

    Columns have numbers, because names are long.
    """
    labels = matrix.names if names is None else names
    places = [str(k + 1) for k in range(len(labels))]
    columns: dict[str, Style] = {"": "count", "model": "name"}
    columns |= dict.fromkeys(places, "rate" if normalized else "count")
    cells = matrix_cells(matrix, normalized=normalized)
    rows = [(p, label, *row) for p, label, row in zip(places, labels, cells, strict=True)]
    title = "Pairwise normalized distances" if normalized else "Pairwise distances"
    parts: list[Part] = [table(title, columns, rows, "matrix")]
    if len(labels) > 2 and not matrix.open_distances:
        parts.insert(0, Note("verdict", _extremes(matrix, labels)))
    if matrix.by_position:
        parts.append(Note("alignment", BY_POSITION))
    return parts


def _extremes(matrix: DistanceMatrix, labels: Sequence[str]) -> str:
    """Name the two nearest and the two farthest models, and the medoid."""
    if not matrix.total:
        return NOTHING
    distances = matrix.lower.tolist()
    pairs = {(i, j): distances[i][j] for i, j in combinations(range(len(labels)), 2)}
    text = []
    if len(set(pairs.values())) == 1:
        share = exact_percent(distances[0][1], matrix.total)
        return f"All pairs of models are equally far apart: {share} of all assertions differ."
    for kind, choose in (("nearest", min), ("farthest", max)):
        i, j = choose(pairs, key=pairs.__getitem__)
        share = exact_percent(pairs[i, j], matrix.total)
        ties = sum(distance == pairs[i, j] for distance in pairs.values()) - 1
        more = f" (tied with {plural(ties, 'other pair')})" if ties else ""
        text.append(
            f"{labels[i]} and {labels[j]} are {kind}: they differ in {share} of all assertions"
            f"{more}."
        )
    sums = matrix.distances.sum(axis=1).tolist()
    ties = sums.count(min(sums)) - 1
    more = f" (tied with {plural(ties, 'other model')})" if ties else ""
    text.append(
        f"The medoid is {labels[matrix.medoid]}: the sum of its distances to the others is the "
        f"smallest{more}."
    )
    return "\n".join(text)


def matrix_cells(
    matrix: DistanceMatrix, *, normalized: bool
) -> list[list[Number | float | Interval]]:
    """Return the distances, or their shares of all assertions; unfinished ones are intervals."""
    lower, upper = (
        (matrix.shares(bound) if normalized else bound).tolist()
        for bound in (matrix.lower, matrix.upper)
    )
    return [
        [low if low == high else Interval(low, high) for low, high in zip(*row, strict=True)]
        for row in zip(lower, upper, strict=True)
    ]


# -- results as they show themselves ---------------------------------------------------------------


def comparisons_parts(result: Comparisons, *, top: int = TOP) -> list[Part]:
    named = zip(result.names, result, strict=True)
    return guesses_parts([Guess(label, comparison) for label, comparison in named])
