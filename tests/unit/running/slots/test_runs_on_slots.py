"""Runs whose cells go side by side on fake GPUs: what each gets, what is recorded, and who keeps out of whose way."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import pytest

from orchestrator.analysis.ratios import Rank
from orchestrator.devices.shares import shares
from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.devices.watch.marks import GpuMark, lost
from orchestrator.domain import Cell, Mode, Outcome, Status, System, Workload
from orchestrator.errors import HostError
from orchestrator.events import Event
from orchestrator.processes import Stop, Watch
from orchestrator.reporting.findings.compose import compose
from orchestrator.results.evidence import Stored
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.running.host_lock.lock import Turn, Turns
from orchestrator.running.slots import Slots
from orchestrator.runtimes import Ended, Task
from tests.unit.reporting import synthetic as s
from tests.unit.running.running_fakes import NOW, FakeRuntime, a_cell, a_plan, measured, statuses
from tests.unit.running.slots.virtual_host import GPUS, HOST, ONE, TWO

CPU = System("cpu", cpus=2)


@dataclass
class Watching(FakeRuntime):
    """A fake runtime that counts what is on each GPU while it runs, and has each repeat wait for others."""

    meet: Callable[[Task], object] = lambda task: None
    most: Counter[str] = field(default_factory=Counter)
    """The most that was on each device at once; `host` counts all."""
    _now: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        devices = ["host", *(gpu.uuid for gpu in task.allocation.gpus), *(f"cpu{cpu}" for cpu in task.allocation.cpus)]
        with self._lock:
            self._now.update(devices)
            self.most |= self._now
        self.meet(task)
        try:
            with self._lock:
                return super().launch(task, stop=stop, watch=watch)
        finally:
            with self._lock:
                self._now.subtract(devices)


def cells(system: System, number: int, *, groups: int, repeats: int = 1) -> list[Cell]:
    return [
        replace(
            a_cell(f"{system.name}-{each}", system),
            workload=Workload("lenet", Mode.TRAIN, 1 + each % groups),
            repeats=repeats,
        )
        for each in range(number)
    ]


def on_slots(folder: Path, runtime: FakeRuntime, stop: Stop | None = None) -> Surroundings:
    folder.mkdir(parents=True, exist_ok=True)
    slots = Slots(shares(HOST), lambda cell: 10.0)
    events: list[Event] = []
    return Surroundings(
        Run(folder), runtime, HOST, lambda: NOW, events.append, stop or threading.Event(), Turns(), slots=slots
    )


def by_cell(outcomes: list[Outcome]) -> dict[str, Outcome]:
    return {outcome.cell_id: outcome for outcome in outcomes}


def test_two_never_meet_on_a_device(tmp_path: Path) -> None:
    """Cells of one and two GPUs and of the CPU: at most one at a time on every GPU and every CPU."""
    runtime = Watching()
    plan = a_plan(*cells(ONE, 24, groups=8, repeats=3), *cells(TWO, 4, groups=4, repeats=3), *cells(CPU, 2, groups=1))
    outcomes = list(execute(plan, on_slots(tmp_path, runtime)))

    assert statuses(outcomes) == [Status.OK] * (3 * 28 + 2)
    assert {device: most for device, most in runtime.most.items() if most > 1 and device != "host"} == {}
    assert {outcome.beside for outcome in outcomes if "cpu-" in outcome.cell_id} == {""}
    assert {len(outcome.ran_on.split(", ")) for outcome in outcomes if "2_gpu" in outcome.cell_id} == {2}


def test_cells_on_different_gpus_run_at_once(tmp_path: Path) -> None:
    """Eight cells that wait for each other end; each names the seven others, and has its own CPUs and memory."""
    together = threading.Barrier(8, timeout=60)
    runtime = Watching(meet=lambda task: together.wait())
    outcomes = list(execute(a_plan(*cells(ONE, 8, groups=8)), on_slots(tmp_path, runtime)))

    assert runtime.most["host"] == 8
    assert {len(outcome.beside.split(", ")) for outcome in outcomes} == {7}
    assert {outcome.ran_on for outcome in outcomes} == {gpu.uuid for gpu in GPUS}
    assert {len(task.allocation.cpus) for task in runtime.tasks} == {4}
    assert {task.allocation.memory_bytes for task in runtime.tasks} == {HOST.memory_bytes // 8}
    assert Run(tmp_path).outcome(outcomes[0].cell_id, 0) == outcomes[0]


@pytest.mark.parametrize("pins_cpus", [True, False])
def test_cells_and_checks_pin_themselves_to_their_share(tmp_path: Path, pins_cpus: bool) -> None:
    """Without a runtime that confines them, each is asked to keep to the CPUs that go with its GPU."""
    runtime = Watching(pins_cpus=pins_cpus)
    list(execute(replace(a_plan(*cells(ONE, 8, groups=8)), parity=True), on_slots(tmp_path, runtime)))
    asked = [(request["mode"], request["cpuset"]) for request in runtime.launched]
    given = [None if pins_cpus else list(task.allocation.cpus) for task in runtime.tasks]

    assert {mode for mode, _ in asked} == {"parity", "train"}
    assert [cpuset for _, cpuset in asked] == given
    assert all(len(task.allocation.cpus) == 4 for task in runtime.tasks)


def test_cells_of_a_group_share_their_gpu(tmp_path: Path) -> None:
    """The cells that are compared run on one GPU in each repeat, and on another in the next."""
    outcomes = list(execute(a_plan(*cells(ONE, 4, groups=1, repeats=8)), on_slots(tmp_path, Watching())))
    used = [{each.ran_on for each in outcomes if each.repeat == repeat} for repeat in range(8)]

    assert [len(each) for each in used] == [1] * 8
    assert len(set.union(*used)) > 4


def test_differences_between_gpus_change_no_ranking(tmp_path: Path) -> None:
    """Eight GPUs, each 5 % slower than the one before, and cells 2 % apart: the report ranks them from 1 to 5."""
    slowness = {gpu.uuid: 1.05**gpu.index for gpu in GPUS}
    plan = a_plan(*cells(ONE, 5, groups=1, repeats=5))
    true_rate = {cell.id: 1000 / 1.02**number for number, cell in enumerate(plan.cells)}
    by_id = {cell.id: cell for cell in plan.cells}
    stored = [
        Stored(each, s.result(by_id[each.cell_id], each.repeat, rate, spread=0.002))
        for each in execute(plan, on_slots(tmp_path, Watching()))
        if (rate := true_rate[each.cell_id] / slowness[each.ran_on])
    ]
    (group,) = compose(s.record(plan), plan, stored).groups

    assert [place.cell_id for place in group.places] == list(true_rate)
    assert [place.rank for place in group.places] == [Rank(place, place) for place in range(1, 6)]


def test_interrupted_group_goes_on_where_it_was(tmp_path: Path) -> None:
    plan = a_plan(*cells(ONE, 2, groups=1))
    first, second = plan.cells
    on_gpu_5 = Outcome(first.id, 0, Status.OK, ran_on="GPU-5")
    Run(tmp_path).write_outcome(on_gpu_5)
    (tmp_path / first.id / "0" / "result.json").write_text("{}")
    (outcome,) = execute(plan, on_slots(tmp_path, Watching()))

    assert (outcome.cell_id, outcome.ran_on) == (second.id, "GPU-5")


def test_stop_leaves_the_rest_not_run(tmp_path: Path) -> None:
    stop = threading.Event()
    runtime = Watching(meet=lambda task: stop.set())
    outcomes = list(execute(a_plan(*cells(ONE, 30, groups=30)), on_slots(tmp_path, runtime, stop)))

    assert len(outcomes) == 30
    assert 1 <= len(runtime.tasks) <= 8
    assert statuses(outcomes).count(Status.NOT_RUN) >= 22


def test_fail_fast_begins_nothing_further(tmp_path: Path) -> None:
    def failing(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        return replace(measured(task, request, watch), exit_code=1)

    runtime = Watching([failing] * 8)
    outcomes = list(execute(a_plan(*cells(ONE, 40, groups=40)), on_slots(tmp_path, runtime), Policy(fail_fast=True)))

    assert len(runtime.tasks) <= 16
    assert "left out after" in outcomes[-1].reason


def test_lost_results_folder_ends_the_run(tmp_path: Path) -> None:
    """An error of the whole run is raised once what runs has ended."""
    folder = tmp_path / "run"
    runtime = Watching(meet=lambda task: folder.rename(tmp_path / "gone") if folder.exists() else None)

    with pytest.raises((HostError, OSError)):
        list(execute(a_plan(*cells(ONE, 3, groups=3)), on_slots(folder, runtime)))


@pytest.mark.parametrize(
    ("mine", "theirs", "waits"),
    [
        (("GPU-0",), ("GPU-1",), False),
        (("GPU-0", "GPU-1"), ("GPU-1",), True),
        (("GPU-0",), (), True),
        ((), ("GPU-0",), True),
    ],
)
def test_runs_lock_the_host_or_gpus(
    mine: tuple[str, ...], theirs: tuple[str, ...], waits: bool, tmp_path: Path
) -> None:
    """Runs on different GPUs measure at once; a cell that has the host to itself waits for all others."""
    file, stop = tmp_path / "measuring.lock", threading.Event()
    turn = Turn("run", "cell", lambda: NOW)

    def stopping(event: Event) -> None:
        """Stop a run as soon as it says that it waits."""
        stop.set()

    holder, other = Turns((file,)), Turns((file,))
    with (
        holder.taken(turn, lambda event: None, threading.Event(), mine) as first,
        other.taken(turn, stopping, stop, theirs) as second,
    ):
        assert (first, second) == (True, not waits)


def test_cells_of_other_runs_are_named_too(tmp_path: Path) -> None:
    """A run on another GPU measures at the same time, as both lock their own GPUs."""
    file, turn = tmp_path / "measuring.lock", Turn("another", "some/cell", lambda: NOW)
    around = replace(on_slots(tmp_path / "run", Watching()), turns=Turns((file,)))
    with Turns((file,)).taken(turn, lambda event: None, threading.Event(), ("GPU-elsewhere",)) as mine:
        assert mine
        (met,) = execute(a_plan(*cells(ONE, 1, groups=1)), around)
    (alone,) = execute(a_plan(*cells(TWO, 1, groups=1)), replace(around, run=Run(tmp_path / "run")))

    assert met.beside == "some/cell (run another)"
    assert alone.beside == ""


class LosingGpu0(GpuWatch):
    """A watch that finds GPU 0 lost whenever it is used, and asks no driver."""

    def __enter__(self) -> Self:
        return self

    def marks(self, timed: object = ()) -> tuple[GpuMark, ...]:
        return tuple(lost(gpu, "fell off the bus") for gpu in self.gpus if gpu.uuid == "GPU-0")


@pytest.mark.parametrize("parity", [False, True])
def test_another_gpu_takes_what_is_left_of_a_group(tmp_path: Path, parity: bool) -> None:
    """Cells that are compared share a GPU. Once it has failed twice, the rest of them goes to another one."""
    around = replace(on_slots(tmp_path, Watching()), gpu_watch=lambda allocation: LosingGpu0(allocation.gpus))
    plan = replace(a_plan(*cells(ONE, 8, groups=1)), parity=parity)
    outcomes = list(execute(plan, around))
    ran_on = Counter(outcome.ran_on for outcome in outcomes)

    assert statuses(outcomes) == [Status.OK] * 8
    assert ran_on["GPU-0"] <= 2
    assert sorted(ran_on.values()) == ([1, 7] if parity else [2, 6])


def test_failed_gpu_leaves_the_pool(tmp_path: Path) -> None:
    """A GPU that is lost twice takes no further cell, and the others take its share."""
    around = replace(on_slots(tmp_path, Watching()), gpu_watch=lambda allocation: LosingGpu0(allocation.gpus))
    outcomes = list(execute(a_plan(*cells(ONE, 40, groups=40)), around))
    on_gpu_0 = [outcome for outcome in outcomes if outcome.ran_on == "GPU-0"]

    assert len(on_gpu_0) == 2
    assert statuses(outcomes) == [Status.OK] * 40
