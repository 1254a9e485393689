"""``contextwise replicates``: compare groups of guesses, over one truth or several."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import (
    holds_ensembles,
    load,
    load_guesses,
    matching_files,
    only_one_from_stdin,
    split_groups,
)

if TYPE_CHECKING:
    from contextwise.evaluation.replicates import Summary
    from contextwise.report.comparisons import Guess


def _names_of(truths: list[str]) -> list[str]:
    """Return the names of the truths, without folders and suffixes."""
    files = [cw.support.files.without_packing(os.path.basename(truth)) for truth in truths]
    names = [os.path.splitext(file)[0] for file in files]
    if len(set(names)) < len(names):
        raise click.UsageError("the names of the TRUTHs, without folders and suffixes, must differ")
    return names


class Replicates(NamedTuple):
    """The arguments and options that name groups of guesses or a table of results."""

    arguments: tuple[str, ...]
    table: str | None
    truth_column: str | None
    group_column: str | None
    metrics: tuple[str, ...]
    better: str | None
    training_share: float | None
    alpha: float

    def summary(self, scope: options.Scope | None = None) -> Summary:
        """Compare the models, or read the table, and summarize the groups."""
        truths, groups = split_groups(self.arguments)
        if self.table is not None and self.arguments:
            raise click.UsageError("give models or a --table, not both")
        if self.table is None and not (truths and groups):
            raise click.UsageError(
                "give a TRUTH and a group NAME=FILES for each learner, as in trees='runs/*.mn'; "
                "or a --table of results"
            )
        ctx = click.get_current_context()
        options.refuse_alone(ctx, ("truth_column", "group_column", "better"), "table")
        if self.table is None:
            summary = self._of_models(truths, groups, scope)
        else:
            for flag in options.typed_flags(ctx, [*options.Scope._fields, "training_share"]):
                raise click.UsageError(f"{flag} is for models, not for a --table")
            summary = self._of_table(self.table)
        if len(truths) != 1 and not summary.rankings:
            raise click.UsageError(
                "there is nothing to rank: ranks need at least two groups, and two truths on which "
                "every group has a value"
            )
        return summary

    def guesses(
        self, truths: list[str], groups: dict[str, list[str]], scope: options.Scope | None = None
    ) -> dict[str, list[Guess]]:
        """Compare every guess of every group with its truth."""
        names = _names_of(truths)
        only_one_from_stdin([*truths, *(p for patterns in groups.values() for p in patterns)])
        how: Any = {}
        if scope is not None:
            how = {"format": scope.format_name, "by_values": scope.by_values}
        compared: dict[str, list[Guess]] = {group: [] for group in groups}
        for truth, name in zip(truths, names, strict=True):
            true = load(truth, **how)
            restriction: Any = {} if scope is None else scope.keywords(true)
            for group, patterns in groups.items():
                if len(truths) > 1 and not all("{truth}" in text for text in patterns):
                    raise click.UsageError(
                        f"{group}={patterns[0]}: mark the name of the truth, as in "
                        "trees='runs/{truth}/trees*.mn'"
                    )
                filled = [text.replace("{truth}", name) for text in patterns]
                for file in matching_files(filled, group):
                    guess = load(file, **how)
                    comparison = cw.compare(true, guess, show_progress=True, **restriction)
                    options.refuse_nothing(comparison.question)
                    compared[group].append(
                        cw.report.comparisons.Guess(file, comparison, group=group, truth=name)
                    )
        return compared

    def _of_models(
        self, truths: list[str], groups: dict[str, list[str]], scope: options.Scope | None
    ) -> Summary:
        names = _names_of(truths)
        if any(
            holds_ensembles(matching_files([text.replace("{truth}", names[0])], group), False)
            for group, patterns in groups.items()
            for text in patterns
        ):
            return self._of_ensembles(truths, groups, scope)
        known = tuple(cw.evaluation.replicates.METRICS)
        for metric in self.metrics:
            if metric not in known:
                raise click.UsageError(
                    f"--metric {metric}: choose one of {', '.join(known)}, or give a --table"
                )
        compared = self.guesses(truths, groups, scope)
        return cw.summarize(
            {group: [guess.comparison for guess in runs] for group, runs in compared.items()},
            truths={group: [guess.truth for guess in runs] for group, runs in compared.items()},
            metrics=self.metrics or (("normalized",) if len(truths) > 1 else None),
            training_share=self.training_share,
            alpha=self.alpha,
        )

    def _of_ensembles(
        self, truths: list[str], groups: dict[str, list[str]], scope: options.Scope | None
    ) -> Summary:
        """Compare groups of ensembles, or of ensembles and single models, by proper scores."""
        metrics = self.metrics or cw.evaluation.ensemble_scores.METRICS
        for metric in metrics:
            if metric not in cw.evaluation.ensemble_scores.METRICS:
                known = ", ".join(cw.evaluation.ensemble_scores.METRICS)
                raise click.UsageError(f"--metric {metric}: for ensembles choose one of {known}")
        values: dict[str, dict[str, list[float]]] = {m: {g: [] for g in groups} for m in metrics}
        for truth, name in zip(truths, _names_of(truths), strict=True):
            true = load(truth, format=None if scope is None else scope.format_name)
            restriction: Any = {} if scope is None else scope.keywords(true)
            for group, patterns in groups.items():
                files = matching_files([t.replace("{truth}", name) for t in patterns], group)
                guesses = load_guesses(files, None if scope is None else scope.format_name, False)
                scores = cw.evaluation.score_ensembles(
                    true, dict(zip(files, guesses, strict=True)), **restriction
                )
                for metric in metrics:
                    numbers = [float(getattr(score, metric)) for score in scores]
                    of_group = values[metric][group]
                    of_group += [sum(numbers) / len(numbers)] if len(truths) > 1 else numbers
        return cw.evaluation.replicates.summarize_values(
            values,
            unit="truth" if len(truths) > 1 else "replicate",
            paired=len({len(v) for v in values[metrics[0]].values()}) == 1,
            training_share=self.training_share,
            smaller_is_better=metrics,
            alpha=self.alpha,
        )

    def _of_table(self, table: str) -> Summary:
        values = cw.evaluation.replicates.read_results(
            table, metrics=self.metrics, truth=self.truth_column, group=self.group_column
        )
        smaller = None
        if self.better is not None:
            smaller = list(values) if self.better == "smaller" else []
        else:
            for metric in (
                metric for metric in values if metric not in cw.evaluation.replicates.KNOWN
            ):
                raise click.UsageError(
                    f"which values of {metric} are better? Add --better smaller or larger"
                )
        return cw.evaluation.replicates.summarize_values(
            values, smaller_is_better=smaller, alpha=self.alpha
        )


replicates_options = options.options_as(
    "replicates",
    Replicates,
    options.model("arguments", metavar="[TRUTH]... [NAME=FILES]...", nargs=-1),
    options.path(
        "--table", metavar="FILE", help="Read results from this CSV file instead, one row per run."
    ),
    click.option(
        "--truth-column",
        metavar="NAME",
        help="With --table: column of the truth.  [default: truth, true, dataset, ...]",
    ),
    click.option(
        "--group-column",
        metavar="NAME",
        help="With --table: column of the group.  [default: group, learner, method, ...]",
    ),
    click.option(
        "--metric",
        "metrics",
        metavar="NAME",
        multiple=True,
        help="Metric to compare by; repeatable. Bayesian networks also have shd, cpdag_shd, sid, "
        "ancestor_aid, parent_aid and oset_aid.  [default: all for one truth, normalized "
        "otherwise]",
    ),
    click.option(
        "--better",
        type=click.Choice(["smaller", "larger"]),
        help="With --table: which values of the metric are better.",
    ),
    options.share(
        "--training-share",
        help="Share of the rows that each replicate learned from, if they overlap.",
    ),
    options.share("--alpha", default=0.05, help="Level of the tests."),
)
"""Add the arguments and options that name groups of guesses, as one argument ``replicates``."""


@click.command(cls=options.SectionedCommand)
@replicates_options
@options.output("json", "csv", *options.RENDERED)
@options.scope
def replicates(replicates: Replicates, output: str, scope: options.Scope) -> None:
    """Compare groups of guesses, such as the repeated runs of several learners.

    With one TRUTH: the mean distance of each group with its 95 % interval, and tests of the
    differences between groups.

    With several TRUTHs: the mean rank of each group over the truths. Friedman's test (Wilcoxon's
    for two groups) tests whether all groups are equal. Two groups differ if their mean ranks
    differ by more than Nemenyi's critical difference (Demšar 2006). In FILES, {truth} is the name
    of the truth without folder and suffix. Guesses for the same truth are averaged.

    FILES can be ensembles, as for contextwise score; the groups are then compared by the Brier
    score, the expected distance and the distance of the medoid.

    A --table has a column for the truth, one for the group, and columns of numbers. To draw the
    result, use contextwise plot replicates.

    \b
    Examples:
      contextwise replicates asia.bif trees='trees-*.json' pairs='pairs-*.json'
      contextwise replicates asia.bif trees='t/*.mn' pairs='p/*.mn' --latex > means.tex
      contextwise replicates truths/*.mn trees='t/{truth}*.mn' pairs='p/{truth}*.mn'
      contextwise replicates --table results.csv --metric SHD --better smaller
    """
    summary = replicates.summary(scope)
    ranks = [record for ranking in summary.rankings for record in ranking.records()]
    if output == "json":
        options.print_json(
            {
                "verdict": summary.verdict,
                "verdicts": {ranking.metric: ranking.verdict for ranking in summary.rankings},
                "ranks": ranks,
                "means": summary.records(),
                "differences": summary.difference_records(),
            }
        )
        return
    if output == "csv":
        rows = ranks or summary.rows()
        options.print_csv(rows)
        return

    parts = cw.report.evaluations.summary_parts(summary)
    click.echo(cw.report.rendered(parts, output).rstrip("\n"))
