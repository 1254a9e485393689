"""Write the Markdown report of a run, and its plots, from the stored measurements."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path
from typing import Any

PLOTS = {
    "features": "features",
    "variables": "variables",
    "scale": "variables",
    "growth": "features",
}
"""The lines drawn as curves, with the label of the horizontal axis."""


MET = {True: "yes", False: "**no**", None: "–"}


def write(results: Path) -> None:
    """Write ``NAME.md`` and ``NAME-LINE.png`` next to ``NAME.json``."""
    run = json.loads(results.read_text())
    parts = [f"# Benchmarks: {run['models']}\n", _figures(run["lines"])]
    for line in run["lines"].values():
        parts.append(_section(line))
        if line["name"] in PLOTS:
            picture = results.with_name(f"{results.stem}-{line['name']}.png")
            _curves(line, PLOTS[line["name"]], picture)
        elif line["name"] == "hard":
            picture = results.with_name(f"{results.stem}-hard.png")
            _scatter(line, picture)
        elif line["name"] == "distances":
            picture = results.with_name(f"{results.stem}-distances.png")
            _distances(line, picture)
        else:
            continue
        parts.append(f"![{line['title']}]({picture.name})\n")
    parts.append(_machines(run["lines"]))
    results.with_suffix(".md").write_text("\n".join(parts))


def _figures(lines: dict[str, Any]) -> str:
    """Return the table of figures and goals."""
    rows = ["| what | measured | aimed at | met |", "|---|---|---|---|"]
    for line in lines.values():
        rows += (
            f"| {figure['what']} | {figure['value']:.4g} | {figure['target']} | "
            f"{MET[figure['met']]} |"
            for figure in line["figures"]
        )
    return "\n".join([*rows, ""])


def _section(line: dict[str, Any]) -> str:
    """Return the measurements of a line: one row per case, one column per method."""
    contenders = list(dict.fromkeys(m["contender"] for m in line["measurements"]))
    cases: dict[str, dict[str, dict[str, Any]]] = {}
    for m in line["measurements"]:
        cases.setdefault(m["case"], {})[m["contender"]] = m
    rows = [f"## {line['title']}\n", f"| case | {' | '.join(contenders)} |"]
    rows.append("|---" * (len(contenders) + 1) + "|")
    shown = list(cases.items())[:20]
    for case, by_contender in shown:
        cells = [_seconds(by_contender.get(contender)) for contender in contenders]
        rows.append(f"| {case} | {' | '.join(cells)} |")
    if len(cases) > len(shown):
        rows.append(f"\n… and {len(cases) - len(shown)} more in the JSON file.")
    return "\n".join([*rows, ""])


def _seconds(measurement: dict[str, Any] | None) -> str:
    if measurement is None:
        return "–"
    notes = measurement["notes"]
    if "assertions" in notes:  # what was measured is a distance
        return f"{notes['distance']:.1f}"
    more = "" if notes.get("finished", True) else "> "
    memory = f", {notes['megabytes']:,} MB" if "megabytes" in notes else ""
    return f"{more}{measurement['seconds']:.3g} s{memory}"


def _curves(line: dict[str, Any], axis: str, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    plot = figure.subplots()
    for contender in dict.fromkeys(m["contender"] for m in line["measurements"]):
        mine = [m for m in line["measurements"] if m["contender"] == contender]
        plot.loglog(
            [m["notes"][axis] for m in mine], [m["seconds"] for m in mine], "o-", label=contender
        )
    if all("megabytes" in m["notes"] for m in line["measurements"]):
        peaks = {m["notes"][axis]: m["notes"]["megabytes"] for m in line["measurements"]}
        memory = plot.twinx()
        memory.loglog(list(peaks), list(peaks.values()), "s:", color="0.4", label="memory")
        memory.set_ylabel("peak of memory (dotted), MB")
    plot.set(title=line["title"], xlabel=axis, ylabel="seconds")
    plot.grid(alpha=0.3)
    plot.legend()
    figure.savefig(path, dpi=120)


def _scatter(line: dict[str, Any], path: Path) -> None:
    """Plot our time against Ganak's for each hard cover."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), layout="constrained")
    plot = figure.subplots()
    ours, theirs = (
        {m["case"]: m["seconds"] for m in line["measurements"] if m["contender"] == contender}
        for contender in ("contextwise", "Ganak alone")
    )
    both = [case for case in ours if case in theirs]
    plot.loglog([theirs[c] for c in both], [ours[c] for c in both], "o", alpha=0.6)
    times = [*ours.values(), *theirs.values()]
    ends = [min(times), max(times)]
    plot.loglog(ends, ends, color="grey", linewidth=1)
    plot.set(title=line["title"], xlabel="Ganak alone, seconds", ylabel="contextwise, seconds")
    plot.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


CONTEXTS = ("pair-blocks", "contextual-mpl", "cspc", "cspc, 1 given", "csgs")
"""Learners that find contexts, drawn in colour on top of the others."""


def _distances(line: dict[str, Any], path: Path) -> None:
    """Plot distance, false positives and false negatives against rows, one column per truth."""
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(m["notes"]["truth"] for m in line["measurements"]))
    counts = {"distance": "d / N", "fp": "FP / N", "fn": "FN / N"}
    figure = Figure(figsize=(2.7 * len(kinds), 7.5), layout="constrained")
    plots = figure.subplots(len(counts), len(kinds), sharex=True, squeeze=False)
    for column, kind in enumerate(kinds):
        mine = [m for m in line["measurements"] if m["notes"]["truth"] == kind]
        for row, (count, label) in enumerate(counts.items()):
            _learning_curves(plots[row][column], mine, count)
            plots[row][column].set_ylabel(label if column == 0 else None)
        plots[0][column].set_title(kind)
        plots[-1][column].set_xlabel("rows")
    handles, labels = plots[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=8, fontsize=8)
    figure.savefig(path, dpi=90)


def _learning_curves(plot: Any, measurements: list[dict[str, Any]], count: str) -> None:
    """Draw one curve per learner, in colour if it finds contexts, otherwise grey with a mark."""
    marks = cycle("ovs^Dp*<>")
    for learner in dict.fromkeys(m["contender"] for m in measurements):
        notes = [m["notes"] for m in measurements if m["contender"] == learner]
        if learner in CONTEXTS:
            style = {"color": f"C{CONTEXTS.index(learner)}", "linewidth": 1.8, "zorder": 3}
        elif learner == "true graph":
            style = {"color": "black", "linestyle": ":", "linewidth": 1.5}
        else:
            style = {"color": "0.6", "linewidth": 0.8, "marker": next(marks), "markersize": 4}
        shares = [n[count] / n["assertions"] for n in notes]
        plot.plot([n["rows"] for n in notes], shares, label=learner, **style)
    plot.set(xscale="log", ylim=(0, None))
    plot.grid(alpha=0.3)


def _machines(lines: dict[str, Any]) -> str:
    """Return the table of machines; lines measured on the same machine share a row."""
    places: dict[str, list[str]] = {}
    for line in lines.values():
        m = line["machine"]
        packages = ", ".join(f"{name} {version}" for name, version in m["packages"].items())
        place = (
            f"{m['processor']}, {m['cores']} cores, {m['system']}, Python {m['python']}, "
            f"{packages}, {m['date']}"
        )
        places.setdefault(place, []).append(f"{line['name']} ({m['load']:.1f})")
    rows = [
        f"- {place}; measured there, with the load after each: {', '.join(names)}"
        for place, names in places.items()
    ]
    return "\n".join(["## Machine\n", *rows, ""])
