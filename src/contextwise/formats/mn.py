"""Markov networks as the Libra toolkit keeps them: ``.mn``. See `contextwise.formats.libra`.

A file that we write is one that Libra reads, and it comes back equal. Libra knows neither names of
variables and states nor features without weights, but it ignores what follows the last brace; so
there we keep, on one line, what else there is to say::

    2,2
    MN {
    0 +v0_1 +v1_1
    }
    contextwise 1 {"weights": false, "names": ["smoker", "ill"], "states": [["no", "yes"], …]}

``weights`` is false for a `Structure` (Libra sees features with the weight 0, ready for learning),
``names`` and ``states`` are left out where they are ``v0``, ``v1``, … and ``"0"``, ``"1"``, ….
A program that rewrites the file drops the line, and with it these names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats.assembly import assembled
from contextwise.formats.listing import Listing, listed_features, looks_like
from contextwise.formats.scan import listing_of
from contextwise.formats.source import Format, Source
from contextwise.models.domain import Domain
from contextwise.models.features import members
from contextwise.models.structure import LogLinear, Model, structure_of

_REMARK = "contextwise "
_VERSION = "1"


def read(source: Source) -> Model:
    """Read a ``.mn`` file."""
    listing = listing_of(source, "MN")
    remark = _remark_of(source, listing)
    weights = listing.weights
    if remark.get("weights") is False:
        weights = None
    elif remark.get("weights") is True and weights is None:
        weights = np.zeros(len(listing.lengths))
    domain = Domain.of_cardinalities(listing.cardinalities)
    if "names" in remark or "states" in remark:
        names, states = remark.get("names", domain.names), remark.get("states", domain.states)
        domain = _named(source, listing, names, states)
    return assembled(listed_features(listing, domain, weights), source, "mn")


def write(model: Model) -> bytes:
    """A model as a ``.mn`` file; a value set of several values is written as what it excludes.

    >>> from contextwise.models.structure import Structure
    >>> print(write(Structure({"A": 2, "v1": 3}, ["A=1 & v1!=0"])).decode())
    2,3
    MN {
    0 +v0_1 -v1_0
    }
    contextwise 1 {"weights": false, "names": ["A", "v1"]}
    """
    domain = structure_of(model).domain
    if not domain.names:
        raise ContextwiseError("a .mn file needs at least one variable; write .json instead")
    lines = [",".join(map(str, domain.cardinalities)), "MN {", *_feature_lines(model), "}"]
    remark = _remark_for(model)
    if remark:
        lines.append(f"{_REMARK}{_VERSION} {json.dumps(remark)}")
    return "\n".join([*lines, ""]).encode("ascii")


def _feature_lines(model: Model) -> Iterator[str]:
    structure = structure_of(model)
    cardinalities = structure.domain.cardinalities

    @cache
    def text_of(variable: int, allowed: int) -> str:
        if allowed.bit_count() == 1:
            return f" +v{variable}_{allowed.bit_length() - 1}"
        refused = allowed ^ ((1 << cardinalities[variable]) - 1)
        return "".join(f" -v{variable}_{k}" for k in members(refused))

    # repr gives the shortest digits that come back as the same float
    weights = map(repr, model.weights.tolist()) if isinstance(model, LogLinear) else None
    for literals in structure.features.literals():
        weight = next(weights) if weights is not None else "0"
        yield weight + "".join(text_of(*literal) for literal in literals)


def _remark_for(model: Model) -> dict[str, Any]:
    """What Libra has no place for; empty if there is nothing to say."""
    domain = structure_of(model).domain
    plain = Domain.of_cardinalities(domain.cardinalities)
    remark: dict[str, Any] = {}
    if not isinstance(model, LogLinear):
        remark["weights"] = False
    elif not len(model):
        remark["weights"] = True  # nothing else in the file would tell
    if domain.names != plain.names:
        remark["names"] = domain.names
    if domain.states != plain.states:
        remark["states"] = domain.states
    return remark


def _remark_of(source: Source, listing: Listing) -> dict[str, Any]:
    """The remark after the last brace; text that is none of ours is ignored."""
    line = listing.rest.lstrip().split("\n", 1)[0].strip()
    if not line.startswith(_REMARK):
        return {}
    version, _, text = line.removeprefix(_REMARK).partition(" ")
    if version != _VERSION:
        raise _remark_error(source, listing, f"unknown version {version[:20]!r}")
    try:
        remark = json.loads(text)
    except (ValueError, RecursionError):
        raise _remark_error(source, listing, "this is not valid JSON") from None
    if not isinstance(remark, dict) or not remark.keys() <= {"weights", "names", "states"}:
        raise _remark_error(source, listing, "expected the keys weights, names, states")
    return remark


def _named(source: Source, listing: Listing, names: Any, states: Any) -> Domain:
    try:
        if len(names) != len(set(names)):
            raise DomainError("two variables have one name")
        domain = Domain(dict(zip(names, states, strict=True)))
    except (DomainError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, DomainError) else "names or states do not match"
        raise _remark_error(source, listing, reason) from None
    if list(domain.cardinalities) != listing.cardinalities:
        raise _remark_error(source, listing, "the states do not match the first line of the file")
    return domain


def _remark_error(source: Source, listing: Listing, reason: str) -> ContextwiseError:
    blank = len(listing.rest) - len(listing.rest.lstrip())
    line = listing.line + listing.rest.count("\n", 0, blank)
    return source.error(f"the remark after the last brace: {reason}", line)


FORMAT = Format("mn", (".mn",), read, write, looks_like("MN"))
