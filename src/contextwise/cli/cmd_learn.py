"""``contextwise learn``: structures from data, by any learner of the registry.

Every learner is a subcommand, and its options are made from its parameters and what its docstring
says of them: a learner that is added to the registry is here without a line of code.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from contextwise.cli.inputs import load, load_data
from contextwise.cli.options import DOMAIN_FROM, refuse_alone, typed_flags
from contextwise.learning.registry import LEARNERS, learner_named

if TYPE_CHECKING:
    from contextwise.data.rows import Data
    from contextwise.learning.base import Learner
    from contextwise.learning.selection import Selection

RULES = ("pseudo-likelihood", "bic", "stability")
"""The names of `contextwise.learning.selection.RULES`, known without importing it."""

FLAGS = {"n_jobs": "--jobs", "rng": "--seed"}
"""Parameters whose option has a name of its own."""


class Learners(click.Group):
    """A group with one command per learner, made when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(LEARNERS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(cmd_name) if cmd_name in LEARNERS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Learners"):
            formatter.write_dl([(name, entry.summary) for name, entry in LEARNERS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        learner_named(args[0])  # an unknown name is an error that says the nearest
        return super().resolve_command(ctx, args)


@click.group(cls=Learners, subcommand_metavar="LEARNER DATA --out FILE [OPTIONS]")
def learn() -> None:
    """Learn a structure from DATA, by LEARNER.

    DATA is a CSV file with the names of the variables as header, or Libra's .data, without a header
    and with whole numbers as cells, also .gz; - is standard input. The result is a model file; as
    .json it says by which learner, with which parameters and from which rows.

    \b
    Examples:
      contextwise learn chow-liu train.csv --out tree.json
      contextwise learn trees train.csv --out learned.mn --penalty 10 --refit l1 --l1 5
      contextwise learn trees train.csv --out learned.json --domain-from true.json
      contextwise learn trees train.csv --out best.json --valid valid.csv --grid penalty=1,5,25
      contextwise learn trees --help
    """


def _command(name: str) -> click.Command:
    """The command of a learner: what all have, and its own parameters."""
    learner = learner_named(name)
    doc = inspect.cleandoc(learner.__doc__ or "")
    example = f"contextwise learn {name} train.csv --out learned.json"
    help_text = doc.split("\nParameters\n")[0]
    return click.Command(
        name,
        callback=lambda **options: _learn(learner, **options),
        params=[*_common_options(), *_own_options(learner, doc)],
        help=f"{help_text}\n\n\b\nExamples:\n  {example}",
    )


def _common_options() -> list[click.Parameter]:
    return [
        click.Argument(["data"], type=click.Path()),
        click.Option(["--out"], required=True, type=click.Path(), help="Write the model here."),
        click.Option(["--domain-from"], **DOMAIN_FROM),
        click.Option(["--valid"], type=click.Path(), help="Other rows, to score the result."),
        click.Option(
            ["--grid"],
            multiple=True,
            metavar="NAME=VALUE,...",
            help="Try these values of a parameter and take the best; may be given again.",
        ),
        click.Option(
            ["--select-by"],
            type=click.Choice(RULES),
            help="What is best.  [default: pseudo-likelihood with --valid, bic without]",
        ),
    ]


def _own_options(learner: type[Learner], doc: str) -> list[click.Parameter]:
    """An option for each parameter whose type a command line can write."""
    texts = _parameter_texts(doc)
    options: list[click.Parameter] = []
    for name, kind in _parameter_types(learner).items():
        default = learner.defaults()[name]
        flag = FLAGS.get(name, "--" + name.replace("_", "-"))
        if isinstance(kind, click.types.BoolParamType):
            flag += "/--no-" + flag.removeprefix("--")
        options.append(
            click.Option(
                [flag, name],
                type=kind,
                default=_short(default),
                show_default=default is not None,
                help=texts.get(name, "").split("\n\n")[0],
            )
        )
    return options


def _parameter_types(learner: type[Learner]) -> dict[str, click.ParamType[Any]]:
    """How each parameter is written that a command line can write."""
    from contextwise.learning.base import MANNERS

    hints = typing.get_type_hints(learner.__init__)
    found = {}
    for name, default in learner.defaults().items():
        if name not in MANNERS - {"n_jobs"} and default is not inspect.Parameter.empty:
            found[name] = click.IntRange(min=0) if name == "rng" else _click_type(hints[name])
    return {name: kind for name, kind in found.items() if kind is not None}


def _short(default: Any) -> Any:
    """A default as the help shows it: 10, not 10.0."""
    whole = isinstance(default, float) and default.is_integer()
    return int(default) if whole else default


def _click_type(hint: Any) -> click.ParamType[Any] | None:
    """How an option of this type is written; None if it cannot be."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        found = [_click_type(part) for part in typing.get_args(hint)]
        return next((kind for kind in found if kind is not None), None)
    if typing.get_origin(hint) is Literal:
        return click.Choice([str(value) for value in typing.get_args(hint)])
    plain: dict[Any, click.ParamType[Any]] = {
        bool: click.BOOL,
        int: click.INT,
        float: click.FLOAT,
        str: click.STRING,
    }
    return plain.get(hint)


def _parameter_texts(doc: str) -> dict[str, str]:
    """What a NumPy docstring says of each parameter."""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", doc, re.S)
    texts: dict[str, str] = {}
    if section:
        for head, body in re.findall(r"^(\S.*?) : .*\n((?:(?: .*)?\n?)*)", section[1] + "\n", re.M):
            for name in head.split(", "):
                texts[name] = " ".join(body.split())
    return texts


def _learn(
    learner: type[Learner],
    data: str,
    out: str,
    domain_from: str | None,
    valid: str | None,
    grid: tuple[str, ...],
    select_by: str | None,
    **parameters: Any,
) -> None:
    from contextwise import formats

    if "refit" in parameters and not any(text.startswith("refit") for text in grid):
        refuse_alone(click.get_current_context(), ("l1", "l2"), "refit")
    formats.check_target(out)
    domain = None if domain_from is None else load(domain_from).domain
    rows = load_data(data, domain)
    others = None if valid is None else load_data(valid, rows.domain)
    if "show_progress" in learner.defaults():
        parameters["show_progress"] = not grid
    made = learner(**parameters)
    if grid or select_by:
        made = _selected(made, grid, select_by, rows, others)
    else:
        made.fit(rows)
    formats.write(made.model_, out)
    _tell(made, rows, others)
    if domain is None:
        _warn_of_constants(rows)


def _warn_of_constants(rows: Data) -> None:
    """Say which variables show one state only: compared with a truth that has more, they fail."""
    from contextwise.models.domain import listed
    from contextwise.support.formatting import plural

    sizes = zip(rows.domain.names, rows.domain.cardinalities, strict=True)
    constant = [name for name, size in sizes if size == 1]
    if constant:
        click.echo(
            f"{plural(len(constant), 'variable')} with one state in these rows: "
            f"{listed(constant)}; a known truth gives more with --domain-from MODEL",
            err=True,
        )


def _selected(
    learner: Learner, grid: tuple[str, ...], select_by: str | None, rows: Data, valid: Data | None
) -> Learner:
    from contextwise.learning.selection import select

    if not grid:
        raise click.UsageError("--select-by needs a --grid, such as --grid penalty=1,5,25")
    by: Any = select_by or ("bic" if valid is None else "pseudo-likelihood")
    if by == "pseudo-likelihood" and valid is None:
        raise click.UsageError("to select by pseudo-likelihood give other rows with --valid")
    values = once([_grid_values(learner, text) for text in grid], "--grid")
    for flag in typed_flags(click.get_current_context(), list(values)):
        raise click.UsageError(f"{flag} has one value, and --grid others; give one of the two")
    found = select(learner, values, rows, valid=valid, by=by, show_progress=True)
    click.echo(_choices(found), err=True)
    chosen: Learner = found.learner
    return chosen


def _grid_values(learner: Learner, text: str) -> tuple[str, list[Any]]:
    """A parameter and its values, as in ``penalty=1,5,25``."""
    name, kind, listed = named_parameter(type(learner), text, "--grid", "penalty=1,5,25")
    return name, [_value(kind, value, f"--grid {name}") for value in listed.split(",")]


def once(given: Sequence[tuple[str, Any]], option: str) -> dict[str, Any]:
    """Parameters and what was given for them; one that is given twice is an error.

    >>> once([("penalty", 1.0), ("min_count", 5)], "--set")
    {'penalty': 1.0, 'min_count': 5}
    """
    for place, (name, _) in enumerate(given):
        if name in dict(given[:place]):
            raise click.UsageError(f"{option} gives {name} twice")
    return dict(given)


def parse_parameter(learner: type[Learner], text: str, option: str) -> tuple[str, Any]:
    """A parameter of a learner and its value, as in ``penalty=10``.

    Parameters
    ----------
    learner : the class
    text : as it was given
    option : which option gave it, for messages
    """
    name, kind, value = named_parameter(learner, text, option, "penalty=10")
    return name, _value(kind, value, f"{option} {name}")


def _value(kind: click.ParamType[Any], text: str, where: str) -> Any:
    """The value of a parameter; one of another type is an error that names the parameter."""
    try:
        return kind.convert(text.strip(), None, None)
    except click.BadParameter as error:
        raise click.BadParameter(error.message, param_hint=repr(where)) from None


def named_parameter(
    learner: type[Learner], text: str, option: str, example: str
) -> tuple[str, click.ParamType[Any], str]:
    """The name and the type of a parameter, and what stands behind the ``=``.

    Parameters
    ----------
    learner : the class
    text : as it was given
    option, example : for messages
    """
    name, _, value = text.partition("=")
    name = name.strip().replace("-", "_")
    types = _parameter_types(learner)
    kind = types.get(name)
    if kind is None or not value:
        known = ", ".join(types) or "none"
        raise click.UsageError(
            f"{option} takes a parameter and its value, as in {example}; not {text!r} "
            f"(the parameters are {known})"
        )
    return name, kind, value


def _choices(found: Selection) -> str:
    """The candidates as a table, the best marked."""
    from contextwise.support.formatting import columns

    names = list(found.candidates[0].parameters)
    rows = [[*names, "features", found.by, ""]]
    for candidate in found.candidates:
        value = "–" if candidate.value is None else f"{candidate.value:.6g}"
        size = "–" if candidate.value is None else f"{candidate.features:g}"
        mark = "best" if candidate is found.best else ""
        rows.append([*map(str, candidate.parameters.values()), size, value, mark])
    table = columns(rows, ">" * (len(names) + 2) + "<")
    return "\n".join(filter(None, [table, found.note]))


def _tell(learner: Learner, rows: Data, valid: Data | None) -> None:
    """What came out, in a few lines on standard error."""
    from contextwise.support.formatting import plural

    structure = learner.structure_
    size = f"{plural(len(structure), 'feature')}, {plural(len(structure.pairs()), 'pair')}"
    click.echo(
        f"{plural(len(rows), 'row')}, {plural(len(rows.domain), 'variable')}: {size}", err=True
    )
    added = getattr(learner, "added_", None)
    if added:
        click.echo(
            f"the features add {added:,} to the dependencies that were found, "
            "counted over pairs and distinct rows",
            err=True,
        )
    if valid is not None:
        own = getattr(learner, "conditional_score", None)
        more = f", {own(valid):.6g} by its own conditionals" if own else ""
        score = learner.score(valid)
        click.echo(f"pseudo-log-likelihood of other rows: {score:.6g} per row{more}", err=True)
