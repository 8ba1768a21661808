"""The engine is stopped and started again in the middle of a run: a second engine of the test's own, not the shared."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import faults_support as support
import pytest
from far_engine import Engine, second_engine

from tests.until import LIMIT_S

pytestmark = pytest.mark.docker
BUILDING = re.compile("^building$", re.MULTILINE)
"""The output of the build step; the engine names the step before it starts it."""


@pytest.fixture(scope="module")
def second(engine: docker.DockerClient, base_image: str) -> Iterator[Engine]:
    """An engine with the base image, which tests stop and start again."""
    with second_engine() as second:
        client = second.client()
        client.images.load(engine.images.get(base_image.format(python="3.11")).save(named=True))
        client.close()
        yield second


def test_run_outlives_the_loss_of_its_engine(second: Engine, base_image: str, tmp_path: Path) -> None:
    """A run outlives its engine, and without an engine it ends with a clear error."""
    folder = support.workplace(tmp_path, base_image, "fine", "hang", "fine", name="engine")
    matrix = folder / "matrix.yaml"
    matrix.write_text(matrix.read_text().replace("timeout: 6s", "timeout: 5m"))
    results = folder / "results"
    client = second.client()
    process = support.start(folder, results=str(results), DOCKER_HOST=second.address)
    support.until(
        lambda: any("hanging" in path.read_text() for path in results.glob(f"*/{support.CELL}/1/log.txt")), process
    )
    before = support.outcomes(results)
    second.stop()
    client.close()
    assert process.poll() is None, process.communicate()
    client = second.start()
    _, said = process.communicate(timeout=LIMIT_S)

    assert process.returncode == 0, said
    after = support.outcomes(results)
    assert support.statuses(results) == ["ok"] * 3
    assert (after[0], after[1]["attempts"]) == (before[0], 2)
    (lost,) = results.glob(f"*/{support.CELL}/1/attempt-1/outcome.json")
    assert '"not_run"' in lost.read_text()
    assert "the engine was lost" in lost.read_text()
    assert support.ours(client, results) == []

    again = folder / "again"
    process = support.start(folder, results=str(again), DOCKER_HOST=second.address)
    support.until(
        lambda: any("hanging" in path.read_text() for path in again.glob(f"*/{support.CELL}/1/log.txt")), process
    )
    second.stop()
    client.close()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 3, said
    assert "start the engine again" in said
    assert "Traceback" not in said
    client = second.start()
    ended = support.run(folder, "--resume", "latest", results=str(again), DOCKER_HOST=second.address)
    assert ended.returncode == 0, ended.stderr
    assert support.statuses(again) == ["ok"] * 3
    assert support.ours(client, again) == []
    client.close()


def test_engine_lost_during_a_build_fails_no_cell(second: Engine, base_image: str, tmp_path: Path) -> None:
    """An engine lost in the middle of a build fails no cell, and the run goes on once it is back."""
    folder = support.workplace(tmp_path, base_image, "fine", "fine", name="lost")
    recipe = folder / "lost" / "Dockerfile"
    # With a proxy it lasts until the engine is stopped.
    recipe.write_text(recipe.read_text() + 'RUN echo building; [ -z "$http_proxy" ] || tail -f /dev/null\n')
    results = folder / "results"
    client = second.client()
    proxied = {"DOCKER_HOST": second.address, "http_proxy": "http://proxy.example:9"}
    process = support.start(folder, results=str(results), **proxied)
    support.until(lambda: any(BUILDING.search(path.read_text()) for path in results.glob("*/builds/*.log")), process)
    second.stop()
    client.close()
    _, said = process.communicate(timeout=LIMIT_S)

    assert process.returncode == 3, said
    assert "the engine was lost while" in said
    assert "start it again" in said
    assert "Traceback" not in said
    assert support.outcomes(results) == {}
    client = second.start()
    ended = support.run(folder, "--resume", "latest", results=str(results), DOCKER_HOST=second.address)
    assert ended.returncode == 0, ended.stderr
    assert support.statuses(results) == ["ok"] * 2
    assert support.ours(client, results) == []
    client.close()


def test_engine_without_its_bridge_gives_no_verdict(
    engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """An engine that can start no container ends the run with exit 3; no image is `build_failed` because of it."""
    folder = support.workplace(tmp_path, base_image, "fine", "fine", name="bridgeless")
    recipe = folder / "bridgeless" / "Dockerfile"
    recipe.write_text(recipe.read_text() + "RUN true\n")
    with second_engine(bridge=True) as second:
        client = second.client()
        client.images.load(engine.images.get(base_image.format(python="3.11")).save(named=True))
        second.inside("ip", "link", "delete", "docker0")
        ended = support.run(folder, DOCKER_HOST=second.address)

        assert ended.returncode == 3, ended.stderr
        assert "the engine can start no container now: " in ended.stderr
        assert "could not find bridge docker0" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert support.outcomes(folder / "results") == {}
        assert client.containers.list(all=True) == []
        second.inside("ip", "link", "add", "docker0", "type", "bridge")
        second.inside("ip", "link", "set", "docker0", "up")
        ended = support.run(folder, "--resume", "latest", DOCKER_HOST=second.address)
        assert ended.returncode == 0, ended.stderr
        assert support.statuses(folder / "results") == ["ok"] * 2
        client.close()


def test_engine_without_room_gives_no_verdict(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """A full store of the engine ends the run with exit 3, and the run goes on once there is room."""
    folder = support.workplace(tmp_path, base_image, "fine", name="roomless")
    recipe = folder / "roomless" / "Dockerfile"
    recipe.write_text(recipe.read_text() + "RUN head -c 700M /dev/zero > /zeros\n")
    with second_engine() as second:
        second.stop()
        with small_store(second.data_root, "600m"):
            client = second.start()
            client.images.load(engine.images.get(base_image.format(python="3.11")).save(named=True))
            ended = support.run(folder, DOCKER_HOST=second.address)

            assert ended.returncode == 3, ended.stderr
            assert "the engine's store has no room: " in ended.stderr
            assert support.outcomes(folder / "results") == {}
            subprocess.run(["mount", "-o", "remount,size=3g", second.data_root], check=True)
            ended = support.run(folder, "--resume", "latest", DOCKER_HOST=second.address)
            assert ended.returncode == 0, ended.stderr
            client.close()
            second.stop()


@contextmanager
def small_store(folder: Path, size: str) -> Iterator[None]:
    """A file system of its own for what an engine keeps."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
