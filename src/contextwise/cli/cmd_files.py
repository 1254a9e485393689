"""``contextwise info`` and ``convert``: files, bundled examples, engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

import contextwise as cw
from contextwise.cli import commands, options, printing
from contextwise.cli.inputs import is_data, load, only_one_from_stdin, short_names
from contextwise.formats import FORMATS
from contextwise.models.notation import quoted
from contextwise.support.files import write_bytes
from contextwise.support.formatting import columns, plural, printable
from contextwise.support.formatting import name as short

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions
    from contextwise.models.structure import Model

MOST_STATES_LISTED = 6
MOST_FEATURES_LISTED = 100
"""Models with more features are summarized without listing them."""
MOST_ARCS_LISTED = 100
"""Networks with more arcs are summarized without listing them."""
OF_THE_FILE = ("lines", "raw_features", "duplicates", "contradictory")
LABELS = {
    "largest_length": "longest",
    "zero_weights": "weight 0",
    "raw_features": "in file",
}
COLUMNS = (
    *("model", "variables", "features", "mean_length", "largest_length", "pairs", "scopes"),
    *("raw_features", "duplicates", "zero_weights"),
)


@commands.command()
@options.model("models", metavar="[MODEL]...", nargs=-1)
@options.section(commands.MODELS, options.format_name, options.by_values)
@options.output("json")
@options.rows
def info(
    models: tuple[str, ...],
    format_name: str | None,
    by_values: float | None,
    output: str,
    row_options: RowOptions,
) -> None:
    """Summarize each MODEL or data file; without arguments, list the bundled models and data.

    The list ends with the counting engines of compare --engine. All engines give the same exact
    numbers; they differ in speed.

    For a model: its variables, its distinct features, the pairs that some feature covers, and
    how many features of the file were duplicates or can never hold (contradictory). For a Bayesian
    network also its arcs. A small model is listed in full.

    For a data file (any file that is not a model): each column with its kind, its values and
    advice, and a command that learns from it.

    \b
    Examples:
      contextwise info
      contextwise info lung
      contextwise info learned.mn --json
      contextwise info rows.csv
    """
    as_json = output == "json"
    if not models:
        _list_examples(as_json)
        return
    only_one_from_stdin(list(models))
    data = [name for name in models if format_name is None and is_data(name)]
    if data and len(data) < len(models):
        raise click.UsageError("cannot mix models and data files; run the command twice")
    if data:
        _show_data(data, row_options, as_json)
        return
    if words := row_options.words():
        raise click.UsageError(f"{words[0]} is for data files; these are models")
    loaded = [load(name, format=format_name, by_values=by_values) for name in models]
    records = [_record(name, model) for name, model in zip(models, loaded, strict=True)]
    if as_json:
        printing.print_records(records)
    elif len(records) == 1:
        click.echo(_one_model(records[0], loaded[0]))
    else:
        click.echo(_several_models(records))


def _list_examples(as_json: bool) -> None:
    """Print the bundled models and data sets, and the counting engines."""
    models = {name: cw.truths.bundled.describe(name) for name in cw.truths.bundled.names()}
    engines = {engine.name: engine.missing() for engine in cw.counting.contract.ENGINES.values()}
    default = cw.counting.contract.get_engine("auto").name
    if as_json:
        printing.print_json(
            {
                "models": models,
                "data": list(cw.data.options.BUNDLED),
                "engines": engines,
                "default_engine": default,
            }
        )
        return
    for name, description in models.items():
        click.echo(f"{name}\n{click.wrap_text(description, 78, '  ', '  ')}")
    click.echo(f"\nBundled data sets: {', '.join(cw.data.options.BUNDLED)}")
    truths = ", ".join((*cw.truths.named.TRUTHS, *cw.truths.named.NAMES))
    click.echo(click.wrap_text(f"True models for study, also as NAME#1 ...: {truths}", 78))
    states = [
        name + (" (default)" if name == default else "") + (f" (missing: {why})" if why else "")
        for name, why in engines.items()
    ]
    click.echo(f"Counting engines: {', '.join(states)}")


def _show_data(names: Sequence[str], row_options: RowOptions, as_json: bool) -> None:
    summaries = [cw.data.rows.summarize_data(name, row_options) for name in names]
    commands = [["learn", name, "--out", "learned.json"] for name in names]
    commands = [[*words, *row_options.words()] for words in commands]
    if as_json:
        records = [
            {
                "data": summary.source,
                "rows": summary.rows,
                "columns": [column.record() for column in summary.columns],
                "notes": summary.notes,
                "obstacle": summary.obstacle or None,
                "try": summary.try_line(words) if summary.unclear else None,
            }
            for summary, words in zip(summaries, commands, strict=True)
        ]
        printing.print_records(records)
        return
    for label, summary, words in zip(short_names(names), summaries, commands, strict=True):
        unclear = f"; {plural(len(summary.unclear), 'column')} to decide about"
        counts = f"{plural(summary.rows, 'row')}, {plural(len(summary.columns), 'column')}"
        click.echo(
            f"{printable(label)}: {counts}{unclear if summary.unclear else ''}\n{summary.table()}"
        )
        for note in summary.notes:
            click.echo(f"note: {printable(note)}")
        if summary.obstacle:
            click.echo(summary.problems(words))
        elif summary.unclear:
            click.echo(f"{summary.try_line(words)}\nMore: {cw.data.columns.PAGE}")


def _record(name: str, model: Model) -> dict[str, object]:
    cardinalities = model.domain.cardinalities
    zeros = int((model.weights == 0).sum()) if isinstance(model, cw.LogLinear) else None
    structure = cw.models.structure.structure_of(model)
    return {
        "model": name,
        "format": model.origin.file.format or None,
        "given_by": "its claims" if structure.given_by_claims else "features",
        "by_values": structure.rule or None,
        **structure.statistics(),
        **_arcs(model),
        "smallest_cardinality": min(cardinalities, default=0),
        "largest_cardinality": max(cardinalities, default=0),
        "states": "unknown: 2 assumed" if model.origin.unknown_states else None,
        "zero_weights": zeros,
        **{key: getattr(model.origin.file, key) for key in OF_THE_FILE},
    }


def _arcs(model: Model) -> dict[str, object]:
    """Return the arcs of a network, and how many of its tables are known."""
    directions, names = model.directions, model.domain.names
    if directions is None:
        return {}
    unknown = directions.undirected
    record: dict[str, object] = {
        "arcs": [
            (names[p], names[child]) for p, child in directions.arcs if (p, child) not in unknown
        ],
        "tables": sum(table is not None for table in directions.tables),
    }
    if unknown:
        record["undirected"] = [(names[p], names[child]) for p, child in sorted(unknown)]
    return record


def _arc_lines(model: Model) -> str:
    """Return one line per child; a dash is an edge without a direction."""
    directions, names = model.directions, model.domain.names
    assert directions is not None
    rows = []
    for child, above in enumerate(directions.parents):
        for sign, is_undirected in (("←", False), ("–", True)):
            some = [p for p in above if ((p, child) in directions.undirected) == is_undirected]
            if some:
                parents = ", ".join(printable(quoted(names[p])) for p in some)
                rows.append((printable(quoted(names[child])), sign, parents))
    return columns(rows, "<<<")


def _one_model(record: Mapping[str, object], model: Model) -> str:
    """Summarize a model; list the variables and features of a small one."""
    shown = {**record, "model": short_names([str(record["model"])])[0]}
    structure = cw.models.structure.structure_of(model)
    if structure.given_by_claims:
        shown = {"regions" if key == "features" else key: shown[key] for key in shown}
        del shown["scopes"]
    rows = [(_label(key), _cell(value)) for key, value in shown.items() if value is not None]
    rows = [(label, structure.rule if label == "by values" else cell) for label, cell in rows]
    description = printable(model.origin.words)
    blocks = [click.wrap_text(description, 78)] if description else []
    blocks.append(columns(rows, "<<"))
    if model.directions is not None and 0 < len(model.directions.arcs) <= MOST_ARCS_LISTED:
        unknown = len(model.directions.undirected)
        title = plural(len(model.directions.arcs) - unknown, "arc")
        title += f", {plural(unknown, 'edge')} without a direction" if unknown else ""
        blocks.append(f"{title}:\n{_arc_lines(model)}")
    if len(model) <= MOST_FEATURES_LISTED:
        domain = model.domain
        states = [cw.models.domain.listed(labels, MOST_STATES_LISTED) for labels in domain.states]
        variables = columns(zip(domain.names, states, strict=True), "<<")
        features = [printable(structure.feature_text(f)) for f in range(len(structure))]
        if isinstance(model, cw.LogLinear):
            weighted = zip(map(str, model.weights.tolist()), features, strict=True)
            features = columns(weighted, "><").splitlines()
        blocks.append(f"{len(domain)} variables:\n{variables}")
        blocks.append("\n".join([f"{len(structure)} {structure.unit}s:", *features]))
    return "\n\n".join(blocks)


def _several_models(records: Sequence[Mapping[str, object]]) -> str:
    short = short_names(str(record["model"]) for record in records)
    rows = [
        [label, *(_cell(record[key]) for key in COLUMNS[1:])]
        for label, record in zip(short, records, strict=True)
    ]
    return columns([list(map(_label, COLUMNS)), *rows], "<" + ">" * (len(COLUMNS) - 1))


def _label(key: str) -> str:
    return LABELS.get(key, key.replace("_", " "))


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return f"{len(value):,}"
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else short(str(value))


GRAPHS = ("dot", "graphml")
"""The formats of graphs."""
TARGETS = [*(known.name for known in FORMATS if known.writer), *GRAPHS]


@commands.command()
@options.model("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path())
@click.option(
    "--from",
    "format_name",
    type=options.words(options.format_names),
    metavar="FORMAT",
    help=f"Format of IN: {', '.join(options.format_names)}.",
)
@click.option(
    "--to",
    "target_format",
    type=options.words(TARGETS),
    metavar="FORMAT",
    help=f"Format of OUT: {', '.join(TARGETS)}.",
)
@options.model_option(
    "--names-from",
    help="Rename variables and states as in MODEL, in the same order; a graph without states "
    "takes those of the variables with the same names.",
)
@options.context
@options.section(commands.MODELS, options.zero_weights, options.by_values)
@options.options_as("reading", options.Reading)
def convert(
    source: str,
    target: str,
    target_format: str | None,
    names_from: str | None,
    context: str | None,
    reading: options.Reading,
) -> None:
    """Write the model IN to the file OUT in another format; - is standard output.

    The suffix gives the format unless --from or --to does; .gz after it compresses the file.

    The formats dot and graphml write the graph of the model: an edge for each pair
    that depends in some context. With --context, the graph has the variables that the context
    does not assign, and an edge for each pair that still depends.

    \b
    Examples:
      contextwise convert learned.mn learned.json
      contextwise convert learned.mn learned.json.gz --zero-weights drop
      contextwise convert learned.mn learned.json --names-from truth.bif
      contextwise convert learned.mn learned.graphml
      contextwise convert six - --to dot --context "X0=1" | dot -Tsvg > six.svg
    """
    if target == "-" and target_format is None:
        raise click.UsageError("standard output needs a format; add --to FORMAT")
    suffix = target.lower().rpartition(".")[2]
    wanted = target_format or suffix
    graph = wanted if wanted in GRAPHS else None
    if context is not None and graph is None:
        raise click.UsageError("--context needs a graph; write dot or graphml")
    model = load(source, *reading)
    if names_from is not None:
        only_one_from_stdin([source, names_from])
        with cw.models.structure.named(names_from, source):
            domain = load(names_from).domain
            if model.origin.unknown_states:
                model = model.aligned_to(domain)
            else:
                model = model.aligned_to(domain, align="position")
    if graph is not None:
        inside = cw.models.structure.structure_of(model).restrict(context or {})
        content = cw.independence.graphs.encode_graph(inside, graph)
        if target == "-":
            click.echo(content.decode(), nl=False)
        else:
            write_bytes(target, content)
    elif target == "-" and target_format is not None:
        click.echo(cw.formats.encode(model, target_format), nl=False)
    else:
        cw.write(model, target, format=target_format)
