"""Graphs of a structure as arrays of literals.

The graph **instantiated** by a context has the variables that the context does not assign, and an
edge wherever two of them occur together in a compatible feature. It is never built: neighbours and
components are found by passes over the literals, one per step.

A **box** is a context in which a variable may have a set of values. A feature is compatible with it
if it is compatible with some assignment in the box.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.models.features import Features, IntArray, as_words

Mask = npt.NDArray[np.bool_]
Box = Mapping[int, int]
"""The value set of each assigned variable."""


def compatible(features: Features, box: Box) -> Mask:
    """Mask the features that are compatible with a box."""
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
    size : number of variables, including assigned ones
    assigned : mask of the variables of the box, which are not in the graph
    owners, variables : the feature and the variable of each remaining literal
    count : number of all features; ``owners`` keeps their numbers
    """

    size: int
    assigned: Mask
    owners: IntArray
    variables: npt.NDArray[np.int32]
    count: int

    def mask(self, variables: Iterable[int]) -> Mask:
        """Return a mask of some variables."""
        result = np.zeros(self.size, dtype=bool)
        result[list(variables)] = True
        return result

    def neighbours(self, nodes: Mask) -> Mask:
        """Return the variables that share a feature with one of these, and these themselves."""
        result = nodes.copy()
        result[self.variables[self.touching(nodes)[self.owners]]] = True
        return result

    def touching(self, nodes: Mask) -> Mask:
        """Mask the features with at least one of these variables."""
        result = np.zeros(self.count, dtype=bool)
        result[self.owners[nodes[self.variables]]] = True
        return result

    def linking(self, nodes: Mask) -> IntArray:
        """Return the features with at least two of these variables."""
        shared = np.bincount(self.owners[nodes[self.variables]], minlength=self.count)
        return np.flatnonzero(shared > 1)

    def component(self, start: Mask, blocked: Mask) -> Mask:
        """Return what can be reached from ``start`` without entering ``blocked``."""
        reached = start
        while True:
            further = self.neighbours(reached) & ~blocked
            if (further == reached).all():
                return reached
            reached = further

    def path(self, first: Mask, second: Mask, blocked: Mask) -> tuple[list[int], list[int]]:
        """Return a shortest path between two connected sets: its variables, and its features."""
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
    """Instantiate the graph of a box."""
    assigned = np.zeros(len(features.cardinalities), dtype=bool)
    assigned[list(box)] = True
    owners = features.owners
    stays = compatible(features, box)[owners] & ~assigned[features.variables]
    return Network(len(assigned), assigned, owners[stays], features.variables[stays], len(features))


def minimal_separator(graph: Network, first: Mask, second: Mask, within: Mask) -> Mask | None:
    """Find a minimal set inside ``within`` that separates two sets; None if all of it does not.

    Minimal: without any one of its variables it does not separate. Of the sets nearest to either
    side, return the smaller.

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
    """Return the part of the border of the first set's component that the second set touches."""
    component = graph.component(first, within)
    if (component & second).any():
        return None
    border = graph.neighbours(component) & within
    far = graph.component(second, border)
    return graph.neighbours(far) & border
