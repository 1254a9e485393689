"""``contextwise explore``: the explorer, a local page in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from contextwise.cli.inputs import (
    ZeroWeights,
    load_all,
    load_rows,
    model_argument,
    reading_options,
    short_names,
)
from contextwise.errors import require


@click.command()
@model_argument("models", metavar="[TRUE GUESS...]", nargs=-1)
@click.option(
    "--run",
    type=click.Path(exists=True, path_type=Path),
    metavar="FOLDER",
    help="Show the results of contextwise experiment, or of stability --folder.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Rows against which the claims of a model can be tested, as contextwise check does.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Who may connect: from where.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Where the page is.  [default: a free port]",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@reading_options
def explore(
    models: tuple[str, ...],
    run: Path | None,
    data: Path | None,
    host: str,
    port: int,
    no_browser: bool,
    format_name: str | None,
    zero_weights: ZeroWeights,
) -> None:
    """Look at where models differ, on a local page: compare, click, ask.

    The page offers the models that are named here, the bundled examples, and files that are
    uploaded there. It is for this machine only unless --host says otherwise, asks nothing of a
    network, and keeps no file. Ctrl-C ends it.

    \b
    Examples:
      contextwise explore
      contextwise explore true.mn learned.mn other.mn
      contextwise explore true.mn learned.mn --data test.csv
      contextwise explore --run runs/learners
      contextwise explore --no-browser --port 8000 true.mn learned.mn
    """
    require("shiny", "explorer")
    from contextwise.explorer.app import explorer
    from contextwise.explorer.results import kind_of_run, read_results
    from contextwise.explorer.server import serve

    if run is not None:
        kind_of_run(str(run), name=str(run))
        if run.suffix.lower() == ".csv":
            read_results(str(run), name=str(run))
    loaded = load_all(models, format=format_name, zero_weights=zero_weights)
    if data is not None and loaded:
        load_rows(str(data), loaded[0].domain)  # rows of other variables are an error that says so
    serve(
        explorer(list(zip(short_names(models), loaded, strict=True)), run=run, data=data),
        host=host,
        port=port,
        open_browser=not no_browser,
        tell=lambda address: click.echo(f"The explorer is at {address} (Ctrl-C ends it)"),
    )
