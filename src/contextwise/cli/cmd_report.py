"""``contextwise report`` and ``explore``: pages about guesses and the true model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import commands, options
from contextwise.cli.cmd_compare import Counting, compare_guess
from contextwise.cli.inputs import (
    deadline,
    is_data,
    load,
    load_all,
    load_data,
    only_one_from_stdin,
    time_left,
)
from contextwise.data.options import FLAGS
from contextwise.errors import require
from contextwise.support.effort import Effort
from contextwise.support.files import write_bytes

if TYPE_CHECKING:
    from contextwise.evidence.model_check import Check
    from contextwise.models.structure import Model


@commands.command()
@options.model("true")
@options.model("guesses", metavar="[GUESS...]", nargs=-1)
@options.path("--out", metavar="FILE", required=True, help="Write this .html file.")
@options.top(least=1)
@options.chance
@options.path(
    "--check",
    "check_rows",
    metavar="ROWS",
    help="Test the claims of each guess (with --peers, of both models) against these rows.",
)
@options.threads
@options.time_limit(default=60)
@options.naming
@options.scope
@click.pass_context
def report(
    ctx: click.Context,
    /,
    true: str,
    guesses: tuple[str, ...],
    out: str,
    naming: options.Naming,
    scope: options.Scope,
    time_limit: float,
    **how: Any,
) -> None:
    """Write a page about a model, or about each GUESS and the TRUE model: one offline HTML file.

    For one model, the page shows how many of its pairs depend and where, pictures, and its claims;
    with --check, it is the page of contextwise analyse, with the rows behind each claim.

    For guesses, the page shows counts and rates, a heat map of the pairs, the graphs of both
    structures, the worst pairs and features with their contexts, and statistics of the models.

    Exit codes: 0 done, 2 error, 3 if the time limit left something out of the page.

    \b
    Examples:
      contextwise report learned.json --check test.csv --out report.html
      contextwise report true.mn learned.mn --out report.html
      contextwise report true.mn first.mn second.mn --out report.html
      contextwise report true.mn learned.mn --chance --check test.csv --out report.html
      contextwise report controls.json patients.json --peers --out report.html
    """
    options.check_out(out, [".html", ".htm"])
    options.refuse_alone(ctx, ("draws", "seed"), "chance")
    options.refuse_alone(ctx, FLAGS, "check_rows", "data")
    only_one_from_stdin([true, *guesses, scope.data, how["check_rows"]])
    if guesses:
        page, unfinished = _guesses_page(ctx, [true, *guesses], naming, scope, **how)
    else:
        options.refuse(ctx, ABOUT_GUESSES, "needs a GUESS")
        page, unfinished = _model_page(ctx, true, naming, scope, how["check_rows"], how["top"])
    write_bytes(out, page.encode("utf-8"))
    ctx.exit(3 if unfinished else 0)


def _guesses_page(
    ctx: click.Context,
    names: list[str],
    naming: options.Naming,
    scope: options.Scope,
    *,
    check_rows: str | None,
    by_chance: options.ChanceOptions,
    threads: int | None,
    top: int,
) -> tuple[str, bool]:
    """Return the page about guesses, and whether something is unfinished."""
    true, *guesses = scope.load_all(names)
    label, *labels = naming.labels(names)
    scoped = scope.keywords(true)
    rows = None if check_rows is None else load_data(check_rows, scope.row_options, true)

    def checked(model: Model) -> Check | None:
        """Test the claims of a model, over the variables of the true one."""
        if rows is None:
            return None
        # The structures of a comparison lack the variables that --context assigns.
        question = cw.comparison.question.pose(
            [true, model], align=scope.align, zero_weights=scope.zero_weights
        )
        return cw.check(
            question.structures[1],
            rows,
            pairs=scope.pairs,
            variables=scope.variables,
            context=scope.context,
            time_limit=time_left(),
        )

    reported, unfinished = [], False
    for name, guess in zip(labels, guesses, strict=True):
        restriction = naming.restrict(scoped, label, name)
        comparison, chance = compare_guess(
            true, guess, by_chance, restriction, Counting(threads=threads, strengths=True)
        )
        explain = cw.comparison.error_regions.explain_comparison
        explanation = explain(comparison, Effort(deadline()), top=top)
        check = checked(guess)
        late = check is not None and check.evidence.unfinished > 0
        unfinished |= bool(comparison.open_pairs) or by_chance.is_late(chance)
        unfinished |= explanation.partial or late
        reported.append(
            cw.report.comparisons.Guess(
                name, comparison, explanation=explanation, chance=chance, check=check
            )
        )
    page = cw.report.page.report_page(
        label,
        reported,
        command=options.command_line(ctx),
        check=checked(true) if naming.peers else None,
        top=top,
    )
    return page, unfinished


ABOUT_GUESSES = (
    *("chance", "contexts", "align", "peers", "data", "threads"),
    *("pairs", "variables", "context", "weights"),
)


def _model_page(
    ctx: click.Context,
    model: str,
    naming: options.Naming,
    scope: options.Scope,
    check_rows: str | None,
    top: int,
) -> tuple[str, bool]:
    """Return the page about one model, with evidence from rows, and if something is unfinished."""
    (title,) = naming.labels([model])
    loaded = load(model, scope.format_name, scope.zero_weights, scope.by_values)
    command = options.command_line(ctx)
    if check_rows is not None:
        options.refuse(ctx, ("top",), "has no effect on the page of one model with --check")
        is_graph = loaded.origin.unknown_states
        data = load_data(check_rows, scope.row_options, loaded, for_graph=is_graph)
        if is_graph:
            structure = cw.models.structure.structure_of(loaded)
            loaded = cw.models.directions.graph_over(structure, data.domain)
        result = cw.analysis.conclusions.analysis_of(loaded, data, title, Effort(deadline()))
        page = cw.report.analysis_page.page_of_analysis(result, command=command, model=model)
        return page, result.evidence.unfinished > 0
    explained = cw.independence.model_claims.explain_model(
        loaded, top=top, time_limit=time_left(), show_progress=True
    )
    page = cw.report.page.model_page(title, explained, command=command)
    return page, explained.partial


@commands.command()
@options.model("models", metavar="[MODEL...] | DATA", nargs=-1)
@click.option(
    "--check",
    "data",
    type=click.Path(path_type=Path),
    metavar="ROWS",
    help="Test the claims of the model against these rows, and offer to learn from them.",
)
@options.option("--host", default="127.0.0.1", help="Network address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on.  [default: a free port]",
)
@options.naming
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@options.reading
def explore(
    models: tuple[str, ...],
    data: Path | None,
    naming: options.Naming,
    no_browser: bool,
    reading: options.Reading,
    **address: Any,
) -> None:
    """Explore one model, where models differ, or rows of DATA, on a local page in the browser.

    One model is shown with its independencies; several are compared with the first. From DATA the
    page learns structures. It also offers the bundled examples and files uploaded in the page. It
    is open to this machine only, unless --host says otherwise, and uses no network. Ctrl-C stops
    it.

    \b
    Examples:
      contextwise explore
      contextwise explore learned.json
      contextwise explore rows.csv
      contextwise explore true.mn learned.mn other.mn
      contextwise explore true.mn learned.mn --check test.csv
      contextwise explore controls.json patients.json --peers
    """
    require("shiny", "explorer")
    rows = [name for name in models if is_data(name)]
    if len(rows) > 1 or (rows and data is not None):
        raise click.UsageError("the page explores one file of rows; name one")
    models = tuple(name for name in models if name not in rows)
    loaded = load_all(models, *reading)
    if rows:
        data = Path(rows[0])
    if data is not None:
        cw.data.rows.summarize_data(str(data))  # raises if it cannot be read
    cw.explorer.server.serve(
        cw.explorer.app.explorer(
            list(zip(naming.labels(models), loaded, strict=True)),
            data=data,
            peers=naming.peers,
        ),
        open_browser=not no_browser,
        tell=lambda shown: click.echo(f"The explorer is at {shown} (stop it with Ctrl-C)"),
        **address,
    )
