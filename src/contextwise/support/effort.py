"""The effort of a call: its deadline, its workers, and who is told about its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

from contextwise.errors import ContextwiseError
from contextwise.support.deadline import NEVER, Deadline
from contextwise.support.progress import Progress, part_of, progress_of

if TYPE_CHECKING:
    from contextwise.support.maps import Map

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Effort:
    """How long a call may take, on how many workers, and where it reports progress.

    Public functions take ``time_limit``, ``n_jobs``, ``cluster`` and ``show_progress``, make one
    effort of them with `Effort.of`, and pass that on.
    """

    deadline: Deadline = NEVER
    threads: int | None = None
    """The threads of a count in one process; None means one per core."""
    n_jobs: int = 1
    cluster: Any = None
    show_progress: bool | Progress = False

    @classmethod
    def of(
        cls,
        time_limit: float | None = None,
        *,
        threads: int | None = None,
        n_jobs: int = 1,
        cluster: Any = None,
        show_progress: bool | Progress = False,
    ) -> Effort:
        """Check the keywords of a public function; the time starts now."""
        if threads is not None and not (_is_whole(threads) and threads >= 1):
            raise ContextwiseError(f"threads must be a whole number >= 1, got {threads!r}")
        if not _is_whole(n_jobs) or (n_jobs < 1 and n_jobs != -1):
            raise ContextwiseError(
                f"n_jobs must be >= 1, or -1 for one process per core, got {n_jobs!r}"
            )
        return cls(Deadline.after(time_limit), threads, n_jobs, cluster, show_progress)

    @property
    def is_here(self) -> bool:
        """True if this process does the work."""
        return self.n_jobs == 1 and self.cluster is None

    @property
    def map(self) -> Map:
        """The map over the workers."""
        from contextwise.support.maps import choose_map  # here, as it loads multiprocessing

        return choose_map(n_jobs=self.n_jobs, cluster=self.cluster)

    def of_worker(self) -> Effort:
        """Return the effort of one worker, which can be pickled: it has one thread and is silent.

        If this process does the work, it keeps its threads.
        """
        return Effort(self.deadline, self.threads if self.is_here else 1)

    def alone(self) -> Effort:
        """Return the effort of this process without other workers."""
        return replace(self, n_jobs=1, cluster=None)

    @contextmanager
    def showing(self, label: str) -> Iterator[Effort]:
        """Yield this effort with a bar on a terminal, if progress is shown, under a label."""
        if self.show_progress is False:
            yield self
            return
        with progress_of(self.show_progress, label) as progress:
            yield replace(self, show_progress=progress or False)

    @property
    def progress(self) -> Progress | None:
        """The function to report to, if there is one; see `showing`."""
        return self.show_progress if callable(self.show_progress) else None

    def report(self, done: int, total: int) -> None:
        """Report progress if somebody listens."""
        if callable(self.show_progress):
            self.show_progress(done, total)

    def part(self, before: int, share: int, total: int) -> Effort:
        """Return the effort of one part; it reports its progress as that of the whole."""
        return replace(self, show_progress=part_of(self.progress, before, share, total) or False)

    def each(
        self, what: str, function: Callable[[T], R], items: Iterable[T]
    ) -> Iterator[tuple[T, R]]:
        """Yield items with their values as workers finish them; raise if one fails at ``what``."""
        for done in self.map(function, items):
            if done.problem is not None and not isinstance(done.problem, OSError):
                raise done.problem
            if done.error is not None:
                text = f"{what} failed {done.tries} times: {done.error}"
                raise ContextwiseError(text) from done.problem
            value: Any = done.value
            yield done.item, value


def _is_whole(value: object) -> bool:
    return type(value) is int or isinstance(value, Integral)  # the first is much faster


QUIET = Effort()
"""No limit, this process, no report."""
