"""``contextwise consensus``: a structure that many models agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.models import load_all, model_argument
from contextwise.cli.output import print_csv, print_json
from contextwise.cli.restrictions import Asked, restricting_options, time_limit_option

if TYPE_CHECKING:
    from contextwise.evaluation.agreement import ClaimSupport, Consensus

HEADER = ("first", "second", "dependent", "when", "throughout", "somewhere", "of")


@click.command()
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option("--out", type=click.Path(), help="Write the structure to this model file.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Which share of the models a dependence needs.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many pairs to show, those with the widest dependence first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row per region of a pair.")
@restricting_options
@time_limit_option("Stop improving after so long; the sum is exact all the same.")
def consensus(
    models: tuple[str, ...],
    out: str | None,
    threshold: float,
    top: int,
    as_json: bool,
    as_csv: bool,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """Find a structure that is as near to all MODELs as features can express.

    It begins with the most typical of the models and adds or removes features while the sum of the
    distances falls. No structure at all has a smaller sum than the bound that is shown beside it.

    \b
    Examples:
      contextwise consensus runs/*.mn --out consensus.json
      contextwise consensus runs/*.mn --threshold 0.8 --csv > supports.csv
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    from contextwise import formats
    from contextwise.evaluation import consensus as find_consensus

    if out is not None:
        formats.check_target(out)
    given = load_all(models, format=asked.format_name)
    found = find_consensus(
        given,
        threshold=threshold,
        time_limit=time_limit,
        show_progress=True,
        **asked.of(given[0].domain),
    )
    if out is not None:
        formats.write(found.structure, out)
    if as_csv:
        print_csv((_row(support) for support in _supports(found, None)), HEADER)
    elif as_json:
        supports = [_row(support) for support in _supports(found, None)]
        print_json({**_record(found), "supports": supports})
    else:
        click.echo("\n".join([*_lines(found), *map(str, _supports(found, top))]))


def _record(found: Consensus) -> dict[str, object]:
    return {
        "models": len(found.models),
        "features": len(found.structure),
        "sum": found.sum,
        "medoid_sum": found.medoid_sum,
        "lower_bound": found.lower_bound,
        "majority": found.majority.value,
        "majority_is_exact": found.majority_is_exact,
        "mean_distance": found.mean_distance,
        "moves": found.moves,
        "is_local_optimum": found.is_local_optimum,
        "threshold": float(found.threshold),
    }


def _row(support: ClaimSupport) -> dict[str, object]:
    first, second = support.pair
    values = (first, second, support.dependent, support.when, support.throughout)
    return dict(zip(HEADER, (*values, support.somewhere, support.of), strict=True))


def _supports(found: Consensus, top: int | None) -> list[ClaimSupport]:
    """The regions of the pairs that depend, those of the widest dependence first."""
    from contextwise import Structure, compare

    nothing = Structure(found.structure.domain)
    wide = compare(nothing, found.structure).worst_pairs(len(found.structure.pairs()))
    pairs = [pair for pair, _ in wide][:top]
    return [support for pair in pairs for support in found.supports(*pair)]


def _lines(found: Consensus) -> list[str]:
    from contextwise.models.numbers import number, plural, rate

    ended = "a local optimum" if found.is_local_optimum else "not finished in time"
    counted = "exactly" if found.majority_is_exact else "estimated"
    majority = number(round(found.majority.value))
    return [
        f"{plural(len(found.models), 'model')}, consensus of "
        f"{plural(len(found.structure), 'feature')} after {plural(found.moves, 'move')}: {ended}.",
        f"Sum of distances {number(found.sum)} (mean {rate(found.mean_distance)} of all "
        f"assertions); {number(found.medoid_sum)} for the most typical model.",
        f"No structure has a smaller sum than {number(found.lower_bound)}; taking the majority of "
        f"each assertion would have {majority} ({counted}).",
    ]
