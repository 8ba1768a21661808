"""Images that come to nodes, and results that come back, as docs/cluster.md has it, on a cluster of two nodes."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench_folder import QUICK, BenchFolder
from page_sections import PAGE
from slurm_cluster import SlurmCluster

from orchestrator.clusters.states import JobState
from tests import required
from tests.docker import far_support
from tests.docker.far_support import FarSide
from tests.docker.registry import registry_server
from tests.docker.registry.registry_server import free_port, registry
from tests.documented import blocks
from tests.until import until

pytestmark = [pytest.mark.slurm, pytest.mark.docker]
MATRIX = "version: 1\nname: page\nframeworks: [noop==1]\nmodels: [lenet, mlp]\nsteps: 10\nrepeats: 1\nparity: false\n"
CELLS = ("noop-1-cpu/lenet-train-b200", "noop-1-cpu/mlp-train-b32")


@pytest.fixture(scope="module")
def nodes_engine() -> Iterator[FarSide]:
    """The engine of the nodes, which has no image and no way out. The submitting host has another."""
    if reason := far_support.missing() or registry_server.missing():
        required.missing(reason, "BENCH_REQUIRE_ENGINE")
    with far_support.far_side() as side:
        yield side


def walk(bench: BenchFolder, section: str, number: int, *, changes: dict[str, str]) -> str:
    """Run a block of commands of the page on the host that submits, and return what it printed."""
    text = blocks(PAGE, section, "sh")[number]
    for word, other in changes.items():
        text = text.replace(word, other)
    return bench.shell(text)


def images_of(bench: BenchFolder) -> set[tuple[str, str]]:
    """Return what the runs of all parts say of their images."""
    paths = bench.the_run().folder.glob("parts/*/*/run.json")
    origins = [json.loads(path.read_text())["images"] for path in paths]
    assert len(origins) == 2
    return {(origin["kind"], Path(origin["place"]).name) for origin in origins}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["registry", "bundle"])
def test_nodes_get_their_images(
    way: str, bench: BenchFolder, nodes_engine: FarSide, base_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the registry or the bundle alone: there is no base image to build on."""
    (bench.folder / "matrix.yaml").write_text(MATRIX)
    address, storage = f"127.0.0.1:{free_port()}", bench.folder / "registry"
    host = {"registry.example.org": address, "--offline": "--offline --no-orchestrator --no-wheel-check --python 3.11"}
    monkeypatch.setenv("ORCHESTRATOR_BASE_IMAGE", base_image)
    clear(nodes_engine)
    number = 0 if way == "registry" else 1
    if way == "registry":
        with registry(storage, address):
            walk(bench, "Images on nodes", number, changes=host)
    else:
        walk(bench, "Images on nodes", number, changes=host)
    images = re.search(r"^images: (.*)$", blocks(PAGE, "Images on nodes", "yaml")[number], re.MULTILINE)
    assert images
    ((name, value),) = re.findall(r"(\w+): ([\w.]+)", images[1])
    bench.site(images={name: value}, setup=[f"export DOCKER_HOST={nodes_engine.docker_host}"])
    storage.mkdir(exist_ok=True)
    with registry(storage, address, inside=nodes_engine.inside()):
        bench.run("run", "--site", "site.yaml")

    repeats = {cell.cell.id: cell.repeats[0].outcome for cell in bench.report().cells}
    assert {name: (str(each.status), each.reason) for name, each in repeats.items()} == dict.fromkeys(CELLS, ("ok", ""))
    assert images_of(bench) == {(way, value)}


def clear(side: FarSide) -> None:
    client = side.client()
    for name in (tag for image in client.api.images() for tag in image["RepoTags"] or ()):
        client.api.remove_image(name, force=True)
    client.close()


def without_shared_folder(bench: BenchFolder, *setup: str) -> Path:
    """Write a site whose nodes share nothing. Return the folder that each has for itself."""
    local = bench.folder / "local"
    local.mkdir()
    program = bench.folder / "program"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {QUICK} "$@"\n')
    program.chmod(0o755)
    bench.site(results={"on_nodes": str(local)}, program=str(program), setup=setup)
    return local


def test_results_come_back_from_nodes(bench: BenchFolder) -> None:
    """The folder of the run is not there for the nodes; a file of each part is brought and merged."""
    local = without_shared_folder(bench)
    bench.scripts("a", "b")
    said = bench.run("run", "--runtime", "host", "--site", "site.yaml")
    run = bench.the_run()

    assert not list(run.folder.glob("parts/*/*/run.json"))
    assert f"lie on their nodes in {local}/{run.name}" in said
    files = sorted((local / run.name).glob("*.tar.zst"))
    assert [file.name.partition("-")[0] for file in files] == ["000", "001"]
    for file in files:
        shutil.copy(file, bench.folder)
        walk(bench, "Without a shared folder", 0, changes={"003-node7__12_3.tar.zst": file.name})
    assert bench.ended() == {"a": ["ok"], "b": ["ok"]}
    bench.run("run", "--resume", "latest")
    assert len(bench.submitted().submissions) == 1
    assert "2 ok" in walk(bench, "Where things are", 0, changes={})


def test_nodes_need_no_file_of_the_submitting_host(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """Root may read all that is there, so the files are moved away before a job goes on, until all jobs have ended."""
    gate, away = bench.folder / "gate", bench.folder / "away"
    local = without_shared_folder(bench, f"until [ -e {gate} ]; do sleep 0.1; done")
    bench.scripts("a", "b")
    name = bench.run("run", "--runtime", "host", "--site", "site.yaml", "--detach").splitlines()[0]
    here = [bench.folder / file for file in ("results", "matrix.yaml", "site.yaml", "wait.py")]
    away.mkdir()
    for path in here:
        path.rename(away / path.name)
    gate.touch()
    until(lambda: not cluster.live())
    assert bench.begun() == {"a": 1, "b": 1}
    assert not any(path.exists() for path in here)
    for path in here:
        (away / path.name).rename(path)
    said = bench.run("run", "--resume", name)

    assert f"lie on their nodes in {local}/{name}" in said
    assert {end.state for end in bench.submitted().ends.values()} == {JobState.COMPLETED}
    assert len(bench.submitted().submissions) == 1
    files = sorted((local / name).glob("*.tar.zst"))
    assert [file.name.partition("-")[0] for file in files] == ["000", "001"]
    for file in files:
        bench.run("merge", str(file))
    assert bench.ended() == {"a": ["ok"], "b": ["ok"]}


@pytest.mark.slow
def test_a_warned_job_tells_by_its_status(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """Its log stays on its node, and so do the results of what it has measured."""
    local = without_shared_folder(bench)
    bench.scripts("a")
    bench.close()
    program = bench.start("run", "--runtime", "host", "--site", "site.yaml")
    bench.until_begun("a")
    (submission,) = bench.submitted().submissions
    cluster.said("scontrol", "update", f"jobid={submission.array}_0", "timelimit=1")
    bench.ends(program)

    (end,) = bench.submitted().ends.values()
    assert (end.job, end.state) == (f"{submission.array}_0", JobState.TIMEOUT)
    assert not list((bench.the_run().folder / "logs").iterdir())
    assert len(list((local / bench.the_run().name).glob(f"000-{end.node}__*.tar.zst"))) == 1
