"""The worked examples of the paper, each under its own label: sets of features, and counts."""

from itertools import combinations

from contextwise import Structure, compare
from contextwise.paper import (
    Feature,
    c1,
    cardinality,
    context_set,
    dependency_model,
    difference,
    intersection,
    partition_model,
    union,
    union_over,
)

PAIR = ("X0", "X1")


def domain(*cardinalities: int) -> dict[str, int]:
    return {f"X{k}": n for k, n in enumerate(cardinalities) if n}


def contexts(*texts: str) -> set[Feature]:
    return {Feature(text) for text in texts}


def test_notation() -> None:
    f = Feature("<X0=1, X2=0, X3=1>")
    assert f["X2"] == ("0",)
    assert set(f) == {"X0", "X2", "X3"}
    h = Feature("<X0=2, X1=1, X2=1, X5=0>")
    assert h.without(("X0", "X2")) == Feature("<X1=1, X5=0>")


def test_ex_DP() -> None:
    """Saturated over three binary variables, but for the independence of X1 and X2 given X0=1."""
    model = Structure(
        domain(2, 2, 2),
        [f"X0=0 & X1={a} & X2={b}" for a in (0, 1) for b in (0, 1)]
        + [f"X0=1 & X1={a}" for a in (0, 1)]
        + [f"X0=1 & X2={b}" for b in (0, 1)],
    )
    assert set(map(str, dependency_model(model))) == {
        "I(X1, X2 | X0=0)",
        "I(X0, X2 | X1=0)",
        "I(X0, X2 | X1=1)",
        "I(X0, X1 | X2=0)",
        "I(X0, X1 | X2=1)",
    }
    saturated = Structure(model.domain, ["X0=1 & X1=1 & X2=1", "X0=0 & X1=0 & X2=0"])
    assert compare(model, saturated).fp == 1
    assert compare(model, saturated).tp == 5


def test_ex_union() -> None:
    f, g = Feature("<X0=1, X2=0, X3=1>"), Feature("<X0=1, X1=0, X4=0>")
    assert union(f, g) == Feature("<X0=1, X1=0, X2=0, X3=1, X4=0>")


def test_ex_unionij() -> None:
    """The values of the pair do not matter, but the pair is in the scope."""
    f, g = Feature("<X0=1, X2=0, X3=1>"), Feature("<X0=0, X1=0, X2=1, X4=0>")
    assert union(f, g) is None
    h = union_over([f, g], ("X0", "X2"))
    assert h is not None
    assert h.without(("X0", "X2")) == Feature("<X1=0, X3=1, X4=0>")
    assert c1(h, ("X0", "X2"))


def test_ex_cardfeature() -> None:
    h = Feature("<X0=0, X1=0, X3=1, X4=0, X6=1>")
    V = domain(2, 2, 2, 2, 2, 3, 2)
    expected = {Feature(f"<X2={a}, X3=1, X4=0, X5={b}, X6=1>") for a in (0, 1) for b in (0, 1, 2)}
    assert context_set(h, PAIR, V) == expected
    assert cardinality(h, PAIR, V) == 6
    assert cardinality(Feature("<X0=0, X1=0>"), PAIR, domain(*[2] * 12)) == 1024


def test_ex_partition() -> None:
    """The paper lists contexts of X3 and X4 alone, so X2 is not in its V."""
    H = [Feature("<X0=0, X1=0, X4=0>"), Feature("<X0=0, X1=0, X3=0>")]
    V = domain(2, 2, 0, 2, 2)
    listed = contexts("<X3=0, X4=0>", "<X3=1, X4=0>", "<X3=0, X4=1>")
    assert context_set(H, PAIR, V) == listed
    both = context_set(H[0], PAIR, V) & context_set(H[1], PAIR, V)
    assert both == contexts("<X3=0, X4=0>")
    P = partition_model(H, PAIR, V)
    assert [H[0], Feature("<X0=0, X1=0, X3=0, X4=1>")] == P
    assert context_set(P, PAIR, V) == listed
    assert sum(cardinality(p, PAIR, V) for p in P) == 3
    assert sum(cardinality(p, PAIR, domain(2, 2, 2, 2, 2)) for p in P) == 6


def test_ex_intersection() -> None:
    g, V = Feature("<X0=0, X1=1, X2=0, X4=1>"), domain(*[3] * 6)
    (h,) = intersection(Feature("<X0=2, X1=1, X2=0, X5=0>"), g, PAIR)
    assert h.without(PAIR) == Feature("<X2=0, X4=1, X5=0>")
    assert context_set(h, PAIR, V) == {Feature(f"<X2=0, X3={a}, X4=1, X5=0>") for a in range(3)}
    assert intersection(Feature("<X1=1, X2=0, X5=0>"), g, PAIR) == []  # ex:intersection2
    assert intersection(Feature("<X0=2, X1=1, X2=1, X5=0>"), g, PAIR) == []  # ex:intersection3


def test_ex_difference() -> None:
    f, g = Feature("<X0=2, X1=1, X2=0, X5=0>"), Feature("<X0=0, X1=1, X2=0, X3=0, X4=1>")
    V = domain(*[3] * 6)
    assert cardinality(f, PAIR, V) == 9
    assert cardinality(g, PAIR, V) == 3
    d = difference(f, g, PAIR, V)
    assert d == [
        Feature("<X0=2, X1=1, X2=0, X3=1, X5=0>"),
        Feature("<X0=2, X1=1, X2=0, X3=2, X5=0>"),
        Feature("<X0=2, X1=1, X2=0, X3=0, X4=0, X5=0>"),
        Feature("<X0=2, X1=1, X2=0, X3=0, X4=2, X5=0>"),
    ]
    expected = context_set(f, PAIR, V) - context_set(g, PAIR, V)
    assert context_set(d, PAIR, V) == expected
    assert len(expected) == sum(cardinality(one, PAIR, V) for one in d) == 8


def test_ex_XF2union() -> None:
    V, pair = domain(0, 2, 2, 2, 2), ("X3", "X4")
    f, f1, f2 = map(Feature, ["<X1=0, X3=0, X4=1>", "<X2=1, X3=0, X4=0>", "<X1=0, X2=0>"])
    assert context_set(f, pair, V) == contexts("<X1=0, X2=0>", "<X1=0, X2=1>")
    assert context_set(f1, pair, V) == contexts("<X1=0, X2=1>", "<X1=1, X2=1>")
    assert context_set(f2, pair, V) == set()
    assert len(context_set([f, f1, f2], pair, V)) == 3


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
