"""Pictures with matplotlib: their contents, their labels, and reproducible files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run
from contextwise.errors import ContextwiseError
from contextwise.report import plots
from contextwise.report.plots import (
    plot_pairs,
    save,
)
from contextwise.report.plots.style import encoded
from every_plot import PLOTS, SIX


class TestFiles:
    @pytest.mark.parametrize("plot", PLOTS)
    def test_every_picture_drawn_twice_is_the_same(self, plot: str) -> None:
        draw = getattr(plots, plot)
        first, second = (encoded(draw(*PLOTS[plot]), "svg") for _ in range(2))
        assert first == second

    @pytest.mark.parametrize("plot", PLOTS)
    def test_every_axis_with_numbers_has_a_label(self, plot: str) -> None:
        for axes in getattr(plots, plot)(*PLOTS[plot]).axes:
            assert axes.has_data()
            numbers = [text.get_text() for text in axes.get_xticklabels() if axes.axison]
            if numbers and all(re.fullmatch(r"[−0-9.]+", text) for text in numbers):
                assert axes.get_xlabel() or axes.get_ylabel()

    def test_the_table_has_every_plot(self) -> None:
        assert set(PLOTS) == set(plots.__all__) - {"save"}

    @pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
    def test_the_same_picture_gives_the_same_bytes(self, suffix: str, tmp_path: Path) -> None:
        files = [tmp_path / f"{k}.{suffix}" for k in range(2)]
        for file in files:
            save(plot_pairs(SIX), file)
        assert files[0].read_bytes() == files[1].read_bytes()

    def test_an_unknown_suffix_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ContextwiseError, match=r"\.png, \.svg or \.pdf"):
            save(plot_pairs(SIX), tmp_path / "pairs.jpg")

    def test_pyplot_is_never_touched(self) -> None:
        code = (
            "import sys; from contextwise import compare, examples; "
            "from contextwise.report import plots; "
            "c = compare(examples.load('six'), examples.load('six-guess')); "
            "plots.plot_pairs(c); plots.plot_graphs(c); "
            "sys.exit('matplotlib.pyplot' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("pairs", "six", "six-guess", "--reorder"),
        ("graph", "lung", "lung-learned", "--context", "smoker=yes"),
        ("graph", "lung"),
        ("graph", "six", "six-graph", "--around", "X0,X1", "--edges", "strongest"),
        ("groups", "six", "--group", "a=six-guess", "--group", "b=six-graph"),
        ("errors", "six", "six-guess"),
        ("errors", "six", "six-guess", "six-graph"),
        ("matrix", "six", "six-guess", "six-graph"),
    ],
)
def test_the_command_writes_a_picture(arguments: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    assert run("plot", *arguments, "--out", str(out)).exit_code == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]


def test_a_wrong_suffix_is_refused_before_the_work() -> None:
    with pytest.raises(ContextwiseError, match="unknown picture format"):
        run("plot", "pairs", "six", "no-such-model.mn", "--out", "picture.gif")
