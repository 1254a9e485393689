"""Exact inference: against sums in plain Python, and one way against another."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.data.rows import as_data
from contextwise.distributions import (
    log_probability,
    marginal,
    probabilities,
)
from contextwise.distributions.inference import (
    elimination_order,
    exact_inference,
    log_partition,
    plan,
)
from contextwise.distributions.potentials import log_potential_of
from contextwise.errors import DomainError, TooLargeError
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure
from contextwise.testing import assignments, domains, log_linear_models

Joint = dict[tuple[str, ...], float]


def potentials(model: LogLinear) -> Joint:
    """The definition: the log-potential of every state, in plain Python."""
    features = list(zip(model.structure, model.weights.tolist(), strict=True))
    found = {}
    for state in product(*model.domain.states):
        named = dict(zip(model.domain.names, state, strict=True))
        found[state] = sum(
            weight
            for feature, weight in features
            if all(named[v] in allowed for v, allowed in feature.items())
        )
    return found


@given(log_linear_models(domains(max_variables=5)))
def test_inference_is_what_sums_over_all_states_say(model: LogLinear) -> None:
    table = potentials(model)
    rows = list(table)
    assert np.allclose(
        log_potential_of(model, as_data(rows, model.domain).rows), list(table.values()), atol=1e-12
    )
    log_z = log(sum(map(exp, table.values())))
    assert abs(log_partition(model) - log_z) < 1e-9
    p = np.exp(np.array(list(table.values())) - log_z)
    assert np.allclose(probabilities(model).ravel(), p, atol=1e-12)
    assert np.allclose(np.exp(log_probability(model, rows)), p, atol=1e-12)
    for feature, expected in zip(
        model.structure, exact_inference(model).expectations(), strict=True
    ):
        holds = [
            all(row[model.domain.position(v)] in allowed for v, allowed in feature.items())
            for row in rows
        ]
        assert abs(expected - p[holds].sum()) < 1e-9


@given(log_linear_models(domains(min_variables=1, max_variables=4)), st.data())
def test_marginals_and_conditionals(model: LogLinear, data: st.DataObject) -> None:
    evidence = data.draw(assignments(model.domain))
    free = [name for name in model.domain.names if name not in evidence]
    names = data.draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    table = {
        state: exp(value)
        for state, value in potentials(model).items()
        if all(state[model.domain.position(v)] == s for v, s in evidence.items())
    }
    total = sum(table.values())
    assert abs(log_partition(model, context=evidence) - log(total)) < 1e-9
    found = marginal(model, names, context=evidence)
    positions = [model.domain.position(name) for name in names]
    for state in product(*(range(model.domain.cardinalities[v]) for v in positions)):
        labels = [model.domain.states[v][k] for v, k in zip(positions, state, strict=True)]
        mass = sum(mass for row, mass in table.items() if [row[v] for v in positions] == labels)
        assert abs(found[state] - mass / total) < 1e-9


def chain(length: int, weight: float) -> LogLinear:
    """A chain of binary variables, each agreeing with the next with the same log-odds."""
    domain = Domain.of_cardinalities([2] * length)
    pairs = [f"v{i}={k} & v{i + 1}={k}" for i in range(length - 1) for k in (0, 1)]
    return LogLinear(Structure(domain, pairs), np.full(len(pairs), weight))


def test_elimination_reaches_far_beyond_enumeration() -> None:
    model = chain(200, 1.0)
    assert log_partition(model) == pytest.approx(log(2) + 199 * log(1 + exp(1)))
    assert exact_inference(model).expectations()[0] == pytest.approx(exp(1) / (1 + exp(1)) / 2)
    far = marginal(model, ["v0", "v199"])
    agreement = ((exp(1) - 1) / (exp(1) + 1)) ** 199
    assert far[0, 0] == pytest.approx((1 + agreement) / 4)
    with pytest.raises(TooLargeError, match=r"1\.61e\+60 states"):
        probabilities(model)


def test_blocks_of_states_are_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    model = chain(8, 0.7)
    whole = probabilities(model)
    monkeypatch.setattr("contextwise.distributions.inference.MOST_STATES_IN_MEMORY", 16)
    assert np.array_equal(probabilities(model), whole)


def test_what_is_too_large_is_refused_with_its_cost() -> None:
    n = 40
    domain = Domain.of_cardinalities([2] * n)
    pairs = [f"v{i}=1 & v{j}=1" for i in range(n) for j in range(i)]
    model = LogLinear(Structure(domain, pairs), np.zeros(len(pairs)))
    with pytest.raises(TooLargeError, match=r"10\^12\.\d cells, the limit is 10\^7\.2"):
        log_partition(model)
    pinned = " & ".join(f"v{i}=1" for i in range(2, n))
    assert marginal(model, "v0", context=pinned).tolist() == pytest.approx([0.5, 0.5])


def test_the_cost_is_the_number_of_cells() -> None:
    made = plan(chain(10, 1.0).structure)
    assert sum(table.fill(np.zeros(18)).size for table in made.tables) == 9 * 4 + 2
    star = [frozenset({0, i}) for i in range(1, 6)]
    order = elimination_order(range(6), [2] * 6, star)
    assert max(map(len, order)) == 2


def test_infinite_weights_are_constraints() -> None:
    structure = Structure({"A": 2, "B": 3}, ["A=1 & B=1", "B!=2", "A=0"])
    model = LogLinear(structure, [-np.inf, np.inf, 0.5])
    expected = np.array([[exp(0.5), exp(0.5), 0], [1, 0, 0]])
    expected /= expected.sum()
    assert np.allclose(probabilities(model), expected)
    assert np.allclose(marginal(model, ["A", "B"]), expected)
    assert log_partition(model) == pytest.approx(log(2 * exp(0.5) + 1))
    rows = np.array([[1, 1], [0, 2], [0, 0]])
    assert log_potential_of(model, rows).tolist() == [-np.inf, -np.inf, 0.5]
    assert marginal(model, "A", context="B=1").tolist() == pytest.approx([1, 0])
    with pytest.raises(DomainError, match="exclude every state"):
        log_partition(model, context="B=2")
    with pytest.raises(DomainError, match="exclude every state"):
        log_partition(model, context="A=1 & B=1")
    impossible = LogLinear(structure, [0.0, np.inf, np.inf])
    assert marginal(impossible, "A").tolist() == [1, 0]
    nothing = LogLinear(Structure({"A": 2}, ["A=0", "A=1"]), [np.inf, np.inf])
    for ask in (log_partition, probabilities):
        with pytest.raises(DomainError, match="exclude every state"):
            ask(nothing)


@pytest.mark.parametrize("context", ["A=0", "A=0|2"])
def test_a_context_that_an_infinite_weight_excludes_is_refused(context: str) -> None:
    model = LogLinear(Structure({"A": 3, "B": 2}, ["A=1"]), [np.inf])
    with pytest.raises(DomainError, match=r"has probability 0: the feature 'A=1' has the weight"):
        model.restrict(context)
    with pytest.raises(DomainError, match=r"has probability 0|exclude every state"):
        marginal(model, "B", context=context)
    assert marginal(model, "A", context="B=0|1").tolist() == [0.0, 1.0, 0.0]


def test_questions_that_make_no_sense() -> None:
    model = chain(3, 1.0)
    with pytest.raises(DomainError, match="not in the context"):
        marginal(model, "v0", context="v0=1")
    with pytest.raises(DomainError, match="must appear once"):
        marginal(model, ["v0", "v0"])
    with pytest.raises(DomainError, match="unknown variable"):
        marginal(model, "v9")
    with pytest.raises(DomainError, match="has no state '2'"):
        log_probability(model, [[0, 1, 2]])
    with pytest.raises(DomainError, match="2 cells for 3 variables"):
        log_probability(model, [[0, 1]])
    assert log_probability(model, np.zeros((0, 3), dtype=int)).shape == (0,)


@given(log_linear_models(domains(max_variables=4)))
def test_every_belief_is_a_distribution(model: LogLinear) -> None:
    found = exact_inference(model)
    for table, belief in zip(found.plan.tables, found.beliefs, strict=True):
        assert belief.shape == table.shape
        assert belief.sum() == pytest.approx(1)


# pyAgrum is imported under SWIG, whose types warn; as errors these warnings crash the process
@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # pyAgrum's own affair
def test_pyagrum_says_the_same() -> None:
    gum = pytest.importorskip("pyagrum", reason="needs contextwise[pyagrum]")
    from benchmarks.other_packages import to_pyagrum

    domain = Domain({"A": 2, "B": 3, "C": 2, "D": 4, "E": 2, "F": 2})
    structure = Structure(
        domain,
        ["A=1 & B!=1", "B=2 & C=1", "C=0 & D=1|3", "A=0 & E=1", "D!=2 & E=0 & F=1", "F=1", "B=0"],
    )
    model = LogLinear(structure, np.random.default_rng(1).normal(0, 1.5, len(structure)))
    network = to_pyagrum(model)  # kept: pyAgrum's inference holds it by address alone
    theirs = gum.ShaferShenoyMRFInference(network)
    theirs.makeInference()
    for name in "ABCDEF":
        assert np.allclose(marginal(model, name), theirs.posterior(name).toarray(), atol=1e-9)
