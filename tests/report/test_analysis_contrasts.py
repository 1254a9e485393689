"""The contrast that a pair shows: its states, its interval, its odds ratio."""

from __future__ import annotations

import pytest

from contextwise.evidence.pair_records import (
    PairEffect,
)
from contextwise.report.analysis_answer import ends_of
from contextwise.report.analysis_contrasts import contrast_of
from told_effects import effect, evidence


def test_ordered_variables_go_from_end_to_end() -> None:
    effects = (
        *(effect("share", at, "", share) for at, share in zip("abc", (0.2, 0.7, 0.4), strict=True)),
        effect("difference", "b", "a", 0.5),
        effect("difference", "c", "a", 0.2),
    )
    found = contrast_of(evidence(effects=effects), ordered=["age"])
    assert found is not None
    assert found.last.at == "c"
    unordered = contrast_of(evidence(effects=effects))
    assert unordered is not None
    assert unordered.last.at == "b"


def test_the_interval_of_the_largest_difference_pays_for_the_choice() -> None:
    effects = (
        *(effect("share", at, "", share) for at, share in zip("abc", (0.2, 0.7, 0.4), strict=True)),
        effect("difference", "b", "a", 0.5),
        effect("difference", "c", "a", 0.2),
        effect("odds ratio", "b", "a", 2.0, low=1.0, high=4.0),
    )
    found = contrast_of(evidence(effects=effects))
    assert found is not None
    assert found.candidates == 2
    # 2.2414 is the quantile of 0.025 / 2, 1.95996 that of 0.025.
    assert found.difference.high == pytest.approx(0.5 + 0.05 * 2.2414 / 1.95996, abs=1e-5)
    assert found.odds is not None
    assert found.odds.high == pytest.approx(2 * 2 ** (2.2414 / 1.95996), rel=1e-4)


def test_what_is_not_shown_has_no_chosen_number() -> None:
    assert contrast_of(evidence("could not be tested")) is None
    assert contrast_of(evidence("no association shown")) is not None  # nothing to choose
    more = effect("share", "mid", "", 0.4), effect("difference", "mid", "young", 0.1)
    for verdict, has_one in (("no association shown", False), ("suggestive", True)):
        found = contrast_of(evidence(verdict, effects=(*evidence().effects, *more)))  # type: ignore[arg-type]
        assert (found is not None) == has_one


def test_an_odds_ratio_belongs_to_the_states_of_its_row() -> None:
    """Of an ordered outcome, too, whose odds ratios are per step between two states."""
    effects = (
        *(effect("share", at, "", share) for at, share in zip("abc", (0.2, 0.3, 0.7), strict=True)),
        effect("odds ratio per step", "b", "a", 0.5, state=""),
        effect("odds ratio per step", "c", "a", 4.0, state=""),
        effect("odds ratio", "b", "a", 0.6),
        effect("odds ratio", "c", "a", 5.0),
        effect("difference", "b", "a", 0.1),
        effect("difference", "c", "a", 0.5),
    )
    found = contrast_of(evidence(effects=effects))
    assert found is not None
    assert found.odds is not None
    assert (found.odds.at, found.odds.estimate) == (found.difference.at, 5.0)
    step = effect("odds ratio per step", "", "", 1.3)
    stepped = contrast_of(evidence(effects=(step, *evidence().effects[1:])))
    assert stepped is not None
    assert stepped.odds == step


def test_the_highest_state_of_an_ordered_outcome_is_told_else_the_clearest() -> None:
    def shares(state: str, change: float) -> tuple[PairEffect, ...]:
        both = (("young", 0.3), ("old", 0.3 + change))
        told = (effect("share", at, "", share, state=state) for at, share in both)
        return (*told, effect("difference", "old", "young", change, state=state))

    effects = (*shares("low", 0.4), *shares("mid", 0.2), *shares("high", 0.1))
    for ordered, state in (
        (["ill"], "high"),  # the highest of an ordered outcome
        ([], "low"),
    ):
        found = contrast_of(evidence(effects=effects), ordered)
        assert found is not None
        assert found.difference.state == state


def test_sentences_name_the_lowest_and_the_highest_share() -> None:
    shares = zip(("mid", "low", "high"), (0.4, 0.1, 0.5), strict=True)
    effects = (
        *(effect("share", at, "", share) for at, share in shares),
        effect("difference", "low", "mid", -0.3),
        effect("difference", "high", "mid", 0.1),
    )
    found = contrast_of(evidence(effects=effects))
    assert found is not None
    assert found.difference.at == "low"
    assert [each.at for each in ends_of(found, 0)] == ["low", "high"]
