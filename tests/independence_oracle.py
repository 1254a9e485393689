"""The definition of independence in plain Python, and what a joint table shows; for tests alone."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from contextwise.formats import ModelLike, as_structure
from contextwise.independence.queries import Statement, query
from contextwise.models.domain import Domain, State
from contextwise.models.structure import Structure

Table = npt.NDArray[np.float64]


def assignments_of(domain: Domain, names: Iterable[str]) -> Iterator[dict[str, str]]:
    """Every assignment of these variables."""
    chosen = list(names)
    states = [domain.states[domain.position(name)] for name in chosen]
    for values in product(*states):
        yield dict(zip(chosen, values, strict=True))


def connected(
    structure: Structure, first: Iterable[str], second: Iterable[str], assigned: Mapping[str, str]
) -> bool:
    """Return whether a path connects two sets in the graph instantiated by a context."""
    names, pairs = structure.domain.names, structure.features.pairs
    scopes = [
        set(feature if pairs is None else (names[v] for v in pairs[k])) - set(assigned)
        for k, feature in enumerate(structure)
        if all(assigned[v] in allowed for v, allowed in feature.items() if v in assigned)
    ]
    reached = set(first)
    for _ in structure.domain.names:
        for scope in scopes:
            if scope & reached:
                reached |= scope
    return bool(reached & set(second))


def independent(structure: Structure, statement: Statement) -> bool:
    """The definition: no assignment of the given variables connects the two sets."""
    return not any(
        connected(structure, statement.first, statement.second, {**statement.context, **chosen})
        for chosen in assignments_of(structure.domain, statement.given)
    )


def is_independent(
    model: ModelLike,
    first: str | Iterable[str],
    second: str | Iterable[str],
    *,
    given: str | Iterable[str] = (),
    context: Mapping[str, State] | str | None = None,
    time_limit: float | None = None,
) -> bool:
    """Ask `query` with names instead of a text."""
    structure = as_structure(model)
    domain = structure.domain
    fixed = {domain.names[v]: domain.states[v][s] for v, s in domain.assignment(context).items()}
    sides = [(x,) if isinstance(x, str) else tuple(x) for x in (first, second, given)]
    statement = Statement(sides[0], sides[1], sides[2], fixed)
    return bool(query(structure, statement, time_limit=time_limit))


def random_table(structure: Structure, rng: np.random.Generator) -> Table:
    """A joint distribution with these features and random weights."""
    domain = structure.domain
    log = np.zeros(domain.cardinalities)
    for feature in structure:
        weight = rng.normal() + rng.choice([-1, 1])
        holds = np.ones((), dtype=bool)
        for name, own in zip(domain.names, domain.states, strict=True):
            allowed = np.array([state in feature.get(name, own) for state in own])
            holds = np.multiply.outer(holds, allowed)
        log += weight * holds
    table: Table = np.exp(log - np.log(np.exp(log).sum()))
    return table


def dependence(table: Table, domain: Domain, statement: Statement) -> float:
    """The largest gap between a joint and the product of its margins, over all given values."""
    largest = 0.0
    for chosen in assignments_of(domain, statement.given):
        fixed = domain.assignment({**statement.context, **chosen})
        slice_ = table[tuple(fixed.get(v, slice(None)) for v in range(len(domain)))]
        left = [name for name in domain.names if domain.position(name) not in fixed]
        others = [name for name in left if name not in statement.first + statement.second]
        slice_ = slice_.sum(axis=tuple(left.index(name) for name in others))
        left = [name for name in left if name not in others]
        axes = [left.index(name) for name in statement.first + statement.second]
        width = np.prod([len(domain.states[domain.position(n)]) for n in statement.first])
        joint = np.transpose(slice_, axes).reshape(int(width), -1)
        joint = joint / joint.sum()
        gap = np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).max()
        largest = max(largest, float(gap))
    return largest


@st.composite
def statements(draw: st.DrawFn, domain: Domain) -> Statement:
    """Any query over a domain of two variables or more; every variable has one role."""
    names = draw(st.permutations(domain.names))
    roles = draw(st.lists(st.sampled_from("ABWU."), min_size=len(names), max_size=len(names)))
    roles[:2] = "AB"
    chosen = {
        role: tuple(n for n, r in zip(names, roles, strict=True) if r == role) for role in "ABWU"
    }
    context = {
        name: draw(st.sampled_from(domain.states[domain.position(name)])) for name in chosen["U"]
    }
    return Statement(chosen["A"], chosen["B"], chosen["W"], context)
