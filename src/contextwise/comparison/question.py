"""A question about some models: which pairs, in which contexts, with which weights.

Everything that compares models takes the same keywords (`Restriction`) and starts with `pose`. Only
`pose` reads the models, drops features of weight 0, aligns the models to one domain, restricts them
to a context and turns names into positions.

A **context** of a pair is an assignment of the other variables (``"fully-contextualized"``, the
default, as in the paper). A program of the paper's authors counts full assignments instead,
including the pair's own literals (``"canonical"``). With canonical contexts, models with equal
claims can have a distance above 0: ``<X0=1, X1=1>`` and its full table make the same pair depend,
and differ in three assignments.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import mul
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from contextwise.comparison.confusion import Number
from contextwise.comparison.context_weights import Weights, value_weights
from contextwise.comparison.roles import TRUE_AND_GUESS, Peers, Roles, peer_names
from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.extraction import covered_pairs
from contextwise.counting.pair_counts import CountArray
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import ModelLike, ZeroWeights, as_model
from contextwise.models.box import Box
from contextwise.models.domain import Assignment, Domain
from contextwise.models.structure import (
    Align,
    LogLinear,
    Model,
    Structure,
    named,
    numbers_of,
    require_features,
    structure_of,
)
from contextwise.support.arrays import IntArray
from contextwise.support.formatting import suggested

Contexts = Literal["fully-contextualized", "canonical"]
CONTEXTS: tuple[str, ...] = get_args(Contexts)
FULLY: Contexts = "fully-contextualized"
Pair = tuple[str, str]


class Restriction(TypedDict, total=False):
    """The keywords that restrict a comparison; `compare` explains them."""

    pairs: Iterable[Pair] | None
    variables: Iterable[str] | None
    context: Assignment | Box | None
    data: Any
    weights: Weights | None
    contexts: Contexts
    align: Align
    zero_weights: ZeroWeights
    peers: Peers


def active_pairs(*models: Model) -> IntArray:
    """Return the pairs that a feature of any of the models covers, as positions: shape (p, 2)."""
    return covered_pairs(*(structure_of(model).features for model in models))


def all_pairs(variables: Iterable[int]) -> IntArray:
    """Return all pairs of these positions, in order: shape (p, 2)."""
    chosen = np.array(sorted(set(variables)), dtype=np.int64)
    first, second = np.triu_indices(len(chosen), 1)
    return np.stack([chosen[first], chosen[second]], axis=1).astype(np.int64)


def asked_pairs(
    domain: Domain, pairs: Iterable[Pair] | None, variables: Iterable[str] | None
) -> IntArray | None:
    """Return the pairs that the keywords of `compare` select, as positions; None means all.

    >>> asked_pairs(Domain({"A": 2, "B": 2, "C": 2}), None, ["C", "A"]).tolist()
    [[0, 2]]
    """
    if isinstance(variables, str):
        raise DomainError(f"variables must be a list of names, got {variables!r}")
    inside = None if variables is None else {domain.position(name) for name in variables}
    if pairs is None:
        return None if inside is None else all_pairs(inside)
    chosen = {domain.pair(pair) for pair in pairs}
    if inside is not None:
        chosen = {pair for pair in chosen if inside.issuperset(pair)}
    return np.array(sorted(chosen), dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Question:
    """Models over one domain, and what to compare."""

    structures: tuple[Structure, ...]  # inside the box
    box: Box  # the contexts to compare; its domain is that of the models as they were read
    space: ContextSpace = UNIFORM
    asked: IntArray | None = None  # positions of the pairs to compare, or None for all
    rows: IntArray | None = None  # the observed rows whose contexts count, or None for all contexts
    align: Align = "names"  # how the models were aligned to the domain of the first
    weighted: tuple[LogLinear | None, ...] = ()
    """The models with weights, inside the box; or None."""
    peers: tuple[str, ...] = ()  # the names of the models if none of them is true

    @property
    def domain(self) -> Domain:
        """The variables and states inside the box."""
        return self.structures[0].domain

    @property
    def contexts(self) -> Contexts:
        """The kind of contexts."""
        return "canonical" if self.space.canonical else FULLY

    def about(self, *models: int) -> Question:
        """Return the same question about some of the models, by their places."""
        return replace(
            self,
            structures=tuple(self.structures[m] for m in models),
            weighted=tuple(self.weighted[m] for m in models) if self.weighted else (),
            peers=tuple(self.peers[m] for m in models) if self.peers else (),
        )

    @property
    def roles(self) -> Roles:
        """The words for the first two models."""
        if not self.peers:
            return TRUE_AND_GUESS
        return Roles(self.peers[0], self.peers[-1], peers=True)

    def active_pairs(self) -> IntArray:
        """Return the pairs to compare that a feature of some model covers: shape (p, 2).

        All models make the others independent in every context.
        """
        models = (structure.features for structure in self.structures)
        return covered_pairs(*models, among=self.asked)

    @cached_property
    def asked_pairs(self) -> IntArray:
        """Positions of all pairs to compare, covered or not: shape (p, 2)."""
        return all_pairs(range(len(self.domain))) if self.asked is None else self.asked

    @property
    def pair_count(self) -> int:
        """The number of pairs to compare."""
        n = len(self.domain)
        return n * (n - 1) // 2 if self.asked is None else len(self.asked)

    @property
    def pair_size(self) -> int | None:
        """The total weight of the contexts of a pair if it is the same for all pairs.

        It is the number of observed rows, or 1 if contexts have weights; otherwise None.
        """
        if self.rows is not None:
            return len(self.rows)
        return None if self.space.weights is None else 1

    def sizes(self, pairs: IntArray) -> Sequence[Number]:
        """Return the total weight of the contexts of each pair."""
        if self.pair_size is not None:
            return [self.pair_size] * len(pairs)
        return self.space.of_pairs(self.domain.cardinalities, pairs)

    def unit_sizes(self, pairs: IntArray, unit: Number) -> CountArray:
        """Return the same divided by a unit, as an array."""
        if self.pair_size is None:
            kinds, place = self.space.kinds_of_pairs(self.domain.cardinalities, pairs)
            numbers = [int(kind // unit) for kind in kinds]
        else:
            numbers, place = [int(self.pair_size / unit)], np.zeros(len(pairs), dtype=np.int64)
        # So that the sum of two sizes still fits into 64 bits.
        kind = np.int64 if max(numbers, default=0) < 2**62 else object
        return np.array(numbers, dtype=kind)[place]

    @cached_property
    def total(self) -> Number:
        """The number of assertions: the contexts of all pairs to compare."""
        if self.pair_size is not None:
            return self.pair_size * self.pair_count
        if self.asked is None:
            return self.space.of_all_pairs(self.domain.cardinalities)
        return sum(self.sizes(self.asked))

    def variable_sizes(self, unit: Number = 1) -> list[int]:
        """Return the total weight of the contexts of the pairs of each variable, in a unit."""
        n = len(self.domain)
        if self.asked is not None:
            sums = np.zeros(n, dtype=object)
            sizes = self.unit_sizes(self.asked, unit).astype(object)
            for end in (0, 1):
                np.add.at(sums, self.asked[:, end], sizes)
            return list(sums)
        # A size depends only on the two cardinalities, so one pair of each kind is enough.
        cardinalities = np.array(self.domain.cardinalities, dtype=np.int64)
        _, first, kind, counts = np.unique(
            cardinalities, return_index=True, return_inverse=True, return_counts=True
        )
        sums_of_kind = []
        for k, variable in enumerate(first.tolist()):
            pairs = np.stack([np.full(len(first), variable), first], axis=1)
            # A variable makes no pair with itself.
            others = (counts - (np.arange(len(first)) == k)).tolist()
            sums_of_kind.append(sum(map(mul, others, self.unit_sizes(pairs, unit).tolist())))
        return [sums_of_kind[k] for k in kind.tolist()]


def pose(
    models: Iterable[ModelLike],
    *,
    names: Sequence[str] | None = None,
    pairs: Iterable[Pair] | None = None,
    variables: Iterable[str] | None = None,
    context: Assignment | Box | None = None,
    data: Any = None,
    weights: Weights | None = None,
    contexts: Contexts = FULLY,
    align: Align = "names",
    zero_weights: ZeroWeights = "keep",
    peers: Peers = False,
    **unknown: object,
) -> Question:
    """Read models, align them to the first, and restrict them.

    ``names`` are those of the models in messages; by default their files.

    >>> question = pose(["lung", "lung-learned"], context="smoker=yes")
    >>> question.domain.names, question.pair_count, question.total
    (('asbestos', 'cancer'), 1, 1)
    """
    for name in unknown:
        known = Restriction.__annotations__
        hint = suggested(name, known) or f"use {', '.join(known)}"
        raise TypeError(f"got an unexpected keyword argument {name!r}; {hint}")
    if contexts not in CONTEXTS:
        raise DomainError(
            f"unknown contexts {contexts!r}; choose 'fully-contextualized' or 'canonical'"
        )
    aligned, files = _over_one_domain(list(models), names, align, zero_weights)
    structures = tuple(map(structure_of, aligned))
    if contexts == "canonical":
        for structure in structures:
            require_features(structure, "a canonical context, which tests a pair's own literals,")
    domain = structures[0].domain
    if data is not None and weights is not None:
        raise DomainError("give data or weights, not both; marginals(domain, data) returns weights")
    rows = None
    if data is not None:
        from contextwise.data.rows import as_data, following  # most comparisons do not need them

        rows = as_data(data, domain, following(structures[0])).expanded.rows
    space = UNIFORM
    if weights is not None or contexts == "canonical":
        of_values = None if weights is None else value_weights(domain, weights)
        space = ContextSpace(contexts == "canonical", of_values)
    question = Question(
        structures,
        Box.of(domain, context),
        space,
        asked=asked_pairs(domain, pairs, variables),
        rows=rows,
        align=align,
        weighted=tuple(map(numbers_of, aligned)),
        peers=peer_names(peers, files),
    )
    return _inside(question) if question.box else question


def listed_models(name: str, models: Any) -> list[ModelLike]:
    """Return the models as a list; raise if one model was passed instead of several."""
    if isinstance(models, str | os.PathLike) or not isinstance(models, Iterable):
        shown = repr(models) if isinstance(models, str) else type(models).__name__
        raise ContextwiseError(f"{name} must be a list of models, got {shown}; pass [{shown}]")
    return list(models.values() if isinstance(models, Mapping) else models)


def _over_one_domain(
    models: Sequence[ModelLike],
    names: Sequence[str] | None,
    align: Align,
    zero_weights: ZeroWeights,
) -> tuple[tuple[Model, ...], Sequence[str]]:
    """Return the models over the domain of the first, and their names."""
    if not models:
        raise ContextwiseError("no model to compare; give at least one")
    read = [as_model(model, zero_weights=zero_weights) for model in models]
    called = [model.origin.file.name for model in read] if names is None else names
    if all(model.origin.unknown_states for model in read):
        warnings.warn(
            "the graphs have no states; every variable is taken to have two", stacklevel=4
        )
    for model in read[1:]:  # the true model may be a graph without states
        if isinstance(read[0], Structure) and not model.origin.unknown_states:
            read[0] = read[0].with_states_of(model.domain, align=align)
    domain, aligned = read[0].domain, read[:1]
    for place, model in enumerate(read[1:], 1):
        if align == "names" and model.domain == domain:
            aligned.append(model)
            continue
        with named(called[0], called[place]):
            aligned.append(model.aligned_to(domain, align=align))
    return tuple(aligned), called


def _inside(question: Question) -> Question:
    """Restrict everything that a question is about to its box."""
    box, pairs, weights = question.box, question.asked, question.space.weights
    if pairs is not None:
        pairs = box.place[pairs]
        pairs = pairs[(pairs >= 0).all(axis=1)]
    if weights is not None:
        weights = box.values(weights)
        for name, left in zip(box.inside.names, weights, strict=True):
            if not sum(left):
                raise DomainError(f"the states of {name!r} in the context have weight 0")
    return replace(
        question,
        structures=tuple(structure.restrict(box) for structure in question.structures),
        weighted=tuple(
            None if model is None else model.restrict(box) for model in question.weighted
        ),
        asked=pairs,
        rows=None if question.rows is None else box.rows(question.rows),
        space=replace(question.space, weights=weights),
    )
