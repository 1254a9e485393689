"""The overview, and texts in every tab: the verdict, open pairs, hostile names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextwise import Domain, Structure, compare
from contextwise.analysis.conclusions import analysis_of
from contextwise.comparison.error_regions import explain_pair
from contextwise.data.rows import as_data, summarize_data
from contextwise.explorer import (
    controls,
    pair_card,
    sidebar,
    tab_graph,
    tab_overview,
    tab_question,
    tab_rows,
)
from contextwise.explorer.job import Done, Failed, Upload, Working
from contextwise.report.comparisons import Guess
from contextwise.report.pictures import heat_map
from contextwise.support.effort import Effort
from hard import hard_models
from shown_guesses import HOSTILE, SIX, SIX_GUESS, hostile, shown


def test_the_overview_begins_with_the_verdict() -> None:
    text = str(tab_overview.summary(shown()))
    assert text.index("16 of 240") < text.index("An assertion is")
    assert "X1–X2" in text
    assert "precision" in str(tab_overview.worst(shown()))


def test_a_name_opens_its_comparison_also_if_no_model_is_true() -> None:
    guess = shown(SIX, SIX_GUESS, "near")
    peers = replace(guess, comparison=guess.comparison.as_peers("six", "near"))
    for one in (guess, peers):
        assert 'data-input="show_guess"' in str(tab_overview.guess_table([one, one]))


def test_models_that_agree_say_so() -> None:
    same = shown(SIX, SIX)
    assert "all 240 assertions" in str(tab_overview.summary(same))
    assert "No pair differs" in str(tab_overview.worst(same))
    assert "agree here" in str(tab_graph.ranked(same.shares.edges(), alone=False))


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
    assert found.shares.open_pairs() == len(found.comparison.unions.open_places)
    first, second = found.comparison.open_pairs[0]
    assert "Not decided in time" in str(pair_card.counts(found, (first, second)))


def test_hostile_names_are_texts_in_every_view() -> None:
    one = hostile()
    found = explain_pair(one.comparison, (HOSTILE, "B"))
    contents = [
        tab_overview.summary(one),
        tab_overview.worst(one),
        pair_card.pair_selectors(one.shares.names, (HOSTILE, "B")),
        pair_card.variable_search(one.shares.names),
        pair_card.counts(one, (HOSTILE, "B")),
        pair_card.regions(Done(found), one.comparison.domain),
        pair_card.around(one.shares, HOSTILE),
        tab_graph.context_states(one.comparison.domain, {"C": HOSTILE}),
        tab_graph.graphs("true", one, one.shares, {"C": HOSTILE}, all_edges=True),
        tab_overview.guess_table([one, one]),
        controls.under_way(Working(HOSTILE)),
        sidebar.status(failure=HOSTILE, open_pairs=False),
        tab_question.replies(Failed(HOSTILE), ["a", "b"]),
        controls.choose(HOSTILE, "key", HOSTILE),
    ]
    for content in contents:
        assert "<img" not in str(content)


def test_hostile_names_are_texts_in_what_is_asked_for() -> None:
    one = hostile()
    guess = one.comparison.guess
    rows = [[0, 0, HOSTILE], [1, 1, HOSTILE]] * 20
    analysis = analysis_of(guess, as_data(rows, guess.domain), HOSTILE, Effort.of(None))
    contents = [
        tab_rows.learned_view(HOSTILE, analysis),
        *(pair_card.card(analysis, each.pair) for each in analysis.pairs),
        tab_overview.summary(one, Done(analysis)),
        tab_overview.claims(one, Done(analysis)),
        tab_rows.columns(Done(summarize_data(rows)), Upload("/tmp/x", HOSTILE)),
    ]
    assert not any("<img src=x" in str(content) for content in contents)
    assert any("&lt;img" in str(content) for content in contents)
