"""The files of the Libra toolkit: Markov networks ``.mn``, and ``.bn`` and ``.dn``, read only.

Their grammar is in `contextwise.formats.libra_grammar`.

**Markov networks.** A ``.mn`` file that we write is one that Libra reads, and it comes back equal.
Libra knows neither names of variables and states nor features without weights, but it ignores what
follows the last brace; so there we keep, on one line, what else there is to say::

    2,2
    MN {
    0 +v0_1 +v1_1
    }
    contextwise 1 {"weights": false, "names": ["smoker", "ill"], "states": [["no", "yes"], …]}

``weights`` is false for a `Structure` (Libra sees features with the weight 0, ready for learning),
``names`` and ``states`` are left out where they are ``v0``, ``v1``, … and ``"0"``, ``"1"``, ….
A program that rewrites the file drops the line, and with it these names.

**Bayesian and dependency networks.** The factors of each variable stand in a block of its own;
their values are logs of conditional probabilities::

    2,2
    BN {
    v0 {
    tree { (v0_0 -0.1 -2.3) }
    }
    v1 {
    -0.3 +v0_1 +v1_1
    }
    }

The features are those of the factors, as when Libra itself converts such a file to ``.mn``. A
``.bn`` file gives a `LogLinear`: a product of conditional distributions is a log-linear model whose
weights are these logs (if they are normalised, as those of trees and tables are). The conditional
distributions of a dependency network need not fit together in one joint distribution, so a ``.dn``
file gives a `Structure`.

**The compiled scanner** reads what is well formed, from bytes to arrays without an object per
literal. At anything else it gives up without a word, and the grammar in plain Python reads the file
again and says what is wrong. Where the scanner was not built, the grammar reads everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats.libra_grammar import Listing, header, parse, text_of
from contextwise.formats.reading import Format, ListedFeatures, Source, model_of, most_literals
from contextwise.models.domain import Domain
from contextwise.models.features import WORD, all_values, members, words_of
from contextwise.models.structure import LogLinear, Model, structure_of

try:
    from contextwise.formats import _scan
except ImportError:  # built without a compiler
    _scan = None  # type: ignore[assignment]

_REMARK = "contextwise "
_VERSION = "1"


# -- from bytes to listed features -----------------------------------------------------------------


def available() -> bool:
    """Whether the compiled scanner was built."""
    return _scan is not None


def listing_of(source: Source, keyword: str) -> Listing:
    """What a file lists whose factors follow the keyword ``MN``, ``BN`` or ``DN``.

    >>> listing_of(Source(b"2,3\\nMN {\\n0.5 +v0_1 -v1_2\\n}\\n", "small.mn"), "MN").tests
    array([2, 9])
    """
    found = scanned(source, keyword) if available() else None
    return parse(source, keyword) if found is None else found


def scanned(source: Source, keyword: str) -> Listing | None:
    """The listing by the compiled scanner; None if it met something that it does not understand."""
    text = text_of(source)
    cardinalities, at = header(source, text)
    found = _scan.scan(
        text.encode("latin-1") if b"\r" in source.data else source.data,
        at,
        keyword,
        np.array(cardinalities, dtype=np.int64),
        most_literals(source, cardinalities),
    )
    if found is None:
        return None
    lengths, tests, weights, end = found
    return Listing(
        cardinalities,
        lengths,
        tests,
        weights if len(weights) else None,
        text[end:],
        text.count("\n", 0, end) + 1,
    )


def listed_features(
    listing: Listing, domain: Domain, weights: npt.NDArray[np.float64] | None
) -> ListedFeatures:
    """The tests of a listing as value sets.

    Parameters
    ----------
    listing : Listing
    domain : Domain
    weights : one weight per feature, or None

    Examples
    --------
    >>> listing = Listing([2, 3], np.array([2]), np.array([2, 9]), None, "", 4)
    >>> listed_features(listing, Domain({"A": 2, "B": 3}), None).values
    array([[2], [3]], dtype=uint64)
    """
    cardinalities = np.array(listing.cardinalities, dtype=np.int64)
    before = np.cumsum(cardinalities) - cardinalities
    states = listing.tests >> 1
    variables = np.repeat(np.arange(len(cardinalities)), cardinalities)[states]
    places = states - before[variables]
    values = np.zeros((len(states), words_of(cardinalities)), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (places % WORD).astype(np.uint64))
    values[np.arange(len(states)), places // WORD] = bits
    negated = (listing.tests & 1).astype(np.uint64)
    values ^= all_values(cardinalities)[variables] * negated[:, None]
    return ListedFeatures(domain, listing.lengths, variables, values, weights)


# -- reading ---------------------------------------------------------------------------------------


def read_mn(source: Source) -> Model:
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
    return model_of(listed_features(listing, domain, weights), source, "mn")


def read_bn(source: Source) -> Model:
    """Read a ``.bn`` file.

    >>> read_bn(Source(b"2\\nBN {\\nv0 {\\ntree { (v0_0 -0.1 -2.3) }\\n}\\n}", "small.bn"))
    LogLinear(1 variable, 2 features: -0.1 v0=0; -2.3 v0=1)
    """
    listing = listing_of(source, "BN")
    domain = Domain.of_cardinalities(listing.cardinalities)
    return model_of(listed_features(listing, domain, listing.weights), source, "bn")


def read_dn(source: Source) -> Model:
    """Read a ``.dn`` file.

    >>> read_dn(Source(b"2\\nDN {\\nv0 {\\ntree { (v0_0 -0.1 -2.3) }\\n}\\n}", "small.dn"))
    Structure(1 variable, 2 features: v0=0; v0=1)
    """
    listing = listing_of(source, "DN")
    domain = Domain.of_cardinalities(listing.cardinalities)
    return model_of(listed_features(listing, domain, None), source, "dn")


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


# -- writing ---------------------------------------------------------------------------------------


def write_mn(model: Model) -> bytes:
    """A model as a ``.mn`` file; a value set of several values is written as what it excludes.

    >>> from contextwise.models.structure import Structure
    >>> print(write_mn(Structure({"A": 2, "v1": 3}, ["A=1 & v1!=0"])).decode())
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


def looks_like(keyword: str) -> Callable[[bytes], bool]:
    """Whether data start with a line of cardinalities and this keyword."""
    pattern = re.compile(rb"[\s0-9,]+" + keyword.encode() + rb"\s*\{", re.IGNORECASE)
    return lambda data: pattern.match(data) is not None


MN = Format("mn", (".mn",), read_mn, write_mn, looks_like("MN"))
BN = Format("bn", (".bn",), read_bn, None, looks_like("BN"))
DN = Format("dn", (".dn",), read_dn, None, looks_like("DN"))
