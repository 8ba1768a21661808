"""The question for an image that is not here, with answers that Podman 4.3 gave."""

from typing import Any

import requests
from docker.errors import ImageNotFound

from orchestrator.engine.images import unavailable

NOT_SUPPORTED = '{"cause":"","message":"Path /v1.41/distribution/python:3.11/json is not supported","response":0}'
UNKNOWN_HOST = '{"cause":"no such host","message":"pinging container registry registry.example: no such host"}'


def answer(status: int, text: str) -> requests.Response:
    made = requests.Response()
    made.status_code, made._content = status, text.encode()
    return made


class FakePodman:
    """An engine in memory without images, which has its own place for manifests only."""

    base_url, api_version = "http://engine", "1.41"

    def __init__(self, manifest: requests.Response) -> None:
        self.api = self
        self.asked: list[str] = []
        self._manifest = manifest

    def inspect_image(self, reference: str) -> Any:
        raise ImageNotFound(reference)

    def get(self, url: str, timeout: float) -> requests.Response:
        self.asked.append(url)
        return answer(404, NOT_SUPPORTED) if "/distribution/" in url else self._manifest


def test_podman_is_asked_at_its_own_place() -> None:
    engine: Any = FakePodman(answer(200, "{}"))

    assert unavailable(engine, "registry.example/python:3.11") is None
    assert engine.asked[-1] == "http://engine/v4.0.0/libpod/manifests/registry.example/python:3.11/json"


def test_podman_says_why_there_is_none() -> None:
    engine: Any = FakePodman(answer(404, UNKNOWN_HOST))

    assert unavailable(engine, "python:3.11") == "pinging container registry registry.example: no such host"
