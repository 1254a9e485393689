"""Read and write the native format, JSON; ``docs/reference/formats.md`` defines it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from json.decoder import JSONDecoder
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.formats.reading import (
    Source,
    check_states,
    model_of,
    most_literals,
    too_many_literals,
)
from contextwise.models.claims import Claims, claims_of_cubes, read_region
from contextwise.models.directions import Directions, TableError, directions_of
from contextwise.models.domain import Domain
from contextwise.models.evidence import KINDS, VERDICTS, ClaimEvidence, Effect, Evidence
from contextwise.models.features import PairIndex, members, words_of
from contextwise.models.structure import LogLinear, Model, Structure, literals_of, structure_of
from contextwise.support.arrays import IntArray, WordArray

VERSION = 2
"""The newest version; a file without evidence is written as version 1, for older readers."""
_KEYS = (
    "format",
    "version",
    "description",
    "directed",
    "unknown_states",
    "by_values",
    "data",
    "variables",
    "directions",
    "features",
    "claims",
    "weights",
    "evidence",
)
_ABOUT = ("description", "directed", "unknown_states", "by_values", "data")
_BLANK = " \t\n\r"
_INFINITE = {"inf": math.inf, "-inf": -math.inf}

Path = tuple[str | int, ...]
"""The place of a value in a document: ``("features", 3, "smoker")``."""


def read(source: Source) -> Model:
    """Read a ``.json`` file."""
    document = _document(source)
    domain = _domain(source, document["variables"])
    about = {key: document[key] for key in _ABOUT if document.get(key) is not None}
    if "description" in about:
        _text(source, about["description"], ("description",))
    for key in ("directed", "unknown_states"):
        if not isinstance(about.get(key, True), bool):
            raise _error(source, "expected true or false", (key,))
    if "by_values" in about:
        _check_by_values(source, about["by_values"])
    if "data" in about:
        _check_data(source, about["data"])
    if document.get("evidence") is not None:
        about["evidence"] = _evidence(source, domain, document["evidence"])
    directions = document.get("directions")
    if directions is not None:
        directions = _directions(source, domain, directions)
    if "claims" in document:
        info = {"file": source.name, "format": "json", "lines": source.text.count("\n")} | about
        return _claims(source, domain, document["claims"], info=info, directions=directions)
    lengths, variables, values = _literals(source, domain, document["features"])
    weights = document.get("weights")
    if weights is not None:
        weights = _weights(source, weights, len(lengths))
    return model_of(domain, lengths, variables, values, weights, source, "json", about, directions)


def write(model: Model) -> bytes:
    """Write a model as a ``.json`` file, one line per variable and per feature."""
    structure = structure_of(model)
    about = "".join(
        f' "{key}": {_dumped(structure.info[key])},\n' for key in _ABOUT if structure.info.get(key)
    )
    variables = (
        _dumped({"name": name, "states": states})
        for name, states in zip(structure.domain.names, structure.domain.states, strict=True)
    )
    evidence = structure.evidence
    text = (
        f'{{"format": "contextwise", "version": {VERSION if evidence else 1},\n{about}'
        f' "variables": {_lines(variables)},\n'
    )
    if structure.directions is not None:
        items = ",\n  ".join(_direction_texts(structure.domain, structure.directions))
        text += f' "directions": {{\n  {items}\n }},\n'
    if isinstance(structure, Claims):
        text += f' "claims": {_lines(_claim_texts(structure))}'
    else:
        text += f' "features": {_lines(_feature_texts(structure))}'
    if isinstance(model, LogLinear):
        weights = (f'"{w}"' if math.isinf(w) else repr(w) for w in model.weights.tolist())
        text += f',\n "weights": {_lines(weights)}'
    if evidence:
        text += f',\n "evidence": {_evidence_text(evidence)}'
    try:
        return (text + "}\n").encode("utf-8")
    except UnicodeEncodeError as error:
        raise ContextwiseError(
            f"cannot write a name or state that contains {error.object[error.start]!r}, which is "
            "not valid Unicode"
        ) from None


def _feature_texts(structure: Structure) -> Iterator[str]:
    domain = structure.domain

    @cache
    def text_of(variable: int, allowed: int) -> str:
        states = [domain.states[variable][k] for k in members(allowed)]
        value = states[0] if len(states) == 1 else states
        return f"{_dumped(domain.names[variable])}: {_dumped(value)}"

    for literals in structure.features.literals():
        yield "{" + ", ".join(text_of(*literal) for literal in literals) + "}"


def _claim_texts(claims: Claims) -> Iterator[str]:
    for pair, where in claims.regions().items():
        yield _dumped({"pair": pair, "where": True if where == [""] else where})


def _direction_texts(domain: Domain, directions: Directions) -> Iterator[str]:
    columns = zip(domain.names, directions.parents, directions.tables, strict=True)
    for child, (name, parents, table) in enumerate(columns):
        entry: dict[str, Any] = {"parents": [domain.names[p] for p in parents]}
        unknown = [domain.names[p] for p in parents if (p, child) in directions.undirected]
        if unknown:
            entry["undirected"] = unknown
        if table is not None:
            entry["table"] = table.ravel().tolist()
        yield f"{_dumped(name)}: {_dumped(entry)}"


_NUMBER_OR_NONE = (int, float, type(None))
_TYPES: dict[Any, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "float | None": _NUMBER_OR_NONE,
    "str": (str,),
    "str | None": (str, type(None)),
    "bool": (bool,),
    "Mapping[str, Any]": (dict,),
}


def _plain_fields(record: type[Any], *others: str) -> dict[str, tuple[type, ...]]:
    """Return the fields of a record that a file holds as they are, and the types of each."""
    of_record = {field.name: field.type for field in fields(record)}
    return {n: _TYPES[t] for n, t in of_record.items() if t in _TYPES and n not in others}


_ROWS = ("fingerprint", "count", "seen_by_learner", "reading", "subject")
_CLAIM_FIELDS = _plain_fields(ClaimEvidence, "verdict")
_EVIDENCE_FIELDS = _plain_fields(Evidence, *_ROWS)
_ROW_FIELDS = _plain_fields(Evidence, *_EVIDENCE_FIELDS)
_MEASURES: dict[str, Literal["odds ratio", "V"]] = {"odds_ratio": "odds ratio", "v": "V"}


def _evidence_text(evidence: Evidence) -> str:
    about = {"rows": {key: getattr(evidence, key) for key in _ROW_FIELDS}}
    about |= {key: getattr(evidence, key) for key in _EVIDENCE_FIELDS}
    claims = (_dumped(_claim_document(claim)) for claim in evidence.claims)
    return f'{_dumped(about)[:-1]},\n "claims": {_lines(claims)}}}'


def _claim_document(claim: ClaimEvidence) -> dict[str, Any]:
    document: dict[str, Any] = {
        "pair": claim.pair,
        "region": claim.when,
        "claim": claim.claim,
        "verdict": claim.verdict,
        "given": claim.given,
    }
    # What has its usual value is left out.
    usual = {field.name: field.default for field in fields(ClaimEvidence)}
    stored = {key: getattr(claim, key) for key in _CLAIM_FIELDS}
    document |= {key: value for key, value in stored.items() if value != usual[key]}
    if claim.effect:
        name = next(key for key, measure in _MEASURES.items() if measure == claim.effect.measure)
        numbers = {name: claim.effect.value, "low": claim.effect.low, "high": claim.effect.high}
        document["effect"] = {k: None if math.isinf(v) else v for k, v in numbers.items()}
        if claim.effect.differs:
            document["effect"]["differs"] = True
    return document


def _lines(items: Iterator[str]) -> str:
    listed = ",\n  ".join(items)
    return f"[\n  {listed}\n ]" if listed else "[]"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- reading: from the text to checked values -----------------------------------------------------


class _Repeated(dict[str, Any]):
    """An object in which a key occurs twice."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            return _Repeated(key)
        made[key] = value
    return made


def _int(digits: str) -> int | float:
    """Parse an int; one with hundreds of digits counts as infinite, and is refused later."""
    return int(digits) if len(digits) < 300 else math.inf


def _document(source: Source) -> dict[str, Any]:
    """Parse the file; check its keys and its version."""
    if not source.text.strip():
        raise source.error("the file is empty", 1)
    try:
        document = json.loads(source.text, object_pairs_hook=_object, parse_int=_int)
    except json.JSONDecodeError as error:
        raise source.error(f"this is not valid JSON: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise source.error(f"this is not valid JSON: {reason}") from None
    _check_object(source, document, ())
    if document.get("format") != "contextwise":
        raise _error(source, 'expected "format": "contextwise"', ("format",))
    version = document.get("version")
    if version not in range(1, VERSION + 1) or isinstance(version, bool | float):
        message = f"unknown version {repr(version)[:30]}; expected 1 or {VERSION}"
        if isinstance(version, int) and version > VERSION:
            message = f"the file has version {version}, and this contextwise reads up to {VERSION}"
            message += "; install a newer contextwise"
        raise _error(source, message, ("version",))
    model = "claims" if "claims" in document else "features"
    for key in ("variables", model):
        if key not in document:
            raise _error(source, f"the key {key!r} is missing", ())
    for key in ("features", "weights"):
        if model == "claims" and key in document:
            raise _error(source, f"a model has either 'claims' or {key!r}", (key,))
    unknown = [key for key in document if key not in _KEYS]
    if unknown:
        raise _error(
            source, f"unknown key {unknown[0]!r}; the keys are {', '.join(_KEYS)}", (unknown[0],)
        )
    return dict(document)


def _domain(source: Source, variables: Any) -> Domain:
    _check_list(source, variables, ("variables",))
    domain: dict[str, tuple[str, ...]] = {}
    for i, variable in enumerate(variables):
        here: Path = ("variables", i)
        _check_object(source, variable, here)
        if set(variable) != {"name", "states"}:
            raise _error(source, 'expected {"name": …, "states": […]}', here)
        name = _text(source, variable["name"], (*here, "name"))
        if name in domain:
            raise _error(source, f"two variables have the name {name!r}", here)
        _check_list(source, variable["states"], (*here, "states"))
        try:
            (domain[name],) = Domain({name: variable["states"]}).states
        except DomainError as error:
            raise _error(source, str(error), here) from None
        for state in domain[name]:
            _text(source, state, here)
    check_states(source, [len(states) for states in domain.values()])
    return Domain(domain)


def _literals(
    source: Source, domain: Domain, features: Any
) -> tuple[IntArray, IntArray, WordArray]:
    """Return the number of literals of each feature, and the variables and value sets."""
    _check_list(source, features, ("features",))
    most = most_literals(source, domain.cardinalities)
    lengths: list[int] = []
    variables: list[int] = []
    sets: list[int] = []
    for i, feature in enumerate(features):
        _check_object(source, feature, ("features", i))
        for name, states in feature.items():
            try:
                variable = domain.position(name)
                allowed = states if isinstance(states, list) else [states]
                sets.append(domain.value_set(variable, allowed))
            except DomainError as error:
                raise _error(source, str(error), ("features", i, name)) from None
            variables.append(variable)
        lengths.append(len(feature))
        if len(variables) > most:
            raise too_many_literals(source, most)
    words = words_of(domain.cardinalities)
    data = b"".join(value_set.to_bytes(8 * words, "little") for value_set in sets)
    return (
        np.array(lengths, dtype=np.int64),
        np.array(variables, dtype=np.int64),
        np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(-1, words),
    )


def _check_by_values(source: Source, about: Any) -> None:
    """Check how the claims were read from numbers; see `contextwise.convert.by_values`."""
    _check_object(source, about, ("by_values",))
    kinds = {"tolerance": (int, float), "zeros": (bool,), "pairs_by_table": (int,)}
    if about.keys() != kinds.keys() or any(
        not isinstance(about[key], kind) for key, kind in kinds.items()
    ):
        raise _error(source, f"expected an object with {', '.join(kinds)}", ("by_values",))


def _check_data(source: Source, data: Any) -> None:
    """Check how rows were read; see `contextwise.data.Data.decisions`."""
    _check_object(source, data, ("data",))
    kinds: dict[str, type] = {"dropped": list, "bins": dict, "na": list}
    kinds |= dict.fromkeys(("missing", "counts", "subject"), str)
    for key, value in data.items():
        texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        if not isinstance(value, kinds.get(key, ())) or not all(isinstance(t, str) for t in texts):
            raise _error(source, f"expected an object with {', '.join(kinds)}", ("data", key))


def _claims(source: Source, domain: Domain, claims: Any, **about: Any) -> Claims:
    _check_list(source, claims, ("claims",))
    cubes: dict[PairIndex, list[dict[int, int]]] = {}
    for i, claim in enumerate(claims):
        here: Path = ("claims", i)
        _check_object(source, claim, here)
        if set(claim) != {"pair", "where"}:
            raise _error(source, 'expected {"pair": [A, B], "where": […] or true}', here)
        _check_list(source, claim["pair"], (*here, "pair"))
        try:
            pair, region = read_region(domain, tuple(claim["pair"]), claim["where"])
        except (DomainError, ParseError) as error:
            raise _error(source, str(error), here) from None
        if pair in cubes:
            raise _error(source, "this pair is listed twice", here)
        cubes[pair] = list(map(dict, region))
    try:
        return claims_of_cubes(domain, cubes, **about)
    except DomainError as error:
        raise _error(source, str(error), ("claims",)) from None


def _evidence(source: Source, domain: Domain, document: Any) -> Evidence:
    """Read the verdicts of rows; they are shown only if they belong to the features."""
    here: Path = ("evidence",)
    _check_object(source, document, here)
    about = _fields(source, document, _EVIDENCE_FIELDS, here)
    _check_object(source, document.get("rows"), (*here, "rows"))
    about |= _fields(source, document["rows"], _ROW_FIELDS, (*here, "rows"))
    _check_list(source, document.get("claims"), (*here, "claims"))
    claims = (
        _claim_evidence(source, domain, claim, (*here, "claims", k))
        for k, claim in enumerate(document["claims"])
    )
    return Evidence(claims=tuple(claims), **about)


def _claim_evidence(source: Source, domain: Domain, claim: Any, here: Path) -> ClaimEvidence:
    _check_object(source, claim, here)
    for key, allowed in (("claim", KINDS), ("verdict", VERDICTS)):
        if claim.get(key) not in allowed:
            raise _error(source, f"expected one of {', '.join(allowed)}", (*here, key))
    for key in ("pair", "given"):
        _check_list(source, claim.get(key), (*here, key))
    try:
        first, second = domain.pair(map(str, claim["pair"]))
        given = tuple(domain.names[domain.position(name)] for name in claim["given"])
        region = tuple(
            domain.literal(*literal)
            for literal in literals_of(domain, _text(source, claim.get("region"), here))
        )
    except (DomainError, ParseError) as error:
        raise _error(source, str(error), here) from None
    present = {key: kinds for key, kinds in _CLAIM_FIELDS.items() if key in claim or key == "rows"}
    return ClaimEvidence(
        pair=(domain.names[first], domain.names[second]),
        region=region,
        claim=claim["claim"],
        verdict=claim["verdict"],
        given=given,
        effect=_effect(source, claim["effect"], (*here, "effect")) if "effect" in claim else None,
        **_fields(source, claim, present, here),
    )


def _effect(source: Source, effect: Any, here: Path) -> Effect:
    _check_object(source, effect, here)
    names = [name for name in _MEASURES if name in effect]
    if not names:
        raise _error(source, f"expected one of {', '.join(_MEASURES)}", here)
    kinds = dict.fromkeys((names[0], "low", "high"), _NUMBER_OR_NONE)
    value, low, high = (
        math.inf if number is None else float(number)
        for number in _fields(source, effect, kinds, here).values()
    )
    return Effect(_MEASURES[names[0]], value, low, high, effect.get("differs") is True)


def _fields(
    source: Source, document: Any, kinds: Mapping[str, tuple[type, ...]], here: Path
) -> dict[str, Any]:
    """Return some values of an object; raise if one is missing or of another kind."""
    for key, kind in kinds.items():
        value = document.get(key, ...)
        is_bool = isinstance(value, bool) and bool not in kind
        is_wild = isinstance(value, float) and not math.isfinite(value)
        if not isinstance(value, kind) or is_bool or is_wild:
            names = " or ".join("null" if k is type(None) else k.__name__ for k in kind)
            raise _error(source, f"expected {key!r} of type {names}", (*here, key))
    return {key: document[key] for key in kinds}


def _weights(
    source: Source, weights: Any, count: int, path: Path = ("weights",)
) -> npt.NDArray[np.float64]:
    """Return a list of numbers; ``count`` is the number of features, or of cells of a table."""
    _check_list(source, weights, path)
    of_features = path == ("weights",)
    if len(weights) != count:
        wanted = f"weights for {count} features" if of_features else f"numbers, expected {count}"
        raise _error(source, f"{len(weights)} {wanted}", path)
    values = np.empty(count)
    for i, weight in enumerate(weights):
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if of_features and isinstance(weight, str) and weight in _INFINITE:
            values[i] = _INFINITE[weight]
        elif is_number and math.isfinite(weight):
            values[i] = weight
        else:
            message = "expected a probability"
            if of_features:
                message = 'a weight is a number within the range of a float, "inf" or "-inf"'
            raise _error(source, message, (*path, i))
    return values


def _directions(source: Source, domain: Domain, directions: Any) -> Directions:
    """Check the arcs and tables; a variable that is left out has no parents and no table."""
    _check_object(source, directions, ("directions",))
    parents: list[list[int]] = [[] for _ in domain.names]
    tables: list[npt.NDArray[np.float64] | None] = [None for _ in domain.names]
    undirected: set[PairIndex] = set()
    for name, entry in directions.items():
        here: Path = ("directions", name)
        _check_object(source, entry, here)
        if not {"parents"} <= entry.keys() <= {"parents", "undirected", "table"}:
            raise _error(source, 'expected {"parents": […], "table": […]}', here)
        for key in ("parents", "undirected"):
            _check_list(source, entry.setdefault(key, []), (*here, key))
        try:
            child = domain.position(name)
            parents[child] = [domain.position(parent) for parent in entry["parents"]]
            undirected |= {(domain.position(parent), child) for parent in entry["undirected"]}
        except DomainError as error:
            raise _error(source, str(error), here) from None
        if not set(entry["undirected"]) <= set(entry["parents"]):
            raise _error(source, "expected some of the parents", (*here, "undirected"))
        if "table" in entry:
            shape = [domain.cardinalities[v] for v in (*parents[child], child)]
            values = _weights(source, entry["table"], math.prod(shape), (*here, "table"))
            tables[child] = values.reshape(shape)
    try:
        return replace(directions_of(domain, parents, tables), undirected=frozenset(undirected))
    except TableError as error:
        here = ("directions", domain.names[error.child])
        raise _error(source, str(error), here) from None
    except DomainError as error:
        raise _error(source, str(error), ("directions",)) from None


def _check_object(source: Source, value: Any, path: Path) -> None:
    if not isinstance(value, dict):
        raise _error(source, "expected an object, {…}", path)
    if isinstance(value, _Repeated):
        raise _error(source, f"the key {value.key!r} occurs twice", (*path, value.key))


def _check_list(source: Source, value: Any, path: Path) -> None:
    if not isinstance(value, list):
        raise _error(source, "expected a list, […]", path)


def _text(source: Source, value: Any, path: Path) -> str:
    if not isinstance(value, str):
        raise _error(source, "expected a text", path)
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise _error(source, f"{value[:20]!r} is not valid Unicode", path)
    return value


def _error(source: Source, message: str, path: Path) -> ContextwiseError:
    """Return an error at a value, such as ``features[3].smoker``."""
    place = ""
    for step in path:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    return source.error(f"{place}: {message}" if place else message, _line_of(source.text, path))


# -- the line of a value, which the standard decoder does not report -------------------------------


def _line_of(text: str, path: Path) -> int:
    """Return the line of the value at ``path`` of a valid document, or of its parent."""
    at = _skip(text, 0)
    for step in path:
        start = _child(text, at, step)
        if start is None:
            break
        at = start
    return text.count("\n", 0, at) + 1


def _child(text: str, at: int, step: str | int) -> int | None:
    """Return the start of the value of a key (of equal keys, the last), or of a list item."""
    decode = JSONDecoder().raw_decode
    closing = {"{": "}", "[": "]"}.get(text[at : at + 1])
    start, index = None, 0
    at = _skip(text, at + 1)
    while closing and text[at] != closing:
        key: str | int = index
        if closing == "}":
            key, at = decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if key == step:
            start = at
        at = _skip(text, decode(text, at)[1])
        at = _skip(text, at + (text[at] == ","))
        index += 1
    return start


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
