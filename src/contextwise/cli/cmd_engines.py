"""``contextwise engines``."""

from __future__ import annotations

import click

from contextwise.cli import options


@click.command()
@options.output("json")
def engines(output: str) -> None:
    """List the counting engines and which are available.

    All engines give the same exact numbers; they differ in speed.

    \b
    Examples:
      contextwise engines
      contextwise compare true.mn learned.mn --engine branch
    """
    from contextwise.counting import DEFAULT, ENGINES
    from contextwise.support.formatting import columns

    records = [
        {
            "engine": engine.name,
            "default": engine.name == DEFAULT,
            "missing": engine.missing(),
            "summary": engine.summary,
        }
        for engine in ENGINES.values()
    ]
    if output == "json":
        options.print_json(records)
        return
    rows = [
        (
            str(record["engine"]),
            "default" if record["default"] else "",
            f"not available: {record['missing']}" if record["missing"] else "ready",
            str(record["summary"]),
        )
        for record in records
    ]
    click.echo(columns(rows, "<<<<"))
