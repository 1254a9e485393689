"""Parameters of learners, as people write them."""

from __future__ import annotations

import pytest

from contextwise.errors import ContextwiseError
from contextwise.learning import learner_named
from contextwise.learning.parameters import parse_values


def test_settings_are_values_of_their_type() -> None:
    trees = learner_named("trees")
    assert parse_values(trees, {"penalty": " 2.5 ", "min_count": "10", "refit": "l1"}) == {
        "penalty": 2.5,
        "refit": "l1",
    }
    for texts, message in (
        ({"penalty": "much"}, "penalty must be a number, got 'much'"),
        ({"min_count": "1.5"}, "min_count must be a whole number"),
        ({"refit": "l3"}, "refit must be one of l1"),
    ):
        with pytest.raises(ContextwiseError, match=message):
            parse_values(trees, texts)
