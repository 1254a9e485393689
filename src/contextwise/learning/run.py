"""One run of a learner: its time limit, its progress, and whether it finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from contextwise.data.rows import Data, by_position
from contextwise.distributions.fitting import fit as fit_weights
from contextwise.models.structure import LogLinear, Model, structure_of
from contextwise.support.effort import NEVER, Deadline, Progress, progress_of

T = TypeVar("T")


@dataclass(eq=False)
class Run:
    """The time limit and the progress of one fit; `Learner.learn` gets it with the data."""

    deadline: Deadline = NEVER
    show_progress: bool | Progress = False
    finished: bool = True
    """False once the learner saw that its time is up."""
    best: Callable[[], Model] | None = None
    """Returns the best model so far, if the learner has one; Ctrl-C keeps it."""

    def is_late(self) -> bool:
        """Return whether the time limit has passed, and if so mark the run as unfinished."""
        self.finished = self.finished and not self.deadline.passed
        return not self.finished

    def steps(self, items: Sequence[T], label: str) -> Iterator[T]:
        """Yield items until the time limit; report progress after each."""
        with progress_of(self.show_progress, label) as progress:
            for done, item in enumerate(items):
                if self.is_late():
                    return
                yield item
                if progress:
                    progress(done + 1, len(items))

    def refit_l1(self, model: Model, data: Data, l1: float, l2: float) -> Model:
        """Fit weights by penalised pseudo-likelihood and drop features of weight 0.

        The penalties l1 · Σ|w| and l2/2 · Σw² are on the total over the rows. If the time limit
        passes, return the structure without weights, with all its features.

        >>> from contextwise.data.rows import as_data
        >>> from contextwise import Structure
        >>> rows = as_data([[0, 0], [1, 1]] * 30)
        >>> model = Structure(rows.domain, ["v0=1 & v1=1", "v0=1"])
        >>> len(Run().refit_l1(model, rows, 1.0, 0.0))
        2
        """
        structure = structure_of(model)
        try:
            fitted = fit_weights(
                by_position(structure),
                data.coded,
                l1=l1,
                l2=l2,
                deadline=self.deadline,
                show_progress=self.show_progress,
            )
        except self.deadline.out_of_time:
            self.is_late()  # marks the result as unfinished
            return structure
        return LogLinear(structure, fitted.weights).without_zero_weights()
