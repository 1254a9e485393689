"""Outside truths have the structure that their source states, and rows can be drawn from them."""

import numpy as np
import pytest

import contextwise as cw
from contextwise.convert import from_cstree, from_ldag
from contextwise.errors import ContextwiseError
from contextwise.models.structure import numbers_of, structure_of
from contextwise.truths.named import NAMES, NETWORKS
from contextwise.truths.outside import LABELS, PARENTS, _stored


@pytest.mark.parametrize("name", NAMES)
def test_every_truth_loads_and_gives_rows(name: str) -> None:
    truth = cw.examples.truth(name)
    rows = cw.sample(truth, 5, array=True)
    assert rows.shape == (5, len(truth.domain))
    numbers = numbers_of(truth)
    assert numbers is not None
    assert numbers.domain == truth.domain


@pytest.mark.parametrize("draw", [0, 3, 100])
def test_the_labelled_dag_claims_what_its_labels_claim(draw: int) -> None:
    arcs = [(f"X{p}", f"X{v}") for v, parents in PARENTS.items() for p in parents]
    assert (len(arcs), len(LABELS)) == (20, 12)
    labels = {
        (f"X{parent}", f"X{child}"): [{f"X{v}": x for v, x in c.items()} for c in contexts]
        for (parent, child), contexts in LABELS.items()
    }
    expected = from_ldag(arcs, {f"X{v}": 2 for v in range(1, 11)}, labels)
    assert cw.compare(expected, cw.examples.truth(f"ldag-10#{draw}")).distance == 0


@pytest.mark.parametrize("seed", [0, 7, 100, 139])
def test_trees_claim_what_their_stages_claim(seed: int) -> None:
    domain = {f"X{v}": 2 for v in range(1, 9)}
    stages = {
        f"X{level + 1}": [
            {f"X{v}": int(x) for v, x in enumerate(stage, start=1) if x != "*"}
            for stage in text.split()
        ]
        for level, text in enumerate(_stored()["cstree-8"][str(seed)], start=1)
    }
    expected = from_cstree(stages, domain)
    assert cw.compare(expected, cw.examples.truth(f"cstree-8#{seed}")).distance == 0


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_of_a_network_claim_no_dependence_that_d_separation_excludes(name: str) -> None:
    by_graph, by_numbers = (
        cw.examples.truth(f"bnlearn-{name}{suffix}") for suffix in ("", "-values")
    )
    assert set(structure_of(by_numbers).pairs()) <= set(structure_of(by_graph).pairs())
    assert cw.compare(by_graph, by_numbers).fp == 0


def test_boolean_networks_have_no_dependence_between_later_variables_without_a_cause() -> None:
    truth = structure_of(cw.examples.truth("boolean-5#4"))
    assert all("x" in first + second for first, second in truth.pairs())


def test_a_fitted_table_has_the_margins_of_its_cliques() -> None:
    rows = cw.sample(cw.examples.truth("coronary"), 20_000, seed=1, array=True)
    smokers = np.mean(rows[:, 0] == "yes")
    assert abs(smokers - 921 / 1841) < 0.05


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cstree-8#50", "not stored; use 0 to 19 or 100 to 139"),
        ("bnlearn-asia#1", "has its own weights"),
        ("bnlearn-asai", "unknown truth"),
    ],
)
def test_unknown_truths_are_refused(name: str, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        cw.examples.truth(name)
