"""Progress: reported to the caller's function, drawn on a terminal, and silent elsewhere."""

from __future__ import annotations

import io
import sys
import time

import pytest

from contextwise.support import effort
from contextwise.support.effort import CLEAR, progress_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_callers_function_is_used_as_it_is() -> None:
    told: list[tuple[int, int]] = []
    with progress_of(lambda done, total: told.append((done, total)), "work") as tell:
        assert tell is not None
        tell(1, 2)
    assert told == [(1, 2)]


@pytest.mark.parametrize("wanted", [True, False])
def test_nothing_is_drawn_where_there_is_no_terminal(
    wanted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_of(wanted, "work") as tell:
        assert (tell is not None) == wanted
        if tell is not None:
            tell(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_line_every_ten_seconds_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress_of(True, "pairs") as tell:
        assert tell is not None
        for second in range(1, 26):
            now[0] = float(second)
            tell(second, 2000)
    assert capsys.readouterr().err == "pairs: 10 of 2,000\npairs: 20 of 2,000\n"


def test_a_bar_on_a_terminal_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(effort, "SECONDS_BEFORE_A_BAR", 0.0)
    with progress_of(True, "work") as tell:
        assert tell is not None
        tell(500, 2000)
        tell(501, 2000)  # too soon after the first to be drawn
    drawn = terminal.getvalue()
    assert "work" in drawn
    assert "500/2000" in drawn
    assert "501" not in drawn
    assert drawn.endswith(CLEAR)


def test_the_bar_estimates_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "time", lambda: now[0])
    with progress_of(True, "work") as tell:
        assert tell is not None
        now[0] += 60
        tell(1, 61)
    assert "01:00:00" in terminal.getvalue()


def test_short_work_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_of(True, "work") as tell:
        assert tell is not None
        tell(1, 1)
    assert terminal.getvalue() == CLEAR
