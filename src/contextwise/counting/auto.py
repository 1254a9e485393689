"""The default engine: a fast engine with a budget of nodes, then Ganak for what exceeds it.

The kernel counts nearly all covers of real structures in microseconds, far less than a solver needs
to start. On a few, the solver's conflict learning and tree decompositions win:

1. ``native`` counts every union within the budget (``branch`` if the kernel is not available);
2. ``ganak`` counts the remaining ones, one process per core;
3. if Ganak is not installed or a process of it died, the first engine counts without a budget.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from contextwise.counting import known_sizes, native
from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.counting.contract import CountPairs, OverBudget, count_pairs_with
from contextwise.counting.cover import Cover
from contextwise.counting.pair_counts import PairCounts
from contextwise.models.features import Features
from contextwise.support.arrays import IntArray
from contextwise.support.deadline import NEVER, Deadline
from contextwise.support.effort import QUIET, Effort

BUDGET = 500_000
"""Nodes of the kernel for one union: about one second, what Ganak needs for a hard one."""
BUDGET_IN_PYTHON = 5_000
"""The same for `branch`, which is a hundred times slower."""


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """Count the union of the cubes."""
    quick, budget = native.count_union, BUDGET
    if native.missing():
        from contextwise.counting import branch

        quick, budget = branch.count_union, BUDGET_IN_PYTHON
    try:
        return quick(cover, deadline=deadline, node_budget=budget)
    except OverBudget:
        from contextwise.counting import ganak

        slow = quick if ganak.missing() else ganak.count_union
        return slow(cover, deadline=deadline)


def count_pairs(
    a: Features,
    b: Features,
    pairs: IntArray,
    effort: Effort = QUIET,
    *,
    space: ContextSpace = UNIFORM,
) -> PairCounts:
    """Count all pairs of two models."""
    counts = _quick_pairs(budgeted=True)(a, b, pairs, effort, space=space)
    if not len(counts.open_places):
        return counts
    if _continues(counts, effort.deadline):
        from contextwise.counting import ganak  # most comparisons need none of its imports

        if not ganak.missing():
            open_before = counts.low != counts.high
            counts = ganak.close_pairs(counts, a, b, pairs, effort, space=space)
            closed = open_before & (counts.low == counts.high)
            # The third column belongs to both models, so other comparisons cannot use it.
            for column, model in enumerate((a, b)):
                places = np.flatnonzero(closed[:, column])
                sizes, unit = counts.low[places, column], int(counts.unit)
                known_sizes.keep(model, pairs[places], sizes, unit, space, by_ganak=True)
    if _continues(counts, effort.deadline):
        left = counts.open_places
        later = _quick_pairs(budgeted=False)(a, b, pairs[left], effort, space=space)
        counts = counts.refine(left, later)
    return counts


def _quick_pairs(*, budgeted: bool) -> CountPairs:
    if native.missing():
        from contextwise.counting import branch

        budget = BUDGET_IN_PYTHON if budgeted else None
        return partial(count_pairs_with, partial(branch.count_union, node_budget=budget), "branch")
    return partial(native.count_pairs, node_budget=BUDGET if budgeted else None, with_ganak=True)


def _continues(counts: PairCounts, deadline: Deadline) -> bool:
    """Return whether there is work left and time to do it."""
    return len(counts.open_places) > 0 and not deadline.passed and not counts.interrupted
