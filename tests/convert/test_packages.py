"""Networks of other packages, and structures by values."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.other_packages import to_pgmpy, to_pyagrum

import contextwise as cw
from contextwise import Domain, LogLinear, Structure, distance, read
from contextwise.convert import (
    by_values,
    from_causal_learn,
    from_ldag,
    from_pgmpy,
    from_pyagrum,
    from_staged_tree,
)
from contextwise.errors import DomainError
from contextwise.formats import encode, read_stream
from contextwise.models.factors import Factor, factors_of, log_linear
from contextwise.support.arrays import FloatArray
from convert_oracle import assert_equal, claims, interactions, random_domain, representable

SEEDS = range(8)

# Importing pyAgrum's compiled modules warns; as an error, the warning crashes the interpreter.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def joint(model: LogLinear) -> FloatArray:
    """The table of p of a model over few variables."""
    logs = np.zeros(model.domain.cardinalities)
    for factor in factors_of(model):
        shape = [c if v in factor.scope else 1 for v, c in enumerate(logs.shape)]
        logs = logs + factor.logs.reshape(shape)
    p = np.exp(logs)
    return np.asarray(p / p.sum())


# -- by values -----------------------------------------------------------------------------------


def random_stages(rng: np.random.Generator, domain: Domain) -> tuple[dict[str, Any], LogLinear]:
    """A staged tree whose stages are drawn at random, and its numbers."""
    stages, factors = {}, []
    for k, child in enumerate(domain.names):
        shape = domain.cardinalities[:k]
        table = rng.integers(0, 1 + int(np.prod(shape)) // 2, size=shape)
        size = domain.cardinalities[k]
        rows = rng.dirichlet(np.full(size, 2.0), size=int(np.prod(shape)) + 1)
        stages[child] = table
        factors.append(Factor(tuple(range(k + 1)), np.log(rows[table])))
    return stages, log_linear(domain, factors)


@pytest.mark.parametrize("seed", range(20))
def test_values_show_the_stages(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    stages, model = random_stages(rng, domain)
    wanted = interactions(np.log(joint(model)))
    structure = by_values(model)
    assert_equal(claims(structure), wanted)
    assert isinstance(structure, cw.Claims) != representable(wanted, domain)
    assert distance(structure, from_staged_tree(stages, domain)) == 0


def test_the_tolerance_is_a_log_odds_ratio() -> None:
    model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), np.array([0.01]))
    assert by_values(model, tolerance=0.0099).pairs() == [("A", "B")]
    assert by_values(model, tolerance=0.0101).pairs() == []


def test_weights_that_cancel_are_no_interaction() -> None:
    features = ["A=1 & B=1", "A=1 & B=1 & C=1", "A=1 & C=1", "B=1 & C=1"]
    model = LogLinear(Structure({"A": 2, "B": 2, "C": 2}, features), np.array([1, -1, 2, 2.0]))
    assert by_values(model).restrict("C=0").pairs() == [("A", "B")]
    assert by_values(model).restrict("C=1").pairs() == []


def test_numbers_that_are_zero() -> None:
    domain = Domain({"A": 2, "B": 2})

    def pairs(table: list[list[float]]) -> list[tuple[str, str]]:
        with np.errstate(divide="ignore"):
            return by_values(log_linear(domain, [Factor((0, 1), np.log(table))])).pairs()

    assert pairs([[0.5, 0.0], [0.0, 0.5]]) == [("A", "B")]
    assert pairs([[0.5, 0.2], [0.3, 0.0]]) == [("A", "B")]
    assert pairs([[0.5, 0.0], [0.5, 0.0]]) == []


def test_values_need_finite_weights() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    with pytest.raises(DomainError, match="needs weights"):
        by_values(structure)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="infinite"):
        by_values(LogLinear(structure, np.array([np.inf])))


# -- pyAgrum -------------------------------------------------------------------------------------


@pytest.fixture
def pyagrum() -> Any:
    module = pytest.importorskip("pyagrum")
    module.initRandom(7)
    return module


NETWORK = "A{no|yes}->B[3]<-C;A->D<-B;C->E[4]"


def test_bayesian_networks_of_pyagrum(pyagrum: Any, tmp_path: Path) -> None:
    network = pyagrum.fastBN(NETWORK)
    model = from_pyagrum(network)
    inference = pyagrum.LazyPropagation(network)
    np.testing.assert_allclose(
        joint(model).sum(axis=(0, 2, 3, 4)), inference.posterior("B").toarray(), atol=1e-6
    )
    states = dict(zip(model.domain.names, model.domain.states, strict=True))
    names = {node: network.variable(node).name() for node in network.nodes()}
    arcs = [(names[a], names[b]) for a, b in network.arcs()]
    assert distance(model.structure, from_ldag(arcs, states)) == 0
    assert_equal(claims(model.structure), interactions(np.log(joint(model))))
    assert by_values(model).pairs() == model.structure.pairs()


# In .uai files pyAgrum lists several parents in an order that is not that of its numbers.
@pytest.mark.parametrize(
    ("text", "suffix"), [(NETWORK, "bif"), ("A{no|yes}->B[3]->C;A->D[4]", "uai")]
)
def test_files_of_pyagrum(pyagrum: Any, tmp_path: Path, text: str, suffix: str) -> None:
    network = pyagrum.fastBN(text)
    path = tmp_path / f"network.{suffix}"
    pyagrum.saveBN(network, str(path))
    model, direct = read(path), from_pyagrum(network)
    assert isinstance(model, LogLinear)
    assert model.domain.cardinalities == direct.domain.cardinalities
    np.testing.assert_allclose(joint(model), joint(direct), atol=1e-4)


def test_our_files_in_pyagrum(pyagrum: Any, tmp_path: Path) -> None:
    model = from_pyagrum(pyagrum.fastBN(NETWORK))
    path = tmp_path / "network.bif"
    path.write_bytes(encode(model, "bif"))
    np.testing.assert_allclose(
        joint(from_pyagrum(pyagrum.loadBN(str(path)))), joint(model), atol=1e-6
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_markov_random_fields_of_pyagrum_come_back(pyagrum: Any, seed: int) -> None:
    model = random_model(seed)
    again = from_pyagrum(to_pyagrum(model))
    assert again.domain == model.domain
    assert again.structure == model.structure
    np.testing.assert_allclose(joint(again), joint(model))


def test_what_is_no_network() -> None:
    with pytest.raises(DomainError, match="expected a pyAgrum network, got list"):
        from_pyagrum([])
    with pytest.raises(DomainError, match="expected a pgmpy network, got list"):
        from_pgmpy([])


# -- pgmpy ---------------------------------------------------------------------------------------


@pytest.fixture
def pgmpy() -> Any:
    return pytest.importorskip("pgmpy")


def random_model(seed: int) -> LogLinear:
    rng = np.random.default_rng(seed)
    domain = Domain({"A": ["no", "yes"], "B": 3, "C": 2})
    scopes = [(0, 1), (1, 2), (0, 2), (0, 1, 2), (1,)]
    chosen = [scope for scope in scopes if rng.random() < 0.6] or [(0, 1)]
    tables = [rng.normal(size=[domain.cardinalities[v] for v in scope]) for scope in chosen]
    return log_linear(domain, [Factor(s, t) for s, t in zip(chosen, tables, strict=True)])


def test_networks_of_pgmpy(pgmpy: Any) -> None:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork([("A", "Y"), ("B", "Y")])
    states = {"A": ["no", "yes"], "B": ["low", "mid", "high"], "Y": ["0", "1"]}
    rows = [[0.5, 0.5, 0.5, 0.1, 0.2, 0.3], [0.5, 0.5, 0.5, 0.9, 0.8, 0.7]]
    network.add_cpds(
        TabularCPD("A", 2, [[0.3], [0.7]], state_names={"A": states["A"]}),
        TabularCPD("B", 3, [[0.2], [0.3], [0.5]], state_names={"B": states["B"]}),
        TabularCPD("Y", 2, rows, ["A", "B"], [2, 3], state_names=states),
    )
    model = from_pgmpy(network)
    assert set(model.structure.pairs()) == {("A", "B"), ("A", "Y"), ("B", "Y")}
    structure = by_values(model)
    assert structure.restrict("A=no").pairs() == []
    assert structure.restrict("A=yes").pairs() == [("B", "Y")]
    network.remove_cpds("B")
    network.remove_node("Y")
    with pytest.raises(DomainError, match="variable 'B' has no table"):
        from_pgmpy(network)


def test_tables_of_pgmpy_with_states_in_different_orders(pgmpy: Any) -> None:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    def network(states: list[str]) -> Any:
        made = DiscreteBayesianNetwork([("A", "B")])
        of_child = {"A": states, "B": ["0", "1"]}
        made.add_cpds(
            TabularCPD("A", 2, [[0.9], [0.1]], state_names={"A": ["yes", "no"]}),
            TabularCPD("B", 2, [[0.2, 0.7], [0.8, 0.3]], ["A"], [2], state_names=of_child),
        )
        return made

    model = from_pgmpy(network(["no", "yes"]))
    assert model.domain.states[0] == ("yes", "no")
    assert np.allclose(joint(model), [[0.9 * 0.7, 0.9 * 0.3], [0.1 * 0.2, 0.1 * 0.8]])
    with pytest.raises(DomainError, match="different states of 'A': yes, no and no, maybe"):
        from_pgmpy(network(["no", "maybe"]))


@pytest.mark.parametrize("seed", SEEDS)
def test_markov_networks_of_pgmpy_come_back(pgmpy: Any, seed: int) -> None:
    model = random_model(seed)
    again = from_pgmpy(to_pgmpy(model))
    assert distance(model.structure, again.structure) == 0
    order = [again.domain.position(name) for name in model.domain.names]
    np.testing.assert_allclose(joint(again).transpose(order), joint(model))


def test_our_bif_files_in_pgmpy(pgmpy: Any) -> None:
    from pgmpy.readwrite import BIFReader

    text = (
        "variable A { type discrete [ 2 ] { no, yes }; }\n"
        "variable B { type discrete [ 3 ] { x, y, z }; }\n"
        "probability ( A ) { table 0.3, 0.7; }\n"
        "probability ( B | A ) { (no) 0.1, 0.2, 0.7; (yes) 0.3, 0.3, 0.4; }\n"
    )
    model = read_stream(io.StringIO(text))
    assert isinstance(model, LogLinear)
    theirs = from_pgmpy(BIFReader(string=encode(model, "bif").decode()).get_model())
    assert theirs.structure.aligned_to(model.domain) == model.structure
    order = [theirs.domain.position(name) for name in model.domain.names]
    np.testing.assert_allclose(joint(theirs).transpose(order), joint(model))


def test_our_uai_files_in_pgmpy(pgmpy: Any) -> None:
    from pgmpy.readwrite import UAIReader

    numbered = Structure(Domain.of_cardinalities([2, 3, 2]), random_model(1).structure.features)
    model = LogLinear(numbered, random_model(1).weights)
    theirs = from_pgmpy(UAIReader(string=encode(model, "uai").decode()).get_model())
    np.testing.assert_allclose(joint(theirs), joint(model))


# -- what learners of other packages return --------------------------------------------------------


def test_graphs_that_pgmpy_learned_are_structures() -> None:
    base = pytest.importorskip("pgmpy.base")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"A": [0, 1, 1], "B": ["x", "y", "x"], "C": [True, False, True]})
    dag = base.DAG([("A", "C"), ("B", "C")])
    learned = from_pgmpy(dag, domain=frame)
    domain = Domain({"A": 2, "B": ["x", "y"], "C": ["False", "True"]})
    assert learned == from_ldag([("A", "C"), ("B", "C")], domain)
    assert isinstance(learned, Structure)
    assert from_pgmpy(dag, domain=domain) == learned
    partly = base.PDAG(directed_ebunch=[("A", "C"), ("B", "C")], undirected_ebunch=[])
    assert from_pgmpy(partly, domain=domain) == learned
    chain = base.PDAG(undirected_ebunch=[("A", "B"), ("B", "C")])
    assert from_pgmpy(chain, domain=domain).pairs() == [("A", "B"), ("B", "C")]
    with pytest.raises(DomainError, match="pass domain=, such as the data"):
        from_pgmpy(dag)


def test_a_markov_network_without_tables_is_a_structure() -> None:
    models = pytest.importorskip("pgmpy.models")
    network = models.DiscreteMarkovNetwork([("A", "B")])
    learned = from_pgmpy(network, domain={"A": 2, "B": 2, "C": 2})
    assert learned.pairs() == [("A", "B")]


class _Node:
    def __init__(self, name: str) -> None:
        self.name = name

    def get_name(self) -> str:
        return self.name


class _Graph:
    """A graph as causal-learn keeps it: -1 a tail, 1 an arrow head, at the row's end."""

    def __init__(self, ends: list[list[int]]) -> None:
        self.graph = np.array(ends)

    def get_nodes(self) -> list[_Node]:
        return [_Node(name) for name in "ABC"]


def test_only_parents_are_married() -> None:
    domain = {"A": 2, "B": 2, "C": 2}
    collider = _Graph([[0, 0, -1], [0, 0, -1], [1, 1, 0]])  # A → C ← B
    assert len(from_causal_learn(collider, domain=domain).pairs()) == 3
    fork = _Graph([[0, 0, 1], [0, 0, 1], [-1, -1, 0]])  # A ← C → B
    assert from_causal_learn({"G": fork}, domain=domain).pairs() == [("A", "C"), ("B", "C")]
    chain = _Graph([[0, 0, -1], [0, 0, -1], [-1, -1, 0]])  # A – C – B
    assert from_causal_learn(chain, domain=domain).pairs() == [("A", "C"), ("B", "C")]
    with pytest.raises(DomainError, match="causal-learn graph, got int"):
        from_causal_learn(7, domain=domain)
