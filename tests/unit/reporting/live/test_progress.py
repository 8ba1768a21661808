import io
from typing import get_args

import pytest
from rich.console import Console

from orchestrator.domain import Outcome, Status
from orchestrator.events import (
    BuildFinished,
    BuildStarted,
    Event,
    Notice,
    PhaseChanged,
    RepeatFinished,
    RepeatStarted,
    RunStarted,
    Transferred,
)
from orchestrator.reporting.live.eta import left_s
from orchestrator.reporting.live.plain import PlainView, line
from orchestrator.reporting.live.progress import Progress, advance
from orchestrator.reporting.live.screen import LiveView, view

CELL = "mxnet-1.9.1-cpu/lenet-train-b200"
EVENTS: list[Event] = [
    BuildStarted("bench/mxnet:1.9.1-cpu", "builds/mxnet.txt"),
    BuildFinished("bench/mxnet:1.9.1-cpu", 61.5),
    BuildFinished("bench/noop:1-cpu", 0.1, cached=True),
    BuildFinished("bench/torch:2-cpu", 3.0, reason="no matching\ndistribution\x1b[31m"),
    BuildFinished("bench/jax:0-cpu", 4.0, reason="stopped", stopped=True),
    RunStarted(3, done=1),
    RepeatStarted(CELL, 0, 1),
    PhaseChanged(CELL, 0, "steady"),
    RepeatFinished(Outcome(CELL, 0, Status.OK, wall_s=12.5), 13_402.0),
    RepeatStarted(CELL, 1, 2),
    RepeatFinished(Outcome(CELL, 1, Status.TIMEOUT, "no result within 600 s", wall_s=600.0)),
    Notice("engine is busy"),
    Transferred("verified", 1_230_000_000, 4_000_000_000),
    Transferred("packed", 256_000_000, None),
]


def test_plain_lines_tell_a_run() -> None:
    stream = io.StringIO()
    listen = PlainView(stream.write)
    for event in EVENTS:
        listen(event)

    assert stream.getvalue() == (
        "building bench/mxnet:1.9.1-cpu (log: builds/mxnet.txt)\n"
        "built bench/mxnet:1.9.1-cpu in 61.5 s\n"
        "image bench/noop:1-cpu was there already\n"
        "build failed: bench/torch:2-cpu: no matching distribution\n"
        "build stopped: bench/jax:0-cpu\n"
        "3 repeats to measure, 1 done before\n"
        f"[1/3] {CELL} repeat 0\n"
        f"  {CELL} repeat 0: ok, 13,402 samples/s, 12.5 s\n"
        f"[2/3] {CELL} repeat 1\n"
        f"  {CELL} repeat 1: timeout, 10 min 0 s: no result within 600 s\n"
        "note: engine is busy\n"
        "verified: 1,230 of 4,000 MB\n"
        "packed: 256 MB\n"
    )


@pytest.mark.parametrize("kind", get_args(Event))
def test_every_kind_of_event_takes_one_line(kind: type) -> None:
    """Every kind of event is tried and is at most one line."""
    events = [event for event in EVENTS if isinstance(event, kind)]

    assert events
    assert all("\n" not in line(event, 3) for event in events)


def progress(events: list[Event]) -> Progress:
    now = Progress()
    for second, event in enumerate(events):
        now = advance(now, event, float(10 * second))
    return now


def test_progress_counts_ended_and_running_repeats() -> None:
    """Progress counts what ended and what is under way."""
    middle, end = progress(EVENTS[:8]), progress(EVENTS)

    assert [(item.cell_id, item.repeat, item.phase, item.started_s) for item in middle.running] == [
        (CELL, 0, "steady", 60)
    ]
    assert (middle.done, left_s(middle, 100.0)) == (0, None)
    assert (end.ok, end.failed, end.done, end.planned, end.built, end.running) == (1, 1, 2, 3, 1, ())
    assert end.measuring_s == 60
    assert left_s(end, 110.0) == pytest.approx(left_of(end, taken_s=(20.0, 10.0), since_launch_s=50.0))


def left_of(end: Progress, *, taken_s: tuple[float, ...], since_launch_s: float) -> float:
    """Return what is left by the mean of what was launched, and the time between launches."""
    return (end.planned - end.done) * sum(taken_s) / len(taken_s) * since_launch_s / sum(taken_s)


def test_parallel_repeats_end_in_any_order() -> None:
    found = progress(
        [
            RunStarted(2),
            RepeatStarted("a", 0, 1),
            RepeatStarted("b", 0, 2),
            RepeatStarted("b", 1, 3),
            PhaseChanged("a", 0, "steady"),
            RepeatFinished(Outcome("b", 0, Status.OK)),
        ]
    )

    assert [(item.cell_id, item.phase) for item in found.running] == [("a", "steady"), ("b", "create")]


def test_repeats_without_device_count_apart() -> None:
    """Repeats without a device are neither ok nor failed and do not shorten the wait."""
    found = progress(
        [
            RunStarted(4),
            RepeatFinished(Outcome("gpu", 0, Status.NO_DEVICE, "no GPU")),
            RepeatFinished(Outcome("a", 0, Status.OK)),
        ]
    )

    assert (found.ok, found.failed, found.other) == (1, 0, 1)
    assert left_s(found, 20.0) is None, "nothing was launched, and nothing was expected"


def test_view_shows_the_state_of_a_run() -> None:
    """The view shows builds, the phase, counts, the rate and the time to go."""
    console = Console(width=100, file=io.StringIO(), no_color=True, force_terminal=False)
    shown = advance(progress([*EVENTS, RepeatStarted(CELL, 2, 3)]), BuildStarted("bench/late:1", ""), 120.0)
    shown = advance(shown, PhaseChanged(CELL, 2, "first_step"), 121.0)
    console.print(view(shown, 125.0))

    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    for part in ("building bench/late:1, 5.00 s", f"{CELL} repeat 2: first_step", "2/3", "1 ok", "1 failed", "left"):
        assert part in text


UNLAUNCHED = [
    RunStarted(902),
    *(
        RepeatFinished(Outcome(f"noop-1-cpu/c{n % 150}", n // 150, Status.NOT_RUN, "stopped", attempts=0))
        for n in range(900)
    ),
    RepeatFinished(Outcome(CELL, 0, Status.BUILD_FAILED, "no matching\ndistribution", attempts=0)),
    RepeatFinished(Outcome(CELL, 1, Status.BUILD_FAILED, "no matching\ndistribution", attempts=0)),
]
COUNTED = ["900 repeats of 150 cells: not_run: stopped", f"2 repeats of {CELL}: build_failed: no matching distribution"]


def test_plain_lines_count_what_was_never_launched() -> None:
    lines: list[str] = []
    listen = PlainView(lines.append)
    for event in UNLAUNCHED:
        listen(event)
    listen.close()
    listen.close()

    assert lines == ["902 repeats to measure\n", *(f"{line}\n" for line in COUNTED)]


def test_the_live_view_counts_what_was_never_launched() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None, width=100)
    with LiveView(console, lambda: 0.0) as listen:
        for event in UNLAUNCHED:
            listen(event)

    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert [shown.count(line) for line in COUNTED] == [1, 1]
    assert shown.count("stopped") == 1


def test_view_stays_small_with_many_repeats() -> None:
    """The view stays small, however much runs at once."""
    console = Console(width=80, file=io.StringIO(), no_color=True)
    console.print(view(progress([RunStarted(99), *(RepeatStarted(f"cell {n}", 0, n) for n in range(40))]), 0.0))

    assert isinstance(console.file, io.StringIO)
    assert len(console.file.getvalue().splitlines()) == 8
    assert "and 34 more" in console.file.getvalue()


def test_live_view_prints_endings_and_disappears() -> None:
    """The live view prints what ended above itself and takes itself away at the end."""
    stream = io.StringIO()
    console = Console(width=100, file=stream, force_terminal=True, no_color=True, legacy_windows=False)
    with LiveView(console, lambda: 0.0) as listen:
        for event in EVENTS:
            listen(event)

    text = stream.getvalue()
    assert f"{CELL} repeat 1: timeout, 10 min 0 s: no result within 600 s" in text
    assert "build failed: bench/torch:2-cpu" in text
    assert "build stopped: bench/jax:0-cpu" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1


def test_a_disturbed_repeat_is_counted_and_coloured() -> None:
    disturbed = Outcome(CELL, 0, Status.OK, wall_s=12.5, disturbance="others used 0.7 of its 2 CPUs")
    console = Console(file=io.StringIO(), width=140, force_terminal=True, color_system="standard")

    with LiveView(console, lambda: 0.0) as listen:
        listen(RunStarted(3))
        listen(RepeatFinished(disturbed, 13_402.0))
        listen(RepeatFinished(Outcome(CELL, 1, Status.OK, wall_s=12.5), 13_402.0))
        console.print(view(listen._progress, 1.0))

    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "2 ok · 1 disturbed" in shown
    assert shown.count("\x1b[33m" + CELL) == 1
