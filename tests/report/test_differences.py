"""Where two models differ, in words and tables."""

from __future__ import annotations

import re

import numpy as np

from contextwise import Domain, Structure, compare, examples
from contextwise.comparison.error_regions import (
    FeatureErrors,
    explain,
    explain_comparison,
    explain_pair,
)
from contextwise.models.notation import in_words, parse_literals
from contextwise.support.effort import Effort
from contextwise.testing import random_structure

DOMAIN = Domain({"A": 2, "B": 2, "C": ["no", "yes"], "D": ["young", "old", "very old"]})


def test_a_pair_in_words() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    guess = Structure(DOMAIN, ["A=1 & B=1 & D=young"])
    words = str(explain_pair(compare(true, guess), ("B", "A")))
    rows = [re.split(" {2,}", line) for line in words.splitlines()]
    assert rows[0] == ["Where the models differ about A–B:"]
    assert rows[2:] == [
        ["only in true", "33.3 %", "C=no and D≠young"],
        ["only in guess", "16.7 %", "C=yes and D=young"],
    ]
    assert str(explain_pair(compare(true, true), ("A", "B"))) == "A–B: no difference"
    everywhere = Structure(DOMAIN, ["A=1 & B=1"])
    words = str(explain_pair(compare(Structure(DOMAIN), everywhere), ("A", "B")))
    assert re.search("only in guess +100 % +in every context", words)


def test_signs_inside_names_stay() -> None:
    assert in_words(parse_literals('"a & b"="x!=y" & c!=d')) == '"a & b"="x!=y" and c≠d'


def test_features_are_named() -> None:
    true = Structure(DOMAIN, ["A=1 & B=1 & C=no"])
    guess = Structure(DOMAIN, ["A=1 & B=1 & D=young"])
    found = explain(true, guess)
    literals = tuple(parse_literals("A=1 & B=1 & C=no"))
    assert FeatureErrors("true", literals, 8, 8) in found.features


def test_errors_are_counted_in_words() -> None:
    true, guess = (examples.load(name) for name in ("lung", "lung-learned"))
    rows = [re.split(" {2,}", line.strip()) for line in str(explain(true, guess)).splitlines()]
    lacking, wrong = "smoker=yes and asbestos=yes and cancer=yes", "asbestos=yes and cancer=yes"
    assert ["50 %", "50 %", "0 %", "lacks it", lacking] in rows
    assert ["50 %", "50 %", "50 %", "has it", wrong] in rows


def test_what_a_time_limit_leaves_out_is_said() -> None:
    domain = Domain.of_cardinalities([2] * 12)
    rng = np.random.default_rng(3)
    true, guess = (
        random_structure(domain, features=150, lengths=(5, 7), seed=rng) for _ in range(2)
    )
    counted = compare(true, guess, pairs=[("v0", "v1")])
    found = explain_pair(counted, ("v0", "v1"), time_limit=0.0)
    assert found.undecided > 0
    assert found.fp <= counted.fp <= found.fp + found.undecided
    assert found.fn <= counted.fn <= found.fn + found.undecided
    assert "not decided in time" in str(found)
    whole = explain(true, guess, time_limit=0.0)
    assert whole.partial
    assert "A time limit left out part" in str(whole)


def test_what_is_open_is_said_once_and_never_exceeds_the_contexts() -> None:
    domain = Domain.of_cardinalities([2] * 60)
    rng = np.random.default_rng(1)
    true, guess = (
        random_structure(domain, features=400, lengths=(6, 9), seed=rng) for _ in range(2)
    )
    compared = compare(true, guess, time_limit=0.0)
    assert compared.open_pairs
    found = explain_comparison(compared, Effort.of(0), top=5)
    assert found.partial
    for pair in found.pairs:
        assert pair.errors + pair.undecided <= pair.contexts
        assert sum("not decided in time" in line for line in str(pair).splitlines()) <= 1
