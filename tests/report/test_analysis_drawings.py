"""Pictures of an analysis."""

from __future__ import annotations

import re

import numpy as np

from analyses import analysed, chain
from contextwise.data.rows import Data
from contextwise.models.domain import Domain
from contextwise.report.analysis_page import page_of_analysis


def test_every_variable_is_in_the_picture_also_an_isolated_one() -> None:
    data = chain(3)
    rng = np.random.default_rng(0)
    rows = np.column_stack([data.rows, rng.integers(0, 2, len(data))])
    domain = Domain({**dict.fromkeys(data.domain.names, 2), "alone": 2})
    page = page_of_analysis(analysed(Data(domain, rows)))
    nodes = re.findall(r'<g class="node"><title>([^<]*)', page)
    assert nodes == [*data.domain.names, "alone"]
