"""``contextwise completion``: the script that teaches a shell our commands and examples."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


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
