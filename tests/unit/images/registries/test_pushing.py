"""Pushed images, their digests, and the names that stay on the engine."""

import threading
from typing import Any

import pytest
from docker.errors import DockerException

from orchestrator.engine.registry import push
from orchestrator.engine.registry_errors import (
    CertificateError,
    DeniedError,
    NoRegistryError,
    NotInRegistryError,
    PlainHttpError,
    RegistryError,
    registry_error,
)
from orchestrator.events import Event, ignore
from orchestrator.images.registries.pushing import LocalImage, PushedImage, push_all
from tests.unit.images.registries.registry_fake import FakeRegistryEngine, digest_of

HERE = "bench/small:1-cpu-aaaa"
REMOTE = "registry:5000/team/bench/small"


def _image(engine: FakeRegistryEngine, content: str = "aaaa", number: int = 1) -> LocalImage:
    reference = f"bench/small:1-cpu-{content}"
    identity = engine.add(reference, content, number)
    return LocalImage("bench/small:1-cpu", reference, identity, f"{REMOTE}:1-cpu-{content}")


def _pushed(engine: FakeRegistryEngine, *images: LocalImage) -> list[PushedImage]:
    client: Any = engine
    return list(push_all(client, images, ignore, threading.Event()))


def test_a_pushed_image_has_its_digest() -> None:
    engine = FakeRegistryEngine()
    image = _image(engine)

    assert _pushed(engine, image) == [PushedImage(image.name, HERE, f"{REMOTE}@{digest_of(1)}", 1)]
    assert [pushed.layers_sent for pushed in _pushed(engine, image)] == [0]


def test_podman_names_a_digest_and_no_layers() -> None:
    engine = FakeRegistryEngine(tells_layers=False)
    image = _image(engine)

    assert _pushed(engine, image) == [PushedImage(image.name, HERE, f"{REMOTE}@{digest_of(1)}", None)]


def test_no_name_of_the_registry_stays() -> None:
    """An engine has the names after a push that it had before."""
    engine = FakeRegistryEngine()
    image = _image(engine)
    _pushed(engine, image)

    assert engine.names == {HERE: image.image_id}


def test_a_name_that_was_there_stays() -> None:
    """A name in the registry that the engine had goes back to its image."""
    engine = FakeRegistryEngine()
    image = _image(engine)
    other = engine.add("any:name", "bbbb", 2)
    engine.names[image.remote] = other
    _pushed(engine, image)

    assert engine.names == {HERE: image.image_id, "any:name": other, image.remote: other}
    assert engine.remote == {f"{REMOTE}@{image.image_id}": image.image_id}


def test_a_refused_push_leaves_no_name() -> None:
    engine = FakeRegistryEngine(refusal="denied: requested access to the resource is denied")
    image = _image(engine)

    with pytest.raises(DeniedError, match=r"registry registry:5000: it refuses this user .*docker login registry:5000"):
        _pushed(engine, image)

    assert engine.names == {HERE: image.image_id}


def test_a_stop_ends_a_push() -> None:
    """After a request to stop, neither the image under way nor the next is pushed."""
    engine, stop = FakeRegistryEngine(), threading.Event()
    images = [_image(engine), _image(engine, "bbbb", 2)]

    def listener(event: Event) -> None:
        del event
        stop.set()

    client: Any = engine
    assert push_all(client, images, listener, stop) == ()
    assert (engine.calls, engine.remote) == ([f"push {images[0].remote}"], {})


def test_a_push_without_a_digest_is_an_error() -> None:
    client: Any = FakeRegistryEngine()
    client.push = lambda *_, **__: (each for each in [{"status": "Pushed", "id": "a"}])

    with pytest.raises(RegistryError, match="without a digest"):
        push(client, f"{REMOTE}:1", stopped=lambda: False)


def test_output_of_a_credential_helper_is_not_repeated() -> None:
    """A credential helper that fails is named, and what it printed is not."""
    client: Any = FakeRegistryEngine()

    def refuse(*_: object, **__: object) -> None:
        raise DockerException("Credentials store error: StoreError('… exited with \"hunter2\"')")

    client.push = refuse
    with pytest.raises(DeniedError, match="credential helper") as raised:
        push(client, f"{REMOTE}:1", stopped=lambda: False)

    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("said", "kind", "remedy"),
    [
        ('Get "https://r:5000/v2/": http: server gave HTTP response to HTTPS client', PlainHttpError, "daemon.json"),
        ('Get "https://r:5000/v2/": x509: certificate signed by unknown authority', CertificateError, "ca.crt"),
        ("unauthorized: authentication required", DeniedError, "docker login r:5000"),
        ("no basic auth credentials", DeniedError, "docker login r:5000"),
        ("manifest unknown: manifest unknown", NotInRegistryError, "push it again"),
        ('Get "http://r:5000/v2/": dial tcp 10.0.0.1:5000: connect: connection refused', NoRegistryError, "port"),
        ('Get "https://r:5000/v2/": net/http: TLS handshake timeout', NoRegistryError, "port"),
        ("dial tcp: lookup r: no such host", NoRegistryError, "port"),
        ('error parsing HTTP 404 response body: invalid character: "404 page not found"', NoRegistryError, "port"),
        ("received unexpected HTTP status: 500 Internal Server Error", RegistryError, "500"),
    ],
)
def test_a_refusal_has_a_type_and_a_remedy(said: str, kind: type[RegistryError], remedy: str) -> None:
    error = registry_error(said, "r:5000")

    assert type(error) is kind
    assert str(error).startswith("registry r:5000: ")
    assert remedy in str(error)
