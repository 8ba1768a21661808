"""Silence of a watch, and the file of metrics that says so to programs outside."""

from datetime import datetime, timedelta

import pytest

from orchestrator.regression.nightly.records import SelfTest
from orchestrator.regression.nightly.state import Ending, Night
from orchestrator.regression.nightly.watch.heartbeat import heartbeat, metrics
from orchestrator.regression.nightly.watch.whole import with_watch
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.night.report import NIGHT
from orchestrator.reporting.reports.night.words import headline
from tests.unit.regression.nightly.watch_records import BEGAN, idle_night


def failed(day: int) -> Night:
    return idle_night(day, ending=Ending.INDEX_SILENT)


def at(day: float) -> datetime:
    return BEGAN + timedelta(days=day)


@pytest.mark.parametrize(("days", "is_silent"), [(2.0, False), (3.0, False), (3.1, True), (30.0, True)])
def test_a_dead_job_is_silent(days: float, is_silent: bool) -> None:
    """Nothing is recorded any more, and whoever asks next is told."""
    found = heartbeat([idle_night(0)], at(days), 3)

    assert (found.is_silent, found.last_success, found.failed) == (is_silent, "2026-11-01T04:00:00+00:00", 0)


def test_nights_without_result_are_counted() -> None:
    """As many in a row as are allowed are silence, however fast they follow each other."""
    nights = [idle_night(0), failed(1), failed(2), failed(3)]

    assert [heartbeat(nights[:number], at(number - 1), 3).is_silent for number in (1, 2, 3, 4)] == [
        False, False, False, True,
    ]  # fmt: skip
    assert heartbeat(nights, at(3), 4).is_silent is False


def test_no_limit_is_never_silent() -> None:
    assert not heartbeat([idle_night(0), failed(1)], at(300), 0).is_silent


def test_a_watch_that_never_had_a_result_is_silent() -> None:
    found = heartbeat([failed(0)], at(4), 3)

    assert (found.is_silent, found.last_success) == (True, "")
    assert not heartbeat([], at(4), 3).is_silent


def test_the_night_that_ends_a_silence_reports_it() -> None:
    night = with_watch(idle_night(9), [idle_night(0)], 3)

    assert (night.is_silent, night.exit_code) == (True, 1)
    assert "No result for 3 nights or more, since 2026-11-01 04:00:00 UTC, which is an alarm." in headline(night)
    assert 'type="silent"' in render(NIGHT, night, "junit")
    following = with_watch(idle_night(10), [idle_night(0), night], 3)
    assert (following.is_silent, following.exit_code) == (False, 0)


def test_a_failing_self_test_is_no_result() -> None:
    test = SelfTest(release="1.5.1", name="1.5.1+1", complete=False, reason="no engine answers")
    night = with_watch(idle_night(3, self_test=test), [idle_night(0), failed(1), failed(2)], 3)

    assert (night.is_silent, night.exit_code) == (True, 1)
    assert idle_night(3, self_test=test).exit_code == 3


def test_metrics_are_openmetrics() -> None:
    """Every family has its type, a unit ends its name, and the text ends with its mark."""
    night = with_watch(idle_night(1, watched='a "b"\\'), [idle_night(0)], 3)
    lines = metrics(night).splitlines()

    assert lines[-1] == "# EOF"
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    labels = '{watched="a \\"b\\"\\\\",host="bench-1"}'
    ended = datetime.fromisoformat(night.ended_at).timestamp()
    assert float(values[f"orchestrator_nightly_last_success_timestamp_seconds{labels}"]) == ended
    assert float(values[f"orchestrator_nightly_silence_limit_seconds{labels}"]) == 3 * 24 * 3600
    for name in (line.split("{")[0] for line in values):
        assert f"# TYPE {name} gauge" in lines
        assert (f"# UNIT {name} seconds" in lines) is name.endswith("_seconds")


def test_metrics_keep_the_time_of_the_last_result() -> None:
    night = with_watch(failed(1), [idle_night(0)], 3)

    ended = datetime.fromisoformat(idle_night(0).ended_at).timestamp()
    assert f" {ended}\n" in metrics(night).partition("last_success_timestamp_seconds{")[2]
