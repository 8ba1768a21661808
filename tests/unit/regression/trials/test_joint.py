"""Joint trials on a fake runtime: several releases in the same blocks, and those that cannot be compared."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import HostError, InputError
from orchestrator.processes import Stop, Watch
from orchestrator.regression.joint_plan import JointPlan, joint_plan
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Gate
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.files import blocks_follow_sight
from orchestrator.regression.trials.joint import (
    JointSide,
    JointTrial,
    recorded_packages,
    store_joint_trial,
    stored_joint_trial,
)
from orchestrator.regression.trials.joint_result import JointResult, carry_out_joint
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run
from orchestrator.running import Policy
from orchestrator.runtimes import Ended, Task
from tests.unit.regression.trials.bench_trials import Bench, at, crash, lost, steady, unbuildable
from tests.unit.running.running_fakes import surroundings

Pair = Callable[..., Pairing]
RELEASES = ("1.4.1", "1.5.1", "1.9.1")
GATE = Gate("throughput", 0.02)


@pytest.fixture
def planned(pair: Pair) -> JointPlan:
    return joint_plan(
        [Side("mxnet", release) for release in RELEASES], lambda one, other: pair(one.text, other.text), 4
    )


def begun(folder: Path, planned: JointPlan, gate: Gate = GATE, seed: int = 3) -> JointTrial:
    """Write what a run must hold before a joint trial is carried out."""
    sides = tuple(JointSide(Side("mxnet", text.partition("==")[2]), cell) for text, cell in planned.cells.items())
    trial = JointTrial(sides, gate, 4, seed, planned.reasons)
    run = Run(folder)
    run.folder.mkdir(parents=True)
    store_joint_trial(run, trial)
    record = RunRecord(
        run=run.name, created_at="2026-11-21T15:30:00+00:00", orchestrator_version="0", runtime="fake",
        host={"hostname": "here"}, plan=plan_to_json(planned.plan), matrix={},
    )  # fmt: skip
    run.write_record(record)
    return trial


def image_of(planned: JointPlan, release: str) -> str:
    return next(image.name for image in planned.plan.images if release in image.name)


def carried_out(folder: Path, bench: Bench) -> JointResult | None:
    around, _ = surroundings(folder, bench, bench.stop)
    trial = stored_joint_trial(Run(folder))
    return carry_out_joint(trial, around, Policy(trial.seed))


def tried(folder: Path, planned: JointPlan, bench: Bench) -> JointResult:
    begun(folder, planned)
    result = carried_out(folder, bench)
    assert result is not None
    return result


def test_every_block_holds_each_release_once(tmp_path: Path, planned: JointPlan) -> None:
    bench = Bench(rate=steady(**{"1.9.1": 0.9}))
    result = tried(tmp_path / "run", planned, bench)

    assert (result.run, result.reasons) == ("run", {})
    assert {text: len(values) for text, values in result.values.items()} == dict.fromkeys(planned.cells, 4)
    old, new = (result.values[f"mxnet=={release}"] for release in ("1.5.1", "1.9.1"))
    assert all(0.85 < (other or 0) / (one or 1) < 0.95 for one, other in zip(old, new, strict=True))
    blocks = [bench.measured[place : place + 3] for place in range(0, 12, 3)]
    assert [{cell for cell, _ in block} for block in blocks] == [{*planned.cells.values()}] * 4
    assert len({tuple(cell for cell, _ in block) for block in blocks}) > 1
    assert {each["cell"] for each in bench.launched if each["mode"] == "parity"}


def test_each_trial_has_an_order_of_its_own(tmp_path: Path, planned: JointPlan) -> None:
    orders = []
    for seed in range(3):
        bench = Bench()
        begun(tmp_path / str(seed), planned, seed=seed)
        carried_out(tmp_path / str(seed), bench)
        orders.append(tuple(bench.measured))

    assert len(set(orders)) == 3


def test_a_killed_trial_measures_nothing_twice(tmp_path: Path, planned: JointPlan) -> None:
    killed, rest = Bench(stop_after=5), Bench()
    begun(tmp_path / "run", planned)

    assert carried_out(tmp_path / "run", killed) is None
    result = carried_out(tmp_path / "run", rest)

    assert result is not None
    assert result == tried(tmp_path / "again" / "run", planned, Bench())
    assert 0 < len(rest.measured) < 12


@pytest.mark.parametrize("culprit", RELEASES)
def test_the_release_that_crashes_is_left_out(tmp_path: Path, planned: JointPlan, culprit: str) -> None:
    """Whichever it is, also the reference of all others."""
    result = tried(tmp_path / "run", planned, Bench(ends={culprit: at(crash, 0, 1, 3)}))

    assert list(result.reasons) == [f"mxnet=={culprit}"]
    assert result.reasons[f"mxnet=={culprit}"].startswith("failed: ")
    assert set(result.values) == {*planned.cells} - {f"mxnet=={culprit}"}


def test_a_single_crash_leaves_its_block_without_a_value(tmp_path: Path, planned: JointPlan) -> None:
    result = tried(tmp_path / "run", planned, Bench(ends={"1.9.1": at(crash, 2)}))

    assert result.reasons == {}
    assert [value is None for value in result.values["mxnet==1.9.1"]] == [False, False, True, False]


def test_a_release_that_does_other_work_is_left_out(tmp_path: Path, planned: JointPlan) -> None:
    golden = json.loads((Path(__file__).parents[3] / "golden/contract/parity.json").read_text())
    other = {"losses": {step: 2 * loss for step, loss in golden["losses"].items()}}
    result = tried(tmp_path / "run", planned, Bench(parity={"1.9.1": other}))

    assert list(result.reasons) == ["mxnet==1.9.1"]
    assert result.reasons["mxnet==1.9.1"].startswith("parity: ")


def test_another_environment_is_not_compared(tmp_path: Path, planned: JointPlan) -> None:
    result = tried(tmp_path / "run", planned, Bench(facts={"1.5.1": {"threads": 1}}))

    assert result.reasons == {"mxnet==1.5.1": "environment: threads 2 against 1"}


def test_what_does_not_build_is_left_out(tmp_path: Path, planned: JointPlan) -> None:
    image = image_of(planned, "1.5.1")
    bench = Bench(unavailable={image: unbuildable(image)})
    result = tried(tmp_path / "run", planned, bench)

    assert result.reasons == {"mxnet==1.5.1": "build_failed: no matching distribution"}


def test_what_the_engine_does_not_start_is_left_out(tmp_path: Path, planned: JointPlan) -> None:
    result = tried(tmp_path / "run", planned, Bench(ends={"1.5.1": lost}))

    assert list(result.reasons) == ["mxnet==1.5.1"]
    assert result.reasons["mxnet==1.5.1"].startswith("launch_failed: ")


class _Weightless(Bench):
    """Reports no memory for one release in two blocks."""

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        ended = super().launch(task, stop=stop, watch=watch)
        path = task.folder / "result.json"
        request = json.loads((task.folder / "request.json").read_text())
        if request["mode"] == "train" and "1.9.1" in request["cell"] and request["repeat"] < 2:
            result = json.loads(path.read_text())
            path.write_text(json.dumps(result | {"memory": {**result["memory"], "peak_rss_bytes": 0}}))
        return ended


def test_zero_has_no_ratio(tmp_path: Path, planned: JointPlan) -> None:
    """A release whose metric is 0 in some blocks cannot be compared, and the reason says so."""
    begun(tmp_path / "run", planned, Gate("peak_memory", 0.05))
    result = carried_out(tmp_path / "run", _Weightless())

    assert result is not None
    assert result.reasons == {"mxnet==1.9.1": "peak memory is 0 in 2 of 4 blocks"}


def test_sides_that_cannot_be_planned_have_a_reason(pair: Pair) -> None:
    def refusing(one: Side, other: Side) -> Pairing:
        if other.version == "1.5.1":
            raise InputError("the catalog has no such release")
        return pair(one.text, other.text)

    joint = joint_plan([Side("mxnet", release) for release in RELEASES], refusing, 4)

    assert joint.reasons == {"mxnet==1.5.1": "the catalog has no such release"}
    assert list(joint.cells) == ["mxnet==1.4.1", "mxnet==1.9.1"]
    assert {cell.repeats for cell in joint.plan.cells} == {4}
    assert len(joint.plan.images) == 2
    with pytest.raises(InputError, match="the catalog has no such release"):
        joint_plan([Side("mxnet", "1.4.1"), Side("mxnet", "1.5.1")], refusing, 4)


def test_a_host_without_a_device_is_no_answer(tmp_path: Path, pair: Pair) -> None:
    text = "systems: {cpu: {cpus: 64}}"
    sides = [Side("mxnet", release) for release in RELEASES]
    planned = joint_plan(sides, lambda one, other: pair(one.text, other.text, text), 4)
    begun(tmp_path / "run", planned)

    with pytest.raises(HostError, match=r"mxnet 1\.4\.1: no_device"):
        carried_out(tmp_path / "run", Bench())


def test_blocks_of_a_joint_trial_follow_what_was_seen(tmp_path: Path, planned: JointPlan) -> None:
    versions = {image_of(planned, "1.9.1"): (("numpy", "1.23.5"),)}
    tried(tmp_path / "run", planned, Bench(versions=versions))
    run = Run(tmp_path / "run")

    assert blocks_follow_sight(run)
    assert recorded_packages(run, Side("mxnet", "1.9.1")) == {"numpy": "1.23.5"}
