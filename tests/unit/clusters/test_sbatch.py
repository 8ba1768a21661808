"""The arrays that parts are submitted in, and the text of their scripts."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.clusters.arrays import JobArray, Wanted, arrays, minutes
from orchestrator.clusters.parts import NodeNeeds, Part
from orchestrator.clusters.sbatch import BatchJob, script
from orchestrator.clusters.site import Executor, GpuRequest, Program, Site, TimeLimits
from orchestrator.clusters.states import OUT_OF_TIME, OUT_OF_TIME_STATUS

GOLDEN = Path(__file__).parents[2] / "golden" / "sbatch"
SMALL = Site(Executor.SLURM)
LARGE = Site(
    Executor.SLURM, partition="gpu", account="bench", constraint="icelake&hdr", reservation="quiet", nodes_at_once=4,
    sbatch=(("comment", "a note"), ("contiguous", ""), ("exclude", "node9"), ("qos", "low")),
    setup=("module load docker", "export ORCHESTRATOR_BASE_IMAGE='python:{python}-slim'"),
    program=Program(wheel="/shared/my wheels/bench-1.whl", find_links="/shared/my wheels", python="python3.11"),
    gpu_types=(("*H100*", "h100"),),
)  # fmt: skip
INSTALLED = Site(Executor.SLURM, program=Program(path="/opt/bench/bin/orchestrator"), gpus=GpuRequest.GPUS_PER_NODE)
CPU, GPUS = NodeNeeds(cpus=8), NodeNeeds(gpus=2, gpu="*H100*")
JOB = BatchJob("bench-20260102T030405Z-abcd-1", Path("/shared/results/20260102T030405Z-abcd"), ("python3", "-m", "o"))
SCRIPTS = {
    "small": (JobArray(("000",), 10, NodeNeeds()), SMALL, JOB),
    "large": (JobArray(("003", "001"), 40, GPUS, nodes=2, exclude=("node1",)), LARGE, JOB),
    "installed": (JobArray(("000", "002"), 10, GPUS), INSTALLED, BatchJob(JOB.name, JOB.run, (), retry_failed=True)),
    "pinned": (JobArray(("03-node7",), 10, CPU, nodelist=("node7",)), LARGE, JOB),
    "unshared": (
        JobArray(("000", "002"), 10, CPU, nodes=2),
        replace(INSTALLED, on_nodes="/local/my bench"),
        replace(JOB, inputs="AAAA\nBBBB\n"),
    ),
    "cpus": (JobArray(("000",), 10, CPU), INSTALLED, JOB),
}


def part(name: str, seconds: float, needs: NodeNeeds = CPU) -> Part:
    return Part(name, (), 1, seconds, needs)


def laid_out(several: Sequence[Wanted], site: Site = SMALL) -> list[tuple[tuple[str, ...], int]]:
    return [(array.parts, array.minutes) for array in arrays(several, site)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_the_golden_text(name: str) -> None:
    text = script(*SCRIPTS[name])

    path = GOLDEN / f"{name}.sh"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
    assert subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode == 0


def test_long_parts_come_first_in_bands() -> None:
    """Parts of about the same length share an array and a time limit; the longest array comes first."""
    wanted = [Wanted(part("000", 250)), Wanted(part("001", 4000)), Wanted(part("002", 290)), Wanted(part("003", 3000))]

    assert laid_out(wanted) == [(("001",), 320), (("003",), 160), (("002", "000"), 20)]


def test_a_bound_on_nodes_needs_one_array() -> None:
    """A bound counts within an array, so that parts of all lengths share one."""
    wanted = [Wanted(part("000", 250)), Wanted(part("001", 4000)), Wanted(part("002", 10, GPUS))]

    assert laid_out(wanted, LARGE) == [(("001", "000"), 320), (("002",), 10)]


@pytest.mark.parametrize(("nodes", "tasks"), [(1, 4), (2, 2), (3, 1), (5, 1)])
def test_a_bound_is_of_nodes_and_not_of_jobs(nodes: int, tasks: int) -> None:
    array = JobArray(("000", "001", "002"), 10, CPU, nodes=nodes)

    assert f"#SBATCH --array=0-2%{tasks}\n" in script(array, LARGE, JOB)


def test_parts_wanted_elsewhere_have_other_arrays() -> None:
    wanted = [Wanted(part("000", 250), nodes=2), Wanted(part("001", 250), 1, ("node1",))]

    found = list(arrays(wanted, SMALL))
    assert [(array.nodes, array.exclude) for array in found] == [(2, ()), (1, ("node1",))]


def test_failures_are_retried_on_their_node() -> None:
    """Parts that one node has failed at share an array, which asks for that node."""
    wanted = [Wanted(part("000", 250), begun_on=("node1",)), Wanted(part("001", 250)), Wanted(part("002", 250))]

    found = list(arrays(wanted, SMALL))
    assert [(array.parts, array.nodelist) for array in found] == [(("000",), ("node1",)), (("001", "002"), ())]
    assert "#SBATCH --nodelist=node1\n" in script(found[0], SMALL, JOB)
    assert "nodelist" not in script(found[1], SMALL, JOB)


def test_parts_of_a_node_have_own_arrays() -> None:
    """Parts of certain nodes share no array, not even those of the same node, whose rounds come in turn."""
    wanted = [Wanted(replace(part(name, 250), node=name[3:])) for name in ("01-node1", "01-node2", "02-node1")]

    found = [(array.parts, array.nodelist) for array in arrays(wanted, SMALL)]
    assert found == [(("01-node1",), ("node1",)), (("01-node2",), ("node2",)), (("02-node1",), ("node1",))]


def test_excluded_nodes_count_where_one_is_chosen() -> None:
    """A list of some of the nodes leaves others to choose, which may not be those that are excluded."""
    array = JobArray(("000",), 10, CPU, nodes=2, exclude=("node2",), nodelist=("node1",))

    text = script(array, LARGE, JOB)
    assert "#SBATCH --exclude=node9,node2\n" in text
    assert "#SBATCH --nodelist=node1\n" in text
    assert "exclude" not in script(replace(array, nodes=1), LARGE, JOB)


def test_an_array_has_at_most_a_thousand_tasks() -> None:
    wanted = [Wanted(part(f"{number:04}", 250)) for number in range(1001)]

    assert [len(parts) for parts, _ in laid_out(wanted)] == [1000, 1]


def test_halves_have_every_part_once() -> None:
    one, other = JobArray(("a", "b", "c"), 5, CPU, 2, ("node1",)).halves()

    assert (one.parts, other.parts) == (("a", "b"), ("c",))
    assert (one.minutes, one.nodes, other.exclude) == (5, 2, ("node1",))


@pytest.mark.parametrize(
    ("seconds", "limits", "expected"),
    [
        (1, TimeLimits(), 10), (200, TimeLimits(), 10), (201, TimeLimits(), 20), (1, TimeLimits(shortest_s=60), 5),
        (9e9, TimeLimits(longest_s=7200), 120), (1, TimeLimits(longest_s=30), 1),
    ],
)  # fmt: skip
def test_a_time_limit_has_margin_and_bounds(seconds: float, limits: TimeLimits, expected: int) -> None:
    assert minutes(seconds, limits) == expected


def test_a_script_passes_the_signal_on(tmp_path: Path) -> None:
    """The shell waits for its step after a warning, and ends with the status of one that is out of time.

    A fake `srun` sends the shell the signal until a fake `scancel` was called, and ends with a status of its own.
    """
    said = tmp_path / "said"
    for name, text in (
        ("srun", f"until [ -e {said} ]; do kill -USR1 $PPID; done\nexit 42"),
        ("scancel", f'echo "$@" >{said}'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    task = {"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_NODELIST": "node1"}
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", **task}

    text = script(*SCRIPTS["small"])
    ended = subprocess.run(["sh"], input=text, text=True, env=environment, timeout=60, check=False, capture_output=True)
    assert (ended.returncode, ended.stdout) == (OUT_OF_TIME_STATUS, f"part 000 on node1\n{OUT_OF_TIME}\n")
    assert said.read_text() == "--signal=TERM 12_0\n"


def test_a_warned_script_may_have_measured_all(tmp_path: Path) -> None:
    """Its step has ended well before the warning reached it. A fake `srun` is the step.

    The shell hears the warning before, while or after it waits, which chance decides anew each time.
    """
    (tmp_path / "srun").write_text("#!/bin/sh\nkill -USR1 $PPID\n")
    (tmp_path / "scancel").write_text("#!/bin/sh\n")
    for name in ("srun", "scancel"):
        (tmp_path / name).chmod(0o755)
    task = {"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_NODELIST": "node1"}
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", **task}

    text = script(*SCRIPTS["small"])
    for _ in range(40):
        ended = subprocess.run(
            ["sh"], input=text, text=True, env=environment, timeout=60, check=False, capture_output=True
        )
        assert (ended.returncode, ended.stdout) == (0, "part 000 on node1\n")


def test_a_cancelled_script_waits_for_its_step(tmp_path: Path) -> None:
    """It is no warning before a time limit. A fake `srun` is the step."""
    (tmp_path / "srun").write_text("#!/bin/sh\nkill -TERM $PPID\nexit 42\n")
    (tmp_path / "srun").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_NODELIST": "node1"}

    text = script(*SCRIPTS["small"])
    ended = subprocess.run(["sh"], input=text, text=True, env=environment, timeout=60, check=False, capture_output=True)
    assert (ended.returncode, ended.stdout) == (42, "part 000 on node1\n")


def test_a_wheel_is_installed_once(tmp_path: Path) -> None:
    """The first job installs it next to the wheel, and later ones run what is there.

    A fake Python makes a folder in place of an environment, whose own Python installs nothing.
    """
    shared, programs = tmp_path / "shared wheels", tmp_path / "bin"
    for folder in (shared, programs):
        folder.mkdir()
    (shared / "bench.whl").write_text("a wheel")
    fake = f'#!/bin/sh\necho made >> \'{tmp_path}/log\'\nmkdir -p "$3/bin"\ncp /bin/true "$3/bin/python"\n'
    for name, text in (("python3", fake), ("srun", '#!/bin/sh\nfor word; do last=$word; done\necho "$8 $9 $last"\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {
        "PATH": f"{programs}:/usr/bin:/bin",
        "SLURM_ARRAY_TASK_ID": "0",
        "SLURM_JOB_ID": "12",
        "SLURM_JOB_NODELIST": "n1",
    }
    site = Site(Executor.SLURM, program=Program(wheel=str(shared / "bench.whl")))
    text = script(JobArray(("007",), 10, NodeNeeds()), site, JOB)

    said = [
        subprocess.run(["sh"], input=text, text=True, env=environment, capture_output=True, check=True).stdout
        for _ in range(2)
    ]
    (installed,) = (path for path in shared.iterdir() if path.name.startswith(".orchestrator-") and path.is_dir())
    assert said == [f"part 007 on n1\n{installed}/bin/python -m {JOB.run}/parts/007\n"] * 2
    assert (tmp_path / "log").read_text() == "made\n"
