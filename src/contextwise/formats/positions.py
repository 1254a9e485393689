"""On which line of a JSON text a value stands; the standard decoder does not say."""

from __future__ import annotations

from json.decoder import JSONDecoder

Path = tuple[str | int, ...]
"""Where something stands in a document: ``("features", 3, "smoker")``."""

_BLANK = " \t\n\r"


def line_of(text: str, path: Path) -> int:
    """The line of the value at ``path`` of a valid document; if it is missing, of its parent.

    Of equal keys the last counts, as for the decoder.

    >>> line_of('{"a": [1,\\n 2,\\n {"b": 3}]}', ("a", 2, "b"))
    3
    """
    at = _skip(text, 0)
    for step in path:
        found = _child(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _child(text: str, at: int, step: str | int) -> int | None:
    """Where the value of a key, or an item of a list, starts."""
    decode = JSONDecoder().raw_decode
    closing = {"{": "}", "[": "]"}.get(text[at : at + 1])
    found, index = None, 0
    at = _skip(text, at + 1)
    while closing and text[at] != closing:
        key: str | int = index
        if closing == "}":
            key, at = decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if key == step:
            found = at
        at = _skip(text, decode(text, at)[1])
        at = _skip(text, at + (text[at] == ","))
        index += 1
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def place_of(path: Path) -> str:
    """A path as people write it.

    >>> place_of(("features", 3, "smoker"))
    'features[3].smoker'
    """
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
