"""Check what a browser sends before Shiny sees it.

Shiny trusts its client: a forged message can name any file as an upload, and one of the wrong shape
ends the session with a traceback. `Messages` therefore checks each message of a connection and
passes on only known inputs with valid values. Whatever is dropped gets one line in the terminal.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

MOST_DEEP = 6  # levels of nested lists and objects
MOST_KEYS = 2000  # different inputs of one connection
MOST_FILES = 1000  # files of one upload
MOST_IGNORED = 100  # invalid messages before a connection is closed
MOST_UPLOADS = 1000  # uploads of one connection
LONGEST_NAME = 240  # bytes of a file name
SHOWN = 60  # characters of an invalid value in the terminal
CLIENT_TEXT = re.compile(r"\.clientdata_url_\w+|\.clientdata_singletons")
CLIENT_VALUE = re.compile(r"\.clientdata_(output_\w+|pixelratio|allowDataUriScheme)")
SEARCH = ".clientdata_url_search"
Reader = Callable[[Any], object]


class InvalidMessage(ValueError):
    """A message, or a part of one, that is ignored; the text says why."""


def warn(what: str) -> None:
    """Print one line in the terminal about something that was ignored."""
    print(f"contextwise explore: ignored {what}", file=sys.stderr, flush=True)


def quoted(value: object) -> str:
    """Shorten a value for the terminal; control characters are escaped."""
    text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


class Messages:
    """Check the messages of one connection.

    ``reader`` returns the function that reads an input and raises if a value is invalid. ``files``
    are the inputs that only an upload can set.
    """

    def __init__(self, reader: Callable[[str], Reader | None], files: frozenset[str]) -> None:
        self._reader = reader
        self._files = files
        self._seen: set[str] = set()
        self._running = False
        self._uploads = self._ignored = 0

    @property
    def hostile(self) -> bool:
        """True after too many invalid messages; the connection should then be closed."""
        return self._ignored > MOST_IGNORED

    def check(self, text: str | None) -> str | None:
        """Return the valid part of a message, or None."""
        try:
            return json.dumps(self._checked(_parse(text)))
        except InvalidMessage as error:
            self._ignore(f"a message: {error}")
            return None

    def _ignore(self, what: str) -> None:
        self._ignored += 1
        if not self.hostile:
            warn(what)

    def _checked(self, message: dict[str, Any]) -> dict[str, Any]:
        method = message.get("method")
        if method not in ("init", "update", "uploadInit", "uploadEnd"):
            raise InvalidMessage(f"unknown method {quoted(method)}")
        if (method == "init") == self._running:
            raise InvalidMessage(f"{method} at the wrong time")
        if method in ("init", "update"):
            data = message.get("data")
            if not isinstance(data, dict):
                raise InvalidMessage(f"{method} without data")
            values = {key: value for key, value in data.items() if self._is_valid(key, value)}
            if method == "init":
                self._running = True
                values = {SEARCH: "", **values}
            return {"method": method, "data": values}
        tag, args = message.get("tag"), message.get("args")
        if not isinstance(tag, int) or not isinstance(args, list):
            raise InvalidMessage(f"{method} without tag and args")
        checked = self._upload(args) if method == "uploadInit" else self._upload_end(args)
        return {"method": method, "tag": tag, "args": checked}

    def _is_valid(self, key: str, value: object) -> bool:
        name = key.partition(":")[0]
        try:
            self._check_value(name, key, value)
        except Exception as error:  # a reader may raise anything on a value of the wrong type
            why = f": {error}" if isinstance(error, InvalidMessage) else ""
            self._ignore(f"the value {quoted(value)} of the input {quoted(name)}{why}")
            return False
        return True

    def _check_value(self, name: str, key: str, value: object) -> None:
        self._seen.add(name)
        if len(self._seen) > MOST_KEYS:
            self._seen.discard(name)
            raise InvalidMessage("too many inputs")
        if CLIENT_TEXT.fullmatch(name):
            if not isinstance(value, str):
                raise InvalidMessage("not a text")
        elif CLIENT_VALUE.fullmatch(name):
            if isinstance(value, dict | list) and not name.endswith("_font"):
                raise InvalidMessage("not a number or a text")
        elif name in self._files:
            if value is not None:
                raise InvalidMessage("only an upload sets it")
        elif key not in (name, f"{name}:shiny.action", f"{name}:shiny.number"):
            raise InvalidMessage("unknown type")
        else:
            read = self._reader(name)
            if read is None:
                raise InvalidMessage("no such input")
            if value is not None:  # a selector without options sends null
                read(value)

    def _upload(self, args: list[Any]) -> list[list[dict[str, Any]]]:
        self._uploads += 1
        if self._uploads > MOST_UPLOADS:
            raise InvalidMessage("too many uploads")
        match args:
            case [[*files]] if 0 < len(files) <= MOST_FILES:
                return [[_checked_file(file) for file in files]]
        raise InvalidMessage("uploadInit without a list of files")

    def _upload_end(self, args: list[Any]) -> list[str]:
        match args:
            case [str(job), str(key)] if key in self._files:
                return [job, key]
        raise InvalidMessage(f"uploadEnd with {quoted(args)}")


def _parse(text: str | None) -> dict[str, Any]:
    if text is None:
        raise InvalidMessage("not a text")
    try:
        text.encode()
        message = json.loads(text)
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise InvalidMessage(f"not JSON: {quoted(text)}") from None
    if not isinstance(message, dict):
        raise InvalidMessage(f"not an object: {quoted(text)}")
    if not _is_shallow(message, MOST_DEEP):
        raise InvalidMessage("nested too deeply")
    return message


def _is_shallow(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return True
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in value)


def _checked_file(file: object) -> dict[str, Any]:
    match file:
        case {"name": str(name), "size": int(size), "type": str(kind)}:
            plain = "".join(filter(str.isprintable, name.replace("\\", "/").rpartition("/")[2]))
            short = plain.encode()[-LONGEST_NAME:].decode(errors="ignore")
            return {"name": short or "file", "size": size, "type": kind}
    raise InvalidMessage(f"uploadInit with the file {quoted(file)}")
