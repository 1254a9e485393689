"""A report as one HTML file: it needs no network and no script, and opens by a double click.

The page holds the table of the guesses, and for each of them the confusion matrix and rates, the
heat map of pairs, the graph of both structures, and the explanation of the worst pairs and
features; then the statistics of the models, and how the page was made. It follows the reader's
choice of dark or light, and prints in light.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files

import numpy as np

import contextwise
from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.comparison.explain import Explanation
from contextwise.models.numbers import name as shown
from contextwise.models.numbers import plural, rate
from contextwise.models.structure import Structure
from contextwise.report.details import explained, pictures
from contextwise.report.html import Html, element, html, joined, number, table
from contextwise.report.tables import OF_ASSERTIONS, OF_DEPENDENCIES

SEVERAL = ("distance", "normalized", "TP", "FN", "FP", "TN", "precision", "recall", "F1")
UNKNOWN = "–"


@dataclass(frozen=True)
class Reported:
    """A guess of a report: its name, its comparison with the true model, and the explanation."""

    name: str
    comparison: Comparison
    explanation: Explanation


def report_page(
    true: str, guesses: Sequence[Reported], *, command: str = "", made: datetime | None = None
) -> str:
    """The page.

    Parameters
    ----------
    true : the name of the true model
    guesses : at least one, all compared with that model
    command : the command that made the page, to be shown
    made : when; now if not given
    """
    title = f"{_named(guesses)} compared with {shown(true)}"
    several = len(guesses) > 1
    parts: list[object] = [element("h1", title)]
    if several:
        parts += [_contents(guesses), _several(guesses)]
    for place, guess in enumerate(guesses):
        head = element("h2", shown(guess.name), id=f"guess-{place}") if several else ""
        parts += [head, *_guess(guess)]
    parts += [_models(true, guesses), _made(guesses[0].comparison, command, made)]
    style = files("contextwise.report").joinpath("page.css").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html(title)}</title>\n<style>\n{style}</style></head>\n"
        f"<body>\n{Html(chr(10)).join(map(html, parts))}\n</body></html>\n"
    )


def _named(guesses: Sequence[Reported]) -> str:
    return shown(guesses[0].name) if len(guesses) == 1 else f"{len(guesses)} guesses"


def _contents(guesses: Sequence[Reported]) -> Html:
    links = (
        element("li", element("a", shown(guess.name), href=f"#guess-{place}"))
        for place, guess in enumerate(guesses)
    )
    return element("nav", element("ul", *links), aria_label="Guesses")


def _several(guesses: Sequence[Reported]) -> Html:
    rows = []
    for guess in guesses:
        c = guess.comparison
        rows.append([shown(guess.name), *(_bounds(c) if c.open_pairs else _exact(c))])
    return table(["guess", *SEVERAL], rows, caption="Every guess against the true model")


def _exact(c: Comparison) -> list[object]:
    counts = (number(count) for count in (c.tp, c.fn, c.fp, c.tn))
    rates = (rate(c.rate(key, float("nan"))) for key in ("precision", "recall", "f1"))
    return [number(c.distance), rate(c.normalized), *counts, *rates]


def _bounds(c: Comparison) -> list[object]:
    low, high = c.distance_bounds
    shares = f"{rate(ratio(low, c.total))} to {rate(ratio(high, c.total))}"
    return [joined([number(low), " to ", number(high)]), shares, *[UNKNOWN] * 7]


def _guess(guess: Reported) -> Iterator[Html]:
    c = guess.comparison
    yield element("p", " ".join(c.summary().splitlines()))
    if not c.open_pairs:
        yield element("div", element("div", _matrix(c), _distances(c)), _rates(c), class_="side")
    if c.rests_on_ganak:
        yield element(
            "p",
            "Some of these counts are Ganak's, whose caching errs with a probability below one in "
            "a billion.",
            class_="note",
        )
    yield pictures(c)
    yield explained(guess.explanation)


def _matrix(c: Comparison) -> Html:
    return table(
        ["", "guess dependent", "guess independent"],
        [
            ("true dependent", number(c.tp), number(c.fn)),
            ("true independent", number(c.fp), number(c.tn)),
        ],
        caption=f"Assertions, {_scope(c)}",
    )


def _scope(c: Comparison) -> str:
    what = "full assignments" if c.contexts == "canonical" else "contexts of the other variables"
    return f"over {plural(c.pair_count, 'pair')} and all {what}"


def _distances(c: Comparison) -> Html:
    rows = [
        ("distance", number(c.distance)),
        ("normalized", rate(c.normalized)),
        ("mean pair distance", rate(c.mean_pair_distance)),
    ]
    return table(["", "value"], rows)


def _rates(c: Comparison) -> Html:
    rates = c.rates()
    labels = OF_DEPENDENCIES | OF_ASSERTIONS
    return table(["rate", "value"], [(label, rate(rates[key])) for key, label in labels.items()])


def _models(true: str, guesses: Sequence[Reported]) -> Html:
    models: list[tuple[str, Structure]] = [(true, guesses[0].comparison.true)]
    models += [(guess.name, guess.comparison.guess) for guess in guesses]
    statistics = [(name, model.statistics()) for name, model in models]
    keys = list(statistics[0][1])
    rows = [[shown(name), *(_cell(found[key]) for key in keys)] for name, found in statistics]
    head = ["model", *(key.replace("_", " ") for key in keys)]
    return joined([element("h2", "Models"), table(head, rows)])


def _cell(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _made(c: Comparison, command: str, made: datetime | None) -> Html:
    when = (made or datetime.now().astimezone()).isoformat(" ", "minutes")
    rows: list[tuple[str, object]] = [
        ("made", when),
        ("contextwise", contextwise.__version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("engine", c.engine),
    ]
    if command:
        rows.insert(0, ("command", element("code", command)))
    lines = (element("li", f"{label}: ", value) for label, value in rows)
    return joined([element("h2", "How this page was made"), element("ul", *lines)])
