"""`Origin`: where a structure comes from, as facts. The code that shows it makes the words.

A structure keeps its origin through renaming and reordering, and `.json` files store it, but for
the facts about the file itself. It is no part of the claims, so ``==`` ignores it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from contextwise.support.formatting import plural

if TYPE_CHECKING:
    from contextwise.models.structure import LogLinear

ROUNDING = 1e-9
"""A log odds ratio up to this is rounding error."""


class ModelFile(NamedTuple):
    """The contents of a model file; None for numbers that its format does not have."""

    name: str = ""  # empty if the model was not read from a file
    format: str = ""
    lines: int | None = None
    raw_features: int | None = None
    duplicates: int | None = None
    contradictory: int | None = None
    zero_weights: int | None = None


NO_FILE = ModelFile()


class LearnedBy(NamedTuple):
    """The learner of a structure, and the rows it saw."""

    learner: str
    parameters: Mapping[str, Any]
    rows: int
    fingerprint: str  # of the rows
    version: str = ""  # of contextwise
    finished: bool = True  # False if a time limit or Ctrl-C stopped the learner
    reason: str = ""  # why it was chosen; empty if the user named it
    by_test: bool = False  # it claims independence where its own test finds no dependence

    @property
    def sentence(self) -> str:
        """The facts in words."""
        arguments = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        text = f"learned by {self.learner}({arguments}) of contextwise {self.version} from "
        text += f"{plural(self.rows, 'row')} (fingerprint {self.fingerprint})"
        text += f", chosen because {self.reason}" if self.reason else ""
        return text if self.finished else f"{text}, unfinished: stopped by the time limit or Ctrl-C"


class ByValues(NamedTuple):
    """The way in which claims were read from numbers; see `contextwise.convert.by_values`."""

    tolerance: float
    zeros: bool  # some numbers are 0
    pairs_by_table: int  # pairs whose tables were too large to add up

    @property
    def is_exact(self) -> bool:
        """True if the claims are those of the distribution."""
        return not self.zeros and self.tolerance <= ROUNDING


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The file, learner or numbers that a structure comes from.

    Attributes
    ----------
    description : str
        What its author wrote about it. It is shown, and nothing is read from it.
    learned : LearnedBy or None
    reading : mapping
        How the rows were read: bins, missing values, columns dropped.
    unknown_states : bool
        A graph without states; two are assumed.
    directed : bool
        Made from a partly directed graph that stands for no DAG.
    by_values : ByValues or None
    file : ModelFile
    numbers : LogLinear or None
        The model whose numbers make the claims, if they were read by values.

    Examples
    --------
    >>> from contextwise import learn
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> origin = learn(rows, "trees").structure_.origin
    >>> origin.learned.learner, origin.learned.rows, origin.words.partition("(")[0]
    ('trees', 40, 'learned by trees')
    """

    description: str = ""
    learned: LearnedBy | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    unknown_states: bool = False
    directed: bool = False
    by_values: ByValues | None = None
    file: ModelFile = NO_FILE
    numbers: LogLinear | None = field(default=None, compare=False, repr=False)

    @property
    def learner(self) -> str:
        """The name of the learner; empty if the structure was not learned."""
        return self.learned.learner if self.learned else ""

    @property
    def words(self) -> str:
        """The description, and how the structure was learned."""
        learned = self.learned.sentence if self.learned else ""
        return ". ".join(filter(None, (self.description, learned)))

    def saw(self, fingerprint: str) -> bool:
        """Return whether the learner saw the rows with this fingerprint."""
        return self.learned is not None and self.learned.fingerprint == fingerprint

    def restricted(self) -> Origin:
        """Return what stays true of a part of the structure: how its numbers were read."""
        return Origin(by_values=self.by_values)


NOT_RECORDED = Origin()
"""The origin of a structure made in Python."""
