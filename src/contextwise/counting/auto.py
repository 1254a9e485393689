"""The portfolio, and the default: a quick engine with a budget, then Ganak for what exceeds it.

Nearly all covers of real structures are counted in microseconds, far less than a solver takes to
start. On a few, the solver's conflict learning and tree decompositions win. A budget of nodes
decides:

1. every union by ``native`` (by ``branch`` where the kernel was not built), within the budget;
2. what is left by ``ganak``, in as many processes as there are cores;
3. what is left then, because Ganak is not installed or one of its processes died, by the first
   engine again, without a budget.
"""

from __future__ import annotations

from functools import partial
from typing import Unpack

from contextwise.counting import branch, native
from contextwise.counting.contract import CountPairs, Options, OverBudget, count_pairs_with
from contextwise.counting.cover import Cover
from contextwise.counting.pair_counts import PairCounts
from contextwise.models.features import Features, IntArray
from contextwise.support.deadline import NEVER, Deadline

BUDGET = 500_000
"""Nodes of the kernel for one union: about the second that Ganak takes for a hard one."""
READABLE_BUDGET = 5_000
"""The same for `branch`, a hundred times slower."""


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """The size of the union of the cubes.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    compiled = not native.missing()
    quick = native.count_union if compiled else branch.count_union
    budget = BUDGET if compiled else READABLE_BUDGET
    try:
        return quick(cover, deadline=deadline, node_budget=budget)
    except OverBudget:
        from contextwise.counting import ganak

        slow = quick if ganak.missing() else ganak.count_union
        return slow(cover, deadline=deadline)


def count_pairs(
    a: Features, b: Features, pairs: IntArray, **options: Unpack[Options]
) -> PairCounts:
    """The second contract, by the portfolio."""
    deadline = options.get("deadline", NEVER)
    counts = _quick_pairs(budgeted=True)(a, b, pairs, **options)
    if _goes_on(counts, deadline):
        from contextwise.counting import ganak  # most comparisons need none of what it imports

        if not ganak.missing():
            counts = ganak.close_pairs(counts, a, b, pairs, **options)
    if _goes_on(counts, deadline):
        left = counts.open
        counts = counts.refine(left, _quick_pairs(budgeted=False)(a, b, pairs[left], **options))
    return counts


def _quick_pairs(*, budgeted: bool) -> CountPairs:
    if native.missing():
        budget = READABLE_BUDGET if budgeted else None
        return partial(count_pairs_with, partial(branch.count_union, node_budget=budget), "branch")
    return partial(native.count_pairs, node_budget=BUDGET if budgeted else None)


def _goes_on(counts: PairCounts, deadline: Deadline) -> bool:
    """Whether there is work left and time to do it."""
    return len(counts.open) > 0 and not deadline.passed and not counts.interrupted
