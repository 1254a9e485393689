"""``contextwise examples``, ``engines`` and ``completion``: what comes with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from contextwise.cli.options import json_option
from contextwise.cli.printing import print_json

if TYPE_CHECKING:
    from contextwise.models.structure import Model


def _complete_example(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from contextwise.truths.bundled import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete)]


@click.command()
@click.argument("name", required=False, shell_complete=_complete_example)
def examples(name: str | None) -> None:
    """List the bundled example models, or show the one called NAME.

    An example's name stands for a model in every command.

    \b
    Examples:
      contextwise examples
      contextwise examples lung
      contextwise compare lung lung-learned
      contextwise convert lung lung.json
    """
    from contextwise.truths.bundled import describe, load, names

    if name is None:
        click.echo("\n".join(f"{known}\n{_wrapped(describe(known))}" for known in names()))
    else:
        model = load(name)
        click.echo(f"{_wrapped(describe(name), indent='')}\n\n{_contents(model)}")


def _wrapped(text: str, indent: str = "  ") -> str:
    return click.wrap_text(text, width=78, initial_indent=indent, subsequent_indent=indent)


def _contents(model: Model) -> str:
    """The variables with their states, and the features, with their weights if they have any."""
    from contextwise.models.structure import LogLinear, structure_of
    from contextwise.support.formatting import columns

    structure = structure_of(model)
    domain = structure.domain
    variables = [
        (name, ", ".join(states)) for name, states in zip(domain.names, domain.states, strict=True)
    ]
    texts = [structure.feature_text(f) for f in range(len(structure))]
    if isinstance(model, LogLinear):
        weighted = zip(map(str, model.weights.tolist()), texts, strict=True)
        texts = columns(weighted, "><").splitlines()
    return "\n".join(
        [
            f"{len(domain)} variables:",
            columns(variables, "<<"),
            "",
            f"{len(structure)} features:",
            *texts,
        ]
    )


@click.command()
@json_option()
def engines(as_json: bool) -> None:
    """List the engines that count, and why one cannot be used here.

    Every engine gives the same exact numbers; they differ in speed.

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
    if as_json:
        print_json(records)
        return
    rows = [
        (
            str(record["engine"]),
            "default" if record["default"] else "",
            f"cannot be used: {record['missing']}" if record["missing"] else "ready",
            str(record["summary"]),
        )
        for record in records
    ]
    click.echo(columns(rows, "<<<<"))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and models in your shell.

    \b
    Examples:
      eval "$(contextwise completion bash)"      in ~/.bashrc
      eval "$(contextwise completion zsh)"       in ~/.zshrc
      contextwise completion fish > ~/.config/fish/completions/contextwise.fish
    """
    script = get_completion_class(shell)
    assert script is not None, "click knows these three shells"
    root = ctx.find_root()
    click.echo(script(root.command, {}, "contextwise", "_CONTEXTWISE_COMPLETE").source())
