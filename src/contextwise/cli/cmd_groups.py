"""Groups of guesses on the command line: files by patterns, and what is said about them in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.inputs import load
from contextwise.cli.printing import print_csv, print_json
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison
    from contextwise.comparison.question import Restriction
    from contextwise.evaluation.compare_truths import UncertainComparison
    from contextwise.evaluation.replicates import Summary
    from contextwise.models.structure import Model

group_option = click.option(
    "--group",
    "groups",
    metavar="NAME=FILES",
    multiple=True,
    help="Guesses of one kind, as in trees='runs/trees/*.json'; repeatable. Shows means.",
)


def files_of(pattern: str, option: str) -> list[str]:
    """The files that a pattern matches, in the order of their names; a plain name is itself.

    >>> files_of("runs/first.mn", "--group")
    ['runs/first.mn']
    """
    import glob

    if not glob.has_magic(pattern):
        return [pattern]
    found = sorted(glob.glob(pattern, recursive=True))
    if not found:
        raise ContextwiseError(f"{option}: no file matches {pattern}")
    return found


def group_files(texts: Sequence[str]) -> dict[str, list[str]]:
    """The files of each group, by its name.

    >>> group_files(["trees=a.mn", "pairs=b.mn", "trees=c.mn"])
    {'trees': ['a.mn', 'c.mn'], 'pairs': ['b.mn']}
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        if not (name and equals and pattern):
            raise click.UsageError(
                f"--group takes NAME=FILES, as in trees='runs/*.mn'; not {text!r}"
            )
        groups.setdefault(name, []).extend(files_of(pattern, f"--group {name}"))
    return groups


def refuse_both(guesses: Sequence[str], groups: Sequence[str]) -> None:
    """Guesses are given one by one or as groups: not both, and not none."""
    if groups and guesses:
        raise click.UsageError("with --group, give the guesses as groups only")
    if not groups and not guesses:
        raise click.UsageError("Missing argument 'GUESS...'")


def show_groups(
    true: Model,
    groups: Sequence[str],
    restriction: Restriction,
    *,
    format_name: str | None,
    training_share: float | None,
    output: str,
    **options: Any,
) -> None:
    """Compare every guess of every group and show what they say in all.

    Parameters
    ----------
    true : the true model
    groups : as they were given
    restriction : what is compared
    format_name : of the model files, if given
    training_share : of the rows that each replicate learned from
    output : "text", "csv", "json" or "latex"
    **options : for `compare`
    """
    from contextwise.comparison.compare import compare
    from contextwise.evaluation import summarize

    found: dict[str, list[Comparison]] = {}
    for name, files in group_files(groups).items():
        guesses = (load(file, format=format_name) for file in files)
        found[name] = [compare(true, guess, **options, **restriction) for guess in guesses]
    _show_summary(summarize(found, training_share=training_share), output)


def _show_summary(summary: Summary, output: str) -> None:
    from contextwise.report.summaries import summary_parts
    from contextwise.report.text import as_latex, as_text

    if output == "json":
        ranks = [vars(ranking) for ranking in summary.rankings]
        means, differences = summary.records(), summary.difference_records()
        print_json({"means": means, "differences": differences, "rankings": ranks})
    elif output == "csv":
        rows = summary.rows()
        print_csv(rows, rows[0])
    elif output == "latex":
        click.echo(as_latex(summary_parts(summary)), nl=False)
    else:
        click.echo(as_text(summary_parts(summary)))


def show_truths(
    true: Model,
    pattern: str,
    guess: Model,
    restriction: Restriction,
    *,
    format_name: str | None,
    output: str,
    **options: Any,
) -> None:
    """Compare a guess with many truths and show the mean and the interval.

    Parameters
    ----------
    true : the first truth
    pattern : of the files of the others
    guess : the guess
    restriction : what is compared
    format_name : of the model files, if given
    output : "text", "csv" or "json"
    **options : for `compare`
    """
    from contextwise.evaluation import compare_truths

    others = [load(file, format=format_name) for file in files_of(pattern, "--truths")]
    found: UncertainComparison = compare_truths([true, *others], guess, **options, **restriction)
    if output == "json":
        print_json({"truths": len(found.comparisons), "metrics": found.records()})
    elif output == "csv":
        records = found.records()
        print_csv(records, records[0])
    else:
        click.echo(str(found))
