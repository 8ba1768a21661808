"""The GPUs of a job, as the orchestrator in it takes them. The cluster hands out two of the four of a made-up host."""

import json
import re

import pytest
from bench_folder import BenchFolder

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
