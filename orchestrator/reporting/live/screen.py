"""A view of a run that stays in place on a terminal and costs next to nothing while measurements run."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from orchestrator.domain import Status
from orchestrator.events import BuildFinished, Event, Notice, RepeatFinished
from orchestrator.reporting.live.eta import left_s
from orchestrator.reporting.live.grid import NARROW, RememberedGrid, grid, shortened
from orchestrator.reporting.live.logs import last_line, newest_log
from orchestrator.reporting.live.plain import ended, line, transferred
from orchestrator.reporting.live.progress import Progress, advance
from orchestrator.reporting.live.unlaunched import Unlaunched
from orchestrator.wording import clean_line, counted, rate, seconds

REFRESH_HZ = 1.0
"""Redrawing any faster would take time from what is being measured on the same CPUs."""
_MOST_LINES = 6
_MOST_ROWS = 30
"""Rows of the grid, on however high a screen."""
_LEFT_FREE = 3
"""Lines of a screen for what has ended above the view, and for the legend of the grid."""
_BAR_WIDTH = 16
_LEAST_ID = 8


@dataclass(frozen=True, slots=True)
class Screen:
    """The terminal that a view is drawn for."""

    width: int = 80
    height: int = 24
    ascii_only: bool = False
    """True if it can show no other characters."""


class LiveView:
    """A listener and a context manager: inside it the view is drawn, at `REFRESH_HZ` however many events come.

    What ended is printed above the view and stays; repeats that end without a launch are counted, and told at the end,
    a line for each reason. `clock` is in seconds and only runs forward (`time.monotonic`).
    """

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._progress = Progress()
        self._unlaunched = Unlaunched()
        self._grid = RememberedGrid()
        self._lock = threading.Lock()
        self._live = Live(
            console=console, refresh_per_second=REFRESH_HZ, transient=True, get_renderable=self._view,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip

    def __enter__(self) -> "LiveView":
        """Begin to draw."""
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the view away, and leave what was printed above it."""
        self._live.stop()
        for status, text in self._unlaunched.lines():
            self._console.print(Text(text, style=_style(status)))

    def __call__(self, event: Event) -> None:
        """Take in an event, from any thread."""
        with self._lock:
            self._progress = advance(self._progress, event, self._clock())
            if self._unlaunched.takes(event):
                return
        if isinstance(event, RepeatFinished):
            style = _style(event.outcome.status, disturbed=bool(event.outcome.disturbance))
            self._console.print(Text(ended(event), style=style))
        elif isinstance(event, Notice | BuildFinished):
            self._console.print(Text(line(event, 0), style="dim"))

    def _view(self) -> RenderableType:
        now, size = self._progress, self._console.size
        screen = Screen(size.width, size.height, ascii_only=not self._console.encoding.startswith("utf"))
        return view(now, self._clock(), screen, last_line(newest_log(now)), self._grid)


def _style(status: Status, *, disturbed: bool = False) -> str:
    if status.is_failure:
        return "red"
    return "" if status is Status.OK and not disturbed else "yellow"


def view(
    progress: Progress,
    now_s: float,
    screen: Screen = Screen(),
    log_line: str = "",
    draw_grid: Callable[..., list[RenderableType]] = grid,
) -> RenderableType:
    """Draw a progress: the grid, what is under way, the last line of its log, disturbances, counts and time to go."""
    below = [
        *_under_way(progress, now_s, screen.width),
        *_log(log_line),
        *_disturbances(progress),
        *_transfer(progress),
    ]
    if progress.planned:
        below.append(_bar(progress, now_s, screen.width))
    rows = min(_MOST_ROWS, screen.height - len(below) - _LEFT_FREE)
    return Group(*draw_grid(progress, screen.width, rows, ascii_only=screen.ascii_only), *below)


def _under_way(progress: Progress, now_s: float, width: int) -> list[RenderableType]:
    building, running = progress.building, progress.running
    lines = [*(f"building {item.image}, {seconds(now_s - item.started_s)}" for item in building[:_MOST_LINES])]
    for item in running[:_MOST_LINES]:
        doing = f" repeat {item.repeat}: {item.phase}, {seconds(now_s - item.started_s)}"
        lines.append(f"{shortened(clean_line(item.cell_id), max(_LEAST_ID, width - len(doing)))}{doing}")
    hidden = max(0, len(building) - _MOST_LINES) + max(0, len(running) - _MOST_LINES)
    waiting = len(progress.durations.images_s) - len(building)
    if building and waiting > 0:
        lines.append(f"{counted(waiting, 'more image')} to provide")
    return [*map(_line, lines), *([_line(f"and {hidden} more")] if hidden else [])]


def _log(log_line: str) -> list[RenderableType]:
    return [Text(f"  {log_line}", style="dim", overflow="ellipsis", no_wrap=True)] if log_line else []


def _disturbances(progress: Progress) -> list[RenderableType]:
    last = progress.disturbance
    if last is None:
        return []
    text = f"disturbed: {last.disturbance}, in {last.cell_id} repeat {last.repeat}"
    return [Text(clean_line(text), style="yellow", overflow="ellipsis", no_wrap=True)]


def _transfer(progress: Progress) -> list[RenderableType]:
    moved = progress.transfer
    return [_line(f"{moved.what}: {transferred(moved.done_bytes, moved.total_bytes)}")] if moved else []


def _bar(progress: Progress, now_s: float, width: int) -> RenderableType:
    """Draw counts and time to go. On a narrow screen the less important ones give way."""
    left = left_s(progress, now_s)
    parts = [f"{progress.done}/{progress.planned}"]
    parts += [f"about {seconds(max(0.0, left))} left"] if left is not None else []
    parts += [f"{progress.failed} failed"] if progress.failed else []
    parts += [f"{progress.ok} ok"]
    parts += [f"{progress.disturbed} disturbed"] if progress.disturbed else []
    parts += [f"{progress.other} not measured"] if progress.other else []
    parts += [f"{len(progress.running)} running"] if progress.running else []
    parts += [f"{rate(progress.throughput)} {progress.counts}s/s"] if progress.throughput else []
    drawn = width >= NARROW
    room = width - (_BAR_WIDTH + 1 if drawn else 0)
    while len(parts) > 1 and len(" · ".join(parts)) > room:
        parts.pop()
    text = Text(" · ".join(parts), no_wrap=True, overflow="ellipsis")
    if not drawn:
        return text
    row = Table.grid(padding=(0, 1))
    row.add_row(ProgressBar(total=progress.planned, completed=progress.done, width=_BAR_WIDTH), text)
    return row


def _line(text: str) -> Text:
    return Text(clean_line(text), overflow="ellipsis", no_wrap=True)
