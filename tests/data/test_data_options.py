"""Options for reading rows are the same in every command."""

from __future__ import annotations

import click

from contextwise.cli import SECTIONS, contextwise
from contextwise.data.options import FLAGS


def test_every_command_that_reads_rows_has_the_same_options() -> None:
    flags = {flag for names, _, _ in FLAGS.values() for flag in names.split("/")}
    readers = []
    for section in SECTIONS.values():
        for name in section:
            command = contextwise.get_command(click.Context(contextwise), name)
            assert command is not None
            its = {text for p in command.params for text in (*p.opts, *p.secondary_opts)}
            if flags & its - {"--columns"}:
                readers.append(name)
                assert flags <= its, name
    assert {"learn", "fit", "check", "compare", "stability", "report", "info"} <= set(readers)
