"""Parity checks of a run on a fake runtime: before the measurements, once for each content, and never in their way."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running_fakes import SPEC, Behaviour, FakeRuntime, a_cell, a_plan, exiting, measured, surroundings

from orchestrator.domain import Cell, Outcome, Plan, Status, System, Workload
from orchestrator.events import Notice
from orchestrator.processes import Cause, StartError, Watch
from orchestrator.results.container_answers import InvalidResultError
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.runtimes import Ended, Task
from orchestrator.user_files import ModelFile

GOLDEN = Path(__file__).parents[2] / "golden/contract/parity.json"
CHECK = "fake-1-cpu/lenet"


def answering(**changes: Any) -> Behaviour:
    """Answer a parity request with a valid result; measure where a measurement is asked for."""

    def behave(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        if request["mode"] != "parity":
            return measured(task, request, watch)
        task.log.write_text("checked\n")
        answer = json.loads(GOLDEN.read_text()) | {"cell": request["cell"]} | changes
        (task.folder / "result.json").write_text(json.dumps(answer))
        return Ended(Cause.EXITED, 0, wall_s=2.5, image_id="sha256:1")

    return behave


class Checking(FakeRuntime):
    """Launches nothing: answers whatever is asked, after the behaviours it was given."""

    def launch(self, task: Task, *, stop: threading.Event, watch: Watch) -> Ended:  # type: ignore[override]
        self.behaviours = self.behaviours or [answering()]
        return super().launch(task, stop=stop, watch=watch)


def checked(*cells: Cell, **changes: Any) -> Plan:
    return replace(a_plan(*(cells or (a_cell(),)), **changes), parity=True)


def carry_out(
    folder: Path, runtime: FakeRuntime, plan: Plan, *, retry_failed: bool = False, stop: threading.Event | None = None
) -> list[Outcome]:
    around, _ = surroundings(folder, runtime, stop)
    return list(execute(plan, around, Policy(retry_failed=retry_failed)))


def modes(runtime: FakeRuntime) -> list[object]:
    return [request["mode"] for request in runtime.launched]


def outcome(folder: Path, check: str = CHECK) -> ParityOutcome:
    found = Checks(Run(folder)).outcome(check)
    assert found is not None
    return found


def test_check_comes_before_every_measurement(tmp_path: Path) -> None:
    """A check comes before every measurement and is stored with its request, log and result."""
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, checked(replace(a_cell(), repeats=2)))

    assert modes(runtime) == ["parity", "train", "train"]
    asked = runtime.launched[0]
    assert (asked["cell"], asked["batch_size"], asked["dataset"], asked["seed"]) == (CHECK, 128, "synthetic", 11)
    found = outcome(tmp_path / "run")
    assert (found.status, found.reason, found.wall_s, found.exit_code) == (Status.OK, "", 2.5, 0)
    assert found.started_at == "2026-11-21T15:30:00.000+00:00"
    assert found.log == f"parity/{CHECK}/log.txt"
    assert (tmp_path / "run" / found.log).read_text() == "checked\n"
    assert Checks(Run(tmp_path / "run")).result(found).first_loss == 0.75
    assert (tmp_path / "run/parity" / CHECK / "request.json").is_file()


def test_similar_cells_share_one_check(tmp_path: Path) -> None:
    """Cells that differ in batch size, mode and repeat share one check, and models do not."""
    cells = [
        replace(a_cell(str(number)), workload=Workload(model, a_cell().workload.mode, size))
        for number, (model, size) in enumerate([("lenet", 10), ("lenet", 20), ("mlp", 10)])
    ]
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, checked(*cells))

    assert modes(runtime) == ["parity", "parity", "train", "train", "train"]
    assert [request["model"] for request in runtime.launched[:2]] == ["lenet", "mlp"]


def test_a_plan_without_parity_checks_nothing(tmp_path: Path) -> None:
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, a_plan(a_cell()))

    assert modes(runtime) == ["train"]


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        (exiting(1, "the gradient is gone"), Status.FAILED, "the gradient is gone"),
        (exiting(3, "no lstm here"), Status.UNSUPPORTED, "no lstm here"),
        (exiting(0, "nothing"), Status.INVALID_RESULT, "no result.json was written"),
        (answering(first_loss="low"), Status.INVALID_RESULT, "result.json: first_loss: Input should be a valid number"),
        (
            answering(first_loss=None),
            Status.INVALID_RESULT,
            "result.json: first_loss is missing, although the framework trains",
        ),
        (answering(cell="other"), Status.INVALID_RESULT, "result.json is of other, not of what was asked"),
        (
            answering(schema=9),
            Status.INVALID_RESULT,
            "result.json has schema 9; this orchestrator reads up to 1: upgrade it",
        ),
        (
            answering(first_loss=float("nan")),
            Status.INVALID_RESULT,
            "result.json is not JSON: ",
        ),
    ],
)
def test_failed_check_stops_no_measuring(behaviour: Behaviour, status: Status, reason: str, tmp_path: Path) -> None:
    """A check that fails is recorded and reported, and the measuring goes on."""
    around, events = surroundings(tmp_path / "run", Checking([behaviour]))
    outcomes = list(execute(checked(), around, Policy(fail_fast=True)))

    assert [one.status for one in outcomes] == [Status.OK]
    found = outcome(tmp_path / "run")
    assert found.status is status
    assert found.reason.startswith(reason)
    notices = [event.message for event in events if isinstance(event, Notice)]
    assert notices == [
        f"parity check 1 of 1: {CHECK}", f"{CHECK}: parity is not checked: {status.value}: {found.reason}",
    ]  # fmt: skip


def test_inference_alone_may_have_no_loss(tmp_path: Path) -> None:
    """A model with batch norm has none there."""
    carry_out(tmp_path / "run", Checking([answering(first_loss=None, lacking=["training"])]), checked())

    assert outcome(tmp_path / "run").status is Status.OK


def test_a_check_that_hangs_is_a_timeout(tmp_path: Path) -> None:
    def hanging(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        return Ended(Cause.TIMED_OUT, None, wall_s=600.0)

    carry_out(tmp_path / "run", Checking([hanging]), checked())

    assert outcome(tmp_path / "run").status is Status.TIMEOUT


def a_crash(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    raise StartError("no space left for containers")


def test_unlaunched_check_is_made_on_resume(tmp_path: Path) -> None:
    """A check that could not be launched says so and is made anew when the run is resumed."""
    plan = checked(replace(a_cell(), repeats=2))
    around, _ = surroundings(tmp_path / "run", Checking([a_crash]))
    begun = execute(plan, around)
    next(begun)
    begun.close()
    found = outcome(tmp_path / "run")
    assert (found.status, found.reason) == (Status.LAUNCH_FAILED, "no space left for containers")
    assert found.log is not None
    assert (tmp_path / "run" / found.log).read_text() == "no space left for containers\n"

    runtime = Checking()
    carry_out(tmp_path / "run", runtime, plan)

    assert modes(runtime) == ["parity", "train"]
    assert outcome(tmp_path / "run").status is Status.OK


def resumed(folder: Path, first: list[Behaviour], prepare: Callable[[], None], **policy: bool) -> list[object]:
    """Begin a run of two repeats, stop after one, and tell what a second orchestrator then launches."""
    plan = checked(replace(a_cell(), repeats=2))
    around, _ = surroundings(folder, Checking(list(first)))
    begun = execute(plan, around)
    next(begun)
    begun.close()
    prepare()
    runtime = Checking()
    carry_out(folder, runtime, plan, **policy)
    return modes(runtime)


def test_finished_check_is_not_repeated(tmp_path: Path) -> None:
    """A check that is done is not repeated when the run is resumed."""
    assert resumed(tmp_path / "run", [answering()], lambda: None) == ["train"]


def test_failed_check_is_remade_only_on_request(tmp_path: Path) -> None:
    """A check that failed is made anew only on request, and what it left is kept."""
    assert resumed(tmp_path / "one", [exiting(1)], lambda: None) == ["train"]
    assert resumed(tmp_path / "two", [exiting(1)], lambda: None, retry_failed=True) == ["parity", "train"]
    assert (tmp_path / "two/parity" / CHECK / "attempt-1/log.txt").read_text() == "it broke\n"


def test_a_check_of_another_image_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "run/parity" / CHECK / "outcome.json"

    def changed() -> None:
        document = json.loads(path.read_text())
        path.write_text(json.dumps(document | {"content": "0" * 16}))

    assert resumed(tmp_path / "run", [answering()], changed) == ["parity", "train"]


def test_broken_or_foreign_record_counts_for_nothing(tmp_path: Path) -> None:
    """A record that is broken or of another check counts for nothing."""
    path = tmp_path / "run/parity" / CHECK / "outcome.json"

    assert resumed(tmp_path / "run", [answering()], lambda: path.write_text("{")) == ["parity", "train"]
    store = Checks(Run(tmp_path / "run"))
    path.write_text(path.read_text().replace(CHECK, "fake-2-cpu/lenet"))
    assert store.outcome(CHECK) is None


def test_same_content_is_checked_once(tmp_path: Path) -> None:
    """The same content is checked once, and its answer serves both cells."""
    twin = replace(SPEC, alias="2-cpu")
    cells = (a_cell("one"), a_cell("two", image=twin.name))
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, checked(*cells, images=(SPEC, twin)))

    assert modes(runtime) == ["parity", "train", "train"], "both images have one id"
    second = outcome(tmp_path / "run", "fake-2-cpu/lenet")
    assert (second.status, second.folder) == (Status.OK, CHECK)
    assert Checks(Run(tmp_path / "run")).result(second).first_loss == 0.75


def test_a_folder_outside_the_checks_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(GOLDEN.read_text())
    store = Checks(Run(tmp_path / "run"))

    for folder in ("../..", str(tmp_path), ""):
        with pytest.raises(InvalidResultError, match="is no folder of a check"):
            store.result(ParityOutcome(check=CHECK, content="0", status=Status.OK, folder=folder))


def test_link_as_an_answer_is_not_followed(tmp_path: Path) -> None:
    def linking(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        (task.folder / "result.json").symlink_to(GOLDEN)
        task.log.write_text("")
        return Ended(Cause.EXITED, 0, wall_s=1.0)

    carry_out(tmp_path / "run", Checking([linking]), checked())

    assert outcome(tmp_path / "run").reason == "result.json is no plain file"


def test_stopped_check_is_left_to_next_run(tmp_path: Path) -> None:
    stop = threading.Event()

    def stopped(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        stop.set()
        return Ended(Cause.STOPPED, None, wall_s=1.0)

    outcomes = carry_out(tmp_path / "run", Checking([stopped]), checked(), stop=stop)

    assert [one.status for one in outcomes] == [Status.NOT_RUN]
    assert Checks(Run(tmp_path / "run")).outcome(CHECK) is None
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, checked())
    assert modes(runtime) == ["parity", "train"]


def test_a_cell_without_a_device_has_no_check(tmp_path: Path) -> None:
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, checked(a_cell(system=System("4_gpu", gpus=4))))

    assert runtime.launched == []


def test_own_model_lies_with_its_check(tmp_path: Path) -> None:
    """A model of the user's own goes next to the request of its check."""
    own = ModelFile("lenet", "TITLE = 'mine'\n", "ab" * 32)
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, replace(checked(), models=(own,)))

    assert runtime.launched[0]["model_file"] == "model.py"
    assert (tmp_path / "run/parity" / CHECK / "model.py").read_text() == own.source


def test_environment_options_reach_the_check(tmp_path: Path) -> None:
    """Environment variables among the options reach the check as environment variables."""
    cell = replace(a_cell(), options=(("env.MODE", "fast"), ("xla", True)))
    runtime = Checking()
    carry_out(tmp_path / "run", runtime, checked(cell))

    assert (runtime.launched[0]["options"], runtime.launched[0]["variables"]) == ({"xla": True}, {"MODE": "fast"})
    assert runtime.tasks[0].variables == (("MODE", "fast"),)


def test_only_answers_of_own_machine_are_reused(tmp_path: Path) -> None:
    """A later run takes over the answers of its own machine alone."""
    asked = []
    for number, cpu in enumerate(("Example CPU", "Example CPU", "Another CPU")):
        runtime = Checking()
        around, _ = surroundings(tmp_path / f"run-{number}", runtime)
        here = replace(around.inventory, cpu_model=cpu)
        list(execute(checked(), replace(around, inventory=here, answers=tmp_path / "answers"), Policy()))
        asked.append(modes(runtime))

    assert asked == [["parity", "train"], ["train"], ["parity", "train"]]
