"""The sentences of an analysis: each says what the records say, and no more."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from contextwise.analysis.conclusions import Analysis, analyse
from contextwise.evidence.pair_records import (
    Interaction,
    PairEvidence,
    StateEffects,
)
from contextwise.report.analysis_answer import (
    evidence_sentence,
    next_sentences,
    title_sentence,
    verdict_note,
)
from contextwise.report.analysis_contrasts import contrast_of, effect_by_state
from contextwise.support.words import Name, Phrase, p_text, percent, points, ratio
from told_effects import effect, evidence, told


@cache
def _analysis() -> Analysis:
    return analyse("titanic", outcome="survived", resamples=0, learner="independent")


def with_pairs(*pairs: PairEvidence, outcome: str | None = "ill") -> Analysis:
    known = _analysis()
    settings = replace(known.settings, outcome=outcome, weights="w")
    tested = replace(known.pairs, settings=settings, pairs=pairs)
    return replace(known, pairs=tested, interactions=())


def test_the_title_says_what_holds_and_how_much() -> None:
    title = title_sentence(with_pairs(evidence()))
    assert title == (
        "ill is yes for 60 % where age is old, for 30 % where it is young, with the other "
        "variables held fixed."
    )
    assert [w for w in title.words if isinstance(w, Name)] == ["ill", "age"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verdict": "no association shown"}, "no association with the other variable is shown"),
        ({"verdict": "suggestive"}, "no association with the other variable is shown"),
        ({"verdict": "associated, not on average", "context": "sex"}, "but not on average"),
        ({"v": 0.04}, "has only weak associations: with age"),
    ],
)
def test_weak_or_unclear_associations_never_lead(change: dict[str, Any], says: str) -> None:
    assert says in title_sentence(with_pairs(evidence(**change)))


def test_two_points_are_never_the_strongest() -> None:
    small = tuple(replace(e, estimate=0.02, low=0.01, high=0.03) for e in evidence().effects)
    title = title_sentence(with_pairs(evidence(effects=small, v=0.06)))
    assert title == "ill has only weak associations: with age, with the other variables held fixed."


def test_nothing_is_called_held_fixed_where_nothing_was() -> None:
    for verdict in ("associated", "no association shown"):
        title = title_sentence(with_pairs(evidence(verdict, given=())))
        assert "held fixed" not in title


def test_columns_that_were_left_out_are_not_called_held_fixed() -> None:
    title = title_sentence(with_pairs(evidence(left_out=("town",))))
    assert "with 1 other variable held fixed" in title


def test_a_crude_difference_that_others_take_away_is_told() -> None:
    crude = tuple(
        replace(e, crude=0.5) if e.kind == "difference" else e for e in evidence().effects
    )
    told = next_sentences(with_pairs(evidence(effects=crude)))
    assert any("the crude difference is 50 points; 30 remain" in each for each in told)
    assert not any("crude" in each for each in next_sentences(with_pairs(evidence())))


def test_states_with_few_rows_are_not_quoted() -> None:
    rare = tuple(replace(e, rows=19.0) if e.at == "old" else e for e in evidence().effects)
    assert contrast_of(evidence(effects=rare)) is None
    assert contrast_of(evidence(), least=101) is None


def test_each_verdict_has_its_sentence() -> None:
    assert evidence_sentence(evidence()) == (
        "ill and age are related given the other column as coded (p < 0.001, corrected for 3 "
        "pairs; V 0.25, 0.20 to 0.30)."
    )
    weak = evidence("suggestive", p=0.004, adjusted=0.11)
    assert evidence_sentence(weak).startswith("Suggestive: p = 0.004, 0.11 after correction")
    assert evidence_sentence(evidence("no association shown")) == (
        "No clear relation: an association above V = 0.08 would have been found with probability "
        "0.8, before correction."
    )
    untested = evidence("could not be tested", could_show=0.43)
    assert "only V above 0.43 would show" in evidence_sentence(untested)
    turned = evidence("associated, not on average", context="sex")
    assert "differs by sex" in evidence_sentence(turned)


def test_a_verdict_names_where_it_differs() -> None:
    assert verdict_note(evidence(), ["sex", "year"]) == "differs by sex and year"
    assert verdict_note(evidence("no association shown"), []) == "V at most 0.30"


def interaction(*values: float) -> Interaction:
    states = tuple(
        StateEffects(f"s{k}", 100.0, (effect("difference", "old", "young", value),))
        for k, value in enumerate(values)
    )
    return Interaction(("ill", "age"), "year", "differs", 0.001, 0.02, "2 tests", states=states)


def test_a_difference_is_told_by_its_ends() -> None:
    assert told(interaction(0.1, -0.2, 0.3)) == (
        "From age young to old, the share of ill = yes falls by 20 points (15 to 25) where year is "
        "s1, and rises by 30 points (25 to 35) where it is s2."
    )
    assert told(interaction(0.01, 0.3)).endswith(
        "rises by 30 points (25 to 35) where year is s1, and shows no clear change (+1, −4 to +6) "
        "where it is s0."
    )


def test_groups_with_few_rows_are_not_told() -> None:
    each = interaction(0.1, 0.3)
    few = replace(each, states=tuple(replace(s, rows=19.0) for s in each.states))
    assert "so no numbers are compared" in told(few)
    thin = replace(each.states[0].effects[0], rows=19.0)
    one = replace(each, states=(replace(each.states[0], effects=(thin,)), each.states[1]))
    assert effect_by_state(one) == []


def test_of_several_effects_the_one_that_differs_most_clearly_is_told() -> None:
    """A reversal between states of a variable with three of them has one picture, too."""
    states = tuple(
        StateEffects(
            name,
            100.0,
            (effect("difference", "old", "young", 0.1), effect("difference", "mid", "young", mid)),
        )
        for name, mid in (("a", -0.2), ("b", 0.3))
    )
    each = Interaction(("ill", "age"), "year", "differs", 0.001, 0.02, "2 tests", states=states)
    assert [e.at for _, e in effect_by_state(each)] == ["mid", "mid"]


def test_numbers_are_written_for_people() -> None:
    assert [percent(x) for x in (0, 0.001, 0.456, 0.999, 1)] == [
        "0 %", "< 1 %", "46 %", "> 99 %", "100 %",
    ]  # fmt: skip
    assert [points(x) for x in (-0.056, 0.001, 0.12)] == ["−6", "0", "+12"]
    assert [ratio(x) for x in (0.001, 0.487, 1.04, 12.3, 5000.0)] == [
        "< 0.01", "0.49", "1.04", "12", "> 999",
    ]  # fmt: skip
    assert [p_text(p) for p in (1e-9, 0.0012, 0.0504, 0.0496, 0.05, 0.7, 1.0, None)] == [
        "< 0.001", "0.0012", "0.0504", "0.0496", "0.05", "0.7", "1", "–",
    ]  # fmt: skip


def test_a_phrase_keeps_its_names() -> None:
    phrase = Phrase("a ", Phrase("b ", Name("c")), ".")
    assert phrase == "a b c."
    assert [type(word) for word in phrase.words] == [str, str, Name, str]


def test_a_variable_that_nearly_is_the_outcome_does_not_lead() -> None:
    effects = tuple(replace(e, by="twin", estimate=e.estimate + 0.1) for e in evidence().effects)
    near = replace(evidence(effects=effects, crude_v=0.99), pair=("ill", "twin"))
    analysis = with_pairs(near, evidence())
    assert "where age is old" in title_sentence(analysis)
    assert any("say nearly the same" in each for each in next_sentences(analysis))


def test_what_could_have_been_found_is_told_where_nothing_was() -> None:
    told = next_sentences(with_pairs(evidence("no association shown", could_show=0.21)))
    assert told[-1].endswith(
        "an association above V = 0.21 would be found 4 times of 5, before correction."
    )


def test_a_suggestive_pair_says_which_p_is_small() -> None:
    assert verdict_note(evidence("suggestive", p=0.03), []) == "p = 0.03 before correction"
    trend = evidence("suggestive", p=0.07, trend_p=0.02, average_p=0.036)
    assert verdict_note(trend, []) == "p = 0.02 for the trend alone"
    average = evidence("suggestive", p=0.07, average_p=0.036)
    assert verdict_note(average, []) == "p = 0.036 on average alone"


def test_an_interval_that_is_written_with_0_does_not_lead() -> None:
    effects = (
        *evidence().effects[:3],
        effect("difference", "old", "young", 0.3, low=0.004, high=0.6),
    )
    assert "0 to" not in title_sentence(with_pairs(evidence(effects=effects)))
    assert "is associated with age" in title_sentence(with_pairs(evidence(effects=effects)))


def test_a_difference_that_others_turn_round_is_told() -> None:
    turned = tuple(
        replace(e, crude=-0.4) if e.kind == "difference" else e for e in evidence().effects
    )
    told = next_sentences(with_pairs(evidence(effects=turned)))
    assert any("is −40 points; with the other variables held fixed it is +30" in t for t in told)
