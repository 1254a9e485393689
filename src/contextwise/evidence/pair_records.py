"""The records of what rows say about pairs of variables: plain facts, no sentences.

`contextwise.evidence.row_tests` makes them. Numbers are fractions (a share of 0.25, a difference of
0.03), never percents. An estimate that cannot be computed is None, never NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

Verdict = Literal[
    "associated",
    "associated, not on average",
    "suggestive",
    "no association shown",
    "could not be tested",
]
"""*associated*: the corrected p is at most the level. *associated, not on average*: so is it, but
only because the association differs between the states of a third variable, `PairEvidence.context`;
the average over them does not show it. *suggestive*: p is at most the level before the correction
only. *could not be tested*: the rows would show only a strong association (V above 0.3)."""
VERDICTS: tuple[Verdict, ...] = (
    "associated",
    "associated, not on average",
    "suggestive",
    "no association shown",
    "could not be tested",
)

EffectKind = Literal["odds ratio", "odds ratio per step", "share", "difference"]
"""*odds ratio*: odds of ``state`` (against ``against``) where ``by`` is ``at``, divided by those at
``reference``. *odds ratio per step*: the same for one step up of an ordered ``by``, of an
ordered ``of``, or of both. *share*: share of rows with ``state`` if all rows had ``by`` = ``at``
(standardised). *difference*: that share minus the share at ``reference``."""


@dataclass(frozen=True)
class PairEffect:
    """One number about a pair, adjusted for `PairEvidence.given`, with interval and crude value.

    ``state`` is a state of the variable ``of``; ``at`` and ``reference`` are states of ``by``. They
    are empty where the kind has none: a share has no ``reference``, a step no ``at``.
    """

    kind: EffectKind
    of: str
    by: str
    state: str
    at: str
    reference: str
    estimate: float
    low: float
    high: float
    crude: float | None  #: the same number with nothing held fixed
    rows: float  #: rows with ``by`` = ``at`` (all rows for a step); show nothing below 20
    against: str = ""  #: odds of ``state`` against this state; empty for "against all others"
    approximate: bool = False  #: the interval covers less than it says (below 300 rows)

    @property
    def excludes_none(self) -> bool:
        """True if the interval excludes no effect (a ratio of 1, a difference of 0)."""
        none = 0.0 if self.kind == "difference" else 1.0
        return self.kind != "share" and not self.low <= none <= self.high


@dataclass(frozen=True)
class PairEvidence:
    """The evidence of the rows about a pair of variables, given the others."""

    pair: tuple[str, str]
    verdict: Verdict
    p: float | None  #: None if nothing could be computed
    adjusted: float | None  #: by Holm's correction within ``family``
    family: str  #: "pairs with released", "the other pairs", "all pairs", "1 pair"
    reason: str = ""  #: why it could not be tested, or why V and effects are missing
    v: float | None = None  #: partial Cramér's V
    v_low: float | None = None
    v_high: float | None = None  #: the largest association that the interval leaves
    crude_v: float | None = None  #: Cramér's V of the two columns alone
    could_show: float | None = None  #: the smallest V found with probability 0.8
    given: tuple[str, ...] = ()  #: columns held fixed
    left_out: tuple[str, ...] = ()  #: other columns that too few rows could not hold fixed
    products: tuple[str, ...] = ()  #: products in the adjustment, such as "age=old × sex=f"
    average_p: float | None = None  #: of association on average over the others
    trend_p: float | None = None  #: of the ordered scores; None if neither variable is ordered
    omnibus_p: float | None = None  #: of any association on average
    shape: Literal["trend", "other", ""] = ""  #: which of both decides; "" if not ordered
    context: str = ""  #: the third variable with the clearest difference between its states
    context_p: float | None = None  #: its p times the number of third variables
    method: str = ""  #: "chi-square", "draws", "permutations" or "clusters"
    freedom: int = 0
    rows: float = 0.0
    effects: tuple[PairEffect, ...] = ()
    v_approximate: bool = False  #: a state has fewer than 30 rows: the interval of V covers less

    @property
    def associated(self) -> bool:
        """True for both verdicts that show an association."""
        return self.verdict in VERDICTS[:2]

    def record(self) -> dict[str, Any]:
        """Return everything as a mapping for JSON and tables."""
        return asdict(self)


InteractionVerdict = Literal["differs", "suggestive", "no difference shown", "could not be tested"]


@dataclass(frozen=True)
class StateEffects:
    """The association of a pair among the rows with one state of a third variable."""

    state: str
    rows: float
    effects: tuple[PairEffect, ...]  #: empty below 20 rows, or if a variable does not vary there


@dataclass(frozen=True)
class Interaction:
    """The test that a pair has the same association in all states of a third variable.

    The test is symmetric in the two variables. "Same" means equal odds ratios, given the others.
    """

    pair: tuple[str, str]
    by: str
    verdict: InteractionVerdict
    p: float | None
    adjusted: float | None  #: by Holm's correction within ``family``
    family: str
    freedom: int = 0
    trend_p: float | None = None  #: of a linear change over an ordered ``by``
    states: tuple[StateEffects, ...] = ()
    ratio: float | None = None
    """Odds ratio in the last of two states of ``by``, divided by that in the first. For two-state
    variables the plain odds ratio; for ordered ones per standard deviation of both. Else None."""
    ratio_low: float | None = None
    ratio_high: float | None = None
    given: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    method: str = ""
    reason: str = ""

    def record(self) -> dict[str, Any]:
        """Return everything as a mapping for JSON and tables."""
        return asdict(self)


@dataclass(frozen=True)
class Folded:
    """A variable of many states, fitted with its most frequent ones and "other"."""

    name: str
    states: int
    kept: int


@dataclass(frozen=True)
class Settings:
    """The use of the rows: facts for a methods paragraph and "data as read"."""

    rows: int
    distinct: int  #: distinct rows; counted and repeated rows give the same answers
    level: float
    outcome: str | None
    ordered: tuple[tuple[str, str], ...]
    """Each ordered variable and why: "declared", "bins", "same codes as 5 columns", "asked for"."""
    maybe_ordered: tuple[str, ...]
    """Columns of numbers that are treated as unordered; ``--ordered NAME`` changes that."""
    weights: str | None  #: the column of survey weights
    subject: str | None  #: the column of the clusters
    clusters: int | None
    folded: tuple[Folded, ...]
    constant: tuple[str, ...]  #: columns with one state, in no pair
    products: int  #: distinct products of two states that the residuals asked for
    contexts: Literal["all pairs", "pairs of the outcome", "no pair"]
    """For which pairs associations that differ by a third variable were part of the verdict."""
    seed: int


@dataclass(frozen=True, eq=False)
class PairsTested:
    """The evidence about pairs: those of the outcome first, then by p."""

    settings: Settings
    pairs: tuple[PairEvidence, ...]
    unfinished: int = 0  #: pairs that a time limit or Ctrl-C left out
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[PairEvidence]:
        return iter(self.pairs)

    def __getitem__(self, place: int) -> PairEvidence:
        return self.pairs[place]

    @cached_property
    def _by_pair(self) -> dict[frozenset[str], PairEvidence]:
        return {frozenset(each.pair): each for each in self.pairs}

    def about(self, first: str, second: str) -> PairEvidence | None:
        """Return the evidence about a pair, in either order."""
        return self._by_pair.get(frozenset((first, second)))

    @property
    def of_outcome(self) -> tuple[PairEvidence, ...]:
        """The pairs with the outcome."""
        return tuple(each for each in self.pairs if self.settings.outcome in each.pair)

    def records(self) -> list[dict[str, Any]]:
        """Return a mapping per pair."""
        return [each.record() for each in self.pairs]
