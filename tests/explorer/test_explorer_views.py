"""The explorer's views without a browser: what they show, as tags, for values that are given."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import hypot
from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shiny.types import ActionButtonValue

from contextwise import Domain, Structure, compare, examples
from contextwise.comparison.explain import ErrorRegion, explain_pair
from contextwise.comparison.matrix import distance_matrix
from contextwise.comparison.pairs import FULLY
from contextwise.errors import ContextwiseError
from contextwise.evaluation import chance, check, consensus, summarize
from contextwise.explorer import (
    agreement,
    computations,
    context,
    elements,
    evaluations,
    experiment,
    guesses,
    overview,
    pair,
    question,
    runs,
    sidebar,
    statistics,
    study,
)
from contextwise.explorer.computations import Findings, findings_of
from contextwise.explorer.job import Done, Failed, Job, WorkError, Working
from contextwise.explorer.scatter import Point, Series, scatter_svg
from contextwise.explorer.state import Ahead, Key, Shown, begin_ahead
from contextwise.explorer.view import (
    Entry,
    View,
    chosen_guesses,
    library,
    offered_guesses,
    shown_guess,
    with_state,
    with_uploads,
)
from contextwise.explorer.wiring import Upload, clicks
from contextwise.models.structure import structure_of
from contextwise.report.comparisons import Guess
from contextwise.report.parts import Note
from contextwise.report.pictures import heat_map
from contextwise.report.plane import errors_plane
from contextwise.report.shares import Shares, neighbours, packed, shares_of
from contextwise.studies.learners.unit import COLUMNS
from hard import hard_models

HOSTILE = "<img src=x onerror=\"alert('run')\">"
SIX, SIX_GUESS = (structure_of(examples.load(name)) for name in ("six", "six-guess"))


def shown(true: Structure = SIX, guess: Structure = SIX_GUESS, name: str = "guess") -> Shown:
    entries = Entry("given:0", "true", true), Entry("given:1", name, guess)
    return Shown(*entries, findings_of(compare(true, guess)))


def hostile() -> Shown:
    domain = Domain({HOSTILE: 2, "B": 2, "C": [HOSTILE, "yes"]})
    true = Structure(domain, [{HOSTILE: 1, "B": 1, "C": HOSTILE}])
    return shown(true, Structure(domain, [{HOSTILE: 1, "B": 1}]), name=HOSTILE)


# -- the view and its address --------------------------------------------------------------------

names = st.text(min_size=1, max_size=8)


@given(
    st.builds(
        View,
        true=st.sampled_from(["", "given:0", "example:six"]),
        guesses=st.none() | st.lists(names, max_size=3).map(tuple),
        shown=st.text(max_size=5),
        contexts=st.sampled_from(["fully-contextualized", "canonical"]),
        tab=st.sampled_from(["overview", "context", "guesses"]),
        pair=st.none() | st.tuples(names, names),
        variable=st.none() | names,
        context=st.text(max_size=9),
        all_edges=st.booleans(),
        question=st.text(max_size=9),
    )
)
def test_an_address_brings_its_view_back(view: View) -> None:
    assert View.parse(f"?{view.query()}") == view


def test_nonsense_in_an_address_is_left_out() -> None:
    assert View.parse("tab=no&contexts=none&first=x&%%%") == View()


def test_a_link_never_names_an_upload() -> None:
    view = View(true="given:0", guesses=("given:1", "upload:0"), shown="upload:0", pair=("A", "B"))
    assert "upload" not in view.link().query()
    assert view.link().pair == ("A", "B")
    assert replace(view, true="upload:1").link().pair is None


def test_guesses_are_models_over_the_same_variables() -> None:
    entries = library()
    view = View(true="example:lung")
    assert [entry.key for entry in chosen_guesses(view, entries)] == ["example:lung-learned"]
    assert chosen_guesses(replace(view, guesses=()), entries) == []
    assert shown_guess(replace(view, guesses=()), entries) is None
    assert shown_guess(replace(view, shown="no"), entries) is entries["example:lung-learned"]


def test_an_example_that_is_named_is_offered_once() -> None:
    labels = [entry.label for entry in library([("six", SIX), ("six-guess", SIX_GUESS)]).values()]
    assert labels.count("six") == 1
    assert "six (example)" not in labels


def test_an_upload_of_other_variables_is_no_guess() -> None:
    entries = with_uploads(library([("six", SIX)]), [("lung.json", examples.load("lung"))])
    true = entries["given:0"]
    assert entries["upload:0"] not in offered_guesses(true, entries)
    told = str(sidebar.uploaded(Done([]), [entries["upload:0"]]))
    assert "Make lung.json the true model" in told


def test_a_context_is_built_state_by_state() -> None:
    view = with_state(View(), SIX.domain, "X0", "1")
    assert view.context == "X0=1"
    assert with_state(view, SIX.domain, "X0", "0").context == "X0=0"
    assert with_state(view, SIX.domain, "nobody", "0") == view
    assert with_state(view, SIX.domain, "X0", "many").context == ""


# -- what is shown -------------------------------------------------------------------------------


def test_the_overview_begins_with_the_distance() -> None:
    text = str(overview.summary(findings_of(compare(SIX, SIX_GUESS))))
    assert re.search(r'class="distance">6.67 % of all assertions differ', text)
    assert text.index("6.67 %") < text.index("precision")
    assert "X1–X2" in text


def test_models_that_agree_say_so() -> None:
    same = findings_of(compare(SIX, SIX))
    assert "agree in all 240 assertions" in str(overview.summary(same))
    assert "No pair differs" in str(overview.worst(same))
    assert "agree here" in str(context.differences(same.shares.edges()))


@pytest.mark.parametrize("variables", [1, 2])
def test_the_smallest_domains_can_be_shown(variables: int) -> None:
    domain = Domain(dict.fromkeys("AB"[:variables], 2))
    found = shown(Structure(domain, []), Structure(domain, ["A=1 & B=1"][: variables - 1]))
    assert str(overview.summary(found.findings))
    assert str(overview.heat_legend(heat_map(found.shares)))
    assert str(context.graphs(found, found.shares, {}, all_edges=True))


def test_open_pairs_are_shown_with_what_is_proven() -> None:
    found = findings_of(compare(*hard_models(), time_limit=0))
    text = str(overview.summary(found)) + str(overview.worst(found))
    assert "pairs are unfinished" in text
    assert "widest bounds" in text
    assert found.shares.open_pairs() == len(found.comparison.unions.open)
    first, second = found.comparison.open_pairs[0]
    assert "Not decided in time" in str(pair.counts(found.comparison, (first, second)))


def test_hostile_names_are_texts_in_every_view() -> None:
    one = hostile()
    found = explain_pair(one.comparison, (HOSTILE, "B"))
    contents = [
        overview.summary(one.findings),
        overview.worst(one.findings),
        pair.pair_selectors(one.shares.names, (HOSTILE, "B")),
        pair.variable_search(one.shares.names),
        pair.counts(one.comparison, (HOSTILE, "B")),
        pair.regions(Done(found), one.comparison.domain),
        pair.around(one.shares, HOSTILE),
        context.context_states(one.comparison.domain, {"C": HOSTILE}),
        context.graphs(one, one.shares, {"C": HOSTILE}, all_edges=True),
        guesses.guess_table([one]),
        guesses.plane([one, one]),
        elements.under_way(Working(HOSTILE)),
        sidebar.status(any_guess=True, failure=HOSTILE, open_pairs=False),
        question.replies(Failed(HOSTILE), ["a", "b"]),
        elements.choose(HOSTILE, "key", HOSTILE),
    ]
    for content in contents:
        assert "<img" not in str(content)


def test_hostile_names_are_texts_in_what_is_asked_for() -> None:
    one = hostile()
    true, guess = one.comparison.true, one.comparison.guess
    agreed = evaluations.Agreed(consensus([true, guess]), ())
    supported = replace(agreed, supports=tuple(agreed.consensus.widest_supports()))
    rows = [[0, 0, HOSTILE], [1, 1, HOSTILE]] * 20
    picture = runs.StudyPicture("ranks", "data:,", HOSTILE, is_wide=False)
    contents = [
        agreement.agreed(supported),
        statistics.chance_view(chance(true, guess, draws=9)),
        statistics.check_view(check(guess, rows)),
        statistics.rows_name(Upload("/tmp/x", HOSTILE)),
        study.study_view(runs.Study(HOSTILE, [], [Note("a", HOSTILE)], [picture])),
        study.resamples_view(runs.Resamples(HOSTILE, [Note("a", HOSTILE)], [], true)),
    ]
    assert not any("<img src=x" in str(content) for content in contents)
    assert any("&lt;img" in str(content) for content in contents)


def test_units_that_make_no_sense_are_an_error_in_words() -> None:
    def tell(*_: object) -> None:
        return None

    units = [dict.fromkeys(COLUMNS, "nonsense")]
    with pytest.raises(ContextwiseError, match=r"run: these units make no sense"):
        runs.study_of(units, "run", tell)


def test_a_region_can_be_sent_to_the_graphs() -> None:
    domain = examples.load("survey").domain
    comparison = compare(examples.load("survey"), examples.load("survey-learned"))
    found = explain_pair(comparison, ("children", "work"))
    assert "gender=man" in str(pair.regions(Done(found), domain))
    assert "show this context" in str(pair.regions(Done(found), domain))
    many = compare(*hard_models(), time_limit=0)
    left = explain_pair(many, many.open_pairs[0], top=1, time_limit=0)
    assert str(pair.regions(Done(left), many.domain))
    everywhere = ErrorRegion("guess", (), 1, Fraction(1))
    assert pair.region_context(everywhere, domain) == ""


def test_neighbours_are_ranked_by_their_errors() -> None:
    one = shown()
    found = neighbours(one.shares, "X1")
    assert found[0].pair == ("X1", "X2")
    assert [edge.errors for edge in found] == sorted((e.errors for e in found), reverse=True)
    text = str(pair.around(one.shares, "X1"))
    assert "5 of 5 other variables depend on X1" in text
    assert "differ about 1 of them" in text
    lonely = Structure({"A": 2, "B": 2}, [])
    assert "depends on no other" in str(pair.around(shown(lonely, lonely).shares, "A"))


def test_differences_are_ranked_over_all_variables() -> None:
    n = 60
    domain = Domain.of_cardinalities([2] * n)
    chain = [f"v{k}=1 & v{k + 1}=1" for k in range(n - 1)]
    one = shown(Structure(domain, chain), Structure(domain, []))
    text = str(context.graphs(one, one.shares, {}, all_edges=False))
    assert "The 20 largest of 59 differences between all variables" in text
    assert text.count("<li>") == 20


def test_variables_stay_where_they_are_when_a_state_is_chosen() -> None:
    n = 60
    domain = Domain.of_cardinalities([2] * n)
    chain = [f"v{k}=1 & v{k + 1}=1" for k in range(n - 1)]
    one = shown(Structure(domain, chain), Structure(domain, ["v2=1 & v40=1 & v50=1"]))
    known = context.places(
        one.shares, context.selections(one.shares.edges(), all_edges=False), all_edges=False
    )
    some = compare(one.comparison.true, one.comparison.guess, context="v2=1")
    selection = context.selections(shares_of(some).edges(), all_edges=False)
    found = context.places(one.shares, selection, all_edges=False)
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
    one: Shown, shares: Shares, fixed: Mapping[str, str] | None = None
) -> dict[str | None, tuple[float, float]]:
    """Where the picture of a context has its nodes, by their names."""
    root = fromstring(context.picture(one, shares, fixed or {}, side="both", all_edges=False))
    nodes = root.iterfind("{*}circle")
    return {node[0].text: (float(node.attrib["cx"]), float(node.attrib["cy"])) for node in nodes}


def test_work_says_what_it_does_and_how_far_it_is() -> None:
    text = str(elements.under_way(Working("Comparing", 1, 3)))
    assert "Comparing: 1 of 3 (33 %)" in text
    assert 'aria-valuenow="33"' in text
    assert "%" not in re.sub("width: 100%", "", str(elements.under_way(Working("Starting"))))
    nothing = sidebar.status(any_guess=False, failure=None, open_pairs=False)
    assert "No guess is chosen" in str(nothing)


def test_guesses_sort_by_exact_numbers() -> None:
    large = Structure(Domain.of_cardinalities([2] * 90), ["v0=1 & v1=1", "v0=1 & v2=1 & v3=1"])
    empty = Structure(large.domain, [])
    some = [shown(large, empty, "a"), shown(large, Structure(large.domain, ["v0=1 & v1=1"]), "b")]
    rows = re.findall(r'data-sort="(\d)"', str(guesses.guess_table(some)))
    distance = [row[2] for row in (rows[: len(rows) // 2], rows[len(rows) // 2 :])]
    assert distance == ["1", "0"]


def test_groups_of_guesses_have_means_with_intervals() -> None:
    some = [shown(SIX, SIX_GUESS, "pc-1"), shown(SIX, SIX, "pc-2"), shown(SIX, SIX, "cl")]
    groups = guesses.groups_of(some)
    assert list(groups) == ["pc"]
    grouped = [Guess(one.guess.label, one.comparison, group="pc") for one in some[:2]]
    (found,) = errors_plane(grouped, summarize(groups)).means
    errors = [float(one.comparison.fp) / 240 for one in some[:2]]
    assert found.fp.mean == pytest.approx(np.mean(errors))
    assert found.fp.high is not None
    assert found.fp.high > max(errors)  # two replicates say little
    text = str(guesses.plane(some))
    assert text.count('class="guess"') == 3
    assert text.count('class="mean"') == 1
    assert "The mean of each group" in text
    assert "Intervals: t." in text


def test_the_nearest_and_the_most_typical_guess_are_named() -> None:
    graph = structure_of(examples.load("six-graph"))
    some = [shown(SIX, SIX_GUESS, "near"), shown(SIX, graph, "far"), shown(SIX, SIX_GUESS, "twin")]
    models = [SIX, SIX_GUESS, graph, SIX_GUESS]
    names = ["six", *(one.guess.label for one in some)]
    for approximate in (False, 1000):
        matrix = distance_matrix(models, names=names, approximate=approximate)
        text = str(agreement.between(Done(matrix), some))
        assert "Nearest to the true model is near, at 6.67 %." in text
        assert "most typical guess is near" in text
        assert ("estimates from 1,000 random assertions" in text) == bool(approximate)
        assert text.count('class="mark') == 4
        assert len(agreement.matrix_records(matrix)) == 6
    hostile_names = distance_matrix([SIX, SIX_GUESS, SIX], names=["a", HOSTILE, "c"])
    assert "<img" not in str(agreement.between(Done(hostile_names)))


def test_distances_that_are_open_are_drawn_between_their_bounds() -> None:
    matrix = distance_matrix(hard_models(), names=["a", "b"], time_limit=0)
    assert matrix.open
    assert 'class="mark' in str(agreement.between(Done(matrix)))
    assert 0 < agreement.middle(matrix)[0, 1] < 1


def test_a_consensus_stands_beside_its_bounds() -> None:
    named = {"a": SIX, "b": SIX_GUESS, "c": structure_of(examples.load("six-graph"))}
    matrix = run(evaluations.distances_between, named, "fully-contextualized", 60.0)
    found = run(evaluations.consensus_of, named, matrix, "fully-contextualized", 60.0)
    text = str(agreement.agreed(found))
    assert "no structure is below" in text
    assert "a local optimum" in text
    assert found.consensus.sum == found.consensus.lower_bound == 88
    assert re.search(r"\d( to \d)? of 3", text)
    estimated = run(evaluations.estimated_distances, named, "fully-contextualized")
    assert estimated.names == ("a", "b", "c")


def test_error_bars_are_not_cut() -> None:
    rows = [
        {"structure": s, "side": "fp", "size": 9, "parameters": p, "percentage": s, "kl": kl}
        for s in range(3)
        for p, kl in enumerate((1.0, 9.0))
    ]
    text = experiment.scatter(rows, ["fp"], 9, "deviation")
    tops = [float(y) for y in re.findall(r'<line class="mark fp"[^>]* y2="([\d.-]+)"', text)]
    assert len(tops) == 3
    assert min(tops) > 0
    bottom, top = re.findall(r"from ([\d.-]+) to ([\d.]+)", text)[0]
    assert float(top) - float(bottom) == pytest.approx(2 * np.std([1, 9], ddof=1), rel=1e-3)


def test_tips_of_a_scatter_are_escaped() -> None:
    series = [Series("fp", [Point(1, 2, "<b>", "<i>")])]
    text = scatter_svg(series, x_label="x<", y_label="y", title="t&")
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
    assert "<i>" not in text


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


# -- jobs ----------------------------------------------------------------------------------------


def run(function: Callable[..., Any], *arguments: Any, seconds: float = 60) -> Any:
    return asyncio.run(Job(function, *arguments, seconds=seconds).result())


def test_a_job_gives_what_the_function_gives() -> None:
    guess = {"a": ("guess", SIX_GUESS)}
    found = run(computations.compare_all, SIX, guess, "fully-contextualized", 60.0)
    assert found["a"].comparison.confusion == compare(SIX, SIX_GUESS).confusion
    assert found["a"].worst == ("X1", "X2")


def test_a_user_s_error_comes_back_as_its_message() -> None:
    with pytest.raises(WorkError, match="unknown variable 'Y'"):
        run(computations.answers, [SIX], "X0 _||_ Y", 10.0)


def test_a_mistake_of_ours_is_said_and_does_not_end_the_session() -> None:
    with pytest.raises(WorkError, match="which it should not"):
        run(computations.read_uploads, [None])


def test_a_job_that_is_late_leaves_no_process() -> None:
    true, guess = hard_models()
    arguments = (true, {"a": ("guess", guess)}, "fully-contextualized", 600.0)
    job = Job(computations.compare_all, *arguments, seconds=2)
    with pytest.raises(WorkError, match="within 2 seconds"):
        asyncio.run(job.result())
    pid = job._process.pid
    for _ in range(200):
        if not _alive(pid):
            break
        time.sleep(0.05)
    assert not _alive(pid)


def test_a_job_is_interrupted_however_early(capfd: pytest.CaptureFixture[str]) -> None:
    true, guess = hard_models()
    arguments = (true, {"a": ("guess", guess)}, "fully-contextualized", 600.0)
    job = Job(computations.compare_all, *arguments, seconds=60)
    job.interrupt()  # before there is a process

    async def outcome() -> str:
        try:
            found = await job.result()
        except WorkError as error:
            return str(error)
        return "stopped" if found["a"].comparison.interrupted else "went on"

    assert "stopped" in asyncio.run(outcome())
    assert "Traceback" not in capfd.readouterr().err


def test_a_pipe_stays_open_while_somebody_reads_from_it() -> None:
    job = Job(computations.read_uploads, [], seconds=60)
    pipe, reading, go_on = job._receiving, threading.Event(), threading.Event()

    class Slow:
        poll, close = pipe.poll, pipe.close

        def recv(self) -> object:
            reading.set()
            go_on.wait()
            return pipe.recv()

    job._receiving = Slow()

    async def give_up() -> None:
        result = asyncio.ensure_future(job.result())
        await asyncio.to_thread(reading.wait)
        result.cancel()
        await asyncio.wait([result])
        await asyncio.to_thread(job._end)
        is_closed = pipe.closed
        go_on.set()
        assert not is_closed

    asyncio.run(give_up())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_a_session_will_ask_for_is_begun_once_and_given_up_for_another() -> None:
    entries = library([("six", SIX), ("guess", SIX_GUESS)])

    async def begin() -> None:
        ahead: Ahead = {}
        begin_ahead(View(), entries, {}, ahead)
        [first] = ahead.values()
        begin_ahead(View(), entries, {}, ahead)
        assert list(ahead.values()) == [first]
        found = await first.result
        assert found["given:1"].comparison.distance == 16
        kept: dict[Key, Findings] = {("given:0", "given:1", FULLY): found["given:1"]}
        other: Ahead = {}
        begin_ahead(View(), entries, kept, other)
        assert other == {}
        begin_ahead(View(true="example:lung"), entries, {}, ahead)
        [second] = ahead.values()
        begin_ahead(View(), entries, {}, ahead)
        await asyncio.wait([second.result])
        assert second.result.cancelled()

    asyncio.run(begin())
