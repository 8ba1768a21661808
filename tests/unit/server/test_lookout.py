"""Runs under way, as their folders tell it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.domain import Outcome, Status
from orchestrator.events import (
    BuildFinished,
    BuildStarted,
    CellToRun,
    ImageToMake,
    Listener,
    Notice,
    PhaseChanged,
    RepeatFinished,
    RepeatStarted,
    RunStarted,
    Transferred,
    ignore,
)
from orchestrator.reporting.live.recorded import recorded
from orchestrator.results.names import EVENTS
from orchestrator.server.lookout import Lookout

ONE, TWO = "noop-1-cpu/mlp-train-b32", "noop-1-cpu/lenet-train-b200"
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202e"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STARTED = RunStarted(
    planned=4, cells=(CellToRun(ONE, ("", ""), 10.0), CellToRun(TWO, ("", ""), 10.0)), images=(ImageToMake("bench/a"),)
)
Begin = Callable[[str], Listener]
Watching = Callable[[Path], Lookout]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Begin a run whose events come a second apart, and which lives as long as the test."""
    with ExitStack() as alive:

        def begun(name: str) -> Listener:
            folder = tmp_path / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "run.json").touch()
            moments = iter(START + timedelta(seconds=number) for number in range(10_000))
            return alive.enter_context(recorded(folder, ignore, lambda: next(moments)))

        yield begun


@pytest.fixture
def watching() -> Iterator[Watching]:
    """Make lookouts that are closed at the end."""
    with ExitStack() as open_ones:
        yield lambda folder: open_ones.enter_context(closing(Lookout(folder)))


def look(lookout: Lookout, after_s: float = 0.0) -> dict[str, dict[str, Any]]:
    """Return what is shown after one look."""
    lookout._search_at_s = 0.0
    lookout.look(START.timestamp() + after_s)
    return {each.run: {**each.head, "cells": each.cells} for each in lookout.states}


def test_an_empty_folder_shows_nothing(tmp_path: Path, watching: Watching) -> None:
    assert look(watching(tmp_path)) == look(watching(tmp_path / "none")) == {}


def test_every_run_under_way_is_shown(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    """Also one of a part of a run on a cluster, and one of a search; a run that ended before is none."""
    lookout = watching(tmp_path)
    assert look(lookout) == {}
    for name in ("20260101T000000Z-0001", "20260101T000000Z-0002/parts/003/node7", "bisect-1/20260101T000000Z-0003"):
        begin(name)(STARTED)
    (tmp_path / "over").mkdir()
    with recorded(tmp_path / "over", ignore, lambda: START) as tell:
        tell(STARTED)

    assert set(look(lookout)) == {
        "20260101T000000Z-0001", "20260101T000000Z-0002/parts/003/node7", "bisect-1/20260101T000000Z-0003",
    }  # fmt: skip


def test_repeats_builds_and_counts_are_told(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    tell = begin("run")
    for event in (STARTED, BuildStarted("bench/a", "elsewhere/builds/a.log"), Transferred("pull", 5, 10)):
        tell(event)
    (tmp_path / "run" / "builds").mkdir()
    (tmp_path / "run" / "builds" / "a.log").write_text("Step 1/4 : FROM x\nStep 2/4 : RUN pip install y\nfetching\n")
    lookout = watching(tmp_path)
    building = look(lookout, 10)["run"]
    assert building["building"] == [
        {"image": "bench/a", "since": START.timestamp() + 1, "step": [2, 4, "RUN pip install y"], "log": "fetching"}
    ]
    assert building["transfer"] == {"what": "pull", "done": 5, "total": 10}

    for event in (
        BuildFinished("bench/a", 3.0), RepeatStarted(ONE, 0, 1, "x"),
        RepeatFinished(Outcome(ONE, 0, Status.OK, disturbance="others used 1 CPU"), 123.0, counts="token"),
        RepeatStarted(TWO, 1, 2, "x"), Notice("this host is not idle"),
    ):  # fmt: skip
        tell(event)
    place = tmp_path / "run" / TWO / "1"
    place.mkdir(parents=True)
    (place / "phase").write_text("steady\n")
    (place / "log.txt").write_text("loading\r10 %\r20 %\n\n")
    shown = look(lookout, 20)["run"]

    assert shown["running"] == [
        {"cell": TWO, "repeat": 1, "since": START.timestamp() + 6, "phase": "steady", "log": "20 %"}
    ]
    assert shown["cells"] == {ONE: [["disturbed", ""], 123.0, "token"], TWO: [["", ""], None, ""]}
    assert (shown["planned"], shown["ok"], shown["disturbed"], shown["over"]) == (4, 1, 1, "")
    assert shown["disturbance"]["text"] == "others used 1 CPU"
    assert shown["notice"] == "this host is not idle"
    assert shown["ends"] > START.timestamp() + 20


def test_only_what_is_new_is_told(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    tell = begin("run")
    tell(STARTED)
    lookout = watching(tmp_path)
    (first,) = lookout.look(START.timestamp())[0]
    assert (first.whole, set(first.cells)) == (True, {ONE, TWO})

    assert lookout.look(START.timestamp() + 0.5) == ([], [])
    tell(RepeatStarted(ONE, 0, 1))
    tell(RepeatFinished(Outcome(ONE, 0, Status.OK), 5.0))
    (second,) = lookout.look(START.timestamp() + 1)[0]
    assert (second.whole, second.cells) == (False, {ONE: [["ok", ""], 5.0, "sample"]})


def test_a_plan_that_grows_is_told_whole(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    tell = begin("run")
    tell(STARTED)
    lookout = watching(tmp_path)
    look(lookout)
    tell(RunStarted(planned=2, done=4, cells=(*STARTED.cells, CellToRun("noop-1-cpu/new", ("", "")))))

    (change,) = lookout.look(START.timestamp() + 1)[0]
    assert (change.whole, len(change.cells)) == (True, 3)


@pytest.mark.parametrize(("planned", "over"), [(0, "ended"), (4, "stopped")])
def test_a_run_that_is_over_is_told(tmp_path: Path, watching: Watching, planned: int, over: str) -> None:
    lookout = watching(tmp_path)
    (tmp_path / "run").mkdir()
    with recorded(tmp_path / "run", ignore, lambda: START) as tell:
        tell(RunStarted(planned=planned))
        tell(RepeatStarted(ONE, 0, 1))
        assert look(lookout)["run"]["over"] == ""

    before = lookout.changes
    shown = look(lookout)["run"]
    assert (shown["over"], shown["running"]) == (over, [])
    assert lookout.changes > before


def test_a_run_that_is_resumed_begins_again(tmp_path: Path, watching: Watching) -> None:
    lookout = watching(tmp_path)
    (tmp_path / "run").mkdir()
    for planned in (4, 2):
        with recorded(tmp_path / "run", ignore, lambda: START) as tell:
            tell(RunStarted(planned=planned))
            shown = look(lookout)["run"]
            assert (shown["planned"], shown["over"]) == (planned, "")
        assert look(lookout)["run"]["over"] == "stopped"


def test_a_run_that_has_gone_is_forgotten(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    import shutil

    begin("run")(STARTED)
    lookout = watching(tmp_path)
    assert set(look(lookout)) == {"run"}
    shutil.rmtree(tmp_path / "run")

    assert look(lookout) == {}


def test_few_ended_runs_are_kept(tmp_path: Path, watching: Watching) -> None:
    lookout = watching(tmp_path)
    gone = []
    for number in range(12):
        (tmp_path / f"run-{number}").mkdir()
        with recorded(tmp_path / f"run-{number}", ignore, lambda: START) as tell:
            tell(STARTED)
            look(lookout)
        gone += lookout.look(START.timestamp())[1]

    assert gone == [f"run-{number}" for number in range(4)]
    assert len(lookout.states) == 8


def test_hostile_texts_are_clean_and_short(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    tell = begin("run")
    tell(RunStarted(planned=1, cells=(CellToRun(HOSTILE, ("",)),)))
    tell(RepeatFinished(Outcome(HOSTILE, 0, Status.FAILED, HOSTILE * 100), 5.0, counts=HOSTILE))
    tell(Notice(HOSTILE))
    shown = look(watching(tmp_path))["run"]

    assert shown["notice"] == "<img src=x onerror=alert(1)>"
    assert shown["cells"][HOSTILE][1:] == [5.0, "<img src=x onerror=alert(1)>"]
    assert len(shown["failure"]["text"]) == 300
    assert "\x1b" not in str(shown)
    assert "\u202e" not in shown["failure"]["text"]


def test_no_log_from_elsewhere_is_read(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    """A run may name any file, and put links in the place of folders."""
    tell = begin("run")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "log.txt").write_text("what nobody may read")
    (tmp_path / "run" / "noop").mkdir()
    (tmp_path / "run" / "noop" / "cell").symlink_to(secret.parent)
    (tmp_path / "run" / "builds").symlink_to(secret)
    tell(RunStarted(planned=9))
    tell(BuildStarted("a", str(secret / "log.txt")))
    for cell in ("../secret/..", "../secret", str(secret), "noop/cell/secret"):
        tell(RepeatStarted(cell, 0, 1, str(secret / "log.txt")))
    (secret / "0").symlink_to(secret)

    shown = look(watching(tmp_path))["run"]
    assert len(shown["running"]) == 4
    assert [each["log"] for each in (*shown["running"], *shown["building"])] == [""] * 5


def _ended(**values: object) -> bytes:
    outcome = {"cell_id": ONE, "repeat": -9, "status": "ok"}
    line = {"event": "repeat_finished", "at": "2026-01-01T00:00:00Z", "outcome": outcome, "throughput": 1}
    return json.dumps(line | values).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\xff\xfe", b"null", b"[]", b'"x"', b'{"event": "notice"}', b'{"event": [], "at": 1}', b"[" * 100_000,
        b'{"event": "phase", "at": "x"}', b'{"event": "notice", "at": "0001-01-01T00:00:00+14:00", "message": "x"}',
        _ended(), _ended(throughput=float("inf")), _ended(outcome=[]),
    ],
    ids=lambda line: line[:30],
)  # fmt: skip
def test_lines_of_others_do_no_harm(tmp_path: Path, watching: Watching, begin: Begin, line: bytes) -> None:
    tell = begin("run")
    tell(STARTED)
    with (tmp_path / "run" / EVENTS).open("ab") as file:
        file.write(line + b"\n")
    tell(Notice("still here"))

    assert look(watching(tmp_path))["run"]["notice"] == "still here"


def test_half_a_line_waits_for_its_end(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    tell = begin("run")
    tell(STARTED)
    lookout = watching(tmp_path)
    whole = b'{"event":"notice","at":"2026-01-02T03:04:06Z","message":"whole"}\n'
    for part, notice in ((whole[:20], ""), (whole[20:], "whole")):
        with (tmp_path / "run" / EVENTS).open("ab") as file:
            file.write(part)
        assert look(lookout)["run"]["notice"] == notice


def test_early_runs_time_nothing(tmp_path: Path, watching: Watching, begin: Begin) -> None:
    tell = begin("run")
    tell(STARTED)
    tell(RepeatStarted(ONE, 0, 1))
    lookout = watching(tmp_path)
    place = tmp_path / "run" / ONE / "0"
    place.mkdir(parents=True)
    for phase, is_early in (("import", True), ("warmup", False), ("steady", False), ("latency", False)):
        (place / "phase").write_text(phase)
        look(lookout)
        assert (lookout.early == {"run"}) is is_early


def test_phases_are_not_written_by_the_run(tmp_path: Path, begin: Begin) -> None:
    """Nothing is written while a repeat is timed."""
    tell = begin("run")
    tell(STARTED)
    size = (tmp_path / "run" / EVENTS).stat().st_size
    tell(PhaseChanged(ONE, 0, "steady"))

    assert (tmp_path / "run" / EVENTS).stat().st_size == size
