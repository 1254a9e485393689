"""Guesses as the explorer shows them, one with hostile names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from contextwise import Domain, Structure, compare, examples
from contextwise.explorer.job import Job
from contextwise.models.structure import structure_of
from contextwise.report.comparisons import Guess

HOSTILE = "<img src=x onerror=\"alert('run')\">"
SIX, SIX_GUESS = (structure_of(examples.load(name)) for name in ("six", "six-guess"))


def shown(true: Structure = SIX, guess: Structure = SIX_GUESS, name: str = "guess") -> Guess:
    return Guess("given:1", compare(true, guess), label=name)


def hostile() -> Guess:
    domain = Domain({HOSTILE: 2, "B": 2, "C": [HOSTILE, "yes"]})
    true = Structure(domain, [{HOSTILE: 1, "B": 1, "C": HOSTILE}])
    return shown(true, Structure(domain, [{HOSTILE: 1, "B": 1}]), name=HOSTILE)


def run(function: Callable[..., Any], *arguments: Any, seconds: float = 60) -> Any:
    return asyncio.run(Job(function, *arguments, seconds=seconds).result())
