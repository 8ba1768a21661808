"""The results folder: atomic, never shrinking, one writer at a time."""

import json
import os
from pathlib import Path

import pytest

from orchestrator.domain import (
    Cell,
    Environment,
    Framework,
    ImageSpec,
    Mode,
    Outcome,
    Plan,
    Skip,
    Status,
    System,
    Workload,
)
from orchestrator.errors import HostError, InputError
from orchestrator.results import records, results_folder, store
from orchestrator.results.contract import Request
from orchestrator.results.files import writing
from orchestrator.results.records import EnvironmentRecord, RunRecord

MXNET = Framework("mxnet", "1.5.1", python="3.11")
CELL = Cell(
    id="keras-mxnet-2.2.4.3-on-mxnet-1.5.1-cpu/lenet-train-b200",
    framework=Framework("keras-mxnet", "2.2.4.3", backend=MXNET, python="3.6", packages=(("numpy", "1.16.6"),)),
    system=System("cpu", cpus=2, memory_bytes=8 * 2**30),
    workload=Workload("lenet", Mode.TRAIN, 200),
    image="bench/keras-mxnet:2.2.4.3-on-mxnet-1.5.1-cpu",
    options=(("fused", True), ("rate", 0.5), ("steps", 3), ("layout", "first")),
    repeats=2,
)
PLAN = Plan(
    name="default",
    seed=7,
    images=(
        ImageSpec("bench/keras-mxnet", "2.2.4.3-on-mxnet-1.5.1-cpu", "cpu", CELL.framework, Environment("k", "3.6")),
    ),
    cells=(CELL,),
    skips=(Skip("x/y", "excluded"),),
    warnings=("w",),
)


def _record(plan: Plan = PLAN) -> RunRecord:
    return RunRecord(
        run="r", created_at="2026-11-21T15:30:00Z", orchestrator_version="0", runtime="docker", host={},
        plan=records.plan_to_json(plan), matrix={},
    )  # fmt: skip


def test_a_plan_survives_the_way_through_json_unchanged() -> None:
    assert records.plan_from_json(json.loads(json.dumps(records.plan_to_json(PLAN)))) == PLAN


def test_a_run_knows_its_plan(tmp_path: Path) -> None:
    """A run knows the plan that it was made with."""
    run = store.Run(tmp_path / "r")
    run.write_record(_record())

    assert run.plan() == PLAN
    assert [found.name for found in results_folder.runs(tmp_path)] == ["r"]


def test_a_missing_results_folder_holds_no_runs(tmp_path: Path) -> None:
    assert results_folder.runs(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such run; `orchestrator runs` lists what there is"),
        ("", "not a run record"),
        ("[]", "not a run record"),
        ('{"schema": "x"}', "not a run record"),
        ('{"schema": 9}', "schema 9 is newer than this orchestrator reads (1): upgrade it"),
    ],
)
def test_a_broken_run_record_is_bad_input(tmp_path: Path, content: str | None, message: str) -> None:
    """A broken run record is bad input with its place."""
    run = store.Run(tmp_path / "r")
    if content is not None:
        run.folder.mkdir()
        (run.folder / "run.json").write_text(content)

    with pytest.raises(InputError) as caught:
        run.record()

    assert str(run.folder / "run.json") in str(caught.value)
    assert message in str(caught.value)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed write leaves the old file whole and nothing next to it."""
    path = tmp_path / "outcome.json"
    writing.write_atomically(path, "old")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(HostError, match="No space left on device; make room there, or choose another place"):
        writing.write_atomically(path, "new")

    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("outcome.json", "old")]


def test_only_recorded_outcomes_are_given(tmp_path: Path) -> None:
    """Outcomes come by cell and repeat, and only those that were recorded."""
    run = store.Run(tmp_path / "r")
    run.create()
    run.write_outcome(Outcome(CELL.id, 1, Status.FAILED, "boom"))

    assert [(outcome.repeat, outcome.status) for outcome in run.outcomes(PLAN.cells)] == [(1, Status.FAILED)]


def test_an_unreadable_outcome_counts_as_not_recorded(tmp_path: Path) -> None:
    run = store.Run(tmp_path / "r")
    run.create()
    run.write_outcome(Outcome(CELL.id, 0, Status.OK))
    (run.repeat_folder(CELL.id, 0) / "outcome.json").write_text('{"cell_id": ')

    assert run.outcome(CELL.id, 0) is None


def test_a_request_is_written_before_the_launch(tmp_path: Path) -> None:
    """A request is in its folder before anything is launched."""
    run = store.Run(tmp_path / "r")
    run.create()
    request = Request(
        cell=CELL.id, repeat=1, framework="mxnet", builder="mxnet", model="lenet", mode=Mode.TRAIN, batch_size=200
    )

    folder = run.prepare(request)

    assert folder == tmp_path / "r" / CELL.id / "1"
    assert Request.model_validate_json((folder / "request.json").read_text()) == request


def test_a_second_orchestrator_is_told_to_wait(tmp_path: Path) -> None:
    run = store.Run(tmp_path)

    with run.lock(), pytest.raises(HostError, match="another orchestrator is writing this run"):
        store.Run(tmp_path).lock()


def test_a_folder_in_an_outcomes_place_is_kept(tmp_path: Path) -> None:
    """A folder that stands where an outcome belongs is moved aside and not lost."""
    run = store.Run(tmp_path / "r")
    path = run.repeat_folder(CELL.id, 0) / "outcome.json"
    path.mkdir(parents=True)
    (path / "something").write_text("kept")

    run.write_outcome(Outcome(CELL.id, 0, Status.OK))

    assert run.outcome(CELL.id, 0) == Outcome(CELL.id, 0, Status.OK)
    assert [file.read_text() for file in path.parent.glob("outcome.json.aside-*/something")] == ["kept"]


def test_a_folder_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    """A folder elsewhere than in the place of an outcome is never replaced by a file."""
    (tmp_path / "reports" / "mine").mkdir(parents=True)

    with pytest.raises(HostError, match="cannot be written"):
        writing.write_atomically(tmp_path / "reports", "new")

    assert [path.name for path in tmp_path.iterdir()] == ["reports"]


def test_an_impossible_results_folder_is_a_host_error(tmp_path: Path) -> None:
    """A results folder that cannot be made is an error of the host."""
    (tmp_path / "file").write_text("")

    with pytest.raises(HostError, match="cannot be made: Not a directory; choose another --results"):
        store.Run(tmp_path / "file" / "run").write_record(_record())


def test_a_planted_link_is_never_written_through(tmp_path: Path) -> None:
    """A planted link is replaced and never written through."""
    target = tmp_path / "precious"
    target.write_text("precious")
    path = tmp_path / "outcome.json"
    path.symlink_to(target)

    writing.write_atomically(path, "new")

    assert (target.read_text(), path.read_text(), path.is_symlink()) == ("precious", "new", False)


MADE = EnvironmentRecord(
    image=CELL.image, status=Status.OK, reference=f"{CELL.image}-1", image_id="sha256:1", base_digest="python@sha256:b",
    versions={"mxnet": "1.5.1"},
)  # fmt: skip
BROKEN = EnvironmentRecord(image=CELL.image, status=Status.BUILD_FAILED, reason="no route to the index")


def test_a_run_that_provided_nothing_has_no_environments(tmp_path: Path) -> None:
    assert store.Run(tmp_path).environments().environments == ()


@pytest.mark.parametrize(
    ("earlier", "later", "kept"),
    [
        ([MADE], [MADE], [MADE]),
        ([BROKEN], [MADE], [MADE]),
        ([MADE], [BROKEN], [MADE, BROKEN]),
        ([MADE], [MADE.model_copy(update={"image": "other"})], [MADE, MADE.model_copy(update={"image": "other"})]),
        (
            [MADE],
            [MADE.model_copy(update={"image_id": "sha256:2"})],
            [MADE, MADE.model_copy(update={"image_id": "sha256:2"})],
        ),
        ([BROKEN], [], [BROKEN]),
    ],
)
def test_a_resumed_run_keeps_environments_already_made(
    tmp_path: Path, earlier: list[EnvironmentRecord], later: list[EnvironmentRecord], kept: list[EnvironmentRecord]
) -> None:
    """Cells were measured in it; what failed is superseded by what a later making says."""
    run = store.Run(tmp_path)

    run.write_environments(earlier)
    run.write_environments(later)

    assert list(run.environments().environments) == kept


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "not a record of environments"),
        ('{"schema": 1, "environments": [{"image": 1}]}', "not a record of environments"),
        ('{"schema": 2}', "schema 2 is newer than this orchestrator reads (1): upgrade it"),
    ],
)
def test_broken_environments_are_bad_input_with_their_place(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "environments.json").write_text(content)

    with pytest.raises(InputError) as caught:
        store.Run(tmp_path).environments()

    assert str(tmp_path / "environments.json") in str(caught.value)
    assert message in str(caught.value)


def test_a_vanished_run_folder_is_not_remade(tmp_path: Path) -> None:
    """A run whose folder has gone is not begun anew in its place."""
    run = store.Run(tmp_path / "r")

    with pytest.raises(HostError, match=r"/r: this run's folder has gone; bring it back, or begin a new run"):
        run.write_outcome(Outcome(CELL.id, 0, Status.OK))
    assert not run.folder.exists()


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    store.Run(tmp_path / "r").create()

    with pytest.raises(HostError, match="cannot be made: File exists"):
        store.Run(tmp_path / "r").create()


@pytest.mark.parametrize(
    "changes",
    [
        {"cell_id": "another/cell"},
        {"repeat": 1},
        {"attempts": 10**30},
        {"wall_s": "NaN"},
        {"wall_s": 1e300},
        {"reason": "\\ud800"},
        {"status": "fine"},
    ],
)
def test_an_impossible_outcome_counts_as_not_recorded(tmp_path: Path, changes: dict[str, object]) -> None:
    """The measured program can write into its own folder, while the orchestrator is killed."""
    run = store.Run(tmp_path / "r")
    run.create()
    run.write_outcome(Outcome(CELL.id, 0, Status.OK))
    path = run.repeat_folder(CELL.id, 0) / "outcome.json"
    text = json.dumps(json.loads(path.read_text()) | changes)
    path.write_text(text.replace('"NaN"', "NaN").replace("\\\\", "\\"))

    assert run.outcome(CELL.id, 0) is None


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("other.json")])
def test_an_irregular_outcome_file_counts_as_not_recorded(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """An outcome that is no plain file counts as not recorded."""
    run = store.Run(tmp_path / "r")
    run.create()
    run.write_outcome(Outcome(CELL.id, 0, Status.OK))
    path = run.repeat_folder(CELL.id, 0) / "outcome.json"
    path.rename(path.with_name("other.json"))
    make(path)

    assert run.outcome(CELL.id, 0) is None


@pytest.mark.parametrize("cell_id", ["../../etc", "/etc", "a/../b", "a//b", "a/.", "", "a\0b"])
def test_a_plan_with_escaping_ids_is_refused(cell_id: str) -> None:
    """A stored plan whose ids lead out of the run is refused."""
    document = records.plan_to_json(PLAN)
    document["cells"][0]["id"] = cell_id

    with pytest.raises(InputError, match="is no id of a cell"):
        records.plan_from_json(document)


@pytest.mark.parametrize("attempt", [None, 1])
def test_a_result_is_on_disk_before_its_outcome(
    attempt: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut, an `ok` outcome without its result would be a measurement that is lost."""
    run = store.Run(tmp_path / "r")
    run.create()
    folder = run.repeat_folder(CELL.id, 0) / ("" if attempt is None else f"attempt-{attempt}")
    folder.mkdir(parents=True)
    (folder / "result.json").write_text("{}")
    steps: list[str] = []
    synchronise, rename = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        steps.append(f"on disk: {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
        synchronise(descriptor)

    def replace(path: Path, target: Path) -> Path:
        steps.append(f"named: {target.name}")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    run.write_outcome(Outcome(CELL.id, 0, Status.OK), attempt)

    assert steps[0] == "on disk: result.json"
    assert steps[-2:] == ["named: outcome.json", f"on disk: {folder.name}"]
    assert (folder / "outcome.json").exists()


@pytest.mark.parametrize("begin", [store.Run.create, lambda run: run.write_record(_record())])
def test_a_run_folder_is_its_users_own(begin, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run = store.Run(tmp_path / "results" / "r")
    begin(run)

    assert run.folder.stat().st_mode & 0o777 == 0o700
    assert run.folder.parent.stat().st_mode & 0o077, "the folder of all runs is as the user has it"
