"""``contextwise kl``: how far apart two distributions are."""

from __future__ import annotations

import click

from contextwise.cli.inputs import (
    by_position_option,
    format_option,
    load_weighted,
    model_argument,
    only_one_from_stdin,
)
from contextwise.cli.options import json_option, seed_option
from contextwise.cli.printing import estimate_record, print_json
from contextwise.errors import TooLargeError


@click.command()
@model_argument("p")
@model_argument("q")
@click.option(
    "--how",
    type=click.Choice(["auto", "exact", "sampled"]),
    default="auto",
    show_default=True,
    help="auto: exact where that is possible, sampled elsewhere.",
)
@click.option("--samples", type=click.IntRange(min=40), default=10_000, show_default=True)
@seed_option
@json_option()
@by_position_option
@format_option
def kl(
    p: str,
    q: str,
    how: str,
    samples: int,
    seed: int,
    as_json: bool,
    by_position: bool,
    format_name: str | None,
) -> None:
    """Kullback-Leibler divergence of the models P and Q, both ways, in nats.

    Also Jensen-Shannon and total variation. Exact for up to 2^24 states; beyond that KL is exact
    where the treewidth allows, and what is sampled has its standard error.

    \b
    Examples:
      contextwise kl true.mn fitted.mn
      contextwise kl true.mn fitted.mn --json
    """
    from contextwise.distributions.divergence import divergences
    from contextwise.models.alignment import named

    only_one_from_stdin([p, q])
    models = [load_weighted(name, format=format_name) for name in (p, q)]
    if by_position:
        with named(p, q):
            models[1] = models[1].aligned_to(models[0].domain, align="position")
    try:
        found = divergences(
            *models,
            how=how,  # type: ignore[arg-type]
            samples=samples,
            rng=seed,
            show_progress=True,
        )
    except TooLargeError as error:
        raise TooLargeError(f"{error} (--how auto does both)") from None
    estimates = {
        "kl_p_q": found.kl_p_q,
        "kl_q_p": found.kl_q_p,
        "jensen_shannon": found.jensen_shannon,
        "total_variation": found.total_variation,
    }
    if as_json:
        record: dict[str, object] = {name: estimate_record(e) for name, e in estimates.items()}
        print_json(record | {"by_position": by_position})
        return
    from contextwise.report.notes import BY_POSITION
    from contextwise.report.parts import Column, cell_text
    from contextwise.support.formatting import columns

    value = Column("", "score")
    labels = ("KL(P ‖ Q)", "KL(Q ‖ P)", "Jensen-Shannon", "total variation")
    rows = [
        (label, cell_text(estimate, value), estimate.how)
        for label, estimate in zip(labels, estimates.values(), strict=True)
    ]
    if by_position:
        rows.append(("note", BY_POSITION, ""))
    click.echo(columns(rows, "<<<"))
