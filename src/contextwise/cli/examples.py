"""``contextwise examples``: the models that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from contextwise.models.structure import Model


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from contextwise.examples import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete)]


@click.command()
@click.argument("name", required=False, shell_complete=_complete)
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
    from contextwise.examples import describe, load, names

    if name is None:
        click.echo("\n".join(f"{known}\n{_wrapped(describe(known))}" for known in names()))
    else:
        model = load(name)
        click.echo(f"{_wrapped(describe(name), indent='')}\n\n{_contents(model)}")


def _wrapped(text: str, indent: str = "  ") -> str:
    return click.wrap_text(text, width=78, initial_indent=indent, subsequent_indent=indent)


def _contents(model: Model) -> str:
    """The variables with their states, and the features, with their weights if they have any."""
    from contextwise.models.numbers import columns
    from contextwise.models.structure import LogLinear, structure_of

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
