"""The part of a host that a job of Slurm has, by its variables and its control group."""

from pathlib import Path

import pytest

from orchestrator.devices import Cpu, Gpu, Inventory
from orchestrator.devices.job_bounds import JobBounds, bounded, job_bounds

GPUS = tuple(Gpu(index, f"GPU-{index}aaa-bbb", "Example GPU", None) for index in range(4))
HOST = Inventory((Cpu(0, 0),), 64 * 2**30, GPUS)
JOB = {"SLURM_JOB_ID": "12"}
V2 = "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n"
V1 = "5:cpuset:/slurm/uid_0/job_12/step_0\n3:memory:/slurm/uid_0/job_12/step_0/task_0\n1:name=systemd:/user.slice\n"


def given(folder: Path, variables: dict[str, str], cgroup: str = V2) -> JobBounds:
    (folder / "cgroup").write_text(cgroup)
    bounds = job_bounds({**JOB, **variables}, folder / "cgroup", folder)
    assert bounds
    return bounds


def limit(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_host_outside_any_job_is_whole(tmp_path: Path) -> None:
    assert job_bounds({}, tmp_path / "cgroup", tmp_path) is None
    assert bounded(HOST, None) is HOST


@pytest.mark.parametrize(
    ("text", "file", "cgroup"),
    [
        (V2, "system.slice/slurmstepd.scope/job_12/memory.max", "/system.slice/slurmstepd.scope/job_12"),
        (V2, "system.slice/slurmstepd.scope/memory.max", "/system.slice/slurmstepd.scope/job_12"),
        (V1, "memory/slurm/uid_0/job_12/memory.limit_in_bytes", "/slurm/uid_0/job_12"),
    ],
)
def test_the_control_group_bounds_memory(tmp_path: Path, text: str, file: str, cgroup: str) -> None:
    limit(tmp_path / file, f"{8 * 2**30}\n")

    bounds = given(tmp_path, {}, text)
    assert (bounds.memory_bytes, bounds.cgroup) == (8 * 2**30, cgroup)
    assert bounded(HOST, bounds).memory_bytes == 8 * 2**30


@pytest.mark.parametrize("text", ["max\n", "9223372036854771712\n"])
def test_a_group_without_limit_bounds_nothing(tmp_path: Path, text: str) -> None:
    limit(tmp_path / "system.slice/slurmstepd.scope/job_12/memory.max", text)

    assert given(tmp_path, {}).memory_bytes is None
    assert bounded(HOST, given(tmp_path, {})).memory_bytes == HOST.memory_bytes


def test_a_job_without_control_groups_has_its_variable(tmp_path: Path) -> None:
    bounds = given(tmp_path, {"SLURM_MEM_PER_NODE": "4096"}, "0::/user.slice\n")

    assert (bounds.memory_bytes, bounds.cgroup) == (4 * 2**30, "")


@pytest.mark.parametrize(
    ("variables", "indices"),
    [
        ({}, [0, 1, 2, 3]),
        ({"CUDA_VISIBLE_DEVICES": "1,3"}, [1, 3]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-2aaa"}, [2]),
        ({"CUDA_VISIBLE_DEVICES": "0,1", "SLURM_JOB_GPUS": "2,3"}, [2, 3]),
        ({"CUDA_VISIBLE_DEVICES": "0,1", "SLURM_JOB_GPUS": "2-3"}, [2, 3]),
        ({"CUDA_VISIBLE_DEVICES": "0,1,2,3", "SLURM_JOB_GPUS": "4,5,6,7"}, [0, 1, 2, 3]),
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
        ({"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, []),
    ],
)
def test_a_job_has_the_gpus_that_it_was_given(tmp_path: Path, variables: dict[str, str], indices: list[int]) -> None:
    """All GPUs that the driver shows are those of the job if the kernel hides those of other jobs."""
    assert [gpu.index for gpu in bounded(HOST, given(tmp_path, variables)).gpus] == indices
