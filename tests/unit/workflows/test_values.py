"""Workflows as functions, without a command line."""

import os
import threading
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.events import Event, Notice
from orchestrator.workflows.compare import CompareOptions, compare
from orchestrator.workflows.history import HistoryOptions, history
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.regress import RegressOptions, regress


@pytest.fixture
def options(tmp_path: Path) -> RegressOptions:
    """A test of `noop` against itself."""
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text("version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nsteps: 10\n")
    return RegressOptions(
        baseline="noop==1", candidate="noop==1", file=matrix, repeats=2, confirm=False,
        runtime=RuntimeName.HOST, results=tmp_path / "results", idle_wait_s=0.0,
    )  # fmt: skip


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def host(tmp_path: Path, events: list[Event]) -> Host:
    return Host(dict(os.environ, XDG_CACHE_HOME=str(tmp_path / "cache")), events.append)


def test_regression_test_is_a_value(
    options: RegressOptions, host: Host, events: list[Event], capfd: pytest.CaptureFixture[str]
) -> None:
    """A regression test is a value, and nothing is printed."""
    result = regress(options, host)
    stored = compare(CompareOptions(baseline="latest", results=options.results), host)
    series = history(HistoryOptions(results=options.results, by_release=True), host)

    assert result.regression.complete
    assert (stored.run, stored.regression) == (result.run, result.regression)
    assert (series.series, series.selected) == ((), 4)
    assert any(isinstance(event, Notice) for event in events)
    assert capfd.readouterr() == ("", "")


def test_a_stopped_test_is_incomplete_and_goes_on(options: RegressOptions, host: Host) -> None:
    host.stop.set()
    stopped = regress(options, host)
    going_on = RegressOptions(results=options.results, resume=stopped.run.name, idle_wait_s=0.0)
    result = regress(going_on, Host(host.environment, stop=threading.Event()))

    assert stopped.resume_command == f"orchestrator regress --resume {stopped.run.name} --results {options.results}"
    assert (stopped.regression.complete, result.regression.complete) == (False, True)
    assert result.run == stopped.run


def test_a_resumed_test_keeps_its_question(options: RegressOptions, host: Host) -> None:
    with pytest.raises(InputError, match="--resume goes on with what the run was to find out"):
        regress(RegressOptions(resume="latest", results=options.results, repeats=3), host)
