"""Generate the reference of the commands: a page per command, made from click.

The page of a command with subcommands has a table of them, the options that all share, and a
section for each. The page of ``learn`` has a section for each learner.
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
from contextwise.cli.cmd_learn import learner_help, parameter_records
from contextwise.cli.commands import sections
from contextwise.learning import LEARNERS, learner_groups

QUESTIONS = {
    "compare": "How far is a guess from the true model? Which of several learners is nearer?",
    "explain": "What does a model claim? Where do two models differ, and why?",
    "query": "Are A and B independent, given C and D=yes?",
    "matrix": "How far apart are many models? Which one is nearest?",
    "study": "Which learner is best for which truths?",
    "analyse": "What do my rows say? Everything at once, on one page.",
    "learn": "Which variables depend on each other, and where?",
    "check": "Do the rows support a model?",
    "stability": "Would half of the rows give the same structure?",
    "groups": "Is an association the same in all groups of rows?",
    "report": "Can I have everything on one page?",
    "explore": "Can I look at a model in the browser?",
    "plot": "Can I have a figure for a paper?",
    "info": "What is in a file? Which examples and engines are there?",
    "convert": "How do I use a model in another program?",
    "fit": "Which weights of a structure fit rows?",
    "sample": "What would rows of a model look like?",
}
"""What each command answers; a test compares the keys with the commands."""

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
    """Return the table of questions and commands, and the order of the commands in the site."""
    lines = ["| your question | the command |", "|---|---|"]
    for title, commands in SECTIONS.items():
        lines.append(f"| **{title}** | |")
        for name, (_, summary) in commands.items():
            link = f"[`{name}`](commands/{name}.md): {summary}"
            lines.append(f"| {QUESTIONS[name]} | {link} |")
    order = [f"commands/{name}" for name in COMMANDS]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *order, "```", ""])


def _page(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f"# {context.command_path}"
    yield from _described(context, command.help)
    kinds = _subcommands(context)
    if not kinds:
        for title, records in sections(context):
            yield f"## {title}"
            yield from _listed([record for record in records if "--help" not in record[0]])
        if context.info_name == "learn":
            yield from _learners()
        return
    options = {name: _records(kind) for name, (kind, _, _) in kinds.items()}
    first = next(iter(options.values()))
    shared = [record for record in first if all(record in others for others in options.values())]
    rows = [f"| [`{name}`](#{name}) | {_plain(text)} |" for name, (_, text, _) in kinds.items()]
    yield "\n".join(["| command | what it does |", "|---|---|", *rows])
    if shared:
        yield "## Options of every command"
        yield from _listed(shared)
    for name, (kind, _, text) in kinds.items():
        yield f"## {name}"
        yield from _described(kind, text)
        yield from _listed([record for record in options[name] if record not in shared])


def _learners() -> Iterator[str]:
    """Yield the table of the learners, and a section with the parameters of each."""
    yield "## Learners"
    lines = ["| learner | what it learns |", "|---|---|"]
    for group, names in learner_groups().items():
        lines.append(f"| **{group}** | |")
        lines += [f"| [`{name}`](#{name}) | {_plain(LEARNERS[name].summary)} |" for name in names]
    yield "\n".join(lines)
    for names in learner_groups().values():
        for name in names:
            yield f"### {name}"
            yield from _text(learner_help(name))
            yield from _listed(parameter_records(name))


def _subcommands(context: click.Context) -> dict[str, tuple[click.Context, str, str | None]]:
    """Return the subcommands of a command: their context, summary and help."""
    command = context.command
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
    """Yield the usage and the help text."""
    usage = context.get_usage().removeprefix("Usage: ")
    yield f"```text\n{' '.join(usage.split())}\n```"
    yield from _text(text)


def _text(text: str | None) -> Iterator[str]:
    """Yield the paragraphs of a help text; lines after a backspace are code."""
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
