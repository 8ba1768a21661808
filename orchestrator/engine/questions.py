"""Questions that an image answers in a container of its own."""

import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import docker
import requests
from docker.errors import DockerException

from orchestrator.engine import abilities, ownership
from orchestrator.engine.client import is_lost
from orchestrator.engine.confinement import Limits, limits_on
from orchestrator.engine.containers import ContainerEnd, ContainerSpec, EngineLostError, container
from orchestrator.engine.images import BuildError, one_line
from orchestrator.files import BoundedLog
from orchestrator.processes import Cause, StartError, Stop, last_line, tail

USER, ROOT = "65534:65534", "0:0"
LIMITS = Limits(memory_bytes=1 << 30, pids=512, shm_bytes=64 << 20, tmp_bytes=256 << 20)
PYTHON_TIMEOUT_S = 600.0
NEVER = threading.Event()
ANSWER_BYTES = 1 << 20
"""Many times what an image with all frameworks answers."""


def ask(client: docker.DockerClient, image: str, arguments: Sequence[str], *, timeout_s: float = 120.0) -> str:
    """Run the entry point of an image, confined like what is measured, and return what it wrote to standard output.

    The answer is cut at about `ANSWER_BYTES`. Raises `BuildError` with its last line where it fails or does not end.
    """
    with answer_of(client, ContainerSpec(image, None, USER, tuple(arguments)), timeout_s, ANSWER_BYTES) as answer:
        return answer.read()


@contextmanager
def python_answer(
    client: docker.DockerClient, image: str, program: str, *, stop: Stop, limit_bytes: int
) -> Iterator[TextIO]:
    """Run a program in the Python of an image, isolated from its packages, and give what it wrote.

    It runs as root, may read the files of all users, and write none. Raises as `ask` does, and if `stop` is set.
    """
    try:
        document = client.api.inspect_image(image)  # type: ignore[no-untyped-call]  # the library has no types here
    except DockerException as error:
        raise BuildError(one_line(str(error))) from error
    spec = ContainerSpec(
        image, None, ROOT, ("-I", "-S", "-c", program), program=interpreter(document), reads_everything=True
    )
    with answer_of(client, spec, PYTHON_TIMEOUT_S, limit_bytes, stop) as answer:
        yield answer


def interpreter(document: Mapping[str, Any]) -> str:
    """Return the interpreter that the entry point of an image names, as inspected, else the first one on its path."""
    entry_point = (document.get("Config") or {}).get("Entrypoint") or []
    return str(entry_point[0]) if entry_point[1:2] == ["-m"] and entry_point[0] else "python"


@contextmanager
def answer_of(
    client: docker.DockerClient,
    spec: ContainerSpec,
    timeout_s: float,
    limit_bytes: int,
    stop: Stop = NEVER,
) -> Iterator[TextIO]:
    """Run a container, confined like what is measured, and give what it wrote to standard output.

    Raises `BuildError` with its last line where it fails or does not end.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answer"
        with _refusals():
            labels = ((ownership.LABEL, str(ownership.this_process())),)
            confined = replace(spec, labels=labels, limits=limits_on(abilities.read(client), LIMITS))
            with (
                BoundedLog(path, limit_bytes=limit_bytes) as answer,
                container(client, confined, path.with_name("log"), answer) as running,
            ):
                running.start()
                end = running.wait(timeout_s, stop)
            _refuse(end, timeout_s, said=(path.with_name("log"), path))
        with path.open(encoding="utf-8", errors="replace") as text:
            yield text


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise `BuildError` where the engine refuses, and the error of the connection where it goes away."""
    try:
        yield
    except EngineLostError as error:
        if isinstance(error.__cause__, requests.exceptions.RequestException) and is_lost(error.__cause__):
            raise error.__cause__ from error
        raise BuildError(str(error)) from error
    except (StartError, DockerException, OSError) as error:
        if isinstance(error, requests.exceptions.RequestException) and is_lost(error):
            raise
        raise BuildError(one_line(str(error))) from error


def _refuse(end: ContainerEnd, timeout_s: float, *, said: Sequence[Path]) -> None:
    """Raise `BuildError` unless the container ended by itself and without an error.

    The files with its output come in the order in which the cause of an error is looked for: an engine does not keep
    the order of lines on standard error and standard output.
    """
    if end.cause is Cause.STOPPED:
        raise BuildError("it was stopped")
    if end.cause is not Cause.EXITED:
        raise BuildError(f"it did not answer within {timeout_s:g} s")
    if end.exit_code:
        lines = (last_line(tail(path)) for path in said)
        raise BuildError(next(filter(None, lines), f"it exited {end.exit_code} and said nothing"))
