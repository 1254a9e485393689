"""The command as a process: streams, exit codes, one-line errors, and a quick start."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextwise.cli import COMMANDS, READER_LEFT, main

COMMAND = [sys.executable, "-m", "contextwise"]
Done = subprocess.CompletedProcess[bytes]


def run(*arguments: str | bytes, stdin: bytes = b"", **environment: str) -> Done:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
    )


def assert_one_line_of_trouble(done: Done, *parts: str) -> None:
    message = done.stderr.decode()
    assert done.returncode == 2
    assert done.stdout == b""
    assert message.startswith("contextwise: ")
    assert message.count("\n") == 1
    assert message.endswith("\n")
    assert all(part in message for part in parts), message


class TestTrouble:
    @pytest.mark.parametrize(
        ("arguments", "parts"),
        [
            (["compare", "lung"], ["give one GUESS or more", "contextwise compare --help"]),
            (["compare", "lung", "lung", "--colour"], ["No such option", "--colour"]),
            (["compare", "lung", "lung", "--engine", "steam"], ["unknown engine 'steam'"]),
            (["compare", "lung", "survey"], ["lung, survey:", "only the first model has smoker"]),
            (["compare", "lung", "lung", "--pairs", "smoker,cat"], ["unknown variable 'cat'"]),
            (["compare", "lung", "lung", "--variables", "a,"], ["names separated by commas"]),
            (["compare", "lung", "lung", "--context", "cancer=maybe"], ["no state 'maybe'"]),
            (["compare", "lung", "lung", "--context", "cancer"], ["smoker=yes & age!=young"]),
            (["compare", "lung", "nothing.mn"], ["nothing.mn: No such file"]),
            (["compare", "lung", "lang"], ["lang: no such file or example"]),
            (["info", "."], [".: "]),
            (["nonsense"], ["No such command 'nonsense'"]),
            (["convert", "lung", "no/such/folder/lung.json"], ["no/such/folder/lung.json"]),
            (["convert", "lung", "lung.xyz"], ["lung.xyz: cannot write .xyz; use one of .mn"]),
            (["info", "-"], ["standard input: the input is empty"]),
            (["compare", "lung", "lung", "--format", "xyz"], ["--format", "'xyz' is not one of"]),
            (["compare", "lung", "lung", "--pairs", "a"], ["as in --pairs A,B; got 'a'. Try: "]),
            (
                ["compare", "-", "lung", "--contexts-of", "-"],
                ["only one model or data file can be read"],
            ),
            (["fit", "-", "-", "--out", "x.mn"], ["only one model or data file can be read"]),
            (["explain", "lung", "lung", "--time-limit", "-1"], ["--time-limit", "x>=0"]),
            (["comprae", "lung"], ["No such command 'comprae'; did you mean 'compare'?"]),
        ],
    )
    def test_one_line_and_exit_code_two(self, arguments: list[str], parts: list[str]) -> None:
        assert_one_line_of_trouble(run(*arguments), *parts)

    def test_bad_input_is_named_with_its_line(self) -> None:
        done = run("compare", "-", "lung", stdin=b"2,2\nMN {\n0.5 +v0_7\n}\n")
        assert_one_line_of_trouble(done, "standard input:3: ")

    def test_an_argument_that_is_not_text(self) -> None:
        assert_one_line_of_trouble(run("info", b"caf\xe9.mn"), r"caf\udce9.mn: No such file")

    def test_control_characters_do_not_reach_the_terminal(self) -> None:
        done = run("info", "\x1b[31m\n.mn")
        assert_one_line_of_trouble(done)
        assert b"\x1b" not in done.stderr

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
    def test_a_full_disk(self) -> None:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*COMMAND, "info"], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2
        assert done.stderr.decode() == f"contextwise: {os.strerror(errno.ENOSPC)}\n"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["fit", "lung", "missing.csv", "--out", "x.xyz"], "x.xyz: cannot write .xyz; use"),
            (["fit", "lung", "missing.csv", "--out", "x.dn"], "cannot write .dn; use one of .mn"),
            (["fit", "lung", "missing.csv", "--out", "no/x.mn"], "no/x.mn: No such file"),
            (["report", "missing.mn", "x.mn", "--out", "no/x.html"], "no/x.html: No such file"),
            (["sample", "missing.mn", "--out", "."], ".: Is a directory"),
            (["plot", "matrix", "missing.mn", "--out", "no/x.png"], "no/x.png: No such file"),
            (["plot", "pairs", "missing.mn", "x.mn", "--out", "x.gif"], "x.gif: "),
        ],
    )
    def test_where_to_write_is_looked_at_before_the_work(
        self, arguments: list[str], message: str
    ) -> None:
        assert_one_line_of_trouble(run(*arguments), message)

    @pytest.mark.parametrize("group", ["plot"])
    def test_a_group_alone_shows_its_help(self, group: str) -> None:
        done = run(group)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr == run(group, "--help").stdout


class TestStreams:
    def test_without_standard_error(self) -> None:
        code = "import sys; sys.stderr = None; from contextwise.cli import main; main()"
        command = [sys.executable, "-c", code, "compare", "lung", "lung-learned", "--json"]
        done = subprocess.run(command, capture_output=True)
        assert done.returncode == 0
        assert json.loads(done.stdout)["distance"] == 2

    def test_warnings_are_one_line_on_standard_error(self) -> None:
        done = run("info", "-", "--json", stdin=b"2,2\nMN {\n0.5 +v0_1 +v0_0\n1 +v0_1\n}\n")
        assert done.returncode == 0
        assert json.loads(done.stdout)["contradictory"] == 1
        assert done.stderr.startswith(b"contextwise: warning: ")
        assert b"dropped 1 feature" in done.stderr
        assert done.stderr.count(b"\n") == 1

    def test_no_progress_where_there_is_no_terminal(self) -> None:
        assert run("compare", "six", "six-guess").stderr == b""

    def test_a_reader_that_leaves(self) -> None:
        """As in ``contextwise compare … | head -0``."""
        reading, writing = os.pipe()
        os.close(reading)
        with open(writing, "wb") as gone:
            done = subprocess.run(
                [*COMMAND, "compare", "six", "six-guess", "--csv", "--per-pair"],
                stdout=gone,
                stderr=subprocess.PIPE,
            )
        assert (done.returncode, done.stderr) == (READER_LEFT, b"")

    @pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
    @pytest.mark.parametrize("option", ["--csv", "--json"])
    def test_a_file_name_that_is_not_text(self, option: str, tmp_path: Path) -> None:
        path = os.fsencode(tmp_path) + b"/caf\xe9.mn"
        with open(path, "wb") as file:
            file.write(b"2,2\nMN {\n1 +v0_1\n}\n")
        done = run("compare", path, path, option)
        assert done.returncode == 0
        assert rb"caf\udce9.mn" in done.stdout

    def test_exact_numbers_of_any_size(self, tmp_path: Path) -> None:
        """Python refuses to print ints of more than 4,300 digits by default."""
        wide = ",".join(["2"] * 15_000)
        (tmp_path / "pair.mn").write_text(f"{wide}\nMN {{\n1 +v0_1 +v1_1\n}}\n")
        (tmp_path / "none.mn").write_text(f"{wide}\nMN {{\n1 +v0_1\n}}\n")
        paths = [str(tmp_path / name) for name in ("pair.mn", "none.mn")]
        record = _exact(run("compare", *paths, "--json").stdout)
        assert record["fn"] == 2**14_998


def _exact(text: bytes) -> dict[str, int]:
    """The counts of a record; large ones are strings of digits."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        found = json.loads(text)
        return {key: int(found[key]) for key in ("tp", "fn", "fp", "tn")}
    finally:
        sys.set_int_max_str_digits(limit)


class TestExitCode:
    def test_like_diff(self) -> None:
        assert run("compare", "lung", "lung", "--exit-code").returncode == 0
        assert run("compare", "lung", "lung-learned", "--exit-code").returncode == 1
        assert run("compare", "lung", "lang", "--exit-code").returncode == 2

    @pytest.mark.parametrize(
        ("raised", "code", "message"),
        [
            (KeyboardInterrupt(), 130, "interrupted"),
            (MemoryError(), 2, "contextwise: there is not enough memory for this"),
            (PermissionError(13, "Permission denied", "x.mn"), 2, "x.mn: Permission denied"),
        ],
    )
    def test_what_stops_the_work(
        self,
        raised: BaseException,
        code: int,
        message: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        def stop(*_: object, **__: object) -> None:
            raise raised

        monkeypatch.setattr("contextwise.cli.cmd_files.load", stop)
        # What main sets for its process must not stay in ours.
        monkeypatch.setattr("warnings.showwarning", None)
        monkeypatch.setattr("sys.set_int_max_str_digits", lambda _: None)
        with pytest.raises(SystemExit) as left:
            main(["info", "lung"])
        assert left.value.code == code
        assert message in capsys.readouterr().err


HEAVY = ("pandas", "networkx", "scipy", "matplotlib", "shiny", "dask", "hypothesis")


class TestStart:
    """Starting quickly means importing little; a timed test would only measure the machine."""

    @staticmethod
    def imported(*arguments: str) -> set[str]:
        code = (
            "import sys; from contextwise.cli import main\n"
            f"try: main({list(arguments)!r})\n"
            "finally: print(*sys.modules, file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return set(done.stderr.split())

    @pytest.mark.parametrize(
        "arguments", [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]
    )
    def test_help_needs_no_numpy(self, arguments: list[str]) -> None:
        assert not {"numpy", *HEAVY} & self.imported(*arguments)

    def test_a_comparison_needs_numpy_and_nothing_heavier(self) -> None:
        found = self.imported("compare", "lung", "lung-learned")
        assert "numpy" in found
        assert not set(HEAVY) & found

    @pytest.mark.parametrize(
        "arguments", [["compare", "lung", "lung-learned"], ["matrix", "six", "six-guess"]]
    )
    def test_what_a_small_question_does_not_use_is_not_loaded(self, arguments: list[str]) -> None:
        """No store, no estimates, no other process, no evaluation of many guesses."""
        unused = {"sqlite3", "importlib.resources", "importlib.metadata"}
        ours = {"comparison.estimate", "support.store", "evaluation"}
        assert not (unused | {f"contextwise.{name}" for name in ours}) & self.imported(*arguments)
