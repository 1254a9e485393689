"""One pair or one variable next to the heat map."""

from __future__ import annotations

from fractions import Fraction

from contextwise import Structure, compare, examples
from contextwise.comparison.error_regions import ErrorRegion, explain_pair
from contextwise.explorer import (
    pair_card,
)
from contextwise.explorer.job import Done
from contextwise.report.pictures import neighbours
from hard import hard_models
from shown_guesses import shown


def test_a_region_can_be_sent_to_the_graphs() -> None:
    domain = examples.load("survey").domain
    comparison = compare(examples.load("survey"), examples.load("survey-learned"))
    found = explain_pair(comparison, ("children", "work"))
    assert "gender=man" in str(pair_card.regions(Done(found), domain))
    assert "show this context" in str(pair_card.regions(Done(found), domain))
    many = compare(*hard_models(), time_limit=0)
    left = explain_pair(many, many.open_pairs[0], top=1, time_limit=0)
    assert str(pair_card.regions(Done(left), many.domain))
    everywhere = ErrorRegion(("A", "B"), (), 1, only_in="guess", share=Fraction(1))
    assert pair_card.region_context(everywhere.region, domain) == ""


def test_neighbours_are_ranked_by_their_errors() -> None:
    one = shown()
    found = neighbours(one.shares, "X1")
    assert found[0].pair == ("X1", "X2")
    assert [edge.errors for edge in found] == sorted((e.errors for e in found), reverse=True)
    text = str(pair_card.around(one.shares, "X1"))
    assert "5 of 5 other variables depend on X1" in text
    assert "differ about 1 of them" in text
    lonely = Structure({"A": 2, "B": 2}, [])
    assert "depends on no other" in str(pair_card.around(shown(lonely, lonely).shares, "A"))
