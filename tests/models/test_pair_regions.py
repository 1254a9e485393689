"""Two variables in a region: one shape for claims, evidence and regions of error."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

import contextwise as cw
from contextwise.comparison.error_regions import ErrorRegion
from contextwise.models.domain import literals_of
from contextwise.models.evidence import ClaimEvidence
from contextwise.models.notation import Literal
from contextwise.models.pair_regions import Claim, PairRegion
from contextwise.testing import structures

REGION = (Literal("C", ("yes",)), Literal("age", ("old",), negated=True))


def test_what_is_said_about_a_pair_in_a_region_is_a_pair_region() -> None:
    shapes: list[PairRegion] = [
        Claim(("A", "B"), REGION, 3, claim="dependent"),
        ClaimEvidence(("A", "B"), REGION, 3, claim="dependent", verdict="supported", rows=9),
        ErrorRegion(("A", "B"), REGION, 3, only_in="true", share=Fraction(1, 2)),
    ]
    for shape in shapes:
        assert isinstance(shape, PairRegion)
        assert (shape.pair, shape.when, shape.size) == (("A", "B"), "C=yes & age!=old", 3)


@pytest.mark.parametrize(
    ("claim", "sentence", "statement"),
    [
        (Claim(("A", "B"), claim="independent"), "A–B are independent in every context", "A ⫫ B"),
        (
            Claim(("A", "B"), REGION, claim="independent", given=("D",)),
            "A–B are independent when C=yes and age≠old",
            "A ⫫ B | C=yes, age!=old, D",
        ),
        (
            Claim(("A", "B"), claim="d-separated", given=("C", "D")),
            "A–B are independent given C, D in every context",
            "A ⫫ B | C, D",
        ),
        (
            Claim(("A", "B"), claim="independent", weaker_than=0.1),
            "A–B are independent in every context",
            "A–B weaker than 0.1",
        ),
        (
            Claim(("A", "B"), claim="dependent"),
            "A–B depend in every context",
            "A–B depend in every context",
        ),
    ],
)
def test_words(claim: Claim, sentence: str, statement: str) -> None:
    assert (claim.sentence, str(claim)) == (sentence, statement)


@given(structures())
def test_positions_and_names_of_a_region_agree(model: cw.Structure) -> None:
    """`Domain.indexed` is the reverse of `Domain.literal`, and reads what `when` writes."""
    for literals in model.features.literals():
        written = tuple(model.domain.literal(v, allowed) for v, allowed in literals)
        assert model.domain.indexed(written) == tuple(literals)
        when = PairRegion(("A", "B"), written).when
        assert tuple(literals_of(model.domain, when)) == tuple(literals) or not when
