"""Planted errors as a source of guesses: structures with false positives or false negatives only.

This is the paper's experiment. The structures of a truth are drawn once, with numbers of errors
spread evenly over the possible ones, and are guesses on every data set of the truth. They do not
depend on rows; what is fitted to the rows, as the KL of ``--kl``, does. `effects` relates these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from zlib import crc32

import numpy as np

from contextwise.comparison.two_models import compare
from contextwise.errors import ContextwiseError
from contextwise.learning.identity import Identity, short_hash, source_hash
from contextwise.models.structure import Structure, features_of, require_features
from contextwise.studies.units import DataSet, MadeGuess, Record, numbers_of_comparison
from contextwise.support.arrays import FloatArray
from contextwise.support.store import Unit
from contextwise.truths.planted import Side, most_errors, plant

SIDES: tuple[Side, ...] = get_args(Side)
LABELS = {"fp": "false positives", "fn": "false negatives"}
"""The names of the two sources of guesses in results."""
STRUCTURES_PER_UNIT = 20
BOOTSTRAPS = 1000


@dataclass(frozen=True, eq=False)
class Draw:
    """The parameters of a unit that draws structures."""

    truth: str
    structure: Structure
    side: Side
    most: int
    numbers: range
    count: int
    seed: int

    @property
    def key(self) -> str:
        """The key of the unit in the store."""
        content = f"{self.structure.fingerprint} {source_hash(plant)}"
        where = f"planted {self.truth} {self.side} {self.count:06} {self.numbers.start:06}"
        return f"{where} {short_hash(content.encode())}"


def draws(truth: str, structure: Structure, count: int, seed: int) -> list[Unit]:
    """Return the units that draw ``count`` structures of each kind of error."""
    structure = require_features(structure, f"planting errors in {truth}")
    most = most_errors(structure)
    for side in SIDES:
        if not most[side]:
            what = "every pair depends in every context" if side == "fp" else "nothing depends"
            raise ContextwiseError(f"{truth} has no room for {LABELS[side]}: {what}")
    starts = range(0, count, STRUCTURES_PER_UNIT)
    parts = [range(start, min(count, start + STRUCTURES_PER_UNIT)) for start in starts]
    made = [Draw(truth, structure, s, most[s], part, count, seed) for s in SIDES for part in parts]
    return [Unit(draw.key, draw) for draw in made]


def draw_structures(draw: Draw) -> list[Record]:
    """Return one record per structure: its features, and its comparison with the truth."""
    records = []
    for number in draw.numbers:
        wanted = 1 + round((draw.most - 1) * (number + 0.5) / draw.count)
        place = [draw.seed, crc32(draw.truth.encode()), SIDES.index(draw.side), number]
        made, _ = plant(draw.structure, draw.side, wanted, np.random.default_rng(place))
        numbers = numbers_of_comparison(made, compare(draw.structure, made))
        record = {"number": number, "literals": made.features.literals(), "numbers": numbers}
        records.append(record)
    return records


@dataclass(frozen=True, eq=False)
class Planted:
    """Some structures with errors of one kind, as a source of guesses."""

    draw: Draw
    records: Sequence[Mapping[str, Any]]

    @property
    def label(self) -> str:
        """The kind of error."""
        return LABELS[self.draw.side]

    @property
    def key(self) -> str:
        """The source in the key of a unit."""
        return f"{self.label} {self.draw.numbers.start:06}"

    @property
    def identity(self) -> Identity:
        """The draw that the structures come from."""
        return {"draw": self.draw.key}

    def guesses(self, data: DataSet, time_limit: float | None) -> Iterator[MadeGuess]:
        """Yield the structures."""
        domain = self.draw.structure.domain
        for record in self.records:
            literals = [[(v, allowed) for v, allowed in f] for f in record["literals"]]
            made = Structure(domain, features_of(domain, literals))
            yield MadeGuess({"structure": record["number"]}, made, record["numbers"])


# -- effects ---------------------------------------------------------------------------------------


def percentage(record: Mapping[str, Any]) -> float:
    """Return the errors of a structure with planted errors, in percent of all possible ones."""
    side = "fp" if record["learner"] == LABELS["fp"] else "fn"
    room = record["fp"] + record["tn"] if side == "fp" else record["fn"] + record["tp"]
    return 100 * float(record[side]) / float(room)


def effects(
    records: Sequence[Mapping[str, Any]], measure: str = "kl"
) -> list[dict[str, float | str | int]]:
    """Relate a measure to planted errors: for each truth, kind of error and number of rows.

    Every effect has the rank correlation of the measure and the percentage of errors, and the slope
    of the measure per percent, with 95 % bootstrap intervals over structures. The measure of a
    structure is its mean over sets of weights and repeats. A rank correlation can be high where the
    effect is negligible, because every extra parameter costs about 1/(2N) in KL; so look at both.
    """
    groups: dict[tuple[str, str, int], dict[int, list[tuple[float, float]]]] = {}
    for record in records:
        if record["structure"] is not None and record.get(measure) is not None:
            place = record["truth"], record["learner"], record["rows"]
            values = groups.setdefault(place, {}).setdefault(record["structure"], [])
            values.append((percentage(record), record[measure]))
    found: list[dict[str, float | str | int]] = []
    for (truth, errors, rows), structures in groups.items():
        points = np.array([np.mean(values, axis=0) for values in structures.values()])
        effect = _effect(*points[np.argsort(points[:, 0], kind="stable")].T)
        found.append({"truth": truth, "errors": errors, "rows": rows, **effect})
    return found


def _effect(x: FloatArray, y: FloatArray) -> dict[str, float]:
    resampled = np.random.default_rng(0).integers(len(x), size=(BOOTSTRAPS, len(x)))
    fifth = max(1, len(x) // 5)
    effect = {"structures": len(x), "fewest": y[:fifth].mean(), "most": y[-fifth:].mean()}
    for name, statistic in (("rank", _rank), ("slope", _slope)):
        with np.errstate(invalid="ignore", divide="ignore"):  # resamples of one value
            low, high = np.nanpercentile(statistic(x[resampled], y[resampled]), [2.5, 97.5])
            effect |= {name: statistic(x, y), f"{name}_low": low, f"{name}_high": high}
    return {name: float(value) for name, value in effect.items()}


def _rank(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Spearman's rank correlation along the last axis."""
    from scipy.stats import rankdata

    a, b = (_centred(rankdata(values, axis=-1)) for values in (x, y))
    scale = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    correlation: FloatArray = (a * b).sum(axis=-1) / scale
    return correlation


def _slope(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the slope of the regression line along the last axis."""
    a = _centred(x)
    slope: FloatArray = (a * y).sum(axis=-1) / (a * a).sum(axis=-1)
    return slope


def _centred(values: FloatArray) -> FloatArray:
    centred: FloatArray = values - values.mean(axis=-1, keepdims=True)
    return centred
