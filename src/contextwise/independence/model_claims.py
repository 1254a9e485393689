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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import prod
from typing import Any, overload

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.comparison.error_regions import TIME_LIMIT, TOP, Explanation
from contextwise.comparison.error_regions import explain as explain_difference
from contextwise.comparison.question import Pair, Question, pose
from contextwise.comparison.two_models import Comparison, answer
from contextwise.errors import ContextwiseError
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.claims import ClaimLister, PairClaims
from contextwise.independence.separation import minimal_d_separator, minimal_separator, network
from contextwise.models.domain import Assignment
from contextwise.models.evidence import ClaimEvidence
from contextwise.models.features import PairIndex
from contextwise.models.notation import Literal, write_literals
from contextwise.models.pair_regions import Claim, Kind
from contextwise.models.structure import Structure
from contextwise.support.effort import Deadline, Effort, Progress
from contextwise.support.formatting import Printed

TESTED = ("verdict", "rows", "p", "adjusted", "effect", "value", "low", "high")
"""Fields of the evidence in the flat records of a model's claims."""


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
    separations: tuple[Claim, ...]
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
                "first": one.pair[0],
                "second": one.pair[1],
                "claim": self.word if one.claim == "independent" else one.claim,
                "when": write_literals(one.region),
                "given": list(one.given) if one.claim == "independent" else None,
                "contexts": one.size,
                "share": ratio(one.size, claims.contexts),
                "evidence": self._tested(one),
            }
            for one in (*claims.independent, *claims.dependent)
        ]

    def _tested(self, one: Claim) -> dict[str, Any] | None:
        tested = self.evidence(one.pair, one.claim, one.region)
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
                "first": one.pair[0],
                "second": one.pair[1],
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
    lister = ClaimLister(structure)
    listed_somewhere, listed_never = (
        [_separated(lister, pair, top, deadline) for pair in pairs if not deadline.passed]
        for pairs in (somewhere[:top], never)
    )
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
        tuple(_always(structure, pair) for pair in always[:top]),
        tuple(filter(None, (_separation(structure, *pair) for pair in apart))),
        counts,
        tuple(names[v] for v in sorted(constants)),
        partial=len(listed_somewhere) < len(somewhere[:top])
        or len(listed_never) < len(never)
        or any(pair.undecided for pair in listed_somewhere)
        or bool(len(counted.unions.open_places)),
    )


def _separated(lister: ClaimLister, pair: PairIndex, top: int, deadline: Deadline) -> PairClaims:
    """List the claims about a pair, the independencies with their separators while time is left."""
    claims, structure = lister.about(pair, top, deadline), lister.structure
    independent: list[Claim] = []
    for claim in claims.independent:
        if independent and deadline.passed:
            break
        given, weak = _separator(structure, claim), structure.weaker_than
        independent.append(replace(claim, given=given, weaker_than=weak))
    unlisted = len(claims.independent) - len(independent) + claims.unlisted["independent"]
    kinds: dict[Kind, int] = {**claims.unlisted, "independent": unlisted}
    return replace(claims, independent=tuple(independent), unlisted=kinds)


def _always(structure: Structure, pair: PairIndex) -> PairClaims:
    """Return the claim that a pair depends in every context."""
    names = structure.domain.names[pair[0]], structure.domain.names[pair[1]]
    contexts = prod(c for v, c in enumerate(structure.domain.cardinalities) if v not in pair)
    return PairClaims(names, contexts, dependent=(Claim(names, (), contexts, claim="dependent"),))


def _separator(structure: Structure, claim: Claim) -> tuple[str, ...]:
    """Return a minimal set of variables that separates the pair in a region."""
    domain = structure.domain
    graph = network(structure.features, dict(domain.indexed(claim.region)))
    first, second = (graph.mask([domain.position(name)]) for name in claim.pair)
    separator: Any = ~(first | second | graph.assigned)
    if structure.separation_holds:
        separator = minimal_separator(graph, first, second, separator)
    assert separator is not None, "no feature that links the pair is compatible with the region"
    return tuple(domain.names[v] for v in separator.nonzero()[0].tolist())


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


def _separation(structure: Structure, i: int, j: int) -> Claim | None:
    """Return the set with which rows tested a pair without an arc, or a minimal one, if any."""
    names, known = structure.domain.names, structure.evidence
    tested = None if known is None else known.find((names[i], names[j]), "d-separated")
    if tested is not None:
        return Claim((names[i], names[j]), claim="d-separated", given=tested.given)
    assert structure.directions is not None
    others = set(range(len(names))) - {i, j}
    separator = minimal_d_separator(structure.directions.with_hidden, [i], [j], others)
    if separator is None:  # only with hidden causes
        return None
    given = tuple(names[v] for v in separator)
    return Claim((names[i], names[j]), claim="d-separated", given=given)
