"""The address that brings a view back: which models, which pair, which context, which tab.

Models are named by their keys: ``example:six`` for a bundled one, ``given:0`` for the first on the
command line. An uploaded file is kept by nobody, so it is never part of a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args
from urllib.parse import parse_qs, urlencode

from contextwise.comparison.pairs import FULLY, Contexts

TABS = ("overview", "context", "question", "guesses", "experiment")


@dataclass(frozen=True)
class Link:
    """What an address says; what it leaves out is empty.

    >>> link = Link(true="example:six", guesses=("example:six-guess",), pair=("X1", "X2"))
    >>> link.query()
    'true=example%3Asix&guess=example%3Asix-guess&first=X1&second=X2'
    >>> Link.parse(link.query()) == link
    True
    """

    true: str = ""
    guesses: tuple[str, ...] = ()
    shown: str = ""
    contexts: Contexts = FULLY
    tab: str = TABS[0]
    pair: tuple[str, str] | None = None
    context: str = ""
    question: str = ""

    @classmethod
    def parse(cls, query: str) -> Link:
        """The link of a query string; what makes no sense in it is left out."""
        found = parse_qs(query.removeprefix("?"), max_num_fields=1000)

        def one(key: str, default: str = "") -> str:
            return found.get(key, [default])[0]

        contexts, tab = one("contexts"), one("tab")
        return cls(
            true=one("true"),
            guesses=tuple(found.get("guess", ())),
            shown=one("shown"),
            contexts=contexts if contexts in get_args(Contexts) else FULLY,  # type: ignore[arg-type]
            tab=tab if tab in TABS else TABS[0],
            pair=(one("first"), one("second")) if one("first") and one("second") else None,
            context=one("context"),
            question=one("question"),
        )

    def query(self) -> str:
        """The link as a query string."""
        parts = [("true", self.true), *(("guess", guess) for guess in self.guesses)]
        parts += [("shown", self.shown)]
        parts += [("contexts", self.contexts if self.contexts != FULLY else "")]
        parts += [("tab", self.tab if self.tab != TABS[0] else "")]
        parts += zip(("first", "second"), self.pair or (), strict=False)
        parts += [("context", self.context), ("question", self.question)]
        return urlencode([(key, value) for key, value in parts if value])
