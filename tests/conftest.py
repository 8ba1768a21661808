"""Shared by tests: the engine, the base image and the browser at hand; missing ones skip, or fail where required."""

import gc
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
from tests.effort import examples
from tests.required import missing

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

# Tests of a group share images that take minutes to make: one worker runs a group, a test after the other.
GROUPS = {
    "frameworks in containers": (
        "content",
        "end_to_end",
        "offline_page",
        "own_definitions",
        "parity_on_backends",
        "run_parity",
    ),
    "releases in containers": ("bisect_in_containers", "nightly"),
}
GROUP_OF = {f"tests/docker/test_{name}.py": group for group, names in GROUPS.items() for name in names}
SHARED = ("tests/docker", "tests/slurm")
"""Folders whose tests share an engine or a cluster."""
# The longest first, so that no worker is left with one of them at the end.
FIRST = (
    *GROUPS,
    *SHARED,
    "tests/container/test_parity.py",
    "tests/container/test_planted_parity.py",
    "tests/container/test_timed_steps.py",
)


def scope(path: str) -> str:
    """Return what one worker runs as a whole: a group, the rest of the tests with an engine, or a file."""
    shared = next((folder for folder in SHARED if path.startswith(f"{folder}/")), path)
    return GROUP_OF.get(path, shared)


class Scheduling(LoadScopeScheduling):
    """Keeps the tests of a scope on one worker, so that their fixtures are made once."""

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid.partition("::")[0])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest scopes first."""
    ranks = {name: rank for rank, name in enumerate(FIRST)}
    items.sort(key=lambda item: ranks.get(scope(item.nodeid.partition("::")[0]), len(ranks)))


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make only, not among the tests and the modules."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Share the tests out among the workers."""
    return Scheduling(config, log)


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
