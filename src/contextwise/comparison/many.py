"""Many models at once: a true one against several guesses, or each against each.

With dep(F) the number of dependencies that features F assert, over all pairs and contexts, the
distance of two models is 2 · dep(F ∪ G) - dep(F) - dep(G). A matrix of M models thus needs the M
models' own counts, made once, and one union for each two of them; models that agree on a pair are
counted together there (`contextwise.counting.distances`). The work is done here, over processes, or
on a cluster (`contextwise.execution.maps`), with the same results.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast, overload

from contextwise.comparison import blocks
from contextwise.comparison.comparison import Comparison
from contextwise.comparison.confusion import ZeroDivision
from contextwise.comparison.matrix import DistanceMatrix
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.errors import ContextwiseError
from contextwise.execution.progress import Progress, progress_of
from contextwise.formats import ModelLike

if TYPE_CHECKING:
    import numpy as np

    from contextwise.comparison.sketch import EstimatedMatrix

__all__ = ["DistanceMatrix", "compare_many", "distance_matrix"]


class Effort(TypedDict, total=False):
    """How many models are counted: `distance_matrix` explains each keyword."""

    engine: str
    time_limit: float | None
    n_jobs: int
    cluster: Any
    show_progress: bool | Progress


class ManyOptions(Restriction, Effort, total=False):
    """All keywords that comparisons of many models share."""


@overload
def distance_matrix(  # type: ignore[overload-overlap]  # False is an int, too
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: Literal[False] = False,
    rng: int | np.random.Generator = 0,
    store: str | os.PathLike[str] | None = None,
    **options: Unpack[ManyOptions],
) -> DistanceMatrix: ...


@overload
def distance_matrix(
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: int,
    rng: int | np.random.Generator = 0,
    store: str | os.PathLike[str] | None = None,
    **options: Unpack[ManyOptions],
) -> EstimatedMatrix: ...


def distance_matrix(
    models: Iterable[ModelLike],
    *,
    names: Iterable[str] | None = None,
    approximate: int = False,
    rng: int | np.random.Generator = 0,
    store: str | os.PathLike[str] | None = None,
    **options: Unpack[ManyOptions],
) -> DistanceMatrix | EstimatedMatrix:
    """The distance of each two of some models, exactly; or an estimate of it, for very many.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    names : one for each model, optional
        Without them a path is its own name, and a model is named by its place.
    approximate : bool or int
        Estimate the distances from the answers of all models to so many random assertions; True
        means 2^18 of them. Then only ``show_progress`` says how it is counted.
    rng : seed or numpy.random.Generator
        With ``approximate``: the same seed gives the same assertions.
    store : path of a folder, optional
        Count in blocks of models, and keep each block there as it ends: the same call goes on
        where a run was stopped or killed. For many hundreds of models.
    **options
        What is compared, with the keywords of `compare` (pairs, variables, context, data, weights,
        contexts, align, zero_weights), and how it is counted:

        engine : name of an engine
            One of those that ``contextwise engines`` lists.
        time_limit : seconds
            Distances that are not known by then have proven bounds.
        n_jobs : int
            How many processes; 1 counts here, on all cores where the engine can, -1 means one
            process per core.
        cluster : address of a Dask scheduler, or a Dask client
            Goes before ``n_jobs``.
        show_progress : bool or function
            A line on standard error, or a function of (comparisons done, comparisons in all).

    Returns
    -------
    DistanceMatrix, or EstimatedMatrix

    Raises
    ------
    ContextwiseError
        If there are more or fewer names than models; if an estimate is to be counted by an engine,
        on processes or in limited time; or if a store holds the matrix of other models.

    Examples
    --------
    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> texts = [], ["A=1 & B=1"], ["A=1 & B=1", "A=1 & B=1 & C=1"]
    >>> matrix = distance_matrix([Structure(domain, features) for features in texts])
    >>> matrix.distances
    array([[0, 2, 4],
           [2, 0, 2],
           [4, 2, 0]], dtype=object)
    >>> matrix.normalized[0].tolist()
    [0.0, 0.3333333333333333, 0.6666666666666666]

    >>> matrix = distance_matrix(["six", "six-guess", "six-graph"], approximate=10_000)
    >>> matrix.normalized[0].round(2), round(matrix.widest(), 2)
    (array([0.  , 0.06, 0.33]), 0.01)
    """
    given = list(models)
    labels = tuple(map(_name, range(len(given)), given) if names is None else names)
    if len(labels) != len(given):
        raise ContextwiseError(f"{len(given)} models need as many names, not {len(labels)}")
    if approximate is not False:
        if store is not None:
            raise ContextwiseError("an estimate is quick, and is not stored")
        return _estimate(given, labels, approximate, rng, options)
    question, effort = pose_many(given, None if names is None else labels, options)
    if store is not None:
        from contextwise.comparison.stored_matrix import count_stored  # it loads a database

        return count_stored(question, labels, store, **effort)
    return blocks.count_matrix(question, labels, **effort)


def _estimate(
    models: Sequence[ModelLike],
    names: Sequence[str],
    approximate: int,
    rng: int | np.random.Generator,
    options: ManyOptions,
) -> EstimatedMatrix:
    from contextwise.comparison.sketch import ASSERTIONS, estimate_matrix, sketch_many

    assertions = ASSERTIONS if approximate is True else approximate
    asked = {key: value for key, value in options.items() if key not in Effort.__annotations__}
    progress = options.get("show_progress", False)
    if given := sorted({*options} - {*asked} - {"show_progress"}):
        raise ContextwiseError(f"an estimate is not counted: {', '.join(given)} cannot be chosen")
    sketches = sketch_many(
        models, assertions=assertions, rng=rng, show_progress=progress, **cast(Restriction, asked)
    )
    found = estimate_matrix(sketches, names=names, show_progress=progress)
    return replace(found, by_position=asked.get("align") == "position")


def compare_many(
    true: ModelLike,
    guesses: Iterable[ModelLike],
    *,
    zero_division: ZeroDivision = "warn",
    **options: Unpack[ManyOptions],
) -> list[Comparison]:
    """Compare several guesses with one true model: the same as `compare` for each, counted at once.

    Parameters
    ----------
    true : model, path of a model file, or name of a bundled example
    guesses : the same, one or more
    zero_division : number or "warn"
        What a rate that would divide by zero is.
    **options
        Those of `distance_matrix`.

    Returns
    -------
    list of Comparison

    Examples
    --------
    >>> from contextwise import Structure
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> guesses = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=1")]
    >>> [comparison.distance for comparison in compare_many(true, guesses)]
    [3, 3]
    """
    question, effort = pose_many([true, *guesses], None, options)
    counting, map_units = blocks.counting_of(**effort)
    units = [(g, question.about(0, g)) for g in range(1, len(question.structures))]
    found: dict[int, Comparison] = {}
    with progress_of(effort.get("show_progress", False), "comparing models") as progress:
        for unit in map_units(partial(_compare_unit, counting=counting), units):
            if unit.value is None:
                raise ContextwiseError(f"counting failed {unit.tries} times: {unit.error}")
            place, about = unit.item
            found[place] = replace(unit.value, question=about, zero_division=zero_division)
            if progress:
                progress(len(found), len(units))
    return [found[place] for place, _ in units]


def _compare_unit(unit: tuple[int, Question], counting: blocks.Counting) -> Comparison:
    return blocks.compare_two(unit[1], counting)


def pose_many(
    models: Sequence[ModelLike], names: Sequence[str] | None, options: ManyOptions
) -> tuple[Question, Effort]:
    """What is asked of many models, and how it is to be counted.

    Parameters
    ----------
    models : models, paths of model files, or names of bundled examples
    names : how messages call them, or None to call them by their files
    options : all keywords, of both kinds

    Returns
    -------
    Question, and the keywords of the other kind
    """
    effort = {key: value for key, value in options.items() if key in Effort.__annotations__}
    asked = {key: value for key, value in options.items() if key not in effort}
    return pose(models, names=names, **cast(Restriction, asked)), cast(Effort, effort)


def _name(place: int, model: ModelLike) -> str:
    return os.fspath(model) if isinstance(model, str | os.PathLike) else str(place)
