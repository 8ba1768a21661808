"""A container with all that a pod of `render k8s` says of it, on an engine in place of a cluster."""

import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import pytest
import yaml

from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.program import own_wheel, wheels
from orchestrator.bundles.program.wheels import FetchSettings, TargetPlatform
from orchestrator.domain import Status
from orchestrator.results.store import Run
from orchestrator.runtimes.environments import Workshop
from orchestrator.workflows.cluster.options import ClusterOptions
from orchestrator.workflows.cluster.render import render
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import cluster_report
from orchestrator.workflows.inputs.planned_matrix import site_settings
from orchestrator.workflows.option_values import RuntimeName

pytestmark = [pytest.mark.docker, pytest.mark.slow]
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
MATRIX = """\
version: 1
name: pod
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
models: [{name: mlp, batch_size: 32}, lenet]
modes: [train]
steps: 10
repeats: 2
parity: false
"""
SITE = """\
version: 1
executor: kubernetes
kubernetes: {image: IMAGE, claim: results, queue: bench, cpus: 1, memory: 2Gi, user: 12345}
"""


@pytest.fixture(scope="module")
def image(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image with the wheel of the orchestrator on a base with a Python, as the page says."""
    folder = tmp_path_factory.mktemp("image")
    settings = site_settings(BuildSettings(), base_image, os.environ)
    workshop = Workshop(folder / "cache", settings, os.environ)
    context = folder / "context"
    (context / "wheels").mkdir(parents=True)
    own = own_wheel.write(context / "wheels", workshop)
    fetching = FetchSettings(workshop, folder / "log", threading.Event())
    wheels.fetch(own, TargetPlatform(PYTHON, platform.machine()), context / "wheels", fetching)
    base = base_image.format(python=PYTHON)
    install = f"pip install --no-cache-dir --no-index --find-links /wheels /wheels/{own.name}"
    (context / "Dockerfile").write_text(f"FROM {base}\nCOPY wheels /wheels\nRUN python3 -m {install}\n")
    made, _ = engine.images.build(path=str(context), rm=True, network_mode="none", tag="bench-test/pod:1")
    yield "bench-test/pod:1"
    engine.images.remove(made.id, force=True)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that the user of the pods may write to, which only root can make theirs."""
    if os.geteuid():
        pytest.skip("only root can give a folder to the user of the pods")
    yield tmp_path
    shutil.rmtree(tmp_path / "results", ignore_errors=True)


def as_on_engine(document: dict[str, Any], claim: Path) -> list[str]:
    """Return the command that runs the container of a Job on an engine, by its fields alone."""
    pod = document["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    confined, identity = container["securityContext"], pod["securityContext"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    options = [f"--user={identity['runAsUser']}:{identity['runAsGroup']}", f"--workdir={container['workingDir']}"]
    options += [f"--cap-drop={name}" for name in confined["capabilities"]["drop"]]
    options += ["--read-only"] if confined["readOnlyRootFilesystem"] else []
    options += [] if confined["allowPrivilegeEscalation"] else ["--security-opt=no-new-privileges"]
    for mount in container["volumeMounts"]:
        if "emptyDir" in volumes[mount["name"]]:
            options.append(f"--tmpfs={mount['mountPath']}:rw,exec,mode=1777")
        else:
            options.append(f"--volume={claim / mount['subPath']}:{mount['mountPath']}")
    for variable in container["env"]:
        options.append(f"--env={variable['name']}={variable.get('value', 'node7')}")
    options += [f"--cpus={container['resources']['limits']['cpu']}", "--memory=2g", "--network=none"]
    (program,) = container["command"]
    return ["docker", "run", "--rm", *options, f"--entrypoint={program}", container["image"], *container["args"]]


def test_a_pod_measures_its_part(folder: Path, image: str) -> None:
    """Without an engine, a network, root and a writable root, the part is measured; the claim has the results."""
    (folder / "matrix.yaml").write_text(MATRIX)
    (folder / "site.yaml").write_text(SITE.replace("IMAGE", image))
    options = ClusterOptions(
        file=folder / "matrix.yaml", results=folder / "results", runtime=RuntimeName.HOST, idle_wait_s=0
    )
    result = render(options, Host(os.environ))
    assert result.path
    jobs = list(yaml.safe_load_all(result.path.read_text()))
    subprocess.run(["chown", "-R", "12345:12345", str(result.cluster.folder)], check=True)

    for document in jobs:
        ended = subprocess.run(as_on_engine(document, folder / "results"), capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    report = cluster_report(result.cluster)
    assert report.statuses == ((Status.OK, sum(len(cell.repeats) for cell in report.cells)),)
    assert [group.node for group in report.groups] == ["node7"] * len(jobs)
    run = Run(result.cluster.part_folder("000") / "node7")
    assert (run.folder / "run.json").stat().st_uid == 12345
    assert render(replace(options, file=None, resume="latest"), Host(os.environ)).path is None
