"""Test the claims of a model against rows of data.

`contextwise.evidence.claim_tests.judge_claims` tests the claims. With ``overall``, the structure is
tested as a whole by a parametric bootstrap: the statistic is the sum of -log p over the claims of
independence, by the fast test of `contextwise.evidence.blanket_tests`, compared with data sets
drawn from the fitted structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.comparison.question import Pair, pose
from contextwise.convert.packages import network_of
from contextwise.data.rows import Data, as_data, as_data_of_graph, following
from contextwise.errors import ContextwiseError, DomainError, TooLargeError
from contextwise.evidence.blanket_tests import evaluate_claims
from contextwise.evidence.claim_tests import is_plain_graph, judge_claims
from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.independence_test import check_level
from contextwise.evidence.pair_records import Interaction
from contextwise.evidence.row_tests import RowTests
from contextwise.formats import ModelLike
from contextwise.independence.claims import REGIONS
from contextwise.models.directions import graph_over
from contextwise.models.domain import Assignment, Domain
from contextwise.models.evidence import NOT_SUPPORTED, UNTESTABLE, ClaimEvidence, Evidence
from contextwise.models.features import PairIndex
from contextwise.models.notation import between
from contextwise.models.structure import (
    LogLinear,
    Model,
    Structure,
    features_of,
    require_features,
    structure_of,
)
from contextwise.support.effort import Deadline, Effort, Progress
from contextwise.support.formatting import Printed, plural
from contextwise.support.words import p_is

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Check", "check"]

MOST_PLACES = 5
"""Contradicted associations that are shown in each state of the variable they differ by."""


@dataclass(frozen=True)
class Overall:
    """The test of a structure as a whole."""

    statistic: float  # the sum of -log p over the claims of independence
    simulated: tuple[float, ...]  # the same of data sets drawn from the fitted structure
    exact: bool  # whether these were exact draws, not Gibbs sampling

    @property
    def p_value(self) -> float | None:
        """(1 + simulated statistics at least as large) / (1 + simulated); None without any."""
        if not self.simulated:
            return None
        larger = sum(value >= self.statistic for value in self.simulated)
        return (1 + larger) / (1 + len(self.simulated))


@dataclass(frozen=True, eq=False, repr=False)
class Check(Printed):
    """The tests of the claims of a model; `evidence` has the verdict of each."""

    domain: Domain  #: the variables
    evidence: Evidence  #: the verdicts and the rows they come from
    model: Model  #: what was checked; a graph has the states of the rows
    overall: Overall | None = None  #: the test of the structure as a whole, if it was asked for
    is_graph: bool = False  #: the model is a graph: each pair has one claim at most
    hidden: tuple[str, ...] = ()  #: variables of the graph that the rows lack
    notes: tuple[str, ...] = ()  #: how the rows of a graph were read
    places: tuple[Interaction, ...] = ()  #: where contradicted associations of a graph differ

    @property
    def claims(self) -> tuple[ClaimEvidence, ...]:
        """Every claim that was tested, in the order of the pairs."""
        return self.evidence.claims

    @property
    def contradicted(self) -> list[ClaimEvidence]:
        """The claims of independence that the rows contradict, smallest p first."""
        return self.evidence.contradicted

    @property
    def verdict(self) -> str:
        """The conclusion in a few sentences."""
        if self.overall is None:
            return self._graph_verdict if self.is_graph else self.evidence.summary
        p_value, needed = self.overall.p_value, ceil(1 / self.evidence.level) - 1
        if p_value is None or len(self.overall.simulated) < needed:
            return (
                f"{self.evidence.summary} The overall test did not finish: "
                f"{len(self.overall.simulated)} of at least {needed} simulated data sets."
            )
        contradict = "contradict" if p_value <= self.evidence.level else "do not contradict"
        start = f"Overall, the rows {contradict} the structure ({p_is(p_value)})."
        return f"{start} {self.evidence.summary}"

    @property
    def _graph_verdict(self) -> str:
        """Which independences the rows contradict, and which edges they do not show."""
        claims, evidence = self.claims, self.evidence
        edges = [c for c in claims if c.dependent and c.verdict != UNTESTABLE]
        apart = [c for c in claims if not c.dependent and c.verdict != UNTESTABLE]
        wrong, unseen = self.contradicted, evidence.with_verdict(NOT_SUPPORTED)
        parts = []
        if apart:
            named = f" ({_first_pairs(wrong)})" if wrong else ""
            of = f"{len(wrong) or 'none'} of the {len(apart)} independences"
            if len(apart) == 1:
                of = f"the one independence ({_first_pairs(apart)})"
            verb = "contradict" if wrong or len(apart) > 1 else "do not contradict"
            parts.append(f"{verb} {of} that the graph claims{named * (len(apart) > 1)}")
        if edges:
            named = f" (not {_first_pairs(unseen)})" if unseen else ""
            shown = len(edges) - len(unseen)
            of = f"show {shown or 'none'} of its {len(edges)} edges{named}"
            if len(edges) == 1:
                of = f"{'show' if shown else 'do not show'} its edge {_first_pairs(edges)}"
            parts.append(of)
        untestable = len(claims) - len(edges) - len(apart)
        text = f"{evidence.rows_text} {' and '.join(parts)}." if parts else ""
        if untestable:
            text += f" {plural(untestable, 'claim')} could not be tested."
        if evidence.unfinished:
            text += f" The time limit ended the check with {len(claims)} claims tested."
        return text.strip() or "There are no claims to test."

    def records(self) -> list[dict[str, Any]]:
        """Return every claim as a flat mapping."""
        return self.evidence.records()

    def __repr__(self) -> str:
        return f"Check({len(self.claims)} claims, {len(self.contradicted)} contradicted)"


def check(
    model: ModelLike | Any,
    rows: Any,
    *,
    pairs: Iterable[Pair] | None = None,
    variables: Iterable[str] | None = None,
    context: Assignment | None = None,
    regions: int = REGIONS,
    dependencies: bool = True,
    fdr: float = 0.05,
    overall: int = 0,
    time_limit: float | None = None,
    seed: Seed = 0,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> Check:
    """Test the claims of a model against rows.

    Parameters
    ----------
    model : model or graph, or path of its file; only its structure matters
        A graph without states, such as one of dagitty, bnlearn, networkx, pgmpy or causal-learn, or
        its text (``"dag { A -> B }"``), takes the states from the rows. Its variables that the rows
        lack count as hidden.
    rows : frame, array, list of rows, or path of a data file
        They must be independent of each other, or have a ``subject`` (see `read_data`).
    pairs : only these pairs of names
    variables : only the pairs inside this set of names
    context : partial assignment; only contexts and rows that agree with it
    regions : number of regions of each kind to test per pair, those with most contexts
    dependencies : whether to test claims of dependence as well
    fdr : the false discovery rate, for each kind of claims
    overall : number of data sets to simulate for the test of the structure as a whole
        0 for no such test. The p-value is at least 1 / (1 + overall), so use 99 or more.
    time_limit : seconds; pairs and simulations that are not finished then are left out and counted
    seed : generator or seed of the simulated data sets
    n_jobs : number of processes for the simulations; -1 means one per core
    cluster : address of a Dask scheduler, or a Dask client; replaces ``n_jobs``
    show_progress : bool, or a function of (done, total): simulations

    Returns
    -------
    Check
        ``model.with_evidence(check.evidence)`` keeps the verdicts with the model, unless the check
        was restricted to a context.

    Raises
    ------
    DomainError
        If there are no rows, or none that agrees with the context.

    Examples
    --------
    The structure has A and B independent where C=0. In the rows they are equal there, too.

    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> result = check(model, rows, overall=99)
    >>> [(claim.pair, claim.when) for claim in result.contradicted], result.overall.p_value
    ([(('A', 'B'), 'C=0')], 0.01)
    """
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    if regions < 1:
        raise ContextwiseError(f"regions must be >= 1, got {regions}")
    if overall < 0:
        raise ContextwiseError(f"overall must be >= 0, got {overall}")
    check_level(fdr, "fdr")
    model = network_of(model)
    whole = structure_of(model)
    about: dict[str, Any] = {"is_graph": is_plain_graph(whole)}
    if whole.origin.unknown_states:
        data = as_data_of_graph(rows, whole.domain.names)
        hidden = tuple(name for name in whole.domain.names if name not in data.domain.positions)
        about = {"is_graph": True, "hidden": hidden, "notes": tuple(map(str, data.notes))}
        model = whole = graph_over(whole, data.domain)
    else:
        data = as_data(rows, whole.domain, following(whole))
    learned = whole.origin.learned
    seen = whole.origin.saw(data.fingerprint)
    question = pose([model], pairs=pairs, variables=variables, context=context)
    (structure,) = question.structures
    if question.box and (data.subjects is not None or data.row_weights is not None):
        raise ContextwiseError(
            "a check in a context cannot use subjects or weights of rows; leave out one of them"
        )
    if question.box:
        counts, inside = data.multiplicity, question.box.rows(data.rows)
        counts = None if counts is None else counts[question.box.agrees(data.rows)]
        data = replace(data, domain=question.domain, rows=inside, multiplicity=counts)
    if not len(data):
        why = "no row agrees with the context" if context else "there are no rows"
        raise DomainError(f"{why}, so there is nothing to check")
    if context:  # a context may open trails of a network
        structure = Structure(structure.domain, structure.features, origin=structure.origin)
    chosen = None if pairs is None and variables is None else question.asked_pairs.tolist()
    if overall and (data.subjects is not None or data.row_weights is not None):
        raise ContextwiseError(
            "the overall test draws independent rows that count alike; leave out --overall, or "
            "the subjects and weights of rows"
        )
    evidence = judge_claims(
        structure,
        data,
        level=fdr,
        pairs=chosen,
        regions=regions,
        effort=effort,
        seen_by_learner=seen,
        used_by_learner=seen and learned is not None and learned.by_test,
        deadline=effort.deadline,
        dependencies=dependencies,
    )
    if about["is_graph"]:
        about["places"] = tuple(_places(evidence, data, effort.deadline))
    result = Check(structure.domain, evidence, model=model, **about)
    if overall:
        require_features(structure, "the overall test")
        tested = {structure.domain.pair(claim.pair) for claim in evidence.claims}
        test = partial(_statistic, structure, sorted(tested), regions, effort.deadline)
        return replace(result, overall=_overall(test, structure, data, seed, overall, effort))
    return result


def _places(evidence: Evidence, data: Data, deadline: Deadline) -> Iterator[Interaction]:
    """Yield the contradicted associations that differ by a variable, in each of its states."""
    differing = [claim for claim in evidence.contradicted if claim.context][:MOST_PLACES]
    tests = RowTests(data) if differing else None
    for claim in differing:
        if tests is not None and deadline.left() != 0:
            held = [name for name in claim.given if name != claim.context]
            yield tests.same(claim.pair, claim.context, held)


def _first_pairs(claims: Sequence[ClaimEvidence]) -> str:
    """Name the pairs of some claims, the first three."""
    names = [between(claim.pair) for claim in claims[:3]]
    return ", ".join(names) + (f" and {len(claims) - 3} more" if len(claims) > 3 else "")


# -- the structure as a whole ----------------------------------------------------------------------


def _overall(
    test: partial[float],
    structure: Structure,
    data: Data,
    seed: Seed,
    simulations: int,
    effort: Effort,
) -> Overall:
    """Compare the statistic with data sets drawn from the structure, fitted to the rows.

    The statistic does not use the weights, so nothing has to be fitted again to a drawn data set.
    """
    deadline, statistic = effort.deadline, 0.0
    try:
        statistic = test(data)
        model, exact = _fitted(structure, data, deadline)
    except deadline.out_of_time:
        return Overall(statistic, (), True)
    seeds = np.random.default_rng(seed).integers(2**62, size=simulations).tolist()
    simulate = partial(_simulate, test, model, len(data), deadline)
    finished: dict[int, float | None] = {}
    with effort.showing("simulating data sets") as shown:
        for drawn, value in shown.each("simulating data sets", simulate, seeds):
            finished[drawn] = value
            shown.report(len(finished), simulations)
    values = (finished.get(each) for each in seeds)
    return Overall(statistic, tuple(value for value in values if value is not None), exact)


def _statistic(
    structure: Structure, pairs: Sequence[PairIndex], regions: int, deadline: Deadline, data: Data
) -> float:
    """Return the sum of -log p over the claims of independence."""
    table = CountedRows.of(data)
    tested = evaluate_claims(structure, table, pairs, regions=regions, deadline=deadline)
    return sum(-log(max(p, 1e-300)) for _, p in tested)


def _fitted(structure: Structure, data: Data, deadline: Deadline) -> tuple[LogLinear, bool]:
    """Fit the structure to the rows; also return whether sampling from it is exact.

    Every state gets a feature of its own, which makes no claim, so that the marginals are right.
    """
    from contextwise.distributions.fitting import fit
    from contextwise.distributions.inference import log_partition

    deadline.check()
    domain = structure.domain
    literals = {tuple(feature): None for feature in structure.features.literals()}
    for v, cardinality in enumerate(domain.cardinalities):
        # Features of single variables fit their margins; the last state follows from the others.
        literals |= {((v, 1 << state),): None for state in range(cardinality - 1)}
    whole = Structure(domain, features_of(domain, [list(feature) for feature in literals]))
    try:
        model = fit(whole, data, method="likelihood").model
        log_partition(model)
    except TooLargeError:
        return fit(whole, data).model, False
    return model, True


def _simulate(
    test: partial[float], model: LogLinear, rows: int, deadline: Deadline, seed: int
) -> float | None:
    """Draw a data set and return its statistic; None if time is up."""
    from contextwise.distributions.sampling import draw

    def stop(done: int, total: int) -> None:
        deadline.check()

    try:
        deadline.check()
        drawn = draw(model, rows, seed=seed, show_progress=stop).positions
        return test(Data(model.domain, drawn))
    except deadline.out_of_time:
        return None
