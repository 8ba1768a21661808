"""Reading figures from what a script prints: line by line, whatever the lines and the patterns are."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from container_support import document

from benchmarks.errors import BadRequest
from benchmarks.modes import script
from orchestrator.resources import ROOT
from tests.until import has_ended, until


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """The handler that the runner sets around a script."""
    before = signal.signal(signal.SIGALRM, script._too_long)
    yield
    signal.signal(signal.SIGALRM, before)


def found(pattern: str, *lines: str, take: str = "all") -> dict[str, object]:
    reader = script.Reader("speed", pattern, take)
    for line in lines:
        reader.read(line)
    values: dict[str, object] = reader.result()
    return values


def split(*chunks: bytes) -> list[str]:
    lines = script.Lines()
    return [line for chunk in (*chunks, b"") for line in lines.split(chunk)]


@pytest.mark.parametrize(
    ("pattern", "values"),
    [
        (r"speed (\d+)", [1.0, 2.0, 3.0]),
        (r"speed \d+", None),
        (r"(speed) (?P<value>\d+)", [1.0, 2.0, 3.0]),
        (r"\d+", [1.0, 2.0, 3.0]),
    ],
)
def test_number_comes_from_group_or_match(pattern: str, values: list[float] | None) -> None:
    """The number is the named group, or the only one, or the whole match."""
    said = found(pattern, "speed 1", "nothing", "speed 2 speed 3")

    assert said["values"] == (values or [])
    assert bool(said["problem"]) == (values is None)


@pytest.mark.parametrize(("take", "values"), [("all", [1.0, 2.0, 3.0]), ("first", [1.0]), ("last", [3.0])])
def test_only_requested_matches_give_values(take: str, values: list[float]) -> None:
    """The matches that count are those asked for, and all matches are counted."""
    assert found(r"(\d)", "1", "2 3", take=take) == {"values": values, "matches": 3, "problem": None}


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "fast"])
def test_matched_text_must_be_a_finite_number(text: str) -> None:
    """A match that is no finite number is a problem and no value."""
    said = found("= (.*)", "= 1", f"= {text}")

    assert said["problem"] == f"matched {text!r}, which is no finite number"


def test_endless_pattern_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that takes forever is given up, and the others go on."""
    with monkeypatch.context() as hurried:
        hurried.setattr(script, "MATCHING_S", 0.2)
        begin = time.perf_counter()

        said = found("(a+)+$", "a" * 60 + "b", "a")

    assert time.perf_counter() - begin < 120  # it would match for years
    assert said == {"values": [], "matches": 0, "problem": "took more than 0.2 s to match"}
    assert found("(b)|1", "1")["matches"] == 0
    assert found("(1)", "1")["values"] == [1.0]


def test_invalid_pattern_is_a_bad_request() -> None:
    """A pattern that this Python does not take is a bad request."""
    with pytest.raises(BadRequest, match="metric 'speed': this Python takes no pattern"):
        found("(")


def test_lines_end_alike_however_chunks_are_cut() -> None:
    """Lines end at newlines, carriage returns and the end, wherever the chunks are cut."""
    assert split(b"one\ntw", b"o\rthree\r\nfo", b"ur") == ["one", "two", "three", "four"]
    assert split(b"\xff\n") == ["\ufffd"]


def test_endless_line_is_cut_and_passed_over() -> None:
    """A line without end is cut, and the rest of it is passed over."""
    long = b"x" * (script.LINE_BYTES + 10)

    assert split(long + b"\nnext\n") == ["x" * script.LINE_BYTES, "next"]
    assert split(*[long] * 3, b"tail\nnext") == ["x" * script.LINE_BYTES, "next"]


HANGING = "import os, signal\nprint(os.getpid(), flush=True)\nsignal.pause()\n"
PARITY = """
import os, signal
from benchmarks.parity import forked

def hang(request, enter):
    os.write(1, b"%d\\n" % os.getpid())
    signal.pause()

forked.in_a_process(hang, None, None)
"""


def script_command(folder: Path) -> list[str]:
    (folder / "hang.py").write_text(HANGING)
    asked = {"folder": str(folder), "file": "hang.py", "arguments": [], "environment": {}, "metrics": []}
    (folder / "request.json").write_text(json.dumps(document(mode="script", script=asked)))
    return ["-m", "benchmarks.run", "--io", str(folder)]


@pytest.mark.parametrize("command", [script_command, lambda _: ["-c", PARITY]], ids=["script", "parity"])
def test_processes_end_with_the_one_that_started_them(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A process that one of ours has started does not outlive it."""
    with subprocess.Popen([sys.executable, *command(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            assert child != process.pid
            assert not has_ended(child)
            process.kill()
            process.wait()
            until(lambda: has_ended(child))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
