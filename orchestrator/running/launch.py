"""One launch of a repeat, from its request to its outcome."""

from collections.abc import Iterator
from pathlib import Path

from orchestrator.devices import Allocation
from orchestrator.devices.disturbance import Disturbance, judge
from orchestrator.devices.gpu_gate import GateEnd
from orchestrator.devices.idle import IdleWait
from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.domain import Cell, Outcome, Plan, Status
from orchestrator.events import Notice, PhaseChanged
from orchestrator.processes import Cause, LostError, StartError, tail
from orchestrator.results.contract import Request, Result
from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.files.trees import reclaim
from orchestrator.results.scripts import copies as script_copies
from orchestrator.results.scripts.contract import with_script
from orchestrator.results.telemetry.contract import spans
from orchestrator.results.telemetry.files import write_telemetry
from orchestrator.running.attempts import Attempts
from orchestrator.running.classify import Classification, classify
from orchestrator.running.folders import LOG, PhaseWatch, answer, note, relative
from orchestrator.running.output import OutputWatches
from orchestrator.running.requests import request_for, with_data, with_files, with_network
from orchestrator.running.surroundings import Surroundings
from orchestrator.runtimes import DATA, IO, NETWORK, SCRIPT, Ended, Ready, Task
from orchestrator.user_files import Frozen, MountedData, Script

_UNTOLD = {Status.OK, Status.NOT_RUN}
"""Ends without a reason of their own that what befell a GPU could explain."""


class Launcher:
    """The launches of one run."""

    def __init__(self, plan: Plan, surroundings: Surroundings) -> None:
        self._plan = plan
        self._with = surroundings
        self._reported_busy = False
        self._builders = {image.name: image.environment.builder for image in plan.images}
        self._data = {data.name: data for data in plan.data}

    def measure(
        self, cell: Cell, repeat: int, ready: Ready, allocation: Allocation, attempts: Attempts
    ) -> tuple[Outcome, Result | None]:
        """Launch a repeat once. Return its outcome, and its result if it was measured."""
        run, runtime = self._with.run, self._with.runtime
        earlier = attempts.begin()
        if left_out := self._with.pool.why_left_out(allocation.gpus):
            return Outcome(cell.id, repeat, Status.NO_DEVICE, left_out, attempts=earlier), None
        data = self._data.get(cell.workload.dataset)
        request, files = self._request(cell, repeat, allocation, data)
        gate = self._with.wait_for_gpus(allocation)
        if gate and gate.held:
            return _held(cell, repeat, gate, earlier, _uuids(allocation)), None
        folder = run.prepare(request, files)
        watch = self._with.gpu_watch(allocation)
        labels = (("bench.run", run.name), ("bench.cell", cell.id), ("bench.repeat", str(repeat)))
        task = Task(
            ready, folder, folder / LOG, cell.system, allocation, cell.timeout_s, labels,
            tuple(request.variables.items()), shown=tuple(self._shown(cell, data)), started=watch.own.in_container,
        )  # fmt: skip
        copy = self._script_copy(cell, folder)
        phases = PhaseWatch(folder, lambda phase: self._with.listener(PhaseChanged(cell.id, repeat, phase)))
        output = OutputWatches(folder, cell.output, ready)
        waited = self._idle(allocation)
        started_at = self._with.clock().isoformat(timespec="milliseconds")
        try:
            with watch:
                ended = runtime.launch(task, stop=self._with.stop, watch=lambda: phases() or output())
            verdict, result = _judged(ended, request, task, output)
        except StartError as error:
            # What was lost with the engine says nothing of the cell: it is run again, now or by a resumed run.
            status = Status.NOT_RUN if isinstance(error, LostError) else Status.LAUNCH_FAILED
            ended, result, verdict = None, None, Classification(status, str(error))
            note(task.log, str(error))
        finally:
            copy.remove()
        # What else ran on the CPUs decides nothing about memory.
        judgement = judge(result) if result and not result.largest_batch else None
        marks = self._marked(watch, folder, result, cell)
        outcome = Outcome(
            cell_id=cell.id,
            repeat=repeat,
            status=verdict.status,
            reason=verdict.reason if verdict.status in _UNTOLD else _joined(verdict.reason, marks),
            log=relative(run, task.log),
            attempts=earlier + 1,
            started_at=started_at,
            wall_s=ended.wall_s if ended else 0.0,
            create_s=ended.create_s if ended else None,
            exit_code=ended.exit_code if ended else None,
            image_id=(ended.image_id if ended else None) or ready.image_id,
            idle_wait_s=_together(gate, waited),
            busy=waited.busy if waited else "",
            disturbed_blocks=len(judgement.marks) if judgement and judgement.blocks else None,
            disturbance=_disturbance(judgement, marks) if verdict.status is Status.OK else "",
            remeasured=attempts.disturbed(),
            log_omitted_bytes=ended.log_omitted_bytes if ended else 0,
            ran_on=_uuids(allocation),
        )
        return outcome, result

    def _request(
        self, cell: Cell, repeat: int, allocation: Allocation, data: MountedData | None
    ) -> tuple[Request, dict[str, str]]:
        """Spell out what the container is asked, and the files beside that."""
        runtime, builder = self._with.runtime, self._builders[cell.image]
        request = request_for(cell, repeat, builder, self._plan.seed, allocation, pinned=runtime.pins_cpus)
        request, files = with_files(request, self._plan, cell.definition)
        if network := self._plan.network(cell.workload.model):
            request = with_network(request, network, runtime.seen(self._frozen(network), NETWORK))
        data_folder = runtime.seen(Path(data.folder), DATA) if data else ""
        if cell.script:
            working = self._script_seen(cell.script, self._with.run.repeat_folder(cell.id, repeat))
            request = with_script(request, cell.script, working, data_folder)
        return with_data(request, data, data_folder), files

    def _shown(self, cell: Cell, data: MountedData | None) -> Iterator[tuple[Path, str]]:
        """Give the folders that are shown to a cell: its script and its network as they were frozen, and its dataset.

        A copy of the script is none: it lies in the folder of the repeat.
        """
        if cell.script and not self._works_on_a_copy(cell.script):
            yield self._frozen(cell.script), SCRIPT
        if network := self._plan.network(cell.workload.model):
            yield self._frozen(network), NETWORK
        if data:
            yield Path(data.folder), DATA

    def _works_on_a_copy(self, script: Script) -> bool:
        """Return true if each repeat gets a copy of a script, which asks for it or could write to the frozen one."""
        return script.has_copy or not self._with.runtime.mounts

    def _script_seen(self, script: Script, folder: Path) -> str:
        """Return the working directory of a script as a launch with the folder of a repeat finds it."""
        if self._works_on_a_copy(script):
            working = folder.absolute() / script_copies.FOLDER
            return self._with.runtime.seen(working, f"{IO}/{script_copies.FOLDER}")
        return self._with.runtime.seen(self._frozen(script), SCRIPT)

    def _frozen(self, frozen: Frozen) -> Path:
        return frozen_files.folder_of(self._with.run.folder.absolute(), frozen)

    def _script_copy(self, cell: Cell, folder: Path) -> script_copies.ScriptCopy:
        """Copy the script of a cell into the folder of a repeat, where it works on a copy."""
        if cell.script is None or not self._works_on_a_copy(cell.script):
            return script_copies.ScriptCopy()
        return script_copies.copy(self._with.run.folder, cell.script, folder)

    def _marked(self, watch: GpuWatch, folder: Path, result: Result | None, cell: Cell) -> str:
        """Store what was sampled of the GPUs of a launch, and return what befell them, in one line.

        A session names the device that it computes on. Of a script, only the load of its GPUs shows whether it does.
        """
        if watch.seen.telemetry is not None:
            write_telemetry(folder, watch.seen.telemetry)
        marks = (*watch.marks(spans(result.blocks) if result else ()), *(watch.unused() if cell.script else ()))
        self._with.pool.note(marks)
        return "; ".join(map(str, marks))

    def _idle(self, allocation: Allocation) -> IdleWait | None:
        """Wait for the host to be idle.

        A busy host is reported once, since it is recorded with every repeat.
        """
        if self._with.idle is None:
            return None
        waited = self._with.idle(allocation, self._with.stop)
        if waited.busy and not self._reported_busy:
            self._reported_busy = True
            self._with.listener(Notice(f"this host is not idle: {waited.busy} after {waited.wait_s:.0f} s of waiting"))
        return waited


def _disturbance(judgement: Disturbance | None, marks: str) -> str:
    return _joined(str(judgement) if judgement and judgement.disturbed else "", marks)


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def _held(cell: Cell, repeat: int, gate: GateEnd, earlier: int, uuids: str) -> Outcome:
    """Return the outcome of a repeat whose GPUs stayed held, after so many attempts."""
    return Outcome(
        cell.id, repeat, Status.NO_DEVICE, gate.reason, attempts=earlier, idle_wait_s=gate.wait_s, ran_on=uuids
    )


def _uuids(allocation: Allocation) -> str:
    return ", ".join(gpu.uuid for gpu in allocation.gpus)


def _together(*waits: GateEnd | IdleWait | None) -> float | None:
    """Return the seconds of all waits, or None if there was none."""
    seconds = [wait.wait_s for wait in waits if wait is not None]
    return sum(seconds) if seconds else None


def _judged(ended: Ended, request: Request, task: Task, output: OutputWatches) -> tuple[Classification, Result | None]:
    exceeded = output.look() if ended.cause is not Cause.STOPPED else None
    reclaim(task.folder)
    if exceeded:
        return Classification(Status.OUTPUT_LIMIT, exceeded), None
    said = answer(task.folder, of_script=request.script is not None)
    verdict = classify(ended, said, request, task, tail(task.log))
    return verdict, said if verdict.status is Status.OK and isinstance(said, Result) else None
