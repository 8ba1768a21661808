"""A view of a run that stays in place on a terminal and costs next to nothing while measurements run."""

import threading
from collections.abc import Callable
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from orchestrator.domain import Status
from orchestrator.events import BuildFinished, Event, Notice, RepeatFinished
from orchestrator.reporting.live.plain import ended, line, transferred
from orchestrator.reporting.live.progress import Progress, advance
from orchestrator.reporting.live.unlaunched import Unlaunched
from orchestrator.wording import clean_line, rate, seconds

REFRESH_HZ = 1.0
"""Redrawing any faster would take time from what is being measured on the same CPUs."""
_MOST_LINES = 6


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
        return view(self._progress, self._clock())


def _style(status: Status, *, disturbed: bool = False) -> str:
    if status.is_failure:
        return "red"
    return "" if status is Status.OK and not disturbed else "yellow"


def view(progress: Progress, now_s: float) -> RenderableType:
    """Draw a progress with builds, running repeats and their phases, counts, rate and time to go."""
    lines: list[RenderableType] = [
        *(_line(f"building {image}, {seconds(now_s - began_s)}") for image, began_s in progress.building[:_MOST_LINES]),
        *(
            _line(f"{item.cell_id} repeat {item.repeat}: {item.phase}, {seconds(now_s - item.started_s)}")
            for item in progress.running[:_MOST_LINES]
        ),
    ]
    hidden = max(0, len(progress.building) - _MOST_LINES) + max(0, len(progress.running) - _MOST_LINES)
    if hidden:
        lines.append(_line(f"and {hidden} more"))
    if progress.transfer:
        moved = progress.transfer
        lines.append(_line(f"{moved.what}: {transferred(moved.done_bytes, moved.total_bytes)}"))
    if progress.planned:
        lines.append(_bar(progress, now_s))
    return Group(*lines)


def _bar(progress: Progress, now_s: float) -> RenderableType:
    counts = [f"{progress.done}/{progress.planned}", f"{progress.ok} ok"]
    counts += [f"{progress.disturbed} disturbed"] if progress.disturbed else []
    counts += [f"{progress.failed} failed"] if progress.failed else []
    counts += [f"{progress.other} not measured"] if progress.other else []
    counts += [f"{len(progress.running)} running"] if progress.running else []
    counts += [f"{rate(progress.throughput)} samples/s"] if progress.throughput else []
    eta = progress.eta_s(now_s)
    counts += [f"about {seconds(max(0.0, eta))} left"] if eta is not None else []
    row = Table.grid(padding=(0, 1))
    row.add_row(ProgressBar(total=progress.planned, completed=progress.done, width=16), Text(" · ".join(counts)))
    return row


def _line(text: str) -> Text:
    return Text(clean_line(text), overflow="ellipsis", no_wrap=True)
