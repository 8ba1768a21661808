"""The runs of a chained search, on a runtime in memory: each of one Python, and each begun run goes on."""

import json
from collections import Counter
from pathlib import Path

import pytest

from orchestrator.errors import HostError
from orchestrator.processes import Stop, Watch
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.results.results_folder import runs
from orchestrator.runtimes import Ended, Task
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.runtime import Chosen
from orchestrator.workflows.search import prepared
from tests.unit.cli.conftest import Program
from tests.unit.regression.trials.bench_trials import Bench, steady

MATRIX = "version: 1\nframeworks: [onnxruntime==1.21.1]\nmodels: [lenet]\nmodes: [infer]\n"
PUBLISHED = ("1.14.1", "1.16.3", "1.19.2", "1.20.1", "1.21.1")
ASKED = (
    "bisect", "--good", "onnxruntime==1.14.1", "--bad", "onnxruntime==1.21.1", "--cell", "lenet-infer-b200",
    "--no-parity", "--idle-wait", "0",
)  # fmt: skip


class Dying(Bench):
    """Measures inference, and goes away when it is asked to measure once more than it may."""

    dies_at = 10_000

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        if len(self.measured) == self.dies_at:
            self.dies_at = 10_000
            raise HostError("the engine went away")
        ended = super().launch(task, stop=stop, watch=watch)
        result = task.folder / "result.json"
        result.write_text(json.dumps(json.loads(result.read_text()) | {"loss": None}))
        return ended


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dying:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    found = Dying(rate=steady(**{"1.20.1": 0.9, "1.21.1": 0.9}), name="docker")
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: Offered(tuple(map(PublishedRelease, PUBLISHED))))
    monkeypatch.setattr(jobs, "choose", lambda *_: Chosen(found))
    return found


def record(folder: Path) -> dict[str, object]:
    (path,) = (folder / "results").glob("bisect-*/bisect.json")
    found: dict[str, object] = json.loads(path.read_text())
    return found


def test_each_run_is_of_one_python(bench: Dying, command: Program, tmp_path: Path) -> None:
    code, out, said = command(*ASKED)

    assert (code, "First changed in onnxruntime 1.20.1 (slower" in out) == (1, True), said
    one, other, *_ = runs(next((tmp_path / "results").iterdir()))
    assert {cell.framework.python for cell in one.plan().cells} == {"3.10"}
    assert {cell.framework.python for cell in other.plan().cells} == {"3.12"}
    assert [cell.framework.version for cell in one.plan().cells] == ["1.14.1", "1.16.3", "1.19.2"]
    assert [cell.framework.version for cell in other.plan().cells] == ["1.19.2", "1.20.1", "1.21.1"]


@pytest.mark.parametrize("dies_at", [0, 5, 12, 17, 23])
def test_a_begun_run_goes_on(bench: Dying, command: Program, tmp_path: Path, dies_at: int) -> None:
    """Nothing is measured twice, whichever span it was that the engine left."""
    bench.dies_at = dies_at

    first, _, lost = command(*ASKED)
    again, out, said = command("bisect", "--resume", "latest", "--idle-wait", "0")

    assert (first, "the engine went away" in lost) == (3, True), lost
    assert (again, "First changed in onnxruntime 1.20.1 (slower" in out) == (1, True), said
    counts = Counter(
        (run.name, repeat) for run in runs(next((tmp_path / "results").iterdir())) for repeat in _repeats(run.folder)
    )
    assert len(bench.measured) == len(counts) == 24
    rounds = record(tmp_path)["rounds"]
    assert isinstance(rounds, list)
    assert [(each["python"], each["blocks"], len(each["releases"])) for each in rounds] == [
        ("3.10", 4, 3),
        ("3.12", 4, 3),
    ]


def _repeats(folder: Path) -> list[str]:
    return [str(path.parent.relative_to(folder)) for path in folder.rglob("result.json")]
