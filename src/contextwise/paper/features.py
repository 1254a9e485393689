"""Features, their context sets, and the operations on them (sections 2.2, 4.2 and 4.3.1).

A feature of the paper assigns one value to each variable of its scope. Here it may allow several,
as the literals of a `Structure` do; each definition becomes the paper's where all have one.
Functions of a pair take two names; those that need the values of other variables take a domain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from contextwise.counting.partition import disjoint_parts
from contextwise.errors import ContextwiseError, ParseError
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Domain, State, label_of
from contextwise.models.notation import Literal, parse_literals, write_literal
from contextwise.models.structure import require_features

Pair = tuple[str, str]
Variables = Domain | Mapping[str, Sequence[State] | int]
MOST_SETS_LISTED = 10**6
"""The most elements of a set that this room lists."""


class Feature(Mapping[str, tuple[str, ...]]):
    """A feature: the values that it allows to each variable of its scope (section 2.2).

    Parameters
    ----------
    literals : text such as ``"<X0=1, X2=0>"``, or a mapping from names to a value or several

    Examples
    --------
    >>> f = Feature("<X0=1, X2=0, X3=1>")
    >>> f["X2"], list(f)
    (('0',), ['X0', 'X2', 'X3'])
    >>> Feature("<X0=2, X1=1, X2=1, X5=0>").without(("X0", "X2"))
    <X1=1, X5=0>
    """

    def __init__(self, literals: str | Mapping[str, State | Collection[State]]) -> None:
        pairs: Iterable[tuple[str, State | Collection[State]]]
        if isinstance(literals, str):
            parsed = parse_literals(literals)
            if negated := next((literal for literal in parsed if literal.negated), None):
                raise ParseError(
                    f"{write_literal(negated)} needs the values of {negated.variable!r}; "
                    "list those that are allowed, such as X0=0|2"
                )
            pairs = ((literal.variable, literal.states) for literal in parsed)
        else:
            pairs = literals.items()
        allowed = {}
        for name, values in pairs:
            several = isinstance(values, Collection) and not isinstance(values, str)
            labels = {label_of(v) for v in values} if several else {label_of(values)}  # type: ignore[union-attr]
            allowed[name] = tuple(sorted(labels, key=_by_number))
        self._allowed = {name: allowed[name] for name in sorted(allowed, key=_by_number)}

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._allowed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._allowed)

    def __len__(self) -> int:
        return len(self._allowed)

    def __hash__(self) -> int:
        return hash(tuple(self._allowed.items()))

    def __repr__(self) -> str:
        return f"<{', '.join(write_literal(Literal(*item)) for item in self.items())}>"

    def without(self, pair: Pair) -> Feature:
        """Return h^ij, the feature without its literals of a pair (section 2.2)."""
        return Feature({name: values for name, values in self.items() if name not in pair})


def _by_number(label: str) -> tuple[int, str]:
    """Sort X2 before X10."""
    return len(label), label


def features_of(model: ModelLike) -> list[Feature]:
    """Return the features of a model.

    >>> features_of("lung")[0]
    <smoker=yes>
    """
    return [Feature(feature) for feature in require_features(as_structure(model), "the paper")]


def domain_of(variables: Variables) -> Domain:
    """Return a domain, made from a mapping if necessary."""
    return variables if isinstance(variables, Domain) else Domain(variables)


def refuse_more(count: int, what: str) -> None:
    """Raise unless a set is small enough to be listed."""
    if count > MOST_SETS_LISTED:
        raise ContextwiseError(
            f"{what} has {count:,} elements, and at most {MOST_SETS_LISTED:,} are listed here; "
            "contextwise.compare counts without listing them"
        )


# -- conditions and unions -------------------------------------------------------------------------


def c1(f: Feature, pair: Pair) -> bool:
    """Condition C1 of Theorem 1: both variables are in the scope of f."""
    return pair[0] in f and pair[1] in f


def c2(f: Feature, g: Feature, pair: Pair | tuple[()] = ()) -> bool:
    """Condition C2 of Theorem 1: f and g have a common value at each variable outside the pair."""
    return all(set(f[k]) & set(g[k]) for k in f.keys() & g.keys() - set(pair))


def union(f: Feature, g: Feature) -> Feature | None:
    """Return f ∪ g (Definition 1), or None if the two are incompatible.

    >>> union(Feature("<X0=1, X2=0, X3=1>"), Feature("<X0=1, X1=0, X4=0>"))
    <X0=1, X1=0, X2=0, X3=1, X4=0>
    """
    if not c2(f, g):
        return None
    common = {k: set(f[k]) & set(g[k]) for k in f.keys() & g.keys()}
    return Feature({**f, **g, **common})


def union_over(features: Sequence[Feature], pair: Pair) -> Feature | None:
    """Return the union of features over (i, j) (Definition 2), or None if it does not exist.

    Any values of the pair will do; these are the first feature's.

    >>> f, g = Feature("<X0=1, X2=0, X3=1>"), Feature("<X0=0, X1=0, X2=1, X4=0>")
    >>> union_over([f, g], ("X0", "X2"))
    <X0=1, X1=0, X2=0, X3=1, X4=0>
    """
    if not features or not all(c1(f, pair) for f in features):
        return None
    result: Feature | None = features[0]
    for f in features[1:]:
        result = result and union(result, f.without(pair))
    return result


# -- context sets ----------------------------------------------------------------------------------


def context_set(
    features: Feature | Iterable[Feature], pair: Pair, domain: Variables
) -> set[Feature]:
    """Return X^ij: list the contexts in which a feature, or one of several, makes a pair depend.

    Definition 3 for a feature, Eq. 22 for a set of them. A context assigns every variable but the
    pair. The number of contexts is exponential; `cardinality` counts them by a product.

    >>> V = {"X0": 2, "X1": 2, "X2": 2, "X3": 2, "X4": 2, "X5": 3, "X6": 2}
    >>> h = Feature("<X0=0, X1=0, X3=1, X4=0, X6=1>")
    >>> contexts = context_set(h, ("X0", "X1"), V)
    >>> len(contexts), min(contexts, key=str)
    (6, <X2=0, X3=1, X4=0, X5=0, X6=1>)
    """
    known = domain_of(domain)
    contexts = set()
    for f in [features] if isinstance(features, Feature) else features:
        refuse_more(cardinality(f, pair, known), f"the context set of {f}")
        if c1(f, pair):
            rest = {k: f.get(k, all_values) for k, all_values in _others(pair, known)}
            contexts |= {
                Feature(dict(zip(rest, values, strict=True))) for values in product(*rest.values())
            }
    return contexts


def cardinality(f: Feature, pair: Pair, domain: Variables) -> int:
    """Return |X^ij(f)| by the product of Eq. 32, without listing a context.

    >>> cardinality(Feature("<X0=0, X1=0>"), ("X0", "X1"), {f"X{k}": 2 for k in range(12)})
    1024
    """
    if not c1(f, pair):
        return 0
    return prod(len(f.get(k, all_values)) for k, all_values in _others(pair, domain_of(domain)))


def _others(pair: Pair, domain: Domain) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the variables outside a pair with all their values."""
    for name in pair:
        domain.position(name)  # raises if it is unknown
    return ((k, v) for k, v in zip(domain.names, domain.states, strict=True) if k not in pair)


def intersection(f: Feature, g: Feature, pair: Pair) -> list[Feature]:
    """Return X^ij(f) ∩ X^ij(g) as a list of one feature or none (Lemma 3).

    >>> f, g = Feature("<X0=2, X1=1, X2=0, X5=0>"), Feature("<X0=0, X1=1, X2=0, X4=1>")
    >>> intersection(f, g, ("X0", "X1"))
    [<X0=2, X1=1, X2=0, X4=1, X5=0>]
    >>> intersection(Feature("<X1=1, X2=0, X5=0>"), g, ("X0", "X1"))
    []
    >>> intersection(Feature("<X0=2, X1=1, X2=1, X5=0>"), g, ("X0", "X1"))
    []
    """
    both = union_over([f, g], pair)
    return [] if both is None else [both]


def difference(f: Feature, g: Feature, pair: Pair, domain: Variables) -> list[Feature]:
    """Return X^ij(f) ∖ X^ij(g) as mutually exclusive features (Lemma 4).

    >>> V = {f"X{k}": 3 for k in range(6)}
    >>> f, g = Feature("<X0=2, X1=1, X2=0, X5=0>"), Feature("<X0=0, X1=1, X2=0, X3=0, X4=1>")
    >>> for d in difference(f, g, ("X0", "X1"), V):
    ...     print(d, cardinality(d, ("X0", "X1"), V))
    <X0=2, X1=1, X2=0, X3=1, X5=0> 3
    <X0=2, X1=1, X2=0, X3=2, X5=0> 3
    <X0=2, X1=1, X2=0, X3=0, X4=0, X5=0> 1
    <X0=2, X1=1, X2=0, X3=0, X4=2, X5=0> 1
    """
    if not c1(f, pair) or contains(g, f, pair):
        return []
    if not c1(g, pair) or not c2(f, g, pair):
        return [f]
    return d_e_fg(f, g, pair, domain)


def contains(g: Feature, f: Feature, pair: Pair) -> bool:
    """Return whether C1(g) holds and g^ij ⊆ f^ij: every literal of g outside the pair follows."""
    rest = g.without(pair)
    return c1(g, pair) and all(k in f and set(f[k]) <= set(rest[k]) for k in rest)


def d_e_fg(f: Feature, g: Feature, pair: Pair, domain: Variables) -> list[Feature]:
    """Return D^E_fg, mutually exclusive features for f without g where they overlap (Eqs. 48, 49).

    For each variable k of g, one feature per value that f allows and g forbids. It agrees with g at
    the variables before k and leaves those after k as f has them.
    """
    pieces, agreeing = [], dict(f)
    for k, all_values in _others(pair, domain_of(domain)):
        if k in g:
            allowed = f.get(k, all_values)
            pieces += [Feature({**agreeing, k: v}) for v in allowed if v not in g[k]]
            agreeing[k] = tuple(v for v in allowed if v in g[k])
    return pieces


def d_fg(f: Feature, g: Feature, pair: Pair, domain: Variables) -> list[Feature]:
    """Return D_fg (Eq. 62): every way to differ from g somewhere, with one value per variable.

    It has the contexts of `d_e_fg`, in exponentially many features.
    """
    allowed = {k: f.get(k, v) for k, v in _others(pair, domain_of(domain)) if k in g}
    return [
        Feature({**f, **dict(zip(allowed, values, strict=True))})
        for values in product(*allowed.values())
        if any(v not in g[k] for k, v in zip(allowed, values, strict=True))
    ]


def partition_model(features: Iterable[Feature], pair: Pair, domain: Variables) -> list[Feature]:
    """Return the partition model of some features: Algorithm 1, Definition 4.

    The features of the result share no context and have the contexts of ``features`` together. This
    is `contextwise.counting.partition`, also one of the engines of ``compare``.

    >>> H = [Feature("<X0=0, X1=0, X4=0>"), Feature("<X0=0, X1=0, X3=0>")]
    >>> P = partition_model(H, ("X0", "X1"), {"X0": 2, "X1": 2, "X3": 2, "X4": 2})
    >>> P
    [<X0=0, X1=0, X4=0>, <X0=0, X1=0, X3=0, X4=1>]
    """
    known = domain_of(domain)
    return disjoint_parts(
        (f for f in features if c1(f, pair)), lambda f, g: difference(f, g, pair, known)
    )
