"""An engine in memory that can fail wherever it is asked."""

import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import docker
import requests
from docker.errors import APIError

from orchestrator.engine.confinement import Limits
from orchestrator.engine.containers import ContainerSpec
from orchestrator.runtimes import (
    Owner,
)

OWNER = Owner("boot", "pid:[1]", 1, "1")


def refusal(text: str) -> APIError:
    response = requests.Response()
    response.status_code = 500
    return APIError("500", response=response, explanation=text)


class FakeApi:
    """An engine that says one line, ends with an exit code, and remembers what it was asked."""

    def __init__(self, **failures: Exception) -> None:
        self.failures = failures
        self.asked: list[str] = []
        self.made: dict[str, Any] = {}
        self.exit_code = 0
        self.oom = False
        self.state: dict[str, Any] = {}
        self.declared: list[str] = []
        self.present_volumes: list[dict[str, Any]] = []
        self.removed_volumes: list[str] = []
        self.mounts: list[dict[str, Any]] = []
        self.present: list[dict[str, Any]] = []
        self.hang = threading.Event()
        self.hang.set()
        self.create_host_config = docker.APIClient(base_url="http://127.0.0.1:1", version="1.41").create_host_config

    def _ask(self, name: str) -> None:
        self.asked.append(name)
        if name in self.failures:
            raise self.failures[name]

    def inspect_image(self, image: str) -> dict[str, Any]:
        return {"Config": {"Volumes": {path: {} for path in self.declared} or None}}

    def volumes(self, filters: dict[str, str]) -> dict[str, Any]:
        return {"Volumes": self.present_volumes or None}

    def remove_volume(self, name: str, force: bool) -> None:
        self.removed_volumes.append(name)

    def create_container(self, **made: Any) -> dict[str, str]:
        self.made = made
        self._ask("create")
        return {"Id": "c0ffee"}

    def attach_socket(self, identity: str, params: dict[str, int]) -> Any:
        self._ask("attach")
        ours, theirs = socket.socketpair()
        said = b"hello\n"
        ours.sendall(b"\x01\x00\x00\x00" + len(said).to_bytes(4, "big") + said)
        ours.close()
        stream = theirs.makefile("rb", buffering=0)
        return SimpleNamespace(
            recv=theirs.recv,
            fileno=theirs.fileno,
            _response=SimpleNamespace(close=lambda: (stream.close(), theirs.close())),
        )

    def start(self, identity: str) -> None:
        self._ask("start")

    def wait(self, identity: str, timeout: float | None = None) -> None:
        self.hang.wait()
        self._ask("wait")

    def inspect_container(self, identity: str) -> dict[str, Any]:
        self._ask("inspect")
        state = {"ExitCode": self.exit_code, "OOMKilled": self.oom} | self.state
        return {"State": state, "Image": "sha256:1", "Mounts": self.mounts}

    def remove_container(self, identity: str, force: bool, v: bool) -> None:
        self.hang.set()
        self._ask("remove")

    def containers(self, all: bool, filters: dict[str, str]) -> list[dict[str, Any]]:  # noqa: A002 - the engine's name
        return self.present


def client(api: FakeApi) -> Any:
    return SimpleNamespace(api=api)


def spec(folder: Path) -> ContainerSpec:
    return ContainerSpec("image", folder, "1000:1000", cpus=(0, 2), limits=Limits(64), gpus=("GPU-3",))
