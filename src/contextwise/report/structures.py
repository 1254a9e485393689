"""Show one structure: where its pairs depend, its independencies as sentences, and the evidence.

The counts of one structure are those of its comparison with itself: a pair depends "in both" in the
contexts in which it depends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from contextwise.comparison.compare import Comparison, answer
from contextwise.comparison.question import Pair, pose
from contextwise.independence.independencies import (
    Independence,
    PairIndependencies,
    context_specific_independencies,
)
from contextwise.models.domain import Domain
from contextwise.models.evidence import ClaimEvidence, Evidence
from contextwise.models.notation import Literal, quoted, where
from contextwise.models.structure import Model, structure_of
from contextwise.report.evidence import SEEN
from contextwise.report.parts import (
    TOP,
    Cell,
    Note,
    PairName,
    Part,
    Share,
    Style,
    Table,
    makes_parts,
    table,
)
from contextwise.support.effort import Deadline, Effort
from contextwise.support.formatting import listed, name, plural, printable

MOST_GIVEN = 4  # variables that a sentence names after "given"
REGIONS = 3  # sentences about one pair
NOTEBOOK_LIMIT = 2.0  # seconds for the sentences of a structure that is shown
Key = tuple[str, str, frozenset[Literal]]


@dataclass(frozen=True, eq=False)
class OneModel:
    """The counts of one structure, and its independencies, the most general of each kind first.

    ``somewhere`` has pairs that depend in some contexts only, ``never`` pairs that never depend.
    ``evidence`` has what rows say about the claims, if they were tested.
    """

    comparison: Comparison
    somewhere: tuple[PairIndependencies, ...]
    never: tuple[PairIndependencies, ...]
    evidence: Evidence | None = None

    @property
    def dependent(self) -> int:
        """The number of pairs that depend in some context."""
        return sum(map(bool, self.comparison.known_counts[:, 0].tolist()))

    @property
    def first_pair(self) -> Pair | None:
        """The pair to show first: one that depends only somewhere, else one that depends."""
        if self.somewhere:
            return self.somewhere[0].first, self.somewhere[0].second
        names, pairs = self.comparison.domain.names, self.comparison.pairs
        return (names[pairs[0, 0]], names[pairs[0, 1]]) if len(pairs) else None

    @property
    def partly(self) -> int:
        """The number of finished pairs that depend in some contexts only."""
        return len(_partly(self.comparison))


def _partly(comparison: Comparison) -> list[int]:
    """Return the places of the pairs that depend in some contexts only, the rarest first."""
    counts, sizes = comparison.known_counts[:, 0].tolist(), comparison.sizes
    shares = {
        k: count / size
        for k, (count, size) in enumerate(zip(counts, sizes, strict=True))
        if count is not None and 0 < count < size
    }
    return sorted(shares, key=lambda k: shares[k])


def one_model(model: Model, *, top: int = TOP, time_limit: float | None = None) -> OneModel:
    """Count the contexts in which the pairs of a model depend, and find its independencies."""
    structure, deadline = structure_of(model), Deadline.after(time_limit)
    return described(
        answer(pose([structure, structure]), Effort(deadline)), top=top, deadline=deadline
    )


def described(comparison: Comparison, *, top: int, deadline: Deadline) -> OneModel:
    """Find ``top`` independencies of each kind, for the comparison of a structure with itself."""
    structure, pairs = comparison.true, comparison.pairs
    names = structure.domain.names
    never = np.ones((len(names), len(names)), dtype=bool)
    never[pairs[:, 0], pairs[:, 1]] = False
    never &= ~np.tri(len(names), dtype=bool)
    degree = np.bincount(pairs.ravel(), minlength=len(names))
    free = np.argwhere(never)
    # Variables with few neighbours come first: little has to be given.
    free = free[np.argsort(degree[free].min(axis=1, initial=len(names)), kind="stable")[:top]]

    def statements(chosen: Iterable[Sequence[int]]) -> tuple[PairIndependencies, ...]:
        made = []
        for i, j in chosen:
            if deadline.passed:
                break
            made.append(
                context_specific_independencies(
                    structure, names[i], names[j], top=REGIONS, time_limit=deadline.left()
                )
            )
        return tuple(made)

    partly = statements(pairs[_partly(comparison)[:top]].tolist())
    return OneModel(comparison, partly, statements(free.tolist()), structure.evidence)


# -- sentences -------------------------------------------------------------------------------------


def sentence(statement: Independence) -> str:
    """Write an independence as a sentence.

    >>> region = (Literal("class", ("3rd",)),)
    >>> sentence(Independence("age", "survived", region, ("sex",), 2, 0.25))
    'age and survived are independent when class=3rd, given sex'
    """
    text = f"{quoted(statement.first)} and {quoted(statement.second)} are {_how(statement)}"
    if statement.region:
        text += f" {where(statement.region)}"
    if statement.given:
        text += f", given {_enumerated(statement.given)}"
    return text


def _how(statement: Independence) -> str:
    weak = statement.weaker_than
    return "independent" if weak is None else f"weaker than {weak:g}"


def _enumerated(names: Sequence[str]) -> str:
    """List names as a sentence does; the last of many become a number."""
    shown = [printable(quoted(name)) for name in names[:MOST_GIVEN]]
    more = len(names) - len(shown)
    return listed([*shown, f"{more} more"] if more else shown)


def only_where(pair: PairIndependencies, domain: Domain) -> str | None:
    """Say where a pair depends, such as "only when class≠3rd", if that is short."""
    if len(pair.statements) != 1 or pair.unlisted or pair.undecided:
        return None
    region = pair.statements[0].region
    if len(region) > 1:
        return f"except {where(region)}"
    (excluded,) = region
    states = domain.states[domain.position(excluded.variable)]
    rest = tuple(state for state in states if (state in excluded.states) == excluded.negated)
    if len(rest) == 1 or excluded.negated:
        return f"only {where([Literal(excluded.variable, rest)])}"
    return f"only {where([excluded._replace(negated=True)])}"


def verdict(one: OneModel) -> str:
    """Say how many pairs depend, how many only in some contexts, and name the simplest of them."""
    domain, names = one.comparison.domain, one.comparison.domain.names
    if len(names) < 2:
        return f"The model has {plural(len(names), 'variable')}, so there is no pair to depend."
    pairs, dependent = len(names) * (len(names) - 1) // 2, one.dependent
    head = f"{len(names):,} variables, {dependent:,} of {plural(pairs, 'pair')}"
    head += " depend" if dependent != 1 else " depends"
    unfinished = len(one.comparison.unions.open_places)
    if unfinished:
        return f"{head}, and {plural(unfinished, 'pair')} not decided in time."
    if not dependent:
        return f"{len(names):,} variables, and no pair depends."
    if not one.partly:
        return f"{head}, {'each ' * (dependent > 1)}in every context."
    simple = [(pair, clause) for pair in one.somewhere if (clause := only_where(pair, domain))]
    if one.partly == 1 and simple:
        pair, clause = simple[0]
        return f"{head}; {name(pair.first)} and {name(pair.second)} {clause}."
    text = f"{head}, {one.partly:,} of them in some contexts only"
    if simple:
        pair, clause = min(simple, key=lambda entry: len(entry[0].statements[0].region))
        text += f"; {name(pair.first)} and {name(pair.second)}, for example, {clause}"
    return f"{text}."


# -- parts -----------------------------------------------------------------------------------------


@makes_parts("models.structure", "Structure", "LogLinear")
def _model_parts(model: Model, *, top: int = TOP) -> list[Part]:
    return one_model_parts(one_model(model, top=top, time_limit=NOTEBOOK_LIMIT), top=top)


def one_model_parts(one: OneModel, *, top: int = TOP) -> list[Part]:
    """Show the verdict, the independencies with their evidence, and the pairs that depend."""
    parts: list[Part] = [Note("verdict", verdict(one))]
    if top:
        parts += [*sentence_parts(one), pairs_table(one.comparison, top)]
    return [part for part in parts if not (isinstance(part, Table) and not part.rows)]


def sentence_parts(one: OneModel) -> list[Part]:
    """Show the independencies, those that hold in some contexts only first."""
    names = one.comparison.domain.names
    never = len(names) * (len(names) - 1) // 2 - one.dependent - len(one.comparison.open_pairs)
    weak = one.comparison.true.weaker_than
    how = "Independent" if weak is None else f"Weaker than {weak:g}"
    kinds = (
        (f"{how} in some contexts", one.somewhere, one.partly),
        (f"{how} in every context", one.never, never),
    )
    parts: list[Part] = []
    for title, pairs, count in kinds:
        more = f" ({len(pairs):,} of {plural(count, 'pair')})" if len(pairs) < count else ""
        if pairs:
            parts.append(sentence_table(f"{title}{more}", pairs, one))
    if not parts:
        return parts
    notes = [CLAIMED]
    if one.evidence is not None:
        notes = [EVIDENCE]
        if one.evidence.seen_by_learner:
            parts.insert(0, Note("learned from", SEEN, warns=True))
    parts.append(Note("evidence", " ".join(notes)))
    return parts


EVIDENCE = (
    "Rows: how many of the rows in the region of a sentence carry information about it. p: how "
    "often independent variables would differ this much."
)
CLAIMED = (
    "This is what the model claims; to see what rows say, run: contextwise check MODEL ROWS "
    "--out MODEL"
)


def sentence_table(title: str, pairs: Iterable[PairIndependencies], one: OneModel) -> Table:
    """Return a table of sentences; each has its evidence next to it, if there is some."""
    columns: dict[str, Style] = {"sentence": "text", "share of contexts": "share"}
    if one.evidence is not None:
        columns |= {"rows": "text", "verdict": "text", "test": "text"}
    tested = tests_of(one.evidence)
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        for statement in pair.statements:
            key = key_of(statement)
            cells: tuple[Cell, ...] = (
                sentence(statement),
                Share(statement.contexts, pair.contexts),
            )
            if one.evidence is not None:
                cells += evidence_cells(tested.get(key))
            rows.append(cells)
    return table(title, columns, rows, "sentences")


def key_of(statement: Independence) -> Key:
    return statement.first, statement.second, frozenset(statement.region)


def tests_of(evidence: Evidence | None) -> dict[Key, ClaimEvidence]:
    """Return the tested claims of independence by pair and region."""
    claims = evidence.of("independent") if evidence else []
    return {(*claim.pair, frozenset(claim.region)): claim for claim in claims}


def evidence_cells(claim: ClaimEvidence | None) -> tuple[str, str, str]:
    """Return the rows that carry information, the verdict, and the test of an independence."""
    if claim is None:
        return "–", "not tested", "–"
    return f"{claim.informative:,} of {claim.rows:,}", claim.verdict, claim.finding


def pairs_table(comparison: Comparison, top: int = TOP) -> Table:
    """Return the pairs that depend, those in the most contexts first."""
    counts, sizes = comparison.known_counts[:, 0].tolist(), comparison.sizes
    known = [k for k, count in enumerate(counts) if count]
    known.sort(key=lambda k: -(counts[k] / sizes[k]))
    more = f" ({top:,} of {len(known):,})" if len(known) > top else ""
    names = comparison.domain.names
    rows = (
        (PairName(*(names[v] for v in comparison.pairs[k].tolist())), Share(counts[k], sizes[k]))
        for k in known[:top]
    )
    columns: dict[str, Style] = {"pair": "text", "dependent": "share"}
    return table(f"Pairs that depend, by their share of contexts{more}", columns, rows, "pairs")
