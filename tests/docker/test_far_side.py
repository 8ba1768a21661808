"""The second engine that stands for a server without internet: it has nothing of this one, and no way out."""

from pathlib import Path

import docker
import pytest
from far_support import FarSide, far_side

pytestmark = pytest.mark.docker


def test_far_engine_is_separate_and_has_no_images(empty_far: FarSide) -> None:
    client = empty_far.client()

    assert client.images.list(all=True) == []
    assert client.info()["DockerRootDir"] == str(empty_far.data_root)
    client.close()


def test_loaded_image_runs_without_a_network(far: FarSide, engine: docker.DockerClient, base_image: str) -> None:
    """An image that is loaded on the far side runs without a network."""
    reference = base_image.format(python="3.11")
    client = far.client()
    (image,) = client.images.load(engine.images.get(reference).save(named=True))

    said = client.containers.run(image, ["python", "-c", "print(6*7)"], network_mode="none", remove=True)
    links = client.containers.run(image, ["ls", "/sys/class/net"], remove=True)

    assert said.decode().strip() == "42"
    assert links.decode().split() == ["lo"], "without being told, a container there has no network either"
    client.close()


def test_far_side_has_a_loopback_alone(far: FarSide) -> None:
    """A process on the far side has a loopback and no other network."""
    links = far.run("ip", "-o", "link", "show", "up").stdout
    route = far.run("ip", "route", "get", "192.0.2.1")

    assert [line.split(": ")[1] for line in links.splitlines()] == ["lo"]
    assert route.returncode != 0
    assert "unreachable" in route.stderr
    assert far.run("sh", "-c", "echo $HOME").stdout.strip() == str(far.home)


def test_requests_of_the_far_engine_are_recorded(far: FarSide) -> None:
    """Everything that the far engine asks of the outside world is written down."""
    client = far.client()
    before = far.asked()

    with pytest.raises(docker.errors.APIError) as refused:
        client.images.pull("registry.example/never", tag="1")

    assert any("registry.example" in line for line in far.asked()[len(before) :]), refused.value
    client.close()


def test_nothing_is_left_of_a_far_side(engine: docker.DockerClient) -> None:
    with far_side() as side:
        mounted = f"{side.folder}/"
    assert not side.folder.exists()
    assert mounted not in Path("/proc/self/mounts").read_text()
    assert not Path("/run/netns", side.namespace).exists()
