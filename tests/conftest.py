"""What tests share: the engine, the base image and the browser at hand; missing ones skip, or fail where required."""

import os
import shutil
import tempfile
from collections.abc import Iterator

import docker
import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from tests.required import missing

_locks = tempfile.TemporaryDirectory(prefix="bench-locks-")  # tests take no turns with runs of their host
os.environ["ORCHESTRATOR_LOCK_FOLDER"] = _locks.name
os.environ.pop("COLUMNS", None)  # pytest-xdist gives its workers the width of the terminal
os.environ.setdefault("ORCHESTRATOR_IDLE_WAIT", "0")  # tests of runs share their host with other tests

# No test is timed: on a busy host an example takes as long as it takes.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Tests of each of these folders share images or environments: one worker runs a folder, a test after the other.
SERIAL = ("docker", "container", "browser")


class Scheduling(LoadScopeScheduling):
    """Keeps the tests of a file, and of some folders, on one worker, so that their fixtures are made once."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        folder = path.removeprefix("tests/").partition("/")[0]
        return folder if folder in SERIAL else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Share the tests out among the workers."""
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def engine() -> Iterator[docker.DockerClient]:
    """A client of the container engine of this machine."""
    try:
        client = connect(os.environ)
    except HostError as error:
        missing(str(error), "BENCH_REQUIRE_ENGINE")
    yield client
    client.close()


@pytest.fixture(scope="session")
def base_image(engine: docker.DockerClient) -> str:
    """The base image template, such as `python:{python}-slim-bookworm`, whose images this engine holds or can pull."""
    template = os.environ.get("ORCHESTRATOR_BASE_IMAGE", "python:{python}-slim-bookworm")
    reference = template.format(python="3.11")
    try:
        engine.images.get(reference)
    except docker.errors.ImageNotFound:
        try:
            engine.images.pull(reference)
        except docker.errors.APIError as error:
            missing(f"no base image {reference} here: {error.explanation}", "BENCH_REQUIRE_ENGINE")
    return template


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium for browser tests."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None) or missing("no Chromium on PATH", "BENCH_REQUIRE_BROWSER")
