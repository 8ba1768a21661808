"""Questions that an image answers in a container of its own."""

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import docker
import requests
from docker.errors import DockerException

from orchestrator.engine import ownership
from orchestrator.engine.client import is_lost
from orchestrator.engine.confinement import Limits, profile_for
from orchestrator.engine.containers import ContainerEnd, ContainerSpec, EngineLostError, container
from orchestrator.engine.images import BuildError, one_line
from orchestrator.logs import BoundedLog
from orchestrator.processes import Cause, StartError, last_line, tail

USER, ROOT = "65534:65534", "0:0"
LIMITS = Limits(memory_bytes=1 << 30, pids=512, shm_bytes=64 << 20, tmp_bytes=256 << 20)
ANSWER_BYTES = 1 << 20
"""Many times what an image with all frameworks answers."""


def ask(client: docker.DockerClient, image: str, arguments: Sequence[str], *, timeout_s: float = 120.0) -> str:
    """Run the entry point of an image, confined like what is measured, and return what it wrote to standard output.

    The answer is cut at about `ANSWER_BYTES`. Raises `BuildError` with its last line where it fails or does not end.
    """
    return _asked(client, ContainerSpec(image, None, USER, tuple(arguments)), timeout_s, ANSWER_BYTES)


def ask_python(
    client: docker.DockerClient, image: str, source: str, *, answer_bytes: int, timeout_s: float = 600.0
) -> str:
    """Run a program in the Python of an image, isolated from its packages, and return what it wrote.

    It runs as root without capabilities, which may read every file of root and write none. Raises as `ask` does.
    """
    python = _python(client, image)
    command = ("-I", "-S", "-c", source)
    return _asked(client, ContainerSpec(image, None, ROOT, command, program=python), timeout_s, answer_bytes)


def _python(client: docker.DockerClient, image: str) -> str:
    """Return the interpreter that the entry point of an image names, else the first one on its path."""
    document = client.api.inspect_image(image)  # type: ignore[no-untyped-call]  # the library has no types here
    entry_point = (document.get("Config") or {}).get("Entrypoint") or []
    return str(entry_point[0]) if entry_point[1:2] == ["-m"] else "python"


def _asked(client: docker.DockerClient, spec: ContainerSpec, timeout_s: float, answer_bytes: int) -> str:
    try:
        labels = ((ownership.LABEL, str(ownership.this_process())),)
        confined = replace(spec, labels=labels, limits=replace(LIMITS, seccomp=profile_for(client)))
        with tempfile.TemporaryDirectory() as folder:
            return _answer(client, confined, Path(folder), timeout_s, answer_bytes)
    except EngineLostError as error:
        if isinstance(error.__cause__, requests.exceptions.RequestException) and is_lost(error.__cause__):
            raise error.__cause__ from error
        raise BuildError(str(error)) from error
    except (StartError, DockerException, OSError) as error:
        if isinstance(error, requests.exceptions.RequestException) and is_lost(error):
            raise
        raise BuildError(one_line(str(error))) from error


def _answer(client: docker.DockerClient, spec: ContainerSpec, folder: Path, timeout_s: float, answer_bytes: int) -> str:
    log, path = folder / "log", folder / "answer"
    with (
        BoundedLog(path, limit_bytes=answer_bytes) as answer,
        container(client, spec, log, answer) as running,
    ):
        running.start()
        end = running.wait(timeout_s, threading.Event())
    _refuse(end, log, timeout_s)
    return path.read_text(encoding="utf-8", errors="replace")


def _refuse(end: ContainerEnd, log: Path, timeout_s: float) -> None:
    """Raise `BuildError` unless the container ended by itself and without an error."""
    if end.cause is not Cause.EXITED:
        raise BuildError(f"it did not answer within {timeout_s:g} s")
    if end.exit_code:
        raise BuildError(last_line(tail(log)) or f"it exited {end.exit_code} and said nothing")
