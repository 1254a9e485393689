"""Pictures for papers, with matplotlib (``pip install 'contextwise[plots]'``).

Every function takes the Axes to draw on, or makes them, and returns them: place several in a figure
of your own, change what you like, and `save` it. Nothing here touches pyplot, so that the pictures
work in servers and notebooks alike, and the same input gives the same file.

>>> from contextwise import compare, examples
>>> axes = plot_pairs(compare(examples.load("six"), examples.load("six-guess")))
>>> [label.get_text() for label in axes.get_xticklabels()]
['X0', 'X1', 'X2', 'X3', 'X4', 'X5']
"""

from contextwise.report.plots.plot_graph import plot_graph, plot_graphs
from contextwise.report.plots.plot_guesses import (
    plot_confusion,
    plot_critical_difference,
    plot_errors,
    plot_errors_plane,
    plot_group_means,
    plot_groups,
    plot_guesses,
    plot_rates,
)
from contextwise.report.plots.plot_models import (
    plot_dendrogram,
    plot_distances,
    plot_map,
    plot_models,
    plot_scatter,
    plot_spread,
)
from contextwise.report.plots.plot_pairs import plot_neighbours, plot_pairs, plot_supports
from contextwise.report.plots.style import new_axes, save

__all__ = [
    "new_axes",
    "plot_confusion",
    "plot_critical_difference",
    "plot_dendrogram",
    "plot_distances",
    "plot_errors",
    "plot_errors_plane",
    "plot_graph",
    "plot_graphs",
    "plot_group_means",
    "plot_groups",
    "plot_guesses",
    "plot_map",
    "plot_models",
    "plot_neighbours",
    "plot_pairs",
    "plot_rates",
    "plot_scatter",
    "plot_spread",
    "plot_supports",
    "save",
]
