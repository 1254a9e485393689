"""What a run shows: the study of learners with its figures and tables, or what resamples share."""

from __future__ import annotations

from collections.abc import Callable

from htmltools import Tag, TagList, tags

from contextwise.explorer import elements
from contextwise.explorer.runs import Resamples, Study, StudyPicture
from contextwise.explorer.wiring import offer
from contextwise.formats import encode
from contextwise.report.text import as_latex
from contextwise.support.records import as_csv, as_json

TITLES = {
    "learning-curves": "Learning curves",
    "errors-plane": "False positives against false negatives",
    "kl-against-errors": "KL-divergence against errors",
    "ranks": "Ranks by four metrics",
    "critical-differences": "Critical differences",
    "times": "Time",
}
"""What the figures are called, by their names."""


def study_view(study: Study) -> TagList:
    """The figures with their captions, then the tables."""
    return TagList(
        tags.h2(f"Learners judged by the metric: {study.name}", class_="h5 when"),
        tags.div(*map(_figure, study.pictures), class_="study-figures"),
        elements.downloads(
            ("units_csv", "units (CSV)"),
            ("units_json", "units (JSON)"),
            ("tables_tex", "tables (LaTeX)"),
        ),
        elements.rendered(study.parts, titles=True),
    )


def _figure(picture: StudyPicture) -> Tag:
    title = TITLES.get(picture.name, picture.name)
    return tags.figure(
        tags.h3(title, class_="h6"),
        tags.a(
            tags.img(src=picture.source, alt=title),
            href=picture.source,
            download=f"{picture.name}.svg",
            title="Download this figure (SVG)",
        ),
        tags.figcaption(picture.caption, class_="note"),
        class_="wide-figure" if picture.is_wide else None,
    )


def resamples_view(found: Resamples) -> TagList:
    """What resamples agree on."""
    return TagList(
        tags.h2(f"How stable is what was learned: {found.name}", class_="h5 when"),
        elements.rendered(found.parts, titles=True),
        elements.downloads(
            ("supports_of_resamples_csv", "support of each pair (CSV)"),
            ("medoid_json", "most typical structure (model file, JSON)"),
        ),
    )


def serve_resamples(found: Callable[[], Resamples]) -> None:
    """Let the session download what resamples share; ``found`` raises while there are none."""
    offer(
        "supports_of_resamples_csv",
        lambda: as_csv(found().supports),
        name=lambda: f"{found().name} supports",
    )
    offer(
        "medoid_json",
        lambda: encode(found().medoid, "json").decode(),
        name=lambda: f"{found().name} medoid",
    )


def serve(study: Callable[[], Study]) -> None:
    """Let the session download what the study is made of; ``study`` raises while there is none."""

    def units() -> str:
        return as_csv(study().units)

    offer("units_csv", units, name=lambda: f"{study().name} units")
    offer("units_json", lambda: as_json(list(study().units)), name=lambda: f"{study().name} units")
    offer("tables_tex", lambda: as_latex(study().parts), name=lambda: f"{study().name} tables")
