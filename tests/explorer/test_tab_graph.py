"""The tab of graphs: edges, neighbours and places."""

from __future__ import annotations

from math import hypot
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from contextwise import Domain, Structure, compare
from contextwise.explorer import (
    tab_graph,
)
from contextwise.explorer.computations import shares_in
from contextwise.explorer.state import Context
from contextwise.report.comparisons import Guess
from contextwise.report.pictures import Shares, shares_of
from shown_guesses import shown


def test_differences_are_ranked_over_all_variables() -> None:
    n = 60
    domain = Domain.of_cardinalities([2] * n)
    chain = [f"v{k}=1 & v{k + 1}=1" for k in range(n - 1)]
    one = shown(Structure(domain, chain), Structure(domain, []))
    text = str(tab_graph.graphs("true", one, one.shares, {}, all_edges=False))
    assert "20 of 59 differences, the largest first" in text
    assert text.split("<ol>")[1].count("<li>") == 20


def test_variables_stay_where_they_are_when_a_state_is_chosen() -> None:
    domain = Domain.of_cardinalities([2] * 40)
    chain = [f"v{k}=1 & v{k + 1}=1" for k in range(39)]
    one = shown(Structure(domain, chain), Structure(domain, ["v2=1 & v30=1 & v35=1"]))
    some = compare(one.comparison.true, one.comparison.guess, context="v2=1")
    before = drawn_places(one, one.shares)
    after = drawn_places(one, shares_of(some), {"v2": "1"})
    assert len(before) == len(after) == 40
    assert all(hypot(*np.subtract(before[name], after[name])) < 1 for name in before)


@pytest.mark.parametrize("context", ["", "v2=1"])
def test_of_many_variables_those_with_an_edge_are_drawn(context: str) -> None:
    domain = Domain.of_cardinalities([2] * 100)
    chain = [f"v{k}=1 & v{k + 1}=1" for k in range(99)]
    one = shown(Structure(domain, chain), Structure(domain, ["v2=1 & v40=1 & v50=1"]))
    found = compare(one.comparison.true, one.comparison.guess, context=context or None)
    selection = tab_graph.selection_of(shares_of(found).edges(), all_edges=False)
    places = tab_graph.places(one, selection)
    assert set(places) == {name for edge in selection.edges for name in edge.pair}
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    assert len(set(places.values())) == len(places)


def test_several_states_of_a_variable_are_shown_and_it_stays_a_variable() -> None:
    domain = Domain({"Dept": ["A", "B", "C"], "sex": 2, "admitted": 2})
    true = Structure(domain, ["Dept=A & sex=1", "Dept=C & admitted=1"])
    one = shown(true, Structure(domain))
    several: Context = {"Dept": ("A", "B")}
    single: Context = {"Dept": "A"}
    states = str(tab_graph.context_states(domain, several))
    assert '<option value="A or B" selected="">A or B</option>' in states
    assert "A or B" not in str(tab_graph.context_states(domain, single))
    text = str(
        tab_graph.graphs("true", one, shares_in_context(one, several), several, all_edges=False)
    )
    assert "Dept – sex: only in true in 100 % of contexts" in text
    assert "admitted:" not in text
    assert "Dept=A|B" in text
    for context, hollow in ((several, 0), (single, 1)):
        selection = tab_graph.selection_of(one.shares.edges(), all_edges=True)
        where = tab_graph.places(one, selection)
        drawn = tab_graph.picture(selection, where, context)
        assert drawn.count("<circle") > 1
        assert drawn.count('fill="none"') == hollow


def shares_in_context(one: Guess, context: Context) -> Shares:
    def tell(*_: object) -> None:
        """Tell nobody."""

    return shares_in(one.comparison, one.shares.roles, context, 9.0, tell)


def drawn_places(
    one: Guess, shares: Shares, fixed: Context | None = None
) -> dict[str | None, tuple[float, float]]:
    """Return the position of each node in the picture of a context, by name."""
    selection = tab_graph.selection_of(shares.edges(), all_edges=False)
    where = tab_graph.places(one, selection)
    root = fromstring(tab_graph.picture(selection, where, fixed or {}))
    nodes = root.iterfind("{*}circle")
    return {node[0].text: (float(node.attrib["cx"]), float(node.attrib["cy"])) for node in nodes}
