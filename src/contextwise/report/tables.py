"""Comparisons as text tables, made to be read.

`comparison_table` shows one guess in full; `comparisons_table` sets several beside each other, one
row a guess.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.models.numbers import READABLE, columns, is_readable, name, number, rate

ROUNDED = "Numbers of more than {} digits are rounded here; --json and --csv give them exactly."
NARROW = 9  # digits of a count where several guesses share the width

COUNTED = ("TP", "FN", "FP", "TN")
OF_DEPENDENCIES = {"precision": "precision", "recall": "recall", "f1": "F1", "jaccard": "Jaccard"}
OF_ASSERTIONS = {
    "accuracy": "accuracy",
    "mcc": "MCC",
    "false_positive_rate": "false positive rate",
    "false_negative_rate": "false negative rate",
}


def comparison_table(comparison: Comparison, *, top: int = 10) -> str:
    """The confusion matrix, the distance, the rates, and the pairs with the most errors.

    >>> from contextwise import Structure, compare
    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> print(comparison_table(compare(true, guess), top=1))
                      guess dependent  guess independent
    true dependent                  2                  1
    true independent                2                  1
    <BLANKLINE>
    distance            3       precision  0.5000  accuracy             0.5000
    normalized          0.5000  recall     0.6667  MCC                  0
    mean pair distance  0.5000  F1         0.5714  false positive rate  0.6667
                                Jaccard    0.4000  false negative rate  0.3333
    <BLANKLINE>
    The pair with the most errors, of 3 that differ:
    pair     errors  of  FN  FP
    X0 – X1       1   2   0   1
    """
    if comparison.open_pairs:
        blocks = [_open(comparison, top)]
    else:
        blocks = [_matrix(comparison), _scores(comparison)]
    if comparison.rests_on_ganak:
        blocks.append(_ganak(comparison))
    if top:
        blocks.append(_worst_pairs(comparison, top))
    if not is_readable(comparison.total):
        blocks.append(ROUNDED.format(READABLE))
    return "\n\n".join(blocks)


def comparisons_table(guesses: Iterable[tuple[str, int, Comparison]]) -> str:
    """One row a guess, given by its name, the number of its features, and its comparison."""
    head = [
        "guess",
        "features",
        "distance",
        "normalized",
        "TP",
        "FN",
        "FP",
        "TN",
        "precision",
        "recall",
        "F1",
    ]
    rows = [
        [
            name(label),
            number(features),
            *(_open_cells(c) if c.open_pairs else _exact_cells(c)),
        ]
        for label, features, c in guesses
    ]
    table = columns([head, *rows], "<" + ">" * (len(head) - 1))
    if all(is_readable(c.total, NARROW) for _, _, c in guesses):
        return table
    return f"{table}\n\n{ROUNDED.format(NARROW)}"


def _exact_cells(c: Comparison) -> list[str]:
    return [
        number(c.distance, NARROW),
        rate(c.normalized),
        *(number(count, NARROW) for count in (c.tp, c.fn, c.fp, c.tn)),
        *(rate(c.rate(key, float("nan"))) for key in ("precision", "recall", "f1")),
    ]


def _open_cells(c: Comparison) -> list[str]:
    """Bounds of the distance, and dashes for what is not known."""
    low, high = c.distance_bounds
    return [
        f"{number(low, NARROW)} to {number(high, NARROW)}",
        f"{rate(ratio(low, c.total))} to {rate(ratio(high, c.total))}",
        *["–"] * 7,
    ]


def _matrix(c: Comparison) -> str:
    return columns(
        [
            ("", "guess dependent", "guess independent"),
            ("true dependent", number(c.tp), number(c.fn)),
            ("true independent", number(c.fp), number(c.tn)),
        ],
        "<>>",
    )


def _scores(c: Comparison) -> str:
    """Distances, and two columns of rates, side by side."""
    rates = c.rates()
    distances = [
        ("distance", number(c.distance)),
        ("normalized", rate(c.normalized)),
        ("mean pair distance", rate(c.mean_pair_distance)),
        ("", ""),
    ]
    first = [(label, rate(rates[key])) for key, label in OF_DEPENDENCIES.items()]
    second = [(label, rate(rates[key])) for key, label in OF_ASSERTIONS.items()]
    return columns([a + b + c for a, b, c in zip(distances, first, second, strict=True)], "<<<<<<")


def _open(c: Comparison, top: int) -> str:
    """What is known while pairs are open: bounds, and where they are widest."""
    bounds = {pair: c.pair_bounds(*pair).distance for pair in c.open_pairs}
    widest = sorted(bounds, key=lambda pair: bounds[pair][0] - bounds[pair][1])[:top]
    low, high = c.distance_bounds
    why = "Interrupted" if c.interrupted else "Not decided in time"
    text = f"{why}: {len(bounds):,} of {len(c.pairs):,} pairs are open.\n\n" + columns(
        [
            ("distance", f"from {number(low)}", f"to {number(high)}"),
            ("normalized", f"from {rate(ratio(low, c.total))}", f"to {rate(ratio(high, c.total))}"),
        ],
        "<<<",
    )
    if not widest:
        return text
    rows = [
        (f"{name(first, 24)} – {name(second, 24)}", *map(number, bounds[first, second]))
        for first, second in widest
    ]
    table = columns([("pair", "errors from", "to"), *rows], "<>>")
    return f"{text}\n\nOpen pairs, the least known first:\n{table}"


def _ganak(c: Comparison) -> str:
    share = f"{c.counted['ganak']:,} of {sum(c.counted.values()):,} unions"
    return (
        f"{share} were counted by Ganak, whose caching errs with a probability\n"
        "below one in a billion; --engine native is deterministic."
    )


def _worst_pairs(c: Comparison, top: int) -> str:
    differing = sum(1 for _, fn, fp, _ in c.known_counts if fn or fp)
    if not differing:
        return "No pair differs." if not c.open_pairs else "No pair that is finished differs."
    rows = [
        (
            f"{name(first, 24)} – {name(second, 24)}",
            number(pair.distance),
            number(pair.total),
            number(pair.fn),
            number(pair.fp),
        )
        for (first, second), pair in c.worst_pairs(top)
    ]
    head = ("pair", "errors", "of", "FN", "FP")
    table = columns([head, *rows], "<>>>>")
    if len(rows) == differing:
        return f"All pairs that differ:\n{table}"
    which = "pair" if len(rows) == 1 else f"{len(rows)} pairs"
    return f"The {which} with the most errors, of {differing:,} that differ:\n{table}"
