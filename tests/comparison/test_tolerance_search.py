"""The search for regions where strong dependences differ."""

from __future__ import annotations

from contextwise.comparison.tolerance_search import PairFeature, Tables, largest_differences
from contextwise.comparison.tolerances import UNITS_PER_NAT


def test_regions_past_the_budget_are_left_out() -> None:
    own = {0: 2, 1: 2}
    one = [PairFeature({2: 2, 3: 2}, own, UNITS_PER_NAT), PairFeature({4: 2}, own, UNITS_PER_NAT)]
    tables = Tables((0, 1), (2,) * 5, (one, []))
    every = largest_differences(tables, UNITS_PER_NAT // 2, nodes=100)
    assert sum(size for _, _, size in every) == 5
    assert sum(size for _, _, size in largest_differences(tables, 1, nodes=2)) < 5
