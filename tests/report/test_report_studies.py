"""The answer and the figure of a study."""

from __future__ import annotations

from contextwise.report.studies import study_figure, study_parts, verdict
from contextwise.studies.learner_study import Study
from study_records import record


def test_the_answer_names_the_nearest_and_what_cannot_be_told() -> None:
    clear = [record("x", k, fp=1) for k in range(6)] + [record("y", k, fn=5) for k in range(6)]
    assert verdict(Study(clear)) == (
        "x is nearest to the truth: it is wrong in 10 % of all assertions at 100 rows (mean over "
        "6 data sets of 1 truth), y in 50 %."
    )
    close = [record("x", k, fp=k) for k in range(3)] + [record("y", k, fp=4 - k) for k in range(3)]
    assert verdict(Study(close)).endswith("Paired tests do not distinguish x from y.")
    assert verdict(Study(clear[:3])).startswith("x is wrong in 10 % of all assertions at 100 rows")
    chains = [record("x", rows_from="from 100 Gibbs chains")]
    assert "Gibbs chains" in str(study_parts(Study(chains))[-1])


def test_the_figure_has_a_panel_with_labels_and_every_learner() -> None:
    records = [record(name, k, fp=k) for name in ("x", "y") for k in range(3)]
    figure = study_figure(Study(records))
    (axes,) = figure.axes
    assert axes.has_data()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rows", "wrong assertions, %")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["x", "y"]
