"""Run a study into a folder: its configuration, its store, and its units."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.support.effort import Effort
from contextwise.support.files import read_bytes, write_bytes
from contextwise.support.store import Outcome, Record, Store, Unit, run_units


def check_rules(configuration: object, rules: Mapping[str, tuple[object, str]]) -> None:
    """Raise if a setting breaks its rule; ``rules`` maps a setting to (holds, rule in words)."""
    for name, (holds, rule) in rules.items():
        if not holds:
            value = getattr(configuration, name)
            shown = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            empty = isinstance(value, Sized) and not value
            raise ContextwiseError(f"{name} must be {rule}, got {'none' if empty else shown}")


def read_settings(path: str | os.PathLike[str], known: Collection[str]) -> dict[str, Any]:
    """Read the settings in a TOML file, lists as tuples; raise on unknown keys."""
    try:
        settings = tomllib.loads(read_bytes(path).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParseError(f"not a TOML file: {error}", path=path) from None
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise ParseError(
            f"unknown setting {unknown[0]!r}; use one of {', '.join(sorted(known))}", path=path
        )
    return {key: tuple(v) if isinstance(v, list) else v for key, v in settings.items()}


def run_study(
    folder: str | os.PathLike[str],
    settings: Mapping[str, Any],
    units: Iterable[Unit],
    function: Callable[[Any], Sequence[Record]],
    effort: Effort,
) -> Outcome:
    """Run the units of a study into a folder and write its configuration there."""
    text = to_toml(settings)
    with Store(folder, settings) as store:
        write_bytes(Path(folder) / "configuration.toml", text.encode())
        return run_units(store, units, function, effort)


def to_toml(settings: Mapping[str, Any]) -> str:
    """Return the settings of a run as TOML text."""
    text: str = require("tomli_w", "studies").dumps(settings)
    return text
