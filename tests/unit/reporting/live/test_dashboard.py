"""The dashboard of a run on a terminal, at several widths, and the time that it says is left."""

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from orchestrator.domain import Outcome, Status
from orchestrator.events import (
    BuildFinished,
    BuildStarted,
    CellToRun,
    Event,
    ImageToMake,
    PhaseChanged,
    RepeatFinished,
    RepeatStarted,
    RunStarted,
)
from orchestrator.reporting.live.eta import left_s
from orchestrator.reporting.live.grid import MARKS, RememberedGrid
from orchestrator.reporting.live.logs import last_line, newest_log
from orchestrator.reporting.live.progress import Progress, advance
from orchestrator.reporting.live.screen import LiveView, Screen, view

GOLDEN = Path(__file__).parents[3] / "golden" / "live"
CELLS = (
    "mxnet-1.9.1-cpu/lenet-train-b200", "mxnet-1.9.1-cpu/lenet-train-b200-hybridize=false",
    "torch-2.13.0-cpu/lenet-train-b200", "torch-2.13.0-cpu/lenet-train-b200-compile=true",
    "keras-mxnet-2.2.4.3-on-mxnet-1.5.1-cpu/lenet-train-b200",
)  # fmt: skip
REPEATS = 6
WIDTHS = (36, 48, 60, 80, 120, 200)


def begin(*, repeats: int = REPEATS, expected_s: float | None = 12.0, cells: Sequence[str] = CELLS) -> RunStarted:
    rows = tuple(CellToRun(cell, ("",) * repeats, expected_s) for cell in cells)
    return RunStarted(planned=repeats * len(cells), cells=rows)


def ended(cell: str, repeat: int, status: Status = Status.OK, *, disturbance: str = "") -> list[Event]:
    reason = "" if status is Status.OK else "no result within 600 s"
    outcome = Outcome(cell, repeat, status, reason, wall_s=9.0, disturbance=disturbance)
    return [RepeatStarted(cell, repeat, 1), RepeatFinished(outcome, 13_402.0 if status is Status.OK else None)]


def progressed(events: Sequence[Event], step_s: float = 10.0) -> Progress:
    now = Progress()
    for number, event in enumerate(events):
        now = advance(now, event, number * step_s)
    return now


MIDDLE: list[Event] = [
    begin(),
    *(event for cell in CELLS[:4] for event in ended(cell, 0)),
    *ended(CELLS[4], 0, Status.TIMEOUT),
    *ended(CELLS[1], 1, disturbance="others used 0.7 of its 2 CPUs"),
    RepeatFinished(Outcome(CELLS[3], 1, Status.NO_DEVICE, "4_gpu needs 4 GPUs", attempts=0)),
    RepeatStarted(CELLS[2], 1, 8, "log.txt"),
    PhaseChanged(CELLS[2], 1, "steady"),
]


def drawn(progress: Progress, screen: Screen, log_line: str = "", now_s: float = 160.0) -> str:
    console = Console(width=screen.width, height=screen.height, file=io.StringIO(), color_system=None)
    console.print(view(progress, now_s, screen, log_line))
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize("width", WIDTHS)
def test_a_dashboard_is_the_golden_text(width: int) -> None:
    """A file that is missing is written, to be looked at and committed."""
    shown = drawn(progressed(MIDDLE), Screen(width, 24), "Epoch 3/10: loss 0.412")
    golden = GOLDEN / f"{width}.txt"
    if not golden.exists():
        golden.write_text(shown, encoding="utf-8")
        pytest.fail(f"{golden} was written; look at it")

    assert shown == golden.read_text(encoding="utf-8")
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("width", [20, 47, 48, 79, 300])
@pytest.mark.parametrize("height", [4, 10, 60])
@pytest.mark.parametrize("repeats", [1, 64, 500])
def test_no_line_is_broken_or_lost(width: int, height: int, repeats: int) -> None:
    """Whatever the terminal, the counts are there, and the view is no higher than it."""
    many = [f"{cell}-{number}" for cell in CELLS for number in range(30)]
    progress = progressed([begin(repeats=repeats, cells=many), RepeatStarted(many[77], 0, 1)])

    lines = drawn(progress, Screen(width, height)).splitlines()

    assert len(lines) <= max(height, 2)
    assert max(map(len, lines)) <= width
    assert lines[-1].strip().split()[-1]
    assert any(f"0/{150 * repeats}"[: width - 2] in line for line in lines)
    if width >= 48 and height >= 10:
        assert any("and" in line and "more cells" in line for line in lines)


def test_the_grid_prefers_what_matters() -> None:
    """A cell that runs and one that failed are shown, however many are complete."""
    cells = [f"noop-{number}-cpu/mlp-train-b32" for number in range(200)]
    complete = (event for cell in cells[:100] for event in ended(cell, 0))
    events = [begin(repeats=1, cells=cells), *complete, *ended(cells[150], 0, Status.FAILED)]
    progress = progressed([*events, RepeatStarted(cells[199], 0, 1)])

    shown = drawn(progress, Screen(80, 12))

    assert cells[150] in shown
    assert cells[199] in shown
    assert "100 complete" in shown


def test_an_unchanged_grid_is_drawn_once() -> None:
    """A run of ten thousand cells is looked at every second, next to what is measured."""
    draw, progress = RememberedGrid(), progressed(MIDDLE)
    first = draw(progress, 80, 10)
    again = draw(replace(progress, throughput=1.0), 80, 10)
    changed = draw(progressed([*MIDDLE, *ended(CELLS[0], 1)]), 80, 10)

    assert again is first
    assert changed is not first
    assert draw(progress, 60, 10) is not first


def test_every_state_has_a_mark_of_its_own() -> None:
    """Nobody needs to tell colors apart, in Unicode and in ASCII alike."""
    for place in (0, 1):
        marks = [mark[place] for mark in MARKS.values()]
        assert len(set(marks)) == len(marks)

    shown = drawn(progressed(MIDDLE), Screen(80, 24, ascii_only=True))

    assert not any(mark in shown for mark in "■▪▶✗")
    assert "#~...." in shown


def test_repeats_that_ended_before_are_marked() -> None:
    cell = CellToRun(CELLS[0], ("ok", "failed", ""), None)

    shown = drawn(progressed([RunStarted(1, 2, (cell,))]), Screen(80, 24))

    assert "■✗·" in shown


def test_a_run_on_a_cluster_has_no_grid() -> None:
    shown = drawn(progressed([RunStarted(12), *ended(CELLS[0], 0)]), Screen(80, 24))

    assert "■" not in shown
    assert "1/12" in shown


def test_time_to_go_is_expected_before_anything_ended() -> None:
    """Images that are still to be made, and repeats, each as it was expected."""
    images = (ImageToMake("bench/a:1", 60.0), ImageToMake("bench/b:1", 30.0))
    start = replace(begin(), images=images)

    assert left_s(progressed([start]), 0.0) == pytest.approx(90 + 30 * 12)
    assert left_s(progressed([start, BuildStarted("bench/a:1", "")]), 30.0) == pytest.approx(40 + 30 + 30 * 12)
    built = [start, BuildStarted("bench/a:1", ""), BuildFinished("bench/a:1", 20.0)]
    assert left_s(progressed(built), 20.0) == pytest.approx(20 + 30 * 12), "the other image as long as this one"
    cached = [*built, BuildFinished("bench/b:1", 0.1, cached=True)]
    assert left_s(progressed(cached), 20.0) == pytest.approx(30 * 12)


def test_time_to_go_follows_what_was_measured() -> None:
    """Half as long as expected in one cell is half as long in all."""
    two = [begin(repeats=2, cells=CELLS[:2]), *ended(CELLS[0], 0)]  # took 10 s from launch to end, 12 s were expected

    assert left_s(progressed(two), 20.0) == pytest.approx(10 + 2 * 10)
    assert left_s(progressed([begin(repeats=2, cells=CELLS[:2], expected_s=None), *ended(CELLS[0], 0)]), 20.0) == (
        pytest.approx(30.0)
    )


def test_time_between_repeats_counts() -> None:
    """Ten seconds of waiting after each repeat double the time that is left."""
    events = [begin(repeats=2, cells=CELLS[:1]), *ended(CELLS[0], 0)]

    assert left_s(progressed(events), 30.0) == pytest.approx(20.0)


def test_making_images_is_no_time_of_repeats() -> None:
    """An hour of builds before the first repeat says nothing of how long repeats take."""
    now = advance(Progress(), begin(repeats=2, cells=CELLS[:1], expected_s=None), 0.0)
    for event, at_s in zip(ended(CELLS[0], 0), (3600.0, 3610.0), strict=True):
        now = advance(now, event, at_s)

    assert left_s(now, 3610.0) == pytest.approx(10.0)


def test_nothing_known_is_no_time() -> None:
    assert left_s(progressed([begin(expected_s=None)]), 5.0) is None
    assert left_s(progressed([RunStarted(0)]), 5.0) == 0


@pytest.mark.parametrize(
    ("written", "line"),
    [
        (b"one\ntwo\n\n  \n", "two"),
        (b"10%\r50%\r100%\r", "100%"),
        (b"\x1b[31mred\x1b[0m \xff\n", "red \N{REPLACEMENT CHARACTER}"),
        (b"x" * 10_000 + b"\nlast", "last"),
        (b"", ""),
    ],
)
def test_the_last_line_of_a_log(written: bytes, line: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_bytes(written)

    assert last_line(str(tmp_path / "log.txt")) == line


def test_no_log_is_followed_or_waited_for(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")

    assert [last_line(str(tmp_path / name)) for name in ("link", "pipe", "missing", ".")] == [""] * 4
    assert last_line("") == ""


def test_the_newest_log_is_shown() -> None:
    events = [begin(), RepeatStarted(CELLS[0], 0, 1, "first"), RepeatStarted(CELLS[1], 0, 2, "second")]

    assert newest_log(progressed(events)) == "second"
    assert newest_log(progressed([begin()])) == ""


def test_a_live_view_reads_the_log(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("warming up\n")
    console = Console(width=100, height=30, file=io.StringIO(), force_terminal=True, color_system=None)
    with LiveView(console, lambda: 0.0) as listen:
        listen(begin())
        listen(RepeatStarted(CELLS[0], 0, 1, str(tmp_path / "log.txt")))
        listen._live.refresh()

    assert isinstance(console.file, io.StringIO)
    assert "warming up" in console.file.getvalue()
    assert "▶" in console.file.getvalue()


def test_looks_begin_the_counts_anew() -> None:
    """Until decided, a run begins again with each look, and its counts are of that look."""
    again = replace(begin(repeats=2, cells=CELLS[:1]), planned=1, done=1)
    progress = progressed([begin(repeats=1, cells=CELLS[:1]), *ended(CELLS[0], 0), again])

    assert (progress.done, progress.planned, progress.resumed) == (0, 1, 1)
