"""Turn results of `contextwise.evaluation` into parts: chance, checks, groups, scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from statistics import median
from typing import TYPE_CHECKING

from contextwise.comparison.confusion import CAUSAL, MEASURES, Number, ratio, shown_in
from contextwise.evaluation.replicates import Mean, Summary, metric_label
from contextwise.evaluation.skill import NULLS
from contextwise.models.notation import between, in_words, quoted, where
from contextwise.report.comparisons import (
    Guess,
    Medium,
    measure_cells,
    measure_columns,
    rounding_notes,
)
from contextwise.report.parts import (
    TOP,
    Cell,
    Column,
    Entries,
    Entry,
    Note,
    PairName,
    Part,
    Section,
    Style,
    Table,
    makes_parts,
    table,
)
from contextwise.report.pictures import (
    populations_picture,
    reliability_picture,
    supports_picture,
)
from contextwise.support.formatting import name, number, percent, plural, rate

if TYPE_CHECKING:
    from contextwise.evaluation.claim_tests import Check, CheckedClaim
    from contextwise.evaluation.consensus_search import ClaimSupport, Consensus
    from contextwise.evaluation.ensemble_scores import (
        EnsembleComparison,
        EnsembleScore,
        EnsembleScores,
        Reliability,
    )
    from contextwise.evaluation.g_test import ConditionalTest
    from contextwise.evaluation.group_tests import Populations, PopulationsOfColumns
    from contextwise.evaluation.resampling import PairSupport, Stability
    from contextwise.evaluation.scores import Score
    from contextwise.evaluation.skill import Chance


# -- chance ----------------------------------------------------------------------------------------

ROUND_FROM = 10_000  # show larger expected numbers without decimals
Wanted = tuple[str, str, Style, str]  # key of `Chance.record`, label, style and meaning of a number
OF_DISTANCE: tuple[Wanted, ...] = (
    ("distance", "distance", "count", "Number of assertions on which the models differ."),
    ("expected", "expected", "count", "Expected distance of a random guess, exact."),
    ("skill", "skill", "rate", "1 - distance / expected: 1 is perfect, 0 is as good as chance."),
    ("draws_nearer", "nearer draws", "count", "Random guesses nearer to the true model."),
    ("draws_as_near", "draws as near", "count", "Random guesses exactly as near as the guess."),
    ("p_value", "p", "probability", "Share of random guesses that are at least as near."),
)
OF_CONTEXTS: tuple[Wanted, ...] = (
    (
        "context_skill",
        "context skill",
        "rate",
        "The skill over the pairs that depend in only some contexts in both models, compared with "
        "relabelled states.",
    ),
    ("context_pairs", "over pairs", "count", "Pairs that depend in only some contexts in both."),
)
OF_GRAPHS: tuple[Wanted, ...] = (
    ("skeleton_common", "common edges", "count", "Edges of both graphs."),
    ("skeleton_expected", "expected edges", "count", "Common edges expected of a random graph."),
    (
        "skeleton_p_value",
        "p of the graph",
        "probability",
        "Share of random graphs with as many edges that have at least as many in common.",
    ),
)


@makes_parts("evaluation.skill", "Chance")
def chance_parts(chance: Chance, *, top: int = 0) -> list[Part]:
    """Show the verdict, what was drawn, the numbers, and the ``top`` pairs of least skill."""
    values = {"distance": chance.distance, **chance.record()}
    groups = [OF_DISTANCE if chance.draws else OF_DISTANCE[:3]]
    groups += [OF_CONTEXTS] if chance.context_pairs else []
    groups.append(OF_GRAPHS)
    draws = f" ({plural(chance.draws, 'draw')})" if chance.draws else ""
    limits = "\n".join(_limits(chance))
    parts: list[Part] = [
        Note("verdict", chance.verdict),
        Note("null", f"Random guesses{draws}: {NULLS[chance.null].description}."),
        Entries(tuple(tuple(_measures(wanted, values)) for wanted in groups)),
        *([Note("limits", limits)] if limits else []),
    ]
    pairs = chance_of_pairs(chance, top) if top else None
    return parts if pairs is None else [*parts, pairs]


def _measures(wanted: Iterable[Wanted], values: dict[str, object]) -> Iterator[Entry]:
    for key, label, style, meaning in wanted:
        value: Cell = values[key]  # type: ignore[assignment]
        if style == "count" and isinstance(value, Fraction):
            value = _rounded(value)
        yield Entry(key, label, value, style, meaning)


def _rounded(value: Fraction) -> Fraction | int:
    return round(value, 2) if value < ROUND_FROM else round(value)


def _limits(chance: Chance) -> Iterator[str]:
    """Yield sentences on the limits of the null for this guess."""
    if chance.is_stuck:
        yield "No skill and no p: all random guesses drawn have the same distance as the guess."
    if limit := NULLS[chance.null].limit(chance.comparison.domain.cardinalities):
        yield limit
    if not NULLS[chance.null].keeps_counts:
        asserted = sum(chance.comparison.unions.lower[:, 1].tolist())
        word = "dependency" if asserted == 1 else "dependencies"
        yield (
            f"The guess asserts {number(asserted)} {word}, random guesses "
            f"{number(_rounded(chance.dependencies))} on average."
        )


def chance_of_pairs(chance: Chance, top: int) -> Table | None:
    """List the pairs that draws can get right or wrong, least skill first; None without any."""
    judged = [pair for pair in chance.pair_chances() if pair.p_value is not None]
    worst = sorted(judged, key=lambda pair: 1.0 if pair.skill is None else pair.skill)[:top]
    if not worst:
        return None
    columns: dict[str, Style] = {"pair": "name", "errors": "count", "expected": "count"}
    columns |= {"skill": "rate", "p": "probability"}
    rows = (
        (PairName(*p.pair), p.distance, _rounded(p.expected), p.skill, p.p_value) for p in worst
    )
    title = "Pairs compared with chance, least skill first"
    if len(worst) < len(judged):
        title += f" ({len(worst):,} of {len(judged):,})"
    return table(title, columns, rows, "chance of pairs")


def chances_table(guesses: Sequence[Guess]) -> Table:
    compared = [(guess.title, guess.chance) for guess in guesses if guess.chance is not None]
    wanted = [row for row in OF_DISTANCE if not row[0].startswith("draws")]
    if any(chance.context_pairs for _, chance in compared):
        wanted += OF_CONTEXTS
    columns: dict[str, Style] = {"guess": "name"}
    columns |= {label: style for _, label, style, _ in wanted} | {"verdict": "text"}
    rows = []
    for title, chance in compared:
        values = {"distance": chance.distance, **chance.record()}
        cells = (measure.value for measure in _measures(wanted, values))
        rows.append((title, *cells, chance.verdict))
    return table("Every guess compared with chance", columns, rows, "chances")


# -- stability -------------------------------------------------------------------------------------


@makes_parts("evaluation.resampling", "Stability")
def stability_parts(
    stability: Stability, *, top: int = TOP, consensus: Consensus | None = None
) -> list[Part]:
    """Show what resamples agree on: the verdict, instability, support of claims, a heat map."""
    supports = stability.supports()
    learned = [support for support in supports if support.learned]
    weak = [support for support in reversed(learned) if 2 * support.resamples < support.of]
    missed = [s for s in supports if not s.learned and 2 * s.resamples >= s.of]
    claims = tuple((str(region),) for region in stability.top_regions(top) if region.dependent)
    independent = tuple((str(region),) for region in stability.top_independencies(top))
    title = "Claims of dependence of the structure of all rows, and how many resamples agree"
    weakest = "Claims of independence that the fewest resamples agree with"
    parts: list[Part] = [
        Note("finding", f"{stability.verdict} {_resamples(stability)}"),
        _instability(stability, consensus),
        *([table(title, {"": "text"}, claims, "claims")] if claims else []),
        *([table(weakest, {"": "text"}, independent, "independencies")] if independent else []),
        *_listed("Learned from all rows, but from fewer than half of the resamples", weak, top),
        *_listed("Not learned from all rows, but from half of the resamples or more", missed, top),
    ]
    if stability.failed:
        failed = f"{plural(len(stability.failed), 'resample')} failed: {stability.failed[0]}"
        parts.append(Note("failed", failed, warns=True))
    return [*parts, supports_picture(stability)] if len(stability.domain) > 1 else parts


def _resamples(stability: Stability) -> str:
    share = "half" if stability.share == 0.5 else f"{100 * stability.share:g} %"
    drawn = f"{share} of the {stability.rows:,} rows"
    if stability.how == "bootstrap":
        drawn = f"{stability.rows:,} rows with replacement"
    differ = percent(Fraction(stability.instability), 1)
    return (
        f"{plural(stability.resamples, 'resample')} of {drawn}; two of them differ in {differ} of "
        "all assertions on average."
    )


def _instability(stability: Stability, consensus: Consensus | None) -> Entries:
    nearest = "mean normalized distance"
    medoid = f"medoid ({plural(len(stability.medoid), 'feature')}), {nearest}"
    instability = "Share of assertions in which two resamples differ: the mean of 2θ(1 - θ)."
    typical = "Mean normalized distance of the most typical resample to all resamples."
    bound = "No structure at all has a smaller mean normalized distance to the resamples."
    rows = [
        ("instability", "instability", stability.instability, instability),
        ("medoid_distance", medoid, stability.medoid_distance, typical),
    ]
    if consensus is not None:
        label = f"consensus ({plural(len(consensus.structure), 'feature')}), {nearest}"
        meaning = "Mean normalized distance of the consensus to the resamples."
        rows.append(("consensus_distance", label, consensus.mean_distance, meaning))
    least = "lower bound of that mean for any structure"
    rows.append(("least_distance", least, stability.least_distance, bound))
    measures = (Entry(key, label, value, "rate", text) for key, label, value, text in rows)
    return Entries((tuple(measures),))


def _listed(title: str, supports: Sequence[PairSupport], top: int) -> list[Part]:
    if not supports:
        return []
    shown = ", ".join(f"{between(s.pair)} ({s.resamples} of {s.of})" for s in supports[:top])
    more = f" and {len(supports) - top:,} more" if len(supports) > top else ""
    return [Note("supports", f"{title}: {shown}{more}.")]


# -- groups of rows --------------------------------------------------------------------------------

REJECTION = (
    "A small p means that the distributions of the groups differ in a way that {learner} sees. "
    "Different margins or strengths of the same dependencies can cause that, too."
)
MAX_T = (
    "The largest share of each permutation adjusts p (max-T). That bounds the chance of any false "
    "pair if all distributions are equal."
)
CONSTANT = (
    "a variable that never varies in a group depends on nothing there, so its dependencies in "
    "other groups count as differences."
)


@makes_parts("evaluation.group_tests", "Populations")
def populations_parts(found: Populations, *, top: int = TOP) -> list[Part]:
    """Show whether groups differ: the verdict, the groups, distances, pairs and regions."""
    groups = [(g.name, g.rows, len(g.structure), len(g.structure.pairs())) for g in found.groups]
    columns: dict[str, Style] = {found.by: "name", "rows": "count", "features": "count"}
    parts: list[Part] = [
        Note("verdict", found.verdict),
        Note("rejection", REJECTION.format(learner=found.learner)),
        table("Groups", columns | {"pairs that depend": "count"}, groups, "groups"),
        _distances_table(found),
        Note("chance", "\n".join(_population_notes(found)), warns=True),
    ]
    shown = found.variable_pairs[:top]
    if shown:
        columns = {"pair": "name", "contexts that differ": "share", "p": "probability"}
        rows = [(PairName(*each.pair), each.share, each.p_value, each.adjusted) for each in shown]
        title = (
            f"Pairs on which the groups differ ({len(shown):,} of {len(found.variable_pairs):,})"
        )
        parts.append(table(title, columns | {"adjusted p": "probability"}, rows, "variable pairs"))
        parts.append(Note("adjusted", MAX_T))
    regions = found.explained(top)
    if regions:
        pairs = "significant pairs differ" if found.significant else "structures differ"
        sentences = [(str(region),) for region in regions]
        parts.append(table(f"Where the {pairs}", {"": "text"}, sentences, "regions"))
    return [*parts, populations_picture(found)]


def _distances_table(found: Populations) -> Table:
    columns: dict[str, Style] = {"groups": "name", "distance": "rate", "by chance": "rate"}
    columns["p"] = "probability"
    rows: list[tuple[Cell, ...]] = [
        (f"{each.first} – {each.second}", each.distance, each.expected, each.p_value)
        for each in found.pairwise
    ]
    if len(rows) > 1:
        columns["p after Holm"] = "probability"
        rows = [(*row, each.adjusted) for row, each in zip(rows, found.pairwise, strict=True)]
        rows.append(("all, mean", found.distance, found.expected, found.p_value, None))
    return table("Distances of the structures", columns, rows, "distances")


def _population_notes(found: Populations) -> Iterator[str]:
    within = f" within {found.subject}" if found.subject else ""
    yield (
        f"By chance: the mean over {plural(found.permutations, 'permutation')} of the labels"
        f"{within}. A learner finds less in fewer rows, so compare a distance with chance, not "
        "with other distances."
    )
    if found.design == "joint":
        yield f"One structure has {found.by} as a variable; its restrictions are compared."
    if found.resamples is not None:
        yield (
            f"Each group is an ensemble of structures from {found.resamples} random halves of its "
            "rows. The distance is corrected for that number, so it can be below 0."
        )
    elif not found.distance:
        yield "The structures are equal, and ties count, so p is 1."
    constant = [f"{', '.join(g.constant)} in {g.name}" for g in found.groups if g.constant]
    if constant:
        yield f"Constant: {'; '.join(constant)}: {CONSTANT}"


@makes_parts("evaluation.group_tests", "PopulationsOfColumns")
def populations_of_columns(found: PopulationsOfColumns, *, top: int = TOP) -> list[Part]:
    """Show which columns differ, and the parts of each column."""
    columns: dict[str, Style] = {"column": "name", "groups": "count", "distance": "rate"}
    columns |= {"by chance": "rate", "p": "probability", "p after Holm": "probability"}
    rows = [
        (each.by, len(each.groups), each.distance, each.expected, each.p_value, each.adjusted)
        for each in found
    ]
    sections = [Section(name(each.by), tuple(populations_parts(each, top=top))) for each in found]
    return [Note("verdict", found.verdict), table("Columns", columns, rows, "columns"), *sections]


# -- ensembles -------------------------------------------------------------------------------------

OF_SCORES: dict[str, tuple[str, Style]] = {
    "brier": ("Brier score", "rate"),
    "expected_distance": ("expected distance", "rate"),
    "spread": ("spread", "rate"),
    "medoid_distance": ("medoid", "rate"),
    "consensus_distance": ("consensus", "rate"),
}
FAIR = (
    "Scores of draws are corrected for their number (fair): they estimate the scores of what was "
    "drawn from. For resamples that is the limit of many resamples, not a posterior."
)
FEW_DRAWS = (
    "Few draws look overconfident even if they are calibrated: what none of {draws} draws has is "
    "still true sometimes."
)


@makes_parts("evaluation.ensemble_scores", "EnsembleScores")
def ensemble_scores_parts(scores: EnsembleScores, *, top: int = TOP) -> list[Part]:
    """Show which guess is best by the Brier score, and a table of all."""
    wanted = {
        key: head
        for key, head in OF_SCORES.items()
        if any(getattr(score, key) is not None for score in scores)
    }
    columns: dict[str, Style] = {"guess": "name", "structures": "count", **dict(wanted.values())}
    rows = [
        (score.name, len(score.guess.distinct), *(_score_cell(score, key) for key in wanted))
        for score in scores
    ]
    note = (
        "All are shares of the assertions; smaller is better, except for the spread. Medoid: the "
        "distance of the most typical structure."
    )
    if any(score.guess.correction != 1 for score in scores):
        note += f" {FAIR}"
    return [
        Note("verdict", scores.verdict),
        table("Guesses as ensembles", columns, rows, "ensembles"),
        Note("columns", note),
    ]


@makes_parts("evaluation.ensemble_scores", "EnsembleScore")
def ensemble_score_parts(score: EnsembleScore, *, top: int = TOP) -> list[Part]:
    """Show the scores of one guess."""
    from contextwise.evaluation.ensemble_scores import EnsembleScores

    return ensemble_scores_parts(EnsembleScores([score]), top=top)


def _score_cell(score: EnsembleScore, key: str) -> Cell:
    value = getattr(score, key)
    if score.is_exact or value is None:
        return value  # type: ignore[no-any-return]
    from contextwise.distributions.sampling import Estimate

    return Estimate(value, score.standard_errors[key], "sampled")


def ensembles_section(scores: EnsembleScores, curves: Sequence[Reliability]) -> Section:
    """Return the scores of ensembles and the reliability of each."""
    inner = [Section(name(each.name), tuple(reliability_parts(each))) for each in curves]
    return Section("As ensembles", (*ensemble_scores_parts(scores), *inner), key="ensembles")


@makes_parts("evaluation.ensemble_scores", "EnsembleComparison")
def ensemble_comparison_parts(comparison: EnsembleComparison, *, top: int = TOP) -> list[Part]:
    """Show the distance of two ensembles, and where they differ most."""
    first, second = comparison.names
    text = (
        f"A structure of {first} and one of {second} differ in "
        f"{percent(comparison.expected_distance, 1)} of all assertions on average; two of {first} "
        f"in {percent(comparison.spreads[0], 1)}, two of {second} in "
        f"{percent(comparison.spreads[1], 1)}."
    )
    parts: list[Part] = [Note("verdict", comparison.verdict), Note("means", text)]
    pairs = [(PairName(*pair), part) for pair, part in comparison.pairs[:top] if part > 0]
    if pairs:
        columns: dict[str, Style] = {"pair": "name", "part of the distance": "score"}
        parts.append(table("Pairs that differ most", columns, pairs, "pairs"))
        columns = {"variable": "name", "sum over its pairs": "score"}
        rows = [row for row in comparison.variables[:top] if row[1] > 0]
        parts.append(table("Variables that differ most", columns, rows, "variables"))
    if comparison.is_fair:
        parts.append(Note("fair", FAIR))
    return parts


@makes_parts("evaluation.ensemble_scores", "Reliability")
def reliability_parts(curve: Reliability, *, top: int = TOP) -> list[Part]:
    """Show whether probabilities are right: the parts of the Brier score, groups, a diagram."""
    meanings = {
        "brier": "Brier score of the drawn assertions; smaller is better.",
        "reliability": "Mean squared difference of probability and share; 0 is best.",
        "resolution": "How far the shares of the groups differ; larger is better.",
        "uncertainty": "Variance of the truth; the same for every guess.",
        "within": "Rest, because a group has several probabilities.",
    }
    entries = tuple(
        Entry(key, key, getattr(curve, key), "score", meaning)
        for key, meaning in meanings.items()
        if key != "within" or curve.within
    )
    columns: dict[str, Style] = {
        "probability": "rate",
        "share that depend": "rate",
        "from": "rate",
        "to": "rate",
        "assertions": "count",
    }
    text = (
        f"{plural(curve.assertions, 'random assertion')}; Brier score = reliability - resolution + "
        f"uncertainty{' + within' if curve.within else ''}, not corrected for the number of draws."
    )
    if curve.draws is not None and 1 < curve.draws < 100:
        text += f" {FEW_DRAWS.format(draws=curve.draws)}"
    return [
        Note("verdict", curve.verdict),
        Entries((entries,)),
        table("Reliability", columns, curve.groups, "reliability"),
        Note("draws", text),
        reliability_picture(curve),
    ]


# -- checks on data --------------------------------------------------------------------------------

MEANING = (
    "A contradiction means that a dependence is missing near this pair: between the two "
    "variables, or between one of them and a variable connected to the other. If p given both "
    "blankets is small as well, it is more likely to be between the two."
)
COLUMNS = (
    "The test groups the rows by the states of the blanket of one of the two variables: its "
    "neighbours in the model. It uses the rows of groups in which both variables vary. Bits: how "
    "much one variable tells about the other per such row, beyond chance. Could show: the weakest "
    "dependence that this test finds with probability 0.8, in bits, and as a common odds ratio "
    "(OR) if both variables have two states. Both p-values are uncorrected; the decisions use "
    "corrected ones."
)
ROWS_MUST = (
    "The rows must be independent observations, and not those that the model was learned from."
)
LEARNED_FROM = (
    "The model was learned from these rows, so they agree with it more than other rows would. "
    "Check it against rows that the learner did not see."
)


@makes_parts("evaluation.claim_tests", "Check")
def check_parts(check: Check, *, top: int = TOP) -> list[Part]:
    """Show which claims of a structure rows contradict, and what else they could have shown."""
    about = LEARNED_FROM if check.learned_from else ROWS_MUST
    head = f"{plural(check.rows, 'row')}, {plural(check.pairs, 'pair')}. {about}"
    parts: list[Part] = [
        Note("verdict", check.verdict),
        Note("rows", head, warns=check.learned_from),
    ]
    if check.overall is not None:
        simulated = plural(len(check.overall.simulated), "simulated data set")
        how = "" if check.overall.exact else " Gibbs sampling drew them, which is not exact."
        text = "Overall test: the sum of -log p over all claims of independence, compared with "
        parts.append(Note("overall", f"{text}{simulated}.{how}"))
    parts += _independencies(check, top)
    if any(claim.dependent for claim in check.claims):
        parts += _dependencies(check, top)
    if check.separations:
        parts += _separations(check, top)
    if any(isinstance(part, Table) for part in parts):
        parts.append(Note("columns", COLUMNS))
    if check.undecided:
        text = (
            f"{plural(len(check.undecided), 'claim')} not decided: too few tables were drawn; "
            "allow more draws."
        )
        parts.append(Note("undecided", text, warns=True))
    if check.left_out:
        left_out = f"{plural(check.left_out, 'region')} with fewer rows not tested."
        parts.append(Note("left out", left_out))
    if check.unfinished:
        late = f"{plural(check.unfinished, 'pair')} not tested within the time limit."
        parts.append(Note("unfinished", late, warns=True))
    return parts


def _independencies(check: Check, top: int) -> Iterator[Part]:
    claims = [c for c in check.claims if not c.dependent]
    untestable = sum(not c.is_testable for c in claims)
    against = check.contradicted
    text = (
        f"Claims of independence: {len(claims):,}. The rows contradict {len(against):,}, do not "
        f"contradict {len(claims) - untestable - len(against):,}, and cannot test {untestable:,} "
        f"(false discovery rate {check.alpha:g})."
    )
    yield Note("finding", text)
    if against and top:
        yield claims_table("Contradicted by the rows, clearest first", against, top)
    if against:
        yield Note("meaning", MEANING)
    weakest = sorted(
        (claim for claim in check.of(False) if claim.adjusted > check.alpha),
        key=lambda claim: -claim.detectable.bits,
    )
    if weakest:
        bits = [claim.detectable.bits for claim in weakest]
        yield Note(
            "power",
            f"A claim that is not contradicted may still be false. With probability 0.8 the rows "
            f"would have contradicted a dependence of {_range_of_bits(bits)}.",
        )
        if top:
            yield claims_table("Not contradicted, weakest test first", weakest, top)


def _separations(check: Check, top: int) -> Iterator[Part]:
    against, count = check.failed_separations, len(check.separations)
    untestable = sum(not c.is_testable for c in check.separations)
    text = (
        f"d-separations of the network, one for each pair without an arc, given the parents of the "
        f"later variable: {count:,}. The rows contradict {len(against):,}, do not contradict "
        f"{count - untestable - len(against):,}, and cannot test {untestable:,} (false discovery "
        f"rate {check.alpha:g} in this family)."
    )
    yield Note("finding", text)
    if against and top:
        yield claims_table("d-separations that the rows contradict, clearest first", against, top)


def _range_of_bits(bits: Sequence[float]) -> str:
    least, middle, most = min(bits), median(bits), max(bits)
    if len(bits) == 1:
        return f"{middle:.2g} bits or more"
    return f"{middle:.2g} bits or more (median of the claims; from {least:.2g} to {most:.2g})"


def _dependencies(check: Check, top: int) -> Iterator[Part]:
    claims = [c for c in check.claims if c.dependent]
    untestable = sum(not c.is_testable for c in claims)
    shown = len(check.shown)
    text = (
        f"Claims of dependence: {len(claims):,}. The rows show a dependence somewhere in the "
        f"regions of {shown:,}, show none in those of {len(claims) - untestable - shown:,} (which "
        f"does not refute them), and cannot test {untestable:,}."
    )
    yield Note("finding", text)
    unseen = [claim for claim in check.of(True) if claim.adjusted > check.alpha]
    if unseen and top:
        most = sorted(unseen, key=lambda claim: -claim.test.rows)
        yield claims_table("No dependence shown, most rows first", most, top)


def claims_table(title: str, claims: Sequence[CheckedClaim], top: int = TOP) -> Table:
    """Show the first ``top`` claims with their tests, one row each."""
    columns: dict[str, Style] = {"pair": "text", "when": "text", "rows used": "text"}
    columns |= {"bits": "bits", "could show": "text"}
    columns |= {"p": "text", "p given both blankets": "text"}
    rows = (
        (
            "–".join(name(quoted(v), 24) for v in claim.pair),
            name(_condition(claim), 48) or "always",
            f"{claim.test.rows:,} of {claim.rows:,}",
            claim.test.bits,
            could_show(claim),
            p_value_text(claim.test),
            p_value_text(claim.both) if claim.given is None else "–",
        )
        for claim in claims[:top]
    )
    more = f" ({top:,} of {len(claims):,})" if len(claims) > top else ""
    return table(f"{title}{more}", columns, rows, "checked claims")


def _condition(claim: CheckedClaim) -> str:
    if claim.given:
        return f"given {', '.join(map(quoted, claim.given))}"
    return in_words(claim.literals)


def could_show(claim: CheckedClaim) -> str:
    bits, odds_ratio = claim.detectable
    ratio = f" (OR {odds_ratio:.2g})" if odds_ratio is not None else ""
    return f"{bits:.2g}{ratio}"


def p_value_text(test: ConditionalTest) -> str:
    if not test.rows:
        return "–"
    return f"{'≤' if test.draws and not test.clear else ''}{test.p_value:.2g}"


# -- groups of replicates ------------------------------------------------------------------------


@makes_parts("evaluation.replicates", "Summary")
def summary_parts(summary: Summary, *, top: int = TOP) -> list[Part]:
    """Show the best group, means, differences and ranks; leave out metrics without values."""
    verdicts = [summary.verdict, *(ranking.verdict for ranking in summary.rankings)]
    metrics = [
        metric
        for metric in summary.metrics
        if any(mean.value.mean is not None for mean in summary.means if mean.metric == metric)
    ]
    parts: list[Part] = [Note("verdict", "\n".join(verdicts)), _means_table(summary, metrics)]
    if summary.differences:
        parts.append(_differences_table(summary, metrics))
    if summary.rankings:
        parts.append(_ranks_table(summary))
    return [*parts, Note("intervals", " ".join(_group_notes(summary, metrics)))]


def _means_table(summary: Summary, metrics: list[str]) -> Table:
    columns: dict[str, Style] = {"group": "name", f"{summary.unit}s": "count"}
    columns |= {metric_label(metric): "text" for metric in metrics}
    rows: list[tuple[Cell, ...]] = []
    for group in summary.groups:
        means = [summary.mean(group, metric) for metric in metrics]
        count = max((mean.count for mean in means), default=0)
        rows.append((group, count, *map(_with_interval, means)))
    title = f"The mean of each group, with its {100 * summary.confidence:g} % interval"
    return table(title, columns, rows, "group means")


def _with_interval(value: Mean) -> str:
    if value.mean is None:
        return "–"
    if value.low is None or value.high is None:
        return rate(value.mean)
    return f"{rate(value.mean)} ({rate(value.low)} to {rate(value.high)})"


def _differences_table(summary: Summary, metrics: list[str]) -> Table:
    titles = ("metric", "groups", "difference", "p", "p after Holm")
    rows = (
        (
            metric_label(difference.metric),
            f"{name(difference.first)} – {name(difference.second)}",
            _with_interval(difference.value),
            _or_dash(difference.p_value),
            _or_dash(difference.adjusted),
        )
        for difference in summary.differences
        if difference.metric in metrics
    )
    how = ", on the same truths" if summary.unit == "truth" else ""
    columns: dict[str, Style] = dict.fromkeys(titles, "text")
    return table(f"Differences between groups{how}", columns, rows, "group differences")


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _ranks_table(summary: Summary) -> Table:
    head = [Column("metric", "text")]
    head += [Column(group, "mean") for group in summary.groups]
    head += [Column("p", "text"), Column("critical difference", "mean")]
    rows: list[tuple[Cell, ...]] = []
    for ranking in summary.rankings:
        by_group = dict(zip(ranking.groups, ranking.ranks, strict=True))
        ranks: list[Cell] = [by_group[group] for group in summary.groups]
        p_value = f"{ranking.p_value:.2g} ({ranking.test})"
        rows.append((metric_label(ranking.metric), *ranks, p_value, ranking.critical_difference))
    truths = plural(max(ranking.truths for ranking in summary.rankings), "truth")
    return Table(f"Mean ranks over {truths}", tuple(head), tuple(rows), "ranks")


def _group_notes(summary: Summary, metrics: list[str]) -> Iterable[str]:
    means = [mean for mean in summary.means if mean.metric in metrics]
    differences = [mean.value for mean in summary.differences if mean.metric in metrics]
    yield f"Intervals: {'; '.join(dict.fromkeys(mean.value.how for mean in means))}."
    if summary.training_share is not None:
        share = f"{100 * summary.training_share:g} %"
        yield f"Each replicate learned from {share} of the same rows; the variances allow for it."
    if any(value.cut for value in (*(mean.value for mean in means), *differences)):
        yield "Intervals are cut where the metric ends."
    if summary.differences and summary.unit == "replicate":
        if summary.paired:
            yield (
                "Differences are paired: the k-th replicates of all groups are taken to be from "
                "the same rows."
            )
        else:
            yield "Differences are not paired: the groups are taken to be from different rows."
    yield from _test_notes(summary)
    undefined = sum(mean.undefined for mean in means)
    if undefined:
        yield f"{plural(undefined, 'undefined value')} left out."
    missing = [metric_label(metric) for metric in summary.metrics if metric not in metrics]
    if missing:
        yield f"Not defined for any group: {', '.join(missing)}."


def _test_notes(summary: Summary) -> Iterable[str]:
    """Explain differences that have no p-value by t."""
    unit, tests = summary.unit, {difference.test for difference in summary.differences}
    if f"too few {unit}s" in tests:
        yield f"Tests need at least two {unit}s in both groups."
    if "exact signs" in tests:
        yield (
            f"If all {unit}s have the same difference, p is exact: how often all signs agree by "
            "chance."
        )
    if "exact permutation" in tests:
        yield (
            f"If the {unit}s of each group are equal, p is exact: how often dealing them to the "
            "groups at random puts the means as far apart."
        )
    if "no spread, overlapping rows" in tests:
        yield f"{unit.capitalize()}s with the same difference and overlapping rows are not tested."


# -- a consensus ----------------------------------------------------------------------------------


def consensus_parts(
    consensus: Consensus, supports: Sequence[ClaimSupport] = (), *, medium: Medium = "command"
) -> list[Part]:
    """Show how near a consensus is to its models, what bounds it, and who supports its claims."""
    half = consensus.threshold == Fraction(1, 2)
    columns: dict[str, Style] = {
        "": "text",
        "sum of distances" if half else "weighted sum of errors": "count",
        "mean normalized distance": "rate",
    }
    exact = "counted" if consensus.majority_is_exact else "estimated"
    majority = "majority" if half else f"vote of {100 * float(consensus.threshold):g} %"
    sums: dict[str, Number] = {
        "consensus": consensus.sum,
        "most typical model": consensus.medoid_sum,
        "lower bound for any structure": consensus.bound,
        f"{majority} of each assertion ({exact})": round(consensus.majority.value),
    }
    each = len(consensus.models) * consensus.total
    rows = [(label, cost, ratio(cost, each) if each else 0.0) for label, cost in sums.items()]
    parts: list[Part] = [
        Note("verdict", consensus.verdict),
        table("How near to all models", columns, rows, "sums"),
    ]
    if supports:
        parts.append(_supports_table(supports))
    return [*parts, *rounding_notes(parts, medium)]


def _supports_table(supports: Sequence[ClaimSupport]) -> Table:
    columns: dict[str, Style] = {"pair": "name", "in the consensus": "text", "when": "text"}
    columns["models with the dependence"] = "text"
    rows = []
    for support in supports:
        low, high = support.throughout, support.somewhere
        rows.append(
            (
                PairName(*support.pair),
                "dependent" if support.dependent else "independent",
                in_words(support.literals) or where(()),
                f"{low if low == high else f'{low} to {high}'} of {support.of}",
            )
        )
    title = "Support of its claims, pairs that depend most first"
    return table(title, columns, rows, "supports")


# -- scores ----------------------------------------------------------------------------------------

SCORED = [key for key in shown_in("score") if MEASURES[key].style == "rate"]
SCORE_LABELS = {
    "kl_true_guess": "KL(true ‖ guess)",
    "kl_guess_true": "KL(guess ‖ true)",
    "jensen_shannon": "JS",
    "total_variation": "TV",
    "log_likelihood": "log-likelihood",
    "pseudo_log_likelihood": "pseudo-ll",
    "cmll": "CMLL",
    "parameters": "parameters",
    "aic": "AIC",
    "bic": "BIC",
    "g_squared": "G²",
    "degrees_of_freedom": "df",
    "p_value": "p of G²",
    **{key: MEASURES[key].label for key in CAUSAL},
}


def scores_parts(
    names: Sequence[str], scores: Sequence[Score], *, medium: Medium = "command"
) -> list[Part]:
    """Return one row per guess with the scores that some guess has, and why others are missing."""
    keys = [key for key in SCORE_LABELS if any(key in score.values for score in scores)]
    columns: dict[str, Style] = {"guess": "name", "features": "count", "length": "mean"}
    causal = [key for key in CAUSAL if any(key in score.record() for score in scores)]
    columns |= {"longest": "count", **measure_columns([*SCORED, *causal])}
    columns |= {SCORE_LABELS[key]: "score" for key in keys}
    labelled = zip(names, scores, strict=True)
    rows = [(label, *_score_cells(score, causal, keys)) for label, score in labelled]
    parts: list[Part] = [table("Scores", columns, rows, "scores")]
    nested = "\n".join(_nested(names, scores))
    parts += [Note("nested", nested)] if nested else []
    reasons = "\n".join(_reasons(names, scores))
    parts += [Note("missing", reasons)] if reasons else []
    return [*parts, *rounding_notes(parts, medium)]


def _score_cells(score: Score, causal: Sequence[str], keys: Sequence[str]) -> Iterator[Cell]:
    counts = score.features
    yield int(counts["features"])
    yield counts["mean_length"]
    yield int(counts["largest_length"])
    yield from measure_cells(score.comparison, [*SCORED, *causal])
    yield from (score.values.get(key) for key in keys)


def _nested(names: Sequence[str], scores: Sequence[Score]) -> Iterator[str]:
    """Test each guess against the larger guesses that contain it."""
    labelled = zip(names, scores, strict=True)
    fitted = [(label, score.fitted) for label, score in labelled if score.fitted]
    for (label, smaller), (other, larger) in permutations(fitted, 2):
        if (smaller.parameters or 0) < (larger.parameters or 0):
            ratio = smaller.nested_in(larger)
            if ratio is not None:
                yield (
                    f"{label} is nested in {other}: G² = {ratio.g_squared:.2f} on "
                    f"{ratio.degrees_of_freedom:,} df, p = {ratio.p_value:.2g}"
                )


def _reasons(names: Sequence[str], scores: Sequence[Score]) -> Iterator[str]:
    """Say why scores are missing, or how they were estimated."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for label, score in zip(names, scores, strict=True):
        reasons: Mapping[str, str] = dict(score.missing) | {
            key: value.how for key, value in score.values.items() if not value.exact
        }
        for key, reason in reasons.items():
            by_reason.setdefault((label, reason), []).append(SCORE_LABELS[key])
    for (label, reason), which in by_reason.items():
        yield f"{label}: {', '.join(which)}: {reason}"


# -- results as they show themselves ---------------------------------------------------------------


@makes_parts("evaluation.consensus_search", "Consensus")
def _consensus(result: Consensus, *, top: int = TOP) -> list[Part]:
    return consensus_parts(result, result.widest_supports(top))


@makes_parts("evaluation.scores", "Score")
def _score(result: Score, *, top: int = TOP) -> list[Part]:
    return scores_parts(["guess"], [result], medium="python")
