"""Graphs of a structure as arrays: who shares a feature with whom once some are assigned.

The graph **instantiated** by a context has the variables that the context does not assign, and an
edge wherever two of them occur together in a feature that is compatible with the context. It is
never built as a graph here: neighbours and components are found by passes over the literals. Cost:
one pass per step, so a component of diameter d costs d passes.

A **box** is a context in which a variable may have a set of values; a feature is compatible with it
when it is so with some assignment of the box.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.models.features import Features, IntArray, as_words

Mask = npt.NDArray[np.bool_]
Box = Mapping[int, int]
"""For each assigned variable the values it may have, as a value set."""


def compatible(features: Features, box: Box) -> Mask:
    """Which features allow, of every variable of the box, one of its values."""
    words = features.values.shape[1]
    values = np.full((len(features.cardinalities), words), ~np.uint64(0))
    for variable, allowed in box.items():
        values[variable] = as_words(allowed, words)
    refused = ~(features.values & values[features.variables]).any(axis=1)
    result = np.ones(len(features), dtype=bool)
    result[features.owners[refused]] = False
    return result


@dataclass(frozen=True)
class Network:
    """The graph instantiated by a box, as the free literals of the compatible features.

    Attributes
    ----------
    size : the number of variables, assigned ones included
    assigned : mask of the variables of the box; they are no part of the graph
    owners, variables : the feature and the variable of each literal that is left
    count : the number of all features; ``owners`` keeps their numbers
    """

    size: int
    assigned: Mask
    owners: IntArray
    variables: npt.NDArray[np.int32]
    count: int

    def mask(self, variables: Iterable[int]) -> Mask:
        """Some variables as a mask."""
        result = np.zeros(self.size, dtype=bool)
        result[list(variables)] = True
        return result

    def neighbours(self, nodes: Mask) -> Mask:
        """The variables that share a feature with one of these, and these themselves."""
        result = nodes.copy()
        result[self.variables[self.touching(nodes)[self.owners]]] = True
        return result

    def touching(self, nodes: Mask) -> Mask:
        """The features that have one of these variables or more in their scope, as a mask."""
        result = np.zeros(self.count, dtype=bool)
        result[self.owners[nodes[self.variables]]] = True
        return result

    def linking(self, nodes: Mask) -> IntArray:
        """The features that have two of these variables or more in their scope."""
        shared = np.bincount(self.owners[nodes[self.variables]], minlength=self.count)
        return np.flatnonzero(shared > 1)

    def component(self, start: Mask, blocked: Mask) -> Mask:
        """What can be reached from ``start`` without entering ``blocked``."""
        reached = start
        while True:
            further = self.neighbours(reached) & ~blocked
            if (further == reached).all():
                return reached
            reached = further

    def path(self, first: Mask, second: Mask, blocked: Mask) -> tuple[list[int], list[int]]:
        """A shortest path between two connected sets: its variables, and its features.

        Parameters
        ----------
        first, second : masks of the sets
        blocked : mask of variables that no path may enter
        """
        layers = [first]
        while not (layers[-1] & second).any():
            layers.append(self.neighbours(layers[-1]) & ~blocked)
        here = int((layers.pop() & second).argmax())
        variables, features = [here], []
        for layer in reversed(layers):
            near = self.touching(layer)[self.owners]
            feature = int(self.owners[(self.variables == here) & near][0])
            own = self.variables[self.owners == feature]
            here = int(own[layer[own]][0])
            variables.append(here)
            features.append(feature)
        return variables[::-1], features[::-1]


def network(features: Features, box: Box) -> Network:
    """The graph instantiated by a box."""
    assigned = np.zeros(len(features.cardinalities), dtype=bool)
    assigned[list(box)] = True
    owners = features.owners
    stays = compatible(features, box)[owners] & ~assigned[features.variables]
    return Network(len(assigned), assigned, owners[stays], features.variables[stays], len(features))


def minimal_separator(graph: Network, first: Mask, second: Mask, within: Mask) -> Mask | None:
    """A minimal set inside ``within`` without which the two sets are not connected.

    None if all of ``within`` does not separate them. Minimal: every variable of it is needed. Of
    the one nearest to the first set and the one nearest to the second, the smaller.

    Parameters
    ----------
    graph : Network
    first, second : masks of the two sets
    within : mask of the variables that may separate

    Examples
    --------
    >>> from contextwise.models.structure import Structure
    >>> chain = Structure({v: 2 for v in "ABCD"}, ["A=1 & B=1", "B=1 & C=1", "C=1 & D=1"])
    >>> graph = network(chain.features, {})
    >>> within = graph.mask([1, 2])
    >>> minimal_separator(graph, graph.mask([0]), graph.mask([3]), within).nonzero()[0].tolist()
    [1]
    """
    near = _nearest(graph, first, second, within)
    if near is None:
        return None
    other = _nearest(graph, second, first, within)
    return near if other is None or near.sum() <= other.sum() else other


def _nearest(graph: Network, first: Mask, second: Mask, within: Mask) -> Mask | None:
    """What borders on the component of the first set and is not idle: a minimal separator."""
    component = graph.component(first, within)
    if (component & second).any():
        return None
    border = graph.neighbours(component) & within
    far = graph.component(second, border)
    return graph.neighbours(far) & border
