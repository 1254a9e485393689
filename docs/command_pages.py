"""Generate the reference of the commands: a page per command, made from click.

``plot``, ``experiment`` and ``learn`` have kinds (subcommands or learners). Their page has a table
of the kinds, the options that all kinds share, and a section for each kind.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

import click

from contextwise.cli import COMMANDS, SECTIONS, contextwise
from contextwise.cli.cmd_learn import LearnCommand, learner_help
from contextwise.cli.options import sections
from contextwise.learning import LEARNERS

Record = tuple[str, str]
"""An option and its text, as the help shows them."""


def write_pages(folder: Path) -> None:
    """Write a page per command and a table of all commands into a folder; empty it first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    top = click.Context(contextwise, info_name="contextwise")
    for name in COMMANDS:
        command = contextwise.get_command(top, name)
        assert command is not None
        text = "\n\n".join(_page(click.Context(command, parent=top, info_name=name)))
        (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    (folder / "table.txt").write_text(_contents(), encoding="utf-8")


def _contents() -> str:
    """Return the table of all commands, and their order in the site."""
    lines = ["| command | what it does |", "|---|---|"]
    for title, commands in SECTIONS.items():
        lines.append(f"| **{title}** | |")
        for name, (_, text) in commands.items():
            lines.append(f"| [`{name}`](commands/{name}.md) | {text} |")
    order = [f"commands/{name}" for name in COMMANDS]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *order, "```", ""])


def _page(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f"# {context.command_path}"
    yield from _described(context, command.help)
    kinds = _kinds(context)
    if not kinds:
        for title, records in sections(context):
            yield f"## {title}"
            yield from _listed([record for record in records if "--help" not in record[0]])
        return
    options = {name: _records(kind) for name, (kind, _, _) in kinds.items()}
    first = next(iter(options.values()))
    shared = [record for record in first if all(record in others for others in options.values())]
    kind_of = "learner" if isinstance(command, LearnCommand) else "command"
    rows = [f"| [`{name}`](#{name}) | {_plain(text)} |" for name, (_, text, _) in kinds.items()]
    yield "\n".join([f"| {kind_of} | what it does |", "|---|---|", *rows])
    if shared:
        yield f"## Options of every {kind_of}"
        yield from _listed(shared)
    for name, (kind, _, text) in kinds.items():
        yield f"## {name}"
        yield from _described(kind, text)
        yield from _listed([record for record in options[name] if record not in shared])


def _kinds(context: click.Context) -> dict[str, tuple[click.Context, str, str | None]]:
    """Return the subcommands or learners of a command: their context, summary and help."""
    command = context.command
    if isinstance(command, LearnCommand):
        return {
            name: (
                click.Context(command, parent=context.parent, info_name="learn", obj=name),
                entry.summary,
                learner_help(name),
            )
            for name, entry in LEARNERS.items()
        }
    if not isinstance(command, click.Group):
        return {}
    return {
        name: (
            click.Context(part, parent=context, info_name=name),
            part.get_short_help_str(1000),
            part.help,
        )
        for name in command.list_commands(context)
        if (part := command.get_command(context, name)) is not None
    }


def _described(context: click.Context, text: str | None) -> Iterator[str]:
    """Yield the usage and the help text, whose lines after a backspace are code."""
    usage = context.get_usage().removeprefix("Usage: ")
    yield f"```text\n{' '.join(usage.split())}\n```"
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        head, mark, lines = paragraph.partition("\b\n")
        if not mark:
            yield _plain(" ".join(paragraph.split()))
            continue
        title, _, code = (head + lines).strip().partition("\n")
        yield _plain(title)
        yield f"```sh\n{dedent(code)}\n```"


def _records(context: click.Context) -> list[Record]:
    return [
        record
        for _, records in sections(context)
        for record in records
        if "--help" not in record[0]
    ]


def _listed(records: Sequence[Record]) -> Iterator[str]:
    """Yield options as definitions."""
    for option, text in records:
        yield f"`{option}`\n: {_plain(text)}"


def _plain(text: str) -> str:
    """Escape markup in a text, and mark options as code."""
    text = re.sub(r"([\\`*_<>\[\]|$])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", text)
