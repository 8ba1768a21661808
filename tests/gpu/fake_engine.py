"""An engine that gives containers fake GPUs: the hook of its `nvidia` driver and the driver are fakes."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker

from orchestrator import images
from orchestrator.events import ignore
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix
from tests.docker.far_engine import Engine, second_engine
from tests.gpu.fake_host import STAND_IN
from tests.required import missing

HOOK = "nvidia-container-runtime-hook"


def made_toolkit(folder: Path) -> Path:
    """Put the fake hook and the fake driver into a folder for the PATH of an engine, and return it."""
    compiler = shutil.which("cc") or missing("no C compiler on PATH", "BENCH_REQUIRE_ENGINE")
    shutil.copy(STAND_IN / HOOK, folder)
    source, library = STAND_IN / "fake_driver.c", folder / "fake_driver.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return folder


@contextmanager
def engine_with_gpus(toolkit: Path, matrix: str, engine: docker.DockerClient, base_image: str) -> Iterator[Engine]:
    """Have an engine with the hook, and with the one image of a matrix, which `engine` builds."""
    file = toolkit / "matrix.yaml"
    file.write_text(matrix)
    prepared = plan_matrix(MatrixOptions(file=file, base_image=base_image), Host(os.environ))
    (built,) = images.build(
        prepared.plan.images, prepared.settings, engine, jobs=1, logs=toolkit, listener=ignore, stop=threading.Event()
    ).values()
    assert isinstance(built, images.Built), built
    with second_engine(programs=toolkit) as second:
        client = second.client()
        client.images.load(engine.images.get(built.reference).save(named=built.reference))
        client.close()
        yield second
