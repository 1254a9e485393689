"""``contextwise explore``: open the explorer, a local page in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from contextwise.cli import options
from contextwise.cli.inputs import load_all, load_data, short_names
from contextwise.errors import require


@click.command()
@options.model("models", metavar="[TRUE GUESS...]", nargs=-1)
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
    help="Test the claims of a model against the rows of this file.",
)
@options.option("--host", default="127.0.0.1", help="Network address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on.  [default: a free port]",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@options.reading
def explore(
    models: tuple[str, ...],
    run: Path | None,
    data: Path | None,
    host: str,
    port: int,
    no_browser: bool,
    reading: options.Reading,
) -> None:
    """Explore where models differ, on a local page in the browser.

    The page offers the models named here, the bundled examples, and files uploaded in the page.
    It is open to this machine only, unless --host says otherwise, and uses no network. Ctrl-C stops
    it.

    \b
    Examples:
      contextwise explore
      contextwise explore true.mn learned.mn other.mn
      contextwise explore true.mn learned.mn --data test.csv
      contextwise explore --run runs/learners
    """
    require("shiny", "explorer")
    from contextwise.explorer.app import explorer
    from contextwise.explorer.computations import kind_of_run, read_results
    from contextwise.explorer.server import serve

    if run is not None:
        kind_of_run(str(run))
        if run.suffix.lower() == ".csv":
            read_results(str(run))
    loaded = load_all(models, *reading)
    if data is not None and loaded:
        load_data(str(data), loaded[0].domain)  # raises if the variables differ
    serve(
        explorer(list(zip(short_names(models), loaded, strict=True)), run=run, data=data),
        host=host,
        port=port,
        open_browser=not no_browser,
        tell=lambda address: click.echo(f"The explorer is at {address} (stop it with Ctrl-C)"),
    )
