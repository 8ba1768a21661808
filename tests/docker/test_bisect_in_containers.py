"""`bisect` on a real engine: the release that is slower, and the dependency it came with, found though it is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import docker
import faults_support
import pytest
from tiny_releases import fresh_name, tiny_index

from orchestrator.engine.images import labelled, remove
from orchestrator.images import labels
from orchestrator.images.surplus import given_up
from tests.envelopes import data_of
from tests.until import LIMIT_S

pytestmark = [pytest.mark.docker, pytest.mark.slow]
PACKAGE, DEPENDENCY = fresh_name("tiny"), fresh_name("less")
STEP_S = 0.01
"""It is slept, so that a busy host does not move it."""
MATRIX = """\
version: 1
systems: {cpu: {cpus: 1, memory: 512m}}
frameworks: [noop==1]
models: [lenet]
parity: false
steps: 10
warmup_steps: 2
build: {extra_indexes: [URL/simple]}
"""


@dataclass
class Place:
    """A folder with a matrix, whose index has the releases 1.0 to 1.4."""

    folder: Path
    base_image: str

    def start(self, *more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "orchestrator", "bisect", "--idle-wait", "0", "--json", *more],
            cwd=self.folder,
            env=os.environ | {"ORCHESTRATOR_BASE_IMAGE": self.base_image, "XDG_CACHE_HOME": str(self.folder / "cache")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def place(tmp_path: Path, engine: docker.DockerClient, base_image: str) -> Iterator[Place]:
    with tiny_index() as index:
        (tmp_path / "matrix.yaml").write_text(MATRIX.replace("URL", index.url))
        index.publish(DEPENDENCY, "1.0", STEP_S)
        index.publish(DEPENDENCY, "2.0rc1", STEP_S * 2.5)
        index.publish(PACKAGE, "1.0", None, requires=DEPENDENCY)  # pip takes no candidate that nobody asked for
        index.publish(PACKAGE, "1.1", None, requires="bench-nobody-offers-this==1")
        index.publish(PACKAGE, "1.2", None, requires=f"{DEPENDENCY}>=2.0rc1")
        index.publish(PACKAGE, "1.3", None, requires=f"{DEPENDENCY}>=2.0rc1")
        index.publish(PACKAGE, "1.4rc1", None, requires=f"{DEPENDENCY}>=2.0rc1")
        yield Place(tmp_path, base_image)
    tags = {tag for image in engine.api.images() for tag in image["RepoTags"] or () if PACKAGE in tag}
    for image in given_up(labelled(engine, labels.KIND), tags):
        for name in image.names:
            remove(engine, name)


def test_killed_search_resumes_and_names_the_change(place: Place) -> None:
    """A search that is killed goes on and names the release and the dependency."""
    asked = [f"--good=noop==1,{PACKAGE}==1.0", f"--bad=noop==1,{PACKAGE}==1.3", "--cell=lenet-train-*"]
    first = place.start(*asked, "--metric=throughput=30%", "--max-blocks=3", "--runtime=docker")
    results = place.folder / "results"
    faults_support.until(lambda: len(list(results.glob("bisect-*/*/noop-*/*/*/outcome.json"))) >= 3, first)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    measured = {path: path.stat().st_mtime_ns for path in results.glob("bisect-*/*/noop-*/*/*/outcome.json")}

    second = place.start("--resume", "latest")
    out, said = second.communicate(timeout=LIMIT_S)

    assert second.returncode == 1, said
    found = data_of(out)
    (change,) = found["found"]["releases"]["changes"]
    assert (change["before"], change["after"], change["between"]) == ("1.0", "1.2", ["1.1"])
    assert change["comparison"]["verdict"] == "slower"
    assert change["comparison"]["ratio"] == pytest.approx(1 / 2.5, rel=0.15)
    assert [each["release"] for each in found["found"]["releases"]["untestable"]] == ["1.1"]
    assert found["left_out"] == []  # 1.4rc1 lies beyond
    (origin,) = found["found"]["origins"]
    assert origin["by"] == [f"{DEPENDENCY} 1.0 → 2.0rc1"]
    assert {path: path.stat().st_mtime_ns for path in measured} == measured
    (record,) = results.glob("bisect-*/bisect.json")
    assert json.loads(record.read_text()) == found

    third = place.start("--resume", found["name"])
    assert data_of(third.communicate(timeout=LIMIT_S)[0]) == found
