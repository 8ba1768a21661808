"""Containers that misbehave, each in its own way: a typed outcome, everything else intact, and the run can go on."""

import json
import subprocess
from pathlib import Path

import docker
import faults_support as support
import pytest

from tests.envelopes import data_of

pytestmark = pytest.mark.docker

BEHAVIOURS = (
    *("fine", "crash", "leave", "hang", "eat", "silent", "no_number", "newer", "huge", "link", "talk"),
    *("no_framework", "lock", "swap_log", "plant", "fine"),
)
Ran = tuple[Path, "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def ran(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run in which nearly everything goes wrong."""
    folder = support.workplace(tmp_path_factory.mktemp("faults"), base_image, *BEHAVIOURS, broken=True)
    return folder, support.run(folder, "--json")


def outcome(ran: Ran, behaviour: str) -> dict[str, object]:
    return support.outcomes(ran[0] / "results")[BEHAVIOURS.index(behaviour)]


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        ("crash", "failed", "killed by SIGSEGV"),
        ("leave", "failed", "so it is"),
        ("hang", "timeout", "not done within 6 s; its last words: hanging"),
        ("eat", "oom_host", "killed for want of memory of 96 MiB"),
        ("silent", "invalid_result", "no result.json was written"),
        ("no_number", "invalid_result", "NaN and infinity are no JSON numbers"),
        ("newer", "invalid_result", "has schema 99; this orchestrator reads up to 1: upgrade it"),
        ("huge", "invalid_result", "is larger than 67108864 bytes"),
        ("link", "invalid_result", "is no plain file"),
        ("talk", "failed", "the last word"),
        ("no_framework", "import_failed", "noop cannot be imported: ImportError: libframework.so: cannot open"),
        ("lock", "failed", "exit status 1, and nothing in the log"),
        ("swap_log", "failed", "exit status 1, and nothing in the log"),
        ("plant", "failed", "exit status 1, and nothing in the log"),
    ],
)
def test_misbehaving_container_ends_as_what_it_was(ran: Ran, behaviour: str, status: str, reason: str) -> None:
    """A container that misbehaves ends with the status and the reason that fit what it did."""
    found = outcome(ran, behaviour)

    assert found["status"] == status, f"{found}\n{ran[1].stderr}"
    assert reason in str(found["reason"])


def test_failed_build_ends_all_repeats_of_image(ran: Ran) -> None:
    """An image that cannot be built ends all its repeats with the words of the build."""
    found = support.outcomes(ran[0] / "results", support.BROKEN).values()

    assert {one["status"] for one in found} == {"build_failed"}
    assert {one["reason"] for one in found} == {"E: it cannot be built"}
    (log,) = {one["log"] for one in found}
    (run,) = (ran[0] / "results").glob("*/run.json")
    assert "E: it cannot be built" in (run.parent / str(log)).read_text()


def test_failure_leaves_other_results_intact(ran: Ran) -> None:
    """Results before and after a failure are intact, and the command says that something failed."""
    ended = ran[1]

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert support.statuses(ran[0] / "results").count("ok") == 2
    assert [support.statuses(ran[0] / "results")[number] for number in (0, -1)] == ["ok", "ok"]
    report = data_of(ended.stdout)
    shown = {
        cell["cell"]["id"]: [repeat["outcome"]["status"] for repeat in cell["repeats"]] for cell in report["cells"]
    }
    assert sorted(shown[support.CELL]) == sorted(support.statuses(ran[0] / "results"))
    assert len(shown[support.BROKEN]) == len(BEHAVIOURS)


def test_log_is_bounded_and_keeps_both_ends(ran: Ran) -> None:
    """A log is bounded on disk and keeps both ends, and the outcome says how much it lost."""
    (run,) = (ran[0] / "results").glob("*/run.json")
    log = run.parent / str(outcome(ran, "talk")["log"])
    lines = log.read_text().splitlines()

    assert log.stat().st_size < 17 * 2**20
    assert (lines[0], lines[-1]) == ("the first word", "the last word")
    omitted = outcome(ran, "talk")["log_omitted_bytes"]
    assert f"[… {omitted} bytes left out …]" in lines
    assert 24 * 2**20 < int(str(omitted)) < 40 * 2**20
    assert outcome(ran, "fine")["log_omitted_bytes"] == 0


def test_no_container_is_left(ran: Ran, engine: docker.DockerClient) -> None:
    assert support.ours(engine, ran[0] / "results") == []


def test_run_goes_on_once_the_fault_is_gone(ran: Ran) -> None:
    """Once the fault is gone the run can go on, and nothing of the first attempts is lost."""
    folder = ran[0]
    before = support.outcomes(folder / "results")
    ended = support.run(folder, "--resume", "latest", "--retry-failed", "--json")

    after = support.outcomes(folder / "results")
    assert ended.returncode == 1, "one image still cannot be built"
    assert {one["status"] for one in after.values()} == {"ok"}, ended.stderr
    assert {number for number in after if after[number] == before[number]} == {0, len(BEHAVIOURS) - 1}
    (run,) = (folder / "results").glob("*/run.json")
    for number, old in before.items():
        if old["status"] != "ok":
            kept = [
                json.loads(path.read_text())["status"]
                for path in (run.parent / support.CELL / str(number)).glob("attempt-*/outcome.json")
            ]
            assert kept == [old["status"]], number


@pytest.mark.slow
def test_log_of_a_gigabyte_is_bounded_too(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """A log of more than a gigabyte is bounded like any other."""
    folder = support.workplace(tmp_path, base_image, "talk", name="talking", talk_mib=1100)
    matrix = folder / "matrix.yaml"
    matrix.write_text(matrix.read_text().replace("timeout: 6s", "timeout: 10m"))
    support.run(folder)

    (found,) = support.outcomes(folder / "results").values()
    assert found["reason"] == "the last word"
    assert found["log_omitted_bytes"] > 1000 * 2**20
    assert sum(path.stat().st_size for path in (folder / "results").rglob("log.txt")) < 17 * 2**20
