"""Removal of images on a real engine; only images that this test has made are removed."""

import io
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import docker
import pytest

from orchestrator.engine.images import labelled, remove, tag
from orchestrator.images import labels
from orchestrator.images.surplus import Surplus, surplus
from tests.until import until

pytestmark = pytest.mark.docker

ALIAS = "bench-test-clean/bench/image:1"
MINE = "bench-test-clean/mine:1"


def made(client: docker.DockerClient, content: str, names: tuple[str, ...], base: str = "") -> str:
    """An image of one small file, labelled as ours are, or one that inherits the labels of its base."""
    marks = "" if base else f"LABEL {labels.KIND}={labels.IMAGE} {labels.CONTENT}={content}\n"
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        for name, text in (
            ("Dockerfile", f'FROM {base or "scratch"}\nCOPY file /file\nCMD ["/file"]\n{marks}'),
            ("file", content),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    context.seek(0)
    image, _ = client.images.build(fileobj=context, custom_context=True, rm=True)
    for name in names:
        tag(client, str(image.id), name)
    return str(image.id)


def gone(client: docker.DockerClient, keep_last: int, *in_use: str) -> tuple[Surplus, ...]:
    ours = [
        image
        for image in labelled(client, labels.KIND)
        if any(name.startswith("bench-test-clean/") for name in image.tags)
    ]
    return surplus(ours, keep_last, in_use)


@pytest.fixture
def two(engine: docker.DockerClient) -> Iterator[tuple[str, str]]:
    """An older and a newer content of one image; the name for people is the newer one's."""
    old, new = f"{ALIAS}-old", f"{ALIAS}-new"
    made(engine, "old", (old,))
    made_at = datetime.fromisoformat(engine.images.get(old).attrs["Created"])
    until(lambda: datetime.now(UTC) > made_at + timedelta(seconds=1))  # the engine lists by whole seconds
    made(engine, "new", (new, ALIAS))
    yield old, new
    for name in (MINE, old, new, ALIAS):
        if engine.images.list(name):
            engine.api.remove_image(name, force=True)


def test_older_content_goes_and_newer_stays(engine: docker.DockerClient, two: tuple[str, str]) -> None:
    """The older content may go, and its removal leaves the newer."""
    old, new = two
    (one,) = gone(engine, 1)

    assert one.names == (old,)
    assert one.frees_bytes > 0
    assert all(remove(engine, name) for name in one.names)
    assert (engine.images.list(old), len(engine.images.list(new))) == ([], 1)
    assert gone(engine, 1) == ()


def test_an_image_that_a_container_uses_is_left(engine: docker.DockerClient, two: tuple[str, str]) -> None:
    old, _ = two
    container = engine.containers.create(old, labels={"bench.test-clean": "1"})
    try:
        assert not remove(engine, old)
        assert engine.images.list(old)
    finally:
        container.remove(force=True)


def test_what_a_run_needs_is_no_surplus(engine: docker.DockerClient, two: tuple[str, str]) -> None:
    assert gone(engine, 1, two[0]) == ()
    assert {name for one in gone(engine, 0) for name in one.names} == {*two, ALIAS}


def test_images_built_on_ours_are_no_surplus(engine: docker.DockerClient, two: tuple[str, str]) -> None:
    """An image that a user has built on ours is no surplus, nor is what it stands on."""
    made(engine, "mine", (MINE,), base=two[0])

    assert {name for one in gone(engine, 0) for name in one.names} == {two[1], ALIAS}
