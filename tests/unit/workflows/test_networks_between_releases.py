"""`regress` and `bisect` over a network of one's own, with a scripted runtime in place of containers."""

import json
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
from tests import exported
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program
from tests.unit.regression.trials.bench_trials import steady
from tests.unit.workflows import networks_on_bench
from tests.unit.workflows.networks_on_bench import EngineBench

REGRESS = ("regress", "--baseline", "onnxruntime==1.19.2", "--candidate", "onnxruntime==1.20.1", "--idle-wait", "0")
BISECT = (
    "bisect", "--good", "onnxruntime==1.14.1", "--bad", "onnxruntime==1.21.1", "--cell", "ours-infer-b8",
    "--idle-wait", "0",
)  # fmt: skip
PUBLISHED = ("1.14.1", "1.16.3", "1.19.2", "1.20.1", "1.21.1", "1.22.0")


class Dying(EngineBench):
    """Goes away once, when so much is measured."""

    dies_at = 10_000

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        if len(self.measured) == self.dies_at:
            self.dies_at = 10_000
            raise HostError("the engine went away")
        return super().launch(task, stop=stop, watch=watch)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dying:
    """A host on which ONNX Runtime is a tenth slower from 1.20.1 on."""
    networks_on_bench.write(tmp_path)
    found = Dying(rate=steady(**{"1.20.1": 0.9, "1.21.1": 0.9}))
    monkeypatch.setattr(jobs, "choose", lambda *_: Chosen(found))
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: Offered(tuple(map(PublishedRelease, PUBLISHED))))
    monkeypatch.setenv("ORCHESTRATOR_LOCK_FOLDER", str(tmp_path))
    return found


def test_a_network_is_judged_between_releases(bench: Dying, command: Program, tmp_path: Path) -> None:
    """Both releases are given the same file, and the run keeps a copy of it."""
    code, out, said = command(*REGRESS, "--repeats", "6", "--json")

    assert code == 1, said
    verdicts = {pair["id"]: pair["verdict"] for pair in data_of(out)["pairs"]}
    assert verdicts == {"cpu/ours-infer-b8": "slower", "cpu/words-infer-b8": "slower"}
    assert {cell.partition("/")[2]: given for cell, given in bench.given.items()} == {
        "ours-infer-b8": {"ours.onnx"}, "words-infer-b8": {"words.onnx"}
    }  # fmt: skip
    (run,) = runs(tmp_path / "results")
    assert sorted(path.name for path in (run.folder / "networks/ours").iterdir()) == ["ours.onnx", "ours.onnx.data"]


def test_an_interrupted_trial_keeps_its_network(bench: Dying, command: Program, tmp_path: Path) -> None:
    """A network that is exported again meanwhile changes nothing of a run that has begun."""
    bench.dies_at = 5
    assert command(*REGRESS, "--repeats", "6", "--select", "words-*")[0] == 3
    exported.saved(exported.image_network(), tmp_path / "nets/words.onnx")

    code, out, said = command("regress", "--resume", "latest", "--idle-wait", "0", "--json")

    assert code == 1, said
    assert [pair["verdict"] for pair in data_of(out)["pairs"]] == ["slower"]


def test_a_network_is_searched_along_a_chain(bench: Dying, command: Program, tmp_path: Path) -> None:
    """Each run of the search carries the network of its cell."""
    code, out, said = command(*BISECT)

    assert (code, "First changed in onnxruntime 1.20.1 (slower" in out) == (1, True), said
    assert set().union(*bench.given.values()) == {"ours.onnx"}
    (folder,) = (tmp_path / "results").iterdir()
    plans = [run.plan() for run in runs(folder)]
    assert [{cell.framework.python for cell in plan.cells} for plan in plans[:2]] == [{"3.10"}, {"3.12"}]
    assert {network.sha256 for plan in plans for network in plan.networks} == {plans[0].networks[0].sha256}


@pytest.mark.parametrize("name", ["ours.onnx", "ours.onnx.data"])
def test_a_search_is_of_one_network(bench: Dying, command: Program, tmp_path: Path, name: str) -> None:
    """A search does not go on with another file of the same name, also of tensors that lie beside it."""
    bench.dies_at = 12
    assert command(*BISECT)[0] == 3
    place = tmp_path / "nets" / name
    if name == "ours.onnx":
        exported.saved(exported.image_network(), place)
    else:
        place.write_bytes(place.read_bytes()[::-1])

    code, out, said = command("bisect", "--resume", "latest", "--idle-wait", "0")

    assert (code, out) == (2, "")
    assert "has changed since bisect-" in said


def test_a_killed_search_goes_on_with_its_network(bench: Dying, command: Program, tmp_path: Path) -> None:
    bench.dies_at = 12
    assert command(*BISECT)[0] == 3

    code, out, said = command("bisect", "--resume", "latest", "--idle-wait", "0", "--json")

    assert code == 1, said
    assert data_of(out)["found"]["releases"]["changes"][0]["after"] == "1.20.1"
    (path,) = (tmp_path / "results").glob("bisect-*/bisect.json")
    assert [each["python"] for each in json.loads(path.read_text())["rounds"]] == ["3.10", "3.12"]
