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
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
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
from contextwise.evaluation.ensemble_scores import distances_of_pairs
from contextwise.evaluation.replicates import holm
from contextwise.evaluation.resampling import learner_configuration
from contextwise.formats import encode, write
from contextwise.formats import json as json_format
from contextwise.formats.reading import Source
from contextwise.learning.base import Learner, as_learner, fresh
from contextwise.learning.run import Run
from contextwise.models.domain import Assignment, Domain
from contextwise.models.features import Features, restrict
from contextwise.models.notation import Literal as ValueLiteral
from contextwise.models.notation import between, where
from contextwise.models.structure import Structure, structure_of
from contextwise.support.arrays import IntArray, ObjectArray
from contextwise.support.cores import cores
from contextwise.support.effort import Effort
from contextwise.support.formatting import Printed, listed, percent, plural
from contextwise.support.progress import Progress
from contextwise.support.store import Store, Unit, read_configuration, read_records, run_units

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Populations", "PopulationsOfColumns", "populations"]

Design = Literal["separate", "joint"]
Two = tuple[int, int]
"""The places of two groups."""

PERMUTATIONS = 499
ALPHA = 0.05
LEAST_ROWS = 5
"""With fewer rows per group on average, a column of three or more values looks like an ID."""
FEWEST = 19
"""The fewest permutations after a time limit; fewer cannot reach a p-value of 0.05."""
MOST_PEOPLE = 10**9
"""NumPy draws from fewer people than this."""
BATCH_SECONDS, LARGEST_BATCH, BATCHES = 2.0, 50, 8
"""A unit of work takes about this long, has at most this many permutations, and each process gets
at least this many units."""
REGIONS = 3
"""Number of regions per pair of variables and pair of groups."""
KIND = "populations"


# -- results ---------------------------------------------------------------------------------------


class Group(NamedTuple):
    """One group: its rows, the structure learned from them, and the variables that never vary."""

    name: str
    rows: int
    structure: Structure
    constant: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """Return the group as one flat mapping."""
        return {
            "group": self.name,
            "rows": self.rows,
            "features": len(self.structure),
            "pairs": len(self.structure.pairs()),
            "constant": list(self.constant),
        }


class GroupDifference(NamedTuple):
    """The distance of two groups, and its p-values."""

    first: str
    second: str
    distance: Fraction  #: normalized; fair with resamples, so it may be below 0
    expected: float  #: its mean over the permutations
    p_value: float
    adjusted: float  #: after Holm's correction over all pairs of groups

    def record(self) -> dict[str, object]:
        """Return the difference as one flat mapping."""
        return self._asdict() | {"distance": float(self.distance)}


class VariablePair(NamedTuple):
    """The share of contexts in which the groups differ on one pair of variables."""

    pair: Pair
    share: Fraction
    p_value: float
    adjusted: float  #: by the largest share of each permutation (max-T)

    def record(self) -> dict[str, object]:
        """Return the difference as one flat mapping."""
        return {
            "first": self.pair[0],
            "second": self.pair[1],
            "share": float(self.share),
            "p_value": self.p_value,
            "adjusted": self.adjusted,
        }


class GroupRegion(NamedTuple):
    """A region of contexts in which two variables depend in one of two groups only."""

    pair: Pair
    only_in: str  #: the group that has the dependence
    not_in: str
    literals: tuple[ValueLiteral, ...]
    share: Fraction  #: of the pair's contexts

    def __str__(self) -> str:
        share = "" if self.share == 1 else f" ({percent(self.share, 1)} of contexts)"
        return (
            f"{between(self.pair)} depend only in {self.only_in}, not in {self.not_in}, "
            f"{where(self.literals)}{share}"
        )

    def record(self) -> dict[str, object]:
        """Return the region as one flat mapping."""
        return {
            "first": self.pair[0],
            "second": self.pair[1],
            "only_in": self.only_in,
            "not_in": self.not_in,
            "when": where(self.literals),
            "share": float(self.share),
            "sentence": str(self),
        }


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
            return (
                f"No evidence that the structures of {self.by} differ ({names}): {p}. That does "
                "not show that they are equal."
            )
        text = f"The groups of {self.by} differ ({names}): {p}."
        found = [between(each.pair) for each in self.significant]
        if not found:
            return f"{text} No single pair of variables is significant."
        more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
        return f"{text} Significant on {', '.join(found[:3])}{more}."

    @property
    def significant(self) -> tuple[VariablePair, ...]:
        """The pairs of variables whose adjusted p-value is at most alpha."""
        return tuple(each for each in self.variable_pairs if each.adjusted <= self.alpha)

    def regions(self, first: str, second: str, *, top: int = REGIONS) -> list[GroupRegion]:
        """Return where two variables depend in one group only, for each pair of groups.

        With ``resamples``, these are the structures of all rows of each group.
        """
        found = []
        for one, other in combinations(self.groups, 2):
            explained = explain(
                one.structure,
                other.structure,
                top=top,
                pairs=[(first, second)],
                context=dict(self.context) or None,
            )
            names = {"true": (one.name, other.name), "guess": (other.name, one.name)}
            for pair in explained.pairs:
                found += [
                    GroupRegion(pair.pair, *names[region.only_in], region.literals, region.share)
                    for region in pair.regions
                ]
        return found

    def record(self) -> dict[str, object]:
        """Return everything but the lists as one flat mapping."""
        keys = ("by", "p_value", "adjusted", "permutations", "expected", "learner", "design")
        more = {key: getattr(self, key) for key in ("resamples", "subject", "alpha")}
        values = {key: getattr(self, key) for key in keys}
        return {**values, "distance": float(self.distance), **more, "context": dict(self.context)}

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per pair of variables that differs."""
        return [{"by": self.by, **each.record()} for each in self.variable_pairs]

    def document(self, top: int | None = None) -> dict[str, object]:
        """Return everything as a mapping for JSON, with regions of the significant pairs."""
        regions = [
            region.record()
            for each in self.significant[:top]
            for region in self.regions(*each.pair)
        ]
        return {
            "verdict": self.verdict,
            **self.record(),
            "groups": [group.record() for group in self.groups],
            "pairwise": [each.record() for each in self.pairwise],
            "variable_pairs": [each.record() for each in self.variable_pairs],
            "regions": regions,
        }

    def write_structures(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the structure of each group to a folder, as ``column-group.json``."""
        place, paths = Path(folder), list[Path]()
        place.mkdir(parents=True, exist_ok=True)
        for group in self.groups:
            stem = re.sub(r"[^\w.+-]+", "_", f"{self.by}-{group.name}")
            while (path := place / f"{stem}.json") in paths:
                stem += "_"
            write(group.structure, path)
            paths.append(path)
        return paths

    def __repr__(self) -> str:
        return f"Populations({self.by!r}, {len(self.groups)} groups, p={self.p_value:.3g})"


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
    rows: tuple[IntArray, IntArray] | None  # cell and group of each row, unless rows are counted
    subjects: IntArray | None
    learner: Any
    design: Design
    resamples: int | None
    seed: int

    def twos(self) -> list[Two]:
        """Return all pairs of groups."""
        return list(combinations(range(len(self.names)), 2))

    def tests(self) -> list[tuple[int, ...]]:
        """Return the groups of each test: all of them, then each pair of three or more."""
        every = tuple(range(len(self.names)))
        return [every, *(self.twos() if len(every) > 2 else [])]

    def generator(self, *numbers: int) -> np.random.Generator:
        """Return the generator of one permutation; other columns do not change it."""
        return np.random.default_rng([self.seed, crc32(self.by.encode()), *numbers])

    def permuted(self, groups: Sequence[int], generator: np.random.Generator) -> IntArray:
        """Exchange the labels of the people in some groups; return the counts of the cells."""
        counts = self.counts.copy()
        if self.rows is None:  # a table of counts: which of the people get a label
            pool = self.counts[:, groups].sum(axis=1)
            for group in groups[:-1]:
                size = int(self.counts[:, group].sum())
                counts[:, group] = _drawn(pool, size, generator)
                pool -= counts[:, group]
            counts[:, groups[-1]] = pool
            return counts
        cell_of, group_of = self.rows
        subjects = self.subjects
        if len(groups) < len(self.names):
            chosen = np.isin(group_of, groups)
            cell_of, group_of = cell_of[chosen], group_of[chosen]
            subjects = None if subjects is None else subjects[chosen]
        if subjects is None:
            labels = generator.permutation(group_of)
        else:
            labels = np.empty_like(group_of)
            order = np.lexsort((generator.random(len(subjects)), subjects))
            labels[order] = group_of[np.argsort(subjects, kind="stable")]
        k = len(self.names)
        places = np.bincount(cell_of * k + labels, minlength=counts.size).reshape(counts.shape)
        counts[:, groups] = places[:, groups]
        return counts

    def learn(
        self, counts: IntArray, groups: Sequence[int], generator: np.random.Generator
    ) -> list[list[Features]]:
        """Learn the structures of each group: one of all rows, or one of each random half."""
        learned: list[list[Features]] = [[] for _ in groups]
        for _ in range(self.resamples or 1):
            drawn = counts
            if self.resamples is not None:
                drawn = np.zeros_like(counts)
                needed = groups if self.design == "separate" else range(len(self.names))
                for group in needed:
                    half = int(counts[:, group].sum()) // 2
                    drawn[:, group] = _drawn(counts[:, group], half, generator)
            for place, structure in enumerate(self.structures(drawn, groups)):
                features = structure.features
                learned[place].append(restrict(features, self._fixed) if self._fixed else features)
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

    @cached_property
    def _learner(self) -> Any:
        return fresh(self.learner)  # the caller's stays unfitted

    @cached_property
    def _fixed(self) -> dict[int, int]:
        return dict(self.domain.assignment(dict(self.question.context)))

    def _learned(self, domain: Domain, cells: IntArray, counts: IntArray) -> Structure:
        seen = np.flatnonzero(counts)
        data = Data(domain, cells[seen], counts[seen])
        learner = self._learner
        if getattr(type(learner), "fit", None) is Learner.fit:  # without a description of the rows
            return structure_of(learner.learn(data, Run())).aligned_to(domain)
        fitted = learner.fit(data.expanded, domain=domain)
        return structure_of(fitted.structure_).aligned_to(domain)

    # -- statistics --------------------------------------------------------------------------------

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {(i, j): k for k, (i, j) in enumerate(self.question.asked_pairs.tolist())}

    @cached_property
    def _known(self) -> dict[tuple[frozenset[bytes], frozenset[bytes]], dict[int, int]]:
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, tuple(getattr(self, name) for name in self.__dataclass_fields__)

    def apart(self, learned: Sequence[Sequence[Features]]) -> list[dict[int, int]]:
        """Return, for each pair of groups, the statistic of each pair of variables that has one.

        It is a number of contexts, multiplied by `scale_of`.
        """
        if self.resamples is None:
            return [self._count(a[0], b[0]) for a, b in combinations(learned, 2)]
        return self._ensembles_apart(learned)

    def _count(self, a: Features, b: Features) -> dict[int, int]:
        key = frozenset(a.rows), frozenset(b.rows)
        if key[0] == key[1]:
            return {}
        if key not in self._known:  # equal structures are compared once
            pairs = covered_pairs(a, b, among=self.question.asked)
            counts = get_engine(DEFAULT).count_pairs(a, b, pairs, effort=Effort(threads=1))
            if counts.interrupted:
                raise KeyboardInterrupt
            found = zip(pairs.tolist(), counts.distances.tolist(), strict=True)
            self._known[key] = {self._places[i, j]: int(d) for (i, j), d in found if d}
        return self._known[key]

    def _ensembles_apart(self, learned: Sequence[Sequence[Features]]) -> list[dict[int, int]]:
        r, k = self.resamples or 1, len(learned)
        domain = self.question.domain
        structures = tuple(Structure(domain, f) for each in learned for f in each)
        found: list[dict[int, int]] = [{} for _ in combinations(learned, 2)]
        for pair, kinds, cells in distances_of_pairs(replace(self.question, structures=structures)):
            at = kinds.reshape(k, r)
            members = np.stack([np.bincount(row, minlength=len(cells)) for row in at])
            sums = members.astype(object) @ cells @ members.T
            for two, (g, h) in enumerate(combinations(range(k), 2)):
                spreads = sums[g, g] + sums[h, h]
                if self.design == "separate":
                    value = 2 * (r - 1) * sums[g, h] - r * spreads
                else:  # the structures of one half are not independent draws
                    value = 2 * (sums[g, h] - cells[at[g], at[h]].sum()) - spreads
                if value:
                    found[two][self._places[pair]] = int(value)
        return found


def scale_of(design: str, resamples: int | None) -> int:
    """Return the factor that makes statistics of ensembles whole numbers of contexts."""
    if resamples is None:
        return 1
    return 2 * resamples * (resamples - 1) * (resamples if design == "separate" else 1)


def _drawn(counts: IntArray, size: int, generator: np.random.Generator) -> IntArray:
    """Draw people without replacement; return how many have each row."""
    return generator.multivariate_hypergeometric(counts, size, method="marginals")


def observe(plans: Mapping[str, Plan], by: str) -> list[dict[str, Any]]:
    """Learn the structures of the groups as they are, and compare them."""
    plan = plans[by]
    every = range(len(plan.names))
    began = time.perf_counter()
    structures = []
    for group in every if plan.design == "separate" else [0]:
        where_from = f"the group {plan.names[group]!r} of {by!r}, "
        rows = plan.counts[:, group] if plan.design == "separate" else plan.counts
        try:
            chosen = [group] if plan.design == "separate" else every
            structures += plan.structures(plan.counts, chosen)
        except MissingPackage:
            raise
        except Exception as error:
            name = where_from if plan.design == "separate" else ""
            raise ContextwiseError(
                f"cannot learn from {name}{plural(int(rows.sum()), 'row')}: {error}"
            ) from error
    learned = plan.learn(plan.counts, every, plan.generator())
    seconds = time.perf_counter() - began
    apart = [{"pairs": list(each), "apart": list(each.values())} for each in plan.apart(learned)]
    groups = [
        {
            "name": name,
            "rows": int(plan.counts[:, group].sum()),
            "constant": _constant(plan, group),
            "model": json.loads(encode(structures[group], "json")),
        }
        for group, name in enumerate(plan.names)
    ]
    return [{"by": by, "groups": groups, "apart": apart, "seconds": seconds}]


def _constant(plan: Plan, group: int) -> list[str]:
    """Return the variables that vary, but not in this group."""
    inside = plan.cells[plan.counts[:, group] > 0]
    varies = (plan.cells != plan.cells[0]).any(axis=0)
    alike = (inside == inside[0]).all(axis=0)
    return [plan.domain.names[v] for v in np.flatnonzero(varies & alike).tolist()]


def permute(plans: Mapping[str, Plan], batch: tuple[str, int, list[int]]) -> list[dict[str, Any]]:
    """Permute, learn and compare: one record per permutation."""
    by, test, numbers = batch
    plan = plans[by]
    groups = plan.tests()[test]
    records = []
    for number in numbers:
        generator = plan.generator(test, number)
        learned = plan.learn(plan.permuted(groups, generator), groups, generator)
        sums: dict[int, int] = defaultdict(int)
        for two in plan.apart(learned):
            for place, value in two.items():
                sums[place] += value
        values = {"pairs": list(sums), "apart": list(sums.values())}
        records.append({"by": by, "test": test, "number": number, **values})
    return records


# -- reading ---------------------------------------------------------------------------------------


def grouping_options(options: RowOptions, by: Sequence[str], subject: str | None) -> RowOptions:
    """Return options that read the columns of groups and subjects as categories, not as IDs."""
    needed = (*by, *([subject] if subject else []))
    binned = {text.rpartition("=")[0] for text in options.bins}
    for name in needed:
        if name in options.drop:
            raise ContextwiseError(f"the column {name!r} is needed for the groups; do not drop it")
    return options._replace(
        category=(*options.category, *(name for name in needed if name not in binned)),
        columns=(*options.columns, *needed) if options.columns else (),
    )


@contextmanager
def naming_by() -> Iterator[None]:
    """Name the option that the user gave in errors about columns that are read as categories."""
    try:
        yield
    except DomainError as error:
        if str(error).startswith("category: there is no column"):
            raise DomainError(f"by{str(error).removeprefix('category')}") from None
        raise


def _plan(
    data: Data,
    by: str,
    subject: str | None,
    restriction: Mapping[str, Any],
    **settings: Any,
) -> Plan:
    domain = data.domain
    column = domain.position(by)
    if subject is not None and data.multiplicity is not None:
        data = data.expanded
    apart = [column] if subject is None else [column, domain.position(subject)]
    group_of = data.rows[:, column]
    sizes = np.bincount(group_of, data.multiplicity, minlength=domain.cardinalities[column])
    present = np.flatnonzero(sizes)
    names = tuple(domain.states[column][state] for state in present)
    _check_groups(by, names, sizes[present].astype(int).tolist(), settings["resamples"])
    variables = domain.without(apart)
    if len(variables) < 2:
        raise ContextwiseError(
            f"there is nothing to compare: {plural(len(variables), 'variable')} next to {by!r}"
        )
    place = np.zeros(domain.cardinalities[column], dtype=np.int64)
    place[present] = np.arange(len(present))
    group_of = place[group_of]
    cells, cell_of = np.unique(np.delete(data.rows, apart, axis=1), axis=0, return_inverse=True)
    cell_of = cell_of.ravel()
    counts = np.bincount(
        cell_of * len(names) + group_of, data.multiplicity, minlength=len(cells) * len(names)
    ).reshape(len(cells), len(names))
    subjects = None
    if subject is not None:
        subjects = data.rows[:, domain.position(subject)]
        pairs = np.unique(np.stack([subjects, group_of], axis=1), axis=0)
        if len(pairs) == len(np.unique(subjects)):
            raise ContextwiseError(
                f"no value of {subject!r} has rows in two groups of {by!r}, so no labels can be "
                "exchanged; leave out the subject"
            )
    question = pose([Structure(variables)], **restriction)
    if not question.pair_count:
        raise ContextwiseError("there is nothing to compare: no pair of variables is left")
    return Plan(
        by=by,
        names=names,
        question=question,
        domain=variables,
        cells=cells,
        counts=counts.astype(np.int64),
        rows=None if data.multiplicity is not None else (cell_of, group_of),
        subjects=subjects,
        **settings,
    )


def _check_groups(
    by: str, names: Sequence[str], sizes: Sequence[int], resamples: int | None
) -> None:
    if len(names) < 2:
        one = f"one group, {names[0]!r}" if names else "no rows"
        raise ContextwiseError(f"{by!r} has {one}; comparing needs at least two groups")
    if len(names) > 2 and sum(sizes) < LEAST_ROWS * len(names):
        raise ContextwiseError(
            f"{by!r} has {len(names):,} values in {plural(sum(sizes), 'row')}, so it looks like an "
            "ID and not like groups; choose another column, or, if these are numbers, cut them "
            f"into bins (--bins {by}=2; in Python bins={{{by!r}: 2}})"
        )
    least = 2 if resamples is None else 4
    for name, size in zip(names, sizes, strict=True):
        if size < least:
            raise ContextwiseError(
                f"the group {name!r} of {by!r} has {plural(size, 'row')}, and learning needs at "
                f"least {least}; leave out its rows, or merge it with another group"
            )
    if sum(sizes) >= MOST_PEOPLE:
        raise ContextwiseError(f"{sum(sizes):,} people are too many to permute")


def _check_restriction(
    names: Iterable[str],
    pairs: Iterable[Pair] | None,
    variables: Iterable[str] | None,
    context: Assignment | None,
    domain: Domain,
) -> None:
    """Raise if a column of groups or subjects is also restricted."""
    fixed = () if context is None else domain.assignment(context)
    used = {
        "pairs": [name for pair in pairs or () for name in pair],
        "variables": list(variables or ()),
        "context": [domain.names[v] for v in fixed],
    }
    for column in names:
        for option, columns in used.items():
            if column in columns:
                raise ContextwiseError(
                    f"{column!r} defines the groups, so it cannot be in {option}; the groups "
                    "themselves are compared"
                )


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
    design : "separate" or "joint"
        Learn one structure per group; or one structure with the group as a variable, and compare
        its restrictions. Joint needs a learner that sees contexts.
    resamples : learn each structure from this many random halves instead, at least 2
        The groups are then compared as ensembles, which removes the noise of single structures and
        costs as many times as much.
    subject : column of the subjects, if rows are paired; labels are exchanged within a subject only
    pairs, variables, context : what to compare, as in `compare`
    alpha : level of the tests
    folder : where to keep the structures of the groups and all permutations
        An interrupted run resumes with the same call, and a finished one can be given more
        permutations.
    rng : generator or seed; equal seeds give equal results, whatever the number of processes
    n_jobs : number of processes; -1 means one per core
    cluster : address of a Dask scheduler, or a Dask client; replaces ``n_jobs``
    time_limit : seconds; then a warning tells how many permutations were made
    show_progress : bool, or a function of (units done, all units)
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
    chosen = as_learner(learner)
    _check_settings(columns, chosen, permutations, design, resamples, subject, alpha)
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    options = grouping_options(row_options(**reading), columns, subject)
    with naming_by():
        rows = as_data(data, None, options)
    find_names([*columns, *([subject] if subject else [])], rows.domain.names, "by")
    listed_pairs = None if pairs is None else list(pairs)
    listed_variables = None if variables is None else list(variables)
    asked = (listed_pairs, listed_variables, context)
    _check_restriction([*columns, *([subject] if subject else [])], *asked, rows.domain)
    restriction = dict(zip(("pairs", "variables", "context"), asked, strict=True))
    seed = int(np.random.default_rng(rng).integers(2**62))
    made = {"learner": chosen, "design": design, "resamples": resamples, "seed": seed}
    plans = {column: _plan(rows, column, subject, restriction, **made) for column in columns}
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory()) if folder is None else folder
        configuration = {
            "kind": KIND,
            **learner_configuration(chosen),
            "data": rows.fingerprint,
            "by": columns,
            "design": design,
            "resamples": resamples,
            "subject": subject,
            "context": dict(next(iter(plans.values())).question.context),
            "asked": [listed_pairs, listed_variables],
            "seed": seed,
        }
        store = stack.enter_context(Store(place, configuration, is_private=folder is None))
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


def _check_settings(
    columns: Sequence[str],
    learner: Any,
    permutations: int,
    design: str,
    resamples: int | None,
    subject: str | None,
    alpha: float,
) -> None:
    if not columns:
        raise ContextwiseError("by must name at least one column of groups")
    if len({*columns, subject}) < len(columns) + 1:
        raise ContextwiseError(f"by and subject name a column twice: {listed(columns)}")
    if permutations < 1:
        raise ContextwiseError(f"permutations must be >= 1, got {permutations}")
    if design not in ("separate", "joint"):
        raise ContextwiseError(f"design must be 'separate' or 'joint', got {design!r}")
    if resamples is not None and resamples < 2:
        raise ContextwiseError(f"resamples must be >= 2, got {resamples}")
    if not 0 < alpha < 1:
        raise ContextwiseError(f"alpha must be between 0 and 1, got {alpha}")
    if design == "joint" and not getattr(learner, "sees_contexts", True):
        raise ContextwiseError(
            f"{learner.name} learns plain graphs, whose restrictions to the groups are always "
            "equal; use the separate design, or a learner of contexts such as edge-trees"
        )


def _run(store: Store, plans: Mapping[str, Plan], permutations: int, effort: Effort) -> None:
    """Learn and permute what the store does not have, until the time is up."""
    deadline = effort.deadline
    try:
        with deadline.enforced():
            units = [Unit(f"{by}: observed", by) for by in plans]
            for failed in run_units(store, units, partial(observe, plans), effort).failed:
                raise failed.problem or ContextwiseError(failed.error or "")
            units = list(_units(store, plans, permutations, effort.n_jobs))
            for failed in run_units(store, units, partial(permute, plans), effort).failed:
                text = f"permutations failed ({failed.key}): {failed.error}"
                raise ContextwiseError(text) from failed.problem
    except deadline.out_of_time:
        pass  # the permutations so far are kept


def _units(
    store: Store, plans: Mapping[str, Plan], permutations: int, n_jobs: int
) -> Iterator[Unit]:
    """Yield batches of the permutations that are missing."""
    done: dict[tuple[str, int], set[int]] = defaultdict(set)
    seconds: dict[str, float] = {}
    for record in store.records():
        if "number" in record:
            done[record["by"], record["test"]].add(record["number"])
        else:
            seconds[record["by"]] = record["seconds"]
    processes = n_jobs if n_jobs > 0 else cores()
    for by, plan in plans.items():
        size = min(LARGEST_BATCH, int(BATCH_SECONDS / max(seconds[by], 1e-9)))
        size = max(1, min(size, -(-permutations // (BATCHES * processes))))
        for test in range(len(plan.tests())):
            missing = [b for b in range(permutations) if b not in done[by, test]]
            for start in range(0, len(missing), size):
                batch = missing[start : start + size]
                yield Unit(f"{by}: {test:03d} {batch[0]:06d} {batch[-1]:06d}", (by, test, batch))


# -- p-values --------------------------------------------------------------------------------------


class _Null:
    """The statistics of the permutations of one test, next to the observed one."""

    def __init__(
        self, observed: Mapping[int, int], permuted: Sequence[Mapping[int, int]], all_pairs: int
    ) -> None:
        self.columns = sorted({*observed, *(place for each in permuted for place in each)})
        self.observed = self._array([observed])[0]
        self.permuted = self._array(permuted)
        self.rest = all_pairs > len(self.columns)  # pairs whose statistic is always 0

    def _array(self, each: Sequence[Mapping[int, int]]) -> ObjectArray:
        rows = [[values.get(place, 0) for place in self.columns] for values in each]
        return np.array(rows, dtype=object).reshape(len(rows), len(self.columns))

    def overall(self) -> tuple[int, float, float]:
        """Return the observed sum, the mean of the permutations, and p."""
        sums = self.permuted.sum(axis=1) if self.columns else np.zeros(len(self.permuted), object)
        total = int(self.observed.sum())
        return total, float(Fraction(int(sums.sum()), len(sums))), _p_value(sums, total)

    def of_pairs(self, sizes: Sequence[int]) -> Iterator[tuple[int, int, float, float]]:
        """Yield place, value, p and adjusted p of each pair that differs.

        ``sizes`` are factors that make the values of different pairs comparable.
        """
        factors = np.array([sizes[place] for place in self.columns], dtype=object)
        largest = (self.permuted * factors).max(axis=1, initial=0 if self.rest else -(10**1000))
        for k, place in enumerate(self.columns):
            value = int(self.observed[k])
            if value > 0:
                adjusted = _p_value(largest, value * sizes[place])
                yield place, value, _p_value(self.permuted[:, k], value), adjusted


def _p_value(permuted: ObjectArray, observed: int) -> float:
    return (1 + int((permuted >= observed).sum())) / (len(permuted) + 1)


def _assemble(
    configuration: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    permutations: int | None,
    alpha: float,
) -> PopulationsOfColumns:
    """Compute p-values from the records of a run."""
    observed: dict[str, Mapping[str, Any]] = {}
    permuted: dict[tuple[str, int], dict[int, Mapping[int, int]]] = defaultdict(dict)
    for record in records:
        if "number" in record:
            permuted[record["by"], record["test"]][record["number"]] = _values(record)
        else:
            observed[record["by"]] = record
    if observed.keys() != set(configuration["by"]):
        raise OpenResult("the structures of the groups are not learned yet; allow more time")
    results = []
    for by in configuration["by"]:
        groups = [
            Group(each["name"], each["rows"], _structure(each["model"]), tuple(each["constant"]))
            for each in observed[by]["groups"]
        ]
        tests = 1 if len(groups) == 2 else 1 + len(list(combinations(groups, 2)))
        most = permutations or max(len(permuted[by, test]) for test in range(tests))
        complete = [_prefix(permuted[by, test], most) for test in range(tests)]
        fewest = min(map(len, complete))
        if fewest < most:
            text = f"{by}: {fewest} of {most} permutations were made"
            if fewest < min(FEWEST, most):
                raise OpenResult(f"{text}; allow more time, or fewer permutations")
            if permutations is not None:
                warnings.warn(f"the time limit ended: {text}", stacklevel=3)
        results.append(_result(configuration, by, groups, observed[by], complete, alpha))
    if len(results) > 1:
        adjusted = holm([each.p_value for each in results])
        results = [replace(r, adjusted=p) for r, p in zip(results, adjusted, strict=True)]
    return PopulationsOfColumns(results)


def _result(
    configuration: Mapping[str, Any],
    by: str,
    groups: Sequence[Group],
    observed: Mapping[str, Any],
    permuted: Sequence[Sequence[Mapping[int, int]]],
    alpha: float,
) -> Populations:
    kept = {key: configuration[key] for key in ("learner", "design", "resamples", "subject")}
    context = configuration["context"]
    pairs, variables = configuration["asked"]
    question = pose(
        [groups[0].structure], pairs=pairs, variables=variables, context=context or None
    )
    names, cards = question.domain.names, question.domain.cardinalities
    asked = question.asked_pairs.tolist()
    factors = [cards[i] * cards[j] for i, j in asked]  # a share is value * factor / assignments
    sizes = question.sizes(question.asked_pairs)
    twos = list(combinations(groups, 2))
    scale = scale_of(kept["design"], kept["resamples"])
    of_twos = [_values(each) for each in observed["apart"]]
    sums: dict[int, int] = defaultdict(int)
    for two in of_twos:
        for place, value in two.items():
            sums[place] += value
    every = _Null(sums, permuted[0], len(asked))
    whole = scale * len(twos)
    total, mean, p_value = every.overall()
    found = [
        VariablePair(
            (names[asked[place][0]], names[asked[place][1]]),
            Fraction(value, whole * sizes[place]),
            p,
            adjusted,
        )
        for place, value, p, adjusted in every.of_pairs(factors)
    ]
    differences = []
    for place, (one, other) in enumerate(twos):
        null = every if len(twos) == 1 else _Null(of_twos[place], permuted[1 + place], len(asked))
        apart, expected, p = null.overall()
        normalized = Fraction(apart, scale * question.total), expected / (scale * question.total)
        differences.append(GroupDifference(one.name, other.name, *normalized, p, p))
    holm_p = holm([each.p_value for each in differences])
    return Populations(
        by=by,
        groups=tuple(groups),
        distance=Fraction(total, whole * question.total),
        expected=mean / (whole * question.total),
        p_value=p_value,
        pairwise=tuple(
            each._replace(adjusted=p) for each, p in zip(differences, holm_p, strict=True)
        ),
        variable_pairs=tuple(sorted(found, key=lambda each: (each.adjusted, -each.share))),
        permutations=len(permuted[0]),
        alpha=alpha,
        context=context,
        **kept,
    )


def _values(record: Mapping[str, Any]) -> dict[int, int]:
    return dict(zip(record["pairs"], record["apart"], strict=True))


def _prefix(numbered: Mapping[int, Mapping[int, int]], most: int) -> list[Mapping[int, int]]:
    """Return the permutations up to the first that is missing: fast ones have no advantage."""
    found: list[Mapping[int, int]] = []
    while len(found) < most and len(found) in numbered:
        found.append(numbered[len(found)])
    return found


def _structure(document: Any) -> Structure:
    return structure_of(json_format.read(Source(json.dumps(document).encode(), "a stored model")))
