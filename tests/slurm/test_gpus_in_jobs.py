"""The GPUs of a job, as the orchestrator in it takes them. The cluster hands out two of the four of a made-up host."""

import json
import re
import shutil
from pathlib import Path

import docker
import pytest
from bench_folder import BenchFolder

from tests.gpu.fake_engine import engine_with_gpus, made_toolkit
from tests.gpu.fake_host import made

pytestmark = pytest.mark.slurm
SCRIPT = 'import os\nprint("gpus", os.environ["CUDA_VISIBLE_DEVICES"])\nprint("done 1")\n'
INVENTORY = """\
import json, os, sys
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.inventory import inventory_of
with open(sys.argv[1], "w") as file:
    json.dump([gpu.uuid for gpu in inventory_of(Host(os.environ)).gpus], file)
"""
OF_JOB = ["GPU-0", "GPU-1"]
MATRIX = """\
version: 1
frameworks: [noop==1]
systems: {1_gpu: {gpus: 1}}
models: [mlp]
repeats: 1
blocks: 2
parity: false
"""
SECOND_GPU = "export CUDA_VISIBLE_DEVICES=1 SLURM_JOB_GPUS=1"
UUIDS = [f"GPU-{digit * 8}-0000-4000-8000-{digit * 12}" for digit in "abcd"]


def test_a_job_has_the_gpus_that_it_was_given(bench: BenchFolder) -> None:
    """By their UUIDs, and no others of the host."""
    host = made(bench.folder)
    host.set(gpus=4, cpus=2)
    (bench.folder / "inventory.py").write_text(INVENTORY)
    program, seen = bench.folder / "program", bench.folder / "seen"
    program.write_text(
        f'#!/bin/sh\n{host.python} {bench.folder}/inventory.py {seen} && exec {host.python} -m orchestrator "$@"\n'
    )
    program.chmod(0o755)
    bench.site(program=str(program))
    (bench.folder / "look.py").write_text(SCRIPT)
    metrics = {"done": {"pattern": "done (.*)", "unit": "times", "better": "higher"}}
    scripts = [{"name": "look", "file": "look.py", "metrics": metrics}]
    systems = {"2_gpu": {"gpus": 2}}
    bench.write(
        "matrix.yaml", {"version": 1, "systems": systems, "frameworks": ["noop==1"], "scripts": scripts, "repeats": 1}
    )  # fmt: skip
    bench.run("run", "--runtime", "host")

    (cell,) = bench.report().cells
    (repeat,) = cell.repeats
    assert str(repeat.outcome.status) == "ok", repeat.outcome.reason
    assert json.loads(seen.read_text()) == OF_JOB
    (given,) = re.findall("^gpus (.*)$", (bench.the_run().folder / str(repeat.outcome.log)).read_text(), re.MULTILINE)
    assert sorted(given.split(",")) == OF_JOB
    (text,) = (path.read_text() for path in (bench.the_run().folder / "submissions").iterdir())
    assert "#SBATCH --gres=gpu:2\n" in text


@pytest.mark.docker
@pytest.mark.slow
def test_a_container_of_a_job_sees_its_gpu_alone(
    bench: BenchFolder, tmp_path: Path, engine: docker.DockerClient, base_image: str
) -> None:
    """Seen from inside: the second of the host's four, as if another job had the first.

    The engine, its hook and the container are real, and the driver is a fake.
    """
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    host = made(bench.folder)
    host.set(gpus=4, cpus=1)  # as the first node has of this machine
    for number, uuid in enumerate(UUIDS):
        host.change(number, uuid=uuid, memory_bytes=2**34)
    program = bench.folder / "program"
    program.write_text(f'#!/bin/sh\nexec {host.python} -m orchestrator "$@"\n')
    program.chmod(0o755)
    (bench.folder / "matrix.yaml").write_text(MATRIX)
    with engine_with_gpus(made_toolkit(toolkit), MATRIX, engine, base_image) as second:
        shutil.copy(host.state, toolkit)
        setup = [f"export ORCHESTRATOR_BASE_IMAGE='{base_image}' DOCKER_HOST={second.address}", SECOND_GPU]
        bench.site(program=str(program), setup=setup, sbatch={"nodelist": "node1"})
        bench.run("run", "--runtime", "docker")

    (cell,) = bench.report().cells
    (repeat,) = cell.repeats
    assert str(repeat.outcome.status) == "ok", repeat.outcome.reason
    assert repeat.outcome.ran_on == UUIDS[1]
    (result,) = bench.the_run().folder.glob("parts/*/*/*/*/*/result.json")
    assert [gpu["uuid"] for gpu in json.loads(result.read_text())["facts"]["gpus"]] == [UUIDS[1]]
    assert {uuid for line in (toolkit / "given").read_text().split() for uuid in line.split(",")} == {UUIDS[1]}
