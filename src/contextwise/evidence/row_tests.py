"""What do rows show about each pair of variables, given all others? `RowTests` answers.

For a pair a, b and the other variables R, two logits are fitted, a given R and b given R. If a and
b are independent given R, the products of both residuals sum to zero on average::

    S = sum over rows of  weight · (a - p(a|R)) ⊗ (b - p(b|R))

It is enough that one of both logits is right, and small errors of both matter only by their
product. No structure and no split of the rows enters, so the same rows give the same verdict about
a pair, whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextwise.data.rows import Data
from contextwise.evidence.pair_records import Interaction, PairEvidence, PairsTested
from contextwise.models.domain import Assignment
from contextwise.support.arrays import FloatArray
from contextwise.support.effort import QUIET, Effort

Pair = tuple[str, str]


class RowTests:
    """The rows of a table, and the logits that all its tests share.

    Parameters
    ----------
    data : Data
        Counted rows stay counted. If it has ``subjects``, all tests compare subjects.
    weights : array, optional
        A survey weight per row of ``data.rows``, for each of the observations the row stands for.
    weights_name : the column of the weights, for the settings
    ordered : names of variables to treat as ordered, besides those that are known to be
        ``"pain=none|mild|strong"`` also gives the order of the states.
    level : of the verdicts
    seed : of the draws for small tables
    """

    def __init__(
        self,
        data: Data,
        *,
        weights: FloatArray | None = None,
        weights_name: str | None = None,
        ordered: Sequence[str] = (),
        level: float = 0.05,
        seed: int = 0,
    ) -> None:
        raise NotImplementedError

    def pairs(
        self,
        *,
        outcome: str | None = None,
        pairs: Sequence[Pair] | None = None,
        effects: bool = True,
        effort: Effort = QUIET,
    ) -> PairsTested:
        """Test pairs given all other variables; all pairs by default.

        The pairs of the outcome are corrected among themselves, and so are the others. At a time
        limit or Ctrl-C the pairs done are returned, with `PairsTested.unfinished`.
        """
        raise NotImplementedError

    def given(
        self,
        pair: Pair,
        given: Sequence[str] | None = None,
        where: Assignment | None = None,
        *,
        effects: bool = True,
    ) -> PairEvidence:
        """Test a pair given some variables (all others by default), in a region of contexts.

        ``where`` selects rows, such as ``"sex=f & age=old|young"``. The p-value is not corrected:
        `corrected` does it for several.
        """
        raise NotImplementedError

    def same(
        self, pair: Pair, by: str, given: Sequence[str] | None = None, *, effects: bool = True
    ) -> Interaction:
        """Test that the association of a pair is the same in all states of ``by``.

        The test is symmetric in the two variables; each state of ``by`` has its own main effects.
        """
        raise NotImplementedError

    def interactions(
        self, questions: Sequence[tuple[Pair, str]], family: str, *, effort: Effort = QUIET
    ) -> tuple[Interaction, ...]:
        """Ask `same` for several pairs and third variables, corrected as one family by Holm."""
        raise NotImplementedError


def corrected(
    tested: Sequence[PairEvidence], family: str, level: float = 0.05
) -> tuple[PairEvidence, ...]:
    """Correct the p-values of several tests as one family (Holm), and decide their verdicts."""
    raise NotImplementedError
