"""Guesses by chance on the command line: the options of ``--chance``, and the draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from contextwise.cli.options import options_as, seed_option

if TYPE_CHECKING:
    from contextwise.comparison.question import Restriction
    from contextwise.evaluation.chance import Chance
    from contextwise.models.structure import Model

OPTIONS = (
    click.option("--chance", is_flag=True, help="Also beside guesses by chance: skill, p-value."),
    click.option(
        "--null",
        type=click.Choice(["variables", "states", "values"]),
        default="variables",
        show_default=True,
        help="With --chance: what is drawn at random.",
    ),
    click.option(
        "--draws",
        type=click.IntRange(min=0),
        default=999,
        show_default=True,
        help="With --chance: how many guesses are drawn.",
    ),
    seed_option,
)


class Drawn(NamedTuple):
    """Which guesses by chance are drawn, and how many; as they were asked for."""

    chance: bool
    null: str
    draws: int
    seed: int

    def beside(
        self, true: Model, guess: Model, restriction: Restriction, **options: Any
    ) -> tuple[Chance, bool]:
        """A guess beside guesses by chance, and whether Ctrl-C ended the draws.

        Parameters
        ----------
        true, guess : the models
        restriction : what is compared
        **options : for `contextwise.evaluation.chance`

        Returns
        -------
        Chance, bool
        """
        from contextwise.evaluation import ChanceInterrupted, chance

        asked: dict[str, Any] = {"null": self.null, "draws": self.draws, "rng": self.seed}
        try:
            found = chance(true, guess, show_progress=True, **asked, **options, **restriction)
        except ChanceInterrupted as stop:
            return stop.chance, True
        return found, False


chance_options = options_as("drawn", Drawn, OPTIONS)
"""Give a command the options on chance, as one argument ``drawn``."""
