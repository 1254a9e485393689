"""How the states of a variable are shown: in which order, and which of them not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from contextwise.data.rows import Data
from contextwise.evidence.coded_rows import numeric_order


def to_hide(sizes: Sequence[float], smallest: Sequence[float], least: int) -> set[int]:
    """Choose the groups that may not be shown: those that reveal 1 to ``least - 1`` rows.

    ``sizes`` are the rows of each group, and ``smallest`` the fewest that showing it reveals. If
    only one is hidden, or fewer rows than ``least``, totals would tell them: then the smallest of
    the others are hidden, too.

    >>> to_hide([3, 597], [3, 597], 5), to_hide([3, 4, 593], [3, 4, 593], 5)
    ({0, 1}, {0, 1})
    """
    chosen = {k for k, count in enumerate(smallest) if 0 < count < least}
    others = [k for k, size in enumerate(sizes) if size and k not in chosen]
    for k in sorted(others, key=lambda k: sizes[k]) if chosen else ():
        if len(chosen) > 1 and sum(sizes[j] for j in chosen) >= least:
            break
        chosen.add(k)
    return chosen


def state_order(data: Data, name: str) -> list[int]:
    """Return the states of a variable in the order to show them.

    States with numbers are sorted by them. Others keep the order of the file if rows are counted.
    """
    v = data.domain.position(name)
    states = data.domain.states[v]
    in_order = list(range(len(states)))
    if any(name in data.decisions.get(key, ()) for key in ("bins", "in_order")):
        return in_order
    by_number = numeric_order(states)
    if by_number or data.multiplicity is None:
        return by_number or in_order
    found, first = np.unique(data.rows[:, v], return_index=True)
    seen = dict(zip(found.tolist(), first.tolist(), strict=True))
    return sorted(in_order, key=lambda k: seen.get(k, len(data.rows)))


def is_scale(states: Sequence[str]) -> bool:
    """Check for numbers or bins: ``20-24``, ``2019``, ``<20``, or ``up to 25``.

    >>> is_scale(["<20", "20-24", "65+"]), is_scale(["site 1", "site 2"]), is_scale(["1st", "2nd"])
    (True, False, False)
    """
    numbers = all(re.match(r"\s*[<≤>≥]?\s*-?\d+([.,]\d+)?(?![\w.])", state) for state in states)
    return numbers or states[0].startswith("up to ")
