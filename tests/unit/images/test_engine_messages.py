"""The engine's messages about a build."""

import socket
from pathlib import Path

import docker
import pytest
import requests

from orchestrator.engine.client import needed_for, takes_connections
from orchestrator.engine.images import BuildError, follow
from orchestrator.errors import HostError

STAGE = {"aux": {"ID": "sha256:stage"}}
IMAGE = {"aux": {"ID": "sha256:image"}}
END = {"stream": "Successfully built 0123456789ab\n"}


def test_a_finished_build_gives_id_and_lines() -> None:
    """A build that ends gives the id of its last stage and every line."""
    lines: list[str] = []

    image_id = follow([{"stream": "Step 1/2\n"}, STAGE, {"stream": "one\ntwo\n"}, IMAGE, END], lines.append)

    assert image_id == "sha256:image"
    assert lines == ["Step 1/2", "one", "two", "Successfully built 0123456789ab"]


def test_a_build_broken_off_is_no_image() -> None:
    """Else the stage that holds credentials would be taken for the environment when a build is stopped behind it."""
    with pytest.raises(BuildError, match="the engine broke off"):
        follow([{"stream": "Step 1/2\n"}, STAGE], lambda line: None)


def test_a_build_that_fails_gives_the_engines_words() -> None:
    with pytest.raises(BuildError, match="returned a non-zero code: 1"):
        follow([STAGE, {"error": "The command returned a non-zero code: 1\n"}], lambda line: None)


def test_only_a_lost_engine_is_a_host_error() -> None:
    """An engine that goes away is an error of the host, and one that refuses is not."""
    aborted = requests.exceptions.ConnectionError("Connection aborted.")
    with pytest.raises(HostError, match=r"^the engine was lost while building: Connection aborted\.; start it again"):
        fail_with(aborted)
    for answer in (
        docker.errors.APIError("no such image"),
        requests.exceptions.ConnectionError("Read timed out."),
        BuildError("exit 1"),
    ):
        with pytest.raises(type(answer)):
            fail_with(answer)


def test_a_closed_engine_takes_no_connections(tmp_path: Path) -> None:
    """An engine takes connections until it listens no more."""
    path = tmp_path / "socket"
    unix, tcp = socket.socket(socket.AF_UNIX), socket.create_server(("127.0.0.1", 0))
    unix.bind(str(path))
    unix.listen()
    places = (f"unix://{path}", f"tcp://127.0.0.1:{tcp.getsockname()[1]}")
    clients = [docker.DockerClient(base_url=place, version="1.41") for place in places]

    assert [takes_connections(client) for client in clients] == [True, True]
    unix.close()
    tcp.close()
    assert [takes_connections(client) for client in clients] == [False, False]
    for client in clients:
        client.close()


@needed_for("building")
def fail_with(error: Exception) -> None:
    raise error
