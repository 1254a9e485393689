"""What the explorer makes of the results of a run, as functions that run in processes.

As in `contextwise.explorer.computations`, the last argument of each is told how far it is.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from contextwise.errors import ContextwiseError
from contextwise.explorer.job import Tell
from contextwise.explorer.results import Row, kind_of_run, read_results, read_units
from contextwise.models.structure import Structure
from contextwise.report.parts import Part

if TYPE_CHECKING:
    from contextwise.studies.learners.figures import StudyFigure
    from contextwise.studies.summary import Effect

WIDE = 1.6
"""A figure that is so many times as wide as high has panels side by side."""


@dataclass(frozen=True)
class StudyPicture:
    """A figure of a study.

    Attributes
    ----------
    name : which it is
    source : an address that holds all of it
    caption : what it shows
    is_wide : whether it has panels side by side, which need the whole width
    """

    name: str
    source: str
    caption: str
    is_wide: bool


@dataclass(frozen=True, eq=False)
class Study:
    """A run of the study of learners.

    Attributes
    ----------
    name : what people call it
    units : its records
    parts : its tables and sentences
    pictures : its figures
    """

    name: str
    units: Sequence[Row]
    parts: Sequence[Part]
    pictures: Sequence[StudyPicture]


@dataclass(frozen=True, eq=False)
class Resamples:
    """What was learned from resamples.

    Attributes
    ----------
    name : what people call the run
    parts : what resamples agree on
    supports : how many of them have each pair, as records
    medoid : the most typical structure
    """

    name: str
    parts: Sequence[Part]
    supports: Sequence[Row]
    medoid: Structure


Results = list[Row] | Study | Resamples
"""The rows of the study of KL-divergence, the study of learners, or what resamples gave."""


def results_in(path: str, name: str, tell: Tell) -> Results:
    """The results of a run's folder, of its ``results.sqlite``, or of a CSV file.

    Parameters
    ----------
    path : where it is
    name : what people call it
    tell : is told how far it is
    """
    tell(f"Reading {name}", 0, 0)
    kind = kind_of_run(path, name=name)
    if kind == "learners":
        return study_of(read_units(path, name=name), name, tell)
    if kind == "stability":
        return resamples_of(path, name, tell)
    return read_results(path, name=name)


def resamples_of(path: str, name: str, tell: Tell) -> Resamples:
    """What resamples agree on, from a folder of ``contextwise stability``.

    Parameters
    ----------
    path : where it is
    name : what people call it
    tell : is told how far it is
    """
    from contextwise.evaluation.stability import read_stability
    from contextwise.report.statistics import stability_parts

    try:
        found = read_stability(path, show_progress=partial(tell, "Comparing each two resamples"))
    except (KeyError, TypeError, ValueError) as error:
        raise ContextwiseError(
            f"{name}: these resamples make no sense: {type(error).__name__}: {error}"
        ) from None
    tell("Asking how many resamples agree", 0, 0)
    supports = [one.record() for one in found.supports()]
    return Resamples(name, stability_parts(found), supports, found.medoid)


def study_of(units: Sequence[Row], name: str, tell: Tell) -> Study:
    """What the study of learners shows: the tables and figures that its command publishes.

    Parameters
    ----------
    units : its records
    name : what people call it
    tell : is told how far it is
    """
    from contextwise.studies.learners.figures import study_figures
    from contextwise.studies.learners.tables import study_parts

    try:
        tell("Making the tables, with intervals that resample truths", 0, 3)
        parts = study_parts(units)
        tell("Making the figures", 1, 3)
        figures = study_figures(units)
        tell("Drawing the figures", 2, 3)
        pictures = [_picture(figure) for figure in figures]
    except (KeyError, TypeError, ValueError) as error:
        raise ContextwiseError(
            f"{name}: these units make no sense: {type(error).__name__}: {error}"
        ) from None
    return Study(name, units, parts, pictures)


def _picture(figure: StudyFigure) -> StudyPicture:
    from contextwise.report.plots.style import encoded

    width, height = figure.figure.get_size_inches()
    text = b64encode(encoded(figure.figure, "svg")).decode()
    source = f"data:image/svg+xml;base64,{text}"
    return StudyPicture(figure.name, source, figure.caption, is_wide=width > WIDE * height)


def effects_of(rows: Sequence[Row], tell: Tell) -> list[Effect]:
    """What the rows of the study of KL-divergence show, with intervals."""
    from contextwise.studies.summary import effects

    tell("Drawing structures again and again, for the intervals", 0, 0)
    return effects(rows)
