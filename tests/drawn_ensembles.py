"""Random ensembles, and the probability of each assertion, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from contextwise import Structure
from contextwise.evaluation.ensembles import Ensemble
from contextwise.models.domain import Domain
from contextwise.testing import contexts_of, depends, domains, structures

Theta = dict[tuple[Any, ...], Fraction]


def assertions(structure: Structure, canonical: bool = False) -> dict[tuple[Any, ...], bool]:
    """Every assertion of a structure, one by one."""
    return {
        (pair, *sorted(context.items())): depends(structure, pair, context)
        for pair in combinations(structure.domain.names, 2)
        for context in contexts_of(structure.domain, pair, canonical=canonical)
    }


def theta_of(ensemble: Ensemble, canonical: bool = False) -> Theta:
    theta: Theta = dict.fromkeys(assertions(ensemble.structures[0], canonical), Fraction(0))
    for structure, weight in zip(ensemble.structures, ensemble.weights, strict=True):
        for assertion, dependent in assertions(structure, canonical).items():
            theta[assertion] += weight * dependent
    return theta


@st.composite
def ensembles(draw: st.DrawFn, domain: Domain, weighted: bool | None = None) -> Ensemble:
    members = draw(st.lists(structures(domain), min_size=1, max_size=5))
    if weighted is None:
        weighted = draw(st.booleans())
    if not weighted:
        return Ensemble(members)
    counts = draw(
        st.lists(st.integers(0, 7), min_size=len(members), max_size=len(members)).filter(any)
    )
    return Ensemble(members, [Fraction(count, sum(counts)) for count in counts])


@st.composite
def truths_and_ensembles(draw: st.DrawFn) -> tuple[Structure, Ensemble]:
    domain = draw(domains(min_variables=2, max_variables=4))
    return draw(structures(domain)), draw(ensembles(domain))
