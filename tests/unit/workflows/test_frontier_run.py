"""A run that finds a frontier: which cells it measures, what it records of the others, and what its report says."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bench.networks.frontier import beaten_by, not_offered
from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.frontier.points import FrontierPoint
from orchestrator.domain import Cell, Mode, Plan, System, Workload
from orchestrator.errors import InputError
from orchestrator.modes.parts.frontier import SIZES, Frontier
from orchestrator.processes import Cause, Stop, Watch
from orchestrator.reporting.findings.compose import report
from orchestrator.reporting.findings.tables.frontiers import frontiers, rows
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run
from orchestrator.running import Policy
from orchestrator.runtimes import Ended, Task
from orchestrator.workflows.measure.frontier_run import LEFT_OUT, first_plan, frontier_run
from orchestrator.workflows.run import RunOptions, _with_first
from tests.unit.regression.trials.bench_trials import CPU, Bench
from tests.unit.running.running_fakes import a_cell, a_plan, result_for, surroundings

FULL_AT = 16
"""Samples that fill the fake device, which takes the same for fewer."""


def step_s(cell: str, size: int) -> float:
    slow = 3.0 if "slow" in cell else 1.0
    return slow * (0.002 + 0.001 * max(size, FULL_AT))


@dataclass
class FakeDevice(Bench):
    """A fake device whose steps take known times."""

    step_s: Callable[[str, int], float] = step_s
    most: int = 1000
    """The largest batch that it holds."""

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        request = json.loads((task.folder / "request.json").read_text())
        if request["mode"] == "parity" or self.stop_after is not None:
            return super().launch(task, stop=stop, watch=watch)
        self.launched.append(request)
        task.log.write_text("it ran\n")
        size = request["batch_size"]
        if size > self.most:
            return Ended(Cause.EXITED, 6, wall_s=1.0)
        each_s = self.step_s(request["cell"], size) * (1 + 0.001 * request["repeat"])
        steps = max(50, round(0.25 / each_s))
        blocks = [{"steps": steps, "samples": steps * size, "wall_s": steps * each_s, "cpu_s": 0.1}] * 10
        latencies = [each_s] * request["latency_steps"]
        answer = result_for(request, blocks=blocks, latency_s=latencies, loss=None, facts=CPU)
        (task.folder / "result.json").write_text(json.dumps(answer))
        return Ended(Cause.EXITED, 0, wall_s=1.0, create_s=0.2)


def cells(suffix: str = "") -> list[Cell]:
    return [
        replace(
            a_cell(f"lenet-infer-b{size}{suffix}", System("cpu", cpus=1)),
            workload=Workload("lenet", Mode("infer"), size),
            options=(("kind", suffix),),
            frontier=Frontier((0.019, 0.1)),
            repeats=3,
        )
        for size in SIZES
    ]


def begun(folder: Path, plan: Plan) -> Run:
    run = Run(folder)
    folder.mkdir(parents=True)
    run.write_record(
        RunRecord(
            run=run.name, created_at="2026-11-21T15:30:00+00:00", orchestrator_version="0", runtime="fake",
            host={"hostname": "here"}, plan=plan_to_json(first_plan(plan)), matrix={},
        )
    )  # fmt: skip
    return run


def go_on(run: Run, device: Bench) -> None:
    around, _ = surroundings(run.folder, device, device.stop)
    frontier_run(around, Policy(seed=3)).carry_out()


def sizes(run: Run) -> list[int]:
    return sorted(cell.workload.batch_size for cell in run.plan().cells)


def test_first_cells_stand_far_apart() -> None:
    plan = first_plan(a_plan(*cells(), a_cell("other")))

    assert [cell.workload.batch_size for cell in plan.cells] == [1, 6, 24, 10]
    assert len(plan.skips) == len(SIZES) - 3
    assert all(skip.reason.startswith(LEFT_OUT) for skip in plan.skips)


def test_run_adds_cells_until_the_frontier_is_known(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", a_plan(*cells()))
    go_on(run, FakeDevice())

    measured = sizes(run)
    assert {1, 6, 24} < set(measured)
    assert len(measured) <= 7
    reasons = {skip.cell_id: skip.reason.removeprefix(LEFT_OUT).partition(":")[0] for skip in run.plan().skips}
    assert len(reasons) == len(SIZES) - len(measured)
    assert set(reasons.values()) <= {"straight", "dominated", "saturated"}


def test_best_within_a_limit_is_measured(tmp_path: Path) -> None:
    """A size on a line, which nothing else asks for, is measured if it is the best within a limit."""
    run = begun(tmp_path / "run", a_plan(*cells()))
    go_on(run, FakeDevice(step_s=lambda _cell, size: 0.005 + 0.001 * size))
    (found,) = frontiers(report(run))

    assert {limit_s: point.size for limit_s, point in found.best if point} == {0.019: 12, 0.1: 64}
    assert {12, 64} <= set(sizes(run))


def test_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """A run that is stopped and goes on measures the same cells as one that is not, each once."""
    whole, device = begun(tmp_path / "whole", a_plan(*cells())), FakeDevice()
    go_on(whole, device)
    run, stopped = begun(tmp_path / "run", a_plan(*cells())), FakeDevice(stop_after=4)
    go_on(run, stopped)
    go_on(run, again := FakeDevice())

    assert sizes(run) == sizes(whole)
    assert len(again.measured) < len(device.measured)
    assert again.measured


def test_what_does_not_fit_ends_the_climb(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", a_plan(*cells()))
    go_on(run, FakeDevice(most=24))

    assert max(sizes(run)) <= 96
    assert any("failed: a batch of" in skip.reason for skip in run.plan().skips)


TIMES_MS = {(1, "fp32"): (1.0, 1.0), (2, "fp32"): (2.5, 0.55), (1, "bf16"): (1.5, 0.7), (2, "bf16"): (4.0, 0.4)}
"""Milliseconds of a step, and of each sample in it, by CPUs and precision. Two CPUs wait for each other."""


def by_cpus_and_precision(cell: str, size: int) -> float:
    work = cell.partition("/")[2]
    of_step, of_sample = TIMES_MS[2 if "two" in work else 1, "bf16" if "bf16" in work else "fp32"]
    return (of_step + of_sample * size) / 1e3


def of_cpus_and_precisions() -> list[Cell]:
    return [
        replace(cell, system=System(name, cpus=cpus), options=(("precision", precision),))
        for cpus, name in ((1, "one"), (2, "two"))
        for precision in ("fp32", "bf16")
        for cell in cells(f"-{name}-{precision}")
    ]


def test_frontier_is_over_cpus_and_precisions(tmp_path: Path) -> None:
    """Four series are one frontier. A search takes few of their cells, and names what the whole grid does."""
    every = of_cpus_and_precisions()
    run = begun(tmp_path / "run", a_plan(*every))
    go_on(run, FakeDevice(step_s=by_cpus_and_precision))
    (frontier,) = frontiers(report(run))

    assert len(frontier.series) == len(TIMES_MS)
    assert len(run.plan().cells) <= 0.4 * len(every)
    found = {series.label: {point.size: point for point in series.points} for series in frontier.series}
    grid: dict[str, dict[int, FrontierPoint]] = {}
    for cell in every:
        size, each_s = cell.workload.batch_size, by_cpus_and_precision(cell.id, cell.workload.batch_size)
        label = f"{cell.system.name} · precision={dict(cell.options)['precision']}"
        grid.setdefault(label, {})[size] = FrontierPoint(size, estimate([each_s]), estimate([size / each_s]))
    assert set(found) == set(grid)
    assert list(not_offered(found, grid)) == list(beaten_by(found, grid)) == []
    best = {limit_s: point for limit_s, point in frontier.best if point}
    assert best[0.019] in found["two · precision=bf16"].values()
    assert (best[0.019].size, best[0.1].size) == (32, 192)


def test_report_marks_the_best_within_each_limit(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", a_plan(*cells(), *cells("-slow")))
    go_on(run, FakeDevice())
    (found,) = frontiers(report(run))
    table = list(rows(found))

    assert found.title == "fake 1, lenet-infer"
    best = [(row[0], row[1], row[7:]) for row in table if "best" in " ".join(row[7:])]
    under = {limit_s: point.size for limit_s, point in found.best if point}
    assert under[0.019] <= FULL_AT
    assert under[0.1] > FULL_AT
    assert len(best) == 2
    assert all("slow" not in row[0] or row[6] == "–" for row in table), (
        "what is three times as slow is off the frontier"
    )


def test_page_draws_the_frontier_with_intervals(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", a_plan(*cells()))
    go_on(run, FakeDevice())
    page, text = (render(RUN, report(run), name) for name in ("html", "md"))

    assert page.count('class="curve frontier"') == 1
    assert page.count('class="interval"') >= 2 * len(sizes(run))
    assert 'class="ring"' in page
    assert '<line class="change"' in page
    assert ":is(figure.history, figure.frontier) .change { stroke:" in page, "the line of a limit is not drawn"
    assert "## Latency and throughput: fake 1, lenet-infer" in text
    assert "Best within 19.0 ms" in text


def test_until_decided_refuses_a_frontier(tmp_path: Path) -> None:
    from orchestrator.build_settings import BuildSettings
    from orchestrator.workflows.measure.jobs import Job
    from orchestrator.workflows.option_values import RuntimeName

    job = Job(a_plan(*cells()), BuildSettings(), Run(tmp_path / "run"), RuntimeName.HOST, {})
    with pytest.raises(InputError, match="leave one of them out"):
        _with_first(job, RunOptions(until_decided=True))
