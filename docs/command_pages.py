"""The reference of the command: a page per subcommand, made from click, so that it cannot go stale.

A command of several kinds, such as ``learn`` with its learners, has one page: a table of the kinds,
the options that all of them have, and a section for each with its own. What an option says is what
``--help`` says of it.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

import click

from contextwise.cli import COMMANDS, contextwise

Record = tuple[str, str]
"""An option as its help shows it: how it is written, and what it says."""


def write_pages(folder: Path) -> None:
    """Write the page of each subcommand into a folder, and the table that leads to them.

    Parameters
    ----------
    folder : Path
        What was in it goes away.
    """
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
    """The table of all commands, and their order in the site."""
    rows = [f"| [`{name}`](commands/{name}.md) | {said} |" for name, said in COMMANDS.items()]
    order = [f"commands/{name}" for name in COMMANDS]
    lines = ["| command | what it does |", "|---|---|", *rows, ""]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *order, "```", ""])


def _page(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f"# {context.command_path}"
    yield from _described(context)
    if not isinstance(command, click.Group):
        yield "## Options"
        yield from _listed(_records(context))
        return
    parts = [
        click.Context(part, parent=context, info_name=name)
        for name in command.list_commands(context)
        if (part := command.get_command(context, name)) is not None
    ]
    records = [_records(part) for part in parts]
    shared = [one for one in records[0] if all(one in others for others in records)]
    yield _table(command, parts)
    if shared:
        yield "## Options that all of them have"
        yield from _listed(shared)
    for part, own in zip(parts, records, strict=True):
        yield f"## {part.info_name}"
        yield from _described(part)
        yield from _listed([one for one in own if one not in shared])


def _table(command: click.Group, parts: Sequence[click.Context]) -> str:
    """What there is to choose from, as the group's own help lists it."""
    formatter = click.HelpFormatter(width=1000)
    command.format_commands(parts[0].parent or parts[0], formatter)
    title, *lines = formatter.getvalue().strip().splitlines()
    pairs = [line.split(None, 1) for line in lines]
    rows = [f"| [`{name}`](#{name}) | {_plain(said)} |" for name, said in pairs]
    return "\n".join([f"| {title.strip(':').lower()} | what it does |", "|---|---|", *rows])


def _described(context: click.Context) -> Iterator[str]:
    """The usage and the help text, whose lines after a backspace are code."""
    usage = " ".join(context.command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```"
    for paragraph in inspect.cleandoc(context.command.help or "").split("\n\n"):
        head, mark, lines = paragraph.partition("\b\n")
        if not mark:
            yield _plain(" ".join(paragraph.split()))
            continue
        title, _, code = (head + lines).strip().partition("\n")
        yield _plain(title)
        yield f"```sh\n{dedent(code)}\n```"


def _records(context: click.Context) -> list[Record]:
    """The options of a command, without the one for help."""
    options = [one for one in context.command.params if isinstance(one, click.Option)]
    found = [option.get_help_record(context) for option in options]
    return [record for record in found if record is not None]


def _listed(records: Sequence[Record]) -> Iterator[str]:
    """Options as a list of definitions."""
    for written, said in records:
        yield f"`{written}`\n: {_plain(said)}"


def _plain(text: str) -> str:
    """Text as it is, with options and the names of files as code."""
    text = re.sub(r"([\\`*_<>\[\]|$])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", text)
