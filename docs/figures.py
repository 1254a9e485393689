"""Draw the figures of the documentation: ``python docs/figures.py`` writes them into docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

from matplotlib.figure import Figure

GREY, COLOURS = "#b8b8b8", ("#0072B2", "#D55E00", "#009E73")
DEPTH = 0.38, 0.30  # how far the third direction goes to the right and up


def _place(corner: Sequence[int]) -> tuple[float, float]:
    x, y, z = corner
    return x + DEPTH[0] * z, y + DEPTH[1] * z


def cube_figure(
    names: Sequence[str], cubes: Sequence[tuple[str, Mapping[str, int]]], width: float = 5.2
) -> Figure:
    """Draw three binary variables as a cube, with a ring at each corner that an assignment covers.

    ``names`` are the directions right, up and back; ``cubes`` are labels with partial assignments.
    """
    figure = Figure(figsize=(width, width * 0.55), layout="constrained")
    axes = figure.add_subplot()
    corners = list(product((0, 1), repeat=3))
    for one, two in combinations(corners, 2):
        if sum(a != b for a, b in zip(one, two, strict=True)) == 1:
            axes.plot(*zip(_place(one), _place(two), strict=True), color=GREY, lw=1, zorder=1)
    for corner in corners:
        state = dict(zip(names, corner, strict=True))
        inside = [k for k, (_, cube) in enumerate(cubes) if cube.items() <= state.items()]
        x, y = _place(corner)
        axes.plot(x, y, "o", color="black" if inside else "white", mec="black", ms=7, zorder=3)
        for rank, k in enumerate(inside):
            axes.plot(x, y, "o", mfc="none", mec=COLOURS[k], mew=2, ms=13 + 6 * rank, zorder=2)
    for k, (label, _) in enumerate(cubes):
        axes.plot([], [], "o", mfc="none", mec=COLOURS[k], mew=2, ms=11, label=label)
    axes.plot([], [], "o", color="black", ms=6, label="the pair depends here")
    axes.plot([], [], "o", color="white", mec="black", ms=6, label="independent here")
    directions = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    for name, tip, offset in zip(
        names, directions, ((-20, -16), (-30, -14), (8, -10)), strict=True
    ):
        axes.annotate(f"{name} = 1", _place(tip), offset, textcoords="offset points", fontsize=9)
    axes.set(xlim=(-0.35, 1.6), ylim=(-0.25, 1.55), aspect="equal")
    axes.axis("off")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


def pieces_figure(width: float = 6.2) -> Figure:
    """Draw two overlapping cubes in a square of contexts, whole and cut into disjoint pieces."""
    first, second = (0.1, 0.35, 0.6, 0.5), (0.4, 0.1, 0.5, 0.55)  # left, bottom, width, height
    cut = (first, (0.4, 0.1, 0.3, 0.25), (0.7, 0.1, 0.2, 0.55))
    figure = Figure(figsize=(width, width * 0.42), layout="constrained")
    views = (("a cover: cubes overlap", (first, second)), ("a partition: pieces do not", cut))
    for axes, (title, boxes) in zip(figure.subplots(1, 2), views, strict=True):
        for number, (left, bottom, wide, high) in enumerate(boxes):
            colour = COLOURS[number]
            axes.bar(left, high, wide, bottom, align="edge", color=colour, alpha=0.35, ec=colour)
        axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
        axes.set_title(title, fontsize=10)
    return figure


def path_figure() -> Figure:
    """Draw the path from the features of a model to the simplified cover of one pair."""
    steps = [
        ("features", ["A=1 B=1 C=0", "A=1 B=1 C=2", "A=0 B=0 D=1", "C=1 D=0"]),
        ("with A and B\nin their scope", ["A=1 B=1 C=0", "A=1 B=1 C=2", "A=0 B=0 D=1"]),
        ("merged", ["A=1 B=1 C=0|2", "A=0 B=0 D=1"]),
        ("cubes:\npair dropped", ["C=0|2", "D=1"]),
        ("cover:\none bit a class", ["C: 01  D: 11", "C: 11  D: 10"]),
    ]
    figure = Figure(figsize=(9.2, 2.1), layout="constrained")
    axes = figure.add_subplot()
    for place, (head, rows) in enumerate(steps):
        axes.text(place, 1.0, head, ha="center", va="bottom", fontsize=9, weight="bold")
        for line, row in enumerate(rows):
            axes.text(
                *(place, 0.85 - 0.22 * line),
                row,
                ha="center",
                va="top",
                fontsize=8,
                family="monospace",
            )
        if place:
            axes.annotate(
                *("", (place - 0.44, 0.6), (place - 0.58, 0.6)),
                arrowprops={"arrowstyle": "->", "color": COLOURS[0]},
            )
    axes.set(xlim=(-0.55, len(steps) - 0.4), ylim=(-0.1, 1.45))
    axes.axis("off")
    return figure


def write_figures(folder: Path) -> None:
    """Write the figures as PNG into a folder."""
    cubes = [("feature with A=1", {"A": 1}), ("feature with B=0, C=1", {"B": 0, "C": 1})]
    figures = {
        "cubes": cube_figure(["A", "B", "C"], cubes),
        "pieces": pieces_figure(),
        "kernel-path": path_figure(),
    }
    for name, figure in figures.items():
        figure.savefig(folder / f"{name}.png", dpi=130, bbox_inches="tight")


if __name__ == "__main__":
    write_figures(Path(__file__).parent)
