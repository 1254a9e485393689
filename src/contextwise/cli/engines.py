"""``contextwise engines``: what counts, what is in use, and what is missing."""

from __future__ import annotations

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def engines(as_json: bool) -> None:
    """List the engines that count, and why one cannot be used here.

    Every engine gives the same exact numbers; they differ in speed.

    \b
    Examples:
      contextwise engines
      contextwise compare true.mn learned.mn --engine branch
    """
    from contextwise.cli.output import print_json
    from contextwise.counting import DEFAULT, ENGINES
    from contextwise.models.numbers import columns

    records = [
        {
            "engine": engine.name,
            "default": engine.name == DEFAULT,
            "missing": engine.missing(),
            "summary": engine.summary,
        }
        for engine in ENGINES.values()
    ]
    if as_json:
        print_json(records)
        return
    rows = [
        (
            str(record["engine"]),
            "default" if record["default"] else "",
            f"cannot be used: {record['missing']}" if record["missing"] else "ready",
            str(record["summary"]),
        )
        for record in records
    ]
    click.echo(columns(rows, "<<<<"))
