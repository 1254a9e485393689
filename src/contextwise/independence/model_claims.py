"""List the claims of one model about all its pairs, and explain one or two models.

Pairs that depend in some contexts only come first, those with the most independent contexts before
the others. Pairs that are independent in every context are listed by their number of neighbours.

The features of a Bayesian network do not show that parents of one child may be independent. Pairs
without an arc are also listed with a minimal set that d-separates the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, overload

import numpy as np

from contextwise.comparison.compare import Comparison, answer
from contextwise.comparison.confusion import ratio
from contextwise.comparison.explain import TIME_LIMIT, TOP, Explanation
from contextwise.comparison.explain import explain as explain_difference
from contextwise.comparison.question import Pair, Question, pose
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import BOXES
from contextwise.errors import ContextwiseError
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.independencies import (
    Dependence,
    Independence,
    PairClaims,
    PairLister,
)
from contextwise.independence.separation import Graph, minimal_d_separator
from contextwise.models.domain import Assignment
from contextwise.models.evidence import ClaimEvidence, Kind
from contextwise.models.notation import Literal, quoted, write_literals
from contextwise.models.structure import Structure
from contextwise.support.effort import Deadline, Effort, Progress
from contextwise.support.formatting import Printed


@dataclass(frozen=True)
class Separation:
    """Two variables of a network are independent given others, by d-separation."""

    first: str
    second: str
    given: tuple[str, ...]

    def __str__(self) -> str:
        sides = f"{quoted(self.first)} ⫫ {quoted(self.second)}"
        return f"{sides} | {', '.join(map(quoted, self.given))}" if self.given else sides


@dataclass(frozen=True, eq=False)
class ModelExplanation(Printed):
    """The claims of a model about its pairs.

    Attributes
    ----------
    counted : Comparison
        The contexts in which each pair depends, as differences to a model without features.
    somewhere : tuple of PairClaims
        Pairs that depend in some contexts only, those with the most independent contexts first.
    never : tuple of PairClaims
        Pairs that are independent in every context, those with the fewest neighbours first.
    always : tuple of PairClaims
        Pairs that depend in every context.
    separations : tuple of Separation
        Of a network: pairs without an arc, with a minimal set that d-separates them. Pairs that
        depend given all other variables come first: parents of one child.
    counts : dict
        The number of all pairs of each kind, listed or not, by the names of these attributes.
    constants : tuple of names
        Variables with one state. Their pairs are left out.
    partial : bool
        Whether the time limit left something undecided.
    """

    counted: Comparison
    somewhere: tuple[PairClaims, ...]
    never: tuple[PairClaims, ...]
    always: tuple[PairClaims, ...]
    separations: tuple[Separation, ...]
    counts: dict[str, int]
    constants: tuple[str, ...]
    partial: bool

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
        for tested in [] if known is None else known.about(*pair):
            if tested.claim == claim and frozenset(tested.region) == frozenset(region):
                return tested
        return None

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
        """Return one flat mapping per listed claim."""
        return [record for claims in self.listed for record in self._records(claims)]

    def _records(self, claims: PairClaims) -> list[dict[str, Any]]:
        stated: tuple[tuple[Kind, Independence | Dependence], ...] = (
            *(("independent", one) for one in claims.independent),
            *(("dependent", one) for one in claims.dependent),
        )
        records = []
        for claim, one in stated:
            tested = self.evidence(claims.pair, claim, one.region)
            record = {
                "first": one.first,
                "second": one.second,
                "claim": self.word if claim == "independent" else claim,
                "when": write_literals(one.region),
                "given": list(one.given) if isinstance(one, Independence) else None,
                "contexts": one.contexts,
                "share": one.share,
                "evidence": None if tested is None else tested.record(),
            }
            records.append(record)
        return records

    def record(self) -> dict[str, Any]:
        """Return everything as one nested mapping, for JSON."""
        pairs = [
            {
                "first": claims.pair[0],
                "second": claims.pair[1],
                "contexts": claims.independent.contexts,
                "independent": claims.independent.independent,
                "undecided": claims.independent.undecided,
                "unlisted": claims.independent.unlisted + claims.unlisted,
                "claims": self._records(claims),
            }
            for claims in self.listed
        ]
        separations = [
            {"first": one.first, "second": one.second, "given": one.given, "text": str(one)}
            for one in self.separations
        ]
        return {
            "counts": self.counts,
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
        For two models the keywords of `compare` that restrict it; for one model ``pairs``,
        ``variables`` and ``context``.

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
    if guess is not None:
        return explain_difference(
            true,
            guess,
            top=top,
            time_limit=time_limit,
            show_progress=show_progress,
            **restriction,
        )
    return explain_model(
        true, top=top, time_limit=time_limit, show_progress=show_progress, **restriction
    )


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
    shares = {  # of independent contexts, at least
        (i, j): ratio(size - most, size)
        for (i, j), most, size in zip(
            counted.pairs.tolist(), counted.unions.upper[:, 0], counted.sizes, strict=True
        )
    }
    least = dict(zip(shares, counted.unions.lower[:, 0], strict=True))
    sizes = dict(zip(shares, counted.sizes, strict=True))
    always = [pair for pair in shares if least[pair] == sizes[pair]]
    somewhere = sorted(shares.keys() - set(always), key=lambda pair: (-shares[pair], pair))
    constants = {v for v, states in enumerate(question.domain.cardinalities) if states == 1}
    never, never_count = _unlinked(question, list(shares), constants, top)
    lister = PairLister(structure, CoverSource(structure.features), top, BOXES, deadline)
    listed_somewhere = lister.all_claims(somewhere[:top])
    listed_never = lister.all_claims(never)
    reached = len(listed_somewhere) + len(listed_never)
    separations: list[Separation] = []
    apart: list[tuple[int, int]] = []
    if structure.directions is not None:
        arcs = {frozenset(arc) for arc in structure.directions.arcs}
        apart = [pair for pair in shares if frozenset(pair) not in arcs]
        parents = structure.directions.parents
        separations = [_separation(names, parents, *pair) for pair in [*apart, *never][:top]]
    return ModelExplanation(
        counted,
        tuple(listed_somewhere),
        tuple(listed_never),
        tuple(lister.always(i, j) for i, j in always[:top]),
        tuple(separations),
        {
            "somewhere": len(somewhere),
            "never": never_count,
            "always": len(always),
            "separations": 0 if structure.directions is None else len(apart) + never_count,
        },
        tuple(names[v] for v in sorted(constants)),
        partial=reached < len(somewhere[:top]) + len(never)
        or any(pair.independent.undecided for pair in listed_somewhere)
        or bool(len(counted.unions.open_places)),
    )


def _unlinked(
    question: Question, linked: Sequence[tuple[int, int]], constants: set[int], top: int
) -> tuple[list[tuple[int, int]], int]:
    """Return the first pairs that no feature covers, fewest neighbours first; and their number.

    Pairs of variables with one state are left out.
    """
    neighbours = np.bincount(
        np.array(linked, dtype=np.int64).ravel(), minlength=len(question.domain)
    )
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
    chosen: list[tuple[int, int]] = []
    for first, second in combinations(order, 2):
        if len(chosen) == min(top, count):
            break
        pair = min(first, second), max(first, second)
        if pair not in covered:
            chosen.append(pair)
    return chosen, count


def _separation(names: Sequence[str], parents: Graph, i: int, j: int) -> Separation:
    """Find a minimal set that d-separates two variables without an arc."""
    others = set(range(len(names))) - {i, j}
    separator = minimal_d_separator(parents, [i], [j], others)
    assert separator is not None, "no arc connects the pair"
    return Separation(names[i], names[j], tuple(names[v] for v in separator))
