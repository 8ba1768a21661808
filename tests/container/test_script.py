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
def test_the_number_is_the_named_group_or_the_only_one_or_the_match(pattern: str, values: list[float] | None) -> None:
    said = found(pattern, "speed 1", "nothing", "speed 2 speed 3")

    assert said["values"] == (values or [])
    assert bool(said["problem"]) == (values is None)


@pytest.mark.parametrize(("take", "values"), [("all", [1.0, 2.0, 3.0]), ("first", [1.0]), ("last", [3.0])])
def test_the_matches_that_count_are_those_asked_for_and_all_are_counted(take: str, values: list[float]) -> None:
    assert found(r"(\d)", "1", "2 3", take=take) == {"values": values, "matches": 3, "problem": None}


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "fast"])
def test_what_is_no_finite_number_is_a_problem_and_no_value(text: str) -> None:
    said = found("= (.*)", "= 1", f"= {text}")

    assert said["problem"] == f"matched {text!r}, which is no finite number"


def test_a_pattern_that_takes_forever_is_given_up_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(script, "MATCHING_S", 0.2)
        begin = time.perf_counter()

        said = found("(a+)+$", "a" * 60 + "b", "a")

    assert time.perf_counter() - begin < 120  # it would match for years
    assert said == {"values": [], "matches": 0, "problem": "took more than 0.2 s to match"}
    assert found("(b)|1", "1")["matches"] == 0
    assert found("(1)", "1")["values"] == [1.0]


def test_a_pattern_that_this_python_does_not_take_is_a_bad_request() -> None:
    with pytest.raises(BadRequest, match="metric 'speed': this Python takes no pattern"):
        found("(")


def test_lines_end_at_newlines_carriage_returns_and_the_end_wherever_the_chunks_are_cut() -> None:
    assert split(b"one\ntw", b"o\rthree\r\nfo", b"ur") == ["one", "two", "three", "four"]
    assert split(b"\xff\n") == ["\ufffd"]


def test_a_line_without_end_is_cut_and_the_rest_of_it_passed_over() -> None:
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
def test_what_a_process_of_ours_has_started_does_not_outlive_it(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
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
