"""Every number and every superlative of an output, recomputed from contexts visited one by one.

The functions here share no code with the package: they count by brute force, divide exactly, and
read the texts as a person would.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import unescape
from itertools import combinations, permutations, product
from random import Random
from statistics import fmean
from typing import NamedTuple

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from contextwise import (
    Domain,
    Structure,
    chance,
    check,
    compare,
    compare_many,
    distance_matrix,
    explain,
)
from contextwise.comparison.confusion import MEASURES, shown_in
from contextwise.comparison.error_regions import explain_comparison
from contextwise.comparison.two_models import comparison_record
from contextwise.evaluation import compare_groups, score_ensembles
from contextwise.evaluation.ensembles import Ensemble
from contextwise.report.comparisons import Guess
from contextwise.report.html import as_html
from contextwise.report.page import report_page
from contextwise.report.parts import Entries, Note, Part, Table, cell_text, parts_of
from contextwise.support.formatting import as_json
from contextwise.testing import brute_force_pairs, contexts_of, depends, structures

Pair = tuple[str, str]
Counts = tuple[int, int, int, int]
"""TP, FN, FP, TN."""
FEW = settings(max_examples=40, deadline=None)


@st.composite
def models(draw: st.DrawFn, least: int = 2, most: int = 2) -> list[Structure]:
    """Draw models over few variables with plain names, so that sentences can be read."""
    sizes = draw(st.lists(st.integers(2, 3), min_size=2, max_size=4))
    domain = Domain(dict(zip("ABCD", sizes, strict=False)))
    count = draw(st.integers(least, most))
    return [draw(structures(domain, max_features=4)) for _ in range(count)]


# -- counting and reading --------------------------------------------------------------------------


def by_pair(true: Structure, guess: Structure) -> dict[Pair, Counts]:
    each = brute_force_pairs(true, guess).items()
    return {pair: tuple(int(getattr(c, k)) for k in ("tp", "fn", "fp", "tn")) for pair, c in each}  # type: ignore[misc]


def summed(counts: Iterable[Counts]) -> Counts:
    total = [0, 0, 0, 0]
    for each in counts:
        total = [a + b for a, b in zip(total, each, strict=True)]
    return tuple(total)  # type: ignore[return-value]


def errors(counts: Counts) -> int:
    return counts[1] + counts[2]


def reads_as(text: str, share: Fraction) -> bool:
    """Whether a percentage is this share; 0 and 100 are only none and all."""
    number = text.removesuffix(" %")
    if number == "<0.01":
        return 0 < share < Fraction(1, 10_000)
    if number == ">99.99":
        return Fraction(9_999, 10_000) < share < 1
    if number in ("0", "100"):
        return share == int(number) // 100
    decimals = len(number.partition(".")[2])
    return 0 < share < 1 and abs(Fraction(number) - 100 * share) <= Fraction(1, 2 * 10**decimals)


def reads_as_counted(text: str, part: int, whole: int) -> bool:
    """Whether a share with its counts is right."""
    found = re.fullmatch(r"(.* %) \(([\d,]+) of ([\d,]+)\)", text)
    assert found, text
    assert (number_of(found[2]), number_of(found[3])) == (part, whole)
    return reads_as(found[1], Fraction(part, whole))


def reads_as_rate(text: str, value: float | None) -> bool:
    if value is None:
        return text == "–"
    if text in ("0", "1", "-1"):
        return math.isclose(value, int(text), abs_tol=1e-12)
    return abs(float(text.strip("<>")) - value) <= 6e-5 or abs(float(text) / value - 1) < 0.06


def number_of(text: str) -> int:
    return int(text.replace(",", ""))


def divided(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def measures_of(pairs: Mapping[Pair, Counts]) -> dict[str, float | None]:
    """All measures of a comparison, from their textbook definitions."""
    tp, fn, fp, tn = summed(pairs.values())
    total = tp + fn + fp + tn
    root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    observed = divided(tp + tn, total) or 0.0
    by_chance = divided((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn), total * total) or 0.0
    shares = [errors(counts) / sum(counts) for counts in pairs.values()]
    return {
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "tn": tn,
        **{
            f"{key}_share": divided(count, total)
            for key, count in (("tp", tp), ("fn", fn), ("fp", fp), ("tn", tn))
        },
        "distance": fp + fn,
        "normalized": divided(fp + fn, total),
        "mean_pair_distance": fmean(shares),
        "accuracy": divided(tp + tn, total),
        "precision": divided(tp, tp + fp),
        "recall": divided(tp, tp + fn),
        "f1": divided(2 * tp, 2 * tp + fp + fn),
        "jaccard": divided(tp, tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / root if root else None,
        "kappa": (observed - by_chance) / (1 - by_chance) if by_chance < 1 else None,
        "false_positive_rate": divided(fp, fp + tn),
        "false_negative_rate": divided(fn, fn + tp),
    }


def verdict_of(parts: Sequence[Part]) -> list[str]:
    first = parts[0]
    assert isinstance(first, Note)
    return first.text.splitlines()


def table_of(parts: Iterable[Part], key: str) -> Table:
    (found,) = (part for part in parts if isinstance(part, Table) and part.key == key)
    return found


# -- one comparison --------------------------------------------------------------------------------


def check_verdict(lines: list[str], pairs: Mapping[Pair, Counts]) -> None:
    tp, fn, fp, tn = summed(pairs.values())
    total, wrong = tp + fn + fp + tn, {p: errors(c) for p, c in pairs.items() if errors(c)}
    if not wrong:
        every = "the only assertion" if total == 1 else f"all {total:,} assertions"
        assert lines == [f"The models agree on {every}."]
        return
    found = re.fullmatch(r"(.* %) of all assertions differ \((.*) of (.*)\)(.*)\.", lines.pop(0))
    assert found
    assert reads_as_counted(f"{found[1]} ({found[2]} of {found[3]})", fp + fn, total)
    if fp and fn:
        kinds = re.fullmatch(r": (.* %) false (.*), (.* %) false (.*)", found[4])
        assert kinds
        counts = {"positives": fp, "negatives": fn}
        assert {kinds[2], kinds[4]} == set(counts)
        assert counts[kinds[2]] >= counts[kinds[4]]
        assert reads_as(kinds[1], Fraction(counts[kinds[2]], total))
        assert reads_as(kinds[3], Fraction(counts[kinds[4]], total))
    else:
        assert found[4] == f", all of them false {'positives' if fp else 'negatives'}"
    last = lines.pop()
    kappa = measures_of(pairs)["kappa"]
    rest = " ".join(lines)
    assert "than chance" not in rest
    assert ("Kappa is" in rest) == (kappa is not None)
    if kappa is not None:
        shown = re.search(r"Kappa is (\S+)\.(?: |$)", rest)
        assert shown
        assert abs(float(shown[1]) - kappa) <= max(0.006, 0.06 * abs(kappa))
        assert (shown[1] == "0") == math.isclose(kappa, 0, abs_tol=1e-12)
    named = re.fullmatch(r"(.*) of (.*) pairs? differs?(.*)\.", last)
    assert named
    assert (number_of(named[1]), number_of(named[2])) == (len(wrong), len(pairs))
    if len(wrong) <= 3:
        listed = [tuple(p.split("–")) for p in re.split(", | and ", named[3].removeprefix(": "))]
        assert sorted(listed) == sorted(wrong)
        assert [wrong[p] for p in listed] == sorted(wrong.values(), reverse=True)
    else:
        everywhere = sum(count == sum(pairs[pair]) for pair, count in wrong.items())
        words = f", {everywhere:,} of them in every context" if everywhere else ""
        assert named[3] == words


def check_measures(parts: Sequence[Part], pairs: Mapping[Pair, Counts]) -> None:
    expected = measures_of(pairs)
    (entries,) = (part for part in parts if isinstance(part, Entries))
    shown = {entry.key: entry for group in entries.groups for entry in group}
    assert expected.keys() - shown.keys() == {
        key for key in expected if key[:2] in ("tp", "fn", "fp", "tn")
    }
    for key, entry in shown.items():
        if key == "distance":
            assert entry.value == expected[key]
        else:
            text = cell_text(entry.value, entry.style)
            assert reads_as_rate(text, expected[key]), (key, text)


def check_worst(table: Table, pairs: Mapping[Pair, Counts], most: int) -> None:
    wrong = {pair: errors(counts) for pair, counts in pairs.items() if errors(counts)}
    rows = [[*row[0].split(" – "), *row[1:]] for row in table.texts()]
    shown = [(row[0], row[1]) for row in rows]
    assert len(shown) == min(most, len(wrong))
    assert [wrong[p] for p in shown] == sorted(wrong.values(), reverse=True)[: len(shown)]
    for pair, (_, _, differs, fn, fp, of_all) in zip(shown, rows, strict=True):
        counts = pairs[pair]
        assert reads_as_counted(differs, errors(counts), sum(counts))
        assert reads_as(fn, Fraction(counts[1], sum(counts)))
        assert reads_as(fp, Fraction(counts[2], sum(counts)))
        assert reads_as(of_all, Fraction(errors(counts), sum(wrong.values())))
    cut = len(shown) < len(wrong)
    assert table.title.startswith("All pairs that differ") != cut
    if cut:
        assert f"of the {len(wrong)} pairs that differ" in table.title


@FEW
@given(models())
def test_a_comparison(pair: list[Structure]) -> None:
    expected = by_pair(*pair)
    comparison = compare(*pair)
    for most in (10, 2):
        parts = parts_of(comparison, top=most)
        check_verdict(verdict_of(parts), expected)
        check_measures(parts, expected)
        (tp, fn), (fp, tn) = (row[1:] for row in table_of(parts, "confusion").texts())
        total = sum(summed(expected.values()))
        for text, count in zip((tp, fn, fp, tn), summed(expected.values()), strict=True):
            assert reads_as_counted(text, count, total)
        worst = [part for part in parts if isinstance(part, Table) and part.key == "worst pairs"]
        assert bool(worst) == bool(comparison.distance)
        for table in worst:
            check_worst(table, expected, most)


@FEW
@given(models())
def test_the_json_of_a_comparison(pair: list[Structure]) -> None:
    expected = measures_of(by_pair(*pair))
    record = json.loads(as_json(comparison_record(compare(*pair))))
    for key, value in expected.items():
        assert record[key] == (value if value is None else pytest.approx(value, abs=1e-12)), key
    assert record["distance_lower"] == record["distance_upper"] == expected["distance"]


@settings(max_examples=10, deadline=None)
@given(models(3, 4))
def test_the_page(several: list[Structure]) -> None:
    """The page states the verdicts and the cells that `test_a_comparison` checks."""
    true, *guesses = several
    compared = [Guess(f"g{k}", compare(true, guess)) for k, guess in enumerate(guesses)]
    page = report_page("true", compared)
    for guess in compared:
        check_page(page, parts_of(guess.comparison, top=10))


def check_page(page: str, parts: Sequence[Part]) -> None:
    """Check that a page states a verdict and all cells of the tables, as they are."""
    text = unescape(re.sub(r"<(script|style).*?</\1>|<br>|<[^>]*>", "\n", page, flags=re.DOTALL))
    lines = set(map(str.strip, text.splitlines()))
    assert lines.issuperset(verdict_of(parts))
    for part in parts:
        if isinstance(part, Table):
            assert lines.issuperset(cell for row in part.texts() for cell in row if cell)


# -- several models --------------------------------------------------------------------------------


def check_extremes(lines: list[str], shares: Mapping[str, Fraction]) -> None:
    """The nearest and the farthest, all of them where they tie."""
    least, most = min(shares.values()), max(shares.values())
    if least == most:
        found = re.fullmatch(r"All (\d+) guesses are equally near: (.* %) of all .*", lines[0])
        assert found
        assert int(found[1]) == len(shares)
        assert reads_as(found[2], least)
        return
    for line, extreme, word in zip(lines, (least, most), ("nearest", "farthest"), strict=True):
        found = re.fullmatch(rf"(.*) (is|are) {word}(?: to the true model)?: ([^ ]+ %).*\.", line)
        assert found
        named = re.split(", | and ", found[1])
        assert sorted(named) == sorted(name for name, share in shares.items() if share == extreme)
        assert (found[2] == "is") == (len(named) == 1)
        assert reads_as(found[3], extreme)


@FEW
@given(models(3, 5))
def test_several_guesses(several: list[Structure]) -> None:
    true, *guesses = several
    names = [f"g{k}" for k in range(len(guesses))]
    expected = {name: by_pair(true, guess) for name, guess in zip(names, guesses, strict=True)}
    parts = parts_of(compare_many(true, dict(zip(names, guesses, strict=True))))
    totals = {name: summed(pairs.values()) for name, pairs in expected.items()}
    check_extremes(
        verdict_of(parts), {name: Fraction(errors(c), sum(c)) for name, c in totals.items()}
    )
    table = table_of(parts, "guesses")
    rates = [key for key in shown_in("guesses") if key not in ("normalized", "fn", "fp")]
    for row in table.texts():
        cells = dict(zip((column.title for column in table.columns), row, strict=True))
        name = cells["guess"]
        counts = totals[name]
        assert number_of(cells["features"]) == len(guesses[names.index(name)])
        assert reads_as_counted(cells["normalized distance"], errors(counts), sum(counts))
        assert reads_as(cells["FN"], Fraction(counts[1], sum(counts)))
        assert reads_as(cells["FP"], Fraction(counts[2], sum(counts)))
        for key in rates:
            assert reads_as_rate(cells[MEASURES[key].label], measures_of(expected[name])[key])


@FEW
@given(models(3, 5))
def test_a_matrix(several: list[Structure]) -> None:
    names = [f"m{k}" for k in range(len(several))]
    apart = {
        (a, b): errors(summed(by_pair(several[a], several[b]).values()))
        for a, b in combinations(range(len(several)), 2)
    }
    total = sum(summed(by_pair(several[0], several[0]).values()))
    parts = parts_of(distance_matrix(several, names=names))
    for k, row in enumerate(table_of(parts, "matrix").texts()):
        cells = [number_of(cell) for cell in row[2:]]
        assert cells == [0 if k == m else apart[min(k, m), max(k, m)] for m in range(len(names))]
    lines = verdict_of(parts)
    if len(set(apart.values())) == 1:
        found = re.search(r"All pairs of models are equally far apart: ([^ ]+ %)", lines[0])
        assert found
        assert reads_as(found[1], Fraction(apart[0, 1], total))
        return
    *lines, medoid = lines
    sums = [sum(d for pair, d in apart.items() if k in pair) for k in range(len(names))]
    found = re.fullmatch(
        r"The medoid is (\S+): the sum of its distances to the others is the smallest"
        r"(?: \(tied with (\d+) other models?\))?\.",
        medoid,
    )
    assert found
    assert sums[names.index(found[1])] == min(sums)
    assert int(found[2] or 0) == sums.count(min(sums)) - 1
    for line, word, extreme in zip(
        lines, ("nearest", "farthest"), (min(apart.values()), max(apart.values())), strict=True
    ):
        found = re.fullmatch(
            rf"(\S+) and (\S+) are {word}: they differ in ([^ ]+ %) of all assertions"
            r"(?: \(tied with (\d+) other pairs?\))?\.",
            line,
        )
        assert found
        assert apart[names.index(found[1]), names.index(found[2])] == extreme
        assert reads_as(found[3], Fraction(extreme, total))
        assert int(found[4] or 0) == list(apart.values()).count(extreme) - 1


@settings(max_examples=25, deadline=None)
@given(models(3, 3), st.integers(2, 4), st.randoms(use_true_random=False))
def test_groups_of_guesses(several: list[Structure], count: int, random: object) -> None:
    """The best group has the best exact mean, and "better" means a smaller one."""
    true, *guesses = several
    pool = [*guesses, true]
    groups = {
        name: [random.choice(pool) for _ in range(count)]  # type: ignore[attr-defined]
        for name in ("one", "two", "three")
    }
    found = compare_groups(
        {name: [compare(true, guess) for guess in members] for name, members in groups.items()}
    )
    shares = {
        name: [
            Fraction(errors(c), sum(c))
            for c in (summed(by_pair(true, guess).values()) for guess in members)
        ]
        for name, members in groups.items()
    }
    means = {name: sum(values) / count for name, values in shares.items()}
    best = sorted(name for name, mean in means.items() if mean == min(means.values()))
    lead = re.match(r"(.*?) (is|are) (nearest|equally near) to the truth", found.verdict)
    assert lead
    assert sorted(re.split(", | and ", lead[1])) == best
    for clause in re.finditer(r"(\w+) is better than ([^.;]*)", found.verdict):
        others = re.findall(r"(\w+) \(p [=<] ([\d.]+)\)", clause[2])
        assert others
        for other, p_value in others:
            assert means[clause[1]] < means[other]
            assert float(p_value) <= found.level


# -- ensembles -------------------------------------------------------------------------------------


def assertions_of(model: Structure) -> list[bool]:
    """Whether each pair depends in each of its contexts."""
    return [
        depends(model, pair, context)
        for pair in combinations(model.domain.names, 2)
        for context in contexts_of(model.domain, pair)
    ]


def differing(first: Sequence[bool], second: Sequence[bool]) -> int:
    return sum(a != b for a, b in zip(first, second, strict=True))


class Beliefs(NamedTuple):
    """The probability of each assertion, and the variance of its estimate from draws."""

    probabilities: list[Fraction]
    variances: list[Fraction]


def beliefs_of(ensemble: Ensemble) -> Beliefs:
    answers = {model: assertions_of(model) for model in ensemble.distinct}
    count = len(next(iter(answers.values())))
    thetas = [
        sum((w for model, w in ensemble.distinct.items() if answers[model][k]), start=Fraction(0))
        for k in range(count)
    ]
    others = (ensemble.draws or 1) - 1
    return Beliefs(thetas, [t * (1 - t) / others if others else Fraction(0) for t in thetas])


def mean_of(values: Iterable[Fraction]) -> Fraction:
    listed = list(values)
    return sum(listed, start=Fraction(0)) / len(listed)


@st.composite
def ensembles(draw: st.DrawFn, members: Sequence[Structure]) -> Ensemble:
    """Draw an ensemble of some structures: draws, or structures with weights."""
    if draw(st.booleans()):
        return Ensemble(draw(st.lists(st.sampled_from(members), min_size=1, max_size=5)))
    weights = draw(st.lists(st.integers(1, 4), min_size=len(members), max_size=len(members)))
    return Ensemble(members, [Fraction(weight, sum(weights)) for weight in weights])


@settings(max_examples=25, deadline=None)
@given(models(3, 4), st.data())
def test_scores_of_ensembles(several: list[Structure], data: st.DataObject) -> None:
    """The Brier score and the expected distance by their definitions, and who is best by them."""
    true, *members = several
    guesses: dict[str, Ensemble | Structure] = {"single": members[0]}
    guesses |= {f"e{k}": data.draw(ensembles(members)) for k in range(data.draw(st.integers(0, 2)))}
    scores = score_ensembles(true, guesses)
    answers = assertions_of(true)
    brier, expected = {}, {}
    for name, guess in guesses.items():
        theta, variance = beliefs_of(guess if isinstance(guess, Ensemble) else Ensemble([guess]))
        pairs = list(zip(theta, answers, strict=True))
        brier[name] = mean_of((t - y) ** 2 for t, y in pairs) - mean_of(variance)
        expected[name] = mean_of(t * (1 - y) + (1 - t) * y for t, y in pairs)
    columns, rows = table_of(parts_of(scores), "ensembles").columns, {}
    for row in table_of(parts_of(scores), "ensembles").texts():
        rows[row[0]] = dict(zip((column.title for column in columns), row, strict=True))
    for each in scores:
        assert (each.brier, each.expected_distance) == (brier[each.name], expected[each.name])
        assert reads_as_rate(rows[each.name]["Brier score"], float(each.brier))
        assert reads_as_rate(rows[each.name]["expected distance"], float(each.expected_distance))
    check_best(scores.verdict, brier, expected)
    for record in json.loads(as_json(scores.records())):
        name = record["guess"]
        for key, value in (("brier", brier[name]), ("expected_distance", expected[name])):
            assert record[key] == float(value)
            assert Fraction(record[f"{key}_sum"]) == value * len(answers)
        assert record["assertions"] == len(answers)
    check_page(as_html(parts_of(scores)), parts_of(scores))


def check_best(
    verdict: str, brier: Mapping[str, Fraction], expected: Mapping[str, Fraction]
) -> None:
    if len(brier) == 1:
        found = re.fullmatch(r"single has the Brier score (.*) and the .* distance (.*)\.", verdict)
        assert found
        assert reads_as_rate(found[1], float(brier["single"]))
        assert reads_as_rate(found[2], float(expected["single"]))
        return
    best = {name for name, value in brier.items() if value == min(brier.values())}
    said = re.fullmatch(r"(.*) (?:is best|are equally good) by the Brier score \((.*)\)\.", verdict)
    assert said
    assert set(re.split(", | and ", said[1])) == best
    assert ("equally" in verdict) == (len(best) > 1)
    assert reads_as_rate(said[2], float(min(brier.values())))


# -- an explanation --------------------------------------------------------------------------------


def matches(literals: Iterable[object], context: Mapping[str, str]) -> bool:
    return all(
        (context[literal.variable] in literal.states) != literal.negated  # type: ignore[attr-defined]
        for literal in literals
        if literal.variable in context  # type: ignore[attr-defined]
    )


@FEW
@given(models())
def test_an_explanation(pair: list[Structure]) -> None:
    true, guess = pair
    expected = by_pair(true, guess)
    assume(any(map(errors, expected.values())))
    explanation = explain(true, guess)
    wrong = {p: errors(c) for p, c in expected.items() if errors(c)}
    assert [p.errors for p in explanation.pairs] == sorted(wrong.values(), reverse=True)[:10]
    order = [names for names, _ in explanation.comparison.worst_pairs(10)]
    assert [p.pair for p in explanation.pairs] == order
    table = table_of(parts_of(explanation), "pairs")
    rows = iter(table.texts())
    for part in explanation.pairs:
        contexts = list(contexts_of(true.domain, part.pair))
        for place, region in enumerate(part.regions):
            name, differs, kind, share, _ = next(rows)
            if not place:
                assert tuple(name.split(" – ")) == part.pair
                assert reads_as(differs, Fraction(wrong[part.pair], len(contexts)))
            inside = [c for c in contexts if matches(region.region, c)]
            assert reads_as(share, Fraction(len(inside), len(contexts)))
            for context in inside:
                in_true, in_guess = (depends(m, part.pair, context) for m in (true, guess))
                assert (in_true, in_guess) == (kind == "only in true", kind == "only in guess")
        if part.rest:
            assert reads_as(next(rows)[3], Fraction(part.rest, len(contexts)))
        assert part.rest + sum(region.size for region in part.regions) == wrong[part.pair]
    for feature in explanation.features:
        check_feature(feature, true, guess)


def check_feature(feature: object, true: Structure, guess: Structure) -> None:
    """The errors in the contexts where a feature holds, counted one by one."""
    other = true if feature.only_in == "guess" else guess  # type: ignore[attr-defined]
    takes_part = sum(
        matches(feature.literals, context) and not depends(other, pair, context)  # type: ignore[attr-defined]
        for pair in combinations(feature.scope, 2)  # type: ignore[attr-defined]
        for context in contexts_of(true.domain, pair)
    )
    assert takes_part == feature.takes_part  # type: ignore[attr-defined]


@settings(max_examples=150, deadline=None)
@given(models(), st.integers(1, 3))
def test_fewer_features_are_the_worst_of_all(pair: list[Structure], top: int) -> None:
    everything = explain_comparison(compare(*pair), top=100)
    cut = explain_comparison(compare(*pair), top=top)
    ranked = [feature.takes_part for feature in everything.features]
    assert [feature.takes_part for feature in cut.features] == ranked[:top]


# -- chance, and rows ------------------------------------------------------------------------------


def relabelled(model: Structure) -> list[Structure]:
    """Exchange the variables of a model, all with two states, and the states, in every way."""
    names = model.domain.names
    found = []
    for places in permutations(names):
        moved = dict(zip(names, places, strict=True))
        for flips in product((False, True), repeat=len(names)):
            flipped = dict(zip(names, flips, strict=True))
            turn = {name: {"0": "1", "1": "0"} if flipped[name] else {} for name in names}
            found.append(
                Structure(
                    model.domain,
                    [
                        {moved[v]: [turn[v].get(k, k) for k in states] for v, states in f.items()}
                        for f in model
                    ],
                )
            )
    return found


THREE = Domain(dict.fromkeys("ABC", 2))


@settings(max_examples=30, deadline=None)
@given(structures(THREE, max_features=3), structures(THREE, max_features=3))
@example(Structure(THREE, ["A=0 & B=0 & C=1"]), Structure(THREE, ["A=0 & B=0 & C=0"]))
def test_chance(true: Structure, guess: Structure) -> None:
    """The expectation from all relabellings; p and the words from the distances of the draws."""
    found = chance(true, guess, draws=39, seed=0)
    answers = assertions_of(true)
    distance = differing(answers, assertions_of(guess))
    every = [differing(answers, assertions_of(other)) for other in relabelled(guess)]
    expected = mean_of(map(Fraction, every))
    record = json.loads(as_json(found.record()))
    assert Fraction(record["expected"]) == expected
    assert {*found.distances} <= {*every}
    nearer = sum(each < distance for each in found.distances)
    as_near = sum(each == distance for each in found.distances)
    verdict = found.verdict
    assert verdict == record["verdict"] == verdict_of(parts_of(found))[0]
    check_page(as_html(parts_of(found)), parts_of(found))
    if distance == 0:
        assert verdict == "The guess makes exactly the claims of the true model."
        return
    assert (record["draws_nearer"], record["draws_as_near"]) == (nearer, as_near)
    assert record["skill"] == pytest.approx(float(1 - distance / expected))
    p = (1 + nearer + as_near) / 40
    assert record["p_value"] == pytest.approx(p)
    assert f"(p = {p:.2g})" in verdict or "worse than chance" in verdict
    assert ("as the best draws" in verdict) == (nearer == 0 and 0.05 < p < 1)
    assert ("is better than chance" in verdict) == (p <= 0.05)


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Yekutieli: the smallest rate at which each test is significant."""
    count = len(p_values)
    factor = count * sum(1 / k for k in range(1, count + 1))
    rates = [p * factor / sum(other <= p for other in p_values) for p in p_values]
    least = [min(r for r, q in zip(rates, p_values, strict=True) if q >= p) for p in p_values]
    return [min(1.0, rate) for rate in least]


@settings(max_examples=15, deadline=None)
@given(structures(THREE, max_features=3), st.integers(0, 99))
def test_a_check(model: Structure, seed: int) -> None:
    """The rows of the claims, the decisions and every count of the sentences."""
    random = Random(seed)
    starts = [random.choice("01") for _ in range(60)]
    rows = [(a, a if random.random() < 0.8 else "0", random.choice("01")) for a in starts]
    found = check(model, rows, seed=0)
    records = json.loads(as_json(found.records()))
    for pair in combinations("ABC", 2):
        for dependent in (False, True):
            wanted = [
                depends(
                    model, pair, {v: k for v, k in zip("ABC", row, strict=True) if v not in pair}
                )
                == dependent
                for row in rows
            ]
            ours = [
                record["rows"]
                for record in records
                if (record["first"], record["second"]) == pair
                and (record["claim"] == "dependent") == dependent
            ]
            assert sum(ours) == sum(wanted)
    text = " ".join(part.text for part in parts_of(found) if isinstance(part, Note))
    assert text.startswith(found.verdict)
    assert "60 rows." in text
    said = []
    for kind, noun, verb, shows in (
        ("independent", "independence", "contradict", "contradicted"),
        ("dependent", "dependence", "support", "supported"),
    ):
        ours = [r for r in records if r["claim"] == kind]
        informed = [r for r in ours if r["p"] is not None]
        rates = adjusted([r["p"] for r in informed])
        for record, rate in zip(informed, rates, strict=True):
            assert record["adjusted"] == pytest.approx(rate)
            assert (record["verdict"] == shows) == (rate <= 0.05)
        assert all(r["verdict"] == "could not be tested" for r in ours if r["p"] is None)
        tested = [r for r in ours if r["verdict"] != "could not be tested"]
        shown = sum(r["verdict"] == shows for r in tested)
        if len(tested) == 1:
            said.append(f"{'' if shown else 'do not '}{verb} the claim of {noun}")
        elif tested:
            said.append(f"{verb} {shown or 'none'} of {len(tested)} claims of {noun}")
    reasons = [r["reason"] for r in records if r["verdict"] == "could not be tested"]
    claims = f"{len(reasons)} claim{'s' * (len(reasons) > 1)}"
    verdict = f"The 60 rows {' and '.join(said)}."
    if not said:
        verdict = f"The 60 rows cannot test any of {claims}."
    elif reasons:
        verdict += f" {claims} could not be tested."
    assert found.verdict == verdict
    for reason in set(reasons):
        assert f"{reason} ({reasons.count(reason)})" in text
    check_page(as_html(parts_of(found)), parts_of(found))
