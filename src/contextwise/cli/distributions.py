"""What the commands on distributions share: models with weights, and numbers with their error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.models import load
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Estimate
    from contextwise.models.structure import LogLinear

seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the samples."
)


def load_weighted(name: str, *, format: str | None = None) -> LogLinear:
    """The model of that name; a structure without weights is an error."""
    from contextwise.models.structure import LogLinear

    model = load(name, format=format)
    if not isinstance(model, LogLinear):
        raise ContextwiseError(
            f"{name}: this model has no weights; fit them to data first, with: contextwise fit"
        )
    return model


def shown(estimate: Estimate | None) -> str:
    """A number for a table, with its standard error where it has one."""
    if estimate is None:
        return "–"
    if not estimate.standard_error:
        return f"{estimate.value:.6g}"
    return f"{estimate.value:.4g} ± {estimate.standard_error:.1g}"


def as_record(estimate: Estimate) -> dict[str, object]:
    """A number for JSON, which knows no infinity."""
    finite = abs(estimate.value) != float("inf")
    return {
        "value": estimate.value if finite else str(estimate.value),
        "standard_error": estimate.standard_error,
        "how": estimate.how,
    }
