"""Test what rows show about each pair of variables, given all others: `RowTests`.

For a pair a, b and the other variables R, two logits are fitted, a given R and b given R. If a and
b are independent given R, the products of both residuals sum to zero on average::

    S = sum over rows of  weight · (a - p(a|R)) ⊗ (b - p(b|R))

It is enough that one of both logits is right, and small errors of both matter only by their
product. No structure and no split of the rows enters, so the same rows always give the same verdict
about a pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from contextwise.data.rows import Data, DataLike, as_data
from contextwise.errors import DomainError
from contextwise.evidence.coded_rows import CodedRows, code_rows
from contextwise.evidence.independence_test import check_level
from contextwise.evidence.pair_records import (
    Interaction,
    PairEvidence,
    PairsTested,
    Settings,
)
from contextwise.evidence.pair_tester import PairTester
from contextwise.evidence.pair_verdicts import corrected, corrected_interactions
from contextwise.evidence.same_association import compare_associations
from contextwise.models.domain import Assignment, value_sets_of
from contextwise.models.features import rows_in
from contextwise.models.notation import Literal as Literals
from contextwise.models.notation import quoted
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import QUIET, Effort
from contextwise.support.formatting import plural

Pair = tuple[str, str]
FEWEST_ROWS = 10
FEWEST_SUBJECTS = 5
MOST_OUTCOME_STATES = 100
MOST_WITH_EFFECTS = 60
"""Pairs above which only those of the outcome, and those with a small p, have effects."""
MOST_TESTERS = 32
"""Regions and given sets whose fits are kept."""
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
        self._testers: dict[Any, PairTester] = {}
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
        fits = PairTester(self.rows, self.seed, self.level)
        done: list[PairEvidence] = []
        with effort.showing("pairs") as shown:
            try:
                for number, (a, b) in enumerate(chosen):
                    effort.deadline.check()
                    is_of_outcome = outcome in (self.rows.names[a], self.rows.names[b])
                    contexts = searched == "all pairs" or (searched != "no pair" and is_of_outcome)
                    one = fits.tested(a, b, contexts)
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
        self.data.domain.position(name)  # raises if the name is unknown
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

    def _settings(self, outcome: str | None, fits: PairTester, searched: Any) -> Settings:
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
        tester = self._tester(where, None if given is None else frozenset((*pair, *given)))
        rows, names = tester.rows, tester.rows.names
        if not {*pair} <= {*names} or rows.total < FEWEST_ROWS:
            rows_text = plural(round(rows.total), "row")
            lacking = [name for name in pair if name not in names]
            reason = f"{quoted(lacking[0])} does not vary there" if lacking else rows_text
            return PairEvidence(
                pair, "could not be tested", None, None, "1 pair", reason, rows=rows.total
            )
        a, b = (names.index(name) for name in pair)
        tested = tester.tested(a, b, contexts)
        if effects:
            tested = replace(tested, effects=tester.effects(a, b, None))
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
        known: Interaction | None = None,
    ) -> Interaction:
        """Test that the association of a pair is the same in all states of ``by``.

        The test is symmetric in the two variables; each state of ``by`` has its own main effects.
        The p-value is not corrected. Effects within states are those on ``outcome``, if it is in
        the pair, else on the variable with fewer states. ``known`` is the answer to another form
        of the question, such as "year by colour" for "colour by year": both have the same p-value.
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
        tested = compare_associations(
            part, 0, 1, 2, of=of, effects=effects, level=self.level, known=known
        )
        return corrected_interactions([tested], "1 test", 1, self.level)[0]

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
        return corrected_interactions(found, family, len(asked), self.level)

    def _one_question(
        self, forms: Sequence[tuple[Pair, str]], outcome: str | None, effects: bool
    ) -> list[Interaction]:
        """Answer several forms of one question with the p-value of that with most states."""
        states = dict(zip(self.rows.names, self.rows.cards.tolist(), strict=True))
        ranked = sorted(forms, key=lambda form: (-states.get(form[1], 0), form[1]))
        first = self.same(*ranked[0], outcome=outcome, effects=effects)
        return [
            first,
            *(
                self.same(pair, by, outcome=outcome, effects=effects, known=first)
                for pair, by in ranked[1:]
            ),
        ]

    def _tester(
        self, where: Assignment | Sequence[Literals] | None, names: frozenset[str] | None
    ) -> PairTester:
        """Return the tester of a region and some variables; questions about them share its fits."""
        key = tuple(sorted(self._allowed(where))), names
        if key not in self._testers:
            rows = self._rows_where(where)
            if names is not None:
                rows = rows.only([k for k, name in enumerate(rows.names) if name in names])
            if len(self._testers) == MOST_TESTERS:
                self._testers.pop(next(iter(self._testers)))
            self._testers[key] = PairTester(rows, self.seed, self.level)
        return self._testers[key]

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
        return rows_in(self.data.rows, self._allowed(where))

    def _allowed(self, where: Assignment | Sequence[Literals] | None) -> list[tuple[int, int]]:
        """Return the variables of a region, each with its value set."""
        domain = self.data.domain
        if where is None or isinstance(where, str | Mapping):
            return list(value_sets_of(domain, where or {}).items())
        return list(domain.indexed(where))


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
