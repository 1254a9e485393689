"""Judgements of guesses in words and tables."""

from __future__ import annotations

from contextwise import Domain, Structure
from contextwise.evaluation import chance


def test_undefined_values_are_none_and_explained() -> None:
    empty = Structure({"A": 2, "B": 2, "C": 2})
    found = chance(empty, empty, draws=9)
    assert (found.skill, found.p_value, found.context_skill) == (None, 1, None)
    assert "nan" not in str(found)
    single = chance(Structure({"A": 2}), Structure({"A": 2}), draws=3)
    assert single.skill is None
    assert single.p_value == 1


def test_few_ways_to_relabel_are_reported() -> None:
    """The states of C are right in one of three relabellings."""
    true = Structure({"A": 2, "B": 4, "C": 3}, ["A=1 & B=1 & C=1"])
    guess = Structure(true.domain, ["A=1 & B=1 & C=1", "A=1 & C=1"])
    found = chance(true, guess, draws=199, pairs=[("A", "B"), ("A", "C")])
    assert "as near as the best draws, but chance gets there often" in found.verdict


def test_expectations_beyond_floats_are_shown() -> None:
    domain = Domain.of_cardinalities([64] * 190)
    true = Structure(domain, [{"v0": 1, "v1": 1}])
    found = chance(true, Structure(domain, [{"v2": 1, "v3": 1}]), draws=0)
    assert repr(found).startswith("Chance(expected=7.292e339")
    assert "7.292e339" in str(found)
