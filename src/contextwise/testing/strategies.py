"""Strategies of hypothesis that draw domains, structures, models, rows and covers."""

from __future__ import annotations

from functools import cache
from itertools import combinations

from contextwise.errors import require
from contextwise.models.claims import Claims
from contextwise.models.domain import Domain
from contextwise.models.features import members
from contextwise.models.structure import LogLinear, Structure

require("hypothesis", "testing")
from hypothesis import strategies as st  # noqa: E402 (require explains how to install it)

NAMES = (
    *("A", "B", "age", "very old", "0", "1", "", " ", " padded ", "two  blanks", "a\nb", "é", "_"),
    *("a=b", "a!=b", "≠", "!", "x|y", "a & b"),
    *["a,b", "<f>", '"', "'", "\\", '\\"', "#", "%d", "{}"],
)
"""Names of variables and states, with every character that needs quotes somewhere."""


def names() -> st.SearchStrategy[str]:
    """Draw names of variables and states, odd ones included."""
    return st.sampled_from(NAMES)


@cache
def states(max_states: int = 4) -> st.SearchStrategy[list[str] | int]:
    """Draw the states of one variable: labels, or their number."""
    labels = st.lists(names(), min_size=1, max_size=min(max_states, 6), unique=True)
    return st.integers(1, max_states) | labels


@st.composite
def domains(
    draw: st.DrawFn, *, min_variables: int = 0, max_variables: int = 4, max_states: int = 4
) -> Domain:
    """Draw domains of mixed cardinalities, also with single states or without variables."""
    chosen = draw(st.lists(names(), min_size=min_variables, max_size=max_variables, unique=True))
    return Domain({name: draw(states(max_states)) for name in chosen})


@cache
def value_sets(cardinality: int) -> st.SearchStrategy[int]:
    """Draw non-empty bit sets of values: one value, all but one, any set, everything."""
    everything = (1 << cardinality) - 1
    single = st.integers(0, cardinality - 1).map(lambda k: 1 << k)
    all_but_one = single.map(lambda value: everything ^ value or everything)
    return single | all_but_one | st.integers(1, everything)


@cache
def _subsets(size: int) -> st.SearchStrategy[list[int]]:
    """Draw subsets of range(size); as bits, which is fast."""
    return st.integers(0, (1 << size) - 1).map(members)


@st.composite
def features(draw: st.DrawFn, domain: Domain) -> dict[str, list[str]]:
    """Draw one feature as a mapping, from the empty one to one that tests all variables."""
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
    """Draw structures over a domain, or over one from a strategy, the empty one included."""
    over = domain if isinstance(domain, Domain) else draw(domains() if domain is None else domain)
    return Structure(over, draw(st.lists(features(over), max_size=max_features)))


@st.composite
def claims(
    draw: st.DrawFn,
    domain: Domain | st.SearchStrategy[Domain] | None = None,
    *,
    max_regions: int = 6,
) -> Claims:
    """Draw models given by their claims, with regions of one or several cubes."""
    over = domain if isinstance(domain, Domain) else draw(domains() if domain is None else domain)
    able = [v for v, cardinality in enumerate(over.cardinalities) if cardinality > 1]
    pairs = list(combinations(able, 2))
    regions: dict[tuple[str, str], list[dict[str, list[str]]]] = {}
    for _ in range(draw(st.integers(0, max_regions)) if pairs else 0):
        pair = draw(st.sampled_from(pairs))
        cube = draw(features(over))
        first, second = (over.names[v] for v in pair)
        cube = {name: states for name, states in cube.items() if name not in (first, second)}
        regions.setdefault((first, second), []).append(cube)
    return Claims(over, regions)


@st.composite
def families(
    draw: st.DrawFn,
    count: int = 2,
    domain: Domain | st.SearchStrategy[Domain] | None = None,
    *,
    max_features: int = 6,
    with_claims: bool = False,
) -> tuple[Structure, ...]:
    """Draw ``count`` structures over one domain, some of them `Claims` if asked."""
    over = domain if isinstance(domain, Domain) else draw(domains() if domain is None else domain)
    model: st.SearchStrategy[Structure] = structures(over, max_features=max_features)
    if with_claims:
        model |= claims(over, max_regions=max_features)
    return tuple(draw(model) for _ in range(count))


@st.composite
def log_linear_models(
    draw: st.DrawFn,
    domain: Domain | st.SearchStrategy[Domain] | None = None,
    *,
    max_features: int = 6,
) -> LogLinear:
    """Draw structures with weights, 0 included."""
    structure = draw(structures(domain, max_features=max_features))
    weight = st.floats(-3.0, 3.0)
    return LogLinear(structure, [draw(weight) for _ in range(len(structure))])


@st.composite
def assignments(draw: st.DrawFn, domain: Domain) -> dict[str, str]:
    """Draw partial assignments of a domain."""
    chosen = {}
    for variable in draw(_subsets(len(domain))):
        chosen[domain.names[variable]] = draw(st.sampled_from(domain.states[variable]))
    return chosen


def rows(domain: Domain, *, max_rows: int = 8) -> st.SearchStrategy[list[tuple[str, ...]]]:
    """Draw rows of labels."""
    return st.lists(st.tuples(*map(st.sampled_from, domain.states)), max_size=max_rows)
