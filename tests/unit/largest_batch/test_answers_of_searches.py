"""The answer of a search: what a host believes, what it makes of it, and what decides between two releases."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.measurements import repeat_measurement
from orchestrator.devices import Allocation
from orchestrator.domain import Cell, Mode, Outcome, Status, System, Workload
from orchestrator.modes.parts.largest_batch import GAP, LARGEST_BATCH
from orchestrator.processes import Cause
from orchestrator.regression.rules import DEFAULT_GATES, Rules
from orchestrator.regression.trials.carry_out import carry_out
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.tables import largest_batches
from orchestrator.results.contract import Request, Result
from orchestrator.results.evidence import Stored
from orchestrator.running import Policy
from orchestrator.running.classify import discrepancy
from orchestrator.running.requests import request_for
from orchestrator.runtimes import Ended, Task
from tests.unit.devices.watch.fake_driver import GPU_A
from tests.unit.largest_batch.test_refused_batches import SEARCH, result_of_search
from tests.unit.regression.conftest import Pairer
from tests.unit.regression.trials.bench_trials import CPU, Bench, begin
from tests.unit.reporting import synthetic
from tests.unit.running.running_fakes import surroundings

CELL = replace(SEARCH, system=System("2_gpu", gpus=2))
REQUEST = request_for(CELL, 0, "fakebuilder", 11, Allocation((0,)), pinned=True)


def answer(request: Request = REQUEST, **changes: Any) -> Result:
    """A result of a search, with changes of the search."""
    document = result_of_search(request.model_dump(by_alias=True))
    document["largest_batch"].update(changes)  # type: ignore[attr-defined]
    return Result.model_validate(document)


def tries(*sizes: int, refused: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    return [{"batch_size": size, "fits": size not in refused, "wall_s": 1.0} for size in (*sizes, *refused)]


def searched(planned: Cell, fits: int) -> list[Stored]:
    """Three repeats that found the same batch."""
    request = request_for(planned, 0, "fakebuilder", 11, Allocation((0,)), pinned=True).model_dump(by_alias=True)
    result = Result.model_validate(result_of_search(request, fits, fits + 2))
    return [Stored(Outcome(planned.id, repeat, Status.OK), result) for repeat in range(3)]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"fits": 990}, "result.json has a largest batch that is not that of its tries"),
        ({"refused": 1009}, "result.json has a largest batch that is not that of its tries"),
        (
            {"refused": 1012, "tries": tries(1000, refused=(1012,))},
            "result.json has a largest batch of 1000, and the next one refused is 1012",
        ),
        ({"refused": None, "tries": tries(1000)}, "result.json has no batch above 1000 that was refused"),
        ({"refused": None, "tries": tries(1000), "bounded_by": 1001}, None),
        (
            {"refused": None, "tries": tries(1000), "bounded_by": 1002},
            "result.json has no batch above 1000 that was refused",
        ),
    ],
)
def test_a_search_must_hold_its_limit(changes: dict[str, Any], reason: str | None) -> None:
    """The gap is 1 %, or one sample for each of the GPUs."""
    assert discrepancy(REQUEST, answer(**changes)) == reason


def test_a_search_answers_only_its_request() -> None:
    timed = REQUEST.model_copy(update={"largest_batch": False})
    none = answer().model_copy(update={"largest_batch": None})

    assert discrepancy(timed, answer()) == "result.json has a search for the largest batch"
    assert discrepancy(REQUEST, none) == "result.json has no search for the largest batch"


def test_the_metric_is_no_default_gate() -> None:
    """Other cells lack it, and what decides of them is as it was."""
    measured = repeat_measurement(answer(), None)

    assert LARGEST_BATCH.take is not None
    assert LARGEST_BATCH.take(measured) == 1000
    assert "largest_batch" not in {gate.metric for gate in DEFAULT_GATES}
    assert LARGEST_BATCH.tolerance > GAP


@pytest.mark.parametrize(
    ("candidate", "verdict"), [(900, Verdict.SLOWER), (1005, Verdict.SAME), (1100, Verdict.FASTER)]
)
def test_a_smaller_batch_is_a_regression(tmp_path: Path, pair: Pairer, candidate: int, verdict: Verdict) -> None:
    """It decides between two releases without being named."""

    def search(task: Task) -> Ended:
        request = json.loads((task.folder / "request.json").read_text())
        fits = candidate if "1.9.1" in request["cell"] else 1000
        found = {**result_of_search(request, fits, fits + 5), "facts": CPU}
        (task.folder / "result.json").write_text(json.dumps(found))
        return Ended(Cause.EXITED, 0, wall_s=1.0)

    text = "systems: {1_gpu: {gpus: 1}}\nmodels: [{name: lenet, batch_size: max}]\nparity: false"
    trial = begin(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1", text), Rules(looks=(3,), confirm=False))
    around, _ = surroundings(tmp_path / "run", Bench(ends={"bmax": search}))
    around = replace(around, inventory=replace(around.inventory, gpus=(GPU_A,)))
    (judged,) = carry_out(trial, around, Policy(), ()).regression.pairs

    (metric,) = judged.metrics
    assert (metric.metric, metric.gates, judged.verdict) == ("largest_batch", True, verdict)
    assert metric.ratio == pytest.approx(candidate / 1000)


def test_reports_rank_no_search() -> None:
    """Searches have a table of their own, the largest batch first, and no throughput."""
    work = Workload("lenet", Mode.TRAIN, 200, searches=True)
    system = System("1_gpu", gpus=1)
    one, other = (synthetic.cell(each, work, system=system) for each in (synthetic.MXNET, synthetic.TORCH))
    planned = synthetic.plan([one, other])
    stored = [*searched(one, 1000), *searched(other, 1200)]
    report = compose(synthetic.record(planned), planned, stored)

    assert report.groups == ()
    assert [cell.measurement for cell in report.cells] == [None, None]
    rows = list(largest_batches.rows(report.searches))
    assert [row[:3] for row in rows] == [
        ("lenet-train-bmax on 1_gpu", "torch 2.13.0", "1,200"),
        ("lenet-train-bmax on 1_gpu", "mxnet 1.9.1", "1,000"),
    ]
    assert {row[-1] for row in rows} == {"3 ok"}
