"""A restriction to several states holds wherever a context is taken: each result is that of the
restricted models, and each sentence and title names the restriction."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import LogLinear, Structure, check, compare, distance_matrix, explain
from contextwise.distributions.inference import log_partition, marginal, probabilities
from contextwise.errors import DomainError
from contextwise.independence import graph
from contextwise.models.box import Box
from contextwise.models.domain import Domain
from contextwise.report.comparisons import scope_text
from contextwise.testing import contexts_of, depends, domains, families
from drawn_rows import sample
from independence_oracle import is_independent

DEPARTMENTS = Domain({"Dept": ["A", "B", "C"], "sex": ["f", "m"], "admitted": ["no", "yes"]})
TRUE = LogLinear(
    Structure(DEPARTMENTS, ["Dept=C & sex=f & admitted=yes", "Dept=A & sex=f", "Dept=B & sex=f"]),
    [1.0, 2.0, 2.0],
)
GUESS = LogLinear(Structure(DEPARTMENTS, ["sex=f & admitted=yes", "Dept=A & admitted=no"]), [3, 1])
CONTEXT = "Dept=A|B"


@st.composite
def boxes(draw: st.DrawFn, domain: Domain) -> dict[str, list[str]]:
    """Some states of some variables."""
    context = {}
    for name, states in zip(domain.names, domain.states, strict=True):
        if draw(st.booleans()):
            context[name] = draw(st.lists(st.sampled_from(states), min_size=1, unique=True))
    return context


@given(families(2), st.data())
def test_inside_a_box_a_structure_makes_the_claims_of_its_contexts(
    models: tuple[Structure, Structure], data: st.DataObject
) -> None:
    """A feature that holds for all states that are left of a variable does not depend on it."""
    model, _ = models
    context = data.draw(boxes(model.domain))
    box = Box.of(model.domain, context)
    inside = model.restrict(context)
    assert inside.domain == box.inside
    free = [name for name in inside.domain.names if name not in box.states]
    for pair in combinations(free, 2):
        for assignment in contexts_of(inside.domain, pair):
            whole = {**assignment, **{n: s for n, s in box.states.items() if isinstance(s, str)}}
            assert depends(inside, pair, assignment) == depends(model, pair, whole)


@given(families(2), st.data())
def test_a_comparison_in_a_box_is_that_of_the_restricted_models(
    models: tuple[Structure, Structure], data: st.DataObject
) -> None:
    context = data.draw(boxes(models[0].domain))
    restricted = [model.restrict(context) for model in models]
    found, expected = compare(*models, context=context), compare(*restricted)
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.confusion == expected.confusion
    matrix = distance_matrix(models, context=context)
    assert matrix.distances[0, 1] == expected.distance


@given(families(2, domains(min_variables=2)), st.data())
def test_rows_and_weights_are_restricted_with_the_models(
    models: tuple[Structure, Structure], data: st.DataObject
) -> None:
    domain = models[0].domain
    context = data.draw(boxes(domain))
    box = Box.of(domain, context)
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, c, 30) for c in domain.cardinalities])
    agrees = [all(row[v] in states for v, states in box.allowed.items()) for row in rows.tolist()]
    labels = [[domain.states[v][k] for v, k in enumerate(row)] for row in rows.tolist()]
    kept = [
        [label for v, label in enumerate(row) if v not in box.fixed]
        for row, is_inside in zip(labels, agrees, strict=True)
        if is_inside
    ]
    assert (box.outside(box.rows(rows)) == rows[agrees]).all()
    if kept and len(box.inside):
        restricted = [model.restrict(context) for model in models]
        found = compare(*models, context=context, data=labels)
        assert found.confusion == compare(*restricted, data=kept).confusion


def test_the_distribution_in_a_box_is_the_conditional_one() -> None:
    table = probabilities(TRUE)
    inside = table[:2] / table[:2].sum()
    assert probabilities(TRUE.restrict(CONTEXT)) == pytest.approx(inside)
    difference = log_partition(TRUE, context=CONTEXT) - log_partition(TRUE)
    assert np.exp(difference) == pytest.approx(table[:2].sum())
    of_sex = marginal(TRUE, "sex", context=CONTEXT)
    assert of_sex == pytest.approx(inside.sum(axis=(0, 2)))
    for method in ("exact", "gibbs"):
        rows = sample(TRUE, 2000, seed=1, context=CONTEXT, method=method)
        assert {*rows[:, 0]} == {"A", "B"}
        assert np.mean(rows[:, 1] == "f") == pytest.approx(of_sex[0], abs=0.05)


def test_strengths_in_a_box_are_those_of_the_restricted_models() -> None:
    found = compare(TRUE, GUESS, context=CONTEXT, strengths=True).strengths
    inside = compare(TRUE.restrict(CONTEXT), GUESS.restrict(CONTEXT), strengths=True).strengths
    assert found is not None
    assert inside is not None
    assert found.records() == inside.records()
    # A and B have the same weight, so between them the odds of sex do not change.
    assert found.samples["missed"].values.tolist() == [0.0, 0.0]


def test_graphs_blankets_and_checks_take_several_states() -> None:
    structure, inside = TRUE.structure, TRUE.structure.restrict(CONTEXT)
    assert set(graph(structure, CONTEXT).edges) == set(graph(inside).edges)
    assert set(graph(structure, CONTEXT)["admitted"]) == set()
    assert set(graph(structure)["admitted"]) == {"Dept", "sex"}
    rows = sample(TRUE, 400, seed=1)
    here = [row for row in rows.tolist() if row[0] != "C"]
    assert check(structure, rows, context=CONTEXT).evidence.count == len(here)
    assert str(check(structure, rows, context=CONTEXT)) == str(check(inside, here))


def shown_in_box() -> dict[str, str]:
    """Return the words of everything that shows a restricted comparison."""
    from contextwise.report.plots import plot_graphs, plot_structure

    comparison = compare(TRUE, GUESS, context=CONTEXT)
    both = plot_graphs(compare(TRUE, GUESS), comparison).axes[1]
    (one,) = plot_structure(TRUE, context=CONTEXT).axes
    return {
        "the scope": scope_text(comparison),
        "the plot of two": both.get_title(),
        "the plot of one": one.get_title(),
        "the node": " ".join(text.get_text() for text in both.texts),
    }


def test_every_consumer_names_the_restriction() -> None:
    pytest.importorskip("matplotlib")
    for what, text in shown_in_box().items():
        assert "Dept=A or B" in " ".join(text.split()), what


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ("Dept=A & Dept=B", "leaves no state of 'Dept'"),
        ("Dept=A|D", "no state 'D'"),
        ({"Dept": []}, "leaves no state of 'Dept'"),
        ({"Depth": ["A"]}, "unknown variable 'Depth'"),
        (["Dept=A"], "expected a text such as .* or a mapping .*, got \\['Dept=A'\\]"),
    ],
)
def test_a_context_that_is_none(context: Any, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        compare(TRUE, GUESS, context=context)


def test_all_states_restrict_nothing() -> None:
    assert not Box.of(DEPARTMENTS, "Dept=A|B|C")
    assert Box.of(DEPARTMENTS, "Dept!=C & sex=f").words == "Dept=A or B, sex=f"


def test_a_query_takes_one_state() -> None:
    with pytest.raises(DomainError, match=r"one state to a variable: Dept=yes; for several, ask"):
        is_independent(TRUE, "sex", "admitted", context=CONTEXT)
    assert is_independent(TRUE.structure.restrict(CONTEXT), "sex", "admitted")


def test_an_explanation_in_a_box() -> None:
    found = explain(TRUE, GUESS, context=CONTEXT)
    inside = explain(TRUE.restrict(CONTEXT), GUESS.restrict(CONTEXT))
    assert str(found).splitlines()[0] == str(inside).splitlines()[0]
