"""Convert the models of other packages: networks, learned graphs, Ising models.

Each cell of a table becomes a feature and the log of its number the weight. In the ``.structure``
the variables of a table depend on each other in every context; `contextwise.convert.by_values`
finds the independencies in the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from contextwise.convert.from_claims import DomainLike, converter, domain_of
from contextwise.convert.undirected import from_graph
from contextwise.data.rows import infer_domain
from contextwise.errors import DomainError
from contextwise.formats import as_model
from contextwise.formats.graphs import is_pyagrum_graph, pyagrum_edges
from contextwise.models.directions import bayesian_network, moral_pairs
from contextwise.models.domain import Domain, listed
from contextwise.models.factors import Factor, log_linear
from contextwise.models.factors import tables as cells
from contextwise.models.origin import Origin
from contextwise.models.structure import LogLinear, Model, Structure, structure_of


def from_pgmpy(network: Any, domain: Any = None) -> Any:
    """Convert a pgmpy network to a model, or a graph that pgmpy learned to a structure.

    Parameters
    ----------
    network : DiscreteBayesianNetwork, DiscreteMarkovNetwork, DAG or PDAG
        Names and states become strings. All DAGs that a PDAG represents have the same structure.
    domain : Domain, a mapping that makes one, or data; optional
        The variables and states of a graph without tables. Data, such as the DataFrame that the
        graph was learned from, is also accepted.

    Returns
    -------
    LogLinear of the tables; with a domain, the Structure of the graph

    Examples
    --------
    >>> import networkx
    >>> learned = networkx.DiGraph([("A", "B")])  # what a DAG of pgmpy is
    >>> from_pgmpy(learned, domain={"A": 2, "B": 2, "C": 2}).pairs()
    [('A', 'B')]
    """
    if domain is not None and is_pyagrum_graph(network):
        return from_pyagrum(network, domain)
    if not hasattr(network, "is_directed"):
        raise DomainError(f"expected a pgmpy network, got {type(network).__name__}")
    if domain is not None:
        domain = _domain_of_data(domain)
        if not network.is_directed():
            return from_graph(network, domain)
        if hasattr(network, "directed_edges"):  # partly directed
            arcs, edges = network.directed_edges, network.undirected_edges
        else:
            arcs, edges = network.edges, ()
        return _from_pdag(arcs, edges, domain)
    is_directed = hasattr(network, "get_cpds")
    if is_directed:
        tables = network.get_cpds()
    else:
        tables = network.get_factors() if hasattr(network, "get_factors") else []
    states: dict[str, list[str]] = {}
    for table in tables:
        for name in table.variables:
            states.setdefault(str(name), [str(state) for state in table.state_names[name]])
    for node in network.nodes:
        if str(node) not in states:
            raise DomainError(
                f"the variable {str(node)!r} has no table and therefore no states; for a graph "
                "without tables pass domain=, such as the data it was learned from"
            )
    domain_of_tables = Domain(states)
    factors = [_named_table(domain_of_tables, table) for table in tables]
    if is_directed:  # the values of a table have the child first, then its parents
        arcs = {(parent, names[0]) for names, _ in factors for parent in names[1:]}
        for parent, child in arcs ^ {(str(a), str(b)) for a, b in network.edges}:
            raise DomainError(
                f"the arcs and the tables of the network disagree about {parent!r} -> {child!r}"
            )
    return _product(domain_of_tables, factors, child=0 if is_directed else None)


def network_of(model: Any) -> Model:
    """Return any model, also a network of pgmpy or pyAgrum with tables.

    >>> network_of("dag { A -> B }").pairs()
    [('A', 'B')]
    """
    network: Model
    if getattr(model, "cpds", None) and hasattr(model, "get_cpds"):
        network = from_pgmpy(model)
        return network
    if hasattr(model, "cpt") and hasattr(model, "nodes"):
        network = from_pyagrum(model)
        return network
    return as_model(model)


def _domain_of_data(domain: Any) -> Domain:
    """Return a domain, or that of data."""
    if not isinstance(domain, Domain | Mapping) or hasattr(domain, "columns"):
        return infer_domain(domain)
    return domain_of(domain)


def _unnamed(names: Sequence[str], number: int) -> str:
    """Return the variable of a node without a name, by its number."""
    if str(number) in names:
        return str(number)
    if number >= len(names):
        raise DomainError(f"the graph has a node {number}, and there are {len(names)} variables")
    return names[number]


def _named_table(domain: Domain, table: Any) -> tuple[list[str], Any]:
    """Return the names and the values of a table of pgmpy, with the states in our order."""
    names = [str(name) for name in table.variables]
    places = []
    for name, of_table in zip(names, table.variables, strict=True):
        variable = domain.position(name)
        labels = [str(state) for state in table.state_names[of_table]]
        if set(labels) != set(domain.states[variable]):
            raise DomainError(
                f"two tables of the network have different states of {name!r}: "
                f"{listed(domain.states[variable])} and {listed(labels)}"
            )
        places.append([labels.index(state) for state in domain.states[variable]])
    return names, np.asarray(table.values)[np.ix_(*places)]


def _product(
    domain: Domain, tables: Iterable[tuple[Sequence[str], Any]], *, child: int | None
) -> LogLinear:
    """Return the product of tables of numbers, each with the names of its axes.

    ``child`` is the axis of the child in the tables of a Bayesian network, otherwise None.
    """
    factors = [
        (tuple(map(domain.position, names)), np.asarray(values, dtype=np.float64))
        for names, values in tables
    ]
    if child is None:
        with np.errstate(divide="ignore"):
            return log_linear(domain, [Factor(scope, np.log(values)) for scope, values in factors])
    parents: list[tuple[int, ...]] = [()] * len(domain)
    conditionals: list[Any] = [None] * len(domain)
    for scope, values in factors:
        variable = scope[child]
        parents[variable] = tuple(v for v in scope if v != variable)
        conditionals[variable] = np.moveaxis(values, child, -1)
    model = bayesian_network(domain, parents, conditionals)
    if not isinstance(model, LogLinear):
        missing = [domain.names[v] for v, table in enumerate(conditionals) if table is None]
        raise DomainError(f"the network has no table, or NaN in it, for {listed(missing)}")
    return model


def from_pyagrum(network: Any, domain: Any = None) -> Any:
    """Convert a pyAgrum network to a model, or a graph of pyAgrum to a structure.

    Parameters
    ----------
    network : BayesNet, MarkovRandomField, DAG, PDAG, EssentialGraph or UndiGraph
    domain : Domain, a mapping that makes one, or data; optional
        The variables and states of a graph without tables. A node without a name is the variable at
        that place.

    Returns
    -------
    LogLinear of the tables; of a graph, its Structure

    Examples
    --------
    >>> import pyagrum  # doctest: +SKIP
    >>> from_pyagrum(pyagrum.fastBN("A->B<-C")).structure.pairs()  # doctest: +SKIP
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    """
    if is_pyagrum_graph(network):
        if domain is None:
            raise DomainError("a graph has no states; pass domain=, such as the data")
        over = _domain_of_data(domain)
        return _from_pdag(*pyagrum_edges(network, partial(_unnamed, over.names)), over)
    if hasattr(network, "cpt"):
        tables = [network.cpt(node) for node in network.nodes()]
    elif hasattr(network, "factors"):
        tables = [network.factor(scope) for scope in network.factors()]
    else:
        raise DomainError(f"expected a pyAgrum network, got {type(network).__name__}")
    variables = [network.variable(node) for node in network.nodes()]
    domain = Domain({variable.name(): variable.labels() for variable in variables})
    # the array of a table has its last variable first
    factors = [(tuple(reversed(table.names)), table.toarray()) for table in tables]
    return _product(domain, factors, child=-1 if hasattr(network, "cpt") else None)


@converter
def from_causal_learn(graph: Any, domain: DomainLike) -> Structure:
    """Convert a graph that causal-learn learned to the structure of its moral graph.

    Two variables with an edge of any kind depend, and so do two whose edges both point at a third.
    All DAGs that a partly directed graph represents have this structure.

    Parameters
    ----------
    graph : GeneralGraph or CausalGraph, or the record that ``ges`` returns
        Its nodes have the names of the variables.

    Examples
    --------
    >>> from causallearn.search.ScoreBased.GES import ges  # doctest: +SKIP
    >>> learned = ges(rows, node_names=["A", "B"])  # doctest: +SKIP
    >>> from_causal_learn(learned, domain={"A": 2, "B": 2}).pairs()  # doctest: +SKIP
    [('A', 'B')]
    """
    graph = graph["G"] if isinstance(graph, Mapping) else getattr(graph, "G", graph)
    if not hasattr(graph, "get_nodes"):
        raise DomainError(f"expected a causal-learn graph, got {type(graph).__name__}")
    names = [node.get_name() for node in graph.get_nodes()]
    ends = np.asarray(graph.graph)  # ends[i, j]: the end at i of an edge with j; 1 is an arrow head
    heads, tails = ends == 1, ends == -1
    if set(np.unique(ends).tolist()) <= {-1, 0, 1} and not (heads & heads.T).any():
        arcs, edges = heads & tails.T, tails & tails.T
    else:  # ends such as those of FCI, or two heads: no DAG, so only the moral graph is kept
        arcs, edges = heads, (ends != 0) | (ends.T != 0)
    return _from_pdag(
        ((names[i], names[j]) for j, i in np.argwhere(arcs)),
        ((names[i], names[j]) for i, j in np.argwhere(edges)),
        domain_of(domain),
    )


def _from_pdag(
    arcs: Iterable[tuple[Any, Any]], edges: Iterable[tuple[Any, Any]], domain: Domain
) -> Structure:
    """Make the structure of a partly directed graph, without directions if it stands for no DAG."""
    parents: list[list[int]] = [[] for _ in domain.names]
    for parent, child in arcs:
        parents[domain.position(str(child))].append(domain.position(str(parent)))
    undirected = [(domain.position(str(a)), domain.position(str(b))) for a, b in edges]
    try:
        return structure_of(bayesian_network(domain, parents, undirected=undirected))
    except DomainError:  # a learner can return a graph with cycles or contradictory arrows
        pairs = {(min(edge), max(edge)) for edge in (*moral_pairs(parents), *undirected)}
        return Structure(
            domain, cells(domain, sorted(pairs)).features, origin=Origin(directed=True)
        )


# -- packages of R --------------------------------------------------------------------------------


def from_ising(
    weights: Any,
    thresholds: Any = None,
    *,
    names: Sequence[str] | None = None,
    values: tuple[int, int] = (0, 1),
) -> LogLinear:
    """Convert an Ising model, as IsingFit, mgm and bgms estimate it, to a log-linear model.

    The model is log p(x) = sum of thresholds[i] x[i] + sum over pairs of weights[i, j] x[i] x[j].
    Its claims are those of the graph of the weights that are not 0.

    Parameters
    ----------
    weights : square array or DataFrame
        Symmetric, with 0 on the diagonal. Of IsingFit this is ``weiadj``.
    thresholds : sequence of numbers, optional
        One for each variable; 0 if left out. They do not change the claims.
    names : sequence of str, optional
        By default the columns of a DataFrame, or ``X1``, ``X2``, …
    values : (0, 1) or (-1, 1)
        The values of the variables: (0, 1) in IsingFit and bgms.

    Examples
    --------
    >>> from_ising([[0, 0.5], [0.5, 0]], thresholds=[-1, 0], names=["sad", "tired"])
    LogLinear(2 variables, 2 features: -1 sad=1; 0.5 sad=1 & tired=1)
    """
    matrix = np.asarray(weights, dtype=np.float64)
    size = len(matrix)
    if (
        matrix.shape != (size, size)
        or np.diag(matrix).any()
        or not np.isfinite(matrix).all()
        or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0)
    ):
        raise DomainError(
            "weights must be a square matrix of finite numbers, symmetric, with 0 on the diagonal"
        )
    single = np.zeros(size) if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    if single.shape != (size,) or not np.isfinite(single).all():
        raise DomainError(f"thresholds must be {size} finite numbers")
    if tuple(values) not in ((0, 1), (-1, 1)):
        raise DomainError(f"values must be (0, 1) or (-1, 1), got {values!r}")
    if tuple(values) == (-1, 1):  # x = 2y - 1 with y in {0, 1}, up to a constant
        single = 2 * single - 2 * matrix.sum(axis=0)
        matrix = 4 * matrix
    if names is None:
        names = [str(name) for name in getattr(weights, "columns", ())]
        names = names or [f"X{k}" for k in range(1, size + 1)]
    if len(set(names)) != size or len(names) != size:
        raise DomainError(f"names must be {size} different names")
    scopes = [*np.argwhere(single).tolist(), *np.argwhere(np.triu(matrix)).tolist()]
    features = [{names[v]: values[1] for v in scope} for scope in scopes]
    logs = np.concatenate([single[single != 0], matrix[np.triu(matrix) != 0]])
    domain = Domain({name: list(map(str, values)) for name in names})
    return LogLinear(Structure(domain, features), logs)
