"""Conclude from rows: read them, test each pair, ask where associations differ, learn a structure.

`analyse` asks two questions. *What do the rows show?* Each pair of variables is tested given all
others, on all rows (`contextwise.evidence.row_tests`). No structure takes part, so the same file
gives the same verdicts with any learner and seed. *Where?* For each pair of the outcome, or of all,
and each third variable: is the association the same in all its states? The structure comes last.
Its regions were found by looking at these rows, so its claims are *found and tested on the same
rows*.

The result has facts alone; `contextwise.report` turns them into sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from contextwise.analysis.groups_of_rows import GroupsOfColumns, for_groups, grouped, groups
from contextwise.analysis.resampling import Repeats
from contextwise.comparison.question import Pair
from contextwise.data.columns import DataSummary
from contextwise.data.draws import split_rows
from contextwise.data.options import RowOptions, row_options
from contextwise.data.rows import Data, DataLike, as_advised
from contextwise.errors import DomainError, OpenResult, TooLargeError
from contextwise.evidence.claim_tests import judge_claims
from contextwise.evidence.pair_records import Interaction, PairEvidence, PairsTested, Settings
from contextwise.evidence.row_tests import RowTests
from contextwise.evidence.same_association import question_work
from contextwise.learning import DEFAULT_LEARNER
from contextwise.learning.base import Learner, as_learner
from contextwise.models.evidence import Evidence
from contextwise.models.structure import Model, Structure, structure_of
from contextwise.support.effort import Deadline, Effort, Progress, limited_reading
from contextwise.support.files import write_bytes
from contextwise.support.formatting import Printed, as_csv, listed, plural, renderers
from contextwise.support.machine import one_thread

__all__ = ["Analysis", "analyse"]

MOST_VARIABLES = 200
"""More variables need a choice of the user."""
FEWEST_ROWS = 10
MOST_QUESTIONS, MOST_QUESTION_WORK = 300, 8e8
"""Triples of variables, and the work of their tests (see `question_work`). Of more, only the
clearest associated pairs are asked."""
HALVES_SECONDS, FEWEST_HALVES, FEWEST_SECONDS = 10.0, 10, 30.0
"""Random halves are learned for this long, unless fewer are done; at most for `FEWEST_SECONDS`."""

Asked = Literal[
    "pairs with the outcome", "all pairs", "associated pairs", "clearest pairs", "no pair"
]
"""The pairs of which `Analysis.interactions` asks where they differ, by each third variable.
*clearest pairs*: the associated pairs with the smallest p, as many as the work allows."""


@dataclass(frozen=True)
class RowsUsed:
    """How many rows of the file were used, and why others were not."""

    used: int  #: observations; counted rows count as often as they occur
    without_outcome: int = 0  #: rows of the file without a value of the outcome
    incomplete: int = 0  #: rows with other missing values, if these were dropped
    without_weight: int = 0  #: rows whose survey weight is 0


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Printed):
    """The result of `analyse`: facts about each pair, and the structure of all of them."""

    title: str  #: the name of the file
    data: Data  #: the rows that were used
    pairs: PairsTested  #: what the rows show about each pair: those of the outcome, then by p
    interactions: tuple[Interaction, ...]  #: is an association the same in all states of a third?
    asked: Asked  #: of which pairs
    rows: RowsUsed
    structure: Structure  #: with its evidence; `Structure.origin` has the learner
    found: bool  #: the structure was learned here, not given
    evidence: Evidence  #: of the claims of the structure, found and tested on the same rows
    halves: Repeats | None = None  #: structures learned again from random halves
    groups: GroupsOfColumns | None = None  #: of the columns named with ``by``
    smallest_count: int = 0  #: what reveals fewer rows is not to be shown
    summary: DataSummary | None = None  #: the columns of the file
    options: RowOptions = RowOptions()  #: the options that were used  # noqa: RUF009
    found_counts: str | None = None  #: the column of counts, if the user did not name it
    unfinished: tuple[str, ...] = ()  #: what Ctrl-C or the time limit left out

    @property
    def settings(self) -> Settings:
        """How the rows were used: level, outcome, ordered variables, weights and subjects."""
        return self.pairs.settings

    @property
    def outcome(self) -> str | None:
        """The variable in question."""
        return self.settings.outcome

    def differing(self, first: str, second: str) -> Iterator[Interaction]:
        """Yield the third variables between whose states the association of a pair differs."""
        pair = {first, second}
        return (i for i in self.interactions if {*i.pair} == pair and i.verdict == "differs")

    def records(self) -> list[dict[str, Any]]:
        """Return a flat mapping per pair: verdict, p, strength, and the first effect."""
        return [_flat(each.record()) for each in self.pairs]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row per pair."""
        from contextwise.errors import require

        return require("pandas", "frames").DataFrame(self.records())

    def to_html(self, path: str | Path, *, command: str = "", model: str = "") -> None:
        """Write the page to show to others: one file that needs no network."""
        page = renderers("analysis_page").page_of_analysis(self, command=command, model=model)
        write_bytes(path, page.encode("utf-8"))

    def to_csv(self, folder: str | Path) -> None:
        """Write the table of the outcome, and pairs, effects and differences, into a folder."""
        least = self.smallest_count  # crude numbers would tell what is hidden
        tables = {
            "pairs": self.records(),
            "effects": [
                _of_pair(e.pair, asdict(replace(f, crude=None if least else f.crude)))
                for e in self.pairs
                for f in e.effects
                if f.rows >= least
            ],
            "differences": [_of_difference(each) for each in self.interactions],
        }
        if self.outcome is not None:
            shown = renderers("analysis_parts").outcome_table(self)
            tables["outcome"] = shown.records()
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, records in tables.items():
            write_bytes(Path(folder) / f"{name}.csv", as_csv(records).encode("utf-8"))

    def plot(self) -> Any:
        """Return the picture of all pairs for a notebook; its ``write("pairs.svg")`` saves it."""
        return renderers("analysis_drawings").PairsPicture(self)

    def document(self) -> dict[str, Any]:
        """Return everything as a mapping for JSON."""
        learned = self.structure.origin.learned
        return {
            "data": self.title,
            "settings": asdict(self.settings),
            "rows": asdict(self.rows),
            "pairs": self.pairs.records(),
            "interactions": [each.record() for each in self.interactions],
            "asked": self.asked,
            "learner": learned and learned._asdict(),
            "structure": self.evidence.records(),
            "groups": self.groups and self.groups.document(),
            "reading": {"options": self.options.words(), "notes": list(self.data.notes)},
            "columns": [column.record() for column in self.summary.columns] if self.summary else [],
            "unfinished": list(self.unfinished),
        }

    def __repr__(self) -> str:
        shown = sum(each.associated for each in self.pairs)
        of = f", outcome {self.outcome}" if self.outcome else ""
        pairs = plural(len(self.pairs), "pair")
        return f"Analysis({self.title}{of}: {shown} of {pairs} associated)"


def _of_pair(pair: Pair, record: dict[str, Any]) -> dict[str, Any]:
    return {"first": pair[0], "second": pair[1], **record}


def _of_difference(each: Interaction) -> dict[str, Any]:
    """Return an interaction without its effects, which have their own lengths."""
    record = {key: value for key, value in each.record().items() if key not in ("pair", "states")}
    texts = {key: ", ".join(v) for key, v in record.items() if isinstance(v, tuple)}
    return _of_pair(each.pair, record | texts)


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Replace the pair by both names, lists by text, and effects by the first of them."""
    first, second = record.pop("pair")
    effects = record.pop("effects")
    texts = {key: ", ".join(v) for key, v in record.items() if isinstance(v, tuple)}
    keys = ("kind", "of", "by", "state", "at", "reference", "estimate", "low", "high", "crude")
    effect = effects[0] if effects else dict.fromkeys(keys)
    named = {f"effect_{key}": effect[key] for key in keys}
    return {"first": first, "second": second, **record, **texts, **named}


# -- the analysis ----------------------------------------------------------------------------------


def analyse(
    rows: DataLike,
    *,
    outcome: str | None = None,
    learner: Any = None,
    by: str | Sequence[str] = (),
    resamples: int = 100,
    level: float = 0.05,
    smallest_count: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **reading: Any,
) -> Analysis:
    """Analyse rows: which variables are associated, how strongly, where, and how surely.

    Parameters
    ----------
    rows : path, name of a data set, DataFrame, array, or list of rows
        Columns that need a decision are read as `summarize_data` advises; the result lists the
        decisions.
    outcome : the variable in question
        Its pairs come first and are corrected among themselves. Rows without it are dropped.
    learner : Learner, class or name; by default the rows choose between two
        It finds the structure. The verdicts about pairs do not depend on it.
    by : column of groups, or several: is each association the same in all groups?
    resamples : most random halves to learn from again, for ten seconds, or 30 if fewer than ten
    level : of the tests, after Holm's correction
    smallest_count : hide what reveals groups of fewer rows on the page
    seed : of the random halves; verdicts about pairs do not depend on it
    time_limit : seconds for everything
    show_progress : bool, or a function of (done, total)
    **reading : how to read the rows, as in `read_data`
        Among them are ``row_weights`` (a column of survey weights), ``subject`` and ``ordered``.

    Returns
    -------
    Analysis

    Examples
    --------
    >>> result = analyse("titanic", outcome="survived", resamples=0)
    >>> result
    Analysis(titanic, outcome survived: 6 of 6 pairs associated)
    >>> [(each.pair, each.verdict) for each in result.pairs.of_outcome][0]
    (('sex', 'survived'), 'associated')
    """
    effort = Effort.of(time_limit, show_progress=show_progress)
    columns = [by] if isinstance(by, str) else list(by)
    given = for_groups(row_options(**reading), columns)._replace(outcome=outcome)
    if outcome is not None and outcome in (given.subject, given.row_weights):
        raise DomainError(f"{outcome!r} cannot be the outcome and the subject or the weights")
    with limited_reading(effort.deadline):
        data, options, summary = as_advised(rows, given)
    _check(data, outcome)
    for column in columns:  # refuse bad groups before anything is tested
        grouped(data, column)
    tests = RowTests(data, level=level)  # its draws have a fixed seed
    with one_thread():
        pairs = tests.pairs(outcome=outcome, effort=effort)
        pairs, interactions, asked, late = _where(tests, pairs, effort)
    unfinished = [f"{plural(pairs.unfinished, 'pair')} not tested"] if pairs.unfinished else []
    unfinished += [f"{plural(late, 'test')} of equal association"] if late else []
    configured = as_learner(DEFAULT_LEARNER if learner is None else learner)
    if unfinished:  # by the time limit or Ctrl-C
        structure, again = Structure(data.domain), ["the learner not started"]
    else:
        structure, again = _learn(data, configured, effort)
    unfinished += again
    evidence = _judged(structure, data, pairs, bool(unfinished), effort)
    halves = None
    if resamples and not unfinished:
        halves = _halves(data, configured.settled(data), evidence, resamples, seed, effort)
    compared = _groups(data, columns, seed, effort) if columns and not unfinished else None
    if columns and compared is None:
        unfinished.append(f"the groups of {listed(columns)} not compared")
    return Analysis(
        title=Path(rows).name if isinstance(rows, str | Path) else "the rows",
        data=data,
        pairs=pairs,
        interactions=interactions,
        asked=asked,
        rows=RowsUsed(len(data), **data.left_out),
        structure=structure.with_evidence(evidence),
        found=True,
        evidence=evidence,
        halves=halves if halves and halves.count else None,
        groups=compared,
        smallest_count=smallest_count,
        summary=summary,
        options=options,
        found_counts=options.counts if given.counts is None else None,
        unfinished=tuple(unfinished),
    )


def _where(
    tests: RowTests, pairs: PairsTested, effort: Effort
) -> tuple[PairsTested, tuple[Interaction, ...], Asked, int]:
    """Ask whether associations are the same in all states of each third variable.

    A pair that differs is associated, if not on average.

    If there are too many questions, only associated pairs are asked, those with the smallest p
    first. That choice looks at the pair on average, so it favours no answer.
    """
    outcome = pairs.settings.outcome
    among = list(pairs if outcome is None else pairs.of_outcome)
    kind = "pairs" if outcome is None else f"pairs with {outcome}"
    asked: Asked = "all pairs" if outcome is None else "pairs with the outcome"
    name = f"all {kind}" if outcome is None else kind
    chosen = _affordable(tests, among)
    if len(chosen) < len(among):
        associated = [each for each in among if each.associated]
        chosen = _affordable(tests, associated)
        asked, name = "associated pairs", f"associated {kind}"
        if len(chosen) < len(associated):
            clearest = f"the {len(chosen)} clearest" if len(chosen) > 1 else "the clearest"
            asked, name = "clearest pairs", f"{clearest} of {len(associated)} associated {kind}"
    questions = _questions(tests, [each.pair for each in chosen])
    if pairs.unfinished or not questions:
        return pairs, (), "no pair", 0
    name = f"{name}, by each third variable"
    found = tests.interactions(questions, name, outcome=outcome, effort=effort)
    differs = {frozenset(each.pair): each.by for each in found if each.verdict == "differs"}
    judged = (
        replace(e, verdict="associated, not on average", context=differs[frozenset(e.pair)])
        if not e.associated and frozenset(e.pair) in differs
        else e
        for e in pairs
    )
    return replace(pairs, pairs=tuple(judged)), found, asked, len(questions) - len(found)


def _questions(tests: RowTests, pairs: Sequence[Pair]) -> list[tuple[Pair, str]]:
    return [(pair, third) for pair in pairs for third in tests.rows.names if third not in pair]


def _affordable(tests: RowTests, pairs: Sequence[PairEvidence]) -> list[PairEvidence]:
    """Return as many of the first pairs as can be asked about all third variables."""
    triples: set[frozenset[str]] = set()
    work = 0.0
    for number, each in enumerate(pairs):
        more = {frozenset((*pair, third)) for pair, third in _questions(tests, [each.pair])}
        work += len(more - triples) * question_work(tests.rows, *each.pair)
        triples |= more
        if len(triples) > MOST_QUESTIONS or work > MOST_QUESTION_WORK:
            return list(pairs[:number])
    return list(pairs)


def _learn(data: Data, learner: Learner, effort: Effort) -> tuple[Structure, list[str]]:
    """Learn the structure; return also what is unfinished. Ctrl-C keeps the best so far."""
    with suppress(OpenResult, KeyboardInterrupt):
        learner.fit(data, time_limit=effort.deadline.left(), show_progress=effort.show_progress)
        if learner.finished_:
            return learner.structure_, []
    found = getattr(learner, "structure_", Structure(data.domain))
    return found, ["the learner had not finished"]


def _judged(
    structure: Structure, data: Data, pairs: PairsTested, is_late: bool, effort: Effort
) -> Evidence:
    """Test the claims of the structure on all rows; none after Ctrl-C."""
    deadline = Deadline.after(0.0) if is_late else effort.deadline
    try:
        return judge_claims(
            structure,
            data,
            level=pairs.settings.level,
            seen_by_learner=True,
            deadline=deadline,
            known=None if pairs.unfinished else pairs,
        )
    except KeyboardInterrupt:
        return _judged(structure, data, pairs, True, effort)


def _groups(data: Data, columns: list[str], seed: int, effort: Effort) -> GroupsOfColumns | None:
    left = effort.deadline.left()
    with suppress(OpenResult, KeyboardInterrupt):
        return groups(data, columns, seed=seed, time_limit=left, show_progress=effort.show_progress)
    return None


def _halves(
    data: Data, learner: Learner, evidence: Evidence, resamples: int, seed: int, effort: Effort
) -> Repeats:
    """Learn from random halves, and count the claims found again; Ctrl-C ends it."""
    found, start = Repeats(data.domain, evidence.claims), monotonic()
    with effort.showing("halves") as shown, suppress(KeyboardInterrupt, OpenResult):
        while found.count < resamples and not effort.deadline.passed:
            seconds = HALVES_SECONDS if found.count >= FEWEST_HALVES else FEWEST_SECONDS
            if found.count and monotonic() > start + seconds:
                break
            half, _ = split_rows(data, 0.5, [seed, 1, found.count])
            learner.fit(half, time_limit=effort.deadline.left())
            if not learner.finished_:
                break
            found.add(learner.structure_)
            shown.report(found.count, resamples)
    return found


def analysis_of(
    model: Model, data: Data, title: str, effort: Effort, outcome: str | None = None
) -> Analysis:
    """Return the analysis of rows next to a model that is known already."""
    structure = structure_of(model)
    tests = RowTests(data)
    with one_thread():
        pairs = tests.pairs(outcome=outcome, effort=effort)
        pairs, interactions, asked, late = _where(tests, pairs, effort)
    evidence = structure.evidence
    if evidence is None or evidence.fingerprint != data.fingerprint:
        evidence = _judged(structure, data, pairs, bool(pairs.unfinished), effort)
    count = pairs.unfinished + evidence.unfinished
    return Analysis(
        title=title,
        data=data,
        pairs=pairs,
        interactions=interactions,
        asked=asked,
        rows=RowsUsed(len(data), **data.left_out),
        structure=structure.with_evidence(evidence),
        found=False,
        evidence=evidence,
        unfinished=(f"{plural(count, 'pair')} not tested",) if count or late else (),
    )


def _check(data: Data, outcome: str | None) -> None:
    """Raise if the rows cannot be analysed."""
    varying = [
        name
        for name, counts in zip(data.domain.names, data.counts(), strict=True)
        if (counts > 0).sum() > 1
    ]
    if outcome is not None:
        if outcome in data.decisions.get("dropped", ()):
            raise DomainError(
                f"{outcome!r} was left out as a column of names or numbers of rows, so it cannot "
                f"be the outcome; choose another, or cut numbers into bins: --bins {outcome}=4"
            )
        data.domain.position(outcome)
    if len(data) < FEWEST_ROWS:
        raise DomainError(
            f"{plural(len(data), 'row')}: too few to show any association; "
            f"an analysis needs at least {FEWEST_ROWS}"
        )
    if len(varying) < 2:
        constant = [name for name in data.domain.names if name not in varying]
        same = f" ({', '.join(constant[:5])} never vary)" if constant else ""
        if dropped := data.decisions.get("dropped"):
            same += f" (left out: {', '.join(map(str, dropped[:5]))})"
        raise DomainError(
            f"{plural(len(varying), 'usable column')}{same}; an analysis needs two columns that "
            "vary: look at them with contextwise info"
        )
    if len(data.domain) > MOST_VARIABLES:
        raise TooLargeError(
            f"{len(data.domain)} columns; an analysis takes at most {MOST_VARIABLES}: choose some "
            "with --columns A,B,..., or learn a model with contextwise learn"
        )
