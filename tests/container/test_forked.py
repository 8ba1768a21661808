"""Work in forked processes, one after the other or several at once."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.errors import Unsupported
from benchmarks.parity import forked


def test_answers_come_in_the_order_of_the_works() -> None:
    """The first work ends only after the second one, which runs at the same time."""
    reading, writing = os.pipe()

    def first(_request: object, _enter: object) -> str:
        return os.read(reading, 1).decode()

    def second(_request: object, _enter: object) -> str:
        os.write(writing, b"1")
        return "2"

    assert forked.in_processes([first, second, lambda *_: "3"], None, None, 2) == ["1", "2", "3"]


def test_next_work_begins_after_the_last_ended(tmp_path: Path) -> None:
    """With one process at a time, a work begins after the last one has ended."""
    log = tmp_path / "log"

    def work(_request: object, _enter: object) -> None:
        with log.open("a") as file:
            file.write(f"{os.getpid()} begins\n")
            file.flush()
            file.write(f"{os.getpid()} ends\n")

    forked.in_processes([work] * 3, None, None, 1)

    lines = [line.split() for line in log.read_text().splitlines()]
    assert [what for _, what in lines] == ["begins", "ends"] * 3
    assert len({process for process, _ in lines}) == 3


def test_a_failure_ends_what_still_runs(tmp_path: Path) -> None:
    reading, writing = os.pipe()

    def refuse(_request: object, _enter: object) -> None:
        os.read(reading, 1)
        raise Unsupported("no such layer")

    def hang(_request: object, _enter: object) -> None:
        (tmp_path / "process").write_text(str(os.getpid()))
        os.write(writing, b"1")
        signal.pause()

    with pytest.raises(Unsupported, match="no such layer"):
        forked.in_processes([refuse, hang], SimpleNamespace(gpus=0), None, 2)

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "process").read_text()), 0)
