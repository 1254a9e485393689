"""How far apart two structures are: the confusion matrix over all pairs and contexts.

For each pair of variables the true model and the guess each have a set of contexts in which the
pair depends. Three union sizes per pair, a = |A|, b = |B| and u = |A ∪ B|, give all four counts::

    tp = a + b - u    fn = u - b    fp = u - a    tn = contexts - u

and the distance is FP + FN over all pairs. It is a metric on dependency models.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.confusion import Confusion, Number, Rates, ZeroDivision, ratio
from contextwise.contexts import (
    FULLY,
    Contexts,
    Pair,
    active_pairs,
    all_pairs,
    is_canonical,
    pair_positions,
)
from contextwise.counting import DEFAULT, ObjectArray, PairCounts, get_engine
from contextwise.counting.extraction import all_contexts, contexts_of_pairs
from contextwise.counting.observed import count_rows
from contextwise.domain import Assignment, Domain
from contextwise.errors import DomainError
from contextwise.features import IntArray
from contextwise.formats import read
from contextwise.progress import Progress, progress_of
from contextwise.structure import Model, Structure, structure_of
from contextwise.text import number, percent

if TYPE_CHECKING:
    import pandas

ModelOrPath = Model | str | os.PathLike[str]
COUNTS = ("tp", "fn", "fp", "tn")


def as_structure(model: ModelOrPath) -> Structure:
    """The structure of a model, or of the model in a file."""
    return structure_of(read(model) if isinstance(model, str | os.PathLike) else model)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Rates):
    """The confusion matrix of a guess against a true structure, per pair and in all.

    Attributes
    ----------
    true, guess : the structures, over one domain
    pairs : positions of the pairs that a feature of either model covers: shape (p, 2)
    counts : object array of shape (p, 4): tp, fn, fp, tn of each of these pairs, exact ints
    total : the number of assertions, over all pairs that were asked for
    asked : positions of the pairs that were asked for, or None for all of them
    rows : how many observed rows stand for the contexts, or None for all contexts
    contexts : what a context is
    engine : which engine counted
    """

    true: Structure
    guess: Structure
    pairs: IntArray
    counts: ObjectArray
    total: Number
    pair_count: int
    asked: IntArray | None = None
    rows: int | None = None
    contexts: Contexts = FULLY
    engine: str = DEFAULT
    counted: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    zero_division: ZeroDivision = "warn"

    @property
    def domain(self) -> Domain:
        """The domain over which the comparison was made."""
        return self.true.domain

    @cached_property
    def confusion(self) -> Confusion:
        """The confusion matrix over all pairs; pairs that no feature covers are all TN."""
        tp, fn, fp, _ = (sum(column) for column in self.counts.T)
        return Confusion(tp, fn, fp, self.total - tp - fn - fp)

    @property
    def tp(self) -> Number:
        """Contexts in which both models have the dependence, over all pairs."""
        return self.confusion.tp

    @property
    def fn(self) -> Number:
        """Contexts in which only the true model has the dependence."""
        return self.confusion.fn

    @property
    def fp(self) -> Number:
        """Contexts in which only the guess has the dependence."""
        return self.confusion.fp

    @property
    def tn(self) -> Number:
        """Contexts in which neither model has the dependence."""
        return self.confusion.tn

    @property
    def distance(self) -> Number:
        """FP + FN, the metric of the paper."""
        return self.confusion.distance

    @property
    def normalized(self) -> float:
        """The distance over the number of assertions, in [0, 1]."""
        return self.confusion.normalized

    @cached_property
    def mean_pair_distance(self) -> float:
        """The mean over pairs of their share of differing contexts: each pair counts the same."""
        if not self.pair_count:
            return 0.0
        shares = [ratio(fn + fp, tp + fn + fp + tn) for tp, fn, fp, tn in self.counts]
        return sum(shares) / self.pair_count

    def rate(self, name: str, zero_division: ZeroDivision | None = None) -> float:
        """One rate by name; see `Confusion.rate`."""
        return self.confusion.rate(
            name, self.zero_division if zero_division is None else zero_division
        )

    def pair(self, first: str, second: str) -> Confusion:
        """The confusion matrix of one pair."""
        position = pair_positions(self.domain, (first, second))
        found = np.flatnonzero((self.pairs == position).all(axis=1))
        if len(found):
            return Confusion(*self.counts[found[0]])
        if self.asked is not None and not (self.asked == position).all(axis=1).any():
            raise DomainError(f"this comparison leaves out the pair {first!r}, {second!r}")
        if self.rows is not None:
            return Confusion(0, 0, 0, self.rows)
        contexts = contexts_of_pairs(
            self.domain.cardinalities, np.array([position]), is_canonical(self.contexts)
        )
        return Confusion(0, 0, 0, contexts[0])

    def pair_names(self) -> list[Pair]:
        """The names of `pairs`."""
        names = self.domain.names
        return [(names[i], names[j]) for i, j in self.pairs.tolist()]

    def worst_pairs(self, most: int = 10) -> list[tuple[Pair, Confusion]]:
        """The pairs with the most errors, worst first; pairs without errors are left out."""
        errors = [fn + fp for _, fn, fp, _ in self.counts]
        order = sorted(range(len(errors)), key=lambda k: (-errors[k], k))[:most]
        names = self.pair_names()
        return [(names[k], Confusion(*self.counts[k])) for k in order if errors[k]]

    def summary(self) -> str:
        """The comparison in plain sentences.

        >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
        >>> print(compare(true, Structure(true.domain, ["A=1 & B=1 & C=1"])).summary())
        The models differ in 3 of 6 assertions (50 %).
        In 1 only the guess has the dependence, in 2 only the true model has it.
        3 of 3 pairs differ, A–B, A–C and B–C most.
        """
        c = self.confusion
        if not c.distance:
            return f"The models agree in all {number(c.total)} assertions."
        worst = [f"{first}–{second}" for (first, second), _ in self.worst_pairs(3)]
        differing = int(np.count_nonzero(self.counts[:, 1] + self.counts[:, 2]))
        named = worst[0] if len(worst) == 1 else f"{', '.join(worst[:-1])} and {worst[-1]}"
        return (
            f"The models differ in {number(c.distance)} of {number(c.total)} assertions "
            f"({percent(c.distance, c.total)}).\n"
            f"In {number(c.fp)} only the guess has the dependence, "
            f"in {number(c.fn)} only the true model has it.\n"
            f"{differing:,} of {self.pair_count:,} pairs differ, {named} most."
        )

    def to_frame(self) -> pandas.DataFrame:
        """The counts of each pair as a pandas DataFrame (``pip install contextwise[frames]``)."""
        import pandas as pd

        names = self.pair_names()
        frame = pd.DataFrame(self.counts, columns=list(COUNTS), dtype=object)
        frame.insert(0, "second", [second for _, second in names])
        frame.insert(0, "first", [first for first, _ in names])
        return frame

    def __repr__(self) -> str:
        c = self.confusion
        return (
            f"Comparison(distance={c.distance}, normalized={c.normalized:.4g}, "
            f"tp={c.tp}, fn={c.fn}, fp={c.fp}, tn={c.tn})"
        )

    def _repr_html_(self) -> str:
        c = self.confusion
        rows = "".join(
            f"<tr><td>{escape(first)} – {escape(second)}</td>"
            f"<td>{pair.fp}</td><td>{pair.fn}</td></tr>"
            for (first, second), pair in self.worst_pairs()
        )
        return (
            f"<p>distance <b>{c.distance}</b> of {c.total} ({c.normalized:.4g})</p>"
            "<table><tr><th></th><th>guess: dependent</th><th>guess: independent</th></tr>"
            f"<tr><th>true: dependent</th><td>{c.tp}</td><td>{c.fn}</td></tr>"
            f"<tr><th>true: independent</th><td>{c.fp}</td><td>{c.tn}</td></tr></table>"
            f"<table><tr><th>pair</th><th>FP</th><th>FN</th></tr>{rows}</table>"
        )


def compare(
    true: ModelOrPath,
    guess: ModelOrPath,
    *,
    pairs: Iterable[Pair] | None = None,
    variables: Iterable[str] | None = None,
    context: Assignment | None = None,
    data: Any = None,
    contexts: Contexts = FULLY,
    engine: str = DEFAULT,
    zero_division: ZeroDivision = "warn",
    show_progress: bool | Progress = False,
) -> Comparison:
    """Compare the independence structures of two models, exactly.

    Parameters
    ----------
    true, guess : models, or paths of model files
        Aligned by the names of their variables and states.
    pairs : pairs of names, optional
        Only these pairs.
    variables : names, optional
        Only the pairs inside this set; contexts still range over all other variables.
    context : partial assignment, optional
        Only contexts that agree with it; pairs that contain a variable of it are left out. The
        same as comparing the two restrictions.
    data : rows of observed assignments, optional
        The contexts that occur in these rows, as often as they occur, instead of all contexts.
        See `Domain.encode` for what rows can be.
    contexts : "fully-contextualized" or "canonical"
        See `contextwise.contexts`.
    engine : name of an engine; see ``contextwise engines``
    zero_division : number or "warn"
        What a rate that would divide by zero is.
    show_progress : bool or function
        A line on standard error, or a function of (pairs done, pairs in all).

    Examples
    --------
    Under X0=0 all three variables interact; the guess lacks the interaction of X1 and X2.

    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> compare(true, guess)
    Comparison(distance=3, normalized=0.5, tp=2, fn=1, fp=2, tn=1)
    """
    a = as_structure(true)
    b = as_structure(guess).aligned_to(a.domain)
    canonical = is_canonical(contexts)
    wanted = _wanted_pairs(a.domain, pairs, variables)
    rows = None if data is None else a.domain.encode(data)
    if context is not None:
        wanted, rows = _in_context(a.domain, context, wanted, rows)
        a, b = a.restrict(context), b.restrict(context)
    cardinalities = a.domain.cardinalities
    active = active_pairs(a, b) if wanted is None else _common(active_pairs(a, b), wanted)
    if rows is not None:
        counted = count_rows(a.features, b.features, active, rows, canonical=canonical)
        sizes = [len(rows)] * len(active)
        pair_count = _pairs_in(len(a.domain)) if wanted is None else len(wanted)
        total = len(rows) * pair_count
    else:
        with progress_of(show_progress, "comparing pairs") as progress:
            counted = get_engine(engine).count_pairs(
                a.features, b.features, active, canonical=canonical, progress=progress
            )
        sizes = contexts_of_pairs(cardinalities, active, canonical)
        if wanted is None:
            pair_count = _pairs_in(len(a.domain))
            total = all_contexts(cardinalities, canonical)
        else:
            pair_count = len(wanted)
            total = sum(contexts_of_pairs(cardinalities, wanted, canonical))
    return Comparison(
        true=a,
        guess=b,
        pairs=active,
        counts=_confusions(counted, sizes),
        total=total,
        pair_count=pair_count,
        asked=wanted,
        rows=None if rows is None else len(rows),
        contexts=contexts,
        engine=engine if rows is None else "rows",
        counted=counted.counted,
        seconds=counted.seconds,
        zero_division=zero_division,
    )


def distance(true: ModelOrPath, guess: ModelOrPath, **options: Any) -> Number:
    """The distance alone: ``compare(true, guess, **options).distance``."""
    return compare(true, guess, **options).distance


def _wanted_pairs(
    domain: Domain, pairs: Iterable[Pair] | None, variables: Iterable[str] | None
) -> IntArray | None:
    """The pairs that were asked for, as positions; None means all of them."""
    if isinstance(variables, str):
        raise DomainError(f"give the variables as a list, not as one text: {variables!r}")
    inside = None if variables is None else {domain.position(name) for name in variables}
    if pairs is None:
        return None if inside is None else all_pairs(inside)
    chosen = {pair_positions(domain, pair) for pair in pairs}
    if inside is not None:
        chosen = {pair for pair in chosen if inside.issuperset(pair)}
    return np.array(sorted(chosen), dtype=np.int64).reshape(-1, 2)


def _in_context(
    domain: Domain, context: Assignment, wanted: IntArray | None, rows: IntArray | None
) -> tuple[IntArray | None, IntArray | None]:
    """The wanted pairs and the observed rows, over the variables that a context leaves."""
    fixed = domain.assignment(context)
    stays = np.array([v not in fixed for v in range(len(domain))], dtype=bool)
    place = np.cumsum(stays) - 1
    if wanted is not None:
        wanted = place[wanted[stays[wanted].all(axis=1)]]
    if rows is not None:
        agrees = np.ones(len(rows), dtype=bool)
        for variable, state in fixed.items():
            agrees &= rows[:, variable] == state
        rows = rows[agrees][:, stays]
    return wanted, rows


def _common(first: IntArray, second: IntArray) -> IntArray:
    """The pairs that are in both."""
    inside = set(map(tuple, second.tolist()))
    return np.array(
        [pair for pair in first.tolist() if tuple(pair) in inside], dtype=np.int64
    ).reshape(-1, 2)


def _pairs_in(variables: int) -> int:
    return variables * (variables - 1) // 2


def _confusions(counted: PairCounts, sizes: list[int]) -> ObjectArray:
    """The four counts of each pair from its three unions."""
    a, b, u = counted.lower.T
    contexts = np.array(sizes, dtype=object)
    return np.stack([a + b - u, u - b, u - a, contexts - u], axis=1)
