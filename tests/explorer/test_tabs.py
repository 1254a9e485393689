"""The tabs of the explorer without a browser: what they show of values."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import hypot
from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from shiny.types import ActionButtonValue

from contextwise import Domain, Structure, compare, examples
from contextwise.comparison.explain import ErrorRegion, explain_pair
from contextwise.comparison.matrix import distance_matrix
from contextwise.evaluation import chance, check, consensus
from contextwise.explorer import (
    computations,
    controls,
    runs,
    sidebar,
    tab_experiment,
    tab_graph,
    tab_guesses,
    tab_overview,
    tab_question,
    tab_statistics,
)
from contextwise.explorer.job import Done, Failed, Job, Working
from contextwise.explorer.wiring import Upload, clicks, file_name
from contextwise.models.structure import structure_of
from contextwise.report.comparisons import Guess
from contextwise.report.parts import Note
from contextwise.report.pictures import heat_map, packed
from contextwise.report.shares import Shares, neighbours, shares_of
from hard import hard_models

HOSTILE = "<img src=x onerror=\"alert('run')\">"
SIX, SIX_GUESS = (structure_of(examples.load(name)) for name in ("six", "six-guess"))


def shown(true: Structure = SIX, guess: Structure = SIX_GUESS, name: str = "guess") -> Guess:
    return Guess("given:1", compare(true, guess), label=name)


def hostile() -> Guess:
    domain = Domain({HOSTILE: 2, "B": 2, "C": [HOSTILE, "yes"]})
    true = Structure(domain, [{HOSTILE: 1, "B": 1, "C": HOSTILE}])
    return shown(true, Structure(domain, [{HOSTILE: 1, "B": 1}]), name=HOSTILE)


def run(function: Callable[..., Any], *arguments: Any, seconds: float = 60) -> Any:
    return asyncio.run(Job(function, *arguments, seconds=seconds).result())


def test_the_overview_begins_with_the_verdict() -> None:
    text = str(tab_overview.summary(shown()))
    assert text.index("16 of 240") < text.index("precision")
    assert "X1–X2" in text


def test_models_that_agree_say_so() -> None:
    same = shown(SIX, SIX)
    assert "all 240 assertions" in str(tab_overview.summary(same))
    assert "No pair differs" in str(tab_overview.worst(same))
    assert "agree here" in str(tab_graph.differences(same.shares.edges()))


@pytest.mark.parametrize("variables", [1, 2])
def test_the_smallest_domains_can_be_shown(variables: int) -> None:
    domain = Domain(dict.fromkeys("AB"[:variables], 2))
    found = shown(Structure(domain, []), Structure(domain, ["A=1 & B=1"][: variables - 1]))
    assert str(tab_overview.summary(found))
    assert str(tab_overview.heat_legend(heat_map(found.shares)))
    assert str(tab_graph.graphs("true", found, found.shares, {}, all_edges=True))


def test_open_pairs_are_shown_with_what_is_proven() -> None:
    found = Guess("hard", compare(*hard_models(), time_limit=0))
    text = str(tab_overview.summary(found)) + str(tab_overview.worst(found))
    assert "pairs are unfinished" in text
    assert "widest bounds" in text
    assert found.shares.open_pairs() == len(found.comparison.unions.open)
    first, second = found.comparison.open_pairs[0]
    assert "Not decided in time" in str(tab_overview.counts(found.comparison, (first, second)))


def test_hostile_names_are_texts_in_every_view() -> None:
    one = hostile()
    found = explain_pair(one.comparison, (HOSTILE, "B"))
    contents = [
        tab_overview.summary(one),
        tab_overview.worst(one),
        tab_overview.pair_selectors(one.shares.names, (HOSTILE, "B")),
        tab_overview.variable_search(one.shares.names),
        tab_overview.counts(one.comparison, (HOSTILE, "B")),
        tab_overview.regions(Done(found), one.comparison.domain),
        tab_overview.around(one.shares, HOSTILE),
        tab_graph.context_states(one.comparison.domain, {"C": HOSTILE}),
        tab_graph.graphs("true", one, one.shares, {"C": HOSTILE}, all_edges=True),
        tab_guesses.guess_table([one]),
        tab_guesses.plane([one, one]),
        controls.under_way(Working(HOSTILE)),
        sidebar.status(any_guess=True, failure=HOSTILE, open_pairs=False),
        tab_question.replies(Failed(HOSTILE), ["a", "b"]),
        controls.choose(HOSTILE, "key", HOSTILE),
    ]
    for content in contents:
        assert "<img" not in str(content)


def test_hostile_names_are_texts_in_what_is_asked_for() -> None:
    one = hostile()
    true, guess = one.comparison.true, one.comparison.guess
    made = consensus([true, guess])
    rows = [[0, 0, HOSTILE], [1, 1, HOSTILE]] * 20
    picture = runs.RunPicture(HOSTILE, "data:,", HOSTILE, is_wide=False)
    stored = runs.Run(HOSTILE, [], [Note("a", HOSTILE)], [picture], true)
    contents = [
        tab_guesses.agreed((made, list(made.widest_supports()))),
        tab_statistics.chance_view(chance(true, guess, draws=9)),
        tab_statistics.check_view(check(guess, rows)),
        tab_statistics.rows_name(Upload("/tmp/x", HOSTILE)),
        tab_experiment.run_view(stored, HOSTILE),
    ]
    assert not any("<img src=x" in str(content) for content in contents)
    assert any("&lt;img" in str(content) for content in contents)


def test_a_region_can_be_sent_to_the_graphs() -> None:
    domain = examples.load("survey").domain
    comparison = compare(examples.load("survey"), examples.load("survey-learned"))
    found = explain_pair(comparison, ("children", "work"))
    assert "gender=man" in str(tab_overview.regions(Done(found), domain))
    assert "show this context" in str(tab_overview.regions(Done(found), domain))
    many = compare(*hard_models(), time_limit=0)
    left = explain_pair(many, many.open_pairs[0], top=1, time_limit=0)
    assert str(tab_overview.regions(Done(left), many.domain))
    everywhere = ErrorRegion("guess", (), 1, Fraction(1))
    assert tab_overview.region_context(everywhere, domain) == ""


def test_neighbours_are_ranked_by_their_errors() -> None:
    one = shown()
    found = neighbours(one.shares, "X1")
    assert found[0].pair == ("X1", "X2")
    assert [edge.errors for edge in found] == sorted((e.errors for e in found), reverse=True)
    text = str(tab_overview.around(one.shares, "X1"))
    assert "5 of 5 other variables depend on X1" in text
    assert "differ about 1 of them" in text
    lonely = Structure({"A": 2, "B": 2}, [])
    assert "depends on no other" in str(tab_overview.around(shown(lonely, lonely).shares, "A"))


def test_differences_are_ranked_over_all_variables() -> None:
    n = 60
    domain = Domain.of_cardinalities([2] * n)
    chain = [f"v{k}=1 & v{k + 1}=1" for k in range(n - 1)]
    one = shown(Structure(domain, chain), Structure(domain, []))
    text = str(tab_graph.graphs("true", one, one.shares, {}, all_edges=False))
    assert "The 20 largest of 59 differences" in text
    assert text.split("<ol>")[1].count("<li>") == 20


def test_variables_stay_where_they_are_when_a_state_is_chosen() -> None:
    n = 60
    domain = Domain.of_cardinalities([2] * n)
    chain = [f"v{k}=1 & v{k + 1}=1" for k in range(n - 1)]
    one = shown(Structure(domain, chain), Structure(domain, ["v2=1 & v40=1 & v50=1"]))
    everywhere = tab_graph.selection_of(one.shares.edges(), all_edges=False)
    known = tab_graph.places(one, one.shares, everywhere, all_edges=False)
    some = compare(one.comparison.true, one.comparison.guess, context="v2=1")
    inside = shares_of(some)
    selection = tab_graph.selection_of(inside.edges(), all_edges=False)
    found = tab_graph.places(one, inside, selection, all_edges=False)
    drawn = {name for edge in selection.edges for name in edge.pair}
    assert set(found) == drawn
    assert drawn - set(known)  # some come only with the state
    assert all(found[name] == known[name] for name in drawn & set(known))
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in found.values())
    assert len(set(found.values())) == len(found)
    before = drawn_places(one, one.shares)
    after = drawn_places(one, shares_of(some), {"v2": "1"})
    both = set(before) & set(after)
    assert len(both) > 20
    assert all(hypot(*np.subtract(before[name], after[name])) < 1 for name in both)


def drawn_places(
    one: Guess, shares: Shares, fixed: Mapping[str, str] | None = None
) -> dict[str | None, tuple[float, float]]:
    """Where the picture of a context has its nodes, by their names."""
    selection = tab_graph.selection_of(shares.edges(), all_edges=False)
    where = tab_graph.places(one, shares, selection, all_edges=False)
    root = fromstring(tab_graph.picture(selection, where, fixed or {}, side="both"))
    nodes = root.iterfind("{*}circle")
    return {node[0].text: (float(node.attrib["cx"]), float(node.attrib["cy"])) for node in nodes}


def test_work_says_what_it_does_and_how_far_it_is() -> None:
    text = str(controls.under_way(Working("Comparing", 1, 3)))
    assert "Comparing: 1 of 3 (33 %)" in text
    assert 'aria-valuenow="33"' in text
    assert "%" not in re.sub("width: 100%", "", str(controls.under_way(Working("Starting"))))
    nothing = sidebar.status(any_guess=False, failure=None, open_pairs=False)
    assert "No guess is chosen" in str(nothing)


def test_guesses_sort_by_exact_numbers() -> None:
    large = Structure(Domain.of_cardinalities([2] * 90), ["v0=1 & v1=1", "v0=1 & v2=1 & v3=1"])
    empty = Structure(large.domain, [])
    some = [shown(large, empty, "a"), shown(large, Structure(large.domain, ["v0=1 & v1=1"]), "b")]
    rows = re.findall(r'data-sort="(\d)"', str(tab_guesses.guess_table(some)))
    distance = [row[2] for row in (rows[: len(rows) // 2], rows[len(rows) // 2 :])]
    assert distance == ["1", "0"]


def test_groups_of_guesses_have_means_with_intervals() -> None:
    some = [shown(SIX, SIX_GUESS, "pc-1"), shown(SIX, SIX, "pc-2"), shown(SIX, SIX, "cl")]
    text = str(tab_guesses.plane(some))
    assert text.count('class="guess"') == 3
    assert text.count('class="mean"') == 1
    assert "Intervals: t." in text


def test_the_nearest_and_the_most_typical_guess_are_named() -> None:
    graph = structure_of(examples.load("six-graph"))
    some = [shown(SIX, SIX_GUESS, "near"), shown(SIX, graph, "far"), shown(SIX, SIX_GUESS, "twin")]
    models = [SIX, SIX_GUESS, graph, SIX_GUESS]
    names = ["six", *(one.title for one in some)]
    for approximate in (False, 1000):
        matrix = distance_matrix(models, names=names, approximate=approximate)
        text = str(tab_guesses.between(Done(matrix), some))
        assert "Nearest to the true model is near, at 6.67 %." in text
        assert "most typical guess is near" in text
        assert ("estimates from 1,000 random assertions" in text) == bool(approximate)
        assert text.count('class="mark') == 4
        assert len(tab_guesses.matrix_records(matrix)) == 6
    hostile_names = distance_matrix([SIX, SIX_GUESS, SIX], names=["a", HOSTILE, "c"])
    assert "<img" not in str(tab_guesses.between(Done(hostile_names)))


def test_distances_that_are_open_are_drawn_between_their_bounds() -> None:
    matrix = distance_matrix(hard_models(), names=["a", "b"], time_limit=0)
    assert matrix.open
    assert 'class="mark' in str(tab_guesses.between(Done(matrix)))
    assert 0 < tab_guesses.middle(matrix)[0, 1] < 1


def test_a_consensus_stands_beside_its_bounds() -> None:
    named = {"a": SIX, "b": SIX_GUESS, "c": structure_of(examples.load("six-graph"))}
    matrix = run(computations.distances, named, "fully-contextualized", 60.0)
    made, supports = run(computations.consensus_of, named, matrix, "fully-contextualized", 60.0)
    text = str(tab_guesses.agreed((made, supports)))
    assert "lower bound for any structure" in text
    assert "a local optimum" in text
    assert made.sum == made.lower_bound == 88
    assert re.search(r"\d( to \d)? of 3", text)
    estimated = run(computations.distances, named, "fully-contextualized", None)
    assert estimated.names == ("a", "b", "c")


def test_a_button_that_appears_has_not_been_clicked() -> None:
    assert clicks(1) == 1
    assert isinstance(clicks(0), ActionButtonValue)  # which Shiny takes for no event
    for sent in (None, "1", True, -1):
        with pytest.raises(TypeError):
            clicks(sent)


# -- the data of the heat map --------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [False, True])
def test_the_browser_gets_what_the_report_draws(cluster: bool) -> None:
    comparison = compare(examples.load("survey"), examples.load("survey-learned"))
    shares = shares_of(comparison)
    heat = heat_map(shares, reorder=cluster)
    assert np.array_equal(heat.shares, heat_map(comparison, reorder=cluster).shares, equal_nan=True)
    sent = packed(shares, heat.order)
    assert [shares.names[v] for v in _array(sent["order"], "<u4")] == list(heat.names)
    assert np.allclose(_array(sent["fp"], "<f4"), shares.fp)
    assert _array(sent["pairs"], "<u4").reshape(-1, 2).tolist() == comparison.pairs.tolist()


def _array(text: str, kind: str) -> Any:
    return np.frombuffer(base64.b64decode(text), kind)


def test_a_tiny_share_is_not_lost_on_the_way() -> None:
    n = 1200
    domain = Domain.of_cardinalities([2] * n)
    narrow = " & ".join(f"v{k}=1" for k in range(n))
    shares = shares_of(compare(Structure(domain, ["v0=1 & v1=1"]), Structure(domain, [])))
    assert shares.fn.tolist() == [1.0]
    wide = Structure(domain, ["v0=1 & v1=1", narrow])
    found = shares_of(compare(wide, Structure(domain, ["v0=1 & v1=1"]), variables=["v0", "v2"]))
    assert found.fn.astype(np.float32)[0] > 0


def test_names_of_groups_files_and_places() -> None:
    labels = "nltcs.pc-3.json", "nltcs.dt-ps10.mn", "six (example)"
    assert list(map(tab_guesses.group_of, labels)) == ["nltcs.pc", "nltcs.dt-ps10", "six"]
    places = np.array([[0, 0], [1, 1], [0, 0.01]])
    assert tab_guesses.shared_labels(places, ["a", "b", "c"]) == ["a, c", "b", ""]
    assert file_name("a/b: <c>.mn vs d.mn") == "a-b-c-.mn-vs-d.mn"
    assert file_name("..") == "contextwise"
