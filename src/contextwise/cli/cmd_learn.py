"""``contextwise learn`` and ``stability``: with any learner of the table.

The help of a learner follows its parameters and their docstring, so a learner that is added to
`LEARNERS` needs no code here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import commands, options, printing
from contextwise.cli.inputs import deadline, load, load_data, time_left
from contextwise.errors import ContextwiseError
from contextwise.learning import DEFAULT_LEARNER, LEARNERS, learner_groups, learner_named
from contextwise.support.effort import Deadline
from contextwise.support.formatting import listed, plural, printable

if TYPE_CHECKING:
    from contextwise.analysis.resampling import Stability
    from contextwise.data.options import RowOptions
    from contextwise.data.rows import Data
    from contextwise.learning.base import Learner
    from contextwise.models.structure import Model

SECONDS_FOR_WEIGHTS = 1.0
"""Seconds after the time limit in which weights have to be fitted."""


class LearnCommand(commands.SectionedCommand):
    """A command whose help lists the learners, or describes the one that ``--learner`` names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in LEARNERS:
            data = args[1] if len(args) > 1 else "DATA"
            text = f"name the learner after the data: contextwise learn {data} --learner {args[0]}"
            raise click.UsageError(text, ctx)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-")
            if name.replace("-", "_") not in _all_parameters():
                raise
            text = f"there is no option --{name}; a parameter follows the name of the learner"
            raise click.UsageError(f"{text}: --learner NAME:{name}=VALUE", ctx) from None

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.obj is None:
            super().format_help_text(ctx, formatter)
            return
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(learner_help(ctx.obj))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.obj is not None:
            with formatter.section(f"Parameters, as in --learner {_short(ctx.obj)}:NAME=VALUE"):
                formatter.write_dl(parameter_records(ctx.obj) or [("none", "")])
            return
        width = max(map(len, LEARNERS))
        for title, names in learner_groups().items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), LEARNERS[name].summary) for name in names])
        if others := cw.learning.other_learners():
            with formatter.section("Of other packages"):
                formatter.write_dl(list(others.items()))
        super().format_options(ctx, formatter)


def _short(text: str) -> str:
    """Return the name of a learner without its parameters."""
    return ":".join(part for part in text.split(":") if "=" not in part)


def _class(text: str) -> type[Learner]:
    return type(cw.learning.by_name.learner_from_text(_short(text)))


def learner_help(name: str) -> str:
    """Return the help of a learner: its docstring above the first section."""
    doc = (inspect.getdoc(_class(name)) or "").partition("\n\nParameters\n")[0]
    doc = doc.partition("\n\nAttributes\n")[0].partition("\n\nExamples\n")[0]
    learner = "" if name == DEFAULT_LEARNER else f" --learner {_short(name)}"
    return f"{doc}\n\n\b\nExamples:\n  contextwise learn train.csv{learner} --out learned.json"


def parameter_records(learner: str) -> list[tuple[str, str]]:
    """Return each parameter of a learner with its default, and its text."""
    parameters = cw.learning.parameters.parameters_of(_class(learner)).values()
    return [
        (p.name if p.default is None else f"{p.name}={_written(p.default)}", p.help)
        for p in parameters
        if p.name != "n_jobs"  # --jobs sets it
    ]


def _written(default: object) -> str:
    """Return a default as it would be typed."""
    return f"{default:g}" if isinstance(default, float) else str(default).lower()


def _all_parameters() -> set[str]:
    """Return the names of the parameters of all learners."""
    return {name for learner in LEARNERS for name in learner_named(learner).defaults()}


def _make(ctx: click.Context, param: click.Parameter, text: str) -> Learner | None:
    """Make the learner that a text names, and let the help describe it."""
    if ctx.resilient_parsing:
        return None
    ctx.obj = text
    return cw.learning.by_name.learner_from_text(text)


learner_option = partial(
    options.option,
    "--learner",
    metavar="NAME",
    default=DEFAULT_LEARNER,
    is_eager=True,  # so that --learner NAME --help describes the learner
    callback=_make,
    shell_complete=partial(options.complete_from, "learning", "LEARNERS"),
    help="Learner, as in trees:penalty=5; contextwise learn --help lists them.",
)
"""Add ``--learner``, which gives a learner with its parameters."""


@click.command(cls=LearnCommand, no_args_is_help=True)
@options.data
@options.path("--out", metavar="FILE", required=True, help="Write the model to this file.")
@learner_option()
@options.pair_option("--require", "This pair depends somewhere in the result; repeatable.")
@options.pair_option("--forbid", "This pair is independent in the result; repeatable.")
@click.option(
    "--order",
    metavar="A,B,...",
    callback=options.split_names,
    help="A later one of these variables is never a cause of an earlier one.",
)
@options.domain_from
@options.path("--valid", help="Score the result on the rows of this file.")
@options.jobs
@options.time_limit()
@options.rows
@click.pass_context
def learn(
    ctx: click.Context,
    /,
    data: str,
    out: str,
    learner: Learner,
    require: list[tuple[str, str]] | None,
    forbid: list[tuple[str, str]] | None,
    order: list[str] | None,
    domain_from: str | None,
    valid: str | None,
    n_jobs: int,
    row_options: RowOptions,
    **_: Any,
) -> None:
    """Learn a structure from DATA and write it to a model file.

    DATA is a CSV file with a header, or a .data file of codes without one (Libra's format); both
    may end in .gz, and - is standard input. Written as .json, the model also records the
    learner, its parameters and the data.

    The parameters of a learner: contextwise learn --learner NAME --help.

    Exit codes: 0 done, 2 error, 3 stopped by the time limit; the best structure so far is written.
    The default learner and acyclic-trees write it on Ctrl-C, too.

    \b
    Examples:
      contextwise learn train.csv --out learned.json
      contextwise learn train.csv --learner chow-liu --out tree.json
      contextwise learn train.csv --learner trees:penalty=10 --out learned.mn
      contextwise learn train.csv --learner mylib:Mine --out mine.json
      contextwise learn --learner trees --help
    """
    if options.typed_flags(ctx, ["n_jobs"]) and "n_jobs" in learner.get_params():
        learner.set_params(n_jobs=n_jobs)
    for name, constraint in {"require": require, "forbid": forbid, "order": order}.items():
        if constraint and name not in learner.get_params():
            able = [n for n in LEARNERS if name in learner_named(n).defaults()]
            raise click.UsageError(
                f"{learner.name} has no --{name}; choose --learner {listed(able, 'or')}"
            )
        if constraint:
            learner.set_params(**{name: constraint})
    cw.formats.check_target(out)
    is_network_file = cw.formats.format_of(out, to_write=True).name == "bif"
    if is_network_file and not learner.makes_network:
        able = [name for name in LEARNERS if learner_named(name).makes_network]
        raise click.UsageError(
            f"{out}: {learner.name} learns no tables of a Bayesian network, which a .bif needs; "
            f"write .json, or choose --learner {' or '.join(able)}"
        )
    limit = deadline()  # also for reading the rows
    known = None if domain_from is None else load(domain_from)
    rows = load_data(data, row_options, known)
    how = row_options._replace(learned=rows.decisions)
    held_out = None if valid is None else load_data(valid, how, domain=rows.domain)
    fitted = learner
    interrupted = False
    try:
        fitted.fit(rows, time_limit=limit.left(), show_progress=True)
    except KeyboardInterrupt:
        if not fitted.__sklearn_is_fitted__():
            raise
        interrupted, limit = True, Deadline.after(0)
    grace = limit.later(SECONDS_FOR_WEIGHTS)
    fitted.judge(grace)
    try:
        model: Model = fitted.fit_weights(grace)
    except grace.out_of_time:
        model = fitted.structure_
    cw.formats.write(model, out)
    has_weights = model is not fitted.structure_
    for line in _summary(fitted, rows, held_out if has_weights else None, known is None):
        click.echo(line, err=True)
    if not has_weights:
        click.echo(
            "no weights: the time limit stopped their fit; fit them with: contextwise fit", err=True
        )
    if interrupted:
        raise click.Abort(f"; the best structure so far is in {out}")
    if not (has_weights and fitted.finished_):
        ctx.exit(3)


def _summary(learner: Learner, rows: Data, valid: Data | None, constants: bool) -> Iterator[str]:
    """Summarize the result; name variables of one state, which no larger truth matches."""
    features = learner.structure_.features
    pairs = len(cw.counting.extraction.covered_pairs(features))
    size = f"{plural(len(features), 'feature')}, {plural(pairs, 'pair')}"
    yield f"{plural(len(rows), 'row')}, {plural(len(rows.domain), 'variable')}: {size}"
    learned = learner.structure_.origin.learned
    if learned is not None and learned.reason:
        yield f"learned by {learned.learner}: {learned.reason}"
    if not learner.finished_:
        yield "unfinished: the learner was stopped; this is the best structure so far"
    evidence = learner.evidence_
    yield evidence.summary
    if evidence.contradicted:
        first = evidence.contradicted[0]
        yield printable(f"clearest contradiction: {first.sentence}; {first.finding}")
    added = getattr(learner, "added_", None)
    if added:
        yield (
            f"the features add {added:,} dependencies to those that the tests found, "
            "counted over pairs and distinct rows"
        )
    if valid is not None:
        conditional = getattr(learner, "conditional_score", None)
        more = f", {conditional(valid):.6g} by its own conditionals" if conditional else ""
        score = learner.score(valid)
        yield f"pseudo-log-likelihood of held-out rows: {score:.6g} per row{more}"
    sizes = zip(rows.domain.names, rows.domain.cardinalities, strict=True)
    constant = [name for name, states in sizes if constants and states == 1]
    if constant:
        yield (
            f"{plural(len(constant), 'variable')} with one state in these rows: "
            f"{cw.models.domain.listed(constant)}; take the states of a known truth with "
            "--domain-from MODEL"
        )


@commands.command()
@options.data
@learner_option()
@options.number("--resamples", default=100, least=2, help="Number of resamples of the rows.")
@options.choice(
    "--how",
    "subsample",
    "bootstrap",
    help="Draw a share of the rows without replacement, or all with replacement.",
)
@options.share("--share", default=0.5, help="Share of the rows in a subsample.")
@options.domain_from
@options.path("--folder", help="Keep the learned structures here; an interrupted run resumes.")
@options.seed
@options.parallel
@options.path("--medoid", help="Write the most typical structure to this file.")
@options.path("--ensemble", help="Write the structures of all resamples to this .json file.")
@options.time_limit()
@options.top()
@options.output("json", "csv")
@options.rows
@click.pass_context
def stability(
    ctx: click.Context,
    /,
    data: str,
    learner: Learner,
    domain_from: str | None,
    medoid: str | None,
    ensemble: str | None,
    top: int,
    output: str,
    row_options: RowOptions,
    **keywords: Any,
) -> None:
    """Learn from many resamples of the rows of DATA and measure how much the results differ.

    DATA is a file as for contextwise learn. The instability is the share of assertions on which
    structures from two resamples differ, on average. A dependence is most unstable if half of the
    resamples have it.

    \b
    Examples:
      contextwise stability train.csv --learner trees:penalty=10
      contextwise stability train.csv --learner trees --resamples 200 --folder runs/trees --jobs 4
      contextwise stability train.csv --learner trees --medoid typical.json
    """
    if keywords["how"] == "bootstrap" and options.typed_flags(ctx, ["share"]):
        raise click.UsageError("--share is for subsamples; leave it out with --how bootstrap")
    if medoid is not None:
        cw.formats.check_target(medoid)
    if ensemble is not None:
        options.check_out(ensemble, [".json"])
    known = None if domain_from is None else load(domain_from)
    rows = load_data(data, row_options, known)
    if len(rows.domain) < 2:
        raise ContextwiseError(options.NOTHING_LEFT)
    keywords["time_limit"] = time_left()
    with printing.resumable(keywords["folder"]):
        result = cw.stability(rows, learner, show_progress=True, **keywords)
    if medoid is not None:
        cw.formats.write(result.medoid, medoid)
    if ensemble is not None:
        result.ensemble.write(ensemble)
    _show(result, top, output)
    if result.resamples + len(result.failed) < keywords["resamples"]:
        ctx.exit(3)


def _show(result: Stability, top: int, output: str) -> None:
    supports = result.records()
    if output == "json":
        record: dict[str, object] = {
            **result.record(),
            "medoid": [result.medoid.feature_text(k) for k in range(len(result.medoid))],
            "pairs": supports,
            "dependencies": [c.record() for c in result.claims(dependent=True)[:top]],
            "independencies": [c.record() for c in result.claims(dependent=False)[:top]],
        }
        printing.print_json(record)
    elif output == "csv":
        printing.print_csv(supports, supports[0] if supports else ["first", "second"])
    else:
        printing.print_text(result, top)
