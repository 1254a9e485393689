"""``contextwise rank``: learners over several truths: ranks, Friedman, critical differences."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from contextwise.cli.cmd_groups import group_files
from contextwise.cli.inputs import load, model_argument
from contextwise.cli.options import Decorator, options_as, refuse_alone, typed_flags
from contextwise.cli.printing import print_csv, print_json
from contextwise.cli.restrictions import Asked, refuse_nothing, restricting_options

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison
    from contextwise.evaluation.replicates import Summary

OPTIONS = (
    model_argument("truths", metavar="[TRUTH]...", nargs=-1),
    click.option(
        "--group",
        "groups",
        metavar="NAME=FILES",
        multiple=True,
        help="Guesses of one kind, as in trees='runs/{truth}/trees*.mn'; repeatable.",
    ),
    click.option(
        "--table",
        type=click.Path(),
        metavar="FILE",
        help="Instead of models: a CSV file of results, one row per run.",
    ),
    click.option(
        "--truth-column", metavar="NAME", help="With --table.  [default: truth, true, dataset, ...]"
    ),
    click.option(
        "--group-column",
        metavar="NAME",
        help="With --table.  [default: group, learner, method, algorithm, ...]",
    ),
    click.option(
        "--better",
        type=click.Choice(["smaller", "larger"]),
        help="Which values are better, for a column of a table that is not known here.",
    ),
    click.option(
        "--alpha",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        help="The level of the critical difference.",
    ),
)


class Ranked(NamedTuple):
    """What is ranked, as it was given."""

    truths: tuple[str, ...]
    groups: tuple[str, ...]
    table: str | None
    truth_column: str | None
    group_column: str | None
    metrics: tuple[str, ...]
    better: str | None
    alpha: float

    def summary(self, asked: Asked) -> Summary:
        """The groups over all truths; models are compared, or the table is read."""
        self._refuse_contradictions()
        found = self._of_models(asked) if self.table is None else self._of_table(self.table)
        if not found.rankings:
            raise click.UsageError(
                "there is nothing to rank: ranks need two groups and two truths at least on which "
                "every group has a value"
            )
        return found

    def _refuse_contradictions(self) -> None:
        if self.table is not None and (self.truths or self.groups):
            raise click.UsageError("give models, or a --table, not both")
        if self.table is None and not (self.truths and self.groups):
            raise click.UsageError(
                "give TRUTHs and a --group NAME=FILES for each learner, or a --table of results"
            )
        ctx = click.get_current_context()
        refuse_alone(ctx, ("truth_column", "group_column", "better"), "table")
        of_models = typed_flags(ctx, Asked._fields)
        if self.table is not None and of_models:
            raise click.UsageError(f"{of_models[0]} is about models, not about a --table")

    def _of_models(self, asked: Asked) -> Summary:
        from contextwise.comparison.compare import compare
        from contextwise.evaluation.replicates import METRICS, summarize

        stems = [stem(truth) for truth in self.truths]
        if len(set(stems)) < len(stems):
            raise click.UsageError("the names of the TRUTHs must differ without their folders")
        found: dict[str, list[Comparison]] = {}
        labels: dict[str, list[str]] = {}
        for truth, own in zip(self.truths, stems, strict=True):
            true = load(truth, format=asked.format_name)
            restriction = asked.of(true.domain)
            for group, files in group_files([filled(text, own) for text in self.groups]).items():
                for file in files:
                    guess = load(file, format=asked.format_name)
                    one = compare(true, guess, show_progress=True, **restriction)
                    refuse_nothing(one.question)
                    found.setdefault(group, []).append(one)
                    labels.setdefault(group, []).append(own)
        metrics = self.metrics or ("normalized",)
        for metric in metrics:
            if metric not in METRICS:
                raise click.UsageError(
                    f"--metric {metric}: choose one of {', '.join(METRICS)}, or give a --table"
                )
        return summarize(found, truths=labels, metrics=metrics, alpha=self.alpha)

    def _of_table(self, table: str) -> Summary:
        from contextwise.evaluation.replicates import KNOWN, read_results, summarize_values

        found = read_results(
            table, metrics=self.metrics, truth=self.truth_column, group=self.group_column
        )
        smaller = [name for name, (_, is_better) in KNOWN.items() if is_better]
        for metric in found:
            if self.better is None and metric not in KNOWN:
                raise click.UsageError(f"say which {metric} is better: --better smaller or larger")
        if self.better is not None:
            smaller = list(found) if self.better == "smaller" else []
        ranges = {name: values for name, (values, _) in KNOWN.items()}
        return summarize_values(found, smaller_is_better=smaller, ranges=ranges, alpha=self.alpha)


def stem(name: str) -> str:
    """The name of a truth without its folder and its endings.

    >>> stem("truths/asia.mn.gz"), stem("lung")
    ('asia', 'lung')
    """
    return os.path.splitext(os.path.basename(name).removesuffix(".gz"))[0]


def filled(text: str, truth: str) -> str:
    """A group's files for one truth: its name in place of ``{truth}``.

    >>> filled("trees=runs/{truth}/trees*.mn", "asia")
    'trees=runs/asia/trees*.mn'
    """
    if "{truth}" not in text:
        raise click.UsageError(
            f"--group {text}: say where the name of the truth stands, as in "
            "trees='runs/{truth}/trees*.mn'"
        )
    return text.replace("{truth}", truth)


def ranking_options(metric: str) -> Decorator:
    """Give a command the options that say what is ranked, as one argument ``ranked``.

    Parameters
    ----------
    metric : the help of ``--metric``

    Returns
    -------
    decorator of a command
    """
    by = click.option(
        "--metric",
        "metrics",
        metavar="NAME",
        multiple=True,
        help=f"{metric}  [default: normalized]",
    )
    return options_as("ranked", Ranked, (*OPTIONS, by))


@click.command()
@ranking_options("What to rank by; repeatable.")
@restricting_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON: ranks, means, differences.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row per metric and group.")
@click.option("--latex", "as_latex", is_flag=True, help="Print LaTeX tables.")
def rank(ranked: Ranked, asked: Asked, as_json: bool, as_csv: bool, as_latex: bool) -> None:
    """Rank groups of guesses, such as learners, over several TRUTHs.

    On each truth the groups are ranked, the best first. Friedman's test (Wilcoxon's for two groups)
    asks whether all are alike; two groups differ if their mean ranks are farther apart than
    Nemenyi's critical difference (Demšar 2006). In --group, {truth} stands for the name of the
    truth without folder and ending; guesses at one truth are averaged. A --table has a column for
    the truth, one for the group, and numbers. For the picture: contextwise plot ranks.

    \b
    Examples:
      contextwise rank truths/*.mn --group trees='t/{truth}*.mn' --group pairs='p/{truth}*.mn'
      contextwise rank --table results.csv --metric normalized --metric f1
      contextwise rank --table results.csv --group-column algorithm --metric SHD --better smaller
      contextwise rank --table results.csv --latex > ranks.tex
    """
    if as_json + as_csv + as_latex > 1:
        raise click.UsageError("choose one of --json, --csv and --latex")
    _show(ranked.summary(asked), as_json, as_csv, as_latex)


def _show(found: Summary, as_json: bool, as_csv: bool, as_latex: bool) -> None:
    from contextwise.report.summaries import summary_parts
    from contextwise.report.text import as_latex as latex_of
    from contextwise.report.text import as_text

    ranks = [record for ranking in found.rankings for record in ranking.records()]
    if as_json:
        verdicts = {ranking.metric: ranking.verdict for ranking in found.rankings}
        means, differences = found.records(), found.difference_records()
        rest = {"verdicts": verdicts, "means": means, "differences": differences}
        print_json({"ranks": ranks, **rest})
    elif as_csv:
        print_csv(ranks, ranks[0])
    elif as_latex:
        click.echo(latex_of(summary_parts(found)), nl=False)
    else:
        click.echo(as_text(summary_parts(found)))
