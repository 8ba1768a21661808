"""The commands of docs/serve.md that follow events: those of a server, and those of a run without one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import pytest

from tests.documented import blocks
from tests.required import missing
from tests.unit.cli.look.test_serve import serving

BY_CURL, BY_TAIL = (
    line.partition("#")[0].strip() for line in blocks("serve.md", "For your own programs", "sh")[0].splitlines()
)
EVENT = '{"event": "run_began"}'


@contextmanager
def _running(line: str, folder: Path) -> Iterator[IO[str]]:
    """Run a command that never ends by itself, and give what it prints."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {line}"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {"no_proxy": "*"},
    )  # fmt: skip
    assert process.stdout
    try:
        yield process.stdout
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The events of a run in the results folder."""
    events = tmp_path / "results" / "20260301T030405Z-0000" / "events.jsonl"
    events.parent.mkdir(parents=True)
    events.write_text(f"{EVENT}\n", encoding="utf-8")
    return events


def test_curl_follows_the_events_of_a_server(run: Path, tmp_path: Path) -> None:
    if not shutil.which("curl"):
        missing("curl is not installed, which the page calls", "BENCH_REQUIRE_ENGINE")
    assert BY_CURL.startswith("curl ")
    with serving(tmp_path) as (_, address):
        line = BY_CURL.replace("localhost:8765", f"127.0.0.1:{urlsplit(address).port}")
        with _running(line, tmp_path) as printed:
            assert printed.readline() == "retry: 2000\n"
            assert "event: state\n" in iter(printed.readline, "")


def test_tail_follows_the_events_of_a_run(run: Path, tmp_path: Path) -> None:
    assert BY_TAIL.startswith("tail ")
    with _running(BY_TAIL, tmp_path) as printed:
        assert printed.readline() == f"{EVENT}\n"
        with run.open("a", encoding="utf-8") as file:
            file.write("more\n")
        assert printed.readline() == "more\n"
