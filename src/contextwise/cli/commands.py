"""Classes of commands, whose help has sections and whose errors name what to use instead."""

from __future__ import annotations

from functools import partial

import click

import contextwise as cw

COMPARED = "What to compare"
MODELS = "How to read models"
ROWS = "How to read rows"
EFFORT = "Effort"
SECTIONS = ("Options", COMPARED, MODELS, ROWS, EFFORT)
"""The sections of a help text, in order; `section` puts options into one of them."""


class SectionedCommand(click.Command):
    """A command whose help lists its options in sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            known = [flag for param in self.get_params(ctx) for flag in param.opts]
            near = cw.support.formatting.suggested(name, known)
            if near:
                raise click.UsageError(f"No such option {name!r}; {near}", ctx) from None
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, records in sections(ctx):
            with formatter.section(title):
                formatter.write_dl(records)


command = partial(click.command, cls=SectionedCommand)


def sections(ctx: click.Context) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the options of a command as its help shows them, section by section."""
    grouped: dict[str, list[tuple[str, str]]] = {title: [] for title in SECTIONS}
    for param in ctx.command.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if record is not None:
            grouped[getattr(param, "section", SECTIONS[0])].append(record)
    return [(title, records) for title, records in grouped.items() if records]


class SuggestingGroup(click.Group):
    """A group that names the nearest command of a wrong one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        near = cw.support.formatting.suggested(name, known)
        if name not in known and near:
            ctx.fail(f"No such command {name!r}; {near}")
        return super().resolve_command(ctx, args)
