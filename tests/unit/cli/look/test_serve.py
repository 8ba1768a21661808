"""The command that serves a site: its mistakes, its address and its end."""

import http.client
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from orchestrator.cli.look.serve import ENDING
from orchestrator.workflows.site.serve import shown_address
from tests.documented import fenced
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.until import LIMIT_S


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--results", "none"), "none: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere"),
        (("--token", "short"), "--token: needs 16 characters or more, of letters, digits and -._~; leave it out"),
        (("--token", "long enough, but odd"), "--token: needs 16 characters or more"),
        (("--bind", "no.such.host.invalid"), "--bind no.such.host.invalid: is no address of a host"),
        (("--port", "70000"), "70000"),
    ],
)
def test_mistakes_are_said_with_their_remedy(command: Program, tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "results").mkdir()
    code, out, error = command("serve", *options)

    assert (code, out) == (2, "")
    assert said in error


def test_what_it_needs_is_said(command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "orchestrator.workflows.site.serve.find_spec", lambda name: None if name == "uvicorn" else found(name)
    )
    code, _, error = command("serve")

    assert code == 2
    needed = "serve needs uvicorn: pip install uvicorn"
    assert error.splitlines()[0] == f"{needed}, or write a site with `orchestrator publish`"


def test_a_port_in_use_is_said(command: Program, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, error = command("serve", "--port", str(taken.getsockname()[1]))

    assert code == 3
    assert "Address already in use; choose another --port, or 0 for any" in error


def serving(folder: Path, *options: str) -> AbstractContextManager[tuple[subprocess.Popen[str], str]]:
    return started(folder, [sys.executable, "-m", "orchestrator", "serve", "--port", "0", *options])


@contextmanager
def started(folder: Path, command: list[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder)}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@contextmanager
def asked(address: str, path: str) -> Iterator[http.client.HTTPResponse]:
    place = urlsplit(address)
    with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=LIMIT_S)) as connection:
        connection.request("GET", path)
        with connection.getresponse() as response:
            yield response


def read(address: str, path: str = "/") -> tuple[int, bytes]:
    with asked(address, path) as response:
        return response.status, response.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_with_viewers(tmp_path: Path, number: signal.Signals) -> None:
    """Viewers that read, and one that does not, hold up nothing."""
    (tmp_path / "results").mkdir()
    with serving(tmp_path) as (process, address), ExitStack() as viewers:
        assert address.startswith("http://localhost:")
        for _ in range(3):
            viewer = viewers.enter_context(asked(address, "/events"))
            assert viewer.readline() == b"retry: 2000\n"
        lazy = viewers.enter_context(socket.create_connection(("127.0.0.1", urlsplit(address).port or 0)))
        lazy.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")

        process.send_signal(number)
        _, error = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0
        assert ENDING in error
        assert "Traceback" not in error


def test_results_that_come_later_are_served(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    with serving(tmp_path) as (_, address):
        before = read(address)
        stored_run(tmp_path / "results")
        with asked(address, "/events") as viewer:
            while read(address) == before:
                viewer.readline()


def test_nothing_is_written_into_the_results(tmp_path: Path) -> None:
    results = tmp_path / "results"
    stored_run(results)
    before = {path: path.lstat().st_mtime_ns for path in [results, *results.rglob("*")]}
    with serving(tmp_path) as (_, address):
        assert read(address)[0] == 200
        with asked(address, "/events") as viewer:
            while viewer.readline() != b"event: state\n":
                pass

    assert {path: path.lstat().st_mtime_ns for path in [results, *results.rglob("*")]} == before


@pytest.mark.parametrize(
    ("address", "token", "shown"),
    [
        ("127.0.0.1", "", "http://localhost:80/"), ("::1", "x", "http://localhost:80/?token=x"),
        ("fe80::1", "x", "http://[fe80::1]:80/?token=x"), ("10.0.0.1", "x", "http://10.0.0.1:80/?token=x"),
    ],
)  # fmt: skip
def test_the_address_can_be_opened(address: str, token: str, shown: str) -> None:
    assert shown_address(address, 80, token) == shown


def test_an_open_address_gets_a_token(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    with serving(tmp_path, "--bind", "0.0.0.0") as (_, address):
        place = urlsplit(address)
        local = f"http://127.0.0.1:{place.port}"

        assert len(place.query.removeprefix("token=")) >= 32
        assert read(local)[0] == 401
        assert read(local, f"/?{place.query}")[0] == 200


SHOWN = [
    line.partition("#")[0].strip()
    for block in fenced("serve.md", "sh")
    for line in block.splitlines()
    if line.startswith("orchestrator ")
]


@pytest.mark.parametrize("line", SHOWN)
def test_commands_of_the_page_serve(tmp_path: Path, line: str) -> None:
    """Every command is run as it stands, at any free port, and at an address that this host has."""
    (tmp_path / "results").mkdir()
    (tmp_path / "token").write_text("a-token-of-32-characters-or-more")
    here = line.replace("orchestrator", f"exec {sys.executable} -m orchestrator", 1).replace("10.1.2.3", "127.0.0.3")
    with started(tmp_path, ["bash", "-c", f"{here} --port 0"]) as (_, address):
        place = urlsplit(address)
        at = address if "127.0.0.3" in here else f"http://127.0.0.1:{place.port}"

        assert bool(place.query) is ("--bind" in line)
        assert read(at, f"/?{place.query}")[0] == 200
