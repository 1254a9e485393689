"""The interactive scatter plot of a study: one dot per structure, drawn by ``static/scatter.js``.

The reader chooses the kind of guess, the number of rows, the set of weights (or the mean over sets,
with its standard deviation), and the measures of both axes. The page needs no other file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from contextwise.report.html import Markup, tag

ERRORS = "errors"
X_AXES = {
    ERRORS: "errors, % of possible ones",
    "distance": "distance",
    "features": "number of features",
    "mean_length": "mean length of features",
}
"""Measures of a structure, by their columns in the results."""
Y_AXES = {
    "kl": "KL-divergence, nats",
    "cmll": "CMLL of new rows, nats",
    "log_likelihood": "log-likelihood of new rows, nats",
    "distance": "distance",
    "kappa": "kappa",
}
"""Measures of a guess; the first that a study has is shown first."""
PLANTED = {"false positives": ("fp", "tn"), "false negatives": ("fn", "tp")}
"""Kinds of planted errors: the count of errors, and of assertions that could be one."""
Records = Sequence[Mapping[str, Any]]


def scatter_html(records: Records) -> Markup:
    """Return the scatter plot of the records of a study; empty if fewer than three are done."""
    done = [record for record in records if record.get("status") == "done"]
    if len(done) < 3:
        return Markup("")
    data = scatter_data(done)
    labels = data["labels"]
    numbered = {key: [(str(k), text) for k, text in enumerate(labels[key])] for key in labels}
    rows, sets = numbered["rows"], numbered["sets"]
    sets = [("", "mean of all"), *sets] if len(sets) > 1 else sets
    content = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return tag(
        "section",
        tag("h2", "Each structure"),
        tag(
            "p",
            _select("kind", "guess", [("", "all"), *numbered["kinds"]]),
            _select("truth", "truth", numbered["truths"]),
            _select("rows", "rows", [*rows[-1:], *rows[:-1]]),
            _select("set", "weights", sets),
            _select("x", "across", [(k, X_AXES[k]) for k in X_AXES]),
            _select("y", "up", [(k, Y_AXES[k]) for k in data["up"]]),
            class_="controls",
        ),
        tag("p", class_="facts note"),
        tag(
            "svg",
            class_="plot",
            tabindex="0",
            role="application",
            aria_label="Scatter plot; arrow keys move from dot to dot, a table has all dots",
        ),
        tag("p", class_="readout note", role="status"),
        tag("details", tag("summary", "Table of the dots"), tag("div", class_="scroll")),
        tag("noscript", tag("p", "The plot needs JavaScript; results.csv has its numbers.")),
        tag("script", Markup(content), type="application/json"),
        class_="scatter",
    )


def _select(name: str, label: str, choices: Sequence[tuple[str, str]]) -> Markup:
    options = [tag("option", text, value=value) for value, text in choices]
    return tag("label", f"{label} ", tag("select", *options, name=name))


def scatter_data(records: Records) -> dict[str, Any]:
    """Return the columns that the script reads: structures, and what was measured of them.

    >>> record = {"truth": "six", "learner": "mpl", "rows": 50, "weights": 0, "repeat": 1, "fp": 2,
    ...           "fn": 1, "tp": 3, "tn": 4, "distance": 3, "assertions": 10, "features": 5,
    ...           "mean_length": 2.5}
    >>> data = scatter_data([record])
    >>> data["guesses"]["errors"], data["values"]["distance"], data["labels"]["rows"]
    ([30.0], [3], ['50'])
    """
    up = [key for key in Y_AXES if any(record.get(key) is not None for record in records)]
    places: dict[tuple[Any, ...], int] = {}
    groups: dict[tuple[Any, ...], int] = {}
    labels = {
        "kinds": _distinct(records, "learner"),
        "truths": _distinct(records, "truth"),
        "rows": sorted(_distinct(records, "rows")),
        "sets": sorted(_distinct(records, "weights")),
    }
    guesses: dict[str, list[Any]] = {
        key: [] for key in ("kind", "truth", "group", "name", "fp", "fn", *X_AXES)
    }
    values: dict[str, list[Any]] = {key: [] for key in ("guess", "rows", "set", *up)}
    for record in records:
        key, group, name = _identity(record)
        if key not in places:
            places[key] = len(places)
            guesses["kind"].append(labels["kinds"].index(record["learner"]))
            guesses["truth"].append(labels["truths"].index(record["truth"]))
            guesses["group"].append(groups.setdefault(group, len(groups)))
            guesses["name"].append(name)
            for count in ("fp", "fn"):
                guesses[count].append(int(record[count]))
            for axis in X_AXES:
                value = _errors(record) if axis == ERRORS else record[axis]
                guesses[axis].append(_short(value))
        values["guess"].append(places[key])
        values["rows"].append(labels["rows"].index(record["rows"]))
        values["set"].append(labels["sets"].index(record["weights"]))
        for axis in up:
            values[axis].append(_short(record.get(axis)))
    texts = {key: [str(value) for value in values] for key, values in labels.items()}
    return {"labels": texts, "up": up, "guesses": guesses, "values": values}


def _identity(record: Mapping[str, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...], str]:
    """Return the structure of a record, the group over which means are taken, and its name."""
    kind = record["truth"], record["learner"]
    if record.get("structure") is not None:
        key = (*kind, record["structure"])
        return key, key, f"structure {record['structure']}"
    repeat, weights = record["repeat"], record["weights"]
    name = f"repeat {repeat}, weights {weights}"
    return (*kind, record["rows"], weights, repeat), (*kind, "learned", repeat), name


def _errors(record: Mapping[str, Any]) -> float | None:
    """Return the errors in percent of the possible ones, of its kind if they are planted."""
    if record["learner"] in PLANTED and record.get("structure") is not None:
        wrong, right = (int(record[key]) for key in PLANTED[record["learner"]])
        return 100 * wrong / (wrong + right) if wrong + right else None
    whole = int(record["assertions"])
    return 100 * int(record["distance"]) / whole if whole else None


def _distinct(records: Records, key: str) -> list[Any]:
    return list(dict.fromkeys(record[key] for record in records))


def _short(value: float | None) -> float | None:
    """Round to five digits: pages hold a hundred thousand numbers."""
    return None if value is None else value if isinstance(value, int) else float(f"{value:.5g}")
