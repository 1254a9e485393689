"""Laws that every comparison must obey, with any engine."""

from collections.abc import Sequence
from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contextwise import Comparison, Domain, Structure, compare, distance
from contextwise.comparison.confusion import Confusion
from contextwise.counting.contexts import UNIFORM, ContextSpace
from contextwise.models.structure import Feature
from contextwise.testing import (
    assignments,
    brute_force,
    brute_force_pairs,
    contexts_of,
    depends,
    domains,
    families,
    features,
    rows,
    structures,
)

Models = tuple[Structure, ...]
CONTEXTS = pytest.mark.parametrize("contexts", ["fully-contextualized", "canonical"])
FEW_STATES = domains(max_variables=3, max_states=3)
LARGE = domains(min_variables=2, max_variables=3, max_states=70)


def by_pair(comparison: Comparison) -> dict[tuple[str, str], Confusion]:
    return {pair: comparison.pair(*pair) for pair in combinations(comparison.domain.names, 2)}


def claims(model: Structure) -> set[tuple[object, ...]]:
    """The dependency model: every (pair, context) in which the pair depends."""
    return {
        (pair, *context.values())
        for pair in combinations(model.domain.names, 2)
        for context in contexts_of(model.domain, pair)
        if depends(model, pair, context)
    }


# -- the definition ------------------------------------------------------------------------------


@given(models=families(3, with_claims=True))
def test_a_metric_on_claims(engine: str, models: Models) -> None:
    a, b, c = models
    comparison = compare(a, b, engine=engine)
    assert comparison.confusion == brute_force(a, b)
    assert by_pair(comparison) == brute_force_pairs(a, b)
    assert distance(a, a, engine=engine) == 0
    assert distance(b, a, engine=engine) == comparison.distance
    there, back = distance(b, c, engine=engine), distance(a, c, engine=engine)
    assert comparison.distance <= there + back


@CONTEXTS
@given(models=families(2))
def test_equal_to_the_definition(engine: str, contexts: str, models: Models) -> None:
    comparison = compare(*models, engine=engine, contexts=contexts)  # type: ignore[arg-type]
    assert comparison.confusion == brute_force(*models, contexts=contexts)
    assert by_pair(comparison) == brute_force_pairs(*models, contexts=contexts)


@settings(max_examples=10)
@given(models=families(2, LARGE, max_features=4))
def test_equal_to_the_definition_with_many_states(engine: str, models: Models) -> None:
    assert compare(*models, engine=engine).confusion == brute_force(*models)


@pytest.mark.parametrize("states", [63, 64, 65, 128, 129])
def test_value_sets_around_a_word(engine: str, states: int) -> None:
    domain = Domain({"A": states, "B": 2, "C": states})
    last, other = str(states - 1), str(states // 2)
    true = Structure(domain, [{"A": last, "B": 1, "C": [0, last]}, {"B": 0, "C": last}])
    guess = Structure(domain, [f"A!={last} & B=1 & C!={other}", f"A={last} & C={last}"])
    assert compare(true, guess, engine=engine).confusion == brute_force(true, guess)


@settings(max_examples=20)
@given(models=families(2, domains(max_variables=2)))
def test_domains_of_no_one_and_two_variables(engine: str, models: Models) -> None:
    comparison = compare(*models, engine=engine)
    assert comparison.confusion == brute_force(*models)
    assert comparison.confusion.total == (1 if len(models[0].domain) == 2 else 0)


def test_counts_beyond_64_bits(engine: str) -> None:
    """Over 100 binary variables every pair has 2^98 contexts."""
    domain = Domain.of_cardinalities([2] * 100)
    true = Structure(domain, ["v0=1 & v1=1 & v2=1", "v3=1 & v4=1"])
    guess = Structure(domain, ["v0=1 & v1=1"])
    comparison = compare(true, guess, engine=engine)
    half, whole = 2**97, 2**98
    assert comparison.confusion == Confusion(
        tp=half, fn=half + half + whole, fp=half, tn=4950 * whole - 4 * half - whole
    )
    assert all(type(count) is int for count in comparison.counts.ravel())
    assert comparison.normalized == float(5 * half) / float(4950 * whole)


# -- a metric on dependency models ---------------------------------------------------------------


@CONTEXTS
@given(models=families(3))
def test_a_metric(engine: str, contexts: str, models: Models) -> None:
    def d(first: Structure, second: Structure) -> int:
        found = distance(first, second, engine=engine, contexts=contexts)
        assert type(found) is int
        return found

    a, b, c = models
    assert d(a, a) == 0
    assert d(a, b) >= 0
    assert d(a, c) <= d(a, b) + d(b, c)
    there, back = (
        compare(*two, engine=engine, contexts=contexts).confusion  # type: ignore[arg-type]
        for two in ((a, b), (b, a))
    )
    assert there == Confusion(back.tp, fn=back.fp, fp=back.fn, tn=back.tn)


@given(models=families(2, FEW_STATES, max_features=4, with_claims=True))
def test_zero_exactly_when_the_claims_are_the_same(engine: str, models: Models) -> None:
    a, b = models
    same = claims(a) == claims(b)
    assert (distance(a, b, engine=engine) == 0) == same


def test_different_features_with_the_same_claims(engine: str) -> None:
    """The features of [ABC] and of [AB][BC][AC] differ, and are at distance 0."""
    domain = {"A": 2, "B": 2, "C": 2}
    together = Structure(domain, full_table("ABC"))
    apart = Structure(domain, full_table("AB") + full_table("BC") + full_table("AC"))
    assert together != apart
    assert distance(together, apart, engine=engine) == 0


def test_canonical_contexts_tell_equal_claims_apart(engine: str) -> None:
    """A caveat, not a law: <X0=1, X1=1> and its full table make the same claim."""
    domain = {"X0": 2, "X1": 2}
    one = Structure(domain, ["<X0=1, X1=1>"])
    table = Structure(domain, [f"<X0={a}, X1={b}>" for a in (0, 1) for b in (0, 1)])
    assert distance(one, table, engine=engine) == 0
    assert distance(one, table, engine=engine, contexts="canonical") == 3


# -- what does not matter ------------------------------------------------------------------------


@given(data=st.data())
def test_names_and_their_order_do_not_matter(engine: str, data: st.DataObject) -> None:
    a, b = data.draw(families(2))
    names = {name: f"new {name}" for name in a.domain.names}
    a, b = a.renamed(names), b.renamed(names)
    order = data.draw(st.permutations(range(len(a.domain))))
    shuffled = Domain({b.domain.names[v]: b.domain.states[v] for v in order})
    moved = Structure(shuffled, list(b))
    assert moved.aligned_to(a.domain) == b
    assert compare(a, moved, engine=engine).confusion == brute_force(a, b)


@given(data=st.data())
def test_labels_of_states_and_their_order_do_not_matter(engine: str, data: st.DataObject) -> None:
    a, b = data.draw(families(2))
    shuffled = [data.draw(st.permutations(own)) for own in b.domain.states]
    moved = Structure(Domain(dict(zip(b.domain.names, shuffled, strict=True))), list(b))
    assert compare(a, moved, engine=engine).confusion == brute_force(a, b)
    relabelled = compare(with_labels(a, "state {}"), with_labels(b, "state {}"), engine=engine)
    assert relabelled.confusion == brute_force(a, b)


def with_labels(model: Structure, label: str) -> Structure:
    domain = model.domain
    return Structure(
        Domain(
            {
                name: [label.format(state) for state in own]
                for name, own in zip(domain.names, domain.states, strict=True)
            }
        ),
        [{name: [label.format(s) for s in own] for name, own in f.items()} for f in model],
    )


@given(data=st.data())
def test_features_that_add_nothing(engine: str, data: st.DataObject) -> None:
    """Duplicates, features of fewer than two literals, and narrower ones of the same scope."""
    a, b = data.draw(families(2))
    more: list[Feature] = [*b, *b, {}]
    more += [{name: own[:1]} for name, own in zip(b.domain.names, b.domain.states, strict=True)]
    for feature in b:
        more.append({v: data.draw(narrower(allowed)) for v, allowed in feature.items()})
    assert compare(a, Structure(b.domain, more), engine=engine).confusion == brute_force(a, b)


def narrower(allowed: Sequence[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(allowed), min_size=1, unique=True)


def test_a_feature_implied_by_one_of_smaller_scope_matters(engine: str) -> None:
    domain = {"A": 2, "B": 2, "C": 2}
    small = Structure(domain, ["A=1 & B=1"])
    implied = Structure(domain, ["A=1 & B=1", "A=1 & B=1 & C=1"])
    assert compare(small, implied, engine=engine).fp == 2  # A–C under B=1 and B–C under A=1


# -- structures that come from graphs ------------------------------------------------------------


def full_table(clique: Sequence[str], states: int = 2) -> list[dict[str, int]]:
    return [
        dict(zip(clique, values, strict=True))
        for values in product(range(states), repeat=len(clique))
    ]


@given(data=st.data())
def test_hamming_distance_of_graphs(engine: str, data: st.DataObject) -> None:
    """One feature an edge: the sum over differing edges of that pair's number of contexts."""
    cardinalities = data.draw(st.lists(st.integers(2, 4), min_size=2, max_size=5))
    domain = Domain.of_cardinalities(cardinalities)
    edge = st.sampled_from(list(combinations(domain.names, 2)))
    graphs = data.draw(st.tuples(st.sets(edge), st.sets(edge)))
    models = [Structure(domain, [{a: 0, b: 1} for a, b in sorted(graph)]) for graph in graphs]
    expected = sum(
        UNIFORM.of_all_pairs(domain.cardinalities)
        if len(domain) == 2
        else contexts_without(domain, pair)
        for pair in graphs[0] ^ graphs[1]
    )
    assert distance(*models, engine=engine) == expected


def contexts_without(domain: Domain, pair: tuple[str, str]) -> int:
    return sum(1 for _ in contexts_of(domain, pair))


@given(data=st.data())
def test_hamming_distance_of_cliques(engine: str, data: st.DataObject) -> None:
    """The full table of each clique: the same law."""
    names = "ABCDE"[: data.draw(st.integers(2, 5))]
    domain = Domain(dict.fromkeys(names, 2))
    clique = st.sets(st.sampled_from(names), min_size=2, max_size=3).map(sorted)
    graphs = [data.draw(st.lists(clique, max_size=3)) for _ in range(2)]
    models = [Structure(domain, [f for c in cliques for f in full_table(c)]) for cliques in graphs]
    edges = [{pair for c in cliques for pair in combinations(c, 2)} for cliques in graphs]
    expected = len(edges[0] ^ edges[1]) * 2 ** (len(names) - 2)
    assert distance(*models, engine=engine) == expected


# -- parts of a comparison add up ----------------------------------------------------------------


@CONTEXTS
@given(models=families(2))
def test_pairs_add_up(engine: str, contexts: str, models: Models) -> None:
    comparison = compare(*models, engine=engine, contexts=contexts)  # type: ignore[arg-type]
    matrices = by_pair(comparison)
    assert sum(matrices.values(), start=Confusion(0, 0, 0, 0)) == comparison.confusion
    cardinalities = models[0].domain.cardinalities
    assert comparison.confusion.total == ContextSpace(contexts == "canonical").of_all_pairs(
        cardinalities
    )
    for pair, matrix in matrices.items():
        alone = compare(*models, engine=engine, contexts=contexts, pairs=[pair])  # type: ignore[arg-type]
        assert alone.confusion == matrix


@given(data=st.data())
def test_only_some_pairs_or_variables(engine: str, data: st.DataObject) -> None:
    models = data.draw(families(2, domains(min_variables=2), with_claims=True))
    names = models[0].domain.names
    matrices = brute_force_pairs(*models)
    chosen = data.draw(st.sets(st.sampled_from(sorted(matrices))))
    backwards = [(second, first) for first, second in chosen]
    inside = data.draw(st.sets(st.sampled_from(names)))
    within = {pair for pair in matrices if inside.issuperset(pair)}
    for options, expected in (
        ({"pairs": backwards}, chosen),
        ({"variables": inside}, within),
        ({"pairs": chosen, "variables": inside}, chosen & within),
    ):
        comparison = compare(*models, engine=engine, **options)
        counted = sum((matrices[pair] for pair in expected), start=Confusion(0, 0, 0, 0))
        assert comparison.confusion == counted
        assert comparison.question.pair_count == len(expected)


@CONTEXTS
@given(data=st.data())
def test_a_context_is_a_comparison_of_restrictions(
    engine: str, contexts: str, data: st.DataObject
) -> None:
    a, b = data.draw(families(2))
    context = data.draw(assignments(a.domain))
    inside = compare(a, b, engine=engine, contexts=contexts, context=context)  # type: ignore[arg-type]
    assert inside.confusion == brute_force(
        a.restrict(context), b.restrict(context), contexts=contexts
    )


@given(data=st.data())
def test_the_contexts_of_one_variable_add_up(engine: str, data: st.DataObject) -> None:
    """Over the pairs without it: the sum over its states is the whole."""
    a, b = data.draw(families(2, domains(min_variables=1), with_claims=True))
    name = data.draw(st.sampled_from(a.domain.names))
    others = [other for other in a.domain.names if other != name]
    parts = [
        compare(a, b, engine=engine, context={name: state}).confusion
        for state in a.domain.states[a.domain.positions[name]]
    ]
    whole = compare(a, b, engine=engine, variables=others).confusion
    assert sum(parts, start=Confusion(0, 0, 0, 0)) == whole


@CONTEXTS
@given(data=st.data())
def test_rows_are_counted_one_by_one(contexts: str, data: st.DataObject) -> None:
    a, b = data.draw(families(2))
    observed = data.draw(rows(a.domain))
    comparison = compare(a, b, data=observed, contexts=contexts)  # type: ignore[arg-type]
    for pair in combinations(a.domain.names, 2):
        tally = Confusion(0, 0, 0, 0)
        for row in observed:
            context = dict(zip(a.domain.names, row, strict=True))
            if contexts != "canonical":
                context = {name: state for name, state in context.items() if name not in pair}
            in_a, in_b = depends(a, pair, context), depends(b, pair, context)
            tally += Confusion(in_a and in_b, in_a > in_b, in_b > in_a, not (in_a or in_b))
        assert comparison.pair(*pair) == tally


@given(data=st.data())
def test_every_row_once_is_every_context(data: st.DataObject) -> None:
    """Canonically: a full assignment is a row."""
    a, b = data.draw(families(2, domains(min_variables=1)))
    every = list(product(*a.domain.states))
    comparison = compare(a, b, data=every, contexts="canonical")
    assert comparison.confusion == brute_force(a, b, contexts="canonical")


@given(data=st.data())
def test_rows_inside_a_context(data: st.DataObject) -> None:
    a, b = data.draw(families(2, with_claims=True))
    context = data.draw(assignments(a.domain))
    observed = data.draw(rows(a.domain))
    agree = [
        tuple(s for name, s in zip(a.domain.names, row, strict=True) if name not in context)
        for row in observed
        if all(row[a.domain.positions[name]] == state for name, state in context.items())
    ]
    inside = compare(a, b, data=observed, context=context)
    expected = compare(a.restrict(context), b.restrict(context), data=agree)
    assert inside.confusion == expected.confusion


@given(model=structures(), extra=st.data())
def test_more_features_more_dependence(engine: str, model: Structure, extra: st.DataObject) -> None:
    """A union claims what either claims: nothing is lost, so nothing is a false negative."""
    feature = extra.draw(features(model.domain))
    larger = model | Structure(model.domain, [feature])
    assume(larger != model)
    assert compare(model, larger, engine=engine).fn == 0
