"""Test whether groups of rows have different structures, and show in which contexts.

**Statistic.** A learner makes one structure of the rows of each group. The statistic of two groups
is the normalized distance of their structures, that of one pair of variables the share of contexts
in which they differ on it, and for more than two groups both are means over the pairs of groups.
With ``resamples`` each group has one structure per random half of its rows, and the statistic is
the fair distance of these ensembles (`contextwise.evaluation.ensemble_scores`). In the ``joint``
design one structure is learned with the group as a variable; its restrictions to the groups are
compared.

**Null.** All rows come from one distribution, so the labels of the groups are exchangeable. Each
permutation learns again. With B permutations p = (1 + #{T_b >= T}) / (B + 1), and ties count, so p
is conservative. Pairs of variables are adjusted by the largest statistic of each permutation
(max-T, Westfall and Young 1993). Pairs of groups permute only the rows of these two groups, and
have Holm's correction.

Statistics are exact integers over a common denominator, so ties are ties. Permutation b draws from
a seed of its own, so results do not depend on the number of processes.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload
from zlib import crc32

import numpy as np

from contextwise.comparison.explain import explain
from contextwise.comparison.question import Pair, Question, pose
from contextwise.counting.contract import DEFAULT, get_engine
from contextwise.counting.extraction import covered_pairs
from contextwise.data.options import RowOptions, find_names, row_options
from contextwise.data.rows import Data, DataLike, as_data
from contextwise.errors import ContextwiseError, DomainError, MissingPackage, OpenResult
from contextwise.evaluation.replicates import holm
from contextwise.formats import encode, write
from contextwise.formats.json import read as read_json
from contextwise.formats.reading import Source
from contextwise.learning.base import Learner, as_learner, fresh, learner_configuration
from contextwise.learning.run import Run
from contextwise.models.domain import Assignment, Domain
from contextwise.models.features import Features
from contextwise.models.notation import Literal as ValueLiteral
from contextwise.models.notation import between, where
from contextwise.models.structure import Structure, structure_of
from contextwise.support.arrays import IntArray, ObjectArray
from contextwise.support.effort import Effort
from contextwise.support.formatting import Printed, listed, percent, plural
from contextwise.support.progress import Progress
from contextwise.support.store import Store, Unit, read_configuration, read_records, run_units

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Populations", "PopulationsOfColumns", "populations"]

Design = Literal["separate", "joint"]
Values = Mapping[int, int]
"""The statistic of each pair of variables that has one, by the place of the pair."""

PERMUTATIONS = 499
ALPHA = 0.05
LEAST_ROWS = 5
"""With fewer rows per group on average, a column of three or more values looks like an ID."""
FEWEST = 19
"""The fewest permutations after a time limit; fewer cannot reach a p-value of 0.05."""
MOST_PEOPLE = 10**9
"""NumPy draws from fewer people than this."""
BATCH_SECONDS, LARGEST_BATCH = 2.0, 25
"""A unit of work takes about this long, and has at most this many permutations."""
REMEMBERED = 1_000
"""Number of comparisons of two structures that are kept: equal ones are compared once."""
REGIONS = 3
"""Number of regions per pair of variables and pair of groups."""
MANY_TIES = 0.1
"""Share of permutations that tie with the observed distance from which results mention it."""
KIND = "populations"
KEPT = ("learner", "design", "resamples", "subject", "context")
"""Keys of a run's configuration that are fields of its result."""


# -- results ---------------------------------------------------------------------------------------


class Group(NamedTuple):
    """One group: its rows, the structure learned from them, and the variables that never vary."""

    name: str
    rows: int
    structure: Structure
    constant: tuple[str, ...] = ()


class GroupDifference(NamedTuple):
    """The distance of two groups, and its p-values."""

    first: str
    second: str
    distance: Fraction  #: normalized; fair with resamples, so it may be below 0
    expected: float  #: its mean over the permutations
    p_value: float
    adjusted: float  #: after Holm's correction over all pairs of groups


class VariablePair(NamedTuple):
    """The share of contexts in which the groups differ on one pair of variables."""

    first: str
    second: str
    share: Fraction
    p_value: float
    adjusted: float  #: by the largest share of each permutation (max-T)

    @property
    def pair(self) -> Pair:
        """The names of the two variables."""
        return self.first, self.second


class GroupRegion(NamedTuple):
    """A region of contexts in which two variables depend in one of two groups only."""

    first: str
    second: str
    only_in: str  #: the group that has the dependence
    not_in: str
    when: tuple[ValueLiteral, ...]
    share: Fraction  #: of the pair's contexts

    def __str__(self) -> str:
        share = "" if self.share == 1 else f" ({percent(self.share, 1)} of contexts)"
        return (
            f"{between(self[:2])} depend only in {self.only_in}, not in {self.not_in}, "
            f"{where(self.when)}{share}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Populations(Printed):
    """The structures of the groups of one column, how far apart they are, and p-values."""

    by: str  #: the column of the groups
    groups: tuple[Group, ...]
    distance: Fraction  #: normalized, the mean over the pairs of groups
    expected: float  #: its mean over the permutations
    p_value: float  #: of all groups together
    pairwise: tuple[GroupDifference, ...]
    variable_pairs: tuple[VariablePair, ...]  #: that differ, the smallest adjusted p first
    permutations: int
    ties: int  #: permutations with exactly the observed distance; they count in p
    learner: str
    design: str
    resamples: int | None
    subject: str | None
    alpha: float
    context: Mapping[str, str]  #: the fixed states, by names
    adjusted: float | None = None  #: p after Holm's correction, if there are several columns

    @property
    def domain(self) -> Domain:
        """The variables that are compared, without the group."""
        return self.groups[0].structure.domain

    @property
    def final_p_value(self) -> float:
        """The p-value after Holm's correction if there are several columns, else the p-value."""
        return self.p_value if self.adjusted is None else self.adjusted

    @property
    def verdict(self) -> str:
        """Whether the groups differ, and on which variables, in two sentences."""
        names = listed([group.name for group in self.groups])
        p = f"p = {self.final_p_value:.2g}" + ("" if self.adjusted is None else " after Holm")
        if self.final_p_value > self.alpha:
            text = f"No evidence that the groups of {self.by} differ ({names}): {p}. That does not "
            text += "show that they are equal."
            if self.resamples is None and self.ties >= MANY_TIES * self.permutations:
                ties = f"{self.ties:,} of {self.permutations:,} permutations"
                text += f" {ties} have exactly this distance and count in p; resamples break ties."
            return text
        text = f"The groups of {self.by} differ ({names}): {p}."
        pairs = [between(each.pair) for each in self.significant]
        if not pairs:
            return f"{text} No single pair of variables is significant."
        more = f" and {len(pairs) - 3:,} more" if len(pairs) > 3 else ""
        return f"{text} Significant on {', '.join(pairs[:3])}{more}."

    @property
    def significant(self) -> tuple[VariablePair, ...]:
        """The pairs of variables whose adjusted p-value is at most alpha."""
        return tuple(each for each in self.variable_pairs if each.adjusted <= self.alpha)

    def explained(self, top: int | None = None) -> list[GroupRegion]:
        """Return regions of the significant pairs; of all, if the groups differ but no pair does.

        ``top`` is the largest number of pairs.
        """
        pairs = self.significant
        if not pairs and self.final_p_value <= self.alpha:
            pairs = self.variable_pairs
        return [region for each in pairs[:top] for region in self.regions(*each.pair)]

    def regions(self, first: str, second: str, *, top: int = REGIONS) -> list[GroupRegion]:
        """Return where two variables depend in one group only, for each pair of groups.

        With ``resamples``, these are the structures of all rows of each group.
        """
        asked: dict[str, Any] = {"pairs": [(first, second)], "context": self.context or None}
        regions = []
        for one, other in combinations(self.groups, 2):
            names = {"true": (one.name, other.name), "guess": (other.name, one.name)}
            for pair in explain(one.structure, other.structure, top=top, **asked).pairs:
                regions += [
                    GroupRegion(*pair.pair, *names[each.only_in], each.literals, each.share)
                    for each in pair.regions
                ]
        return regions

    def record(self) -> dict[str, object]:
        """Return everything but the lists as one flat mapping."""
        lists = ("groups", "pairwise", "variable_pairs")
        flat = {key: value for key, value in vars(self).items() if key not in lists}
        return flat | {"distance": float(self.distance), "context": dict(self.context)}

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per pair of variables that differs."""
        return [{"by": self.by, **_plain(each)} for each in self.variable_pairs]

    def document(self, top: int | None = None) -> dict[str, object]:
        """Return everything as a mapping for JSON, with the regions of `explained`."""
        return {
            "verdict": self.verdict,
            **self.record(),
            "groups": [
                {
                    "group": group.name,
                    "rows": group.rows,
                    "features": len(group.structure),
                    "pairs": len(group.structure.pairs()),
                    "constant": list(group.constant),
                }
                for group in self.groups
            ],
            "pairwise": [_plain(each) for each in self.pairwise],
            "variable_pairs": [_plain(each) for each in self.variable_pairs],
            "regions": [
                _plain(each) | {"when": where(each.when), "sentence": str(each)}
                for each in self.explained(top)
            ],
        }

    def write_structures(self, folder: str | os.PathLike[str]) -> None:
        """Write the structure of each group to a folder, as ``column-group.json``."""
        stems: list[str] = []
        for group in self.groups:
            stem = re.sub(r"[^\w.+-]+", "_", f"{self.by}-{group.name}")
            stems.append(stem + "_" * stems.count(stem))
            write(group.structure, Path(folder) / f"{stems[-1]}.json")

    def __repr__(self) -> str:
        return f"Populations({self.by!r}, {len(self.groups)} groups, p={self.p_value:.3g})"


def _plain(values: Any) -> dict[str, object]:
    """Return a named tuple as a flat mapping."""
    flat = values._asdict()
    return {key: float(v) if isinstance(v, Fraction) else v for key, v in flat.items()}


class PopulationsOfColumns(Printed, list[Populations]):
    """The results of several columns of groups, with Holm's correction over them."""

    @property
    def verdict(self) -> str:
        """The columns whose groups differ, in one sentence."""
        differ = [each.by for each in self if each.final_p_value <= each.alpha]
        if not differ:
            names = listed([each.by for each in self])
            return f"No evidence that the groups of {names} have different structures."
        return f"The groups differ by {listed(differ)}, after Holm over {len(self)} columns."

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per column and pair of variables that differs."""
        return [record for each in self for record in each.records()]

    def document(self, top: int | None = None) -> dict[str, object]:
        """Return everything as a mapping for JSON."""
        return {"verdict": self.verdict, "columns": [each.document(top) for each in self]}


# -- learning and permuting ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """The rows of one column of groups, and what to do with them; pickled for other processes."""

    by: str
    names: tuple[str, ...]
    question: Question  # the pairs to compare, over the variables that the context leaves free
    domain: Domain  # the variables without the group
    cells: IntArray  # the distinct rows
    counts: IntArray  # how often each occurs in each group
    rows: tuple[IntArray, ...]  # cell, group and subject of each row; nothing if rows are counted
    learner: Any
    design: Design
    resamples: int | None
    seed: int

    def tests(self) -> list[tuple[int, ...]]:
        """Return the groups of each test: all of them, then each pair of three or more."""
        every = tuple(range(len(self.names)))
        return [every, *(combinations(every, 2) if len(every) > 2 else ())]

    def generator(self, *numbers: int) -> np.random.Generator:
        """Return the generator of one permutation; other columns do not change it."""
        # The same as the list [seed, hash of the name, *numbers], but faster.
        return np.random.default_rng(np.array([*self._entropy, *numbers], dtype=np.uint32))

    @cached_property
    def _entropy(self) -> list[int]:
        numbers = self.seed, crc32(self.by.encode())
        return [n >> 32 * k & 0xFFFFFFFF for n in numbers for k in range(1 + (n >= 1 << 32))]

    def permuted(self, groups: Sequence[int], generator: np.random.Generator) -> IntArray:
        """Exchange the labels of the people in some groups; return the counts of the cells."""
        if not self.rows:  # a table of counts: which of the people get a label
            counts = self.counts.copy()
            pool = counts[:, groups].sum(axis=1)
            for group in groups[:-1]:
                counts[:, group] = _drawn(pool, int(self.counts[:, group].sum()), generator)
                pool -= counts[:, group]
            counts[:, groups[-1]] = pool
            return counts
        rows = self.rows
        if len(groups) < len(self.names):
            inside = np.isin(rows[1], groups)
            rows = tuple(each[inside] for each in rows)
        cell_of, group_of, *subject_of = rows
        if subject_of:
            labels, (subjects,) = np.empty_like(group_of), subject_of
            # A random order within each subject: labels move only among the rows of one subject.
            order = np.lexsort((generator.random(len(subjects)), subjects))
            labels[order] = group_of[np.argsort(subjects, kind="stable")]
        else:
            labels = generator.permutation(group_of)
        places = np.bincount(cell_of * len(self.names) + labels, minlength=self.counts.size)
        drawn = places.reshape(self.counts.shape)
        if len(groups) < len(self.names):
            others = [group for group in range(len(self.names)) if group not in groups]
            drawn[:, others] = self.counts[:, others]
        return drawn

    def learn(
        self, counts: IntArray, groups: Sequence[int], generator: np.random.Generator
    ) -> list[list[Features]]:
        """Learn the structures of each group: one of all rows, or one of each random half."""
        learned: list[list[Features]] = [[] for _ in groups]
        for _ in range(self.resamples or 1):
            drawn = counts
            if self.resamples is not None:
                drawn = np.zeros_like(counts)
                for group in groups if self.design == "separate" else range(len(self.names)):
                    half = int(counts[:, group].sum()) // 2
                    drawn[:, group] = _drawn(counts[:, group], half, generator)
            for of_group, structure in zip(learned, self.structures(drawn, groups), strict=True):
                fixed = self.question.context
                of_group.append((structure.restrict(fixed) if fixed else structure).features)
        return learned

    def structures(self, counts: IntArray, groups: Sequence[int]) -> list[Structure]:
        """Learn one structure per group from the counts of the cells."""
        if self.design == "separate":
            return [self._learned(self.domain, self.cells, counts[:, group]) for group in groups]
        cell, label = np.nonzero(counts)
        rows = np.column_stack([self.cells[cell], label])
        joint = self._learned(self._joint_domain, rows, counts[cell, label])
        return [joint.restrict({self.by: self.names[group]}) for group in groups]

    @cached_property
    def _joint_domain(self) -> Domain:
        states = dict(zip(self.domain.names, self.domain.states, strict=True))
        return Domain({**states, self.by: self.names})

    def _learned(self, domain: Domain, cells: IntArray, counts: IntArray) -> Structure:
        seen = np.flatnonzero(counts)
        data = Data(domain, cells[seen], counts[seen])
        if getattr(type(self.learner), "fit", None) is Learner.fit:  # do not describe the rows
            return structure_of(self.learner.learn(data, Run())).aligned_to(domain)
        fitted = self.learner.fit(data.expanded, domain=domain)
        return structure_of(fitted.structure_).aligned_to(domain)

    # -- statistics --------------------------------------------------------------------------------

    @property
    def scale(self) -> int:
        """The factor that makes statistics of ensembles whole numbers of contexts."""
        r = self.resamples
        return 1 if r is None else r * (r - 1) * (r if self.design == "separate" else 1)

    def apart(self, learned: Sequence[Sequence[Features]]) -> list[Values]:
        """Return the statistics of each pair of groups: numbers of contexts, times `scale`."""
        if self.resamples is None:
            return [self._count(a, b) for (a,), (b,) in combinations(learned, 2)]
        joint = self.design == "joint"
        across, within = (1, 1) if joint else (self.resamples - 1, self.resamples)
        apart: list[Values] = []
        for g, h in combinations(learned, 2):
            terms = [  # structures of one half are not independent draws
                (across, a, b)
                for k, a in enumerate(g)
                for m, b in enumerate(h)
                if not (joint and k == m)
            ]
            terms += [(-within, a, b) for each in (g, h) for a, b in combinations(each, 2)]
            sums: Counter[int] = Counter()
            for factor, a, b in terms:
                for place, value in self._count(a, b).items():
                    sums[place] += factor * value
            apart.append({place: value for place, value in sums.items() if value})
        return apart

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {(i, j): k for k, (i, j) in enumerate(self.question.asked_pairs.tolist())}

    @cached_property
    def _known(self) -> dict[frozenset[bytes], Values]:
        return {}

    def _count(self, a: Features, b: Features) -> Values:
        """Count the contexts of each pair of variables in which two structures differ."""
        key = frozenset(
            features.starts.tobytes() + features.variables.tobytes() + features.values.tobytes()
            for features in (a, b)
        )
        if len(key) == 1:
            return {}
        if key not in self._known:
            pairs = covered_pairs(a, b, among=self.question.asked)
            counts = get_engine(DEFAULT).count_pairs(a, b, pairs, effort=Effort(threads=1))
            if counts.interrupted:
                raise KeyboardInterrupt
            if len(self._known) == REMEMBERED:
                self._known.clear()
            distances = zip(pairs.tolist(), counts.distances.tolist(), strict=True)
            self._known[key] = {self._places[i, j]: int(d) for (i, j), d in distances if d}
        return self._known[key]


def _drawn(counts: IntArray, size: int, generator: np.random.Generator) -> IntArray:
    """Draw people without replacement; return how many have each row."""
    return generator.multivariate_hypergeometric(counts, size, method="marginals")


def observe(plans: Mapping[str, Plan], by: str) -> list[dict[str, Any]]:
    """Learn the structures of the groups as they are, and compare them."""
    plan, began = plans[by], time.perf_counter()
    every, structures = range(len(plan.names)), []
    for groups in [[group] for group in every] if plan.design == "separate" else [every]:
        try:
            structures += plan.structures(plan.counts, groups)
        except MissingPackage:
            raise
        except Exception as error:
            group = f"the group {plan.names[groups[0]]!r} of {by!r}, " if len(groups) == 1 else ""
            rows = plural(int(plan.counts[:, groups].sum()), "row")
            raise ContextwiseError(f"cannot learn from {group}{rows}: {error}") from error
    learned = plan.learn(plan.counts, every, plan.generator())
    seconds = time.perf_counter() - began
    described = [
        {
            "name": name,
            "rows": int(plan.counts[:, group].sum()),
            "constant": _constant(plan, group),
            "model": json.loads(encode(structures[group], "json")),
        }
        for group, name in enumerate(plan.names)
    ]
    apart = [list(values.items()) for values in plan.apart(learned)]
    record = {"by": by, "groups": described, "apart": apart, "scale": plan.scale}
    return [{**record, "seconds": seconds}]


def _constant(plan: Plan, group: int) -> list[str]:
    """Return the variables that vary, but not in this group."""
    inside = plan.cells[plan.counts[:, group] > 0]
    alike = (inside == inside[0]).all(axis=0) & (plan.cells != plan.cells[0]).any(axis=0)
    return [plan.domain.names[v] for v in np.flatnonzero(alike).tolist()]


def permute(
    plans: Mapping[str, Plan], batch: tuple[str, int, Iterable[int]]
) -> list[dict[str, Any]]:
    """Permute, learn and compare: one record per permutation."""
    by, test, numbers = batch
    plan = plans[by]
    groups, records = plan.tests()[test], []
    for number in numbers:
        generator = plan.generator(test, number)
        learned = plan.learn(plan.permuted(groups, generator), groups, generator)
        apart = list(total(plan.apart(learned)).items())
        records.append({"by": by, "test": test, "number": number, "apart": apart})
    return records


def total(apart: Iterable[Values]) -> Values:
    """Return the sum over pairs of groups."""
    sums: Counter[int] = Counter()
    for values in apart:
        sums.update(values)
    return sums


# -- reading ---------------------------------------------------------------------------------------


def read_grouped(
    read: Callable[[RowOptions], Data], options: RowOptions, by: Sequence[str], subject: str | None
) -> Data:
    """Read rows with the columns of groups and subjects as categories, not as IDs."""
    needed = [*by, *([subject] if subject else [])]
    for name in needed:
        if name in options.drop:
            raise ContextwiseError(f"the column {name!r} is needed for the groups; do not drop it")
    binned = {text.rpartition("=")[0] for text in options.bins}
    how = options._replace(
        category=(*options.category, *(name for name in needed if name not in binned)),
        columns=(*options.columns, *needed) if options.columns else (),
    )
    try:
        rows = read(how)
    except DomainError as error:
        if not str(error).startswith("category: there is no column"):
            raise
        option = "subject" if f"column {subject!r}" in str(error) else "by"
        raise DomainError(f"{option}{str(error).removeprefix('category')}") from None
    find_names(needed, rows.domain.names, "by")
    return rows


def _plan(
    data: Data, by: str, subject: str | None, restriction: Mapping[str, Any], **settings: Any
) -> Plan:
    domain, column = data.domain, data.domain.position(by)
    apart = [column]
    if subject is not None:
        data = data.expanded
        apart.append(domain.position(subject))
    sizes = np.bincount(data.rows[:, column], data.multiplicity).astype(int)
    present = np.flatnonzero(sizes)
    names = tuple(domain.states[column][state] for state in present)
    _check_groups(by, dict(zip(names, sizes[present].tolist(), strict=True)), settings["resamples"])
    variables = domain.without(apart)
    if len(variables) < 2:
        raise ContextwiseError(
            f"there is nothing to compare: {plural(len(variables), 'variable')} next to {by!r}"
        )
    group_of = np.searchsorted(present, data.rows[:, column])
    cells, cell_of = np.unique(np.delete(data.rows, apart, axis=1), axis=0, return_inverse=True)
    cell_of = cell_of.ravel()
    counts = np.zeros((len(cells), len(names)), dtype=np.int64)
    np.add.at(counts, (cell_of, group_of), data.weights)
    rows: tuple[IntArray, ...] = () if data.multiplicity is not None else (cell_of, group_of)
    if subject is not None:
        subjects = data.rows[:, apart[1]]
        pairs = np.unique(np.column_stack([subjects, group_of]), axis=0)
        if len(pairs) == len(np.unique(subjects)):
            raise ContextwiseError(
                f"no value of {subject!r} has rows in two groups of {by!r}, so no labels can be "
                "exchanged; leave out the subject"
            )
        rows += (subjects,)
    question = pose([Structure(variables)], **restriction)
    if not question.pair_count:
        raise ContextwiseError("there is nothing to compare: no pair of variables is left")
    return Plan(by, names, question, variables, cells, counts, rows, **settings)


def _check_groups(by: str, sizes: Mapping[str, int], resamples: int | None) -> None:
    count, rows, least = len(sizes), sum(sizes.values()), 2 if resamples is None else 4
    if count < 2:
        present = f"one group, {next(iter(sizes))!r}" if sizes else "no rows"
        raise ContextwiseError(f"{by!r} has {present}; comparing needs at least two groups")
    if count > 2 and rows < LEAST_ROWS * count:
        raise ContextwiseError(
            f"{by!r} has {count:,} values in {plural(rows, 'row')}, so it looks like an ID and not "
            "like groups; choose another column, or, if these are numbers, cut them into bins "
            f"(--bins {by}=2; in Python bins={{{by!r}: 2}})"
        )
    for name, size in sizes.items():
        if size < least:
            raise ContextwiseError(
                f"the group {name!r} of {by!r} has {plural(size, 'row')}, and learning needs at "
                f"least {least}; leave out its rows, or merge it with another group"
            )
    if rows >= MOST_PEOPLE:
        raise ContextwiseError(f"{rows:,} people are too many to permute")


# -- populations -----------------------------------------------------------------------------------


@overload
def populations(data: DataLike, by: str, learner: Any = ..., **options: Any) -> Populations: ...
@overload
def populations(
    data: DataLike, by: Sequence[str], learner: Any = ..., **options: Any
) -> PopulationsOfColumns: ...
def populations(
    data: DataLike,
    by: str | Sequence[str],
    learner: Any = "edge-trees",
    *,
    permutations: int = PERMUTATIONS,
    design: Design = "separate",
    resamples: int | None = None,
    subject: str | None = None,
    pairs: Iterable[Pair] | None = None,
    variables: Iterable[str] | None = None,
    context: Assignment | None = None,
    alpha: float = ALPHA,
    folder: str | os.PathLike[str] | None = None,
    rng: Seed = 0,
    n_jobs: int = 1,
    cluster: Any = None,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **reading: Any,
) -> Populations | PopulationsOfColumns:
    """Test whether groups of rows have different structures, and show where.

    A small p-value means that the distributions of the groups differ in a way that the learner
    sees. Different margins or strengths of the same dependencies can cause that, too.

    Parameters
    ----------
    data : frame, array, list of rows, path, name of a data set, or Data
    by : column of the groups, or several; each column is tested, the others stay variables
    learner : Learner, class, name, or function of `Data`; picklable for several processes
    permutations : how often the labels of the groups are permuted
    design : "separate", or "joint"
        Joint learns one structure with the group as a variable, and compares its restrictions. It
        needs a learner that sees contexts.
    resamples : learn from this many random halves of each group, and compare ensembles
        This breaks ties and costs as many times as much.
    subject : column of the subjects, if rows are paired; labels are exchanged within a subject only
    pairs, variables, context : what to compare, as in `compare`
    alpha : level of the tests
    folder : where to keep structures and permutations; the same call resumes or adds to them
    rng, n_jobs, cluster, show_progress : as in `stability`
    time_limit : seconds; then a warning tells how many permutations were made
    **reading : keywords of `read_data`, such as ``missing`` and ``bins``

    Returns
    -------
    Populations, or PopulationsOfColumns if ``by`` is a list

    Raises
    ------
    ContextwiseError
        If there are fewer than two groups, a group has too few rows, the column looks like an ID,
        or a column of groups is also restricted.
    OpenResult
        If the time limit leaves fewer than 19 permutations.

    Examples
    --------
    In the first group A and B are equal, in the second they are independent.

    >>> equal = [["x", 0, 0], ["x", 1, 1]] * 40
    >>> free = [["y", a, b] for a in (0, 1) for b in (0, 1)] * 20
    >>> result = populations(equal + free, by="v0", learner="mpl", permutations=99)
    >>> result.p_value, [group.name for group in result.groups]
    (0.01, ['x', 'y'])
    >>> print(result.regions("v1", "v2")[0])
    v1–v2 depend only in x, not in y, in every context
    """
    columns = [by] if isinstance(by, str) else list(by)
    chosen = fresh(as_learner(learner))  # the caller's stays unfitted
    checks = {
        "by must name at least one column of groups": bool(columns),
        f"by and subject name a column twice: {', '.join(columns)}": (
            len({*columns, subject}) == len(columns) + 1
        ),
        f"permutations must be >= 1, got {permutations}": permutations >= 1,
        f"design must be 'separate' or 'joint', got {design!r}": design in ("separate", "joint"),
        f"resamples must be >= 2, got {resamples}": resamples is None or resamples >= 2,
        f"alpha must be between 0 and 1, got {alpha}": 0 < alpha < 1,
        f"{chosen.name} learns plain graphs, whose restrictions to the groups are always equal; "
        "use the separate design, or a learner of contexts such as edge-trees": (
            design != "joint" or getattr(chosen, "sees_contexts", True)
        ),
    }
    for problem, passes in checks.items():
        if not passes:
            raise ContextwiseError(problem)
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    rows = read_grouped(partial(as_data, data, None), row_options(**reading), columns, subject)
    asked: dict[str, Any] = {
        "pairs": None if pairs is None else list(pairs),
        "variables": None if variables is None else list(variables),
        "context": context,
    }
    mentioned = {name for pair in asked["pairs"] or () for name in pair}
    mentioned.update(
        asked["variables"] or (), (rows.domain.names[v] for v in rows.domain.assignment(context))
    )
    for column in mentioned.intersection([*columns, subject]):
        raise ContextwiseError(
            f"{column!r} defines the groups, so it cannot be in pairs, variables or context; the "
            "groups themselves are compared"
        )
    seed = int(np.random.default_rng(rng).integers(2**62))
    settings = {"design": design, "resamples": resamples, "seed": seed}
    plans = {
        column: _plan(rows, column, subject, asked, learner=chosen, **settings)
        for column in columns
    }
    configuration = {
        "kind": KIND,
        **learner_configuration(chosen),
        "data": rows.fingerprint,
        "by": columns,
        "subject": subject,
        **settings,
        **asked,
        "context": dict(plans[columns[0]].question.context),
    }
    with Store(folder, configuration) as store:
        _run(store, plans, permutations, effort)
        records = list(store.records())
    result = _assemble(configuration, records, permutations, alpha)
    if folder is not None:
        for each in result:
            each.write_structures(folder)
    return result[0] if isinstance(by, str) else result


def read_populations(
    folder: str | os.PathLike[str], *, alpha: float = ALPHA
) -> PopulationsOfColumns:
    """Read the run of `populations` in a folder, which need not be finished; learn nothing."""
    configuration = read_configuration(folder)
    if configuration.get("kind") != KIND:
        raise ContextwiseError(f"{folder}: not a run of contextwise populations")
    return _assemble(configuration, read_records(folder), None, alpha)


def _run(store: Store, plans: Mapping[str, Plan], permutations: int, effort: Effort) -> None:
    """Learn and permute what the store does not have, until the time is up."""
    deadline = effort.deadline
    try:
        with deadline.enforced():
            units = [Unit(f"{by}: observed", by) for by in plans]
            for failed in run_units(store, units, partial(observe, plans), effort).failed:
                raise failed.problem or ContextwiseError(failed.error or "")
            units = list(_units(store, plans, permutations))
            for failed in run_units(store, units, partial(permute, plans), effort).failed:
                text = f"permutations failed ({failed.key}): {failed.error}"
                raise ContextwiseError(text) from failed.problem
    except deadline.out_of_time:
        pass  # the permutations so far are kept


def _units(store: Store, plans: Mapping[str, Plan], permutations: int) -> Iterator[Unit]:
    """Yield batches of permutations; their sizes are the same when a run resumes."""
    for record in list(store.records()):
        if "seconds" in record:
            by = record["by"]
            size = max(1, min(LARGEST_BATCH, int(BATCH_SECONDS / max(record["seconds"], 1e-9))))
            for test in range(len(plans[by].tests())):
                for first in range(0, permutations, size):
                    batch = range(first, min(first + size, permutations))
                    yield Unit(f"{by}: {test:03d} {first:06d} {batch[-1]:06d}", (by, test, batch))


# -- p-values --------------------------------------------------------------------------------------


def p_value(statistics: Any) -> float:
    """Return the share of values that are at least the first, the observed one."""
    return float((np.asarray(statistics, dtype=object) >= statistics[0]).mean())


def p_values(
    observed: Values, permuted: Sequence[Values], factors: Sequence[int]
) -> tuple[ObjectArray, list[tuple[int, int, float, float]]]:
    """Return sums of statistics, and place, value, p and adjusted p of each pair that differs.

    The observed sum comes first, then those of the permutations. ``factors`` make the values of all
    pairs comparable.
    """
    rows = [observed, *permuted]
    places = sorted({place for values in rows for place in values})
    table = np.array([[values.get(place, 0) for place in places] for values in rows], dtype=object)
    table = table.reshape(len(rows), len(places))
    scaled = table * np.array([factors[place] for place in places], dtype=object)
    unseen = {"initial": 0} if len(places) < len(factors) else {}  # their statistic is always 0
    # Compared with the largest pair of each permutation, p holds for all pairs at once.
    largest = scaled[1:].max(axis=1, **unseen)
    pairs = [
        (place, int(each[0]), p_value(each), p_value([value, *largest]))
        for place, each, value in zip(places, table.T, scaled[0], strict=True)
        if value > 0
    ]
    return table.sum(axis=1), pairs


def _assemble(
    configuration: Mapping[str, Any],
    records: Iterable[Mapping[str, Any]],
    permutations: int | None,
    alpha: float,
) -> PopulationsOfColumns:
    """Compute p-values from the records of a run."""
    observed: dict[str, Mapping[str, Any]] = {}
    permuted: dict[tuple[str, int], dict[int, Values]] = defaultdict(dict)
    for record in records:
        if "number" in record:
            permuted[record["by"], record["test"]][record["number"]] = dict(record["apart"])
        else:
            observed[record["by"]] = record
    if observed.keys() != set(configuration["by"]):
        raise OpenResult("the structures of the groups are not learned yet; allow more time")
    results = []
    for by in configuration["by"]:
        count = len(observed[by]["apart"])
        of_tests = [permuted[by, test] for test in range(1 if count == 1 else 1 + count)]
        most = permutations or max(map(len, of_tests))
        # Up to the first that is missing: fast permutations have no advantage.
        done = [list(takewhile(each.__contains__, range(most))) for each in of_tests]
        fewest = min(map(len, done))
        if fewest < most or not most:
            text = f"{by}: {fewest} of {most} permutations were made"
            if fewest < max(1, min(FEWEST, most)):
                raise OpenResult(f"{text}; allow more time, or fewer permutations")
            if permutations is not None:
                warnings.warn(f"the time limit ended: {text}", stacklevel=3)
        values = [[each[b] for b in numbers] for each, numbers in zip(of_tests, done, strict=True)]
        results.append(_result(configuration, observed[by], values, alpha))
    if len(results) > 1:
        adjusted = holm([each.p_value for each in results])
        results = [replace(r, adjusted=p) for r, p in zip(results, adjusted, strict=True)]
    return PopulationsOfColumns(results)


def _result(
    configuration: Mapping[str, Any],
    observed: Mapping[str, Any],
    permuted: Sequence[Sequence[Values]],
    alpha: float,
) -> Populations:
    groups = [
        Group(each["name"], each["rows"], _structure(each["model"]), tuple(each["constant"]))
        for each in observed["groups"]
    ]
    asked: dict[str, Any] = {
        key: configuration[key] or None for key in ("pairs", "variables", "context")
    }
    question = pose([groups[0].structure], **asked)
    names, cards = question.domain.names, question.domain.cardinalities
    pairs, sizes = question.asked_pairs.tolist(), question.sizes(question.asked_pairs)
    factors = [cards[i] * cards[j] for i, j in pairs]  # a share is value * factor / assignments
    apart, scale = [dict(each) for each in observed["apart"]], observed["scale"]

    def about(sums: ObjectArray, parts: int = 1) -> tuple[Fraction, float, float]:
        whole = parts * scale * question.total
        mean = float(Fraction(int(sums[1:].sum()), len(sums) - 1)) / whole
        return Fraction(int(sums[0]), whole), mean, p_value(sums)

    sums, differing = p_values(total(apart), permuted[0], factors)
    variable_pairs = []
    for place, value, p, adjusted in differing:
        first, second = (names[v] for v in pairs[place])
        share = Fraction(value, len(apart) * scale * sizes[place])
        variable_pairs.append(VariablePair(first, second, share, p, adjusted))
    twos = [about(sums)]
    if len(apart) > 1:
        of_twos = zip(apart, permuted[1:], strict=True)
        twos = [about(p_values(*each, factors)[0]) for each in of_twos]
    corrected = holm([p for _, _, p in twos])
    distance, expected, p = about(sums, len(apart))
    return Populations(
        by=observed["by"],
        groups=tuple(groups),
        distance=distance,
        expected=expected,
        p_value=p,
        pairwise=tuple(
            GroupDifference(one.name, other.name, *each, holm_p)
            for (one, other), each, holm_p in zip(
                combinations(groups, 2), twos, corrected, strict=True
            )
        ),
        variable_pairs=tuple(sorted(variable_pairs, key=lambda each: (each.adjusted, -each.share))),
        permutations=len(permuted[0]),
        ties=int((sums[1:] == sums[0]).sum()),
        alpha=alpha,
        **{key: configuration[key] for key in KEPT},
    )


def _structure(document: Any) -> Structure:
    return structure_of(read_json(Source(json.dumps(document).encode(), "a stored model")))
