"""`Structure`, a set of features over a domain, and `LogLinear`, a structure with weights.

A feature is a conjunction of literals, each of which allows a set of values of one variable; its
scope is the set of its variables. It makes every pair of its scope depend wherever its other
literals hold.

- A literal that allows every value is dropped, and its variable is not in the scope.
- A feature that allows no value of some variable never holds; it is dropped with a warning.
- A feature implied by one of smaller scope stays, because it makes more pairs depend.

``==`` compares features. Different features can make the same claims, at distance 0: for example
those of the generator ``[ABC]`` and of ``[AB][BC][AC]``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, DomainError
from contextwise.models.box import Box
from contextwise.models.domain import Assignment, Domain, State, listed, literals_of
from contextwise.models.features import (
    Features,
    as_words,
    concatenated,
    moved_values,
    normalized,
    restrict,
    words_of,
)
from contextwise.models.notation import write_literals
from contextwise.models.origin import NOT_RECORDED, ROUNDING, Origin
from contextwise.support.arrays import IntArray, WordArray
from contextwise.support.formatting import plural, printable, renderers

if TYPE_CHECKING:
    from contextwise.models.directions import Directions
    from contextwise.models.evidence import Evidence

Feature = Assignment
"""A mapping such as ``{"smoker": "yes"}`` or a text such as ``"smoker=yes & age!=young"``."""
Align = Literal["names", "position"]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Structure:
    """A domain and distinct features, which determine where each pair of variables depends.

    Parameters
    ----------
    domain : Domain, or a mapping that makes one
    features : iterable of features, or Features
        A feature is a mapping from names to a state or a list of states, or a text.
    origin : Origin, optional
        Where it comes from: a file, a learner, numbers; ignored by ``==``.
    directions : Directions, optional
        The arcs and tables, if this is the structure of a Bayesian network; ignored by ``==``.
    tested : Evidence, optional
        The verdicts of rows; `evidence` returns them if they are about these features.

    Examples
    --------
    >>> domain = Domain({"smoker": ["no", "yes"], "age": ["young", "old", "very old"], "ill": 2})
    >>> model = Structure(domain, [
    ...     {"smoker": "yes", "age": ["old", "very old"], "ill": 1},
    ...     "smoker=yes & ill=1",
    ... ])
    >>> model
    Structure(3 variables, 2 features: smoker=yes & age!=young & ill=1; smoker=yes & ill=1)
    >>> model.restrict("smoker=yes")
    Structure(2 variables, 2 features: age!=young & ill=1; ill=1)
    """

    domain: Domain
    features: Features
    origin: Origin = NOT_RECORDED
    directions: Directions | None = None
    tested: Evidence | None = None  # `evidence` returns it if it is of these features
    given_by_claims: ClassVar[bool] = False  # True for `Claims`
    unit: ClassVar[str] = "feature"  # what `len` counts

    def __init__(
        self,
        domain: Domain | Mapping[str, Sequence[State] | int],
        features: Features | Iterable[Feature] = (),
        *,
        origin: Origin = NOT_RECORDED,
        directions: Directions | None = None,
        tested: Evidence | None = None,
    ) -> None:
        domain = domain if isinstance(domain, Domain) else Domain(domain)
        if isinstance(features, str):
            raise DomainError(f"pass the features as a list, such as [{features!r}]")
        if not isinstance(features, Features):
            features = features_of(domain, (literals_of(domain, f) for f in features))
        elif tuple(features.cardinalities.tolist()) != domain.cardinalities:
            raise DomainError("the cardinalities of the features and of the domain differ")
        elif (features.pairs is not None) != self.given_by_claims:
            raise DomainError("rows that cover one pair each make Claims, not a Structure")
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "directions", directions)
        object.__setattr__(self, "tested", tested)

    @classmethod
    def from_literals(
        cls,
        domain: Domain,
        owners: npt.ArrayLike,
        variables: npt.ArrayLike,
        values: WordArray,
        count: int,
    ) -> tuple[Structure, IntArray]:
        """Make a structure from arrays of literals, as in `contextwise.models.features.normalized`.

        Also returns the index of each raw feature, or -1 if it was dropped.
        """
        features, places = normalized(domain.cardinalities, owners, variables, values, count)
        warn_of_contradictions(int((places < 0).sum()))
        return cls(domain, features), places

    def __len__(self) -> int:
        return len(self.features)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LogLinear) or not isinstance(other, Structure):
            return NotImplemented
        return self.domain == other.domain and self._key == other._key

    def __hash__(self) -> int:
        return hash((self.domain, self._key))

    @cached_property
    def _key(self) -> frozenset[bytes]:
        return frozenset(self.features.rows)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the claims: variables, states, features in any order, and arcs."""
        from hashlib import sha256  # here, as it loads OpenSSL

        arcs = self.directions and sorted(self.directions.arcs)
        digest = sha256(repr((self.domain.names, self.domain.states, arcs)).encode())
        for row in sorted(self.features.rows):
            digest.update(len(row).to_bytes(8, "little") + row)
        return digest.hexdigest()[:16]

    @property
    def evidence(self) -> Evidence | None:
        """The verdicts of rows about the claims; None if these features were never tested."""
        tested = self.tested
        return tested if tested and tested.features == self.fingerprint else None

    def with_evidence(self, evidence: Evidence | None) -> Structure:
        """Return the same structure with this evidence; raise if it is of other features."""
        if evidence and evidence.features != self.fingerprint:
            raise DomainError("this evidence is about another structure; test this one")
        kept: Any = {"origin": self.origin, "directions": self.directions, "tested": evidence}
        return type(self)(self.domain, self.features, **kept)

    def __iter__(self) -> Iterator[dict[str, tuple[str, ...]]]:
        """Yield each feature as a mapping from the names of its scope to the allowed states."""
        states = self.domain.states
        for literals in self.features.literals():
            yield {
                self.domain.names[v]: tuple(s for k, s in enumerate(states[v]) if allowed >> k & 1)
                for v, allowed in literals
            }

    def feature_text(self, feature: int) -> str:
        """Return one feature as text: ``smoker=yes & age!=young``."""
        literals = self.features.literals_of(feature)
        return write_literals(self.domain.literal(*literal) for literal in literals)

    def __repr__(self) -> str:
        shown = [self.feature_text(f) or "(constant)" for f in range(min(len(self), 4))]
        return _repr("Structure", self, shown)

    def _repr_html_(self) -> str:
        html: str = renderers().html_of(self)
        return html

    def scopes(self) -> set[tuple[str, ...]]:
        """Return the distinct scopes of the features, each in the order of the domain."""
        names = self.domain.names
        return {tuple(names[v] for v in scope) for scope in self.features.scopes()}

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of variables that occur together in some feature, in order."""
        names = self.domain.names
        if self.features.pairs is None:
            scopes = self.features.scopes()
            pairs = {pair for scope in scopes for pair in combinations(scope, 2)}
        else:
            pairs = {(i, j) for i, j in self.features.pairs.tolist()}
        return [(names[i], names[j]) for i, j in sorted(pairs)]

    def statistics(self) -> dict[str, float]:
        """Count variables, features, pairs and scopes, and the lengths of features."""
        lengths = self.features.lengths
        return {
            "variables": len(self.domain),
            "features": len(self),
            "mean_length": float(lengths.mean()) if len(self) else 0.0,
            "largest_length": int(lengths.max(initial=0)),
            "pairs": len(self.pairs()),
            "scopes": len(self.features.scopes()),
        }

    @property
    def separation_holds(self) -> bool:
        """Whether two sets are independent given a third that separates them in the graph.

        It does not hold for claims read from numbers with zeros or with a tolerance (see
        `contextwise.convert.by_values`): each is about one pair given all other variables.
        """
        about = self.origin.by_values
        return about is None or about.is_exact

    @property
    def weaker_than(self) -> float | None:
        """The strength below which claims read from numbers count as independent, if it is not 0.

        Such pairs are weaker than that in these contexts, not independent.
        """
        about = self.origin.by_values
        return about.tolerance if about and about.tolerance > ROUNDING else None

    def size_text(self, count: int | None = None) -> str:
        """Write the number of features or regions, and how claims were read from numbers.

        ``count`` is their number as read; a restriction can leave fewer.
        """
        words = plural(len(self) if count is None else count, self.unit)
        return f"{words} by values: {self.rule}" if self.rule else words

    @property
    def rule(self) -> str:
        """How claims were read from numbers, in words; empty if they were not."""
        about = self.origin.by_values
        if about is None:
            return ""
        words = f"dependent where a log odds ratio exceeds {self.weaker_than or 0:g}"
        tables = about.pairs_by_table
        return f"{words}; {plural(tables, 'pair')} taken table by table" if tables else words

    def restrict(self, context: Assignment | Box) -> Structure:
        """Return the structure in a context, over the variables and states that are left there.

        A variable with one state is no variable any more: ``"smoker=yes"``. One with several has
        these states: ``"age=young|old"``.
        """
        box = Box.of(self.domain, context)
        features, _ = restrict(self.features, box.allowed)
        return type(self)(box.inside, features, origin=self.origin.restricted())

    def union(self, other: Structure | LogLinear) -> Structure:
        """Return the features of both structures, aligned by name; also written ``a | b``."""
        aligned = structure_of(other).aligned_to(self.domain)
        features, _ = concatenated(self.features, aligned.features)
        kind = type(aligned if self.features.pairs is None else self)
        read = self if self.origin.by_values else aligned
        return kind(self.domain, features, origin=read.origin.restricted())

    __or__ = union

    def renamed(
        self,
        names: Mapping[str, str] | None = None,
        *,
        states: Mapping[str, Mapping[State, State] | Sequence[State]] | None = None,
    ) -> Structure:
        """Rename some variables and states; see `Domain.renamed`."""
        domain = self.domain.renamed(names, states=states)
        return self._realigned(alignment(self.domain, domain, align="position"))

    def aligned_to(self, domain: Domain, *, align: Align = "names") -> Structure:
        """Return the same structure over another domain.

        Parameters
        ----------
        domain : Domain
        align : "names" or "position"
            By position, variables and states take the names of those of ``domain``.

        Examples
        --------
        >>> learned = Structure({"v0": 2, "v1": 2}, ["v0=1 & v1=0"])
        >>> people = Domain({"smoker": ["no", "yes"], "ill": ["no", "yes"]})
        >>> learned.aligned_to(people, align="position")
        Structure(2 variables, 1 feature: smoker=yes & ill=no)
        """
        if domain == self.domain and align == "names":
            return self
        known = self.with_states_of(domain, align=align)
        return known._realigned(alignment(known.domain, domain, align=align))

    def with_states_of(self, domain: Domain, *, align: Align = "names") -> Structure:
        """Give the graph of a file without states those of another domain's variables.

        Any other structure, and one whose variables do not match, is returned unchanged.
        """
        if not self.origin.unknown_states:
            return self
        matching = list(range(len(domain)))
        if align == "names":
            matching = [domain.positions[n] for n in self.domain.names if n in domain.positions]
        if len(matching) != len(self.domain):
            return self
        from contextwise.models.factors import tables  # imports this module

        names = self.domain.names
        renamed = Domain({name: domain.states[v] for name, v in zip(names, matching, strict=True)})
        origin = replace(self.origin, unknown_states=False)
        features = tables(renamed, sorted(self.features.scopes())).features
        return Structure(renamed, features, origin=origin, directions=self.directions)

    def _realigned(self, over: Alignment) -> Structure:
        features = realigned(self.features, over)
        directions = self.directions and self.directions.aligned(over)
        origin = self.origin
        if origin.numbers is not None:
            origin = replace(origin, numbers=origin.numbers._realigned(over))
        return type(self)(over.target, features, origin=origin, directions=directions)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class LogLinear:
    """A structure and one weight per feature: log p(x) is the sum of the weights that hold at x.

    Parameters
    ----------
    structure : Structure
    weights : floats
        In the order of the structure's features; ``inf`` and ``-inf`` are allowed, NaN is not.

    Examples
    --------
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [0.5])
    >>> model
    LogLinear(2 variables, 1 feature: 0.5 A=1 & B=1)
    """

    structure: Structure
    weights: npt.NDArray[np.float64]

    def __init__(self, structure: Structure, weights: npt.ArrayLike) -> None:
        require_features(structure, "a model with weights")
        try:
            array = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.zeros(())
        if array.ndim != 1:
            raise DomainError(f"weights must be one number for each feature, got {weights!r}")
        if array.shape != (len(structure),):
            raise DomainError(
                f"expected one weight per feature ({len(structure)}), got {array.size}"
            )
        if np.isnan(array).any():
            bad = int(np.flatnonzero(np.isnan(array))[0])
            raise DomainError(
                f"the weight of feature {structure.feature_text(bad)!r} is not a number"
            )
        # A model is immutable, its weights included.
        array.setflags(write=False)
        object.__setattr__(self, "structure", structure)
        object.__setattr__(self, "weights", array)

    @property
    def domain(self) -> Domain:
        """The domain of the structure."""
        return self.structure.domain

    @property
    def origin(self) -> Origin:
        """The origin of the structure; ignored by ``==``."""
        return self.structure.origin

    @property
    def directions(self) -> Directions | None:
        """The arcs and tables, if this is the model of a Bayesian network; ignored by ``==``."""
        return self.structure.directions

    @property
    def evidence(self) -> Evidence | None:
        """The verdicts of rows about the claims; None if these features were never tested."""
        return self.structure.evidence

    def with_evidence(self, evidence: Evidence | None) -> LogLinear:
        """Return the same model with this evidence; raise if it is of other features."""
        return LogLinear(self.structure.with_evidence(evidence), self.weights)

    def __len__(self) -> int:
        return len(self.structure)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LogLinear):
            return NotImplemented
        return self.domain == other.domain and self._weight_of == other._weight_of

    def __hash__(self) -> int:
        return hash((self.domain, frozenset(self._weight_of.items())))

    @cached_property
    def _weight_of(self) -> dict[bytes, float]:
        return dict(zip(self.structure.features.rows, self.weights.tolist(), strict=True))

    def __repr__(self) -> str:
        shown = [
            f"{self.weights[f]:g} {self.structure.feature_text(f)}".rstrip()
            for f in range(min(len(self), 4))
        ]
        return _repr("LogLinear", self, shown)

    def _repr_html_(self) -> str:
        return self.structure._repr_html_()

    def renamed(
        self,
        names: Mapping[str, str] | None = None,
        *,
        states: Mapping[str, Mapping[State, State] | Sequence[State]] | None = None,
    ) -> LogLinear:
        """Rename some variables and states; see `Domain.renamed`."""
        domain = self.domain.renamed(names, states=states)
        return self._realigned(alignment(self.domain, domain, align="position"))

    def aligned_to(self, domain: Domain, *, align: Align = "names") -> LogLinear:
        """Return the same model over another domain; see `Structure.aligned_to`."""
        if domain == self.domain and align == "names":
            return self
        return self._realigned(alignment(self.domain, domain, align=align))

    def _realigned(self, over: Alignment) -> LogLinear:
        return LogLinear(self.structure._realigned(over), self.weights)

    def restrict(self, context: Assignment | Box) -> LogLinear:
        """Return the model in a context; see `Structure.restrict`.

        Raises `DomainError` if a feature of infinite weight cannot hold there.
        """
        box = Box.of(self.domain, context)
        features, places = restrict(self.structure.features, box.allowed)
        for feature in np.flatnonzero((places < 0) & (self.weights == np.inf))[:1].tolist():
            raise DomainError(
                f"the context {box.words} has probability 0: the feature "
                f"{self.structure.feature_text(feature)!r} has the weight inf and cannot hold there"
            )
        weights = np.zeros(len(features))
        # Features that are equal in the context are one feature, with the sum of their weights.
        np.add.at(weights, places[places >= 0], self.weights[places >= 0])
        return LogLinear(Structure(box.inside, features), weights)

    def without_zero_weights(self) -> LogLinear:
        """Drop the features whose weight is exactly 0."""
        keep = self.weights != 0
        kept = Structure(
            self.domain,
            self.structure.features.take(keep),
            origin=self.origin,
            directions=self.directions,
            tested=self.structure.tested,
        )
        return LogLinear(kept, self.weights[keep])


Model = Structure | LogLinear


def structure_of(model: Model) -> Structure:
    """Return the structure of a model; raise `DomainError` if it is not a model."""
    if isinstance(model, LogLinear):
        return model.structure
    if isinstance(model, Structure):
        return model
    raise DomainError(
        f"{type(model).__name__!r} is not a model; pass a Structure, a LogLinear, or the path of a "
        "file (contextwise.convert converts models of other packages)"
    )


def numbers_of(model: Model) -> LogLinear | None:
    """Return a model with weights, or the one that claims were read from; None if there is none."""
    if isinstance(model, LogLinear):
        return model
    return model.origin.numbers


def require_features(model: Model, what: str) -> Structure:
    """Return the structure of a model; raise if the model is given by claims, not by features.

    ``what`` needs the features, as in "fitting weights".
    """
    structure = structure_of(model)
    if structure.given_by_claims:
        raise ContextwiseError(
            f"{what} needs features, and this model is given by its claims about pairs"
        )
    return structure


def _repr(kind: str, model: Model, shown: list[str]) -> str:
    more = len(model) - len(shown)
    shown = [*shown, f"… {more} more"] if more else shown
    sizes = (len(model.domain), "variable"), (len(model), structure_of(model).unit)
    size = ", ".join(plural(count, what) for count, what in sizes)
    return printable(f"{kind}({size}{': ' if shown else ''}{'; '.join(shown)})")


# -- features from what people write ---------------------------------------------------------------


class ContradictionWarning(UserWarning):
    """Features that can never hold were dropped."""


def features_of(domain: Domain, features: Iterable[Iterable[tuple[int, int]]]) -> Features:
    """Make features from lists of (variable, value set as an int)."""
    listed = list(features)
    result, places = normalized(domain.cardinalities, *literal_arrays(domain, listed), len(listed))
    warn_of_contradictions(int((places < 0).sum()))
    return result


def literal_arrays(
    domain: Domain, features: Iterable[Iterable[tuple[int, int]]]
) -> tuple[list[int], list[int], WordArray]:
    """Return the feature, the variable and the value set of each literal."""
    words = words_of(domain.cardinalities)
    owners: list[int] = []
    variables: list[int] = []
    sets: list[int] = []
    for feature, literals in enumerate(features):
        for variable, allowed in literals:
            owners.append(feature)
            variables.append(variable)
            sets.append(allowed)
    values = np.array([as_words(s, words) for s in sets], dtype=np.uint64).reshape(-1, words)
    return owners, variables, values


def warn_of_contradictions(count: int, where: str = "", stacklevel: int = 4) -> None:
    """Warn that features were dropped, if any; ``where`` is the start of the message."""
    if count:
        what = "feature that can" if count == 1 else "features that can"
        message = f"{where}dropped {count} {what} never hold"
        warnings.warn(message, ContradictionWarning, stacklevel=stacklevel)


# -- aligning domains ------------------------------------------------------------------------------


class Alignment(NamedTuple):
    """The index in a target domain of each variable of a source domain, and of each state."""

    target: Domain
    variables: tuple[int, ...]
    states: tuple[tuple[int, ...], ...]


def alignment(source: Domain, target: Domain, *, align: Align = "names") -> Alignment:
    """Align a domain to another one; raise `DomainError` if they do not match.

    Messages call the target the first model and the source the second, as in `compare`.
    """
    if align not in ("names", "position"):
        raise DomainError(f"align must be 'names' or 'position', got {align!r}")
    # Equal domains match by position as well, which is faster.
    by_names = align == "names" and source != target
    return _by_names(source, target) if by_names else _by_position(source, target)


@contextmanager
def named(first: str, second: str) -> Iterator[None]:
    """Put the names of the two models into the error that they do not align."""
    try:
        yield
    except DomainError as error:
        names = f"{first}, {second}: " if first and second else ""
        raise DomainError(f"{names}{error}") from None


def _by_names(source: Domain, target: Domain) -> Alignment:
    advice = (
        ". If they are the same in the same order, align them by position: "
        "--by-position on the command line, align='position' in Python"
    )
    advice = advice if source.cardinalities == target.cardinalities else ""
    missing = [name for name in target.names if name not in source.positions]
    extra = [name for name in source.names if name not in target.positions]
    if missing or extra:
        both = ("first", missing), ("second", extra)
        parts = [f"only the {which} model has {listed(names)}" for which, names in both if names]
        raise DomainError(f"the models have different variables: {'; '.join(parts)}{advice}")
    variables, states = [], []
    for name, labels in zip(source.names, source.states, strict=True):
        place = target.positions[name]
        if set(labels) != set(target.states[place]):
            raise DomainError(
                f"variable {name!r} has different states in the two models: "
                f"{listed(target.states[place])} in the first, {listed(labels)} in the second"
                f"{advice}"
            )
        variables.append(place)
        states.append(tuple(target.state_positions[place][label] for label in labels))
    return Alignment(target, tuple(variables), tuple(states))


def _by_position(source: Domain, target: Domain) -> Alignment:
    if len(source) != len(target):
        raise DomainError(
            f"the models cannot be aligned by position: the first has {len(target)} variables, "
            f"the second {len(source)}"
        )
    cardinalities = zip(target.cardinalities, source.cardinalities, strict=True)
    for v, (first, second) in enumerate(cardinalities):
        if first != second:
            raise DomainError(
                "the models cannot be aligned by position: variable number "
                f"{v + 1}, {target.names[v]!r}, has {first} states in the first model, and "
                f"{source.names[v]!r} has {second} in the second"
            )
    places = tuple(range(len(source)))
    return Alignment(target, places, tuple(tuple(range(c)) for c in source.cardinalities))


def realigned(features: Features, over: Alignment) -> Features:
    """Move features from the source to the target of an alignment; they keep their order."""
    stays = (over.variables, *over.states)
    if all(places == tuple(range(len(places))) for places in stays):
        return features
    variables = np.array(over.variables, dtype=np.int64)[features.variables]
    values = np.zeros_like(features.values)
    for variable, places in enumerate(over.states):
        tested = features.variables == variable
        values[tested] = moved_values(features.values[tested], enumerate(places))
    pairs = features.pairs
    if pairs is not None:
        pairs = np.sort(np.array(over.variables, dtype=np.int32)[pairs], axis=1)
    moved, _ = normalized(
        over.target.cardinalities, features.owners, variables, values, len(features), pairs
    )
    return moved
