"""Shared by tests: the engine, the base image and the browser at hand; missing ones skip, or fail where required."""

import gc
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator

import docker
import pytest
from hypothesis import HealthCheck, settings

from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from tests.effort import examples
from tests.required import missing

# A host with a GPU needs pytest, hypothesis and our requirements alone for its tests.
pytest_plugins = ["tests.scheduling"] if importlib.util.find_spec("xdist") else []

_locks = tempfile.TemporaryDirectory(prefix="bench-locks-")  # tests take no turns with runs of their host
os.environ["ORCHESTRATOR_LOCK_FOLDER"] = _locks.name
os.environ.pop("COLUMNS", None)  # pytest-xdist gives its workers the width of the terminal
os.environ.setdefault("ORCHESTRATOR_IDLE_WAIT", "0")  # tests of runs share their host with other tests

# The collected tests stay to the end, and most of what a test makes goes away by itself: to look for circles among all
# of it, again and again, took a tenth of the time of the tests.
gc.set_threshold(20_000, 20, 20)

# No test is timed: on a busy host an example takes as long as it takes.
settings.register_profile(
    "untimed", deadline=None, max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make only, not among the tests and the modules."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _quick() -> Iterator[None]:
    """Leave out what costs time and shows nothing, as no test cuts the power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


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
    except docker.errors.NotFound:
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
