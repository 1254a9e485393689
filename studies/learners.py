"""How near do learners come to the truth? Truths of ours and of others, in six groups.

    python -m studies.learners --out runs/learners --jobs 2 --draws 20 --slow-draws 5

Each draw is a truth (or another sample of it, for networks with fixed numbers) and a sample of 200,
1,000, 5,000 and 20,000 rows, the same for all learners. The normalized distance is the share of
assertions about pairs and contexts in which truth and result differ. Learners that take long get
fewer draws, and one that takes more than 60 seconds on the first draw of a group gets a dash, as
does one that fails. An interrupted run resumes. ``--final`` writes to ``studies/results``, where
other groups stay as they are.

The groups ``ours`` and ``several states`` come from our own generators. The second draws tables of
log-odds ratios per pair, a third of them in some contexts only, which is the model class of
``pair-blocks``; trees and networks are the model class of ``acyclic-trees``, and trees that of
cstrees.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import contextwise as cw
from contextwise.learning import DEFAULT_LEARNER, LEARNERS
from studies.step import Step

SIZES = (200, 1000, 5000, 20_000)
SECONDS = 60.0
SIBLING = "acyclic-trees"
SLOW = ("cstrees", "step", "gssl", "pgmpy", "pyagrum")
FIRST = 100  # smaller numbers were used while the learners were written
OURS = ("paper", "grown-8-2", "grown-7-1-three", "random-8")
NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs", "child")
BY_VALUES = ("asia", "survey", "sachs", "child")
RESULTS = Path(__file__).parent / "results"

Record = dict[str, Any]


def groups(draws: int) -> dict[str, list[str]]:
    """Return the truths of each group, about as many as draws."""

    def numbered(names: Sequence[str]) -> list[str]:
        each = -(-draws // len(names))
        return [f"{name}#{FIRST + k}" for k in range(each) for name in names]

    return {
        "trees of cstrees": numbered(["cstree-8"]),
        "labelled DAG": numbered(["ldag-10"]),
        "bnlearn networks": [f"bnlearn-{name}" for name in NETWORKS],
        "bnlearn networks by values": [f"bnlearn-{name}-values" for name in BY_VALUES],
        "several states": numbered(["states-7"]),
        "ours": numbered(OURS),
    }


def learners_for(largest: int, left_out: Sequence[str]) -> dict[str, Any]:
    """Return the learners that can be quick enough for truths with this many variables."""
    chosen: dict[str, Any] = {name: name for name in LEARNERS if name not in left_out}
    if largest > 9:
        chosen.pop("cstrees", None)  # two minutes for ten variables
    if largest <= 8:
        chosen["step"] = Step()
    return chosen


def run(options: argparse.Namespace) -> list[Record]:
    """Run all groups and return the records of the learners that are quick enough."""
    records = []
    for group, truths in groups(options.draws).items():
        if options.only and group not in options.only:
            continue
        kinds = list(dict.fromkeys(truth.partition("#")[0] for truth in truths))
        largest = max(len(cw.examples.truth(truth).domain) for truth in truths[: len(kinds)])
        learners = learners_for(largest, options.without)
        for size in SIZES:
            study = partial(
                cw.study,
                rows=size,
                out=options.out / f"{group}-{size}".replace(" ", "-"),
                # Learners of other packages take longer to start with a limit than to learn. The
                # limit is by the clock, and the processor may be busy with other work.
                time_limit=10 * SECONDS if largest > 10 else None,
                n_jobs=options.jobs,
            )
            for result in study(truths[: len(kinds)], learners, repeats=1).results:
                if result["status"] != "done" or result["seconds"] > SECONDS:
                    learners.pop(result["learner"], None)  # at larger sizes, too
            for is_slow, draws in ((False, options.draws), (True, options.slow_draws)):
                chosen = {n: item for n, item in learners.items() if (n in SLOW) == is_slow}
                each = -(-draws // len(kinds))
                taken, repeats = truths, each
                if len(truths) > len(kinds):  # a draw is a truth, otherwise a sample
                    taken, repeats = truths[: each * len(kinds)], 1
                finished = study(taken, chosen, repeats=repeats).results if chosen else []
                records += [{"group": group, **record} for record in finished]
            print(f"{group}, {size:,} rows: {', '.join(learners)}", flush=True)
    return records


def summarize(records: Iterable[Record]) -> list[Record]:
    """Return mean, standard error and seconds for each group, learner and size that is complete."""
    cells: dict[tuple[str, int, str], dict[tuple[str, int], Record]] = {}
    for record in records:
        cell = cells.setdefault((record["group"], record["rows"], record["learner"]), {})
        cell[record["truth"], record["repeat"]] = record
    rows = []
    for (group, size, learner), cell in cells.items():
        if any(record["status"] != "done" for record in cell.values()):
            continue
        values = [record["normalized"] for record in cell.values()]
        rows.append(
            {
                "group": group,
                "rows": size,
                "learner": learner,
                "draws": len(values),
                "mean": round(mean(values), 4),
                "error": round(stdev(values) / sqrt(len(values)), 4) if len(values) > 1 else None,
                "seconds": round(mean(r["seconds"] for r in cell.values()), 3),
            }
        )
    return rows


def table(rows: list[Record], group: str) -> str:
    """Return the Markdown table of a group; the best mean of a size over all draws is bold."""
    cells = {(row["learner"], row["rows"]): row for row in rows if row["group"] == group}
    draws = max(row["draws"] for row in cells.values())
    names = list(dict.fromkeys(name for name, _ in cells))
    best = {
        size: min(r["mean"] for r in cells.values() if (r["rows"], r["draws"]) == (size, draws))
        for size in {size for _, size in cells}
    }
    names.sort(
        key=lambda name: mean(cells[name, s]["mean"] if (name, s) in cells else 9 for s in best)
    )
    lines = [f"## {group.capitalize()} ({draws} draws)", ""]
    lines += ["| learner | " + " | ".join(f"{s:,} rows" for s in SIZES) + " | seconds | draws |"]
    lines += ["|---|" + "---|" * (len(SIZES) + 2)]
    for name in names:
        texts = []
        for size in SIZES:
            row = cells.get((name, size))
            if row is None:
                texts.append("–")
                continue
            text = f"{row['mean']:.3f}".removeprefix("0")
            text = f"**{text}**" if (row["mean"], row["draws"]) == (best[size], draws) else text
            texts.append(f"{text} ± {row['error'] or 0:.3f}".replace("± 0.", "± ."))
        own = [row for (n, _), row in cells.items() if n == name]
        seconds = max(row["seconds"] for row in own)
        lines.append(f"| {name} | {' | '.join(texts)} | {seconds:.2f} | {own[0]['draws']} |")
    return "\n".join([*lines, ""])


def paired(records: Iterable[Record]) -> list[Record]:
    """Return the paired differences of the default and of its directed sibling to the best."""
    found: dict[tuple[str, int], dict[str, dict[tuple[str, int], float]]] = {}
    for r in records:
        if r["status"] == "done":
            cell = found.setdefault((r["group"], r["rows"]), {}).setdefault(r["learner"], {})
            cell[r["truth"], r["repeat"]] = r["normalized"]
    rows = []
    for (group, size), cells in found.items():
        ours = {"default": DEFAULT_LEARNER, "sibling": SIBLING}
        others = {name: values for name, values in cells.items() if name not in ours.values()}
        if not others:
            continue
        best = min(others, key=lambda name: mean(others[name].values()))
        row: Record = {"group": group, "rows": size, "best": best}
        for what, name in ours.items():
            mine = cells.get(name, {})
            gaps = [mine[k] - others[best][k] for k in others[best] if k in mine]
            half = 1.96 * stdev(gaps) / sqrt(len(gaps)) if len(gaps) > 1 else 0.0
            row[what] = round(mean(gaps), 3) if gaps else None
            row[f"{what}_half"] = round(half, 3) if gaps else None
        rows.append(row)
    return rows


def paired_table(rows: Iterable[Record]) -> str:
    """Return the Markdown table of the paired differences."""
    lines = ["## Paired differences (95 % intervals)", ""]
    lines += ["| group | rows | best other | default minus best | sibling minus best |"]
    lines += ["|---|---|---|---|---|"]
    for row in rows:
        texts = [
            "–" if row[what] is None else f"{row[what]:+.3f} ± {row[f'{what}_half']:.3f}"
            for what in ("default", "sibling")
        ]
        lines.append(f"| {row['group']} | {row['rows']:,} | {row['best']} | {' | '.join(texts)} |")
    return "\n".join([*lines, ""])


def merge(path: Path, rows: Iterable[Record], key: Sequence[str]) -> list[Record]:
    """Replace the rows of a CSV file that have the same key; return all of its rows."""
    kinds = {"group": str, "learner": str, "best": str, "rows": int, "draws": int}
    merged: dict[tuple[Any, ...], Record] = {}
    if path.exists():
        with open(path, newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                row = {k: kinds.get(k, float)(v) if v else None for k, v in line.items()}
                merged[tuple(row[k] for k in key)] = row
    merged |= {tuple(row[k] for k in key): row for row in rows}
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(next(iter(merged.values()))), lineterminator="\n")
        writer.writeheader()
        writer.writerows(merged.values())
    return list(merged.values())


def main() -> None:
    """Run the study and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/learners"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--slow-draws", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], help="learners to leave out")
    parser.add_argument("--only", nargs="*", default=[], help="groups, such as 'labelled DAG'")
    parser.add_argument("--final", action="store_true", help="write to studies/results")
    options = parser.parse_args()
    records = run(options)
    target = RESULTS if options.final else options.out
    rows = merge(target / "learners.csv", summarize(records), ("group", "rows", "learner"))
    tables = [table(rows, group) for group in dict.fromkeys(row["group"] for row in rows)]
    differences = merge(target / "paired.csv", paired(records), ("group", "rows"))
    page = "\n".join(["# Distances of learners to truths", "", *tables, paired_table(differences)])
    (target / "learners.md").write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
