"""Cells side by side on fake GPUs, through the whole program: real processes that sleep, and look for each other."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.workflows.host.interference import REMEDY
from tests.documented import blocks
from tests.gpu.fake_host import FakeHost, makespan_s
from tests.gpu.sleepers import WIDTHS, write_matrix

SECONDS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)


def matrix(folder: Path, seconds: tuple[float, ...] = SECONDS) -> None:
    """Write a matrix of scripts that each sleep on 1, 2 and 4 GPUs, twice."""
    write_matrix(folder, [(each, WIDTHS) for each in seconds], repeats=2)


def test_sleeping_cells_fill_eight_gpus(fake_host: FakeHost) -> None:
    """48 repeats on 1, 2 and 4 of eight GPUs: none meets another on a GPU, and most run beside others."""
    fake_host.set(gpus=8)
    matrix(fake_host.folder)
    fake_host.prove()
    outcomes = list(fake_host.repeats("--idle-wait", "0"))

    assert [each["status"] for each in outcomes] == ["ok"] * 48
    assert sum("beside" in each for each in outcomes) > 40
    assert {len(str(each["ran_on"]).split(", ")) for each in outcomes} == {1, 2, 4}
    assert makespan_s(outcomes) < sum(float(str(each["wall_s"])) for each in outcomes) / 2


def test_cells_run_alone_without_a_proof(fake_host: FakeHost) -> None:
    fake_host.set(gpus=8)
    matrix(fake_host.folder, (0.1,))
    ended = fake_host.run("run", "--runtime", "host", "--idle-wait", "0")
    outcomes = [json.loads(path.read_text()) for path in fake_host.folder.glob("results/*/*/*/*/outcome.json")]

    assert "cells with GPUs run one after the other: nobody has tried" in ended.stderr
    assert REMEDY in ended.stderr
    assert [each["status"] for each in outcomes] == ["ok"] * 6
    assert not [each for each in outcomes if "beside" in each]


def test_exclusive_and_bad_proofs_keep_cells_alone(fake_host: FakeHost) -> None:
    fake_host.set(gpus=4)
    matrix(fake_host.folder, (0.1,))
    fake_host.prove(low=0.9)
    ended = fake_host.run("run", "--runtime", "host", "--idle-wait", "0")
    assert "run one after the other: a cell beside others ran at 1.000 ×" in ended.stderr
    assert "which is not within 2%" in ended.stderr

    fake_host.prove()
    outcomes = fake_host.repeats("--idle-wait", "0", "--exclusive")
    assert not [each for each in outcomes if "beside" in each]


def test_cells_keep_to_the_cpus_of_their_gpu(fake_host: FakeHost) -> None:
    """A system that names no CPUs: each cell waits for those near its GPU to be idle, and runs on these alone."""
    fake_host.set(gpus=2, cpus=8, launch_s=1.0)
    (fake_host.folder / "matrix.yaml").write_text(
        "version: 1\nframeworks: [noop==1]\nsystems: {1_gpu: {gpus: 1}}\nmodels: [mlp, lenet]\nrepeats: 2\n"
    )
    fake_host.prove()
    outcomes = fake_host.repeats("--idle-wait", "1")
    results = [json.loads(path.read_text()) for path in fake_host.folder.glob("results/*/*/*/*/result.json")]

    assert [each["status"] for each in outcomes] == ["ok"] * 4
    assert all("beside" in each and "idle_wait_s" in each for each in outcomes)
    by_gpu = {"GPU-0": [0, 1, 2, 3], "GPU-1": [4, 5, 6, 7]}
    assert [each["facts"]["cpu"]["affinity"] for each in results] == [
        by_gpu[each["facts"]["gpus"][0]["uuid"]] for each in results
    ]


def test_interference_is_measured_and_kept(fake_host: FakeHost) -> None:
    """A cell that computes nothing is measured alone and beside itself; the ratio decides on later runs."""
    fake_host.set(gpus=2, cpus=4, launch_s=4.0)
    (fake_host.folder / "matrix.yaml").write_text(
        "version: 1\nframeworks: [noop==1]\nsystems: {1_gpu: {gpus: 1}}\nmodels: [mlp, resnet20]\n"
    )
    (line,) = blocks("gpu.md", "Cells on different GPUs at once", "sh")
    shown = shlex.split(line.replace("torch-*", "noop-*"))[1:]
    ended = fake_host.run(*shown, "--runtime", "host", "--rounds", "3", "--idle-wait", "0")
    assert ended.returncode == 0, ended.stderr
    assert "beside others ran at" in ended.stdout

    (proof,) = fake_host.folder.glob(".cache/framework-bench/interference/*.json")
    (kept,) = fake_host.folder.glob(".cache/framework-bench/interference/runs/*")
    stored = json.loads(proof.read_text())
    outcomes = [json.loads(path.read_text()) for path in kept.glob("*/*/*/outcome.json")]
    assert (stored["rounds"], stored["run"]) == (3, str(kept))
    assert stored["cpu_cores"] is None, "blocks that compute nothing are too short for it"
    assert 0 < stored["low"] <= stored["ratio"] <= stored["high"]
    assert sorted("beside" in each for each in outcomes) == [False] * 3 + [True] * 6
    assert "GPUs at once" in fake_host.run("doctor").stdout


def test_a_run_names_the_cell_of_the_proof(fake_host: FakeHost) -> None:
    """At its begin, in its record, and in its report beside how heavy its own cells were."""
    fake_host.set(gpus=2, cpus=4, launch_s=4.0)
    (fake_host.folder / "matrix.yaml").write_text(
        "version: 1\nframeworks: [noop==1]\nsystems: {1_gpu: {gpus: 1}}\nmodels: [mlp, lenet]\nrepeats: 2\n"
    )
    fake_host.prove()
    ended = fake_host.run("run", "--runtime", "host", "--idle-wait", "0")
    assert ended.returncode == 0, ended.stderr
    (record,) = (json.loads(path.read_text()) for path in fake_host.folder.glob("results/*/run.json"))

    assert "cells with GPUs run side by side: a cell beside others ran at 1.000 ×" in ended.stderr
    assert "; 2 of 2 cells here are others" in ended.stderr
    assert record["proved_with"] == {"cell": "a cell", "ratio": 1.0, "low": 0.99, "high": 1.01, "cpu_cores": None}
    assert "proved with a cell" in " ".join(ended.stdout.split())


@pytest.mark.parametrize(("gpus", "cpus"), [(1, 32), (4, 3)])
def test_proof_needs_two_gpus_with_cores(gpus: int, cpus: int, fake_host: FakeHost) -> None:
    fake_host.set(gpus=gpus, cpus=cpus)
    matrix(fake_host.folder)
    ended = fake_host.run("doctor", "--interference", "--runtime", "host")

    assert (ended.returncode, ended.stdout) == (3, "")
    assert "no two cells can run at once here: " in ended.stderr


def test_proof_is_of_the_gpus_of_a_job(fake_host: FakeHost) -> None:
    """A scheduler gave one GPU of four: no two cells can run at once there, and `doctor` is silent on that."""
    host = replace(fake_host, variables={"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "GPU-1"})
    host.set(gpus=4)
    matrix(host.folder, (0.1,))
    ended = host.run("doctor", "--interference", "--runtime", "host")

    assert (ended.returncode, ended.stdout) == (3, "")
    assert "no two cells can run at once here: " in ended.stderr
    assert "GPUs at once" not in host.run("doctor").stdout


def test_one_gpu_too_hot_takes_no_cell(fake_host: FakeHost) -> None:
    """A cell whose GPU is held back ends as `no_device` with the cause; those on others are measured."""
    fake_host.set(gpus=2)
    fake_host.change(1, hot=True)
    matrix(fake_host.folder, (0.1, 0.2, 0.3, 0.4))
    fake_host.prove()
    outcomes = fake_host.repeats("--idle-wait", "1", "--select", "noop-1-1_gpu/*")

    hot = [each for each in outcomes if each["ran_on"] == "GPU-1"]
    assert {each["status"] for each in hot} == {"no_device"}
    assert {each["status"] for each in outcomes if each not in hot} == {"ok"}
    assert all("GPU 1: heat holds it back" in str(each["reason"]) for each in hot)
