"""The worked examples of the paper, each under its own label: sets of features, and counts."""

from itertools import combinations

from contextwise import Structure, compare
from contextwise.counting.contexts import UNIFORM
from contextwise.models.features import members
from contextwise.models.notation import parse_literals
from contextwise.testing import contexts_of, depends
from theorem import (
    Feature,
    cardinality,
    context_set,
    difference,
    has_pair,
    intersection,
    partition_model,
    union,
    union_over_pair,
    without_pair,
)


def feature(text: str) -> dict[int, int]:
    """A feature as the paper writes it: ``<X0=1, X2=0>``."""
    return {
        int(literal.variable.removeprefix("X")): 1 << int(literal.states[0])
        for literal in parse_literals(text)
    }


def single_valued(features: list[dict[int, int]]) -> list[dict[int, int]]:
    """The features with value sets split into the paper's features with one value a variable."""
    split: list[dict[int, int]] = []
    for f in features:
        parts: list[dict[int, int]] = [{}]
        for k, allowed in f.items():
            parts = [{**part, k: 1 << value} for part in parts for value in members(allowed)]
        split += parts
    return split


def test_notation_scope_and_value() -> None:
    f = feature("<X0=1, X2=0, X3=1>")
    assert f[2] == 1 << 0
    assert f.keys() == {0, 2, 3}


def test_notation_feature_without_a_pair() -> None:
    h = feature("<X0=2, X1=1, X2=1, X5=0>")
    assert without_pair(h, (0, 2)) == feature("<X1=1, X5=0>")


def test_ex_fcdmodel() -> None:
    """Four binary variables have 24 fully-contextualized assertions."""
    assert UNIFORM.of_all_pairs([2, 2, 2, 2]) == 24
    nothing = Structure({f"X{i}": 2 for i in range(4)})
    assert compare(nothing, nothing).tn == 24


def test_number_of_assertions_of_six_binary_variables() -> None:
    assert UNIFORM.of_all_pairs([2] * 6) == 240


def test_ex_DP() -> None:
    """Saturated over three binary variables, but for the independence of X1 and X2 given X0=1."""
    model = Structure(
        {"X0": 2, "X1": 2, "X2": 2},
        [f"X0=0 & X1={a} & X2={b}" for a in (0, 1) for b in (0, 1)]
        + [f"X0=1 & X1={a}" for a in (0, 1)]
        + [f"X0=1 & X2={b}" for b in (0, 1)],
    )
    dependent = {
        (pair, *context.items())
        for pair in combinations(model.domain.names, 2)
        for context in contexts_of(model.domain, pair)
        if depends(model, pair, context)
    }
    assert dependent == {
        (("X1", "X2"), ("X0", "0")),
        (("X0", "X2"), ("X1", "0")),
        (("X0", "X2"), ("X1", "1")),
        (("X0", "X1"), ("X2", "0")),
        (("X0", "X1"), ("X2", "1")),
    }
    saturated = Structure(model.domain, ["X0=1 & X1=1 & X2=1", "X0=0 & X1=0 & X2=0"])
    assert compare(model, saturated).fp == 1
    assert compare(model, saturated).tp == 5


def test_ex_union() -> None:
    f = feature("<X0=1, X2=0, X3=1>")
    g = feature("<X0=1, X1=0, X4=0>")
    assert union(f, g) == feature("<X0=1, X1=0, X2=0, X3=1, X4=0>")


def test_ex_unionij() -> None:
    """The values of the pair do not matter, but the pair is in the scope."""
    f = feature("<X0=1, X2=0, X3=1>")
    g = feature("<X0=0, X1=0, X2=1, X4=0>")
    assert union(f, g) is None
    h = union_over_pair([f, g], (0, 2))
    assert h is not None
    assert without_pair(h, (0, 2)) == feature("<X1=0, X3=1, X4=0>")
    assert has_pair(h, (0, 2))


def test_ex_cardfeature() -> None:
    h = feature("<X0=0, X1=0, X3=1, X4=0, X6=1>")
    cardinalities = [2, 2, 2, 2, 2, 3, 2]
    contexts = {(x2, 1, 0, x5, 1) for x2 in (0, 1) for x5 in (0, 1, 2)}
    assert context_set([h], (0, 1), cardinalities) == contexts
    assert cardinality(h, (0, 1), cardinalities) == len(contexts) == 6
    assert cardinality({0: 1, 1: 1}, (0, 1), [2] * 12) == 1024


def test_ex_partition() -> None:
    """The paper lists contexts of X3 and X4 alone: X2 is taken out of V={0,1,3,4}."""
    cardinalities = [2, 2, 1, 2, 2]
    pair = (0, 1)
    h: list[Feature] = [feature("<X0=0, X1=0, X4=0>"), feature("<X0=0, X1=0, X3=0>")]
    contexts = {(0, 0, 0), (0, 1, 0), (0, 0, 1)}  # (X2), X3, X4
    assert context_set(h, pair, cardinalities) == contexts
    both = context_set(h[:1], pair, cardinalities) & context_set(h[1:], pair, cardinalities)
    assert both == {(0, 0, 0)}
    p = partition_model(h, pair, cardinalities)
    assert p == [h[0], feature("<X0=0, X1=0, X3=0, X4=1>")]
    assert context_set(p, pair, cardinalities) == contexts
    assert sum(cardinality(part, pair, cardinalities) for part in p) == 3


def test_ex_intersection() -> None:
    f = feature("<X0=2, X1=1, X2=0, X5=0>")
    g = feature("<X0=0, X1=1, X2=0, X4=1>")
    (h,) = intersection(f, g, (0, 1))
    assert without_pair(h, (0, 1)) == feature("<X2=0, X4=1, X5=0>")
    assert context_set([h], (0, 1), [3] * 6) == {(0, 0, 1, 0), (0, 1, 1, 0), (0, 2, 1, 0)}


def test_ex_intersection2() -> None:
    f = feature("<X1=1, X2=0, X5=0>")
    g = feature("<X0=0, X1=1, X2=0, X4=1>")
    assert intersection(f, g, (0, 1)) == []


def test_ex_intersection3() -> None:
    f = feature("<X0=2, X1=1, X2=1, X5=0>")
    g = feature("<X0=0, X1=1, X2=0, X4=1>")
    assert intersection(f, g, (0, 1)) == []


def test_ex_difference() -> None:
    """The paper's four features are two with value sets."""
    f = feature("<X0=2, X1=1, X2=0, X5=0>")
    g = feature("<X0=0, X1=1, X2=0, X3=0, X4=1>")
    pair, cardinalities = (0, 1), [3] * 6
    assert cardinality(f, pair, cardinalities) == 9
    assert cardinality(g, pair, cardinalities) == 3
    d = difference(f, g, pair, cardinalities)
    assert len(d) == 2
    printed = [
        feature("<X0=2, X1=1, X2=0, X3=1, X5=0>"),
        feature("<X0=2, X1=1, X2=0, X3=2, X5=0>"),
        feature("<X0=2, X1=1, X2=0, X3=0, X4=0, X5=0>"),
        feature("<X0=2, X1=1, X2=0, X3=0, X4=2, X5=0>"),
    ]
    assert single_valued(d) == printed
    expected = context_set([f], pair, cardinalities) - context_set([g], pair, cardinalities)
    assert context_set(d, pair, cardinalities) == expected
    assert len(expected) == sum(cardinality(one, pair, cardinalities) for one in d) == 8


def test_ex_XF2union() -> None:
    """V={1,…,4}: variable 0 is no part of it, so it has one value."""
    cardinalities = [1, 2, 2, 2, 2]
    pair = (3, 4)
    f = feature("<X1=0, X3=0, X4=1>")
    f1 = feature("<X2=1, X3=0, X4=0>")
    f2 = feature("<X1=0, X2=0>")
    assert context_set([f], pair, cardinalities) == {(0, 0, 0), (0, 0, 1)}
    assert context_set([f1], pair, cardinalities) == {(0, 0, 1), (0, 1, 1)}
    assert context_set([f2], pair, cardinalities) == set()
    assert context_set([f, f1, f2], pair, cardinalities) == {(0, 0, 0), (0, 0, 1), (0, 1, 1)}


def test_the_model_over_six_variables() -> None:
    """Complete under X0=0, a star under X0=1: of 240 assertions, 80 + 80 are dependencies."""
    domain = {f"X{i}": 2 for i in range(6)}
    others = range(1, 6)
    complete = ["X0=0 & " + " & ".join(f"X{i}=1" for i in others)]
    complete += [f"X0=0 & X{i}=1 & X{j}=1" for i, j in combinations(others, 2)]
    star = [f"X0={value} & X{i}=1" for value in (0, 1) for i in others]
    model = Structure(domain, complete + star)
    nothing = Structure(domain)
    comparison = compare(model, nothing)
    assert (comparison.fn, comparison.tn) == (10 * 8 + 5 * 16, 10 * 8)
