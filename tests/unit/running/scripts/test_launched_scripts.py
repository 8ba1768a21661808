"""A script's launch where folders are mounted: what it is shown, where it works, and what is left of its copy."""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pytest

from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.devices.watch.marks import GpuMark
from orchestrator.domain import Mode, Plan, Status, System, Workload
from orchestrator.processes import Cause, Watch
from orchestrator.results.files import frozen
from orchestrator.running import execute
from orchestrator.runtimes import Ended, Task
from orchestrator.user_files import MountedData, PrintedMetric, Script, ScriptFile, Workdir
from tests.unit.devices.watch.fake_driver import GPU_A
from tests.unit.running.running_fakes import FakeRuntime, a_cell, a_plan, carry_out, surroundings

SOURCE = b"print('speed 1')"
METRIC = PrintedMetric("speed", "speed (.*)", "samples/s", PrintedMetric.Better.HIGHER)
SCRIPT = Script("lm", (METRIC,), "lm.py", (ScriptFile("lm.py", len(SOURCE), hashlib.sha256(SOURCE).hexdigest()),))


@dataclass
class MountingRuntime(FakeRuntime):
    """Shows folders at places of their own, as containers do."""

    @staticmethod
    def seen(folder: Path, place: str) -> str:
        del folder
        return place


def planned(tmp_path: Path, script: Script, dataset: str = "synthetic") -> Plan:
    """A plan of one script whose files are frozen in the folder of the run."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "lm.py").write_bytes(SOURCE)
    frozen.freeze(tmp_path / "run", [(script, tmp_path / "source")])
    cell = replace(a_cell("lm-script"), workload=Workload("lm", Mode.SCRIPT, 1, dataset), script=script)
    data = MountedData("signs", "idx", str(tmp_path / "signs"), (1, 16, 16), 5, 60, 20, ())
    return replace(a_plan(replace(cell, repeats=1)), data=(data,))


def writing(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Change the script's file where it can be, and answer with a figure."""
    copy = task.folder / "script" / "lm.py"
    if copy.exists():
        copy.write_bytes(copy.read_bytes() + b"#")
        (task.folder / "script" / "log").write_text("speed 1")
    answer = {
        "schema": 1, "measurement_version": 1, "cell": request["cell"], "repeat": request["repeat"],
        "started_at": "2026-11-21T15:30:00Z", "wall_s": 1.0, "memory": {"peak_rss_bytes": 1}, "facts": {},
        "metrics": {"speed": {"values": [1.0], "matches": 1, "problem": None}},
    }  # fmt: skip
    (task.folder / "result.json").write_text(json.dumps(answer))
    task.log.write_text("done\n")
    return Ended(Cause.EXITED, 0, wall_s=1.0)


@pytest.mark.parametrize("workdir", list(Workdir))
def test_a_copy_is_mounted_with_the_repeat(tmp_path: Path, workdir: Workdir) -> None:
    runtime = MountingRuntime([writing])
    script = replace(SCRIPT, workdir=workdir)

    (outcome,) = carry_out(tmp_path / "run", runtime, planned(tmp_path, script))

    (request,), (task,) = runtime.launched, runtime.tasks
    assert outcome.status is Status.OK, outcome.reason
    folder = tmp_path / "run" / "scripts" / "lm"
    shown = ((folder, "/script"),) if workdir is Workdir.READ_ONLY else ()
    assert task.shown == shown
    assert isinstance(request["script"], dict)
    assert request["script"]["folder"] == ("/io/script" if workdir is Workdir.COPY else "/script")
    assert request["script"]["environment"] == ({"HOME": "/io/script"} if workdir is Workdir.COPY else {})
    left = {path.name: path.read_bytes() for path in (task.folder / "script").glob("*")}
    assert left == ({"lm.py": SOURCE + b"#", "log": b"speed 1"} if workdir is Workdir.COPY else {})
    assert (folder / "lm.py").read_bytes() == SOURCE


def test_a_dataset_is_shown_beside_the_script(tmp_path: Path) -> None:
    runtime = MountingRuntime([writing])
    script = replace(SCRIPT, arguments=("--from={data}",))

    carry_out(tmp_path / "run", runtime, planned(tmp_path, script, "signs"))

    (request,), (task,) = runtime.launched, runtime.tasks
    assert [place for _, place in task.shown] == ["/script", "/data"]
    assert isinstance(request["script"], dict)
    assert isinstance(request["data"], dict)
    assert request["script"]["arguments"] == ["--from=/data"]
    assert request["data"]["folder"] == "/data"


class UnusedGpu(GpuWatch):
    """A watch that asks no driver, and has seen no load."""

    def __enter__(self) -> Self:
        return self

    def unused(self) -> tuple[GpuMark, ...]:
        return tuple(GpuMark(gpu, "nothing ran on it") for gpu in self.gpus)


@pytest.mark.parametrize("is_script", [True, False])
def test_a_script_that_leaves_its_gpu_idle_is_disturbed(tmp_path: Path, is_script: bool) -> None:
    """Nothing else shows that it has computed on the CPU. A session names its device."""
    plan = planned(tmp_path, SCRIPT) if is_script else a_plan(a_cell())
    plan = replace(plan, cells=tuple(replace(cell, system=System("1_gpu", gpus=1)) for cell in plan.cells))
    around, _ = surroundings(tmp_path / "run", MountingRuntime([writing] if is_script else []))
    host = replace(around.inventory, gpus=(GPU_A,))
    around = replace(around, inventory=host, gpu_watch=lambda allocation: UnusedGpu(allocation.gpus))
    (outcome,) = execute(plan, around)

    assert (outcome.status, outcome.disturbance) == (Status.OK, "GPU 0: nothing ran on it" if is_script else "")
