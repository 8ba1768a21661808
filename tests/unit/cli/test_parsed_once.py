"""Commands parse the record of a run once, however often they read it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.results import records
from orchestrator.results.files.remembered import Remembered
from orchestrator.results.records import RunRecord, bounds
from orchestrator.results.results_folder import runs as stored_runs
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.runtime import Chosen
from orchestrator.workflows.search import prepared
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.regression.trials.bench_trials import Bench
from tests.unit.reporting import synthetic as s

RUNS = 3
CELLS = tuple(s.cell(framework, repeats=3) for framework in (s.TORCH, s.MXNET))
COMMANDS = {
    "report": 1,
    "report --all": RUNS,
    "runs": RUNS,
    "show": RUNS,
    f"show {{last}} {CELLS[0].id}": RUNS,
    "compare {first} {last}": 2,
    "history -o pages": RUNS,
    "plan": RUNS,
    "collect --all": RUNS,
}
"""Commands with the number of runs they read."""
MANY = 40
MATRIX = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [lenet]\nparity: false\nsystems: {cpu: {cpus: 1}}\n"


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_parses_a_record_once(
    words: str, tmp_path: Path, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = COMMANDS[words]
    names = [f"202601{day:02}T030405Z-once" for day in range(1, RUNS + 1)]
    for name in names:
        stored_run(tmp_path / "results", name, CELLS)
    parsed, plans = _counted(monkeypatch)

    status, _, errors = command(*words.format(first=names[0], last=names[-1]).split())

    assert status == 0, errors
    assert parsed == dict.fromkeys(names[-runs:] if runs != 2 else [names[0], names[-1]], 1)
    assert len(plans) <= runs + (words == "plan")


@pytest.mark.parametrize("words", ["report --all", "runs", "history", "compare {others} {last}", "collect --all"])
def test_many_records_are_parsed_once_each(
    words: str, tmp_path: Path, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"20260101T03{minute:02}05Z-many" for minute in range(MANY)]
    for name in names:
        stored_run(tmp_path / "results", name)
    parsed, _ = _counted(monkeypatch)

    status, _, errors = command(*words.format(others=",".join(names[:-1]), last=names[-1]).split())

    assert status == 0, errors
    assert parsed == dict.fromkeys(names, 1)


def test_merge_parses_a_record_once(tmp_path: Path, command: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"202601{day:02}T030405Z-home" for day in range(1, RUNS + 1)]
    for name in names:
        stored_run(tmp_path / "far", name)
    assert command("collect", "--all", "--results", "far")[0] == 0
    parsed, _ = _counted(monkeypatch)

    status, _, errors = command("merge", "results.tar.zst")

    assert status == 0, errors
    assert parsed == dict.fromkeys(names, 1)


@pytest.fixture
def measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix, and a host on which every container is a value in memory."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    monkeypatch.setattr(jobs, "choose", lambda *_: Chosen(Bench(name="docker")))


@pytest.mark.usefixtures("measuring")
def test_a_resumed_run_parses_its_record_once(
    tmp_path: Path, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("run", "--idle-wait", "0", "--repeats", "2")[0] == 0
    (run,) = stored_runs(tmp_path / "results")
    (path,) = run.folder.glob("*/*/1/outcome.json")
    path.unlink()
    parsed, _ = _counted(monkeypatch)

    status, _, errors = command("run", "--resume", "latest", "--idle-wait", "0")

    assert status == 0, errors
    assert path.exists()
    assert parsed == {run.name: 1}


@pytest.mark.usefixtures("measuring")
def test_a_search_parses_each_test_record_once(
    tmp_path: Path, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = Offered(tuple(map(PublishedRelease, ("1.2.0", "1.3.1", "1.4.1"))))
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: offered)
    parsed, _ = _counted(monkeypatch)

    status, _, errors = command(
        "bisect", "--good", "mxnet==1.2.0", "--bad", "mxnet==1.4.1", "--cell", "lenet-train-b200", "--idle-wait", "0"
    )

    assert status == 0, errors
    assert parsed == dict.fromkeys((run.name for run in stored_runs(next((tmp_path / "results").iterdir()))), 1)


def _counted(monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], list[str]]:
    """Count from now on the records that are validated, by run, and list the plans. Nothing is parsed yet."""
    parsed: Counter[str] = Counter()
    plans: list[str] = []
    validate, check = RunRecord.model_validate, bounds.check

    def counted(document: Any) -> RunRecord:
        parsed[document["run"]] += 1
        return validate(document)

    def listed(plan: Any, place: str) -> None:
        plans.append(plan.name)
        check(plan, place)

    for name in ("_run_record", "_plan"):
        monkeypatch.setattr(records, name, Remembered(getattr(records, name)._read))
    monkeypatch.setattr(RunRecord, "model_validate", counted)
    monkeypatch.setattr(bounds, "check", listed)
    return parsed, plans
