"""List the claims of one model about all its pairs, and explain one or two models.

The contexts in which a pair is independent are the complement of its cover. They are listed as
disjoint regions, largest first. A minimal separator completes each statement: ``A ⫫ B | C=yes, D``
says that A and B are independent wherever C is yes, given any value of D. The contexts in which the
pair depends are listed as regions, too.

Pairs that depend in some contexts only come first, those with the most independent contexts before
the others. Pairs that are independent in every context are listed by their number of neighbours.

The features of a Bayesian network do not show that parents of one child may be independent. Pairs
without an arc are also listed with a minimal set that d-separates the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from math import prod
from typing import Any, overload

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.comparison.error_regions import TIME_LIMIT, TOP, Explanation
from contextwise.comparison.error_regions import explain as explain_difference
from contextwise.comparison.question import Pair, Question, pose
from contextwise.comparison.two_models import Comparison, answer
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import MOST_BOXES_OF_A_COVER, Region, complement, union
from contextwise.errors import ContextwiseError
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.separation import minimal_d_separator, minimal_separator, network
from contextwise.models.domain import Assignment
from contextwise.models.evidence import ClaimEvidence, Kind
from contextwise.models.features import PairIndex
from contextwise.models.notation import Literal, between, quoted, write_literal, write_literals
from contextwise.models.structure import Structure
from contextwise.support.effort import Deadline, Effort, Progress
from contextwise.support.formatting import Printed

TESTED = ("verdict", "informative_rows", "p", "adjusted", "effect", "value", "low", "high")
"""Fields of the evidence in the flat records of a model's claims."""


@dataclass(frozen=True)
class PairClaim:
    """One claim about two variables, in a region of contexts."""

    first: str
    second: str
    claim: Kind
    region: tuple[Literal, ...] = ()  # empty for every context
    given: tuple[str, ...] = ()  # unless dependent, the other variables that must be known
    contexts: int = 0  # of the pair, in the region; not counted for d-separation
    share: float = 0.0  # of all contexts of the pair
    weaker_than: float | None = None  # what no log odds ratio exceeds; None: independent

    def __str__(self) -> str:
        condition = [*map(write_literal, self.region), *map(quoted, self.given)]
        sides = f"{quoted(self.first)} ⫫ {quoted(self.second)}"
        if self.weaker_than is not None:
            names = between((self.first, self.second))
            sides = f"{names} weaker than {self.weaker_than:g}"
        return f"{sides} | {', '.join(condition)}" if condition else sides


@dataclass(frozen=True)
class PairClaims:
    """The claims about one pair: disjoint regions of contexts, the most general ones first."""

    pair: Pair
    contexts: int  # of the pair
    independent: tuple[PairClaim, ...] = ()
    dependent: tuple[PairClaim, ...] = ()
    independent_contexts: int = 0  # those in which the pair is independent, listed or not
    undecided: int = 0  # contexts that were not decided within the limits
    unlisted: Mapping[Kind, int] = field(default_factory=dict)  # regions beyond those listed


@dataclass(frozen=True)
class PairLister:
    """Lists the claims about the pairs of one structure."""

    structure: Structure
    source: CoverSource
    top: int
    deadline: Deadline

    def all_claims(self, pairs: Iterable[PairIndex]) -> list[PairClaims]:
        """List the claims about pairs, as far as the time allows."""
        return [self.claims(pair) for pair in pairs if not self.deadline.passed]

    def claims(self, pair: PairIndex) -> PairClaims:
        """List where a pair is independent, with a separator for each region, and where not."""
        cubes = self.source.cubes(0, pair)
        space = self.source.space(pair, cubes)
        depends = union(space, cubes, boxes=MOST_BOXES_OF_A_COVER, deadline=self.deadline)
        apart = complement(space, cubes, boxes=MOST_BOXES_OF_A_COVER, deadline=self.deadline)
        dependent = [self._claim(pair, "dependent", r) for r in depends.regions[: self.top]]
        independent: list[PairClaim] = []
        for region in apart.regions[: self.top]:
            if independent and self.deadline.passed:
                break
            claim = self._claim(pair, "independent", region)
            given, weak = self._separator(region, pair), self.structure.weaker_than
            independent.append(replace(claim, given=given, weaker_than=weak))
        return PairClaims(
            self._names(pair),
            self._contexts(pair),
            tuple(independent),
            tuple(dependent),
            apart.size,
            apart.undecided,
            {
                "independent": len(apart) - len(independent),
                "dependent": len(depends) - len(dependent),
            },
        )

    def always(self, pair: PairIndex) -> PairClaims:
        """Return the claim that a pair depends in every context."""
        names, contexts = self._names(pair), self._contexts(pair)
        depends = PairClaim(*names, "dependent", contexts=contexts, share=1.0)
        return PairClaims(names, contexts, dependent=(depends,))

    def _names(self, pair: PairIndex) -> Pair:
        first, second = (self.structure.domain.names[v] for v in pair)
        return first, second

    def _contexts(self, pair: PairIndex) -> int:
        return prod(c for v, c in enumerate(self.structure.domain.cardinalities) if v not in pair)

    def _claim(self, pair: PairIndex, claim: Kind, region: Region) -> PairClaim:
        domain = self.structure.domain
        literals = tuple(domain.literal(v, allowed) for v, allowed in region.literals)
        share = ratio(region.size, self._contexts(pair))
        return PairClaim(*self._names(pair), claim, literals, contexts=region.size, share=share)

    def _separator(self, region: Region, pair: PairIndex) -> tuple[str, ...]:
        """Return a minimal set of variables that separates the pair in a region."""
        graph = network(self.structure.features, dict(region.literals))
        ends = graph.mask(pair[:1]), graph.mask(pair[1:])
        separator: Any = ~(ends[0] | ends[1] | graph.assigned)
        if self.structure.separation_holds:
            separator = minimal_separator(graph, *ends, separator)
        assert separator is not None, "no feature that links the pair is compatible with the region"
        return tuple(self.structure.domain.names[v] for v in separator.nonzero()[0].tolist())


@dataclass(frozen=True, eq=False)
class ModelExplanation(Printed):
    """The claims of a model about its pairs."""

    #: the contexts in which each pair depends, as differences to a model without features
    counted: Comparison
    #: pairs that depend in some contexts only, those with the most independent contexts first
    somewhere: tuple[PairClaims, ...]
    #: pairs that are independent in every context, those with the fewest neighbours first
    never: tuple[PairClaims, ...]
    always: tuple[PairClaims, ...]  #: pairs that depend in every context
    #: of a network: pairs without an arc, with the set that d-separates them in the evidence, or a
    #: minimal one; those that depend given all other variables come first: parents of one child
    separations: tuple[PairClaim, ...]
    counts: dict[str, int]  #: the number of pairs of each kind, listed or not, by the names above
    constants: tuple[str, ...]  #: variables with one state; their pairs are left out
    partial: bool  #: whether the time limit left something undecided

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
        return f"ModelExplanation({counts})"

    @property
    def structure(self) -> Structure:
        """The model, in the context if there is one."""
        return self.counted.true

    def evidence(
        self, pair: Pair, claim: Kind, region: Sequence[Literal] = ()
    ) -> ClaimEvidence | None:
        """Return what rows say about one claim, if the model has evidence of it."""
        known = self.structure.evidence
        return None if known is None else known.find(pair, claim, region)

    @property
    def word(self) -> str:
        """``independent``, or ``weaker than 0.1`` if the claims were read with a tolerance."""
        weaker = self.structure.weaker_than
        return "independent" if weaker is None else f"weaker than {weaker:g}"

    @property
    def listed(self) -> tuple[PairClaims, ...]:
        """All listed pairs."""
        return *self.somewhere, *self.never, *self.always

    def records(self) -> list[dict[str, Any]]:
        """Return one flat mapping per listed claim, with the main numbers of its evidence."""
        records = [record for claims in self.listed for record in self._records(claims)]
        for record in records:
            tested = record.pop("evidence") or {}
            record |= {key: tested.get(key) for key in TESTED}
        return records

    def _records(self, claims: PairClaims) -> list[dict[str, Any]]:
        return [
            {
                "first": one.first,
                "second": one.second,
                "claim": self.word if one.claim == "independent" else one.claim,
                "when": write_literals(one.region),
                "given": list(one.given) if one.claim == "independent" else None,
                "contexts": one.contexts,
                "share": one.share,
                "evidence": self._tested(one),
            }
            for one in (*claims.independent, *claims.dependent)
        ]

    def _tested(self, one: PairClaim) -> dict[str, Any] | None:
        tested = self.evidence((one.first, one.second), one.claim, one.region)
        return None if tested is None else tested.record()

    def record(self) -> dict[str, Any]:
        """Return everything as one nested mapping, for JSON."""
        pairs = [
            {
                "first": claims.pair[0],
                "second": claims.pair[1],
                "contexts": claims.contexts,
                "independent": claims.independent_contexts,
                "undecided": claims.undecided,
                "unlisted": sum(claims.unlisted.values()),
                "claims": self._records(claims),
            }
            for claims in self.listed
        ]
        separations = [
            {
                "first": one.first,
                "second": one.second,
                "given": one.given,
                "text": str(one),
                "evidence": self._tested(one),
            }
            for one in self.separations
        ]
        known = self.structure.evidence
        return {
            "counts": self.counts,
            "tested": None if known is None else known.record(),
            "pairs": pairs,
            "separations": separations,
            "constants": self.constants,
            "partial": self.partial,
        }


@overload
def explain(true: ModelLike, guess: None = None, **options: Any) -> ModelExplanation: ...
@overload
def explain(true: ModelLike, guess: ModelLike, **options: Any) -> Explanation: ...
def explain(
    true: ModelLike,
    guess: ModelLike | None = None,
    *,
    top: int = TOP,
    time_limit: float | None = TIME_LIMIT,
    show_progress: bool | Progress = False,
    **restriction: Any,
) -> Explanation | ModelExplanation:
    """List the claims of one model, or show where two models differ.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
        Without a guess, list the claims of the first model.
    top : int
        Number of entries in each list.
    time_limit : seconds, or None for no limit
        What is undecided by then is left out, and the result is marked as partial.
    show_progress : bool or function
        Show a line on standard error, or call a function of (done, total).
    **restriction
        For two models the keywords of `compare` that restrict it, and ``at``, a tolerance: list
        where they differ among stronger dependences. For one model ``pairs``, ``variables`` and
        ``context``.

    Returns
    -------
    ModelExplanation for one model, Explanation for two

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": ["no", "yes"]}
    >>> model = Structure(domain, ["A=1 & B=1 & C=no", "B=1 & C=yes"])
    >>> print(explain(model))
    3 pairs: 2 depend in some contexts only, 1 depends in every context. This is what the model ...
    <BLANKLINE>
    Depend in some contexts only:
    pair   claim        when   of contexts
    A – B  independent  C=yes         50 %
    A – B  dependent    C=no          50 %
    A – C  independent  B=0           50 %
    A – C  dependent    B=1           50 %
    <BLANKLINE>
    Depend in every context: B – C.
    >>> explain(model, Structure(domain, ["A=1 & B=1"])).comparison.distance
    4
    """
    restriction |= {"top": top, "time_limit": time_limit, "show_progress": show_progress}
    if guess is None:
        return explain_model(true, **restriction)
    return explain_difference(true, guess, **restriction)


def explain_model(
    model: ModelLike,
    *,
    top: int = TOP,
    time_limit: float | None = TIME_LIMIT,
    show_progress: bool | Progress = False,
    pairs: Iterable[Pair] | None = None,
    variables: Iterable[str] | None = None,
    context: Assignment | None = None,
) -> ModelExplanation:
    """List the claims of one model; see `explain`."""
    effort = Effort.of(time_limit, show_progress=show_progress)
    whole = as_structure(model)
    nothing = Structure(whole.domain)
    question = pose([whole, nothing], pairs=pairs, variables=variables, context=context)
    if not question.pair_count:
        raise ContextwiseError("there is nothing to explain: no pair of variables is left")
    counted = answer(question, effort)
    if counted.unions.interrupted:
        raise KeyboardInterrupt
    return claims_of(counted, top=top, deadline=effort.deadline)


def claims_of(counted: Comparison, *, top: int, deadline: Deadline) -> ModelExplanation:
    """List the claims of a model; ``counted`` compares it with a model without features."""
    question, structure = counted.question, counted.true
    names = question.domain.names
    linked = [(i, j) for i, j in counted.pairs.tolist()]
    always: list[PairIndex] = []
    shares: dict[PairIndex, float] = {}  # of independent contexts, at least
    bounds = counted.unions.lower[:, 0], counted.unions.upper[:, 0], counted.sizes
    for pair, least, most, size in zip(linked, *bounds, strict=True):
        if least == size:
            always.append(pair)
        else:
            shares[pair] = ratio(size - most, size)
    somewhere = sorted(shares, key=lambda pair: (-shares[pair], pair))
    constants = {v for v, states in enumerate(question.domain.cardinalities) if states == 1}
    never, never_count = _unlinked(question, linked, constants, top)
    lister = PairLister(structure, CoverSource(structure.features), top, deadline)
    listed_somewhere = lister.all_claims(somewhere[:top])
    listed_never = lister.all_claims(never)
    counts = {"somewhere": len(somewhere), "never": never_count, "always": len(always)}
    counts["separations"] = 0
    apart: list[PairIndex] = []
    if structure.directions is not None:
        arcs = {frozenset(arc) for arc in structure.directions.arcs}
        apart = [pair for pair in linked if frozenset(pair) not in arcs]
        counts["separations"] = len(apart) + never_count
        apart = [*apart, *never][:top]
    return ModelExplanation(
        counted,
        tuple(listed_somewhere),
        tuple(listed_never),
        tuple(map(lister.always, always[:top])),
        tuple(filter(None, (_separation(structure, *pair) for pair in apart))),
        counts,
        tuple(names[v] for v in sorted(constants)),
        partial=len(listed_somewhere) < len(somewhere[:top])
        or len(listed_never) < len(never)
        or any(pair.undecided for pair in listed_somewhere)
        or bool(len(counted.unions.open_places)),
    )


def _unlinked(
    question: Question, linked: Sequence[PairIndex], constants: set[int], top: int
) -> tuple[list[PairIndex], int]:
    """Return the first pairs that no feature covers, fewest neighbours first; and their number."""
    ends = np.array(linked, dtype=np.int64).ravel()
    neighbours = np.bincount(ends, minlength=len(question.domain))
    covered = set(linked)
    if question.asked is not None:
        free = [
            (i, j)
            for i, j in question.asked.tolist()
            if (i, j) not in covered and constants.isdisjoint((i, j))
        ]
        free.sort(key=lambda pair: int(min(neighbours[list(pair)])))
        return free[:top], len(free)
    order = [v for v in np.argsort(neighbours, kind="stable").tolist() if v not in constants]
    count = len(order) * (len(order) - 1) // 2 - len(covered)
    pairs = ((min(pair), max(pair)) for pair in combinations(order, 2))
    unlinked = (pair for pair in pairs if pair not in covered)
    return list(islice(unlinked, min(top, count))), count


def _separation(structure: Structure, i: int, j: int) -> PairClaim | None:
    """Return the set with which rows tested a pair without an arc, or a minimal one, if any."""
    names, known = structure.domain.names, structure.evidence
    tested = None if known is None else known.find((names[i], names[j]), "d-separated")
    if tested is not None:
        return PairClaim(names[i], names[j], "d-separated", given=tested.given)
    assert structure.directions is not None
    others = set(range(len(names))) - {i, j}
    separator = minimal_d_separator(structure.directions.with_hidden, [i], [j], others)
    if separator is None:  # only with hidden causes
        return None
    given = tuple(names[v] for v in separator)
    return PairClaim(names[i], names[j], "d-separated", given=given)
