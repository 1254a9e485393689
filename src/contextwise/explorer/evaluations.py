"""What the explorer evaluates: many models, chance, claims against rows, each in a process.

As in `contextwise.explorer.computations`, the last argument of each is told how far it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from contextwise.comparison.matrix import DistanceMatrix, distance_matrix
from contextwise.comparison.pairs import Contexts
from contextwise.comparison.sketch import EstimatedMatrix
from contextwise.data.rows import as_data
from contextwise.errors import ContextwiseError
from contextwise.evaluation.chance import Chance, ChanceInterrupted, chance
from contextwise.evaluation.check import Check, check
from contextwise.evaluation.consensus import ClaimSupport, Consensus, consensus
from contextwise.explorer.job import Tell
from contextwise.models.structure import Model

SUPPORTED = 10
"""Of so many pairs of a consensus the support is shown."""


def distances_between(
    models: Mapping[str, Model], contexts: Contexts, time_limit: float, tell: Tell
) -> DistanceMatrix:
    """The distance of each two models, by their names.

    Parameters
    ----------
    models : the models, by their names
    contexts : what a context is
    time_limit : seconds; distances that are not known by then have bounds
    tell : is told how far it is
    """
    words = f"Comparing each two of {len(models)} models"
    tell(words, 0, 0)
    return distance_matrix(
        list(models.values()),
        names=list(models),
        contexts=contexts,
        time_limit=time_limit,
        show_progress=partial(tell, words),
    )


def estimated_distances(
    models: Mapping[str, Model], contexts: Contexts, tell: Tell
) -> EstimatedMatrix:
    """Estimates of the distance of each two models, from random assertions.

    Parameters
    ----------
    models : the models, by their names
    contexts : what a context is
    tell : is told how far it is
    """
    words = f"Asking {len(models)} models about random assertions"
    tell(words, 0, 0)
    return distance_matrix(
        list(models.values()),
        names=list(models),
        contexts=contexts,
        approximate=True,
        show_progress=partial(tell, words),
    )


@dataclass(frozen=True, eq=False)
class Agreed:
    """A consensus, and how many models have what it claims about the widest pairs."""

    consensus: Consensus
    supports: tuple[ClaimSupport, ...]


def consensus_of(
    models: Mapping[str, Model],
    matrix: DistanceMatrix | None,
    contexts: Contexts,
    time_limit: float,
    tell: Tell,
) -> Agreed:
    """A structure that is near to all models.

    Parameters
    ----------
    models : the models, by their names
    matrix : their distances, where they are known already
    contexts : what a context is
    time_limit : seconds after which it is not improved any more
    tell : is told how far it is
    """
    tell("Comparing the models", 0, 0)
    found = consensus(
        list(models.values()),
        matrix=matrix,
        contexts=contexts,
        time_limit=time_limit,
        show_progress=partial(tell, "Trying features"),
    )
    tell("Asking who has its claims", 0, 0)
    return Agreed(found, tuple(found.widest_supports(SUPPORTED)))


def chance_of(
    true: Model, guess: Model, contexts: Contexts, null: str, draws: int, tell: Tell
) -> Chance:
    """A guess beside guesses by chance; after an interrupt, with the draws that were finished.

    Parameters
    ----------
    true, guess : the models
    contexts : what a context is
    null : which guesses are drawn
    draws : how many of them
    tell : is told how far it is
    """
    tell("Comparing the models", 0, 0)
    words = "Drawing guesses by chance"
    try:
        return chance(
            true,
            guess,
            null=null,
            draws=draws,
            contexts=contexts,
            show_progress=partial(tell, words),
        )
    except ChanceInterrupted as stopped:
        return stopped.chance


def check_of(model: Model, path: str, name: str, tell: Tell) -> Check:
    """The claims of a model put to the rows of a file.

    Parameters
    ----------
    model : whose claims are tested
    path : where the rows are
    name : what people call the file; messages use it
    tell : is told how far it is
    """
    tell(f"Reading {name}", 0, 0)
    try:
        rows = as_data(path, model.domain)
    except ContextwiseError as error:
        raise ContextwiseError(str(error).replace(path, name)) from None
    words = "Testing claims, pair by pair"
    return check(model, rows, show_progress=partial(tell, words))
