"""``contextwise report`` and ``explore``: pages about guesses and the true model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import (
    is_data,
    load,
    load_all,
    load_data,
    load_guesses,
    load_true,
    only_one_from_stdin,
)
from contextwise.data.options import FLAGS
from contextwise.errors import ContextwiseError, require
from contextwise.support.effort import Deadline, Effort
from contextwise.support.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contextwise.comparison.question import Restriction
    from contextwise.data.rows import Data
    from contextwise.evaluation.check import Check
    from contextwise.models.structure import Model
    from contextwise.report.comparisons import Guess


@options.command()
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
    true: str,
    guesses: tuple[str, ...],
    out: str,
    top: int,
    by_chance: options.ChanceOptions,
    check_rows: str | None,
    threads: int | None,
    time_limit: float,
    naming: options.Naming,
    scope: options.Scope,
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
    options.refuse_alone(ctx, ("draws", "rng"), "chance")
    options.refuse_alone(ctx, FLAGS, "check_rows", "data")
    deadline = Deadline.after(time_limit)
    if guesses:
        names = [true, *guesses]
        only_one_from_stdin([*names, scope.data, check_rows])
        first = load_true(true, scope.format_name, scope.by_values)
        rows = None if check_rows is None else load_data(check_rows, scope.row_options, first)
        restriction = scope.keywords(first)
        work = _Work(first, naming, scope, restriction, rows, by_chance, deadline, threads, top)
        page, unfinished = _guesses_page(ctx, names, work)
    else:
        page, unfinished = _model_page(ctx, true, naming, scope, deadline)
    write_bytes(out, page.encode("utf-8"))
    ctx.exit(3 if unfinished else 0)


class _Work(NamedTuple):
    """The true model of a page, and what to do with each guess."""

    true: Model
    naming: options.Naming
    scope: options.Scope
    restriction: Restriction
    rows: Data | None  # to check claims against
    by_chance: options.ChanceOptions
    deadline: Deadline
    threads: int | None
    top: int

    def report(self, true: str, label: str, guess: Model) -> tuple[Guess, bool]:
        """Compare and explain a guess; the flag is True if something is unfinished."""
        restriction = self.naming.restrict(self.restriction, true, label)
        comparison = cw.compare(
            self.true,
            guess,
            threads=self.threads,
            time_limit=self.deadline.left(),
            strengths=True,
            show_progress=True,
            **restriction,
        )
        options.refuse_nothing(comparison.question)
        explain = cw.comparison.explain.explain_comparison
        explanation = explain(comparison, Effort(self.deadline), top=self.top)
        chance, unfinished = None, bool(comparison.open_pairs) or explanation.partial
        if self.by_chance.chance and not comparison.open_pairs:
            left = self.deadline.left()
            chance, stopped = self.by_chance.run(self.true, guess, restriction, time_limit=left)
            unfinished |= stopped
        check = self.check(guess)
        unfinished |= check is not None and check.evidence.unfinished > 0
        shown = cw.report.comparisons.Guess(
            label, comparison, explanation=explanation, chance=chance, check=check
        )
        return shown, unfinished

    def check(self, model: Model) -> Check | None:
        """Test the claims of a model, over the variables of the true one."""
        if self.rows is None:
            return None
        scope = self.scope
        # The structures of a comparison lack the variables that --context assigns.
        question = cw.comparison.question.pose(
            [self.true, model], align=scope.align, zero_weights=scope.zero_weights
        )
        return cw.check(
            question.structures[1],
            self.rows,
            pairs=scope.pairs,
            variables=scope.variables,
            context=scope.context,
            time_limit=self.deadline.left(),
        )


def _guesses_page(ctx: click.Context, names: Sequence[str], work: _Work) -> tuple[str, bool]:
    """Return the page about guesses, and whether something is unfinished."""
    scope = work.scope
    label, *labels = work.naming.labels(names)
    loaded = load_guesses(names[1:], work.true, scope.format_name, by_values=scope.by_values)
    reported, unfinished = [], False
    for name, guess in zip(labels, loaded, strict=True):
        if isinstance(guess, cw.Ensemble):
            raise ContextwiseError(
                f"{name}: a report shows single models, got an ensemble; "
                "contextwise compare scores ensembles"
            )
        shown, late = work.report(label, name, guess)
        reported.append(shown)
        unfinished |= late
    page = cw.report.page.report_page(
        label,
        reported,
        command=options.command_line(ctx),
        check=work.check(work.true) if work.naming.peers else None,
        top=work.top,
    )
    return page, unfinished


ABOUT_GUESSES = (
    *("chance", "contexts", "align", "peers", "data", "threads"),
    *("pairs", "variables", "context", "weights"),
)


def _model_page(
    ctx: click.Context, model: str, naming: options.Naming, scope: options.Scope, deadline: Deadline
) -> tuple[str, bool]:
    """Return the page about one model, with evidence from rows, and if something is unfinished."""
    options.refuse(ctx, ABOUT_GUESSES, "needs a GUESS")
    rows, (title,) = ctx.params["check_rows"], naming.labels([model])
    only_one_from_stdin([model, rows])
    loaded = load(model, scope.format_name, scope.zero_weights, scope.by_values)
    command = options.command_line(ctx)
    if rows is not None:
        options.refuse(ctx, ("top",), "has no effect on the page of one model with --check")
        data = load_data(rows, scope.row_options, loaded)
        result = cw.evaluation.analysis.analysis_of(loaded, data, title, Effort(deadline))
        page = cw.report.analysis_page.analysis_page(result, command=command, model=model)
        return page, result.evidence.unfinished > 0
    explained = cw.independence.model_claims.explain_model(
        loaded, top=ctx.params["top"], time_limit=deadline.left(), show_progress=True
    )
    page = cw.report.page.model_page(title, explained, command=command)
    return page, explained.partial


@options.command()
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
