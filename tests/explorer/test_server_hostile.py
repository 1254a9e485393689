"""A hostile client of the explorer: nothing leaks, and the server and other sessions live on."""

from __future__ import annotations

import gc
import http.client
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from contextwise import examples
from contextwise.explorer import app
from contextwise.explorer.controls import INPUTS, clicks, uploaded_path
from contextwise.explorer.server import LARGEST_UPLOAD, Server, checked_message, guarded
from contextwise.explorer.state import State

TOKEN = "the-secret-of-this-test"
SECRET = "a-line-that-nobody-may-see"
SUMMARY = "16 of 240"
COUNTER = count()


@dataclass
class Running:
    """A running explorer: its application and its port."""

    app: Any
    port: int

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        pairs = {key.replace("_", "-"): value for key, value in headers.items()}
        connection.request(method, path, body, pairs)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        connection.close()
        return answer.status, text

    @contextmanager
    def socket(self, *, token: str = TOKEN, origin: str | None = "") -> Iterator[ClientConnection]:
        here: Any = f"http://127.0.0.1:{self.port}" if origin == "" else origin
        url = f"ws://127.0.0.1:{self.port}/{token}/websocket/"
        with connect(url, origin=here, max_size=None, open_timeout=20) as opened:
            yield opened

    @contextmanager
    def session(self) -> Iterator[Client]:
        with self.socket() as opened:
            client = Client(opened)
            client.update("init", {".clientdata_url_search": "", **visible()})
            yield client

    def lives(self) -> None:
        """Check that a new session shows its comparison."""
        with self.session() as client:
            client.wait_for(SUMMARY)


def visible() -> dict[str, object]:
    outputs = ("summary", "uploaded", "results_state", "columns", "check_outcome", "status")
    return {f".clientdata_output_{key}_hidden": False for key in outputs}


@dataclass
class Client:
    """A session as a client sees it, with all that it was sent."""

    socket: ClientConnection
    received: str = ""

    def send(self, message: object) -> None:
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def update(self, method: str, data: object) -> None:
        self.send({"method": method, "data": data})

    def wait_for(self, text: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while text not in self.received:
            assert time.monotonic() < end, self.received[-2000:]
            with suppress(TimeoutError):
                self.received += str(self.socket.recv(timeout=0.2))

    def answers(self) -> None:
        """Check that the session has handled all messages so far, and still answers."""
        marker = f"marker{next(COUNTER)}"
        self.update("update", {"walk": f"context={marker}"})
        self.wait_for(marker)

    def listen(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(TimeoutError):
                self.received += str(self.socket.recv(timeout=0.05))


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """An explorer in a thread of this process, behind its guard."""
    models = [(name, examples.load(name)) for name in ("six", "six-guess")]
    application = app.explorer(models)
    ready = threading.Event()

    async def announce() -> None:
        ready.set()

    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(guarded(application, host="127.0.0.1", token=TOKEN), announce)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    assert ready.wait(20)
    yield Running(application, listening.getsockname()[1])
    server.should_exit = True
    thread.join(20)


@pytest.fixture
def terminal(capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """Yield a function that returns the server's stderr; a traceback in it fails the test."""
    printed = ""

    def read() -> str:
        nonlocal printed
        printed += capfd.readouterr().err
        return printed

    yield read
    assert "Traceback" not in read()


# -- who may connect -----------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "%00"])
@pytest.mark.parametrize("path", ["", "websocket/", "explorer/explorer.js", "session/x/download/y"])
def test_nothing_is_served_without_the_token(running: Running, token: str, path: str) -> None:
    place = f"/{token}/{path}".replace("//", "/")
    status, text = running.request("GET", place)
    assert status == 403
    assert TOKEN not in text
    assert running.request("GET", f"{place}?token={TOKEN}")[0] == 403


def test_the_token_opens_the_page(running: Running) -> None:
    status, text = running.request("GET", f"/{TOKEN}/")
    assert status == 200
    assert "contextwise explorer" in text
    assert running.request("GET", f"/{TOKEN}")[0] == 307
    assert running.request("GET", f"/{TOKEN}/explorer/../../../../../etc/passwd")[0] == 404
    assert running.request("GET", f"/{TOKEN}/explorer/%2e%2e/%2e%2e/app.py")[0] == 404


@pytest.mark.parametrize(
    ("token", "origin"),
    [
        ("wrong", ""),
        (TOKEN, None),
        (TOKEN, "null"),
        (TOKEN, "http://evil.example"),
        (TOKEN, "http://127.0.0.1"),
        (TOKEN, "http://127.0.0.1:1"),
        (TOKEN, "http://127.0.0.1.evil.example"),
    ],
)
def test_a_socket_needs_the_token_and_this_origin(
    running: Running, token: str, origin: str | None
) -> None:
    with (
        pytest.raises(InvalidStatus, match="403"),
        running.socket(token=token, origin=origin),
    ):
        pass


@pytest.mark.parametrize("headers", [{}, {"origin": "http://evil.example"}, {"origin": "null"}])
def test_an_upload_needs_this_origin(running: Running, headers: dict[str, str]) -> None:
    status, _ = running.request("POST", f"/{TOKEN}/session/x/upload/y", b"text", **headers)
    assert status == 403


# -- files that were not uploaded ----------------------------------------------------------------


@pytest.fixture
def secret_files(tmp_path: Path) -> list[str]:
    """Return paths that were not uploaded: a file, a link to it, a pipe, a device, a detour."""
    secret = tmp_path / "secret.csv"
    secret.write_text(SECRET)
    (tmp_path / "link.csv").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe.csv")
    detour = tmp_path / "folder" / ".." / "secret.csv"
    paths = [secret, tmp_path / "link.csv", tmp_path / "pipe.csv", detour, tmp_path]
    return [*map(str, paths), "/dev/zero", "/dev/stdin", "/etc/passwd", "secret.csv", "", "\0"]


@pytest.mark.parametrize("key", ["upload", "rows"])
@pytest.mark.parametrize("kind", ["", ":shiny.file", ":shiny.action", ":x"])
def test_a_forged_upload_is_ignored(
    running: Running,
    secret_files: list[str],
    terminal: Callable[[], str],
    key: str,
    kind: str,
) -> None:
    with running.session() as client:
        client.wait_for(SUMMARY)
        for path in secret_files:
            for name in ("p.bif", "p.csv", "p.sqlite"):
                file = {"datapath": path, "name": name, "size": 1, "type": ""}
                client.update("update", {f"{key}{kind}": [file]})
        client.listen(1)
        assert SECRET not in client.received
        assert "root:" not in client.received
    assert f"input '{key}'" in terminal()
    running.lives()


TYPES = (
    "shiny.action",
    "shiny.number",
    "shiny.file",
    "shiny.date",
    "shiny.datetime",
    "zz",
    "",
    "a:b",
)


@pytest.mark.parametrize("value", ["text", 7, None, [{}], {"a": 1}, True])
def test_a_wrong_type_after_a_colon_does_not_end_a_session(
    running: Running, terminal: Callable[[], str], value: object
) -> None:
    keys = ("question", "upload", "rows", "ask", "chosen_pair", ".clientdata_pixelratio", "none")
    with running.session() as client:
        client.wait_for(SUMMARY)
        for key in keys:
            client.update("update", {f"{key}:{kind}": value for kind in TYPES})
        client.answers()
    assert "Traceback" not in terminal()


def test_only_regular_files_of_the_folder_are_uploads(
    tmp_path: Path, secret_files: list[str]
) -> None:
    folder = tmp_path / "uploads"
    folder.mkdir()
    (folder / "0.csv").write_text("mine")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    os.mkfifo(folder / "pipe.csv")
    assert uploaded_path(str(folder / "0.csv"), folder) == str((folder / "0.csv").resolve())
    outside = [folder / name for name in ("link.csv", "pipe.csv", "../secret.csv", "none", "")]
    for path in (*secret_files, *map(str, outside)):
        with pytest.raises((OSError, ValueError)):
            uploaded_path(path, folder)


def test_a_real_upload_is_read_and_a_second_one_cannot_name_another_file(
    running: Running, secret_files: list[str], terminal: Callable[[], str]
) -> None:
    with running.session() as client:
        client.wait_for(SUMMARY)
        forged = {"name": "../../x.csv", "size": 1, "type": "", "datapath": secret_files[0]}
        for tag, key in enumerate(("upload", "true", ".clientdata_url_search", 7)):
            client.received = ""
            client.send({"method": "uploadInit", "args": [[forged]], "tag": tag})
            client.wait_for("jobId")
            job, url = re.findall(r'"(?:jobId|uploadUrl)": "([^"]+)"', client.received)
            origin = f"http://127.0.0.1:{running.port}"
            status, _ = running.request("POST", f"/{TOKEN}/{url}", b"2,2\nnonsense", origin=origin)
            assert status == 200
            extra, _ = running.request("POST", f"/{TOKEN}/{url}", b"more", origin=origin)
            assert extra in (400, 500)
            client.send({"method": "uploadEnd", "args": [job, key], "tag": tag + 100})
            if key == "upload":
                client.wait_for("x.csv")  # the message about the file that was really uploaded
        client.listen(1)
        assert SECRET not in client.received
    assert "an upload that failed" in terminal()
    running.lives()


# -- messages of any shape -----------------------------------------------------------------------

CHOICES = ("null", "missing", "tab", "theme")
WRONG: list[object] = ["zz", "", 0, -1, 1.5, True, [], ["a"], {}, {"first": 1}, "\0", "x" * 9999]


@pytest.mark.parametrize("key", [*CHOICES, "card", "cluster", "all_edges", "stop", "ask"])
def test_a_wrong_value_is_ignored(running: Running, terminal: Callable[[], str], key: str) -> None:
    with running.session() as client:
        client.wait_for(SUMMARY)
        for value in WRONG:
            client.update("update", {key: value})
        client.answers()
    assert f"input '{key}'" in terminal()


@pytest.mark.parametrize(
    "key",
    [
        *("true", "shown", "guesses", "first", "second", "around", "chosen_pair"),
        *("chosen_region", "chosen_state", "chosen_literal", "question", "walk", "show_guess"),
        *("column_use", "column_cut", "column_na"),
    ],
)
def test_names_that_are_unknown_are_ignored(
    running: Running, terminal: Callable[[], str], key: str
) -> None:
    values = [*WRONG, "upload:0", "given:9", ["given:9"], {"first": "X1", "second": "X1"}]
    values += [{"variable": "X", "state": "y"}, "tab=zz&" * 2000, "true=no&tab=experiment"]
    with running.session() as client:
        client.wait_for(SUMMARY)
        for value in values:
            client.update("update", {key: value})
        client.answers()
    if key in ("true", "shown", "guesses", "show_guess", "chosen_pair"):
        assert "ignored the unknown" in terminal()


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def test_buttons_that_are_not_there_do_nothing(
    running: Running, terminal: Callable[[], str]
) -> None:
    """Every button, before there is a comparison and after; then every download."""
    with running.session() as client:
        client.wait_for("sessionId")
        client.wait_for("idle")
        keys = [key for key, source in INPUTS.items() if source.read is clicks]
        assert {"learn_begin", "again"} <= set(keys)
        for round_ in (1, 2):
            for key in keys:
                client.update("update", {key: round_})
            client.wait_for(SUMMARY)
        client.update("update", {"guesses": None})
        for key in keys:
            client.update("update", {key: 3})
        client.answers()
        session = re.findall(r'"sessionId": "(\w+)"', client.received)[0]
        for key in ("claims_csv", "learned_json", "edges_csv", "no_such"):
            status, text = running.request("GET", f"/{TOKEN}/session/{session}/download/{key}")
            assert status in (200, 404)
            assert len(text) < 1000
    assert terminal() == ""


MESSAGES: dict[str, object] = {
    "not JSON": "{",
    "not an object": "[1]",
    "a number": "7",
    "null": "null",
    "bytes": b"\xff\x00",
    "NaN": '{"method": "update", "data": {"limit": NaN}}',
    "a number of 5,000 digits": '{"method": "update", "data": {"limit": ' + "1" * 5000 + "}}",
    "lone surrogates": '{"method": "update", "data": {"question": "\\ud800"}}',
    "deep lists": "[" * 100_000,
    "a deep value": {"method": "update", "data": {"chosen_pair": nested(400)}},
    "no method": {"data": {}},
    "an unknown method": {"method": "shutdown", "data": {}},
    "a method that is a list": {"method": ["init"], "data": {}},
    "update without data": {"method": "update"},
    "data that is a list": {"method": "update", "data": [1]},
    "an unknown input": {"method": "update", "data": {"nobody": 1}},
    "two types": {"method": "update", "data": {"tab:a:b": 1}},
    "a date": {"method": "update", "data": {"tab:shiny.date": [1, 2, 3]}},
    "client data of a wrong type": {"method": "update", "data": {".clientdata_url_search": {}}},
    "uploadInit without files": {"method": "uploadInit", "args": [], "tag": 1},
    "uploadInit of a number": {"method": "uploadInit", "args": [[1]], "tag": 1},
    "uploadInit without names": {"method": "uploadInit", "args": [[{"size": 1}]], "tag": 1},
    "uploadInit without a tag": {"method": "uploadInit", "args": [[]]},
    "uploadEnd of a list": {"method": "uploadEnd", "args": [["x"], "upload"], "tag": 1},
    "uploadEnd of another input": {"method": "uploadEnd", "args": ["x", "true"], "tag": 1},
    "another handler": {"method": "eval", "args": ["1"], "tag": 1},
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_of_a_wrong_shape_is_ignored_with_one_line(
    running: Running, terminal: Callable[[], str], name: str
) -> None:
    with running.session() as client:
        client.wait_for(SUMMARY)
        terminal()
        client.send(MESSAGES[name])
        client.answers()
    lines = [line for line in terminal().splitlines() if line]
    assert len(lines) == 1
    assert "ignored" in lines[0]
    assert len(lines[0]) < 250


@pytest.mark.parametrize(
    "message",
    [
        {"method": "init", "data": {}},
        {"method": "uploadEnd", "tag": 1, "args": ["no such upload", "upload"]},
    ],
)
def test_a_message_at_the_wrong_time_ends_only_its_own_session(
    running: Running, capfd: pytest.CaptureFixture[str], message: object
) -> None:
    with running.session() as other:
        other.wait_for(SUMMARY)
        with running.session() as client:
            client.wait_for(SUMMARY)
            client.send(message)
            with suppress(ConnectionClosed):
                client.listen(1)
        other.answers()
    capfd.readouterr()
    running.lives()


def test_a_huge_message_ends_only_its_own_session(
    running: Running, terminal: Callable[[], str]
) -> None:
    with running.session() as other:
        other.wait_for(SUMMARY)
        with running.session() as client:
            client.update("update", {"question": "x" * (2 << 20)})
            with pytest.raises(ConnectionClosed):
                client.listen(20)
        other.answers()
    terminal()


def test_a_terminal_is_never_sent_control_characters(terminal: Callable[[], str]) -> None:
    assert checked_message('{"method": "\\u001b[2J"}') is None
    assert checked_message(json.dumps({"method": "init", "data": {"\x1b]0;x\x07": "\x1b[2J"}}))
    assert "\x1b" not in terminal()


def test_large_uploads_are_refused(running: Running) -> None:
    origin = f"http://127.0.0.1:{running.port}"
    path = f"/{TOKEN}/session/x/upload/y"
    for length in (str(LARGEST_UPLOAD + 1), "-1", "x", "9" * 5000):
        with socket.create_connection(("127.0.0.1", running.port)) as raw:
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nOrigin: {origin}\r\n"
            raw.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
            assert raw.recv(100).split()[1] in (b"413", b"400")
    running.lives()


# -- what a session leaves behind ----------------------------------------------------------------


def test_a_session_releases_its_memory_files_and_processes(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    others = {id(state): state for state in gc.get_objects() if type(state) is State}
    for k in range(3):
        with running.session() as client:
            client.wait_for(SUMMARY)
            assert list(tmp_path.glob("fileupload-*"))
            file = {"name": "m.mn", "size": 1, "type": ""}
            client.send({"method": "uploadInit", "args": [[file]], "tag": k})
            client.wait_for("jobId")
            client.update("update", {"question": "X1 _||_ X2", "ask": k + 1})
            client.update("update", {"walk": "tab=graph&context=X0%3D1"})

    def left() -> list[object]:
        gc.collect()
        states = [s for s in gc.get_objects() if type(s) is State and id(s) not in others]
        return [*states, *running.app._sessions, *tmp_path.glob("fileupload-*"), *jobs()]

    end = time.monotonic() + 60
    while left() and time.monotonic() < end:
        time.sleep(0.2)
    assert left() == []


def jobs() -> list[str]:
    """The processes that work for this one: children of its fork server."""
    psutil = pytest.importorskip("psutil")
    servers = psutil.Process().children()
    return [str(job) for server in servers for job in server.children() if job.is_running()]
