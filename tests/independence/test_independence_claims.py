"""The claims of a structure and the blankets of its variables, against brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain, LogLinear, Structure
from contextwise.independence.claims import ClaimLister, separations
from contextwise.models.directions import bayesian_network
from contextwise.models.features import rows_in
from contextwise.models.structure import structure_of
from contextwise.testing import contexts_of, depends, log_linear_models, structures


@settings(max_examples=60, deadline=None)
@given(structures())
def test_regions_say_what_the_structure_says(model: Structure) -> None:
    """Every context of a pair lies in exactly one region, of the right kind."""
    names, lister = model.domain.names, ClaimLister(model)
    for i, j in combinations(range(len(names)), 2):
        about = lister.about((i, j))
        claims = [*about.independent, *about.dependent]
        assert (about.undecided, set(about.unlisted.values())) == (0, {0})
        assert sum(claim.size for claim in claims) == about.contexts
        for context in contexts_of(model.domain, (names[i], names[j])):
            row = np.zeros((1, len(names)), dtype=np.int64)
            for name, state in context.items():
                v = model.domain.position(name)
                row[0, v] = model.domain.state_position(v, state)
            inside = [
                claim for claim in claims if rows_in(row, model.domain.indexed(claim.region))[0]
            ]
            assert len(inside) == 1
            assert inside[0].dependent == depends(model, (names[i], names[j]), context)


@settings(max_examples=60, deadline=None)
@given(
    log_linear_models(st.sampled_from([Domain.of_cardinalities(c) for c in ([2] * 4, [2, 3, 2])]))
)
def test_blankets_screen_off_in_their_region(model: LogLinear) -> None:
    """In a region of independence the pair factorises given either blanket, and given both."""
    domain = model.domain
    states = list(product(*(range(card) for card in domain.cardinalities)))
    rows = np.array(states)
    features = list(zip(model.structure.features.literals(), model.weights, strict=True))
    weight = np.exp(
        [
            sum(w for f, w in features if all(values >> state[v] & 1 for v, values in f))
            for state in states
        ]
    )
    lister = ClaimLister(model.structure)
    for i, j in combinations(range(len(domain)), 2):
        for claim in lister.about((i, j)).independent:
            literals = domain.indexed(claim.region)
            inside = rows_in(rows, literals)
            blankets = [set(lister.blanket(v, literals).tolist()) for v in (i, j)]
            assert not {i, j} & (blankets[0] | blankets[1])
            for blanket in (*blankets, blankets[0] | blankets[1]):
                keys = rows[:, sorted(blanket)]
                for key in {tuple(key) for key in keys[inside].tolist()}:
                    mine = inside & (keys == key).all(axis=1)
                    table = np.zeros((domain.cardinalities[i], domain.cardinalities[j]))
                    np.add.at(table, (rows[mine, i], rows[mine, j]), weight[mine])
                    product_of = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
                    assert np.allclose(table, product_of)


def test_pairs_without_an_arc_are_separated_by_the_parents_of_the_later_one() -> None:
    """In A → B → C → D with A → D: the parents of C are B, and those of D are A and C."""
    network = bayesian_network(Domain(dict.fromkeys("ABCD", 2)), [(), (0,), (1,), (0, 2)])
    claims = separations(structure_of(network), combinations(range(4), 2))
    assert list(map(str, claims)) == ["A ⫫ C | B", "B ⫫ D | A, C"]
    assert {claim.claim for claim in claims} == {"d-separated"}
