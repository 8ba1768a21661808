"""Registries that refuse, and images that are not what a file says, with a real engine."""

import base64
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import docker
import docker_images
import pytest
from registry_server import PASSWORD, USER, Registry, free_port, missing, registry

from orchestrator.engine.images import remove, tag
from orchestrator.engine.pulled_bytes import untold
from orchestrator.engine.registry import pull, push
from orchestrator.engine.registry_errors import (
    CertificateError,
    DeniedError,
    NoRegistryError,
    NotInRegistryError,
    PlainHttpError,
)
from orchestrator.errors import InputError
from orchestrator.events import ignore
from orchestrator.images import labels
from orchestrator.images.registries.pushing import LocalImage, PushedImage, push_all
from orchestrator.images.registries.source import ImageSource, WantedImage, fetch
from orchestrator.resources import ROOT
from tests import required

pytestmark = pytest.mark.docker
LABEL = "bench.test-registry"
REPOSITORY = "bench-test-registry/small"


@pytest.fixture(scope="module")
def images(engine: docker.DockerClient) -> Iterator[dict[str, str]]:
    """Two images without a system, as ids by content."""
    if reason := missing():
        required.missing(reason, "BENCH_REQUIRE_ENGINE")
    found = {}
    for content in ("aaaa", "bbbb"):
        text = f"FROM scratch\nCOPY own /own\nLABEL {labels.CONTENT}={content}\n"
        found[content] = docker_images.built(engine, text, LABEL, {"own": content.encode() * 1000})
        tag(engine, found[content], f"{REPOSITORY}:1-{content}")
    yield found
    for content in found:
        remove(engine, f"{REPOSITORY}:1-{content}")


def _pushed(engine: docker.DockerClient, images: dict[str, str], place: str) -> list[PushedImage]:
    wanted = [
        LocalImage(f"{REPOSITORY}:1", f"{REPOSITORY}:1-{content}", identity, f"{place}/{REPOSITORY}:1-{content}")
        for content, identity in images.items()
    ]
    return list(push_all(engine, wanted, ignore, threading.Event()))


def _never() -> bool:
    return False


@pytest.fixture
def outer() -> str:
    """An address of this machine for which every engine asks a registry for TLS."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        return str(probe.getsockname()[0])


def test_an_address_without_a_registry(engine: docker.DockerClient, images: dict[str, str]) -> None:
    place = f"127.0.0.1:{free_port()}"

    with pytest.raises(NoRegistryError):
        _pushed(engine, images, place)
    with pytest.raises(NoRegistryError):
        pull(engine, f"{place}/x@sha256:{'0' * 64}", stopped=_never, fetched=untold)


def test_a_registry_without_tls(
    engine: docker.DockerClient, images: dict[str, str], outer: str, tmp_path: Path
) -> None:
    """An engine that asks for https gets http, and the message has the line for its configuration."""
    place = f"{outer}:{free_port(outer)}"

    with registry(tmp_path, place):
        with pytest.raises(PlainHttpError, match=re.escape(f'"insecure-registries": ["{place}"]')):
            _pushed(engine, images, place)
        with pytest.raises(PlainHttpError):
            pull(engine, f"{place}/x@sha256:{'0' * 64}", stopped=_never, fetched=untold)


def test_a_certificate_of_nobody(
    engine: docker.DockerClient, images: dict[str, str], outer: str, tmp_path: Path
) -> None:
    place = f"{outer}:{free_port(outer)}"
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=registry"]
    command += ["-addext", f"subjectAltName=IP:{outer}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)

    tls = {"tls": {"certificate": str(certificate), "key": str(key)}}
    with registry(tmp_path, place, http=tls), pytest.raises(CertificateError, match=f"certs.d/{place}/ca.crt"):
        _pushed(engine, images, place)


def test_an_image_that_is_not_there(engine: docker.DockerClient, images: dict[str, str], tmp_path: Path) -> None:
    with registry(tmp_path, f"127.0.0.1:{free_port()}") as served:
        _pushed(engine, images, served.address)

        for name in (REPOSITORY, "bench-test-registry/other"):
            with pytest.raises(NotInRegistryError):
                pull(engine, f"{served.address}/{name}@sha256:{'0' * 64}", stopped=_never, fetched=untold)


def test_a_user_without_credentials(engine: docker.DockerClient, images: dict[str, str], tmp_path: Path) -> None:
    with registry(tmp_path, f"127.0.0.1:{free_port()}", auth=True) as served:
        with pytest.raises(DeniedError, match=f"docker login {served.address}"):
            _pushed(engine, images, served.address)
        with pytest.raises(DeniedError):
            pull(engine, f"{served.address}/{REPOSITORY}@sha256:{'0' * 64}", stopped=_never, fetched=untold)


PUSH = """
import sys
from orchestrator.engine.client import connect
from orchestrator.engine.registry import push
import os
try:
    print(push(connect(os.environ), sys.argv[1], stopped=lambda: False))
except Exception as error:
    print(type(error).__name__, error)
"""


def _push_as(reference: str, served: Registry, folder: Path, password: str) -> str:
    """Push in a process whose engine configuration has a password, and return all that it said."""
    folder.mkdir()
    secret = base64.b64encode(f"{USER}:{password}".encode()).decode()
    (folder / "config.json").write_text(json.dumps({"auths": {served.address: {"auth": secret}}}))
    environment = os.environ | {"DOCKER_CONFIG": str(folder), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", PUSH, reference], env=environment, capture_output=True, text=True, check=False
    )
    return ended.stdout + ended.stderr


def test_credentials_are_those_of_the_engine(
    engine: docker.DockerClient, images: dict[str, str], tmp_path: Path
) -> None:
    """The configuration of the engine's clients has the password, and no message repeats it."""
    with registry(tmp_path / "served", f"127.0.0.1:{free_port()}", auth=True) as served:
        reference = f"{served.address}/{REPOSITORY}:1-aaaa"
        tag(engine, images["aaaa"], reference)
        try:
            right = _push_as(reference, served, tmp_path / "right", PASSWORD)
            wrong = _push_as(reference, served, tmp_path / "wrong", "hunter2")
        finally:
            remove(engine, reference)

    assert right.startswith("Pushed(digest='sha256:")
    assert wrong.startswith("DeniedError registry ")
    assert "hunter2" not in wrong


def test_another_image_under_a_name_is_refused(
    engine: docker.DockerClient, images: dict[str, str], tmp_path: Path
) -> None:
    """A digest of another content gets no name, and the engine does not keep it."""
    with registry(tmp_path, f"127.0.0.1:{free_port()}") as served:
        wrong = _pushed(engine, images, served.address)[1].digest
        source = ImageSource("images.json", {f"{REPOSITORY}:2-aaaa": wrong})

        with pytest.raises(InputError, match="its content is bbbb, and aaaa is wanted"):
            fetch(engine, source, [WantedImage("small", f"{REPOSITORY}:2-aaaa", "aaaa")], ignore, threading.Event())

    names = {
        name for image in engine.api.images() for name in (*(image["RepoTags"] or ()), *(image["RepoDigests"] or ()))
    }
    assert not [name for name in names if name.startswith((f"{REPOSITORY}:2", served.address))]


def test_a_mounted_layer_counts_as_there(engine: docker.DockerClient, images: dict[str, str], tmp_path: Path) -> None:
    """A layer that another repository of the registry has is not sent again."""
    with registry(tmp_path, f"127.0.0.1:{free_port()}") as served:
        references = [f"{served.address}/{name}:1" for name in ("one", "two")]
        for reference in references:
            tag(engine, images["aaaa"], reference)
        try:
            sent = [push(engine, reference, stopped=_never) for reference in references]
        finally:
            for reference in references:
                remove(engine, reference)

    layers = [None, None] if docker_images.tells_no_layers() else [1, 0]
    assert [each.layers_sent if each else -1 for each in sent] == layers
