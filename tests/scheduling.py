"""The order of the tests, and which of them one worker of pytest-xdist runs."""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Tests of a group share images that take minutes to make: one worker runs a group, a test after the other.
GROUPS = {
    "frameworks in containers": (
        "content",
        "end_to_end",
        "images_by_hand",
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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Share the tests out among the workers."""
    return Scheduling(config, log)
