"""``contextwise learn``, ``stability`` and ``populations``: with any learner of the registry.

The options of a learner are made from its parameters and their docstring, so a learner that is
added to the registry needs no code here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import load, load_data
from contextwise.errors import ContextwiseError
from contextwise.learning import LEARNERS, learner_named
from contextwise.support.deadline import Deadline
from contextwise.support.formatting import columns, listed, plural, printable

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions
    from contextwise.data.rows import Data
    from contextwise.evaluation.consensus_search import Consensus
    from contextwise.evaluation.ensemble_scores import Reliability
    from contextwise.evaluation.resampling import Stability
    from contextwise.learning.base import Learner
    from contextwise.learning.parameters import Parameter
    from contextwise.models.structure import Model

RULES = ("pseudo-likelihood", "bic", "stability")
"""The names in `contextwise.learning.selection.RULES`, without importing it."""

GRACE = 1.0
"""Seconds after the time limit in which weights have to be fitted, or results to be shown."""
FLAGS = {"n_jobs": "--jobs", "rng": "--seed"}
"""Parameters whose option has another name."""


class LearnCommand(options.SectionedCommand):
    """A command that adds the options of the learner named by its first argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-"):
            if not ctx.resilient_parsing:
                learner_named(args[0])  # raises for an unknown name and suggests the nearest
            ctx.obj = args[0] if args[0] in LEARNERS else None
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            flags = [flag for option in self.get_params(ctx) for flag in option.opts]
            if ctx.obj is None or get_close_matches(error.option_name, flags, n=1, cutoff=0.8):
                raise
            own = [option.opts[0] for option in _learner_options(ctx.obj)]
            has = f"its own options are {listed(own)}" if own else "it has no options of its own"
            text = f"the learner {ctx.obj} has no option {error.option_name}; {has}"
            raise click.UsageError(text, ctx) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *common, help_option = super().get_params(ctx)
        return [*common, *(_learner_options(ctx.obj) if ctx.obj else []), help_option]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, f"{ctx.obj or 'LEARNER'} DATA --out FILE [OPTIONS]")

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.obj is None:
            super().format_help_text(ctx, formatter)
            return
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(learner_help(ctx.obj))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.obj is None:
            with formatter.section("Learners"):
                formatter.write_dl([(name, entry.summary) for name, entry in LEARNERS.items()])
        super().format_options(ctx, formatter)


def learner_help(name: str) -> str:
    """Return the help of a learner: its docstring above the first section."""
    doc = (inspect.getdoc(learner_named(name)) or "").partition("\n\nParameters\n")[0]
    doc = doc.partition("\n\nAttributes\n")[0].partition("\n\nExamples\n")[0]
    return f"{doc}\n\n\b\nExamples:\n  contextwise learn {name} train.csv --out learned.json"


@cache
def _learner_options(name: str) -> list[click.Parameter]:
    """Make an option for each parameter of a learner that a command line can write."""
    made: list[click.Parameter] = []
    for parameter in cw.learning.parameters.parameters_of(learner_named(name)).values():
        flag = FLAGS.get(parameter.name, "--" + parameter.name.replace("_", "-"))
        if parameter.kind is bool:
            flag += "/--no-" + flag.removeprefix("--")
        default = parameter.default
        whole = isinstance(default, float) and default.is_integer()
        made.append(
            click.Option(
                [flag, parameter.name],
                type=_click_type(parameter),
                default=int(default) if whole else default,  # the help shows 10, not 10.0
                show_default=default is not None,
                help=parameter.help,
            )
        )
    return made


def _click_type(parameter: Parameter) -> click.ParamType[Any]:
    if parameter.name == "rng":
        return click.IntRange(min=0)
    if parameter.choices:
        return click.Choice(parameter.choices)
    return click.types.convert_type(parameter.kind)


@click.command(cls=LearnCommand, no_args_is_help=True)
@click.argument("learner", shell_complete=partial(options.complete_from, "learning", "LEARNERS"))
@options.data
@options.path("--out", required=True, help="Write the model to this file.")
@options.domain_from
@options.path("--valid", help="Score the result on the rows of this file.")
@click.option(
    "--grid",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Try these values of a parameter and keep the best; repeatable.",
)
@click.option(
    "--select-by",
    type=click.Choice(RULES),
    help="With --grid: how to choose; bic is that of the pseudo-likelihood.  "
    "[default: pseudo-likelihood with --valid, bic without]",
)
@options.time_limit()
@options.rows
@click.pass_context
def learn(
    ctx: click.Context,
    /,
    learner: str,
    data: str,
    out: str,
    domain_from: str | None,
    valid: str | None,
    grid: tuple[str, ...],
    select_by: str | None,
    time_limit: float | None,
    row_options: RowOptions,
    **parameters: Any,
) -> None:
    """Learn a structure from DATA with a LEARNER, and write it to a model file.

    DATA is a CSV file with a header, or a .data file of codes without one (Libra's format); both
    may end in .gz, and - is standard input. Written as .json, the model also records the
    learner, its parameters and the data.

    Each learner has options of its own: contextwise learn LEARNER --help. Compiled code of other
    packages stops only when it returns, so their learners can exceed a time limit.

    Exit codes: 0 done, 2 error, 3 stopped by the time limit; the best structure so far is written.

    \b
    Examples:
      contextwise learn chow-liu train.csv --out tree.json
      contextwise learn trees train.csv --out learned.mn --penalty 10
      contextwise learn trees train.csv --out best.json --valid valid.csv --grid penalty=1,5,25
      contextwise learn trees --help
    """
    kind = learner_named(learner)
    if "refit" in parameters and not any(text.startswith("refit") for text in grid):
        options.refuse_alone(ctx, ("l1", "l2"), "refit")
    cw.formats.check_target(out)
    known = None if domain_from is None else load(domain_from)
    rows = load_data(data, row_options, known)
    how = row_options._replace(learned=rows.decisions)
    held_out = None if valid is None else load_data(valid, how, domain=rows.domain)
    if "show_progress" in kind.defaults():
        parameters["show_progress"] = not grid
    fitted = kind(**parameters)
    deadline = Deadline.after(time_limit)
    all_tried = True
    if grid or select_by:
        fitted, all_tried = _select(fitted, grid, select_by, rows, held_out, deadline.left())
    else:
        fitted.fit(rows, time_limit=deadline.left())
    model: Model = fitted.structure_
    missed = ""
    try:
        with deadline.enforced(GRACE):
            model = fitted.model_
            if fitted.finished_ and fitted.missed_:
                missed = f"{fitted.missed_} {cw.learning.missed_pairs.advice(learner)}"
    except deadline.out_of_time:
        pass
    cw.formats.write(model, out)
    has_weights = model is not fitted.structure_
    for line in _summary(fitted, rows, held_out if has_weights else None, known is None):
        click.echo(line, err=True)
    if missed:
        click.echo(printable(missed), err=True)
    if not has_weights:
        click.echo(
            "no weights: the time limit stopped their fit; fit them with: contextwise fit", err=True
        )
    if not (has_weights and fitted.finished_ and all_tried):
        ctx.exit(3)


def _select(
    learner: Learner,
    grid: tuple[str, ...],
    select_by: str | None,
    rows: Data,
    valid: Data | None,
    time_limit: float | None,
) -> tuple[Learner, bool]:
    """Return the best learner, and whether the time was enough for all of the grid."""
    if not grid:
        raise click.UsageError("--select-by needs a --grid, such as --grid penalty=1,5,25")
    by: Any = select_by or ("bic" if valid is None else "pseudo-likelihood")
    if by == "pseudo-likelihood" and valid is None:
        raise click.UsageError("selection by pseudo-likelihood needs held-out rows; add --valid")
    values = _settings(type(learner), grid, "--grid")
    for flag in options.typed_flags(click.get_current_context(), list(values)):
        raise click.UsageError(f"{flag} and --grid set the same parameter; leave one of them out")
    selection = cw.learning.selection.select(
        learner, values, rows, valid=valid, by=by, time_limit=time_limit, show_progress=True
    )
    names = list(selection.candidates[0].parameters)
    table = [[*names, "features", selection.label, ""]]
    for candidate in selection.candidates:
        value = "–" if candidate.value is None else f"{candidate.value:.6g}"
        size = "–" if candidate.value is None else f"{candidate.features:g}"
        mark = "best" if candidate is selection.best else ""
        table.append([*map(str, candidate.parameters.values()), size, value, mark])
    click.echo(columns(table, ">" * (len(names) + 2) + "<"), err=True)
    if selection.note:
        click.echo(selection.note, err=True)
    missing = any(candidate.value is None for candidate in selection.candidates)
    return selection.learner, by == "stability" or not missing


def make_learner(name: str, settings: Sequence[str]) -> Learner:
    """Make a learner with the parameters that ``--set`` gives, such as ``penalty=10``."""
    learner = learner_named(name)
    values = _settings(learner, settings, "--set")
    return learner(**{key: value for key, (value,) in values.items()})


def _settings(learner: type[Learner], texts: Sequence[str], option: str) -> dict[str, list[Any]]:
    """Parse ``NAME=VALUE``, or ``NAME=VALUE,...`` of ``--grid``: the values of each parameter."""
    parameters = cw.learning.parameters.parameters_of(learner)
    kinds = {name: _click_type(parameter) for name, parameter in parameters.items()}
    example = "penalty=1,5,25" if option == "--grid" else "penalty=10"
    settings: dict[str, list[Any]] = {}
    for text in texts:
        name, _, listed = text.partition("=")
        name = name.strip().replace("-", "_")
        if name not in kinds or not listed:
            raise click.UsageError(
                f"{option} needs a parameter and its value, as in {example}; got {text!r} "
                f"(the parameters are {', '.join(kinds) or 'none'})"
            )
        if name in settings:
            raise click.UsageError(f"{option} sets {name} twice")
        values = listed.split(",") if option == "--grid" else [listed]
        try:
            settings[name] = [kinds[name].convert(value.strip(), None, None) for value in values]
        except click.BadParameter as error:
            hint = repr(f"{option} {name}")
            raise click.BadParameter(error.message, param_hint=hint) from None
    return settings


def _summary(learner: Learner, rows: Data, valid: Data | None, constants: bool) -> Iterator[str]:
    """Summarize the result; name variables of one state, which no larger truth matches."""
    features = learner.structure_.features
    pairs = len(cw.counting.extraction.covered_pairs(features))
    size = f"{plural(len(features), 'feature')}, {plural(pairs, 'pair')}"
    yield f"{plural(len(rows), 'row')}, {plural(len(rows.domain), 'variable')}: {size}"
    if not learner.finished_:
        yield "unfinished: the time limit stopped the learner; best structure so far"
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


def learner_options(required: bool) -> options.Decorator:
    """Add ``--learner`` and ``--set``."""
    return options.stacked(
        click.option(
            "--learner",
            metavar="NAME",
            required=required,
            shell_complete=partial(options.complete_from, "learning", "LEARNERS"),
            help=f"Learner: {', '.join(LEARNERS)}.",
        ),
        click.option(
            "--set",
            "parameters",
            metavar="NAME=VALUE",
            multiple=True,
            help="Parameter of the learner, as in penalty=10; repeatable.",
        ),
    )


resamples_option = options.number(
    "--resamples", default=100, least=2, help="Number of resamples of the rows."
)


@click.command(cls=options.SectionedCommand)
@options.data
@learner_options(required=True)
@resamples_option
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
@options.path("--consensus", help="Find the structure nearest to all and write it to this file.")
@options.path("--ensemble", help="Write the structures of all resamples to this .json file.")
@options.model_option("--true", "truth", help="Show how often what resamples share is true here.")
@options.time_limit()
@options.path("--picture", help="Draw a heat map of the supports here.")
@options.top()
@options.output("json", "csv")
@options.rows
@click.pass_context
def stability(
    ctx: click.Context,
    /,
    data: str,
    learner: str,
    parameters: tuple[str, ...],
    domain_from: str | None,
    medoid: str | None,
    consensus: str | None,
    ensemble: str | None,
    truth: str | None,
    time_limit: float | None,
    picture: str | None,
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
      contextwise stability train.csv --learner trees --set penalty=10
      contextwise stability train.csv --learner trees --resamples 200 --folder runs/trees --jobs 4
      contextwise stability train.csv --learner trees --consensus agreed.json --picture supports.pdf
    """
    deadline = Deadline.after(time_limit)
    if keywords["how"] == "bootstrap" and options.typed_flags(ctx, ["share"]):
        raise click.UsageError("--share is for subsamples; leave it out with --how bootstrap")
    for model in (medoid, consensus):
        if model is not None:
            cw.formats.check_target(model)
    if ensemble is not None:
        options.check_out(ensemble, [".json"])
    if picture is not None:
        options.check_out(picture, [".png", ".svg", ".pdf"])
    configured = make_learner(learner, parameters)
    true = None if truth is None else load(truth)
    known = None if domain_from is None else load(domain_from)
    rows = load_data(data, row_options, known)
    if len(rows.domain) < 2:
        raise ContextwiseError(options.NOTHING_LEFT)
    with options.resumable(keywords["folder"]):
        result = cw.stability(
            rows, configured, time_limit=deadline.left(), show_progress=True, **keywords
        )
    if medoid is not None:
        cw.formats.write(result.medoid, medoid)
    if ensemble is not None:
        result.ensemble.write(ensemble)
    agreed = None
    if consensus is not None:
        agreed = result.consensus(time_limit=deadline.left(), show_progress=True)
        cw.formats.write(agreed.structure, consensus)
    with deadline.enforced(GRACE):
        reliable = None if true is None else result.reliability(true)
        _show(result, agreed, reliable, picture, top, output)
    if result.resamples + len(result.failed) < keywords["resamples"]:
        ctx.exit(3)


def _show(
    result: Stability,
    agreed: Consensus | None,
    reliable: Reliability | None,
    picture: str | None,
    top: int,
    output: str,
) -> None:
    if picture is not None:
        cw.report.plots.save(cw.report.plots.plot_supports(result), picture)
    supports = [support.record() for support in result.supports()]
    if output == "json":
        structures = {"medoid": result.medoid} | ({"consensus": agreed.structure} if agreed else {})
        features = {
            key: [structure.feature_text(k) for k in range(len(structure))]
            for key, structure in structures.items()
        }
        regions = [region.record() for region in result.top_regions(top)]
        distance: dict[str, Any] = (
            {} if agreed is None else {"consensus_distance": agreed.mean_distance}
        )
        if reliable is not None:
            distance["reliability"] = {**reliable.record(), "groups": reliable.records()}
        options.print_json(
            {**result.record(), **distance, **features, "pairs": supports, "regions": regions}
        )
    elif output == "csv":
        options.print_csv(supports, supports[0] if supports else ["first", "second"])
    else:
        click.echo(
            cw.report.text.as_text(
                [
                    *cw.report.evaluations.stability_parts(result, top=top, consensus=agreed),
                    *([] if reliable is None else cw.report.parts.parts_of(reliable)),
                ]
            )
        )


@click.command(cls=options.SectionedCommand)
@options.data
@click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    required=True,
    help="Column of the groups; repeatable, then each column is tested.",
)
@learner_options(required=False)
@options.number("--permutations", default=499, help="How often to permute the labels.")
@options.choice(
    "--design",
    "separate",
    "joint",
    help="Learn one structure per group, or one of all rows with the group as a variable.",
)
@options.number(
    "--resamples",
    least=2,
    help="Learn from this many random halves of each group, and compare ensembles.",
)
@click.option(
    "--subject",
    metavar="COLUMN",
    help="Rows are paired: exchange labels only within a value of this column.",
)
@options.pairs
@options.variables
@options.context
@options.share("--alpha", default=0.05, help="Level of the tests.")
@options.path("--folder", help="Keep structures and permutations here; an interrupted run resumes.")
@options.seed
@options.parallel
@options.time_limit()
@options.path("--picture", help="Draw the distances of the groups and a heat map here.")
@options.top()
@options.output("json", "csv")
@options.rows
@click.pass_context
def populations(
    ctx: click.Context,
    /,
    data: str,
    by: tuple[str, ...],
    learner: str | None,
    parameters: tuple[str, ...],
    picture: str | None,
    top: int,
    output: str,
    row_options: RowOptions,
    **keywords: Any,
) -> None:
    """Test whether groups of the rows of DATA have different structures, and show where.

    DATA is a file as for contextwise learn. The LEARNER (edge-trees by default) learns a structure
    from the rows of each group. To see how far apart they would be by chance, the labels of the
    groups are permuted and everything is learned again. A small p-value means that the
    distributions differ in a way that the learner sees; different margins or strengths of the same
    dependencies can cause that, too.

    With --folder, the structures of the groups are written there as COLUMN-GROUP.json.

    Exit codes: 0 done, 2 error, 3 if the time limit left permutations out.

    \b
    Examples:
      contextwise populations survey.csv --by country --folder runs/countries --jobs 2
      contextwise populations survey.csv --by sex --by region --learner trees --set penalty=10
      contextwise populations visits.csv --by visit --subject patient --resamples 10
      contextwise populations counts.csv --by year --counts n --design joint --picture years.pdf
    """
    if picture is not None:
        options.check_out(picture, [".png", ".svg", ".pdf"])
    configured = make_learner(learner or "edge-trees", parameters)
    read = cw.evaluation.group_tests.read_grouped
    rows = read(partial(load_data, data), row_options, by, keywords["subject"])
    with options.resumable(keywords["folder"]):
        result = cw.populations(rows, list(by), configured, show_progress=True, **keywords)
    if picture is not None:
        cw.report.plots.save(cw.report.plots.plot_populations(result), picture)
    shown = result[0] if len(result) == 1 else result
    if output == "json":
        options.print_json(shown.document())
    elif output == "csv":
        records = result.records()
        options.print_csv(records, records[0] if records else ["by", "first", "second"])
    else:
        options.print_text(shown, top)
    if any(each.permutations < keywords["permutations"] for each in result):
        ctx.exit(3)
