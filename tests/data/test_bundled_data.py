"""The bundled data sets have the published counts, log-likelihoods and edges."""

from __future__ import annotations

from collections import Counter
from math import log

import pytest

from contextwise import Structure, distributions
from contextwise.data.rows import BUNDLED, as_data
from contextwise.learning import learner_named

SIZES = {"titanic": (2201, (4, 2, 2, 2)), "women-math": (1190, (2,) * 6)}


@pytest.mark.parametrize("name", BUNDLED)
def test_sizes(name: str) -> None:
    data = as_data(name)
    assert (len(data), data.domain.cardinalities) == SIZES[name]


def test_titanic_has_the_published_log_likelihoods() -> None:
    """The values of stagedtrees' article in the Journal of Statistical Software."""
    data = as_data("titanic")
    cells = Counter(map(tuple, data.rows.tolist()))
    saturated = sum(n * log(n / len(data)) for n in cells.values())
    assert saturated == pytest.approx(-5151.517, abs=5e-4)
    names, states = data.domain.names, data.domain.states
    single = [{name: state} for name, own in zip(names, states, strict=True) for state in own[1:]]
    fitted = distributions.fit(Structure(data.domain, single), "titanic", l2=0.0).model
    independent = len(data) * distributions.mean_log_likelihood(fitted, "titanic")
    assert independent == pytest.approx(-5773.349, abs=5e-3)


def test_titanic_has_the_published_counts() -> None:
    """R's ``margin.table(Titanic, c(1, 4))``."""
    rows = as_data("titanic").labels()
    assert Counter((row[0], row[3]) for row in rows) == {
        ("1st", "no"): 122,
        ("1st", "yes"): 203,
        ("2nd", "no"): 167,
        ("2nd", "yes"): 118,
        ("3rd", "no"): 528,
        ("3rd", "yes"): 178,
        ("crew", "no"): 673,
        ("crew", "yes"): 212,
    }


def test_women_math_has_the_published_edges() -> None:
    """The six edges that a Bayesian Ising analysis (easybgm) includes."""
    learned = learner_named("sparse-pairs")().fit("women-math").structure_
    assert {frozenset(pair) for pair in learned.pairs()} == {
        frozenset(pair)
        for pair in (
            ("gender", "need"),
            ("gender", "preference"),
            ("school", "preference"),
            ("school", "plans"),
            ("need", "preference"),
            ("need", "plans"),
        )
    }
