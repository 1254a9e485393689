"""Read and write the native format, JSON; ``docs/reference/formats.md`` defines it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from json.decoder import JSONDecoder
from typing import Any

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
from contextwise.formats.schema import Condition, Kind, Path, Range, Repeated, first_problem
from contextwise.models.claims import Claims, claims_of_cubes, read_region
from contextwise.models.directions import Directions, TableError, directions_of
from contextwise.models.domain import Domain, literals_of
from contextwise.models.evidence import VERDICTS, ClaimEvidence, Effect, Evidence
from contextwise.models.features import PairIndex, members, words_of
from contextwise.models.origin import ByValues, LearnedBy, ModelFile, Origin
from contextwise.models.pair_regions import KINDS
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.support.arrays import IntArray, WordArray

VERSION = 1
_BLANK = " \t\n\r"
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def read(source: Source) -> Model:
    """Read a ``.json`` file."""
    document = _document(source)
    domain = _domain(source, document["variables"])
    about = _origin(document)
    tested = _evidence(source, domain, document["evidence"]) if "evidence" in document else None
    directions = None
    if "directions" in document:
        directions = _directions(source, domain, document["directions"])
    if "numbers" in document:
        inner = _literals(source, domain, document["numbers"]["features"])
        path = ("numbers", "weights")
        own_weights = _weights(source, document["numbers"]["weights"], len(inner[0]), path)
        numbers = model_of(domain, *inner, own_weights, source, directions=directions)
        about = replace(about, numbers=numbers if isinstance(numbers, LogLinear) else None)
    if "claims" in document:
        file = ModelFile(name=source.name, format="json", lines=source.text.count("\n"))
        kept = {"origin": replace(about, file=file), "directions": directions}
        model: Model = _claims(source, domain, document["claims"], **kept)
    else:
        lengths, variables, values = _literals(source, domain, document["features"])
        weights = None
        if "weights" in document:
            weights = _weights(source, document["weights"], len(lengths))
        model = model_of(domain, lengths, variables, values, weights, source, about, directions)
    if tested and tested.features == structure_of(model).fingerprint:
        return model.with_evidence(tested)
    return model


def write(model: Model) -> bytes:
    """Write a model as a ``.json`` file, one line per variable and per feature."""
    structure, evidence = structure_of(model), model.evidence
    domain = structure.domain
    parts = {key: _dumped(value) for key, value in _of_origin(structure.origin).items() if value}
    variables = zip(domain.names, domain.states, strict=True)
    parts["variables"] = _lines(_dumped({"name": n, "states": s}) for n, s in variables)
    if structure.directions is not None:
        items = ",\n  ".join(_direction_texts(domain, structure.directions))
        parts["directions"] = f"{{\n  {items}\n }}"
    if isinstance(structure, Claims):
        parts["claims"] = _lines(_claim_texts(structure))
    else:
        parts["features"] = _lines(_feature_texts(structure))
    if isinstance(model, LogLinear):
        parts["weights"] = _weight_texts(model)
    numbers = structure.origin.numbers
    if numbers is not None and numbers is not model:
        features = _lines(_feature_texts(numbers.structure))
        parts["numbers"] = f'{{"features": {features},\n "weights": {_weight_texts(numbers)}}}'
    if evidence:
        parts["evidence"] = _evidence_text(evidence)
    text = f'{{"format": "contextwise", "version": {VERSION}'
    text += "".join(f',\n "{key}": {part}' for key, part in parts.items())
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


def _weight_texts(model: LogLinear) -> str:
    return _lines(f'"{w}"' if math.isinf(w) else repr(w) for w in model.weights.tolist())


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
        hidden = sorted(b for a, b in directions.confounded if a == child)
        if hidden:
            entry["confounded"] = [domain.names[v] for v in hidden]
        if table is not None:
            entry["table"] = table.ravel().tolist()
        yield f"{_dumped(name)}: {_dumped(entry)}"


def _of_origin(origin: Origin) -> dict[str, Any]:
    """Return the keys of a file about the origin, but for the facts of the file itself."""
    return {
        "description": origin.description,
        "learned": origin.learned and origin.learned._asdict(),
        "directed": origin.directed,
        "unknown_states": origin.unknown_states,
        "by_values": origin.by_values and origin.by_values._asdict(),
        "data": dict(origin.reading),
    }


def _origin(document: dict[str, Any]) -> Origin:
    """Return the origin that a file records."""
    return Origin(
        description=document.get("description", ""),
        learned=LearnedBy(**document["learned"]) if "learned" in document else None,
        reading=document.get("data", {}),
        unknown_states=document.get("unknown_states", False),
        directed=document.get("directed", False),
        by_values=ByValues(**document["by_values"]) if "by_values" in document else None,
    )


def _evidence_text(evidence: Evidence) -> str:
    about = {"rows": {key: getattr(evidence, key) for key in _OF_ROWS}}
    about |= {key: getattr(evidence, key) for key in _OF_EVIDENCE}
    claims = (_dumped(_claim_document(claim)) for claim in evidence.claims)
    return f'{_dumped(about)[:-1]},\n "claims": {_lines(claims)}}}'


_EFFECT = {"v": "value", "low": "low", "high": "high"}


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
    stored = {key: getattr(claim, key) for key in _PLAIN_OF_CLAIM}
    document |= {key: value for key, value in stored.items() if value != usual[key]}
    if claim.effect:
        document["effect"] = {name: getattr(claim.effect, key) for name, key in _EFFECT.items()}
    return document


def _lines(items: Iterator[str]) -> str:
    listed = ",\n  ".join(items)
    return f"[\n  {listed}\n ]" if listed else "[]"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- what a document holds -------------------------------------------------------------------------

_TEXT, _FLAG, _WHOLE, _NUMBER = (str,), (bool,), (int,), (int, float)
_NUMBER_OR_NONE = (*_NUMBER, type(None))
_TYPES: dict[Any, tuple[type, ...]] = {
    "int": _WHOLE,
    "int | Fraction": _WHOLE,
    "float": _NUMBER,
    "float | None": _NUMBER_OR_NONE,
    "str": _TEXT,
    "str | None": (str, type(None)),
    "bool": _FLAG,
    "Mapping[str, Any]": (dict,),
}
_SHARE, _COUNT, _SIZE = Range(0, 1), Range(0, math.inf, _WHOLE), Range(0, math.inf)
_RANGES = {
    **dict.fromkeys(("p", "adjusted", "level"), _SHARE),
    **dict.fromkeys(("rows", "size", "freedom", "count"), _COUNT),
    **dict.fromkeys(("regions_left_out", "pairs_left_out", "unfinished"), _COUNT),
    "could_show": _SIZE,
}
"""The ranges of numbers that a record holds, by their names."""


def _plain_fields(record: type[Any]) -> dict[str, Kind]:
    """Return the fields of a record that a file holds unchanged, and the kind of each."""
    of_record = {field.name: field.type for field in fields(record)}
    kinds = {name: _TYPES[kind] for name, kind in of_record.items() if kind in _TYPES}
    return {
        name: _RANGES[name].also(type(None))
        if name in _RANGES and type(None) in kind
        else _RANGES.get(name, kind)
        for name, kind in kinds.items()
    }


_PLAIN_OF_CLAIM = {name: k for name, k in _plain_fields(ClaimEvidence).items() if name != "verdict"}
_PLAIN_OF_EVIDENCE = _plain_fields(Evidence)
_OF_ROWS = ("fingerprint", "count", "seen_by_learner", "reading", "subject")
_OF_EVIDENCE = [name for name in _PLAIN_OF_EVIDENCE if name not in _OF_ROWS]


def _is_corrected(claim: dict[str, Any]) -> bool:
    return (claim.get("p") is None) == (claim.get("adjusted") is None)


def _is_interval(effect: dict[str, Any]) -> bool:
    return bool(effect["low"] <= effect["v"] <= effect["high"])


_EVIDENCE_KIND = {
    **{name: _PLAIN_OF_EVIDENCE[name] for name in _OF_EVIDENCE},
    "rows": {**{name: _PLAIN_OF_EVIDENCE[name] for name in _OF_ROWS}, "*": Any},
    "claims": [
        {
            "pair": [_TEXT],
            "region": _TEXT,
            "claim": frozenset(KINDS),
            "verdict": frozenset(VERDICTS),
            "given": [_TEXT],
            **{f"{name}?": kind for name, kind in _PLAIN_OF_CLAIM.items()},
            "rows": _COUNT,
            "effect?": {
                **dict.fromkeys(_EFFECT, _SHARE),
                "": Condition("low must be <= the effect, and that <= high", _is_interval),
                "*": Any,
            },
            "": Condition("'p' and 'adjusted' must be there together", _is_corrected),
            "*": Any,
        }
    ],
    "*": Any,
}
_DOCUMENT = {
    "format": Any,
    "version": Any,
    "description?": _TEXT,
    "directed?": _FLAG,
    "unknown_states?": _FLAG,
    "by_values?": {"tolerance": _NUMBER, "zeros": _FLAG, "pairs_by_table": _WHOLE},
    "learned?": {
        "learner": _TEXT,
        "parameters": {"*": Any},
        "rows": _WHOLE,
        "fingerprint": _TEXT,
        "version": _TEXT,
        "finished": _FLAG,
        "reason?": _TEXT,
        "by_test?": _FLAG,
    },
    "data?": {
        "dropped?": [_TEXT],
        "bins?": (dict,),
        "missing?": _TEXT,
        "na?": [_TEXT],
        "merge?": [_TEXT],
        "decimal?": [_TEXT],
        "counts?": _TEXT,
        "subject?": _TEXT,
        "row_weights?": _TEXT,
        "ordered?": [_TEXT],
        "in_order?": [_TEXT],
    },
    "variables": [{"name": _TEXT, "states": (list,)}],
    "directions?": {
        "*": {"parents": [_TEXT], "undirected?": [_TEXT], "confounded?": [_TEXT], "table?": (list,)}
    },
    "features?": (list,),
    "claims?": [{"pair": [_TEXT], "where": Any}],
    "weights?": (list,),
    "numbers?": {"features": (list,), "weights": (list,)},
    "evidence?": _EVIDENCE_KIND,
}
"""The kind of each value, as `contextwise.formats.schema` describes kinds."""


def _check(source: Source, value: Any, kind: Kind, path: Path) -> None:
    """Raise if a value is not of a kind; for evidence, explain how to load the features."""
    problem = first_problem(value, kind, path)
    if problem is not None:
        message, place = problem
        if place[:1] == ("evidence",):
            message += "; remove the key 'evidence' to use the features without it"
        raise _error(source, message, place)


# -- reading: from the text to checked values -----------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            return Repeated(key)
        made[key] = value
    return made


def _int(digits: str) -> int | float:
    """Parse an int; one with hundreds of digits counts as infinite, and is refused later."""
    return int(digits) if len(digits) < 300 else math.inf


def _is_former(evidence: Any) -> bool:
    """Check for evidence of tests within groups of rows, which nothing makes any more."""
    claims = evidence.get("claims") if isinstance(evidence, dict) else None
    listed = claims if isinstance(claims, list) else []
    return any(isinstance(claim, dict) and "informative" in claim for claim in listed)


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
    _check(source, document, (dict,), ())
    if document.get("format") != "contextwise":
        raise _error(source, 'expected "format": "contextwise"', ("format",))
    version = document.get("version")
    is_former = "evidence" in document and _is_former(document["evidence"])
    if is_former:
        source.warn("its evidence has an older form and is left out; test the rows again: check")
        del document["evidence"]
    if (version != VERSION or isinstance(version, bool | float)) and not (
        is_former and version == 2  # of a development version
    ):
        message = f"unknown version {repr(version)[:30]}; expected {VERSION}"
        raise _error(source, message, ("version",))
    document = {key: value for key, value in document.items() if value is not None}
    _check(source, document, _DOCUMENT, ())
    if "claims" not in document and "features" not in document:
        raise _error(source, "the key 'features' is missing", ())
    for key in ("features", "weights"):
        if "claims" in document and key in document:
            raise _error(source, f"a model has either 'claims' or {key!r}", (key,))
    return dict(document)


def _domain(source: Source, variables: Any) -> Domain:
    domain: dict[str, tuple[str, ...]] = {}
    for i, variable in enumerate(variables):
        here: Path = ("variables", i)
        name = variable["name"]
        if name in domain:
            raise _error(source, f"two variables have the name {name!r}", here)
        try:
            (domain[name],) = Domain({name: variable["states"]}).states
        except DomainError as error:
            raise _error(source, str(error), here) from None
        _check(source, list(domain[name]), [_TEXT], here)
    check_states(source, [len(states) for states in domain.values()])
    return Domain(domain)


def _literals(
    source: Source, domain: Domain, features: Any
) -> tuple[IntArray, IntArray, WordArray]:
    """Return the number of literals of each feature, and the variables and value sets."""
    most = most_literals(source, domain.cardinalities)
    lengths: list[int] = []
    variables: list[int] = []
    sets: list[int] = []
    for i, feature in enumerate(features):
        if type(feature) is not dict:  # anything else, or an object in which a key occurs twice
            _check(source, feature, (dict,), ("features", i))
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


def _claims(source: Source, domain: Domain, claims: Any, **about: Any) -> Claims:
    cubes: dict[PairIndex, list[dict[int, int]]] = {}
    for i, claim in enumerate(claims):
        here: Path = ("claims", i)
        try:
            pair, region = read_region(domain, tuple(claim["pair"]), claim["where"])
        except (DomainError, ParseError) as error:
            raise _error(source, str(error), here) from None
        if pair in cubes:
            raise _error(source, "this pair is listed twice", here)
        cubes[pair] = list(map(dict, region))
    return claims_of_cubes(domain, cubes, **about)


def _evidence(source: Source, domain: Domain, document: Any) -> Evidence:
    """Read the verdicts of rows; they are shown only if they belong to the features."""
    about = {key: document[key] for key in _OF_EVIDENCE}
    about |= {key: document["rows"][key] for key in _OF_ROWS}
    claims = (
        _claim_evidence(source, domain, claim, ("evidence", "claims", k))
        for k, claim in enumerate(document["claims"])
    )
    return Evidence(claims=tuple(claims), **about)


def _claim_evidence(source: Source, domain: Domain, claim: Any, here: Path) -> ClaimEvidence:
    try:
        first, second = domain.pair(claim["pair"])
        given = tuple(domain.names[domain.position(name)] for name in claim["given"])
        region = tuple(domain.literal(*literal) for literal in literals_of(domain, claim["region"]))
    except (DomainError, ParseError) as error:
        raise _error(source, str(error), here) from None
    return ClaimEvidence(
        pair=(domain.names[first], domain.names[second]),
        region=region,
        claim=claim["claim"],
        verdict=claim["verdict"],
        given=given,
        effect=_effect(claim["effect"]) if "effect" in claim else None,
        **{key: claim[key] for key in _PLAIN_OF_CLAIM if key in claim},
    )


def _effect(effect: Any) -> Effect:
    numbers = {key: float(effect[name]) for name, key in _EFFECT.items()}
    return Effect("V", **numbers)


def _weights(
    source: Source, weights: Any, count: int, path: Path = ("weights",)
) -> npt.NDArray[np.float64]:
    """Return a list of numbers; ``count`` is the number of features, or of cells of a table."""
    of_features = path[-1] == "weights"
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
    parents: list[list[int]] = [[] for _ in domain.names]
    tables: list[npt.NDArray[np.float64] | None] = [None for _ in domain.names]
    undirected: set[PairIndex] = set()
    confounded: set[PairIndex] = set()
    for name, entry in directions.items():
        here: Path = ("directions", name)
        unknown = entry.get("undirected", [])
        try:
            child = domain.position(name)
            parents[child] = [domain.position(parent) for parent in entry["parents"]]
            undirected |= {(domain.position(parent), child) for parent in unknown}
            hidden = map(domain.position, entry.get("confounded", []))
            confounded |= {(min(child, v), max(child, v)) for v in hidden}
        except DomainError as error:
            raise _error(source, str(error), here) from None
        if not set(unknown) <= set(entry["parents"]):
            raise _error(source, "expected some of the parents", (*here, "undirected"))
        if "table" in entry:
            shape = [domain.cardinalities[v] for v in (*parents[child], child)]
            values = _weights(source, entry["table"], math.prod(shape), (*here, "table"))
            tables[child] = values.reshape(shape)
    try:
        if any(a == b for a, b in confounded):
            raise DomainError("a variable is confounded with itself")
        known = directions_of(domain, parents, tables)
        return replace(known, undirected=frozenset(undirected), confounded=frozenset(confounded))
    except TableError as error:
        here = ("directions", domain.names[error.child])
        raise _error(source, str(error), here) from None
    except DomainError as error:
        raise _error(source, str(error), ("directions",)) from None


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
