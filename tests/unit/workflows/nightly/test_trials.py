"""The run that a trial goes on in, after it was cut short."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.catalog import shipped_catalog
from orchestrator.events import Event, Notice
from orchestrator.regression.nightly.loading import load
from orchestrator.regression.nightly.state import Tonight
from orchestrator.regression.rules import parse_gates
from orchestrator.results.results_folder import runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import MeasureOptions, SourceOptions, regression_setup
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.nightly.trials import Trials

MATRIX = "version: 1\nframeworks: [noop==1]\nmodels: [mlp]\nmodes: [train, infer]\nsteps: 10\n"
NIGHTLY = "version: 1\nwatch: noop\ndistribution: noop\nfirst: '1'\nruntime: host\n"
CutShort = Callable[..., tuple[str, list[str]]]


@pytest.fixture
def cut_short(tmp_path: Path) -> CutShort:
    """Begin a trial, or go on with a run, and stop before the first cell: the run's name, and what was said."""

    def trial(run: str = "", nightly: str = "", matrix: str = MATRIX) -> tuple[str, list[str]]:
        events: list[Event] = []
        host = Host(dict(os.environ, XDG_CACHE_HOME=str(tmp_path / "cache")), events.append)
        host.stop.set()
        (tmp_path / "matrix.yaml").write_text(matrix)
        (tmp_path / "nightly.yaml").write_text(NIGHTLY + nightly)
        watched = load(tmp_path / "nightly.yaml", shipped_catalog())
        planner = NightlyPlanner(watched, regression_setup(watched.matrix, SourceOptions(), host))
        gates = parse_gates(watched.settings.metrics or (), "metrics", ["mlp"])
        trials = Trials(planner, gates, MeasureOptions(idle_wait_s=0.0))
        measured = trials.measure(Tonight(night="n", release="1", baseline="1", run=run), lambda _: None)
        assert not measured.regression.complete
        return measured.regression.run, [event.message for event in events if isinstance(event, Notice)]

    return trial


def test_interrupted_trial_goes_on_in_its_run(cut_short: CutShort) -> None:
    first, _ = cut_short()
    again, said = cut_short(first)

    assert (again, [text for text in said if "started again" in text]) == (first, [])


@pytest.mark.parametrize(
    "changed",
    [
        {"nightly": "metrics: [throughput=5%]\n"},
        {"nightly": "max_blocks: 6\n"},
        {"nightly": "select: ['*infer*']\n"},
        {"matrix": MATRIX.replace("10", "20")},
    ],
    ids=str,
)
def test_another_question_begins_a_new_run(cut_short: CutShort, tmp_path: Path, changed: dict[str, str]) -> None:
    first, _ = cut_short()
    anew, said = cut_short(first, **changed)

    assert anew != first
    assert f"started again: what is measured or what decides has changed since {first}, which stays" in said
    assert {run.name for run in runs(tmp_path / "results")} == {first, anew}
