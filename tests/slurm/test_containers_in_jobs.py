"""Containers of a job, which the engine starts outside of it, have the bounds of the job."""

import re

import docker
import pytest
from bench_folder import BenchFolder
from slurm_cluster import SlurmCluster

from tests.until import until

pytestmark = [pytest.mark.slurm, pytest.mark.docker]
SCRIPT = """\
import os
print("cpus", *sorted(os.sched_getaffinity(0)))
print("memory", dict(line.split() for line in open("/sys/fs/cgroup/memory/memory.stat"))["hierarchical_memory_limit"])
print("group", next(line.split(":")[2].strip() for line in open("/proc/self/cgroup") if ":memory:" in line))
print("done 1")
"""
NODE_MEMORY = 2 * 2**30
OWN_MEMORY = 256 * 2**20


def test_a_container_has_the_bounds_of_its_job(bench: BenchFolder, base_image: str) -> None:
    """Seen from inside of it: the one CPU of the node, and at most the memory of the job."""
    bench.site(setup=[f"export ORCHESTRATOR_BASE_IMAGE='{base_image}'"])
    (bench.folder / "look.py").write_text(SCRIPT)
    script = {
        "name": "look",
        "file": "look.py",
        "metrics": {"done": {"pattern": "done (.*)", "unit": "times", "better": "higher"}},
    }
    systems = {"cpu": {}, "small": {"cpus": 1, "memory": "256m"}}
    bench.write(
        "matrix.yaml", {"version": 1, "systems": systems, "frameworks": ["noop==1"], "scripts": [script], "repeats": 1}
    )
    bench.run("run", "--runtime", "docker", "--site", "site.yaml")

    report = bench.report()
    jobs = {f"{each.array}" for each in bench.submitted().submissions}
    assert jobs
    assert report.cluster
    node_of = {cell: part.node for part in report.cluster.parts for cell in part.cells}
    seen = {}
    for cell in report.cells:
        (repeat,) = cell.repeats
        assert str(repeat.outcome.status) == "ok", repeat.outcome.reason
        text = (bench.the_run().folder / str(repeat.outcome.log)).read_text()
        (cpus,), (memory,), (group,) = (
            re.findall(rf"^{name} (.*)$", text, re.MULTILINE) for name in ("cpus", "memory", "group")
        )
        number = int(node_of[cell.cell.id].removeprefix("node"))
        assert cpus.split() == [str(number - 1)]
        assert re.match(rf"/slurm_node{number}/uid_0/job_\d+/", group)
        seen[cell.cell.system.name] = int(memory)
    assert seen == {"cpu": NODE_MEMORY, "small": OWN_MEMORY}


def test_no_container_outlives_a_cancelled_job(
    bench: BenchFolder, cluster: SlurmCluster, engine: docker.DockerClient, base_image: str
) -> None:
    """The engine started it outside of the job, so that the scheduler alone would leave it."""
    bench.site(setup=[f"export ORCHESTRATOR_BASE_IMAGE='{base_image}'"])
    (bench.folder / "stay.py").write_text("import time\ntime.sleep(3600)\n")
    metrics = {"done": {"pattern": "done (.*)", "unit": "times", "better": "higher"}}
    bench.write(
        "matrix.yaml",
        {
            "version": 1,
            "systems": {"cpu": {}},
            "frameworks": ["noop==1"],
            "scripts": [{"name": "stay", "file": "stay.py", "metrics": metrics}],
            "repeats": 1,
        },
    )
    program = bench.start("run", "--runtime", "docker", "--site", "site.yaml")
    until(lambda: running(engine))
    (container,) = running(engine)
    (task,) = bench.submitted().submissions
    cluster.said("scancel", f"{task.array}_0")
    bench.ends(program)

    assert container not in [each.id for each in engine.containers.list(all=True)]


def running(engine: docker.DockerClient) -> list[str]:
    """Return the containers that run the script."""
    return [str(each.id) for each in engine.containers.list(filters={"label": "bench.cell=noop-1-cpu/stay-script"})]
