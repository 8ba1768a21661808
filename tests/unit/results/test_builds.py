"""The builds of a run, read from its events as a run writes them."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.events import BuildFinished, BuildStarted, Notice
from orchestrator.reporting.findings.compose import report
from orchestrator.reporting.live.recorded import recorded
from orchestrator.reporting.reports.run.measures import traces
from orchestrator.results.builds import Build, builds
from orchestrator.results.names import EVENTS
from orchestrator.results.store import Run
from tests.unit.cli.stored_runs import stored_run

BEGAN = datetime(2026, 1, 2, 3, 0, tzinfo=UTC)
EVENTS_OF_RUN = (
    (0, BuildFinished("bench/noop:1-cpu", 0.0, cached=True)),
    (0, BuildStarted("bench/mxnet:1.9.1-cpu", "builds/a.log")),
    (30, BuildFinished("bench/mxnet:1.9.1-cpu", 30.0)),
    (30, Notice('says "build_finished"')),
    (32, BuildFinished("bench/torch:2.13.0-cpu", 1.5, reason="no space left")),
)
MADE = (
    Build("bench/mxnet:1.9.1-cpu", "2026-01-02T03:00:00.000+00:00", 30.0),
    Build("bench/torch:2.13.0-cpu", "2026-01-02T03:00:30.500+00:00", 1.5, "no space left"),
)


def _event(**fields: object) -> str:
    whole = {"event": "build_finished", "at": "2026-01-02T03:00:00+00:00", "image": "i", "wall_s": 1, "cached": False}
    return json.dumps({**whole, "reason": "", **fields})


def write_events(folder: Path) -> None:
    at: Iterator[int] = iter([seconds for seconds, _ in EVENTS_OF_RUN])
    with recorded(folder, lambda event: None, lambda: BEGAN + timedelta(seconds=next(at))) as listener:
        for _, event in EVENTS_OF_RUN:
            listener(event)


def test_builds_have_their_times(tmp_path: Path) -> None:
    write_events(tmp_path)

    assert builds(tmp_path) == MADE


def test_a_run_without_events_has_no_builds(tmp_path: Path) -> None:
    assert builds(tmp_path) == ()


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "build_finished"}', '["build_finished"]', '"build_finished"', '{"build_finished',
        _event(at="x"), _event(image=7), _event(wall_s=1e300), _event(wall_s=-1), _event(reason=None),
    ],
)  # fmt: skip
def test_what_is_no_event_is_left_out(line: str, tmp_path: Path) -> None:
    write_events(tmp_path)
    with (tmp_path / EVENTS).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")

    assert builds(tmp_path) == MADE


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A measured program could have left it there."""
    write_events(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / EVENTS).symlink_to(tmp_path / EVENTS)

    assert builds(tmp_path / "run") == ()


def test_spans_of_a_stored_run_hold_its_builds(tmp_path: Path) -> None:
    folder = stored_run(tmp_path).folder
    write_events(folder)
    (trace,) = traces(report(Run(folder)))

    assert [span.name for span in trace.span.spans if span.name.startswith("build ")] == [
        f"build {each.image}" for each in MADE
    ]
