"""Events as JSON lines: one object each, as the published schema says."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

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
from orchestrator.reporting.live.lines import Error, LinesView, event_line, event_schema
from orchestrator.reporting.live.plain import ended
from orchestrator.reporting.live.progress import Progress, advance

AT = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
EVENTS: tuple[Event, ...] = (
    BuildStarted("bench/mxnet:1.9.1-cpu", "builds/a.log"),
    BuildFinished("bench/mxnet:1.9.1-cpu", 12.5, reason="no such\npackage"),
    RunStarted(planned=6, done=1),
    RepeatStarted("mxnet-1.9.1-cpu/lenet-train-b200", 0, 1),
    PhaseChanged("mxnet-1.9.1-cpu/lenet-train-b200", 0, "steady"),
    RepeatFinished(Outcome("mxnet-1.9.1-cpu/lenet-train-b200", 0, Status.TIMEOUT, "over"), None),
    Notice("this host is not idle"),
    Transferred("verified", 1_000_000, 4_000_000),
)


def lines(*events: Event) -> list[str]:
    said: list[str] = []
    view = LinesView(said.append, lambda: AT)
    for event in events:
        view(event)
    return said


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_event_is_one_valid_line(event: Event) -> None:
    """An event is one line that the published schema allows."""
    (line,) = lines(event)

    assert line.endswith("}\n")
    assert line.count("\n") == 1
    assert list(jsonschema.Draft202012Validator(event_schema()).iter_errors(json.loads(line))) == []


def test_every_kind_of_event_is_tried_here() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


def test_line_gives_event_time_and_outcome() -> None:
    """A line says what happened, when, and with which outcome."""
    (line,) = lines(EVENTS[5])
    document = json.loads(line)

    assert list(document) == ["event", "at", "outcome", "throughput"]
    assert (document["event"], document["at"]) == ("repeat_finished", "2026-01-02T03:04:05.678+00:00")
    assert (document["outcome"]["status"], document["outcome"]["reason"]) == ("timeout", "over")


def test_an_error_is_a_line_too() -> None:
    line = json.loads(event_line(Error("no engine"), AT))

    assert (line["event"], line["message"]) == ("error", "no engine")
    assert list(jsonschema.Draft202012Validator(event_schema()).iter_errors(line)) == []


def test_a_line_says_that_a_build_was_stopped() -> None:
    (line,) = lines(BuildFinished("bench/mxnet:1.9.1-cpu", 1.0, reason="stopped", stopped=True))

    assert json.loads(line)["stopped"] is True


@pytest.mark.parametrize(
    "wrong", [{"event": "notice", "at": "t"}, {"event": "other", "at": "t", "message": "m"}, {"message": "m"}]
)
def test_the_schema_refuses_what_is_no_event(wrong: dict[str, str]) -> None:
    assert list(jsonschema.Draft202012Validator(event_schema()).iter_errors(wrong))


def test_published_schema_is_the_programs() -> None:
    """The published schema of events is the one of the program."""
    published = Path(__file__).parents[4] / "docs" / "schemas" / "event.schema.json"

    assert json.loads(published.read_text()) == event_schema()


def test_rates_say_what_they_count() -> None:
    """A generation yields tokens, and so does the line of its repeat, on the screen and as plain text."""
    outcome = Outcome("torch-2.13.0-cpu/decoder-generate-b1", 0, Status.OK, wall_s=12.5)
    event = RepeatFinished(outcome, 1_234.0, counts="token")

    assert "ok, 1,234 tokens/s, 12.5 s" in ended(event)
    assert advance(Progress(), event, 1.0).counts == "token"
