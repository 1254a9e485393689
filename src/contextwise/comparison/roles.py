"""Name the two models of a comparison in sentences, tables and pictures.

By default the first model is true and the second one is a guess, so their differences are false
positives and false negatives. If neither model is true (``peers``), these words would be wrong:
every output then uses the names of the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from contextwise.errors import ContextwiseError
from contextwise.support.formatting import name

Agreement = Literal["tp", "fp", "fn"]
"""The models that have the dependence in a context: both, only the guess, or only the true one."""
Kind = Literal["missed", "invented", "found"]
AGREEMENTS: dict[Kind, Agreement] = {"missed": "fn", "invented": "fp", "found": "tp"}
"""The kinds of dependencies whose strengths are compared."""
Peers = bool | Sequence[str]
"""Whether neither model is true; names of the models mean yes, and name them."""


@dataclass(frozen=True)
class Roles:
    """The words for the two models of a comparison.

    >>> Roles().only["fp"], Roles().errors["fp"]
    ('only in guess', 'false positives')
    >>> peers = Roles("controls", "patients", peers=True)
    >>> peers.only["fp"], peers.errors["fp"], peers.heads["fp"]
    ('only in patients', 'dependent only in patients', 'only patients')
    """

    true: str = "true"
    guess: str = "guess"
    peers: bool = False
    both: str = "in both"

    @cached_property
    def only(self) -> Mapping[Agreement, str]:
        """Where the dependence is, for each kind of context."""
        return {"tp": self.both, "fp": f"only in {self.guess}", "fn": f"only in {self.true}"}

    @cached_property
    def errors(self) -> Mapping[Agreement, str]:
        """The kinds of differences, as nouns or clauses."""
        if self.peers:
            return {kind: f"dependent {words}" for kind, words in self.only.items()}
        return {"tp": "true positives", "fp": "false positives", "fn": "false negatives"}

    @cached_property
    def heads(self) -> Mapping[str, str]:
        """Short labels of the four counts, for the heads of columns."""
        if not self.peers:
            return {key: key.upper() for key in ("tp", "fn", "fp", "tn")}
        only = {"fn": f"only {self.true}", "fp": f"only {self.guess}"}
        return {"tp": "both", **only, "tn": "neither"}

    @property
    def labels(self) -> dict[str, str]:
        """The meaning of the keys of records, for JSON."""
        only = {"fn": self.errors["fn"], "fp": self.errors["fp"], "tn": "dependent in neither"}
        names = {"true": self.true, "guess": self.guess}
        return {**names, "tp": "dependent in both", **only}

    @property
    def first(self) -> str:
        """The first model as the subject of a sentence."""
        return self.true if self.peers else "the true model"

    @property
    def second(self) -> str:
        """The second model as the subject of a sentence."""
        return self.guess if self.peers else "the guess"

    @property
    def noun(self) -> str:
        """What the differences are called."""
        return "differences" if self.peers else "errors"


TRUE_AND_GUESS = Roles()
ALONE = Roles(both="dependent")
"""The words for a model that is shown alone: what both models have is what it has."""


def peer_names(peers: Peers, files: Sequence[str]) -> tuple[str, ...]:
    """Return the names of peers: those given, or those of their files; none if one model is true.

    >>> peer_names(True, ["runs/a.mn", "b.mn"]), peer_names(False, ["a.mn", "b.mn"])
    (('a.mn', 'b.mn'), ())
    """
    if isinstance(peers, str):
        raise ContextwiseError(f"peers must be True or the names of the models, got {peers!r}")
    if isinstance(peers, Sequence) and peers:
        if len(peers) != len(files):
            raise ContextwiseError(f"{len(files)} models need as many names, got {len(peers)}")
        return tuple(name(str(label), 24) for label in peers)
    if not peers:
        return ()
    short = [file.replace("\\", "/").rsplit("/", 1)[-1] for file in files]
    unique = all(short) and len(set(short)) == len(short)
    return tuple(
        name(label if unique else f"model {place}", 24) for place, label in enumerate(short, 1)
    )
