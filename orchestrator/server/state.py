"""The state of a run, as the page shows it: plain values, in which every text is clean and short."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from orchestrator.domain import Outcome
from orchestrator.events import Event, Notice, RepeatFinished, RepeatStarted
from orchestrator.files import open_within
from orchestrator.processes import LINE_CHARACTERS, last_line
from orchestrator.reporting.live.eta import left_s
from orchestrator.reporting.live.progress import Building, Progress, Running, advance
from orchestrator.running.folders import LOG
from orchestrator.wording import clean_line

TIMED = frozenset({"warmup", "steady", "latency"})
"""Phases in which a repeat must not be disturbed."""
_MOST_SHOWN = 16
_TAIL_BYTES = 16 * 1024
_PHASE = re.compile(rb"[a-z][a-z_]{0,30}\n?")
_STEP = re.compile(r"^step (\d{1,4})/(\d{1,4}) ?: ?(.*)$", re.IGNORECASE | re.MULTILINE)

State = dict[str, Any]


@dataclass(slots=True)
class Story:
    """The progress of a run by its events so far."""

    progress: Progress = field(default_factory=Progress)
    began: float | None = None
    notice: str = ""
    failure: Outcome | None = None
    ended: int = 0
    """Repeats that ended, which changes what can be published."""

    def tell(self, event: Event, at: datetime) -> None:
        """Take in the next event."""
        moment = at.timestamp()
        self.began = moment if self.began is None else self.began
        self.progress = advance(self.progress, event, moment)
        if isinstance(event, Notice):
            self.notice = event.message
        elif isinstance(event, RepeatStarted):
            self.notice = ""  # it was about what came before
        elif isinstance(event, RepeatFinished):
            self.ended += 1
            self.failure = event.outcome if event.outcome.status.is_failure else self.failure


def head(story: Story, folder: Path, now_s: float, before: Mapping[str, Any], *, is_alive: bool) -> State:
    """Return all of a run but its cells. The end that was expected `before` stays unless it is well off."""
    progress = story.progress
    return {
        "began": story.began,
        "over": "" if is_alive else "ended" if progress.planned <= progress.done else "stopped",
        **{name: getattr(progress, name) for name in ("planned", "resumed", "ok", "failed", "other", "disturbed")},
        "running": [_running(item, folder) for item in progress.running[:_MOST_SHOWN]] if is_alive else [],
        "building": [_building(item, folder) for item in progress.building[:_MOST_SHOWN]] if is_alive else [],
        "images": len(progress.durations.images_s),
        "transfer": _transfer(progress) if is_alive else None,
        "ends": _ends(progress, now_s, before.get("ends")) if is_alive else None,
        "disturbance": _told(progress.disturbance, "disturbance"),
        "failure": _told(story.failure, "reason"),
        "notice": _short(story.notice),
    }


def cells(progress: Progress) -> dict[str, list[Any]]:
    """Return the state of every repeat, the last rate and what it counts for each cell, by its id."""
    return {cell: [list(states), *_rate(progress, cell)] for cell, states in progress.cells.items()}


def _rate(progress: Progress, cell: str) -> tuple[float | None, str]:
    rate, counts = progress.rates.get(cell, (None, ""))
    return rate, _short(counts)


def _running(item: Running, folder: Path) -> State:
    place = f"{item.cell_id}/{item.repeat}"
    phase = _read(folder, f"{place}/phase", 64)
    return {
        "cell": _short(item.cell_id), "repeat": item.repeat, "since": item.started_s,
        "phase": phase.decode().strip() if _PHASE.fullmatch(phase) else item.phase,
        "log": last_line(_tail(folder, f"{place}/{LOG}")),
    }  # fmt: skip


def _building(item: Building, folder: Path) -> State:
    text = _tail(folder, f"builds/{Path(item.log).name}")
    steps = list(_STEP.finditer(text))
    step = [int(steps[-1][1]), int(steps[-1][2]), _short(steps[-1][3])] if steps else None
    return {"image": _short(item.image), "since": item.started_s, "step": step, "log": last_line(text)}


def _transfer(progress: Progress) -> State | None:
    moved = progress.transfer
    return {"what": _short(moved.what), "done": moved.done_bytes, "total": moved.total_bytes} if moved else None


def _ends(progress: Progress, now_s: float, before: float | None) -> float | None:
    left = left_s(progress, now_s)
    if left is None or not (progress.planned or progress.building):
        return None
    ends = round(now_s + left, 1)
    return before if before is not None and abs(ends - before) < max(2.0, 0.05 * left) else ends


def _told(outcome: Outcome | None, field: str) -> State | None:
    if outcome is None:
        return None
    return {
        "cell": _short(outcome.cell_id), "repeat": outcome.repeat, "status": outcome.status.value,
        "text": _short(getattr(outcome, field)),
    }  # fmt: skip


def _short(text: str) -> str:
    clean = clean_line(text[: 8 * LINE_CHARACTERS])
    return clean if len(clean) <= LINE_CHARACTERS else f"{clean[: LINE_CHARACTERS - 1]}…"


def _tail(folder: Path, path: str) -> str:
    return _read(folder, path, _TAIL_BYTES, at_end=True).decode("utf-8", "replace")


def _read(folder: Path, path: str, most_bytes: int, *, at_end: bool = False) -> bytes:
    """Read a file below the folder of a run, or nothing if it is missing: what was measured may have replaced it."""
    try:
        with open_within(folder, path) as file:
            if at_end:
                size = file.seek(0, 2)
                file.seek(max(0, size - most_bytes))
            return file.read(most_bytes)
    except (OSError, ValueError):
        return b""
