"""Pictures for papers, with matplotlib (``pip install '.[plots]'``).

Every function returns the figure, which notebooks show and `save` writes. Pass ``axes`` to draw
into a figure of your own. ``title``, ``width`` (in inches) and ``font_size`` (in points) change how
a new figure looks. Nothing here uses pyplot, and the same input gives the same file.

>>> from contextwise import compare, examples
>>> figure = plot_pairs(compare(examples.load("six"), examples.load("six-guess")))
>>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
['X0', 'X1', 'X2', 'X3', 'X4', 'X5']
"""

from contextwise.report.plots.of_guesses import (
    plot_groups,
    plot_guesses,
    plot_models,
    plot_odds,
    plot_reliability,
    plot_strength,
)
from contextwise.report.plots.of_pairs import plot_graphs, plot_pairs, plot_structure
from contextwise.report.plots.style import save

__all__ = [
    "plot_graphs",
    "plot_groups",
    "plot_guesses",
    "plot_models",
    "plot_odds",
    "plot_pairs",
    "plot_reliability",
    "plot_strength",
    "plot_structure",
    "save",
]
