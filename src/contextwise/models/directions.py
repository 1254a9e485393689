"""`Directions`, the arcs and tables of a Bayesian network, kept next to the features of its model.

A model with directions has ``model.directions``; that of any other model is None. Renaming,
reordering, aligning and the native JSON format keep them. Restricting, uniting and other edits drop
them, because the result is not the same network. ``==`` of models ignores them.

To make the model of a network, call `bayesian_network`; in a reader of a file, call
`contextwise.formats.reading.model_of_network`, which takes the same arguments and adds the file to
messages and to ``info``. Both check everything: do not check for cycles, shapes or sums before.

>>> domain = Domain({"rain": ["no", "yes"], "wet": ["no", "yes"]})
>>> model = bayesian_network(domain, [(), (0,)], [[0.8, 0.2], [[0.9, 0.1], [0.3, 0.7]]])
>>> model.directions
Directions(2 variables, 1 arc, 2 tables)
>>> len(bayesian_network(domain, [(), (0,)]))  # arcs without tables: a Structure of 4 features
4
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

import numpy as np
import numpy.typing as npt

from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, log_linear
from contextwise.models.factors import tables as cells
from contextwise.models.features import PairIndex
from contextwise.models.structure import Alignment, LogLinear, Model, Structure
from contextwise.support.arrays import FloatArray
from contextwise.support.formatting import plural

Parents = Sequence[Sequence[int]]
"""The parents of each variable, as positions, in the order of the axes of its table."""
Tables = Sequence[npt.ArrayLike | None]
"""P(v | parents) of each variable: one axis per parent, in their order, and v last."""

ROUNDING_OF_A_ROW = 0.02
"""The largest distance from 1 of the sum of a row: files have rounded digits."""
EQUAL_SUMS = 1e-9
"""A row whose sum is this close to 1 is not rescaled."""


class TableError(DomainError):
    """A table that does not fit its variable and parents; ``child`` is the variable's position."""

    def __init__(self, message: str, child: int) -> None:
        super().__init__(message)
        self.child = child

    def __reduce__(self) -> tuple[object, ...]:
        return TableError, (str(self), self.child)


@dataclass(frozen=True, eq=False, repr=False)
class Directions:
    """The parents of each variable of a Bayesian network, and its tables where they are known.

    `directions_of` makes and checks one.
    """

    parents: tuple[tuple[int, ...], ...]
    #: P(v | parents) of each variable, read-only: one axis per parent, in their order, and v last;
    #: None if the table is not known
    tables: tuple[FloatArray | None, ...]
    #: arcs whose direction is not known, because the graph is partly directed; the parents are then
    #: one DAG of its equivalence class, and all its DAGs have the same d-separations
    undirected: frozenset[PairIndex] = frozenset()
    #: pairs with a hidden common cause (``A <-> B``)
    confounded: frozenset[PairIndex] = frozenset()

    def __repr__(self) -> str:
        known = sum(table is not None for table in self.tables)
        counts = (len(self.parents), "variable"), (len(self.arcs), "arc"), (known, "table")
        return f"Directions({', '.join(plural(*count) for count in counts)})"

    @cached_property
    def arcs(self) -> list[PairIndex]:
        """The arcs as (parent, child), ordered by child."""
        return [(p, child) for child, parents in enumerate(self.parents) for p in parents]

    @cached_property
    def with_hidden(self) -> Parents:
        """The parents, and after them a hidden variable without parents per confounded pair."""
        parents = [list(above) for above in self.parents]
        for hidden, pair in enumerate(sorted(self.confounded), len(parents)):
            for variable in pair:
                parents[variable].append(hidden)
        return [*parents, *([] for _ in self.confounded)]

    def observed(self, kept: Sequence[int]) -> Directions:
        """Return the graph of these variables if the others are hidden: the latent projection.

        It has the same d-separations among them (Verma and Pearl).

        >>> around = directions_of(Domain({"A": 2, "U": 2, "B": 2, "C": 2}), [(1,), (), (1,), (2,)])
        >>> around.observed([0, 2, 3]).parents, set(around.observed([0, 2, 3]).confounded)
        (((), (), (1,)), {(0, 1)})
        """
        if list(kept) == list(range(len(self.parents))):
            return self
        parents, place = self.with_hidden, {variable: k for k, variable in enumerate(kept)}
        arcs: list[tuple[int, ...]] = []
        causes: list[set[int]] = []
        for child in kept:
            above, hidden, waiting = set(), set[int](), [child]
            while waiting:
                for parent in parents[waiting.pop()]:
                    if parent in place:
                        above.add(place[parent])
                    elif parent not in hidden:
                        hidden.add(parent)
                        waiting.append(parent)
            arcs.append(tuple(sorted(above)))
            causes.append(hidden)
        pairs = combinations(range(len(kept)), 2)
        confounded = frozenset((i, j) for i, j in pairs if causes[i] & causes[j])
        return Directions(tuple(arcs), (None,) * len(kept), confounded=confounded)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order: parents come before their children."""
        return tuple(TopologicalSorter(dict(enumerate(self.parents))).static_order())

    @cached_property
    def compelled(self) -> frozenset[PairIndex]:
        """The arcs that have the same direction in all DAGs with these d-separations.

        The others are the undirected edges of the CPDAG, the equivalence class (Chickering 1995).
        """
        place = {variable: k for k, variable in enumerate(self.order)}
        compelled: set[PairIndex] = set()
        for child in self.order:
            above = set(self.parents[child])
            if not above:
                continue
            last = max(above, key=place.__getitem__)
            before = {w for w in self.parents[last] if (w, last) in compelled}
            if before - above or above - {last} - set(self.parents[last]):
                compelled |= {(p, child) for p in above}
            else:  # the other arcs of this child can be reversed
                compelled |= {(w, child) for w in before}
        return frozenset(compelled)

    def aligned(self, over: Alignment) -> Directions:
        """Move variables and states to the target of an alignment."""
        parents: list[tuple[int, ...]] = [()] * len(self.parents)
        tables: list[FloatArray | None] = [None] * len(self.parents)
        for child, (above, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            place = over.variables[child]
            parents[place] = tuple(over.variables[p] for p in above)
            if table is not None:
                # The alignment maps old to new places; sorting inverts that.
                states = (np.argsort(over.states[v]) for v in (*above, child))
                tables[place] = _read_only(table[np.ix_(*states)])
        undirected = {(over.variables[p], over.variables[c]) for p, c in self.undirected}
        moved = (sorted((over.variables[a], over.variables[b])) for a, b in self.confounded)
        confounded = frozenset((a, b) for a, b in moved)
        return Directions(tuple(parents), tuple(tables), frozenset(undirected), confounded)

    def scopes(self) -> list[tuple[int, ...]]:
        """Return the scopes of the features of the network.

        These are the families, or without any table the pairs of the moral graph.
        """
        if all(table is None for table in self.tables):
            return list(moral_pairs(self.parents, self.confounded))
        return [(*above, child) for child, above in enumerate(self.parents)]

    def logs(self) -> list[FloatArray] | None:
        """Return the logs of the tables, or None if one is not known."""
        with np.errstate(divide="ignore"):
            logs = [np.log(table) for table in self.tables if table is not None]
        return logs if len(logs) == len(self.tables) else None


def bayesian_network(
    domain: Domain,
    parents: Parents,
    tables: Tables | None = None,
    *,
    undirected: Iterable[PairIndex] = (),
) -> Model:
    """Make the model of a Bayesian network, with its directions.

    Each cell of a table is a feature, with the log of its probability as the weight. Without any
    tables, each pair of adjacent variables and each pair of parents of one child has a table of
    features: the claims are the same.

    ``parents`` has the positions of the parents of each variable; ``tables`` has P(v | parents),
    one axis per parent, in their order, and v last. Rows whose sum is off by rounding are rescaled.
    None, or an array with NaN, is a table that is not known: then the result is a `Structure`
    without weights. ``undirected`` has the edges without a direction of a partly directed graph,
    such as a CPDAG, whose ``parents`` has only the arcs; it has no tables.

    Raises `DomainError` if the arcs have a cycle, or no DAG without further colliders has the
    undirected edges, and `TableError` for a table that does not fit or a row whose sum is not 1.

    >>> domain = Domain({"A": 2, "B": 2})
    >>> bayesian_network(domain, [(1,), (0,)])
    Traceback (most recent call last):
    contextwise.errors.DomainError: the network has a cycle: A -> B -> A
    >>> bayesian_network(domain, [(), (0,)], [[0.5, 0.5], [0.1, 0.9]])
    Traceback (most recent call last):
    contextwise.models.directions.TableError: the probability of 'B' needs 2 x 2 numbers, got 2
    """
    directions = directions_of(domain, parents, tables, undirected)
    scopes, logs = directions.scopes(), directions.logs()
    if logs is None:
        features = cells(domain, scopes).features
        return Structure(domain, features, directions=directions)
    model = log_linear(domain, list(map(Factor, scopes, logs)))
    features = model.structure.features
    return LogLinear(Structure(domain, features, directions=directions), model.weights)


def directions_of(
    domain: Domain,
    parents: Parents,
    tables: Tables | None = None,
    undirected: Iterable[PairIndex] = (),
) -> Directions:
    """Check the arcs and tables of a network; the arguments are those of `bayesian_network`."""
    tables_of = [None] * len(domain) if tables is None else tables
    if len(parents) != len(domain) or len(tables_of) != len(domain):
        raise DomainError(
            f"a network of {plural(len(domain), 'variable')} needs one list of parents and one "
            f"table (or None) for each, got {len(parents)} and {len(tables_of)}"
        )
    families = tuple(tuple(map(int, above)) for above in parents)
    for child, above in enumerate(families):
        if len(set(above)) < len(above) or not all(0 <= p < len(domain) for p in above):
            raise DomainError(f"the parents of {domain.names[child]!r} are {list(above)}")
    check_acyclic(dict(enumerate(families)), domain.names)
    edges = frozenset((min(edge), max(edge)) for edge in undirected)
    if edges:
        assert tables is None, "a partly directed graph has no tables"
        for a, b in edges:
            if a in families[b] or b in families[a] or a == b:
                first, second = domain.names[a], domain.names[b]
                raise DomainError(f"{first!r} and {second!r} have an arc and an undirected edge")
        extended = _extended(families, edges)
        if extended is None:
            raise DomainError(
                "this partly directed graph stands for no DAG: its undirected edges cannot all be "
                "directed without a cycle or a new collider"
            )
        arcs = {(p, child) for child, above in enumerate(extended) for p in above}
        unknown = frozenset((a, b) for a, b in arcs if (min(a, b), max(a, b)) in edges)
        return Directions(extended, (None,) * len(domain), unknown)
    checked = (
        None if table is None else _conditional(domain, child, families[child], table)
        for child, table in enumerate(tables_of)
    )
    return Directions(families, tuple(checked))


def check_acyclic(parents: Mapping[int, Iterable[int]], names: Sequence[str]) -> None:
    """Raise `DomainError` with a cycle of the arcs, if there is one."""
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        cycle = [names[v] for v in error.args[1]]
        way = [*cycle[:5], "…", cycle[-1]] if len(cycle) > 7 else cycle
        raise DomainError(f"the network has a cycle: {' -> '.join(way)}") from None


def _extended(
    parents: Sequence[Sequence[int]], edges: Iterable[PairIndex]
) -> tuple[tuple[int, ...], ...] | None:
    """Direct all undirected edges without a cycle or a new collider (Dor and Tarsi 1992).

    Take a variable without children whose undirected neighbours are adjacent to all its other
    neighbours, direct its undirected edges at it, remove it, and repeat. None if none is left.
    """
    above = [set(p) for p in parents]
    below: list[set[int]] = [set() for _ in parents]
    beside: list[set[int]] = [set() for _ in parents]
    for child, some in enumerate(above):
        for parent in some:
            below[parent].add(child)
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    result = [list(p) for p in parents]
    left = set(range(len(parents)))
    while left:
        for sink in sorted(left, reverse=True):
            near = above[sink] | beside[sink]
            if not below[sink] and all(
                near - {y} <= above[y] | below[y] | beside[y] for y in beside[sink]
            ):
                break
        else:
            return None
        result[sink] += sorted(beside[sink])
        for y in near:
            below[y].discard(sink)
            beside[y].discard(sink)
        left.remove(sink)
    return tuple(map(tuple, result))


def moral_pairs(
    parents: Sequence[Sequence[int]], confounded: Iterable[PairIndex] = ()
) -> list[PairIndex]:
    """Return the edges of the moral graph: arcs, and pairs of parents of one child.

    Children that hidden causes connect count as one child.
    """
    district = list(range(len(parents)))
    for a, b in confounded:
        old, new = district[a], district[b]
        district = [new if d == old else d for d in district]
    families: dict[int, set[int]] = {}
    for child, above in enumerate(parents):
        families.setdefault(district[child], set()).update((*above, child))
    return sorted(
        {pair for family in families.values() for pair in combinations(sorted(family), 2)}
    )


def marginal_pairs(edges: Iterable[Sequence[int]], kept: Sequence[int]) -> list[PairIndex]:
    """Return the edges among some nodes of an undirected graph if the others are hidden.

    Nodes that a way through hidden ones connects get an edge.

    >>> marginal_pairs([(0, 1), (1, 2), (2, 3)], [0, 2, 3])
    [(0, 1), (1, 2)]
    """
    left = {frozenset(edge) for edge in edges}
    for hidden in {v for edge in left for v in edge}.difference(kept):
        around = {v for edge in left if hidden in edge for v in edge} - {hidden}
        left = {edge for edge in left if hidden not in edge}
        left |= {frozenset(pair) for pair in combinations(around, 2)}
    place = {variable: k for k, variable in enumerate(kept)}
    ends = (sorted(place[v] for v in edge) for edge in left)
    return sorted((a, b) for a, b in ends)


def graph_over(graph: Structure, domain: Domain) -> Structure:
    """Give a graph without states those of a domain; variables that are not there become hidden.

    >>> arcs = bayesian_network(Domain({"smoke": 2, "U": 2, "low": 2}), [(1,), (), (0, 1)])
    >>> graph_over(arcs, Domain({"smoke": ["no", "yes"], "low": ["no", "yes"]})).directions.arcs
    [(0, 1)]
    """
    kept = [graph.domain.position(name) for name in domain.names]
    directions = graph.directions and graph.directions.observed(kept)
    if directions is None:
        scopes: list[PairIndex] = marginal_pairs(graph.features.scopes(), kept)
        features = cells(domain, scopes).features
    else:
        features = cells(domain, directions.scopes()).features
    origin = replace(graph.origin, unknown_states=False)
    return Structure(domain, features, origin=origin, directions=directions)


def _conditional(
    domain: Domain, child: int, parents: Sequence[int], values: npt.ArrayLike
) -> FloatArray | None:
    """Check a table and rescale its rows; return None if it has NaN."""
    table = np.asarray(values, dtype=np.float64)
    shape = tuple(domain.cardinalities[v] for v in (*parents, child))
    owner = f"the probability of {domain.names[child]!r}"
    if table.shape != shape:
        wanted, got = (" x ".join(map(str, sizes)) for sizes in (shape, table.shape))
        raise TableError(f"{owner} needs {wanted} numbers, got {got}", child)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = table.sum(axis=-1, keepdims=True)
    distance = np.abs(sums - 1)
    if (table < 0).any():
        raise TableError(f"{owner} has a negative number, {table.min():g}", child)
    if (distance > ROUNDING_OF_A_ROW).any():
        bad = float(sums.flat[int(np.nanargmax(distance))])
        raise TableError(f"a row of {owner} has the sum {bad:g}, not 1", child)
    if np.isnan(sums).any():
        return None
    if (distance > EQUAL_SUMS).any():
        # Rows that already add up to 1 keep their digits.
        table = np.where(distance > EQUAL_SUMS, table / sums, table)
    return _read_only(table)


def _read_only(table: FloatArray) -> FloatArray:
    table = np.array(table)
    table.setflags(write=False)
    return table
