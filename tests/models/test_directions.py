"""Directions: made, checked, kept by what keeps the network, dropped by what does not."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from contextwise import Domain, LogLinear, read, write
from contextwise.convert import from_cpt_trees, from_ldag, from_pgmpy, from_staged_tree
from contextwise.errors import DomainError, ParseError
from contextwise.formats import encode, read_stream
from contextwise.formats.reading import FormatWarning
from contextwise.independence import query
from contextwise.independence.separation import minimal_d_separator, open_trail
from contextwise.models.directions import (
    Directions,
    TableError,
    bayesian_network,
    directions_of,
    moral_pairs,
)
from contextwise.models.factors import tables as cells
from contextwise.models.structure import Model, Structure, structure_of
from network_models import random_network

SEEDS = range(12)


def same(first: Directions | None, second: Directions | None, tolerance: float = 0.0) -> bool:
    assert first is not None
    assert second is not None
    return first.parents == second.parents and all(
        (a is None) == (b is None)
        and (a is None or b is None or np.allclose(a, b, rtol=0, atol=tolerance))
        for a, b in zip(first.tables, second.tables, strict=True)
    )


def probability(model: Model, states: dict[str, str]) -> float:
    """P of a full assignment by names, from the tables."""
    domain, directions = model.domain, model.directions
    assert directions is not None
    places = [domain.states[v].index(states[name]) for v, name in enumerate(domain.names)]
    chosen = 1.0
    for child, (parents, table) in enumerate(
        zip(directions.parents, directions.tables, strict=True)
    ):
        assert table is not None
        chosen *= table[tuple(places[v] for v in (*parents, child))]
    return chosen


@pytest.mark.parametrize("seed", SEEDS)
def test_the_native_format_keeps_directions(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, 6, zeros=seed % 2 == 0)
    write(model, tmp_path / "network.json")
    again = read(tmp_path / "network.json")
    assert same(again.directions, model.directions)
    assert again == model
    fewer = read(tmp_path / "network.json", zero_weights="drop")
    assert same(fewer.directions, model.directions)
    bare = structure_of(bayesian_network(model.domain, model.directions.parents))  # type: ignore[union-attr]
    assert same(read_stream(io.BytesIO(encode(bare, "json"))).directions, bare.directions)
    assert same(pickle.loads(pickle.dumps(model)).directions, model.directions)


@pytest.mark.parametrize("seed", SEEDS)
def test_renaming_and_reordering_keep_the_network(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, 5)
    domain = model.domain
    order = rng.permutation(len(domain))
    shuffled = Domain(
        {domain.names[v]: rng.permutation(domain.states[v]).tolist() for v in order.tolist()}
    )
    moved = model.aligned_to(shuffled)
    for states in product(*domain.states):
        cell = dict(zip(domain.names, states, strict=True))
        assert probability(moved, cell) == pytest.approx(probability(model, cell))
    assert same(moved.aligned_to(domain).directions, model.directions)
    assert same(moved.structure.aligned_to(domain).directions, model.directions)
    renamed = model.renamed({domain.names[0]: "other"})
    assert same(renamed.directions, model.directions)
    assert same(renamed.aligned_to(domain, align="position").directions, model.directions)
    assert same(model.without_zero_weights().directions, model.directions)


def test_restricting_and_uniting_drop_directions() -> None:
    model = random_network(np.random.default_rng(1), 4).structure
    assert model.directions is not None
    assert model.restrict({model.domain.names[0]: model.domain.states[0][0]}).directions is None
    assert (model | model).directions is None
    assert Structure(model.domain, model.features).directions is None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_claims_without_tables_are_those_with_tables(seed: int) -> None:
    model = random_network(np.random.default_rng(seed), 6)
    assert model.directions is not None
    bare = bayesian_network(model.domain, model.directions.parents)
    assert isinstance(bare, Structure)
    assert bare.pairs() == model.structure.pairs()
    names = model.domain.names
    moral = [(names[i], names[j]) for i, j in moral_pairs(model.directions.parents)]
    assert bare.pairs() == moral
    graph = networkx.DiGraph(model.directions.arcs)
    assert {frozenset(pair) for pair in moral_pairs(model.directions.parents)} == {
        frozenset(edge) for edge in networkx.moral_graph(graph).edges
    }
    from_pairs = from_ldag([(names[p], names[c]) for p, c in model.directions.arcs], model.domain)
    assert from_pairs.pairs() == bare.pairs()
    assert set(from_pairs.directions.arcs) == set(model.directions.arcs)  # type: ignore[union-attr]


def every_dag(count: int) -> list[tuple[frozenset[tuple[int, ...]], tuple[tuple[int, ...], ...]]]:
    """Return the arcs and the parents of all DAGs."""
    pairs = list(combinations(range(count), 2))
    dags = []
    for directions in product((0, 1, -1), repeat=len(pairs)):
        arcs = frozenset(pair[::side] for pair, side in zip(pairs, directions, strict=True) if side)
        parents = tuple(tuple(sorted(p for p, c in arcs if c == v)) for v in range(count))
        try:
            TopologicalSorter(dict(enumerate(parents))).prepare()
        except CycleError:
            continue
        dags.append((arcs, parents))
    return dags


def test_compelled_arcs_are_those_of_all_dags_with_the_same_separations() -> None:
    """By the theorem of Verma and Pearl: the same edges, and the same colliders without an edge."""
    classes: dict[Any, list[Any]] = {}
    for arcs, parents in every_dag(4):
        edges = frozenset(frozenset(arc) for arc in arcs)
        colliders = frozenset(
            (frozenset(two), child)
            for child, above in enumerate(parents)
            for two in combinations(above, 2)
            if frozenset(two) not in edges
        )
        classes.setdefault((edges, colliders), []).append((arcs, parents))
    assert len(classes) == 185  # of 543 DAGs (Gillispie and Perlman 2002)
    for members in classes.values():
        everywhere = frozenset.intersection(*(arcs for arcs, _ in members))
        for _, parents in members:
            assert Directions(parents, (None,) * 4).compelled == everywhere


def test_topological_order() -> None:
    directions = directions_of(Domain({"A": 2, "B": 2, "C": 2}), [(1,), (2,), ()])
    assert directions.order == (2, 1, 0)


@pytest.mark.parametrize(
    ("parents", "tables", "message"),
    [
        ([(1,), (0,)], None, "the network has a cycle: A -> B -> A"),
        ([(), (1,)], None, "the network has a cycle: B -> B"),
        ([(), (0, 0)], None, r"the parents of 'B' are \[0, 0\]"),
        ([(), (2,)], None, r"the parents of 'B' are \[2\]"),
        ([()], None, "needs one list of parents"),
        ([(), ()], [[0.5, 0.5], [[0.5] * 3] * 2], "the probability of 'B' needs 3 numbers, got 2"),
        ([(), (0,)], [[0.5, 0.5], [0.2, 0.3, 0.5]], "needs 2 x 3 numbers, got 3"),
        ([(), ()], [[0.5, 0.4], None], "the probability of 'A' has the sum 0.9, not 1"),
        ([(), ()], [[-0.5, 1.5], None], "the probability of 'A' has a negative number, -0.5"),
    ],
)
def test_what_is_no_network_is_an_error(parents: Any, tables: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        bayesian_network(Domain({"A": 2, "B": 3}), parents, tables)


def test_a_long_cycle_is_shortened() -> None:
    count = 20
    domain = Domain({f"v{k}": 2 for k in range(count)})
    with pytest.raises(DomainError, match="-> … ->"):
        bayesian_network(domain, [((k - 1) % count,) for k in range(count)])


def test_rows_are_rescaled_and_missing_numbers_leave_a_structure() -> None:
    domain = Domain({"A": 2, "B": 2})
    model = bayesian_network(domain, [(), (0,)], [[0.333, 0.666], [[0.5, 0.5], [0.1, 0.9]]])
    assert isinstance(model, LogLinear)
    assert model.directions is not None
    assert model.directions.tables[0] is not None
    assert model.directions.tables[0].sum() == 1
    assert not model.directions.tables[0].flags.writeable
    missing = bayesian_network(domain, [(), (0,)], [[0.5, 0.5], [[0.5, 0.5], [np.nan, np.nan]]])
    assert isinstance(missing, Structure)
    assert missing == model.structure
    assert missing.directions is not None
    assert missing.directions.tables[1] is None


# -- files and other packages ----------------------------------------------------------------------


def from_text(text: str, format: str) -> Model:
    return read_stream(io.StringIO(text), format=format)


BIF = """network x {}
variable A { type discrete [2] {n, y}; } variable B { type discrete [2] {n, y}; }
probability (A | B) { (n) 0.1 0.9; (y) 0.5 0.5; } probability (B) { table 0.25, 0.75; }"""


def test_bif_uai_and_libra_have_the_same_directions() -> None:
    uai = "BAYES 2 2 2 2 2 1 0 1 1 4 0.1 0.9 0.5 0.5 2 0.25 0.75"
    logs = np.log([0.1, 0.9, 0.5, 0.5, 0.25, 0.75]).tolist()
    tree = "(v1_0 (v0_0 {} {}) (v0_0 {} {}))".format(*logs[:4])
    rows = "table {{\n{} +v1_0\n{} -v1_0\n}}".format(*logs[4:])
    libra = f"2,2\nBN {{\nv0 {{\ntree {{ {tree} }}\n}}\nv1 {{\n{rows}\n}}\n}}\n"
    wanted = from_text(BIF, "bif").directions
    assert wanted is not None
    assert wanted.parents == ((1,), ())
    assert wanted.tables[0].tolist() == [[0.1, 0.9], [0.5, 0.5]]  # type: ignore[union-attr]
    assert same(from_text(uai, "uai").directions, wanted)
    assert same(from_text(libra, "bn").directions, wanted, 1e-15)
    assert from_text(uai.replace("BAYES", "MARKOV"), "uai").directions is None


def test_files_whose_tables_make_no_network() -> None:
    with pytest.warns(
        FormatWarning, match=r"read without directions: a row of .*'v0' has the sum 2"
    ):
        assert from_text("BAYES 1 2 1 1 0 2 1 1", "uai").directions is None
    with pytest.warns(FormatWarning, match="expected one table for each variable"):
        assert from_text("BAYES 2 2 2 1 1 0 2 0.5 0.5", "uai").directions is None
    cyclic = "2,2\nBN {\nv0 {\n-1 +v0_1 +v1_1\n}\nv1 {\n-1 +v0_1 +v1_1\n}\n}\n"
    with pytest.raises(ParseError, match="the network has a cycle: v0 -> v1 -> v0"):
        from_text(cyclic, "bn")
    with pytest.warns(FormatWarning, match="without some probabilities"):
        assert from_text(BIF.replace("(y) 0.5 0.5", "(y) NaN NaN"), "bif").directions is not None


def test_a_variable_with_many_parents_keeps_its_arcs_without_a_table() -> None:
    parents = " ".join(f"+v{k}_0" for k in range(20))
    text = f"{'2,' * 21}\nBN {{\nv20 {{\n-0.1 +v20_0\n-2.35 -v20_0\n0 {parents}\n}}\n}}\n"
    directions = from_text(text, "bn").directions
    assert directions is not None
    assert directions.parents[20] == tuple(range(20))
    assert directions.tables[20] is None


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{"B": {"parents": ["C"]}}', "directions.B: unknown variable 'C'"),
        ('{"B": {"parents": "A"}}', "directions.B.parents: expected a list"),
        ('{"B": []}', "directions.B: expected an object"),
        ('{"B": {"table": [1, 0]}}', "directions.B: the key 'parents' is missing"),
        ('{"B": {"parents": ["A"], "table": [1, 0]}}', "directions.B.table: 2 numbers, expected 4"),
        ('{"B": {"parents": [], "table": [1, "inf"]}}', r"table\[1\]: expected a probability"),
        ('{"B": {"parents": [], "table": [1, 1]}}', "directions.B: a row of .* the sum 2, not 1"),
        ('{"B": {"parents": ["A"]}, "A": {"parents": ["B"]}}', "directions: the network has a cy"),
    ],
)
def test_bad_directions_in_json(entry: str, message: str) -> None:
    variables = '[{"name": "A", "states": 2}, {"name": "B", "states": 2}]'.replace("2", "[0, 1]")
    head = '{"format": "contextwise", "version": 1, "variables"'
    with pytest.raises(ParseError, match=message):
        from_text(f'{head}: {variables}, "directions": {entry}, "features": []}}', "json")


def test_converters_keep_the_arcs() -> None:
    domain = {"A": 2, "B": 2, "Y": 2}
    tree = from_cpt_trees({"Y": {"A": {0: None, 1: {"B": {0: None, 1: None}}}}}, domain)
    assert tree.directions is not None
    assert tree.directions.arcs == [(0, 2), (1, 2)]
    staged = from_staged_tree({"B": ["s", "s"], "Y": ["l", "h", "l", "h"]}, domain)
    assert staged.directions is not None
    assert staged.directions.arcs == [(1, 2)]
    learned = from_pgmpy(networkx.DiGraph([("A", "B")]), domain=domain)
    assert learned.directions is not None
    assert learned.directions.arcs == [(0, 1)]
    with pytest.raises(DomainError, match="the network has a cycle: A -> B -> A"):
        from_ldag([("A", "B"), ("B", "A")], domain)


def test_table_errors_can_be_sent_between_processes() -> None:
    again = pickle.loads(pickle.dumps(TableError("no", 3)))
    assert (str(again), again.child) == ("no", 3)


# -- hidden variables ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_hiding_variables_keeps_all_separations_of_the_others(seed: int) -> None:
    """The latent projection, against d-separation in the whole graph, for every pair and set."""
    rng = np.random.default_rng(seed)
    count, shown = 7, sorted(rng.choice(7, size=5, replace=False).tolist())
    parents = [[p for p in range(v) if rng.random() < 0.4] for v in range(count)]
    whole = directions_of(Domain(dict.fromkeys("ABCDEFG", 2)), parents)
    pairs = {(0, 6), (2, 3)} if seed % 2 else set()  # hidden causes of its own
    whole = replace(whole, confounded=frozenset(pairs))
    part = whole.observed(shown)
    moral = set(moral_pairs(part.parents, part.confounded))
    for i, j in combinations(range(5), 2):
        others = [k for k in range(5) if k not in (i, j)]
        for size in range(4):
            for given in combinations(others, size):
                first, second, *held = (shown[k] for k in (i, j, *given))
                expected = open_trail(whole.with_hidden, [first], {second}, held) is None
                assert (open_trail(part.with_hidden, [i], {j}, given) is None) == expected
        assert ((i, j) not in moral) == expected  # given all others
        adjacent = (i, j) in part.confounded or i in part.parents[j] or j in part.parents[i]
        separator = minimal_d_separator(part.with_hidden, [i], [j], others)
        assert not (adjacent and separator is not None)


def test_confounded_pairs_are_kept() -> None:
    domain = Domain({"A": 2, "B": 2, "C": 2})
    directions = replace(directions_of(domain, [(), (), (1,)]), confounded=frozenset({(0, 1)}))
    features = cells(domain, directions.scopes()).features
    structure = Structure(domain, features, directions=directions)
    again = read_stream(io.BytesIO(encode(structure, "json")))
    assert again.directions is not None
    assert again.directions.confounded == {(0, 1)}
    turned = again.aligned_to(Domain({"C": 2, "B": 2, "A": 2}))
    assert turned.directions is not None
    assert turned.directions.confounded == {(1, 2)}
    assert query(again, "A _||_ C | B").independent
    assert not query(again, "A _||_ C").independent
    assert "a hidden cause" in query(again, "A _||_ C").path
    broken = encode(structure, "json").replace(b'"confounded": ["B"]', b'"confounded": ["A"]')
    with pytest.raises(ParseError, match="itself"):
        read_stream(io.BytesIO(broken))
