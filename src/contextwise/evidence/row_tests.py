"""What do rows show about each pair of variables, given all others? `RowTests` answers.

For a pair a, b and the other variables R, two logits are fitted, a given R and b given R. If a and
b are independent given R, the products of both residuals sum to zero on average::

    S = sum over rows of  weight · (a - p(a|R)) ⊗ (b - p(b|R))

It is enough that one of both logits is right, and small errors of both matter only by their
product. No structure and no split of the rows enters, so the same rows give the same verdict about
a pair, whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np

from contextwise.data.rows import Data, DataLike, as_data
from contextwise.errors import DomainError
from contextwise.evidence.coded_rows import CodedRows, code_rows
from contextwise.evidence.context_search import Contexts
from contextwise.evidence.independence_test import check_level
from contextwise.evidence.logits import contrasts
from contextwise.evidence.pair_effects import MOST_SHARES, effects_of
from contextwise.evidence.pair_records import (
    Interaction,
    InteractionVerdict,
    PairEffect,
    PairEvidence,
    PairsTested,
    Settings,
    Verdict,
)
from contextwise.evidence.partial_v import strength_given_others
from contextwise.evidence.residual_products import compare_products
from contextwise.evidence.same_association import compare_associations
from contextwise.evidence.variable_fits import Fits, columns_to_hold
from contextwise.models.domain import Assignment, value_sets_of
from contextwise.models.notation import Literal as Literals
from contextwise.models.notation import quoted
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import QUIET, Effort
from contextwise.support.formatting import plural
from contextwise.support.statistics import holm

Pair = tuple[str, str]
STRONG = 0.3
"""A test that finds only a stronger partial V says too little."""
FEWEST_ROWS, FEW_ROWS = 10, 20
"""Rows that can be tested; rows of each state that the interval of V needs."""
FEWEST_SUBJECTS = 5
MOST_OUTCOME_STATES = 100
MOST_WITH_EFFECTS = 60
"""Pairs above which only those of the outcome, and those with a small p, have effects."""
FEW_SHARES = 40
"""Cells of a pair above which it has no shares unless it is of the outcome."""
MOST_WORK = 4e10
"""Additions of the search of contexts, above which only the outcome's pairs are searched."""


class RowTests:
    """The rows of a table, and the logits that all its tests share.

    Parameters
    ----------
    data : Data, or anything that `contextwise.read_data` reads
        Counted rows stay counted. If it has ``subjects``, all tests compare subjects.
    weights : array, optional
        A survey weight per row of ``data.rows``, for each of the observations the row stands for.
    weights_name : the column of the weights, for the settings
    ordered : names of variables to treat as ordered, besides those that are known to be
        ``"pain=none|mild|strong"`` also gives the order of the states.
    level : of the verdicts
    seed : of the draws for small tables

    Examples
    --------
    >>> from contextwise.data import read_data
    >>> tests = RowTests(read_data("berkeley"))
    >>> print(tests.pairs(outcome="Admit").pairs[0].pair)
    ('Admit', 'Dept')
    """

    def __init__(
        self,
        data: DataLike,
        *,
        weights: FloatArray | None = None,
        weights_name: str | None = None,
        ordered: Sequence[str] = (),
        level: float = 0.05,
        seed: int = 0,
    ) -> None:
        data = as_data(data)
        self.data, self.level, self.seed = data, check_level(level), seed
        self.weights = data.row_weights if weights is None else weights
        self.weights_name = weights_name or data.decisions.get("row_weights")
        self.asked = tuple(ordered) or tuple(data.decisions.get("ordered", ()))
        self.coding = code_rows(data, self.weights, self.asked)
        self.rows = self.coding.rows
        if data.subjects is not None:
            _check_subjects(data, data.subjects)

    # -- all pairs ---------------------------------------------------------------------------------

    def pairs(
        self,
        *,
        outcome: str | None = None,
        pairs: Sequence[Pair] | None = None,
        effects: bool = True,
        effort: Effort = QUIET,
    ) -> PairsTested:
        """Test pairs given all other variables; all pairs by default.

        The pairs of the outcome are corrected among themselves, and so are the others. At a time
        limit or Ctrl-C the pairs done are returned, with `PairsTested.unfinished`.
        """
        if outcome is not None:
            self._check_outcome(outcome)
        chosen = self._chosen(pairs, outcome)
        searched = self._searched(chosen, outcome)
        fits = _Tester(self.rows, self.seed, self.level)
        done: list[PairEvidence] = []
        with effort.showing("pairs") as shown:
            try:
                for number, (a, b) in enumerate(chosen):
                    effort.deadline.check()
                    is_of_outcome = outcome in (self.rows.names[a], self.rows.names[b])
                    contexts = searched == "all pairs" or (searched != "no pair" and is_of_outcome)
                    one = fits.tested(a, b, None, contexts)
                    few = len(chosen) <= MOST_WITH_EFFECTS or is_of_outcome
                    if effects and (few or (one.p or 0.0) <= self.level):
                        one = replace(one, effects=fits.effects(a, b, outcome))
                    done.append(one)
                    shown.report(number + 1, len(chosen))
            except effort.deadline.out_of_time:
                pass
            except KeyboardInterrupt:
                pass
        families = self._families(chosen, done, outcome)
        judged = [each for part in families for each in corrected(*part, self.level)]
        judged.sort(key=lambda e: (outcome not in e.pair, 2.0 if e.p is None else e.p))
        settings = self._settings(outcome, fits, searched)
        return PairsTested(settings, tuple(judged), len(chosen) - len(done))

    def _chosen(self, pairs: Sequence[Pair] | None, outcome: str | None) -> list[tuple[int, int]]:
        """Return the positions of the pairs, those of the outcome first."""
        if pairs is None:
            chosen = list(combinations(range(len(self.rows.names)), 2))
        else:
            names = set(self.rows.names)
            chosen = [
                (self._place(a), self._place(b)) for a, b in pairs if a in names and b in names
            ]
        return sorted(chosen, key=lambda p: outcome not in [self.rows.names[v] for v in p])

    def _place(self, name: str) -> int:
        self.data.domain.position(name)  # raises if there is no such variable
        if name not in self.rows.names:
            raise DomainError(f"{quoted(name)} has one state in these rows, so nothing can vary")
        return self.rows.names.index(name)

    def _check_outcome(self, outcome: str) -> None:
        states = len(self.data.domain.states[self.data.domain.position(outcome)])
        if states > MOST_OUTCOME_STATES:
            raise DomainError(
                f"the outcome {quoted(outcome)} has {states:,} states; cut numbers into bins with "
                f"--bins {quoted(outcome)}=4, or choose another outcome"
            )
        if outcome not in self.rows.names:
            raise DomainError(
                f"the outcome {quoted(outcome)} has one state in these rows, so nothing can be "
                "associated with it; choose another outcome"
            )

    def _searched(
        self, chosen: Sequence[tuple[int, int]], outcome: str | None
    ) -> Literal["all pairs", "pairs of the outcome", "no pair"]:
        """Decide for which pairs contexts are searched, by the cost."""
        rows = self.rows
        widths = np.where(rows.ordered & (rows.cards > 2), 1, np.minimum(rows.cards - 1, 3))
        square = widths * (widths + 1) / 2
        per_row = float(rows.cards.sum())
        cost = sum(
            len(rows.counts) * per_row * (widths[a] * widths[b] + square[a] * square[b])
            for a, b in chosen
        )
        if cost <= MOST_WORK:
            return "all pairs"
        return "no pair" if outcome is None else "pairs of the outcome"

    def _families(
        self, chosen: Sequence[tuple[int, int]], done: Sequence[PairEvidence], outcome: str | None
    ) -> list[tuple[list[PairEvidence], str, int]]:
        """Split what was tested into families, each with its name and full size."""
        if outcome is None:
            return [(list(done), "1 pair" if len(chosen) == 1 else "all pairs", len(chosen))]
        place = self._place(outcome)
        size = sum(place in pair for pair in chosen)
        inside = [each for each in done if outcome in each.pair]
        rest = [each for each in done if outcome not in each.pair]
        name = f"pairs with {outcome}"
        return [(inside, name, size), (rest, "the other pairs", len(chosen) - size)]

    def _settings(self, outcome: str | None, fits: _Tester, searched: Any) -> Settings:
        rows, coding = self.rows, self.coding
        subject = None
        if rows.clusters is not None:
            subject = self.data.decisions.get("subject") or "subject"
        return Settings(
            rows=round(rows.total),
            distinct=len(rows.counts),
            level=self.level,
            outcome=outcome,
            ordered=coding.ordered,
            maybe_ordered=coding.maybe_ordered,
            weights=self.weights_name or (None if self.weights is None else "weights"),
            subject=subject,
            clusters=None if rows.clusters is None else int(rows.clusters.max()) + 1,
            folded=coding.folded,
            constant=coding.constant,
            products=fits.product_count,
            contexts=searched,
            seed=self.seed,
        )

    # -- single questions --------------------------------------------------------------------------

    def given(
        self,
        pair: Pair,
        given: Sequence[str] | None = None,
        where: Assignment | Sequence[Literals] | None = None,
        *,
        effects: bool = True,
        contexts: bool = True,
    ) -> PairEvidence:
        """Test a pair given some variables (all others by default), in a region of contexts.

        ``where`` selects rows, such as ``"sex=f & age=old|young"``. ``contexts`` also looks for
        associations that differ by a third variable of ``given``. The p-value is not corrected:
        `corrected` does it for several.
        """
        for name in (*pair, *(given or ())):
            self.data.domain.position(name)
        rows = self._rows_where(where)
        names = rows.names
        if not {*pair} <= {*names} or rows.total < FEWEST_ROWS:
            rows_text = plural(round(rows.total), "row")
            lacking = [name for name in pair if name not in names]
            reason = f"{quoted(lacking[0])} does not vary there" if lacking else rows_text
            return PairEvidence(
                pair, "could not be tested", None, None, "1 pair", reason, rows=rows.total
            )
        held = [n for n in names if n not in pair and (given is None or n in given)]
        part = rows.only([names.index(name) for name in (*pair, *held)])
        tester = _Tester(part, self.seed, self.level)
        tested = tester.tested(0, 1, None, contexts)
        if effects:
            tested = replace(tested, effects=tester.effects(0, 1, None))
        return corrected([tested], "1 pair", 1, self.level)[0]

    def same(
        self,
        pair: Pair,
        by: str,
        given: Sequence[str] | None = None,
        where: Assignment | Sequence[Literals] | None = None,
        *,
        outcome: str | None = None,
        effects: bool = True,
    ) -> Interaction:
        """Test that the association of a pair is the same in all states of ``by``.

        The test is symmetric in the two variables; each state of ``by`` has its own main effects.
        The p-value is not corrected. Effects within states are those on ``outcome``, if it is in
        the pair, else on the variable with fewer states.
        """
        if by in pair:
            raise DomainError(f"{quoted(by)} is one of the pair; choose a third variable")
        rows = self._rows_where(where)
        for name in (*pair, by, *(given or ())):
            self.data.domain.position(name)
        if lacking := [name for name in (*pair, by) if name not in rows.names]:
            reason = f"{quoted(lacking[0])} does not vary there"
            unknown = Interaction(pair, by, "could not be tested", None, None, "1 test")
            return replace(unknown, reason=reason)
        others = (n for n in rows.names if n not in (*pair, by))
        held = [n for n in others if given is None or n in given]
        part = rows.only([rows.names.index(name) for name in (*pair, by, *held)])
        of = pair.index(outcome) if outcome in pair else None
        tested = compare_associations(part, 0, 1, 2, of=of, effects=effects, level=self.level)
        return _corrected_interactions([tested], "1 test", 1, self.level)[0]

    def interactions(
        self,
        questions: Sequence[tuple[Pair, str]],
        family: str,
        *,
        outcome: str | None = None,
        effects: bool = True,
        effort: Effort = QUIET,
    ) -> tuple[Interaction, ...]:
        """Ask `same` for several pairs and third variables, corrected as one family by Holm.

        "Does colour by year matter for release" and "year by colour" are one question: three
        variables have one test and one p-value, whichever of them is ``by``. At a time limit or
        Ctrl-C the answers found are returned, corrected for all questions.
        """
        found: list[Interaction] = []
        asked: dict[frozenset[str], list[tuple[Pair, str]]] = {}
        for pair, by in questions:
            asked.setdefault(frozenset((*pair, by)), []).append((pair, by))
        with effort.showing("interactions") as shown:
            try:
                for number, forms in enumerate(asked.values()):
                    effort.deadline.check()
                    found += self._one_question(forms, outcome, effects)
                    shown.report(number + 1, len(asked))
            except effort.deadline.out_of_time:
                pass
            except KeyboardInterrupt:
                pass
        return _corrected_interactions(found, family, len(asked), self.level)

    def _one_question(
        self, forms: Sequence[tuple[Pair, str]], outcome: str | None, effects: bool
    ) -> list[Interaction]:
        """Answer several forms of one question with the p-value of that with most states."""
        states = dict(zip(self.rows.names, self.rows.cards.tolist(), strict=True))
        ranked = sorted(forms, key=lambda form: (-states.get(form[1], 0), form[1]))
        first = self.same(*ranked[0], outcome=outcome, effects=effects)
        shown = effects and first.p is not None and first.p <= self.level
        answers = [first]
        for pair, by in ranked[1:]:
            other = self.same(pair, by, outcome=outcome, effects=shown)
            if other.p is not None or first.p is not None:
                other = replace(
                    other,
                    p=first.p,
                    freedom=first.freedom,
                    method=first.method,
                    reason=first.reason,
                )
            answers.append(other)
        return answers

    def _rows_where(self, where: Assignment | Sequence[Literals] | None) -> CodedRows:
        """Return the rows of a region, without variables that do not vary there."""
        if not where:
            return self.rows
        inside = self._mask(where)
        if not inside.any():
            return replace(self.rows, names=(), counts=np.zeros(1))
        data = self.data
        part = replace(
            data,
            rows=data.rows[inside],
            multiplicity=None if data.multiplicity is None else data.multiplicity[inside],
            subjects=None if data.subjects is None else data.subjects[inside],
        )
        weights = None if self.weights is None else self.weights[inside]
        return code_rows(part, weights, self.asked).rows

    def _mask(self, where: Assignment | Sequence[Literals]) -> BoolArray:
        """Mask the rows of ``data`` in a region."""
        domain, inside = self.data.domain, np.ones(len(self.data.rows), dtype=bool)
        allowed: list[tuple[int, int]]
        if isinstance(where, str | Mapping):
            allowed = list(value_sets_of(domain, where).items())
        else:
            allowed = [
                (domain.position(name), domain.value_set(domain.position(name), states, negated))
                for name, states, negated in where
            ]
        for variable, chosen in allowed:
            is_in = [bool(chosen >> k & 1) for k in range(domain.cardinalities[variable])]
            inside &= np.array(is_in)[self.data.rows[:, variable]]
        return inside


class _Tester:
    """Tests the pairs of some coded rows; the logits are shared."""

    def __init__(self, rows: CodedRows, seed: int, level: float) -> None:
        self.rows, self.seed, self.level = rows, seed, level
        self.fits = Fits(rows)
        self._parts: dict[tuple[int, ...], _Tester] = {}

    @cached_property
    def contexts(self) -> Contexts:
        """The states of all variables, to search contexts."""
        return Contexts(self.rows)

    @property
    def product_count(self) -> int:
        """The number of distinct products in all logits."""
        own = {p for products in self.fits.products.values() for p in products}
        return len(own) + sum(part.product_count for part in self._parts.values())

    def part_of(self, a: int, b: int) -> tuple[_Tester, int, int]:
        """Return the tester that holds fixed as many columns as the rows allow."""
        others = [v for v in range(len(self.rows.names)) if v not in (a, b)]
        slopes = max(self.fits.slopes(a), self.fits.slopes(b))
        held = columns_to_hold(self.rows, a, b, self.fits.widths, slopes, others)
        if len(held) == len(others):
            return self, a, b
        kept = tuple(sorted((a, b, *held)))
        if kept not in self._parts:
            self._parts[kept] = _Tester(self.rows.only(kept), self.seed, self.level)
        return self._parts[kept], kept.index(a), kept.index(b)

    def tested(self, a: int, b: int, _: None, contexts: bool) -> PairEvidence:
        """Test a pair given all others, as far as the rows allow; not corrected."""
        part, x, y = self.part_of(a, b)
        names, left = self.rows.names, part.rows.names
        tested = part._tested(x, y, contexts)
        out = tuple(n for n in names if n not in left)
        return replace(tested, pair=(names[a], names[b]), left_out=out)

    def _tested(self, a: int, b: int, contexts: bool) -> PairEvidence:
        rows, names = self.rows, self.rows.names
        x, y = sorted((a, b), key=lambda v: (-rows.cards[v], names[v]))
        others = [v for v in range(len(names)) if v not in (a, b)]
        sides = self.fits.side(x, y), self.fits.side(y, x)
        how: dict[str, Any] = {"margins": not others, "seed": self.seed}
        omnibus = compare_products(rows, sides, **how)
        trend, is_score = None, (rows.is_score(x), rows.is_score(y))
        if any(is_score):
            scores = [
                np.linspace(0.0, 1.0, states)[:, None] if scored else contrasts(states)
                for states, scored in zip(rows.cards[[x, y]].tolist(), is_score, strict=True)
            ]
            trend = compare_products(rows, sides, (scores[0], scores[1]), **how)
        tests = [omnibus] if trend is None else [trend, omnibus]
        best = min(tests, key=lambda each: each.p)
        average = p = min(1.0, len(tests) * best.p)
        context, context_p = None, None
        if contexts and others:
            context_p, context = self.contexts.search(sides, is_score, others)
            p = min(1.0, 2 * min(average, context_p))
        strength = strength_given_others(rows, sides)
        crude = crude_v(rows, a, b)
        products = dict.fromkeys((*self.fits.named(x, y), *self.fits.named(y, x)))
        return PairEvidence(
            pair=(names[a], names[b]),
            verdict="could not be tested",
            p=p if omnibus.freedom else None,
            adjusted=None,
            family="",
            reason="" if omnibus.freedom else "the other columns determine one of both",
            v=strength and strength.v,
            v_low=strength and strength.low,
            v_high=strength and strength.high,
            crude_v=crude,
            could_show=min(test.could_show for test in tests),
            given=tuple(names[v] for v in others),
            products=tuple(products),
            average_p=average,
            trend_p=None if trend is None else trend.p,
            omnibus_p=omnibus.p,
            shape="" if trend is None else "trend" if best is trend else "other",
            context="" if context is None else names[context],
            context_p=context_p,
            method=best.method,
            freedom=best.freedom,
            rows=rows.total,
            v_approximate=bool(min(self.contexts.sizes_of(v).min() for v in (a, b)) < FEW_ROWS),
        )

    def effects(self, a: int, b: int, outcome: str | None) -> tuple[PairEffect, ...]:
        """Return the effects of a pair: of the outcome, or of the variable with fewer states."""
        part, x, y = self.part_of(a, b)
        names = part.rows.names
        of, by = sorted((x, y), key=lambda v: (names[v] != outcome, part.rows.cards[v], names[v]))
        most = MOST_SHARES if outcome in (names[of], names[by]) else FEW_SHARES
        return effects_of(part.fits, of, by, most)


def _check_subjects(data: Data, subjects: IntArray) -> None:
    """Raise if there are too few subjects, or a variable names them."""
    count = len(np.unique(subjects))
    if count < FEWEST_SUBJECTS:
        raise DomainError(
            f"{plural(count, 'subject')}; tests by subject need at least {FEWEST_SUBJECTS}: leave "
            "out --subject if the rows are independent"
        )
    for name, codes in zip(data.domain.names, data.rows.T, strict=True):
        states = len(np.unique(codes))
        if states == len(np.unique(codes * (int(subjects.max()) + 1) + subjects)):
            raise DomainError(
                f"each state of {quoted(name)} belongs to one subject, so it can only name "
                f"subjects; leave it out with --drop {quoted(name)}"
            )


def crude_v(rows: CodedRows, a: int, b: int) -> float:
    """Return Cramér's V of two columns alone."""
    table = np.zeros((rows.cards[a], rows.cards[b]))
    np.add.at(table, (rows.codes[:, a], rows.codes[:, b]), rows.mass)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    square = ((table - expected) ** 2 / np.maximum(expected, 1e-12)).sum() / table.sum()
    return float(np.sqrt(min(1.0, square / (min(table.shape) - 1))))


def corrected(
    tested: Sequence[PairEvidence], family: str, size: int | None = None, level: float = 0.05
) -> tuple[PairEvidence, ...]:
    """Correct the p-values of several tests as one family (Holm), and decide their verdicts.

    ``size`` is that of the family, if not all of it was tested.
    """
    p_values = [1.0 if each.p is None else each.p for each in tested]
    adjusted = holm([*p_values, *([1.0] * ((size or 0) - len(p_values)))])
    return tuple(
        _judged(replace(each, adjusted=None if each.p is None else p, family=family), level)
        for each, p in zip(tested, adjusted[: len(p_values)], strict=True)
    )


def _corrected_interactions(
    tested: Sequence[Interaction], family: str, size: int, level: float
) -> tuple[Interaction, ...]:
    """Correct the p-values of several interactions as one family, and decide their verdicts."""
    of_triple: dict[frozenset[str], float] = {}
    for each in tested:
        of_triple[frozenset((*each.pair, each.by))] = 1.0 if each.p is None else each.p
    rest = [1.0] * (size - len(of_triple))
    adjusted = dict(zip(of_triple, holm([*of_triple.values(), *rest]), strict=False))
    corrected_ones = []
    for each in tested:
        p = adjusted[frozenset((*each.pair, each.by))]
        if each.p is None:
            corrected_ones.append(replace(each, family=family))
            continue
        verdict: InteractionVerdict = "no difference shown"
        if p <= level:
            verdict = "differs"
        elif each.p <= level:
            verdict = "suggestive"
        corrected_ones.append(replace(each, adjusted=p, family=family, verdict=verdict))
    return tuple(corrected_ones)


def _judged(tested: PairEvidence, level: float) -> PairEvidence:
    verdict: Verdict = "no association shown"
    reason = tested.reason
    p, adjusted = tested.p, tested.adjusted
    if p is None or adjusted is None:
        verdict = "could not be tested"
    elif adjusted <= level:
        on_average = tested.average_p is None or tested.average_p <= level
        verdict = "associated" if on_average else "associated, not on average"
    elif p <= level:
        verdict = "suggestive"
    elif (tested.could_show or 0.0) > STRONG:
        verdict = "could not be tested"
        reason = (
            "given the other columns too little variation is left: only an association above "
            f"V = {tested.could_show:.2f} would show"
        )
    return replace(tested, verdict=verdict, reason=reason)
