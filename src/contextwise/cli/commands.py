"""Classes of commands, whose help has sections and whose errors name what to use instead."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import click

import contextwise as cw

COMPARED = "What to compare"
MODELS = "How to read models"
ROWS = "How to read rows"
EFFORT = "Effort"
SECTIONS = ("Options", COMPARED, MODELS, ROWS, EFFORT)
"""The sections of a help text, in order; `section` puts options into one of them."""

EXACT = "matrix without it: the distances are exact"
REMOVED_OPTIONS: dict[str, dict[str, str]] = {
    "compare": {
        "--data": "--contexts-of ROWS",
        "--null": "--chance without it",
        "--threads": "--jobs N",
    },
    "matrix": {
        "--approximate": EXACT,
        "--assertions": EXACT,
        "--seed": EXACT,
        "--data": "--contexts-of ROWS",
        "--nearest": "contextwise compare MODEL MODELS..., which names the nearest",
        "--top": "contextwise compare MODEL MODELS..., which names the nearest",
        "--probabilities": "contextwise compare TRUE ENSEMBLE --probabilities",
        "--store": "--folder FOLDER",
        "--out": "--csv > FILE, or --json > FILE",
    },
    "learn": {"--select-by": "--grid with --valid ROWS, or without for BIC; or stability"},
    "explain": {"--data": "--contexts-of ROWS"},
    "check": {
        "--draws": "check without it: the p-values need no draws",
        "--regions": "regions= of contextwise.check in Python",
    },
    "fit": {"--tolerance": "tolerance= of contextwise.distributions.fit in Python"},
    "stability": {
        "--consensus": "--medoid FILE",
        "--picture": "--csv, which has the support of each pair",
        "--true": "--ensemble FILE, then contextwise compare TRUE FILE",
    },
    "report": {
        "--group": "contextwise compare TRUE --group NAME=FILES",
        "--data": "--check ROWS for evidence, --contexts-of ROWS to restrict contexts",
        "--null": "--chance without it",
        "--populations": "contextwise groups DATA --by COLUMN",
        **dict.fromkeys(
            ("--learner", "--resamples", "--set", "--stability"), "contextwise analyse DATA"
        ),
    },
    "explore": {"--data": "--check ROWS", "--run": "contextwise study"},
    "graph": {"--most": "--top N"},
}
"""The successors of options that earlier versions had, by the name of the command."""


class SectionedCommand(click.Command):
    """A command whose help lists its options in sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            successor = REMOVED_OPTIONS.get(str(ctx.info_name), {}).get(name)
            if successor is not None:
                raise click.UsageError(f"{name} was removed; use {successor}", ctx) from None
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
    """A group that names the successor of a removed command, and the nearest name of a wrong one.

    ``removed`` has what replaces each command that earlier versions had.
    """

    removed: Mapping[str, str] = {}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name in self.removed:
            ctx.fail(f"{name!r} was removed; use: contextwise {self.removed[name]}")
        near = cw.support.formatting.suggested(name, known)
        if name not in known and near:
            ctx.fail(f"No such command {name!r}; {near}")
        return super().resolve_command(ctx, args)
