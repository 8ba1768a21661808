"""One line per event, for logs and pipes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from orchestrator.domain import Status
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
from orchestrator.reporting.live.unlaunched import Unlaunched
from orchestrator.wording import clean_line, plural, rate, seconds


@dataclass
class PlainView:
    """A listener that writes one line per event, phases inside a repeat left out.

    Repeats that end without a launch are counted, and told by `close`, a line for each reason.
    """

    write: Callable[[str], object]
    """Gets a line with its newline: `sys.stderr.write`."""
    _total: int = field(default=0, init=False)
    _unlaunched: Unlaunched = field(default_factory=Unlaunched, init=False)

    def __call__(self, event: Event) -> None:
        """Tell an event."""
        if isinstance(event, RunStarted):
            self._total = event.planned
        if self._unlaunched.takes(event):
            return
        text = line(event, self._total)
        if text:
            self.write(f"{text}\n")

    def close(self) -> None:
        """Tell what was counted."""
        for _, text in self._unlaunched.lines():
            self.write(f"{text}\n")


def line(event: Event, total: int) -> str:
    """An event in one line, empty where it is not worth one; `total` is the number of repeats to be measured."""
    match event:
        case BuildStarted(image=image, log=log):
            text = f"building {image} (log: {log})"
        case BuildFinished():
            text = _build_ended(event)
        case RunStarted(planned=planned, done=done):
            text = f"{planned} {plural('repeat', planned)} to measure" + (f", {done} done before" if done else "")
        case RepeatStarted(cell_id=cell_id, repeat=repeat, position=position):
            text = f"[{position}/{total}] {cell_id} repeat {repeat}"
        case RepeatFinished():
            text = f"  {ended(event)}"
        case Transferred(what=what, done_bytes=done, total_bytes=total_bytes):
            text = f"{what}: {transferred(done, total_bytes)}"
        case Notice(message=message):
            text = message if message.startswith("warning: ") else f"note: {message}"
        case PhaseChanged():
            text = ""
    indent = "  " if text.startswith("  ") else ""
    return indent + clean_line(text) if text else ""


def _build_ended(event: BuildFinished) -> str:
    if event.stopped:
        return f"build stopped: {event.image}"
    if event.reason:
        return f"build failed: {event.image}: {event.reason}"
    return (
        f"image {event.image} was there already" if event.cached else f"built {event.image} in {seconds(event.wall_s)}"
    )


def transferred(done_bytes: int, total_bytes: int | None) -> str:
    """`1,230 of 4,000 MB`."""
    return f"{done_bytes / 1e6:,.0f}" + (f" of {total_bytes / 1e6:,.0f} MB" if total_bytes else " MB")


def ended(event: RepeatFinished) -> str:
    """`mxnet-1.9.1-cpu/lenet-train-b200 repeat 0: ok, 13,402 samples/s, 12.5 s`."""
    outcome = event.outcome
    figures = [f"{rate(event.throughput)} {event.counts}s/s"] if event.throughput is not None else []
    if event.largest_batch is not None:
        figures.append(f"largest batch {event.largest_batch:,}")
    if outcome.wall_s:
        figures.append(seconds(outcome.wall_s))
    status = ", ".join([outcome.status.value, *figures])
    reason = "" if outcome.status is Status.OK or not outcome.reason else f": {outcome.reason}"
    if outcome.disturbance:
        reason += f" (disturbed: {outcome.disturbance})"
    return clean_line(f"{outcome.cell_id} repeat {outcome.repeat}: {status}{reason}")
