"""Ensembles: structures with probabilities, such as posterior samples, resamples, or the k best.

For an assertion let θ be the total weight of the structures that make it dependent. Everything that
scores an ensemble depends on θ only, so a matrix of inclusion probabilities needs no sampling of
graphs: `Ensemble.from_probabilities` makes **layers**, one graph for each distinct probability u,
with the edges of probability u and more. The weight of a layer is the difference to the next
smaller probability, and every edge then has its own probability.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from contextwise.comparison.matrix import DistanceMatrix, distance_matrix
from contextwise.comparison.question import pose
from contextwise.convert.undirected import from_graph
from contextwise.data.rows import DomainLike
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import FORMATS, ModelLike, encode
from contextwise.formats.reading import Source
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.support.arrays import FloatArray
from contextwise.support.files import read_bytes, write_bytes
from contextwise.support.formatting import number, plural

__all__ = ["Ensemble", "EnsembleLike", "as_ensemble"]

FORMAT = "contextwise ensemble"
ENSEMBLE_VERSION = 1
OTHER_FILES = {".txt", ".csv", ".tsv"}
"""Suffixes that do not make a file of a folder a model."""
EQUAL_WEIGHTS = Fraction(1, 10**6)
"""The most by which the sum of weights may differ from 1."""


class Ensemble:
    """Structures over one domain with weights that sum to 1.

    Parameters
    ----------
    structures : models, paths of model files, or names of bundled examples
        Variables align by name to those of the first. Equal structures are counted once.
    weights : one number >= 0 per structure, optional
        Without weights the structures are independent **draws**, such as posterior samples or
        resamples, and scores are corrected for their number. With weights the ensemble is taken as
        it is. Floats are read as decimal numbers; weights whose sum is 1 up to rounding are scaled.

    Attributes
    ----------
    structures : tuple of Structure
    weights : tuple of Fraction
    draws : number of draws, or None if weights were given

    Raises
    ------
    ContextwiseError
        If there is no structure, or weights are negative or do not sum to 1.
    DomainError
        If the structures have different domains.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> edges = [], ["A=1 & B=1"], ["A=1 & B=1"], ["A=1 & B=1", "B=1 & C=1"]
    >>> sample = Ensemble([Structure(domain, features) for features in edges])
    >>> sample
    Ensemble(4 draws, 3 distinct structures)
    >>> sample.probabilities().tolist()[0]
    [0.0, 0.75, 0.0]
    """

    def __init__(
        self, structures: Iterable[ModelLike], weights: Iterable[Any] | None = None
    ) -> None:
        models = list(structures)
        if not models:
            raise ContextwiseError("an ensemble needs at least one structure")
        self.structures: tuple[Structure, ...] = pose(models).structures
        self.draws = len(models) if weights is None else None
        self.weights: tuple[Fraction, ...] = (
            (Fraction(1, len(models)),) * len(models)
            if weights is None
            else _checked_weights(list(weights), len(models))
        )

    @property
    def domain(self) -> Domain:
        """The variables."""
        return self.structures[0].domain

    @cached_property
    def distinct(self) -> dict[Structure, Fraction]:
        """The distinct structures with a weight above 0, and their weights."""
        sums: dict[Structure, Fraction] = {}
        for structure, weight in zip(self.structures, self.weights, strict=True):
            if weight:
                sums[structure] = sums.get(structure, Fraction(0)) + weight
        return sums

    @property
    def correction(self) -> Fraction:
        """The factor that makes the mean distance of two draws fair: K / (K - 1), otherwise 1."""
        draws = self.draws or 1
        return Fraction(draws, draws - 1) if draws > 1 else Fraction(1)

    def medoid(self, matrix: DistanceMatrix | None = None) -> Structure:
        """Return the structure with the least mean distance to the others.

        ``matrix`` has the distances between the `distinct` structures, if they are known.
        """
        known = matrix or distance_matrix(list(self.distinct))
        sums = known.distances @ np.array(list(self.distinct.values()), dtype=object)
        return list(self.distinct)[int(sums.argmin())]

    def probabilities(self) -> FloatArray:
        """Return the probability that two variables depend in some context: n × n."""
        matrix = np.zeros((len(self.domain), len(self.domain)), dtype=object)
        for structure, weight in self.distinct.items():
            for pair in structure.pairs():
                i, j = self.domain.pair(pair)
                matrix[i, j] += weight
                matrix[j, i] += weight
        return matrix.astype(np.float64)

    @classmethod
    def from_probabilities(cls, matrix: Any, domain: DomainLike | None = None) -> Ensemble:
        """Make an ensemble of graphs from probabilities of edges.

        Parameters
        ----------
        matrix : symmetric array, DataFrame, or path of a CSV file whose first line has the names
            The probability that two variables are adjacent; the diagonal is ignored.
        domain : the variables and their states, in the order of a matrix without names
            By default two states per variable.

        Examples
        --------
        >>> halves = Ensemble.from_probabilities([[0, 0.5, 0.25], [0.5, 0, 0], [0.25, 0, 0]])
        >>> [(len(s.pairs()), str(w)) for s, w in halves.distinct.items()]
        [(0, '1/2'), (1, '1/4'), (2, '1/4')]
        """
        labels, cells = _read_matrix(matrix)
        domain = _domain_of(labels, len(cells), domain)
        order = range(len(cells)) if labels is None else [labels.index(n) for n in domain.names]
        chances = [[_exact(cells[i][j], "a probability") for j in order] for i in order]
        edges: dict[tuple[int, int], Fraction] = {}
        for i in range(len(domain)):
            for j in range(i):
                first, second = domain.names[j], domain.names[i]
                chance, other = chances[i][j], chances[j][i]
                if abs(chance - other) > EQUAL_WEIGHTS:
                    raise DomainError(
                        f"the matrix is not symmetric: {first!r} and {second!r} have the "
                        f"probabilities {float(other):g} and {float(chance):g}"
                    )
                if not 0 <= other <= 1:
                    raise DomainError(
                        f"the probability of {first!r} and {second!r} must be between 0 and 1, "
                        f"got {float(other):g}"
                    )
                edges[j, i] = other
        levels = sorted({Fraction(0), Fraction(1), *edges.values()}, reverse=True)
        structures, weights = [], []
        names = domain.names
        for level, below in pairwise(levels):
            layer = [(names[i], names[j]) for (i, j), p in edges.items() if p >= level]
            structures.append(from_graph(layer, domain, by="edges"))
            weights.append(level - below)
        return cls(structures, weights)

    @classmethod
    def read(cls, path: str | os.PathLike[str], domain: DomainLike | None = None) -> Ensemble:
        """Read an ensemble from a folder of model files, which are draws, or a .json or .csv file.

        A .csv file holds probabilities of edges; ``domain`` has their variables.
        """
        place = Path(path)
        if place.is_dir():
            suffixes = tuple({s for known in FORMATS for s in known.suffixes} - OTHER_FILES)
            files = [
                file
                for file in sorted(place.iterdir())
                if file.name.removesuffix(".gz").endswith(suffixes)
            ]
            if not files:
                raise ContextwiseError(f"{path}: there are no model files in this folder")
            return cls(files)
        if place.suffix == ".csv":
            return cls.from_probabilities(place, domain)
        return _from_json(read_bytes(path), os.fspath(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the ensemble as one JSON file, which `Ensemble.read` reads.

        Examples
        --------
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/both.json"
        >>> Ensemble(["lung", "lung-learned"], [0.25, 0.75]).write(file)
        >>> Ensemble.read(file)
        Ensemble(2 weighted structures)
        """
        entries = []
        for structure, weight in self.distinct.items():
            share = {"weight": str(weight)} if self.draws is None else {}
            count = {} if self.draws is None else {"count": int(weight * self.draws)}
            model = json.loads(encode(structure, "json"))
            entries.append(json.dumps({**share, **count, "model": model}, ensure_ascii=False))
        text = ",\n  ".join(entries)
        head = f'{{"format": "{FORMAT}", "version": {ENSEMBLE_VERSION},\n'
        write_bytes(path, f'{head} "structures": [\n  {text}\n]}}\n'.encode())

    def __len__(self) -> int:
        return len(self.structures)

    def __repr__(self) -> str:
        if self.draws is None:
            return f"Ensemble({plural(len(self), 'weighted structure')})"
        distinct = plural(len(self.distinct), "distinct structure")
        return f"Ensemble({plural(self.draws, 'draw')}, {distinct})"


EnsembleLike = Ensemble | ModelLike


def as_ensemble(guess: EnsembleLike) -> Ensemble:
    """Return an ensemble: itself, of a folder or .json file, or of one structure.

    >>> as_ensemble("lung")
    Ensemble(1 draw, 1 distinct structure)
    """
    if isinstance(guess, Ensemble):
        return guess
    if isinstance(guess, str | os.PathLike) and is_ensemble_file(guess):
        return Ensemble.read(guess)
    return Ensemble([guess])


def is_ensemble_file(path: str | os.PathLike[str], probabilities: bool = False) -> bool:
    """Check for a folder, a .json file of an ensemble, or a .csv file of ``probabilities``."""
    place = Path(path)
    if place.is_dir():
        return True
    if place.suffix != ".json":
        return probabilities and place.suffix == ".csv"
    if not place.is_file():
        return False
    with place.open("rb") as file:
        start = file.read(len(FORMAT) + 20).split(b":", 1)[-1]
    return start.lstrip().startswith(f'"{FORMAT}"'.encode())


# -- input -----------------------------------------------------------------------------------------


def _exact(value: Any, what: str) -> Fraction:
    """Return a number as it is written: 0.1 is one tenth."""
    try:
        return Fraction(value if isinstance(value, int | Fraction) else str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise ContextwiseError(f"{what} must be a number, got {value!r}") from None


def _checked_weights(weights: Sequence[Any], count: int) -> tuple[Fraction, ...]:
    if len(weights) != count:
        raise ContextwiseError(f"{count} structures need as many weights, got {len(weights)}")
    exact = [_exact(weight, "a weight") for weight in weights]
    for weight in exact:
        if weight < 0:
            raise ContextwiseError(f"weights must be >= 0, got {number(weight)}")
    total = sum(exact, start=Fraction(0))
    if abs(total - 1) > EQUAL_WEIGHTS:
        raise ContextwiseError(
            f"weights must sum to 1, got {float(total):.6g}; divide each by their sum"
        )
    return tuple(weight / total for weight in exact)


def _read_matrix(matrix: Any) -> tuple[list[str] | None, list[list[Any]]]:
    """Return the names of the variables, if the matrix has them, and its rows."""
    names: list[str] | None = None
    rows: Any
    if isinstance(matrix, str | os.PathLike):
        text = Source(read_bytes(matrix), os.fspath(matrix)).text
        lines = [row for row in csv.reader(text.splitlines()) if row]
        names, rows = ([cell.strip() for cell in lines[0]], lines[1:]) if lines else ([], [])
        if rows and len(rows[0]) == len(rows) + 1:  # the first column has the names, too
            names, rows = names[-len(rows) :], [row[1:] for row in rows]
    elif hasattr(matrix, "columns"):
        names, rows = [str(name) for name in matrix.columns], matrix.to_numpy().tolist()
    else:
        rows = np.asarray(matrix).tolist()
    if not isinstance(rows, list) or any(
        not isinstance(row, list) or len(row) != len(rows) for row in rows
    ):
        raise DomainError("the probabilities must be a square matrix, one row per variable")
    if names is not None and len(names) != len(rows):
        raise DomainError(f"{plural(len(rows), 'row')} need as many names, got {len(names)}")
    return names, rows


def _domain_of(names: Sequence[str] | None, count: int, domain: DomainLike | None) -> Domain:
    if domain is None:
        return Domain(dict.fromkeys(names or [f"v{k}" for k in range(count)], 2))
    known = domain if isinstance(domain, Domain) else Domain(domain)
    if len(known) != count or (names is not None and set(names) != set(known.names)):
        missing = sorted(set(known.names) ^ set(names or ()))[:3] if names else []
        which = f"; not in both: {', '.join(missing)}" if missing else ""
        raise DomainError(f"the matrix has {count} variables, the domain {len(known)}{which}")
    return known


def _from_json(data: bytes, name: str) -> Ensemble:
    source = Source(data, name)
    try:
        document = json.loads(source.text)
    except ValueError as error:
        raise source.error(f"not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise source.error(f'not an ensemble: "format" must be "{FORMAT}"')
    if document.get("version") != ENSEMBLE_VERSION:
        raise source.error(f"version {document.get('version')!r} is unknown; update contextwise")
    json_format = next(known for known in FORMATS if known.name == "json")
    structures: list[ModelLike] = []
    weights: list[Any] = []
    for place, entry in enumerate(document.get("structures") or [], 1):
        if not isinstance(entry, dict) or ("weight" in entry) == ("count" in entry):
            raise source.error(f"structure {place} needs a model, and either a weight or a count")
        inner = Source(json.dumps(entry.get("model")).encode(), f"{name}: structure {place}")
        count = entry.get("count", 1)
        if not isinstance(count, int) or count < 1:
            raise source.error(f"the count of structure {place} must be >= 1, got {count!r}")
        structures += [json_format.read(inner)] * count
        weights += [entry["weight"]] if "weight" in entry else []
    if weights and len(weights) < len(structures):
        raise source.error("give all structures a weight, or all a count")
    return Ensemble(structures, weights or None)
