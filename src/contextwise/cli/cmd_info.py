"""``contextwise info``: what is in a model, what its file held, and what data show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from contextwise.cli.inputs import (
    format_option,
    load,
    model_argument,
    only_one_from_stdin,
    short_names,
)
from contextwise.cli.options import json_option
from contextwise.cli.printing import print_records

DATA = (".csv", ".data")
MOST_STATES = 6
OF_THE_FILE = ("lines", "raw_features", "duplicates", "contradictory")
LABELS = {
    "largest_length": "longest",
    "zero_weights": "weight 0",
    "raw_features": "in file",
}
COLUMNS = (
    *("model", "variables", "features", "mean_length", "largest_length", "pairs", "scopes"),
    *("raw_features", "duplicates", "zero_weights"),
)


@click.command()
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@format_option
@json_option("Print JSON; a list for several models.")
def info(models: tuple[str, ...], format_name: str | None, as_json: bool) -> None:
    """Describe each MODEL: its variables and features, and what its file held.

    Features are distinct; the file may list one several times (its duplicates), and may list
    some that can never hold (contradictory). Pairs are those that some feature covers.

    A data file (.csv or .data, also .gz) is described by its domain: the variables and states that
    it shows. In JSON these are the "variables" of a .json model.

    \b
    Examples:
      contextwise info learned.mn
      contextwise info *.mn
      contextwise info learned.mn --json
      contextwise info rows.csv
    """
    only_one_from_stdin(list(models))
    data = [name for name in models if name.lower().removesuffix(".gz").endswith(DATA)]
    if data and len(data) < len(models):
        raise click.UsageError("describe models and data files in two calls")
    if data:
        _describe_data(data, as_json)
        return
    records = [_record(name, format_name) for name in models]
    if as_json:
        print_records(records)
    elif len(records) == 1:
        click.echo(_one(records[0]))
    else:
        click.echo(_several(records))


def _describe_data(names: Sequence[str], as_json: bool) -> None:
    from contextwise.support.formatting import columns, plural, printable

    records = [_data_record(name) for name in names]
    if as_json:
        print_records(records)
        return
    for label, record in zip(short_names(names), records, strict=True):
        variables: list[dict[str, Any]] = record["variables"]
        counts = plural(record["rows"], "row"), plural(len(variables), "variable")
        click.echo(f"{printable(label)}: {', '.join(counts)}")
        rows = [(own["name"], str(len(own["states"])), _shown(own["states"])) for own in variables]
        click.echo(columns(rows, "<><"))


def _data_record(name: str) -> dict[str, Any]:
    from contextwise.data.rows import as_data

    data = as_data(name)
    domain = data.domain
    variables = [
        {"name": own, "states": states}
        for own, states in zip(domain.names, domain.states, strict=True)
    ]
    return {"data": name, "rows": len(data), "variables": variables}


def _shown(states: Sequence[str]) -> str:
    from contextwise.models.domain import listed

    return listed(states, MOST_STATES)


def _record(name: str, format_name: str | None) -> dict[str, object]:
    from contextwise.models.structure import LogLinear, structure_of

    model = load(name, format=format_name)
    cardinalities = model.domain.cardinalities
    zeros = int((model.weights == 0).sum()) if isinstance(model, LogLinear) else None
    return {
        "model": name,
        "format": model.info.get("format"),
        **structure_of(model).statistics(),
        "smallest_cardinality": min(cardinalities, default=0),
        "largest_cardinality": max(cardinalities, default=0),
        "zero_weights": zeros,
        **{key: model.info.get(key) for key in OF_THE_FILE},
    }


def _one(record: Mapping[str, object]) -> str:
    from contextwise.support.formatting import columns

    shown = {**record, "model": short_names([str(record["model"])])[0]}
    rows = [(_label(key), _cell(value)) for key, value in shown.items() if value is not None]
    return columns(rows, "<<")


def _several(records: Sequence[Mapping[str, object]]) -> str:
    from contextwise.support.formatting import columns

    short = short_names(str(record["model"]) for record in records)
    rows = [
        [label, *(_cell(record[key]) for key in COLUMNS[1:])]
        for label, record in zip(short, records, strict=True)
    ]
    return columns([list(map(_label, COLUMNS)), *rows], "<" + ">" * (len(COLUMNS) - 1))


def _label(key: str) -> str:
    return LABELS.get(key, key.replace("_", " "))


def _cell(value: object) -> str:
    from contextwise.support.formatting import name

    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else name(str(value))
