"""Random models for property tests, and the definition itself as an oracle.

For us and for whoever builds on this package (``pip install contextwise[testing]``). The strategies
of `hypothesis` draw small things full of corners: variables with one state or seventy, names made
of signs, features without literals, models without features, variables that no feature tests::

    @given(families(2))
    def test_symmetry(models):
        a, b = models
        assert distance(a, b) == distance(b, a)

`brute_force` is the definition of the confusion matrix in plain Python: it visits every context of
every pair and shares no code with any engine. `inclusion_exclusion` does the same service for a
`Cover` of few cubes, however wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from math import prod

from contextwise.comparison.confusion import Confusion
from contextwise.comparison.pairs import Pair
from contextwise.counting.cover import Cover, cover_of
from contextwise.errors import require
from contextwise.models.domain import Domain
from contextwise.models.features import members
from contextwise.models.structure import LogLinear, Structure

require("hypothesis", "testing")
from hypothesis import strategies as st  # noqa: E402 (a missing extra is told in one line)

__all__ = [
    "assignments",
    "brute_force",
    "brute_force_pairs",
    "contexts_of",
    "covers",
    "depends",
    "domains",
    "families",
    "features",
    "inclusion_exclusion",
    "log_linear_models",
    "names",
    "rows",
    "states",
    "structures",
    "value_sets",
]

# -- the definition ----------------------------------------------------------------------------


def depends(structure: Structure, pair: Pair, context: Mapping[str, str]) -> bool:
    """Whether the pair depends in a context.

    It does if some feature has both variables in its scope and agrees with the context wherever the
    context speaks.

    Parameters
    ----------
    structure : Structure
    pair : names of two variables
    context : the states of the other variables

    Returns
    -------
    bool

    Examples
    --------
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=0"])
    >>> depends(model, ("A", "B"), {"C": "0"}), depends(model, ("A", "B"), {"C": "1"})
    (True, False)
    """
    return any(
        feature.keys() >= set(pair)
        and all(context[v] in allowed for v, allowed in feature.items() if v in context)
        for feature in structure
    )


def contexts_of(domain: Domain, pair: Pair, *, canonical: bool = False) -> Iterator[dict[str, str]]:
    """Every context of a pair: every assignment of the other variables, or of all of them.

    Parameters
    ----------
    domain : Domain
    pair : two names
    canonical : whether a context assigns the pair's variables too

    Yields
    ------
    dict from names to states

    Examples
    --------
    >>> list(contexts_of(Domain({"A": 2, "B": 2, "C": 2}), ("A", "B")))
    [{'C': '0'}, {'C': '1'}]
    """
    states = dict(zip(domain.names, domain.states, strict=True))
    names = [name for name in domain.names if canonical or name not in pair]
    for chosen in product(*(states[name] for name in names)):
        yield dict(zip(names, chosen, strict=True))


def brute_force_pairs(
    true: Structure, guess: Structure, *, contexts: str = "fully-contextualized"
) -> dict[Pair, Confusion]:
    """The confusion matrix of every pair of variables, by visiting every context.

    Cost: pairs times contexts times features.

    Parameters
    ----------
    true, guess : structures over one domain
    contexts : "fully-contextualized" or "canonical"

    Returns
    -------
    dict from pairs of names to Confusion

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> true, guess = Structure(domain, ["A=1 & B=1"]), Structure(domain, ["A=1 & B=1 & C=1"])
    >>> brute_force_pairs(true, guess)["A", "B"]
    Confusion(tp=1, fn=1, fp=0, tn=0)
    """
    matrices = {}
    for pair in combinations(true.domain.names, 2):
        tally = {(t, g): 0 for t in (True, False) for g in (True, False)}
        for context in contexts_of(true.domain, pair, canonical=contexts == "canonical"):
            tally[depends(true, pair, context), depends(guess, pair, context)] += 1
        matrices[pair] = Confusion(
            tp=tally[True, True],
            fn=tally[True, False],
            fp=tally[False, True],
            tn=tally[False, False],
        )
    return matrices


def brute_force(
    true: Structure, guess: Structure, *, contexts: str = "fully-contextualized"
) -> Confusion:
    """The confusion matrix over all pairs, by visiting every context.

    Parameters
    ----------
    true, guess : structures over one domain
    contexts : "fully-contextualized" or "canonical"

    Returns
    -------
    Confusion

    Examples
    --------
    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> brute_force(true, guess)
    Confusion(tp=2, fn=1, fp=2, tn=1)
    """
    matrices = brute_force_pairs(true, guess, contexts=contexts).values()
    return sum(matrices, start=Confusion(0, 0, 0, 0))


def inclusion_exclusion(cover: Cover) -> int:
    """The size of a union of cubes, by inclusion and exclusion. Cost: 2 to the number of cubes.

    Parameters
    ----------
    cover : Cover
        Of few cubes.

    Returns
    -------
    int

    Examples
    --------
    >>> inclusion_exclusion(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    size = 0
    for number in range(1, len(cover.cubes) + 1):
        for chosen in combinations(cover.cubes, number):
            size -= (-1) ** number * _size_of_meet(cover, chosen)
    return size * cover.scale


def _size_of_meet(cover: Cover, cubes: tuple[int, ...]) -> int:
    meet = (1 << len(cover.bit_weights)) - 1
    for cube in cubes:
        meet &= cube
    return prod(
        sum(cover.bit_weights[bit] for bit in members(meet & field)) for field in cover.fields
    )


# -- strategies ----------------------------------------------------------------------------------

NAMES = (
    *("A", "B", "age", "very old", "0", "1", "", " ", " padded ", "two  blanks", "a\nb", "é", "_"),
    *("a=b", "a!=b", "≠", "!", "x|y", "a & b"),
    *["a,b", "<f>", '"', "'", "\\", '\\"', "#", "%d", "{}"],
)
"""Names of variables and states: plain ones, and every sign that needs quotes somewhere."""


def names() -> st.SearchStrategy[str]:
    """Names of variables and states, odd ones among them."""
    return st.sampled_from(NAMES)


@cache
def states(max_states: int = 4) -> st.SearchStrategy[list[str] | int]:
    """The states of one variable, one at least: labels, or just their number.

    Parameters
    ----------
    max_states : int
        How many states a variable has at most.
    """
    labels = st.lists(names(), min_size=1, max_size=min(max_states, 6), unique=True)
    return st.integers(1, max_states) | labels


@st.composite
def domains(
    draw: st.DrawFn, *, min_variables: int = 0, max_variables: int = 4, max_states: int = 4
) -> Domain:
    """Domains of mixed cardinalities, cardinality 1 and no variable at all included.

    Parameters
    ----------
    min_variables, max_variables : how many variables
    max_states : how many states a variable has at most
    """
    chosen = draw(st.lists(names(), min_size=min_variables, max_size=max_variables, unique=True))
    return Domain({name: draw(states(max_states)) for name in chosen})


@cache
def value_sets(cardinality: int) -> st.SearchStrategy[int]:
    """Non-empty sets of values as bits: one value, all but one, any set, everything.

    Parameters
    ----------
    cardinality : int
        How many states the variable has.
    """
    everything = (1 << cardinality) - 1
    one = st.integers(0, cardinality - 1).map(lambda k: 1 << k)
    all_but_one = one.map(lambda value: everything ^ value or everything)
    return one | all_but_one | st.integers(1, everything)


@cache
def _subsets(size: int) -> st.SearchStrategy[list[int]]:
    """Subsets of range(size); drawn as bits, which is quick."""
    return st.integers(0, (1 << size) - 1).map(members)


@st.composite
def features(draw: st.DrawFn, domain: Domain) -> dict[str, list[str]]:
    """One feature as people write it: from the empty conjunction to one that tests everything.

    Parameters
    ----------
    domain : Domain
    """
    literals = {}
    for variable in draw(_subsets(len(domain))):
        allowed = draw(value_sets(domain.cardinalities[variable]))
        literals[domain.names[variable]] = [domain.states[variable][k] for k in members(allowed)]
    return literals


@st.composite
def structures(
    draw: st.DrawFn,
    domain: Domain | st.SearchStrategy[Domain] | None = None,
    *,
    max_features: int = 6,
) -> Structure:
    """Structures over a domain (one that is given, or one from a strategy), the empty included.

    Parameters
    ----------
    domain : one that is given, a strategy for one, or None for any
    max_features : how many features a structure has at most
    """
    over = domain if isinstance(domain, Domain) else draw(domains() if domain is None else domain)
    return Structure(over, draw(st.lists(features(over), max_size=max_features)))


@st.composite
def families(
    draw: st.DrawFn,
    count: int = 2,
    domain: Domain | st.SearchStrategy[Domain] | None = None,
    *,
    max_features: int = 6,
) -> tuple[Structure, ...]:
    """So many structures over one domain.

    Parameters
    ----------
    count : how many structures
    domain : one that is given, a strategy for one, or None for any
    max_features : how many features each has at most
    """
    over = domain if isinstance(domain, Domain) else draw(domains() if domain is None else domain)
    return tuple(draw(structures(over, max_features=max_features)) for _ in range(count))


@st.composite
def log_linear_models(
    draw: st.DrawFn,
    domain: Domain | st.SearchStrategy[Domain] | None = None,
    *,
    max_features: int = 6,
    largest_weight: float = 3.0,
) -> LogLinear:
    """Structures with weights, 0 among them.

    Parameters
    ----------
    domain : one that is given, a strategy for one, or None for any
    max_features : how many features the structure has at most
    largest_weight : in either direction
    """
    structure = draw(structures(domain, max_features=max_features))
    weight = st.floats(-largest_weight, largest_weight)
    return LogLinear(structure, [draw(weight) for _ in range(len(structure))])


@st.composite
def assignments(draw: st.DrawFn, domain: Domain) -> dict[str, str]:
    """Partial assignments of a domain: a context to restrict a model to.

    Parameters
    ----------
    domain : Domain
    """
    chosen = {}
    for variable in draw(_subsets(len(domain))):
        chosen[domain.names[variable]] = draw(st.sampled_from(domain.states[variable]))
    return chosen


def rows(domain: Domain, *, max_rows: int = 8) -> st.SearchStrategy[list[tuple[str, ...]]]:
    """Observed rows: a label for each variable, in order.

    Parameters
    ----------
    domain : Domain
    max_rows : int
        How many rows there are at most.
    """
    return st.lists(st.tuples(*map(st.sampled_from, domain.states)), max_size=max_rows)


@cache
def _few(size: int, most: int) -> st.SearchStrategy[set[int]]:
    """Small subsets of range(size)."""
    return st.sets(st.integers(0, size - 1), max_size=most) if size else st.just(set())


@st.composite
def covers(
    draw: st.DrawFn,
    *,
    max_variables: int = 5,
    max_states: int = 4,
    max_cubes: int = 6,
    max_tests: int = 4,
) -> Cover:
    """Covers of few cubes, each of which tests few variables.

    ``covers(max_variables=70, max_states=70)`` draws wide ones: their bits fill several words.

    Parameters
    ----------
    max_variables, max_states : how large the space is
    max_cubes : how many cubes there are
    max_tests : how many variables a cube tests
    """
    cardinalities = draw(st.lists(st.integers(1, max_states), max_size=max_variables))
    cubes = []
    for _ in range(draw(st.integers(0, max_cubes))):
        tested = draw(_few(len(cardinalities), max_tests))
        cubes.append([(v, draw(value_sets(cardinalities[v]))) for v in tested])
    return cover_of(cardinalities, cubes)
