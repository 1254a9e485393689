"""What a command compares, if not everything: the options of `contextwise.comparison.question`.

Every command that compares models takes the same options, from one decorator: `restricting_options`
hands them to the command as one `Asked`, and `Asked.of` makes the keywords of `compare` of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, cast

import click

from contextwise.cli.inputs import (
    by_position_option,
    contexts_option,
    format_option,
    load_rows,
    pair_of,
    zero_weights_option,
)
from contextwise.cli.options import context_option, options_as, pairs_option, variables_option
from contextwise.errors import ContextwiseError, ParseError
from contextwise.models.notation import parse_names

if TYPE_CHECKING:
    from contextwise.comparison.context_weights import Weights
    from contextwise.comparison.pairs import Contexts
    from contextwise.comparison.question import Question, Restriction
    from contextwise.formats import ZeroWeights
    from contextwise.models.domain import Domain


class Asked(NamedTuple):
    """The restricting options as they were given."""

    pairs: tuple[str, ...]
    variables: str | None
    context: str | None
    data: str | None
    weights: str | None
    contexts: Contexts
    by_position: bool
    zero_weights: ZeroWeights
    format_name: str | None

    def of(self, domain: Domain) -> Restriction:
        """The keywords of `compare`, for models over this domain; files are read now."""
        return {
            "pairs": [pair_of(text, "--pairs") for text in self.pairs] or None,
            "variables": None if self.variables is None else parse_names(self.variables),
            "context": self.context,
            "data": None if self.data is None else load_rows(self.data, domain),
            "weights": None if self.weights is None else _read_weights(self.weights),
            "contexts": self.contexts,
            "align": "position" if self.by_position else "names",
            "zero_weights": self.zero_weights,
        }


NOTHING_LEFT = "there is nothing to compare: no pair of variables is left"
OPTIONS = (
    pairs_option,
    variables_option,
    context_option,
    click.option("--data", type=click.Path(), help="Only contexts of the rows of this CSV file."),
    click.option(
        "--weights",
        type=click.Path(),
        metavar="FILE",
        help="Contexts by probability: a JSON object from variables to those of their states.",
    ),
    contexts_option,
    by_position_option,
    zero_weights_option,
    format_option,
)


restricting_options = options_as("asked", Asked, OPTIONS)
"""Give a command the options that say what is compared, as one argument ``asked``."""


def refuse_nothing(question: Question) -> None:
    """Nothing to compare is trouble, not agreement."""
    if question.total():
        return
    if question.rows is not None and question.pair_count:
        raise ContextwiseError("there is nothing to compare: no row of the data agrees")
    raise ContextwiseError(NOTHING_LEFT)


def _read_weights(path: str) -> Weights:
    """Weights from a JSON file; decimals stay as they are written."""
    from decimal import Decimal

    from contextwise.support import files

    try:
        found = json.loads(files.read_bytes(path), parse_float=Decimal)
    except ValueError as error:
        raise ParseError(f"this is not JSON: {error}", path=path) from None
    if not isinstance(found, dict) or not all(isinstance(v, list | dict) for v in found.values()):
        raise ParseError(
            'weights are an object such as {"smoker": {"no": 0.7, "yes": 0.3}}', path=path
        )
    return cast("Weights", found)
