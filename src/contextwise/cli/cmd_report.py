"""``contextwise report`` and ``explore``: pages about guesses and the true model."""

from __future__ import annotations

import dataclasses
import os
import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.cmd_learn import learner_options, make_learner, resamples_option
from contextwise.cli.inputs import (
    is_data,
    load,
    load_all,
    load_data,
    load_guesses,
    matching_files,
    only_one_from_stdin,
    split_groups,
)
from contextwise.errors import OpenResult, require
from contextwise.support.deadline import Deadline
from contextwise.support.effort import Effort
from contextwise.support.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from contextwise.evaluation.ensembles import Ensemble
    from contextwise.evaluation.resampling import Stability
    from contextwise.models.structure import Model
    from contextwise.report.parts import Section


@click.command(cls=options.SectionedCommand)
@options.model("true")
@options.model("guesses", metavar="[GUESS... | NAME=FILES...]", nargs=-1)
@options.path("--out", metavar="FILE", required=True, help="Write this .html file.")
@options.top(least=1)
@options.chance
@options.path(
    "--check",
    "check_rows",
    metavar="ROWS",
    help="Test the claims of each guess against the rows of this CSV file.",
)
@options.path(
    "--stability",
    "stability_rows",
    metavar="ROWS",
    help="Show how stable the result of --learner is on the rows of this file.",
)
@options.path(
    "--populations",
    "populations_folder",
    metavar="FOLDER",
    help="Show the result of contextwise populations --folder.",
)
@learner_options(required=False)
@resamples_option
@options.jobs
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
    stability_rows: str | None,
    populations_folder: str | None,
    learner: str | None,
    parameters: tuple[str, ...],
    resamples: int,
    n_jobs: int,
    time_limit: float,
    naming: options.Naming,
    scope: options.Scope,
) -> None:
    """Write a page about a model, or about each GUESS and the TRUE model: one offline HTML file.

    For one model, the page shows how many of its pairs depend and where, pictures, and its
    independencies as sentences; with --data, each sentence has its evidence in these rows.

    For guesses, the page shows counts and rates, a heat map of the pairs, the graphs of both
    structures, the worst pairs and features with their contexts, and statistics of the models.
    Given groups NAME=FILES instead of guesses, it summarizes each group, shows the guess with its
    median distance, and scores the group as an ensemble. A GUESS can be an ensemble, as for
    contextwise score.

    Exit codes: 0 done, 2 error, 3 if the time limit left something out of the page.

    \b
    Examples:
      contextwise report learned.json --data test.csv --out report.html
      contextwise report learned.json --stability rows.csv --learner edge-trees --out report.html
      contextwise report true.mn learned.mn --out report.html
      contextwise report true.mn first.mn second.mn --out report.html
      contextwise report true.mn learned.mn --chance --check test.csv --out report.html
      contextwise report true.mn learned.mn --stability train.csv --learner trees --out report.html
      contextwise report true.mn trees='t/*.mn' pairs='p/*.mn' --out report.html
      contextwise report controls.json patients.json --peers --out report.html
      contextwise report runs/sex-f.json runs/sex-m.json --peers --populations runs --out page.html
    """
    options.check_out(out, [".html", ".htm"])
    single, groups = split_groups(guesses)
    if groups and single:
        raise click.UsageError("give single guesses or groups NAME=FILES, not both")
    if stability_rows is not None and learner is None:
        raise click.UsageError("--stability needs a --learner, such as --learner trees")
    options.refuse_alone(ctx, ("null", "draws"), "chance")
    options.refuse_alone(ctx, ("learner", "parameters", "resamples"), "stability_rows")
    configured = None if learner is None else make_learner(learner, parameters)

    def again(model: Model, deadline: Deadline) -> tuple[Stability | None, bool]:
        """Return the stability of the learner, if it is wanted, and whether it is unfinished."""
        if stability_rows is None:
            return None, False
        try:
            result = cw.stability(
                load_data(stability_rows, scope.row_options, model),
                configured,
                resamples=resamples,
                rng=by_chance.rng,
                n_jobs=n_jobs,
                time_limit=deadline.left(),
                show_progress=True,
            )
            _ = result.found_again  # raises if there is no time for it
        except OpenResult as error:
            warnings.warn(f"stability left out: {error}", stacklevel=2)
            return None, True
        return result, result.resamples + len(result.failed) < resamples

    if not guesses:
        effort = Effort.of(time_limit, n_jobs=n_jobs)
        page, unfinished = _model_page(ctx, true, naming, scope, effort, again)
        write_bytes(out, page.encode("utf-8"))
        ctx.exit(3 if unfinished else 0)
    grouped = None
    if populations_folder is not None:
        grouped = cw.evaluation.group_tests.read_populations(populations_folder)
    members = {group: matching_files(patterns, group) for group, patterns in groups.items()} or {
        "": single
    }
    names = [true, *(file for files in members.values() for file in files)]
    only_one_from_stdin([*names, scope.data, check_rows, stability_rows])

    first, *loaded = load_guesses(
        names, scope.format_name, probabilities=False, by_values=scope.by_values
    )
    if isinstance(first, cw.Ensemble):
        raise click.UsageError("the TRUE model of a report is one structure, not an ensemble")
    ensembles = {
        name: guess
        for name, guess in zip(naming.labels(names)[1:], loaded, strict=True)
        if isinstance(guess, cw.Ensemble)
    }
    others = [guess.medoid() if isinstance(guess, cw.Ensemble) else guess for guess in loaded]
    member_of = [group for group, files in members.items() for _ in files]
    scoped = scope.keywords(first)
    label, *labels = naming.labels(names)
    labels = [f"{name} (medoid)" if name in ensembles else name for name in labels]
    rows = None if check_rows is None else load_data(check_rows, scope.row_options, first)
    deadline = Deadline.after(time_limit)
    reported, unfinished = [], False
    for name, other, group in zip(labels, others, member_of, strict=True):
        restriction = naming.restrict(scoped, label, name)
        comparison = cw.compare(
            first, other, time_limit=deadline.left(), show_progress=True, **restriction
        )
        options.refuse_nothing(comparison.question)
        results: dict[str, Any] = {
            "explanation": cw.comparison.explain.explain_comparison(
                comparison, Effort(deadline), top=top
            )
        }
        if by_chance.chance and not comparison.open_pairs:
            results["chance"], stopped = by_chance.run(
                first, other, restriction, time_limit=deadline.left()
            )
            unfinished |= stopped
        if rows is not None:
            # comparison.guess lacks the variables that --context assigns
            _, aligned = cw.comparison.question.pose(
                [first, other], align=scope.align, zero_weights=scope.zero_weights
            ).structures
            results["check"] = cw.check(
                aligned,
                rows,
                pairs=scope.pairs,
                variables=scope.variables,
                context=scope.context,
                rng=by_chance.rng,
                n_jobs=n_jobs,
                time_limit=deadline.left(),
                show_progress=True,
            )
            unfinished |= results["check"].unfinished > 0
        unfinished |= bool(comparison.open_pairs) or results["explanation"].partial
        reported.append(cw.report.comparisons.Guess(name, comparison, group=group, **results))
    resampled, late = again(first, deadline)
    unfinished |= late
    for group, files in members.items():
        if group and len(files) > 1:
            ensembles[group] = cw.Ensemble(
                [other for other, owner in zip(others, member_of, strict=True) if owner == group]
            )
    if resampled is not None:
        ensembles["resamples"] = resampled.ensemble
    section = None
    try:
        section = _as_ensembles(first, ensembles, deadline, scoped) if ensembles else None
    except OpenResult as error:
        unfinished = True
        warnings.warn(f"ensembles left out: {error}", stacklevel=2)
    page = cw.report.page.report_page(
        label,
        reported,
        command=_command_line(ctx),
        stability=resampled,
        learner=f"{learner} on {os.path.basename(stability_rows or '')}",
        ensembles=section,
        populations=grouped,
        top=top,
    )
    write_bytes(out, page.encode("utf-8"))
    if unfinished:
        ctx.exit(3)


def _as_ensembles(
    true: Model, ensembles: dict[str, Ensemble], deadline: Deadline, restriction: Any
) -> Section:
    scores = cw.evaluation.score_ensembles(
        true, ensembles, time_limit=deadline.left(), show_progress=True, **restriction
    )
    curves = [
        cw.evaluation.reliability(
            true, ensemble, name=name, time_limit=deadline.left(), **restriction
        )
        for name, ensemble in ensembles.items()
    ]
    return cw.report.evaluations.ensembles_section(scores, curves)


def _model_page(
    ctx: click.Context,
    model: str,
    naming: options.Naming,
    scope: options.Scope,
    effort: Effort,
    again: Callable[[Model, Deadline], tuple[Stability | None, bool]],
) -> tuple[str, bool]:
    """Return the page about one model, with evidence from rows, and if something is unfinished."""
    about_guesses = ["chance", "populations_folder", "contexts", "align", "peers"]
    for flag in options.typed_flags(
        ctx, [*about_guesses, "pairs", "variables", "context", "weights"]
    ):
        raise click.UsageError(f"{flag} needs a GUESS")
    rows, top = ctx.params["check_rows"] or scope.data, ctx.params["top"]
    only_one_from_stdin([model, rows, ctx.params["stability_rows"]])
    loaded = load(model, scope.format_name, scope.zero_weights, scope.by_values)
    data = None if rows is None else load_data(rows, scope.row_options, loaded)
    shown = cw.report.structures.one_model(loaded, top=top, time_limit=effort.deadline.left())
    unfinished = bool(len(shown.comparison.unions.open_places))
    if data is not None:
        check = cw.check(
            loaded,
            data,
            n_jobs=effort.n_jobs,
            time_limit=effort.deadline.left(),
            show_progress=True,
        )
        shown = dataclasses.replace(shown, check=check)
        unfinished |= check.unfinished > 0
    stability, is_late = again(loaded, effort.deadline)
    if stability is not None:
        shown = cw.report.structures.with_stability(shown, stability)
    (title,) = naming.labels([model])
    page = cw.report.page.model_page(title, shown, command=_command_line(ctx), top=top)
    return page, unfinished or is_late


def _command_line(ctx: click.Context) -> str:
    """Return the command that the user typed, quoted for a shell."""
    words = ["contextwise", str(ctx.info_name)]
    for parameter in ctx.command.params:
        key = str(parameter.name)
        if ctx.get_parameter_source(key) is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[key]
        values = list(map(str, value)) if isinstance(value, tuple) else [str(value)]
        if isinstance(parameter, click.Option):
            option = parameter.opts[0]
            values = [option] if parameter.is_flag else [w for v in values for w in (option, v)]
        words += values
    return shlex.join(words)


@click.command()
@options.model("models", metavar="[MODEL...] | DATA", nargs=-1)
@click.option(
    "--run",
    type=click.Path(exists=True, path_type=Path),
    metavar="FOLDER",
    help="Show the results of contextwise experiment, or of stability --folder.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Learn from the rows of this file, and show the evidence in them.",
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
    run: Path | None,
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
      contextwise explore true.mn learned.mn --data test.csv
      contextwise explore controls.json patients.json --peers
      contextwise explore --run runs/learners
    """
    require("shiny", "explorer")

    if run is not None:
        cw.explorer.computations.kind_of_run(str(run))
        if run.suffix.lower() == ".csv":
            cw.explorer.computations.read_results(str(run))
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
            run=run,
            data=data,
            peers=naming.peers,
        ),
        open_browser=not no_browser,
        tell=lambda shown: click.echo(f"The explorer is at {shown} (stop it with Ctrl-C)"),
        **address,
    )
